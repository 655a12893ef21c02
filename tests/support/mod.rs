//! A vocabulary with nasty tokens, and help for tests of constraints.

use nightjar::decode::vocab::{Token, TokenId, TokenKind, Vocab};

/// Pieces that cross borders of JSON or of characters, some twice.
const PIECES: [&[u8]; 64] = [
    b"\",\"",
    b"\":",
    b"\": ",
    b"\": \"",
    b"{\"",
    b"\"}",
    b"]}",
    b"}}",
    b"},",
    b"}, {\"",
    b"[{\"",
    b"[]",
    b"{}",
    b", ",
    b",\n  \"",
    b"\n",
    b"\n\n",
    b"  ",
    b"        ",
    b"\t",
    b"true",
    b"tru",
    b"false",
    b"null",
    b"ull",
    b"12",
    b"00",
    b"0.",
    b".5",
    b"e+",
    b"-1",
    b"1.0",
    b"1e1",
    b"\\\"",
    b"\\\\",
    b"\\n",
    b"\\u00",
    b"\\u0061",
    b"\\ud83d",
    b"\\ude00",
    b"\\u",
    b"\xc3",
    b"\xa9",
    b"\xc3\xa9",
    b"\xf0\x9f",
    b"\x98\x80",
    b"\xf0\x9f\x98\x80\"",
    b"\xe2\x82",
    b"\xac",
    b"\xff",
    b"name",
    b"na",
    b"me\":",
    b"a",
    b"a",
    b"ab",
    b"abc",
    b"id",
    b"amount",
    b"\"a\":",
    b"2024-01-",
    b"-0",
    b"[1,",
    b",null]",
];

/// Every byte, the nasty pieces, padding, special tokens that look like text, and two ends.
pub(crate) fn nasty_vocab() -> Vocab {
    let text = |bytes: &[u8]| Token { bytes: bytes.to_vec(), kind: TokenKind::Text };
    let special = |bytes: &[u8], kind| Token { bytes: bytes.to_vec(), kind };
    let mut tokens: Vec<_> = (0..=u8::MAX).map(|byte| text(&[byte])).collect();
    tokens.extend(PIECES.iter().map(|piece| text(piece)));
    tokens.push(text(b""));
    tokens.push(special(b"{", TokenKind::Special));
    tokens.push(special(b"", TokenKind::Special));
    tokens.push(special(b"</s>", TokenKind::EndOfGeneration));
    tokens.push(special(b"}", TokenKind::EndOfGeneration));
    tokens.push(text(b""));
    Vocab::new(tokens)
}

/// All ids of a vocabulary.
pub(crate) fn ids(vocab: &Vocab) -> impl Iterator<Item = TokenId> {
    (0..vocab.len() as u32).map(TokenId)
}
