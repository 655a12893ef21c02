//! The largest logit, among all or among those that a mask allows. Knows no temperature and no penalty.

use crate::decode::vocab::{TokenId, TokenMask};

/// Logits looked at together: as many as a word of a mask has bits.
const BLOCK: usize = u64::BITS as usize;

/// The first of the largest logits; `None` when all are NaN or minus infinity.
pub fn argmax(logits: &[f32]) -> Option<TokenId> {
    among_blocks(logits, std::iter::repeat(u64::MAX))
}

/// The first of the largest logits that the mask allows; `None` when those are all NaN or minus infinity.
pub(super) fn argmax_allowed(logits: &[f32], mask: &TokenMask) -> Option<TokenId> {
    match mask.as_words() {
        Some(words) => among_blocks(logits, words.iter().copied()),
        None => among_few(logits, mask.as_few().unwrap_or(&[])),
    }
}

fn among_few(logits: &[f32], few: &[TokenId]) -> Option<TokenId> {
    let (mut best, mut top) = (None, f32::NEG_INFINITY);
    for &token in few {
        match logits.get(token.0 as usize) {
            // Not `>=`, so that the lower id wins; a NaN never wins.
            Some(&logit) if logit > top => (best, top) = (Some(token), logit),
            _ => {}
        }
    }
    best
}

fn among_blocks(logits: &[f32], words: impl Iterator<Item = u64>) -> Option<TokenId> {
    let (mut best, mut top) = (None, f32::NEG_INFINITY);
    for (idx, (block, word)) in logits.chunks(BLOCK).zip(words).enumerate() {
        // Hardly a block holds anything larger than all before it, and only then do its bits matter; one of which no
        // token is allowed need not be read.
        if word != 0 && largest(block) > top {
            for (bit, &logit) in block.iter().enumerate() {
                if logit > top && word >> bit & 1 == 1 {
                    (best, top) = (Some(TokenId((idx * BLOCK + bit) as u32)), logit);
                }
            }
        }
    }
    best
}

/// The largest of them, NaN aside.
fn largest(block: &[f32]) -> f32 {
    const LANES: usize = 16;
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = block.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &logit) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, logit);
        }
    }
    // Halved rather than folded, so that this too is done four at a time.
    for half in [8, 4, 2, 1] {
        for idx in 0..half {
            lanes[idx] = larger(lanes[idx], lanes[idx + half]);
        }
    }
    rest.iter().copied().fold(lanes[0], larger)
}
