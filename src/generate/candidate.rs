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
    /// Whether the strict check found nothing in the case itself; what cases share is seen in a whole set only. Absent after a
    /// reader took it away, who vouches for the case, as the inbox understands it.
    #[serde(default = "vouched")]
    pub verified: bool,
    /// What it found.
    #[serde(default)]
    pub reasons: Vec<String>,
}

fn vouched() -> bool {
    true
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
    /// Opens or makes the file, and reads what is in it. Of a last line without its end, the beginning of a candidate, which a
    /// killed process left, is cut off; a whole one is ended.
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
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let (candidates, kept) = read(&bytes, scenario).map_err(|(line, wrong)| OutputError::Foreign {
            path: path.to_owned(),
            line,
            wrong,
            scenario: scenario.to_owned(),
        })?;
        if kept < bytes.len() {
            file.set_len(kept as u64).map_err(io)?;
        }
        file.seek(SeekFrom::End(0)).map_err(io)?;
        if !matches!(bytes[..kept].last(), None | Some(b'\n')) {
            file.write_all(b"\n").map_err(io)?;
        }
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

/// The candidates of a file, and how many of its bytes stay: all but the beginning of one at the end. Refused is a line, counted
/// from 1, for what is wrong with it.
fn read(bytes: &[u8], scenario: &str) -> Result<(Vec<Candidate>, usize), (usize, String)> {
    let mut candidates = Vec::new();
    let mut kept = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii();
        match serde_json::from_slice::<Candidate>(text) {
            _ if text.is_empty() => {}
            Ok(candidate) if candidate.scenario == scenario => candidates.push(candidate),
            Ok(other) => return Err((index + 1, format!("this is for `{}`", other.scenario))),
            Err(error) if !line.ends_with(b"\n") && error.is_eof() && begins_as_ours(line, scenario) => break,
            Err(error) => return Err((index + 1, error.to_string())),
        }
        kept += line.len();
    }
    Ok((candidates, kept))
}

/// Whether a line may be the first part of one that [`Output::append`] writes.
fn begins_as_ours(line: &[u8], scenario: &str) -> bool {
    let ours = format!("{{\"scenario\":{}", Value::from(scenario));
    line.starts_with(ours.as_bytes()) || ours.as_bytes().starts_with(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"scenario":"s","id":"1","text":"é","expected":{},"verified":true,"reasons":[]}"#;

    /// What a file holds, after it was opened; how many candidates, or what is wrong.
    fn opened(bytes: &[u8]) -> (Vec<u8>, Result<usize, String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, bytes).expect("a file");
        let found = Output::open(&path, "s").map(|(_, candidates)| candidates.len());
        (std::fs::read(&path).expect("still a file"), found.map_err(|error| error.to_string()))
    }

    #[test]
    fn only_the_beginning_of_a_candidate_is_cut_off() {
        let whole = format!("{WHOLE}\n");
        for cut in 0..WHOLE.len() {
            let bytes = [whole.as_bytes(), &WHOLE.as_bytes()[..cut]].concat();
            assert_eq!(opened(&bytes), (whole.clone().into_bytes(), Ok(1)), "cut at {cut}");
        }
        assert_eq!(opened(WHOLE.as_bytes()), (whole.clone().into_bytes(), Ok(1)), "a whole line is ended");
        let plain = "{\"scenario\":\"s\",\"id\":\"1\",\"text\":\"t\",\"expected\":{}}\n";
        assert_eq!(opened(plain.as_bytes()), (plain.into(), Ok(1)), "without verified and reasons");
    }

    #[test]
    fn what_is_not_ours_stays_as_it_is() {
        let table: [(&[u8], &str); 6] = [
            (b"my only copy of the novel", "line 1: "),
            (b"{\"scenario\":\"other\",\"id\":\"1", "line 1: "),
            (b"{\"scenario\":\"s\",\"id\":\"1\",\"tags\":[]}", "unknown field"),
            (b"{\"scenario\":\"s\",\"id\":\"\xff\"}\n", "line 1: "),
            (b"\n\xff", "line 2: "),
            (b"{\n", "line 1: "),
        ];
        for (bytes, wrong) in table {
            let (left, found) = opened(bytes);
            assert_eq!(left, bytes);
            assert!(found.as_ref().is_err_and(|error| error.contains(wrong)), "{found:?}");
        }
    }
}
