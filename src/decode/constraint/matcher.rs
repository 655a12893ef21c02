//! One text against the rules: a stack of values over the machine. Knows no tokens.

use super::local::{Edge, LocalId};
use super::machine::Machine;
use super::rules::Rules;
use super::written::{self, NamesSoFar, Written};

/// Values may nest so deep: as far as JSON parsers read.
const MAX_DEPTH: u32 = 120;

/// A value that waits for its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decode) struct Frame {
    pub(super) waiting: LocalId,
    /// Index of the frame below plus one; 0 for the outermost.
    pub(super) below: u32,
    /// Where in the text the child begins, white space included.
    pub(super) start: u32,
    depth: u32,
}

/// Where a text stands: the state of the innermost value and the frame it will go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decode) struct Spot {
    pub(in crate::decode) top: LocalId,
    /// Index of the frame plus one; 0 when the innermost value is the whole text.
    pub(in crate::decode) frame: u32,
}

/// What a byte does at a spot.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct Step(Edge);

impl Step {
    /// Whether it leads nowhere.
    pub(in crate::decode) fn is_dead(self) -> bool {
        self.0 == Edge::Dead
    }

    /// Where it leads from a spot if it does nothing but change the state of the innermost value.
    pub(in crate::decode) fn within(self, spot: Spot) -> Option<Spot> {
        match self.0 {
            Edge::Go(top) => Some(Spot { top, ..spot }),
            _ => None,
        }
    }

    /// Whether it leads out of the innermost value.
    pub(in crate::decode) fn exits(self) -> bool {
        matches!(self.0, Edge::Pop { .. } | Edge::PopThen { .. } | Edge::Named { .. })
    }
}

/// A text so far. Cheap to clone, so that a draft can be tried and taken back.
#[derive(Clone, Debug)]
pub struct Matcher {
    pub(super) generation: u32,
    pub(super) text: Vec<u8>,
    pub(super) frames: Vec<Frame>,
    pub(super) spot: Spot,
}

impl Matcher {
    /// What has been written.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The frames and the spot, for a walk that goes on from here.
    pub(in crate::decode) fn parts(&self) -> (&[Frame], Spot) {
        (&self.frames, self.spot)
    }

    /// The state of the innermost value.
    pub(in crate::decode) fn top(&self) -> u32 {
        self.spot.top
    }

    /// How many values wait for another inside them.
    pub(in crate::decode) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Adds bytes that were followed from here to a spot over these frames.
    pub(in crate::decode) fn accept(&mut self, bytes: &[u8], frames: &[Frame], spot: Spot) {
        self.text.extend_from_slice(bytes);
        self.frames = stack(frames, spot.frame);
        self.spot = Spot { frame: self.frames.len() as u32, ..spot };
    }
}

/// Rules at work: what may be written next, found as it is asked for and remembered.
#[derive(Debug)]
pub struct Constraint {
    pub(super) rules: std::sync::Arc<Rules>,
    pub(super) machine: Machine,
    pub(super) generation: u32,
    /// Bytes that the texts themselves took when they last found their place again.
    pub(super) n_replayed: usize,
    /// The outermost frame, as its index plus one, that a step has gone back to since [`Constraint::watch`]; 0 past
    /// the outermost.
    pub(super) lowest: u32,
    pub(super) names: NamesSoFar,
}

impl Constraint {
    /// A constraint with nothing found out yet.
    pub fn new(rules: std::sync::Arc<Rules>) -> Self {
        let machine = Machine::new(&rules);
        Self {
            n_replayed: machine.n_bytes(),
            machine,
            rules,
            generation: 0,
            lowest: 0,
            names: NamesSoFar::default(),
        }
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A text with nothing written.
    pub fn start(&self) -> Matcher {
        let spot = Spot { top: self.machine.start(), frame: 0 };
        Matcher { generation: self.generation, text: Vec::new(), frames: Vec::new(), spot }
    }

    /// Writes one more byte; false, and nothing changes, when it may not stand there.
    pub fn advance(&mut self, matcher: &mut Matcher, byte: u8) -> bool {
        self.trim();
        self.refresh(matcher);
        self.turn();
        let written = Written { before: &matcher.text, path: &[] };
        let Some(spot) = self.step(&mut matcher.frames, matcher.spot, byte, written) else { return false };
        let frames = std::mem::take(&mut matcher.frames);
        matcher.accept(&[byte], &frames, spot);
        true
    }

    /// Writes as many of the bytes as may stand there, and says how many.
    pub fn advance_all(&mut self, matcher: &mut Matcher, bytes: &[u8]) -> usize {
        bytes.iter().take_while(|&&byte| self.advance(matcher, byte)).count()
    }

    /// Whether the text may end here.
    pub fn may_end(&mut self, matcher: &mut Matcher) -> bool {
        self.refresh(matcher);
        matcher.spot.frame == 0 && self.machine.may_end(matcher.spot.top)
    }

    /// Whether the text is whole and nothing but white space could follow.
    pub fn is_complete(&mut self, matcher: &mut Matcher) -> bool {
        self.refresh(matcher);
        self.machine.is_done(matcher.spot.top)
    }

    /// The bytes that must come next, up to a number: while only one can follow and the text may not end.
    pub fn forced(&mut self, matcher: &Matcher, limit: usize) -> Vec<u8> {
        let mut ahead = matcher.clone();
        let from = ahead.text.len();
        while ahead.text.len() < from + limit && !self.may_end(&mut ahead) {
            let Some(byte) = self.only_byte(&mut ahead) else { break };
            if !self.advance(&mut ahead, byte) {
                break;
            }
        }
        ahead.text.split_off(from)
    }

    /// The bytes that may come next, in ascending order.
    pub fn next_bytes(&mut self, matcher: &mut Matcher) -> Vec<u8> {
        (0..=u8::MAX).filter(|&byte| self.can_advance(matcher, byte)).collect()
    }

    fn only_byte(&mut self, matcher: &mut Matcher) -> Option<u8> {
        let mut found = None;
        for byte in 0..=u8::MAX {
            if self.can_advance(matcher, byte) {
                if found.is_some() {
                    return None;
                }
                found = Some(byte);
            }
        }
        found
    }

    fn can_advance(&mut self, matcher: &mut Matcher, byte: u8) -> bool {
        self.refresh(matcher);
        self.turn();
        let n_frames = matcher.frames.len();
        let written = Written { before: &matcher.text, path: &[] };
        let possible = self.step(&mut matcher.frames, matcher.spot, byte, written).is_some();
        matcher.frames.truncate(n_frames);
        possible
    }

    /// Says that the steps to come belong to another text than those before.
    pub(in crate::decode) fn turn(&mut self) {
        self.names.forget();
    }

    /// Begins to notice which of the matcher's frames are looked into.
    pub(in crate::decode) fn watch(&mut self, matcher: &Matcher) {
        self.lowest = matcher.spot.frame + 1;
    }

    /// How many of the matcher's frames, innermost first, were looked into; `None` when a step went past all of them.
    pub(in crate::decode) fn watched(&self, matcher: &Matcher) -> Option<usize> {
        let lowest = self.lowest.checked_sub(1)?;
        Some((matcher.spot.frame - lowest) as usize)
    }

    /// What a byte does at a spot.
    pub(in crate::decode) fn look(&mut self, spot: Spot, byte: u8) -> Step {
        Step(self.machine.edge(spot.top, byte))
    }

    /// Whether it depends on the text, and not on the states alone, where a step leads.
    pub(in crate::decode) fn is_unstable(&mut self, frames: &[Frame], spot: Spot, step: Step) -> bool {
        match step.0 {
            Edge::Named { outcome } => {
                self.lowest = self.lowest.min(spot.frame);
                let frame = frame_at(frames, spot.frame);
                self.machine.is_other(outcome)
                    || frame.is_some_and(|frame| self.machine.is_shared(frame.waiting))
            }
            Edge::Pop { .. } | Edge::PopThen { .. } => {
                self.lowest = self.lowest.min(spot.frame);
                frame_at(frames, spot.frame).is_some_and(|frame| self.machine.compares(frame.waiting))
            }
            Edge::Dead | Edge::Go(_) | Edge::Push { .. } => false,
        }
    }

    /// Where a byte leads from a spot. New frames are added to `frames`; none is taken away.
    pub(in crate::decode) fn step(
        &mut self,
        frames: &mut Vec<Frame>,
        spot: Spot,
        byte: u8,
        written: Written<'_>,
    ) -> Option<Spot> {
        let step = self.look(spot, byte);
        self.take(frames, spot, step, byte, written)
    }

    /// Takes a step that [`Constraint::look`] has found.
    pub(in crate::decode) fn take(
        &mut self,
        frames: &mut Vec<Frame>,
        spot: Spot,
        step: Step,
        byte: u8,
        written: Written<'_>,
    ) -> Option<Spot> {
        match step.0 {
            Edge::Dead => None,
            Edge::Go(top) => Some(Spot { top, ..spot }),
            Edge::Named { outcome } => {
                self.lowest = self.lowest.min(spot.frame);
                let frame = *frame_at(frames, spot.frame)?;
                let top = self.machine.named(frame.waiting, outcome)?;
                let object = frame_at(frames, frame.below).map_or(0, |frame| frame.start);
                let repeats = self.machine.is_other(outcome) && self.names.repeats(written, object as usize);
                (!repeats).then_some(Spot { top, frame: frame.below })
            }
            Edge::Push { waiting, child } => {
                let depth = frame_at(frames, spot.frame).map_or(0, |frame| frame.depth) + 1;
                // The child of `[` begins with this byte, that of `:` and `,` with the next.
                let start = written.len() as u32 + u32::from(matches!(byte, b':' | b','));
                frames.push(Frame { waiting, below: spot.frame, start, depth });
                (depth < MAX_DEPTH).then_some(Spot { top: child, frame: frames.len() as u32 })
            }
            Edge::Pop { verdicts } => self.pop(frames, spot, verdicts, Some(byte), written),
            Edge::PopThen { verdicts } => {
                let spot = self.pop(frames, spot, verdicts, None, written)?;
                self.step(frames, spot, byte, written)
            }
        }
    }

    fn pop(
        &mut self,
        frames: &[Frame],
        spot: Spot,
        verdicts: super::local::Id<Vec<bool>>,
        last: Option<u8>,
        written: Written<'_>,
    ) -> Option<Spot> {
        // A frame that the walk itself added lies above all of the matcher's.
        self.lowest = self.lowest.min(spot.frame);
        let Some(&frame) = frame_at(frames, spot.frame) else {
            return Some(Spot { top: self.machine.done(), frame: 0 });
        };
        let repeats = self.machine.compares(frame.waiting) && {
            let array = frame_at(frames, frame.below).map_or(0, |frame| frame.start);
            written::repeats_item(written, last, array as usize, frame.start as usize)
        };
        let top = self.machine.resume(frame.waiting, verdicts, repeats)?;
        Some(Spot { top, frame: frame.below })
    }
}

pub(super) fn frame_at(frames: &[Frame], frame: u32) -> Option<&Frame> {
    frames.get((frame as usize).checked_sub(1)?)
}

/// The frames below and including one, outermost first, without those a walk has left behind.
fn stack(frames: &[Frame], mut frame: u32) -> Vec<Frame> {
    let mut kept = Vec::new();
    while let Some(&found) = frame_at(frames, frame) {
        kept.push(found);
        frame = found.below;
    }
    kept.reverse();
    for (below, frame) in kept.iter_mut().enumerate() {
        frame.below = below as u32;
    }
    kept
}
