//! `items`, `prefixItems`, `additionalItems`, `contains` and `uniqueItems`.

use serde_json::Value;

use super::{Compiler, Keywords};
use crate::decode::constraint::expr::{ExprId, FALSE, TRUE};
use crate::decode::constraint::leaf::Leaf;
use crate::decode::constraint::tables::Items;

const GROUP: [&str; 3] = ["prefixItems", "items", "additionalItems"];

/// Listed values are counted one by one up to so many; beyond that items are compared.
const MOST_VALUES: usize = 16;

impl<'s> Compiler<'s> {
    /// The three keywords together, compiled at the first of them.
    pub(super) fn items(&mut self, keywords: &'s Keywords, keyword: &str) -> ExprId {
        let known = |name: &str| self.draft.has(name) && keywords.contains_key(name);
        if GROUP.into_iter().find(|name| known(name)) != Some(keyword) {
            return TRUE;
        }
        let (list, rest) = self.list_and_rest(keywords);
        let mut prefix = Vec::new();
        if let Some(list) = list {
            let Value::Array(schemas) = &keywords[list] else {
                return self.refuse(list, "it must be a list of schemas");
            };
            for (idx, schema) in schemas.iter().enumerate() {
                prefix.push(self.below(&[list, &idx.to_string()], schema));
            }
        }
        let rest = rest.map_or(TRUE, |rest| self.below(&[rest], &keywords[rest]));
        if rest == TRUE && prefix.iter().all(|&schema| schema == TRUE) {
            return TRUE;
        }
        let table = self.graph.items.len() as u32;
        self.graph.items.push(Items { prefix, rest });
        self.graph.exprs.leaf(Leaf::Items { table, index: 0 })
    }

    /// Which keyword gives the first items one by one, and which all after them.
    pub(super) fn list_and_rest(
        &self,
        keywords: &'s Keywords,
    ) -> (Option<&'static str>, Option<&'static str>) {
        let present =
            |name: &'static str| (self.draft.has(name) && keywords.contains_key(name)).then_some(name);
        if self.draft.items_may_be_list() && keywords.get("items").is_some_and(Value::is_array) {
            return (Some("items"), present("additionalItems"));
        }
        (present("prefixItems"), present("items"))
    }

    pub(super) fn contains(&mut self, keywords: &'s Keywords, value: &'s Value) -> ExprId {
        let item = self.below(&["contains"], value);
        let min = self.optional_count(keywords, "minContains").unwrap_or(1);
        let max = self.optional_count(keywords, "maxContains");
        if max.is_some_and(|max| max < min) {
            // No array can do, but everything else still may.
            let none = self.graph.exprs.leaf(Leaf::MaxItems(0));
            let some = self.graph.exprs.leaf(Leaf::MinItems(1));
            return self.graph.exprs.and2(none, some);
        }
        if item == FALSE {
            return self.graph.exprs.leaf(Leaf::Contains { item, min, max });
        }
        if min == 0 && max.is_none() {
            return TRUE;
        }
        self.graph.exprs.leaf(Leaf::Contains { item, min, max })
    }

    fn optional_count(&mut self, keywords: &'s Keywords, keyword: &'static str) -> Option<u64> {
        let value = keywords.get(keyword).filter(|_| self.draft.has(keyword))?;
        self.whole(keyword, value)
    }

    pub(super) fn unique(&mut self, keywords: &'s Keywords, value: &'s Value) -> ExprId {
        match value {
            Value::Bool(true) => match self.few_values(keywords) {
                Some(values) => self.each_once(values),
                None => self.graph.exprs.leaf(Leaf::Unique),
            },
            Value::Bool(false) => TRUE,
            _ => self.refuse("uniqueItems", "it must be true or false"),
        }
    }

    /// The values that all items are among, when they are listed and few.
    fn few_values(&self, keywords: &'s Keywords) -> Option<&'s [Value]> {
        let (None, Some(items)) = self.list_and_rest(keywords) else { return None };
        let schema = keywords.get(items)?;
        let is_alone = !(self.draft.ref_stands_alone() && schema.get("$ref").is_some());
        let values = schema.get("enum")?.as_array()?;
        (is_alone && values.len() <= MOST_VALUES).then_some(values)
    }

    /// "None of the values comes twice." Unlike a comparison at the end of an item this never offers a used value.
    fn each_once(&mut self, values: &'s [Value]) -> ExprId {
        let mut parts = Vec::with_capacity(values.len());
        for value in values {
            let item = self.constant(value);
            parts.push(self.graph.exprs.leaf(Leaf::Contains { item, min: 0, max: Some(1) }));
        }
        self.graph.exprs.and(&parts)
    }
}
