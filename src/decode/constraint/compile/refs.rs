//! `$ref` and its relatives. Nothing is ever fetched.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::Compiler;
use super::budget::Cost;
use crate::decode::constraint::expr::{Expr, ExprId, TRUE};
use crate::decode::constraint::shape::Shape;

impl<'s> Compiler<'s> {
    pub(super) fn reference(&mut self, keyword: &str, value: &'s Value) -> ExprId {
        let Some(reference) = value.as_str() else { return self.refuse(keyword, "it must be a string") };
        if !self.spend(Cost::Text, (self.base.len() + self.pointer.len() + reference.len()) as u64) {
            return TRUE;
        }
        let Some(target) = self.target(keyword, reference) else {
            let reason = format!("`{reference}` is not in this schema, and nothing is fetched");
            return self.refuse(keyword, reason);
        };
        let outer = self.enter(target.base);
        let pointer = std::mem::replace(&mut self.pointer, target.pointer);
        let id = self.schema(target.schema);
        self.leave(outer);
        self.pointer = pointer;
        id
    }

    /// Refuses schemas that refer to themselves without a step into the value, for they say nothing, and formulas that
    /// are too large once such references are followed.
    pub(super) fn refuse_loops(&mut self) {
        let mut shapes = FxHashMap::default();
        for id in self.graph.exprs.ids() {
            if self.is_spent {
                return;
            }
            match self.followed(id, &mut shapes) {
                None => {
                    self.refuse("$ref", "a schema refers to itself without a step into the value");
                    return;
                }
                Some(shape) => self.weigh(shape),
            }
        }
    }

    /// How large a formula is with references followed; `None` when it contains itself. What is being looked into has
    /// no shape yet.
    fn followed(&self, id: ExprId, shapes: &mut FxHashMap<ExprId, Option<Shape>>) -> Option<Shape> {
        let mut open = vec![(id, false)];
        while let Some((id, is_done)) = open.pop() {
            let parts = match self.graph.exprs.get(id) {
                Expr::Ref(node) => std::slice::from_ref(&self.graph.nodes[*node as usize]),
                expr => expr.parts(),
            };
            if is_done {
                let known = parts.iter().filter_map(|part| shapes[part]);
                let shape = Shape::around(known);
                shapes.insert(id, Some(shape));
                continue;
            }
            match shapes.get(&id) {
                Some(Some(_)) => continue,
                Some(None) => return None,
                None => shapes.insert(id, None),
            };
            open.push((id, true));
            open.extend(parts.iter().map(|&part| (part, false)));
        }
        shapes[&id]
    }
}
