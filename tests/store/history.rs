//! What happens to results when files come again, corrected, or not at all.

use nightjar::decode::engine::frames::Finish;
use nightjar::scenario::Strategy;
use nightjar::score::Constants;
use nightjar::store::{Changes, Coverage, Error, GridRow, Judged, Outcome, Rescore, Stored, Triple};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{World, file, judged, unscored};

fn changed(new_scenario: bool, new_revision: bool, added: u32, retired: u32) -> Stored {
    Stored::Changed(Changes { new_scenario, new_revision, added, retired })
}

fn case_names(world: &World, scenario: &str) -> Vec<String> {
    let stored = world.store.reader().scenario(scenario).expect("a scenario");
    stored.cases().map(|(_, case)| case.id.clone()).collect()
}

fn count(world: &World, sql: &str) -> u32 {
    let plain = Connection::open(world.path()).expect("a second connection");
    plain.query_row(sql, [], |row| row.get(0)).expect("a count")
}

#[test]
fn the_same_file_costs_nothing() {
    let mut world = World::new();
    let (first, second) = (file("s", "one", &[json!({"a": 1})]), file("s", "two", &[json!({"a": 1})]));
    assert_eq!(world.scenario(&first), changed(true, false, 1, 0));
    assert_eq!(world.scenario(&first), Stored::Duplicate);
    assert_eq!(world.scenario(&second), changed(false, true, 0, 0));
    // An older file dropped again is known, and does not bring its revision back.
    assert_eq!(world.scenario(&first), Stored::Duplicate);
    let now = world.store.reader().scenario("s").expect("a scenario");
    assert_eq!(now.scenario.schema["description"], "two");
    // Written differently, it does: the revision and its results are still there.
    let mut rewritten = first.clone();
    rewritten["description"] = json!("about something");
    assert_eq!(world.scenario(&rewritten), changed(false, true, 0, 0));
    assert_eq!(count(&world, "SELECT count(*) FROM revisions"), 2);
    assert_eq!(count(&world, "SELECT count(*) FROM files WHERE outcome = 'duplicate'"), 2);
}

#[test]
fn a_scenario_comes_back_as_its_file_said() {
    let mut world = World::new();
    let text = r#"{"name":"s","description":"d","schema":{"type":"object","properties":{"z":{},"a":{}}},
        "examples":[{"text":"t","json":{"z":1.50,"a":12345678901234567890123}}],
        "prompts":{"plain":"Do {{ text }}","system":"Be brief"},
        "cases":[{"id":"x","text":"Grüße","expected":{"b":10.50,"a":[null]}}]}"#;
    let file: Value = serde_json::from_str(text).expect("JSON");
    world.scenario(&file);
    let stored = world.store.reader().scenario("s").expect("a scenario");
    let checked = crate::support::checked(&file).scenario;
    assert_eq!(stored.scenario, checked);
    assert_eq!(stored.scenario.revision_sha256(), checked.revision_sha256());
    let expected = world.store.reader().expected(stored.case_ids[0]).expect("an answer");
    assert_eq!(expected.to_string(), r#"{"b":10.50,"a":[null]}"#);
    assert_eq!(world.store.reader().schema(stored.revision).expect("an answer"), checked.schema);
}

#[test]
fn cases_of_a_file_replace_those_of_files_and_lines_stay() {
    let mut world = World::new();
    let (a, b, c) = (json!({"a": 1}), json!({"a": 2}), json!({"a": 3}));
    world.scenario(&file("s", "", &[a.clone(), b.clone(), c.clone()]));
    let line =
        |id: &str, expected: &Value| json!({"scenario": "s", "id": id, "text": id, "expected": expected});
    assert_eq!(world.lines(&[line("l0", &a), line("l1", &a)]), changed(false, false, 2, 0));
    // c1 is corrected, c2 is left out, c0 stays as it is.
    assert_eq!(world.scenario(&file("s", "", &[a.clone(), c.clone()])), changed(false, false, 1, 2));
    assert_eq!(case_names(&world, "s"), ["c0", "l0", "l1", "c1"]);
    // A line may correct too; what other lines said stays.
    assert_eq!(world.lines(&[line("l1", &b)]), changed(false, false, 1, 1));
    assert_eq!(case_names(&world, "s"), ["c0", "l0", "c1", "l1"]);
}

#[test]
fn lines_for_an_unknown_scenario_change_nothing() {
    let mut world = World::new();
    world.scenario(&file("tickets", "", &[json!({"a": 1})]));
    let line = |scenario: &str| json!({"scenario": scenario, "text": "t", "expected": {"a": 1}});
    let Stored::UnknownScenarios(problems) = world.lines(&[line("tickets"), line("tickest"), line("loans")])
    else {
        panic!("the file should be refused")
    };
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    line 2, /scenario: no scenario is named `tickest` (right would be: `tickets`, or first a scenario file that is named `tickest`)
    line 3, /scenario: no scenario is named `loans` (right would be: one of `tickets`, or first a scenario file that is named `loans`)
    ");
    assert_eq!(case_names(&world, "tickets"), ["c0"]);
    world
        .store
        .put_rejected("c.jsonl", Some("lines 1"), &problems, crate::support::NOW)
        .expect("a ledger row");
    assert_eq!(count(&world, "SELECT count(*) FROM files WHERE outcome = 'rejected'"), 1);
    let error = world.store.reader().scenario("loans").expect_err("unknown");
    insta::assert_snapshot!(error, @r#"no scenario is called "loans"; known: tickets"#);
}

#[test]
fn a_corrected_expectation_needs_a_verdict_and_no_generation() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1})]));
    let model = world.model("m");
    let attempt = world.answer_first("s", "key", model, r#"{"a": 2}"#);
    world.scenario(&file("s", "", &[json!({"a": 2})]));
    let reader = world.store.reader();
    assert_eq!(reader.coverage().expect("an answer")[0].missing, 1);
    let asked = reader.scenario("s").expect("a scenario");
    let (case, stored) = asked.cases().next().expect("a case");
    let triple = Triple { attempt, case, revision: asked.revision };
    assert!(!reader.judged().expect("an answer").contains(&triple));
    assert_eq!(reader.known_attempts().expect("an answer")["key"].attempt, attempt);
    let output = reader.output(attempt).expect("an output").text;
    let link = judged(case, asked.revision, &stored.expected, &output, &Constants::default());
    world.store.put_verdicts(&[(attempt, link)]).expect("a verdict");
    let row = &world.store.reader().leaderboard().expect("an answer")[0];
    assert_eq!((row.tests, row.flawless, row.complete), (1, 1, true));
    assert_eq!(count(&world, "SELECT count(*) FROM verdicts"), 2);
    assert!(world.store.reader().judged().expect("an answer").contains(&triple));
}

#[test]
fn a_new_revision_keeps_what_is_linked_to_it() {
    let mut world = World::new();
    let expected = [json!({"a": 1})];
    world.scenario(&file("s", "one", &expected));
    let (model, old) = (world.model("m"), world.store.reader().scenario("s").expect("a scenario"));
    let grid = Strategy::ALL.map(|strategy| GridRow {
        model,
        profile: world.profile,
        strategy,
        scenario: old.id,
        repeats: 1,
        grammar_sha256: None,
    });
    world.store.set_grid(&grid).expect("a grid");
    let answer =
        |revision| judged(old.case_ids[0], revision, &expected[0], r#"{"a": 1}"#, &Constants::default());
    for strategy in Strategy::ALL {
        let attempt = world.attempt(strategy.tag(), model, strategy, r#"{"a": 1}"#);
        world.store.record(&attempt, &[answer(old.revision)]).expect("an attempt");
    }
    let missing = |world: &World| -> Vec<u32> {
        Strategy::ALL
            .iter()
            .map(|strategy| {
                let coverage = world.store.reader().coverage().expect("an answer");
                coverage.iter().find(|cell| cell.strategy == *strategy).expect("a cell").missing
            })
            .collect()
    };
    assert_eq!(missing(&world), [0; 5]);
    assert_eq!(world.scenario(&file("s", "two", &expected)), changed(false, true, 0, 0));
    assert_eq!(missing(&world), [1; 5]);
    let now = world.store.reader().scenario("s").expect("a scenario");
    assert_eq!(now.case_ids, old.case_ids);
    let j = world.store.reader().known_attempts().expect("an answer")["J"].attempt;
    world.store.put_verdicts(&[(j, answer(now.revision))]).expect("a link");
    assert_eq!(missing(&world), [0, 1, 1, 1, 1]);
}

#[test]
fn only_an_errored_attempt_has_a_second_try_and_the_latest_counts() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1})]));
    let (model, asked) = (world.model("m"), world.store.reader().scenario("s").expect("a scenario"));
    let mut lost = world.attempt("key", model, Strategy::J, r#"{"a"#);
    lost.finish = Finish::Errored;
    lost.error = Some("worker killed by SIGKILL".to_owned());
    let verdict = unscored(asked.case_ids[0], asked.revision, Outcome::Errored);
    let cell = |world: &World| world.store.reader().coverage().expect("an answer").remove(0);
    let figures = |cell: Coverage| (cell.wanted, cell.done, cell.errored, cell.missing);
    for tries in 1..=2 {
        world.store.record(&lost, std::slice::from_ref(&verdict)).expect("a lost attempt");
        let known = world.store.reader().known_attempts().expect("an answer")["key"];
        assert_eq!((known.tries, known.finish), (tries, Finish::Errored));
        assert_eq!(figures(cell(&world)), (1, 0, 1, 0));
    }
    let board = world.store.reader().leaderboard().expect("an answer").remove(0);
    assert_eq!((board.tests, board.errored, board.complete, board.score), (0, 1, false, None));
    world.answer_first("s", "key", model, r#"{"a": 1}"#);
    assert_eq!(figures(cell(&world)), (1, 1, 0, 0));
    let again = world.attempt("key", model, Strategy::J, r#"{"a": 5}"#);
    let error = world.store.record(&again, &[]).expect_err("the key is done");
    assert!(matches!(&error, Error::AlreadyRecorded { key } if key == "key"), "{error}");
    let plain = Connection::open(world.path()).expect("a second connection");
    let error = plain.execute("UPDATE attempts SET output = 'better'", []).expect_err("facts stay");
    assert_eq!(error.to_string(), "attempts are append-only");
}

#[test]
fn other_constants_need_other_verdicts() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1, "b": "x"})]));
    let (model, asked) = (world.model("m"), world.store.reader().scenario("s").expect("a scenario"));
    world.answer_first("s", "key", model, r#"{"a": "1", "b": "x"}"#);
    let f1 = |world: &World| {
        world.store.reader().leaderboard().expect("an answer").first().and_then(|row| row.f1_micro)
    };
    let before = f1(&world).expect("a score");
    let constants = Constants { coercion_credit: 1.0, ..Constants::default() };
    world.store.set_constants(&constants).expect("other constants");
    assert_eq!(f1(&world), None);
    let stale = world.store.reader().to_rescore(Rescore::Stale).expect("an answer");
    assert_eq!(stale.len(), 1);
    let again: Vec<(_, Judged)> = stale
        .iter()
        .map(|triple| {
            let output = world.store.reader().output(triple.attempt).expect("an output").text;
            let expected = &asked.scenario.cases[0].expected;
            (triple.attempt, judged(triple.case, triple.revision, expected, &output, world.store.constants()))
        })
        .collect();
    world.store.put_verdicts(&again).expect("verdicts");
    assert_eq!(world.store.reader().to_rescore(Rescore::Stale).expect("an answer"), []);
    assert_eq!(world.store.reader().to_rescore(Rescore::All).expect("an answer"), stale);
    let after = f1(&world).expect("a score");
    assert!(after > before, "{after} > {before}");
    drop(world.store);
    let path = world.folder.path().join("night.db");
    assert_eq!(nightjar::store::Store::open(&path).expect("the database").constants(), &constants);
    assert_eq!(count_findings(&path), 1);
}

fn count_findings(path: &std::path::Path) -> u32 {
    let plain = Connection::open(path).expect("a second connection");
    plain.query_row("SELECT count(*) FROM findings", [], |row| row.get(0)).expect("a count")
}
