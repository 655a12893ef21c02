//! A text tested against the rules: where it is refused, and what could have stood there.

use std::fmt;

use super::matcher::Constraint;

/// How many bytes before the refused one an explanation shows.
const SHOWN: usize = 24;

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Offset of the byte that may not stand there; the text's length when it ends too early.
    pub at: usize,
    /// The end of what was accepted.
    pub after: String,
    /// The byte that was refused; `None` when the text ends too early.
    pub found: Option<u8>,
    /// Bytes that could have come instead, in ascending order.
    pub expected: Vec<u8>,
    /// Whether the text could have ended before the refused byte.
    pub may_end: bool,
}

impl Constraint {
    /// Tests a whole text.
    pub fn test(&mut self, text: &[u8]) -> Result<(), Refusal> {
        let mut matcher = self.start();
        let at = self.advance_all(&mut matcher, text);
        let may_end = self.may_end(&mut matcher);
        if at == text.len() && may_end {
            return Ok(());
        }
        let after = String::from_utf8_lossy(&text[at.saturating_sub(SHOWN)..at]).into_owned();
        let expected = self.next_bytes(&mut matcher);
        Err(Refusal { at, after, found: text.get(at).copied(), expected, may_end })
    }
}

impl Refusal {
    /// What could have stood there instead, in words.
    pub fn choices(&self) -> String {
        let mut choices = ranges(&self.expected);
        if self.may_end {
            choices.push("the end".to_owned());
        }
        if choices.is_empty() { "nothing".to_owned() } else { choices.join(" or ") }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found {
            Some(byte) => write!(f, "byte {}: {} cannot stand after `{}`", self.at, shown(byte), self.after)?,
            None => write!(f, "byte {}: the text may not end after `{}`", self.at, self.after)?,
        }
        write!(f, "; expected {}", self.choices())
    }
}

impl std::error::Error for Refusal {}

fn shown(byte: u8) -> String {
    match byte {
        b' '..=b'~' => format!("`{}`", char::from(byte)),
        b'\n' => "a line end".to_owned(),
        b'\t' => "a tab".to_owned(),
        b'\r' => "a carriage return".to_owned(),
        byte => format!("byte 0x{byte:02x}"),
    }
}

/// Bytes in words, three or more in a row as a range. What begins or ends characters of several bytes is named as such.
fn ranges(bytes: &[u8]) -> Vec<String> {
    let runs = bytes.chunk_by(|a, b| *b == a + 1);
    runs.flat_map(|run| match run {
        [0, .., 0x7f] => vec!["any ASCII character".to_owned()],
        [0xc2, .., 0xf4] => vec!["any character beyond ASCII".to_owned()],
        [0x80..=0xbf, .., 0x80..=0xbf] => vec!["the rest of a character".to_owned()],
        [first, _, .., last] => vec![format!("{} to {}", shown(*first), shown(*last))],
        few => few.iter().copied().map(shown).collect(),
    })
    .collect()
}
