//! Scenario files in, rows and figures out: the daemon with the scripted worker, real files, real SQLite.

mod house;

use std::fs;

use house::{House, WORDS, rows, scenario};

#[test]
fn a_sweep_runs_every_cell_once_and_a_second_one_costs_nothing() {
    let house = House::with_models(&["alpha", "beta"]);
    house.drop_in("words.json", &scenario("words", &WORDS));
    let ending = house.sweep().unwrap();
    assert_eq!((ending.n_missing, ending.n_errored, ending.given_up), (0, 0, Vec::new()));
    insta::assert_snapshot!(rows(
        &house,
        "SELECT model, strategy, tests, flawless, failed, f1_micro, doc_micro, score, points, complete FROM leaderboard ORDER BY 1, 2"
    ));
    insta::assert_snapshot!(rows(
        &house,
        "SELECT strategy, \"case\", outcome, finish, output FROM case_results WHERE model = 'alpha' ORDER BY 2, 1"
    ));
    assert_eq!(rows(&house, "SELECT count(*), count(DISTINCT key) FROM attempts"), "30|30");
    assert_eq!(rows(&house, "SELECT count(*) FROM prompts"), "10");
    // J and J+ send one prompt, P, PJ and PJ+ another: two prompts in five are evaluated.
    assert_eq!(
        rows(&house, "SELECT model, attempts, saved > 0.5, evaluated < prompt_tokens FROM work"),
        "alpha|15|1|1\nbeta|15|1|1"
    );

    house.drop_in("again.json", &scenario("words", &WORDS));
    house.sweep().unwrap();
    assert_eq!(rows(&house, "SELECT count(*) FROM attempts"), "30", "the same file again costs nothing");
    assert_eq!(
        rows(
            &house,
            "SELECT count(*), count(DISTINCT host), min(host LIKE '%cores: %') FROM runs WHERE ending = 'finished'"
        ),
        "2|1|1"
    );
}

#[test]
fn a_corrected_scenario_runs_only_what_its_change_can_alter() {
    let house = House::with_models(&["alpha"]);
    house.drop_in("words.json", &scenario("words", &WORDS));
    house.sweep().unwrap();

    // Another expected value: no text can change, one verdict of each strategy does.
    let mut words = WORDS;
    words[1].2 = r#"{"word": "no", "extra": 1}"#;
    house.drop_in("words.json", &scenario("words", &words));
    house.sweep().unwrap();
    assert_eq!(rows(&house, "SELECT count(*) FROM attempts"), "15");
    assert_eq!(
        rows(
            &house,
            "SELECT sum(flawless), sum(tests), min(complete) FROM leaderboard WHERE strategy IN ('P', 'PJ')"
        ),
        "4|6|1"
    );

    // Another description in the schema: the plain prompts do not show it, but J+ is held to the schema.
    let described = scenario("words", &words)
        .replace(r#""word":{"type":"string"}"#, r#""word":{"type":"string","description":"a word"}"#);
    house.drop_in("words.json", &described);
    house.sweep().unwrap();
    assert_eq!(
        rows(&house, "SELECT strategy, count(*) FROM attempts GROUP BY 1 ORDER BY 1"),
        "J|3\nJ+|6\nP|6\nPJ|6\nPJ+|6"
    );

    // More cases for it, as lines.
    house.drop_in(
        "more.jsonl",
        r#"{"scenario": "words", "id": "more", "text": "say {\"word\": \"x\"}", "expected": {"word": "x"}}"#,
    );
    house.sweep().unwrap();
    assert_eq!(rows(&house, "SELECT done, missing FROM coverage GROUP BY 1, 2"), "4|0");
}

#[test]
fn what_counts_was_held_to_the_grammar_that_there_is_now() {
    let house = House::with_models(&["alpha"]);
    fs::create_dir(house.folder.path().join("grammars")).unwrap();
    let named = scenario("words", &WORDS).replacen('{', r#"{"grammar": "fixed", "#, 1);
    // The third time it is the first one's again: what that one brought is there already.
    for (word, n_attempts) in [("one", "15"), ("two", "21"), ("one", "21")] {
        let grammar = format!(r#"root ::= "{{\"word\": \"{word}\"}}""#);
        fs::write(house.folder.path().join("grammars/fixed.gbnf"), grammar).unwrap();
        house.drop_in("words.json", &named);
        house.sweep().unwrap();
        let outputs = "SELECT DISTINCT output FROM case_results WHERE strategy IN ('J', 'PJ')";
        assert_eq!(rows(&house, outputs), format!(r#"{{"word": "{word}"}}"#));
        assert_eq!(rows(&house, "SELECT count(*) FROM attempts"), n_attempts);
        assert_eq!(rows(&house, "SELECT done, missing FROM coverage GROUP BY 1, 2"), "3|0");
    }
}

#[test]
fn crashes_hangs_and_refusals_are_recorded_and_survived() {
    let mut house = House::with_models(&["alpha", "refused"]);
    house.settings = "[engine]\nstall_s = 1\n[sweep]\nstrategies = [\"P\"]".into();
    house.drop_in(
        "words.json",
        &scenario(
            "words",
            &[
                ("a", r#"{"word": "a"}"#, r#"{"word": "a"}"#),
                ("b", r#"crash once {"word": "b"}"#, r#"{"word": "b"}"#),
                ("c", r#"crash always {"word": "c"}"#, r#"{"word": "c"}"#),
                ("d", r#"hang {"word": "d"}"#, r#"{"word": "d"}"#),
                ("e", r#"{"word": "e"}"#, r#"{"word": "e"}"#),
            ],
        ),
    );
    let ending = house.sweep().unwrap();
    assert_eq!(
        (ending.n_errored, ending.n_missing),
        (2, 5),
        "c and d stand as errored, the refused model has its five left"
    );
    assert_eq!(ending.given_up, [("refused".to_owned(), "this model refuses to be loaded".to_owned())]);
    assert_eq!(
        rows(&house, "SELECT \"case\", outcome, finish FROM case_results WHERE model = 'alpha' ORDER BY 1"),
        "a|clean|stop\nb|clean|stop\nc|errored|errored\nd|errored|errored\ne|clean|stop"
    );
    let errors = rows(&house, "SELECT DISTINCT error FROM attempts WHERE finish = 'errored' ORDER BY 1");
    assert!(errors.contains("SIGABRT") && errors.contains("no sign of the worker for 1 s"), "{errors}");
    let logs = rows(&house, "SELECT DISTINCT error_log FROM attempts WHERE error LIKE '%SIGABRT%'");
    assert!(logs.contains("crashing as told"), "{logs}");
    assert_eq!(
        rows(&house, "SELECT problem FROM models WHERE name = 'refused'"),
        "this model refuses to be loaded"
    );
    let coverage = rows(&house, "SELECT model, done, errored, missing FROM coverage ORDER BY 1");
    assert_eq!(coverage, "alpha|3|2|0\nrefused|0|0|5");
    assert_eq!(rows(&house, "SELECT complete FROM leaderboard"), "0");
}

#[test]
fn a_schema_that_cannot_be_enforced_is_recorded_by_keyword_and_the_rest_runs() {
    let house = House::with_models(&["alpha"]);
    let text = scenario("words", &WORDS)
        .replace(r#""word":{"type":"string"}"#, r#""word":{"type":"string","pattern":"(?<=x)y"}"#);
    house.drop_in("words.json", &text);
    house.sweep().unwrap();
    let outcomes = rows(
        &house,
        "SELECT strategy, outcome, count(*) FROM case_results WHERE strategy LIKE '%+' GROUP BY 1, 2 ORDER BY 1",
    );
    assert_eq!(outcomes, "J+|unsupported_schema|3\nPJ+|unsupported_schema|3");
    assert!(rows(&house, "SELECT DISTINCT error FROM attempts WHERE error IS NOT NULL").contains("pattern"));
}

#[test]
fn a_bad_file_blocks_only_itself_and_says_what_would_be_right() {
    let house = House::with_models(&["alpha"]);
    house.drop_in("bad.json", r#"{"name": "bad", "casess": []}"#);
    house.drop_in("lost.jsonl", r#"{"scenario": "wrds", "text": "x", "expected": {}}"#);
    house.drop_in("words.json", &scenario("words", &WORDS));
    assert_eq!(house.sweep().unwrap().n_rejected, 2);
    let rejected = house.state().join("rejected");
    let sidecar = |name: &str| fs::read_to_string(rejected.join(name)).unwrap();
    assert!(sidecar("bad.error.json").contains("casess"), "{}", sidecar("bad.error.json"));
    assert!(sidecar("lost.error.json").contains("wrds"), "{}", sidecar("lost.error.json"));
    assert!(rejected.join("bad.json").is_file() && house.state().join("processed/words.json").is_file());
    assert_eq!(
        rows(&house, "SELECT name, outcome FROM files ORDER BY 1"),
        "bad.json|rejected\nlost.jsonl|rejected\nwords.json|stored"
    );
    assert_eq!(rows(&house, "SELECT count(*) FROM attempts"), "15");
}
