//! The vocabulary in a model's metadata: each token's bytes and what it is for. No tokenizing.

use std::collections::HashMap;
use std::path::Path;

use super::Error;
use super::layout::{Layout, Value, open_keeping};

/// The keys of the arrays that a vocabulary is made of.
pub(super) const TEXTS: &str = "tokenizer.ggml.tokens";
pub(super) const KINDS: &str = "tokenizer.ggml.token_type";

// ggml's kinds of tokens; of the others, unknown and unused, none is ever written.
const NORMAL: u32 = 1;
const CONTROL: u32 = 3;
const USER_DEFINED: u32 = 4;
const BYTE: u32 = 6;

/// Names of tokens that end generation, as in llama.cpp's `llama-vocab.cpp`, beside those that the file names by number.
const ENDS: [&str; 33] = [
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|eom_id|>",
    "<EOT>",
    "<|end_of_text|>",
    "</s>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
    // Of filling in the middle: padding, repository, file.
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|repo_name|>",
    "<|fim_repo|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
];

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it writes; empty for tokens that are never written.
    pub bytes: Vec<u8>,
    /// What it is for.
    pub kind: PieceKind,
}

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// Text.
    Text,
    /// Control, never text.
    Control,
    /// Control that ends generation.
    End,
}

/// The tokens of the model at `path`, in the order of their ids.
pub fn pieces(path: &Path) -> Result<Vec<Piece>, Error> {
    of(&open_keeping(path, &[TEXTS, KINDS])?)
}

pub(super) fn of(layout: &Layout) -> Result<Vec<Piece>, Error> {
    let malformed = |what: String| Err(Error::Malformed { at: 0, what });
    let Some(Value::Texts(texts)) = layout.metadata.get(TEXTS) else {
        return malformed(format!("there is no list of tokens, `{TEXTS}`"));
    };
    let kinds = match layout.metadata.get(KINDS) {
        Some(Value::Numbers(kinds)) if kinds.len() == texts.len() => kinds.clone(),
        Some(_) => return malformed(format!("`{KINDS}` is not as long as `{TEXTS}`")),
        None => vec![NORMAL; texts.len()],
    };
    let characters = match layout.metadata.get("tokenizer.ggml.model") {
        Some(Value::Text(model)) if model == "gpt2" => byte_level(),
        Some(Value::Text(model)) if model == "llama" => HashMap::from([('\u{2581}', b' ')]),
        _ => return malformed("its tokenizer is neither `gpt2` nor `llama`".to_owned()),
    };
    let no_ends = no_ends(texts);
    let ends = ["eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"]
        .map(|name| layout.unsigned(&format!("tokenizer.ggml.{name}_token_id")));
    let piece = |(id, (text, kind)): (usize, (&String, u32))| {
        let raw = || text.as_bytes().to_vec();
        let is_end = (ends.contains(&Some(id as u64)) || (kind == CONTROL && ENDS.contains(&text.as_str())))
            && !no_ends.contains(&text.as_str());
        let (bytes, kind) = match kind {
            _ if is_end => (raw(), PieceKind::End),
            CONTROL => (raw(), PieceKind::Control),
            NORMAL => (decoded(text, &characters), PieceKind::Text),
            USER_DEFINED => (raw(), PieceKind::Text),
            BYTE => (byte(text).into_iter().collect(), PieceKind::Text),
            _ => (Vec::new(), PieceKind::Text),
        };
        Piece { bytes, kind }
    };
    Ok(texts.iter().zip(kinds).enumerate().map(piece).collect())
}

/// Which of the names end nothing after all, as in llama.cpp: beside some others they have another part.
fn no_ends(texts: &[String]) -> Vec<&'static str> {
    let has = |names: &[&str]| texts.iter().any(|text| names.contains(&text.as_str()));
    let ends_message = has(&["<|call|>", "<|calls|>"]) && has(&["<|return|>", "<|flush|>"]);
    let is_text = has(&["<|tool_response>", "<|plamo:eos|>"]);
    ends_message.then_some("<|end|>").into_iter().chain(is_text.then_some("</s>")).collect()
}

fn decoded(text: &str, characters: &HashMap<char, u8>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match characters.get(&c) {
            Some(&byte) => bytes.push(byte),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

/// `<0x0A>` as its byte.
fn byte(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok()
}

/// GPT-2 writes each byte as a character: printable ones of Latin-1 as themselves, the others from U+0100 on.
fn byte_level() -> HashMap<char, u8> {
    let is_plain = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let plain = (0..=u8::MAX).filter(is_plain).map(|byte| (char::from(byte), byte));
    let others = (0..=u8::MAX).filter(|byte| !is_plain(byte));
    plain.chain(('\u{100}'..).zip(others)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::layout;
    use super::super::testing::Gguf;
    use super::*;

    fn pieces_of(model: &str, texts: &[&str], kinds: &[u32]) -> Result<Vec<Piece>, Error> {
        let head = [&5u32.to_le_bytes()[..], &(kinds.len() as u64).to_le_bytes()].concat();
        let kinds = kinds.iter().fold(head, |head, kind| [&head[..], &kind.to_le_bytes()].concat());
        let file = Gguf::model("llama")
            .text("tokenizer.ggml.model", model)
            .texts(TEXTS, texts)
            .raw(KINDS, 9, &kinds)
            .u32("tokenizer.ggml.eos_token_id", 1);
        let bytes = file.bytes();
        of(&layout::read(Cursor::new(&bytes), bytes.len() as u64, &[TEXTS, KINDS])?)
    }

    #[test]
    fn tokens_are_the_bytes_that_they_write() {
        let (text, control, end) = (PieceKind::Text, PieceKind::Control, PieceKind::End);
        let texts = ["Ġa", "<|endoftext|>", "Ċ", "Ã©", "<|im_end|>", "<|im_start|>", "<x>", "ł"];
        let found = pieces_of("gpt2", &texts, &[1, 3, 1, 1, 3, 3, 4, 1]).expect("a vocabulary");
        let written = [
            b" a",
            &b"<|endoftext|>"[..],
            b"\n",
            b"\xc3\xa9",
            b"<|im_end|>",
            b"<|im_start|>",
            b"<x>",
            b"\xa0",
        ];
        assert_eq!(found.iter().map(|piece| &piece.bytes[..]).collect::<Vec<_>>(), written);
        let kinds: Vec<_> = found.iter().map(|piece| piece.kind).collect();
        assert_eq!(kinds, [text, end, text, text, end, control, text, text]);

        let texts = ["<unk>", "</s>", "▁the", "<0x0A>", "<0xE2>", "é", "<pad>"];
        let found = pieces_of("llama", &texts, &[2, 3, 1, 6, 6, 1, 5]).expect("a vocabulary");
        let written = [b"", &b"</s>"[..], b" the", b"\n", b"\xe2", b"\xc3\xa9", b""];
        assert_eq!(found.iter().map(|piece| &piece.bytes[..]).collect::<Vec<_>>(), written);
        assert_eq!(found[1].kind, end);
    }

    #[test]
    fn names_of_ends_are_those_of_llama_cpp() {
        let table: [(&[&str], &[&str]); 5] = [
            (&["a", "<|end|>", "<|return|>"], &["<|end|>", "<|return|>"]),
            (&["a", "<|end|>", "<|return|>", "<|call|>"], &["<|return|>", "<|call|>"]),
            (&["a", "<|end|>", "<|flush|>", "<|calls|>"], &["<|flush|>", "<|calls|>"]),
            (&["a", "b", "</s>", "<|tool_response>", "<turn|>"], &["<|tool_response>", "<turn|>"]),
            (&["a", "b", "</s>", "<|file_sep|>", "[EOS]"], &["</s>", "<|file_sep|>", "[EOS]"]),
        ];
        for (texts, expected) in table {
            // The second is named by number too.
            let found = pieces_of("gpt2", texts, &vec![3; texts.len()]).expect("a vocabulary");
            let ends = found.iter().zip(texts).filter(|(piece, _)| piece.kind == PieceKind::End);
            let ends: Vec<_> = ends.map(|(_, text)| *text).filter(|text| *text != "b").collect();
            assert_eq!(ends, expected, "{texts:?}");
        }
    }

    #[test]
    fn what_is_no_vocabulary_is_refused() {
        for (model, kinds, words) in [("bert", &[1][..], "neither"), ("gpt2", &[1, 1], "as long as")] {
            let error = pieces_of(model, &["a"], kinds).expect_err("no vocabulary").to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
