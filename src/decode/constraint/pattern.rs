//! Regular expressions as lazily built byte automata over decoded text. Knows no escapes and no schema.

use std::sync::Arc;

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;
use rustc_hash::FxHashMap;

use super::ecma;

/// Automata larger than this many bytes are refused when compiling.
pub(super) const SIZE_LIMIT: usize = 4 << 20;

/// Marks sets that mean the same states but differ in what an end here means.
const END: StateID = StateID::MAX;

/// The state before any text.
pub(super) const START: u32 = 0;

/// A pattern searched for in the text, not anchored unless it says so.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    nfa: NFA,
    /// Sets of automaton states that were reached, sorted; the index is our state.
    sets: Vec<Set>,
    ids: FxHashMap<Arc<[StateID]>, u32>,
    /// By state and class of bytes.
    next: FxHashMap<(u32, u8), u32>,
    /// The first byte of every range of bytes that the automaton does not tell apart.
    alphabet: Vec<u8>,
    /// The round of [`Pattern::reach`] in which an automaton state was last seen.
    seen: Vec<u32>,
    round: u32,
    /// Automaton states in all sets.
    n_members: usize,
}

#[derive(Clone, Debug)]
struct Set {
    states: Arc<[StateID]>,
    certain: Option<bool>,
    at_end: bool,
}

impl Pattern {
    /// Compiles a pattern of ECMA-262, or says what about it is not supported.
    pub(super) fn ecma(source: &str) -> Result<Self, String> {
        Self::from_hir(&ecma::parse(source)?)
    }

    /// Compiles a parsed expression.
    pub(super) fn from_hir(hir: &Hir) -> Result<Self, String> {
        let config = NFA::config()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .which_captures(regex_automata::nfa::thompson::WhichCaptures::None);
        let nfa = NFA::compiler()
            .configure(config)
            .build_from_hir(hir)
            .map_err(|_| "the automaton would be too large".to_owned())?;
        if nfa.look_set_any().iter().any(|look| !matches!(look, Look::Start | Look::End)) {
            return Err("word boundaries are not supported".to_owned());
        }
        let classes = *nfa.byte_classes();
        let begins = |byte: u8| byte == 0 || classes.get(byte) != classes.get(byte - 1);
        let alphabet = (0..=u8::MAX).filter(|&byte| begins(byte)).collect();
        let seen = vec![0; nfa.states().len()];
        let start = nfa.start_unanchored();
        let (ids, next) = (FxHashMap::default(), FxHashMap::default());
        let mut pattern = Self { nfa, sets: Vec::new(), ids, next, alphabet, seen, round: 0, n_members: 0 };
        let start = pattern.closure(&[start], true);
        pattern.intern(start);
        Ok(pattern)
    }

    /// The state after one more byte.
    pub(super) fn next(&mut self, state: u32, byte: u8) -> u32 {
        let class = self.nfa.byte_classes().get(byte);
        if let Some(&next) = self.next.get(&(state, class)) {
            return next;
        }
        let mut reached = Vec::new();
        for &id in self.sets[state as usize].states.iter().filter(|&&id| id != END) {
            match self.nfa.state(id) {
                State::ByteRange { trans } if trans.matches_byte(byte) => reached.push(trans.next),
                State::Sparse(sparse) => reached.extend(sparse.matches_byte(byte)),
                State::Dense(dense) => reached.extend(dense.matches_byte(byte)),
                _ => {}
            }
        }
        let set = self.closure(&reached, false);
        let next = self.intern(set);
        self.next.insert((state, class), next);
        next
    }

    /// What holds for every text that goes on from here; `None` when it depends.
    pub(super) fn certain(&self, state: u32) -> Option<bool> {
        self.sets[state as usize].certain
    }

    /// Whether a text that ends here matches.
    pub(super) fn at_end(&self, state: u32) -> bool {
        self.sets[state as usize].at_end
    }

    /// Whether a whole text matches.
    pub(super) fn matches(&mut self, text: &[u8]) -> bool {
        let mut state = START;
        for &byte in text {
            if let Some(known) = self.certain(state) {
                return known;
            }
            state = self.next(state, byte);
        }
        self.certain(state).unwrap_or_else(|| self.at_end(state))
    }

    /// The first byte of every range of bytes that the automaton does not tell apart.
    pub(super) fn alphabet(&self) -> &[u8] {
        &self.alphabet
    }

    /// Bytes of the automaton itself.
    pub(super) fn n_bytes(&self) -> usize {
        self.nfa.memory_usage() + self.seen.len() * size_of::<u32>()
    }

    /// Bytes of what was found out about texts so far, roughly.
    pub(super) fn n_found(&self) -> usize {
        const PER_SET: usize = 96;
        const PER_EDGE: usize = 24;
        self.sets.len() * PER_SET + self.next.len() * PER_EDGE + self.n_members * size_of::<StateID>()
    }

    /// How many states of the automaton a byte is tried on.
    pub(super) fn width(&self, state: u32) -> usize {
        self.sets[state as usize].states.len()
    }

    fn intern(&mut self, set: Set) -> u32 {
        if let Some(&id) = self.ids.get(&set.states) {
            return id;
        }
        let id = self.sets.len() as u32;
        self.n_members += set.states.len();
        self.ids.insert(Arc::clone(&set.states), id);
        self.sets.push(set);
        id
    }

    /// Everything reachable without a byte. An end assertion stays in the set: it is decided when the text ends.
    fn closure(&mut self, from: &[StateID], at_start: bool) -> Set {
        let mut states = self.reach(from, at_start, false);
        let matched = states.iter().any(|&id| matches!(self.nfa.state(id), State::Match { .. }));
        if matched {
            // A search that has found its match stays found.
            return Set { states: Arc::new([END, END]), certain: Some(true), at_end: true };
        }
        let at_end = self
            .reach(from, at_start, true)
            .iter()
            .any(|&id| matches!(self.nfa.state(id), State::Match { .. }));
        states.retain(|&id| {
            matches!(self.nfa.state(id), State::ByteRange { .. } | State::Sparse(_) | State::Dense(_))
        });
        states.sort_unstable();
        if at_end {
            states.push(END);
        }
        let certain = states.is_empty().then_some(false);
        Set { states: states.into(), certain, at_end }
    }

    fn reach(&mut self, from: &[StateID], at_start: bool, at_end: bool) -> Vec<StateID> {
        self.round += 1;
        let mut open = from.to_vec();
        let mut found = Vec::new();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut self.seen[id.as_usize()], self.round) == self.round {
                continue;
            }
            found.push(id);
            match self.nfa.state(id) {
                State::Look { look: Look::Start, next } if at_start => open.push(*next),
                State::Look { look: Look::End, next } if at_end => open.push(*next),
                State::Union { alternates } => open.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
                State::Capture { next, .. } => open.push(*next),
                _ => {}
            }
        }
        found
    }
}
