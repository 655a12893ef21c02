//! Requirements on an object: what one more member, or the end, leaves of them.

use super::children::Children;
use super::expr::{ExprId, FALSE, TRUE};
use super::leaf::{Leaf, NameId};
use super::tables::{Graph, SeenMembers};

/// What the formulas need to know about the name of the next member.
#[derive(Clone, Debug, Default)]
pub(super) struct NameFacts {
    /// Its id, when some formula mentions the name.
    pub id: Option<NameId>,
    /// Which patterns it matches, of those the formulas mention.
    pub patterns: Vec<(u32, bool)>,
    /// Whether it meets the schemas of names that the formulas mention.
    pub names: Vec<(ExprId, bool)>,
    /// Required names that can no longer come once this one has.
    pub passed: Vec<NameId>,
}

impl NameFacts {
    fn matches(&self, pattern: u32) -> bool {
        self.patterns.iter().any(|&(id, matches)| id == pattern && matches)
    }

    fn meets(&self, names: ExprId) -> bool {
        names == TRUE || self.names.iter().any(|&(id, meets)| id == names && meets)
    }
}

impl Graph {
    /// What remains of a formula over an object when a member begins; its schemas go to `children`.
    pub(super) fn member(&mut self, id: ExprId, name: &NameFacts, children: &mut Children) -> ExprId {
        self.derive(id, &mut |graph, id, leaf| graph.leaf_member(id, leaf, name, children))
    }

    fn leaf_member(&mut self, id: ExprId, leaf: &Leaf, name: &NameFacts, children: &mut Children) -> ExprId {
        match leaf {
            Leaf::Members { table } => {
                let schema = self.member_schema(*table, name);
                let verdict = children.verdict(&mut self.exprs, schema);
                self.exprs.and2(id, verdict)
            }
            Leaf::Required(required) if name.id == Some(*required) => TRUE,
            Leaf::Required(required) if name.passed.contains(required) => FALSE,
            Leaf::MinMembers(n) => self.exprs.leaf(Leaf::MinMembers(n - 1)),
            Leaf::MaxMembers(0) => FALSE,
            Leaf::MaxMembers(n) => self.exprs.leaf(Leaf::MaxMembers(n - 1)),
            Leaf::Names(names) if !name.meets(*names) => FALSE,
            Leaf::UnseenMembers { table, conditions } => {
                let conditions: Vec<_> =
                    conditions.iter().map(|&part| self.member(part, name, children)).collect();
                let unseen = &self.unseen_members[*table as usize];
                let rest = unseen.rest;
                let covers = |seen: &SeenMembers| {
                    seen.all
                        || name.id.is_some_and(|id| seen.names.contains(&id))
                        || seen.patterns.iter().any(|&pattern| name.matches(pattern))
                };
                let mut either: Vec<_> = unseen
                    .seen
                    .iter()
                    .zip(&conditions)
                    .filter(|(seen, _)| covers(seen))
                    .map(|pair| *pair.1)
                    .collect();
                either.push(children.verdict(&mut self.exprs, rest));
                let met = self.exprs.or(&either);
                let later = self.exprs.leaf(leaf.clone().with_conditions(conditions.into()));
                self.exprs.and2(later, met)
            }
            _ => id,
        }
    }

    pub(super) fn member_schema(&mut self, table: u32, name: &NameFacts) -> ExprId {
        let members = std::sync::Arc::clone(&self.members[table as usize]);
        let mut found: Vec<_> = name.id.and_then(|id| members.named(id)).into_iter().collect();
        found.extend(members.patterns.iter().filter(|entry| name.matches(entry.0)).map(|entry| entry.1));
        if found.is_empty() {
            return members.rest;
        }
        self.exprs.and(&found)
    }

    /// What a requirement comes to when the object ends here.
    pub(super) fn members_end(leaf: &Leaf) -> bool {
        match leaf {
            Leaf::Required(_) => false,
            Leaf::MinMembers(n) => *n == 0,
            _ => true,
        }
    }
}
