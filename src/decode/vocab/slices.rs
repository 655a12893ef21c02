//! Sets of tokens that are plain string content, cut once when the vocabulary loads: where a string lets a whole
//! set pass, only the tokens outside it have to be walked.

use super::trie::Trie;
use super::{Token, TokenId, TokenKind};

/// Characters that can stand in a JSON string as they are, largest set first.
const CLASSES: [fn(char) -> bool; 7] = [
    |c| c >= ' ' && c != '"' && c != '\\',
    |c| c >= ' ' && (!c.is_ascii_punctuation() || "_-".contains(c)),
    |c| (' '..='~').contains(&c) && c != '"' && c != '\\',
    |c| c.is_ascii_alphanumeric() || "._~:/@!$&'()*+,;=-".contains(c),
    |c| c.is_ascii_alphanumeric() || "_-".contains(c),
    |c| c.is_ascii_alphanumeric(),
    |c| c.is_ascii_lowercase(),
];

/// The tokens whose characters are all of one class.
#[derive(Debug)]
pub(in crate::decode) struct Slice {
    class: fn(char) -> bool,
    /// By length in characters, shortest first.
    tokens: Vec<(u32, TokenId)>,
    words: Vec<u64>,
    /// All other text tokens.
    pub(in crate::decode) rest: Trie,
    /// Those that end the string they stand in after characters of the class only.
    pub(in crate::decode) closing: Closing,
}

/// Tokens that are string content of a class, then a quote, then more. Where a string may end after any content, what
/// the tokens do depends on nothing but the bytes from their quote on, and few of these differ.
#[derive(Debug, Default)]
pub(in crate::decode) struct Closing {
    /// The bytes from the quote on.
    pub(in crate::decode) tails: Trie,
    /// Where their quotes stand in the rest of the slice; ascending.
    pub(in crate::decode) nodes: Vec<u32>,
    /// The most characters before the quote.
    pub(in crate::decode) longest: u64,
}

impl Closing {
    fn new(class: fn(char) -> bool, tokens: &[(&[u8], TokenId)], rest: &Trie) -> Self {
        let mut closing = Self::default();
        let mut tails = Vec::new();
        for &(bytes, token) in tokens {
            let Some(quote) = bytes.iter().position(|&byte| byte == b'"') else { continue };
            match std::str::from_utf8(&bytes[..quote]) {
                Ok(content) if content.chars().all(class) => {
                    tails.push((&bytes[quote..], token));
                    closing.nodes.extend(rest.node_of(&bytes[..=quote]).map(|node| node as u32));
                    closing.longest = closing.longest.max(content.chars().count() as u64);
                }
                _ => {}
            }
        }
        closing.nodes.sort_unstable();
        closing.nodes.dedup();
        closing.tails = Trie::new(tails.into_iter());
        closing
    }
}

impl Slice {
    /// The slices of a vocabulary, largest first.
    pub(super) fn all(tokens: &[Token]) -> Vec<Self> {
        CLASSES.into_iter().map(|class| Self::new(class, tokens)).collect()
    }

    fn new(class: fn(char) -> bool, tokens: &[Token]) -> Self {
        let mut inside = Vec::new();
        let mut outside = Vec::new();
        let mut words = vec![0u64; tokens.len().div_ceil(64)];
        for (idx, token) in tokens.iter().enumerate() {
            if token.kind != TokenKind::Text || token.bytes.is_empty() {
                continue;
            }
            match std::str::from_utf8(&token.bytes) {
                Ok(text) if text.chars().all(class) => {
                    words[idx / 64] |= 1 << (idx % 64);
                    inside.push((text.chars().count() as u32, TokenId(idx as u32)));
                }
                _ => outside.push((token.bytes.as_slice(), TokenId(idx as u32))),
            }
        }
        inside.sort_unstable();
        let rest = Trie::new(outside.iter().copied());
        let closing = Closing::new(class, &outside, &rest);
        Self { class, tokens: inside, words, rest, closing }
    }

    /// Whether the character is of the class.
    pub(in crate::decode) fn has(&self, c: char) -> bool {
        (self.class)(c)
    }

    /// Whether the class is larger than ASCII.
    pub(in crate::decode) fn is_unicode(&self) -> bool {
        self.has('é')
    }

    /// Characters of the longest token.
    pub(in crate::decode) fn longest(&self) -> u64 {
        self.tokens.last().map_or(0, |&(length, _)| u64::from(length))
    }

    /// The tokens of at most so many characters, one bit each.
    pub(in crate::decode) fn up_to(&self, max: u64) -> Vec<u64> {
        let split = self.tokens.partition_point(|&(length, _)| u64::from(length) <= max);
        if split * 2 < self.tokens.len() {
            let mut words = vec![0; self.words.len()];
            self.tokens[..split]
                .iter()
                .for_each(|&(_, TokenId(id))| words[id as usize / 64] |= 1 << (id % 64));
            return words;
        }
        let mut words = self.words.clone();
        self.tokens[split..]
            .iter()
            .for_each(|&(_, TokenId(id))| words[id as usize / 64] &= !(1 << (id % 64)));
        words
    }
}
