//! The constraint engine behind a line protocol, for measuring it against other engines.
//!
//! One JSON object a line in, one out: `{"cmd":"hello"}`, `{"cmd":"compile","id":…,"schema":…}`,
//! `{"cmd":"walk","tokens":[…]}`, `{"cmd":"quit"}`. Times are in microseconds and measured here. Nothing is kept from one
//! schema to the next.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Formats, MemberOrder, Policy, Rules, Spelling, Whitespace};
use nightjar::decode::vocab::{TokenId, Vocab};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[path = "../tests/support/vocab_file.rs"]
mod vocab_file;

#[derive(Parser)]
struct Arguments {
    /// Vocabulary file: a header line with `eos=ID`, then a flag (N, U, S, X) and the bytes in hex for each token.
    #[arg(long)]
    vocab: PathBuf,
    /// In which order members may come.
    #[arg(long, default_value = "schema")]
    order: Order,
    /// Whether formats are asserted.
    #[arg(long, default_value = "on")]
    formats: Switch,
    /// White space between tokens of JSON.
    #[arg(long, default_value = "any")]
    whitespace: Space,
    /// Which spellings of strings and numbers are allowed.
    #[arg(long, default_value = "any")]
    spelling: Spell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    Any,
    Schema,
}

#[derive(Clone, Copy, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, ValueEnum)]
enum Space {
    Compact,
    Bounded,
    Any,
    #[value(name = "ollama-2025")]
    Ollama2025,
}

#[derive(Clone, Copy, ValueEnum)]
enum Spell {
    Plain,
    Any,
}

/// One line in. Flat, because a tagged enum cannot keep a schema's own text.
#[derive(Deserialize)]
struct Request<'a> {
    cmd: Command,
    #[serde(borrow)]
    schema: Option<&'a RawValue>,
    #[serde(default)]
    tokens: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Command {
    Hello,
    Compile,
    Walk,
    Quit,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let vocab = Arc::new(vocab_file::read(&arguments.vocab)?);
    let policy = policy(&arguments);
    let mut allowed = None;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Request =
            serde_json::from_str(&line).with_context(|| format!("not a request: {line:.80}"))?;
        let answer = match request.cmd {
            Command::Hello => json!({
                "engine": "nightjar", "version": env!("CARGO_PKG_VERSION"), "n_vocab": vocab.len(),
            }),
            Command::Compile => {
                let schema = request.schema.context("compile needs a schema")?;
                let (engine, answer) = compile(schema.get(), policy, &vocab);
                allowed = engine;
                answer
            }
            Command::Walk => match &mut allowed {
                Some(allowed) => walk(allowed, &request.tokens, &vocab),
                None => json!({"accepted": false, "error": "no schema is compiled"}),
            },
            Command::Quit => break,
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn policy(arguments: &Arguments) -> Policy {
    Policy {
        order: match arguments.order {
            Order::Any => MemberOrder::Any,
            Order::Schema => MemberOrder::Schema,
        },
        space: match arguments.whitespace {
            Space::Compact => Whitespace::Compact,
            Space::Bounded => Whitespace::Bounded,
            Space::Any => Whitespace::Any,
            Space::Ollama2025 => Whitespace::Ollama2025,
        },
        spelling: match arguments.spelling {
            Spell::Plain => Spelling::Plain,
            Spell::Any => Spelling::Any,
        },
        formats: match arguments.formats {
            Switch::On => Formats::Asserted,
            Switch::Off => Formats::Annotated,
        },
    }
}

fn compile(schema: &str, policy: Policy, vocab: &Arc<Vocab>) -> (Option<Allowed>, Value) {
    let start = Instant::now();
    let rules = match serde_json::from_str::<Value>(schema) {
        Ok(schema) => Rules::schema(&schema, policy),
        Err(error) => return (None, json!({"ok": false, "error": error.to_string()})),
    };
    let rules = match rules {
        Ok(rules) => rules,
        Err(unsupported) => {
            let reasons: Vec<_> = unsupported.iter().map(ToString::to_string).collect();
            return (None, json!({"ok": false, "error": reasons.join("; ")}));
        }
    };
    let mut allowed = Allowed::new(Arc::new(rules), Arc::clone(vocab));
    let compile_us = microseconds(start);
    let start = Instant::now();
    let mut matcher = allowed.start();
    allowed.mask(&mut matcher);
    let first_mask_us = microseconds(start);
    (Some(allowed), json!({"ok": true, "compile_us": compile_us, "first_mask_us": first_mask_us}))
}

fn walk(allowed: &mut Allowed, tokens: &[u32], vocab: &Vocab) -> Value {
    let mut matcher = allowed.start();
    let (mut mask_us, mut commit_us) = (Vec::new(), Vec::new());
    for idx in 0..=tokens.len() {
        let start = Instant::now();
        let mask = allowed.mask(&mut matcher);
        mask_us.push(microseconds(start));
        let Some(&token) = tokens.get(idx) else {
            let ended = vocab.ends().iter().any(|&end| mask.allows(end));
            let at = (!ended).then_some(idx);
            return json!({"accepted": ended, "rejected_at": at, "mask_us": mask_us, "commit_us": commit_us});
        };
        if !mask.allows(TokenId(token)) {
            return json!({"accepted": false, "rejected_at": idx, "mask_us": mask_us, "commit_us": commit_us});
        }
        let start = Instant::now();
        let accepted = allowed.advance(&mut matcher, TokenId(token));
        commit_us.push(microseconds(start));
        if !accepted {
            let error = "the mask allowed a token that the matcher refuses";
            return json!({"accepted": false, "rejected_at": idx, "error": error});
        }
    }
    unreachable!("the loop ends at the end of the tokens")
}

fn microseconds(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / 1e3
}
