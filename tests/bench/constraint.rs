//! What a step costs once a schema is warm, and what choosing a token costs under a mask. A table, nothing asserted.
//!
//! `cargo bench --no-default-features --bench constraint [VOCAB]`; without the argument the vocabulary is
//! `maskbench/qwen.vocab` in the folder that `TEST_SHARED` names, else in `../shared`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nightjar::config::Config;
use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Constraint, MemberOrder, Policy, Rules};
use nightjar::decode::sampler::Sampler;
use nightjar::decode::vocab::{TokenId, Vocab};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

#[path = "../support/vocab_file.rs"]
mod vocab_file;

const N_TEXTS: usize = 199;
const N_CHOICES: usize = 200;

fn main() -> Result<()> {
    let path = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let path = path.map_or_else(shared_vocab, PathBuf::from);
    if !path.exists() {
        println!("skipped: there is no {}", path.display());
        return Ok(());
    }
    let vocab = Arc::new(vocab_file::read(&path)?);
    println!("{} tokens, times in microseconds\n", vocab.len());
    warm(&vocab)?;
    choices(&vocab)
}

fn shared_vocab() -> PathBuf {
    let shared = std::env::var_os("TEST_SHARED");
    let shared = shared
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")), PathBuf::from);
    shared.join("maskbench/qwen.vocab")
}

/// One schema, many texts, and what was found out is kept from text to text.
fn warm(vocab: &Arc<Vocab>) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/loan_request.json");
    let scenario: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let rules = rules(&scenario["schema"])?;
    let texts = texts(&scenario, &rules).context("the scenario has no cases")?;
    let text_tokens = (0..vocab.len() as u32).map(TokenId).filter(|&token| !vocab.is_special(token));
    let ids: HashMap<_, _> = text_tokens.map(|token| (vocab.piece(token), token)).collect();
    let tokens: Vec<_> = texts.iter().map(|text| longest_match(text.as_bytes(), &ids)).collect();
    println!(
        "| warm: {} texts, {} tokens | n | mean | p50 | p99 | max |",
        texts.len(),
        tokens.concat().len()
    );
    println!("|---|--:|--:|--:|--:|--:|");
    let mut known = String::new();
    for every_mask in [true, false] {
        let mut allowed = Allowed::new(Arc::clone(&rules), Arc::clone(vocab));
        let mut steps = Vec::new();
        let mut first = Vec::new();
        for (idx, text) in tokens.iter().enumerate() {
            let times = if idx == 0 { &mut first } else { &mut steps };
            step_through(&mut allowed, text, every_mask, times)?;
        }
        let what = if every_mask { "mask at every step" } else { "check at every step" };
        row(&format!("{what}, first text"), first);
        row(&format!("{what}, texts after it"), steps);
        let (asked, hits) = allowed.cache_hits();
        if every_mask {
            known =
                format!("{hits} of {asked} masks were known: {:.2} %", hits as f64 / asked as f64 * 100.0);
        }
    }
    println!("\n{known}\n");
    Ok(())
}

fn step_through(
    allowed: &mut Allowed,
    text: &[TokenId],
    every_mask: bool,
    times: &mut Vec<f64>,
) -> Result<()> {
    let mut matcher = allowed.start();
    for &token in text {
        let start = Instant::now();
        let good = if every_mask {
            allowed.mask(&mut matcher).allows(token)
        } else {
            allowed.check(&mut matcher, token)
        };
        times.push(microseconds(start));
        ensure!(good && allowed.advance(&mut matcher, token), "the schema refuses an expected text");
    }
    Ok(())
}

/// The expected texts of the cases in turn, each with other words at the end of its longer strings.
fn texts(scenario: &Value, rules: &Arc<Rules>) -> Option<Vec<String>> {
    let mut cases = scenario["cases"].as_array()?.clone();
    // Some messages lack what the schema requires, and no text that it accepts answers them.
    cases.retain(|case| accepts(rules, &case["expected"].to_string()));
    if cases.is_empty() {
        return None;
    }
    let text = |idx: usize| {
        let mut value = cases[idx % cases.len()]["expected"].clone();
        vary(&mut value, idx);
        value.to_string()
    };
    Some((0..N_TEXTS).map(text).collect())
}

fn accepts(rules: &Arc<Rules>, text: &str) -> bool {
    let mut constraint = Constraint::new(Arc::clone(rules));
    let mut matcher = constraint.start();
    constraint.advance_all(&mut matcher, text.as_bytes()) == text.len()
}

fn vary(value: &mut Value, idx: usize) {
    const WORDS: [&str; 7] = ["north", "of Utrecht", "II", "on loan", "42", "(new)", "Brandt"];
    match value {
        Value::String(text) if text.contains(' ') => {
            *text = format!("{text} {} {idx}", WORDS[idx % WORDS.len()]);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| vary(item, idx)),
        Value::Object(members) => members.values_mut().for_each(|member| vary(member, idx)),
        _ => {}
    }
}

fn longest_match(text: &[u8], ids: &HashMap<&[u8], TokenId>) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = (1..=rest.len().min(64)).rev().find(|&length| ids.contains_key(&rest[..length]));
        let length = length.expect("a vocabulary has every byte");
        tokens.push(ids[&rest[..length]]);
        rest = &rest[length..];
    }
    tokens
}

/// Greedy choice where nearly all tokens are allowed and where few are, against writing the mask over the logits and
/// taking the largest, one by one.
fn choices(vocab: &Arc<Vocab>) -> Result<()> {
    let profile = Config::parse(&[], Path::new("."))?.profile;
    let mut sampler = Sampler::new(&profile, 1);
    let mut rng = SmallRng::seed_from_u64(1);
    let logits: Vec<f32> = (0..vocab.len()).map(|_| rng.random::<f32>() * 30.0 - 20.0).collect();
    println!("| choice | n | mean | p50 | p99 | max |\n|---|--:|--:|--:|--:|--:|");
    let free = (0..N_CHOICES).map(|_| timed(|| sampler.choose(&logits, None)).0).collect();
    row("free", free);
    let schema = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}, "additionalProperties": false});
    for (what, written) in [("inside a string", &b"{\"name\": \"a"[..]), ("before a name", b"{\"")] {
        let mut allowed = Allowed::new(rules(&schema)?, Arc::clone(vocab));
        let mut matcher = allowed.start();
        let n = allowed.constraint().advance_all(&mut matcher, written);
        ensure!(n == written.len(), "the schema refuses the beginning");
        let mask = allowed.mask(&mut matcher);
        let (mut slow, mut fast) = (Vec::new(), Vec::new());
        let mut words = vec![0u64; logits.len().div_ceil(64)];
        mask.iter().for_each(|TokenId(id)| words[id as usize / 64] |= 1 << (id % 64));
        for _ in 0..N_CHOICES {
            let mut scratch = logits.clone();
            let (time, plain) = timed(|| overwrite_and_pick(&mut scratch, &words));
            slow.push(time);
            let (time, chosen) = timed(|| sampler.choose(&logits, Some(&mask)));
            fast.push(time);
            ensure!(plain == chosen, "two ways to choose disagree");
        }
        let ratio = mean(&fast) / mean(&slow);
        row(&format!("{what}, {} allowed: bitmap pass and scalar argmax", mask.count()), slow);
        row(&format!("{what}, {} allowed: sampler ({ratio:.4} of it)", mask.count()), fast);
    }
    Ok(())
}

fn overwrite_and_pick(logits: &mut [f32], words: &[u64]) -> Option<TokenId> {
    for (id, logit) in logits.iter_mut().enumerate() {
        if words[id / 64] >> (id % 64) & 1 == 0 {
            *logit = f32::NEG_INFINITY;
        }
    }
    let mut best = None;
    for (id, &logit) in logits.iter().enumerate() {
        if best.is_none_or(|(_, top)| logit > top) {
            best = Some((TokenId(id as u32), logit));
        }
    }
    best.map(|(token, _)| token)
}

fn rules(schema: &Value) -> Result<Arc<Rules>> {
    Rules::schema(schema, Policy { order: MemberOrder::Any, ..Policy::default() })
        .map(Arc::new)
        .ok()
        .context("the schema does not compile")
}

fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = std::hint::black_box(run());
    (microseconds(start), value)
}

fn microseconds(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / 1e3
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn row(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let (mean, p50, p99, max) = (mean(&times), at(0.5), at(0.99), at(1.0));
    println!("| {what} | {} | {mean:.2} | {p50:.2} | {p99:.2} | {max:.1} |", times.len());
}
