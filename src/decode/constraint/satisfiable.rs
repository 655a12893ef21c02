//! Whether a schema can be met at all, as far as is cheap to tell. What is not cheap to tell counts as possible.

use super::expr::{Expr, ExprId, Exprs, FALSE, TRUE};
use super::leaf::{Kind, Leaf, NameId};
use super::members::NameFacts;
use super::tables::Graph;

/// Schemas inside schemas are looked into so deep; deeper ones count as possible.
const MAX_DEPTH: usize = 100;

impl Graph {
    /// Whether some value may meet the schema. False is certain, true is not.
    pub(super) fn satisfiable(&mut self, id: ExprId) -> bool {
        if id == TRUE || id == FALSE {
            return id == TRUE;
        }
        match self.memo.satisfiable.get(&id) {
            Some(Some(known)) => return *known,
            // A schema inside itself: possible unless something else rules it out.
            Some(None) => return true,
            None if self.memo.n_open >= MAX_DEPTH => return true,
            None => {}
        }
        self.memo.satisfiable.insert(id, None);
        self.memo.n_open += 1;
        let known = Kind::EVERY.into_iter().any(|kind| {
            let opened = self.open(id, kind);
            let opened = self.propagated(opened);
            opened == TRUE || (opened != FALSE && self.satisfiable_as(opened, kind))
        });
        self.memo.n_open -= 1;
        self.memo.satisfiable.insert(id, Some(known));
        known
    }

    /// The formula with what it asks for certain put in where it is asked once more: all of `required` beside a `oneOf`
    /// of some.
    fn propagated(&mut self, id: ExprId) -> ExprId {
        let conjuncts = self.exprs.conjuncts(id);
        let is_leaf = |&part: &ExprId| matches!(self.exprs.get(part), Expr::Leaf(_));
        let (leaves, others): (Vec<_>, Vec<_>) = conjuncts.iter().copied().partition(is_leaf);
        if leaves.is_empty() || others.is_empty() {
            return id;
        }
        // Conjuncts are sorted.
        let mut put = |_: &mut Exprs, part| if leaves.binary_search(&part).is_ok() { TRUE } else { part };
        let mut all: Vec<_> = others.into_iter().map(|part| self.exprs.replace(part, &mut put)).collect();
        all.extend_from_slice(&leaves);
        self.exprs.and(&all)
    }

    fn satisfiable_as(&mut self, opened: ExprId, kind: Kind) -> bool {
        match kind {
            Kind::Null | Kind::False | Kind::True => false,
            Kind::Text => self.text_alive(opened),
            Kind::Number => !self.conjunct_leaves(opened).iter().any(|leaf| match leaf {
                Leaf::Number(set) => set.is_empty(),
                _ => false,
            }),
            Kind::Array => self.array_satisfiable(opened),
            Kind::Object => self.object_satisfiable(opened),
        }
    }

    fn array_satisfiable(&mut self, opened: ExprId) -> bool {
        let leaves = self.conjunct_leaves(opened);
        let least = leaves.iter().map(|leaf| match leaf {
            Leaf::MinItems(n) => *n,
            Leaf::Contains { min, .. } => *min,
            _ => 0,
        });
        let least = least.max().unwrap_or(0);
        let most = leaves.iter().filter_map(|leaf| match leaf {
            Leaf::MaxItems(n) => Some(*n),
            _ => None,
        });
        if most.min().is_some_and(|most| most < least) {
            return false;
        }
        leaves.iter().all(|leaf| match leaf {
            Leaf::Items { table, index } if least > 0 => {
                let items = self.items[*table as usize].clone();
                let from = *index as usize;
                let to = usize::try_from(least).unwrap_or(usize::MAX).saturating_add(from);
                let met = items.prefix.iter().skip(from).take(to - from).all(|&item| self.satisfiable(item));
                met && (to <= items.prefix.len() || self.satisfiable(items.rest))
            }
            Leaf::Contains { item, min, .. } if *min > 0 => self.satisfiable(*item),
            _ => true,
        })
    }

    fn object_satisfiable(&mut self, opened: ExprId) -> bool {
        let leaves = self.conjunct_leaves(opened);
        let required: Vec<NameId> = leaves
            .iter()
            .filter_map(|leaf| match leaf {
                Leaf::Required(name) => Some(*name),
                _ => None,
            })
            .collect();
        let least = leaves.iter().map(|leaf| match leaf {
            Leaf::MinMembers(n) => *n,
            _ => 0,
        });
        let least = least.max().unwrap_or(0).max(required.len() as u64);
        leaves.iter().all(|leaf| match leaf {
            Leaf::MaxMembers(n) => *n >= least,
            Leaf::Members { .. } | Leaf::Names(_) => {
                required.iter().all(|&name| self.member_satisfiable(leaf, name))
            }
            _ => true,
        })
    }

    fn member_satisfiable(&mut self, leaf: &Leaf, name: NameId) -> bool {
        let bytes = std::sync::Arc::clone(self.name(name));
        match leaf {
            Leaf::Members { table } => {
                let members = std::sync::Arc::clone(&self.members[*table as usize]);
                let patterns = members
                    .patterns
                    .iter()
                    .map(|&(pattern, _)| (pattern, self.pattern_matches(pattern, &bytes)))
                    .collect();
                let schema = self
                    .member_schema(*table, &NameFacts { id: Some(name), patterns, ..NameFacts::default() });
                self.satisfiable(schema)
            }
            Leaf::Names(schema) => {
                let opened = self.open(*schema, Kind::Text);
                let left = self.name_bytes(opened, &bytes);
                self.text_ends(left)
            }
            _ => true,
        }
    }

    fn conjunct_leaves(&self, id: ExprId) -> Vec<Leaf> {
        let conjuncts = self.exprs.conjuncts(id);
        let leaf = |&part: &ExprId| match self.exprs.get(part) {
            Expr::Leaf(leaf) => Some(leaf.clone()),
            _ => None,
        };
        conjuncts.iter().filter_map(leaf).collect()
    }
}
