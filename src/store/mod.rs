//! The database: schema, one writer, views, reading back. The only rusqlite.
//!
//! Two ideas carry it. An *attempt* is the raw fact of one generation, append-only, found by its key: the hash of all
//! that could change its text. A *verdict* says how one attempt answers one case under one revision; it is a function
//! of stored rows and can be made again. So a corrected expected value costs a new verdict, not a new generation.
//! Figures are made by the views, in SQL; nothing here scores, and no SQL is built from strings.

mod attempts;
mod error;
mod figures;
mod ids;
mod intake;
mod migrations;
mod models;
mod open;
mod runs;
mod scenarios;
mod verdicts;
mod words;
mod work;

pub use attempts::{Attempt, Known, Output};
pub use error::Error;
pub use figures::{
    CaseGroup, Coverage, ErrorClasses, FailureRow, PaperRow, PaperStrategy, ParseOutcomes, ScoreRow,
    StrategyTotals, StrategyWins,
};
pub use ids::{AttemptId, CaseId, FileId, ModelId, ProfileId, RevisionId, RunId, ScenarioId, ScoringId};
pub use intake::{Changes, FileKind, InboxFile, Stored};
pub use models::{GridRow, Model, ModelKind};
pub use open::{Reader, Store};
pub use runs::{NewRun, Progress, Run, RunCommand, RunEnding, RunState, Status};
pub use scenarios::StoredScenario;
pub use verdicts::{Judged, Judgement, Outcome, Rescore, Triple};
pub use work::Work;

/// This module's results.
pub type Result<T> = std::result::Result<T, Error>;
