//! What the KV cache holds, slot by slot, and where a text goes on with the least work. Decides; moves nothing.

use crate::decode::engine::Slot;
use crate::decode::vocab::TokenId;

/// Tokens of a prompt that a copy has to save to be worth it. llama.cpp copies a slot's whole buffer, which took as long
/// as evaluating about five tokens (`SmolLM2`, 2048 cells, two cores), and makes a slot's earlier text unusable.
pub(super) const COPY_WORTH: usize = 16;

/// One slot's part of the KV cache.
#[derive(Debug, Default)]
struct Held {
    /// What has been evaluated, in order.
    tokens: Vec<TokenId>,
    /// Whether a branch writes to it now.
    taken: bool,
    /// When it was last let go.
    freed: u64,
}

/// The KV cache of all slots. What a slot holds outlives the branch that wrote it, until another one needs the slot.
#[derive(Debug)]
pub(super) struct Cells {
    slots: Vec<Held>,
    clock: u64,
}

/// Where a text goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// A free slot.
    pub slot: Slot,
    /// The slot to be copied there first, if not this one.
    pub source: Option<Slot>,
    /// How many of the text's tokens are there then.
    pub n_kept: usize,
}

/// Which free slot is taken where several would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// The one that has been free for longest.
    Oldest,
    /// The one with the lowest number.
    Lowest,
    /// The one with the highest number.
    Highest,
}

impl Cells {
    pub(super) fn new(n_slots: u32) -> Self {
        Self { slots: (0..n_slots).map(|_| Held::default()).collect(), clock: 0 }
    }

    /// The free slot for this text: the one that holds most of its beginning; or, where a taken slot holds more, any, to be
    /// written over with a copy. `None` when no slot is free.
    ///
    /// The last token of a text always has to be evaluated, since its logits are needed. A copy is made for more than
    /// `worth` tokens, and so many are given up for a slot in a better place. A model that cannot forget in part can only go
    /// on from a slot of which all is wanted.
    pub(super) fn place(
        &self,
        text: &[TokenId],
        reuse: bool,
        worth: usize,
        forgets_in_part: bool,
        pick: Pick,
    ) -> Option<Place> {
        let known = &text[..text.len() - 1];
        let held = |slot: &Slot| {
            let tokens = &self.held(*slot).tokens;
            let n = in_common(tokens, known);
            if reuse && (forgets_in_part || n == tokens.len()) { n } else { 0 }
        };
        let (taken, free): (Vec<Slot>, Vec<Slot>) =
            (0..self.slots.len() as u32).map(Slot).partition(|slot| self.held(*slot).taken);
        let n_most = free.iter().map(held).max()?;
        match taken.into_iter().map(|slot| (held(&slot), slot)).max() {
            Some((n_more, source)) if n_more > n_most + worth => {
                Some(Place { slot: self.pick(free.into_iter(), pick)?, source: Some(source), n_kept: n_more })
            }
            _ => {
                let given_up = if pick == Pick::Oldest { 0 } else { worth };
                let fullest = free.into_iter().filter(|slot| held(slot) + given_up >= n_most);
                let slot = self.pick(fullest, pick)?;
                Some(Place { slot, source: None, n_kept: held(&slot) })
            }
        }
    }

    /// Whether a free slot holds all of a text but its last token.
    pub(super) fn is_held_free(&self, text: &[TokenId]) -> bool {
        let known = &text[..text.len() - 1];
        self.slots.iter().any(|held| !held.taken && held.tokens.starts_with(known))
    }

    fn pick(&self, mut slots: impl Iterator<Item = Slot>, pick: Pick) -> Option<Slot> {
        match pick {
            Pick::Oldest => slots.min_by_key(|slot| self.held(*slot).freed),
            Pick::Lowest => slots.next(),
            Pick::Highest => slots.last(),
        }
    }

    /// A branch has moved into a slot, of which the first `n_kept` tokens of `text` are left.
    pub(super) fn take(&mut self, slot: Slot, text: &[TokenId], n_kept: usize) {
        let held = &mut self.slots[slot.0 as usize];
        held.tokens = text[..n_kept].to_vec();
        held.taken = true;
    }

    /// A branch has moved to a free slot.
    pub(super) fn shift(&mut self, from: Slot, to: Slot) {
        let tokens = self.held(from).tokens.clone();
        self.take(to, &tokens, tokens.len());
        self.free(from);
    }

    /// A token has been evaluated.
    pub(super) fn push(&mut self, slot: Slot, token: TokenId) {
        self.slots[slot.0 as usize].tokens.push(token);
    }

    /// All but the first `n_tokens` have been taken back.
    pub(super) fn cut(&mut self, slot: Slot, n_tokens: usize) {
        self.slots[slot.0 as usize].tokens.truncate(n_tokens);
    }

    /// The branch in this slot has ended; what it wrote stays for others to go on from.
    pub(super) fn free(&mut self, slot: Slot) {
        self.clock += 1;
        let held = &mut self.slots[slot.0 as usize];
        held.taken = false;
        held.freed = self.clock;
    }

    fn held(&self, slot: Slot) -> &Held {
        &self.slots[slot.0 as usize]
    }
}

/// How many tokens two texts begin with alike.
pub(super) fn in_common(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
