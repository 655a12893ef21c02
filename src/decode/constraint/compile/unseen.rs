//! `unevaluatedProperties` and `unevaluatedItems`: what the other keywords evaluate, and under which condition.

use serde_json::Value;

use super::budget::Cost;
use super::{Compiler, Keywords};
use crate::decode::constraint::expr::{ExprId, TRUE};
use crate::decode::constraint::leaf::Leaf;
use crate::decode::constraint::tables::{SeenItems, SeenMembers, UnseenItems, UnseenMembers};

/// What the keywords of a schema and those applied in place evaluate.
#[derive(Default)]
struct Seen {
    members: Vec<(ExprId, SeenMembers)>,
    items: Vec<(ExprId, SeenItems)>,
}

impl<'s> Compiler<'s> {
    pub(super) fn unseen_members(&mut self, keywords: &'s Keywords) -> ExprId {
        let Some(schema) = self.unseen_keyword(keywords, "unevaluatedProperties") else { return TRUE };
        let rest = self.below(&["unevaluatedProperties"], schema);
        let seen = self.seen(keywords, true);
        let (conditions, seen): (Vec<_>, Vec<_>) = seen.members.into_iter().unzip();
        let table = self.graph.unseen_members.len() as u32;
        self.graph.unseen_members.push(UnseenMembers { seen, rest });
        self.graph.exprs.leaf(Leaf::UnseenMembers { table, conditions: conditions.into() })
    }

    pub(super) fn unseen_items(&mut self, keywords: &'s Keywords) -> ExprId {
        let Some(schema) = self.unseen_keyword(keywords, "unevaluatedItems") else { return TRUE };
        let rest = self.below(&["unevaluatedItems"], schema);
        let seen = self.seen(keywords, true);
        let (conditions, seen): (Vec<_>, Vec<_>) = seen.items.into_iter().unzip();
        let table = self.graph.unseen_items.len() as u32;
        self.graph.unseen_items.push(UnseenItems { seen, rest });
        self.graph.exprs.leaf(Leaf::UnseenItems { table, index: 0, conditions: conditions.into() })
    }

    fn unseen_keyword(&self, keywords: &'s Keywords, keyword: &str) -> Option<&'s Value> {
        keywords.get(keyword).filter(|value| self.draft.has(keyword) && **value != Value::Bool(true))
    }

    fn seen(&mut self, keywords: &'s Keywords, outermost: bool) -> Seen {
        let mut seen = Seen::default();
        self.collect(keywords, TRUE, outermost, &mut seen, 0);
        seen
    }

    /// Adds what a schema evaluates when `condition` holds.
    fn collect(
        &mut self,
        keywords: &'s Keywords,
        condition: ExprId,
        outermost: bool,
        seen: &mut Seen,
        depth: usize,
    ) {
        if depth > super::MAX_DEPTH {
            self.refuse_here("schemas nest too deep");
            return;
        }
        if !self.spend(Cost::Unevaluated, 1) {
            return;
        }
        self.collect_own_members(keywords, condition, outermost, seen);
        self.collect_own_items(keywords, condition, outermost, seen);
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let reference = keywords.get(keyword).and_then(Value::as_str).filter(|_| self.draft.has(keyword));
            if let Some(target) = reference.and_then(|reference| self.target(keyword, reference)) {
                let outer = self.enter(target.base);
                self.collect_schema(target.schema, condition, seen, depth);
                self.leave(outer);
            }
        }
        for schema in list(keywords, "allOf") {
            self.collect_schema(schema, condition, seen, depth);
        }
        for keyword in ["anyOf", "oneOf"] {
            for (idx, schema) in list(keywords, keyword).iter().enumerate() {
                let branch = self.below(&[keyword, &idx.to_string()], schema);
                self.collect_when(schema, condition, branch, seen, depth);
            }
        }
        self.collect_conditional(keywords, condition, seen, depth);
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, schema) in self.map(keywords, keyword) {
                let present = self.present(name);
                self.collect_when(schema, condition, present, seen, depth);
            }
        }
    }

    fn collect_conditional(
        &mut self,
        keywords: &'s Keywords,
        condition: ExprId,
        seen: &mut Seen,
        depth: usize,
    ) {
        let Some(schema) = keywords.get("if") else { return };
        let met = self.below(&["if"], schema);
        self.collect_when(schema, condition, met, seen, depth);
        if let Some(then) = keywords.get("then") {
            self.collect_when(then, condition, met, seen, depth);
        }
        if let Some(otherwise) = keywords.get("else") {
            let unmet = self.graph.exprs.not(met);
            self.collect_when(otherwise, condition, unmet, seen, depth);
        }
    }

    fn collect_when(
        &mut self,
        schema: &'s Value,
        outer: ExprId,
        inner: ExprId,
        seen: &mut Seen,
        depth: usize,
    ) {
        let condition = self.graph.exprs.and2(outer, inner);
        self.collect_schema(schema, condition, seen, depth);
    }

    fn collect_schema(&mut self, schema: &'s Value, condition: ExprId, seen: &mut Seen, depth: usize) {
        let Value::Object(keywords) = schema else { return };
        let outer = self.resources.base_of(schema).map(|base| self.enter(base));
        self.collect(keywords, condition, false, seen, depth + 1);
        if let Some(outer) = outer {
            self.leave(outer);
        }
    }

    fn collect_own_members(
        &mut self,
        keywords: &'s Keywords,
        condition: ExprId,
        outermost: bool,
        seen: &mut Seen,
    ) {
        let unevaluated = !outermost && self.draft.has("unevaluatedProperties");
        let mut own = SeenMembers {
            all: keywords.contains_key("additionalProperties")
                || (unevaluated && keywords.contains_key("unevaluatedProperties")),
            ..SeenMembers::default()
        };
        for (name, _) in self.map(keywords, "properties") {
            own.names.push(self.graph.name_id(name.as_bytes()));
        }
        for (source, _) in self.map(keywords, "patternProperties") {
            own.patterns.extend(self.pattern_table(source));
        }
        self.spend(Cost::Unevaluated, (own.names.len() + own.patterns.len()) as u64);
        if own.all || !own.names.is_empty() || !own.patterns.is_empty() {
            seen.members.push((condition, own));
        }
    }

    fn collect_own_items(
        &mut self,
        keywords: &'s Keywords,
        condition: ExprId,
        outermost: bool,
        seen: &mut Seen,
    ) {
        let (prefix, rest) = self.list_and_rest(keywords);
        if rest.is_some() || (!outermost && keywords.contains_key("unevaluatedItems")) {
            seen.items.push((condition, SeenItems::All));
        } else if let Some(prefix) = prefix {
            seen.items.push((condition, SeenItems::Prefix(list(keywords, prefix).len() as u64)));
        }
        // Only since 2020 does `contains` evaluate what it finds.
        if let Some(schema) = keywords.get("contains").filter(|_| self.draft.has("prefixItems")) {
            let item = self.below(&["contains"], schema);
            seen.items.push((condition, SeenItems::Matching(item)));
        }
    }
}

fn list<'s>(keywords: &'s Keywords, keyword: &str) -> &'s [Value] {
    keywords.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
