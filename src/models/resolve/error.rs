//! Why an entry leads to no usable model. No looking up.

use std::io;
use std::path::{Path, PathBuf};

use crate::models::gguf;

/// Why an entry leads to no usable model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file was found, and is no model that can be used.
    #[error(transparent)]
    Gguf(gguf::Error),
    /// Nothing of that name where it was looked for.
    #[error("no {what} in {}{}", list(looked), nearest.as_ref().map_or(String::new(), |name| format!("; the nearest name there is `{name}`")))]
    Missing {
        /// What was looked for, with its name.
        what: String,
        /// Where.
        looked: Vec<PathBuf>,
        /// What exists there under a similar name.
        nearest: Option<String>,
    },
    /// The place to look in is not known.
    #[error("{what} cannot be found: no home folder is known")]
    NoHome {
        /// What was looked for.
        what: String,
    },
    /// An entry that its form does not allow.
    #[error("`{entry}` has not the form {form}")]
    Form {
        /// The entry.
        entry: String,
        /// What would be right.
        form: &'static str,
    },
    /// An entry with an address.
    #[error("`{entry}` is an address, and nothing is downloaded here; fetch the file and name its path")]
    Address {
        /// The entry.
        entry: String,
    },
    /// A folder where a file is wanted.
    #[error("{} is a folder; name a file in it, or `{}/*.gguf` for all", path.display(), path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A pattern that cannot be read.
    #[error("bad pattern `{pattern}`: {source}")]
    Pattern {
        /// The pattern, made absolute.
        pattern: String,
        /// What is wrong with it.
        source: glob::PatternError,
    },
    /// An Ollama manifest that does not lead to one GGUF file.
    #[error("{}: {what}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file or folder on the way cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or ")
}

impl Error {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Read { path, source }
    }
}
