use std::sync::mpsc::channel;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::decode::engine::Card;
use crate::decode::engine::scripted::{ScriptedModel, answering, byte_vocab};
use crate::prompt::{Message, Role};

fn profile(text: &str) -> Arc<Profile> {
    let layer = crate::config::Layer::file(&format!("[profiles.greedy]\n{text}"), "test").unwrap();
    Arc::new(crate::config::Config::parse(&[layer], std::path::Path::new(".")).unwrap().profile)
}

fn order(id: u64, text: &str, constraint: Constraint, profile: &Arc<Profile>) -> Request {
    let messages = Arc::new(vec![Message { role: Role::User, content: text.into() }]);
    let profile = Arc::clone(profile);
    Request::Attempt(Box::new(Order { id, messages, constraint, profile, seed: 1, wants_prompt: id == 0 }))
}

/// Serves all the requests, then ends; what came back, by id.
fn run(model: &mut dyn Model, shape: Shape, requests: Vec<Request>) -> HashMap<u64, Generation> {
    let (sender, receiver) = channel();
    requests.into_iter().chain([Request::Finish]).for_each(|request| sender.send(request).unwrap());
    let mut done = HashMap::new();
    serve(model, shape, &receiver, &mut |reply| {
        if let Reply::Done { id, generation } = reply {
            assert!(done.insert(id, *generation).is_none(), "attempt {id} ended twice");
        }
    })
    .unwrap();
    done
}

fn echo(context: u32) -> ScriptedModel {
    let vocab = Arc::new(byte_vocab(&["{\"", "\": ", "ab", "abc", "}\n"]));
    answering(vocab, context, |prompt| format!("{{\"{prompt}\": {}}} and more", prompt.len()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn slots_and_batch_size_change_no_text(
        texts in prop::collection::vec("[a-c]{1,12}", 1..12), slots in 1u32..6, batch in 1u32..40, reuse: bool, forgets: bool,
    ) {
        let profile = profile("max_tokens = 60\ncontext = 200");
        let shape = Shape { slots, batch: batch.max(slots), reuse };
        let constraints = [Constraint::None, Constraint::Json, Constraint::Schema(Arc::new(json!({"type": "object"})))];
        let requests = (0..).zip(&texts).map(|(id, text)| {
            order(id, text, constraints[id as usize % 3].clone(), &profile)
        });
        let mut model = echo(200);
        model.forgets_in_part = forgets;
        let done = run(&mut model, shape, requests.collect());
        prop_assert_eq!(done.len(), texts.len());
        let (n_reused, n_fed) = done.values().fold((0, 0), |(reused, fed), generation| {
            let cost = &generation.cost;
            // The token that completes a constraint is never evaluated, nor is one that ends a text.
            (reused + cost.n_reused, fed + cost.n_prompt - cost.n_reused + cost.n_output - u32::from(generation.finish == Finish::Complete))
        });
        prop_assert_eq!(model.n_evaluated as u32, n_fed, "evaluated exactly what was not reused");
        prop_assert!(reuse && forgets || n_reused == 0);
        for (id, text) in (0..).zip(&texts) {
            let json = format!("{{\"{text}\": {}}}", text.len());
            let (output, finish) = match id % 3 {
                0 => (format!("{json} and more"), Finish::Stop),
                _ => (json, Finish::Complete),
            };
            let generation = &done[&id];
            prop_assert_eq!((&generation.output, generation.finish), (&output, finish));
            prop_assert!(generation.cost.n_reused < generation.cost.n_prompt);
        }
    }
}

#[test]
fn limits_end_attempts_each_by_its_own_reason() {
    let table = [
        ("", "ab", Finish::Stop),
        ("max_tokens = 4", "ab", Finish::MaxTokens),
        ("timeout_s = 0", "ab", Finish::Timeout),
        ("max_tokens = 60\ncontext = 69", "abcabc", Finish::PromptTooLong),
        ("loop_tokens = 12", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", Finish::Loop),
        ("loop_spaces = 9", "x            y", Finish::Loop),
    ];
    for (settings, text, finish) in table {
        let defaults = if settings.contains("max_tokens") { "" } else { "max_tokens = 100\n" };
        let profile = profile(&format!("{defaults}{settings}"));
        let done = run(
            &mut echo(300),
            Shape { slots: 2, batch: 64, reuse: true },
            vec![order(0, text, Constraint::None, &profile)],
        );
        assert_eq!(done[&0].finish, finish, "{settings}: {:?}", done[&0]);
    }
}

#[test]
fn a_refused_choice_is_made_again_under_the_mask() {
    let vocab = Arc::new(byte_vocab(&["no", "\"no\"", "[1", ",2]"]));
    let schema = json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"],
        "additionalProperties": false});
    let mut model = answering(vocab, 300, |_| "no".into());
    let profile = profile("max_tokens = 100\nwhitespace = \"compact\"");
    let requests = vec![
        order(0, "x", Constraint::Schema(Arc::new(schema)), &profile),
        order(1, "x", Constraint::Schema(Arc::new(json!({"pattern": "(?<=x)y"}))), &profile),
    ];
    let done = run(&mut model, Shape { slots: 1, batch: 64, reuse: true }, requests);
    assert_eq!((done[&0].output.as_str(), done[&0].finish), (r#"{"a":1}"#, Finish::Complete));
    assert!(done[&0].cost.n_masks > 0 && done[&0].prompt.is_some());
    assert_eq!(done[&1].finish, Finish::UnsupportedSchema);
    assert!(done[&1].error.as_ref().unwrap().contains("pattern"), "{:?}", done[&1].error);
}

#[test]
fn reasoning_runs_free_to_its_end_and_within_its_budget() {
    let table = [
        // Reasons, then answers under the constraint.
        ("thinking_tokens = 100", "<think>hm {</think>{} x", "<think>hm {</think>{}"),
        // Does not reason: the constraint holds from the first token.
        ("thinking_tokens = 100", "{} x", "{}"),
        // Reasons too long: the end is fed, then the answer begins.
        ("thinking_tokens = 9", "<think>hm hm hm", "<think>hm</think>\n\n{}"),
    ];
    for (settings, says, expected) in table {
        let vocab = Arc::new(byte_vocab(&[]));
        let mut model = answering(vocab, 300, move |_| says.into());
        let profile =
            profile(&format!("max_tokens = 100\nthinking = true\nwhitespace = \"compact\"\n{settings}"));
        let schema = Constraint::Schema(Arc::new(json!({"type": "object", "additionalProperties": false})));
        let done = run(
            &mut model,
            Shape { slots: 1, batch: 64, reuse: true },
            vec![order(0, "x", schema, &profile)],
        );
        assert_eq!(done[&0].output, expected, "{settings} {says}");
    }
}

#[test]
fn there_is_exactly_one_begin_token_where_the_model_wants_one() {
    let table: [(bool, &[u32], &[u32]); 6] = [
        (true, &[5, 6], &[1, 5, 6]),
        (true, &[1, 5, 6], &[1, 5, 6]),
        (true, &[1, 1, 5, 6], &[1, 5, 6]),
        (false, &[5, 6], &[5, 6]),
        (false, &[1, 5, 1], &[1, 5, 1]),
        (true, &[], &[1]),
    ];
    for (adds_bos, written, expected) in table {
        let card = Card { bos: Some((1, "<s>".into())), adds_bos, ..Card::default() };
        let tokens = with_one_bos(written.iter().copied().map(TokenId).collect(), &card);
        assert_eq!(
            tokens,
            expected.iter().copied().map(TokenId).collect::<Vec<_>>(),
            "{adds_bos} {written:?}"
        );
    }
}

#[test]
fn drained_orders_are_forgotten_and_logits_that_are_no_numbers_end_the_attempt() {
    let profile = profile("max_tokens = 50");
    let mut requests: Vec<Request> = (0..3).map(|id| order(id, "ab", Constraint::None, &profile)).collect();
    requests.insert(2, Request::Drain);
    let done = run(&mut echo(300), Shape { slots: 1, batch: 64, reuse: true }, requests);
    assert_eq!(done.keys().copied().collect::<Vec<_>>(), [2], "all three came before the first was seated");

    let vocab = Arc::new(byte_vocab(&[]));
    let broken = vec![f32::NAN; vocab.len()];
    let card = Card { context: 300, ..Card::default() };
    let mut model = ScriptedModel::new(vocab, card, Box::new(move |_| broken.clone()));
    let done = run(
        &mut model,
        Shape { slots: 1, batch: 64, reuse: true },
        vec![order(0, "ab", Constraint::None, &profile)],
    );
    assert_eq!(done[&0].finish, Finish::Errored);
    assert!(done[&0].error.as_ref().unwrap().contains("not numbers"));
}

#[test]
fn a_grammar_holds_the_text_as_a_schema_does() {
    let vocab = Arc::new(byte_vocab(&["no", "pe", "[1", ",2]"]));
    let mut model = answering(vocab, 300, |_| "no".into());
    let profile = profile("max_tokens = 100");
    let requests = ["root ::= \"nope\"", "root ::= \"no\" \"!\"*", "root ::= \"[1,2]\"", "root ::= other"];
    let requests =
        (0..).zip(requests).map(|(id, text)| order(id, "x", Constraint::Grammar(text.into()), &profile));
    let done = run(&mut model, Shape { slots: 2, batch: 64, reuse: true }, requests.collect());
    let ended = |id| (done[&id].output.as_str(), done[&id].finish);
    assert_eq!(ended(0), ("nope", Finish::Complete), "nothing can follow");
    assert_eq!(ended(1), ("no", Finish::Complete), "it may end, and the model wants to");
    assert_eq!(ended(2), ("[1,2]", Finish::Complete));
    assert_eq!(done[&3].finish, Finish::UnsupportedSchema);
    assert!(done[&3].error.as_ref().unwrap().contains("no rule `other`"), "{:?}", done[&3].error);
}
