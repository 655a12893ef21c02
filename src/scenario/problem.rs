//! What is said about a bad file: where, what is wrong, what would be right. No checks.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// Where in a file something is. All parts absent: the file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Line, counted from 1; for JSON lines and for text that is no JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in bytes, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// JSON pointer (RFC 6901) into the file or, with `line`, into that line's JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
}

impl Place {
    /// The file as a whole.
    pub fn file() -> Place {
        Place::default()
    }

    /// A spot in text that could not be read as JSON.
    pub fn text(line: usize, column: usize) -> Place {
        Place { line: Some(line), column: Some(column), pointer: None }
    }

    /// The root of a JSON document, or of the one on `line`.
    pub fn root(line: Option<usize>) -> Place {
        Place { line, column: None, pointer: Some(String::new()) }
    }

    /// The member `name` of the object here.
    #[must_use]
    pub fn member(&self, name: &str) -> Place {
        self.below(&format!("/{}", name.replace('~', "~0").replace('/', "~1")))
    }

    /// The element `index` of the array here.
    #[must_use]
    pub fn item(&self, index: usize) -> Place {
        self.below(&format!("/{index}"))
    }

    /// What `pointer`, already escaped, leads to from here.
    #[must_use]
    pub fn below(&self, pointer: &str) -> Place {
        let base = self.pointer.as_deref().unwrap_or_default();
        Place { pointer: Some(format!("{base}{pointer}")), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.pointer.as_deref().filter(|pointer| !pointer.is_empty());
        match (self.line, self.column, pointer) {
            (Some(line), Some(column), _) => write!(f, "line {line}, column {column}"),
            (Some(line), None, Some(pointer)) => write!(f, "line {line}, {pointer}"),
            (Some(line), None, None) => write!(f, "line {line}"),
            (None, _, Some(pointer)) => f.write_str(pointer),
            (None, _, None) => f.write_str("the file"),
        }
    }
}

/// A reason to refuse a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What is wrong.
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl Problem {
    /// A problem at `place`.
    pub fn new(place: Place, wrong: impl Into<String>, right: impl Into<String>) -> Problem {
        Problem { place, wrong: wrong.into(), right: right.into() }
    }

    /// A line of cases for a scenario that nobody knows; only who knows them all can say so.
    pub fn unknown_scenario<'n>(
        line: usize,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Problem {
        let known: Vec<&str> = known.into_iter().collect();
        let right = match nearest(name, known.iter().copied()) {
            Some(near) => format!("`{near}`, or first a scenario file that is named `{name}`"),
            None if known.is_empty() => format!("first a scenario file that is named `{name}`"),
            None => format!("one of {}, or first a scenario file that is named `{name}`", quoted(&known)),
        };
        Problem::new(
            Place::root(Some(line)).member("scenario"),
            format!("no scenario is named `{name}`"),
            right,
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (right would be: {})", self.place, self.wrong, self.right)
    }
}

/// Something odd that a file is taken with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What was noticed.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The one of `names` that `word` was probably meant to be, if any comes near.
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let allowed = word.chars().count().div_ceil(3);
    let distance = |name: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &name.to_lowercase());
    let close = names.into_iter().map(|name| (distance(name), name)).min_by_key(|(distance, _)| *distance);
    close.filter(|(distance, _)| *distance <= allowed).map(|(_, name)| name)
}

/// `a`, `b`, `c`: names as they stand in messages.
pub(super) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What a value is, as messages say it.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
