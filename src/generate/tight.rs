//! The schema that objects are drawn under: the scenario's own, with what it leaves open closed. Judges nothing.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Keywords beside which nothing is closed: they say what may be there in ways of their own.
const OPENERS: [&str; 16] = [
    "$ref",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
];

/// A schema that allows less: every property that is listed has to be there where the schema names none as required, others
/// are not allowed, and strings and arrays are not empty. Without this, a model leaves out most of what it may leave out.
/// What it allows, the schema allows; definitions stay as they are, and nothing is asked for that may hold itself.
pub(super) fn tightened(schema: &Value) -> Value {
    tightened_in(schema, schema)
}

fn tightened_in(schema: &Value, root: &Value) -> Value {
    match schema {
        Value::Object(members) if !OPENERS.iter().any(|opener| members.contains_key(*opener)) => {
            Value::Object(tightened_members(members, root))
        }
        other => other.clone(),
    }
}

fn tightened_members(members: &Map<String, Value>, root: &Value) -> Map<String, Value> {
    let mut tight: Map<String, Value> =
        members.iter().map(|(keyword, value)| (keyword.clone(), below(keyword, value, root))).collect();
    let mut close = |keyword: &str, value: Value| {
        tight.entry(keyword).or_insert(value);
    };
    let can_be_had = |schema: &Value| schema != &json!(false) && !recurs(schema, root, &mut Trail::default());
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        if properties.values().all(can_be_had) {
            close("required", properties.keys().cloned().collect());
        }
        close("additionalProperties", json!(false));
    }
    match members.get("type").and_then(Value::as_str) {
        Some("array")
            if !members.contains_key("maxItems")
                && ["items", "prefixItems"].iter().filter_map(|key| members.get(*key)).all(can_be_had) =>
        {
            close("minItems", json!(1));
        }
        Some("string")
            if !["pattern", "format", "maxLength"].iter().any(|key| members.contains_key(*key)) =>
        {
            close("minLength", json!(1));
        }
        _ => {}
    }
    tight
}

fn below(keyword: &str, value: &Value, root: &Value) -> Value {
    match (keyword, value) {
        ("properties", Value::Object(schemas)) => {
            let tight = schemas.iter().map(|(name, schema)| (name.clone(), tightened_in(schema, root)));
            Value::Object(tight.collect())
        }
        ("items", Value::Object(_)) => tightened_in(value, root),
        ("prefixItems" | "items", Value::Array(schemas)) => {
            schemas.iter().map(|schema| tightened_in(schema, root)).collect()
        }
        _ => value.clone(),
    }
}

/// References that are being followed, and those that led to no circle.
#[derive(Default)]
struct Trail<'s> {
    open: Vec<&'s str>,
    done: HashSet<&'s str>,
}

/// Whether references in a schema lead in a circle, or nobody knows where.
fn recurs<'s>(schema: &'s Value, root: &'s Value, trail: &mut Trail<'s>) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(keyword, value)| match (keyword.as_str(), value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                leads_in_a_circle(reference, root, trail)
            }
            _ => recurs(value, root, trail),
        }),
        Value::Array(items) => items.iter().any(|item| recurs(item, root, trail)),
        _ => false,
    }
}

fn leads_in_a_circle<'s>(reference: &'s str, root: &'s Value, trail: &mut Trail<'s>) -> bool {
    if trail.open.contains(&reference) {
        return true;
    }
    if trail.done.contains(reference) {
        return false;
    }
    let Some(target) = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) else {
        return true;
    };
    trail.open.push(reference);
    let circle = recurs(target, root, trail);
    trail.open.pop();
    trail.done.insert(reference);
    circle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_schema_leaves_open_is_closed_and_no_more() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "day": {"type": "string", "pattern": "^x$"},
                "things": {"type": "array", "items": {"properties": {"n": {"type": "integer"}}, "required": []}},
                "either": {"anyOf": [{"type": "string"}], "properties": {"a": {}}}
            },
            "$defs": {"d": {"properties": {"x": {"enum": ["properties"]}}}}
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "day": {"type": "string", "pattern": "^x$"},
                "things": {
                    "type": "array",
                    "items": {"properties": {"n": {"type": "integer"}}, "required": [], "additionalProperties": false},
                    "minItems": 1
                },
                "either": {"anyOf": [{"type": "string"}], "properties": {"a": {}}}
            },
            "$defs": {"d": {"properties": {"x": {"enum": ["properties"]}}}},
            "required": ["name", "day", "things", "either"],
            "additionalProperties": false
        });
        assert_eq!(tightened(&schema), expected);
        assert_eq!(tightened(&json!(true)), json!(true));
    }

    /// Tightened without care, each of these would allow nothing.
    #[test]
    fn what_was_possible_stays_possible() {
        let node = json!({"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}, "required": ["next"]});
        let table = [
            (json!({"properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}}}), json!({"n": 1})),
            (
                json!({"properties": {"n": {"type": "integer"}, "node": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}),
                json!({"n": 1}),
            ),
            (
                json!({"properties": {"all": {"type": "array", "items": {"$ref": "#"}}}, "required": ["all"]}),
                json!({"all": []}),
            ),
            (
                json!({
                    "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
                    "$defs": {"a": {"properties": {"a": {"type": "integer"}}}, "b": {"properties": {"b": {"type": "integer"}}}}
                }),
                json!({"a": 1, "b": 2}),
            ),
            (json!({"properties": {"a": {}, "b": {}}, "maxProperties": 1}), json!({"a": 1})),
            (json!({"properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["c"]}}), json!({"b": 1})),
            (json!({"properties": {"a": {}, "b": false}}), json!({"a": 1})),
            (json!({"properties": {"a": {"type": "string"}}, "enum": [{"a": ""}]}), json!({"a": ""})),
            (json!({"type": "array", "items": false}), json!([])),
        ];
        for (schema, value) in table {
            let tight = tightened(&schema);
            assert!(jsonschema::is_valid(&schema, &value) && jsonschema::is_valid(&tight, &value), "{tight}");
        }
    }

    #[test]
    fn references_without_a_circle_are_asked_for() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}});
        assert_eq!(tightened(&schema)["required"], json!(["a", "b"]));
    }
}
