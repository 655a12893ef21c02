//! Which slot a branch goes on in.

use super::Worker;
use super::branch::Branch;
use super::cells::{COPY_WORTH, Pick, Place, in_common};
use crate::decode::engine::{Error, Slot};

impl Worker<'_> {
    /// Gives slots to branches that have none. One that would have to evaluate what another is evaluating right now waits
    /// for it.
    pub(super) fn place(&mut self) -> Result<(), Error> {
        let long = self.long_from();
        for index in self.unplaced() {
            let branch = &self.branches[index];
            let pick = pick(long, branch.tokens.len());
            let Some(mut place) = self.find(branch, pick) else { return Ok(()) };
            if self.promised(branch) > place.n_kept + COPY_WORTH {
                continue;
            }
            if let Some(other) = self.in_the_way(place, pick, long) {
                self.shift(other, place.slot)?;
                let Some(again) = self.find(&self.branches[index], pick) else { return Ok(()) };
                place = again;
            }
            if let Some(source) = place.source {
                self.model.copy(source, place.slot)?;
            }
            let n_kept = self.model.keep(place.slot, place.n_kept as u32)? as usize;
            self.forgets_in_part &= n_kept == place.n_kept;
            let branch = &mut self.branches[index];
            branch.settle(place.slot, n_kept);
            self.cells.take(place.slot, &branch.tokens, n_kept);
        }
        Ok(())
    }

    /// The branches that have no slot: what has begun before what has not, and of each kind those first that a free slot
    /// holds whole, since any other branch would write that slot over.
    fn unplaced(&self) -> Vec<usize> {
        let mut unplaced: Vec<usize> =
            (0..self.branches.len()).filter(|index| self.branches[*index].slot.is_none()).collect();
        unplaced.sort_by_key(|index| {
            let branch = &self.branches[*index];
            (!branch.has_begun(), !self.cells.is_held_free(&branch.tokens))
        });
        unplaced
    }

    /// Where a branch would go on.
    fn find(&self, branch: &Branch, pick: Pick) -> Option<Place> {
        let reuse = self.shape.reuse || branch.has_begun();
        // What was chosen is read again one token a turn.
        let worth = if branch.has_begun() { 0 } else { COPY_WORTH };
        let mut place = self.cells.place(&branch.tokens, reuse, worth, self.forgets_in_part, pick)?;
        if self.forgets_in_part {
            place.n_kept = branch.n_usable(place.n_kept);
        }
        Some(place)
    }

    /// The branch that stands where a text of this kind belongs, and could as well stand where that would: what is to be
    /// evaluated together has to stand in slots that follow one another.
    fn in_the_way(&self, place: Place, pick: Pick, long: Option<usize>) -> Option<usize> {
        let free = place.slot;
        if !self.forgets_in_part || place.source.is_none() && place.n_kept > COPY_WORTH {
            return None;
        }
        let others = self.branches.iter().enumerate().filter_map(|(index, branch)| {
            let slot = branch.slot.filter(|_| self::pick(long, branch.tokens.len()) != pick)?;
            Some((slot, index))
        });
        let found = match pick {
            Pick::Oldest => None,
            Pick::Lowest => others.min().filter(|other| other.0 < free),
            Pick::Highest => others.max().filter(|other| other.0 > free),
        };
        found.map(|(_, index)| index)
    }

    /// Moves a branch to a free slot.
    fn shift(&mut self, index: usize, to: Slot) -> Result<(), Error> {
        let Some(from) = self.branches[index].slot.replace(to) else { return Ok(()) };
        self.model.copy(from, to)?;
        self.cells.shift(from, to);
        Ok(())
    }

    /// The length from which texts are long, where long and short ones are better evaluated apart.
    fn long_from(&self) -> Option<usize> {
        let mut lengths: Vec<usize> = self.branches.iter().map(|branch| branch.tokens.len()).collect();
        lengths.sort_unstable();
        let sorted: Vec<(Slot, usize)> = (0..).map(Slot).zip(lengths).collect();
        match *self.traffic?.part(&sorted) {
            [long, _, ..] => Some(sorted[long.0 as usize].1),
            _ => None,
        }
    }

    /// How much of a branch will be in the KV cache once all prompts that have a slot are evaluated.
    fn promised(&self, branch: &Branch) -> usize {
        if !self.forgets_in_part || !(self.shape.reuse || branch.has_begun()) {
            return 0;
        }
        let reading = self.branches.iter().filter(|other| other.slot.is_some() && other.n_pending() > 1);
        let known = &branch.tokens[..branch.tokens.len() - 1];
        reading.map(|other| in_common(&other.tokens, known)).max().unwrap_or(0)
    }
}

/// Where a text belongs when texts from a certain length on are laid out from the first slot, the others from the last.
fn pick(long: Option<usize>, length: usize) -> Pick {
    match long {
        None => Pick::Oldest,
        Some(long) if length >= long => Pick::Lowest,
        Some(_) => Pick::Highest,
    }
}
