//! Which files of a folder are ready, and reading one whole. Never parses, never moves.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Error;
use crate::hash::sha256;

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The file system.
    pub device: u64,
    /// The file; another one put under the same name differs here.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Last time it was written to.
    pub modified: SystemTime,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().expect("unix file systems keep a modification time");
        Stamp { device: metadata.dev(), inode: metadata.ino(), size: metadata.len(), modified }
    }
}

/// What a file's name says it is. In this order files are taken, so that a scenario comes before more cases for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `.json`: a scenario.
    Scenario,
    /// `.jsonl`: cases, one a line.
    Cases,
    /// Nothing that is known.
    Other,
}

impl Kind {
    fn of(name: &OsStr) -> Kind {
        let extension = Path::new(name).extension().map(OsStr::to_ascii_lowercase);
        match extension.as_deref().and_then(OsStr::to_str) {
            Some("json") => Kind::Scenario,
            Some("jsonl") => Kind::Cases,
            _ => Kind::Other,
        }
    }
}

/// A file that nobody seems to be writing any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its name in the folder.
    pub name: OsString,
    /// Folder and name.
    pub path: PathBuf,
    /// What the name says.
    pub kind: Kind,
    /// As it was seen.
    pub stamp: Stamp,
}

/// Since when each file of the folder has looked as it does.
#[derive(Debug, Default)]
pub struct Settling {
    seen: HashMap<OsString, (Stamp, SystemTime)>,
}

impl Settling {
    /// Whether the last look found a file of this name.
    pub(super) fn knows(&self, name: &OsStr) -> bool {
        self.seen.contains_key(name)
    }
}

/// What one look at the folder found.
#[derive(Debug, Default)]
pub struct Look {
    /// Files that are ready, scenarios first, then by name.
    pub ready: Vec<Ready>,
    /// When the first of the others may be.
    pub next: Option<Duration>,
}

/// Looks at the files in `dir`. Sub-folders and whatever else is no file are passed over, and so are names that start
/// with `.` or end in `.tmp`, `.part` or `~`: writers and editors use them for what is not finished.
///
/// A file is ready when size, modification time and inode have stayed as they are for `settle`, either from one look to
/// another or, since writing sets it, by the modification time alone. So a file that is written in place waits until its
/// writer has been silent for that long, and one that was written elsewhere and renamed in is ready at the first look,
/// if it was finished that long ago. A modification time in the future proves nothing, and looks decide.
pub fn scan(dir: &Path, now: SystemTime, settling: &mut Settling, settle: Duration) -> Result<Look, Error> {
    let files = files_in(dir).map_err(|cause| Error::Scan { path: dir.to_owned(), cause })?;
    let before = std::mem::take(&mut settling.seen);
    let mut look = Look::default();
    for (name, stamp) in files {
        let since = match before.get(&name) {
            Some((same, since)) if *same == stamp && *since <= now => *since,
            _ => now,
        };
        settling.seen.insert(name.clone(), (stamp, since));
        let silent = now.duration_since(since.min(stamp.modified)).unwrap_or_default();
        match settle.checked_sub(silent).filter(|wait| !wait.is_zero()) {
            Some(wait) => look.next = Some(look.next.map_or(wait, |next| next.min(wait))),
            None => look.ready.push(Ready { path: dir.join(&name), kind: Kind::of(&name), name, stamp }),
        }
    }
    look.ready.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    Ok(look)
}

fn files_in(dir: &Path) -> io::Result<Vec<(OsString, Stamp)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if !is_unfinished(&name)
            && let Some(metadata) = regular_file(&entry)?
        {
            files.push((name, Stamp::of(&metadata)));
        }
    }
    Ok(files)
}

fn is_unfinished(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let endings: [&[u8]; 3] = [b".tmp", b".part", b"~"];
    name.starts_with(b".") || endings.iter().any(|ending| name.ends_with(ending))
}

/// A file, or a link to one. A link that leads nowhere is none, and so is what has gone since it was listed.
fn regular_file(entry: &fs::DirEntry) -> io::Result<Option<Metadata>> {
    match fs::metadata(entry.path()) {
        Ok(metadata) => Ok(Some(metadata).filter(Metadata::is_file)),
        Err(error) if error.kind() == ErrorKind::NotFound || entry.file_type()?.is_symlink() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file's contents, for as long as the file stays as it was when they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Its name; bytes that are no UTF-8 are replaced.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// What its name says.
    pub kind: Kind,
    /// As it was when it was read.
    pub stamp: Stamp,
    /// All of it; empty when it was not read.
    pub bytes: Vec<u8>,
    /// Of the bytes, in hex; none when it was not read.
    pub sha256: Option<String>,
}

impl Claimed {
    /// A file that is refused without reading it.
    pub(super) fn unread(ready: &Ready) -> Claimed {
        Claimed {
            name: ready.name.to_string_lossy().into_owned(),
            path: ready.path.clone(),
            kind: ready.kind,
            stamp: ready.stamp,
            bytes: Vec::new(),
            sha256: None,
        }
    }
}

/// Reads a file whole. `None`: it has changed since it was seen, was changed or replaced while it was being read, or
/// is gone; a later look will tell.
pub fn read(ready: &Ready) -> io::Result<Option<Claimed>> {
    read_by(ready, |file| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map(|_| bytes)
    })
}

fn read_by(
    ready: &Ready,
    whole: impl FnOnce(&mut File) -> io::Result<Vec<u8>>,
) -> io::Result<Option<Claimed>> {
    let mut file = match File::open(&ready.path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if Stamp::of(&file.metadata()?) != ready.stamp {
        return Ok(None);
    }
    let bytes = whole(&mut file)?;
    // Still the file that was opened, and not written to since.
    if !is_still(&ready.path, &ready.stamp)? {
        return Ok(None);
    }
    let sha256 = Some(sha256(&bytes));
    Ok(Some(Claimed { bytes, sha256, ..Claimed::unread(ready) }))
}

/// Whether the file at `path` is there and as `stamp` says.
pub(super) fn is_still(path: &Path, stamp: &Stamp) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Stamp::of(&metadata) == *stamp),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Duration = Duration::from_secs(2);

    fn ready_at(dir: &Path, settling: &mut Settling, now: SystemTime) -> (Vec<String>, Option<Duration>) {
        let look = scan(dir, now, settling, SETTLE).expect("a folder");
        (look.ready.iter().map(|ready| ready.name.to_string_lossy().into_owned()).collect(), look.next)
    }

    fn write(path: &Path, text: &str, modified: SystemTime) {
        fs::write(path, text).expect("written");
        File::options().append(true).open(path).and_then(|file| file.set_modified(modified)).expect("dated");
    }

    fn lone(dir: &Path) -> Ready {
        let look = scan(dir, SystemTime::now(), &mut Settling::default(), Duration::ZERO).expect("a folder");
        <[Ready; 1]>::try_from(look.ready).expect("one file")[0].clone()
    }

    #[test]
    fn a_file_is_ready_when_it_has_been_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let (path, mut settling) = (dir.path().join("a.json"), Settling::default());
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let at = |ms: u64| start + Duration::from_millis(ms);
        let wait = |ms: u64| (vec![], Some(Duration::from_millis(ms)));
        let ready = (vec!["a.json".to_owned()], None);

        write(&path, "1", at(0));
        assert_eq!(ready_at(dir.path(), &mut settling, at(500)), wait(1500));
        write(&path, "12", at(1500));
        assert_eq!(ready_at(dir.path(), &mut settling, at(2500)), wait(1000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(3499)), wait(1));
        assert_eq!(ready_at(dir.path(), &mut settling, at(3500)), ready);

        // Renamed in: an old file under a new name is ready at once, also for who sees it first.
        assert_eq!(ready_at(dir.path(), &mut Settling::default(), at(3500)), ready);

        // Replaced: same size, same time, but another file. Its time is old enough.
        write(&dir.path().join(".new"), "34", at(1500));
        fs::rename(dir.path().join(".new"), &path).expect("renamed");
        assert_eq!(ready_at(dir.path(), &mut settling, at(3600)), ready);

        // From a clock that runs ahead: only looks count, and start again when our own clock is set back.
        write(&path, "5", at(1_000_000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(4000)), wait(2000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(5000)), wait(1000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(3000)), wait(2000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(5000)), ready);
        write(&path, "6", at(1_000_000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(5001)).0, ready.0, "same stamp: no look can tell");
        write(&path, "78", at(1_000_000));
        assert_eq!(ready_at(dir.path(), &mut settling, at(5002)), wait(2000));
    }

    #[test]
    fn only_finished_files_are_looked_at_and_scenarios_come_first() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in
            ["b.json", "a.jsonl", "a.txt", "C.JSON", ".h.json", "x.json.tmp", "x.part", "x.json~", "noext"]
        {
            write(&dir.path().join(name), "", SystemTime::UNIX_EPOCH);
        }
        fs::create_dir(dir.path().join("folder.json")).expect("a folder");
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling.json")).expect("a link");
        std::os::unix::fs::symlink("loop.json", dir.path().join("loop.json")).expect("a link");
        std::os::unix::fs::symlink("b.json", dir.path().join("link.json")).expect("a link");
        let found = ready_at(dir.path(), &mut Settling::default(), SystemTime::now()).0;
        assert_eq!(found, ["C.JSON", "b.json", "link.json", "a.jsonl", "a.txt", "noext"]);
        assert!(matches!(
            scan(&dir.path().join("gone"), SystemTime::now(), &mut Settling::default(), SETTLE),
            Err(Error::Scan { .. })
        ));
    }

    #[test]
    fn a_file_changed_or_replaced_while_it_is_read_is_not_claimed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.json");
        let old = SystemTime::UNIX_EPOCH;
        let meddle: [(&str, &dyn Fn()); 5] = [
            ("left alone", &|| {}),
            ("written to", &|| write(&path, "abcdef", old)),
            ("touched", &|| write(&path, "abc", SystemTime::now())),
            ("gone", &|| fs::remove_file(&path).expect("removed")),
            ("replaced by its like", &|| {
                write(&dir.path().join(".new"), "abc", old);
                fs::rename(dir.path().join(".new"), &path).expect("renamed");
            }),
        ];
        for (what, meddle) in meddle {
            write(&path, "abc", old);
            let ready = lone(dir.path());
            let claimed = read_by(&ready, |file| {
                let mut bytes = vec![0; 1];
                file.read_exact(&mut bytes)?;
                meddle();
                file.read_to_end(&mut bytes).map(|_| bytes)
            });
            let claimed = claimed.expect("readable");
            assert_eq!(claimed.is_some(), what == "left alone", "{what}");
            if let Some(claimed) = claimed {
                assert_eq!((claimed.name.as_str(), claimed.bytes.as_slice()), ("a.json", b"abc".as_slice()));
                assert_eq!(claimed.sha256.as_deref().map(|hex| &hex[..8]), Some("ba7816bf"));
            }
        }
        write(&path, "abc", old);
        let ready = lone(dir.path());
        write(&path, "abcd", old);
        assert_eq!(read(&ready).expect("readable"), None, "changed before it was opened");
        fs::remove_file(&path).expect("removed");
        assert_eq!(read(&ready).expect("no error"), None, "gone before it was opened");
    }
}
