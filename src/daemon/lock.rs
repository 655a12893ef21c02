//! One daemon to a state folder: a lock that the system lets go of however the process ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Error;

/// `is_locked` holds the lock for a moment; a daemon that starts just then waits for it.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(50);

/// Held for as long as the daemon lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a state folder.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has it.
    pub fn take(state: &Path) -> Result<Self, Error> {
        let path = path(state);
        let io = |source| Error::Io { what: path.display().to_string(), source };
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(io)?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(source)) => return Err(io(source)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
        Err(Error::Locked(state.to_owned()))
    }
}

/// Whether some process holds the lock of a state folder.
pub fn is_locked(state: &Path) -> bool {
    File::open(path(state)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn path(state: &Path) -> PathBuf {
    state.join("nightjar.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_daemon_is_told_and_a_dead_one_leaves_nothing_behind() {
        let state = tempfile::tempdir().unwrap();
        assert!(!is_locked(state.path()));
        let lock = Lock::take(state.path()).unwrap();
        assert!(is_locked(state.path()));
        assert!(matches!(Lock::take(state.path()), Err(Error::Locked(_))));
        drop(lock);
        assert!(!is_locked(state.path()));
        Lock::take(state.path()).unwrap();
    }
}
