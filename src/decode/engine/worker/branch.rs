//! A text in the KV cache with the attempts that share it. Knows neither model nor constraint.

use std::mem;
use std::time::Duration;

use super::seat::Seat;
use crate::decode::engine::{BatchToken, Slot};
use crate::decode::vocab::TokenId;

/// A text being written: a prompt and what has been chosen after it. Its attempts have all chosen the same so far.
pub(super) struct Branch {
    /// Prompt and choices, the newest one included.
    pub(super) tokens: Vec<TokenId>,
    n_prompt: usize,
    /// How many of the tokens have been evaluated, in this branch's slot.
    n_evaluated: usize,
    /// `None` until the branch has a place in the KV cache.
    pub(super) slot: Option<Slot>,
    /// Never empty. Work is on the first one's account, since it would be needed for that one alone as well.
    pub(super) seats: Vec<Seat>,
}

impl Branch {
    /// Attempts with one prompt, nothing chosen.
    pub(super) fn new(prompt: Vec<TokenId>, seats: Vec<Seat>) -> Self {
        Self { n_prompt: prompt.len(), tokens: prompt, n_evaluated: 0, slot: None, seats }
    }

    /// Whether something has been chosen: such a branch cannot start anew without losing work.
    pub(super) fn has_begun(&self) -> bool {
        self.tokens.len() > self.n_prompt
    }

    /// How many tokens are still to be evaluated.
    pub(super) fn n_pending(&self) -> usize {
        self.tokens.len() - self.n_evaluated
    }

    /// Moves into a slot that holds the first `n_kept` tokens.
    pub(super) fn settle(&mut self, slot: Slot, n_kept: usize) {
        self.slot = Some(slot);
        self.n_evaluated = n_kept;
    }

    /// The next of its tokens to evaluate, at most `room`.
    pub(super) fn advance(&mut self, slot: Slot, room: usize) -> impl Iterator<Item = BatchToken> {
        let from = self.n_evaluated;
        self.n_evaluated = self.tokens.len().min(from + room);
        let last = self.tokens.len() - 1;
        let n_of_prompt = self.n_evaluated.min(self.n_prompt).saturating_sub(from) as u32;
        let cost = &mut self.seats[0].sequence.cost;
        cost.n_evaluated += (self.n_evaluated - from) as u32;
        // What a fork has to evaluate again is not taken off twice.
        cost.n_reused = cost.n_reused.saturating_sub(n_of_prompt);
        self.tokens[from..self.n_evaluated].iter().zip(from..).map(move |(&token, position)| BatchToken {
            slot,
            token,
            position: position as u32,
            wants_logits: position == last,
        })
    }

    /// Puts model time on the account.
    pub(super) fn charge(&mut self, model: Duration) {
        self.seats[0].model += model;
    }

    /// The attempts have chosen, each for itself: those that agree with the first stay, the others go on in branches of
    /// their own. `chosen` has one entry a seat.
    pub(super) fn split(&mut self, chosen: &[TokenId]) -> Vec<Self> {
        let mut groups: Vec<(TokenId, Vec<Seat>)> = Vec::new();
        for (seat, &token) in mem::take(&mut self.seats).into_iter().zip(chosen) {
            match groups.iter_mut().find(|group| group.0 == token) {
                Some((_, seats)) => seats.push(seat),
                None => groups.push((token, vec![seat])),
            }
        }
        let mut groups = groups.into_iter();
        let first = groups.next();
        let forks = groups.map(|(token, seats)| {
            let tokens = self.tokens.iter().copied().chain([token]).collect();
            Self { tokens, n_prompt: self.n_prompt, n_evaluated: 0, slot: None, seats }
        });
        let forks = forks.collect();
        if let Some((token, seats)) = first {
            self.tokens.push(token);
            self.seats = seats;
        }
        forks
    }
}
