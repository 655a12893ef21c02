//! `properties`, `patternProperties`, `additionalProperties`, `required`, `propertyNames` and dependencies.

use serde_json::Value;

use super::budget::Cost;
use super::{Compiler, Keywords};
use crate::decode::constraint::expr::{ExprId, TRUE};
use crate::decode::constraint::leaf::{Leaf, NameId};
use crate::decode::constraint::tables::Members;

const GROUP: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];

impl<'s> Compiler<'s> {
    /// The three keywords together, compiled at the first of them.
    pub(super) fn members(&mut self, keywords: &'s Keywords, keyword: &str) -> ExprId {
        if GROUP.into_iter().find(|name| keywords.contains_key(*name)) != Some(keyword) {
            return TRUE;
        }
        let named = self.named_members(keywords);
        let patterns = self.pattern_members(keywords);
        let rest = keywords.get(GROUP[2]).map_or(TRUE, |schema| self.below(&[GROUP[2]], schema));
        if rest == TRUE
            && named.iter().all(|entry| entry.1 == TRUE)
            && patterns.iter().all(|entry| entry.1 == TRUE)
        {
            return self.only_order(&named);
        }
        self.table(Members::new(named, patterns, rest))
    }

    /// Members without any requirement still tell the order of names.
    fn only_order(&mut self, named: &[(NameId, ExprId)]) -> ExprId {
        if named.is_empty() {
            return TRUE;
        }
        self.table(Members::new(named.to_vec(), Vec::new(), TRUE))
    }

    fn named_members(&mut self, keywords: &'s Keywords) -> Vec<(NameId, ExprId)> {
        let mut named = Vec::new();
        for (name, schema) in self.map(keywords, GROUP[0]) {
            let id = self.graph.name_id(name.as_bytes());
            named.push((id, self.below(&[GROUP[0], name], schema)));
        }
        named
    }

    fn pattern_members(&mut self, keywords: &'s Keywords) -> Vec<(u32, ExprId)> {
        let mut patterns = Vec::new();
        for (source, schema) in self.map(keywords, GROUP[1]) {
            let schema = self.below(&[GROUP[1], source], schema);
            match self.pattern_table(source) {
                Ok(pattern) => patterns.push((pattern, schema)),
                Err(reason) => {
                    self.at(&[GROUP[1]], |compiler| compiler.refuse(source, reason));
                }
            }
        }
        patterns
    }

    /// A keyword whose value maps names to schemas.
    pub(super) fn map(&mut self, keywords: &'s Keywords, keyword: &str) -> Vec<(&'s str, &'s Value)> {
        match keywords.get(keyword) {
            Some(Value::Object(map)) if self.spend(Cost::Listed, map.len() as u64) => {
                map.iter().map(|(name, schema)| (name.as_str(), schema)).collect()
            }
            Some(Value::Object(_)) | None => Vec::new(),
            Some(_) => {
                self.refuse(keyword, "it must be an object");
                Vec::new()
            }
        }
    }

    pub(super) fn required(&mut self, value: &'s Value) -> ExprId {
        // Draft 3 had a flag here; later drafts have no meaning for it.
        if value.is_boolean() {
            return self.refuse("required", "it must be a list of names");
        }
        self.all_required("required", value)
    }

    fn all_required(&mut self, keyword: &str, value: &'s Value) -> ExprId {
        let names: Option<Vec<&str>> =
            value.as_array().and_then(|names| names.iter().map(Value::as_str).collect());
        let Some(names) = names else { return self.refuse(keyword, "it must be a list of names") };
        if !self.spend(Cost::Listed, names.len() as u64) {
            return TRUE;
        }
        let mut parts = Vec::new();
        for name in names {
            parts.push(self.present(name));
        }
        self.graph.exprs.and(&parts)
    }

    /// "Has a member of this name." Holds for all values that are no objects.
    pub(super) fn present(&mut self, name: &str) -> ExprId {
        let name = self.graph.name_id(name.as_bytes());
        self.graph.exprs.leaf(Leaf::Required(name))
    }

    pub(super) fn names(&mut self, schema: ExprId) -> ExprId {
        if schema == TRUE {
            return TRUE;
        }
        self.graph.exprs.leaf(Leaf::Names(schema))
    }

    pub(super) fn dependencies(&mut self, keyword: &'s str, value: &'s Value) -> ExprId {
        let Value::Object(map) = value else { return self.refuse(keyword, "it must be an object") };
        let mut parts = Vec::new();
        for (name, asked) in map {
            let asked = match (keyword, asked) {
                ("dependentRequired", _) | ("dependencies", Value::Array(_)) => {
                    self.at(&[keyword], |compiler| compiler.all_required(name, asked))
                }
                _ => self.below(&[keyword, name], asked),
            };
            let absent = self.absent(name);
            parts.push(self.graph.exprs.or(&[absent, asked]));
        }
        self.graph.exprs.and(&parts)
    }

    /// "Has no member of this name." Holds for all values that are no objects.
    fn absent(&mut self, name: &str) -> ExprId {
        use crate::decode::constraint::leaf::{Kind, Kinds};
        let present = self.present(name);
        let absent = self.graph.exprs.not(present);
        let other = self.kind(Kinds::of(Kind::Object).complement());
        self.graph.exprs.or(&[absent, other])
    }
}
