//! Where a text may stand in a grammar: a set of stacks of positions, and where a byte leads.
//!
//! Ambiguous grammars have many stacks at once, alike but for their tops. So a set is kept as a tree from the tops
//! down, equal trees once: the innermost positions, each with the set of what may lie below it.

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
    unions: FxHashMap<(Id<Set>, Id<Set>), Id<Set>>,
}

/// What has been found of the set after a byte.
#[derive(Default)]
struct Gathered {
    tops: FxHashMap<Pos, Id<Set>>,
    /// Rules to be expanded by rank, each with all that may follow it.
    calls: std::collections::BTreeMap<(u32, RuleId), Id<Set>>,
    may_end: bool,
}

impl Stacks {
    /// The stacks of a grammar, and the set before the first byte.
    pub(in crate::decode::constraint) fn new(grammar: Arc<Grammar>) -> (Self, Id<Set>) {
        let mut stacks = Self { grammar, sets: Interned::default(), unions: FxHashMap::default() };
        let bottom = stacks.sets.id(Set { has_empty: true, ..Set::default() });
        let root = stacks.grammar.root;
        let rule = &stacks.grammar.rules[root as usize];
        let mut gathered = Gathered { may_end: rule.is_nullable, ..Gathered::default() };
        gathered.calls.insert((rule.rank, root), bottom);
        let start = stacks.expand(gathered);
        (stacks, start)
    }

    /// How much is remembered.
    pub(in crate::decode::constraint) fn len(&self) -> usize {
        self.sets.len() + self.unions.len()
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
                Node::Bytes(_) => self.gather_top(&mut gathered, pos, below),
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
        while let Some(((_, rule), below)) = gathered.calls.pop_first() {
            for &start in &grammar.rules[rule as usize].starts {
                for pos in start.. {
                    match grammar.nodes[pos as usize] {
                        Node::Bytes(_) => self.gather_top(&mut gathered, pos, below),
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
        let tops = gathered.tops.into_iter().collect();
        self.set(tops, gathered.may_end)
    }

    fn gather_top(&mut self, gathered: &mut Gathered, pos: Pos, below: Id<Set>) {
        let known = gathered.tops.get(&pos).copied();
        let all = known.map_or(below, |known| self.union(known, below));
        gathered.tops.insert(pos, all);
    }

    fn gather_call(&mut self, gathered: &mut Gathered, rule: RuleId, pos: Pos, below: Id<Set>) {
        let rank = self.grammar.rules[rule as usize].rank;
        // A call at the end of its sequence leaves nothing to come back for, so that loops do not pile up.
        let is_last = matches!(self.grammar.nodes[pos as usize + 1], Node::End);
        if !is_last && self.sets.get(below).height >= MAX_HEIGHT {
            return;
        }
        let after = if is_last { below } else { self.set(vec![(pos + 1, below)], false) };
        let known = gathered.calls.get(&(rank, rule)).copied();
        let all = known.map_or(after, |known| self.union(known, after));
        gathered.calls.insert((rank, rule), all);
    }

    fn set(&mut self, mut tops: Vec<(Pos, Id<Set>)>, has_empty: bool) -> Id<Set> {
        tops.sort_unstable_by_key(|(pos, _)| *pos);
        let height = tops.iter().map(|(_, below)| self.sets.get(*below).height + 1).max().unwrap_or(0);
        self.sets.id(Set { tops: tops.into(), has_empty, height })
    }

    fn union(&mut self, a: Id<Set>, b: Id<Set>) -> Id<Set> {
        if a == b {
            return a;
        }
        let key = if a.idx < b.idx { (a, b) } else { (b, a) };
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let (a, b) = (Arc::clone(self.sets.get(a)), Arc::clone(self.sets.get(b)));
        let mut tops: FxHashMap<Pos, Id<Set>> = a.tops.iter().copied().collect();
        for &(pos, below) in &b.tops {
            let all = tops.get(&pos).copied().map_or(below, |known| self.union(known, below));
            tops.insert(pos, all);
        }
        let union = self.set(tops.into_iter().collect(), a.has_empty || b.has_empty);
        self.unions.insert(key, union);
        union
    }
}
