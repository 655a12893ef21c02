//! Generated text to a JSON value, saying how it had to be found. Pure; never judges.

mod number;
mod json;
mod read;
mod answer;

pub use answer::{AnswerRules, Failure, Found, Markers, Parsed, Root, RulesError, answer};
pub use json::{Json, Size};
pub use number::Number;
pub use read::{MAX_DEPTH, Problem, ReadError};
