//! Expected JSON against output JSON: section 3 of llmstructbench.md, counted and located. No formulas.

use std::collections::HashMap;

use super::{Constants, Counts};
use crate::parse::Json;

/// The differences between an expected value and an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How many, by kind
    pub counts: Counts,
    /// Where: one for every missing key, missing value, extra key, extra item and wrong value that was counted
    pub findings: Vec<Finding>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// JSON pointer to the place, in the expected JSON or, for what is extra, in the output
    pub path: String,
    /// What is different
    pub kind: FindingKind,
    /// The JSON expected there, if any: compact text, cut with an ellipsis beyond [`MAX_EXCERPT`] characters
    pub expected: Option<String>,
    /// The JSON found there, if any, likewise
    pub got: Option<String>,
}

/// How long a finding's texts get before they are cut, in characters. A model that went astray writes thousands, and
/// each of its nested keys would store them again.
pub const MAX_EXCERPT: usize = 500;

/// The kinds of difference. The last five are the paper's wrong values (WV).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// MK
    MissingKey,
    /// MV
    MissingValue,
    /// A key that is not expected, or the surplus occurrence of one that is
    ExtraKey,
    /// A value in an array element that is not expected
    ExtraItem,
    /// A different string
    ValueDeviation,
    /// A different number or boolean
    ValueError,
    /// The wrong type, with the right text
    Coercible,
    /// The wrong type
    TypeError,
    /// Not the kind of container
    StructureError,
}

impl FindingKind {
    /// The kind's name in reports and files.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingKind::MissingKey => "missing_key",
            FindingKind::MissingValue => "missing_value",
            FindingKind::ExtraKey => "extra_key",
            FindingKind::ExtraItem => "extra_item",
            FindingKind::ValueDeviation => "value_deviation",
            FindingKind::ValueError => "value_error",
            FindingKind::Coercible => "coercible",
            FindingKind::TypeError => "type_error",
            FindingKind::StructureError => "structure_error",
        }
    }
}

/// Compares an output with what was expected: members by name, array elements by index.
///
/// Where a name is repeated in an object, the last value counts. In the output each other occurrence is an extra key,
/// whatever its value; in the expected JSON it is ignored.
pub fn compare(expected: &Json, got: &Json, constants: &Constants) -> Comparison {
    let size = expected.size();
    let counts = Counts { n_keys: size.keys, n_values: size.leaves, ..Counts::default() };
    let mut walk = Walk { constants, counts, findings: Vec::new(), path: String::new() };
    walk.both(expected, got);
    Comparison { counts: walk.counts, findings: walk.findings }
}

/// Whether a leaf that only one side has is told by a key that only that side has.
#[derive(Clone, Copy, PartialEq)]
enum Cover {
    Key,
    Nothing,
}

struct Walk<'a> {
    constants: &'a Constants,
    counts: Counts,
    findings: Vec<Finding>,
    /// Where the walk is: a JSON pointer
    path: String,
}

impl Walk<'_> {
    fn both(&mut self, expected: &Json, got: &Json) {
        match (expected, got) {
            (Json::Object(wanted), Json::Object(given)) => self.objects(wanted, given),
            (Json::Array(wanted), Json::Array(given)) => self.arrays(wanted, given),
            (Json::Object(_) | Json::Array(_), Json::Null) => self.missing(expected, Cover::Nothing),
            (Json::Object(_) | Json::Array(_), _) => {
                self.found(FindingKind::StructureError, Some(expected), Some(got));
                self.missing(expected, Cover::Nothing);
            }
            _ => self.leaf(expected, got),
        }
    }

    fn objects(&mut self, wanted: &[(String, Json)], given: &[(String, Json)]) {
        let wanted_last = last_occurrences(wanted);
        let given_last = last_occurrences(given);
        for (i, (name, value)) in wanted.iter().enumerate() {
            if wanted_last[name.as_str()] != i {
                continue;
            }
            self.at(name, |walk| match given_last.get(name.as_str()) {
                Some(&j) => {
                    walk.counts.tp_keys += 1;
                    walk.both(value, &given[j].1);
                }
                None => walk.missing_member(value),
            });
        }
        for (j, (name, value)) in given.iter().enumerate() {
            if given_last[name.as_str()] != j {
                self.at(name, |walk| walk.found(FindingKind::ExtraKey, None, Some(value)));
            } else if !wanted_last.contains_key(name.as_str()) {
                self.at(name, |walk| walk.extra_member(value));
            }
        }
    }

    fn arrays(&mut self, wanted: &[Json], given: &[Json]) {
        for (i, value) in wanted.iter().enumerate() {
            self.at(&i.to_string(), |walk| match given.get(i) {
                Some(other) => walk.both(value, other),
                None => walk.missing(value, Cover::Nothing),
            });
        }
        for (i, value) in given.iter().enumerate().skip(wanted.len()) {
            self.at(&i.to_string(), |walk| walk.extra(value, Cover::Nothing));
        }
    }

    fn missing_member(&mut self, value: &Json) {
        self.found(FindingKind::MissingKey, Some(value), None);
        self.missing(value, Cover::Key);
    }

    /// What is below a value that the output lacks.
    fn missing(&mut self, value: &Json, cover: Cover) {
        match value {
            Json::Object(members) => {
                let last = last_occurrences(members);
                for (i, (name, value)) in members.iter().enumerate() {
                    if last[name.as_str()] == i {
                        self.at(name, |walk| walk.missing_member(value));
                    }
                }
            }
            Json::Array(elements) => {
                for (i, element) in elements.iter().enumerate() {
                    self.at(&i.to_string(), |walk| walk.missing(element, cover));
                }
            }
            leaf => {
                self.counts.absent_values += 1;
                if cover == Cover::Nothing {
                    self.found(FindingKind::MissingValue, Some(leaf), None);
                }
            }
        }
    }

    fn extra_member(&mut self, value: &Json) {
        self.found(FindingKind::ExtraKey, None, Some(value));
        self.extra(value, Cover::Key);
    }

    /// What is below a value that is not expected.
    fn extra(&mut self, value: &Json, cover: Cover) {
        match value {
            Json::Object(members) => {
                let last = last_occurrences(members);
                for (i, (name, value)) in members.iter().enumerate() {
                    self.at(name, |walk| {
                        if last[name.as_str()] == i {
                            walk.extra_member(value);
                        } else {
                            walk.found(FindingKind::ExtraKey, None, Some(value));
                        }
                    });
                }
            }
            Json::Array(elements) => {
                for (i, element) in elements.iter().enumerate() {
                    self.at(&i.to_string(), |walk| walk.extra(element, cover));
                }
            }
            leaf => {
                self.counts.extra_values += 1;
                if cover == Cover::Nothing {
                    self.found(FindingKind::ExtraItem, None, Some(leaf));
                }
            }
        }
    }

    /// An expected scalar and whatever the output has in its place.
    fn leaf(&mut self, expected: &Json, got: &Json) {
        if expected == got {
            return;
        }
        let kind = match (expected, got) {
            (_, Json::Null) => {
                self.counts.absent_values += 1;
                FindingKind::MissingValue
            }
            (Json::String(wanted), Json::String(given)) => {
                self.counts.credit += self.constants.credit(distance(wanted, given));
                FindingKind::ValueDeviation
            }
            (Json::Number(_), Json::Number(_)) | (Json::Bool(_), Json::Bool(_)) => FindingKind::ValueError,
            _ if same_text(expected, got) => FindingKind::Coercible,
            _ => FindingKind::TypeError,
        };
        self.found(kind, Some(expected), Some(got));
    }

    fn found(&mut self, kind: FindingKind, expected: Option<&Json>, got: Option<&Json>) {
        let counts = &mut self.counts;
        *match kind {
            FindingKind::MissingKey => &mut counts.missing_keys,
            FindingKind::MissingValue => &mut counts.missing_values,
            FindingKind::ExtraKey => &mut counts.extra_keys,
            FindingKind::ExtraItem => &mut counts.extra_items,
            FindingKind::ValueDeviation => &mut counts.deviations,
            FindingKind::ValueError => &mut counts.value_errors,
            FindingKind::Coercible => &mut counts.coercible,
            FindingKind::TypeError => &mut counts.type_errors,
            FindingKind::StructureError => &mut counts.structure_errors,
        } += 1;
        let path = self.path.clone();
        self.findings.push(Finding { path, kind, expected: expected.map(excerpt), got: got.map(excerpt) });
    }

    /// Does something one step further down the path.
    fn at(&mut self, step: &str, inside: impl FnOnce(&mut Self)) {
        let here = self.path.len();
        self.path.push('/');
        self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        inside(self);
        self.path.truncate(here);
    }
}

/// Where each name occurs last.
fn last_occurrences(members: &[(String, Json)]) -> HashMap<&str, usize> {
    members.iter().enumerate().map(|(i, (name, _))| (name.as_str(), i)).collect()
}

/// l: Levenshtein distance in Unicode scalars, by the expected string's length.
fn distance(expected: &str, got: &str) -> f64 {
    strsim::levenshtein(expected, got) as f64 / expected.chars().count().max(1) as f64
}

/// Whether one is a string that reads as the other does.
fn same_text(one: &Json, other: &Json) -> bool {
    let ((Json::String(text), scalar) | (scalar, Json::String(text))) = (one, other) else { return false };
    match scalar {
        Json::Null => text == "null",
        Json::Bool(value) => text == if *value { "true" } else { "false" },
        Json::Number(number) => number.reads_as(text),
        Json::String(_) | Json::Array(_) | Json::Object(_) => false,
    }
}

fn excerpt(value: &Json) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(MAX_EXCERPT) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
