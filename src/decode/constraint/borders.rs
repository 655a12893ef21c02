//! Ranges of bytes that a state does not tell apart: one edge is found for a whole range.

use std::ops::RangeInclusive;

use super::expr::Expr;
use super::leaf::Leaf;
use super::lex::Lex;
use super::local::{Id, Local, LocalId, Name};
use super::machine::Machine;

/// The bytes that begin a range; a byte is like the one before it unless it begins one.
#[derive(Debug)]
pub(super) struct Borders([bool; 256]);

impl Default for Borders {
    fn default() -> Self {
        Self([false; 256])
    }
}

impl Borders {
    /// The byte differs from the one before it.
    pub(super) fn begin(&mut self, byte: u8) {
        self.0[byte as usize] = true;
    }

    /// The byte is like no other.
    pub(super) fn only(&mut self, byte: u8) {
        self.begin(byte);
        if let Some(next) = byte.checked_add(1) {
            self.begin(next);
        }
    }

    /// The first byte of every range but the first, in ascending order.
    pub(super) fn begins(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|&byte| self.0[byte as usize])
    }

    fn around(&self, byte: u8) -> RangeInclusive<u8> {
        let from = (1..=byte).rev().find(|&at| self.0[at as usize]).unwrap_or(0);
        let to = (byte..u8::MAX).find(|&at| self.0[at as usize + 1]).unwrap_or(u8::MAX);
        from..=to
    }
}

impl Machine {
    /// The bytes around this one that lead to the same place.
    pub(super) fn alike_bytes(&self, local: LocalId, byte: u8) -> RangeInclusive<u8> {
        let mut borders = Borders::default();
        match &**self.locals.get(Id::new(local)) {
            Local::Text { goals, lex } if lex.is_raw() => {
                lex.borders(&mut borders);
                self.goals.get(*goals).all().for_each(|id| self.graph.borders(id, &mut borders));
            }
            Local::Name(name) if name.lex.is_raw() => self.name_borders(name, &mut borders),
            _ => return byte..=byte,
        }
        borders.around(byte)
    }

    /// The bytes that may lead somewhere, where these are few.
    pub(super) fn live_bytes(&self, local: LocalId) -> Option<[bool; 256]> {
        let mut live = [false; 256];
        let mut add = |bytes: &[u8]| bytes.iter().for_each(|&byte| live[byte as usize] = true);
        match &**self.locals.get(Id::new(local)) {
            state if state.is_structural() => add(b" \t\n\r\"{}[],:-0123456789tfn"),
            Local::Number { .. } => add(b"0123456789+-.eE \t\n\r,]}"),
            Local::Text { lex, .. } | Local::Name(Name { lex, .. }) if lex.escaped().is_some() => {
                add(lex.escaped()?);
            }
            Local::Text { goals, lex: Lex::Plain } => {
                let Expr::Leaf(Leaf::Words { list, lo, hi, depth }) =
                    self.graph.exprs.get(self.goals.get(*goals).must)
                else {
                    return None;
                };
                let words = &self.graph.words[*list as usize][*lo as usize..*hi as usize];
                let bytes: Vec<u8> =
                    words.iter().filter_map(|word| word.get(*depth as usize)).copied().collect();
                add(b"\"\\");
                add(&bytes);
            }
            Local::Name(name) if name.lex == Lex::Plain && name.others.is_none() => {
                let roster = self.rosters.get(&self.names.get(name.names).order.idx)?;
                let mentioned = roster.names[name.lo as usize..name.hi as usize].iter();
                let bytes: Vec<u8> = mentioned
                    .filter_map(|candidate| candidate.bytes.get(name.depth as usize))
                    .copied()
                    .collect();
                add(b"\"\\");
                add(&bytes);
            }
            _ => return None,
        }
        Some(live)
    }

    fn name_borders(&self, name: &Name, borders: &mut Borders) {
        name.lex.borders(borders);
        let order = self.names.get(name.names).order;
        if let Some(roster) = self.rosters.get(&order.idx) {
            let mentioned = roster.names[name.lo as usize..name.hi as usize].iter();
            mentioned
                .filter_map(|candidate| candidate.bytes.get(name.depth as usize))
                .for_each(|&byte| borders.only(byte));
        }
        if let Some(others) = name.others {
            self.residuals.get(others).iter().for_each(|&id| self.graph.borders(id, borders));
        }
    }
}

impl Lex {
    /// Whether bytes stand for themselves here: between characters, or inside one that is not escaped.
    fn is_raw(self) -> bool {
        matches!(self, Self::Plain | Self::Tail { .. })
    }

    /// The bytes that may follow inside an escape.
    fn escaped(self) -> Option<&'static [u8]> {
        match self {
            Self::Plain | Self::Tail { .. } => None,
            Self::Slash => Some(b"\"\\/bfnrtu"),
            Self::Hex { .. } | Self::Low { .. } => Some(b"0123456789abcdefABCDEF"),
            Self::High { .. } => Some(b"\\"),
            Self::HighSlash { .. } => Some(b"u"),
        }
    }

    fn borders(self, borders: &mut Borders) {
        if let Self::Tail { from, to, .. } = self {
            borders.begin(from);
            borders.begin(to + 1);
            return;
        }
        b"\"\\".iter().for_each(|&byte| borders.only(byte));
        // Control characters, then what a byte says about the bytes after it.
        for byte in [0x20, 0x80, 0xc2, 0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5] {
            borders.begin(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_steps_the_same_on_all_bytes_of_a_range() {
        let tail = |left, from, to| Lex::Tail { left, from, to };
        for lex in [Lex::Plain, tail(1, 0x80, 0xbf), tail(2, 0xa0, 0xbf), tail(3, 0x80, 0x8f)] {
            let mut borders = Borders::default();
            lex.borders(&mut borders);
            for byte in 0..=u8::MAX {
                let range = borders.around(byte);
                assert!(range.contains(&byte));
                assert!(range.clone().all(|other| lex.step(other) == lex.step(byte)), "{lex:?} {range:?}");
            }
        }
    }
}
