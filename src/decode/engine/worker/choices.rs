//! What attempts choose after a batch, token by token and along a draft, and what their constraints leave no choice about.

use std::time::Instant;

use super::branch::Branch;
use super::{Worker, end};
use crate::decode::engine::frames::{Finish, Reply};
use crate::decode::engine::{Error, Model, Slot};
use crate::decode::sequence::Step;
use crate::decode::vocab::TokenId;

/// Bytes that are looked ahead: enough for the longest names, and little work where a schema spells out whole texts.
const LIMIT: usize = 256;

impl Worker<'_> {
    /// Lets every attempt of a branch choose after the newest token, and again for as long as the draft has guessed
    /// right. Those that disagree come back as branches of their own.
    pub(super) fn choose_all(
        &mut self,
        branch: &mut Branch,
        slot: Slot,
        now: Instant,
        emit: &mut dyn FnMut(Reply),
    ) -> Result<Vec<Branch>, Error> {
        let mut forks = Vec::new();
        let mut n_right = 0;
        loop {
            forks.extend(self.choose(branch, slot, now, emit));
            if branch.seats.is_empty() || !branch.confirm(&mut n_right) {
                break;
            }
        }
        if let Some((grounds, n_drafted)) = branch.drop_draft() {
            self.drafts.came_out(grounds, n_drafted, n_right);
            if n_right < n_drafted {
                let n_kept = branch.n_evaluated();
                let n_left = self.model.keep(slot, n_kept as u32)? as usize;
                // Where nothing is left the branch has to be read again; no guess is made for such a model any more.
                self.forgets_in_part &= n_left == n_kept;
                branch.settle(slot, n_left);
                self.cells.cut(slot, n_left);
            }
        }
        Ok(forks)
    }

    /// Lets every attempt of a branch choose after the newest token that is evaluated. Those that end are reported; those
    /// that disagree with the first come back as branches of their own.
    fn choose(
        &mut self,
        branch: &mut Branch,
        slot: Slot,
        now: Instant,
        emit: &mut dyn FnMut(Reply),
    ) -> Vec<Branch> {
        let logits = self.model.logits(slot, branch.place());
        let mut chosen = Vec::new();
        let mut staying = Vec::new();
        for mut seat in branch.seats.drain(..) {
            seat.first_choice.get_or_insert(now);
            let key = seat.constraint.as_ref();
            let allowed = key.and_then(|key| self.constraints.get_mut(key)?.as_mut().ok());
            match seat.sequence.step(logits, self.model.vocab(), allowed) {
                Step::Feed(_) if now >= seat.deadline => end(seat, Finish::Timeout, None, now, emit),
                Step::Feed(token) => {
                    chosen.push(token);
                    staying.push(seat);
                }
                Step::Stop(finish) => end(seat, finish, None, now, emit),
                Step::Broken => {
                    let error = Some("the model's logits are not numbers".into());
                    end(seat, Finish::Errored, error, now, emit);
                }
            }
        }
        branch.seats = staying;
        branch.split(&chosen)
    }

    /// What the constraint of one of a branch's attempts leaves no choice about, in the tokenizer's tokens: what a model
    /// that has nothing against the text is likely to choose.
    ///
    /// Without the last of these tokens, since the model may prefer one that reaches beyond the forced text.
    pub(super) fn forced(&mut self, branch: &mut Branch) -> Vec<TokenId> {
        for seat in &mut branch.seats {
            let Some(key) = &seat.constraint else { continue };
            let Some(Ok(allowed)) = self.constraints.get_mut(key) else { continue };
            let mut tokens = canonical(self.model, &seat.sequence.forced(allowed, LIMIT));
            tokens.pop();
            if !tokens.is_empty() {
                return tokens;
            }
        }
        Vec::new()
    }
}

/// The tokenizer's tokens of a text; none where they do not spell it (some put a blank in front).
fn canonical(model: &dyn Model, text: &[u8]) -> Vec<TokenId> {
    let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
    if text.is_empty() {
        return Vec::new();
    }
    let tokens = model.tokenize(text);
    let spelt: Vec<u8> = tokens.iter().flat_map(|token| model.vocab().piece(*token)).copied().collect();
    if spelt == text.as_bytes() { tokens } else { Vec::new() }
}
