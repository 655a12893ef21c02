//! The whole of `nightjar check --strict` on the cases of one scenario: each by itself, then against one another.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::ground::{Message, Unfounded};
use super::kinds::Kinds;
use super::leaves::{canonical, leaves};
use crate::scenario::{Case, Place, refused_by};

/// The part of a scenario's cases that may share a leaf's value.
const SHARED: f64 = 0.05;

/// In fewer cases than this, sharing says nothing.
const ENOUGH_CASES: usize = 20;

/// Smaller integers repeat by nature.
const LARGE: f64 = 100.0;

/// How many ids a finding names.
const NAMED: usize = 4;

/// A case and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'c> {
    /// Its file, as findings name it.
    pub file: &'c str,
    /// The case.
    pub case: &'c Case,
}

/// All cases of one scenario.
#[derive(Debug, Clone, Default)]
pub struct Subject<'c> {
    /// The scenario's schema; `None` where only its cases are known.
    pub schema: Option<&'c Value>,
    /// Its cases, of one file or several.
    pub entries: Vec<Entry<'c>>,
}

/// A fault of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// The case's id.
    pub case: String,
    /// Where in the case: below `/text`, `/id` or `/expected`.
    pub pointer: String,
    /// What stands there.
    pub value: Value,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}, {}", self.file, self.case, self.pointer)?;
        // Whole messages and objects are not read in a list.
        match &self.value {
            Value::Object(_) | Value::Array(_) => {}
            Value::String(text) if text.contains('\n') => {}
            value => write!(f, ", {value}")?,
        }
        write!(f, ": {}", self.why)
    }
}

/// Every fault of a scenario's cases, in the order of the cases, what repeats itself last.
pub fn strict(subject: &Subject) -> Vec<Finding> {
    let kinds = Kinds::of(subject.schema, subject.entries.iter().map(|entry| &entry.case.expected));
    let mut findings = Vec::new();
    for entry in &subject.entries {
        let faults = faults_of(entry.case, subject.schema, &kinds);
        findings.extend(
            faults.into_iter().map(|fault| {
                finding(*entry, &format!("/expected{}", fault.pointer), &fault.value, fault.why)
            }),
        );
    }
    findings.extend(twins(&subject.entries));
    findings.extend(shared(&subject.entries, &kinds));
    findings
}

/// The faults of one case by itself: what its schema refuses, null aside (published benchmarks expect null where there is
/// no answer, whatever their schemas say), and what its message does not ground.
pub fn faults_of(case: &Case, schema: Option<&Value>, kinds: &Kinds) -> Vec<Unfounded> {
    let root = Place::root(None);
    let notes = schema.map(|schema| refused_by(schema, [(root, &case.expected)])).unwrap_or_default();
    let refused = notes.into_iter().filter_map(|note| {
        let pointer = note.place.pointer.unwrap_or_default();
        let value = case.expected.pointer(&pointer).filter(|value| !value.is_null())?.clone();
        Some(Unfounded { pointer, value, why: note.message })
    });
    refused.chain(Message::read(&case.text).unfounded(case, kinds)).collect()
}

fn finding(entry: Entry, pointer: &str, value: &Value, why: String) -> Finding {
    let (file, case) = (entry.file.to_owned(), entry.case.id.clone());
    Finding { file, case, pointer: pointer.to_owned(), value: value.clone(), why }
}

/// What no two cases may have in common.
#[derive(Clone, Copy)]
enum Part {
    Id,
    Text,
    Expected,
}

impl Part {
    /// Where it stands, what makes two of it the same, and what it is.
    fn of(self, case: &Case) -> (&'static str, String, Value) {
        match self {
            Self::Id => ("/id", case.id.clone(), case.id.as_str().into()),
            Self::Text => {
                let words: Vec<&str> = case.text.split_whitespace().collect();
                ("/text", words.join(" "), case.text.as_str().into())
            }
            Self::Expected => ("/expected", canonical(&case.expected), case.expected.clone()),
        }
    }
}

/// Cases with the id, the message or the expected value of one before them.
fn twins(entries: &[Entry]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for part in [Part::Id, Part::Text, Part::Expected] {
        let mut first: BTreeMap<String, Entry> = BTreeMap::new();
        for entry in entries {
            let (pointer, key, value) = part.of(entry.case);
            if let Some(first) = first.get(&key) {
                let name = pointer.trim_start_matches('/');
                let why = format!("{} in {} has the same `{name}`", first.case.id, first.file);
                findings.push(finding(*entry, pointer, &value, why));
            } else {
                first.insert(key, *entry);
            }
        }
    }
    findings
}

/// Values that too many cases have, each reported at the first of them.
fn shared(entries: &[Entry], kinds: &Kinds) -> Vec<Finding> {
    if entries.len() < ENOUGH_CASES {
        return Vec::new();
    }
    let allowed = (entries.len() as f64 * SHARED) as usize;
    let mut holders: BTreeMap<String, Vec<(Entry, String, &Value)>> = BTreeMap::new();
    for entry in entries {
        for leaf in leaves(&entry.case.expected) {
            if kinds.is_enumeration(&leaf.path) || repeats_by_nature(leaf.value) {
                continue;
            }
            let found = holders.entry(leaf.value.to_string()).or_default();
            if found.last().is_none_or(|(last, ..)| !std::ptr::eq(last.case, entry.case)) {
                found.push((*entry, leaf.pointer, leaf.value));
            }
        }
    }
    let crowded = holders.values().filter(|found| found.len() > allowed);
    crowded
        .map(|found| {
            let (first, pointer, value) = &found[0];
            let others: Vec<&str> =
                found[1..].iter().take(NAMED).map(|(entry, ..)| entry.case.id.as_str()).collect();
            let more = if found.len() > NAMED + 1 { ", …" } else { "" };
            let n = found.len();
            let why = format!(
                "{n} of {} cases have this value, at most {allowed} may; also {}{more}",
                entries.len(),
                others.join(", ")
            );
            finding(*first, &format!("/expected{pointer}"), value, why)
        })
        .collect()
}

/// Null, booleans and small integers.
fn repeats_by_nature(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => {
            number.as_f64().is_some_and(|number| number.fract() == 0.0 && number.abs() < LARGE)
        }
        _ => false,
    }
}
