//! Fills batches up, so that what llama.cpp makes of a text does not depend on how many others are evaluated with it.
//! Knows slots and places, no model.

use super::{BatchToken, Slot};

/// With a multiple of so many tokens llama.cpp computes each by the same kernels. Its repacked kernels (that of `Q4_K`, say)
/// take four at once, and those left over go through another kernel, which rounds differently; its tiled one (`Q6_K` and
/// most other weights of that kind) is used from eight on.
pub const BLOCK: u32 = 8;

/// A batch whose tokens come in whole blocks.
#[derive(Debug)]
pub struct Filled {
    /// What to evaluate.
    pub tokens: Vec<BatchToken>,
    /// From which place on a slot is to forget what it has seen: only there to fill up.
    pub surplus: Vec<(Slot, u32)>,
}

impl Filled {
    /// Fills up tokens of one text behind its end, and single tokens of several texts by one token in each other slot of
    /// their blocks: slots 0 to 7, 8 to 15 and so on. What is neither stays as it is: several tokens of several texts are
    /// guesses, and those are computed in another way in any case.
    ///
    /// `n_held`: how many tokens a slot holds.
    pub fn new(batch: &[BatchToken], block: u32, n_held: impl Fn(Slot) -> u32) -> Self {
        let n_texts = batch.chunk_by(|one, next| one.slot == next.slot).count();
        match batch {
            [.., last] if n_texts == 1 && batch.len() > 1 => Self::text(batch, *last, block),
            _ if block > 1 && n_texts == batch.len() => Self::texts(batch, block, n_held),
            _ => Self { tokens: batch.to_vec(), surplus: Vec::new() },
        }
    }

    fn text(batch: &[BatchToken], last: BatchToken, block: u32) -> Self {
        let n_more = batch.len().next_multiple_of(block as usize) - batch.len();
        let end = last.position + 1;
        let more = (end..).take(n_more).map(|position| BatchToken { position, wants_logits: false, ..last });
        let surplus = if n_more > 0 { vec![(last.slot, end)] } else { Vec::new() };
        Self { tokens: batch.iter().copied().chain(more).collect(), surplus }
    }

    fn texts(batch: &[BatchToken], block: u32, n_held: impl Fn(Slot) -> u32) -> Self {
        let mut filled = Self { tokens: Vec::with_capacity(batch.len()), surplus: Vec::new() };
        for entry in batch {
            let first = entry.slot.first_of_block(block);
            if filled.tokens.iter().any(|other| other.slot == first) {
                continue;
            }
            for slot in (first.0..first.0 + block).map(Slot) {
                let own = batch.iter().find(|other| other.slot == slot);
                let token =
                    own.copied().unwrap_or_else(|| BatchToken { slot, position: n_held(slot), ..*entry });
                if own.is_none() {
                    filled.surplus.push((slot, token.position));
                }
                // The last layer is computed for these alone, so that they have to come in blocks as well.
                filled.tokens.push(BatchToken { wants_logits: true, ..token });
            }
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::decode::vocab::TokenId;

    fn token(slot: u32, position: u32, wants_logits: bool) -> BatchToken {
        BatchToken { slot: Slot(slot), token: TokenId(100 + position), position, wants_logits }
    }

    proptest! {
        #[test]
        fn prompts_are_filled_up_behind_their_end(slot in 0u32..9, from in 0u32..99, n in 2u32..40, block in 1u32..9) {
            let batch: Vec<BatchToken> = (from..from + n).map(|place| token(slot, place, place + 1 == from + n)).collect();
            let Filled { tokens, surplus } = Filled::new(&batch, block, |_| unreachable!("its end is its own"));
            prop_assert_eq!(&tokens[..batch.len()], &batch[..]);
            prop_assert_eq!(tokens.len() as u32, n.next_multiple_of(block));
            let more = tokens[batch.len()..].iter();
            prop_assert!(more.zip(from + n..).all(|(more, at)| more.slot == Slot(slot) && more.position == at && !more.wants_logits));
            prop_assert_eq!(surplus, if n % block == 0 { vec![] } else { vec![(Slot(slot), from + n)] });
        }

        #[test]
        fn texts_are_filled_up_by_the_other_slots_of_their_blocks(
            slots in prop::collection::btree_map(0u32..24, 0u32..99, 1..24), turn in 0usize..24, block in 1u32..9,
        ) {
            // In the order in which they are: some of the later slots first.
            let mut batch: Vec<BatchToken> = slots.iter().map(|(slot, place)| token(*slot, *place, true)).collect();
            let turn = turn % batch.len();
            batch.rotate_left(turn);
            let Filled { tokens, surplus } = Filled::new(&batch, block, |slot| 1000 + slot.0);
            let blocks: HashSet<u32> = slots.keys().map(|slot| slot / block).collect();
            prop_assert_eq!(tokens.len(), blocks.len() * block as usize);
            for whole in tokens.chunks(block as usize) {
                prop_assert_eq!(whole[0].slot.0 % block, 0);
                prop_assert!(whole.windows(2).all(|pair| pair[0].slot.0 + 1 == pair[1].slot.0));
            }
            prop_assert!(tokens.iter().all(|token| token.wants_logits));
            let (own, more): (Vec<_>, Vec<_>) = tokens.into_iter().partition(|token| slots.contains_key(&token.slot.0));
            prop_assert!(own.len() == batch.len() && batch.iter().all(|entry| own.contains(entry)));
            let more: Vec<_> = more.into_iter().map(|more| (more.slot, more.position)).collect();
            prop_assert!(more.iter().all(|(slot, position)| *position == 1000 + slot.0));
            prop_assert_eq!(surplus, more);
        }
    }

    #[test]
    fn guesses_are_left_alone() {
        let batch = [token(1, 5, true), token(1, 6, true), token(2, 9, true)];
        let Filled { tokens, surplus } = Filled::new(&batch, BLOCK, |_| 0);
        assert_eq!((&tokens[..], &surplus[..]), (&batch[..], &[][..]));
    }
}
