//! New cases from the scripted worker: the file of candidates, its end, its continuation, and what goes wrong.

#[expect(dead_code, reason = "the daemon's tests use the rest")]
mod house;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use house::{House, scripted_worker};
use nightjar::decode::engine::process::Launch;
use nightjar::generate::{Candidate, Ending, Error, Output, Pipeline, Plan, Setup, run};
use nightjar::scenario::{Scenario, parse_cases, parse_outline};

const SETTINGS: &str =
    "[generate]\nprofile = \"sure\"\n[profiles.sure]\ntemperature = 0.05\nmax_tokens = 300";

/// A schema and one example, no cases.
fn outline(description: &str, generate: &str) -> Scenario {
    let text = serde_json::json!({
        "name": "words",
        "description": description,
        "schema": {"type": "object", "properties": {"word": {"type": "string"}}},
        "examples": [{"text": "say what", "json": {"word": "what"}}],
        "prompts": {"generate": generate},
    });
    parse_outline(&text.to_string()).expect("a good outline").scenario
}

/// What is in the file after a run that wants so many.
fn generate(house: &House, scenario: &Scenario, wanted: usize) -> (Result<Ending, Error>, Vec<Candidate>) {
    let config = house.config();
    let plan = Plan { scenario, profile: &config.generate_profile, wanted, seed: 1 };
    let (mut output, there) = Output::open(&file(house), &scenario.name).unwrap();
    let mut pipeline = Pipeline::new(plan, &there).unwrap();
    let model = house.folder.path().join("models/alpha.gguf");
    let arguments = vec!["--model".into(), model.into(), "--slots".into(), "3".into()];
    let setup =
        Setup { launch: Launch { program: scripted_worker(), arguments }, stall: Duration::from_secs(20) };
    let ending = run(&mut pipeline, &setup, &mut |candidate, _| output.append(candidate));
    drop(output);
    (ending, Output::open(&file(house), &scenario.name).unwrap().1)
}

fn file(house: &House) -> PathBuf {
    house.state().join("words.generated.jsonl")
}

fn house() -> House {
    let mut house = House::with_models(&["alpha"]);
    house.settings = SETTINGS.into();
    house
}

#[test]
fn candidates_come_one_by_one_and_a_second_run_goes_on() {
    let (house, scenario) = (house(), outline("Words.", "say The word is {{ json }}."));
    let (ending, first) = generate(&house, &scenario, 4);
    assert_eq!(ending.unwrap(), Ending::Finished);
    assert_eq!(first.len(), 4);
    assert!(first.iter().all(|candidate| candidate.verified), "{first:#?}");

    // As a process leaves it that is killed while it writes.
    let mut text = fs::read_to_string(file(&house)).unwrap();
    text.push_str("{\"scenario\":\"words\",\"id\":\"gen");
    fs::write(file(&house), &text).unwrap();
    let (ending, second) = generate(&house, &scenario, 7);
    assert_eq!((ending.unwrap(), second.len()), (Ending::Finished, 7));
    assert_eq!(second[..4], first[..]);
    let distinct =
        |of: fn(&Candidate) -> String| second.iter().map(of).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!((distinct(|c| c.id.clone()), distinct(|c| c.expected.to_string())), (7, 7));

    let lines = parse_cases(&fs::read_to_string(file(&house)).unwrap()).expect("the inbox takes them").lines;
    assert_eq!(lines.len(), 7);
}

#[test]
fn messages_that_do_not_hold_their_object_are_kept_apart() {
    let (house, scenario) = (
        house(),
        outline("Words.", "{# {{ json }} #}say My lips are sealed.{% if false %}{{ json }}{% endif %}"),
    );
    let (ending, candidates) = generate(&house, &scenario, 2);
    assert_eq!((ending.unwrap(), candidates.len()), (Ending::Finished, 2));
    assert!(candidates.iter().all(|candidate| !candidate.verified && !candidate.reasons.is_empty()));
    assert!(candidates[1].reasons[0].contains("another case has the same message"), "{candidates:?}");
    let problems = parse_cases(&fs::read_to_string(file(&house)).unwrap()).unwrap_err();
    assert!(problems[0].to_string().contains("no candidate in it is verified"), "{problems:?}");
}

#[test]
fn what_goes_wrong_is_said_and_leaves_what_is_there() {
    let house = house();
    let (ending, candidates) =
        generate(&house, &outline("uninspired words", "say The word is {{ json }}."), 3);
    let error = ending.unwrap_err();
    assert!(error.repeats(), "another seed is needed");
    let error = error.to_string();
    assert!(error.contains("40 objects in a row were no new ones"), "{error}");
    assert_eq!(candidates.len(), 1, "the first was new");

    let (ending, candidates) = generate(&house, &outline("Words.", "say crash always {{ json }}"), 3);
    let error = ending.unwrap_err();
    assert!(error.repeats(), "another seed is needed");
    let error = error.to_string();
    assert!(error.contains("SIGABRT") && error.contains("crashing as told"), "{error}");
    assert_eq!(candidates.len(), 1);
}

#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let house = house();
    let table = [
        ("{\"a\": 1}\n", "line 1: "),
        (
            "{\"scenario\":\"other\",\"id\":\"1\",\"text\":\"t\",\"expected\":{},\"verified\":true,\"reasons\":[]}\n",
            "this is for `other`",
        ),
    ];
    for (text, words) in table {
        fs::write(file(&house), text).unwrap();
        let error = Output::open(&file(&house), "words").unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(fs::read_to_string(file(&house)).unwrap(), text);
    }
    fs::write(file(&house), "").unwrap();
    let held = Output::open(&file(&house), "words").unwrap();
    let error = Output::open(&file(&house), "words").unwrap_err().to_string();
    assert!(error.contains("another nightjar is writing"), "{error}");
    drop(held);
}
