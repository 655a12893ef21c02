//! Tiny GGUF files made for tests, written from the format's description and not with the reader's code.

/// A GGUF file in the making.
#[derive(Debug, Clone)]
pub(crate) struct Gguf {
    version: u32,
    alignment: usize,
    entries: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    data_bytes: usize,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

impl Gguf {
    /// A file with nothing in it.
    pub(crate) fn empty() -> Self {
        Self { version: 3, alignment: 32, entries: vec![], tensors: vec![], data_bytes: 0 }
    }

    /// A whole model: 512 weights in `Q4_1` and 4 in `F32`.
    pub(crate) fn model(architecture: &str) -> Self {
        Self::empty()
            .text("general.architecture", architecture)
            .u32(&format!("{architecture}.context_length"), 2048)
            .tensor("norm", &[2], 0, 8)
            .tensor("norm_more", &[2], 0, 8)
            .tensor("weight", &[256, 2], 3, 320)
    }

    pub(crate) fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// Says how the data is aligned, and aligns it so.
    pub(crate) fn aligned(self, bytes: u32) -> Self {
        Self { alignment: bytes as usize, ..self.u32("general.alignment", bytes) }
    }

    /// A metadata entry of any type, its value given as bytes.
    pub(crate) fn raw(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.entries.push([&text(key)[..], &kind.to_le_bytes(), value].concat());
        self
    }

    pub(crate) fn text(self, key: &str, value: &str) -> Self {
        self.raw(key, 8, &text(value))
    }

    pub(crate) fn u32(self, key: &str, value: u32) -> Self {
        self.raw(key, 4, &value.to_le_bytes())
    }

    pub(crate) fn u16(self, key: &str, value: u16) -> Self {
        self.raw(key, 2, &value.to_le_bytes())
    }

    pub(crate) fn flag(self, key: &str, value: bool) -> Self {
        self.raw(key, 7, &[u8::from(value)])
    }

    pub(crate) fn texts(self, key: &str, values: &[&str]) -> Self {
        let head = [&8_u32.to_le_bytes()[..], &(values.len() as u64).to_le_bytes()].concat();
        let value = values.iter().fold(head, |head, value| [head, text(value)].concat());
        self.raw(key, 9, &value)
    }

    /// A tensor of `bytes` bytes of data behind the ones before it.
    pub(crate) fn tensor(self, name: &str, dimensions: &[u64], kind: u32, bytes: usize) -> Self {
        let offset = self.data_bytes.next_multiple_of(self.alignment);
        let mut with = self.tensor_at(name, dimensions, kind, offset as u64);
        with.data_bytes = offset + bytes;
        with
    }

    /// A tensor that only claims to have data.
    pub(crate) fn tensor_at(mut self, name: &str, dimensions: &[u64], kind: u32, offset: u64) -> Self {
        let mut entry = [&text(name)[..], &(dimensions.len() as u32).to_le_bytes()].concat();
        entry.extend(dimensions.iter().flat_map(|length| length.to_le_bytes()));
        entry.extend(kind.to_le_bytes());
        entry.extend(offset.to_le_bytes());
        self.tensors.push(entry);
        self
    }

    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut file = b"GGUF".to_vec();
        file.extend(self.version.to_le_bytes());
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend((self.entries.len() as u64).to_le_bytes());
        file.extend(self.entries.concat());
        file.extend(self.tensors.concat());
        if !self.tensors.is_empty() {
            file.resize(file.len().next_multiple_of(self.alignment) + self.data_bytes, 7);
        }
        file
    }
}
