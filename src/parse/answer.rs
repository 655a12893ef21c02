//! From what a model wrote to the one JSON value that is its answer: section 2 of llmstructbench.md.

use serde_json::Value;

use super::read::read_at;
use super::{Json, Problem};

/// What has to be known about a case to find the answer in an output. Built once per scenario.
#[derive(Debug, Clone)]
pub struct AnswerRules {
    /// What a reasoning block stands between
    pub markers: Markers,
    /// The kind of value an answer is
    pub root: Root,
    /// The compiled schema; without one, nothing is said about validity and the last value found is the answer
    pub validator: Option<jsonschema::Validator>,
}

/// What a model's template puts around reasoning. An empty marker never occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markers {
    /// Opens a reasoning block; missing from the output where the prompt has already opened it
    pub open: String,
    /// Ends a reasoning block
    pub close: String,
}

impl Default for Markers {
    fn default() -> Markers {
        Markers { open: "<think>".to_owned(), close: "</think>".to_owned() }
    }
}

/// The kind of value an answer has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// Starts with `{`
    Object,
    /// Starts with `[`
    Array,
}

/// A schema that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("schema at \"{pointer}\": {problem}")]
pub struct RulesError {
    /// JSON pointer into the schema
    pub pointer: String,
    /// What is wrong there
    pub problem: String,
}

/// What an output turned out to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// The whole answer is one JSON text
    Clean(Found),
    /// The answer had to be looked for among other text
    Extracted(Found),
    /// No answer
    Failed(Failure),
}

/// A value found in an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The answer
    pub value: Json,
    /// Whether the schema accepts it; `None` without a schema
    pub schema_valid: Option<bool>,
}

/// Why an output holds no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Nothing but white space, or reasoning that never ended
    Empty,
    /// One JSON text, but not of the kind that the schema's root asks for
    WrongRoot,
    /// No complete JSON value of that kind anywhere
    Unparsable,
    /// As `Unparsable`, and the token limit had cut the output off
    Truncated,
}

impl AnswerRules {
    /// Compiles a schema, with the default markers. References to other documents are never fetched: a schema that
    /// needs one is an error.
    pub fn new(schema: &Value) -> Result<AnswerRules, RulesError> {
        let validator = jsonschema::validator_for(schema).map_err(|error| RulesError {
            pointer: error.instance_path().to_string(),
            problem: error.to_string(),
        })?;
        Ok(AnswerRules { markers: Markers::default(), root: Root::of(schema), validator: Some(validator) })
    }

    /// Rules for outputs that come without a schema: any object is an answer.
    pub fn without_schema() -> AnswerRules {
        AnswerRules { markers: Markers::default(), root: Root::Object, validator: None }
    }

    fn check(&self, value: Json) -> Found {
        let schema_valid = self.validator.as_ref().map(|validator| validator.is_valid(&value.to_value()));
        Found { value, schema_valid }
    }
}

impl Root {
    /// What the schema's root asks for: an object, unless its `type` (behind a local `$ref`, if need be) allows arrays
    /// and no objects.
    pub fn of(schema: &Value) -> Root {
        // As many hops as any sane schema takes; a circle of references says nothing about the type.
        const MAX_HOPS: usize = 16;
        let mut node = schema;
        for _ in 0..MAX_HOPS {
            match node.get("type") {
                Some(Value::String(only)) if only == "array" => return Root::Array,
                Some(Value::Array(several)) => {
                    let allows = |kind: &str| several.iter().any(|allowed| allowed == kind);
                    return if allows("array") && !allows("object") { Root::Array } else { Root::Object };
                }
                Some(_) => return Root::Object,
                None => {}
            }
            let target =
                node.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
            let Some(next) = target.and_then(|pointer| schema.pointer(pointer)) else { break };
            node = next;
        }
        Root::Object
    }

    fn is_kind_of(self, value: &Json) -> bool {
        match self {
            Root::Object => matches!(value, Json::Object(_)),
            Root::Array => matches!(value, Json::Array(_)),
        }
    }

    fn opening(self) -> char {
        match self {
            Root::Object => '{',
            Root::Array => '[',
        }
    }
}

impl Parsed {
    /// The outcome's name in reports and files: `clean`, `extracted` or `failed`.
    pub fn outcome(&self) -> &'static str {
        match self {
            Parsed::Clean(_) => "clean",
            Parsed::Extracted(_) => "extracted",
            Parsed::Failed(_) => "failed",
        }
    }

    /// The answer and its validity, or why there is none.
    pub fn found(&self) -> Result<&Found, Failure> {
        match self {
            Parsed::Clean(found) | Parsed::Extracted(found) => Ok(found),
            Parsed::Failed(failure) => Err(*failure),
        }
    }
}

impl Failure {
    /// The reason's name in reports and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Failure::Empty => "empty",
            Failure::WrongRoot => "wrong_root",
            Failure::Unparsable => "unparsable",
            Failure::Truncated => "truncated",
        }
    }
}

/// Finds the answer in what a model wrote. `cut_off`: the output ended at the token limit.
///
/// White space here is Unicode's, for what surrounds the answer is prose; inside it is JSON's.
pub fn answer(output: &str, rules: &AnswerRules, cut_off: bool) -> Parsed {
    let text = behind_reasoning(output, &rules.markers.close)
        .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Parsed::Failed(Failure::Empty);
    }
    if let Ok(value) = Json::from_text(text) {
        return if rules.root.is_kind_of(&value) {
            Parsed::Clean(rules.check(value))
        } else {
            Parsed::Failed(Failure::WrongRoot)
        };
    }
    match values_in(text, rules) {
        Err(ReasoningNeverEnds) => Parsed::Failed(Failure::Empty),
        Ok(values) => match last_valid_or_last(values, rules) {
            Some(found) => Parsed::Extracted(found),
            None if cut_off => Parsed::Failed(Failure::Truncated),
            None => Parsed::Failed(Failure::Unparsable),
        },
    }
}

/// What follows the last end-of-reasoning marker; everything where there is none.
fn behind_reasoning<'a>(output: &'a str, close: &str) -> &'a str {
    if close.is_empty() {
        return output;
    }
    output.rfind(close).map_or(output, |start| &output[start + close.len()..])
}

struct ReasoningNeverEnds;

/// Every complete value of the root's kind, from left to right, none inside another. Ends at a value that the text
/// does not complete, and at one nested too deep to be read: what is inside either is not an answer.
fn values_in(text: &str, rules: &AnswerRules) -> Result<Vec<Json>, ReasoningNeverEnds> {
    let mut blocks = starts(text, &rules.markers.open).peekable();
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(rules.root.opening()).map(|ahead| at + ahead) {
        // A marker inside a value that was read is part of a string there.
        while blocks.next_if(|&block| block < at).is_some() {}
        if blocks.peek().is_some_and(|&block| block <= start) {
            return Err(ReasoningNeverEnds);
        }
        match read_at(text, start) {
            Ok((value, end)) => {
                values.push(value);
                at = end;
            }
            Err(error) if error.cut || error.problem == Problem::TooDeep => return Ok(values),
            Err(_) => at = start + 1,
        }
    }
    if blocks.any(|block| block >= at) { Err(ReasoningNeverEnds) } else { Ok(values) }
}

fn starts<'a>(text: &'a str, marker: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(marker).map(|(start, _)| start).filter(|_| !marker.is_empty())
}

fn last_valid_or_last(mut values: Vec<Json>, rules: &AnswerRules) -> Option<Found> {
    let last = rules.check(values.pop()?);
    if last.schema_valid != Some(false) {
        return Some(last);
    }
    let valid = values
        .into_iter()
        .rev()
        .map(|value| rules.check(value))
        .find(|found| found.schema_valid == Some(true));
    Some(valid.unwrap_or(last))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
