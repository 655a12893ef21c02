//! Between the members of an object.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::children::{Children, Goals};
use super::leaf::NameId;
use super::lex::Lex;
use super::local::{Choice, Edge, Id, Local, LocalId, Name, Names, Object, Outcome, Place};
use super::machine::Machine;
use super::members::NameFacts;
use super::policy::MemberOrder;
use super::space::Space;
use super::tables::Graph;

impl Machine {
    /// The state after an object's opening brace.
    pub(super) fn begin_object(&mut self, goals: Goals) -> Option<LocalId> {
        let order = self.graph.mentioned(&goals).names;
        let words = match self.policy.order {
            MemberOrder::Any => order.len().div_ceil(64),
            MemberOrder::Schema => 0,
        };
        let (goals, order) = (self.goals.id(goals), self.orders.id(order));
        let object = Object { goals, order, cursor: 0, seen: vec![0; words].into() };
        self.between_members(object, Place::Open)
    }

    pub(super) fn object_edge(&mut self, object: Id<Object>, place: Place, space: Space, byte: u8) -> Edge {
        if let Some(space) = self.space(space, byte) {
            return self.go(Local::Object { object, place, space });
        }
        match (place, byte) {
            (Place::Open | Place::Comma, b'"') => self.begin_name(object),
            (Place::Open | Place::After, b'}') => {
                self.object_end(object).map_or(Edge::Dead, |verdicts| Edge::Pop { verdicts })
            }
            (Place::After, b',') if self.plan(object).is_open() => {
                self.go(Local::Object { object, place: Place::Comma, space: Space::default() })
            }
            _ => Edge::Dead,
        }
    }

    fn begin_name(&mut self, object: Id<Object>) -> Edge {
        let plan = self.plan(object);
        if !plan.is_open() {
            return Edge::Dead;
        }
        let order = self.objects.get(object).order;
        let choice = match &plan.others {
            Some(_) if plan.is_free => Choice::Free,
            Some(_) => Choice::Asked(object),
            None => Choice::Only(plan.offered.clone().into()),
        };
        let names = self.names.id(Names { order, choice });
        let others = plan.others.as_ref().map(|others| self.residuals.id(others.clone()));
        let name = Name { names, lo: 0, hi: plan.offered.len() as u32, depth: 0, others, lex: Lex::Plain };
        Edge::Push { waiting: self.local(Local::Naming { object }), child: self.name(name) }
    }

    /// The object after a name, before the colon; `None` when the name may not come.
    pub(super) fn after_name(&mut self, id: Id<Object>, outcome: Id<Outcome>) -> Option<LocalId> {
        let object = Arc::clone(self.objects.get(id));
        let plan = self.plan(id);
        let (place, facts) = match &*Arc::clone(self.outcomes.get(outcome)) {
            Outcome::Mentioned(idx) => {
                if !plan.offered[*idx as usize] {
                    return None;
                }
                let roster = self.roster(object.order);
                let candidate = &roster.names[*idx as usize];
                (Some(candidate.place), self.facts_of(&object, &plan, candidate.id, candidate.place))
            }
            Outcome::Other(ends) => (None, self.facts_of_other(&object, &plan, ends)),
        };
        let (object, child) = self.next_member(&object, place, &facts)?;
        let object = self.objects.id(object);
        let waiting = self.local(Local::Member { object });
        let child = self.goals.id(child);
        Some(self.local(Local::Colon { waiting, child, space: Space::default() }))
    }

    /// The verdicts of an object that ends here; `None` when it may not.
    fn object_end(&mut self, object: Id<Object>) -> Option<Id<Vec<bool>>> {
        let object = Arc::clone(self.objects.get(object));
        let goals = Arc::clone(self.goals.get(object.goals));
        let verdicts = self.graph.finish(&goals, &Graph::members_end)?;
        Some(self.verdicts.id(verdicts))
    }

    /// The object waiting for the value of a member with this name, and what is asked of the value.
    pub(super) fn next_member(
        &mut self,
        object: &Object,
        place: Option<u32>,
        facts: &NameFacts,
    ) -> Option<(Object, Goals)> {
        let goals = Arc::clone(self.goals.get(object.goals));
        let mut children = Children::default();
        let waiting = self.change_with(&goals, &mut children, &mut |graph, id, children| {
            graph.member(id, facts, children)
        })?;
        let (waiting, child) = self.graph.descend(&waiting, children)?;
        if !self.graph.satisfiable(child.must) {
            return None;
        }
        let goals = self.goals.id(waiting);
        Some((self.advanced(object, goals, place), child))
    }

    /// The object once the name at `place` of its order, or one not mentioned, was written.
    fn advanced(&self, object: &Object, goals: Id<Goals>, place: Option<u32>) -> Object {
        let mut next = Object { goals, ..object.clone() };
        match (self.policy.order, place) {
            (MemberOrder::Schema, Some(place)) => next.cursor = place + 1,
            (MemberOrder::Schema, None) => next.cursor = self.orders.get(object.order).len() as u32,
            (MemberOrder::Any, Some(place)) => {
                let mut seen = next.seen.to_vec();
                seen[place as usize / 64] |= 1 << (place % 64);
                next.seen = seen.into();
            }
            (MemberOrder::Any, None) => {}
        }
        next
    }

    /// The required names that can no longer come once the name at `place`, or one not mentioned, is written.
    pub(super) fn passed(
        &self,
        object: &Object,
        place: Option<u32>,
        required: &FxHashSet<NameId>,
    ) -> Vec<NameId> {
        if self.policy.order == MemberOrder::Any {
            return Vec::new();
        }
        let order = self.orders.get(object.order);
        let to = place.map_or(order.len(), |place| place as usize);
        let passed = &order[(object.cursor as usize).min(to)..to];
        passed.iter().copied().filter(|name| required.contains(name)).collect()
    }

    pub(super) fn resume_object(&mut self, object: Id<Object>, verdicts: &[bool]) -> Option<LocalId> {
        let object = Arc::clone(self.objects.get(object));
        let goals = Arc::clone(self.goals.get(object.goals));
        let goals = self.graph.resume(&goals, verdicts)?;
        let goals = self.goals.id(goals);
        self.between_members(Object { goals, ..(*object).clone() }, Place::After)
    }

    /// The state, unless the object can neither end nor go on there.
    fn between_members(&mut self, object: Object, place: Place) -> Option<LocalId> {
        let object = self.objects.id(object);
        if self.object_end(object).is_none() && !self.plan(object).is_open() {
            return None;
        }
        Some(self.local(Local::Object { object, place, space: Space::default() }))
    }
}
