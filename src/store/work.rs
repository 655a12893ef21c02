//! What a run's attempts cost the model, and what they saved each other.

use serde::Serialize;

use super::{Reader, Result, RunId};

/// One model's work in a run: a row of the view `work`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    /// As the leaderboard names it.
    pub model: String,
    /// Attempts that the model has answered.
    pub attempts: u32,
    /// Tokens of their prompts.
    pub prompt_tokens: u64,
    /// Tokens of their texts.
    pub output_tokens: u64,
    /// Of both, tokens that the model had to evaluate.
    pub evaluated: u64,
    /// Tokens guessed; they are among the evaluated.
    pub drafted: u64,
    /// Of those, chosen.
    pub accepted: u64,
    /// Of those, guessed because a constraint left no choice.
    pub forced: u64,
    /// The part that it had not: 0.6 for three tokens in five.
    pub saved: f64,
    /// The model's time, in seconds.
    pub model_s: f64,
    /// Checks and masks, in seconds.
    pub constraint_s: f64,
    /// Evaluated tokens for each second of the model's time.
    pub tokens_per_s: Option<f64>,
}

impl Reader {
    /// The work of a run, model by model.
    pub fn work(&self, run: RunId) -> Result<Vec<Work>> {
        let mut statement =
            self.connection.prepare_cached("SELECT * FROM work WHERE run_id = ?1 ORDER BY model")?;
        let rows = statement.query_map([run], |row| {
            Ok(Work {
                model: row.get("model")?,
                attempts: row.get("attempts")?,
                prompt_tokens: row.get("prompt_tokens")?,
                output_tokens: row.get("output_tokens")?,
                evaluated: row.get("evaluated")?,
                forced: row.get("forced")?,
                drafted: row.get("drafted")?,
                accepted: row.get("accepted")?,
                saved: row.get("saved")?,
                model_s: row.get("model_s")?,
                constraint_s: row.get("constraint_s")?,
                tokens_per_s: row.get("tokens_per_s")?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
