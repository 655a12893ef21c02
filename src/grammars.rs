//! Grammars by name: files of a folder, and those built in. Compiles them only to see that they are good.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use crate::decode::constraint::Rules;
use crate::scenario::{Place, Problem, Scenario, nearest};

/// The grammars that need no folder.
const BUILT_IN: [(&str, &str); 2] = [
    ("json", include_str!("../grammars/json.gbnf")),
    ("ollama-2025", include_str!("../grammars/ollama-2025.gbnf")),
];

/// Where grammars are looked for. Each is read when it is asked for, so that a new or corrected file counts as soon as
/// scenarios are planned again: at the next start, or when the next file is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammars {
    /// A file `NAME.gbnf` in it is the grammar of that name; one that is named like a built-in one comes first.
    pub folder: PathBuf,
}

/// Why a grammar cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{wrong} (right would be: {right})")]
pub struct Error {
    /// What is wrong.
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl Grammars {
    /// The text of a good grammar.
    pub fn find(&self, name: &str) -> Result<Arc<str>, Error> {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !is_name || name.starts_with('.') || name.is_empty() {
            return Err(self.unknown(name));
        }
        let path = self.folder.join(format!("{name}.gbnf"));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let built_in = BUILT_IN.iter().find(|(built_in, _)| *built_in == name);
                built_in.ok_or_else(|| self.unknown(name))?.1.to_owned()
            }
            Err(error) => {
                let wrong = format!("the grammar {} cannot be read: {error}", path.display());
                return Err(Error { wrong, right: "a file that can be read, in UTF-8".to_owned() });
            }
        };
        match Rules::grammar(&text) {
            Ok(_) => Ok(text.into()),
            Err(error) => {
                let (line, column) = (error.line, error.column);
                let wrong = format!("grammar `{name}`, line {line}, column {column}: {}", error.wrong);
                Err(Error { wrong, right: error.right })
            }
        }
    }

    /// What is wrong with the grammar that a scenario names, if it names one.
    pub fn problem(&self, scenario: &Scenario) -> Option<Problem> {
        let error = self.find(scenario.grammar.as_ref()?).err()?;
        Some(Problem::new(Place::root(None).member("grammar"), error.wrong, error.right))
    }

    fn unknown(&self, name: &str) -> Error {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        // A folder that is not there holds no grammars.
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let stem = path.file_stem().filter(|_| path.extension().is_some_and(|end| end == "gbnf"));
            names.extend(stem.map(|stem| stem.to_string_lossy().into_owned()));
        }
        names.sort();
        names.dedup();
        let folder = self.folder.display();
        let right = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("`{near}`, or a file {name}.gbnf in {folder}"),
            None => format!("one of {}, or a file {name}.gbnf in {folder}", names.join(", ")),
        };
        Error { wrong: format!("there is no grammar `{name}`"), right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_before_what_is_built_in_and_bad_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let grammars = Grammars { folder: folder.path().to_owned() };
        for (name, text) in BUILT_IN {
            assert_eq!(grammars.find(name).as_deref(), Ok(text));
        }
        fs::write(folder.path().join("json.gbnf"), "root ::= \"{}\"").unwrap();
        assert_eq!(grammars.find("json").as_deref(), Ok("root ::= \"{}\""));
        fs::write(folder.path().join("bad.gbnf"), "root ::= \"{}\" |\n  other").unwrap();
        let error = grammars.find("bad").unwrap_err();
        assert_eq!(error.wrong, "grammar `bad`, line 2, column 3: there is no rule `other`");
        for (name, words) in
            [("jsn", "`json`"), ("x", "bad, json, ollama-2025"), ("../json", "json"), ("", "json")]
        {
            let error = grammars.find(name).unwrap_err();
            assert_eq!(error.wrong, format!("there is no grammar `{name}`"));
            assert!(error.right.contains(words), "{}", error.right);
        }
    }
}
