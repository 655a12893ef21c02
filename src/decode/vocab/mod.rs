//! Token ids and the bytes of every token; which are special, which end generation. Knows no constraint and no logits.

mod mask;
mod slices;
mod trie;

pub use mask::TokenMask;
pub(in crate::decode) use slices::Slice;
pub(in crate::decode) use trie::Trie;

/// The id of one token in a model's vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub u32);

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Stands for its bytes.
    Text,
    /// Control token: never text, whatever its bytes look like.
    Special,
    /// A special token that ends generation.
    EndOfGeneration,
}

/// One entry of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The bytes the token writes; they need not be whole characters. Empty for padding ids.
    pub bytes: Vec<u8>,
    /// What the token is for.
    pub kind: TokenKind,
}

/// All tokens of a model. Several ids may have the same bytes; ids with empty bytes are never allowed as text.
#[derive(Debug)]
pub struct Vocab {
    tokens: Vec<Token>,
    ends: Vec<TokenId>,
    trie: Trie,
    between: Trie,
    slices: Vec<Slice>,
}

impl Vocab {
    /// The vocabulary whose token `TokenId(i)` is `tokens[i]`.
    pub fn new(tokens: Vec<Token>) -> Self {
        let ends = tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| token.kind == TokenKind::EndOfGeneration)
            .map(|(idx, _)| TokenId(idx as u32))
            .collect();
        let texts = tokens.iter().enumerate().filter_map(|(idx, token)| {
            let is_text = token.kind == TokenKind::Text && !token.bytes.is_empty();
            is_text.then_some((token.bytes.as_slice(), TokenId(idx as u32)))
        });
        let trie = Trie::new(texts.clone());
        let between = Trie::new(texts.filter(|(bytes, _)| is_between(bytes)));
        let slices = Slice::all(&tokens);
        Self { tokens, ends, trie, between, slices }
    }

    /// How many ids there are, special and padding ids included.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no token at all.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The bytes of a token, special ones included; empty for padding and for ids beyond the vocabulary.
    pub fn piece(&self, token: TokenId) -> &[u8] {
        self.tokens.get(token.0 as usize).map_or(&[], |token| &token.bytes)
    }

    /// Whether the token ends generation.
    pub fn is_end(&self, token: TokenId) -> bool {
        self.kind(token) == Some(TokenKind::EndOfGeneration)
    }

    /// Whether the token never stands for text: control tokens and those that end generation.
    pub fn is_special(&self, token: TokenId) -> bool {
        matches!(self.kind(token), Some(TokenKind::Special | TokenKind::EndOfGeneration))
    }

    /// The tokens that end generation.
    pub fn ends(&self) -> &[TokenId] {
        &self.ends
    }

    /// The text tokens as a trie over their bytes.
    pub(in crate::decode) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The text tokens that can begin where a token of JSON, or white space, begins.
    pub(in crate::decode) fn between(&self) -> &Trie {
        &self.between
    }

    /// Sets of tokens that are plain string content, largest first.
    pub(in crate::decode) fn slices(&self) -> &[Slice] {
        &self.slices
    }

    fn kind(&self, token: TokenId) -> Option<TokenKind> {
        self.tokens.get(token.0 as usize).map(|token| token.kind)
    }
}

fn is_between(token: &[u8]) -> bool {
    let rest = token.trim_ascii_start();
    let is_word = |word: &[u8]| word.starts_with(rest) || rest.starts_with(word);
    match rest.first() {
        None => true,
        Some(b't' | b'f' | b'n') => is_word(b"true") || is_word(b"false") || is_word(b"null"),
        Some(byte) => b"\"{}[],:-0123456789".contains(byte),
    }
}
