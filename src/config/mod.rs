//! TOML, environment values and flags to checked sections. Reads no environment and no file, and holds no globals.

mod layer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use layer::{Layer, Setting};

use crate::decode::engine::switch::Switch;
use crate::decode::profile::Profile;
use crate::scenario::Strategy;
use crate::score::Constants;

/// The commented defaults, as shipped.
pub const DEFAULT: &str = include_str!("../../config.toml");

/// What is wrong with a configuration, and where.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// File or variable.
        origin: String,
        /// What the TOML reader says, with line and column.
        message: String,
    },
    /// A key that does not exist.
    #[error("{origin}: there is no key `{key}`{}", hint.as_ref().map(|h| format!("; did you mean `{h}`?")).unwrap_or_default())]
    UnknownKey {
        /// File and line, variable or flag.
        origin: String,
        /// The key as written, dotted.
        key: String,
        /// The nearest key that exists.
        hint: Option<String>,
    },
    /// A value that cannot be read as what it has to be.
    #[error("{origin}: `{key}`: {message}")]
    Unreadable {
        /// File and line, variable or flag.
        origin: String,
        /// The key, dotted.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A value of the wrong kind or outside its range.
    #[error("{origin}: `{key}` is {got}, but has to be {expected}")]
    BadValue {
        /// File and line, variable or flag.
        origin: String,
        /// The key, dotted.
        key: String,
        /// What stands there.
        got: String,
        /// What would be right.
        expected: String,
    },
}

/// A checked configuration: every value is inside its range, every path is absolute or relative to the process.
#[derive(Debug, Clone, Serialize)]
pub struct Config {
    /// Model entries as written: path, glob, `ollama:…` or `hf:…`.
    pub models: Vec<String>,
    /// Folders.
    pub paths: Paths,
    /// How the inbox is watched.
    pub inbox: Inbox,
    /// What is run.
    pub sweep: Sweep,
    /// How models are run.
    pub engine: Engine,
    /// How candidates are generated.
    pub generate: Generate,
    /// The profile that the sweep names, resolved.
    pub profile: Profile,
    /// The profile that `generate` names, resolved.
    pub generate_profile: Profile,
    /// Constants of the scores.
    pub scoring: Constants,
    /// Filter of the log lines.
    pub log: Log,
}

/// Folders.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Paths {
    /// Inbox, processed and rejected files, the database.
    pub state: PathBuf,
    /// Grammars that scenarios and profiles name.
    pub grammars: PathBuf,
}

/// How the inbox is watched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Inbox {
    /// A file is taken when unchanged for so many milliseconds.
    pub settle_ms: u64,
    /// The folder is read again after so many seconds.
    pub rescan_s: u64,
}

/// What is run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sweep {
    /// Strategies; those with the same prompt run in this order.
    pub strategies: Vec<Strategy>,
    /// Name of the profile.
    pub profile: String,
    /// Attempts for each model, case and strategy.
    pub repeats: u32,
    /// Seed of the first repeat.
    pub seed: u64,
}

/// How candidates are generated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Generate {
    /// Name of the profile; its temperature is above 0.
    pub profile: String,
}

/// How models are run; nothing here changes which token is chosen, save by how logits are rounded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Engine {
    /// Sequences in one batch; 0: as many as suit the device.
    pub slots: u32,
    /// Threads; 0: as many as cores.
    pub threads: u32,
    /// Tokens in one batch at most.
    pub batch: u32,
    /// Whether the beginnings of prompts are evaluated once.
    pub reuse_prompts: bool,
    /// Whether attempts with the same prompt are one text until they disagree.
    pub share_texts: bool,
    /// Whether to guess ahead; auto: on a GPU, where it is measured to pay.
    pub drafts: Switch,
    /// Whether text that constraints leave no choice about is guessed, too.
    pub draft_forced: bool,
    /// Whether short texts are evaluated apart from long ones, where attention costs each as much as the longest.
    pub group_by_length: bool,
    /// Whether attention is computed piece by piece; auto: where llama.cpp runs on a GPU.
    pub flash_attention: Switch,
    /// Whether batches are filled up so that a text does not depend on what is evaluated with it; auto: on a processor,
    /// with eight slots or more, where that changes anything.
    pub batch_invariant: Switch,
    /// Layers on the GPU; -1: all.
    pub gpu_layers: i32,
    /// Silence that counts as a hang, in seconds.
    pub stall_s: u64,
    /// Time for seated attempts after the first interrupt, in seconds.
    pub grace_s: u64,
}

/// Log lines.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Log {
    /// A level or a tracing filter.
    pub level: String,
}

/// The file as it is written, before profiles are resolved.
#[derive(Deserialize)]
struct Written {
    models: Vec<String>,
    paths: Paths,
    inbox: Inbox,
    sweep: Sweep,
    generate: Generate,
    engine: Engine,
    profiles: BTreeMap<String, toml::Table>,
    scoring: Constants,
    log: Log,
}

impl Config {
    /// Reads layers over the defaults, later ones winning. `base` is the folder of the file: relative paths start there.
    ///
    /// # Errors
    /// The first key that does not exist, or value that is of the wrong kind or out of range, with its place.
    pub fn parse(layers: &[Layer], base: &Path) -> Result<Self, Error> {
        let table = layer::merge(DEFAULT, layers)?;
        let origins = layer::Origins::new(layers);
        let written: Written = table.try_into().map_err(|e| origins.unreadable("", &e))?;
        check_ranges(&written, &origins)?;
        let profile = resolve_profile(&written, "sweep.profile", &written.sweep.profile, &origins)?;
        let generate_profile =
            resolve_profile(&written, "generate.profile", &written.generate.profile, &origins)?;
        if generate_profile.temperature <= 0.0 {
            let expected = "a profile with a temperature above 0, or every object would be the same";
            return Err(origins.bad_value("generate.profile", &written.generate.profile, expected.into()));
        }
        let Written { models, mut paths, inbox, sweep, generate, engine, scoring, log, .. } = written;
        paths.state = base.join(paths.state);
        paths.grammars = base.join(paths.grammars);
        Ok(Self { models, paths, inbox, sweep, engine, generate, profile, generate_profile, scoring, log })
    }
}

/// Strategies as text are checked by their type; here are the bounds that types do not hold.
fn check_ranges(written: &Written, origins: &layer::Origins) -> Result<(), Error> {
    let (engine, sweep) = (&written.engine, &written.sweep);
    let bounds = [
        ("engine.slots", u64::from(engine.slots), 0, 256),
        ("engine.threads", u64::from(engine.threads), 0, 1024),
        ("engine.batch", u64::from(engine.batch), 32, 65_536),
        ("engine.stall_s", engine.stall_s, 1, 86_400),
        ("engine.grace_s", engine.grace_s, 0, 86_400),
        ("inbox.settle_ms", written.inbox.settle_ms, 0, 600_000),
        ("sweep.repeats", u64::from(sweep.repeats), 1, 1000),
        ("inbox.rescan_s", written.inbox.rescan_s, 1, 86_400),
    ];
    for (key, value, low, high) in bounds {
        if !(low..=high).contains(&value) {
            return Err(origins.bad_value(key, &value, format!("between {low} and {high}")));
        }
    }
    if engine.batch < engine.slots {
        return Err(origins.bad_value(
            "engine.batch",
            &engine.batch,
            format!("at least engine.slots, {}", engine.slots),
        ));
    }
    if sweep.strategies.is_empty() {
        return Err(origins.bad_value("sweep.strategies", &"[]", "at least one of J, P, PJ, J+, PJ+".into()));
    }
    written.scoring.check().map_err(|e| origins.bad_value("scoring", &"not usable", e.to_string()))
}

/// The profile that `key` names.
fn resolve_profile(
    written: &Written,
    key: &str,
    name: &String,
    origins: &layer::Origins,
) -> Result<Profile, Error> {
    let Some(table) = written.profiles.get(name) else {
        let known: Vec<_> = written.profiles.keys().map(String::as_str).collect();
        return Err(origins.bad_value(key, name, format!("one of {}", known.join(", "))));
    };
    // A profile takes what it does not say from `greedy`, which the defaults hold whole.
    let mut whole = written.profiles["greedy"].clone();
    whole.extend(table.clone());
    whole.insert("name".into(), toml::Value::String(name.clone()));
    let profile: Profile =
        whole.try_into().map_err(|e| origins.unreadable(&format!("profiles.{name}."), &e))?;
    profile.check().map_err(|(key, got, expected)| {
        origins.bad_value(&format!("profiles.{name}.{key}"), &got, expected)
    })?;
    Ok(profile)
}

#[cfg(test)]
mod tests;
