//! What runs the model: the trait, its two implementations, the worker that seats attempts, and the child process that
//! holds it all. No scenario, no score.

pub mod frames;
pub mod device;
pub mod filled;
pub mod switch;
pub mod worker;
pub mod process;
pub mod scripted;
#[cfg(feature = "llama")]
pub mod llama;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::vocab::{TokenId, Vocab};

/// A seat in the batch: llama.cpp's sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// The first slot of the block of so many slots in which this one is.
    #[must_use]
    pub fn first_of_block(self, block: u32) -> Self {
        Self(self.0 / block * block)
    }
}

/// One token to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchToken {
    /// Whose token.
    pub slot: Slot,
    /// Which token.
    pub token: TokenId,
    /// Its place in the slot's text, from 0, without gaps.
    pub position: u32,
    /// Whether the logits that follow it will be read.
    pub wants_logits: bool,
}

/// What a model says of itself, and how it has been loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The chat template, when there is one.
    pub template: Option<String>,
    /// The token that begins a text, and its name.
    pub bos: Option<(u32, String)>,
    /// The name of the token that ends a text; empty when there is none.
    pub eos: String,
    /// Whether the model was trained with its begin token in front.
    pub adds_bos: bool,
    /// Tokens of prompt and answer for each slot.
    pub context: u32,
    /// Texts in one batch.
    pub slots: u32,
    /// Whether it runs on a GPU.
    pub on_gpu: bool,
    /// What evaluation loads, where attention costs every text as much as the longest one evaluated with it.
    pub traffic: Option<Traffic>,
}

/// What evaluation takes its time for where attention is computed over as many tokens for each text as for the longest, in
/// bytes: on two cores 256 tokens of a text took both `SmolLM2` and a Qwen of 0.5B about 1 ms, some 20 bytes a nanosecond
/// if keys and values are counted for each head that uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes of all weights: gone through once for all texts that are evaluated together.
    pub weights: u64,
    /// Bytes of keys and values for one token of one text, for each head that uses them.
    pub token: u64,
    /// The longest text is filled up to a multiple of so many tokens.
    pub step: u32,
    /// Slots are evaluated in blocks of so many: whole, if there is a text in one of them.
    pub block: u32,
}

/// What can go wrong in the model; the worker process ends with it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file, the model in it or the context for it could not be made.
    #[error("{0}")]
    Load(String),
    /// Evaluating a batch failed.
    #[error("decode of {n_tokens} tokens failed: {reason}")]
    Decode {
        /// Size of the batch.
        n_tokens: usize,
        /// What llama.cpp says.
        reason: String,
    },
    /// The caller broke the rules of the batch.
    #[error("bad batch: {0}")]
    Batch(String),
}

/// A loaded model with its KV cache.
pub trait Model {
    /// The tokens.
    fn vocab(&self) -> &Arc<Vocab>;
    /// What the model says of itself.
    fn card(&self) -> &Card;
    /// Text to tokens. Names of special tokens in the text become these tokens; no begin token is added.
    fn tokenize(&self, text: &str) -> Vec<TokenId>;
    /// Evaluates a batch; afterwards the logits that its tokens asked for can be read.
    fn decode(&mut self, batch: &[BatchToken]) -> Result<(), Error>;
    /// The logits (one a token of the vocab) after the token that the last batch had at this place of the slot's text.
    ///
    /// # Panics
    /// When that token did not ask for them.
    fn logits(&self, slot: Slot, position: u32) -> &[f32];
    /// Makes `to` have seen what `from` has seen, and nothing else.
    fn copy(&mut self, from: Slot, to: Slot) -> Result<(), Error>;
    /// Forgets what the slot has seen, but for its first `n_tokens`; says how many it still has, which is none where a
    /// model cannot forget in part (recurrent ones cannot).
    fn keep(&mut self, slot: Slot, n_tokens: u32) -> Result<u32, Error>;
}
