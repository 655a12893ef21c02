//! Inside a JSON string: escapes and UTF-8, down to the bytes of the decoded text. Knows no schema.

use std::ops::RangeInclusive;

/// Where inside a string's spelling the text stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) enum Lex {
    /// Between characters.
    #[default]
    Plain,
    /// Inside a character: bytes to come, and the range of the next one.
    Tail { left: u8, from: u8, to: u8 },
    /// After a backslash.
    Slash,
    /// After `\u` and so many digits.
    Hex { digits: u8, value: u16 },
    /// After the first half of a surrogate pair.
    High { high: u16 },
    /// After the first half and a backslash.
    HighSlash { high: u16 },
    /// Inside the second half.
    Low { high: u16, digits: u8, value: u16 },
}

/// What a byte does to a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LexStep {
    /// The byte cannot stand here.
    Refused,
    /// The string ends.
    Close,
    /// Part of an escape that stands for nothing yet.
    Wait(Lex),
    /// The byte itself is text.
    Raw(Lex),
    /// An escape is complete and stands for this character.
    Char(char),
}

impl Lex {
    /// What the next byte does.
    pub(super) fn step(self, byte: u8) -> LexStep {
        match self {
            Self::Plain => Self::first(byte),
            Self::Tail { left, from, to } if (from..=to).contains(&byte) => LexStep::Raw(match left {
                1 => Self::Plain,
                left => Self::Tail { left: left - 1, from: 0x80, to: 0xbf },
            }),
            Self::Slash => Self::after_slash(byte),
            Self::Hex { digits, value } => match hex(value, byte) {
                Some(value) if digits == 3 => Self::unit(value),
                Some(value) => LexStep::Wait(Self::Hex { digits: digits + 1, value }),
                None => LexStep::Refused,
            },
            Self::High { high } if byte == b'\\' => LexStep::Wait(Self::HighSlash { high }),
            Self::HighSlash { high } if byte == b'u' => {
                LexStep::Wait(Self::Low { high, digits: 0, value: 0 })
            }
            Self::Tail { .. } | Self::High { .. } | Self::HighSlash { .. } => LexStep::Refused,
            Self::Low { high, digits, value } => match hex(value, byte) {
                Some(value) if digits == 3 => pair(high, value).map_or(LexStep::Refused, LexStep::Char),
                Some(value) => LexStep::Wait(Self::Low { high, digits: digits + 1, value }),
                None => LexStep::Refused,
            },
        }
    }

    fn first(byte: u8) -> LexStep {
        let tail = |left, from, to| LexStep::Raw(Self::Tail { left, from, to });
        match byte {
            b'"' => LexStep::Close,
            b'\\' => LexStep::Wait(Self::Slash),
            0x20..=0x7f => LexStep::Raw(Self::Plain),
            0xc2..=0xdf => tail(1, 0x80, 0xbf),
            0xe0 => tail(2, 0xa0, 0xbf),
            0xed => tail(2, 0x80, 0x9f),
            0xe1..=0xef => tail(2, 0x80, 0xbf),
            0xf0 => tail(3, 0x90, 0xbf),
            0xf1..=0xf3 => tail(3, 0x80, 0xbf),
            0xf4 => tail(3, 0x80, 0x8f),
            _ => LexStep::Refused,
        }
    }

    fn after_slash(byte: u8) -> LexStep {
        let c = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return LexStep::Wait(Self::Hex { digits: 0, value: 0 }),
            _ => return LexStep::Refused,
        };
        LexStep::Char(c)
    }

    fn unit(value: u16) -> LexStep {
        match char::from_u32(u32::from(value)) {
            Some(c) => LexStep::Char(c),
            None if value < 0xdc00 => LexStep::Wait(Self::High { high: value }),
            None => LexStep::Refused,
        }
    }

    /// The characters that the escape begun here can still stand for, as up to two ranges of code points that may
    /// include surrogates but not consist of them. None between characters and inside a raw one.
    pub(super) fn reach(self) -> [Option<RangeInclusive<u32>>; 2] {
        match self {
            Self::Plain | Self::Tail { .. } => [None, None],
            Self::Slash => [Some(0..=0x10_ffff), None],
            Self::Hex { digits, value } => {
                let (from, to) = span(value, digits);
                let (high_from, high_to) = (from.max(0xd800), to.min(0xdbff));
                let pairs =
                    (high_from <= high_to).then(|| pair_start(high_from)..=pair_start(high_to) + 0x3ff);
                let all_surrogates = (0xd800..=0xdfff).contains(&from) && to <= 0xdfff;
                [(!all_surrogates).then_some(from..=to), pairs]
            }
            Self::High { high } | Self::HighSlash { high } => {
                let from = pair_start(u32::from(high));
                [Some(from..=from + 0x3ff), None]
            }
            Self::Low { high, digits, value } => {
                let (from, to) = span(value, digits);
                let (from, to) = (from.max(0xdc00), to.min(0xdfff));
                let start = pair_start(u32::from(high));
                if from > to {
                    return [None, None];
                }
                [Some(start + from - 0xdc00..=start + to - 0xdc00), None]
            }
        }
    }
}

fn hex(value: u16, byte: u8) -> Option<u16> {
    let digit = char::from(byte).to_digit(16)?;
    Some(value << 4 | digit as u16)
}

fn span(value: u16, digits: u8) -> (u32, u32) {
    let open = 4 * (4 - u32::from(digits));
    let from = u32::from(value) << open;
    (from, from + (1 << open) - 1)
}

fn pair_start(high: u32) -> u32 {
    0x10000 + ((high - 0xd800) << 10)
}

fn pair(high: u16, low: u16) -> Option<char> {
    (0xdc00..0xe000)
        .contains(&low)
        .then(|| pair_start(u32::from(high)) + u32::from(low) - 0xdc00)
        .and_then(char::from_u32)
}
