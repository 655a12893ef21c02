//! ECMA-262 pattern syntax, rewritten as the syntax of `regex-syntax`. What has no equal there is an error.

use std::iter::Peekable;
use std::str::Chars;

use regex_syntax::hir::Hir;

/// What `\s` means: white space and line ends of ECMA-262.
const SPACE: &str =
    r"\t\n\x0B\x0C\r\x20\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
/// What `.` leaves out.
const LINE_ENDS: &str = r"\n\r\x{2028}\x{2029}";
/// How deep groups may nest.
const NEST_LIMIT: u32 = 100;

/// Parses a pattern, or says what about it is wrong or not supported.
pub(super) fn parse(source: &str) -> Result<Hir, String> {
    let translated = Translation { chars: source.chars().peekable(), out: String::new() }.run()?;
    regex_syntax::ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(&translated).map_err(|error| {
        match error {
            regex_syntax::Error::Parse(error) => format!("not a valid pattern: {}", error.kind()),
            regex_syntax::Error::Translate(error) => format!("not a valid pattern: {}", error.kind()),
            _ => "not a valid pattern".to_owned(),
        }
    })
}

struct Translation<'a> {
    chars: Peekable<Chars<'a>>,
    out: String,
}

impl Translation<'_> {
    fn run(mut self) -> Result<String, String> {
        while let Some(c) = self.chars.next() {
            match c {
                '.' => self.class(true, LINE_ENDS),
                '[' => self.bracket()?,
                '(' => self.group()?,
                '\\' => self.escape(false)?,
                '{' => self.count(),
                // Without the multi-line flag these are the ends of the text, never of a line.
                '^' => self.out.push_str(r"\A"),
                '$' => self.out.push_str(r"\z"),
                '|' | ')' | '*' | '+' | '?' => self.out.push(c),
                literal => self.literal(literal),
            }
        }
        Ok(self.out)
    }

    fn group(&mut self) -> Result<(), String> {
        let mut ahead = self.chars.clone();
        if ahead.next_if_eq(&'?').is_none() {
            self.out.push_str("(?:");
            return Ok(());
        }
        match (ahead.next(), ahead.next()) {
            (Some(':'), _) => {
                self.chars.nth(1);
                self.out.push_str("(?:");
                Ok(())
            }
            (Some('='), _) => Err("look-ahead is not supported here".to_owned()),
            (Some('!'), _) => Err("negative look-ahead is not supported here".to_owned()),
            (Some('<'), Some('=' | '!')) => Err("look-behind is not supported".to_owned()),
            (Some('<'), Some(_)) => {
                self.chars.by_ref().find(|&c| c == '>').ok_or("a group name is not closed")?;
                self.out.push_str("(?:");
                Ok(())
            }
            _ => Err("a group that begins with `(?` is not ECMA-262".to_owned()),
        }
    }

    fn bracket(&mut self) -> Result<(), String> {
        let negated = self.chars.next_if_eq(&'^').is_some();
        if self.chars.next_if_eq(&']').is_some() {
            self.out.push_str(if negated { r"[\x00-\x{10FFFF}]" } else { r"[^\x00-\x{10FFFF}]" });
            return Ok(());
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        loop {
            match self.chars.next().ok_or("a character class is not closed")? {
                ']' => break,
                '\\' => self.escape(true)?,
                '-' if self.is_literal_dash() => self.out.push_str(r"\-"),
                '-' => self.out.push('-'),
                literal => self.literal(literal),
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// A dash is a range only between two characters: not first, last, or beside a class like `\d`.
    fn is_literal_dash(&self) -> bool {
        let at_start = self.out.ends_with('[') && !self.out.ends_with(r"\[") || self.out.ends_with("[^");
        let mut ahead = self.chars.clone();
        let next_is_class = match ahead.next() {
            Some(']') => true,
            Some('\\') => ahead.next().is_some_and(|c| "dDwWsSpP".contains(c)),
            _ => false,
        };
        // A nested class was just written for an escape such as `\w`.
        at_start || next_is_class || (self.out.ends_with(']') && !self.out.ends_with(r"\]"))
    }

    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let c = self.chars.next().ok_or("the pattern ends in a backslash")?;
        match c {
            'd' => self.class(false, "0-9"),
            'D' => self.class(true, "0-9"),
            'w' => self.class(false, "0-9A-Za-z_"),
            'W' => self.class(true, "0-9A-Za-z_"),
            's' => self.class(false, SPACE),
            'S' => self.class(true, SPACE),
            'b' if in_class => self.literal('\u{8}'),
            'b' | 'B' => return Err("word boundaries are not supported".to_owned()),
            'f' => self.literal('\u{c}'),
            'n' => self.literal('\n'),
            'r' => self.literal('\r'),
            't' => self.literal('\t'),
            'v' => self.literal('\u{b}'),
            '0' => self.literal('\0'),
            '1'..='9' => return Err("back-references are not supported".to_owned()),
            'k' => return Err("named back-references are not supported".to_owned()),
            'x' => self.code(2)?,
            'u' => self.unicode()?,
            'c' => {
                let letter =
                    self.chars.next().filter(char::is_ascii_alphabetic).ok_or(r"\c needs a letter")?;
                self.literal(char::from(letter as u8 & 0x1f));
            }
            'p' | 'P' => self.property(c)?,
            other => self.literal(other),
        }
        Ok(())
    }

    fn unicode(&mut self) -> Result<(), String> {
        if self.chars.next_if_eq(&'{').is_none() {
            return self.code(4);
        }
        let digits: String = self.chars.by_ref().take_while(|&c| c != '}').collect();
        self.code_point(&digits)
    }

    fn code(&mut self, n_digits: usize) -> Result<(), String> {
        let digits: String = self.chars.by_ref().take(n_digits).collect();
        let high = u32::from_str_radix(&digits, 16).unwrap_or(0);
        if !(0xd800..0xdc00).contains(&high) || n_digits != 4 {
            return self.code_point(&digits);
        }
        let mut ahead = self.chars.clone();
        let low = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
            .then(|| ahead.by_ref().take(4).collect::<String>())
            .and_then(|digits| u32::from_str_radix(&digits, 16).ok())
            .filter(|low| (0xdc00..0xe000).contains(low))
            .ok_or("lone surrogates are not supported")?;
        self.chars = ahead;
        self.code_point(&format!("{:x}", 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)))
    }

    fn code_point(&mut self, digits: &str) -> Result<(), String> {
        let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        self.literal(c.ok_or_else(|| format!("`{digits}` is not the code of a character"))?);
        Ok(())
    }

    fn property(&mut self, c: char) -> Result<(), String> {
        self.chars.next_if_eq(&'{').ok_or(r"\p needs a property in braces")?;
        let name: String = self.chars.by_ref().take_while(|&c| c != '}').collect();
        self.out.extend(["\\", &c.to_string(), "{", &name, "}"]);
        Ok(())
    }

    fn class(&mut self, negated: bool, set: &str) {
        self.out.push_str(if negated { "[^" } else { "[" });
        self.out.push_str(set);
        self.out.push(']');
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || !c.is_ascii() || c == '_' {
            self.out.push(c);
        } else {
            self.out.extend([r"\x{", &format!("{:X}", c as u32), "}"]);
        }
    }

    /// A `{` that was just read begins a count like `{2,5}`, or else stands for itself.
    fn count(&mut self) {
        let mut ahead = self.chars.clone();
        let mut count = String::new();
        while let Some(c) = ahead.next_if(|c| c.is_ascii_digit() || *c == ',') {
            count.push(c);
        }
        let (min, max) = count.split_once(',').unwrap_or((&count, ""));
        if min.is_empty() || max.contains(',') || ahead.next() != Some('}') {
            return self.literal('{');
        }
        self.out.extend(["{", &count, "}"]);
        self.chars.nth(count.len());
    }
}
