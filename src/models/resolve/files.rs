//! Entries that are paths or patterns of paths. Opens no file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::{Candidate, Error, Places, names_in, nearest, stem};
use crate::models::gguf::PartName;

/// The files that a path or pattern means, sorted.
pub(super) fn find(entry: &str, places: &Places) -> Result<Vec<Candidate>, Error> {
    let path = places.absolute(entry)?;
    if path.is_dir() {
        return Err(Error::Folder { path });
    }
    // A file may be called `[1].gguf`, so a pattern is only what is not there as it stands.
    if path.exists() || !is_pattern(entry) {
        return if path.exists() { Ok(vec![candidate(path)]) } else { Err(missing(&path)) };
    }
    let base = if entry.starts_with('~') { places.absolute("~")? } else { places.base.clone() };
    let pattern = entry.strip_prefix("~/").unwrap_or(entry);
    let matches = matching(&base, pattern)?;
    if matches.is_empty() {
        return Err(Error::Missing {
            what: format!("file matches `{pattern}`"),
            looked: vec![base],
            nearest: None,
        });
    }
    Ok(matches.into_iter().map(candidate).collect())
}

/// Whether any character of `text` has a meaning in patterns.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The files below `base` (or anywhere, for an absolute pattern) that match, sorted; hidden ones only where the pattern
/// names the dot. Of a split model only the first part, which stands for all.
pub(super) fn matching(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let full = match base.to_str() {
        _ if Path::new(pattern).is_absolute() => pattern.to_owned(),
        Some(base) => format!("{}/{pattern}", Pattern::escape(base.trim_end_matches('/'))),
        None => {
            return Err(Error::Form {
                entry: base.display().to_string(),
                form: "of UTF-8, as patterns must have",
            });
        }
    };
    let paths = glob::glob_with(&full, options).map_err(|source| Error::Pattern { pattern: full, source })?;
    let mut files = Vec::new();
    for path in paths {
        let path =
            path.map_err(|error| Error::Read { path: error.path().to_owned(), source: error.into() })?;
        if !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(without_later_parts(files))
}

fn without_later_parts(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let all: HashSet<_> = files.iter().cloned().collect();
    let has_first = |path: &Path, named: &PartName| {
        named.part > 1 && all.contains(&path.with_file_name(named.sibling(1)))
    };
    files
        .into_iter()
        .filter(|path| !PartName::of(path).is_some_and(|named| has_first(path, &named)))
        .collect()
}

/// A file under its stem.
pub(super) fn candidate(path: PathBuf) -> Candidate {
    Candidate { name: stem(&path), path }
}

/// The error for a path that is not there: names the deepest folder that is, and what in it is nearest.
fn missing(path: &Path) -> Error {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    let rest = path.strip_prefix(folder).unwrap_or(path);
    let first = rest.iter().next().unwrap_or_default().to_string_lossy();
    Error::Missing {
        what: format!("file `{}`", rest.display()),
        looked: vec![folder.to_owned()],
        nearest: nearest(&first, names_in(folder)),
    }
}
