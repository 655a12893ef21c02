//! Whether a set of cases can be trusted and how varied it is: what of `expected` the message does not hold, what
//! repeats itself, and the figures of a whole set. Pure; touches no files and knows no model.
//!
//! [`strict`] finds faults, [`Statistics`] counts. A leaf of `expected` is *grounded* when the message states it, in
//! whatever notation, or when it follows from what the message states (a week after a date that is there).

mod leaves;
mod text;
mod tokens;
mod numbers;
mod dates;
mod kinds;
mod ground;
mod strict;
mod similarity;
mod stats;
#[cfg(test)]
mod tests;

pub use ground::{Message, Unfounded};
pub use kinds::Kinds;
pub use leaves::{Leaf, canonical, depth, leaves, n_keys};
pub use similarity::{Similarity, similarity};
pub use stats::{Lengths, PAPER, PaperRow, Statistics};
pub use strict::{Entry, Finding, Subject, faults_of, strict};
