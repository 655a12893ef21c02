//! Which states are alike for all that a mask can tell, so that one mask serves them all.
//!
//! In an object where any name may come, the names written so far change nothing but the verdict on the next name at
//! its closing quote. Masks set that verdict aside and ask for it anew, and so may be shared.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::children::Goals;
use super::expr::ExprId;
use super::leaf::NameId;
use super::lex::Lex;
use super::local::{Choice, Id, Local, LocalId, Object, Place};
use super::machine::Machine;
use super::space::Space;

/// What tokens add to a name before they end it, decoded, and the nodes of a trie where they end it.
#[derive(Clone, Debug, Default)]
pub(in crate::decode) struct Endings {
    nodes: FxHashMap<Vec<u8>, Vec<u32>>,
    longest: usize,
}

impl Endings {
    /// One more, as spelled.
    pub(in crate::decode) fn add(&mut self, spelled: &[u8], node: u32) {
        let ending = super::written::decoded(spelled);
        self.longest = self.longest.max(ending.len());
        self.nodes.entry(ending).or_default().push(node);
    }

    fn nodes(&self, rest: &[u8]) -> &[u32] {
        if rest.len() > self.longest {
            return &[];
        }
        self.nodes.get(rest).map_or(&[], Vec::as_slice)
    }
}

/// What a mask can tell of an object in which any name may come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Likeness {
    role: Role,
    order: Id<Vec<NameId>>,
    others: Vec<ExprId>,
    may_end: bool,
    table: Option<u32>,
    /// The goals themselves when they count members.
    counted: Option<Id<Goals>>,
}

/// What the object is doing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Role {
    Between(Place, Space),
    Naming,
    Member,
}

impl Machine {
    /// A number that is equal for states that are alike. States like no other have their own.
    pub(super) fn likeness(&mut self, local: LocalId) -> u32 {
        const UNKNOWN: u32 = u32::MAX;
        if self.likenesses.len() <= local as usize {
            self.likenesses.resize(local as usize + 1, UNKNOWN);
        }
        if self.likenesses[local as usize] == UNKNOWN {
            // Odd numbers are shared, even ones are a state's own.
            self.likenesses[local as usize] = match self.find_likeness(local) {
                Some(likeness) => self.alike.id(likeness).idx << 1 | 1,
                None => local << 1,
            };
        }
        self.likenesses[local as usize]
    }

    /// Whether a state may share its masks with others.
    pub(super) fn is_shared(&mut self, local: LocalId) -> bool {
        self.likeness(local) & 1 == 1
    }

    /// The same name as if no mentioned name began so, where every name may come.
    pub(super) fn any_name(&mut self, local: LocalId) -> LocalId {
        match &*Arc::clone(self.locals.get(Id::new(local))) {
            Local::Name(name) if self.names.get(name.names).choice == Choice::Free => {
                let other = self.other_name(name);
                self.name(other)
            }
            _ => local,
        }
    }

    /// Whether a state is inside a name.
    pub(super) fn is_name(&self, local: LocalId) -> bool {
        matches!(**self.locals.get(Id::new(local)), Local::Name(_))
    }

    /// The nodes where a text inside a name, which begins with `written` decoded, ends as a name that is mentioned or
    /// is among `earlier`. `None` when more than that decides about names.
    pub(super) fn known_names(
        &self,
        local: LocalId,
        written: &[u8],
        earlier: &FxHashSet<Vec<u8>>,
        endings: &Endings,
    ) -> Option<Vec<u32>> {
        let Local::Name(name) = &**self.locals.get(Id::new(local)) else { return None };
        let names = self.names.get(name.names);
        if name.lex != Lex::Plain
            || names.choice != Choice::Free
            || !self.residuals.get(name.others?).is_empty()
        {
            return None;
        }
        let roster = self.rosters.get(&names.order.idx);
        let mentioned = roster.map_or(&[][..], |roster| &roster.names[name.lo as usize..name.hi as usize]);
        let rests = mentioned.iter().map(|candidate| &candidate.bytes[name.depth as usize..]);
        let earlier = earlier.iter().filter_map(|name| name.strip_prefix(written));
        let mut nodes: Vec<_> = rests.chain(earlier).flat_map(|rest| endings.nodes(rest)).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        Some(nodes)
    }

    fn find_likeness(&mut self, local: LocalId) -> Option<Likeness> {
        let (object, role): (Id<Object>, _) = match **self.locals.get(Id::new(local)) {
            Local::Object { object, place, space } => (object, Role::Between(place, space)),
            Local::Naming { object } => (object, Role::Naming),
            Local::Member { object } => (object, Role::Member),
            _ => return None,
        };
        let goals = self.objects.get(object).goals;
        let simple = self.mentioned(goals).simple?;
        let counted = simple.counts.then_some(goals);
        let plan = self.plan(object);
        if !plan.is_free {
            return None;
        }
        let order = self.objects.get(object).order;
        let goals = Arc::clone(self.goals.get(goals));
        let may_end = self.graph.finish(&goals, &super::tables::Graph::members_end).is_some();
        Some(Likeness { role, order, others: plan.others.clone()?, may_end, table: simple.table, counted })
    }
}
