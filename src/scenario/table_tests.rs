//! Tables over whole files: what is refused, where, with which words; and that the shipped schema agrees.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::tests::{file, problems, with};
use super::{Place, parse, parse_cases, schema_document};

fn without(name: &str) -> Value {
    let mut file = file();
    file.as_object_mut().expect("an object").shift_remove(name).expect("it was there");
    file
}

/// A file with this schema, and nothing that it could refuse.
fn with_schema(schema: Value) -> Value {
    with("/schema", schema)
}

/// Values of `file()` that are allowed too.
fn accepted() -> Vec<Value> {
    let prompts = json!({"plain": "{{ text|upper }}", "structured": "{% for e in examples %}{{ e.json }}{% endfor %}{{ schema }}{{ text.strip() }}",
        "generate": "{{ json }}", "system": "Be brief. {{ range(2)|length }}"});
    vec![
        file(),
        with("/$schema", json!("scenario.schema.json")),
        with("/metrics", json!("llmstructbench")),
        with("/grammar", json!("ollama-2025")),
        with("/prompts", json!({})),
        with("/prompts", prompts),
        with("/name", json!("0-a_b")),
        with("/name", json!("x".repeat(64))),
        with("/cases/0/id", json!("any id, ü")),
        with("/cases/0/expected", json!([])),
        with("/examples/0/json", json!({"a": 1.5})),
        with("/cases/0/text", json!("\u{feff}x")),
        with_schema(json!({})),
        with_schema(
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"x": {"$ref": "#"}}}),
        ),
        with_schema(
            json!({"$id": "https://a.b/c", "$ref": "c#/$defs/x", "$defs": {"x": {"$anchor": "y", "$ref": "#y"}}}),
        ),
        with_schema(
            json!({"properties": {"$ref": {"enum": [{"$ref": "https://a.b/c"}]}, "pattern": {"const": {"pattern": "("}}}}),
        ),
        with_schema(json!({"properties": {"x": {"$ref": "#/$defs/50%25~1"}}, "$defs": {"50%/": {}}})),
    ]
}

/// What is refused for its shape alone, with the problems that are found.
fn misshapen() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (json!([]), &["the file: this is an array"]),
        (without("name"), &["the file: the member `name` is missing"]),
        (without("description"), &["the file: the member `description` is missing"]),
        (without("schema"), &["the file: the member `schema` is missing"]),
        (without("examples"), &["the file: the member `examples` is missing"]),
        (without("cases"), &["the file: the member `cases` is missing"]),
        (
            with("/grammar", json!(1)),
            &[
                "/grammar: this is a number (right would be: a grammar's name, such as \"json\", for what J and PJ are held to)",
            ],
        ),
        (with("/casess", json!([])), &["/casess: unknown member `casess` (right would be: `cases`)"]),
        (
            with("/zzz", json!([])),
            &["/zzz: unknown member `zzz` (right would be: a scenario has only `name`"],
        ),
        (with("/name", json!("")), &["/name: this is blank"]),
        (with("/name", json!(7)), &["/name: this is a number"]),
        (with("/name", json!("Sick Leave")), &["/name: `Sick Leave` cannot be a scenario's name"]),
        (with("/name", json!("a.b")), &["/name: `a.b` cannot"]),
        (with("/name", json!("_a")), &["/name: `_a` cannot"]),
        (with("/name", json!("x".repeat(65))), &["/name: "]),
        (with("/description", json!(" \t")), &["/description: this is blank"]),
        (with("/description", json!("\u{feff}")), &["/description: this is blank"]),
        (with("/schema", json!(true)), &["/schema: this is a boolean"]),
        (with("/examples", json!([])), &["/examples: this is empty"]),
        (with("/examples", json!({})), &["/examples: this is an object"]),
        (with("/examples/0/json", json!("x")), &["/examples/0/json: this is a string"]),
        (with("/cases", json!([])), &["/cases: this is empty"]),
        (with("/cases/1", json!("x")), &["/cases/1: this is a string (right would be: a case: an object"]),
        (with("/cases/1/id", json!(3)), &["/cases/1/id: this is a number"]),
        (with("/cases/1/id", json!(null)), &["/cases/1/id: this is null"]),
        (with("/cases/1/text", json!("")), &["/cases/1/text: this is blank"]),
        (with("/cases/1/expected", json!(null)), &["/cases/1/expected: this is null"]),
        (with("/cases/1/ID", json!("x")), &["/cases/1/ID: unknown member `ID` (right would be: `id`)"]),
        (with("/prompts", json!([])), &["/prompts: this is an array"]),
        (
            with("/prompts", json!({"plane": "{{ text }}"})),
            &["/prompts/plane: unknown member `plane` (right would be: `plain`)"],
        ),
        (
            with("/metrics", json!("llmstructbnch")),
            &["/metrics: there are no metrics `llmstructbnch` (right would be: `llmstructbench`)"],
        ),
        (with("/metrics", json!({})), &["/metrics: this is an object"]),
        (with("/$schema", json!(1)), &["/$schema: this is a number"]),
    ]
}

/// What has the right shape and is refused for what it means: ids and templates.
fn meaningless() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (with("/cases/1/id", json!("one")), &["/cases/1: the case at /cases/0 has the same id, `one`"]),
        (
            with("/cases", json!([{"text": "t", "expected": {}}, {"text": "t", "expected": {}}])),
            &["/cases/1: the case at /cases/0"],
        ),
        (
            with("/prompts", json!({"plain": "{{ text"})),
            &["/prompts/plain: line 1 of the template: syntax error"],
        ),
        (
            with("/prompts", json!({"plain": "x\n{% if text %}"})),
            &["/prompts/plain: line 2 of the template: syntax error"],
        ),
        (with("/prompts", json!({"plain": "hello"})), &["/prompts/plain: the template never uses `text`"]),
        (
            with("/prompts", json!({"plain": "{{ text }}{{ schema }}"})),
            &["/prompts/plain: the template names `schema`"],
        ),
        (
            with("/prompts", json!({"structured": "{{ text }}{{ shema }}"})),
            &["/prompts/structured: the template names `shema` (right would be: `schema`)"],
        ),
        (
            with("/prompts", json!({"structured": "{{ text }}{{ examples[0].jsno }}"})),
            &["/prompts/structured: line 1 of the template: undefined value"],
        ),
        (
            with("/prompts", json!({"generate": "{{ json|nope }}"})),
            &["/prompts/generate: line 1 of the template: unknown filter"],
        ),
        (with("/prompts", json!({"system": "{{ text }}"})), &["/prompts/system: the template names `text`"]),
    ]
}

/// What has the right shape and is refused for what it means: schemas.
fn bad_schemas() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (
            with_schema(json!({"type": "strin"})),
            &[
                "/schema/type: this is no valid JSON Schema: \"strin\" is not valid under any of the schemas listed in the 'anyOf' keyword (right would be: `string`)",
            ],
        ),
        (
            with_schema(json!({"$schema": "https://a.b/c"})),
            &["/schema/$schema: this JSON Schema draft is not known"],
        ),
        (
            with_schema(json!({"properties": {"a/b": {"minimum": "1", "maxLength": -1}}, "required": "a"})),
            &[
                "/schema/properties/a~1b/minimum: ",
                "/schema/properties/a~1b/maxLength: ",
                "/schema/required: ",
            ],
        ),
        (
            with_schema(json!({"properties": {"a": {"pattern": "("}}, "patternProperties": {"[": {}}})),
            &["/schema/properties/a/pattern: `(` is no regular expression", "/schema/patternProperties/[: "],
        ),
        (
            with_schema(json!({"items": {"$ref": "https://a.b/c"}, "not": {"$ref": "c.json#/x"}})),
            &[
                "/schema/items/$ref: this refers to `https://a.b/c`",
                "/schema/not/$ref: this refers to `c.json#/x`",
            ],
        ),
        (
            with_schema(json!({"items": {"$ref": "#/$defs/it"}, "$defs": {"ite": {}}})),
            &["/schema/items/$ref: `#/$defs/it` leads nowhere (right would be: `#/$defs/ite`)"],
        ),
        (
            with_schema(json!({"items": {"$ref": "#nowhere"}})),
            &["/schema/items/$ref: this schema cannot be used: Anchor 'nowhere'"],
        ),
        (
            with_schema(json!({"$id": "https://a.b/c", "items": {"$ref": "c#/x"}})),
            &["/schema/items/$ref: this schema cannot be used: Pointer '/x'"],
        ),
    ]
}

#[test]
fn every_problem_of_a_file_is_found_and_has_its_place() {
    for (file, expected) in misshapen().into_iter().chain(meaningless()).chain(bad_schemas()) {
        let found = problems(&file.to_string());
        assert_eq!(found.len(), expected.len(), "{file}: {found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}\n  should start with {expected}");
        }
    }
}

#[test]
fn the_shipped_schema_agrees_with_the_parser() {
    let document = schema_document();
    let schema = jsonschema::validator_for(&document).expect("the document is a schema");
    for file in
        accepted().into_iter().chain(meaningless().into_iter().chain(bad_schemas()).map(|(file, _)| file))
    {
        assert_eq!(
            schema.iter_errors(&file).map(|error| error.to_string()).collect::<Vec<_>>(),
            [""; 0],
            "{file}"
        );
    }
    for (file, _) in misshapen() {
        assert!(!schema.is_valid(&file), "{file}");
    }
    for file in accepted() {
        parse(&file.to_string()).unwrap_or_else(|problems| panic!("{file}: {problems:?}"));
    }
}

#[test]
fn the_shipped_schema_of_case_lines_agrees_with_the_parser() {
    let mut document = schema_document();
    document["$ref"] = json!("#/$defs/case_line");
    let schema = jsonschema::validator_for(&document).expect("the document is a schema");
    let table = [
        (json!({"scenario": "a", "text": "t", "expected": {}}), true),
        (json!({"scenario": "a", "id": "x", "text": "t", "expected": []}), true),
        (json!({"scenario": "A", "text": "t", "expected": {}}), false),
        (json!({"scenario": "a", "text": "t", "expected": 1}), false),
        (json!({"scenario": "a", "text": " ", "expected": {}}), false),
        (json!({"scenario": "a", "id": 1, "text": "t", "expected": {}}), false),
        (json!({"scenario": "a", "text": "t", "expected": {}, "x": 1}), false),
        (json!({"text": "t", "expected": {}}), false),
        (json!({"scenario": "a", "text": "t", "expected": {}, "verified": true, "reasons": []}), true),
        (json!({"scenario": "a", "text": "t", "expected": {}, "verified": "yes"}), false),
        (json!({"scenario": "a", "text": "t", "expected": {}, "verified": true, "reasons": [1]}), false),
    ];
    for (line, good) in table {
        assert_eq!((schema.is_valid(&line), parse_cases(&line.to_string()).is_ok()), (good, good), "{line}");
    }
}

/// Every value below `at`.
fn places(value: &Value, at: &Place, found: &mut Vec<Place>) {
    let mut below = |at: Place, value: &Value| {
        places(value, &at, found);
        found.push(at);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| below(at.member(name), value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| below(at.item(index), item));
        }
        _ => {}
    }
}

proptest! {
    /// Whatever is put wherever: the parser ends with an answer, and what it takes the shipped schema takes.
    #[test]
    fn a_file_with_anything_anywhere_is_judged_and_the_shipped_schema_is_no_stricter(
        base in select(accepted()),
        spots in prop::collection::vec((any::<Index>(), select(vec![
            json!(null), json!(true), json!(0), json!(""), json!("a"), json!("#/a"), json!("("), json!("{{"), json!([]),
            json!({}), json!(["a"]), json!({"a": 1}), json!([{}]), json!({"text": "t", "expected": {}}),
        ])), 1..4),
    ) {
        let mut file = base;
        for (spot, value) in spots {
            let mut all = Vec::new();
            places(&file, &Place::root(None), &mut all);
            if !all.is_empty() {
                let pointer = spot.get(&all).pointer.as_deref().expect("places in files have one");
                *file.pointer_mut(pointer).expect("just found") = value;
            }
        }
        let taken = parse(&file.to_string()).is_ok();
        let schema = jsonschema::validator_for(&schema_document()).expect("a schema");
        prop_assert!(!taken || schema.is_valid(&file), "{file}");
    }
}
