//! How much a constraint may remember, and how texts find their place again once it has forgotten. Decides nothing
//! about texts, but that one which takes too much ends.

use super::machine::Machine;
use super::matcher::{Constraint, Matcher, Spot};
use super::written::Written;

/// What was found out is thrown away beyond so many bytes, and found again when needed.
const FULL: usize = 128 << 20;

impl Constraint {
    /// Throws away what was found out when it has grown too large. Matchers find their place again by themselves.
    pub(in crate::decode) fn trim(&mut self) {
        // Twice what the texts need, or else long ones would be read anew for every token.
        if self.machine.n_bytes() > FULL.max(2 * self.n_replayed) {
            self.start_anew();
        }
    }

    /// Throws away what was found out.
    pub(in crate::decode) fn start_anew(&mut self) {
        self.machine = Machine::new(&self.rules);
        self.n_replayed = self.machine.n_bytes();
        self.generation += 1;
    }

    /// A number that changes whenever states get other names.
    pub(in crate::decode) fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether no further state is found, so that bytes may be refused that could follow.
    pub(in crate::decode) fn is_spent(&self) -> bool {
        self.machine.is_spent()
    }

    /// Brings a matcher from before a [`Constraint::trim`] up to date.
    pub(in crate::decode) fn refresh(&mut self, matcher: &mut Matcher) {
        if matcher.generation == self.generation {
            return;
        }
        let n_before = self.machine.n_bytes();
        let text = std::mem::take(&mut matcher.text);
        *matcher = self.start();
        for byte in text {
            self.turn();
            let written = Written { before: &matcher.text, path: &[] };
            let spot = self.step(&mut matcher.frames, matcher.spot, byte, written);
            // Only what is spent refuses now what it accepted before, and then the text ends here.
            let spot = spot.unwrap_or_else(|| Spot { top: self.machine.stuck(), ..matcher.spot });
            let frames = std::mem::take(&mut matcher.frames);
            matcher.accept(&[byte], &frames, spot);
        }
        self.n_replayed += self.machine.n_bytes() - n_before;
    }
}
