//! A real model under our constraints: what the mask allowed, the schema accepts.
#![cfg(feature = "llama")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use nightjar::config::{Config, Layer};
use nightjar::decode::engine::frames::{Constraint, Finish, Generation, Order, Reply, Request};
use nightjar::decode::engine::llama::{Options, with_model};
use nightjar::decode::engine::switch::Switch;
use nightjar::decode::engine::worker::{Shape, serve};
use nightjar::decode::engine::{BatchToken, Error, Model, Slot};
use nightjar::decode::profile::Profile;
use nightjar::decode::vocab::TokenId;
use nightjar::prompt::Writer;
use nightjar::scenario::{Scenario, parse};

const OPTIONS: Options = Options {
    slots: 4,
    batch: 512,
    context: 2048,
    threads: 2,
    flash_attention: Switch::Auto,
    batch_invariant: Switch::Auto,
    gpu_layers: 0,
};

/// The models that have been fetched; a line says so when there is none.
fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "gguf")).collect();
    found.sort();
    if found.is_empty() {
        println!("skipped: no model in models/; scripts/fetch-model fetches one");
    }
    found
}

/// Those of them whose texts are known not to depend on their company. Mixtures and models that cannot forget in part may.
#[cfg(target_arch = "x86_64")]
fn kept_apart() -> impl Iterator<Item = PathBuf> {
    let known = ["smollm2-135m", "qwen2.5-coder-0.5b"];
    models().into_iter().filter(move |path| known.iter().any(|name| path.to_string_lossy().contains(name)))
}

fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert_eq!(files.len(), 5);
    files
        .iter()
        .map(|path| parse(&fs::read_to_string(path).unwrap()).expect("a shipped scenario").scenario)
        .collect()
}

fn profile(settings: &str) -> Arc<Profile> {
    let layer = Layer::file(settings, "test").unwrap();
    Arc::new(Config::parse(&[layer], Path::new(".")).unwrap().profile)
}

/// One attempt at a scenario's first case; its id is its seed, too.
fn order(
    id: usize,
    scenario: &Scenario,
    is_structured: bool,
    constraint: Constraint,
    profile: &Arc<Profile>,
) -> Order {
    let messages = Writer::new(scenario).unwrap().write(is_structured, &scenario.cases[0].text).unwrap();
    Order {
        id: id as u64,
        messages,
        constraint,
        profile: Arc::clone(profile),
        seed: id as u64,
        wants_prompt: true,
    }
}

/// What comes of the orders, whose ids count from 0.
fn answers(model: &mut dyn Model, shape: Shape, orders: Vec<Order>) -> Vec<Generation> {
    let (sender, receiver) = channel();
    let mut done: Vec<Option<Generation>> = vec![None; orders.len()];
    for order in orders {
        sender.send(Request::Attempt(Box::new(order))).unwrap();
    }
    sender.send(Request::Finish).unwrap();
    serve(model, shape, &receiver, &mut |reply| {
        if let Reply::Done { id, generation } = reply {
            done[id as usize] = Some(*generation);
        }
    })
    .unwrap();
    done.into_iter().map(|generation| generation.expect("every attempt ends")).collect()
}

const SHARING: Shape = Shape {
    reuse: true,
    share: true,
    drafts: Switch::Auto,
    group_by_length: true,
    ..Shape::plain(OPTIONS.slots, OPTIONS.batch)
};

/// One attempt at the first case of every scenario, decoded by the model.
fn generate(model: &mut dyn Model, scenarios: &[Scenario], settings: &str) -> Vec<Generation> {
    let profile = profile(settings);
    let held_to = |scenario: &Scenario| Constraint::Schema(Arc::new(scenario.schema.clone()));
    let each = scenarios.iter().enumerate();
    let orders = each.map(|(id, scenario)| order(id, scenario, true, held_to(scenario), &profile));
    answers(model, SHARING, orders.collect())
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_text_is_the_same_in_company_as_alone() {
    for path in kept_apart() {
        // llama.cpp computes each token of Q4_1 by itself; of other formats it computes several together.
        let by_itself = path.to_string_lossy().ends_with(".q4_1.gguf");
        let batch_invariant = if by_itself { Switch::Off } else { Switch::On };
        let options = Options { batch_invariant, ..OPTIONS };
        let profile = profile("[profiles.greedy]\nmax_tokens = 40");
        let mut orders = Vec::new();
        for scenario in &scenarios()[..2] {
            let schema = Constraint::Schema(Arc::new(scenario.schema.clone()));
            let asked = [
                (false, Constraint::Json),
                (true, Constraint::None),
                (true, Constraint::Json),
                (false, schema.clone()),
                (true, schema),
            ];
            for (is_structured, constraint) in asked {
                orders.push(order(orders.len(), scenario, is_structured, constraint, &profile));
            }
        }
        let (shared, alone) = with_model(&path, options, |model| {
            let shared = answers(model, SHARING, orders.clone());
            (shared, answers(model, Shape::plain(1, OPTIONS.batch), orders))
        })
        .unwrap();
        for (shared, alone) in shared.iter().zip(&alone) {
            assert_eq!((&shared.output, shared.finish), (&alone.output, alone.finish));
        }
        let n_evaluated = |all: &[Generation]| all.iter().map(|g| g.cost.n_evaluated).sum::<u32>();
        let (shared, alone) = (n_evaluated(&shared), n_evaluated(&alone));
        assert!(3 * shared < 2 * alone, "{shared} of {alone} evaluated: five strategies ask two questions");
    }
}

/// Hot enough that the free choice is often nonsense, so that masks decide a good part of the text.
const HOT: &str =
    "[sweep]\nprofile = \"hot\"\n[profiles.hot]\ntemperature = 1.4\nmask_first = true\nmax_tokens = 130";
const GREEDY: &str = "[profiles.greedy]\nmax_tokens = 130";

#[test]
fn what_a_model_completes_under_a_schema_the_schema_accepts() {
    let Some(path) = models().into_iter().find(|path| path.to_string_lossy().contains("smollm2")) else {
        return;
    };
    let scenarios = scenarios();
    let mut n_complete = 0;
    with_model(&path, OPTIONS, |model| {
        for settings in [GREEDY, HOT] {
            let generations = generate(model, &scenarios, settings);
            for (scenario, generation) in scenarios.iter().zip(generations) {
                assert!(
                    !matches!(
                        generation.finish,
                        Finish::DeadEnd | Finish::Errored | Finish::UnsupportedSchema
                    ),
                    "{generation:?}"
                );
                if generation.finish == Finish::Complete {
                    n_complete += 1;
                    let value: serde_json::Value =
                        serde_json::from_str(&generation.output).expect("complete JSON");
                    let validator = jsonschema::validator_for(&scenario.schema).unwrap();
                    assert!(validator.is_valid(&value), "{}: {}", scenario.name, generation.output);
                }
            }
        }
    })
    .unwrap();
    println!("{n_complete} of 10 attempts completed within their tokens, all valid");
    assert!(n_complete >= 2, "only {n_complete} completed, which shows too little");
}

#[test]
fn tokens_spell_what_was_tokenised_and_special_tokens_spell_nothing() {
    for path in models() {
        with_model(&path, OPTIONS, |model| {
            let texts = [
                "{\"name\": \"Łukasz Żółw\", \"n\": -1.5e3}",
                "日本語 🦜 naïve\r\n\ttab",
                "x".repeat(300).as_str(),
            ]
            .map(str::to_owned);
            for text in &texts {
                let tokens = model.tokenize(text);
                let bytes: Vec<u8> =
                    tokens.iter().flat_map(|token| model.vocab().piece(*token)).copied().collect();
                let spelt = String::from_utf8(bytes).unwrap();
                // SentencePiece vocabularies put a space in front of a text.
                assert!(spelt == *text || spelt == format!(" {text}"), "{}: {spelt:?}", path.display());
            }
            let vocab = model.vocab();
            assert!(!vocab.ends().is_empty(), "{}", path.display());
            assert!(vocab.ends().iter().all(|end| vocab.is_special(*end)));
            let (bos, name) = model.card().bos.clone().expect("these models have one");
            assert_eq!(
                model.tokenize(&name).iter().map(|token| token.0).collect::<Vec<_>>(),
                [bos],
                "{name}"
            );
        })
        .unwrap();
    }
}

#[test]
fn a_file_that_is_no_model_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.gguf");
    fs::write(&path, b"GGUF and then nothing of use").unwrap();
    let error = with_model(&path, OPTIONS, |_| ()).unwrap_err();
    assert!(matches!(&error, Error::Load(reason) if reason.contains("broken.gguf")), "{error}");
    let error = with_model(&folder.path().join("absent.gguf"), OPTIONS, |_| ()).unwrap_err();
    assert!(error.to_string().contains("no such file"), "{error}");
}

/// The last logits of a text in `slot`: a prompt of `n_read` tokens read up to `cut` and from there, then the other tokens
/// one by one, with shorter texts in the slots `beside`.
fn last_logits(
    model: &mut dyn Model,
    text: &[TokenId],
    slot: u32,
    (cut, n_read): (usize, usize),
    beside: &[u32],
) -> Vec<u32> {
    let entry = |slot: u32, position: usize, wants_logits: bool| BatchToken {
        slot: Slot(slot),
        token: text[position],
        position: position as u32,
        wants_logits,
    };
    for slot in beside.iter().copied().chain([slot]) {
        model.keep(Slot(slot), 0).unwrap();
    }
    for slot in beside {
        let batch: Vec<_> = (0..n_read / 2).map(|position| entry(*slot, position, false)).collect();
        model.decode(&batch).unwrap();
    }
    for part in [0..cut, cut..n_read] {
        let batch: Vec<_> = part.map(|position| entry(slot, position, position + 1 == n_read)).collect();
        model.decode(&batch).unwrap();
    }
    for position in n_read..text.len() {
        let others = beside.iter().map(|slot| entry(*slot, position - n_read.div_ceil(2), true));
        let mut batch: Vec<_> = others.chain([entry(slot, position, true)]).collect();
        batch.sort_by_key(|token| token.slot);
        model.decode(&batch).unwrap();
    }
    model.logits(Slot(slot), text.len() as u32 - 1).iter().map(|logit| logit.to_bits()).collect()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn logits_are_the_same_to_the_bit_in_company_as_alone() {
    let options = Options { slots: 11, context: 256, batch_invariant: Switch::On, ..OPTIONS };
    let company: Vec<u32> = (0..10).collect();
    for path in kept_apart() {
        with_model(&path, options, |model| {
            let tokens = model.tokenize(&scenarios()[0].cases[0].text.repeat(9));
            let alone = last_logits(model, &tokens[..44], 0, (20, 40), &[]);
            let table: [(u32, usize, &[u32]); 7] = [
                // Read in other parts, and in another slot.
                (0, 7, &[]),
                (8, 33, &[]),
                // Beside others in its block, in another one, and in both.
                (2, 20, &[3]),
                (9, 20, &[1, 2, 3]),
                (10, 9, &company),
                (0, 9, &company[1..]),
                // Once more alone: nothing is left of the others.
                (0, 20, &[]),
            ];
            for (slot, cut, beside) in table {
                let logits = last_logits(model, &tokens[..44], slot, (cut, 40), beside);
                assert!(logits == alone, "slot {slot}, cut at {cut}, beside {beside:?}: {}", path.display());
            }
            // The slot is full: what fills the batch up still has room.
            let full = last_logits(model, &tokens[..256], 0, (8, 256), &[]);
            assert!(last_logits(model, &tokens[..256], 1, (3, 256), &[]) == full, "{}", path.display());
        })
        .unwrap();
    }
}
