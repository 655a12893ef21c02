//! The public suites of schemas, as a ratchet: what is not right is listed beside this file, and nothing may get worse.
//!
//! The suites are not part of the repository. `TEST_SHARED` names the folder they are in; without it the test says
//! that it was skipped. With `TEST_BLESS=1` the lists are written anew.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Constraint, Formats, MemberOrder, Policy, Rules, Spelling, Whitespace};
use nightjar::decode::vocab::{TokenId, Vocab};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

const LAX: Policy = Policy {
    order: MemberOrder::Any,
    space: Whitespace::Any,
    spelling: Spelling::Any,
    formats: Formats::Asserted,
};

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
    let folder = std::env::var_os("TEST_SHARED")
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
    let policy = Policy { formats, ..LAX };
    let text = std::fs::read_to_string(folder.join(format!("{suite}.walk"))).expect("the suite is readable");
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).expect("a line of the suite");
        found.extend(judge(&line, policy).map(|outcome| (line.id, outcome)));
    }
    let list = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/grammar/{suite}.ratchet"));
    if std::env::var_os("TEST_BLESS").is_some() {
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

/// A number given from outside, to test more than what a debug build has the time for.
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// What random choice among the allowed tokens came to.
#[derive(Default)]
struct Tally {
    n_texts: usize,
    n_whole: usize,
    /// Schemas that no value can meet, as is known before the first byte.
    impossible: Vec<String>,
    too_long: Vec<String>,
    stuck: Vec<String>,
    invalid: Vec<String>,
}

impl Tally {
    fn write(&mut self, line: &Line, vocab: &Arc<Vocab>, rng: &mut SmallRng) {
        let validator = jsonschema::options().should_validate_formats(true).build(&line.schema);
        let rules = Rules::schema(&line.schema, Policy::default());
        let (Ok(validator), Ok(rules)) = (validator, rules) else { return };
        let mut allowed = Allowed::new(Arc::new(rules), Arc::clone(vocab));
        if allowed.mask(&mut allowed.start()).is_empty() {
            self.impossible.push(line.id.clone());
            return;
        }
        for _ in 0..number("TEST_TEXTS", 1) {
            self.n_texts += 1;
            match support::write_randomly(&mut allowed, vocab, rng) {
                support::Written::Whole(text) => {
                    self.n_whole += 1;
                    let value: Value = serde_json::from_str(&text).expect("accepted text is JSON");
                    if !support::is_beyond_oracle(&text) && !validator.is_valid(&value) {
                        self.invalid.push(format!("{}: {text}", line.id));
                    }
                }
                support::Written::DeadEnd(text) => {
                    self.stuck.push(format!("{}: {}", line.id, String::from_utf8_lossy(&text)));
                }
                support::Written::TooLong(text) => {
                    self.too_long.push(format!("{}: {}", line.id, String::from_utf8_lossy(&text)));
                }
            }
        }
    }
}

/// Texts written by random choice among the allowed tokens, over a part of the schemas; over all of them with
/// `TEST_STRIDE=1`, over those with a word in their name with `TEST_ONLY`, so many each with `TEST_TEXTS`.
fn write_over(suite: &str) {
    let Some(folder) = shared() else {
        println!("skipped: the suites are not there");
        return;
    };
    let vocab = Arc::new(support::nasty_vocab());
    let mut rng = SmallRng::seed_from_u64(number("TEST_SEED", 3) as u64);
    let only = std::env::var("TEST_ONLY").unwrap_or_default();
    let text = std::fs::read_to_string(folder.join(suite)).expect("the suite is readable");
    let mut tally = Tally::default();
    for line in text.lines().step_by(number("TEST_STRIDE", 50)) {
        let line: Line = serde_json::from_str(line).expect("a line of the suite");
        if line.id.contains(&only) {
            let started = Instant::now();
            tally.write(&line, &vocab, &mut rng);
            println!("{:>6} ms {}", started.elapsed().as_millis(), line.id);
        }
    }
    let Tally { n_texts, n_whole, impossible, too_long, stuck, invalid } = tally;
    println!("impossible: {impossible:?}; too long: {too_long:#?}");
    println!("{n_texts} texts, {n_whole} whole, {} stuck, {} invalid", stuck.len(), invalid.len());
    assert!(invalid.is_empty(), "{invalid:#?}");
    assert!(stuck.len() * 1_000 <= n_texts, "{stuck:#?}");
}

#[test]
fn random_texts_over_maskbench_are_valid_and_hardly_ever_stuck() {
    write_over("open-qwen.walk");
}

#[test]
fn random_texts_over_the_second_set_are_valid_and_hardly_ever_stuck() {
    write_over("open-gemma.walk");
}

fn lines(suite: &str, stride: usize) -> Option<Vec<Line>> {
    let text = std::fs::read_to_string(shared()?.join(suite)).expect("the suite is readable");
    let lines = text.lines().step_by(number("TEST_STRIDE", stride));
    Some(lines.map(|line| serde_json::from_str(line).expect("a line of the suite")).collect())
}

/// A text as tokens that are chosen one by one among those that fit; `choose` gets how many there are, shortest first.
fn cut(vocab: &Vocab, text: &[u8], mut choose: impl FnMut(usize) -> usize) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let fits = |&token: &TokenId| {
            let piece = vocab.piece(token);
            !vocab.is_special(token) && !piece.is_empty() && rest.starts_with(piece)
        };
        let mut fitting: Vec<_> = (0..vocab.len() as u32).map(TokenId).filter(fits).collect();
        fitting.sort_by_key(|&token| vocab.piece(token).len());
        let token = fitting[choose(fitting.len())];
        tokens.push(token);
        rest = &rest[vocab.piece(token).len()..];
    }
    tokens
}

/// However a valid text is cut into tokens, it is accepted, and every mask on the way allows the next token and is the
/// same as one found with nothing remembered.
#[test]
fn valid_texts_are_accepted_however_they_are_cut_and_masks_do_not_depend_on_what_is_remembered() {
    let Some(lines) = lines("open-qwen.walk", 25) else {
        println!("skipped: the suites are not there");
        return;
    };
    let vocab = Arc::new(support::nasty_vocab());
    let mut rng = SmallRng::seed_from_u64(5);
    let (mut n_texts, mut n_masks) = (0, 0);
    for line in lines {
        let Ok(rules) = Rules::schema(&line.schema, LAX) else { continue };
        let rules = Arc::new(rules);
        let mut allowed = Allowed::new(Arc::clone(&rules), Arc::clone(&vocab));
        for case in line.tests.iter().filter(|case| case.valid) {
            let text = case.text.as_bytes();
            let cuts = [
                cut(&vocab, text, |_| 0),
                cut(&vocab, text, |n| n - 1),
                cut(&vocab, text, |n| rng.random_range(0..n)),
            ];
            for tokens in cuts {
                n_texts += 1;
                let mut matcher = allowed.start();
                for token in tokens {
                    let mask = allowed.mask(&mut matcher);
                    let at = matcher.text().len();
                    if n_masks % 97 == 0 {
                        let mut anew = Allowed::new(Arc::clone(&rules), Arc::clone(&vocab));
                        let mut same = anew.start();
                        assert_eq!(anew.constraint().advance_all(&mut same, matcher.text()), at);
                        let (known, found): (Vec<_>, Vec<_>) =
                            (mask.iter().collect(), anew.mask(&mut same).iter().collect());
                        assert_eq!(known, found, "{}: byte {at} of {}", line.id, case.text);
                    }
                    n_masks += 1;
                    assert!(mask.allows(token), "{}: byte {at} of {}", line.id, case.text);
                    assert!(allowed.advance(&mut matcher, token), "{}: byte {at} of {}", line.id, case.text);
                }
                assert!(allowed.constraint().may_end(&mut matcher), "{}: {}", line.id, case.text);
            }
        }
    }
    println!("{n_texts} texts, {n_masks} masks");
}
