//! The figures of a scenario's cases, and the paper's beside them. Judges nothing.

use std::collections::BTreeSet;

use serde::Serialize;

use super::leaves::{depth, leaves, n_keys};
use super::similarity::{Similarity, similarity, words};
use crate::scenario::Case;

/// What a scenario's cases amount to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    /// The scenario's name.
    pub scenario: String,
    /// How many cases.
    pub cases: usize,
    /// Member names of `expected` at all levels, on average.
    pub keys: f64,
    /// Scalars of `expected`, on average.
    pub leaves: f64,
    /// Depth of `expected`, on average; a flat object is 2 deep.
    pub depth: f64,
    /// Words of a message.
    pub words: Lengths,
    /// The part of the cases with a null somewhere in `expected`.
    pub with_null: f64,
    /// Different words in all messages together.
    pub vocabulary: usize,
    /// How alike the messages are without their values.
    #[serde(flatten)]
    pub similarity: Similarity,
    /// The paper's figures for a scenario of this name.
    pub paper: Option<PaperRow>,
}

/// Lengths of messages, in words.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lengths {
    /// The shortest.
    pub min: usize,
    /// Half of them are shorter; between two, their mean.
    pub median: f64,
    /// The longest.
    pub max: usize,
}

/// A row of Table I of `LLMStructBench` (arXiv 2602.14743).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaperRow {
    /// The scenario, as ours is named.
    #[serde(skip)]
    pub scenario: &'static str,
    /// Cases.
    pub cases: usize,
    /// Keys, on average.
    pub keys: f64,
    /// Leaves, on average.
    pub leaves: f64,
    /// Depth.
    pub depth: f64,
}

/// Table I.
pub const PAPER: [PaperRow; 5] = [
    PaperRow { scenario: "support_tickets", cases: 199, keys: 5.0, leaves: 5.0, depth: 2.0 },
    PaperRow { scenario: "sick_leave", cases: 199, keys: 7.0, leaves: 5.0, depth: 3.0 },
    PaperRow { scenario: "project_extension", cases: 199, keys: 9.0, leaves: 6.0, depth: 3.0 },
    PaperRow { scenario: "conference_registration", cases: 199, keys: 9.0, leaves: 7.0, depth: 3.0 },
    PaperRow { scenario: "loan_request", cases: 199, keys: 10.04, leaves: 9.04, depth: 4.0 },
];

impl Statistics {
    /// Counts; `None` where there are no cases.
    pub fn of(scenario: &str, cases: &[&Case]) -> Option<Self> {
        let mean = |of: &dyn Fn(&Case) -> usize| {
            cases.iter().map(|case| of(case)).sum::<usize>() as f64 / cases.len() as f64
        };
        let texts: Vec<Vec<String>> = cases.iter().map(|case| words(&case.text)).collect();
        let vocabulary: BTreeSet<&String> = texts.iter().flatten().collect();
        Some(Self {
            scenario: scenario.to_owned(),
            cases: cases.len(),
            keys: mean(&|case| n_keys(&case.expected)),
            leaves: mean(&|case| leaves(&case.expected).len()),
            depth: mean(&|case| depth(&case.expected)),
            words: Lengths::of(texts.iter().map(Vec::len).collect())?,
            with_null: mean(&|case| {
                usize::from(leaves(&case.expected).iter().any(|leaf| leaf.value.is_null()))
            }),
            vocabulary: vocabulary.len(),
            similarity: similarity(cases.iter().copied()),
            paper: PAPER.into_iter().find(|row| row.scenario == scenario),
        })
    }
}

impl Lengths {
    fn of(mut lengths: Vec<usize>) -> Option<Self> {
        lengths.sort_unstable();
        let (min, max) = (*lengths.first()?, *lengths.last()?);
        let (low, high) = (lengths[(lengths.len() - 1) / 2], lengths[lengths.len() / 2]);
        Some(Self { min, median: (low + high) as f64 / 2.0, max })
    }
}
