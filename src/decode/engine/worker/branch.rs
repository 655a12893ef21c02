//! A text in the KV cache with the attempts that share it. Knows neither model nor constraint.

use std::mem;
use std::time::Duration;

use super::drafts::{Drafts, Grounds, seen_before};
use super::seat::Seat;
use crate::decode::engine::{BatchToken, Slot};
use crate::decode::vocab::TokenId;

/// A text being written: a prompt and what has been chosen after it. Its attempts have all chosen the same so far.
pub(super) struct Branch {
    /// Prompt and choices, the newest one included.
    pub(super) tokens: Vec<TokenId>,
    n_prompt: usize,
    /// How long the text can become.
    longest: usize,
    /// How many of the tokens have been evaluated, in this branch's slot.
    n_evaluated: usize,
    /// `None` until the branch has a place in the KV cache.
    pub(super) slot: Option<Slot>,
    /// Guessed to follow, and why; evaluated with the newest token, to be confirmed or taken back.
    draft: Option<(Grounds, Vec<TokenId>)>,
    /// Never empty. Work is on the first one's account, since it would be needed for that one alone as well.
    pub(super) seats: Vec<Seat>,
}

impl Branch {
    /// Attempts with one prompt, nothing chosen; their answers have at most `longest_output` tokens.
    pub(super) fn new(prompt: Vec<TokenId>, longest_output: u32, seats: Vec<Seat>) -> Self {
        Self {
            n_prompt: prompt.len(),
            longest: prompt.len() + longest_output as usize,
            tokens: prompt,
            n_evaluated: 0,
            slot: None,
            draft: None,
            seats,
        }
    }

    /// Whether something has been chosen: such a branch cannot start anew without losing work.
    pub(super) fn has_begun(&self) -> bool {
        self.tokens.len() > self.n_prompt
    }

    /// How many tokens have been evaluated for good.
    pub(super) fn n_evaluated(&self) -> usize {
        self.n_evaluated
    }

    /// How many tokens are still to be evaluated.
    pub(super) fn n_pending(&self) -> usize {
        self.tokens.len() - self.n_evaluated
    }

    /// Whether some of its prompt is to be evaluated next: as much at once as a batch holds.
    pub(super) fn is_reading(&self) -> bool {
        self.slot.is_some() && self.n_evaluated < self.n_prompt
    }

    /// Whether something chosen is to be evaluated next: one token in a turn, the second time too, where its history was
    /// lost. llama.cpp sums up several tokens of a text in another order than one.
    pub(super) fn is_decoding(&self) -> bool {
        self.slot.is_some() && self.n_evaluated >= self.n_prompt
    }

    /// How many of so many tokens that a slot holds to keep. Prompts are read in company: where all but one of its tokens
    /// are there, two are read.
    pub(super) fn n_usable(&self, n_held: usize) -> usize {
        if n_held + 1 == self.n_prompt { n_held.saturating_sub(1) } else { n_held }
    }

    /// Moves into a slot that holds the first `n_kept` tokens.
    pub(super) fn settle(&mut self, slot: Slot, n_kept: usize) {
        self.slot = Some(slot);
        self.n_evaluated = n_kept;
    }

    /// The place of the newest token that has been evaluated for good.
    pub(super) fn place(&self) -> u32 {
        self.n_evaluated as u32 - 1
    }

    /// Guesses what follows the newest token, at most `room` tokens, if that pays where so many texts are decoded; how
    /// many it has guessed. `forced` is what a constraint leaves no choice about; without it, earlier text is looked at.
    pub(super) fn guess(
        &mut self,
        forced: &[TokenId],
        drafts: &Drafts,
        n_texts: usize,
        room: usize,
    ) -> usize {
        let guess = if forced.is_empty() {
            seen_before(&self.tokens).filter(|_| self.has_begun())
        } else {
            Some((Grounds::Forced, forced))
        };
        let Some((grounds, follows)) = guess else { return 0 };
        let room = room.min(self.longest - self.tokens.len()).min(follows.len());
        let n_drafted = drafts.length(n_texts, grounds).min(room);
        self.draft = (n_drafted > 0).then(|| (grounds, follows[..n_drafted].to_vec()));
        n_drafted
    }

    /// What of it to evaluate next, in its slot: some of the prompt, or one token and the draft; at most `room`.
    pub(super) fn advance(&mut self, slot: Slot, room: usize) -> impl Iterator<Item = BatchToken> {
        let from = self.n_evaluated;
        let until = self.n_prompt.max(from + 1);
        // No single token of a prompt is left for the next turn.
        let room = if from < self.n_prompt && until - from == room + 1 { room - 1 } else { room };
        self.n_evaluated = until.min(from + room);
        let draft = self.draft.as_ref().map_or(&[][..], |(_, draft)| draft);
        let last = self.tokens.len() - 1;
        let n_of_prompt = self.n_evaluated.min(self.n_prompt).saturating_sub(from) as u32;
        let cost = &mut self.seats[0].sequence.cost;
        cost.n_evaluated += (self.n_evaluated - from + draft.len()) as u32;
        cost.n_drafted += draft.len() as u32;
        // What a fork has to evaluate again is not taken off twice.
        cost.n_reused = cost.n_reused.saturating_sub(n_of_prompt);
        let tokens = self.tokens[from..self.n_evaluated].iter().chain(draft);
        tokens.zip(from..).map(move |(&token, position)| BatchToken {
            slot,
            token,
            position: position as u32,
            wants_logits: position >= last,
        })
    }

    /// Counts the tokens of the draft that have been chosen as evaluated; true when the next choice can be made at once.
    pub(super) fn confirm(&mut self, n_right: &mut usize) -> bool {
        let Some((grounds, draft)) = &self.draft else { return false };
        while self.n_evaluated < self.tokens.len() && draft.get(*n_right) == self.tokens.get(self.n_evaluated)
        {
            self.n_evaluated += 1;
            *n_right += 1;
            if let Some(seat) = self.seats.first_mut() {
                seat.sequence.cost.n_accepted += 1;
                seat.sequence.cost.n_forced += u32::from(*grounds == Grounds::Forced);
            }
        }
        self.n_pending() == 0 && *n_right > 0
    }

    /// Drops what is left of the draft; what it was made of, and its length.
    pub(super) fn drop_draft(&mut self) -> Option<(Grounds, usize)> {
        self.draft.take().map(|(grounds, draft)| (grounds, draft.len()))
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
            let (n_prompt, longest) = (self.n_prompt, self.longest);
            Self { tokens, n_prompt, longest, n_evaluated: 0, slot: None, draft: None, seats }
        });
        let forks = forks.collect();
        if let Some((token, seats)) = first {
            self.tokens.push(token);
            self.seats = seats;
        }
        forks
    }
}
