//! What goes over the pipes between daemon and worker: one JSON object a line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decode::profile::Profile;
use crate::hash;
use crate::prompt::Message;

/// Daemon to worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// One more attempt, to be seated as soon as a slot is free.
    Attempt(Box<Order>),
    /// Forget the attempts that are not seated yet.
    Drain,
    /// Finish what is seated, then end. (Closed pipes without it end the worker at once: its daemon is gone.)
    Finish,
}

/// All that decides the text of one attempt, but for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The daemon's name for this attempt.
    pub id: u64,
    /// Chat messages, before the model's template.
    pub messages: Arc<Vec<Message>>,
    /// What the text is held to.
    pub constraint: Constraint,
    /// How tokens are chosen.
    pub profile: Arc<Profile>,
    /// For draws above temperature 0.
    pub seed: u64,
    /// Whether the rendered prompt is to come back.
    pub wants_prompt: bool,
}

/// What a text is held to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// Nothing.
    None,
    /// Any JSON object.
    Json,
    /// A JSON Schema.
    Schema(Arc<Value>),
    /// A grammar's text, in GBNF.
    Grammar(Arc<str>),
}

impl Constraint {
    /// SHA-256 of the grammar, in hex; `None` for everything else.
    pub fn grammar_sha256(&self) -> Option<String> {
        match self {
            Self::Grammar(text) => Some(hash::sha256(text.as_bytes())),
            Self::None | Self::Json | Self::Schema(_) => None,
        }
    }
}

/// Worker to daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The model is ready.
    Loaded {
        /// Tokens for each slot.
        context: u32,
        /// Sequences in one batch.
        slots: u32,
        /// How long loading took, in milliseconds.
        load_ms: u64,
    },
    /// The model cannot be used; the worker ends.
    Refused {
        /// Why.
        reason: String,
    },
    /// An attempt has taken a slot.
    Seated {
        /// The daemon's name for it.
        id: u64,
    },
    /// Still at work; sent at most twice a second.
    Progress {
        /// Tokens evaluated since the model was loaded.
        n_evaluated: u64,
    },
    /// Attempts that were not seated are forgotten.
    Drained,
    /// An attempt has ended.
    Done {
        /// The daemon's name for it.
        id: u64,
        /// What came of it.
        generation: Box<Generation>,
    },
}

/// Why an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The constraint closed.
    Complete,
    /// The model chose an end token.
    Stop,
    /// `max_tokens` was reached.
    MaxTokens,
    /// The text only repeated itself.
    Loop,
    /// `timeout_s` was over.
    Timeout,
    /// No token was allowed any more.
    DeadEnd,
    /// The prompt and `max_tokens` do not fit the context.
    PromptTooLong,
    /// It could not be carried out, through no fault of the model's answer.
    Errored,
    /// The scenario's schema cannot be enforced exactly.
    UnsupportedSchema,
}

impl Finish {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::Complete,
        Self::Stop,
        Self::MaxTokens,
        Self::Loop,
        Self::Timeout,
        Self::DeadEnd,
        Self::PromptTooLong,
        Self::Errored,
        Self::UnsupportedSchema,
    ];

    /// The name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stop => "stop",
            Self::MaxTokens => "max_tokens",
            Self::Loop => "loop",
            Self::Timeout => "timeout",
            Self::DeadEnd => "dead_end",
            Self::PromptTooLong => "prompt_too_long",
            Self::Errored => "errored",
            Self::UnsupportedSchema => "unsupported_schema",
        }
    }

    /// Whether a limit of ours ended the text, and not the model or the constraint.
    pub fn is_cut_off(self) -> bool {
        matches!(self, Self::MaxTokens | Self::Loop | Self::Timeout)
    }
}

/// What came of one attempt: raw facts, nothing judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The text, reasoning included. Bytes that are not UTF-8 (a character cut off) read as U+FFFD.
    pub output: String,
    /// Why it ended.
    pub finish: Finish,
    /// For `errored` and `unsupported_schema`: what happened.
    pub error: Option<String>,
    /// SHA-256 of the rendered prompt, in hex.
    pub prompt_sha256: String,
    /// The rendered prompt, if it was asked for.
    pub prompt: Option<String>,
    /// What it cost.
    pub cost: Cost,
}

impl Default for Finish {
    /// Until an attempt has ended otherwise, it has not been carried out.
    fn default() -> Self {
        Self::Errored
    }
}

/// Tokens and time of one attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Tokens of the prompt.
    pub n_prompt: u32,
    /// Of those, found in the KV cache or evaluated on another attempt's account.
    pub n_reused: u32,
    /// Tokens of the text, reasoning included.
    pub n_output: u32,
    /// Tokens, of prompt and text, that were evaluated on this attempt's account. What attempts share is on the account
    /// of the one that came first, so that sums over attempts are what the model did.
    pub n_evaluated: u32,
    /// Tokens guessed on this attempt's account; all of them are among `n_evaluated`.
    pub n_drafted: u32,
    /// Of those, chosen.
    pub n_accepted: u32,
    /// Of those, guessed because a constraint left no choice.
    pub n_forced: u32,
    /// Masks built: one for each free choice that the constraint refused, or for every choice under `mask_first`.
    pub n_masks: u32,
    /// From the order's arrival to its seat, in milliseconds.
    pub queue_ms: u64,
    /// From the seat to the first choice, in milliseconds.
    pub prefill_ms: u64,
    /// From the first choice to the end, in milliseconds.
    pub decode_ms: u64,
    /// Checking choices, in microseconds.
    pub check_us: u64,
    /// Building masks and choosing under them, in microseconds.
    pub mask_us: u64,
    /// The model's time on this attempt's account, in microseconds: its part of each batch, by tokens.
    pub model_us: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_come_over_the_pipe_as_they_were() {
        let schema = Constraint::Schema(Arc::new(serde_json::json!({"b": 1, "a": 1.0})));
        for constraint in
            [Constraint::None, Constraint::Json, schema, Constraint::Grammar("root ::= \"\\n\"\n".into())]
        {
            let line = serde_json::to_string(&constraint).expect("plain data");
            assert_eq!(serde_json::from_str::<Constraint>(&line).expect("what was written"), constraint);
            assert!(!line.contains('\n'), "one line");
        }
    }
}
