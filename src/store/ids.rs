//! Row ids, a type for each table, so that one cannot stand for another. Nothing else.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(pub i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}

ids! {
    /// One execution of a daemon, a sweep or `score --record`.
    RunId
    /// A model: a GGUF file's hash, or an external model's name.
    ModelId
    /// A resolved decode profile.
    ProfileId
    /// A file that the inbox took.
    FileId
    /// A scenario, through all its revisions.
    ScenarioId
    /// A scenario's schema, examples and prompts at one time.
    RevisionId
    /// One text with one expected value.
    CaseId
    /// One generation.
    AttemptId
    /// One set of scoring constants.
    ScoringId
}
