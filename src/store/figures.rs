//! The views' rows, as reports read them. No formulas: those are in the views.

use rusqlite::{Row, named_params};
use serde::Serialize;

use super::verdicts::{Outcome, read_counts};
use super::{Reader, Result};
use crate::scenario::Strategy;
use crate::score::Group;

/// Declares a struct with the columns of a query by their names.
macro_rules! rows {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: row.get(stringify!($field))?,)* })
            }
        }
    )*};
}

rows! {
    /// The scores of a model, profile and strategy, over all scenarios or over one.
    /// Scores are `None` where no attempt was scored.
    pub struct ScoreRow {
        /// Its name, with a piece of its hash where two share one.
        model: String,
        /// Likewise.
        profile: String,
        /// How it was asked.
        strategy: Strategy,
        /// `None`: over all.
        scenario: Option<String>,
        /// How many scenarios are in it.
        scenarios: u32,
        /// Scored attempts.
        tests: u32,
        /// Of them, without any difference.
        flawless: u32,
        /// Of them, without an answer.
        failed: u32,
        /// Over keys.
        f1_keys: Option<f64>,
        /// Over values.
        f1_values: Option<f64>,
        /// Of both.
        f1_micro: Option<f64>,
        /// Share of flawless, lowered by the share of failed.
        doc_micro: Option<f64>,
        /// Of F1 and DOC.
        score: Option<f64>,
        /// Of `tests`.
        flawless_rate: Option<f64>,
        /// Wilson's 95 % interval, lower end.
        flawless_low: Option<f64>,
        /// Upper end.
        flawless_high: Option<f64>,
        /// Strategy points.
        points: i64,
        /// Wrong values, extra keys and extra items.
        mistakes: u32,
        /// Missing keys and missing values.
        errors: u32,
        /// Answers that the schema accepts.
        schema_valid: u32,
        /// Prompts that were too long and schemas that cannot be enforced.
        unscored: u32,
        /// Ended by infrastructure.
        errored: u32,
        /// Not there yet.
        missing: u32,
        /// Whether everything wanted was scored, in every scenario of the sweep.
        complete: bool,
        /// As the paper's models are grouped.
        family: Option<String>,
        /// Their number.
        parameters: Option<u64>,
        /// Such as `Q4_K_M`.
        quantisation: Option<String>,
        /// Of the model's file.
        size_bytes: Option<u64>,
    }

    /// What came out of parsing (Fig. 2), and how good it was (Fig. 3 and 4).
    pub struct ParseOutcomes {
        /// Which model.
        model: String,
        /// Decoded how.
        profile: String,
        /// Asked how.
        strategy: Strategy,
        /// Scored attempts.
        tests: u32,
        /// The whole answer was JSON.
        clean: u32,
        /// JSON was found in it.
        extracted: u32,
        /// There was none.
        failed: u32,
        /// Prompts that were too long and schemas that cannot be enforced.
        unscored: u32,
        /// Ended by infrastructure.
        errored: u32,
        /// Not there yet.
        missing: u32,
        /// Without any difference.
        flawless: u32,
        /// Wrong values, extra keys and extra items.
        mistakes: u32,
        /// Missing keys and missing values.
        errors: u32,
    }

    /// A strategy over all models (Table III).
    pub struct StrategyTotals {
        /// Decoded how.
        profile: String,
        /// Asked how.
        strategy: Strategy,
        /// Models with at least one scored attempt.
        models: u32,
        /// Scored attempts.
        tests: u32,
        /// Flawless ones.
        correct: u32,
        /// Wrong values, extra keys and extra items.
        mistakes: u32,
        /// Missing keys and missing values.
        errors: u32,
        /// Attempts without an answer.
        failed: u32,
        /// Of all models together.
        points: i64,
        /// Models whose row is not complete.
        incomplete: u32,
    }

    /// How many models a strategy wins by points, ties counted for each (Table IV).
    pub struct StrategyWins {
        /// Decoded how.
        profile: String,
        /// Asked how.
        strategy: Strategy,
        /// Models where no other strategy has more points.
        wins: u32,
        /// Models with this strategy.
        models: u32,
        /// Of them, those with a strategy missing or not complete.
        incomplete: u32,
    }

    /// What is wrong with the parsed documents that are not flawless (Table VI).
    pub struct ErrorClasses {
        /// Which model.
        model: String,
        /// Decoded how.
        profile: String,
        /// Asked how.
        strategy: Strategy,
        /// Scored attempts.
        tests: u32,
        /// Parsed, but not flawless.
        n_err: u32,
        /// Documents with a missing key.
        with_missing_key: u32,
        /// Documents with a missing value.
        with_missing_value: u32,
        /// Documents with a wrong value.
        with_wrong_value: u32,
        /// Of `n_err`; `None` where that is 0.
        missing_key_share: Option<f64>,
        /// Likewise.
        missing_value_share: Option<f64>,
        /// Likewise.
        wrong_value_share: Option<f64>,
    }

    /// How much of a cell of the sweep is there: `wanted` is `done`, `errored` and `missing` together.
    pub struct Coverage {
        /// Which model.
        model: String,
        /// Decoded how.
        profile: String,
        /// Asked how.
        strategy: Strategy,
        /// At the cases of which scenario.
        scenario: String,
        /// Whether the sweep still wants it.
        active: bool,
        /// Cases times repeats.
        wanted: u32,
        /// Attempts that need no more work.
        done: u32,
        /// Ended by infrastructure.
        errored: u32,
        /// Without a verdict.
        missing: u32,
        /// Of `done`, the scored ones.
        tests: u32,
        /// Of `done`, never asked.
        prompt_too_long: u32,
        /// Of `done`, never asked.
        unsupported_schema: u32,
    }

    /// A verdict that is not flawless.
    pub struct FailureRow {
        /// Which model.
        model: String,
        /// Decoded how.
        profile: String,
        /// Asked how.
        strategy: Strategy,
        /// In which scenario.
        scenario: String,
        /// At which case, by its name.
        case: String,
        /// How it answered.
        outcome: Outcome,
        /// Why there was nothing to compare.
        reason: Option<String>,
        /// Wrong values, extra keys and extra items.
        mistakes: Option<u32>,
        /// Missing keys and missing values.
        errors: Option<u32>,
        /// A line for each difference.
        findings: Option<String>,
        /// What was generated.
        output: String,
    }

    /// A row of the paper's Table V with ours beside it; either side may be absent.
    pub struct PaperRow {
        /// The paper's name.
        paper_model: Option<String>,
        /// Asked how.
        strategy: Strategy,
        /// The paper's F1.
        paper_f1: Option<f64>,
        /// The paper's DOC.
        paper_doc: Option<f64>,
        /// The paper's Score.
        paper_score: Option<f64>,
        /// Our model.
        model: Option<String>,
        /// Decoded how.
        profile: Option<String>,
        /// Our F1.
        f1_micro: Option<f64>,
        /// Our DOC.
        doc_micro: Option<f64>,
        /// Our Score.
        score: Option<f64>,
        /// Whether everything wanted was scored.
        complete: Option<bool>,
    }

    /// A row of the paper's Tables III and IV.
    pub struct PaperStrategy {
        /// Asked how.
        strategy: Strategy,
        /// Flawless documents.
        correct: u32,
        /// Mistakes in all documents.
        mistakes: u32,
        /// Errors in all documents.
        errors: u32,
        /// Documents without an answer.
        failed: u32,
        /// Models won.
        wins: u32,
    }
}

/// All attempts at one case by a model, profile and strategy, summed: what intervals are sampled from.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseGroup {
    /// As in [`ScoreRow`].
    pub model: String,
    /// As in [`ScoreRow`].
    pub profile: String,
    /// Asked how.
    pub strategy: Strategy,
    /// The case's scenario.
    pub scenario: String,
    /// The sums.
    pub group: Group,
}

impl Reader {
    /// Scores over all scenarios, best first.
    pub fn leaderboard(&self) -> Result<Vec<ScoreRow>> {
        self.rows("SELECT NULL AS scenario, * FROM leaderboard", ScoreRow::read)
    }

    /// Scores by scenario, best first in each.
    pub fn scenario_scores(&self) -> Result<Vec<ScoreRow>> {
        self.rows("SELECT * FROM scenario_scores", ScoreRow::read)
    }

    /// Clean, extracted, failed.
    pub fn parse_outcomes(&self) -> Result<Vec<ParseOutcomes>> {
        self.rows("SELECT * FROM parse_outcomes", ParseOutcomes::read)
    }

    /// Table III.
    pub fn strategy_totals(&self) -> Result<Vec<StrategyTotals>> {
        self.rows("SELECT * FROM strategy_totals", StrategyTotals::read)
    }

    /// Table IV.
    pub fn strategy_wins(&self) -> Result<Vec<StrategyWins>> {
        self.rows("SELECT * FROM strategy_wins", StrategyWins::read)
    }

    /// Table VI.
    pub fn error_classes(&self) -> Result<Vec<ErrorClasses>> {
        self.rows("SELECT * FROM error_classes", ErrorClasses::read)
    }

    /// What is there of what is wanted.
    pub fn coverage(&self) -> Result<Vec<Coverage>> {
        self.rows("SELECT * FROM coverage", Coverage::read)
    }

    /// What is not flawless, up to `limit` rows, by model, strategy and case.
    pub fn failures(&self, limit: u32) -> Result<Vec<FailureRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT * FROM failures ORDER BY model, profile, strategy, scenario, \"case\", repeat LIMIT :limit",
        )?;
        let rows = statement.query_map(named_params! { ":limit": limit }, FailureRow::read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The paper's Table V with ours beside it.
    pub fn paper_comparison(&self) -> Result<Vec<PaperRow>> {
        self.rows("SELECT * FROM paper_comparison", PaperRow::read)
    }

    /// The paper's Tables III and IV.
    pub fn paper_strategies(&self) -> Result<Vec<PaperStrategy>> {
        self.rows("SELECT * FROM paper_strategies", PaperStrategy::read)
    }

    /// What is behind every score, a group for each case.
    pub fn case_groups(&self) -> Result<Vec<CaseGroup>> {
        self.rows(
            "SELECT l.model, p.profile, v.strategy, s.name AS scenario, count(v.flawless) AS tests,
                    coalesce(sum(v.flawless), 0) AS n_flawless, sum(v.outcome = 'failed') AS failed,
                    sum(v.outcome = 'errored') AS errored,
                    sum(n_keys) AS n_keys, sum(n_values) AS n_values, sum(tp_keys) AS tp_keys,
                    sum(extra_keys) AS extra_keys, sum(missing_keys) AS missing_keys,
                    sum(missing_values) AS missing_values, sum(absent_values) AS absent_values,
                    sum(deviations) AS deviations, sum(value_errors) AS value_errors, sum(coercible) AS coercible,
                    sum(type_errors) AS type_errors, sum(structure_errors) AS structure_errors,
                    sum(extra_values) AS extra_values, sum(extra_items) AS extra_items, sum(credit) AS credit
             FROM current_verdicts v
             JOIN model_labels l ON l.model_id = v.model_id
             JOIN profile_labels p ON p.profile_id = v.profile_id
             JOIN scenarios s ON s.id = v.scenario_id
             GROUP BY v.model_id, v.profile_id, v.strategy, v.case_id",
            read_case_group,
        )
    }

    fn rows<T>(&self, sql: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn read_case_group(row: &Row<'_>) -> rusqlite::Result<CaseGroup> {
    Ok(CaseGroup {
        model: row.get("model")?,
        profile: row.get("profile")?,
        strategy: row.get("strategy")?,
        scenario: row.get("scenario")?,
        group: Group {
            tests: row.get("tests")?,
            flawless: row.get("n_flawless")?,
            failed: row.get("failed")?,
            errored: row.get("errored")?,
            counts: read_counts(row)?.unwrap_or_default(),
        },
    })
}
