//! Schemas and values made from bytes, for tests that look for surprises: any bytes make some schema and some value.

use serde_json::{Map, Value, json};

/// Bytes that decide; zeros once they are used up, which make everything short.
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
}

const NAMES: [&str; 5] = ["a", "b", "ab", "a/b", "é"];
const PATTERNS: [&str; 8] = ["^a", "b$", "^[a-c]*$", "a.b", "^(ab)+$", "[0-9]{2}", "^\\w{1,3}$", "é|^$"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
const TEXTS: [&str; 7] = ["", "a", "ab", "abb", "b1", "12", "é"];
const KEYWORDS: [&str; 35] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "unevaluatedProperties",
    "unevaluatedItems",
];

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let Some((&byte, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(byte) % n
    }

    /// Whether all bytes are used up.
    pub(crate) fn is_dry(&self) -> bool {
        self.bytes.is_empty()
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn list<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    /// A schema of draft 2020-12 with a definition that it may refer to.
    pub(crate) fn document(&mut self) -> Value {
        let mut schema = self.keywords(3);
        schema.insert("$defs".to_owned(), json!({"d": self.schema(2)}));
        Value::Object(schema)
    }

    fn schema(&mut self, depth: usize) -> Value {
        match self.below(12) {
            0 => Value::Bool(true),
            1 => Value::Bool(false),
            2 => json!({"$ref": self.pick(&["#", "#/$defs/d"])}),
            _ if depth == 0 => json!({"type": self.pick(&TYPES)}),
            _ => Value::Object(self.keywords(depth - 1)),
        }
    }

    fn keywords(&mut self, depth: usize) -> Map<String, Value> {
        let mut schema = Map::new();
        for _ in 0..=self.below(4) {
            let keyword = self.pick(&KEYWORDS);
            let value = self.keyword(keyword, depth);
            schema.insert(keyword.to_owned(), value);
            if keyword == "if" {
                schema.insert("then".to_owned(), self.schema(depth));
                schema.insert("else".to_owned(), self.schema(depth));
            }
        }
        schema
    }

    fn keyword(&mut self, keyword: &str, depth: usize) -> Value {
        match keyword {
            "type" => {
                let types = [self.pick(&TYPES), self.pick(&TYPES)];
                if types[0] == types[1] { json!(types[0]) } else { json!(types) }
            }
            "enum" => {
                let mut values = vec![self.value(1)];
                for _ in 0..self.below(3) {
                    let value = self.value(1);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Value::Array(values)
            }
            "const" => self.value(2),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => self.number(),
            "multipleOf" => self.pick(&[json!(1), json!(2), json!(3), json!(5)]),
            "pattern" => json!(self.pick(&PATTERNS)),
            "uniqueItems" => Value::Bool(true),
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
                let mut schemas = vec![self.schema(depth)];
                schemas.extend(self.list(2, |source| source.schema(depth)));
                Value::Array(schemas)
            }
            "properties" | "dependentSchemas" => self.map(&NAMES, |source| source.schema(depth)),
            "patternProperties" => self.map(&PATTERNS, |source| source.schema(depth)),
            "dependentRequired" => self.map(&NAMES, |source| json!([source.pick(&NAMES)])),
            "required" => json!([self.pick(&NAMES)]),
            _ if keyword.starts_with("min") || keyword.starts_with("max") => json!(self.below(4)),
            _ => self.schema(depth),
        }
    }

    fn map(&mut self, names: &[&str], mut make: impl FnMut(&mut Self) -> Value) -> Value {
        let entries = self.list(3, |source| (source.pick(names).to_owned(), make(source)));
        Value::Object(entries.into_iter().collect())
    }

    fn number(&mut self) -> Value {
        self.pick(&[json!(0), json!(1), json!(-1), json!(2.5), json!(3), json!(10), json!(-7), json!(12)])
    }

    /// A value that nests so deep at most.
    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => Value::Bool(true),
            2 => Value::Bool(false),
            3 => self.number(),
            4 | 5 => json!(self.pick(&TEXTS)),
            6 | 7 => Value::Array(self.list(3, |source| source.value(depth - 1))),
            _ => self.map(&NAMES, |source| source.value(depth - 1)),
        }
    }
}
