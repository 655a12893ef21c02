//! Configuration entries to the model files they mean. Opens headers, never loads; every entry ends in a listing,
//! usable or with the reason why not.

mod error;
mod places;
mod files;
mod ollama;
mod hub;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::gguf::{self, Header, PartName};

pub use error::Error;
pub use places::Places;

/// One line of a listing of models.
#[derive(Debug)]
pub struct Found {
    /// The configuration entry, as written.
    pub entry: String,
    /// What the model is called in tables: its file's stem or its Ollama name, unique within a listing.
    pub name: String,
    /// The file; none where the entry led to none.
    pub path: Option<PathBuf>,
    /// What the file says, or why the entry cannot be used.
    pub result: Result<Header, Error>,
}

/// A file that an entry led to, not opened yet.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    name: String,
    path: PathBuf,
}

/// What the entries mean, in their order. An entry that leads nowhere is one line with its reason; a file that several
/// entries lead to is listed for the first.
pub fn resolve(entries: &[String], places: &Places) -> Vec<Found> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut names = HashSet::new();
    for entry in entries {
        match candidates(entry, places) {
            Ok(candidates) => {
                for Candidate { name, path } in candidates {
                    // A path that cannot be made canonical is listed with what opening it says.
                    if !seen.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                        continue;
                    }
                    let name = unique(&name, &path, &mut names);
                    let result = gguf::read(&path).map_err(Error::Gguf);
                    found.push(Found { entry: entry.clone(), name, path: Some(path), result });
                }
            }
            Err(error) => {
                found.push(Found {
                    entry: entry.clone(),
                    name: entry.clone(),
                    path: None,
                    result: Err(error),
                });
            }
        }
    }
    found
}

fn candidates(entry: &str, places: &Places) -> Result<Vec<Candidate>, Error> {
    if let Some(name) = entry.strip_prefix("ollama:") {
        Ok(vec![ollama::find(name, places)?])
    } else if let Some(name) = entry.strip_prefix("hf:") {
        hub::find(name, places)
    } else if entry.contains("://") {
        Err(Error::Address { entry: entry.to_owned() })
    } else {
        files::find(entry, places)
    }
}

/// `name`, else with its folder before it, else with a number after it. The first keeps its name, so that an entry
/// added below does not rename what older results are listed under.
fn unique(name: &str, path: &Path, names: &mut HashSet<String>) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let with_folder = format!("{folder}/{name}");
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    [name.to_owned(), with_folder]
        .into_iter()
        .chain(numbered)
        .find(|name| names.insert(name.clone()))
        .expect("the numbers never end and `names` does")
}

/// The default name of a file: its stem, without a part's number.
fn stem(path: &Path) -> String {
    match PartName::of(path) {
        Some(part) => part.stem,
        None => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// The names of what is in a folder, sorted; nothing where it cannot be read, since only hints come of it.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The existing name that `wanted` is most likely meant to be.
fn nearest(wanted: &str, existing: impl IntoIterator<Item = String>) -> Option<String> {
    const ALIKE: f64 = 0.75;
    let likeness = |name: &str| strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase());
    let rated =
        existing.into_iter().map(|name| (likeness(&name), name)).filter(|(likeness, _)| *likeness >= ALIKE);
    rated.max_by(|(left, _), (right, _)| left.total_cmp(right)).map(|(_, name)| name)
}
