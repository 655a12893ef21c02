//! Outputs by the row: what is found in them, and as what.

use super::*;
use crate::parse::MAX_DEPTH;
use serde_json::json;

fn object_rules() -> AnswerRules {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    AnswerRules::new(&schema).expect("a plain schema")
}

/// The outcome in one line: `clean {"n":1} true`, or `failed empty`.
fn told(output: &str, rules: &AnswerRules, cut_off: bool) -> String {
    let parsed = answer(output, rules, cut_off);
    match parsed.found() {
        Ok(Found { value, schema_valid: Some(valid) }) => format!("{} {value} {valid}", parsed.outcome()),
        Ok(Found { value, schema_valid: None }) => format!("{} {value}", parsed.outcome()),
        Err(failure) => format!("{} {}", parsed.outcome(), failure.as_str()),
    }
}

#[test]
fn answers_by_the_row() {
    let rows = [
        ("\u{feff} \n{\"n\":1}\u{a0}", r#"clean {"n":1} true"#),
        (" \u{feff}", "failed empty"),
        // Clean is about the text, not about the schema.
        (r#"{"n":"1"}"#, r#"clean {"n":"1"} false"#),
        (r#"{"n":"1","n":1}"#, r#"clean {"n":"1","n":1} true"#),
        ("null", "failed wrong_root"),
        ("[{\"n\":1}]", "failed wrong_root"),
        // Not one JSON text any more, so the object inside is found.
        ("[{\"n\":1}].", r#"extracted {"n":1} true"#),
        ("{\"n\":1}{\"n\":2}", r#"extracted {"n":2} true"#),
        ("{\"n\":1} {\"n\":\"x\"}", r#"extracted {"n":1} true"#),
        ("{\"n\":1} {\"n\":2} {\"n\":\"x\"}", r#"extracted {"n":2} true"#),
        ("{\"n\":\"x\"} {\"n\":\"y\"}", r#"extracted {"n":"y"} false"#),
        ("{\"n\":1} then {\"n\":", r#"extracted {"n":1} true"#),
        ("{\"a\":{\"n\":1},}", r#"extracted {"n":1} true"#),
        ("{\"a\":{\"n\":1}", "failed unparsable"),
        ("{\"n\":1 // one\n}", "failed unparsable"),
        ("{'n': 1}", "failed unparsable"),
        // Reasoning
        ("<think>x</think>", "failed empty"),
        ("<think>x</think> \u{feff} ", "failed empty"),
        ("<think>{\"n\":1}</think>[1]", "failed wrong_root"),
        ("<think>a</think>{\"n\":1}<think>b</think>{\"n\":2}", r#"clean {"n":2} true"#),
        ("<think>a</think><think>b {\"n\":2}", "failed empty"),
        (" \n<think>never ends", "failed empty"),
        ("Well, <think>{\"n\":1} is it", "failed empty"),
        ("{\"n\":1} <think>or is it", "failed empty"),
        ("<think>a</think>{\"n\":1", "failed unparsable"),
        // A marker inside a value is part of a string.
        ("{\"n\":1,\"s\":\"<think>\"}", r#"clean {"n":1,"s":"<think>"} true"#),
        ("ok: {\"n\":1,\"s\":\"<think>\"}", r#"extracted {"n":1,"s":"<think>"} true"#),
        ("\"<think>\"", "failed wrong_root"),
    ];
    let rules = object_rules();
    for (output, expected) in rows {
        assert_eq!(told(output, &rules, false), expected, "{output:?}");
        let cut = expected.replace("unparsable", "truncated");
        assert_eq!(told(output, &rules, true), cut, "cut off: {output:?}");
    }
}

#[test]
fn arrays_other_markers_and_no_schema() {
    let mut rules = AnswerRules::new(&json!({"type": "array"})).expect("a plain schema");
    assert_eq!(told("{\"a\":[1]}", &rules, false), "failed wrong_root");
    assert_eq!(told("see [1] or [2, {}]", &rules, false), "extracted [2,{}] true");
    rules.markers = Markers { open: "[THINK]".into(), close: "[/THINK]".into() };
    assert_eq!(told("[THINK]no[/THINK][1]", &rules, false), "clean [1] true");
    assert_eq!(told("[THINK]no [1]", &rules, false), "failed empty");
    rules.markers = Markers { open: String::new(), close: String::new() };
    assert_eq!(told("<think>[1]", &rules, false), "extracted [1] true");
    assert_eq!(told("{\"x\":1} {\"y\":2}", &AnswerRules::without_schema(), false), r#"extracted {"y":2}"#);
}

#[test]
fn the_root_is_an_object_unless_the_schema_says_array() {
    let rows = [
        (json!({}), Root::Object),
        (json!(true), Root::Object),
        (json!({"type": "string"}), Root::Object),
        (json!({"type": "array"}), Root::Array),
        (json!({"type": ["array", "null"]}), Root::Array),
        (json!({"type": ["array", "object"]}), Root::Object),
        (
            json!({"$ref": "#/$defs/l", "$defs": {"l": {"$ref": "#/$defs/m"}, "m": {"type": "array"}}}),
            Root::Array,
        ),
        (json!({"$ref": "#"}), Root::Object),
        (json!({"$ref": "https://example.org/list.json"}), Root::Object),
    ];
    for (schema, root) in rows {
        assert_eq!(Root::of(&schema), root, "{schema}");
    }
}

#[test]
fn schemas_that_cannot_be_compiled_say_where() {
    let error = AnswerRules::new(&json!({"properties": {"a": {"type": "strin"}}})).unwrap_err();
    assert_eq!(error.pointer, "/properties/a/type");
    insta::assert_snapshot!(error, @r#"schema at "/properties/a/type": "strin" is not valid under any of the schemas listed in the 'anyOf' keyword"#);
    let error = AnswerRules::new(&json!({"properties": {"a": {"pattern": "("}}})).unwrap_err();
    assert_eq!(error.pointer, "/properties/a/pattern");
    let error = AnswerRules::new(&json!({"$ref": "https://example.org/list.json"})).unwrap_err();
    assert!(error.problem.starts_with("Resource 'https://example.org/list.json' is not present"), "{error}");
}

#[test]
fn validation_survives_deep_values_and_huge_numbers() {
    let recursive = json!({"$ref": "#/$defs/node", "$defs": {"node": {
        "anyOf": [{"type": "number"}, {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}}]}}});
    let rules = AnswerRules::new(&recursive).expect("a recursive schema");
    let deepest = format!("{}1{}", "{\"a\":".repeat(MAX_DEPTH), "}".repeat(MAX_DEPTH));
    let parsed = answer(&deepest, &rules, false);
    assert_eq!(parsed.found().expect("within the limit").schema_valid, Some(true));

    let rules =
        AnswerRules::new(&json!({"properties": {"n": {"type": "number", "minimum": 0}}})).expect("plain");
    for (text, valid) in [("1e400", true), ("-1e400", false), ("1e999999999", true), ("-0", true)] {
        assert_eq!(
            told(&format!("{{\"n\":{text}}}"), &rules, false),
            format!("clean {{\"n\":{text}}} {valid}")
        );
    }
}

#[test]
fn too_deep_is_no_answer_and_takes_no_time() {
    let rules = object_rules();
    for unit in ["{\"a\":", "[", "{", "{\"", "[{\"a\":[", "{\"a\":{\"n\":1},\"b\":"] {
        let endless = unit.repeat(20_000);
        assert_eq!(told(&endless, &rules, true), "failed truncated", "{unit}");
        assert_eq!(
            told(&format!("{{\"n\":1}} {endless}"), &rules, true),
            r#"extracted {"n":1} true"#,
            "{unit}"
        );
    }
}
