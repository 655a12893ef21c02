//! Candidates and the file they are kept in: JSON lines, one written whole at a time. Generates nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A case that a model wrote. Its line is a case line as the inbox takes it, if it is verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The scenario's name.
    pub scenario: String,
    /// Unique in the file and in the scenario.
    pub id: String,
    /// The message.
    pub text: String,
    /// The object it was written for.
    pub expected: Value,
    /// Whether the strict check found nothing.
    pub verified: bool,
    /// What it found.
    pub reasons: Vec<String>,
}

/// Why candidates cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file cannot be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("{}: another nightjar is writing to it", .0.display())]
    Busy(PathBuf),
    /// It holds something else.
    #[error("{}: line {line}: {wrong} (right would be: a candidate of {scenario}, or another --out)", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        wrong: String,
        /// The scenario that is generated for.
        scenario: String,
    },
}

/// The file of candidates, locked while it is held.
#[derive(Debug)]
pub struct Output {
    file: File,
    path: PathBuf,
}

impl Output {
    /// Opens or makes the file, and reads what is in it. A last line without its end, which a killed process left, is cut off.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn open(path: &Path, scenario: &str) -> Result<(Self, Vec<Candidate>), OutputError> {
        let io = |source| OutputError::Io { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OutputError::Busy(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut candidates = Vec::new();
        for (index, line) in text[..whole].lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let foreign = |wrong| OutputError::Foreign {
                path: path.to_owned(),
                line: index + 1,
                wrong,
                scenario: scenario.to_owned(),
            };
            let candidate: Candidate =
                serde_json::from_str(line).map_err(|error| foreign(error.to_string()))?;
            if candidate.scenario != scenario {
                return Err(foreign(format!("this is for `{}`", candidate.scenario)));
            }
            candidates.push(candidate);
        }
        file.set_len(whole as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok((Self { file, path: path.to_owned() }, candidates))
    }

    /// Adds a candidate; it is with the system when this returns.
    ///
    /// # Errors
    /// [`OutputError::Io`].
    #[expect(clippy::missing_panics_doc, reason = "a candidate is plain data")]
    pub fn append(&mut self, candidate: &Candidate) -> Result<(), OutputError> {
        let mut line = serde_json::to_string(candidate).expect("a candidate is plain data");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|source| OutputError::Io { path: self.path.clone(), source })
    }
}
