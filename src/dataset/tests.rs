//! Cases with known faults, the counts of known sets, and a second, plain way to compute what is clever in the first.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};

use super::*;
use crate::scenario::Case;

fn case(id: &str, text: &str, expected: Value) -> Case {
    Case { id: id.into(), text: text.into(), expected }
}

/// The pointers of what a message does not ground.
fn unfounded(text: &str, expected: Value) -> Vec<String> {
    let case = case("one", text, expected);
    let kinds = Kinds::of(None, [&case.expected]);
    Message::read(text).unfounded(&case, &kinds).into_iter().map(|fault| fault.pointer).collect()
}

#[test]
fn what_the_message_says_is_grounded_and_what_it_does_not_say_is_named() {
    let message = "> From: Siobhan Ó Dálaigh (RES-\n> 2293)\nMy laptop's screen flickers whenever it is docked, since 2 Sept. 2024! \
                   I need twelve tablets and a drone, 35k euros. PAPADOPOULOU, Eleftheria helps; mail e.papa@lab.example.";
    let table = [
        (json!("Siobhan Ó Dálaigh"), true),
        (json!("siobhan ó dálaigh"), true),
        (json!("Siobhan O Dalaigh"), false),
        (json!("Eleftheria Papadopoulou"), true),
        (json!("Eleftheria Papadopoulos"), false),
        (json!("Eleftheria Maria Papadopoulou"), false),
        (json!("RES-2293"), true),
        (json!("RES-2294"), false),
        (json!("RES-229"), false),
        (json!("e.papa@lab.example"), true),
        (json!("papa.e@lab.example"), false),
        (json!("tablet"), true),
        (json!("camera"), false),
        (json!("The laptop screen flickers whenever it is docked."), true),
        (json!("The laptop screen flickers."), true),
        (json!("The printer on the third floor prints blank pages."), false),
        (json!("02.09.2024"), true),
        (json!("03.09.2024"), false),
        (json!("30.02.2024"), false),
        (json!(12), true),
        (json!(13), false),
        (json!(1), true),
        (json!(35000), true),
        (json!(35001), false),
        (json!(null), true),
        (json!(true), true),
    ];
    for (value, grounded) in table {
        let found = unfounded(message, json!([value]));
        assert_eq!(found.is_empty(), grounded, "{value}: {found:?}");
    }
    assert_eq!(unfounded(message, json!({"a/b": [{"c": "nowhere"}]})), ["/a~1b/0/c"]);
}

#[test]
fn endings_signs_sizes_and_orders_are_as_the_value_has_them() {
    let huge: Value = serde_json::from_str("1e400").expect("any number is JSON");
    let table = [
        ("Jan Doe asks", json!("Jane Doe"), false),
        ("Jane Doe asks", json!("Jan Doe"), false),
        ("for Jan Doe's tablets", json!("Doe, Jan"), true),
        ("Is it in?", json!("i"), false),
        ("as is", json!("a"), false),
        ("it was 7 degrees below zero", json!(-7), true),
        ("it was 7 degrees below zero", json!(-8), false),
        ("on 14 May 2024", json!("05/14/2024"), true),
        ("on 4 May 2024", json!("05/04/2024"), true),
        ("on 14 May 2024", json!("05/15/2024"), false),
        ("a lot", huge, false),
        ("nothing", json!(" "), false),
        ("nothing", json!("- -"), false),
    ];
    for (text, value, grounded) in table {
        assert_eq!(unfounded(text, json!([value])).is_empty(), grounded, "{text}: {value}");
    }
    let blank = case("one", "nothing", json!({"name": ""}));
    let faults = Message::read(&blank.text).unfounded(&blank, &Kinds::default());
    assert_eq!(faults.iter().map(|fault| fault.why.as_str()).collect::<Vec<_>>(), ["it is blank"]);
}

#[test]
fn small_counts_follow_from_words_and_dates() {
    let table = [
        ("No hotel, thanks.", 0, true),
        ("I don't stay overnight.", 0, true),
        ("Hotel, please.", 0, false),
        ("Arriving on 3 May 2024, leaving on 6 May 2024.", 3, true),
        ("Arriving on 3 May 2024, leaving on 6 May 2024.", 7, false),
        ("25 boards, and motors, two each", 50, true),
    ];
    for (text, number, grounded) in table {
        assert_eq!(unfounded(text, json!({"n": number})).is_empty(), grounded, "{text}");
    }
    assert!(
        unfounded("Out: tripod, tablet", json!({"type": "tripod", "n": 1})).is_empty(),
        "named in the singular"
    );
}

#[test]
fn an_enumeration_needs_no_grounding() {
    let schema = json!({"properties": {"ticket": {"enum": ["Student", "Speaker"]}}});
    let case = case("one", "I give the talk", json!({"ticket": "Speaker", "name": "Speaker"}));
    let kinds = Kinds::of(Some(&schema), [&case.expected]);
    let found = Message::read(&case.text).unfounded(&case, &kinds);
    assert_eq!(found.iter().map(|fault| fault.pointer.as_str()).collect::<Vec<_>>(), ["/name"]);
}

/// So many cases that are good, with the text holding the value.
fn good(n: usize) -> Vec<Case> {
    (0..n)
        .map(|i| {
            case(
                &format!("c-{i}"),
                &format!("I am N{i}x, day {i}"),
                json!({"name": format!("N{i}x"), "n": i % 3}),
            )
        })
        .collect()
}

fn findings(cases: &[Case]) -> Vec<String> {
    let schema = json!({"properties": {"name": {"type": ["string", "boolean"]}, "n": {"type": "integer", "minimum": 0}}});
    let entries = cases.iter().map(|case| Entry { file: "f.json", case }).collect();
    strict(&Subject { schema: Some(&schema), entries }).iter().map(ToString::to_string).collect()
}

#[test]
fn faults_of_a_set_are_found_where_they_are() {
    assert_eq!(findings(&good(40)), [""; 0]);
    let mut cases = good(40);
    cases[1].id = "c-0".into();
    cases[2].text = format!(" {}\n", cases[3].text);
    cases[2].expected = json!({"n": 0, "name": "N3x"});
    cases[5].expected = json!({"n": -1, "name": null});
    for case in &mut cases[10..13] {
        case.expected["name"] = json!("day");
    }
    insta::assert_snapshot!(findings(&cases).join("\n"), @r#"
    f.json: c-5, /expected/n, -1: the schema refuses this: -1 is less than the minimum of 0
    f.json: c-0, /id, "c-0": c-0 in f.json has the same `id`
    f.json: c-3, /text, "I am N3x, day 3": c-2 in f.json has the same `text`
    f.json: c-3, /expected: c-2 in f.json has the same `expected`
    f.json: c-10, /expected/name, "day": 3 of 40 cases have this value, at most 2 may; also c-11, c-12
    "#);
}

#[test]
fn sharing_says_nothing_in_few_cases_and_of_small_numbers() {
    let mut cases = good(19);
    for case in &mut cases {
        case.expected["name"] = json!("day");
    }
    let shared =
        |cases: &[Case]| findings(cases).into_iter().any(|finding| finding.contains("cases have this value"));
    assert!(!shared(&cases));
    let mut cases = good(40);
    for case in &mut cases {
        case.expected["n"] = json!(99);
    }
    assert!(!shared(&cases), "integers below 100 repeat by nature");
    for (index, case) in cases.iter_mut().enumerate() {
        case.expected["n"] = json!(100 + index / 4);
    }
    assert!(shared(&cases), "larger ones do not");
}

#[test]
fn the_figures_of_a_set_are_counted() {
    let cases = [
        case("a", "one two three four five six", json!({"a": {"b": "six"}, "c": [1, {"d": null}]})),
        case("b", "Two, THREE; four-five", json!({"a": "x"})),
        case("c", "uno", json!({"a": "y"})),
    ];
    let all: Vec<&Case> = cases.iter().collect();
    let statistics = Statistics::of("sick_leave", &all).expect("there are cases");
    assert_eq!((statistics.cases, statistics.vocabulary, statistics.words.max), (3, 7, 6));
    assert_eq!((statistics.words.min, statistics.words.median), (1, 4.0));
    let (keys, leaves, depth) = (statistics.keys * 3.0, statistics.leaves * 3.0, statistics.depth * 3.0);
    assert_eq!((keys.round(), leaves.round(), depth.round()), (6.0, 5.0, 8.0));
    assert!((statistics.with_null - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(statistics.paper.map(|row| row.keys), Some(7.0));
    assert!(Statistics::of("other", &[]).is_none());
}

#[test]
fn messages_that_differ_in_their_values_alone_are_the_same() {
    let text =
        |name: &str, n: u32| format!("Dear all, please give {name} a total of {n} new chairs by Monday.");
    let cases = [
        case("a", &text("Ann", 3), json!({"name": "ANN", "n": 3})),
        case("b", &text("Bo Li", 14), json!({"name": "Bo Li", "n": 14})),
        case("c", "Ann's annual plan: 33 chairs, 3 tables.", json!({"name": "Ann", "n": 3})),
    ];
    let figures = similarity(&cases);
    assert_eq!(figures.different, 2);
    assert!((figures.mean_jaccard - 1.0 / 3.0).abs() < 1e-12, "{figures:?}");
    assert_eq!(similarity(&cases[..1]).mean_jaccard.to_bits(), 0.0f64.to_bits());
}

/// Word lists that share much, compared by sets of words and not by numbers.
#[test]
fn similarity_equals_its_definition() {
    let vocabulary = ["a", "b"];
    let mut state = 1u32;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        vocabulary[(state >> 16) as usize % 2]
    };
    let texts: Vec<String> = (0..40).map(|_| (0..12).map(|_| word()).collect::<Vec<_>>().join(" ")).collect();
    let cases: Vec<Case> = texts.iter().map(|text| case("x", text, json!({}))).collect();
    let grams = |text: &String| -> HashSet<String> {
        text.split(' ').collect::<Vec<_>>().windows(5).map(|gram| gram.join(" ")).collect()
    };
    let (mut sum, mut n) = (0.0, 0.0);
    for (index, left) in texts.iter().enumerate() {
        for right in &texts[index + 1..] {
            let (left, right) = (grams(left), grams(right));
            sum += left.intersection(&right).count() as f64 / left.union(&right).count() as f64;
            n += 1.0;
        }
    }
    let figures = similarity(&cases);
    assert!((figures.mean_jaccard - sum / n).abs() < 1e-12 && figures.mean_jaccard > 0.0);
    assert_eq!(figures.different, texts.iter().collect::<BTreeSet<_>>().len());
}
