//! What can go wrong with the database, each with its place.

use std::path::PathBuf;

/// Why the database could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A reader found no file.
    #[error("{}: no database here; `nightjar daemon` or `nightjar sweep` makes one", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file could not be opened, or is no database.
    #[error("{}: cannot open the database: {source}", path.display())]
    Open {
        /// The database file.
        path: PathBuf,
        /// The reason.
        source: rusqlite::Error,
    },
    /// Another program's database.
    #[error(
        "{}: not a nightjar database (application id {found:#010x}, nightjar's is {:#010x}); name another file",
        path.display(), super::migrations::APPLICATION_ID
    )]
    Foreign {
        /// The database file.
        path: PathBuf,
        /// The application id it carries; 0 for a database that says nothing.
        found: i32,
    },
    /// Made by a nightjar that knows more migrations.
    #[error("{}: made by a newer nightjar (schema {found}; this one knows {known}); update nightjar", path.display())]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Its schema version.
        found: usize,
        /// The newest version known here.
        known: usize,
    },
    /// A reader cannot migrate.
    #[error(
        "{}: made by an older nightjar (schema {found}; this one reads {known}); \
         `nightjar daemon` or `nightjar sweep` brings it up to date", path.display()
    )]
    Older {
        /// The database file.
        path: PathBuf,
        /// Its schema version.
        found: usize,
        /// The version wanted here.
        known: usize,
    },
    /// Case lines, or a recorded output, for a scenario that is not stored.
    #[error("no scenario is called {name:?}; known: {}", if known.is_empty() { "none yet".into() } else { known.join(", ") })]
    UnknownScenario {
        /// The name that was asked for.
        name: String,
        /// The names there are, sorted.
        known: Vec<String>,
    },
    /// The key already has an attempt that did not end by an error.
    #[error("attempt {key} is already recorded")]
    AlreadyRecorded {
        /// The attempt's key.
        key: String,
    },
    /// A stored value is not what was once written there.
    #[error("stored {what} is damaged: {source}")]
    Damaged {
        /// Which value, with the scenario or case it belongs to.
        what: String,
        /// Why it cannot be read.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It refused or failed: full disk, lost file, a broken constraint.
    #[error("database: {0}")]
    Sql(#[from] rusqlite::Error),
}
