//! What a sweep is made of beside scenarios: models, profiles, prompts shown, the grid. No results.

use std::path::Path;

use rusqlite::{OptionalExtension, Row, Transaction, named_params};
use serde::Serialize;

use super::words::words;
use super::{CaseId, ModelId, ProfileId, Reader, Result, RevisionId, ScenarioId, Store};
use crate::scenario::Strategy;

words! {
    /// Where a model's outputs come from.
    pub enum ModelKind {
        /// A file that is decoded here.
        Gguf = "gguf",
        /// Made elsewhere and only scored here.
        External = "external",
    }
}

/// What is known of a model. Its identity is the file's hash, or an external model's name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// Where its outputs come from.
    pub kind: ModelKind,
    /// For people.
    pub name: String,
    /// Of the file, in hex; `None` for an external model.
    pub sha256: Option<String>,
    /// As the paper spells it, in small letters (`qwen3`, `deepseek-r1`, `llama3.1`): with `parameters`, what its figures
    /// are matched by. Without one, the name is.
    pub family: Option<String>,
    /// The GGUF's.
    pub architecture: Option<String>,
    /// Their number.
    pub parameters: Option<u64>,
    /// Such as `Q4_K_M`.
    pub quantisation: Option<String>,
    /// Tokens.
    pub context_length: Option<u64>,
    /// Of the file.
    pub size_bytes: Option<u64>,
}

impl Model {
    /// A model that is known by its name only.
    pub fn external(name: &str) -> Self {
        Self {
            kind: ModelKind::External,
            name: name.to_owned(),
            sha256: None,
            family: None,
            architecture: None,
            parameters: None,
            quantisation: None,
            context_length: None,
            size_bytes: None,
        }
    }
}

/// A cell of the sweep: so many attempts at every case of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridRow {
    /// By which model.
    pub model: ModelId,
    /// Decoding how.
    pub profile: ProfileId,
    /// Asked how.
    pub strategy: Strategy,
    /// At the cases of which scenario.
    pub scenario: ScenarioId,
    /// How often each, at least 1.
    pub repeats: u32,
    /// Of the grammar that texts are held to, in hex.
    pub grammar_sha256: Option<String>,
}

impl Store {
    /// Stores a model, or brings what is known of it up to date.
    pub fn put_model(&mut self, model: &Model) -> Result<ModelId> {
        let transaction = self.begin()?;
        let known: Option<ModelId> = transaction
            .prepare_cached(
                "SELECT id FROM models WHERE sha256 = :sha256
                 UNION ALL SELECT id FROM models WHERE :sha256 IS NULL AND kind = 'external' AND name = :name",
            )?
            .query_row(named_params! { ":sha256": model.sha256, ":name": model.name }, |row| row.get(0))
            .optional()?;
        let id = transaction.query_row(
            "INSERT INTO models (id, kind, name, sha256, family, architecture, parameters, quantisation,
                                 context_length, size_bytes)
             VALUES (:id, :kind, :name, :sha256, :family, :architecture, :parameters, :quantisation,
                     :context_length, :size_bytes)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, family = excluded.family,
               architecture = excluded.architecture, parameters = excluded.parameters,
               quantisation = excluded.quantisation, context_length = excluded.context_length,
               size_bytes = excluded.size_bytes
             RETURNING id",
            named_params! {
                ":id": known, ":kind": model.kind, ":name": model.name, ":sha256": model.sha256,
                ":family": model.family, ":architecture": model.architecture, ":parameters": model.parameters,
                ":quantisation": model.quantisation, ":context_length": model.context_length,
                ":size_bytes": model.size_bytes,
            },
            |row| row.get(0),
        )?;
        transaction.commit()?;
        Ok(id)
    }

    /// Remembers which hash the file at `path` had while it had this size and time.
    pub fn put_file_sha256(
        &mut self,
        path: &Path,
        size_bytes: u64,
        mtime_ns: i64,
        sha256: &str,
    ) -> Result<()> {
        self.reader().connection.execute(
            "INSERT OR REPLACE INTO model_files (path, size_bytes, mtime_ns, sha256)
             VALUES (:path, :size_bytes, :mtime_ns, :sha256)",
            named_params! {
                ":path": path.to_string_lossy(), ":size_bytes": size_bytes, ":mtime_ns": mtime_ns,
                ":sha256": sha256,
            },
        )?;
        Ok(())
    }

    /// Stores a resolved profile under the hash of its settings; a known one keeps its id and takes the new name.
    pub fn put_profile(
        &mut self,
        name: &str,
        sha256: &str,
        settings: &serde_json::Value,
    ) -> Result<ProfileId> {
        Ok(self.reader().connection.query_row(
            "INSERT INTO profiles (name, sha256, settings) VALUES (:name, :sha256, :settings)
             ON CONFLICT (sha256) DO UPDATE SET name = excluded.name RETURNING id",
            named_params! { ":name": name, ":sha256": sha256, ":settings": settings.to_string() },
            |row| row.get(0),
        )?)
    }

    /// Keeps the rendered prompt of one case, once per model, revision and strategy.
    pub fn put_prompt(
        &mut self,
        (model, revision, strategy): (ModelId, RevisionId, Strategy),
        case: CaseId,
        text: &str,
    ) -> Result<()> {
        self.reader()
            .connection
            .prepare_cached(
                "INSERT INTO prompts (model_id, revision_id, strategy, case_id, text)
                 VALUES (:model, :revision, :strategy, :case, :text) ON CONFLICT DO NOTHING",
            )?
            .execute(named_params! {
                ":model": model, ":revision": revision, ":strategy": strategy, ":case": case, ":text": text,
            })?;
        Ok(())
    }

    /// Says what the sweep wants now. Cells it no longer names stay, inactive, with their results; those of external
    /// models are no part of any sweep and stay as they are.
    pub fn set_grid(&mut self, rows: &[GridRow]) -> Result<()> {
        let transaction = self.begin()?;
        transaction.execute(
            "UPDATE grid SET active = 0
             WHERE active = 1 AND model_id IN (SELECT id FROM models WHERE kind = 'gguf')",
            [],
        )?;
        for row in rows {
            put_cell(&transaction, row)?;
        }
        Ok(transaction.commit()?)
    }
}

impl Store {
    /// Adds a cell to the grid, beside those of the sweep.
    pub fn add_grid(&mut self, row: &GridRow) -> Result<()> {
        let transaction = self.begin()?;
        put_cell(&transaction, row)?;
        Ok(transaction.commit()?)
    }

    /// Says why a model could not be run; `None` when it could.
    pub fn put_model_problem(&mut self, model: ModelId, problem: Option<&str>, at: &str) -> Result<()> {
        self.reader().connection.execute(
            "UPDATE models SET problem = :problem, problem_at = iif(:problem IS NULL, NULL, :at) WHERE id = :model",
            named_params! { ":model": model, ":problem": problem, ":at": at },
        )?;
        Ok(())
    }
}

fn put_cell(transaction: &Transaction<'_>, row: &GridRow) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO grid (model_id, profile_id, strategy, scenario_id, repeats, active, grammar_sha256)
             VALUES (:model, :profile, :strategy, :scenario, :repeats, 1, :grammar_sha256)
             ON CONFLICT DO UPDATE SET repeats = excluded.repeats, active = 1,
               grammar_sha256 = excluded.grammar_sha256",
        )?
        .execute(named_params! {
            ":model": row.model, ":profile": row.profile, ":strategy": row.strategy,
            ":scenario": row.scenario, ":repeats": row.repeats, ":grammar_sha256": row.grammar_sha256,
        })?;
    Ok(())
}

impl Reader {
    /// The hash that the file at `path` had when it last had this size and time.
    pub fn file_sha256(&self, path: &Path, size_bytes: u64, mtime_ns: i64) -> Result<Option<String>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT sha256 FROM model_files WHERE path = :path AND size_bytes = :size_bytes AND mtime_ns = :mtime_ns",
        )?;
        let found = statement.query_row(
            named_params! { ":path": path.to_string_lossy(), ":size_bytes": size_bytes, ":mtime_ns": mtime_ns },
            |row| row.get(0),
        );
        Ok(found.optional()?)
    }

    /// Every model with a row, by name.
    pub fn models(&self) -> Result<Vec<(ModelId, Model)>> {
        let mut statement = self.connection.prepare("SELECT * FROM models ORDER BY name, id")?;
        let rows = statement.query_map([], |row| Ok((row.get("id")?, read_model(row)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn read_model(row: &Row<'_>) -> rusqlite::Result<Model> {
    Ok(Model {
        kind: row.get("kind")?,
        name: row.get("name")?,
        sha256: row.get("sha256")?,
        family: row.get("family")?,
        architecture: row.get("architecture")?,
        parameters: row.get("parameters")?,
        quantisation: row.get("quantisation")?,
        context_length: row.get("context_length")?,
        size_bytes: row.get("size_bytes")?,
    })
}
