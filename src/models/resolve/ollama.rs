//! `ollama:NAME[:TAG]`: names in a local Ollama store. Asks no server.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Candidate, Error, Places, names_in, nearest};

const FORM: &str = "`ollama:[HOST/][NAMESPACE/]NAME[:TAG]`";
const REGISTRY: &str = "registry.ollama.ai";
const LIBRARY: &str = "library";
const MODEL_LAYER: &str = "application/vnd.ollama.image.model";
const ADAPTER_LAYER: &str = "application/vnd.ollama.image.adapter";

/// A full name; its parts are the folders of its manifest.
#[derive(Debug, PartialEq, Eq)]
struct Name<'a> {
    host: &'a str,
    namespace: &'a str,
    model: &'a str,
    tag: &'a str,
}

impl<'a> Name<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts: Vec<_> = text.split('/').collect();
        let last = parts.pop()?;
        let (model, tag) = last.split_once(':').unwrap_or((last, "latest"));
        let (host, namespace) = match parts[..] {
            [] => (REGISTRY, LIBRARY),
            [namespace] => (REGISTRY, namespace),
            [host, namespace] => (host, namespace),
            _ => return None,
        };
        let usable = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
        [host, namespace, model, tag].into_iter().all(usable).then_some(Self { host, namespace, model, tag })
    }

    /// As Ollama prints it: what is left out when typing is left out.
    fn short(&self) -> String {
        let Self { host, namespace, model, tag } = self;
        match (*host, *namespace) {
            (REGISTRY, LIBRARY) => format!("{model}:{tag}"),
            (REGISTRY, _) => format!("{namespace}/{model}:{tag}"),
            _ => format!("{host}/{namespace}/{model}:{tag}"),
        }
    }
}

/// The GGUF file of a model in the first store that has it.
pub(super) fn find(text: &str, places: &Places) -> Result<Candidate, Error> {
    let form = || Error::Form { entry: format!("ollama:{text}"), form: FORM };
    let name = Name::parse(text).ok_or_else(form)?;
    let stores = places.ollama_stores();
    for store in &stores {
        let folder = store.join("manifests").join(name.host).join(name.namespace).join(name.model);
        let manifest = folder.join(name.tag);
        match fs::read_to_string(&manifest) {
            Ok(text) => return Ok(Candidate { name: name.short(), path: blob(store, &manifest, &text)? }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(Error::read(&manifest)(error)),
        }
    }
    let nearest = nearest(&name.short(), stores.iter().flat_map(|store| all_names(store)));
    Err(Error::Missing { what: format!("Ollama model `{}`", name.short()), looked: stores, nearest })
}

/// The model layer's file.
fn blob(store: &Path, manifest: &Path, text: &str) -> Result<PathBuf, Error> {
    let wrong = |what: String| Error::Manifest { path: manifest.to_owned(), what };
    let json: Value = serde_json::from_str(text).map_err(|error| wrong(format!("not JSON: {error}")))?;
    let layers = json["layers"].as_array().map_or(&[][..], Vec::as_slice);
    let of_kind = |kind: &str| layers.iter().find(|layer| layer["mediaType"] == kind);
    if of_kind(ADAPTER_LAYER).is_some() {
        return Err(wrong("a model with an adapter on top; only whole models are run here".to_owned()));
    }
    let model = of_kind(MODEL_LAYER);
    let model = model.ok_or_else(|| wrong("has no GGUF layer (a cloud model has none)".to_owned()))?;
    let digest = model["digest"].as_str().unwrap_or_default();
    let hex = digest
        .strip_prefix("sha256:")
        .filter(|hex| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let hex = hex
        .ok_or_else(|| wrong(format!("its model's digest is `{digest}`, not `sha256:` and 64 hex digits")))?;
    let path = store.join("blobs").join(format!("sha256-{hex}"));
    if path.exists() {
        return Ok(path);
    }
    Err(wrong(format!("its model file {} is missing; pull the model again", path.display())))
}

/// The names of all models in a store.
fn all_names(store: &Path) -> Vec<String> {
    let mut folders = vec![vec![]];
    for _ in 0..4 {
        let below = |parts: &Vec<String>| {
            let folder = parts.iter().fold(store.join("manifests"), |path, part| path.join(part));
            let parts = parts.clone();
            names_in(&folder).into_iter().map(move |name| [&parts[..], &[name]].concat())
        };
        folders = folders.iter().flat_map(below).collect();
    }
    let name = |parts: Vec<String>| {
        let [host, namespace, model, tag] = &parts[..] else { return None };
        Some(Name { host, namespace, model, tag }.short())
    };
    folders.into_iter().filter_map(name).collect()
}
