//! What can go wrong with the inbox itself. A bad file is no error: it is refused, with its problems.

use std::io;
use std::path::PathBuf;

/// A folder or file that cannot be used as it has to be; the file concerned stays where it is. Messages hold their
/// cause.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder of the inbox is not there and cannot be made.
    #[error("cannot make the folder {}: {cause}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Files are moved by renaming alone, which works within one file system.
    #[error("{} is on another file system than {}: files are put away by renaming, so use one", other.display(), inbox.display())]
    TwoFileSystems {
        /// Where files arrive.
        inbox: PathBuf,
        /// The folder elsewhere.
        other: PathBuf,
    },
    /// The inbox cannot be listed.
    #[error("cannot look into {}: {cause}", path.display())]
    Scan {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be read, for another reason than a lack of permission.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be put away.
    #[error("cannot move {} to {}: {cause}", from.display(), to.display())]
    Move {
        /// The file.
        from: PathBuf,
        /// The file or folder that it was to be moved to.
        to: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The reasons for a rejection cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Sidecar {
        /// The file that was to hold them.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There will be no events from this folder.
    #[error("cannot watch {}, so files in it are only found by rescans: {cause}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: notify::Error,
    },
}

impl Error {
    /// The operating system's reason, where it gave one.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Error::Folder { cause, .. }
            | Error::Scan { cause, .. }
            | Error::Read { cause, .. }
            | Error::Move { cause, .. }
            | Error::Sidecar { cause, .. } => Some(cause.kind()),
            Error::TwoFileSystems { .. } | Error::Watch { .. } => None,
        }
    }
}
