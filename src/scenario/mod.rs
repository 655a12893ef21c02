//! The nouns: scenario, case, example, strategy, parsed from a file's text. No file access.
//!
//! A scenario file is one JSON object; more cases for a known scenario come as JSON lines. [`parse`] and
//! [`parse_cases`] judge a whole text and report everything that is wrong with it, each [`Problem`] with its place
//! and what would be right; what can be lived with is a [`Note`]. [`schema_document`] says the same to editors.
//! Member order of schemas, examples and expected JSON, and the text of numbers, are kept as written.

mod problem;
mod members;
mod strategy;
mod schema;
mod prompts;
mod file;
mod lines;
mod revision;
mod document;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;

pub use document::schema_document;
pub use file::{Checked, parse, parse_outline};
pub use lines::{CaseLine, CheckedLines, parse_cases};
pub use problem::{Note, Place, Problem, nearest};
pub use prompts::{Prompts, environment};
pub use schema::refused_by;
pub use strategy::{Constrained, Strategy, UnknownStrategy};

use serde::Serialize;
use serde_json::Value;

/// One kind of message and the JSON that is to be made of it, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// What people and the database call it: `a-z`, `0-9`, `_`, `-`; so names never differ by case alone.
    pub name: String,
    /// One line for people. Never part of a prompt.
    pub description: String,
    /// A valid JSON Schema without references to anything outside itself.
    pub schema: Value,
    /// At least one.
    pub examples: Vec<Example>,
    /// Ids unique; at least one, but for an outline ([`parse_outline`]).
    pub cases: Vec<Case>,
    /// The file's templates, defaults filled in.
    pub prompts: Prompts,
    /// The grammar that J and PJ are held to instead of JSON. Whether there is one of that name, its folder tells.
    pub grammar: Option<String>,
    /// How its cases are scored.
    pub metrics: Metrics,
}

/// A worked pair that prompts may show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    /// The message.
    pub text: String,
    /// The JSON that it holds: an object or array.
    pub json: Value,
}

/// One message and what is expected of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// Unique in its scenario; made from the text when the file gives none.
    pub id: String,
    /// The message.
    pub text: String,
    /// The ground truth: an object or array. Its schema may refuse it; then there is a [`Note`].
    pub expected: Value,
}

/// A family of scoring rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metrics {
    /// The rules of `LLMStructBench` (arXiv 2602.14743).
    #[default]
    Llmstructbench,
}

impl Metrics {
    /// Every family, the default first.
    pub const ALL: [Metrics; 1] = [Metrics::Llmstructbench];

    /// The name in scenario files and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Metrics::Llmstructbench => "llmstructbench",
        }
    }
}
