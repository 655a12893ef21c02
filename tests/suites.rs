//! The public suites of schemas, as a ratchet: what is not right is listed beside this file, and nothing may get worse.
//!
//! The suites are not part of the repository. `NIGHTJAR_SHARED` names the folder they are in; without it the test says
//! that it was skipped. With `NIGHTJAR_BLESS=1` the lists are written anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use nightjar::decode::constraint::{Constraint, Formats, MemberOrder, Policy, Rules, Spelling, Whitespace};
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
