//! The given test vectors (llmstructbench.md): parsing, comparing and scoring come out exactly.

use std::path::PathBuf;

use nightjar::parse::{AnswerRules, Failure, Json, answer};
use nightjar::score::{Constants, Group, compare, judge};
use serde_json::{Value, json};

const FILE: &str = "vectors/llmstructbench-open.jsonl";

fn shared() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");
    std::env::var_os("TEST_SHARED").map_or_else(|| beside.into(), PathBuf::from)
}

#[test]
fn every_vector_comes_out_exactly() {
    let path = shared().join(FILE);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return;
    }
    let text = std::fs::read_to_string(&path).expect("the vectors can be read");
    let mut n_done = [("pair", 0), ("corpus", 0), ("parse", 0)];
    let mut wrong = Vec::new();
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a vector is JSON");
        let kind = string(&vector["kind"]);
        let (expected, got) = match kind {
            "pair" => (vector["counts"].clone(), pair(&vector)),
            "corpus" => (vector["expect"].clone(), corpus(&vector)),
            "parse" => (parse_expected(&vector), parse(&vector)),
            other => panic!("unknown kind of vector: {other}"),
        };
        if !same(&expected, &got) {
            wrong.push(format!("{}\n  expected {expected}\n  got      {got}", vector["name"]));
        }
        n_done.iter_mut().filter(|(name, _)| *name == kind).for_each(|(_, n)| *n += 1);
    }
    println!("vectors: {n_done:?}, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_done.iter().all(|(_, n)| *n > 0), "every kind was there: {n_done:?}");
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}"))
}

fn read(text: &Value) -> Json {
    Json::from_text(string(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Same fields, same values, floats to 1e-9.
fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|it| same(value, it)))
        }
        (Value::Number(one), Value::Number(other)) => {
            one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| (one - other).abs() <= 1e-9)
        }
        (one, other) => one == other,
    }
}

fn pair(vector: &Value) -> Value {
    let constants = Constants::default();
    let counts = compare(&read(&vector["expected"]), &read(&vector["output"]), &constants).counts;
    let mut fields = serde_json::to_value(counts).expect("counts are plain numbers");
    let scores = json!({
        "mistakes": counts.mistakes(),
        "errors": counts.errors(),
        "flawless": counts.flawless(),
        "tp_values": counts.tp_values(&constants),
        "fp_values": counts.fp_values(),
        "f1_keys": counts.f1_keys(),
        "f1_values": counts.f1_values(&constants),
        "f1": counts.f1(&constants),
    });
    if let (Value::Object(fields), Value::Object(scores)) = (&mut fields, scores) {
        fields.remove("credit").expect("the one count that the vectors do not name");
        fields.extend(scores);
    }
    fields
}

fn corpus(vector: &Value) -> Value {
    let constants = Constants::default();
    let mut group = Group::default();
    for document in vector["documents"].as_array().expect("a corpus has documents") {
        // `null` stands for an output without an answer, as an empty one is.
        let output = document["output"].as_str().unwrap_or("");
        let parsed = answer(output, &AnswerRules::without_schema(), false);
        group.add(&judge(&read(&document["expected"]), &parsed, &constants));
    }
    json!({
        "tests": group.tests,
        "flawless": group.flawless,
        "failed": group.failed,
        "mistakes": group.counts.mistakes(),
        "errors": group.counts.errors(),
        "points": group.points(&constants),
        "f1_micro": group.f1_micro(&constants),
        "doc_micro": group.doc_micro(),
        "score": group.score(&constants),
    })
}

/// The value as text in one spelling, so that white space in the vectors does not matter.
fn parse_expected(vector: &Value) -> Value {
    let value = vector["value"].as_str().map(|_| read(&vector["value"]).to_string());
    json!({"outcome": vector["outcome"], "reason": vector["reason"], "value": value})
}

fn parse(vector: &Value) -> Value {
    let rules = AnswerRules::new(&vector["schema"]).expect("the vectors' schemas compile");
    let parsed = answer(string(&vector["output"]), &rules, vector["cut_off"] == true);
    let found = parsed.found();
    json!({
        "outcome": parsed.outcome(),
        "reason": found.err().map(Failure::as_str),
        "value": found.ok().map(|found| found.value.to_string()),
    })
}
