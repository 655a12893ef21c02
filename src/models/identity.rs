//! Which bytes a model file holds: its SHA-256, and the stamp under which a hash may be kept. Keeps nothing itself.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use crate::hash::{hex, sha256};

/// Why a file's identity is unknown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Size or modification time moved while the file was hashed.
    #[error("{}: changed while it was read; try again when it is whole", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// What a file looked like from outside. While it stays equal, a hash made under it holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970; negative before.
    pub mtime_ns: i64,
}

impl FileStamp {
    /// The stamp of the file at `path` now.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let stamp = || {
            let real = fs::canonicalize(path)?;
            let metadata = fs::metadata(&real)?;
            Ok(Self { path: real, size: metadata.len(), mtime_ns: mtime_ns(&metadata)? })
        };
        stamp().map_err(|source| Error::Read { path: path.to_owned(), source })
    }
}

/// Large enough that reading, not calling, takes the time; small enough for progress to move.
const CHUNK_BYTES: usize = 1 << 20;

/// The SHA-256 of a file in lower-case hex. `progress` hears the bytes done so far, about once a mebibyte.
pub fn sha256_file(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<String, Error> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(read)?;
    let before = file.metadata().map_err(read)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut done = 0;
    loop {
        let n_bytes = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_bytes) => n_bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(read(error)),
        };
        hasher.update(&chunk[..n_bytes]);
        done += n_bytes as u64;
        // A file that something keeps writing to would never end.
        if done > before.len() {
            return Err(Error::Changed { path: path.to_owned() });
        }
        progress(done);
    }
    let after = file.metadata().map_err(read)?;
    let same_time = mtime_ns(&before).map_err(read)? == mtime_ns(&after).map_err(read)?;
    if done != after.len() || !same_time {
        return Err(Error::Changed { path: path.to_owned() });
    }
    Ok(hex(&hasher.finalize()))
}

/// The identity of a model from the hashes of its files in order: the hash itself for one file, so that it can be
/// compared with published ones, else the SHA-256 of the hashes, a line each.
pub fn of_files(hashes: &[String]) -> String {
    match hashes {
        [hash] => hash.clone(),
        parts => sha256(parts.join("\n").as_bytes()),
    }
}

fn mtime_ns(metadata: &Metadata) -> io::Result<i64> {
    let nanoseconds = match metadata.modified()?.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    };
    i64::try_from(nanoseconds).map_err(|_| io::Error::other("its modification time is out of range"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    #[test]
    fn hashes_are_those_of_sha256() {
        let folder = tempfile::tempdir().unwrap();
        let cases = [
            (vec![], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc".to_vec(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (vec![b'a'; 3_000_000], "2a152c894398719c0570f83fac34ac03a0f6e8e474b995c2403aa5434f7b9dd4"),
        ];
        for (bytes, expected) in cases {
            let path = folder.path().join("m");
            fs::write(&path, &bytes).unwrap();
            let mut heard = vec![];
            assert_eq!(sha256_file(&path, &mut |done| heard.push(done)).unwrap(), expected);
            assert_eq!(heard.last().copied().unwrap_or(0), bytes.len() as u64);
            assert!(heard.is_sorted());
        }
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_has_no_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        fs::write(&path, vec![0; CHUNK_BYTES + 1]).unwrap();
        let mut writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let refused = sha256_file(&path, &mut |_| writer.write_all(b"more").unwrap());
        assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    }

    #[test]
    fn a_stamp_moves_with_size_and_time_and_not_with_the_way_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        fs::write(&path, "abc").unwrap();
        let stamp = FileStamp::of(&path).unwrap();
        assert_eq!(stamp.size, 3);
        assert_eq!(FileStamp::of(&folder.path().join(".").join("m")).unwrap(), stamp);
        let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH - Duration::from_nanos(7)).unwrap();
        assert_eq!(FileStamp::of(&path).unwrap().mtime_ns, -7);
        file.set_len(4).unwrap();
        assert_eq!(FileStamp::of(&path).unwrap().size, 4);
        let missing = FileStamp::of(&folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("none: cannot be read"), "{missing}");
    }

    #[test]
    fn one_file_is_its_own_hash_and_parts_count_in_order() {
        let [a, b] = ["aa".to_owned(), "bb".to_owned()];
        assert_eq!(of_files(std::slice::from_ref(&a)), "aa");
        let both = of_files(&[a.clone(), b.clone()]);
        assert_eq!(both.len(), 64);
        assert_ne!(both, of_files(&[b, a]));
    }
}
