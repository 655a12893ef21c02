//! What a GGUF file says of itself, read without llama.cpp. Reads headers only, never weights.
//!
//! Versions 2 and 3, little endian. Lengths in a file are checked against the file's size before anything is read or
//! allocated by them, so a damaged or hostile file costs an error and nothing else.

mod error;
mod kinds;
mod layout;
mod split;
mod header;
mod tokens;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::Error;
pub use header::Header;
pub use split::PartName;
pub use tokens::{Piece, PieceKind, pieces};

/// The header of the model at `path`, checked to be a whole, text-generating model. The first part of a split model
/// stands for all of them, and the others are read beside it.
pub fn read(path: &Path) -> Result<Header, Error> {
    let mut layout = layout::open(path)?;
    let files = split::files(path, &layout)?;
    for (part_idx, part) in files.iter().enumerate().skip(1) {
        let more = layout::open(part)
            .and_then(|more| split::check_part(more, part_idx))
            .map_err(|source| Error::Part { path: part.clone(), source: Box::new(source) })?;
        layout.bytes += more.bytes;
        layout.tensors.extend(more.tensors);
    }
    header::of(&layout, files)
}
