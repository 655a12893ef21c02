//! Scripted answers to the pipeline's orders: what it asks, what it refuses, what it makes of messages.

use serde_json::json;

use super::*;

fn scenario() -> Scenario {
    let text = json!({
        "name": "parcels", "description": "Parcels.",
        "schema": {"type": "object", "properties": {"Name": {"type": "string"}, "Zip": {"type": "string"}}},
        "examples": [{"text": "Ann of 10115 asks", "json": {"Name": "Ann", "Zip": "10115"}}],
        "prompts": {"generate": "Write of {{ json }}"}
    });
    crate::scenario::parse_outline(&text.to_string()).expect("a good outline").scenario
}

fn profile() -> Profile {
    let config: toml::Table = toml::from_str(include_str!("../../config.toml")).expect("TOML");
    let mut greedy = config["profiles"]["greedy"].as_table().expect("a table").clone();
    greedy.insert("name".into(), "test".into());
    greedy.try_into().expect("a profile")
}

fn said(output: &str, finish: Finish) -> Generation {
    Generation { output: output.into(), finish, ..Generation::default() }
}

fn asked(outcome: Option<Outcome>) -> Order {
    match outcome {
        Some(Outcome::Ask(order)) => *order,
        other => panic!("{other:?} is no order"),
    }
}

fn finished(outcome: Option<Outcome>) -> Candidate {
    match outcome {
        Some(Outcome::Finished(candidate)) => candidate,
        other => panic!("{other:?} is no candidate"),
    }
}

fn plan<'s>(scenario: &'s Scenario, profile: &'s Profile, wanted: usize) -> Plan<'s> {
    Plan { scenario, profile, wanted, seed: 7 }
}

#[test]
fn a_candidate_is_an_object_that_is_new_and_then_its_message() {
    let (scenario, profile) = (scenario(), profile());
    let mut pipeline = Pipeline::new(plan(&scenario, &profile, 1), &[]).expect("good");
    let object = pipeline.begin().expect("one is wanted");
    assert!(pipeline.begin().is_none(), "only one is wanted");
    insta::assert_snapshot!(object.messages[0].content);
    let Constraint::Schema(schema) = &object.constraint else { panic!("objects are drawn under the schema") };
    assert_eq!(schema["required"], json!(["Name", "Zip"]));

    let again = asked(
        pipeline.answer(object.id, &said(r#"{"Name": "ANN", "Zip": "10115"}"#, Finish::Complete)).unwrap(),
    );
    assert!(again.seed != object.seed && matches!(again.constraint, Constraint::Schema(_)), "Ann is taken");
    let again = asked(pipeline.answer(again.id, &said(r#"{"Name": "Bo"#, Finish::MaxTokens)).unwrap());
    let message = asked(
        pipeline.answer(again.id, &said(r#"{"Name": "Bo", "Zip": "20095"}"#, Finish::Complete)).unwrap(),
    );
    assert_eq!(message.constraint, Constraint::None);
    assert_eq!(message.messages[0].content, "Write of {\n  \"Name\": \"Bo\",\n  \"Zip\": \"20095\"\n}");
    let candidate =
        finished(pipeline.answer(message.id, &said(" Bo here, at 20095.\n", Finish::Stop)).unwrap());
    insta::assert_snapshot!(serde_json::to_string(&candidate).unwrap(), @r#"{"scenario":"parcels","id":"generated-465202a7aead","text":"Bo here, at 20095.","expected":{"Name":"Bo","Zip":"20095"},"verified":true,"reasons":[]}"#);
    assert_eq!((pipeline.progress(), pipeline.n_under_way()), ((1, 1), 0));
    assert_eq!(pipeline.answer(99, &said("", Finish::Stop)).unwrap(), None);
}

#[test]
fn what_a_message_lacks_is_said() {
    let (scenario, profile) = (scenario(), profile());
    let mut pipeline = Pipeline::new(plan(&scenario, &profile, 4), &[]).expect("good");
    let mut candidate = |name: &str, message: &str, finish| {
        let object = pipeline.begin().expect("one is wanted");
        let drawn = json!({"Name": name, "Zip": format!("0{name}")}).to_string();
        let message_order = asked(pipeline.answer(object.id, &said(&drawn, Finish::Complete)).unwrap());
        finished(pipeline.answer(message_order.id, &said(message, finish)).unwrap())
    };
    let table = [
        candidate("Cy", "Dy asks for 0Cy", Finish::Stop),
        candidate("Ed", "Ed 0Ed Ed 0Ed Ed 0Ed", Finish::Loop),
        candidate("Flo", "<think>Ed 0Ed Ed 0Ed Ed 0Ed</think> Ed 0Ed Ed 0Ed Ed 0Ed", Finish::Stop),
        candidate("Gus", " ", Finish::Stop),
    ];
    assert!(table.iter().all(|candidate| !candidate.verified));
    let reasons: Vec<String> = table.iter().map(|candidate| candidate.reasons.join(" | ")).collect();
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn a_model_without_ideas_is_given_up() {
    let (scenario, profile) = (scenario(), profile());
    let mut pipeline = Pipeline::new(plan(&scenario, &profile, 9), &[]).expect("good");
    let mut order = pipeline.begin().expect("one is wanted");
    for _ in 1..MAX_REFUSED {
        order = asked(
            pipeline.answer(order.id, &said(r#"{"Name": "Ann", "Zip": "10115"}"#, Finish::Complete)).unwrap(),
        );
    }
    let dead =
        pipeline.answer(order.id, &said(r#"{"Name": "Ann", "Zip": "10115"}"#, Finish::Complete)).unwrap_err();
    assert!(dead.to_string().contains("an example is the same"), "{dead}");

    let order = pipeline.begin().expect("another is wanted");
    let generation = Generation { error: Some("no memory".into()), ..said("", Finish::Errored) };
    assert_eq!(pipeline.answer(order.id, &generation).unwrap_err().to_string(), "errored: no memory");
}

#[test]
fn prompts_that_are_too_long_lead_to_other_draws_and_not_for_ever() {
    let (scenario, profile) = (scenario(), profile());
    let mut pipeline = Pipeline::new(plan(&scenario, &profile, 1), &[]).expect("good");
    let too_long = Generation { error: Some("9 tokens".into()), ..said("", Finish::PromptTooLong) };
    let mut order = pipeline.begin().expect("one is wanted");
    let mut seeds = HashSet::from([order.seed]);
    for n in 1..MAX_REFUSED {
        if n % 2 == 0 {
            let object = json!({"Name": format!("N{n}"), "Zip": format!("Z{n}")}).to_string();
            order = asked(pipeline.answer(order.id, &said(&object, Finish::Complete)).unwrap());
            assert!(seeds.insert(order.seed) && order.constraint == Constraint::None);
        }
        order = asked(pipeline.answer(order.id, &too_long).unwrap());
        assert!(seeds.insert(order.seed), "another draw");
        assert!(matches!(order.constraint, Constraint::Schema(_)), "of an object");
    }
    let dead = pipeline.answer(order.id, &too_long).unwrap_err().to_string();
    assert!(dead.contains("the prompt is too long (9 tokens)") && dead.contains("another --seed"), "{dead}");
}

#[test]
fn it_goes_on_after_what_is_there() {
    let (scenario, profile) = (scenario(), profile());
    let there = Candidate {
        scenario: "parcels".into(),
        id: format!("generated-{}", &sha256(b"Cy, 2")[..ID_DIGITS]),
        text: "Bo".into(),
        expected: json!({"Name": "Bo", "Zip": "9"}),
        verified: true,
        reasons: Vec::new(),
    };
    let taken = there.id.clone();
    let mut pipeline = Pipeline::new(plan(&scenario, &profile, 2), &[there]).expect("good");
    let order = pipeline.begin().expect("one more is wanted");
    assert!(pipeline.begin().is_none());
    let order =
        asked(pipeline.answer(order.id, &said(r#"{"Name": "Bo", "Zip": "9"}"#, Finish::Complete)).unwrap());
    let order =
        asked(pipeline.answer(order.id, &said(r#"{"Name": "Cy", "Zip": "2"}"#, Finish::Complete)).unwrap());
    let candidate = finished(pipeline.answer(order.id, &said("Cy, 2", Finish::Stop)).unwrap());
    assert_eq!(candidate.id, format!("{taken}-2"), "the id is taken");
}

#[test]
fn a_schema_that_cannot_be_enforced_is_refused_by_keyword() {
    let (mut scenario, profile) = (scenario(), profile());
    scenario.schema = json!({"properties": {"a": {"pattern": "(?<=x)y"}}});
    let dead =
        Pipeline::new(plan(&scenario, &profile, 1), &[]).err().expect("a look-behind cannot be enforced");
    assert!(dead.to_string().contains("pattern"), "{dead}");
}
