//! Models in several files: which files belong together. Reads no file.

use std::path::{Path, PathBuf};

use super::Error;
use super::layout::{Layout, Value};

/// A file name as llama.cpp gives it to a part of a split model: `STEM-00002-of-00005.gguf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartName {
    /// What stands before the part's number.
    pub stem: String,
    /// Which part, from 1.
    pub part: u64,
    /// How many parts there are.
    pub count: u64,
}

impl PartName {
    /// The parts of a file's name, where it has this form.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".gguf")?;
        let (rest, count) = name.rsplit_once("-of-")?;
        let (stem, part) = rest.rsplit_once('-')?;
        let number = |digits: &str| (digits.len() == 5).then(|| digits.parse().ok()).flatten();
        Some(Self { stem: stem.to_owned(), part: number(part)?, count: number(count)? })
    }

    /// The file name of another part of the same model.
    pub fn sibling(&self, part: u64) -> String {
        format!("{}-{part:05}-of-{:05}.gguf", self.stem, self.count)
    }
}

/// All files of the model whose first one is at `path`, in order.
pub(super) fn files(path: &Path, layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let count = layout.unsigned("split.count").unwrap_or(1);
    if count <= 1 {
        return Ok(vec![path.to_owned()]);
    }
    let named = PartName::of(path).filter(|named| named.count == count);
    let part = layout.unsigned("split.no").unwrap_or(0).saturating_add(1);
    if part > 1 {
        return Err(Error::LaterPart { part, count, first: named.map(|named| named.sibling(1)) });
    }
    let named = named.filter(|named| named.part == 1).ok_or(Error::PartName { count })?;
    let others = (2..=count).map(|part| path.with_file_name(named.sibling(part)));
    Ok(std::iter::once(path.to_owned()).chain(others).collect())
}

/// `layout` if it is the part with this index (from 0).
pub(super) fn check_part(layout: Layout, part_idx: usize) -> Result<Layout, Error> {
    if layout.metadata.get("split.no") == Some(&Value::Unsigned(part_idx as u64)) {
        return Ok(layout);
    }
    let what = format!("`split.no` is not {part_idx}, as the file's name says");
    Err(Error::Malformed { at: 0, what })
}
