use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::channel;

use proptest::prelude::*;
use serde_json::json;

use super::cells::{COPY_WORTH, Pick, Place};
use super::seat::with_one_bos;
use super::*;
use crate::decode::engine::Card;
use crate::decode::engine::frames::{Cost, Generation};
use crate::decode::engine::scripted::{ScriptedModel, answering, byte_vocab};
use crate::decode::profile::Profile;
use crate::decode::vocab::TokenId;
use crate::prompt::{Message, Role, completion};

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

/// What three strategies ask with one prompt: nothing enforced, JSON, and a schema that leads away from the echo.
fn constraints() -> [Constraint; 3] {
    let schema = json!({"type": "object", "properties": {"z": {"enum": ["ab", 1]}}, "required": ["z"]});
    [Constraint::None, Constraint::Json, Constraint::Schema(Arc::new(schema))]
}

/// Each text under each constraint.
fn triples(texts: &[String], profile: &Arc<Profile>) -> Vec<Request> {
    let each = (0..).zip(texts).flat_map(|(index, text)| {
        (0..).zip(constraints()).map(move |(offset, constraint)| (3 * index + offset, text, constraint))
    });
    each.map(|(id, text, constraint)| order(id, text, constraint, profile)).collect()
}

const ALONE: Shape = Shape::plain(1, 512);

/// All that attempts can save.
fn thrifty(slots: u32, batch: u32) -> Shape {
    Shape {
        reuse: true,
        share: true,
        drafts: Switch::On,
        draft_forced: true,
        group_by_length: true,
        slots,
        batch,
    }
}

fn n_slots(batch: &[BatchToken]) -> usize {
    batch.iter().map(|token| token.slot).collect::<HashSet<_>>().len()
}

/// What has to be the same however attempts are decoded.
fn texts(done: &HashMap<u64, Generation>) -> BTreeMap<u64, (String, Finish, u32, u32)> {
    let facts = |g: &Generation| (g.output.clone(), g.finish, g.cost.n_prompt, g.cost.n_output);
    done.iter().map(|(id, generation)| (*id, facts(generation))).collect()
}

fn on_account(done: &HashMap<u64, Generation>) -> usize {
    done.values().map(|generation| generation.cost.n_evaluated as usize).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn slots_batches_and_sharing_change_no_text(
        prompts in prop::collection::vec("[ab]{0,40}c?", 1..8), slots in 1u32..6, batch in 4u32..40,
        block in 1u32..5,
        reuse: bool, share: bool, forgets: bool, hot: bool, drafts: bool, draft_forced: bool, group_by_length: bool,
    ) {
        let settings = if hot { "max_tokens = 40\ncontext = 200\ntemperature = 0.3" } else { "max_tokens = 60\ncontext = 200" };
        let profile = profile(settings);
        let mut plain = echo(200);
        let expected = run(&mut plain, ALONE, triples(&prompts, &profile));
        prop_assert_eq!(on_account(&expected), plain.n_evaluated);
        let mut model = echo(200);
        model.forgets_in_part = forgets;
        model.card.traffic = Some(Traffic { weights: 20, token: 1, step: 8, block });
        let switch = if drafts { Switch::On } else { Switch::Off };
        let batch = batch.max(slots);
        let shape = Shape { slots, batch, reuse, share, drafts: switch, draft_forced, group_by_length };
        let done = run(&mut model, shape, triples(&prompts, &profile));
        prop_assert_eq!(texts(&done), texts(&expected));
        prop_assert_eq!(on_account(&done), model.n_evaluated);
        let sum = |count: fn(&Cost) -> u32| done.values().map(|generation| count(&generation.cost) as usize).sum::<usize>();
        let (n_drafted, n_accepted) = (sum(|cost| cost.n_drafted), sum(|cost| cost.n_accepted));
        prop_assert!(n_accepted <= n_drafted && (drafts || n_drafted == 0));
        // A token is evaluated as it would be had its text been decoded alone, or logits are rounded differently.
        let unlike = |(text, alone): (&u64, &bool)| plain.alone.get(text).is_some_and(|plain| plain != alone);
        prop_assert!(drafts || !model.alone.iter().any(unlike));
        let whole = |batch: &Vec<BatchToken>| matches!(n_slots(batch), n if n == 1 || n == batch.len());
        prop_assert!(drafts || model.batches.iter().all(whole));
        let n_forced = sum(|cost| cost.n_forced);
        prop_assert!(n_forced <= n_accepted && (draft_forced || n_forced == 0));
        // A model that forgets nothing in part has to read again what a copy would have given it.
        let wasted = n_drafted - n_accepted;
        prop_assert!(!forgets || model.n_evaluated <= plain.n_evaluated + wasted);
        for generation in done.values() {
            prop_assert!(generation.cost.n_reused <= generation.cost.n_prompt);
            prop_assert!(reuse && forgets || share || generation.cost.n_reused == 0);
        }
        // A model that cannot forget in part says so at the first copy that is too long; from then on only what is
        // wanted whole is copied, and that is a fork.
        prop_assert!(forgets || model.n_copies <= 1 + done.len());
    }

    #[test]
    fn with_slots_enough_nothing_is_evaluated_twice(tails in prop::collection::vec("[ab]{1,30}c?", 1..4), reuse: bool) {
        let profile = profile("max_tokens = 60\ncontext = 600");
        // A scenario's words, long enough for a second reading of them to stand out from the spare tokens below.
        let prompts: Vec<String> = tails.iter().map(|tail| "abba baab ".repeat(25) + tail).collect();
        let mut model = echo(600);
        let shape = Shape { reuse, share: true, ..Shape::plain(20, 512) };
        let done = run(&mut model, shape, triples(&prompts, &profile));
        let mut nodes = HashSet::new();
        for (id, generation) in &done {
            let prompt = completion(&[Message { role: Role::User, content: prompts[*id as usize / 3].clone() }]);
            let text = model.tokenize(&(prompt + &generation.output));
            let tree = if reuse { 0 } else { id / 3 };
            nodes.extend((1..=text.len()).map(|n| (tree, text[..n].to_vec())));
        }
        // A short common beginning is read again rather than copied.
        let spare = (COPY_WORTH + 2) * done.len();
        prop_assert!(model.n_evaluated <= nodes.len() + spare, "{} of {} + {spare}", model.n_evaluated, nodes.len());
        prop_assert!(model.n_copies < 2 * done.len());
    }
}

#[test]
fn a_fork_goes_on_in_the_slot_that_its_text_was_left_in() {
    let profile = profile("max_tokens = 300\ncontext = 600");
    // The first one's answer is the first to end, when the fork of the second one stands before its own: it came later.
    let prompts = ["ba".repeat(20), "ab".repeat(50)];
    let n_evaluated = |slots: u32| {
        let requests = triples(&prompts, &profile).into_iter().enumerate();
        let mut model = echo(600);
        let pairs = requests.filter(|(index, _)| index % 3 != 1).map(|(_, request)| request);
        run(&mut model, Shape { reuse: true, share: true, ..Shape::plain(slots, 512) }, pairs.collect());
        model.n_evaluated
    };
    assert_eq!(n_evaluated(2), n_evaluated(20));
}

#[test]
fn a_thousand_cases_through_two_slots() {
    let profile = profile("max_tokens = 60\ncontext = 120");
    let prompts: Vec<String> =
        (0..700).map(|n| format!("{:b}", n * n % 509).replace('0', "a").replace('1', "b")).collect();
    let mut model = echo(120);
    let done = run(&mut model, thrifty(2, 16), triples(&prompts, &profile));
    let expected = run(&mut echo(120), ALONE, triples(&prompts, &profile));
    assert_eq!(done.len(), 2100);
    assert_eq!(texts(&done), texts(&expected));
    assert_eq!(on_account(&done), model.n_evaluated);
}

#[test]
fn what_a_schema_forces_is_guessed_and_chosen_all_the_same() {
    let name = "name_that_nothing_else_says";
    let schema = json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name],
        "additionalProperties": false});
    let profile = profile("max_tokens = 100\nwhitespace = \"compact\"");
    let table = [
        // The model would write it anyway; it wants another name, and is led back token by token.
        format!("{{\"{name}\":7}}"),
        "{\"nameless\":7}".into(),
    ];
    for says in table {
        let requests = || vec![order(0, "x", Constraint::Schema(Arc::new(schema.clone())), &profile)];
        let model = || {
            answering(Arc::new(byte_vocab(&["name", "_th", "at_", "no"])), 300, {
                let says = says.clone();
                move |_| says.clone()
            })
        };
        let expected = run(&mut model(), ALONE, requests());
        let done = run(&mut model(), thrifty(1, 64), requests());
        assert_eq!(texts(&done), texts(&expected), "{says}");
        let cost = &done[&0].cost;
        assert!(cost.n_forced > 8 && cost.n_forced == cost.n_accepted, "{says}: {cost:?}");
    }
}

#[test]
fn a_long_prompt_and_texts_that_are_decoded_take_turns() {
    let profile = profile("max_tokens = 100\ncontext = 3000");
    let mut model = echo(3000);
    let prompts = ["ab".to_owned(), "ba".repeat(500)];
    let requests = (0..).zip(&prompts).map(|(id, text)| order(id, text, Constraint::None, &profile));
    run(&mut model, Shape { reuse: true, share: true, ..Shape::plain(2, 32) }, requests.collect());
    let long: Vec<bool> = model.batches.iter().map(|batch| batch.len() > 2).collect();
    let read = long.iter().rposition(|long| *long).unwrap();
    assert!(read > 20, "{long:?}");
    assert!(long[1..=20].chunks(2).all(|two| two[0] != two[1]), "{long:?}");
}

/// What llama.cpp would load for a batch of single tokens: it evaluates together what stands in slots that follow one
/// another, as if all texts were as long as the longest.
fn n_loaded(batch: &[BatchToken], traffic: Traffic) -> u64 {
    let together = batch.chunk_by(|a, b| a.slot.0 + 1 == b.slot.0);
    let loaded = together.map(|texts| {
        let longest = texts.iter().map(|token| token.position + 1).max().unwrap_or(0);
        let n_tokens = texts.len() as u64 * u64::from(longest.next_multiple_of(traffic.step));
        traffic.weights * 3 / 2 + traffic.token * n_tokens
    });
    loaded.sum()
}

#[test]
fn short_and_long_texts_are_evaluated_apart() {
    let traffic = Traffic { weights: 170, token: 1, step: 8, block: 1 };
    let profile = profile("max_tokens = 60\ncontext = 600");
    // As cases come: short questions and long ones in turn, and more of them than slots.
    let prompts: Vec<String> = (0..24)
        .map(|n| format!("{n:05b}").replace('0', "a").replace('1', "b") + &"ab".repeat(n % 2 * 150))
        .collect();
    let loaded = |group_by_length: bool| {
        let mut model = echo(600);
        model.card.traffic = Some(traffic);
        let shape = Shape { group_by_length, drafts: Switch::Off, ..thrifty(8, 512) };
        let done = run(&mut model, shape, triples(&prompts, &profile));
        let decoding = model.batches.iter().filter(|batch| n_slots(batch) == batch.len());
        (texts(&done), decoding.map(|batch| n_loaded(batch, traffic)).sum::<u64>(), model.n_evaluated)
    };
    let (apart, together) = (loaded(true), loaded(false));
    assert_eq!(apart.0, together.0);
    // A slot that is given up for a better place holds little.
    assert!(apart.2 < together.2 * 21 / 20, "{} of {}", apart.2, together.2);
    assert!(apart.1 < together.1 * 9 / 10, "{} of {}", apart.1, together.1);
}

#[test]
fn a_text_that_moves_is_found_in_both_slots() {
    let text: Vec<TokenId> = (0..40).map(TokenId).collect();
    let mut cells = Cells::new(3);
    cells.take(Slot(0), &text, 30);
    cells.shift(Slot(0), Slot(2));
    let place = |cells: &Cells| cells.place(&text, true, COPY_WORTH, true, Pick::Oldest);
    assert_eq!(place(&cells), Some(Place { slot: Slot(0), source: None, n_kept: 30 }));
    cells.take(Slot(0), &[], 0);
    assert_eq!(place(&cells), Some(Place { slot: Slot(1), source: Some(Slot(2)), n_kept: 30 }));
}

#[test]
fn guesses_are_made_on_a_gpu_where_they_pay() {
    let profile = profile("max_tokens = 400\ncontext = 1500\nloop_tokens = 1000");
    for (drafts, on_gpu, guesses) in [
        (Switch::Off, true, false),
        (Switch::Auto, false, false),
        (Switch::Auto, true, true),
        (Switch::On, false, true),
    ] {
        let mut model = echo(1500);
        model.card.on_gpu = on_gpu;
        let shape = Shape { drafts, ..Shape::plain(1, 64) };
        let done = run(&mut model, shape, vec![order(0, &"abcc".repeat(100), Constraint::None, &profile)]);
        assert_eq!(done[&0].cost.n_drafted > 0, guesses, "{drafts:?} {on_gpu}: {:?}", done[&0].cost);
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
        let done = run(&mut echo(300), thrifty(2, 64), vec![order(0, text, Constraint::None, &profile)]);
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
    let done = run(&mut model, thrifty(1, 64), requests);
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
        let done = run(&mut model, thrifty(1, 64), vec![order(0, "x", schema, &profile)]);
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
    let done = run(&mut echo(300), thrifty(1, 64), requests);
    assert_eq!(done.keys().copied().collect::<Vec<_>>(), [2], "all three came before the first was seated");

    let vocab = Arc::new(byte_vocab(&[]));
    let broken = vec![f32::NAN; vocab.len()];
    let card = Card { context: 300, ..Card::default() };
    let mut model = ScriptedModel::new(vocab, card, Box::new(move |_| broken.clone()));
    let done = run(&mut model, thrifty(1, 64), vec![order(0, "ab", Constraint::None, &profile)]);
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
    let done = run(&mut model, thrifty(2, 64), requests.collect());
    let ended = |id| (done[&id].output.as_str(), done[&id].finish);
    assert_eq!(ended(0), ("nope", Finish::Complete), "nothing can follow");
    assert_eq!(ended(1), ("no", Finish::Complete), "it may end, and the model wants to");
    assert_eq!(ended(2), ("[1,2]", Finish::Complete));
    assert_eq!(done[&3].finish, Finish::UnsupportedSchema);
    assert!(done[&3].error.as_ref().unwrap().contains("no rule `other`"), "{:?}", done[&3].error);
}
