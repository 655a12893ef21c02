//! `type`, `enum` and `const`.

use std::sync::Arc;

use serde_json::Value;

use super::Compiler;
use super::budget::Cost;
use crate::decode::constraint::decimal::Decimal;
use crate::decode::constraint::expr::{ExprId, FALSE};
use crate::decode::constraint::leaf::{Kind, Kinds, Leaf};
use crate::decode::constraint::number::NumberSet;
use crate::decode::constraint::tables::{Items, Members};

impl<'s> Compiler<'s> {
    pub(super) fn types(&mut self, value: &'s Value) -> ExprId {
        let names: Vec<&Value> = match value {
            Value::Array(names) => names.iter().collect(),
            name => vec![name],
        };
        let mut parts = Vec::new();
        for name in names {
            let part = match name.as_str() {
                Some("null") => self.kind(Kinds::of(Kind::Null)),
                Some("boolean") => self.kind(Kinds::BOOLEAN),
                Some("number") => self.kind(Kinds::of(Kind::Number)),
                Some("string") => self.kind(Kinds::of(Kind::Text)),
                Some("array") => self.kind(Kinds::of(Kind::Array)),
                Some("object") => self.kind(Kinds::of(Kind::Object)),
                Some("integer") => {
                    let set = NumberSet { digits_only: self.draft.is_4(), ..NumberSet::integers() };
                    self.number(set)
                }
                _ => self.refuse("type", format!("{name} is not the name of a type")),
            };
            parts.push(part);
        }
        self.graph.exprs.or(&parts)
    }

    pub(super) fn values(&mut self, value: &'s Value) -> ExprId {
        match value {
            Value::Array(values) => self.one_of_values(&values.iter().collect::<Vec<_>>(), "enum"),
            _ => self.refuse("enum", "it must be a list of values"),
        }
    }

    pub(super) fn constant(&mut self, value: &'s Value) -> ExprId {
        self.one_of_values(&[value], "const")
    }

    /// "Is equal to one of the values."
    fn one_of_values(&mut self, values: &[&'s Value], keyword: &str) -> ExprId {
        let mut kinds = Kinds::NONE;
        let mut words = Vec::new();
        let mut numbers = Vec::new();
        let mut parts = Vec::new();
        if !self.spend(Cost::Listed, values.len() as u64) {
            return FALSE;
        }
        for value in values {
            match value {
                Value::Null => kinds = kinds.union(Kinds::of(Kind::Null)),
                Value::Bool(true) => kinds = kinds.union(Kinds::of(Kind::True)),
                Value::Bool(false) => kinds = kinds.union(Kinds::of(Kind::False)),
                Value::String(word) => words.push(word.as_bytes().into()),
                Value::Number(number) => match Decimal::of(number) {
                    Some(number) => numbers.push(number),
                    None => return self.refuse(keyword, format!("{number} is too large to compute with")),
                },
                Value::Array(_) | Value::Object(_) => parts.push(self.constant_once(value, keyword)),
            }
        }
        parts.push(self.kind(kinds));
        if !words.is_empty() {
            let text = self.kind(Kinds::of(Kind::Text));
            let words = self.graph.words_leaf(words);
            parts.push(self.graph.exprs.and2(text, words));
        }
        if !numbers.is_empty() {
            numbers.sort_unstable();
            numbers.dedup();
            parts.push(self.number(NumberSet { values: Some(numbers.into()), ..NumberSet::default() }));
        }
        self.graph.exprs.or(&parts)
    }

    /// "Is equal to this array or object", the same formula for the same text, so that equal branches are seen as such.
    fn constant_once(&mut self, value: &'s Value, keyword: &str) -> ExprId {
        let text = value.to_string();
        if !self.spend(Cost::Text, text.len() as u64) {
            return FALSE;
        }
        if let Some(&known) = self.constants.get(&text) {
            return known;
        }
        let id = match value {
            Value::Array(items) => self.constant_array(items, keyword),
            Value::Object(members) => self.constant_object(members, keyword),
            _ => self.one_of_values(&[value], keyword),
        };
        self.constants.insert(text, id);
        id
    }

    fn constant_array(&mut self, items: &'s [Value], keyword: &str) -> ExprId {
        let prefix: Vec<_> = items.iter().map(|item| self.one_of_values(&[item], keyword)).collect();
        let table = self.graph.items.len() as u32;
        self.graph.items.push(Items { prefix, rest: FALSE });
        let parts = [
            self.kind(Kinds::of(Kind::Array)),
            self.graph.exprs.leaf(Leaf::Items { table, index: 0 }),
            self.graph.exprs.leaf(Leaf::MinItems(items.len() as u64)),
            self.graph.exprs.leaf(Leaf::MaxItems(items.len() as u64)),
        ];
        self.graph.exprs.and(&parts)
    }

    fn constant_object(&mut self, members: &'s super::Keywords, keyword: &str) -> ExprId {
        let mut parts = vec![self.kind(Kinds::of(Kind::Object))];
        let mut named = Vec::new();
        for (name, value) in members {
            let name = self.graph.name_id(name.as_bytes());
            named.push((name, self.one_of_values(&[value], keyword)));
            parts.push(self.graph.exprs.leaf(Leaf::Required(name)));
        }
        parts.push(self.table(Members::new(named, Vec::new(), FALSE)));
        self.graph.exprs.and(&parts)
    }

    /// "Is a number of the set."
    fn number(&mut self, set: NumberSet) -> ExprId {
        let kind = self.kind(Kinds::of(Kind::Number));
        let set = self.graph.exprs.leaf(Leaf::Number(Arc::new(set)));
        self.graph.exprs.and2(kind, set)
    }

    pub(super) fn kind(&mut self, kinds: Kinds) -> ExprId {
        self.graph.exprs.leaf(Leaf::Kinds(kinds))
    }

    pub(super) fn table(&mut self, members: Members) -> ExprId {
        let table = self.graph.members.len() as u32;
        self.graph.members.push(Arc::new(members));
        self.graph.exprs.leaf(Leaf::Members { table })
    }
}
