//! The schema that objects are drawn under: the scenario's own, with what it leaves open closed. Judges nothing.

use serde_json::{Map, Value, json};

/// Keywords beside which nothing is closed: they say what may be there in ways of their own.
const OPENERS: [&str; 12] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "minProperties",
];

/// A schema that allows less: every property that is listed has to be there where the schema names none as required, others
/// are not allowed, and strings and arrays are not empty. Without this, a model leaves out most of what it may leave out.
/// What it allows, the schema allows.
pub(super) fn tightened(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => Value::Object(tightened_members(members)),
        other => other.clone(),
    }
}

fn tightened_members(members: &Map<String, Value>) -> Map<String, Value> {
    let mut tight: Map<String, Value> =
        members.iter().map(|(keyword, value)| (keyword.clone(), below(keyword, value))).collect();
    if OPENERS.iter().any(|opener| members.contains_key(*opener)) {
        return tight;
    }
    let mut close = |keyword: &str, value: Value| {
        tight.entry(keyword).or_insert(value);
    };
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        close("required", properties.keys().cloned().collect());
        close("additionalProperties", json!(false));
    }
    match members.get("type").and_then(Value::as_str) {
        Some("array") if !members.contains_key("maxItems") => close("minItems", json!(1)),
        Some("string")
            if !["enum", "const", "pattern", "format", "maxLength"]
                .iter()
                .any(|key| members.contains_key(*key)) =>
        {
            close("minLength", json!(1));
        }
        _ => {}
    }
    tight
}

fn below(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
            Value::Object(schemas.iter().map(|(name, schema)| (name.clone(), tightened(schema))).collect())
        }
        ("items", Value::Object(_)) => tightened(value),
        ("prefixItems" | "items", Value::Array(schemas)) => schemas.iter().map(tightened).collect(),
        _ => value.clone(),
    }
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
            "$defs": {"d": {"properties": {"x": {"enum": ["properties"]}}, "required": ["x"], "additionalProperties": false}},
            "required": ["name", "day", "things", "either"],
            "additionalProperties": false
        });
        assert_eq!(tightened(&schema), expected);
        assert_eq!(tightened(&json!(true)), json!(true));
    }
}
