//! Reads a model's file before it is loaded, so that loading waits for no disk. Changes nothing; what fails here fails at
//! loading too, and is reported there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

/// Reads the file on a thread of its own, if there is room for it in memory that nothing uses now.
pub(super) fn warm(path: PathBuf) {
    thread::spawn(move || match read_through(&path, unused_memory()) {
        Ok(Some(n)) => tracing::debug!("{}: {n} bytes are in the page cache", path.display()),
        Ok(None) => tracing::debug!("{}: no room to read it ahead", path.display()),
        Err(error) => tracing::debug!("{}: not read ahead: {error}", path.display()),
    });
}

/// How many bytes were read; `None` where the file does not fit.
fn read_through(path: &Path, unused: u64) -> io::Result<Option<u64>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() > unused {
        return Ok(None);
    }
    io::copy(&mut file, &mut io::sink()).map(Some)
}

/// Bytes that are free, or hold what no process has read lately: the pages of the model at work are not among them. 0 where
/// the system does not say.
fn unused_memory() -> u64 {
    fs::read_to_string("/proc/meminfo").map_or(0, |text| unused_of(&text))
}

fn unused_of(meminfo: &str) -> u64 {
    let kib = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    match (kib("MemFree:"), kib("Inactive(file):")) {
        (Some(free), Some(inactive)) => 1024 * (free + inactive),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_where_there_is_room_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.gguf");
        fs::write(&path, vec![7; 5000]).expect("a file");
        let read = |path: &Path, unused| read_through(path, unused).map_err(|error| error.kind());
        assert_eq!(read(&path, 5000), Ok(Some(5000)));
        assert_eq!(read(&path, 4999), Ok(None));
        assert_eq!(read(&folder.path().join("none"), 5000), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn unused_memory_is_what_the_system_says() {
        let says =
            "MemTotal:  9 kB\nMemFree:         100 kB\nInactive(anon): 7 kB\nInactive(file):    20 kB\n";
        let table = [
            (says, 120 * 1024),
            ("", 0),
            ("MemFree: 100 kB\n", 0),
            ("MemFree: x kB\nInactive(file): 1 kB\n", 0),
        ];
        for (meminfo, bytes) in table {
            assert_eq!(unused_of(meminfo), bytes, "{meminfo}");
        }
    }
}
