//! What is evaluated in a turn.

use super::Worker;
use super::branch::Branch;
use super::drafts::Grounds;
use crate::decode::engine::switch::Switch;
use crate::decode::engine::{BatchToken, Slot};

impl Worker<'_> {
    /// A token of every decoding branch, or as much of one prompt as fits; in turn where there is both.
    ///
    /// In the order of the slots, since llama.cpp evaluates together only what stands in slots that follow one another
    /// (eight branches took 176 ms a turn in the order in which they began, 114 ms in this one: `SmolLM2`, two cores); so,
    /// where texts are to be evaluated apart, those in the later slots come first. A batch of prompts and choices llama.cpp
    /// would part as well: into one token of each text, and the rest of the prompt.
    pub(super) fn batch(&mut self) -> Vec<BatchToken> {
        let room = self.shape.batch as usize;
        let any_decoding = self.branches.iter().any(Branch::is_decoding);
        let reading = self.branches.iter_mut().find(|branch| branch.is_reading());
        let reading = reading.filter(|_| !(any_decoding && self.has_read));
        self.has_read = reading.is_some();
        if let Some((branch, slot)) = reading.and_then(|branch| branch.slot.map(|slot| (branch, slot))) {
            return branch.advance(slot, room).collect();
        }
        self.guess();
        let mut batch = Vec::with_capacity(room);
        for branch in self.branches.iter_mut().filter(|branch| branch.is_decoding()) {
            if let Some(slot) = branch.slot {
                batch.extend(branch.advance(slot, room - batch.len()));
            }
        }
        batch.sort_by_key(|token| (token.slot, token.position));
        let firsts = self.ubatches();
        batch.sort_by_key(|token| firsts.iter().position(|first| *first <= token.slot));
        batch
    }

    /// The first slots of the texts that are evaluated together, the last first; none where it makes no difference.
    fn ubatches(&self) -> Vec<Slot> {
        let Some(traffic) = self.traffic else { return Vec::new() };
        let decoding = self.branches.iter().filter(|branch| branch.is_decoding());
        let texts = decoding.filter_map(|branch| branch.slot.map(|slot| (slot, branch.n_evaluated())));
        let mut texts: Vec<(Slot, usize)> = texts.collect();
        texts.sort_unstable();
        traffic.part(&texts)
    }

    /// Drafts for the branches that are decoding, as far as the batch has room beside a token of each.
    fn guess(&mut self) {
        if self.shape.drafts == Switch::Off || !self.forgets_in_part {
            return;
        }
        let mut branches = std::mem::take(&mut self.branches);
        let n_texts = branches.iter().filter(|branch| branch.is_decoding()).count();
        let mut room = (self.shape.batch as usize).saturating_sub(n_texts);
        let forced_pays = self.shape.draft_forced && self.drafts.length(n_texts, Grounds::Forced) > 0;
        for branch in branches.iter_mut().filter(|branch| branch.is_decoding() && branch.n_pending() == 1) {
            let forced = if forced_pays { self.forced(branch) } else { Vec::new() };
            room -= branch.guess(&forced, &self.drafts, n_texts, room);
        }
        self.branches = branches;
    }
}
