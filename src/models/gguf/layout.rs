//! The bytes of a GGUF header to metadata and tensor sizes. Knows the format, not what the keys mean.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use super::Error;
use super::kinds::{self, TensorKind};

/// What one file holds.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) metadata: HashMap<String, Value>,
    pub(super) tensors: Vec<Tensor>,
    /// Size of the file.
    pub(super) bytes: u64,
}

/// A metadata value, as far as anybody here asks for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Any integer type, where it is not negative.
    Unsigned(u64),
    Bool(bool),
    Text(String),
    /// An array of texts under a key that was asked for.
    Texts(Vec<String>),
    /// An array of integers under such a key.
    Numbers(Vec<u32>),
    /// Other arrays (a vocabulary has megabytes), floats and negative numbers are stepped over.
    Skipped,
}

/// A tensor's type and number of elements.
#[derive(Debug)]
pub(super) struct Tensor {
    pub(super) kind: &'static TensorKind,
    pub(super) elements: u64,
}

/// No real text in a header comes near this: the longest, chat templates, have tens of kilobytes.
const MAX_TEXT: u64 = 16 << 20;
/// ggml's own limit.
const MAX_DIMENSIONS: u32 = 4;
const DEFAULT_ALIGNMENT: u64 = 32;
const MAX_ALIGNMENT: u64 = 1 << 20;

const TYPE_BOOL: u32 = 7;
const TYPE_TEXT: u32 = 8;
const TYPE_ARRAY: u32 = 9;

/// Smallest metadata entry: an empty key's length, a type, one byte.
const MIN_ENTRY_BYTES: u64 = 8 + 4 + 1;
/// Smallest tensor entry: an empty name's length, no dimensions, a type, an offset.
const MIN_TENSOR_BYTES: u64 = 8 + 4 + 4 + 8;

/// The layout of the file at `path`, checked to be whole.
pub(super) fn open(path: &Path) -> Result<Layout, Error> {
    open_keeping(path, &[])
}

/// The same with the arrays under some keys.
pub(super) fn open_keeping(path: &Path, arrays: &[&str]) -> Result<Layout, Error> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    read(file, bytes, arrays)
}

/// The layout of a file of `bytes` bytes, checked to be whole.
pub(super) fn read(source: impl Read + Seek, bytes: u64, arrays: &[&str]) -> Result<Layout, Error> {
    let mut source = Source { inner: BufReader::new(source), at: 0, len: bytes };
    check_start(&mut source)?;
    let n_tensors = source.count("tensors", MIN_TENSOR_BYTES)?;
    let n_entries = source.count("metadata entries", MIN_ENTRY_BYTES)?;
    let metadata = read_metadata(&mut source, n_entries, arrays)?;
    let mut tensors = Vec::new();
    let mut data_bytes = 0;
    for _ in 0..n_tensors {
        let (tensor, end) = read_tensor(&mut source)?;
        data_bytes = data_bytes.max(end);
        tensors.push(tensor);
    }
    let data_start = source.at.next_multiple_of(alignment(&metadata, &source)?);
    let need = data_start
        .checked_add(data_bytes)
        .ok_or_else(|| source.malformed("a tensor ends beyond any possible file"))?;
    if !tensors.is_empty() && need > bytes {
        return Err(Error::CutData { have: bytes, need });
    }
    Ok(Layout { metadata, tensors, bytes })
}

fn check_start<R: Read + Seek>(source: &mut Source<R>) -> Result<(), Error> {
    let mut start = Vec::new();
    source.inner.by_ref().take(8).read_to_end(&mut start)?;
    source.at = start.len() as u64;
    if !start.starts_with(b"GGUF") {
        return Err(Error::NotGguf { start: start.escape_ascii().to_string() });
    }
    let Some(version) = start[4..].first_chunk::<4>() else {
        return Err(Error::CutHeader { have: source.len });
    };
    match u32::from_le_bytes(*version) {
        2 | 3 => Ok(()),
        _ if matches!(u32::from_be_bytes(*version), 1..=3) => Err(Error::BigEndian),
        other => Err(Error::Version(other)),
    }
}

fn read_metadata<R: Read + Seek>(
    source: &mut Source<R>,
    n_entries: u64,
    arrays: &[&str],
) -> Result<HashMap<String, Value>, Error> {
    let mut metadata = HashMap::new();
    for _ in 0..n_entries {
        let key = source.text("a metadata key")?;
        let kind = source.u32()?;
        let value = match kind {
            TYPE_BOOL => Value::Bool(source.bytes::<1>()? != [0]),
            TYPE_TEXT => Value::Text(source.text(&key)?),
            TYPE_ARRAY if arrays.contains(&key.as_str()) => source.array(&key)?,
            TYPE_ARRAY => source.skip_array(&key).map(|()| Value::Skipped)?,
            _ => source.number(kind, &key)?,
        };
        if metadata.insert(key.clone(), value).is_some() {
            return Err(source.malformed(format!("key `{key}` is there twice")));
        }
    }
    Ok(metadata)
}

/// A tensor and where it ends, counted from the start of the data.
fn read_tensor<R: Read + Seek>(source: &mut Source<R>) -> Result<(Tensor, u64), Error> {
    let name = source.text("a tensor's name")?;
    let n_dimensions = source.u32()?;
    if n_dimensions > MAX_DIMENSIONS {
        return Err(source.malformed(format!("tensor `{name}` has {n_dimensions} dimensions, 4 is the most")));
    }
    let mut row = 1;
    let mut elements = Some(1_u64);
    for dimension in 0..n_dimensions {
        let length = source.u64()?;
        row = if dimension == 0 { length } else { row };
        elements = elements.and_then(|elements| elements.checked_mul(length));
    }
    let number = source.u32()?;
    let offset = source.u64()?;
    let Some(kind) = kinds::tensor_kind(number) else {
        return Err(Error::TensorType { tensor: name, kind: number });
    };
    let elements =
        elements.ok_or_else(|| source.malformed(format!("tensor `{name}` has too many elements")))?;
    if row % kind.block != 0 {
        let what =
            format!("tensor `{name}` has rows of {row}, not a multiple of {} ({})", kind.block, kind.name);
        return Err(source.malformed(what));
    }
    let end = (elements / kind.block).checked_mul(kind.bytes).and_then(|bytes| bytes.checked_add(offset));
    let end =
        end.ok_or_else(|| source.malformed(format!("tensor `{name}` ends beyond any possible file")))?;
    Ok((Tensor { kind, elements }, end))
}

fn alignment<R>(metadata: &HashMap<String, Value>, source: &Source<R>) -> Result<u64, Error> {
    match metadata.get("general.alignment") {
        None => Ok(DEFAULT_ALIGNMENT),
        Some(Value::Unsigned(bytes)) if bytes.is_power_of_two() && *bytes <= MAX_ALIGNMENT => Ok(*bytes),
        Some(_) => Err(source.malformed("`general.alignment` is not a power of two")),
    }
}

/// A file read front to back; nothing is read past `len`.
struct Source<R> {
    inner: BufReader<R>,
    at: u64,
    len: u64,
}

impl<R> Source<R> {
    fn malformed(&self, what: impl Into<String>) -> Error {
        Error::Malformed { at: self.at, what: what.into() }
    }

    fn claim(&mut self, n_bytes: u64) -> Result<(), Error> {
        if n_bytes > self.len - self.at {
            return Err(Error::CutHeader { have: self.len });
        }
        self.at += n_bytes;
        Ok(())
    }
}

impl<R: Read + Seek> Source<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.claim(N as u64)?;
        let mut bytes = [0; N];
        self.inner.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn skip(&mut self, n_bytes: u64) -> Result<(), Error> {
        self.claim(n_bytes)?;
        // Lossless: no file is longer than an i64 can say.
        Ok(self.inner.seek_relative(n_bytes as i64)?)
    }

    /// A count of things that take at least `min_bytes` each.
    fn count(&mut self, of: &str, min_bytes: u64) -> Result<u64, Error> {
        let count = self.u64()?;
        if count > (self.len - self.at) / min_bytes {
            return Err(self.malformed(format!("{count} {of} do not fit into the file's {} bytes", self.len)));
        }
        Ok(count)
    }

    fn text(&mut self, of: &str) -> Result<String, Error> {
        let n_bytes = self.u64()?;
        if n_bytes > MAX_TEXT {
            return Err(self.malformed(format!("the text of `{of}` has {n_bytes} bytes")));
        }
        self.claim(n_bytes)?;
        let mut bytes = vec![0; n_bytes as usize];
        self.inner.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn number(&mut self, kind: u32, key: &str) -> Result<Value, Error> {
        let number = match kind {
            0 => Some(u64::from(self.bytes::<1>()?[0])),
            1 => u64::try_from(i8::from_le_bytes(self.bytes()?)).ok(),
            2 => Some(u64::from(u16::from_le_bytes(self.bytes()?))),
            3 => u64::try_from(i16::from_le_bytes(self.bytes()?)).ok(),
            4 => Some(u64::from(self.u32()?)),
            5 => u64::try_from(i32::from_le_bytes(self.bytes()?)).ok(),
            10 => Some(self.u64()?),
            11 => u64::try_from(i64::from_le_bytes(self.bytes()?)).ok(),
            _ => {
                let width = self.width(kind, key)?;
                self.skip(width)?;
                None
            }
        };
        Ok(number.map_or(Value::Skipped, Value::Unsigned))
    }

    fn array(&mut self, key: &str) -> Result<Value, Error> {
        let kind = self.u32()?;
        if kind == TYPE_TEXT {
            let count = self.count("texts", 8)?;
            return (0..count).map(|_| self.text(key)).collect::<Result<_, _>>().map(Value::Texts);
        }
        let width = self.width(kind, key)?;
        let count = self.count("array elements", width)?;
        if matches!(kind, 4 | 5) {
            return (0..count).map(|_| self.u32()).collect::<Result<_, _>>().map(Value::Numbers);
        }
        self.skip(count * width).map(|()| Value::Skipped)
    }

    fn skip_array(&mut self, key: &str) -> Result<(), Error> {
        let kind = self.u32()?;
        if kind != TYPE_TEXT {
            let width = self.width(kind, key)?;
            let count = self.count("array elements", width)?;
            return self.skip(count * width);
        }
        for _ in 0..self.count("texts", 8)? {
            let n_bytes = self.u64()?;
            self.skip(n_bytes)?;
        }
        Ok(())
    }

    /// Bytes of one value of a type of fixed size.
    fn width(&self, kind: u32, key: &str) -> Result<u64, Error> {
        Ok(match kind {
            0 | 1 | TYPE_BOOL => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            _ => return Err(self.malformed(format!("`{key}` has a value of unknown type {kind}"))),
        })
    }
}
