//! The one file that knows llama.cpp: loads a model, lends it as [`Model`]. No policy.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;
use llama_cpp_2::{
    LlamaBackendDeviceType, LogOptions, list_llama_ggml_backend_devices, send_logs_to_tracing,
};
use llama_cpp_sys_2::{
    LLAMA_FLASH_ATTN_TYPE_AUTO, LLAMA_FLASH_ATTN_TYPE_DISABLED, LLAMA_FLASH_ATTN_TYPE_ENABLED,
    llama_flash_attn_type,
};

use super::device::Device;
use super::filled::Filled;
use super::switch::Switch;
use super::{BatchToken, Card, Error, Model, Slot, Traffic};
use crate::decode::vocab::{Token, TokenId, TokenKind, Vocab};

/// llama.cpp computes attention over a multiple of so many tokens.
const STEP: u32 = 256;

/// How to load and run a model.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Sequences in one batch; 0: as many as suit the device.
    pub slots: u32,
    /// Tokens in one batch.
    pub batch: u32,
    /// Tokens for each slot; cut to what the model was trained for.
    pub context: u32,
    /// Threads; 0: as many as cores.
    pub threads: u32,
    /// Whether attention is computed piece by piece, without a matrix of all its weights.
    pub flash_attention: Switch,
    /// Whether a text is to come out the same whatever is evaluated with it.
    pub batch_invariant: Switch,
    /// Layers on the GPU; -1: all.
    pub gpu_layers: i32,
}

/// Loads the model at `path` and lends it to `run`. One stack frame holds the model, then the context that borrows it.
///
/// # Errors
/// [`Error::Load`] when the file or its context cannot be used. llama.cpp ends the process on some broken files and
/// when memory runs out: call this where that may happen.
pub fn with_model<R>(
    path: &Path,
    options: Options,
    run: impl FnOnce(&mut dyn Model) -> R,
) -> Result<R, Error> {
    send_logs_to_tracing(LogOptions::default());
    let load = |reason: String| Error::Load(format!("{}: {reason}", path.display()));
    if !path.is_file() {
        return Err(load("no such file".into()));
    }
    let backend = LlamaBackend::init().map_err(|e| load(e.to_string()))?;
    // llama.cpp takes more layers than there are for "all".
    let gpu_layers = u32::try_from(options.gpu_layers).unwrap_or(u32::MAX >> 1);
    let params = LlamaModelParams::default().with_n_gpu_layers(gpu_layers);
    let model = LlamaModel::load_from_file(&backend, path, &params).map_err(|e| load(e.to_string()))?;
    let context_size = options.context.min(model.n_ctx_train());
    let device = device(options.gpu_layers);
    let invariant = batch_invariant(options.batch_invariant, &model);
    let slots = match options.slots {
        0 => device.slots(slot_bytes(&model, context_size), invariant).min(options.batch),
        n => n,
    };
    let threads = thread_count(options.threads);
    let block = device.block(invariant, slots);
    let (n_seq, batch) = (slots.next_multiple_of(block), options.batch.next_multiple_of(block));
    let attention = device.flash_attention(options.flash_attention);
    // Behind a text that fills its slot there is room for what fills up a block.
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new((context_size + block - 1) * n_seq))
        .with_n_seq_max(n_seq)
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_flash_attention_policy(flash_attention(attention));
    let context = model.new_context(&backend, params).map_err(|e| load(e.to_string()))?;
    let vocab = Arc::new(read_vocab(&model.vocab()));
    let token = head_bytes(&model) * u64::from(model.n_head());
    let traffic = Traffic { weights: model.size(), token, step: STEP, block };
    let traffic = (attention == Switch::Off && !device.is_gpu).then_some(traffic);
    let card = Card { context: context_size, slots, on_gpu: device.is_gpu, traffic, ..read_card(&model) };
    let mut llama = LlamaEngine {
        model: &model,
        context,
        batch: LlamaBatch::new(batch as usize, 1),
        block,
        vocab,
        card,
        rows: HashMap::new(),
    };
    Ok(run(&mut llama))
}

fn flash_attention(switch: Switch) -> llama_flash_attn_type {
    match switch {
        Switch::Off => LLAMA_FLASH_ATTN_TYPE_DISABLED,
        Switch::Auto => LLAMA_FLASH_ATTN_TYPE_AUTO,
        Switch::On => LLAMA_FLASH_ATTN_TYPE_ENABLED,
    }
}

/// What the model's layers are on: the first GPU, where there is one to be used.
fn device(gpu_layers: i32) -> Device {
    use LlamaBackendDeviceType::{Cpu, Gpu, IntegratedGpu};

    let devices = list_llama_ggml_backend_devices();
    let memory = |types: &[LlamaBackendDeviceType]| {
        let device = devices.iter().find(|device| types.contains(&device.device_type));
        device.map(|device| device.memory_free as u64)
    };
    match memory(&[Gpu, IntegratedGpu]).filter(|_| gpu_layers != 0) {
        Some(memory) => Device { is_gpu: true, memory },
        None => Device { is_gpu: false, memory: memory(&[Cpu]).unwrap_or(0) },
    }
}

/// Whether to fill batches up, as far as the model decides that. A model that cannot forget in part would keep what was
/// only there to fill up. `Auto` is off where it would help little: each token is computed by itself in any case (but in
/// the output head, on which nothing is built), or an expert gets as many tokens as happen to choose it.
fn batch_invariant(switch: Switch, model: &LlamaModel) -> Switch {
    /// llama.cpp's numbers of `Q4_1` and `Q5_1`.
    const TOKEN_BY_TOKEN: [u64; 2] = [3, 9];

    if model.is_recurrent() || model.is_hybrid() {
        return Switch::Off;
    }
    let by_itself = number(model, "general.file_type").is_some_and(|kind| TOKEN_BY_TOKEN.contains(&kind));
    let n_experts = number(model, &format!("{}.expert_count", architecture(model))).unwrap_or(0);
    switch.only_if(!by_itself && n_experts == 0)
}

/// A number that the file says.
fn number(model: &LlamaModel, key: &str) -> Option<u64> {
    model.meta_val_str(key).ok()?.parse().ok()
}

fn architecture(model: &LlamaModel) -> String {
    model.meta_val_str("general.architecture").unwrap_or_default()
}

/// Bytes of KV cache for so many tokens.
fn slot_bytes(model: &LlamaModel, context_size: u32) -> u64 {
    // The number is the first layer's, which has none in some models.
    let n_heads = if model.n_head_kv() > 0 { model.n_head_kv() } else { model.n_head() };
    head_bytes(model) * u64::from(n_heads) * u64::from(context_size)
}

/// Bytes of one token's keys and values, 16 bits each, for one head in every layer.
fn head_bytes(model: &LlamaModel) -> u64 {
    let written = number(model, &format!("{}.attention.key_length", architecture(model)));
    let head = written.unwrap_or_else(|| model.n_embd() as u64 / u64::from(model.n_head().max(1)));
    u64::from(model.n_layer()) * head * 2 * 2
}

fn thread_count(threads: u32) -> i32 {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get() as i32),
        n => n as i32,
    }
}

fn read_vocab(vocab: &LlamaVocab<'_>) -> Vocab {
    let tokens = (0..vocab.n_tokens()).map(|id| {
        let token = LlamaToken(id);
        let kind = if vocab.is_eog(token) {
            TokenKind::EndOfGeneration
        } else if vocab.is_control(token) {
            TokenKind::Special
        } else {
            TokenKind::Text
        };
        Token { bytes: vocab.token_to_piece(token, false, None), kind }
    });
    Vocab::new(tokens.collect())
}

/// What the file says.
fn read_card(model: &LlamaModel) -> Card {
    let vocab = model.vocab();
    let name = |token: LlamaToken| vocab.text(token).map(|text| text.to_string_lossy().into_owned());
    let (bos, eos) = (vocab.bos(), vocab.eos());
    Card {
        template: model.chat_template(None).ok().and_then(|template| template.to_string().ok()),
        bos: (bos.0 >= 0).then(|| name(bos)).flatten().map(|name| (bos.0 as u32, name)),
        eos: (eos.0 >= 0).then(|| name(eos)).flatten().unwrap_or_default(),
        adds_bos: vocab.should_add_bos(),
        ..Card::default()
    }
}

/// A llama.cpp context with its batch.
struct LlamaEngine<'m> {
    model: &'m LlamaModel,
    context: LlamaContext<'m>,
    batch: LlamaBatch<'static>,
    /// Batches are filled up to blocks of so many tokens.
    block: u32,
    vocab: Arc<Vocab>,
    card: Card,
    /// The row of logits in the last batch, by slot and position.
    rows: HashMap<(Slot, u32), i32>,
}

impl Model for LlamaEngine<'_> {
    fn vocab(&self) -> &Arc<Vocab> {
        &self.vocab
    }

    fn card(&self) -> &Card {
        &self.card
    }

    fn tokenize(&self, text: &str) -> Vec<TokenId> {
        let tokens = self.model.vocab().tokenize(text.as_bytes(), false, true);
        tokens.into_iter().map(|token| TokenId(token.0 as u32)).collect()
    }

    fn decode(&mut self, batch: &[BatchToken]) -> Result<(), Error> {
        let failed = |reason: String| Error::Decode { n_tokens: batch.len(), reason };
        let n_held = |slot: Slot| (self.context.kv_cache_seq_pos_max(slot.0 as i32) + 1) as u32;
        let Filled { tokens, surplus } = Filled::new(batch, self.block, n_held);
        self.batch.clear();
        self.rows.clear();
        for (row, entry) in (0..).zip(&tokens) {
            let token = LlamaToken(entry.token.0 as i32);
            self.batch
                .add(token, entry.position as i32, &[entry.slot.0 as i32], entry.wants_logits)
                .map_err(|e| failed(e.to_string()))?;
            if entry.wants_logits {
                self.rows.insert((entry.slot, entry.position), row);
            }
        }
        self.context.decode(&mut self.batch).map_err(|e| failed(e.to_string()))?;
        surplus.into_iter().try_for_each(|(slot, end)| {
            let forgotten = self.context.kv_cache_seq_rm(slot.0 as i32, Some(end), None);
            forgotten.map_err(|e| failed(e.to_string()))
        })
    }

    fn logits(&self, slot: Slot, position: u32) -> &[f32] {
        self.context.get_logits_ith(self.rows[&(slot, position)])
    }

    fn copy(&mut self, from: Slot, to: Slot) -> Result<(), Error> {
        let (from, to) = (from.0 as i32, to.0 as i32);
        let cleared = self.context.kv_cache_seq_rm(to, None, None);
        let copied = cleared.and_then(|()| self.context.kv_cache_seq_cp(from, to, None, None));
        copied.map_err(|e| Error::Decode { n_tokens: 0, reason: e.to_string() })
    }

    fn keep(&mut self, slot: Slot, n_tokens: u32) -> Result<u32, Error> {
        let sequence = slot.0 as i32;
        // llama.cpp says no to forgetting in part where the model's state does not allow it.
        if n_tokens > 0 && self.context.kv_cache_seq_rm(sequence, Some(n_tokens), None).is_ok() {
            return Ok(n_tokens);
        }
        let cleared = self.context.kv_cache_seq_rm(sequence, None, None);
        cleared.map(|()| 0).map_err(|e| Error::Decode { n_tokens: 0, reason: e.to_string() })
    }
}
