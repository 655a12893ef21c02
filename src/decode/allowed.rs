//! Constraint and vocab to token mask: the hot walk.

use std::sync::Arc;

use super::constraint::{Constraint, Frame, Matcher, Rules, Spot, Written};
use super::vocab::{TokenId, TokenMask, Vocab};

/// What the rules allow of a vocabulary.
#[derive(Debug)]
pub struct Allowed {
    constraint: Constraint,
    vocab: Arc<Vocab>,
    /// Scratch of the walk: the frames of the matcher and those the walk adds, and the spot at every depth.
    frames: Vec<Frame>,
    spots: Vec<Spot>,
    path: Vec<u8>,
}

impl Allowed {
    /// The rules over the vocabulary, with nothing found out yet.
    pub fn new(rules: Arc<Rules>, vocab: Arc<Vocab>) -> Self {
        let constraint = Constraint::new(rules);
        Self { constraint, vocab, frames: Vec::new(), spots: Vec::new(), path: Vec::new() }
    }

    /// The constraint below, for questions about bytes.
    pub fn constraint(&mut self) -> &mut Constraint {
        &mut self.constraint
    }

    /// A text with nothing written.
    pub fn start(&self) -> Matcher {
        self.constraint.start()
    }

    /// Every token that may come next; those that end generation when the text may end.
    pub fn mask(&mut self, matcher: &mut Matcher) -> TokenMask {
        self.constraint.trim();
        self.constraint.refresh(matcher);
        let mut words = vec![0u64; self.vocab.len().div_ceil(64)];
        let mut set = |token: TokenId| words[token.0 as usize / 64] |= 1 << (token.0 % 64);
        if self.constraint.may_end(matcher) {
            self.vocab.ends().iter().copied().for_each(&mut set);
        }
        let vocab = Arc::clone(&self.vocab);
        self.walk(&vocab, matcher, set);
        TokenMask::from_words(words, self.vocab.len())
    }

    /// Whether one token may come next, without building a mask.
    pub fn check(&mut self, matcher: &mut Matcher, token: TokenId) -> bool {
        if self.vocab.is_special(token) {
            return self.vocab.is_end(token) && self.constraint.may_end(matcher);
        }
        self.follow(matcher, token).is_some()
    }

    /// Writes a token's bytes; false, and nothing changes, when it may not come next. A token that ends generation
    /// changes nothing either.
    pub fn advance(&mut self, matcher: &mut Matcher, token: TokenId) -> bool {
        if self.vocab.is_special(token) {
            return self.check(matcher, token);
        }
        self.constraint.trim();
        let Some(spot) = self.follow(matcher, token) else { return false };
        matcher.accept(self.vocab.piece(token), &self.frames, spot);
        true
    }

    fn follow(&mut self, matcher: &mut Matcher, token: TokenId) -> Option<Spot> {
        let vocab = Arc::clone(&self.vocab);
        let piece = vocab.piece(token);
        if piece.is_empty() {
            return None;
        }
        self.constraint.refresh(matcher);
        let (frames, mut spot) = matcher.parts();
        self.frames.clear();
        self.frames.extend_from_slice(frames);
        for (idx, &byte) in piece.iter().enumerate() {
            let written = Written { before: matcher.text(), path: &piece[..idx] };
            spot = self.constraint.step(&mut self.frames, spot, byte, written)?;
        }
        Some(spot)
    }

    fn walk(&mut self, vocab: &Vocab, matcher: &Matcher, mut set: impl FnMut(TokenId)) {
        let (frames, start) = matcher.parts();
        self.frames.clear();
        self.frames.extend_from_slice(frames);
        self.spots.clear();
        self.spots.push(start);
        let trie = vocab.trie();
        let nodes = trie.nodes();
        let mut idx = 0;
        while idx < nodes.len() {
            let node = nodes[idx];
            let depth = node.depth as usize;
            self.spots.truncate(depth + 1);
            self.path.truncate(depth);
            let written = Written { before: matcher.text(), path: &self.path };
            match self.constraint.step(&mut self.frames, self.spots[depth], node.byte, written) {
                None => idx = node.end as usize,
                Some(spot) => {
                    self.spots.push(spot);
                    self.path.push(node.byte);
                    trie.tokens_at(idx).iter().copied().for_each(&mut set);
                    idx += 1;
                }
            }
        }
    }
}
