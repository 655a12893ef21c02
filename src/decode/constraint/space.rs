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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_the_policy_lets_them() {
        let (bounded, ollama) = (Whitespace::Bounded, Whitespace::Ollama2025);
        let table = [
            (Whitespace::Compact, " ".to_owned(), false),
            (Whitespace::Any, " \t\r\n  ".to_owned(), true),
            (bounded, " ".to_owned(), true),
            (bounded, "\t".to_owned(), true),
            (bounded, "  ".to_owned(), false),
            (bounded, format!("\r\n{}", " ".repeat(32)), true),
            (bounded, "\n\n\n".to_owned(), false),
            (ollama, " ".to_owned(), true),
            (ollama, "\t".to_owned(), false),
            (ollama, "  ".to_owned(), false),
            (ollama, " \n".to_owned(), false),
            (ollama, "\r\n".to_owned(), false),
            (ollama, format!("\n\n{}\t", " ".repeat(19)), true),
            (ollama, format!("\n{}", " ".repeat(21)), false),
            (ollama, "\n \n".to_owned(), false),
            (ollama, "\n\n\n".to_owned(), false),
        ];
        for (policy, run, expected) in table {
            let end = run.bytes().try_fold(Space::default(), |space, byte| space.step(byte, policy));
            assert_eq!(end.is_some(), expected, "{policy:?} {run:?}");
        }
        for byte in *b" \t\r\n" {
            assert_eq!(Space::at_start(ollama).step(byte, ollama), None, "none before the value");
        }
        assert!(Space::at_start(bounded).step(b' ', bounded).is_some());
    }
}
