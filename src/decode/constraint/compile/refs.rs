//! `$ref` and its relatives. Nothing is ever fetched.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::Compiler;
use crate::decode::constraint::expr::{Expr, ExprId};

impl<'s> Compiler<'s> {
    pub(super) fn reference(&mut self, keyword: &str, value: &'s Value) -> ExprId {
        let Some(reference) = value.as_str() else { return self.refuse(keyword, "it must be a string") };
        if keyword != "$ref" && self.resources.is_dynamic(reference) {
            return self.refuse(keyword, "dynamic references that depend on the way here are not supported");
        }
        let Some(target) = self.resources.resolve(&self.base, reference) else {
            let reason = format!("`{reference}` is not in this schema, and nothing is fetched");
            return self.refuse(keyword, reason);
        };
        let base = std::mem::replace(&mut self.base, target.base);
        let pointer = std::mem::replace(&mut self.pointer, target.pointer);
        let id = self.schema(target.schema);
        self.base = base;
        self.pointer = pointer;
        id
    }

    /// Refuses schemas that refer to themselves without a step into the value: they say nothing.
    pub(super) fn refuse_loops(&mut self, root: ExprId) {
        for node in 0..self.graph.nodes.len() as u32 {
            let mut seen = FxHashSet::default();
            if self.reaches(self.graph.nodes[node as usize], node, &mut seen) {
                self.refuse("$ref", "a schema refers to itself without a step into the value");
                return;
            }
        }
        debug_assert!(!matches!(self.graph.exprs.get(root), Expr::Var(_)));
    }

    fn reaches(&self, id: ExprId, node: u32, seen: &mut FxHashSet<ExprId>) -> bool {
        if !seen.insert(id) {
            return false;
        }
        match self.graph.exprs.get(id) {
            Expr::Ref(other) => *other == node || self.reaches(self.graph.nodes[*other as usize], node, seen),
            Expr::Not(inner) => self.reaches(*inner, node, seen),
            Expr::And(parts) | Expr::Or(parts) | Expr::One(parts) => {
                parts.iter().any(|&part| self.reaches(part, node, seen))
            }
            Expr::Leaf(leaf) => leaf.conditions().iter().any(|&part| self.reaches(part, node, seen)),
            Expr::False | Expr::True | Expr::Var(_) => false,
        }
    }
}
