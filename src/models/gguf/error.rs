//! Why a file cannot be used as a model. No parsing.

use std::io;
use std::path::PathBuf;

/// Why a file cannot be used as a model. The path is the caller's to name, except where another file is meant.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The first bytes are not those of a GGUF file; `start` shows them, escaped.
    #[error("not a GGUF file: {}", if start.is_empty() { "it is empty".to_owned() } else { format!("starts with \"{start}\", not with \"GGUF\"") })]
    NotGguf {
        /// Up to eight first bytes, escaped.
        start: String,
    },
    /// The version field is that of a file for big-endian machines.
    #[error("a big-endian GGUF file; only little-endian ones can be loaded here")]
    BigEndian,
    /// A version other than 2 and 3.
    #[error("GGUF version {0} is not supported (versions 2 and 3 are); convert the model again")]
    Version(u32),
    /// The file ends inside its header.
    #[error("file is cut off: its header goes on after its {have} bytes")]
    CutHeader {
        /// Size of the file.
        have: u64,
    },
    /// The file ends before its last tensor does.
    #[error("file is cut off: {have} of {need} bytes")]
    CutData {
        /// Size of the file.
        have: u64,
        /// Where the last tensor ends.
        need: u64,
    },
    /// The header contradicts the format.
    #[error("damaged header near byte {at}: {what}")]
    Malformed {
        /// Offset in the file.
        at: u64,
        /// What is wrong there.
        what: String,
    },
    /// A tensor type that this version does not know, so that its size is unknown.
    #[error("tensor `{tensor}` has type {kind}, which the llama.cpp built in here does not know")]
    TensorType {
        /// The tensor's name.
        tensor: String,
        /// The number in the file.
        kind: u32,
    },
    /// A GGUF file that holds something else than a text-generating model.
    #[error("not a model that writes text: {0}")]
    Purpose(String),
    /// A later part of a split model.
    #[error("part {part} of {count} of a split model; name its first part{}", first.as_ref().map_or(String::new(), |first| format!(", `{first}`")))]
    LaterPart {
        /// Which part, from 1.
        part: u64,
        /// How many parts there are.
        count: u64,
        /// File name of the first part, where this file is named as parts are.
        first: Option<String>,
    },
    /// A split model whose first file is not named `NAME-00001-of-0000N.gguf`, so that llama.cpp cannot find the rest.
    #[error(
        "first of {count} parts of a split model, but not named `NAME-00001-of-{count:05}.gguf`, so the others cannot be found"
    )]
    PartName {
        /// How many parts there are.
        count: u64,
    },
    /// Another part of a split model is missing or unusable.
    #[error("its part {}: {source}", path.display())]
    Part {
        /// The other part.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },
}
