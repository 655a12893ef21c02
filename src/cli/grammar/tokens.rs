//! How a text falls into a model's tokens, and what is allowed at each. No model is loaded.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use serde::Serialize;

use crate::decode::allowed::Allowed;
use crate::decode::constraint::Rules;
use crate::decode::vocab::{Token, TokenId, TokenKind, Vocab};
use crate::models::gguf::{Piece, PieceKind, pieces};

/// One token of a text.
#[derive(Serialize)]
pub(super) struct TokenRow {
    pub(super) id: u32,
    /// Its text, with what cannot be shown escaped.
    pub(super) piece: String,
    /// How many tokens may stand in its place.
    pub(super) n_allowed: usize,
    /// Whether it is one of them.
    pub(super) accepted: bool,
}

/// A model's vocabulary, and its tokens by their bytes.
pub(super) struct Tokens {
    vocab: Arc<Vocab>,
    by_bytes: HashMap<Vec<u8>, TokenId>,
    longest: usize,
}

impl Tokens {
    /// Reads the vocabulary in the header of a GGUF file.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let pieces = pieces(path).with_context(|| path.display().to_string())?;
        let mut by_bytes = HashMap::new();
        for (id, piece) in pieces.iter().enumerate() {
            if piece.kind == PieceKind::Text && !piece.bytes.is_empty() {
                by_bytes.entry(piece.bytes.clone()).or_insert(TokenId(id as u32));
            }
        }
        let longest = by_bytes.keys().map(Vec::len).max().unwrap_or(0);
        let vocab = Arc::new(Vocab::new(pieces.into_iter().map(token).collect()));
        Ok(Self { vocab, by_bytes, longest })
    }

    /// The tokens of a text up to the first that is refused, then one that ends it. The longest token that fits is
    /// taken each time; a model's own tokenizer follows its merges and mostly, but not always, does the same.
    pub(super) fn rows(&self, rules: &Arc<Rules>, text: &str) -> Vec<TokenRow> {
        let mut allowed = Allowed::new(Arc::clone(rules), Arc::clone(&self.vocab));
        let mut matcher = allowed.start();
        let mut rows = Vec::new();
        let mut rest = text.as_bytes();
        while let Some(token) = self.next(rest) {
            let n_allowed = allowed.mask(&mut matcher).count();
            let accepted = allowed.advance(&mut matcher, token);
            let piece = self.vocab.piece(token);
            rows.push(TokenRow { id: token.0, piece: shown(piece), n_allowed, accepted });
            if !accepted {
                return rows;
            }
            rest = &rest[piece.len()..];
        }
        if let (true, Some(&end)) = (rest.is_empty(), self.vocab.ends().first()) {
            let mask = allowed.mask(&mut matcher);
            let piece = format!("{}, the end", shown(self.vocab.piece(end)));
            rows.push(TokenRow { id: end.0, piece, n_allowed: mask.count(), accepted: mask.allows(end) });
        }
        rows
    }

    fn next(&self, rest: &[u8]) -> Option<TokenId> {
        let mut lengths = (1..=self.longest.min(rest.len())).rev();
        lengths.find_map(|n| self.by_bytes.get(&rest[..n])).copied()
    }
}

fn token(piece: Piece) -> Token {
    let kind = match piece.kind {
        PieceKind::Text => TokenKind::Text,
        PieceKind::Control => TokenKind::Special,
        PieceKind::End => TokenKind::EndOfGeneration,
    };
    Token { bytes: piece.bytes, kind }
}

fn shown(piece: &[u8]) -> String {
    match str::from_utf8(piece) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("\"{}\"", piece.escape_ascii()),
    }
}
