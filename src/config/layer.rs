//! One source of settings over another, and where each value came from. Knows keys and kinds, not their meaning.

use std::collections::HashMap;
use std::fmt::Display;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::Error;

/// One value with the place it came from.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The key's parts, outermost first.
    pub key: Vec<String>,
    /// The value.
    pub value: Value,
    /// File and line, variable or flag.
    pub origin: String,
}

/// All the settings of one source.
#[derive(Debug, Clone, Default)]
pub struct Layer(pub Vec<Setting>);

impl Layer {
    /// A configuration file's text; `origin` is its path.
    pub fn file(text: &str, origin: &str) -> Result<Self, Error> {
        let syntax = |e: toml::de::Error| Error::Syntax { origin: origin.into(), message: e.to_string() };
        let values: Table = toml::from_str(text).map_err(syntax)?;
        let spans = DeTable::parse(text).map_err(syntax)?;
        let mut settings = Vec::new();
        flatten(text, spans.get_ref(), &values, &mut Vec::new(), origin, &mut settings);
        Ok(Self(settings))
    }

    /// Environment variables `NIGHTJAR_SECTION_KEY`; others with that prefix that name no key are errors.
    pub fn environment(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let mut names = HashMap::new();
        dotted_keys(&default_table(), &mut Vec::new(), &mut |key| {
            names.insert(format!("NIGHTJAR_{}", key.join("_").to_uppercase()), key.to_vec());
        });
        let mut settings = Vec::new();
        for (name, text) in variables {
            let Some(key) = names.get(&name) else {
                let hint = nearest(&name, names.keys().map(String::as_str));
                return Err(Error::UnknownKey { origin: "environment".into(), key: name, hint });
            };
            let value = scalar(&text, lookup(&default_table(), key));
            settings.push(Setting { key: key.clone(), value, origin: format!("variable {name}") });
        }
        Ok(Self(settings))
    }

    /// Flags `--set section.key=value`.
    pub fn flags<'a>(flags: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let mut settings = Vec::new();
        for flag in flags {
            let origin = format!("--set {flag}");
            let Some((key, text)) = flag.split_once('=') else {
                return Err(Error::Syntax { origin, message: "write it as section.key=value".into() });
            };
            let key: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
            let value = scalar(text, lookup(&default_table(), &key));
            settings.push(Setting { key, value, origin });
        }
        Ok(Self(settings))
    }
}

/// Where each key's last value came from.
pub(super) struct Origins(HashMap<String, String>);

impl Origins {
    pub(super) fn new(layers: &[Layer]) -> Self {
        let all = layers.iter().flat_map(|layer| &layer.0);
        Self(all.map(|setting| (setting.key.join("."), setting.origin.clone())).collect())
    }

    /// An error of reading what stands under `prefix`; its text ends with the key.
    pub(super) fn unreadable(&self, prefix: &str, error: &toml::de::Error) -> Error {
        let text = error.to_string();
        let inner = text.rsplit_once("in `").and_then(|(_, rest)| rest.split('`').next()).unwrap_or_default();
        let key = format!("{prefix}{inner}");
        let origin = self.0.get(&key).cloned().unwrap_or_else(|| "configuration".into());
        Error::Unreadable { origin, key, message: error.message().to_owned() }
    }

    pub(super) fn bad_value(&self, key: &str, got: &dyn Display, expected: String) -> Error {
        let origin = self.0.get(key).cloned().unwrap_or_else(|| "defaults".into());
        Error::BadValue { origin, key: key.into(), got: got.to_string(), expected }
    }
}

/// Puts `layers` over the `defaults` text, checking that every key exists there and keeps its kind.
pub(super) fn merge(defaults: &str, layers: &[Layer]) -> Result<Table, Error> {
    let mut table: Table = toml::from_str(defaults)
        .map_err(|e| Error::Syntax { origin: "built-in defaults".into(), message: e.to_string() })?;
    let known = table.clone();
    for setting in layers.iter().flat_map(|layer| &layer.0) {
        let old = known_value(&known, &setting.key).ok_or_else(|| unknown(&known, setting))?;
        let value = same_kind(old, setting)?;
        insert(&mut table, &setting.key, value);
    }
    Ok(table)
}

fn default_table() -> Table {
    toml::from_str(super::DEFAULT).expect("a test parses the built-in defaults")
}

/// The default that a key replaces. A profile of any name has the keys of `greedy`.
fn known_value<'a>(known: &'a Table, key: &[String]) -> Option<&'a Value> {
    match key {
        [profiles, _, rest @ ..] if profiles == "profiles" && !rest.is_empty() => {
            lookup(known.get("profiles")?.get("greedy")?.as_table()?, rest)
        }
        _ => lookup(known, key).filter(|value| !value.is_table()),
    }
}

fn lookup<'a>(table: &'a Table, key: &[String]) -> Option<&'a Value> {
    let (first, rest) = key.split_first()?;
    let value = table.get(first)?;
    if rest.is_empty() { Some(value) } else { lookup(value.as_table()?, rest) }
}

fn insert(table: &mut Table, key: &[String], value: Value) {
    let [parents @ .., last] = key else { return };
    let mut at = table;
    for part in parents {
        let entry = at.entry(part.clone()).or_insert_with(|| Value::Table(Table::new()));
        // `known_value` has let through only keys whose parents are tables.
        at = entry.as_table_mut().expect("parents of a known key are tables");
    }
    at.insert(last.clone(), value);
}

/// An integer is taken where a float stands; otherwise kinds must agree.
fn same_kind(old: &Value, setting: &Setting) -> Result<Value, Error> {
    match (old, &setting.value) {
        (Value::Float(_), Value::Integer(i)) => Ok(Value::Float(*i as f64)),
        (old, new) if old.same_type(new) => Ok(new.clone()),
        (old, new) => Err(Error::BadValue {
            origin: setting.origin.clone(),
            key: setting.key.join("."),
            got: format!("{new} ({})", new.type_str()),
            expected: format!("{} {}, as in {old}", article(old.type_str()), old.type_str()),
        }),
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'i']) { "an" } else { "a" }
}

fn unknown(known: &Table, setting: &Setting) -> Error {
    let key = setting.key.join(".");
    let mut names = Vec::new();
    dotted_keys(known, &mut Vec::new(), &mut |parts| names.push(parts.join(".")));
    let hint = nearest(&key, names.iter().map(String::as_str));
    Error::UnknownKey { origin: setting.origin.clone(), key, hint }
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|k| (strsim::jaro_winkler(name, k), k));
    let (similarity, best) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    // Below this, the hint is more often a different thing than a misspelling.
    (similarity > 0.75).then(|| best.to_owned())
}

fn dotted_keys(table: &Table, prefix: &mut Vec<String>, visit: &mut dyn FnMut(&[String])) {
    for (key, value) in table {
        prefix.push(key.clone());
        match value {
            Value::Table(inner) => dotted_keys(inner, prefix, visit),
            _ => visit(prefix),
        }
        prefix.pop();
    }
}

/// Text from a flag or variable: TOML when it reads as TOML, else a string, or a list split at commas where a list is due.
fn scalar(text: &str, default: Option<&Value>) -> Value {
    let strings = |text: &str| text.split(',').map(|part| Value::String(part.trim().into())).collect();
    match default {
        Some(Value::String(_)) => Value::String(text.into()),
        Some(Value::Array(_)) if !text.trim_start().starts_with('[') => Value::Array(strings(text)),
        _ => toml::from_str::<Table>(&format!("v = {text}"))
            .ok()
            .and_then(|mut table| table.remove("v"))
            .unwrap_or_else(|| Value::String(text.into())),
    }
}

fn flatten(
    text: &str,
    spans: &DeTable<'_>,
    values: &Table,
    prefix: &mut Vec<String>,
    origin: &str,
    out: &mut Vec<Setting>,
) {
    for (key, spanned) in spans {
        let Some(value) = values.get(key.get_ref().as_ref()) else { continue };
        prefix.push(key.get_ref().to_string());
        if let (DeValue::Table(inner), Value::Table(table)) = (spanned.get_ref(), value) {
            flatten(text, inner, table, prefix, origin, out);
        } else {
            let line = text[..key.span().start].matches('\n').count() + 1;
            let origin = format!("{origin}, line {line}");
            out.push(Setting { key: prefix.clone(), value: value.clone(), origin });
        }
        prefix.pop();
    }
}
