//! Single properties of the views that random sweeps hardly ever show.

use std::process::Command;
use std::thread;

use nightjar::scenario::Strategy;
use nightjar::store::{GridRow, Model, ModelId, ModelKind, PaperRow, Store};
use rusqlite::Connection;
use serde_json::json;

use crate::support::{World, file, judged};

/// Records the right answer to every case of a scenario.
fn answer_all(world: &mut World, scenario: &str, model: ModelId, strategy: Strategy) {
    let asked = world.store.reader().scenario(scenario).expect("a scenario");
    for (case, stored) in asked.cases() {
        let output = stored.expected.to_string();
        let key = format!("{model:?} {strategy} {scenario} {case:?}");
        let verdict = judged(case, asked.revision, &stored.expected, &output, world.store.constants());
        let attempt = world.attempt(&key, model, strategy, &output);
        world.store.record(&attempt, &[verdict]).expect("an attempt");
    }
}

#[test]
fn a_row_without_a_scenario_of_the_sweep_is_not_complete() {
    let mut world = World::new();
    world.scenario(&file("loans", "", &[json!({"a": 1})]));
    world.scenario(&file("tickets", "", &[json!({"a": 2}), json!({"a": 3})]));
    let (local, elsewhere) =
        (world.model("local"), world.store.put_model(&Model::external("gpt")).expect("a model"));
    answer_all(&mut world, "loans", elsewhere, Strategy::P);
    let complete = |world: &World| -> Vec<(String, u32, bool)> {
        let board = world.store.reader().leaderboard().expect("an answer");
        board.into_iter().map(|row| (row.model, row.scenarios, row.complete)).collect()
    };
    assert_eq!(complete(&world), [("gpt".to_owned(), 1, true)]);
    let scenarios = world.store.reader().scenarios().expect("an answer");
    let cell = |scenario| GridRow {
        model: local,
        profile: world.profile,
        strategy: Strategy::P,
        scenario,
        repeats: 1,
        grammar_sha256: None,
    };
    let grid: Vec<GridRow> = scenarios.iter().map(|scenario| cell(scenario.id)).collect();
    world.store.set_grid(&grid).expect("a grid");
    answer_all(&mut world, "loans", local, Strategy::P);
    assert_eq!(complete(&world), [("gpt".to_owned(), 1, false), ("local".to_owned(), 2, false)]);
    answer_all(&mut world, "tickets", local, Strategy::P);
    answer_all(&mut world, "tickets", elsewhere, Strategy::P);
    assert_eq!(complete(&world), [("gpt".to_owned(), 2, true), ("local".to_owned(), 2, true)]);
    // Out of the sweep, its results stay.
    world.store.set_grid(&[]).expect("an empty grid");
    assert_eq!(complete(&world).len(), 2);
    assert!(
        world
            .store
            .reader()
            .coverage()
            .expect("an answer")
            .iter()
            .all(|cell| !cell.active && cell.missing == 0)
    );
}

#[test]
fn the_papers_rows_find_ours_by_family_and_size() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1})]));
    let rows = [
        ("a", Some("qwen3"), Some(751_632_384), Some("Qwen3 0.6B")),
        ("b", Some("Qwen3"), Some(2_031_739_904), Some("Qwen3 1.7B")),
        ("c", Some("deepseek-r1"), Some(7_615_616_512), Some("Deepseek-R1 7B")),
        ("d", Some("DeepSeek_R1"), Some(8_030_261_312), Some("Deepseek-R1 8B")),
        ("e", Some("gemma3"), Some(999_885_952), Some("Gemma3 1B")),
        ("f", Some("phi3.5"), Some(3_821_079_552), Some("Phi3.5 3.8B")),
        ("GPT-4o", None, None, Some("GPT-4o")),
        ("g", Some("gemma3"), Some(268_098_176), None),
        ("h", Some("smollm2"), Some(134_515_008), None),
    ];
    for (name, family, parameters, _) in rows {
        let model = Model {
            kind: ModelKind::Gguf,
            sha256: Some(name.to_owned()),
            family: family.map(str::to_owned),
            parameters,
            ..Model::external(name)
        };
        let model = world.store.put_model(&model).expect("a model");
        answer_all(&mut world, "s", model, Strategy::P);
        answer_all(&mut world, "s", model, Strategy::J);
    }
    let comparison = world.store.reader().paper_comparison().expect("an answer");
    for (name, _, _, paper) in rows {
        let ours: Vec<&PaperRow> =
            comparison.iter().filter(|row| row.model.as_deref() == Some(name)).collect();
        assert_eq!(ours.len(), 1, "{name}");
        assert_eq!((ours[0].paper_model.as_deref(), ours[0].strategy), (paper, Strategy::P), "{name}");
    }
    assert_eq!(comparison.iter().filter(|row| row.paper_model.is_some()).count(), 23);
    let paper = world.store.reader().paper_strategies().expect("an answer");
    assert_eq!(
        paper.iter().map(|row| (row.correct, row.wins)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)),
        (30_637, 22)
    );
}

#[test]
fn failures_say_what_was_expected_and_what_came() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"who": "Aiko", "n": 1})]));
    let model = world.model("m");
    world.answer_first("s", "key", model, r#"{"who": "Aik", "x": 2}"#);
    let row = world.store.reader().failures(10).expect("an answer").remove(0);
    insta::assert_snapshot!(row.findings.expect("findings"), @r#"
    /who value_deviation, expected "Aiko", got "Aik"
    /n missing_key, expected 1
    /x extra_key, got 2
    "#);
    assert_eq!(
        (row.model.as_str(), row.case.as_str(), row.mistakes, row.errors),
        ("m", "c0", Some(2), Some(1))
    );
    assert_eq!(world.store.reader().failures(0).expect("an answer"), []);
}

#[test]
fn two_writers_wait_for_each_other() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1})]));
    let model = world.model("m");
    let (path, template) = (world.path(), world.attempt("", model, Strategy::J, "{}"));
    let writers = ["a", "b"].map(|writer| {
        let (path, template) = (path.clone(), template.clone());
        thread::spawn(move || {
            let mut store = Store::open(&path).expect("another writer");
            for i in 0..20 {
                let attempt = nightjar::store::Attempt { key: format!("{writer} {i}"), ..template.clone() };
                store.record(&attempt, &[]).expect("its turn");
            }
        })
    });
    for writer in writers {
        writer.join().expect("both writers end");
    }
    assert_eq!(world.store.reader().known_attempts().expect("an answer").len(), 40);
}

/// People open the database with whatever `SQLite` their system has.
#[test]
fn stock_builds_read_every_view() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1}), json!({"a": 2})]));
    let model = world.model("m");
    answer_all(&mut world, "s", model, Strategy::P);
    let plain = Connection::open(world.path()).expect("a second connection");
    let mut statement = plain.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").expect("a query");
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("names");
    let reads = names.iter().map(|name| format!("SELECT count(*) FROM {name};")).collect::<Vec<_>>().concat();
    let python = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  [print(*db.execute(read).fetchone()) for read in sys.argv[2].split(';') if read]";
    let path = world.path();
    for (program, first) in [("sqlite3", None), ("python3", Some(["-c", python]))] {
        let done = Command::new(program).args(first.iter().flatten()).arg(&path).arg(&reads).output();
        match done {
            Ok(done) if done.status.success() => {
                let counts = String::from_utf8(done.stdout).expect("digits");
                assert_eq!(counts.split_whitespace().count(), names.len(), "{program}: {counts}");
            }
            Ok(done) => panic!("{program}: {}", String::from_utf8_lossy(&done.stderr)),
            Err(error) => println!("skipped: {program} cannot be run: {error}"),
        }
    }
}
