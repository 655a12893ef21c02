//! The walk itself: a constraint over the nodes of a trie. Knows no cache.

use std::sync::Arc;

use super::Allowed;
use super::cache::Walked;
use crate::decode::constraint::{Matcher, Spot, Step, Written};
use crate::decode::vocab::{TokenId, Trie};

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub tokens: Vec<TokenId>,
    /// Nodes that were left out with all below them.
    pub set_aside: Vec<u32>,
    /// Tokens below those, if the walk looked there for this text.
    pub aside_tokens: Vec<TokenId>,
    /// Below a node set aside there is a byte whose verdict depends on the text as well.
    pub is_nested: bool,
}

/// What a walk leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SetAside {
    /// Bytes that lead out of the innermost value, and all that [`SetAside::Unstable`] leaves out.
    Exits,
    /// Bytes whose verdict depends on the text and not on the states alone.
    Unstable,
    Nothing,
}

impl Allowed {
    /// Walks nodes that an earlier walk has set aside.
    pub(super) fn walk_nodes(
        &mut self,
        aside: &[u32],
        walked: Walked,
        matcher: &Matcher,
        found: &mut Found,
        set_aside: SetAside,
    ) {
        let vocab = Arc::clone(&self.vocab);
        let trie = walked.trie(&vocab);
        self.begin_walk(matcher);
        for &idx in aside {
            let node = trie.nodes()[idx as usize];
            let piece = vocab.piece(trie.first_token_below(idx as usize));
            if self.walk_path(&piece[..node.depth as usize], matcher.text()) {
                self.walk(trie, idx as usize..node.end as usize, matcher.text(), found, set_aside);
            }
        }
    }

    pub(super) fn begin_walk(&mut self, matcher: &Matcher) {
        self.constraint.turn();
        let (frames, start) = matcher.parts();
        self.frames.clear();
        self.frames.extend_from_slice(frames);
        self.path.clear();
        self.spots.clear();
        self.spots.push(start);
    }

    /// Walks the bytes from the start of the walk; false when one of them may not stand there.
    pub(super) fn walk_path(&mut self, bytes: &[u8], text: &[u8]) -> bool {
        self.path.clear();
        self.spots.truncate(1);
        bytes.iter().all(|&byte| {
            let written = Written { before: text, path: &self.path };
            let spot = self.constraint.step(&mut self.frames, self.spots[self.path.len()], byte, written);
            self.path.push(byte);
            self.spots.extend(spot);
            spot.is_some()
        })
    }

    /// Notes that the walk has reached a spot by a byte at a depth.
    fn enter(&mut self, depth: usize, byte: u8, spot: Spot) {
        self.spots.truncate(depth + 1);
        self.spots.push(spot);
        self.path.truncate(depth);
        self.path.push(byte);
    }

    fn is_aside(&mut self, set_aside: SetAside, spot: Spot, step: Step) -> bool {
        match set_aside {
            SetAside::Exits if spot.frame == self.spots[0].frame && step.exits() => true,
            SetAside::Exits | SetAside::Unstable => self.constraint.is_unstable(&self.frames, spot, step),
            SetAside::Nothing => false,
        }
    }

    /// Walks a range of nodes whose parent the walk has reached.
    pub(super) fn walk(
        &mut self,
        trie: &Trie,
        range: std::ops::Range<usize>,
        text: &[u8],
        found: &mut Found,
        set_aside: SetAside,
    ) {
        let nodes = trie.nodes();
        let mut idx = range.start;
        while idx < range.end {
            let node = nodes[idx];
            let depth = node.depth as usize;
            let spot = self.spots[depth];
            if node.is_plain && self.constraint.is_steady(spot) {
                found.tokens.extend_from_slice(trie.tokens_below(idx));
                idx = node.end as usize;
                continue;
            }
            let step = self.constraint.look(spot, node.byte);
            if step.is_dead() {
                idx = node.end as usize;
                continue;
            }
            if let Some(next) = step.within(spot) {
                self.enter(depth, node.byte, next);
                found.tokens.extend_from_slice(trie.tokens_at(idx));
                idx += 1;
                continue;
            }
            found.is_nested |= set_aside == SetAside::Nothing
                && idx != range.start
                && self.constraint.is_unstable(&self.frames, spot, step);
            if self.is_aside(set_aside, spot, step) {
                found.set_aside.push(idx as u32);
                if set_aside == SetAside::Unstable {
                    let mut below = Found::default();
                    self.walk(trie, idx..node.end as usize, text, &mut below, SetAside::Nothing);
                    found.aside_tokens.append(&mut below.tokens);
                    found.is_nested |= below.is_nested;
                }
                idx = node.end as usize;
                continue;
            }
            self.path.truncate(depth);
            let written = Written { before: text, path: &self.path };
            match self.constraint.take(&mut self.frames, spot, step, node.byte, written) {
                None => idx = node.end as usize,
                Some(spot) => {
                    self.enter(depth, node.byte, spot);
                    found.tokens.extend_from_slice(trie.tokens_at(idx));
                    idx += 1;
                }
            }
        }
    }
}
