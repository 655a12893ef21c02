//! The strict RFC 8259 reader: no comments, trailing commas, single quotes or NaN. Knows no schema.

use super::{Json, Number};

/// Containers may be nested this deep. Well beyond any real answer, and shallow enough that reading, comparing,
/// validating and dropping a value (all recursive) stay within a 2 MiB thread stack even in a debug build.
pub const MAX_DEPTH: usize = 512;

/// Why a text is not JSON, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct ReadError {
    /// Where in the text, in bytes
    pub offset: usize,
    /// What is wrong there
    pub problem: Problem,
    /// The text ended before the value did: more text might have completed it
    pub cut: bool,
}

/// What is wrong with a text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Neither a value nor the start of one
    #[error("expected a value (object, array, string, number, true, false or null)")]
    NoValue,
    /// An object where a member name should come
    #[error("expected a member name in double quotes")]
    NoName,
    /// A member name without its colon
    #[error("expected ':' after the member name")]
    NoColon,
    /// An object after a member
    #[error("expected ',' or '}}' after a member")]
    NoMemberEnd,
    /// An array after an element
    #[error("expected ',' or ']' after an element")]
    NoElementEnd,
    /// A minus sign, point or exponent sign without digits
    #[error("expected a digit")]
    NoDigit,
    /// A number such as `012`
    #[error("a number must not start with a needless zero")]
    LeadingZero,
    /// A string without its closing quote
    #[error("expected '\"' at the end of the string")]
    OpenString,
    /// A control character, U+0000 to U+001F, that is not escaped
    #[error("control characters in a string must be escaped")]
    ControlCharacter,
    /// A backslash followed by none of `"\/bfnrtu`, or `\u` without four hexadecimal digits
    #[error("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hexadecimal digits")]
    BadEscape,
    /// Nested deeper than [`MAX_DEPTH`]
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// Something other than white space behind the value
    #[error("expected nothing after the value")]
    TrailingText,
}

impl Json {
    /// Reads a text that is exactly one JSON value, white space around it allowed.
    pub fn from_text(text: &str) -> Result<Json, ReadError> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < text.len() { Err(reader.wrong(Problem::TrailingText)) } else { Ok(value) }
    }
}

/// Reads one value that starts at byte `start`, whatever follows it; also returns the byte behind it.
pub(super) fn read_at(text: &str, start: usize) -> Result<(Json, usize), ReadError> {
    let mut reader = Reader { text, at: start };
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over the byte if it is next.
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        self.at += self.text.as_bytes()[self.at..].iter().take_while(|&&byte| belongs(byte)).count();
    }

    fn space(&mut self) {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// What was expected is not here; if that is because the text is over, the value was cut.
    fn wrong(&self, problem: Problem) -> ReadError {
        ReadError { offset: self.at, problem, cut: self.at == self.text.len() }
    }

    /// Reads a value inside `depth` containers.
    fn value(&mut self, depth: usize) -> Result<Json, ReadError> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => Err(self.wrong(Problem::TooDeep)),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.wrong(Problem::NoValue)),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, ReadError> {
        for &byte in word.as_bytes() {
            if !self.eat(byte) {
                return Err(self.wrong(Problem::NoValue));
            }
        }
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Json, ReadError> {
        let mut elements = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            self.space();
            if self.eat(b']') {
                return Ok(Json::Array(elements));
            }
            if !self.eat(b',') {
                return Err(self.wrong(Problem::NoElementEnd));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, ReadError> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.eat(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            members.push(self.member(depth)?);
            self.space();
            if self.eat(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.eat(b',') {
                return Err(self.wrong(Problem::NoMemberEnd));
            }
        }
    }

    fn member(&mut self, depth: usize) -> Result<(String, Json), ReadError> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(self.wrong(Problem::NoName));
        }
        let name = self.string()?;
        self.space();
        if !self.eat(b':') {
            return Err(self.wrong(Problem::NoColon));
        }
        Ok((name, self.value(depth)?))
    }

    fn number(&mut self) -> Result<Json, ReadError> {
        let start = self.at;
        self.eat(b'-');
        let leading_zero = self.peek() == Some(b'0');
        let first_digit = self.at;
        self.digits()?;
        if leading_zero && self.at > first_digit + 1 {
            return Err(ReadError { offset: first_digit, problem: Problem::LeadingZero, cut: false });
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            // Either sign, or none, and then digits.
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        Ok(Json::Number(Number::from_checked(self.text[start..self.at].to_owned())))
    }

    fn digits(&mut self) -> Result<(), ReadError> {
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.at == start { Err(self.wrong(Problem::NoDigit)) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<String, ReadError> {
        let mut decoded = String::new();
        self.at += 1;
        loop {
            let start = self.at;
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f));
            decoded.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(decoded);
                }
                Some(b'\\') => decoded.push(self.escape()?),
                Some(_) => return Err(self.wrong(Problem::ControlCharacter)),
                None => return Err(self.wrong(Problem::OpenString)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        self.at += 1;
        let decoded = match self.peek() {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.wrong(Problem::BadEscape)),
        };
        self.at += 1;
        Ok(decoded)
    }

    /// Reads the digits behind `\u`, and the second half of a surrogate pair where there is one.
    fn unicode_escape(&mut self) -> Result<char, ReadError> {
        let first = self.hex4()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let behind_first = self.at;
        if self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let scalar = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(scalar).expect("a surrogate pair is at most U+10FFFF"));
            }
        }
        // The second escape, if any, stands for itself.
        self.at = behind_first;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> Result<u32, ReadError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.wrong(Problem::BadEscape))?;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
