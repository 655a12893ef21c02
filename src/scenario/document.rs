//! The JSON Schema of the files themselves, for editors.

use serde_json::Value;

/// The JSON Schema (2020-12) of scenario files; that of a line of cases is its `#/$defs/case_line`.
#[expect(clippy::missing_panics_doc, reason = "a test reads the shipped document")]
pub fn schema_document() -> Value {
    serde_json::from_str(include_str!("scenario.schema.json")).expect("the shipped document is JSON")
}
