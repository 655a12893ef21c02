//! The configured models: found, hashed (once for each state of a file), stored. Loads nothing.

use std::path::PathBuf;

use crate::models::{FileStamp, Header, Places, identity, resolve};
use crate::plan::Contestant;
use crate::store::{Model, ModelId, ModelKind, Store};

/// A model that can be run.
#[derive(Debug, Clone)]
pub struct Runnable {
    /// For people.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its row and hash.
    pub contestant: Contestant,
}

impl Runnable {
    /// Its row.
    pub fn id(&self) -> ModelId {
        self.contestant.model
    }
}

/// Finds and identifies every configured model; `progress` hears of each file that has to be read whole, and how far.
///
/// # Errors
/// Only the database's. Entries that cannot be used come back beside the models, each with its reason.
pub fn assemble(
    entries: &[String],
    places: &Places,
    store: &mut Store,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<(Vec<Runnable>, Vec<String>), crate::store::Error> {
    let mut runnables: Vec<Runnable> = Vec::new();
    let mut unusable = Vec::new();
    for found in resolve(entries, places) {
        let (header, path) = match (found.result, found.path) {
            (Ok(header), Some(path)) => (header, path),
            (Err(error), _) => {
                tracing::warn!("model entry `{}` cannot be used: {error}", found.entry);
                unusable.push(format!("{}: {error}", found.entry));
                continue;
            }
            (Ok(_), None) => continue,
        };
        let sha256 = match sha256(&header, store, &mut |done, all| progress(&found.name, done, all))? {
            Ok(sha256) => sha256,
            Err(error) => {
                tracing::warn!("model entry `{}` cannot be used: {error}", found.entry);
                unusable.push(format!("{}: {error}", found.entry));
                continue;
            }
        };
        let known = runnables.iter().find(|other| other.contestant.sha256 == sha256);
        if let Some(same) = known {
            tracing::warn!("{} and {} are the same file; it runs once", same.path.display(), path.display());
            continue;
        }
        let model = store.put_model(&described(&found.name, &sha256, &header))?;
        let contestant = Contestant { model, sha256 };
        runnables.push(Runnable { name: found.name, path, contestant });
    }
    Ok((runnables, unusable))
}

/// The model's hash: of each file as the cache has it, or as the file is read now.
fn sha256(
    header: &Header,
    store: &mut Store,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Result<String, identity::Error>, crate::store::Error> {
    let mut hashes = Vec::with_capacity(header.files.len());
    for file in &header.files {
        let stamp = match FileStamp::of(file) {
            Ok(stamp) => stamp,
            Err(error) => return Ok(Err(error)),
        };
        let known = store.reader().file_sha256(&stamp.path, stamp.size, stamp.mtime_ns)?;
        let sha256 = match known {
            Some(sha256) => sha256,
            None => match identity::sha256_file(file, &mut |done| progress(done, stamp.size)) {
                Ok(sha256) => {
                    store.put_file_sha256(&stamp.path, stamp.size, stamp.mtime_ns, &sha256)?;
                    sha256
                }
                Err(error) => return Ok(Err(error)),
            },
        };
        hashes.push(sha256);
    }
    Ok(Ok(identity::of_files(&hashes)))
}

fn described(name: &str, sha256: &str, header: &Header) -> Model {
    Model {
        kind: ModelKind::Gguf,
        name: name.to_owned(),
        sha256: Some(sha256.to_owned()),
        family: Some(family(name, header)),
        architecture: Some(header.architecture.clone()),
        parameters: Some(header.parameters),
        quantisation: Some(header.quantisation.clone()),
        context_length: header.context_length,
        size_bytes: Some(header.bytes),
    }
}

/// The first word of the model's own name, or of the entry's: `Qwen2.5 Coder 0.5B` is `qwen2.5`.
fn family(name: &str, header: &Header) -> String {
    let own = header.name.as_deref().unwrap_or(name);
    let first = own.split([' ', '-', '_', ':', '/']).find(|word| !word.is_empty()).unwrap_or(name);
    first.to_lowercase()
}
