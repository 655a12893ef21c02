//! Which texts of a batch llama.cpp evaluates at once (its word for that is ubatch). Knows lengths and bytes, no text.

use crate::decode::engine::{Slot, Traffic};

impl Traffic {
    /// The first slots of the ubatches that load the least together; the last ubatch comes first.
    ///
    /// `texts`: slots with the tokens they will hold but for drafts, in the order of the slots. Only slots that follow one
    /// another go into one ubatch.
    pub(super) fn part(self, texts: &[(Slot, usize)]) -> Vec<Slot> {
        let blocks = self.blocks(texts);
        // For the first so many blocks: the bytes loaded at least, and where the last ubatch begins.
        let mut best: Vec<(u64, usize)> = vec![(0, 0)];
        for end in 1..=blocks.len() {
            let mut longest = 0;
            let follows = |start: usize| blocks[start].0.0 + self.block == blocks[start + 1].0.0;
            let least = (0..end)
                .rev()
                .take_while(|start| *start == end - 1 || follows(*start))
                .map(|start| {
                    longest = longest.max(blocks[start].1);
                    (best[start].0 + self.bytes((end - start) * self.block as usize, longest), start)
                })
                .min();
            best.extend(least);
        }
        let mut end = blocks.len();
        let mut firsts = Vec::new();
        while end > 0 {
            end = best[end].1;
            firsts.push(blocks[end].0);
        }
        firsts
    }

    /// The first slots of the blocks in which there are texts, and the length of the longest one there.
    fn blocks(self, texts: &[(Slot, usize)]) -> Vec<(Slot, usize)> {
        let first = |text: &(Slot, usize)| text.0.first_of_block(self.block);
        let blocks = texts.chunk_by(|one, next| first(one) == first(next));
        let longest = |block: &[(Slot, usize)]| block.iter().map(|text| text.1).max().unwrap_or(0);
        blocks.map(|block| (first(&block[0]), longest(block))).collect()
    }

    /// Bytes loaded for one token of so many texts, the longest of so many tokens.
    ///
    /// Weights count half as much again, since the first texts of a ubatch cost more than the later ones. From the times of
    /// single turns on two noisy cores, two ubatches instead of one should take `SmolLM2` 7 ms longer (-1 to 15, by sizes) and
    /// Qwen2.5 0.5B 27 ms (20 to 35): at the speed of keys and values (18 and 23 GB/s) 1.4 and 1.6 times their weights.
    fn bytes(self, n_texts: usize, longest: usize) -> u64 {
        let n_tokens = n_texts * longest.next_multiple_of(self.step as usize);
        self.weights * 3 / 2 + self.token * n_tokens as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// About what `SmolLM2` 135M has in `Q4_1`.
    const SMOL: Traffic = Traffic { weights: 91_000_000, token: 69_120, step: 256, block: 1 };

    /// About what Qwen2.5 0.5B has in `Q4_K_M`.
    const QWEN: Traffic = Traffic { weights: 390_000_000, token: 86_016, step: 256, block: 1 };

    #[test]
    fn short_and_long_texts_part_where_that_loads_less_than_the_weights() {
        /// So many texts of each length.
        type Lengths = &'static [(usize, usize)];
        // From slot 0 on, and the first slots.
        let table: [(Traffic, Lengths, &[u32]); 9] = [
            (SMOL, &[], &[]),
            (SMOL, &[(16, 1000)], &[0]),
            (SMOL, &[(8, 1000), (8, 300)], &[8, 0]),
            (SMOL, &[(8, 300), (8, 1000)], &[8, 0]),
            (SMOL, &[(8, 1000), (1, 300), (7, 1000)], &[0]),
            (SMOL, &[(8, 500), (8, 260)], &[0]),
            // 248 ms in one ubatch; 253 in two, added up from turns of one each. Each is the smaller of two that differ by up
            // to a fifth.
            (QWEN, &[(8, 1000), (8, 240)], &[0]),
            // 248 and 238 ms, likewise.
            (QWEN, &[(4, 1000), (12, 240)], &[4, 0]),
            // 248 and 265 ms, likewise.
            (QWEN, &[(12, 1000), (4, 240)], &[0]),
        ];
        for (traffic, lengths, firsts) in table {
            let lengths = lengths.iter().flat_map(|(n, length)| vec![*length; *n]);
            let texts: Vec<(Slot, usize)> = (0..).map(Slot).zip(lengths).collect();
            let firsts: Vec<Slot> = firsts.iter().copied().map(Slot).collect();
            assert_eq!(traffic.part(&texts), firsts, "{texts:?}");
        }
    }

    proptest! {
        #[test]
        fn no_other_ubatches_load_less(
            texts in prop::collection::btree_map(0u32..12, 1usize..3000, 0..9), weights in 0u64..3000, block in 1u32..5,
        ) {
            let traffic = Traffic { weights, token: 1, step: 256, block };
            let texts: Vec<(Slot, usize)> = texts.into_iter().map(|(slot, length)| (Slot(slot), length)).collect();
            // All slots of a block are as long as its longest text.
            let filled = |slot: u32| {
                let beside = texts.iter().filter(|text| text.0.0 / block == slot / block);
                beside.map(|text| text.1).max().map(|longest| (slot, longest))
            };
            let slots: Vec<(u32, usize)> = (0..12u32.next_multiple_of(block)).filter_map(filled).collect();
            let begins = |starts: u32, slot: u32| slot.is_multiple_of(block) && starts >> (slot / block) & 1 == 1;
            // What they load when ubatches begin at the blocks where the bits are set, and where slots do not follow one
            // another.
            let total = |starts: u32| {
                let groups = slots.chunk_by(|one, next| one.0 + 1 == next.0 && !begins(starts, next.0));
                let longest = |group: &[(u32, usize)]| group.iter().map(|text| text.1.div_ceil(256)).max().unwrap_or(0);
                groups.map(|group| weights * 3 / 2 + 256 * (group.len() * longest(group)) as u64).sum::<u64>()
            };
            let firsts = traffic.part(&texts);
            let ours = total(firsts.iter().fold(0, |bits, first| bits | 1 << (first.0 / block)));
            prop_assert_eq!(Some(ours), (0..1 << 12u32.div_ceil(block)).map(total).min());
            prop_assert!(firsts.is_sorted_by(|a, b| a > b) && firsts.iter().all(|first| first.0.is_multiple_of(block)));
        }
    }
}
