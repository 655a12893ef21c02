//! What a constraint may narrow: the choices that are not the schema's. No rules of any schema.

use serde::{Deserialize, Serialize};

/// The choices a constraint makes beyond what the schema says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Policy {
    /// In which order members may come.
    pub order: MemberOrder,
    /// How much white space may stand between tokens of JSON.
    pub space: Whitespace,
    /// Which spellings of the same string or number may be written.
    pub spelling: Spelling,
    /// Whether known `format`s are asserted.
    pub formats: Formats,
}

/// In which order an object's members may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberOrder {
    /// Names that the schema mentions in its order, required and optional ones, then all others.
    #[default]
    Schema,
    /// Any order.
    Any,
}

/// How much white space may stand between tokens of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whitespace {
    /// None.
    Compact,
    /// What models like to write: one blank, or up to two line ends and an indentation. None after the value.
    #[default]
    Bounded,
    /// What llama.cpp's grammars for schemas let through in 2025: one blank, or one or two line feeds and at most 20
    /// blanks or tabs. None before the value and none after it.
    #[serde(rename = "ollama-2025")]
    Ollama2025,
    /// Whatever JSON allows, after the value too.
    Any,
}

/// Which spellings of the same string or number may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Spelling {
    /// Integers as plain digits; in names and in constrained strings no escapes for characters that need none.
    #[default]
    Plain,
    /// Every spelling that means an allowed value.
    Any,
}

/// Whether known `format`s are asserted; unknown ones never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Formats {
    /// `format` says something about the text.
    #[default]
    Asserted,
    /// `format` is an annotation.
    Annotated,
}
