//! Hashes that say whether work has to be done again.

use crate::hash::sha256;
use serde::Serialize;
use serde_json::Value;

use super::{Case, Example, Prompts, Scenario};

/// What of a scenario can change a prompt or a constraint, in this order, as compact JSON: the canonical form.
#[derive(Serialize)]
struct Revision<'s> {
    schema: &'s Value,
    examples: &'s [Example],
    prompts: &'s Prompts,
    /// Left out where there is none, so that older revisions keep their hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<&'s str>,
}

impl Scenario {
    /// SHA-256, in hex, over schema, examples, prompts and the grammar's name. White space in the file changes nothing; the order of
    /// members does, since prompts show it and constraints follow it. Name, description and cases are not in it.
    #[expect(clippy::missing_panics_doc, reason = "JSON values and strings always serialise")]
    pub fn revision_sha256(&self) -> String {
        let revision = Revision {
            schema: &self.schema,
            examples: &self.examples,
            prompts: &self.prompts,
            grammar: self.grammar.as_deref(),
        };
        let canonical = serde_json::to_string(&revision).expect("JSON values and strings always serialise");
        sha256(canonical.as_bytes())
    }
}

impl Case {
    /// A case under its own id, or under one made from its text: the first 12 hex digits of its SHA-256, so that
    /// the same message has the same id in every file.
    pub fn new(id: Option<String>, text: String, expected: Value) -> Case {
        let id = id.unwrap_or_else(|| sha256(text.as_bytes())[..12].to_owned());
        Case { id, text, expected }
    }

    /// SHA-256 of the message, in hex.
    pub fn text_sha256(&self) -> String {
        sha256(self.text.as_bytes())
    }
}
