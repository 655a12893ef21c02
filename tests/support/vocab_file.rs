//! The vocabulary files of the mask benchmark. Knows no constraint.

use std::path::Path;

use anyhow::{Context, Result, bail};
use nightjar::decode::vocab::{Token, TokenKind, Vocab};

/// Reads a header line with `eos=ID`, then a flag (N, U, S, X) and the bytes in hex for each token.
pub(crate) fn read(path: &Path) -> Result<Vocab> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines = text.lines();
    let header = lines.next().context("the vocabulary file is empty")?;
    let eos = header
        .split_whitespace()
        .find_map(|field| field.strip_prefix("eos="))
        .context("no eos= in the header")?;
    let eos: usize = eos.parse().context("eos= is not a token id")?;
    let mut tokens = Vec::new();
    for (idx, line) in lines.enumerate() {
        let (flag, hex) = line.split_once(' ').unwrap_or((line, ""));
        let kind = match flag {
            _ if idx == eos => TokenKind::EndOfGeneration,
            "N" | "U" => TokenKind::Text,
            "S" | "X" => TokenKind::Special,
            _ => bail!("line {}: unknown flag `{flag}`", idx + 2),
        };
        tokens.push(Token { bytes: bytes(hex).with_context(|| format!("line {}", idx + 2))?, kind });
    }
    Ok(Vocab::new(tokens))
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).context("not a hex digit");
    hex.as_bytes()
        .chunks(2)
        .map(|pair| Ok((digit(pair[0])? * 16 + digit(*pair.last().context("")?)?) as u8))
        .collect()
}
