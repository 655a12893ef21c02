//! Where a text may stand in a grammar: a set of stacks of positions, and where a byte leads.
//!
//! Ambiguous grammars have many stacks at once, alike but for their tops. So a set is kept as a tree from the tops
//! down, equal trees once: the innermost positions, each with the set of what may lie below it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::lower::{Grammar, Node, Pos, RuleId};
use crate::decode::constraint::local::{Id, Interned};

/// Stacks higher than this are given up: recursion in a text goes only so deep.
const MAX_HEIGHT: u32 = 1_000;

/// A set of stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::decode::constraint) struct Set {
    /// The innermost positions in order. In the set that a text stands in, bytes come at each of them.
    tops: Box<[(Pos, Id<Set>)]>,
    /// Whether one of the stacks is empty: the text may end.
    has_empty: bool,
    /// Of the highest stack.
    height: u32,
}

/// All sets met so far.
#[derive(Debug)]
pub(in crate::decode::constraint) struct Stacks {
    grammar: Arc<Grammar>,
    sets: Interned<Set>,
    /// By the sets united, in order.
    unions: FxHashMap<Box<[Id<Set>]>, Id<Set>>,
    /// Tops of all sets, and sets of all unions.
    n_parts: usize,
}

/// What has been found of the set after a byte.
///
/// What may lie below a position, or follow a rule, is united only once all of it is known: thousands may call one rule.
#[derive(Default)]
struct Gathered {
    tops: Vec<(Pos, Id<Set>)>,
    /// Rules to be expanded by rank, each with what may follow it.
    calls: BTreeMap<(u32, RuleId), Vec<Id<Set>>>,
    may_end: bool,
}

impl Stacks {
    /// The stacks of a grammar, and the set before the first byte.
    pub(in crate::decode::constraint) fn new(grammar: Arc<Grammar>) -> (Self, Id<Set>) {
        let mut stacks =
            Self { grammar, sets: Interned::default(), unions: FxHashMap::default(), n_parts: 0 };
        let bottom = stacks.sets.id(Set { has_empty: true, ..Set::default() });
        let root = stacks.grammar.root;
        let rule = &stacks.grammar.rules[root as usize];
        let mut gathered = Gathered { may_end: rule.is_nullable, ..Gathered::default() };
        gathered.calls.insert((rule.rank, root), vec![bottom]);
        let start = stacks.expand(gathered);
        (stacks, start)
    }

    /// Bytes of what is remembered, roughly.
    pub(in crate::decode::constraint) fn n_bytes(&self) -> usize {
        // A set or union, and its places in the tables.
        const PER_SET: usize = 64;
        (self.sets.len() + self.unions.len()) * PER_SET + self.n_parts * size_of::<(Pos, Id<Set>)>()
    }

    /// Whether the text may end.
    pub(in crate::decode::constraint) fn may_end(&self, set: Id<Set>) -> bool {
        self.sets.get(set).has_empty
    }

    /// Whether nothing can follow.
    pub(in crate::decode::constraint) fn is_done(&self, set: Id<Set>) -> bool {
        self.sets.get(set).tops.is_empty()
    }

    /// Where a byte leads.
    pub(in crate::decode::constraint) fn step(&mut self, set: Id<Set>, byte: u8) -> Option<Id<Set>> {
        let set = Arc::clone(self.sets.get(set));
        let takes =
            |pos: Pos| matches!(&self.grammar.nodes[pos as usize], Node::Bytes(bytes) if bytes.has(byte));
        let mut open: Vec<_> =
            set.tops.iter().filter(|(pos, _)| takes(*pos)).map(|(pos, below)| (pos + 1, *below)).collect();
        let mut gathered = Gathered::default();
        let mut seen = FxHashSet::default();
        while let Some((pos, below)) = open.pop() {
            if !seen.insert((pos, below)) {
                continue;
            }
            match self.grammar.nodes[pos as usize] {
                Node::Bytes(_) => gathered.tops.push((pos, below)),
                Node::Call(rule) => {
                    self.gather_call(&mut gathered, rule, pos, below);
                    open.extend(self.is_nullable(rule).then_some((pos + 1, below)));
                }
                Node::End => {
                    let below = self.sets.get(below);
                    gathered.may_end |= below.has_empty;
                    open.extend_from_slice(&below.tops);
                }
            }
        }
        let set = self.expand(gathered);
        let found = self.sets.get(set);
        (found.has_empty || !found.tops.is_empty()).then_some(set)
    }

    fn is_nullable(&self, rule: RuleId) -> bool {
        self.grammar.rules[rule as usize].is_nullable
    }

    /// Expands rules until bytes come. By rank, so that a rule comes up only when all that may follow it is known.
    /// Rules that may be empty were stepped over where they were called, so that nothing returns from here.
    fn expand(&mut self, mut gathered: Gathered) -> Id<Set> {
        let grammar = Arc::clone(&self.grammar);
        while let Some(((_, rule), after)) = gathered.calls.pop_first() {
            let below = self.union(after);
            for &start in &grammar.rules[rule as usize].starts {
                for pos in start.. {
                    match grammar.nodes[pos as usize] {
                        Node::Bytes(_) => gathered.tops.push((pos, below)),
                        Node::Call(called) => {
                            self.gather_call(&mut gathered, called, pos, below);
                            if self.is_nullable(called) {
                                continue;
                            }
                        }
                        Node::End => {}
                    }
                    break;
                }
            }
        }
        self.set(gathered.tops, gathered.may_end)
    }

    fn gather_call(&mut self, gathered: &mut Gathered, rule: RuleId, pos: Pos, below: Id<Set>) {
        let rank = self.grammar.rules[rule as usize].rank;
        // A call at the end of its sequence leaves nothing to come back for, so that loops do not pile up.
        let is_last = matches!(self.grammar.nodes[pos as usize + 1], Node::End);
        if !is_last && self.sets.get(below).height >= MAX_HEIGHT {
            return;
        }
        let after = if is_last { below } else { self.set(vec![(pos + 1, below)], false) };
        gathered.calls.entry((rank, rule)).or_default().push(after);
    }

    /// The set with these tops, of which one may stand above several sets.
    fn set(&mut self, mut tops: Vec<(Pos, Id<Set>)>, has_empty: bool) -> Id<Set> {
        tops.sort_unstable_by_key(|(pos, below)| (*pos, below.idx));
        let mut united: Vec<(Pos, Id<Set>)> = Vec::with_capacity(tops.len());
        // A loop, since iterators would take more of the call stack at each height.
        for same in tops.chunk_by(|a, b| a.0 == b.0) {
            let below = self.union(same.iter().map(|(_, below)| *below).collect());
            united.push((same[0].0, below));
        }
        let tops = united.into_boxed_slice();
        let height = tops.iter().map(|(_, below)| self.sets.get(*below).height + 1).max().unwrap_or(0);
        let (n_sets, n_tops) = (self.sets.len(), tops.len());
        let set = self.sets.id(Set { tops, has_empty, height });
        if self.sets.len() > n_sets {
            self.n_parts += n_tops;
        }
        set
    }

    /// All that is in one of these sets. In one pass, since each union on the way to the last would be remembered too.
    fn union(&mut self, mut sets: Vec<Id<Set>>) -> Id<Set> {
        sets.sort_unstable_by_key(|set| set.idx);
        sets.dedup();
        if let [only] = sets[..] {
            return only;
        }
        if let Some(&known) = self.unions.get(&sets[..]) {
            return known;
        }
        let each = || sets.iter().map(|set| self.sets.get(*set));
        let has_empty = each().any(|set| set.has_empty);
        let tops = each().flat_map(|set| set.tops.iter().copied()).collect();
        let union = self.set(tops, has_empty);
        self.n_parts += sets.len();
        self.unions.insert(sets.into(), union);
        union
    }
}
