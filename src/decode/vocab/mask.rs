//! Sets of tokens, in the form that is cheap to walk: a list when few are allowed, else one bit each. Knows no logits.

use super::TokenId;

/// Up to this many tokens a mask is a sorted list, so that choosing among them needs no pass over the vocabulary.
const FEW: usize = 256;

/// The tokens that may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenMask {
    n_vocab: usize,
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Sorted, without duplicates.
    Few(Vec<TokenId>),
    /// Bit `i % 64` of word `i / 64` stands for token `i`.
    Bits { words: Vec<u64>, count: usize },
}

impl TokenMask {
    /// The mask that allows the tokens whose bit is set; `words` covers `n_vocab` bits.
    pub(in crate::decode) fn from_words(words: Vec<u64>, n_vocab: usize) -> Self {
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        let bits = Self { n_vocab, form: Form::Bits { words, count } };
        if count > FEW {
            return bits;
        }
        Self { n_vocab, form: Form::Few(bits.iter().collect()) }
    }

    /// The mask that allows exactly `tokens`.
    pub fn of(mut tokens: Vec<TokenId>, n_vocab: usize) -> Self {
        tokens.sort_unstable();
        tokens.dedup();
        if tokens.len() <= FEW {
            return Self { n_vocab, form: Form::Few(tokens) };
        }
        let mut words = vec![0u64; n_vocab.div_ceil(64)];
        for TokenId(id) in &tokens {
            words[*id as usize / 64] |= 1 << (id % 64);
        }
        Self { n_vocab, form: Form::Bits { words, count: tokens.len() } }
    }

    /// The mask that does not allow these tokens.
    pub(in crate::decode) fn without(&self, tokens: impl Iterator<Item = TokenId>) -> Self {
        let mut mask = self.clone();
        for token in tokens {
            match &mut mask.form {
                Form::Few(few) => few.retain(|kept| *kept != token),
                Form::Bits { words, count } => {
                    let (word, bit) = (&mut words[token.0 as usize / 64], 1 << (token.0 % 64));
                    *count -= usize::from(*word & bit != 0);
                    *word &= !bit;
                }
            }
        }
        mask
    }

    /// The mask that allows these tokens too.
    pub(in crate::decode) fn with(&self, tokens: &[TokenId]) -> Self {
        match &self.form {
            Form::Few(few) => Self::of([few, tokens].concat(), self.n_vocab),
            Form::Bits { words, count } => {
                let (mut words, mut count) = (words.clone(), *count);
                for token in tokens {
                    let (word, bit) = (&mut words[token.0 as usize / 64], 1 << (token.0 % 64));
                    count += usize::from(*word & bit == 0);
                    *word |= bit;
                }
                Self { n_vocab: self.n_vocab, form: Form::Bits { words, count } }
            }
        }
    }

    /// Whether the token may come next.
    pub fn allows(&self, token: TokenId) -> bool {
        match &self.form {
            Form::Few(tokens) => tokens.binary_search(&token).is_ok(),
            Form::Bits { words, .. } => {
                words.get(token.0 as usize / 64).is_some_and(|word| word >> (token.0 % 64) & 1 == 1)
            }
        }
    }

    /// How many tokens may come next.
    pub fn count(&self) -> usize {
        match &self.form {
            Form::Few(tokens) => tokens.len(),
            Form::Bits { count, .. } => *count,
        }
    }

    /// Whether no token may come next: a dead end.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How many ids the vocabulary has.
    pub fn n_vocab(&self) -> usize {
        self.n_vocab
    }

    /// The allowed tokens when they are few, as a sorted list.
    pub fn as_few(&self) -> Option<&[TokenId]> {
        match &self.form {
            Form::Few(tokens) => Some(tokens),
            Form::Bits { .. } => None,
        }
    }

    /// One bit for each token, when many are allowed: bit `i % 64` of word `i / 64`.
    pub fn as_words(&self) -> Option<&[u64]> {
        match &self.form {
            Form::Few(_) => None,
            Form::Bits { words, .. } => Some(words),
        }
    }

    /// The allowed tokens in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        let (few, words): (&[TokenId], &[u64]) = match &self.form {
            Form::Few(tokens) => (tokens, &[]),
            Form::Bits { words, .. } => (&[], words),
        };
        few.iter().copied().chain(
            words
                .iter()
                .enumerate()
                .flat_map(|(idx, &word)| Ones(word).map(move |bit| TokenId(idx as u32 * 64 + bit))),
        )
    }
}

/// The positions of the set bits of a word, lowest first.
struct Ones(u64);

impl Iterator for Ones {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_the_same_set() {
        for step in [1usize, 7, 400] {
            let tokens: Vec<_> = (0..1000).step_by(step).map(|id| TokenId(id as u32)).collect();
            let mut words = vec![0u64; 1000usize.div_ceil(64)];
            for TokenId(id) in &tokens {
                words[*id as usize / 64] |= 1 << (id % 64);
            }
            let mask = TokenMask::from_words(words, 1000);
            assert_eq!(mask, TokenMask::of(tokens.iter().rev().copied().collect(), 1000));
            assert_eq!(mask.iter().collect::<Vec<_>>(), tokens);
            assert_eq!(mask.count(), tokens.len());
            assert_eq!(mask.as_few().is_some(), tokens.len() <= FEW);
            assert!((0..1100).all(|id| mask.allows(TokenId(id)) == tokens.contains(&TokenId(id))));
        }
    }
}
