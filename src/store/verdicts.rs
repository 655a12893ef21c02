//! Verdicts and findings: how attempts answer cases, and which have to be made again. Scores come ready from `score`.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::words::words;
use super::{AttemptId, CaseId, Error, Reader, Result, RevisionId, ScoringId, Store};
use crate::parse::{Json, Parsed};
use crate::score::{Constants, Counts, Finding, Verdict};

words! {
    /// How an attempt answers a case.
    pub enum Outcome {
        /// The whole answer was JSON.
        Clean = "clean",
        /// JSON was found in the answer.
        Extracted = "extracted",
        /// There was no answer: the model's failure.
        Failed = "failed",
        /// Infrastructure; never scored.
        Errored = "errored",
        /// Never asked, so not scored.
        PromptTooLong = "prompt_too_long",
        /// Never asked, so not scored.
        UnsupportedSchema = "unsupported_schema",
    }
}

/// What is stored of a verdict. Counts are there exactly when the outcome is clean or extracted.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// How it answers.
    pub outcome: Outcome,
    /// Why it failed, or was not scored.
    pub reason: Option<String>,
    /// What the schema says of the answer.
    pub schema_valid: Option<bool>,
    /// What was counted.
    pub counts: Option<Counts>,
    /// Where it differs.
    pub findings: Vec<Finding>,
}

impl Judgement {
    /// Of an output that was parsed and judged.
    pub fn new(parsed: &Parsed, verdict: Verdict) -> Self {
        let (outcome, schema_valid) = match parsed {
            Parsed::Clean(found) => (Outcome::Clean, found.schema_valid),
            Parsed::Extracted(found) => (Outcome::Extracted, found.schema_valid),
            Parsed::Failed(_) => (Outcome::Failed, None),
        };
        match verdict {
            Verdict::Flawless { counts } => {
                Self { outcome, reason: None, schema_valid, counts: Some(counts), findings: Vec::new() }
            }
            Verdict::Differs { counts, findings } => {
                Self { outcome, reason: None, schema_valid, counts: Some(counts), findings }
            }
            Verdict::Failed(failure) => Self {
                outcome: Outcome::Failed,
                reason: Some(failure.as_str().to_owned()),
                schema_valid: None,
                counts: None,
                findings: Vec::new(),
            },
            Verdict::Errored { reason } => Self::unscored(Outcome::Errored, Some(reason)),
        }
    }

    /// Of an attempt that ended without anything to judge.
    pub fn unscored(outcome: Outcome, reason: Option<String>) -> Self {
        Self { outcome, reason, schema_valid: None, counts: None, findings: Vec::new() }
    }
}

/// A judgement with the case it is about and the revision it was made under.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The case that was answered.
    pub case: CaseId,
    /// The revision whose schema was asked.
    pub revision: RevisionId,
    /// How.
    pub judgement: Judgement,
}

/// What a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Triple {
    /// The generation.
    pub attempt: AttemptId,
    /// The case.
    pub case: CaseId,
    /// The revision.
    pub revision: RevisionId,
}

/// Which verdicts are to be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rescore {
    /// Every one that there was an output for.
    All,
    /// Those that other constants than the current made; the views leave them out.
    Stale,
}

/// The constants in force, and their row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scoring {
    pub(super) id: ScoringId,
    pub(super) constants: Constants,
}

impl Store {
    /// The constants that new verdicts are made with and that the views use.
    pub fn constants(&self) -> &Constants {
        &self.scoring.constants
    }

    /// Puts other constants in force. Until they are judged again (see [`Rescore::Stale`]), verdicts made by earlier ones
    /// count as missing.
    pub fn set_constants(&mut self, constants: &Constants) -> Result<()> {
        let transaction = self.begin()?;
        let scoring = put_scoring(&transaction, constants)?;
        transaction.commit()?;
        self.scoring = scoring;
        Ok(())
    }

    /// Writes verdicts about attempts already recorded, replacing what was said of the same triples; all or nothing.
    pub fn put_verdicts(&mut self, verdicts: &[(AttemptId, Judged)]) -> Result<()> {
        let scoring = self.scoring;
        let transaction = self.begin()?;
        for (attempt, judged) in verdicts {
            put_verdict(&transaction, &scoring, *attempt, judged)?;
        }
        Ok(transaction.commit()?)
    }
}

impl Reader {
    /// The verdicts there are about current cases under current revisions, by whichever constants.
    pub fn judged(&self) -> Result<HashSet<Triple>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT v.attempt_id, v.case_id, v.revision_id FROM verdicts v
             JOIN cases c ON c.id = v.case_id AND c.retired_at IS NULL
             JOIN scenarios s ON s.id = c.scenario_id AND s.revision_id = v.revision_id",
        )?;
        let rows = statement.query_map([], read_triple)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Outputs of external models whose case or scenario has been corrected since: with the current case of the same
    /// name and text they only need a verdict. Ours are found by their keys; what an external model was asked is not known.
    pub fn unlinked_external(&self) -> Result<Vec<Triple>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT v.attempt_id, c.id, s.revision_id FROM verdicts v
             JOIN attempts a ON a.id = v.attempt_id
             JOIN models m ON m.id = a.model_id AND m.kind = 'external'
             JOIN cases old ON old.id = v.case_id
             JOIN cases c ON c.scenario_id = old.scenario_id AND c.name = old.name
               AND c.text_sha256 = old.text_sha256 AND c.retired_at IS NULL
             JOIN scenarios s ON s.id = c.scenario_id
             WHERE NOT EXISTS (SELECT 1 FROM verdicts w WHERE w.attempt_id = v.attempt_id AND w.case_id = c.id
                               AND w.revision_id = s.revision_id)",
        )?;
        let rows = statement.query_map([], read_triple)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What has to be judged again, grouped by revision.
    pub fn to_rescore(&self, which: Rescore) -> Result<Vec<Triple>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT attempt_id, case_id, revision_id FROM verdicts
             WHERE outcome IN ('clean', 'extracted', 'failed')
               AND (:all OR (scoring_id IS NOT NULL AND scoring_id <> (SELECT id FROM scoring WHERE current = 1)))
             ORDER BY revision_id, case_id, attempt_id",
        )?;
        let rows = statement.query_map(named_params! { ":all": which == Rescore::All }, read_triple)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// A revision's schema.
    pub fn schema(&self, revision: RevisionId) -> Result<serde_json::Value> {
        let text: String = self
            .connection
            .prepare_cached("SELECT schema FROM revisions WHERE id = ?1")?
            .query_row([revision], |row| row.get(0))?;
        serde_json::from_str(&text).map_err(|error| damaged("schema of revision", revision.0, error))
    }

    /// A case's expected JSON.
    pub fn expected(&self, case: CaseId) -> Result<Json> {
        let text: String = self
            .connection
            .prepare_cached("SELECT expected FROM cases WHERE id = ?1")?
            .query_row([case], |row| row.get(0))?;
        Json::from_text(&text).map_err(|error| damaged("expected JSON of case", case.0, error))
    }
}

fn damaged(what: &str, id: i64, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Damaged { what: format!("{what} {id}"), source: Box::new(source) }
}

fn read_triple(row: &Row<'_>) -> rusqlite::Result<Triple> {
    Ok(Triple { attempt: row.get(0)?, case: row.get(1)?, revision: row.get(2)? })
}

/// The constants in force; those of the spec in a new database.
pub(super) fn current_scoring(connection: &Connection) -> Result<Scoring> {
    let current: Option<(ScoringId, String)> = connection
        .query_row("SELECT id, constants FROM scoring WHERE current = 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((id, text)) = current else { return put_scoring(connection, &Constants::default()) };
    let constants = serde_json::from_str(&text).map_err(|error| damaged("scoring constants", id.0, error))?;
    Ok(Scoring { id, constants })
}

fn put_scoring(connection: &Connection, constants: &Constants) -> Result<Scoring> {
    let text = serde_json::to_string(constants).expect("a struct of numbers is JSON");
    connection.execute("UPDATE scoring SET current = 0 WHERE constants <> ?1", [&text])?;
    let id = connection.query_row(
        "INSERT INTO scoring (constants, coercion_credit, f1_keys_weight, f1_values_weight, score_f1_weight,
           score_doc_weight, points_flawless, points_mistake, points_error, points_failed, current)
         VALUES (:constants, :coercion_credit, :f1_keys, :f1_values, :score_f1, :score_doc,
           :flawless, :mistake, :error, :failed, 1)
         ON CONFLICT (constants) DO UPDATE SET current = 1 RETURNING id",
        named_params! {
            ":constants": text, ":coercion_credit": constants.coercion_credit,
            ":f1_keys": constants.f1_keys_weight, ":f1_values": constants.f1_values_weight,
            ":score_f1": constants.score_f1_weight, ":score_doc": constants.score_doc_weight,
            ":flawless": constants.points_flawless, ":mistake": constants.points_mistake,
            ":error": constants.points_error, ":failed": constants.points_failed,
        },
        |row| row.get(0),
    )?;
    Ok(Scoring { id, constants: *constants })
}

/// Writes one verdict with its findings, replacing what was said of the same triple.
pub(super) fn put_verdict(
    transaction: &Transaction<'_>,
    scoring: &Scoring,
    attempt: AttemptId,
    judged: &Judged,
) -> Result<()> {
    let Judged { case, revision, judgement } = judged;
    transaction
        .prepare_cached("DELETE FROM verdicts WHERE attempt_id = ?1 AND case_id = ?2 AND revision_id = ?3")?
        .execute((attempt, case, revision))?;
    insert_verdict(transaction, scoring, attempt, judged)?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO findings (attempt_id, case_id, revision_id, idx, path, kind, expected, got)
         VALUES (:attempt, :case, :revision, :idx, :path, :kind, :expected, :got)",
    )?;
    for (idx, finding) in judgement.findings.iter().enumerate() {
        statement.execute(named_params! {
            ":attempt": attempt, ":case": case, ":revision": revision, ":idx": idx, ":path": finding.path,
            ":kind": finding.kind.as_str(), ":expected": finding.expected, ":got": finding.got,
        })?;
    }
    Ok(())
}

fn insert_verdict(
    transaction: &Transaction<'_>,
    scoring: &Scoring,
    attempt: AttemptId,
    Judged { case, revision, judgement }: &Judged,
) -> Result<()> {
    let (counts, constants) = (judgement.counts.as_ref(), &scoring.constants);
    let is_scored = counts.is_some() || judgement.outcome == Outcome::Failed;
    transaction
        .prepare_cached(
            "INSERT INTO verdicts (attempt_id, case_id, revision_id, scoring_id, outcome, reason, schema_valid,
               flawless, n_keys, n_values, tp_keys, extra_keys, missing_keys, missing_values, absent_values,
               deviations, value_errors, coercible, type_errors, structure_errors, extra_values, extra_items,
               mistakes, errors, credit, tp_values, fp_values, f1_keys, f1_values, f1)
             VALUES (:attempt, :case, :revision, :scoring, :outcome, :reason, :schema_valid,
               :flawless, :n_keys, :n_values, :tp_keys, :extra_keys, :missing_keys, :missing_values, :absent_values,
               :deviations, :value_errors, :coercible, :type_errors, :structure_errors, :extra_values, :extra_items,
               :mistakes, :errors, :credit, :tp_values, :fp_values, :f1_keys, :f1_values, :f1)",
        )?
        .execute(named_params! {
            ":attempt": attempt, ":case": case, ":revision": revision, ":scoring": counts.map(|_| scoring.id),
            ":outcome": judgement.outcome, ":reason": judgement.reason, ":schema_valid": judgement.schema_valid,
            ":flawless": is_scored.then(|| counts.is_some_and(Counts::flawless)),
            ":n_keys": counts.map(|c| c.n_keys), ":n_values": counts.map(|c| c.n_values),
            ":tp_keys": counts.map(|c| c.tp_keys), ":extra_keys": counts.map(|c| c.extra_keys),
            ":missing_keys": counts.map(|c| c.missing_keys),
            ":missing_values": counts.map(|c| c.missing_values),
            ":absent_values": counts.map(|c| c.absent_values), ":deviations": counts.map(|c| c.deviations),
            ":value_errors": counts.map(|c| c.value_errors), ":coercible": counts.map(|c| c.coercible),
            ":type_errors": counts.map(|c| c.type_errors),
            ":structure_errors": counts.map(|c| c.structure_errors),
            ":extra_values": counts.map(|c| c.extra_values), ":extra_items": counts.map(|c| c.extra_items),
            ":mistakes": counts.map(Counts::mistakes), ":errors": counts.map(Counts::errors),
            ":credit": counts.map(|c| c.credit), ":tp_values": counts.map(|c| c.tp_values(constants)),
            ":fp_values": counts.map(Counts::fp_values), ":f1_keys": counts.map(Counts::f1_keys),
            ":f1_values": counts.map(|c| c.f1_values(constants)), ":f1": counts.map(|c| c.f1(constants)),
        })?;
    Ok(())
}

/// The counts of a row that has the verdict's columns; `None` where nothing was parsed.
pub(super) fn read_counts(row: &Row<'_>) -> rusqlite::Result<Option<Counts>> {
    if row.get::<_, Option<i64>>("n_keys")?.is_none() {
        return Ok(None);
    }
    Ok(Some(Counts {
        n_keys: row.get("n_keys")?,
        n_values: row.get("n_values")?,
        tp_keys: row.get("tp_keys")?,
        extra_keys: row.get("extra_keys")?,
        missing_keys: row.get("missing_keys")?,
        missing_values: row.get("missing_values")?,
        absent_values: row.get("absent_values")?,
        deviations: row.get("deviations")?,
        value_errors: row.get("value_errors")?,
        coercible: row.get("coercible")?,
        type_errors: row.get("type_errors")?,
        structure_errors: row.get("structure_errors")?,
        extra_values: row.get("extra_values")?,
        extra_items: row.get("extra_items")?,
        credit: row.get("credit")?,
    }))
}
