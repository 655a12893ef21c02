//! What the formulas over an object mention: names, patterns, schemas of names. Decides nothing.

use rustc_hash::FxHashSet;

use super::children::Goals;
use super::expr::{Expr, ExprId};
use super::leaf::{Leaf, NameId};
use super::tables::Graph;

/// What the formulas over an object mention.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    /// In the schema's order, without duplicates.
    pub names: Vec<NameId>,
    pub patterns: Vec<u32>,
    /// Schemas of names.
    pub schemas: Vec<ExprId>,
    /// Those of them that every name has to meet, by index.
    pub binding: Vec<usize>,
    pub required: FxHashSet<NameId>,
    /// What tells about members when nothing but a conjunction of requirements is asked.
    pub simple: Option<Simple>,
    seen_names: FxHashSet<NameId>,
    /// Required names in the schema's order, while the formulas are looked through.
    only_required: Vec<NameId>,
}

/// A conjunction of requirements with at most one table of members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simple {
    pub table: Option<u32>,
    /// No more members may come.
    pub is_full: bool,
    /// The number of members matters.
    pub counts: bool,
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
        for name in std::mem::take(&mut found.only_required) {
            found.add_name(name);
        }
        for &part in self.exprs.conjuncts(goals.must).iter() {
            if let Expr::Leaf(Leaf::Names(schema)) = self.exprs.get(part) {
                found.binding.extend(found.schemas.iter().position(|known| known == schema));
            }
        }
        // Only needed while collecting, and this stays as long as the goals.
        found.seen_names = FxHashSet::default();
        found.simple = self.simple(goals).filter(|_| found.schemas.is_empty());
        found
    }

    fn simple(&self, goals: &Goals) -> Option<Simple> {
        let mut simple = Simple { table: None, is_full: false, counts: false };
        if !goals.options.is_empty() {
            return None;
        }
        for &part in self.exprs.conjuncts(goals.must).iter() {
            match self.exprs.get(part) {
                Expr::Leaf(Leaf::Members { table }) if simple.table.is_none() => simple.table = Some(*table),
                Expr::Leaf(Leaf::MaxMembers(n)) => {
                    simple.is_full |= *n == 0;
                    simple.counts = true;
                }
                Expr::Leaf(Leaf::MinMembers(_)) => simple.counts = true,
                Expr::Leaf(Leaf::Required(_)) => {}
                _ => return None,
            }
        }
        Some(simple)
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
            Leaf::Required(name) if found.required.insert(*name) => found.only_required.push(*name),
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
}
