//! Masks by what they depend on: the state of the innermost value and the open values the walk looked into.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::decode::constraint::Endings;
use crate::decode::vocab::{Slice, TokenId, TokenMask, Trie, Vocab};

/// Masks beyond this many are thrown away and built again when needed: about 80 MB at 151,936 tokens.
const MAX_MASKS: usize = 4_096;

/// The part of the vocabulary that was walked to find a mask.
#[derive(Clone, Copy, Debug)]
pub(super) enum Walked {
    All,
    /// Tokens that can begin between tokens of JSON, where no other can stand.
    Between,
    /// The rest of a slice that passed whole, by its index.
    RestOf(usize),
}

impl Walked {
    /// The tokens that were walked.
    pub(super) fn trie(self, vocab: &Vocab) -> &Trie {
        match self {
            Self::All => vocab.trie(),
            Self::Between => vocab.between(),
            Self::RestOf(idx) => &vocab.slices()[idx].rest,
        }
    }

    /// The slice that passed whole.
    pub(super) fn slice(self, vocab: &Vocab) -> Option<&Slice> {
        match self {
            Self::RestOf(idx) => vocab.slices().get(idx),
            _ => None,
        }
    }
}

/// A mask and what it depends on.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    /// Without the tokens below `unstable`.
    pub mask: Arc<TokenMask>,
    /// How many of the innermost open values the walk looked into; `None` when it went past the outermost.
    pub n_frames: Option<usize>,
    pub walked: Walked,
    /// Nodes of the walked trie whose verdict depends on the text and not on the state alone.
    pub unstable: Arc<[u32]>,
    /// The whole mask inside a name that is neither mentioned nor was there before.
    pub new_name: Option<Arc<TokenMask>>,
}

/// A mask as far as the state of the innermost value tells.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    /// Without the tokens below `exits`.
    pub mask: Arc<TokenMask>,
    pub walked: Walked,
    /// Nodes of the walked trie whose byte leads out of the value.
    pub exits: Arc<[u32]>,
    /// Those of them that are not among the closing tokens of the slice.
    pub odd_exits: Arc<[u32]>,
    /// What the bytes before those are.
    pub endings: Arc<Endings>,
    /// The allowed tokens of the walked trie, and the bytes of the longest of them.
    pub rest: Arc<[TokenId]>,
    pub longest: usize,
}

/// Masks found so far.
#[derive(Debug, Default)]
pub(super) struct Cache {
    by_top: FxHashMap<u32, Vec<(Vec<u32>, Cached)>>,
    inside: FxHashMap<u32, Inside>,
    n_masks: usize,
    pub n_asked: u64,
    pub n_hits: u64,
}

impl Cache {
    /// The mask for a state inside states that wait, innermost first, if it is known.
    pub(super) fn get(&mut self, top: u32, waiting: &[u32]) -> Option<&Cached> {
        self.n_asked += 1;
        let entries = self.by_top.get(&top)?;
        let found = entries.iter().find(|entry| is_for(entry, waiting));
        self.n_hits += u64::from(found.is_some());
        found.map(|entry| &entry.1)
    }

    /// Adds the whole mask inside a name that is neither mentioned nor was there before.
    pub(super) fn put_new_name(&mut self, top: u32, waiting: &[u32], mask: &Arc<TokenMask>) {
        let entries = self.by_top.entry(top).or_default();
        if let Some((_, cached)) = entries.iter_mut().find(|entry| is_for(entry, waiting)) {
            self.n_masks += usize::from(cached.new_name.is_none());
            cached.new_name = Some(Arc::clone(mask));
        }
    }

    /// What is known about the innermost value's state.
    pub(super) fn inside(&self, top: u32) -> Option<&Inside> {
        self.inside.get(&top)
    }

    /// Remembers what was found about a state.
    pub(super) fn put_inside(&mut self, top: u32, inside: Inside) {
        if self.n_masks >= MAX_MASKS {
            self.clear();
        }
        self.n_masks += 1;
        self.inside.insert(top, inside);
    }

    /// Remembers a mask.
    pub(super) fn put(&mut self, top: u32, waiting: &[u32], cached: Cached) {
        if self.n_masks >= MAX_MASKS {
            self.clear();
        }
        self.n_masks += 1 + usize::from(cached.new_name.is_some());
        let n = cached.n_frames.unwrap_or(waiting.len());
        self.by_top.entry(top).or_default().push((waiting[..n].to_vec(), cached));
    }

    /// Forgets all masks, because the states they are named by are gone.
    pub(super) fn clear(&mut self) {
        self.by_top.clear();
        self.inside.clear();
        self.n_masks = 0;
    }
}

fn is_for((looked_into, cached): &(Vec<u32>, Cached), waiting: &[u32]) -> bool {
    match cached.n_frames {
        Some(_) => waiting.starts_with(looked_into),
        None => waiting == looked_into,
    }
}
