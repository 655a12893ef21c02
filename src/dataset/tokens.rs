//! A message cut into digits, words and single characters. No meaning yet.

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Digits,
    Word,
    Mark,
}

/// A run of digits, a run of letters, or one other character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) sort: Sort,
    /// Whether white space stands before it.
    pub(super) gap: bool,
}

impl Token<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.sort == Sort::Word && self.text == word
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.sort == Sort::Mark && self.text == mark
    }

    /// The value of a short run of digits.
    pub(super) fn digits(&self) -> Option<i64> {
        (self.sort == Sort::Digits && self.text.len() <= 15).then(|| self.text.parse().ok()).flatten()
    }
}

/// Cuts a plain text.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let sort = |c: char| match c {
        c if c.is_ascii_digit() => Sort::Digits,
        c if c.is_alphabetic() => Sort::Word,
        _ => Sort::Mark,
    };
    let mut found: Vec<Token> = Vec::new();
    let mut gap = true;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            gap = true;
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let kind = sort(first);
        let end = match kind {
            Sort::Mark => first.len_utf8(),
            _ => rest.find(|c: char| c.is_whitespace() || sort(c) != kind).unwrap_or(rest.len()),
        };
        found.push(Token { text: &rest[..end], sort: kind, gap });
        gap = false;
        rest = &rest[end..];
    }
    found
}
