//! Attempts: writing down a generation, and what the plan has to know of them. No verdicts' content.

use std::collections::HashMap;

use rusqlite::{Transaction, named_params};

use super::open::is_duplicate;
use super::verdicts::put_verdict;
use super::{AttemptId, Error, Judged, ModelId, ProfileId, Reader, Result, RunId, Store};
use crate::decode::engine::frames::{Cost, Finish};
use crate::scenario::Strategy;

/// One generation, as it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The hash of all that could change its text.
    pub key: String,
    /// In which run.
    pub run: RunId,
    /// By which model.
    pub model: ModelId,
    /// Decoded how.
    pub profile: ProfileId,
    /// Asked how.
    pub strategy: Strategy,
    /// Which of the grid's repeats, from 0.
    pub repeat: u32,
    /// Of the sampler.
    pub seed: Option<u64>,
    /// Of the rendered prompt, in hex.
    pub prompt_sha256: Option<String>,
    /// Of the grammar that the text was held to, in hex.
    pub grammar_sha256: Option<String>,
    /// Everything that was generated, reasoning included.
    pub output: String,
    /// What ended it.
    pub finish: Finish,
    /// The signal or the reason; always there when `finish` is [`Finish::Errored`].
    pub error: Option<String>,
    /// The worker's last log lines.
    pub error_log: Option<String>,
    /// What it took, unless it was never carried out.
    pub cost: Option<Cost>,
    /// When decoding began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: String,
}

/// What there is under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The latest attempt: the one that counts.
    pub attempt: AttemptId,
    /// How many there are.
    pub tries: u32,
    /// What ended the latest.
    pub finish: Finish,
}

/// What an attempt left, to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Everything that was generated.
    pub text: String,
    /// What ended it.
    pub finish: Finish,
    /// The signal or the reason.
    pub error: Option<String>,
}

impl Store {
    /// Writes down an attempt and how it answers each case that asks for it, all or nothing; on the disk on return.
    ///
    /// [`Error::AlreadyRecorded`] when the key has an attempt that left a text.
    pub fn record(&mut self, attempt: &Attempt, judged: &[Judged]) -> Result<AttemptId> {
        let scoring = self.scoring;
        let transaction = self.begin()?;
        let try_ = next_try(&transaction, &attempt.key)?;
        let id = insert(&transaction, attempt, try_).map_err(|error| match error {
            error if is_duplicate(&error) => Error::AlreadyRecorded { key: attempt.key.clone() },
            error => Error::Sql(error),
        })?;
        for one in judged {
            put_verdict(&transaction, &scoring, id, one)?;
        }
        transaction.commit()?;
        Ok(id)
    }
}

/// The number of the attempt to come: 1, or one more than the last if that left no text; else a number already taken.
fn next_try(transaction: &Transaction<'_>, key: &str) -> Result<u32> {
    let mut statement = transaction.prepare_cached(
        "SELECT coalesce(max(try), 0) + coalesce(min(finish IN ('errored', 'unsupported_schema')), 1) FROM attempts WHERE key = ?1",
    )?;
    Ok(statement.query_row([key], |row| row.get(0))?)
}

fn insert(transaction: &Transaction<'_>, attempt: &Attempt, try_: u32) -> rusqlite::Result<AttemptId> {
    let cost = attempt.cost.as_ref();
    transaction
        .prepare_cached(
            "INSERT INTO attempts (key, try, run_id, model_id, profile_id, strategy, repeat, seed, prompt_sha256,
               grammar_sha256, output, finish, error, error_log, n_prompt, n_reused, n_output, n_masks, queue_ms, prefill_ms, decode_ms,
               check_us, mask_us, n_evaluated, n_forced, n_drafted, n_accepted, model_us, started_at,
               finished_at)
             VALUES (:key, :try, :run, :model, :profile, :strategy, :repeat, :seed, :prompt_sha256,
               :grammar_sha256, :output, :finish, :error, :error_log, :n_prompt, :n_reused, :n_output, :n_masks, :queue_ms, :prefill_ms,
               :decode_ms, :check_us, :mask_us, :n_evaluated, :n_forced, :n_drafted, :n_accepted, :model_us,
               :started_at, :finished_at)
             RETURNING id",
        )?
        .query_row(
            named_params! {
                ":key": attempt.key, ":try": try_, ":run": attempt.run, ":model": attempt.model,
                ":profile": attempt.profile, ":strategy": attempt.strategy, ":repeat": attempt.repeat,
                ":seed": attempt.seed, ":prompt_sha256": attempt.prompt_sha256,
                ":grammar_sha256": attempt.grammar_sha256, ":output": attempt.output,
                ":finish": attempt.finish, ":error": attempt.error, ":error_log": attempt.error_log,
                ":n_prompt": cost.map(|c| c.n_prompt), ":n_reused": cost.map(|c| c.n_reused), ":n_output": cost.map(|c| c.n_output),
                ":n_masks": cost.map(|c| c.n_masks), ":queue_ms": cost.map(|c| c.queue_ms),
                ":prefill_ms": cost.map(|c| c.prefill_ms), ":decode_ms": cost.map(|c| c.decode_ms),
                ":check_us": cost.map(|c| c.check_us), ":mask_us": cost.map(|c| c.mask_us),
                ":n_evaluated": cost.map(|c| c.n_evaluated), ":n_forced": cost.map(|c| c.n_forced),
                ":n_drafted": cost.map(|c| c.n_drafted), ":n_accepted": cost.map(|c| c.n_accepted),
                ":model_us": cost.map(|c| c.model_us),
                ":started_at": attempt.started_at, ":finished_at": attempt.finished_at,
            },
            |row| row.get(0),
        )
}

impl Reader {
    /// Every key there is, with what is under it.
    pub fn known_attempts(&self) -> Result<HashMap<String, Known>> {
        let mut statement =
            self.connection.prepare_cached("SELECT key, id, try, finish FROM attempts ORDER BY id")?;
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, Known { attempt: row.get(1)?, tries: row.get(2)?, finish: row.get(3)? }))
        })?;
        // In the order of ids, so that of a key's tries the latest stays.
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What an attempt left.
    pub fn output(&self, attempt: AttemptId) -> Result<Output> {
        let mut statement =
            self.connection.prepare_cached("SELECT output, finish, error FROM attempts WHERE id = ?1")?;
        Ok(statement.query_row([attempt], |row| {
            Ok(Output { text: row.get(0)?, finish: row.get(1)?, error: row.get(2)? })
        })?)
    }
}
