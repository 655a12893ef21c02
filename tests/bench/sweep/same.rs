//! Whether attempts that share their work get the texts that they get alone; where not, how near to a tie the model was.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::channel;

use anyhow::{Context, Result, ensure};
use nightjar::config::Config;
use nightjar::decode::engine::frames::{Generation, Order, Reply, Request};
use nightjar::decode::engine::worker::{Shape, serve};
use nightjar::decode::engine::{BatchToken, Card, Error, Model, Slot};
use nightjar::decode::vocab::{TokenId, Vocab};

use super::{Arguments, Asked, loaded};

/// A model in one plain slot that keeps what it was fed after the prompt, and all logits that were asked for.
struct Recorder<'m> {
    model: &'m mut dyn Model,
    tokens: Vec<TokenId>,
    rows: Vec<Vec<f32>>,
}

impl Model for Recorder<'_> {
    fn vocab(&self) -> &Arc<Vocab> {
        self.model.vocab()
    }

    fn card(&self) -> &Card {
        self.model.card()
    }

    fn tokenize(&self, text: &str) -> Vec<TokenId> {
        self.model.tokenize(text)
    }

    fn decode(&mut self, batch: &[BatchToken]) -> Result<(), Error> {
        self.model.decode(batch)?;
        for entry in batch.iter().filter(|entry| entry.wants_logits) {
            // The first row is the prompt's.
            if !self.rows.is_empty() {
                self.tokens.push(entry.token);
            }
            self.rows.push(self.model.logits(entry.slot, entry.position).to_vec());
        }
        Ok(())
    }

    fn logits(&self, slot: Slot, position: u32) -> &[f32] {
        self.model.logits(slot, position)
    }

    fn copy(&mut self, from: Slot, to: Slot) -> Result<(), Error> {
        self.model.copy(from, to)
    }

    fn keep(&mut self, slot: Slot, n_tokens: u32) -> Result<u32, Error> {
        self.model.keep(slot, n_tokens)
    }
}

/// Where two texts of one attempt part, as far as texts tell: the same text in other tokens counts as the same.
struct Parting {
    /// Tokens that are the same.
    n_same: usize,
    /// The logit of what the plain slot chose less that of what was chosen where work was shared.
    gap: f32,
    /// Both, as text.
    choices: [String; 2],
}

/// Runs the sweep both ways, and prints what differs.
pub(crate) fn run(arguments: &Arguments, config: &Config, asked: &[Asked]) -> Result<()> {
    ensure!(
        config.profile.temperature == 0.0,
        "logits are compared, and above temperature 0 they do not choose"
    );
    let shared = Shape {
        slots: 1,
        batch: config.engine.batch,
        reuse: config.engine.reuse_prompts,
        share: config.engine.share_texts,
        drafts: config.engine.drafts,
        draft_forced: config.engine.draft_forced,
        group_by_length: config.engine.group_by_length,
    };
    let plain = Shape::plain(1, config.engine.batch);
    let all: Vec<&Asked> = asked.iter().collect();
    let with = loaded(arguments, config, |model| {
        let slots = model.card().slots;
        answers(model, config, Shape { slots, ..shared }, &all)
    })??;
    let (ended, partings) = loaded(arguments, config, |model| -> Result<_> {
        let alone = answers(model, config, plain, &all)?;
        let mut partings = Vec::new();
        for (index, (alone, with)) in alone.iter().zip(&with).enumerate() {
            if alone.output != with.output || alone.finish != with.finish {
                partings.push((index, parting(model, config, plain, all[index], &with.output)?));
            }
        }
        Ok((alone, partings))
    })??;
    let n_different = partings.len();
    println!("{} of {} texts are the same", ended.len() - n_different, ended.len());
    println!(
        "\n| attempt | strategy | tokens before | gap of logits | alone | shared | ends |\n|--:|---|--:|--:|---|---|---|"
    );
    for (index, Parting { n_same, gap, choices: [one, other] }) in partings {
        let strategy = asked[index].attempt.strategy;
        let ends = [&ended[index], &with[index]].map(|generation| generation.finish.as_str()).join(", ");
        println!("| {index} | {strategy} | {n_same} | {gap:.4} | `{one:?}` | `{other:?}` | {ends} |");
    }
    Ok(())
}

/// What each attempt comes to.
fn answers(
    model: &mut dyn Model,
    config: &Config,
    shape: Shape,
    asked: &[&Asked],
) -> Result<Vec<Generation>> {
    let profile = Arc::new(config.profile.clone());
    let (sender, requests) = channel();
    for (id, Asked { attempt, .. }) in (0..).zip(asked) {
        let (messages, constraint) = (Arc::clone(&attempt.messages), attempt.constraint.clone());
        let profile = Arc::clone(&profile);
        let order = Order { id, messages, constraint, profile, seed: attempt.seed, wants_prompt: false };
        sender.send(Request::Attempt(Box::new(order)))?;
    }
    sender.send(Request::Finish)?;
    let mut done = HashMap::new();
    serve(model, shape, &requests, &mut |reply| {
        if let Reply::Done { id, generation } = reply {
            done.insert(id, *generation);
        }
    })?;
    (0..asked.len() as u64).map(|id| done.remove(&id).context("every attempt ends")).collect()
}

/// Decodes an attempt alone once more and goes along its tokens for as long as `other` begins with them.
fn parting(
    model: &mut dyn Model,
    config: &Config,
    plain: Shape,
    asked: &Asked,
    other: &str,
) -> Result<Parting> {
    let mut recorder = Recorder { model, tokens: Vec::new(), rows: Vec::new() };
    let text = answers(&mut recorder, config, plain, &[asked])?.remove(0).output;
    let Recorder { tokens, rows, .. } = recorder;
    let vocab = model.vocab();
    let (mut text, mut other) = (text.as_bytes(), other.as_bytes());
    let mut n_same = 0;
    for token in &tokens {
        let piece = vocab.piece(*token);
        let Some(rest) = other.strip_prefix(piece) else { break };
        other = rest;
        text = text.strip_prefix(piece).context("decoding alone comes out the same each time")?;
        n_same += 1;
    }
    let ours = tokens.get(n_same).copied().or_else(|| likeliest(vocab, &rows[n_same], text, None));
    let ours = ours.context("a text goes on or ends")?;
    let theirs = likeliest(vocab, &rows[n_same], other, Some(ours)).context("a text goes on or ends")?;
    let logit = |token: TokenId| rows[n_same][token.0 as usize];
    let choices = [ours, theirs].map(|token| String::from_utf8_lossy(vocab.piece(token)).into_owned());
    Ok(Parting { n_same, gap: logit(ours) - logit(theirs), choices })
}

/// The most probable token that `text` may begin with, or end with where it is empty; not `but`.
fn likeliest(vocab: &Vocab, row: &[f32], text: &[u8], but: Option<TokenId>) -> Option<TokenId> {
    let fits = |token: &TokenId| {
        let piece = vocab.piece(*token);
        Some(*token) != but
            && if text.is_empty() {
                vocab.is_end(*token)
            } else {
                !piece.is_empty() && text.starts_with(piece)
            }
    };
    let tokens = (0..row.len() as u32).map(TokenId).filter(fits);
    tokens.max_by(|a, b| row[a.0 as usize].total_cmp(&row[b.0 as usize]))
}
