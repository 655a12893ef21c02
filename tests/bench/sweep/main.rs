//! One sweep, run by nightjar and by llama.cpp's own server: the same machine, model, prompts and order, one after the
//! other in every round. Prints tables, asserts nothing.
//!
//! `cargo bench --bench sweep -- --server PATH/llama-server --model MODEL.gguf SCENARIO.json…`; `--help` has the rest.

mod limit;
mod ours;
mod peer;
mod same;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use nightjar::config::{Config, Layer};
use nightjar::decode::engine::llama::{Options, with_model};
use nightjar::decode::engine::worker::prompt_text;
use nightjar::decode::engine::{Card, Model};
use nightjar::plan::{self, Attempt, Contestant, Subject, Sweep};
use nightjar::scenario::{Strategy, parse};
use nightjar::store::{CaseId, ModelId, RevisionId};
use serde_json::{Value, json};

/// What is compared.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// llama.cpp's server
    #[arg(long, required_unless_present = "same")]
    server: Option<PathBuf>,
    /// Compare texts instead, of attempts that share their work and of attempts alone in one slot
    #[arg(long, conflicts_with_all = ["server", "texts", "rounds"])]
    same: bool,
    /// The model, a GGUF file
    #[arg(long)]
    model: PathBuf,
    /// Cases of each scenario
    #[arg(long, default_value_t = 20)]
    cases: usize,
    /// Tokens of an answer
    #[arg(long, default_value_t = 256)]
    max_tokens: u32,
    /// Rounds: in each, both sides run once; with none, only llama.cpp's own speed is measured
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// nightjar's slots
    #[arg(long, default_value_t = 16)]
    slots: u32,
    /// The server's slots
    #[arg(long, default_value_t = 8)]
    server_slots: u32,
    /// Further flags for the server, separated by blanks
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    server_flags: String,
    /// Further settings for nightjar, as KEY=VALUE
    #[arg(long = "set")]
    set: Vec<String>,
    /// Tokens of context for each slot
    #[arg(long, default_value_t = 4096)]
    context: u32,
    /// Leave out the measurement of what llama.cpp alone needs
    #[arg(long)]
    no_limit: bool,
    /// A file for the prompts and texts of the last round, one JSON object a line
    #[arg(long)]
    texts: Option<PathBuf>,
    /// Scenario files
    #[arg(required = true)]
    scenarios: Vec<PathBuf>,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// An attempt with its prompt as the model reads it.
pub(crate) struct Asked {
    attempt: Attempt,
    prompt: String,
}

/// What one side did in one round.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// From the first request to the last answer, for the server; from start to end of the process, for nightjar.
    seconds: f64,
    /// Tokens of prompts.
    prompt_tokens: u64,
    /// Of those, evaluated.
    n_prompt: u64,
    /// Tokens evaluated after prompts.
    n_decoded: u64,
    /// Tokens of texts.
    n_output: u64,
    /// The texts, in the order of the attempts.
    texts: Vec<String>,
    /// What the model's time was, where that is known.
    model_s: f64,
    /// What constraints took, where that is known.
    constraint_s: f64,
}

fn main() -> Result<()> {
    let mut arguments = Arguments::parse();
    // The inbox takes files in the order of their names, and both sides are to be asked in one order.
    arguments.scenarios.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    let folder = tempfile::tempdir()?;
    let files = cut(&arguments, folder.path())?;
    let config = configuration(&arguments, folder.path())?;
    let card = loaded(&arguments, &config, |model| model.card().clone())?;
    let asked = asked(&files, &config, &card)?;
    println!("{} attempts, at most {} tokens each\n", asked.len(), arguments.max_tokens);
    let Some(server) = arguments.server.as_ref().filter(|_| !arguments.same) else {
        return same::run(&arguments, &config, &asked);
    };
    println!("| round | side | seconds | prompt tokens evaluated | decoded | in texts | texts alike |");
    println!("|--:|---|--:|--:|--:|--:|--:|");
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 1..=arguments.rounds {
        let their = peer::run(server, &arguments, &asked)?;
        row(round, "llama-server", &their, "");
        let our = ours::run(&arguments, &files, &asked, folder.path(), round)?;
        let alike = our.texts.iter().zip(&their.texts).filter(|(a, b)| a.trim() == b.trim()).count();
        row(round, "nightjar", &our, &format!("{alike} of {}", asked.len()));
        if let Some(path) = &arguments.texts {
            fs::write(path, lines(&asked, &their.texts, &our.texts))?;
        }
        theirs.push(their);
        ours.push(our);
    }
    let (Some(their), Some(our)) = (median(&theirs), median(&ours)) else {
        return limit::speeds(&arguments, &config);
    };
    println!(
        "\nmedians: {:.1} s and {:.1} s, ratio {:.2}\n",
        their.seconds,
        our.seconds,
        our.seconds / their.seconds
    );
    if arguments.no_limit { Ok(()) } else { limit::run(&arguments, &config, our, their) }
}

/// Lends the model, loaded as the configuration says.
pub(crate) fn loaded<R>(
    arguments: &Arguments,
    config: &Config,
    run: impl FnOnce(&mut dyn Model) -> R,
) -> Result<R> {
    let options = Options {
        slots: config.engine.slots,
        batch: config.engine.batch,
        context: arguments.context,
        threads: config.engine.threads,
        flash_attention: config.engine.flash_attention,
        batch_invariant: config.engine.batch_invariant,
        gpu_layers: config.engine.gpu_layers,
    };
    Ok(with_model(&arguments.model, options, run)?)
}

/// The scenario files with their first cases only.
fn cut(arguments: &Arguments, folder: &Path) -> Result<Vec<PathBuf>> {
    let cut = |path: &PathBuf| {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut scenario: Value = serde_json::from_str(&text)?;
        let cases = scenario["cases"].as_array_mut().context("a scenario has cases")?;
        cases.truncate(arguments.cases);
        let name = path.file_name().context("a file has a name")?;
        fs::write(folder.join(name), scenario.to_string())?;
        Ok(folder.join(name))
    };
    arguments.scenarios.iter().map(cut).collect()
}

fn configuration(arguments: &Arguments, folder: &Path) -> Result<Config> {
    let model = toml::Value::from(fs::canonicalize(&arguments.model)?.to_string_lossy().as_ref());
    let (slots, context, max_tokens) = (arguments.slots, arguments.context, arguments.max_tokens);
    let text = format!(
        "models = [{model}]\n[paths]\nstate = \"state\"\n[engine]\nslots = {slots}\n\
         [profiles.greedy]\nmax_tokens = {max_tokens}\ncontext = {context}\n"
    );
    fs::write(folder.join("config.toml"), &text)?;
    let layers = [Layer::file(&text, "bench")?, Layer::flags(arguments.set.iter().map(String::as_str))?];
    Ok(Config::parse(&layers, folder)?)
}

/// Every attempt of the sweep, in nightjar's own order.
fn asked(files: &[PathBuf], config: &Config, card: &Card) -> Result<Vec<Asked>> {
    let sweep = Sweep {
        strategies: Strategy::ALL.to_vec(),
        repeats: 1,
        seed: config.sweep.seed,
        profile: Arc::new(config.profile.clone()),
    };
    let mut questions = Vec::new();
    for (file, revision) in files.iter().zip(1..) {
        let checked = parse(&fs::read_to_string(file)?).map_err(|problems| anyhow!("{problems:?}"))?;
        let cases = (1..).map(|n| CaseId(revision * 10_000 + n)).take(checked.scenario.cases.len()).collect();
        let subject =
            Subject { scenario: checked.scenario, revision: RevisionId(revision), grammar: None, cases };
        questions.extend(plan::questions(&subject, &sweep)?);
    }
    let model = Contestant { model: ModelId(1), sha256: String::new() };
    let attempts = plan::expand(&questions, &[model], &sweep);
    let asked = attempts.into_iter().map(|attempt| {
        let prompt = prompt_text(&attempt.messages, &config.profile, card).map_err(|e| anyhow!(e))?;
        Ok(Asked { attempt, prompt })
    });
    asked.collect()
}

fn row(round: usize, side: &str, tally: &Tally, alike: &str) {
    let Tally { seconds, n_prompt, n_decoded, n_output, .. } = tally;
    println!("| {round} | {side} | {seconds:.1} | {n_prompt} | {n_decoded} | {n_output} | {alike} |");
}

/// Each attempt with both texts.
fn lines(asked: &[Asked], theirs: &[String], ours: &[String]) -> String {
    let both = asked.iter().zip(theirs.iter().zip(ours));
    let line = |(asked, (theirs, ours)): (&Asked, (&String, &String))| {
        let strategy = asked.attempt.strategy.to_string();
        json!({"strategy": strategy, "prompt": asked.prompt, "llama-server": theirs, "nightjar": ours})
            .to_string()
            + "\n"
    };
    both.map(line).collect()
}

/// The round of the median time.
fn median(tallies: &[Tally]) -> Option<&Tally> {
    let mut by_time: Vec<&Tally> = tallies.iter().collect();
    by_time.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    by_time.get(by_time.len() / 2).copied()
}
