//! Schemas made to be too much: each compiles and answers in bounded time, or is refused with the budget it would break.
//!
//! Which of the two is part of the table: budgets are counts, so the answer is the same on every machine and every day.
//! The time is generous, because debug builds and busy machines are slow; it only tells hanging from working.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nightjar::decode::constraint::{Constraint, MemberOrder, Policy, Rules};
use serde_json::{Map, Value, json};

/// Far more than any of them takes alone on a machine, which is less than a second in a release build.
const ALLOWED: Duration = Duration::from_secs(60);

/// What is expected of a schema.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// It compiles.
    Compiles,
    /// It is refused, with these words in the reason.
    Refused(&'static str),
}

use Expected::{Compiles, Refused};

fn each<T: Into<Value>>(n: usize, make: impl Fn(usize) -> T) -> Value {
    (0..n).map(|idx| make(idx).into()).collect::<Vec<Value>>().into()
}

fn map<T: Into<Value>>(n: usize, make: impl Fn(usize) -> (String, T)) -> Value {
    Value::Object((0..n).map(make).map(|(name, value)| (name, value.into())).collect())
}

/// `seed` wrapped `n` times.
fn tower(n: usize, seed: Value, wrap: impl Fn(usize, Value) -> Value) -> Value {
    (0..n).fold(seed, |inner, idx| wrap(idx, inner))
}

/// Definitions that each refer to the one before, compiled from the first to the last so that none waits for another.
fn ladder(n: usize, first: &Value, step: impl Fn(usize, Value) -> Value) -> Value {
    let reference = |idx: usize| json!({"$ref": format!("#/$defs/d{idx}")});
    let defs = map(n, |idx| {
        let schema = if idx == 0 { first.clone() } else { step(idx, reference(idx - 1)) };
        (format!("d{idx}"), schema)
    });
    let rungs = map(n, |idx| (format!("p{idx}"), reference(idx)));
    json!({"$defs": defs, "properties": rungs})
}

fn nested_repeats(levels: usize) -> String {
    (0..levels).fold("a".to_owned(), |inner, _| format!("({inner}{{1,1000}})"))
}

fn of_many_values() -> Vec<(&'static str, Value, Expected)> {
    let words = |n, salt: &str| each(n, |idx| format!("{salt}{idx}"));
    vec![
        ("100,000 words", json!({"enum": words(100_000, "word")}), Compiles),
        (
            "100,000 numbers, twice",
            json!({"allOf": [{"enum": each(100_000, |n| n)}, {"enum": each(100_000, |n| n * 2)}]}),
            Compiles,
        ),
        ("10,000 objects", json!({"enum": each(10_000, |n| json!({"n": n}))}), Compiles),
        (
            "100,000 objects",
            json!({"enum": each(100_000, |n| json!({"n": n}))}),
            Refused("parts in the formula"),
        ),
        ("300,000 words", json!({"enum": words(300_000, "w")}), Refused("listed values")),
        (
            "300,000 members that may be anything",
            json!({"properties": (0..300_000).map(|n| (format!("m{n}"), json!(true))).collect::<Map<_, _>>()}),
            Refused("listed values"),
        ),
        ("50,000 required names", json!({"type": "object", "required": words(50_000, "n")}), Compiles),
        ("100,000 required names", json!({"required": words(100_000, "n")}), Refused("parts in the formula")),
        ("two mibibytes in one word", json!({"const": "x".repeat(2 << 20)}), Compiles),
        (
            "a number of 100,000 digits",
            serde_json::from_str(&format!(r#"{{"minimum": {}}}"#, "7".repeat(100_000))).expect("a schema"),
            Refused("small enough"),
        ),
        (
            "many steps without a common multiple",
            json!({"allOf": each(1_000, |n| json!({"multipleOf": 2 * n + 10_007}))}),
            Compiles,
        ),
        ("bounds far apart", json!({"type": "number", "minimum": 1e-300, "maximum": 1e300}), Compiles),
        (
            "counts beyond all texts",
            json!({"type": "array", "contains": {"type": "string"}, "minContains": 1_000_000_000_000_u64, "maxContains": 1_000_000_000_001_u64}),
            Compiles,
        ),
    ]
}

fn of_many_schemas() -> Vec<(&'static str, Value, Expected)> {
    let small = |idx: usize| json!({"type": "string", "maxLength": idx});
    vec![
        (
            "10 MB of members",
            json!({"properties": map(95_000, |idx| (format!("a rather long name of a member, to fill the space, {idx:50}"), small(idx)))}),
            Compiles,
        ),
        (
            "more than 100,000 schemas",
            json!({"properties": map(120_000, |idx| (format!("p{idx}"), small(idx)))}),
            Refused("schemas"),
        ),
        (
            "many unused definitions",
            json!({"$defs": map(50_000, |idx| (format!("d{idx}"), small(idx))), "type": "null"}),
            Compiles,
        ),
        (
            "long names over many schemas",
            json!({"properties": {"x".repeat(1 << 20): {"properties": map(20_000, |idx| (format!("p{idx}"), json!({"$anchor": format!("a{idx}")})))}}}),
            Refused("pointers"),
        ),
        ("deep nesting", tower(150, json!({}), |_, inner| json!({"properties": {"a": inner}})), Compiles),
        (
            "deeper nesting",
            tower(250, json!({}), |_, inner| json!({"items": inner})),
            Refused("nest too deep"),
        ),
        ("a tower of not", tower(190, json!({"type": "string"}), |_, inner| json!({"not": inner})), Compiles),
        (
            "a tower of not and any",
            tower(
                190,
                json!({"maxLength": 3}),
                |idx, inner| json!({"not": {"anyOf": [inner, {"minLength": idx}]}}),
            ),
            Refused("nest too deep"),
        ),
        (
            "10,000 alternatives",
            json!({"anyOf": each(10_000, |idx| json!({"properties": {format!("p{idx}"): {"const": idx}}, "required": [format!("p{idx}")]}))}),
            Compiles,
        ),
        (
            "10,000 alternatives, exactly one",
            json!({"oneOf": each(10_000, |idx| json!({"properties": {"kind": {"const": idx}}, "required": ["kind"]}))}),
            Compiles,
        ),
        ("equal alternatives", json!({"oneOf": each(40_000, |idx| json!({"maxLength": idx / 2}))}), Compiles),
        (
            "200 alternatives in 200 parts",
            json!({"allOf": each(200, |all| json!({"anyOf": each(200, |any| json!({"properties": {format!("p{all}"): {"const": any}}, "required": [format!("q{any}")]}))}))}),
            Refused("parts in the formula"),
        ),
        (
            "a mesh of dependent schemas",
            json!({"dependentSchemas": map(300, |idx| (format!("d{idx}"), json!({"required": each(100, |other| format!("d{other}")), "properties": {format!("d{}", idx / 2): {"type": "string"}}})))}),
            Compiles,
        ),
    ]
}

fn of_many_references() -> Vec<(&'static str, Value, Expected)> {
    let mutual = map(60, |idx| {
        let refs = each(60, |other| json!({"items": {"$ref": format!("#/$defs/d{}", (idx + other) % 60)}}));
        (format!("d{idx}"), json!({"anyOf": refs}))
    });
    let twice =
        |inner: Value| json!({"anyOf": [{"not": inner.clone()}, {"allOf": [inner, {"minLength": 1}]}]});
    let unseen = |inner: Value| json!({"allOf": [inner.clone(), {"anyOf": [inner, {"minProperties": 1}]}]});
    vec![
        ("60 schemas that all contain each other", json!({"$defs": mutual, "$ref": "#/$defs/d0"}), Compiles),
        (
            "a chain of references",
            json!({"$defs": map(10_000, |idx| (format!("d{idx}"), json!({"$ref": format!("#/$defs/d{}", idx + 1)}))), "$ref": "#/$defs/d0"}),
            Refused("nest too deep"),
        ),
        (
            "formulas that double",
            ladder(60, &json!({"maxLength": 9}), |_, inner| twice(inner)),
            Refused("parts in the formula"),
        ),
        (
            "formulas that grow deep",
            ladder(
                2_000,
                &json!({"maxLength": 9}),
                |idx, inner| json!({"anyOf": [{"not": inner}, {"minLength": idx}]}),
            ),
            Refused("levels in the formula"),
        ),
        (
            "formulas that grow wide",
            ladder(
                9_000,
                &json!({"maxLength": 90_000}),
                |idx, inner| json!({"allOf": [inner, {"not": {"minLength": idx}}]}),
            ),
            Refused("parts of formulas handled"),
        ),
        (
            "objects in objects in objects",
            ladder(
                5_000,
                &json!({"type": "object"}),
                |_, inner| json!({"type": "object", "required": ["a"], "properties": {"a": inner}}),
            ),
            Compiles,
        ),
        (
            "what doubles for unevaluated members",
            json!({"allOf": [ladder(40, &json!({"properties": {"a": true}}), |_, inner| unseen(inner)), {"$ref": "#/allOf/0/$defs/d39"}], "$defs": {}, "unevaluatedProperties": false}),
            Refused(""),
        ),
        (
            "itself, twice, with unevaluated members",
            json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}], "unevaluatedProperties": false}),
            Refused(""),
        ),
    ]
}

fn of_patterns() -> Vec<(&'static str, Value, Expected)> {
    let pattern = |source: String| json!({"type": "string", "pattern": source});
    let brackets = |n: usize| "(".repeat(n) + "a" + &")".repeat(n);
    let many =
        |n: usize, source: &dyn Fn(usize) -> String| json!({"anyOf": each(n, |idx| pattern(source(idx)))});
    vec![
        ("repeats of repeats", pattern(nested_repeats(2)), Refused("automaton")),
        ("repeats of repeats of repeats", pattern(nested_repeats(6)), Refused("automaton")),
        ("a long repeat", pattern("^.{0,2000}$".to_owned()), Compiles),
        ("what a deterministic automaton doubles over", pattern("a.{100}b".to_owned()), Compiles),
        ("many groups", pattern(brackets(5_000)), Refused("nest")),
        ("many look-aheads", pattern("^".to_owned() + &"(?=a)".repeat(20_000)), Refused("look-ahead")),
        ("many open braces", pattern("{".repeat(100_000)), Compiles),
        (
            "many large patterns",
            many(200, &|idx| format!("^(x{idx}|.){{0,900}}$")),
            Refused("bytes of automata"),
        ),
        (
            "many patterns that are refused",
            many(2_000, &|idx| format!("({idx}{}){{1,1000}}", nested_repeats(2))),
            Refused("automaton"),
        ),
        ("classes of letters", many(20, &|idx| format!("^\\p{{L}}{{1,{}}}$", idx + 1)), Compiles),
        (
            "patterns of names",
            json!({"type": "object", "patternProperties": map(1_000, |idx| (format!("a{idx}"), json!({"minimum": idx})))}),
            Compiles,
        ),
        (
            "patterns of names under choice",
            json!({"type": "object", "anyOf": each(100, |idx| json!({"patternProperties": {format!("^.*{idx}.*$"): {"minimum": idx}}, "minProperties": idx}))}),
            Compiles,
        ),
    ]
}

/// Answers for a few bytes: what may come first, and what may follow some way into a text.
fn ask(rules: Rules) {
    let mut constraint = Constraint::new(Arc::new(rules));
    for text in ["", "{", "{\"p1\":", "[", "[\"", "\"aaaa", "12", "{\"a\":{\"a\":{\"a\":"] {
        let mut matcher = constraint.start();
        constraint.advance_all(&mut matcher, text.as_bytes());
        constraint.next_bytes(&mut matcher);
    }
}

fn hold(cases: Vec<(&'static str, Value, Expected)>) {
    let mut wrong = String::new();
    for (name, schema, expected) in cases {
        for order in [MemberOrder::Schema, MemberOrder::Any] {
            let started = Instant::now();
            let compiled = Rules::schema(&schema, Policy { order, ..Policy::default() });
            let compiling = started.elapsed();
            let reasons = compiled.as_ref().err().map(|unsupported| {
                unsupported.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            });
            let is_right = match (expected, &reasons) {
                (Compiles, None) => true,
                (Refused(words), Some(reasons)) => reasons.contains(words),
                _ => false,
            };
            if let Ok(rules) = compiled {
                ask(rules);
            }
            println!(
                "{:>6} + {:>6} ms  {name}",
                compiling.as_millis(),
                started.elapsed().saturating_sub(compiling).as_millis()
            );
            if !is_right || started.elapsed() > ALLOWED {
                let reasons: String = reasons.unwrap_or_default().chars().take(300).collect();
                writeln!(wrong, "{name}: {expected:?}, {:?}, {reasons}", started.elapsed())
                    .expect("a string");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn many_values() {
    hold(of_many_values());
}

#[test]
fn many_schemas() {
    hold(of_many_schemas());
}

#[test]
fn many_references() {
    hold(of_many_references());
}

#[test]
fn patterns() {
    hold(of_patterns());
}

#[test]
fn a_refusal_names_the_budget_and_how_far_it_went() {
    let schema = json!({"properties": {"a": {"enum": each(300_000, |idx| idx)}, "b": {"pattern": "\\bx"}}});
    let unsupported = Rules::schema(&schema, Policy::default()).expect_err("too many values");
    let said: Vec<_> = unsupported.iter().map(ToString::to_string).collect();
    let expected = "`a` at `/properties/a` cannot be enforced: the schema is too large: compiling it as far as this takes more than 250000 listed values and names";
    assert_eq!(said, [expected]);
}

/// The most memory this process has had, in MiB, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib >> 10)
}

/// Every byte leads this automaton to a state it was never in. A debug build has the time to fill the memory once; with
/// `TEST_BYTES=150000` the text itself becomes too much, and ends.
#[test]
fn what_is_remembered_about_a_text_is_bounded() {
    let n_bytes = std::env::var("TEST_BYTES").ok().map_or(25_000, |n| n.parse().expect("a number"));
    let schema = json!({"type": "string", "pattern": "a.{3000}b"});
    let rules = Arc::new(Rules::schema(&schema, Policy::default()).expect("a small schema"));
    let mut constraint = Constraint::new(rules);
    let mut matcher = constraint.start();
    assert!(constraint.advance(&mut matcher, b'"'));
    let mut state = 1_u32;
    let mut n_written = 0;
    for _ in 0..n_bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if !constraint.advance(&mut matcher, if state >> 31 == 0 { b'a' } else { b'c' }) {
            break;
        }
        n_written += 1;
    }
    println!("{n_written} bytes, {:?} MiB", peak_mib());
    assert!(n_written >= 25_000, "{n_written} bytes");
    assert!(n_written == n_bytes || constraint.next_bytes(&mut matcher).is_empty(), "the end is an end");
    assert!(peak_mib().is_none_or(|mib| mib < 1_500), "{:?} MiB", peak_mib());
}
