//! What is read from files that are taken, how texts that are not are refused, and how it is said.

use serde_json::{Value, json};

use super::*;

/// A scenario file that is taken, to be broken in one spot.
pub(super) fn file() -> Value {
    json!({
        "name": "tickets",
        "description": "Support tickets",
        "schema": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}},
        "examples": [{"text": "b is x", "json": {"b": "x", "a": 1}}],
        "cases": [
            {"id": "one", "text": "b is y", "expected": {"b": "y"}},
            {"text": "b is z", "expected": {"b": "z"}}
        ]
    })
}

/// `file()` with the value at `pointer` put in place of what is there, or added to its object.
pub(super) fn with(pointer: &str, value: Value) -> Value {
    let mut file = file();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer to a member");
    match file.pointer_mut(parent).expect("the parent is there") {
        Value::Object(members) => drop(members.insert(name.to_owned(), value)),
        Value::Array(items) => items[name.parse::<usize>().expect("an index")] = value,
        _ => panic!("{parent} holds nothing"),
    }
    file
}

pub(super) fn problems(text: &str) -> Vec<String> {
    parse(text).expect_err("the file is bad").iter().map(ToString::to_string).collect()
}

fn notes_of(text: &str) -> Vec<String> {
    parse(text).expect("the file is good").notes.iter().map(ToString::to_string).collect()
}

#[test]
fn text_that_is_no_json_is_refused_with_line_and_column() {
    let table = [
        ("", "the file: this is empty"),
        ("{\"name\":\n\"a", "line 2, column 2: this is no JSON: EOF while parsing a string"),
        ("{'a': 1}", "line 1, column 2: this is no JSON: key must be a string"),
        ("{\"a\": 1,\n}", "line 2, column 1: this is no JSON: trailing comma"),
        ("{} {}", "line 1, column 4: this is no JSON: trailing characters"),
        (
            &format!("{}1{}", "[".repeat(500), "]".repeat(500)),
            "line 1, column 128: this is no JSON: recursion limit",
        ),
    ];
    for (text, expected) in table {
        let found = problems(text);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: {found:?}");
    }
}

#[test]
fn what_can_be_lived_with_is_noted() {
    let mut refused = with("/cases/1/expected", json!({"b": null, "a": "1"}));
    refused["examples"][0]["json"]["a"] = json!(1.5);
    let expected = [
        "/examples/0/json/a: the schema refuses this: 1.5 is not of type \"integer\"",
        "/cases/1/expected/b: the schema refuses this: null is not of type \"string\"",
        "/cases/1/expected/a: the schema refuses this: \"1\" is not of type \"integer\"",
    ];
    let found = notes_of(&refused.to_string());
    assert!(expected.iter().all(|note| found.iter().any(|found| found == note)), "{found:#?}");
    assert_eq!(found.len(), expected.len());

    let text = file().to_string().replace("\"name\":", "\"name\":\"first\",\"name\":");
    let text = text.replace("{\"b\":\"z\"}", "{\"b\":1,\"n\":1.50,\"b\":\"z\"}");
    let repeated = "this member is here more than once; the last one counts";
    assert_eq!(notes_of(&text), [format!("/name: {repeated}"), format!("/cases/1/expected/b: {repeated}")]);

    let long = with("/cases/0/expected", json!([{"long": "x".repeat(1000)}]));
    assert_eq!(
        notes_of(&long.to_string()),
        ["/cases/0/expected: the schema refuses this: value is not of type \"object\""]
    );
}

#[test]
fn order_and_number_text_are_kept() {
    let text = file().to_string().replace("{\"b\":\"y\"}", "{\"z\":1.50,\"a\":100000000000000000000000001}");
    let scenario = parse(&format!("\u{feff}{text}\r\n")).expect("good").scenario;
    assert_eq!(scenario.cases[0].expected.to_string(), "{\"z\":1.50,\"a\":100000000000000000000000001}");
    let members: Vec<_> = scenario.schema["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(members, ["b", "a"]);
}

#[test]
fn a_case_without_an_id_has_one_made_of_its_text() {
    let cases = parse(&file().to_string()).expect("good").scenario.cases;
    // printf 'b is z' | sha256sum
    assert_eq!((cases[0].id.as_str(), cases[1].id.as_str()), ("one", "4d2cf496c008"));
    assert!(cases[1].text_sha256().starts_with("4d2cf496c008") && cases[1].text_sha256().len() == 64);
}

#[test]
fn the_revision_is_what_can_change_a_prompt_or_a_constraint() {
    let revision = |file: Value| parse(&file.to_string()).expect("good").scenario.revision_sha256();
    let base = revision(file());
    let plain = Prompts::default().plain;
    let same = [
        with("/name", json!("other")),
        with("/description", json!("other")),
        with("/cases/0/text", json!("other")),
        with("/metrics", json!("llmstructbench")),
        with("/prompts", json!({ "plain": plain })),
    ];
    for file in same {
        assert_eq!(revision(file), base);
    }
    let pretty = serde_json::to_string_pretty(&file()).expect("JSON");
    assert_eq!(parse(&pretty).expect("good").scenario.revision_sha256(), base);
    let other = [
        with("/schema/properties", json!({"a": {"type": "integer"}, "b": {"type": "string"}})),
        with("/examples/0/text", json!("other")),
        with("/examples/0/json", json!({"b": "x", "a": 2})),
        with("/prompts", json!({"plain": "{{ text }}"})),
        with("/prompts", json!({"structured": "{{ text }}"})),
        with("/prompts", json!({"generate": "{{ json }}"})),
        with("/prompts", json!({"system": "x"})),
        with("/grammar", json!("json")),
        with("/grammar", json!("ollama-2025")),
    ];
    let mut seen = vec![base];
    for file in other {
        let revision = revision(file);
        assert!(!seen.contains(&revision));
        seen.push(revision);
    }
}

#[test]
fn case_lines_are_read_whole_or_refused_with_every_bad_line() {
    let good = "\u{feff}{\"scenario\":\"a\",\"text\":\"t\",\"expected\":{}}\r\n\n  \n{\"scenario\":\"b\",\"id\":\"x\",\"text\":\"t\",\"expected\":[1.0],\"text\":\"u\"}";
    let checked = parse_cases(good).expect("good");
    let lines: Vec<_> = checked
        .lines
        .iter()
        .map(|line| (line.line, line.scenario.as_str(), line.case.text.as_str()))
        .collect();
    assert_eq!(lines, [(1, "a", "t"), (4, "b", "u")]);
    assert_eq!(
        checked.notes[0].to_string(),
        "line 4, /text: this member is here more than once; the last one counts"
    );

    let bad = "{\"scenario\":\"a\",\"text\":\"t\",\"expected\":{}}
{\"scenario\":\"a\",\"text\":\"t\"
{\"scenario\":\"a\",\"text\":\"t\",\"expected\":{}}
{\"scenario\":\"A\",\"txt\":\"t\",\"expected\":3}
[]";
    let found: Vec<String> = parse_cases(bad).expect_err("bad").iter().map(ToString::to_string).collect();
    let expected = [
        "line 2, column 26: this is no JSON: EOF",
        "line 3: the case at line 1 has the same id",
        "line 4, /txt: unknown member `txt` (right would be: `text`)",
        "line 4, /scenario: `A` cannot be a scenario's name",
        "line 4: the member `text` is missing",
        "line 4, /expected: this is a number",
        "line 5: this is an array",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    assert!(found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)), "{found:#?}");
    assert_eq!(parse_cases("\n \n").expect_err("empty")[0].to_string().split(':').next(), Some("the file"));
}

#[test]
fn candidates_are_taken_where_they_are_verified() {
    let line = |id: &str, verified: bool| {
        json!({"scenario": "a", "id": id, "text": "t", "expected": {}, "verified": verified, "reasons": ["/x: why"]}).to_string()
    };
    let checked = parse_cases(&format!("{}\n{}\n{}", line("x", true), line("y", false), line("z", true)))
        .expect("good");
    let ids: Vec<_> = checked.lines.iter().map(|line| line.case.id.as_str()).collect();
    assert_eq!(ids, ["x", "z"]);
    insta::assert_snapshot!(checked.notes[0], @"line 2: this candidate is not verified and is left out; to take it, correct it and take `verified` away");
    let none = parse_cases(&line("x", false)).expect_err("nothing is left");
    assert!(none[0].to_string().starts_with("the file: no candidate in it is verified"), "{}", none[0]);
}

#[test]
fn an_outline_needs_no_cases() {
    let mut outline = file();
    for cases in [Some(json!([])), None] {
        let members = outline.as_object_mut().expect("an object");
        match cases {
            Some(cases) => drop(members.insert("cases".into(), cases)),
            None => drop(members.shift_remove("cases")),
        }
        assert!(parse(&outline.to_string()).is_err());
        let scenario = parse_outline(&outline.to_string()).expect("good").scenario;
        assert_eq!((scenario.cases.len(), scenario.examples.len()), (0, 1));
    }
    let bad = parse_outline(&with("/cases", json!({})).to_string()).expect_err("bad")[0].to_string();
    assert!(bad.starts_with("/cases: this is an object"), "{bad}");
    assert_eq!(parse_outline(&file().to_string()).expect("good").scenario.cases.len(), 2);
}

#[test]
fn problems_and_notes_are_written_as_plain_json() {
    let known = ["sick_leave", "support_tickets"];
    let problem = Problem::unknown_scenario(3, "suport_tickets", known);
    insta::assert_snapshot!(serde_json::to_string(&problem).expect("JSON"), @r#"{"line":3,"pointer":"/scenario","wrong":"no scenario is named `suport_tickets`","right":"`support_tickets`, or first a scenario file that is named `suport_tickets`"}"#);
    insta::assert_snapshot!(Problem::unknown_scenario(1, "loans", known), @"line 1, /scenario: no scenario is named `loans` (right would be: one of `sick_leave`, `support_tickets`, or first a scenario file that is named `loans`)");
    insta::assert_snapshot!(Problem::unknown_scenario(1, "loans", []), @"line 1, /scenario: no scenario is named `loans` (right would be: first a scenario file that is named `loans`)");
    insta::assert_snapshot!(serde_json::to_string(&Note { place: Place::file(), message: "x".into() }).expect("JSON"), @r#"{"message":"x"}"#);
    assert_eq!(Place::text(2, 9).to_string(), "line 2, column 9");
}

#[test]
fn strategies_are_the_two_axes_of_the_paper() {
    let rows = Strategy::ALL.map(|strategy| (strategy.tag(), strategy.constrained(), strategy.structured()));
    let expected = [
        ("J", Constrained::Json, false),
        ("P", Constrained::No, true),
        ("PJ", Constrained::Json, true),
        ("J+", Constrained::Schema, false),
        ("PJ+", Constrained::Schema, true),
    ];
    assert_eq!(rows, expected);
    for strategy in Strategy::ALL {
        assert_eq!(strategy.tag().parse(), Ok(strategy));
        let json = serde_json::to_string(&strategy).expect("a string");
        assert_eq!(json, format!("\"{strategy}\""));
        assert_eq!(serde_json::from_str::<Strategy>(&json).expect("a strategy"), strategy);
    }
    let message = "pj".parse::<Strategy>().expect_err("lower case").to_string();
    insta::assert_snapshot!(message, @"there is no strategy `pj`; the nearest is `PJ`, all are J, P, PJ, J+, PJ+");
    insta::assert_snapshot!("beam".parse::<Strategy>().expect_err("no such").to_string(), @"there is no strategy `beam`; all are J, P, PJ, J+, PJ+");
}

#[test]
fn the_built_in_prompts_read_well_and_pass_their_own_check() {
    let built_in = Prompts::default();
    let prompts =
        json!({"plain": built_in.plain, "structured": built_in.structured, "generate": built_in.generate});
    parse(&with("/prompts", prompts).to_string()).expect("good");

    let environment = environment();
    let example = minijinja::context! { text => "Anna is ill.", json => "{\"name\": \"Anna\"}" };
    let values = minijinja::context! { text => "Bert & Co. are ill.", json => "{\"name\": \"Bert\"}", schema => "{\"type\": \"object\"}", examples => [example] };
    let shown = |template: &str| environment.render_str(template, &values).expect("it renders");
    insta::assert_snapshot!(shown(&built_in.plain), @r"
    Extract the information from the message below as JSON. Answer with the JSON only.

    Message:
    Bert & Co. are ill.
    ");
    insta::assert_snapshot!(shown(&built_in.structured), @r#"
    Extract the information from the message at the end as JSON that follows this JSON Schema. Answer with the JSON only.

    JSON Schema:
    {"type": "object"}

    Example message:
    Anna is ill.

    Example answer:
    {"name": "Anna"}

    Message:
    Bert & Co. are ill.
    "#);
    insta::assert_snapshot!(shown(&built_in.generate), @r#"
    Write a message that a person could have sent and from which exactly the JSON at the end can be extracted. State every value; invent no others of the kind. Answer with the message only.

    JSON Schema:
    {"type": "object"}

    Example JSON:
    {"name": "Anna"}

    Example message:
    Anna is ill.

    JSON:
    {"name": "Bert"}
    "#);
}
