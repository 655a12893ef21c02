//! Which whole classes of characters a string lets pass, so that a mask need not try their tokens one by one.

use std::sync::Arc;

use super::children::Goals;
use super::expr::{Expr, ExprId, FALSE, TRUE};
use super::leaf::Leaf;
use super::lex::{Lex, LexStep};
use super::local::{Choice, Edge, Id, Local, LocalId};
use super::machine::Machine;
use super::policy::Spelling;

/// How many states of a string are looked at before a class counts as not passing.
const STATE_LIMIT: usize = 300;
/// How many formulas are looked at for a text that fits.
const LENGTH_LIMIT: usize = 200;

/// A class of characters and the length of the longest token made of it.
#[derive(Clone, Copy)]
pub(in crate::decode) struct Class<'a> {
    pub(in crate::decode) has: &'a dyn Fn(char) -> bool,
    pub(in crate::decode) is_unicode: bool,
    pub(in crate::decode) longest: u64,
}

/// A string's state with what does not depend on single characters taken out.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct Loose {
    local: LocalId,
    /// Nothing but the count speaks against any character.
    free: bool,
    /// Characters that may still come.
    max_len: Option<u64>,
}

impl Loose {
    /// A state in which the same tokens may follow, as long as they stay inside the string and within the count.
    pub(super) fn twin(self) -> Option<LocalId> {
        self.free.then_some(self.local)
    }

    /// How many characters may still come, if nothing else speaks against any.
    pub(super) fn count(self) -> Option<u64> {
        self.max_len.filter(|_| self.free)
    }
}

impl Machine {
    /// The state without its counts of characters and without the names it may become, if it is between characters
    /// of a string.
    pub(super) fn loosened(&mut self, local: LocalId) -> Option<Loose> {
        match &*Arc::clone(self.locals.get(Id::new(local))) {
            Local::Text { goals, lex: Lex::Plain } => {
                let goals = Arc::clone(self.goals.get(*goals));
                let is_decided = |id: ExprId| id == TRUE || id == FALSE;
                if !goals.options.iter().all(|&option| is_decided(option)) {
                    return Some(Loose { local, max_len: None, free: false });
                }
                let (must, max_len) = self.without_counts(goals.must);
                // A string that only its length binds is spelt plainly too, and one that nothing binds need not be.
                let same_spelling = must == goals.must || self.policy.spelling == Spelling::Any;
                let goals = self.goals.id(Goals { must, ..(*goals).clone() });
                let local = self.local(Local::Text { goals, lex: Lex::Plain });
                Some(Loose { local, max_len, free: is_decided(must) && same_spelling })
            }
            Local::Name(name) if name.lex == Lex::Plain && name.others.is_some() => {
                let free = self.names.get(name.names).choice == Choice::Free;
                let other = self.other_name(name);
                let local = self.name(other);
                Some(Loose { local, max_len: None, free })
            }
            _ => None,
        }
    }

    /// How many characters may come before the string ends, when it ends the same way after any characters up to so
    /// many. `None` when where it ends depends on them.
    pub(super) fn closes_alike(&self, local: LocalId) -> Option<u64> {
        let Local::Text { goals, lex: Lex::Plain } = &**self.locals.get(Id::new(local)) else { return None };
        let goals = self.goals.get(*goals);
        let mut max_len = u64::MAX;
        for &part in self.graph.exprs.conjuncts(goals.must).iter() {
            match self.graph.exprs.get(part) {
                Expr::Leaf(Leaf::MaxLen(n)) => max_len = max_len.min(*n),
                Expr::True => {}
                _ => return None,
            }
        }
        goals.options.iter().all(|&option| option == TRUE || option == FALSE).then_some(max_len)
    }

    /// Whether plain characters of ASCII change nothing: a string or a name about which nothing is asked any more.
    pub(super) fn is_steady(&mut self, local: LocalId) -> bool {
        const UNKNOWN: u8 = 2;
        if self.steady.len() <= local as usize {
            self.steady.resize(self.locals.len(), UNKNOWN);
        }
        if self.steady[local as usize] == UNKNOWN {
            let steady = match &**self.locals.get(Id::new(local)) {
                Local::Text { .. } => self.closes_alike(local) == Some(u64::MAX),
                Local::Name(name) => {
                    name.lex == Lex::Plain
                        && name.lo == name.hi
                        && self.names.get(name.names).choice == Choice::Free
                        && name.others.is_some_and(|others| self.residuals.get(others).is_empty())
                }
                _ => false,
            };
            self.steady[local as usize] = u8::from(steady);
        }
        self.steady[local as usize] == 1
    }

    fn without_counts(&mut self, must: ExprId) -> (ExprId, Option<u64>) {
        let mut max_len = None;
        let mut kept = Vec::new();
        let mut counts = Vec::new();
        for &part in self.graph.exprs.conjuncts(must).iter() {
            match self.graph.exprs.get(part) {
                Expr::Leaf(Leaf::MaxLen(n)) => max_len = Some(max_len.unwrap_or(*n).min(*n)),
                Expr::Leaf(Leaf::MinLen(_)) => counts.push(part),
                _ => kept.push(part),
            }
        }
        // Beside other requirements a least length may be out of reach; then it has to stay.
        if !kept.is_empty() {
            kept.extend(counts);
        }
        (self.graph.exprs.and(&kept), max_len)
    }

    /// How many characters of the class may follow, whichever they are. `None` when that depends on which.
    pub(super) fn passing(&mut self, loose: Loose, class: Class<'_>) -> Option<u64> {
        let max_len = loose.max_len.unwrap_or(u64::MAX);
        if loose.free {
            return Some(max_len);
        }
        let mut seen = vec![loose.local];
        let mut level = 0..1;
        let mut longest_end = 0;
        let depth = class.longest * if class.is_unicode { 4 } else { 1 };
        for _ in 0..=depth {
            for at in level.clone() {
                let (lex, parts) = self.string_parts(seen[at])?;
                if loose.max_len.is_some() && lex == Lex::Plain {
                    longest_end = longest_end.max(self.completion(&parts)?);
                }
                for byte in self.bytes_of(&parts, lex, class) {
                    match self.edge(seen[at], byte) {
                        Edge::Go(to) if seen.contains(&to) => {}
                        Edge::Go(to) if seen.len() < STATE_LIMIT => seen.push(to),
                        _ => return None,
                    }
                }
            }
            level = level.end..seen.len();
            if level.is_empty() {
                break;
            }
        }
        // Which longer tokens still fit would depend on more than their length.
        let left = max_len.checked_sub(longest_end)?;
        (left >= class.longest).then_some(left)
    }

    fn string_parts(&self, local: LocalId) -> Option<(Lex, Vec<ExprId>)> {
        match &**self.locals.get(Id::new(local)) {
            Local::Text { goals, lex } => Some((*lex, self.goals.get(*goals).all().collect())),
            Local::Name(name) => Some((name.lex, self.residuals.get(name.others?).to_vec())),
            _ => None,
        }
    }

    /// One byte of every range of bytes that the formulas do not tell apart, as far as the class has one there.
    fn bytes_of(&self, parts: &[ExprId], lex: Lex, class: Class<'_>) -> Vec<u8> {
        let mut begins = [false; 256];
        for &part in parts {
            self.graph.alphabet(part).into_iter().for_each(|byte| begins[byte as usize] = true);
        }
        // Lead bytes of characters and the ranges of the bytes after them differ in what they let follow.
        for byte in [0x80, 0x90, 0xa0, 0xc2, 0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5] {
            begins[byte as usize] = true;
        }
        let mut found = Vec::new();
        let mut open = true;
        for byte in 0..=u8::MAX {
            open |= begins[byte as usize];
            let in_class = if byte < 0x80 { (class.has)(char::from(byte)) } else { class.is_unicode };
            if open && in_class && matches!(lex.step(byte), LexStep::Raw(_)) {
                found.push(byte);
                open = false;
            }
        }
        found
    }

    /// Characters of a short text that meets all the formulas, if a short search finds one.
    fn completion(&mut self, parts: &[ExprId]) -> Option<u64> {
        let all = self.graph.exprs.and(parts);
        if let Some(&known) = self.graph.memo.completion.get(&all) {
            return known;
        }
        let found = self.search_completion(all);
        self.graph.memo.completion.insert(all, found);
        found
    }

    fn search_completion(&mut self, all: ExprId) -> Option<u64> {
        let mut seen = vec![(all, 0)];
        let mut next = 0;
        while let Some(&(id, length)) = seen.get(next) {
            next += 1;
            if self.graph.text_ends(id) {
                return Some(length);
            }
            // Not always the shortest, but searching on from every state of a counted pattern takes milliseconds.
            if let Some(&Some(rest)) = self.graph.memo.completion.get(&id) {
                return Some(length + rest);
            }
            for byte in self.graph.alphabet(id) {
                let to = self.graph.text_byte(id, byte);
                let length = length + u64::from(byte & 0xc0 != 0x80);
                if to != FALSE && seen.len() < LENGTH_LIMIT && seen.iter().all(|entry| entry.0 != to) {
                    seen.push((to, length));
                }
            }
        }
        None
    }
}
