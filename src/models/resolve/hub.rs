//! `hf:ORG/REPO/FILE`: files in a local Hugging Face cache. Asks no server.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::{candidate, is_pattern, matching};
use super::{Candidate, Error, Places, names_in, nearest};

const FORM: &str = "`hf:ORG/REPO/FILE`, where FILE may be a pattern";

/// The files that an entry means: those of the snapshot that `main` points to, else of the newest that has any.
pub(super) fn find(text: &str, places: &Places) -> Result<Vec<Candidate>, Error> {
    let (org, repo, file) =
        parse(text).ok_or_else(|| Error::Form { entry: format!("hf:{text}"), form: FORM })?;
    let hub = places.hub()?;
    let folder = hub.join(format!("models--{org}--{repo}"));
    if !folder.is_dir() {
        let nearest = nearest(&format!("{org}/{repo}"), repositories(&hub));
        return Err(Error::Missing {
            what: format!("repository `{org}/{repo}`"),
            looked: vec![hub],
            nearest,
        });
    }
    let snapshots = snapshots(&folder);
    for snapshot in &snapshots {
        let files = files_of(snapshot, file)?;
        if !files.is_empty() {
            return Ok(files.into_iter().map(candidate).collect());
        }
    }
    let nearest = nearest(file, snapshots.iter().flat_map(|snapshot| names_in(snapshot)));
    Err(Error::Missing { what: format!("downloaded file `{file}`"), looked: vec![folder], nearest })
}

fn parse(text: &str) -> Option<(&str, &str, &str)> {
    let (org, rest) = text.split_once('/')?;
    let (repo, file) = rest.split_once('/')?;
    let usable = |part: &str| !part.is_empty() && !part.starts_with('.');
    (usable(org) && usable(repo) && !file.is_empty() && !file.starts_with('/')).then_some((org, repo, file))
}

/// The snapshots of a repository: the one of `main` first, then the newest.
fn snapshots(repository: &Path) -> Vec<PathBuf> {
    // A cache filled by commit has no `main`; the others serve then.
    let main = fs::read_to_string(repository.join("refs/main")).unwrap_or_default();
    let folder = repository.join("snapshots");
    let changed =
        |path: &Path| fs::metadata(path).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut commits = names_in(&folder);
    commits.sort_by_key(|commit| (commit != main.trim(), Reverse(changed(&folder.join(commit)))));
    commits.into_iter().map(|commit| folder.join(commit)).collect()
}

fn files_of(snapshot: &Path, file: &str) -> Result<Vec<PathBuf>, Error> {
    let path = snapshot.join(file);
    // Snapshots hold links to blobs; one whose blob has not arrived does not exist.
    if path.is_file() {
        Ok(vec![path])
    } else if is_pattern(file) {
        matching(snapshot, file)
    } else {
        Ok(vec![])
    }
}

fn repositories(hub: &Path) -> Vec<String> {
    let name = |folder: String| Some(folder.strip_prefix("models--")?.replacen("--", "/", 1));
    names_in(hub).into_iter().filter_map(name).collect()
}
