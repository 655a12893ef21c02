//! The public suites of schemas, as a ratchet: what is not right is listed beside this file, and nothing may get worse.
//!
//! The suites are not part of the repository. `NIGHTJAR_SHARED` names the folder they are in; without it the test says
//! that it was skipped. With `NIGHTJAR_BLESS=1` the lists are written anew.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Constraint, Formats, MemberOrder, Policy, Rules, Spelling, Whitespace};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde_json::Value;

/// How far a result is from right; the order is that of badness.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Refused,
    FalseReject,
    FalseAccept,
}

impl Outcome {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Refused, "refused"),
        (Self::FalseReject, "false reject"),
        (Self::FalseAccept, "false accept"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }
}

#[derive(serde::Deserialize)]
struct Line {
    id: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    valid: bool,
    text: String,
}

fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("NIGHTJAR_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")), PathBuf::from);
    let folder = folder.join("maskbench");
    folder.is_dir().then_some(folder)
}

/// The first thing wrong with a schema, the worst if there are several.
fn judge(line: &Line, policy: Policy) -> Option<Outcome> {
    let Ok(rules) = Rules::schema(&line.schema, policy) else { return Some(Outcome::Refused) };
    let mut constraint = Constraint::new(Arc::new(rules));
    let wrong = line.tests.iter().filter_map(|case| {
        let mut matcher = constraint.start();
        let n = constraint.advance_all(&mut matcher, case.text.as_bytes());
        let accepted = n == case.text.len() && constraint.may_end(&mut matcher);
        match (case.valid, accepted) {
            (true, false) => Some(Outcome::FalseReject),
            (false, true) => Some(Outcome::FalseAccept),
            _ => None,
        }
    });
    wrong.max()
}

fn check(suite: &str, formats: Formats) {
    let Some(folder) = shared() else {
        println!("skipped: the suites are not there");
        return;
    };
    let policy = Policy { order: MemberOrder::Any, space: Whitespace::Any, spelling: Spelling::Any, formats };
    let text = std::fs::read_to_string(folder.join(format!("{suite}.walk"))).expect("the suite is readable");
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).expect("a line of the suite");
        found.extend(judge(&line, policy).map(|outcome| (line.id, outcome)));
    }
    let list = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/grammar/{suite}.ratchet"));
    if std::env::var_os("NIGHTJAR_BLESS").is_some() {
        let mut text = String::new();
        for (id, outcome) in &found {
            writeln!(text, "{}\t{id}", outcome.name()).expect("writing to a string");
        }
        std::fs::write(&list, text).expect("the list is writable");
    }
    let known = std::fs::read_to_string(&list).expect("the list is there");
    let known: BTreeMap<_, _> = known
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(outcome, id)| (id.to_owned(), Outcome::named(outcome).expect("an outcome")))
        .collect();
    let worse: Vec<_> =
        found.iter().filter(|(id, outcome)| known.get(*id).is_none_or(|known| known < outcome)).collect();
    assert!(worse.is_empty(), "{suite} got worse: {worse:#?}");
    assert!(!found.values().any(|&outcome| outcome == Outcome::FalseAccept), "{suite}: a false accept");
}

#[test]
fn maskbench() {
    check("open-qwen", Formats::Asserted);
}

#[test]
fn official_suite_2020() {
    check("jsts-draft2020-12", Formats::Annotated);
}

#[test]
fn official_suite_7() {
    check("jsts-draft7", Formats::Annotated);
}

/// Texts written by random choice among the allowed tokens, over all schemas of the suite.
#[test]
fn random_texts_over_maskbench_are_valid_and_hardly_ever_stuck() {
    let Some(folder) = shared() else {
        println!("skipped: the suites are not there");
        return;
    };
    let n_each: usize = std::env::var("NIGHTJAR_TEXTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let vocab = Arc::new(support::nasty_vocab());
    let mut rng = SmallRng::seed_from_u64(3);
    let text = std::fs::read_to_string(folder.join("open-qwen.walk")).expect("the suite is readable");
    let (mut n_whole, mut n_texts, mut stuck, mut invalid) = (0, 0, Vec::new(), Vec::new());
    // Debug builds are slow: a part of the suite by default, all of it with `NIGHTJAR_STRIDE=1`.
    let stride: usize = std::env::var("NIGHTJAR_STRIDE").ok().and_then(|n| n.parse().ok()).unwrap_or(50);
    for line in text.lines().step_by(stride) {
        let line: Line = serde_json::from_str(line).expect("a line of the suite");
        let Ok(validator) = jsonschema::options().should_validate_formats(true).build(&line.schema) else {
            continue;
        };
        let started = std::time::Instant::now();
        let Ok(rules) = Rules::schema(&line.schema, Policy::default()) else { continue };
        let compiled = started.elapsed();
        let mut allowed = Allowed::new(Arc::new(rules), Arc::clone(&vocab));
        allowed.mask(&mut allowed.start());
        let first = started.elapsed();
        for _ in 0..n_each {
            n_texts += 1;
            match support::write_randomly(&mut allowed, &vocab, &mut rng) {
                support::Written::Whole(text) => {
                    n_whole += 1;
                    let value: Value = serde_json::from_str(&text).expect("accepted text is JSON");
                    if !support::is_beyond_oracle(&text) && !validator.is_valid(&value) {
                        invalid.push(format!("{}: {text}", line.id));
                    }
                }
                support::Written::DeadEnd(text) => {
                    stuck.push(format!("{}: {}", line.id, String::from_utf8_lossy(&text)));
                }
                support::Written::TooLong => { println!("too long: {}", line.id); }
            }
        }
        let all = started.elapsed();
        if all.as_millis() > 300 {
            println!("slow: {} {compiled:?} {first:?} {all:?}", line.id);
        }
    }
    println!("{n_texts} texts, {n_whole} whole, {} stuck, {} invalid", stuck.len(), invalid.len());
    assert!(invalid.is_empty(), "{invalid:#?}");
    assert!(stuck.len() * 100 <= n_texts, "{stuck:#?}");
}
