//! Which names the next member of an object may have.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::children::Goals;
use super::expr::{Expr, ExprId, FALSE, TRUE};
use super::leaf::{Leaf, NameId};
use super::local::{Id, Object};
use super::machine::Machine;
use super::members::NameFacts;
use super::policy::MemberOrder;
use super::tables::Graph;

/// The names that formulas mention, and whether others may come.
#[derive(Debug)]
pub(super) struct Plan {
    /// Sorted by their bytes.
    pub names: Vec<Candidate>,
    /// Before any byte of the name: what patterns and schemas of names still ask, when a name that is not mentioned
    /// may come. Parallel to `patterns`, then `schemas`.
    pub others: Option<Vec<ExprId>>,
    pub patterns: Vec<u32>,
    pub schemas: Vec<ExprId>,
}

/// A mentioned name.
#[derive(Debug)]
pub(super) struct Candidate {
    pub bytes: Arc<[u8]>,
    pub id: NameId,
    /// Its place in the object's order.
    pub place: u32,
    /// Whether it may be the next one.
    pub offered: bool,
}

impl Plan {
    /// Whether any member may come next.
    pub(super) fn is_open(&self) -> bool {
        self.others.is_some() || self.names.iter().any(|name| name.offered)
    }
}

/// What the formulas over an object mention.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    /// In the schema's order, without duplicates.
    pub names: Vec<NameId>,
    pub patterns: Vec<u32>,
    /// Schemas that names have to meet.
    pub schemas: Vec<ExprId>,
    seen_names: FxHashSet<NameId>,
    required: Vec<NameId>,
}

impl Mentioned {
    fn add_name(&mut self, name: NameId) {
        if self.seen_names.insert(name) {
            self.names.push(name);
        }
    }

    fn add_pattern(&mut self, pattern: u32) {
        if !self.patterns.contains(&pattern) {
            self.patterns.push(pattern);
        }
    }
}

impl Graph {
    /// The names, patterns and schemas of names in the formulas.
    pub(super) fn mentioned(&self, goals: &Goals) -> Mentioned {
        let mut found = Mentioned::default();
        for id in goals.all() {
            self.collect(id, &mut found);
        }
        // Names that are only required come after those that have a schema.
        for name in std::mem::take(&mut found.required) {
            found.add_name(name);
        }
        found
    }

    fn collect(&self, id: ExprId, found: &mut Mentioned) {
        match self.exprs.get(id) {
            Expr::Not(inner) => self.collect(*inner, found),
            Expr::And(parts) | Expr::Or(parts) | Expr::One(parts) => {
                parts.iter().for_each(|&part| self.collect(part, found));
            }
            Expr::Leaf(leaf) => self.collect_leaf(leaf, found),
            Expr::False | Expr::True | Expr::Ref(_) | Expr::Var(_) => {}
        }
    }

    fn collect_leaf(&self, leaf: &Leaf, found: &mut Mentioned) {
        match leaf {
            Leaf::Members { table } => {
                let members = &self.members[*table as usize];
                members.named.iter().for_each(|entry| found.add_name(entry.0));
                members.patterns.iter().for_each(|entry| found.add_pattern(entry.0));
            }
            Leaf::Required(name) => found.required.push(*name),
            Leaf::Names(schema) if !found.schemas.contains(schema) => found.schemas.push(*schema),
            Leaf::UnseenMembers { table, conditions } => {
                for seen in &self.unseen_members[*table as usize].seen {
                    seen.names.iter().for_each(|&name| found.add_name(name));
                    seen.patterns.iter().for_each(|&pattern| found.add_pattern(pattern));
                }
                conditions.iter().for_each(|&part| self.collect(part, found));
            }
            _ => {}
        }
    }

    /// What the formulas need to know about a mentioned name.
    fn facts(&mut self, name: NameId, patterns: &[u32], schemas: &[ExprId]) -> NameFacts {
        let bytes = Arc::clone(self.name(name));
        NameFacts {
            id: Some(name),
            patterns: patterns.iter().map(|&id| (id, self.patterns[id as usize].matches(&bytes))).collect(),
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
        self.plans.insert(id.idx, Arc::clone(&plan));
        plan
    }

    fn make_plan(&mut self, id: Id<Object>) -> Plan {
        let object = Arc::clone(self.objects.get(id));
        let goals = Arc::clone(self.goals.get(object.goals));
        let mentioned = self.graph.mentioned(&goals);
        let order = Arc::clone(self.orders.get(object.order));
        let mut plan = Plan {
            names: Vec::new(),
            others: None,
            patterns: mentioned.patterns,
            schemas: mentioned.schemas,
        };
        for (place, &name) in order.iter().enumerate() {
            let place = place as u32;
            let offered = self.is_due(&object, place) && {
                let facts = self.facts_of(&object, &plan, name, place);
                self.next_member(&object, Some(place), &facts).is_some()
            };
            plan.names.push(Candidate { bytes: Arc::clone(self.graph.name(name)), id: name, place, offered });
        }
        plan.names.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        let mut others: Vec<_> =
            plan.patterns.iter().map(|&pattern| self.graph.pattern_leaf(pattern)).collect();
        others.extend(plan.schemas.iter().map(|&schema| self.graph.open(schema, super::leaf::Kind::Text)));
        if self.others_alive(id, &plan, &others) {
            plan.others = Some(others);
        }
        plan
    }

    fn is_due(&self, object: &Object, place: u32) -> bool {
        match self.policy.order {
            MemberOrder::Schema => place >= object.cursor,
            MemberOrder::Any => object.seen[place as usize / 64] >> (place % 64) & 1 == 0,
        }
    }

    /// What the formulas need to know about the mentioned name at `place`.
    pub(super) fn facts_of(&mut self, object: &Object, plan: &Plan, name: NameId, place: u32) -> NameFacts {
        let passed = self.passed(object, Some(place));
        NameFacts { passed, ..self.graph.facts(name, &plan.patterns, &plan.schemas) }
    }

    /// What the formulas need to know about a name that none of them mentions and that ends here.
    pub(super) fn facts_of_other(&mut self, object: &Object, plan: &Plan, others: &[ExprId]) -> NameFacts {
        let passed = self.passed(object, None);
        let ends: Vec<_> = others.iter().map(|&id| self.graph.text_ends(id)).collect();
        let (patterns, schemas) = ends.split_at(plan.patterns.len());
        NameFacts {
            id: None,
            patterns: plan.patterns.iter().copied().zip(patterns.iter().copied()).collect(),
            names: plan.schemas.iter().copied().zip(schemas.iter().copied()).collect(),
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
            let facts = self.facts_of_other(object, plan, &others);
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

    /// Whether a schema of names can no longer be met. Patterns that can no longer match only mean other members.
    pub(super) fn names_dead(&mut self, plan: &Plan, others: &[ExprId]) -> bool {
        let schemas = &others[plan.patterns.len()..];
        schemas.iter().any(|&id| id == FALSE || (id != TRUE && !self.graph.text_alive(id)))
    }
}
