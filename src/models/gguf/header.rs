//! What the metadata of a model means. No bytes are read here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::layout::{Layout, Tensor, Value};
use super::{Error, kinds};

/// What a model's header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// llama.cpp's name of the architecture, `llama` or `qwen2` for example.
    pub architecture: String,
    /// The name given by whoever converted the model.
    pub name: Option<String>,
    /// A short size, `135M` or `8x7B`: the file's own, else made from `parameters`.
    pub size_label: String,
    /// Number of weights: the elements of all tensors. Shared embeddings count once.
    pub parameters: u64,
    /// How the weights are stored, `Q4_K_M` for example: the file's type, else that of most weights.
    pub quantisation: String,
    /// Positions the model was trained for.
    pub context_length: Option<u64>,
    /// The Jinja chat template; base models have none.
    pub chat_template: Option<String>,
    /// The model's files in order: one, or all parts of a split model.
    pub files: Vec<PathBuf>,
    /// Size of all files.
    pub bytes: u64,
}

impl Layout {
    /// A number among the metadata.
    pub(super) fn unsigned(&self, key: &str) -> Option<u64> {
        match self.metadata.get(key) {
            Some(Value::Unsigned(number)) => Some(*number),
            _ => None,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key) {
            Some(Value::Text(text)) => Some(text).filter(|text| !text.is_empty()).map(String::as_str),
            _ => None,
        }
    }
}

/// The header of a model made of these files, or why it is no model that writes text.
pub(super) fn of(layout: &Layout, files: Vec<PathBuf>) -> Result<Header, Error> {
    if let Some(reason) = other_purpose(layout) {
        return Err(Error::Purpose(reason));
    }
    let Some(architecture) = layout.text("general.architecture") else {
        return Err(Error::Malformed { at: 0, what: "there is no `general.architecture`".to_owned() });
    };
    let parameters = layout.tensors.iter().fold(0_u64, |sum, tensor| sum.saturating_add(tensor.elements));
    let stored_as = layout.unsigned("general.file_type").and_then(kinds::file_type);
    Ok(Header {
        architecture: architecture.to_owned(),
        name: layout.text("general.name").map(str::to_owned),
        size_label: layout.text("general.size_label").map_or_else(|| size_label(parameters), str::to_owned),
        parameters,
        quantisation: stored_as.unwrap_or_else(|| main_kind(&layout.tensors)).to_owned(),
        context_length: layout.unsigned(&format!("{architecture}.context_length")),
        chat_template: layout.text("tokenizer.chat_template").map(str::to_owned),
        files,
        bytes: layout.bytes,
    })
}

fn other_purpose(layout: &Layout) -> Option<String> {
    let purpose = layout.text("general.type").unwrap_or("model");
    let architecture = layout.text("general.architecture").unwrap_or_default();
    let not_causal =
        layout.metadata.get(&format!("{architecture}.attention.causal")) == Some(&Value::Bool(false));
    if purpose != "model" {
        Some(format!("its `general.type` is `{purpose}`, which goes beside a model"))
    } else if architecture == "clip" {
        Some("a projector for images or sound, which goes beside a model".to_owned())
    } else if layout.tensors.is_empty() {
        Some("it has no tensors, only a vocabulary".to_owned())
    } else if not_causal {
        Some(format!("`{architecture}` without causal attention is an encoder or a diffusion model"))
    } else {
        None
    }
}

/// The type that most weights have. By weights, since most tensors of any model are small norms in `F32`.
fn main_kind(tensors: &[Tensor]) -> &'static str {
    let mut weights = BTreeMap::new();
    for tensor in tensors {
        let sum = weights.entry(tensor.kind.name).or_insert(0_u64);
        *sum = sum.saturating_add(tensor.elements);
    }
    weights.into_iter().max_by_key(|(_, sum)| *sum).map_or("none", |(name, _)| name)
}

/// `134515008` to `135M`, `1543714304` to `1.5B`.
pub(super) fn size_label(parameters: u64) -> String {
    let (divisor, unit) = match parameters {
        0..1_000_000 => (1e3, "K"),
        1_000_000..999_500_000 => (1e6, "M"),
        _ => (1e9, "B"),
    };
    let scaled = parameters as f64 / divisor;
    if scaled < 9.95 { format!("{scaled:.1}{unit}") } else { format!("{scaled:.0}{unit}") }
}
