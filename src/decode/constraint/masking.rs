//! What masks ask of a constraint beyond single bytes: which states and tokens are alike. Knows no trie.

use super::local::Outcome;
use super::matcher::{Constraint, Matcher, Spot, frame_at};
use super::sharing::Endings;
use super::slicing::{Class, Loose};

impl Constraint {
    /// A state of a string without what does not depend on single characters, if it is one.
    pub(in crate::decode) fn loosened(&mut self, top: u32) -> Option<Loose> {
        self.machine.loosened(top)
    }

    /// What a mask can depend on: the innermost state and those that wait, innermost first, each as a number that is
    /// equal for states which are alike.
    pub(in crate::decode) fn likenesses(&mut self, matcher: &Matcher, waiting: &mut Vec<u32>) -> u32 {
        waiting.clear();
        for frame in matcher.frames.iter().rev() {
            waiting.push(self.machine.likeness(frame.waiting));
        }
        // The verdict on a name is set aside, so that how it begins makes no difference either.
        let alike_names = waiting.first().is_some_and(|likeness| likeness & 1 == 1);
        let top = if alike_names { self.machine.any_name(matcher.spot.top) } else { matcher.spot.top };
        self.machine.likeness(top)
    }

    /// Whether the text is inside a member's name.
    pub(in crate::decode) fn is_in_name(&self, matcher: &Matcher) -> bool {
        self.machine.is_name(matcher.spot.top)
    }

    /// The nodes where the name being written ends as one that is mentioned or was there before. `None` outside names,
    /// and when more than that decides about them.
    pub(in crate::decode) fn known_names(
        &mut self,
        matcher: &Matcher,
        endings: &Endings,
    ) -> Option<Vec<u32>> {
        let frame = frame_at(&matcher.frames, matcher.spot.frame)?;
        let start = frame_at(&matcher.frames, frame.below).map_or(0, |frame| frame.start);
        self.turn();
        let (name, earlier) = self.names.open_name(&matcher.text, start as usize)?;
        self.machine.known_names(matcher.spot.top, &name, earlier, endings)
    }

    /// A state whose mask is the same as far as a text stays inside the innermost value, and how many characters it
    /// may have there at most.
    pub(in crate::decode) fn twin(&mut self, matcher: &Matcher) -> (u32, Option<u64>) {
        let loose = self.machine.loosened(matcher.spot.top);
        let twin = loose.and_then(Loose::twin).unwrap_or(matcher.spot.top);
        (twin, loose.and_then(Loose::count))
    }

    /// How many characters of a class may follow, whichever they are, if it is as many as its tokens have.
    pub(in crate::decode) fn passing(&mut self, loose: Loose, class: Class<'_>) -> Option<u64> {
        self.machine.passing(loose, class)
    }

    /// How many characters may come before the string ends, when it ends the same way after any of them.
    pub(in crate::decode) fn closes_alike(&self, matcher: &Matcher) -> Option<u64> {
        self.machine.closes_alike(matcher.spot.top)
    }

    /// Whether plain characters of ASCII lead from a spot back to it.
    pub(in crate::decode) fn is_steady(&mut self, spot: Spot) -> bool {
        self.machine.is_steady(spot.top)
    }

    /// Whether a state is between tokens of JSON.
    pub(in crate::decode) fn is_between(&self, top: u32) -> bool {
        self.machine.is_between(top)
    }

    /// Where the text stands once the name being written has ended as one that is neither mentioned nor was there
    /// before; `None` when such a name may not come.
    pub(in crate::decode) fn after_new_name(&mut self, matcher: &Matcher) -> Option<Spot> {
        self.lowest = self.lowest.min(matcher.spot.frame);
        let frame = *frame_at(&matcher.frames, matcher.spot.frame)?;
        let outcome = self.machine.outcomes.id(Outcome::Other(Vec::new()));
        let top = self.machine.named(frame.waiting, outcome)?;
        Some(Spot { top, frame: frame.below })
    }
}
