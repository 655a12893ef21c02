//! Notices output that only repeats itself. Pure: sees tokens and their bytes, decides nothing else.

use super::vocab::TokenId;

/// Counts white space and periodic repetition as tokens arrive.
#[derive(Debug, Clone)]
pub struct LoopDetector {
    max_spaces: usize,
    max_repeated: usize,
    spaces: usize,
    tokens: Vec<TokenId>,
    /// `runs[p]`: how many tokens in a row, up to the newest, equalled the one `p + 1` before.
    runs: Vec<usize>,
}

impl LoopDetector {
    /// `max_spaces` white-space bytes in a row are a loop, and so are `max_repeated` tokens of one period, written at
    /// least three times.
    pub fn new(max_spaces: u32, max_repeated: u32) -> Self {
        let periods = max_repeated as usize / 3;
        Self {
            max_spaces: max_spaces as usize,
            max_repeated: max_repeated as usize,
            spaces: 0,
            tokens: Vec::new(),
            runs: vec![0; periods],
        }
    }

    /// Takes in a token; true when the output is looping by now.
    pub fn push(&mut self, token: TokenId, piece: &[u8]) -> bool {
        for byte in piece {
            self.spaces = if byte.is_ascii_whitespace() { self.spaces + 1 } else { 0 };
        }
        let mut repeated = 0;
        for (index, run) in self.runs.iter_mut().enumerate() {
            let period = index + 1;
            let before = self.tokens.len().checked_sub(period).map(|at| self.tokens[at]);
            *run = if before == Some(token) { *run + 1 } else { 0 };
            if *run >= 2 * period {
                repeated = repeated.max(*run + period);
            }
        }
        self.tokens.push(token);
        self.spaces >= self.max_spaces || repeated >= self.max_repeated
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Plain definition: the last `n` tokens have some period of at most `n / 3`.
    fn periodic(tokens: &[u32], n: usize) -> bool {
        let Some(start) = tokens.len().checked_sub(n) else { return false };
        let tail = &tokens[start..];
        (1..=n / 3).any(|p| (p..n).all(|i| tail[i] == tail[i - p]))
    }

    proptest! {
        #[test]
        fn repetition_equals_the_plain_definition(tokens in prop::collection::vec(0u32..3, 0..80), n in 8u32..24) {
            let mut detector = LoopDetector::new(1000, n);
            for end in 0..tokens.len() {
                let found = detector.push(TokenId(tokens[end]), b"x");
                prop_assert_eq!(found, periodic(&tokens[..=end], n as usize), "after {} tokens", end + 1);
            }
        }
    }

    #[test]
    fn white_space_counts_across_tokens_and_starts_again_after_text() {
        let mut detector = LoopDetector::new(6, 1000);
        let pieces: [&[u8]; 6] = [b"  ", b"\n\n", b"x ", b" \t\r", b"\n", b" "];
        let found: Vec<bool> =
            (0..).zip(pieces).map(|(id, piece)| detector.push(TokenId(id), piece)).collect();
        assert_eq!(found, [false, false, false, false, false, true]);
    }
}
