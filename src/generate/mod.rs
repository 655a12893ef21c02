//! New cases from a model, by the paper's recipe: an object that the schema allows and no case has, a message for it, and the
//! strict check of both. Candidates only: nothing here touches an inbox or a database.
//!
//! [`Pipeline`] says what is asked next and what comes of an answer, without a process and without a clock; [`run`] connects
//! it to a worker; [`Output`] is the file of candidates.

mod tight;
mod pool;
mod candidate;
mod pipeline;
mod run;

pub use candidate::{Candidate, Output, OutputError};
pub use pipeline::{Dead, Outcome, Pipeline, Plan};
pub use run::{Ending, Error, Keep, Setup, run};
