//! One attempt that the worker has taken on: its prompt, its sequence, its account. Knows no slot and no batch.

use std::time::{Duration, Instant};

use crate::decode::engine::frames::{Constraint, Finish, Generation, Order};
use crate::decode::engine::{Card, Model};
use crate::decode::profile::Profile;
use crate::decode::sequence::{Sequence, THINK_CLOSE, THINK_OPEN, Thinking};
use crate::decode::vocab::TokenId;
use crate::hash;
use crate::prompt::{ChatTemplate, Message, completion};

/// An attempt in flight.
pub(super) struct Seat {
    pub(super) id: u64,
    pub(super) sequence: Sequence,
    /// Which of the worker's constraints it is under.
    pub(super) constraint: Option<String>,
    pub(super) deadline: Instant,
    seated: Instant,
    pub(super) first_choice: Option<Instant>,
    prompt_sha256: String,
    prompt: Option<String>,
    /// Model time on its account.
    pub(super) model: Duration,
}

/// A prompt as the model reads it.
pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) tokens: Vec<TokenId>,
}

impl Prompt {
    /// The messages of an order in the model's own words.
    pub(super) fn render(order: &Order, model: &dyn Model) -> Result<Self, String> {
        let text = prompt_text(&order.messages, &order.profile, model.card())?;
        let tokens = with_one_bos(model.tokenize(&text), model.card());
        Ok(Self { text, tokens })
    }

    /// Why an answer does not fit behind it, if so.
    pub(super) fn too_long(&self, profile: &Profile, card: &Card) -> Option<String> {
        let context = card.context.min(profile.context);
        let needed = self.tokens.len() as u32 + profile.longest_output();
        (self.tokens.is_empty() || needed > context)
            .then(|| format!("prompt and max_tokens need {needed} tokens of context, there are {context}"))
    }

    /// How an attempt with this prompt reasons, where its profile lets it.
    pub(super) fn thinking(&self, profile: &Profile, model: &dyn Model) -> Option<Thinking> {
        profile.thinking.then(|| Thinking {
            opened: self.text.trim_end().ends_with(THINK_OPEN),
            budget: profile.thinking_tokens,
            close: model.tokenize(&format!("{THINK_CLOSE}\n\n")),
        })
    }
}

impl Seat {
    /// The attempt of `order`, which came at `since`.
    pub(super) fn new(order: &Order, since: Instant, prompt: &Prompt, mut sequence: Sequence) -> Self {
        let seated = Instant::now();
        sequence.cost.n_prompt = prompt.tokens.len() as u32;
        // All of it, until some is evaluated on this attempt's account.
        sequence.cost.n_reused = sequence.cost.n_prompt;
        sequence.cost.queue_ms = (seated - since).as_millis() as u64;
        Self {
            id: order.id,
            sequence,
            constraint: constraint_key(&order.constraint),
            deadline: seated + Duration::from_secs(order.profile.timeout_s),
            seated,
            first_choice: None,
            prompt_sha256: hash::sha256(prompt.text.as_bytes()),
            prompt: order.wants_prompt.then(|| prompt.text.clone()),
            model: Duration::ZERO,
        }
    }

    /// What came of the attempt, now that it has ended.
    pub(super) fn into_generation(self, finish: Finish, error: Option<String>, now: Instant) -> Generation {
        let mut cost = self.sequence.cost;
        let first_choice = self.first_choice.unwrap_or(now);
        cost.prefill_ms = (first_choice - self.seated).as_millis() as u64;
        cost.decode_ms = (now - first_choice).as_millis() as u64;
        cost.check_us = self.sequence.check.as_micros() as u64;
        cost.mask_us = self.sequence.mask.as_micros() as u64;
        cost.model_us = self.model.as_micros() as u64;
        let output = String::from_utf8_lossy(&self.sequence.text).into_owned();
        let (prompt_sha256, prompt) = (self.prompt_sha256, self.prompt);
        Generation { output, finish, error, prompt_sha256, prompt, cost }
    }
}

/// Chat messages as the model reads them: in its template, or plain where it has none.
///
/// # Errors
/// The template's, or the profile's date where it is none.
pub fn prompt_text(messages: &[Message], profile: &Profile, card: &Card) -> Result<String, String> {
    let Some(template) = &card.template else { return Ok(completion(messages)) };
    let date = profile.date.parse().map_err(|e: jiff::Error| e.to_string())?;
    let bos = card.bos.as_ref().map_or("", |(_, name)| name.as_str());
    ChatTemplate::new(template.clone(), bos, &card.eos, date)
        .and_then(|chat| chat.render(messages, profile.thinking))
        .map_err(|e| e.to_string())
}

/// What comes of an order that cannot be decoded.
pub(super) fn refusal(order: &Order, prompt: Option<&Prompt>, finish: Finish, error: String) -> Generation {
    let mut generation = Generation { finish, error: Some(error), ..Generation::default() };
    if let Some(prompt) = prompt {
        generation.prompt_sha256 = hash::sha256(prompt.text.as_bytes());
        generation.prompt = order.wants_prompt.then(|| prompt.text.clone());
        generation.cost.n_prompt = prompt.tokens.len() as u32;
    }
    generation
}

/// The name of a constraint among the worker's: its schema's or grammar's text, empty for JSON mode.
pub(super) fn constraint_key(constraint: &Constraint) -> Option<String> {
    match constraint {
        Constraint::None => None,
        Constraint::Json => Some(String::new()),
        Constraint::Schema(schema) => Some(schema.to_string()),
        // No schema begins so.
        Constraint::Grammar(text) => Some(format!("gbnf {text}")),
    }
}

/// Exactly one begin token where the model wants one, whether or not its template wrote one (or two).
pub(super) fn with_one_bos(tokens: Vec<TokenId>, card: &Card) -> Vec<TokenId> {
    let Some(bos) = card.bos.as_ref().map(|(id, _)| TokenId(*id)) else { return tokens };
    let n_written = tokens.iter().take_while(|token| **token == bos).count();
    let wanted = card.adds_bos || n_written > 0;
    let rest = tokens.into_iter().skip(n_written);
    wanted.then_some(bos).into_iter().chain(rest).collect()
}
