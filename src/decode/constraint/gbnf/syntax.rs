//! The text of a grammar to its rules as written. Knows no bytes and no stacks.

use super::GrammarError;

/// Groups may nest so deep.
const MAX_NESTING: usize = 100;
/// One item takes so many repetitions, as in `"a"{3}?`. Each nests it deeper, in every group around it again.
const MAX_STACKED: usize = 3;
/// No repetition counts higher; llama.cpp stops earlier.
const MAX_COUNT: u32 = 100_000;
const ESCAPES: &str = r#"one of \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH"#;

/// A rule as it stands in the text.
#[derive(Debug)]
pub(super) struct Written {
    pub name: String,
    /// Where its name stands.
    pub at: usize,
    pub body: Alternatives,
}

/// Sequences, one of which has to match.
pub(super) type Alternatives = Vec<Vec<Item>>;

/// One thing in a sequence.
#[derive(Debug)]
pub(super) enum Item {
    /// These characters.
    Literal(String),
    /// One character out of these ranges, which are in order and do not touch surrogates.
    Class(Vec<(char, char)>),
    /// Whatever the rule of this name, which stands at an offset, matches.
    Rule(String, usize),
    /// Any of the sequences.
    Group(Alternatives),
    /// The item so many times; without `max` any number from `min` on.
    Repeat { item: Box<Item>, min: u32, max: Option<u32>, at: usize },
}

/// All rules of a grammar, in order.
pub(super) fn read(text: &str) -> Result<Vec<Written>, GrammarError> {
    let mut reader = Reader { text, at: 0, nesting: 0 };
    let mut rules = Vec::new();
    // Editors on Windows write a byte-order mark.
    reader.take('\u{feff}');
    reader.space(true);
    while reader.peek().is_some() {
        rules.push(reader.rule()?);
        reader.space(true);
    }
    Ok(rules)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let n = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }

    fn wrong<T>(
        &self,
        at: usize,
        wrong: impl Into<String>,
        right: impl Into<String>,
    ) -> Result<T, GrammarError> {
        Err(GrammarError::at(self.text, at, wrong, right))
    }

    /// What stands here, as messages say it.
    fn here(&self) -> String {
        match self.peek() {
            None => "the text ends".to_owned(),
            Some('\n' | '\r') => "the line ends".to_owned(),
            Some(c) => format!("`{c}` stands"),
        }
    }

    /// White space and comments; line ends only where a rule goes on behind them.
    fn space(&mut self, lines: bool) {
        loop {
            self.take_while(|c| c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r')));
            if self.peek() != Some('#') {
                return;
            }
            self.take_while(|c| c != '\n' && c != '\r');
        }
    }

    fn rule(&mut self) -> Result<Written, GrammarError> {
        let at = self.at;
        let name = self.take_while(is_name).to_owned();
        if name.is_empty() {
            let right = match self.peek() {
                Some('|') => "the `|` at the end of the line before it, or the rule in parentheses",
                _ => "a rule: its name (letters, digits, `-`, `_`), `::=` and what it matches",
            };
            return self.wrong(at, format!("{} where a rule should begin", self.here()), right);
        }
        self.space(false);
        if !self.text[self.at..].starts_with("::=") {
            return self.wrong(self.at, format!("{} after the name `{name}`", self.here()), "`::=`");
        }
        self.at += "::=".len();
        self.space(true);
        let body = self.alternatives(false)?;
        match self.peek() {
            None | Some('\n' | '\r') => Ok(Written { name, at, body }),
            Some(')') => self.wrong(self.at, "this `)` closes nothing", "no `)` here"),
            Some(':') if self.text[self.at..].starts_with("::=") => {
                let right =
                    "a line end between rules (a rule's body begins on the line of its `::=` or below it)";
                self.wrong(self.at, format!("`::=` stands inside rule `{name}`"), right)
            }
            Some(_) => self.wrong(
                self.at,
                format!("{} inside rule `{name}`", self.here()),
                "a literal \"…\", a class […], a rule's name, `(`, `.`, `|` or the line's end",
            ),
        }
    }

    fn alternatives(&mut self, nested: bool) -> Result<Alternatives, GrammarError> {
        let mut all = vec![self.sequence(nested)?];
        while self.take('|') {
            self.space(true);
            all.push(self.sequence(nested)?);
        }
        Ok(all)
    }

    fn sequence(&mut self, nested: bool) -> Result<Vec<Item>, GrammarError> {
        let mut items = Vec::new();
        let mut n_stacked = 0;
        loop {
            let at = self.at;
            let repeats = matches!(self.peek(), Some('*' | '+' | '?' | '{'));
            n_stacked = if repeats { n_stacked + 1 } else { 0 };
            match self.peek() {
                Some('"') => items.push(self.literal()?),
                Some('[') => items.push(self.class()?),
                Some('(') => items.push(self.group()?),
                Some('.') => {
                    self.next();
                    items.push(Item::Class(complement(Vec::new())));
                }
                Some(_) if n_stacked > MAX_STACKED => {
                    let wrong = format!("more than {MAX_STACKED} repetitions of one item");
                    return self.wrong(at, wrong, "one of them");
                }
                Some(_) if repeats => {
                    let (min, max) = self.counts(nested)?;
                    let Some(item) = items.pop() else {
                        return self.wrong(
                            at,
                            "there is nothing here to repeat",
                            "what is repeated right before it",
                        );
                    };
                    items.push(Item::Repeat { item: Box::new(item), min, max, at });
                }
                Some('<' | '!') => {
                    let right = "text: tokens that are no text never match a grammar here";
                    return self.wrong(at, "this names a token", right);
                }
                Some(c) if is_name(c) => items.push(Item::Rule(self.take_while(is_name).to_owned(), at)),
                _ => return Ok(items),
            }
            self.space(nested);
        }
    }

    fn group(&mut self) -> Result<Item, GrammarError> {
        let at = self.at;
        self.next();
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.wrong(
                at,
                format!("groups nest deeper than {MAX_NESTING}"),
                "some of them as rules of their own",
            );
        }
        self.space(true);
        let all = self.alternatives(true)?;
        if !self.take(')') {
            return self.wrong(
                at,
                format!("this `(` is never closed: {} where it could be", self.here()),
                "a `)`",
            );
        }
        self.nesting -= 1;
        Ok(Item::Group(all))
    }

    /// `*`, `+`, `?`, `{m}`, `{m,}` or `{m,n}`.
    fn counts(&mut self, nested: bool) -> Result<(u32, Option<u32>), GrammarError> {
        let at = self.at;
        match self.next() {
            Some('*') => return Ok((0, None)),
            Some('+') => return Ok((1, None)),
            Some('?') => return Ok((0, Some(1))),
            _ => self.space(nested),
        }
        let min = self.count()?;
        self.space(nested);
        let mut max = Some(min);
        if self.take(',') {
            self.space(nested);
            max = if self.peek() == Some('}') { None } else { Some(self.count()?) };
            self.space(nested);
        }
        if !self.take('}') {
            return self.wrong(
                self.at,
                format!("{} where this repetition should be closed", self.here()),
                "`}`",
            );
        }
        match max {
            Some(max) if max < min => {
                self.wrong(at, format!("{max} is less than {min}"), "the smaller number first")
            }
            max => Ok((min, max)),
        }
    }

    fn count(&mut self) -> Result<u32, GrammarError> {
        let at = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit()).to_owned();
        match digits.parse::<u32>() {
            Ok(count) if count <= MAX_COUNT => Ok(count),
            _ if digits.is_empty() => {
                self.wrong(at, format!("{} where a number should", self.here()), "`{3}`, `{3,}` or `{3,5}`")
            }
            _ => self.wrong(at, format!("{digits} repetitions are too many"), format!("at most {MAX_COUNT}")),
        }
    }

    fn literal(&mut self) -> Result<Item, GrammarError> {
        let start = self.at;
        self.next();
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.peek() {
                None => return self.wrong(start, "this literal is never closed", "a `\"` at its end"),
                Some('"') => break,
                Some(_) => {
                    let code = self.character()?;
                    let Some(c) = char::from_u32(code) else {
                        let wrong = format!("U+{code:04X} is half of a surrogate pair, no character");
                        return self.wrong(at, wrong, "the character itself, or its \\U escape");
                    };
                    text.push(c);
                }
            }
        }
        self.next();
        Ok(Item::Literal(text))
    }

    fn class(&mut self) -> Result<Item, GrammarError> {
        let start = self.at;
        self.next();
        let negated = self.take('^');
        let mut ranges = Vec::new();
        loop {
            let at = self.at;
            match self.peek() {
                None => return self.wrong(start, "this class is never closed", "a `]` at its end"),
                Some(']') => break,
                Some(_) => {}
            }
            let low = self.character()?;
            let mut high = low;
            let rest = &self.text[self.at..];
            if rest.starts_with('-') && !rest.starts_with("-]") && rest.len() > 1 {
                self.next();
                high = self.character()?;
            }
            if high < low {
                let range = &self.text[at..self.at];
                return self.wrong(
                    at,
                    format!("the range `{range}` runs backwards"),
                    "the smaller character first",
                );
            }
            ranges.push((low, high));
        }
        self.next();
        // llama.cpp takes `[^]` for a class of no character too.
        let ranges = if negated && !ranges.is_empty() { complement(ranges) } else { merged(ranges) };
        if ranges.is_empty() {
            return self.wrong(start, "no character is in this class", "at least one (a `]` in it as `\\]`)");
        }
        Ok(Item::Class(ranges))
    }

    /// One character, escaped or not, as its code point. The caller has seen that there is one.
    fn character(&mut self) -> Result<u32, GrammarError> {
        let at = self.at;
        match self.next() {
            Some('\\') => {}
            Some(c) => return Ok(u32::from(c)),
            None => return self.wrong(at, "the text ends", "a character"),
        }
        match self.next() {
            Some('n') => Ok(u32::from('\n')),
            Some('r') => Ok(u32::from('\r')),
            Some('t') => Ok(u32::from('\t')),
            Some(c @ ('\\' | '"' | '[' | ']' | '-')) => Ok(u32::from(c)),
            Some('x') => self.hex(at, 2),
            Some('u') => self.hex(at, 4),
            Some('U') => self.hex(at, 8),
            _ => self.wrong(at, format!("`{}` is no escape", &self.text[at..self.at]), ESCAPES),
        }
    }

    fn hex(&mut self, at: usize, n_digits: usize) -> Result<u32, GrammarError> {
        let digits = self.text[self.at..].get(..n_digits);
        let is_hex = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(code) = digits.filter(is_hex).and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return self.wrong(
                at,
                "this escape lacks digits",
                format!("{n_digits} hexadecimal digits after it"),
            );
        };
        self.at += n_digits;
        if code > u32::from(char::MAX) {
            return self.wrong(at, format!("there is no character U+{code:X}"), "at most \\U0010FFFF");
        }
        Ok(code)
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// The same characters as ranges in order, surrogates left out.
fn merged(mut ranges: Vec<(u32, u32)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (low, high) in ranges {
        match joined.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    let without = |(low, high): (u32, u32)| [(low, high.min(0xd7ff)), (low.max(0xe000), high)];
    let chars = |(low, high)| Some((char::from_u32(low)?, char::from_u32(high)?));
    joined.into_iter().flat_map(without).filter(|(low, high)| low <= high).filter_map(chars).collect()
}

/// All other characters.
fn complement(ranges: Vec<(u32, u32)>) -> Vec<(char, char)> {
    let mut others = Vec::new();
    let mut from = 0;
    let mut sorted = ranges;
    sorted.sort_unstable();
    for (low, high) in sorted {
        if from < low {
            others.push((from, low - 1));
        }
        from = from.max(high + 1);
    }
    if from <= u32::from(char::MAX) {
        others.push((from, u32::from(char::MAX)));
    }
    merged(others)
}
