//! What llama.cpp alone needs for the tokens that a sweep evaluates, and where the rest of its time goes.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nightjar::config::Config;
use nightjar::decode::engine::switch::Switch;
use nightjar::decode::engine::{BatchToken, Model, Slot};
use nightjar::decode::vocab::TokenId;

use super::{Arguments, Tally, loaded};

/// Turns that a figure is the mean of.
const TURNS: u32 = 12;

/// Tokens a second, measured.
struct Speed {
    prefill: f64,
    /// Long texts with logits, for each number of sequences; the best of them.
    best: f64,
    /// At the sweep's number of slots: with logits and long texts, without logits, without either.
    full: f64,
    headless: f64,
    short: f64,
}

/// The speeds alone, for texts of 700 tokens.
pub(crate) fn speeds(arguments: &Arguments, config: &Config) -> Result<()> {
    measured(arguments, config, 700).map(|_| ())
}

/// Measures, and prints the tables.
pub(crate) fn run(arguments: &Arguments, config: &Config, ours: &Tally, theirs: &Tally) -> Result<()> {
    // Texts are on average as long as this while they are written.
    let n_texts = ours.texts.len() as u64;
    let length = ours.prompt_tokens / n_texts + ours.n_output / n_texts / 2;
    let speed = measured(arguments, config, length as u32)?;
    let model_s = |tally: &Tally| tally.n_prompt as f64 / speed.prefill + tally.n_decoded as f64 / speed.best;
    println!("\n| | prompt tokens / prefill + decoded / best decode | took | ratio |\n|---|--:|--:|--:|");
    for (name, tally, took) in
        [("nightjar's model time", ours, ours.model_s), ("llama-server", theirs, theirs.seconds)]
    {
        println!("| {name} | {:.1} s | {took:.1} s | {:.2} |", model_s(tally), took / model_s(tally));
    }
    let n = ours.n_decoded as f64;
    let parts = [
        ("prefill", ours.n_prompt as f64 / speed.prefill),
        ("decode, all but the two below", n / speed.short),
        ("attention over long texts", n / speed.headless - n / speed.short),
        ("output head", n / speed.full - n / speed.headless),
        ("constraint", ours.constraint_s),
    ];
    println!(
        "\n| where nightjar's time goes (the model's parts by the speeds above) | s | of all |\n|---|--:|--:|"
    );
    let known: f64 = parts.iter().map(|part| part.1).sum();
    let outside = ours.seconds - ours.model_s - ours.constraint_s;
    let rest = ("batches smaller than the slots, and what is not explained", ours.seconds - known - outside);
    for (name, seconds) in
        parts.into_iter().chain([rest, ("loading, prompts, scoring, storing, pipes", outside)])
    {
        println!("| {name} | {seconds:.1} | {:.1} % |", 100.0 * seconds / ours.seconds);
    }
    Ok(())
}

fn measured(arguments: &Arguments, config: &Config, length: u32) -> Result<Speed> {
    // What fills a batch up is no part of what the counts need.
    let mut config = config.clone();
    config.engine.batch_invariant = Switch::Off;
    loaded(arguments, &config, |model| {
        let slots = model.card().slots;
        measure(model, slots, length)
    })?
}

fn measure(model: &mut dyn Model, slots: u32, length: u32) -> Result<Speed> {
    let text =
        model.tokenize("The committee met on 14.03.2024; it did not agree, and nobody wrote down why. ");
    let text: Vec<TokenId> = text.into_iter().cycle().take(length as usize).collect();
    println!("| llama.cpp alone, texts of {length} tokens | tokens/s |\n|---|--:|");
    let start = Instant::now();
    fill(model, Slot(0), &text)?;
    let prefill = f64::from(length) / start.elapsed().as_secs_f64();
    println!("| prefill | {prefill:.0} |");
    for slot in 1..slots {
        model.copy(Slot(0), Slot(slot))?;
    }
    let mut best = 0.0;
    let mut full = 0.0;
    for n in (0..).map(|power| 1 << power).take_while(|n| *n < slots).chain([slots]) {
        full = decode(model, n, length, true)?;
        println!("| decode, {n} sequences | {full:.0} |");
        best = f64::max(best, full);
    }
    let headless = decode(model, slots, length, false)?;
    println!("| the same without logits | {headless:.0} |");
    let short = decode(model, slots, 1, false)?;
    println!("| the same, texts of one token | {short:.0} |");
    Ok(Speed { prefill, best, full, headless, short })
}

fn fill(model: &mut dyn Model, slot: Slot, text: &[TokenId]) -> Result<()> {
    model.keep(slot, 0)?;
    for (chunk, from) in text.chunks(512).zip((0..).step_by(512)) {
        let entry = |(position, token): (u32, &TokenId)| BatchToken {
            slot,
            token: *token,
            position,
            wants_logits: position as usize + 1 == text.len(),
        };
        model.decode(&(from..).zip(chunk).map(entry).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Tokens a second of so many sequences, each behind `length` tokens.
fn decode(model: &mut dyn Model, n: u32, length: u32, wants_logits: bool) -> Result<f64> {
    let token = *model.tokenize(" and").first().context("a vocabulary has words")?;
    for slot in (0..n).map(Slot) {
        ensure!(model.keep(slot, length)? == length, "this model cannot forget in part");
    }
    let mut seconds = 0.0;
    // The first turn is not counted: buffers are made in it.
    for turn in 0..=TURNS {
        let entry = |slot| BatchToken { slot: Slot(slot), token, position: length + turn, wants_logits };
        let batch: Vec<BatchToken> = (0..n).map(entry).collect();
        let start = Instant::now();
        model.decode(&batch)?;
        if turn > 0 {
            seconds += start.elapsed().as_secs_f64();
        }
    }
    Ok(f64::from(n * TURNS) / seconds)
}
