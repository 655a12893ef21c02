//! Comparison against a second implementation that shares nothing with the walk, and its identities.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::parse::MAX_DEPTH;
use proptest::prelude::*;

fn json(text: &str) -> Json {
    Json::from_text(text).expect("test text reads")
}

fn compared(expected: &Json, got: &Json) -> Comparison {
    compare(expected, got, &Constants::default())
}

#[test]
fn findings_by_the_row() {
    let rows: &[(&str, &str, &[&str])] = &[
        (r#"{"a":{"b":1,"c":[2]}}"#, "{}", &["missing_key /a", "missing_key /a/b", "missing_key /a/c"]),
        (r#"{"a":[1,[2,{"x":3}]]}"#, r#"{"a":[1]}"#, &["missing_value /a/1/0", "missing_key /a/1/1/x"]),
        (
            r#"{"a":[1,[2,{"x":3}]]}"#,
            r#"{"a":null}"#,
            &["missing_value /a/0", "missing_value /a/1/0", "missing_key /a/1/1/x"],
        ),
        (r#"{"a":[1]}"#, r#"{"a":{"0":1}}"#, &["structure_error /a", "missing_value /a/0"]),
        (
            r#"{"a":[]}"#,
            r#"{"a":[[2,{"x":[3]}],null]}"#,
            &["extra_item /a/0/0", "extra_key /a/0/1/x", "extra_item /a/1"],
        ),
        ("[1]", "[1,[],{}]", &[]),
        ("[[],{}]", "[null,null]", &[]),
        ("[[],{}]", "[{},[]]", &["structure_error /0", "structure_error /1"]),
        ("[[1]]", "[]", &["missing_value /0/0"]),
        (r#"{"a":null}"#, r#"{"a":{"b":1,"b":2}}"#, &["type_error /a"]),
        (r#"{"a":null}"#, r#"{"a":[]}"#, &["type_error /a"]),
        (r#"{"a":"null"}"#, r#"{"a":null}"#, &["missing_value /a"]),
        (r#"{"a":null}"#, r#"{"a":"null"}"#, &["coercible /a"]),
        (r#"{"a":false}"#, r#"{"a":0}"#, &["type_error /a"]),
        (r#"{"a":1}"#, r#"{"a":{"b":1},"a":1.0}"#, &["extra_key /a"]),
        (r#"{"a":1,"a":{"z":2}}"#, r#"{"a":{"z":2}}"#, &[]),
        (
            r#"{"a":1}"#,
            r#"{"b":{"c":{"d":1},"c":2},"b":{"c":{"d":1},"c":2}}"#,
            &["missing_key /a", "extra_key /b", "extra_key /b", "extra_key /b/c", "extra_key /b/c"],
        ),
        (r#"{"a/b":{"~":1}}"#, r#"{"a/b":{"~":2}}"#, &["value_error /a~1b/~0"]),
        (r#""x""#, r#""y""#, &["value_deviation "]),
    ];
    for (expected, got, told) in rows {
        let Comparison { findings, counts } = compared(&json(expected), &json(got));
        let lines: Vec<String> = findings.iter().map(|f| format!("{} {}", f.kind.as_str(), f.path)).collect();
        assert_eq!(&lines, told, "{expected} {got}");
        assert_eq!(counts.flawless(), told.is_empty(), "{expected} {got}");
    }
}

#[test]
fn coercion_by_the_row() {
    let rows = [
        ("42", r#""42""#, true),
        ("42.0", r#""42""#, true),
        ("42.0", r#""42.0""#, false),
        ("42", r#""042""#, false),
        ("42", r#"" 42""#, false),
        ("1e2", r#""100""#, true),
        ("1e2", r#""1e2""#, false),
        ("0.50", r#""0.5""#, true),
        ("-0", r#""0""#, true),
        ("123456789012345678901234567890", r#""123456789012345678901234567890""#, true),
        ("true", r#""true""#, true),
        ("true", r#""True""#, false),
        ("false", r#""true""#, false),
    ];
    for (scalar, text, coercible) in rows {
        for (expected, got) in [(scalar, text), (text, scalar)] {
            let counts = compared(&json(expected), &json(got)).counts;
            assert_eq!(
                (counts.coercible, counts.type_errors),
                (coercible.into(), (!coercible).into()),
                "{expected} {got}"
            );
        }
    }
}

#[test]
fn findings_show_both_sides_and_cut_what_is_endless() {
    let long = "x".repeat(2 * MAX_EXCERPT);
    let findings = compared(&json(r#"{"a":"é"}"#), &json(&format!(r#"{{"a":"{long}"}}"#))).findings;
    assert_eq!(findings[0].expected.as_deref(), Some("\"é\""));
    let got = findings[0].got.as_deref().expect("there was output");
    assert!(got.chars().count() == MAX_EXCERPT + 1 && got.starts_with("\"xxx") && got.ends_with('…'));
}

#[test]
fn the_deepest_values_compare() {
    let deepest = json(&format!("{}1{}", "{\"a\":".repeat(MAX_DEPTH), "}".repeat(MAX_DEPTH)));
    let empty = json("{}");
    assert!(compared(&deepest, &deepest).counts.flawless());
    assert_eq!(compared(&deepest, &empty).counts.missing_keys, MAX_DEPTH as u64);
    assert_eq!(compared(&empty, &deepest).counts.extra_keys, MAX_DEPTH as u64);
}

/// One step of a path, member or element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Name(String),
    Index(usize),
}

type Paths<'a> = BTreeMap<Vec<Step>, &'a Json>;

/// Every value by its path, the root included.
fn flatten(value: &Json) -> Paths<'_> {
    let mut all = Paths::new();
    let mut open = vec![(Vec::new(), value)];
    while let Some((path, value)) = open.pop() {
        let step = |step: Step| path.iter().cloned().chain([step]).collect::<Vec<_>>();
        match value {
            Json::Object(members) => {
                open.extend(members.iter().map(|(n, v)| (step(Step::Name(n.clone())), v)));
            }
            Json::Array(elements) => {
                open.extend(elements.iter().enumerate().map(|(i, v)| (step(Step::Index(i)), v)));
            }
            _ => {}
        }
        all.insert(path, value);
    }
    all
}

fn is_leaf(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

fn is_key(path: &[Step]) -> bool {
    matches!(path.last(), Some(Step::Name(_)))
}

/// Whether every container above the path is of the same kind on both sides.
fn reached(path: &[Step], here: &Paths, there: &Paths) -> bool {
    (0..path.len()).all(|n| {
        let both = (here.get(&path[..n]), there.get(&path[..n]));
        matches!(
            both,
            (Some(Json::Object(_)), Some(Json::Object(_))) | (Some(Json::Array(_)), Some(Json::Array(_)))
        )
    })
}

/// The spec's table again, by sets of paths instead of a walk. Knows nothing of repeated names.
fn naive(expected: &Json, got: &Json) -> Counts {
    let (wanted, given) = (flatten(expected), flatten(got));
    let mut counts = Counts::default();
    let both: BTreeSet<&Vec<Step>> =
        wanted.keys().filter(|path| given.contains_key(*path) && reached(path, &wanted, &given)).collect();
    // A leaf is covered when the last name on its way is on one side only.
    let covered = |path: &[Step]| {
        let key = (0..=path.len()).rev().map(|n| &path[..n]).find(|way| is_key(way));
        key.is_some_and(|key| !both.contains(&key.to_vec()))
    };
    for (path, value) in &wanted {
        counts.n_keys += u64::from(is_key(path));
        counts.n_values += u64::from(is_leaf(value));
        if !both.contains(path) {
            counts.missing_keys += u64::from(is_key(path));
            counts.absent_values += u64::from(is_leaf(value));
            counts.missing_values += u64::from(is_leaf(value) && !covered(path));
            continue;
        }
        counts.tp_keys += u64::from(is_key(path));
        naive_value(value, given[path], &mut counts);
    }
    for (path, value) in given.iter().filter(|(path, _)| !both.contains(path)) {
        // Looked at only if what stops it is a lack, and not a value of another kind.
        let stopped_by = (0..path.len())
            .find(|&n| !reached(&path[..=n], &given, &wanted) || !wanted.contains_key(&path[..=n]));
        if stopped_by.is_some_and(|n| reached(&path[..=n], &given, &wanted)) {
            counts.extra_keys += u64::from(is_key(path));
            counts.extra_values += u64::from(is_leaf(value));
            counts.extra_items += u64::from(is_leaf(value) && !covered(path));
        }
    }
    counts
}

fn naive_value(wanted: &Json, given: &Json, counts: &mut Counts) {
    let text = |value: &Json| match value {
        Json::String(text) => text.clone(),
        other => {
            other.to_value().as_f64().map_or_else(|| other.to_string(), |number| (number + 0.0).to_string())
        }
    };
    match (wanted, given) {
        (Json::Object(_), Json::Object(_) | Json::Null) | (Json::Array(_), Json::Array(_) | Json::Null) => {}
        _ if wanted.to_value() == given.to_value() => {}
        (Json::Object(_) | Json::Array(_), _) => counts.structure_errors += 1,
        (_, Json::Object(_) | Json::Array(_)) => counts.type_errors += 1,
        (_, Json::Null) => {
            counts.absent_values += 1;
            counts.missing_values += 1;
        }
        (Json::String(a), Json::String(b)) => {
            counts.deviations += 1;
            counts.credit += match strsim::levenshtein(a, b) as f64 / a.chars().count().max(1) as f64 {
                l if l <= 0.1 => 1.0,
                l if l < 2.0 => 0.5 * (1.0 - l),
                _ => -1.0,
            };
        }
        (Json::Number(_), Json::Number(_)) if text(wanted) == text(given) => {}
        (Json::Number(_), Json::Number(_)) | (Json::Bool(_), Json::Bool(_)) => counts.value_errors += 1,
        _ if text(wanted) == text(given) => counts.coercible += 1,
        _ => counts.type_errors += 1,
    }
}

fn scalar() -> impl Strategy<Value = String> {
    let choices = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "1.0",
        "42",
        "42.5",
        "1e2",
        "\"\"",
        "\"1\"",
        "\"42.5\"",
        "\"100\"",
        "\"null\"",
        "\"true\"",
        "\"abcdefghij\"",
        "\"abcdefghiX\"",
        "\"é\"",
        "\"ab\"",
    ];
    proptest::sample::select(choices.to_vec()).prop_map(str::to_owned)
}

/// Values from few names and scalars, so that two of them have much in common. Without repeated names.
fn value() -> impl Strategy<Value = Json> {
    let text = scalar().prop_recursive(4, 24, 4, |inner| {
        let members = proptest::collection::btree_map("[abc]", inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            members.prop_map(|all| {
                let all: Vec<String> =
                    all.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", all.join(","))
            }),
        ]
    });
    text.prop_map(|text| json(&text))
}

/// The same value with the members of every object turned around.
fn reversed(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            Json::Object(members.iter().rev().map(|(n, v)| (n.clone(), reversed(v))).collect())
        }
        Json::Array(elements) => Json::Array(elements.iter().map(reversed).collect()),
        leaf => leaf.clone(),
    }
}

/// The same value with every member of every object preceded by one of its name; also how many were added.
fn stammered(value: &Json) -> (Json, u64) {
    match value {
        Json::Object(members) => {
            let (mut all, mut n_added) = (Vec::new(), 0);
            for (name, value) in members {
                let (inner, n_inner) = stammered(value);
                all.extend([(name.clone(), json(r#"{"q":[1,{"r":2}]}"#)), (name.clone(), inner)]);
                n_added += 1 + n_inner;
            }
            (Json::Object(all), n_added)
        }
        Json::Array(elements) => {
            let parts: Vec<(Json, u64)> = elements.iter().map(stammered).collect();
            let n_added = parts.iter().map(|(_, n)| n).sum();
            (Json::Array(parts.into_iter().map(|(part, _)| part).collect()), n_added)
        }
        leaf => (leaf.clone(), 0),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn agrees_with_the_naive_one(expected in value(), got in value()) {
        let (mut ours, mut theirs) = (compared(&expected, &got).counts, naive(&expected, &got));
        prop_assert!((ours.credit - theirs.credit).abs() < 1e-9);
        (ours.credit, theirs.credit) = (0.0, 0.0);
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn a_value_is_itself(value in value()) {
        let Comparison { counts, findings } = compared(&value, &value);
        prop_assert!(counts.flawless() && findings.is_empty());
        prop_assert_eq!((counts.tp_keys, counts.n_values), (value.size().keys, value.size().leaves));
        prop_assert!((counts.f1(&Constants::default()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn counts_add_up(expected in value(), got in value()) {
        let Comparison { counts, findings } = compared(&expected, &got);
        prop_assert_eq!(counts.tp_keys + counts.missing_keys, counts.n_keys);
        prop_assert!(counts.missing_values <= counts.absent_values && counts.absent_values <= counts.n_values);
        prop_assert!(counts.extra_items <= counts.extra_values);
        prop_assert!(counts.tp_keys + counts.extra_keys <= got.size().keys);
        prop_assert_eq!(findings.len() as u64, counts.mistakes() + counts.errors());
        prop_assert_eq!(counts.flawless(), findings.is_empty());
        let constants = Constants::default();
        for f1 in [counts.f1_keys(), counts.f1_values(&constants), counts.f1(&constants)] {
            prop_assert!((0.0..=1.0).contains(&f1));
        }
    }

    #[test]
    fn the_order_of_members_is_free(expected in value(), got in value()) {
        let (mut one, mut other) = (compared(&expected, &got).counts, compared(&reversed(&expected), &reversed(&got)).counts);
        prop_assert!((one.credit - other.credit).abs() < 1e-9);
        (one.credit, other.credit) = (0.0, 0.0);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn repeats_are_extra_keys_and_nothing_else(value in value()) {
        let (stammered, n_added) = stammered(&value);
        let once = compared(&value, &value).counts;
        prop_assert_eq!(compared(&value, &stammered).counts, Counts { extra_keys: n_added, ..once });
        prop_assert_eq!(compared(&stammered, &value).counts, once);
        let (absent, there) = (compared(&json("[]"), &Json::Array(vec![value.clone()])).counts, Json::Array(vec![stammered]));
        let extra_keys = absent.extra_keys + n_added;
        prop_assert_eq!(compared(&json("[]"), &there).counts, Counts { extra_keys, ..absent });
    }
}
