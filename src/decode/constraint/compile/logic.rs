//! `allOf`, `anyOf`, `oneOf`, `if`/`then`/`else`.

use serde_json::Value;

use super::{Compiler, Keywords};
use crate::decode::constraint::expr::{ExprId, TRUE};

impl<'s> Compiler<'s> {
    pub(super) fn combination(&mut self, keyword: &str, value: &'s Value) -> ExprId {
        let Value::Array(schemas) = value else {
            return self.refuse(keyword, "it must be a list of schemas");
        };
        if schemas.is_empty() {
            return self.refuse(keyword, "the list must not be empty");
        }
        let mut parts = Vec::with_capacity(schemas.len());
        for (idx, schema) in schemas.iter().enumerate() {
            parts.push(self.below(&[keyword, &idx.to_string()], schema));
        }
        match keyword {
            "allOf" => self.graph.exprs.and(&parts),
            "anyOf" => self.graph.exprs.or(&parts),
            _ => self.graph.exprs.one(&parts),
        }
    }

    pub(super) fn conditional(&mut self, keywords: &'s Keywords, value: &'s Value) -> ExprId {
        let condition = self.below(&["if"], value);
        let then = keywords.get("then").map_or(TRUE, |schema| self.below(&["then"], schema));
        let otherwise = keywords.get("else").map_or(TRUE, |schema| self.below(&["else"], schema));
        let not = self.graph.exprs.not(condition);
        let met = self.graph.exprs.or(&[not, then]);
        let unmet = self.graph.exprs.or(&[condition, otherwise]);
        self.graph.exprs.and2(met, unmet)
    }
}
