//! White space between tokens of JSON, as far as the policy lets it run.

use super::policy::Whitespace;

/// With bounded white space: line ends in one run.
const MAX_LINES: u8 = 2;
/// With bounded white space: blanks or tabs after a line end.
const MAX_INDENT: u8 = 32;
/// The same in grammars of 2025.
const MAX_INDENT_2025: u8 = 20;

/// What the current run of white space holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Space {
    lines: u8,
    blanks: u8,
}

impl Space {
    /// Before the first byte of a text.
    pub(super) fn at_start(policy: Whitespace) -> Self {
        match policy {
            // As after a run that is as long as can be.
            Whitespace::Ollama2025 => Self { lines: MAX_LINES, blanks: MAX_INDENT_2025 },
            _ => Self::default(),
        }
    }

    /// The run with one more byte; `None` when the byte is no white space or the run would be too long.
    pub(super) fn step(self, byte: u8, policy: Whitespace) -> Option<Self> {
        match (policy, byte) {
            (Whitespace::Any, b' ' | b'\t' | b'\n' | b'\r') => Some(self),
            (Whitespace::Bounded, b' ' | b'\t') => {
                let max = if self.lines == 0 { 1 } else { MAX_INDENT };
                (self.blanks < max).then_some(Self { blanks: self.blanks + 1, ..self })
            }
            (Whitespace::Bounded, b'\n' | b'\r') => {
                (self.lines < MAX_LINES).then_some(Self { lines: self.lines + 1, blanks: 0 })
            }
            (Whitespace::Ollama2025, b' ' | b'\t') => {
                let is_indent = self.lines > 0;
                let max = if is_indent { MAX_INDENT_2025 } else { u8::from(byte == b' ') };
                (self.blanks < max).then_some(Self { blanks: self.blanks + 1, ..self })
            }
            (Whitespace::Ollama2025, b'\n') => (self.lines < MAX_LINES && self.blanks == 0)
                .then_some(Self { lines: self.lines + 1, blanks: 0 }),
            _ => None,
        }
    }
}
