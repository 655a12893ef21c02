//! Which names the next member of an object may have.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::children::Goals;
use super::expr::{ExprId, FALSE, TRUE};
use super::leaf::NameId;
use super::local::{Id, Object};
use super::machine::Machine;
use super::members::NameFacts;
use super::mentioned::{Mentioned, Simple};
use super::policy::MemberOrder;
use super::tables::Graph;

/// How many requirements may be looked at to tell which names can come. Beyond that all are offered, and those that
/// cannot come are refused when they end.
const EFFORT_LIMIT: usize = 4_000_000;

/// The names that formulas mention, sorted by their bytes.
#[derive(Debug)]
pub(super) struct Roster {
    pub names: Vec<Candidate>,
}

/// A mentioned name.
#[derive(Debug)]
pub(super) struct Candidate {
    pub bytes: Arc<[u8]>,
    pub id: NameId,
    /// Its place in the object's order.
    pub place: u32,
}

/// Which names the next member may have.
#[derive(Debug)]
pub(super) struct Plan {
    /// By index in the roster.
    pub offered: Vec<bool>,
    /// Before any byte of the name: what patterns and schemas of names still ask, when a name that is not mentioned
    /// may come.
    pub others: Option<Vec<ExprId>>,
    /// Whether every name that is not mentioned may come, whichever patterns it matches.
    pub is_free: bool,
    pub mentioned: Arc<Mentioned>,
}

impl Plan {
    /// Whether any member may come next.
    pub(super) fn is_open(&self) -> bool {
        self.others.is_some() || self.offered.contains(&true)
    }
}

impl Graph {
    /// What the formulas need to know about a mentioned name.
    fn facts(&mut self, name: NameId, patterns: &[u32], schemas: &[ExprId]) -> NameFacts {
        let bytes = Arc::clone(self.name(name));
        NameFacts {
            id: Some(name),
            patterns: patterns.iter().map(|&id| (id, self.pattern_matches(id, &bytes))).collect(),
            names: schemas
                .iter()
                .map(|&id| {
                    let opened = self.open(id, super::leaf::Kind::Text);
                    let left = self.name_bytes(opened, &bytes);
                    (id, self.text_ends(left))
                })
                .collect(),
            passed: Vec::new(),
        }
    }
}

impl Machine {
    /// Which names the next member may have.
    pub(super) fn plan(&mut self, id: Id<Object>) -> Arc<Plan> {
        if let Some(plan) = self.plans.get(&id.idx) {
            return Arc::clone(plan);
        }
        let plan = Arc::new(self.make_plan(id));
        self.n_named += plan.offered.len();
        self.plans.insert(id.idx, Arc::clone(&plan));
        plan
    }

    fn make_plan(&mut self, id: Id<Object>) -> Plan {
        let object = Arc::clone(self.objects.get(id));
        let mentioned = self.mentioned(object.goals);
        let roster = self.roster(object.order);
        let mut plan = Plan { offered: Vec::new(), others: None, is_free: false, mentioned };
        let first_due = self.first_due(&object, &plan.mentioned);
        let last_due = if plan.mentioned.simple.is_some() { first_due } else { u32::MAX };
        let is_cheap = roster.names.len() * self.member_effort(&object, &plan.mentioned) <= EFFORT_LIMIT;
        for candidate in &roster.names {
            let due = candidate.place <= last_due && self.is_due(&object, candidate.place);
            let offered = due
                && match plan.mentioned.simple {
                    Some(simple) if simple.is_full => false,
                    _ if !is_cheap => true,
                    Some(simple) => self.is_named_possible(simple, &plan, candidate.id),
                    None => self.is_offered(&object, &plan, candidate, first_due),
                };
            plan.offered.push(offered);
        }
        let mut others: Vec<_> =
            plan.mentioned.patterns.iter().map(|&pattern| self.graph.pattern_leaf(pattern)).collect();
        let schemas = plan.mentioned.schemas.iter();
        others.extend(schemas.map(|&schema| self.graph.open(schema, super::leaf::Kind::Text)));
        plan.is_free = match plan.mentioned.simple {
            Some(simple) => !simple.is_full && last_due == u32::MAX && self.is_other_possible(simple),
            None => self.is_free(&object, &plan),
        };
        if plan.is_free || self.others_alive(id, &plan, &others) {
            plan.others = Some(others);
        }
        plan
    }

    /// The place of the first name that some formula asks for and that would be passed over by those after it; the
    /// largest number when there is none.
    fn first_due(&self, object: &Object, mentioned: &Mentioned) -> u32 {
        if self.policy.order == MemberOrder::Any {
            return u32::MAX;
        }
        let order = self.orders.get(object.order).iter().enumerate().skip(object.cursor as usize);
        let mut required = order.filter(|(_, name)| mentioned.required.contains(name));
        required.next().map_or(u32::MAX, |(place, _)| place as u32)
    }

    /// How many requirements are looked at to tell whether one name may come.
    fn member_effort(&self, object: &Object, mentioned: &Mentioned) -> usize {
        let goals = self.goals.get(object.goals);
        let weights = goals.all().map(|id| self.graph.exprs.shape(id).weight as usize);
        let passed = if mentioned.simple.is_some() { 0 } else { self.orders.get(object.order).len() };
        weights.sum::<usize>() + mentioned.patterns.len() + mentioned.schemas.len() + passed
    }

    fn is_named_possible(&mut self, simple: Simple, plan: &Plan, name: NameId) -> bool {
        let Some(table) = simple.table else { return true };
        if let Some(&known) = self.possible.get(&(table, Some(name))) {
            return known;
        }
        let facts = self.graph.facts(name, &plan.mentioned.patterns, &[]);
        let schema = self.graph.member_schema(table, &facts);
        let possible = self.graph.satisfiable(schema);
        self.possible.insert((table, Some(name)), possible);
        possible
    }

    /// Whether members that are not mentioned can come, whichever patterns their names match.
    fn is_other_possible(&mut self, simple: Simple) -> bool {
        let Some(table) = simple.table else { return true };
        if let Some(&known) = self.possible.get(&(table, None)) {
            return known;
        }
        let members = Arc::clone(&self.graph.members[table as usize]);
        let schemas: Vec<_> = members.patterns.iter().map(|entry| entry.1).collect();
        let all = self.graph.exprs.and(&schemas);
        let possible = self.graph.satisfiable(all) && self.graph.satisfiable(members.rest);
        self.possible.insert((table, None), possible);
        possible
    }

    /// Whether every name may come, whichever patterns it matches: tried for none of them, each of them and all.
    fn is_free(&mut self, object: &Object, plan: &Plan) -> bool {
        let n = plan.mentioned.patterns.len();
        let each = (0..n).map(|only| (0..n).map(|pattern| pattern == only).collect());
        let mut sets = [vec![false; n], vec![true; n]].into_iter().chain(each);
        plan.mentioned.schemas.is_empty()
            && sets.all(|ends| {
                let facts = self.facts_of_other(object, plan, &ends);
                self.next_member(object, None, &facts).is_some()
            })
    }

    fn is_offered(&mut self, object: &Object, plan: &Plan, candidate: &Candidate, first_due: u32) -> bool {
        // Names that are passed over matter only if some formula asks for them.
        let matters = candidate.place > first_due;
        let key = (object.goals.idx, candidate.id);
        if let Some(&known) = self.offered.get(&key).filter(|_| !matters) {
            return known;
        }
        let facts = self.facts_of(object, plan, candidate.id, candidate.place);
        let offered = self.next_member(object, Some(candidate.place), &facts).is_some();
        if !matters {
            self.offered.insert(key, offered);
        }
        offered
    }

    /// The names that an order is made of, sorted.
    pub(super) fn roster(&mut self, order: Id<Vec<NameId>>) -> Arc<Roster> {
        if let Some(roster) = self.rosters.get(&order.idx) {
            return Arc::clone(roster);
        }
        let places = self.orders.get(order).iter().enumerate();
        let mut names: Vec<_> = places
            .map(|(place, &id)| Candidate { bytes: Arc::clone(self.graph.name(id)), id, place: place as u32 })
            .collect();
        names.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        let roster = Arc::new(Roster { names });
        self.rosters.insert(order.idx, Arc::clone(&roster));
        roster
    }

    /// What the goals of an object mention.
    pub(super) fn mentioned(&mut self, goals: Id<Goals>) -> Arc<Mentioned> {
        if let Some(mentioned) = self.mentioned.get(&goals.idx) {
            return Arc::clone(mentioned);
        }
        let mentioned = Arc::new(self.graph.mentioned(self.goals.get(goals)));
        self.n_named += size_of_val(&mentioned.names[..]);
        self.mentioned.insert(goals.idx, Arc::clone(&mentioned));
        mentioned
    }

    fn is_due(&self, object: &Object, place: u32) -> bool {
        match self.policy.order {
            MemberOrder::Schema => place >= object.cursor,
            MemberOrder::Any => object.seen[place as usize / 64] >> (place % 64) & 1 == 0,
        }
    }

    /// What the formulas need to know about the mentioned name at `place`.
    pub(super) fn facts_of(&mut self, object: &Object, plan: &Plan, name: NameId, place: u32) -> NameFacts {
        let passed = self.passed(object, Some(place), &plan.mentioned.required);
        NameFacts { passed, ..self.graph.facts(name, &plan.mentioned.patterns, &plan.mentioned.schemas) }
    }

    /// What the formulas need to know about a name that none of them mentions; `ends` has the verdicts of patterns,
    /// then of schemas of names.
    pub(super) fn facts_of_other(&self, object: &Object, plan: &Plan, ends: &[bool]) -> NameFacts {
        let mentioned = &plan.mentioned;
        let passed = self.passed(object, None, &mentioned.required);
        let (patterns, schemas) = ends.split_at(mentioned.patterns.len());
        NameFacts {
            id: None,
            patterns: mentioned.patterns.iter().copied().zip(patterns.iter().copied()).collect(),
            names: mentioned.schemas.iter().copied().zip(schemas.iter().copied()).collect(),
            passed,
        }
    }

    /// Whether a name that is not mentioned and goes on from here may come, as far as a bounded search tells.
    pub(super) fn others_alive(&mut self, id: Id<Object>, plan: &Plan, others: &[ExprId]) -> bool {
        let key = (id.idx, self.residuals.id(others.to_vec()));
        if let Some(&known) = self.others_alive.get(&key) {
            return known;
        }
        let object = Arc::clone(self.objects.get(id));
        let alive = self.search_other(&object, plan, others);
        self.others_alive.insert(key, alive);
        alive
    }

    fn search_other(&mut self, object: &Object, plan: &Plan, start: &[ExprId]) -> bool {
        const SEARCH_LIMIT: usize = 1_000;
        let mut tried: Vec<(NameFacts, bool)> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![start.to_vec()];
        while let Some(others) = open.pop() {
            if self.names_dead(plan, &others) || !seen.insert(others.clone()) {
                continue;
            }
            let ends: Vec<_> = others.iter().map(|&id| self.graph.text_ends(id)).collect();
            let facts = self.facts_of_other(object, plan, &ends);
            let known = tried
                .iter()
                .find(|(known, _)| known.patterns == facts.patterns && known.names == facts.names);
            let alive = match known {
                Some(entry) => entry.1,
                None => self.next_member(object, None, &facts).is_some(),
            };
            if alive || seen.len() > SEARCH_LIMIT {
                return true;
            }
            tried.push((facts, alive));
            let mut alphabet: Vec<u8> = others.iter().flat_map(|&id| self.graph.alphabet(id)).collect();
            alphabet.sort_unstable();
            alphabet.dedup();
            for byte in alphabet {
                open.push(others.iter().map(|&id| self.graph.text_byte(id, byte)).collect());
            }
        }
        false
    }

    /// Whether a schema that every name has to meet no longer can be. Where names have a choice, and for patterns, that
    /// only means other members.
    pub(super) fn names_dead(&mut self, plan: &Plan, others: &[ExprId]) -> bool {
        let schemas = &others[plan.mentioned.patterns.len()..];
        let mut binding = plan.mentioned.binding.iter().map(|&idx| schemas[idx]);
        binding.any(|id| id == FALSE || (id != TRUE && !self.graph.text_alive(id)))
    }
}
