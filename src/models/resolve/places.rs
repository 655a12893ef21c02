//! The folders in which models are looked for. Nothing is looked for here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Error;

/// The folders in which models are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// What relative paths start from: the folder of the configuration file.
    pub base: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// `$OLLAMA_MODELS`; without it the stores of the user and of the system's service are looked at.
    pub ollama_models: Option<PathBuf>,
    /// The Hugging Face cache, where a variable names it; else it is in the home folder.
    pub hf_hub: Option<PathBuf>,
}

impl Places {
    /// The places that these environment variables name; `var` looks one up. Empty ones count as unset.
    pub fn new(base: PathBuf, var: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let hub_in = |name, below| folder(name).map(|folder| folder.join(below));
        Self {
            base,
            home: folder("HOME").or_else(|| folder("USERPROFILE")),
            ollama_models: folder("OLLAMA_MODELS"),
            hf_hub: folder("HF_HUB_CACHE")
                .or_else(|| hub_in("HF_HOME", "hub"))
                .or_else(|| hub_in("XDG_CACHE_HOME", "huggingface/hub")),
        }
    }

    /// `path` made absolute: `~` is the home folder, a relative path starts at the base.
    pub(super) fn absolute(&self, path: &str) -> Result<PathBuf, Error> {
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let home = self.home.as_ref().ok_or_else(|| Error::NoHome { what: format!("`{path}`") })?;
                Ok(home.join(rest.trim_start_matches('/')))
            }
            _ => Ok(self.base.join(path)),
        }
    }

    /// The Ollama stores to look in, in order.
    pub(super) fn ollama_stores(&self) -> Vec<PathBuf> {
        if let Some(store) = &self.ollama_models {
            return vec![store.clone()];
        }
        let of_user = self.home.as_deref().map(|home| home.join(".ollama/models"));
        let of_service = Path::new("/usr/share/ollama/.ollama/models").to_owned();
        of_user.into_iter().chain([of_service]).collect()
    }

    /// The Hugging Face cache.
    pub(super) fn hub(&self) -> Result<PathBuf, Error> {
        let in_home = || self.home.as_deref().map(|home| home.join(".cache/huggingface/hub"));
        let hub = self.hf_hub.clone().or_else(in_home);
        hub.ok_or_else(|| Error::NoHome { what: "the Hugging Face cache".to_owned() })
    }
}
