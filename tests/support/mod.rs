//! A vocabulary with nasty tokens, and help for tests of constraints.

use nightjar::decode::allowed::Allowed;
use nightjar::decode::vocab::{Token, TokenKind, Vocab};
use rand::RngExt;
use rand::rngs::SmallRng;

/// Pieces that cross borders of JSON or of characters, some twice.
const PIECES: [&[u8]; 72] = [
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
    b"a\",",
    b"b\": ",
    b"ab\":1,\"a\":",
    b"a\":\"\",\"b\":",
    b"\\u0061\":",
    b" \"id\": ",
    b"[[",
    b"a\":[[",
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

/// Whether the text has numbers that the jsonschema crate does not compute exactly.
pub(crate) fn is_beyond_oracle(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_alphanumeric() && !".+-".contains(c));
    numbers.filter(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '-')).any(|word| {
        let (digits, exponent) = word.split_once(['e', 'E']).unwrap_or((word, ""));
        digits.len() > 14 || exponent.len() > 1
    })
}

/// How a random text ended.
pub(crate) enum Written {
    Whole(String),
    DeadEnd(Vec<u8>),
    TooLong(Vec<u8>),
}

/// After so many tokens whatever can be closed is.
const PATIENCE: usize = 300;

/// Writes a text by random choice among the allowed tokens, with a liking for tokens that close something.
pub(crate) fn write_randomly(allowed: &mut Allowed, vocab: &Vocab, rng: &mut SmallRng) -> Written {
    let mut matcher = allowed.start();
    for n_written in 0..2_000 {
        let mask = allowed.mask(&mut matcher);
        let tokens: Vec<_> = mask.iter().collect();
        let closing: Vec<_> = tokens
            .iter()
            .copied()
            .filter(|&token| matches!(vocab.piece(token), b"\"" | b"}" | b"]" | b""))
            .collect();
        let closes = n_written >= PATIENCE || rng.random_bool(0.3);
        let from = if closes && !closing.is_empty() { &closing } else { &tokens };
        if from.is_empty() {
            return Written::DeadEnd(matcher.text().to_vec());
        }
        let token = from[rng.random_range(0..from.len())];
        assert!(allowed.check(&mut matcher, token), "mask and check agree");
        assert!(allowed.advance(&mut matcher, token), "mask and advance agree");
        if vocab.is_end(token) || allowed.constraint().is_complete(&mut matcher) {
            return Written::Whole(
                String::from_utf8(matcher.text().to_vec()).expect("accepted text is UTF-8"),
            );
        }
    }
    Written::TooLong(matcher.text().to_vec())
}
