//! How alike the messages of a set are once their values are taken out: `scripts/similarity` computes the same two figures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::leaves::leaves;
use crate::scenario::Case;

/// Words in a row that are compared.
const GRAM: usize = 5;

/// Stands for a value that was taken out; a character that no message has.
const PLACEHOLDER: char = '□';

/// The two figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Similarity {
    /// Texts, as lists of words, that are left different with a placeholder for every leaf value of the case.
    pub different: usize,
    /// Mean over all pairs of these texts of the Jaccard similarity of their sets of five words in a row; 0 where neither
    /// has five words.
    pub mean_jaccard: f64,
}

/// Compares the messages of all cases.
pub fn similarity<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Similarity {
    let texts: Vec<Vec<String>> = cases.into_iter().map(|case| words(&blanked(case))).collect();
    let different = texts.iter().collect::<BTreeSet<_>>().len();
    let mut numbers: BTreeMap<&[String], u32> = BTreeMap::new();
    let sets: Vec<BTreeSet<u32>> = texts
        .iter()
        .map(|words| {
            let number = |gram| {
                let next = numbers.len() as u32;
                *numbers.entry(gram).or_insert(next)
            };
            words.windows(GRAM).map(number).collect()
        })
        .collect();
    let pairs = sets
        .iter()
        .enumerate()
        .flat_map(|(index, left)| sets[index + 1..].iter().map(move |right| (left, right)));
    let (sum, count) =
        pairs.fold((0.0, 0u32), |(sum, count), (left, right)| (sum + jaccard(left, right), count + 1));
    Similarity { different, mean_jaccard: sum / f64::from(count.max(1)) }
}

fn jaccard(left: &BTreeSet<u32>, right: &BTreeSet<u32>) -> f64 {
    let both = left.intersection(right).count();
    let either = left.len() + right.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

/// The message in lower case with a placeholder for every string and number of `expected` that stands in it literally, the
/// longest first.
fn blanked(case: &Case) -> String {
    let text_of = |leaf: super::Leaf| match leaf.value {
        serde_json::Value::String(text) => Some(text.to_lowercase()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut values: Vec<String> =
        leaves(&case.expected).into_iter().filter_map(text_of).filter(|text| !text.is_empty()).collect();
    values.sort_by_key(|value| (std::cmp::Reverse(value.chars().count()), value.clone()));
    values.iter().fold(case.text.to_lowercase(), |text, value| replaced(&text, value))
}

/// Replaces a value where no word goes on before or after it.
fn replaced(text: &str, value: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let joined_before =
            before.chars().next_back().or_else(|| out.chars().next_back()).is_some_and(is_word);
        if joined_before || after.chars().next().is_some_and(is_word) {
            let first = rest[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..at + first]);
            rest = &rest[at + first..];
        } else {
            out.push_str(before);
            out.push(PLACEHOLDER);
            rest = after;
        }
    }
    out + rest
}

/// Written so that it can be said in any language: ASCII letters and digits, and all beyond Latin-1's signs but for general
/// and CJK punctuation.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (c >= '\u{c0}'
            && !matches!(c, '×' | '÷' | '\u{1680}' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}'))
}

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
