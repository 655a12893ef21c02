//! Guesses what a text goes on with, and whether guessing pays on this model and device. Knows no model.

use std::time::Duration;

use crate::decode::engine::switch::Switch;
use crate::decode::vocab::TokenId;

/// Tokens of a draft at most.
const LONGEST: usize = 8;

/// Agreements longer than this are as good as this.
const SEEN_AT_MOST: usize = 8;

/// Agreements shorter than this are chance.
const SEEN_AT_LEAST: usize = 2;

/// What a turn's measurement keeps of its weight with each later one: a third is left after 50.
const MEMORY: f64 = 0.98;

/// So many turns after the last draft one is made all the same: what pays changes with the texts and their number.
const LOOK_AGAIN: u32 = 100;

/// What a draft was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grounds {
    /// A constraint that leaves no choice.
    Forced,
    /// So many tokens that agree with earlier ones, [`SEEN_AT_LEAST`] to [`SEEN_AT_MOST`].
    Seen(usize),
}

impl Grounds {
    /// The place in [`Drafts::right`].
    fn index(self) -> usize {
        match self {
            Self::Forced => 0,
            Self::Seen(seen) => seen,
        }
    }
}

/// What is known about the price of a token in the batch, and about the worth of a guess.
#[derive(Debug)]
pub(super) struct Drafts {
    switch: Switch,
    turns: Line,
    /// How often the next token of a draft was the one chosen, by its grounds.
    right: [f64; SEEN_AT_MOST + 1],
    since_last: u32,
}

impl Drafts {
    pub(super) fn new(switch: Switch) -> Self {
        Self { switch, turns: Line::default(), right: [0.7; SEEN_AT_MOST + 1], since_last: 0 }
    }

    /// A turn of nothing but choices, with so many tokens, took so long.
    pub(super) fn took(&mut self, n_tokens: usize, time: Duration) {
        self.turns.add(n_tokens as f64, time.as_secs_f64());
        self.since_last = self.since_last.saturating_add(1);
    }

    /// Of a draft's `n_drafted` tokens the first `n_right` were chosen.
    pub(super) fn came_out(&mut self, grounds: Grounds, n_drafted: usize, n_right: usize) {
        let right = &mut self.right[grounds.index()];
        for index in 0..n_drafted.min(n_right + 1) {
            *right += 0.05 * (f64::from(u8::from(index < n_right)) - *right);
        }
        self.since_last = 0;
    }

    /// How many tokens to guess for one of `n_texts` texts.
    ///
    /// A turn of n tokens takes a + b·n. A token that is drafted costs b; one that is decoded later costs its part of
    /// a turn, a/n + b. The i-th token of a draft is right with p^i, and pays while that is more than b / (a/n + b).
    pub(super) fn length(&self, n_texts: usize, grounds: Grounds) -> usize {
        match self.switch {
            Switch::Off => 0,
            Switch::On => LONGEST,
            Switch::Auto if self.since_last >= LOOK_AGAIN => 1,
            Switch::Auto => {
                let Some((fixed, each)) = self.turns.fit() else { return 0 };
                let least = each / (fixed / n_texts as f64 + each);
                let right = self.right[grounds.index()].clamp(0.01, 0.99);
                (1..=LONGEST).take_while(|n| right.powi(*n as i32) > least).count()
            }
        }
    }
}

/// A straight line through measurements, the newer the heavier.
#[derive(Debug, Default)]
struct Line {
    weight: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        for (sum, new) in [
            (&mut self.weight, 1.0),
            (&mut self.x, x),
            (&mut self.y, y),
            (&mut self.xx, x * x),
            (&mut self.xy, x * y),
        ] {
            *sum = *sum * MEMORY + new;
        }
    }

    /// Height at 0 and slope, neither below 0; `None` while too little is known.
    fn fit(&self) -> Option<(f64, f64)> {
        let spread = self.weight * self.xx - self.x * self.x;
        // Less than a tenth of a token of standard deviation says nothing about the slope.
        if self.weight < 5.0 || spread < 0.01 * self.weight * self.weight {
            return None;
        }
        let slope = ((self.weight * self.xy - self.x * self.y) / spread).max(0.0);
        Some((((self.y - slope * self.x) / self.weight).max(0.0), slope))
    }
}

/// What followed where a text's newest tokens stood in it before: of the longest such agreement, the latest. Answers copy
/// from the message and the schema, and both are in the prompt.
pub(super) fn seen_before(text: &[TokenId]) -> Option<(Grounds, &[TokenId])> {
    let (&newest, earlier) = text.split_last()?;
    let mut best = None;
    for (at, _) in earlier.iter().enumerate().rev().filter(|(_, token)| **token == newest) {
        let pairs = earlier[..at].iter().rev().zip(earlier.iter().rev());
        let seen = 1 + pairs.take(SEEN_AT_MOST - 1).take_while(|(a, b)| a == b).count();
        if best.is_none_or(|(most, _)| seen > most) {
            best = Some((seen, &text[at + 1..]));
        }
        if seen == SEEN_AT_MOST {
            break;
        }
    }
    best.filter(|(seen, _)| *seen >= SEEN_AT_LEAST).map(|(seen, followed)| (Grounds::Seen(seen), followed))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drafts(fixed_ms: f64, each_ms: f64) -> Drafts {
        let mut drafts = Drafts::new(Switch::Auto);
        for n in (1..=16).cycle().take(64) {
            drafts.took(n, Duration::from_secs_f64((fixed_ms + each_ms * n as f64) / 1e3));
        }
        drafts.came_out(Grounds::Seen(4), 0, 0);
        drafts
    }

    #[test]
    fn drafts_are_as_long_as_they_pay() {
        // Fixed and each token's part of a turn, in milliseconds; texts; how often right; length.
        let table = [
            (8.0, 0.01, 1, 0.9, LONGEST),
            (8.0, 1.0, 1, 0.5, 3),
            (0.0, 10.0, 16, 0.95, 0),
            (7.0, 10.0, 16, 0.9, 0),
            (7.0, 10.0, 1, 0.9, 5),
            (7.0, 10.0, 1, 0.3, 0),
        ];
        for (fixed, each, n_texts, right, length) in table {
            let mut drafts = drafts(fixed, each);
            drafts.right[4] = right;
            assert_eq!(
                drafts.length(n_texts, Grounds::Seen(4)),
                length,
                "{fixed} + {each} n, {n_texts} texts, right {right}"
            );
        }
    }

    #[test]
    fn a_draft_is_tried_again_after_a_while() {
        let mut drafts = drafts(0.0, 10.0);
        assert_eq!(drafts.length(16, Grounds::Seen(4)), 0);
        (0..LOOK_AGAIN).for_each(|n| drafts.took(1 + n as usize % 16, Duration::from_millis(10)));
        assert_eq!(drafts.length(16, Grounds::Seen(4)), 1);
        drafts.came_out(Grounds::Seen(4), 1, 1);
        assert!(drafts.right[4] > 0.7);
        drafts.came_out(Grounds::Seen(4), 3, 1);
        assert!(drafts.right[4] < 0.75, "one right, one wrong, one not reached");
    }

    proptest! {
        #[test]
        fn what_was_seen_before_is_the_longest_and_latest(text in prop::collection::vec(0u32..3, 0..30)) {
            let text: Vec<TokenId> = text.into_iter().map(TokenId).collect();
            let agreement = |at: usize| {
                (0..SEEN_AT_MOST).take_while(|back| *back <= at && text[at - back] == text[text.len() - 1 - back]).count()
            };
            let best = (0..text.len().saturating_sub(1)).map(|at| (agreement(at), at)).max();
            let expected = best.filter(|best| best.0 >= SEEN_AT_LEAST).map(|(seen, at)| (Grounds::Seen(seen), &text[at + 1..]));
            prop_assert_eq!(seen_before(&text), expected);
        }
    }
}
