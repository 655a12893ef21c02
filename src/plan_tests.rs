use std::collections::HashSet;
use std::path::Path;

use super::*;
use crate::config::{Config, Layer};
use crate::scenario::parse;

fn sweep(settings: &str) -> Sweep {
    let config = Config::parse(&[Layer::file(settings, "test").unwrap()], Path::new(".")).unwrap();
    Sweep {
        strategies: config.sweep.strategies.clone(),
        repeats: config.sweep.repeats,
        seed: config.sweep.seed,
        profile: Arc::new(config.profile),
    }
}

fn subject(schema: &str, texts: &[&str]) -> Subject {
    let cases: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| format!(r#"{{"id": "{n}", "text": "{text}", "expected": {{}}}}"#))
        .collect();
    let text = format!(
        r#"{{"name": "s", "description": "d", "schema": {schema}, "examples": [{{"text": "e", "json": {{}}}}], "cases": [{}]}}"#,
        cases.join(",")
    );
    let scenario = parse(&text).expect("a good scenario").scenario;
    let cases = (0..texts.len() as i64).map(CaseId).collect();
    Subject { cases, scenario, revision: RevisionId(1), grammar: None }
}

fn models(hashes: &[&str]) -> Vec<Contestant> {
    (1..)
        .zip(hashes)
        .map(|(id, sha256)| Contestant { model: ModelId(id), sha256: (*sha256).to_owned() })
        .collect()
}

fn attempts(subject: &Subject, models: &[Contestant], sweep: &Sweep) -> Vec<Attempt> {
    expand(&questions(subject, sweep).unwrap(), models, sweep)
}

fn keys(settings: &str, schema: &str, text: &str, model: &str, strategy: Strategy) -> HashSet<Key> {
    let all = attempts(&subject(schema, &[text]), &models(&[model]), &sweep(settings));
    all.into_iter().filter(|attempt| attempt.strategy == strategy).map(|attempt| attempt.key).collect()
}

#[test]
fn a_sweep_is_the_whole_product_each_model_together() {
    let sweep = sweep("[sweep]\nrepeats = 2");
    let all = attempts(&subject("{}", &["a", "b", "c"]), &models(&["x", "y"]), &sweep);
    assert_eq!(all.len(), 2 * 3 * 5 * 2);
    assert_eq!(all.iter().map(|attempt| &attempt.key).collect::<HashSet<_>>().len(), all.len());
    assert!(all.is_sorted_by_key(|attempt| attempt.model.0));
    let asked: Vec<(i64, &str)> = all
        .iter()
        .take(30)
        .step_by(2)
        .map(|attempt| (attempt.targets[0].case.0, attempt.strategy.tag()))
        .collect();
    let plain = (0..3).flat_map(|case| [(case, "J"), (case, "J+")]);
    let structured = (0..3).flat_map(|case| [(case, "P"), (case, "PJ"), (case, "PJ+")]);
    assert_eq!(asked, plain.chain(structured).collect::<Vec<_>>());
    assert_eq!((all[0].seed, all[1].seed), (1, 2));
}

#[test]
fn questions_that_show_the_schema_are_some_cases_behind() {
    for n_cases in [0, 1, LAG, 3 * LAG] {
        let order = order(n_cases);
        for shown in [false, true] {
            let cases = order.iter().filter(|asked| asked.1 == shown).map(|asked| asked.0);
            assert!(cases.eq(0..n_cases), "{order:?}");
        }
        for (place, (case, shown)) in order.iter().enumerate() {
            let n_plain = order[..place].iter().filter(|asked| !asked.1).count();
            assert!(!shown || n_plain == n_cases.min(case + LAG), "{order:?}");
        }
    }
}

/// Settings, schema, message, model.
type Ingredients = (&'static str, &'static str, &'static str, &'static str);

#[test]
fn a_key_changes_with_exactly_what_can_change_the_text() {
    let base: Ingredients = ("", r#"{"type": "object"}"#, "text", "m");
    let described = r#"{"type": "object", "description": "other words"}"#;
    // What is changed, and for which strategies that makes another text possible.
    let table: [(&str, Ingredients, [bool; 5]); 7] = [
        ("nothing", base, [false; 5]),
        ("the schema's words", ("", described, "text", "m"), [false, true, true, true, true]),
        ("the message", ("", base.1, "texts", "m"), [true; 5]),
        ("the model", ("", base.1, "text", "n"), [true; 5]),
        ("the profile", ("[profiles.greedy]\nmax_tokens = 9", base.1, "text", "m"), [true; 5]),
        (
            "the profile's name",
            ("[sweep]\nprofile = \"other\"\n[profiles.other]\ntop_p = 1.0", base.1, "text", "m"),
            [false; 5],
        ),
        ("slots and threads", ("[engine]\nslots = 1\nthreads = 1", base.1, "text", "m"), [false; 5]),
    ];
    for (what, (settings, schema, text, model), changes) in table {
        for (strategy, changed) in Strategy::ALL.into_iter().zip(changes) {
            let before = keys(base.0, base.1, base.2, base.3, strategy);
            let after = keys(settings, schema, text, model, strategy);
            assert_eq!(before != after, changed, "{what}, {strategy}");
        }
    }
}

#[test]
fn cases_that_ask_the_same_are_asked_once() {
    let all = attempts(&subject("{}", &["same", "other", "same"]), &models(&["x"]), &sweep(""));
    assert_eq!(all.len(), 10);
    let mut shared: Vec<Vec<i64>> =
        all.iter().map(|attempt| attempt.targets.iter().map(|target| target.case.0).collect()).collect();
    shared.sort();
    assert_eq!(shared, [vec![[0, 2].to_vec(); 5], vec![vec![1]; 5]].concat());
}

#[test]
fn what_is_known_decides_what_is_missing() {
    let strange = r#"{"type": "object", "properties": {"word": {"pattern": "(?<=x)y"}}}"#;
    let all = attempts(
        &subject(strange, &["a", "b", "c", "d"]),
        &models(&["x"]),
        &sweep("[sweep]\nstrategies = [\"J\", \"J+\"]"),
    );
    assert!(all.iter().all(|attempt| attempt.unsupported.is_some() == (attempt.strategy == Strategy::JPlus)));
    let key = |index: usize| all[index].key.clone();
    let known = HashMap::from([
        (key(0), Known::Done),
        (key(1), Known::Unsupported),
        (key(2), Known::Errored(1)),
        (key(4), Known::Errored(MAX_TRIES)),
        (key(6), Known::Unsupported),
    ]);
    let index = |attempts: &[Attempt]| -> Vec<usize> {
        attempts.iter().map(|one| all.iter().position(|other| other.key == one.key).unwrap()).collect()
    };
    let plan = split(all.clone(), |key| known.get(key).copied());
    assert_eq!(index(&plan.done), [0, 1]);
    assert_eq!(index(&plan.errored), [4]);
    assert_eq!(index(&plan.missing), [2, 3, 5, 6, 7], "6 was unsupported once, and now is not");
    assert_eq!(plan.missing[0].n_errored, 1);
}

#[test]
fn a_grammar_holds_json_mode_and_its_text_is_part_of_the_key() {
    let (sweep, models) = (sweep(""), models(&["x"]));
    let held_to = |grammar: Option<&str>| {
        let subject = Subject { grammar: grammar.map(Arc::from), ..subject("{}", &["a"]) };
        attempts(&subject, &models, &sweep)
    };
    let [json, one, other] = [None, Some("root ::= \"{}\""), Some("root ::= \"{1}\"")].map(held_to);
    for ((json, one), other) in json.iter().zip(&one).zip(&other) {
        let is_json = matches!(json.strategy, Strategy::J | Strategy::PJ);
        assert_eq!(matches!(one.constraint, Constraint::Grammar(_)), is_json, "{}", json.strategy);
        assert_eq!(json.key != one.key, is_json, "{}", json.strategy);
        assert_eq!(one.key != other.key, is_json, "{}", json.strategy);
    }
}
