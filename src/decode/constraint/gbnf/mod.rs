//! GBNF, the grammar files of llama.cpp: text to rules over bytes, and the sets of stacks that follow a text.
//!
//! [`syntax`] reads the text, [`lower`] turns characters and repetitions into rules over bytes, [`check`] refuses
//! grammars that no stack could follow, [`stacks`] says where a byte leads. No tokens, no schemas.

mod check;
mod lower;
mod stacks;
mod syntax;

pub(super) use lower::Grammar;
pub(super) use stacks::{Set, Stacks};

const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Why a grammar is refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {wrong}; right would be {right}")]
pub struct GrammarError {
    /// Line, counted from 1. Lines end with `\n`, `\r\n` or `\r`.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl GrammarError {
    fn at(text: &str, offset: usize, wrong: impl Into<String>, right: impl Into<String>) -> Self {
        let before = text[..offset].replace("\r\n", "\n");
        // A byte-order mark takes no column.
        let before = before.trim_start_matches('\u{feff}');
        let line = before.matches(LINE_ENDS).count() + 1;
        let column = before.rsplit(LINE_ENDS).next().unwrap_or_default().chars().count() + 1;
        Self { line, column, wrong: wrong.into(), right: right.into() }
    }
}

impl Grammar {
    /// A grammar's text, compiled. Only the first thing that is wrong with it is reported.
    pub(super) fn parse(text: &str) -> Result<Self, GrammarError> {
        let written = syntax::read(text)?;
        let mut grammar = lower::lower(text, &written)?;
        check::check(text, &written, &mut grammar)?;
        Ok(grammar)
    }
}
