//! The inbox's files becoming rows: each in one transaction, with its line in the ledger. No reading back.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{OptionalExtension, Transaction, named_params};

use super::words::words;
use super::{CaseId, FileId, Result, RevisionId, ScenarioId, Store};
use crate::scenario::{Case, Checked, CheckedLines, Note, Problem, Scenario};

words! {
    /// What a stored file held. Decides whose list a case is on: a scenario file's cases replace those that came by
    /// scenario files before; cases that came as lines stay until a file names the same case again.
    pub enum FileKind {
        /// A scenario, with its cases.
        Scenario = "scenario",
        /// Cases as lines.
        Cases = "cases",
    }
}

/// A file as the inbox claimed it.
#[derive(Debug, Clone, Copy)]
pub struct InboxFile<'a> {
    /// Without its folder.
    pub name: &'a str,
    /// Of its bytes, in hex.
    pub sha256: &'a str,
    /// Now.
    pub at: &'a str,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// The same bytes were stored before: nothing changed.
    Duplicate,
    /// It is stored.
    Changed(Changes),
    /// Its lines name scenarios that are not known: nothing changed, and the file is still to be put down as
    /// rejected, for these reasons.
    UnknownScenarios(Vec<Problem>),
}

/// What a stored file changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// The scenario was not known.
    pub new_scenario: bool,
    /// It was, but now asks something else than before.
    pub new_revision: bool,
    /// Cases that are new, or new in what is expected of them.
    pub added: u32,
    /// Cases that are no longer asked, corrected ones among them.
    pub retired: u32,
}

impl Store {
    /// Stores a scenario file.
    pub fn put_scenario(&mut self, file: &InboxFile, checked: &Checked) -> Result<Stored> {
        let transaction = self.begin()?;
        let Some(file_id) = enter(&transaction, file, FileKind::Scenario)? else {
            transaction.commit()?;
            return Ok(Stored::Duplicate);
        };
        put_notes(&transaction, file_id, &checked.notes)?;
        let origin = Origin { file: file_id, kind: FileKind::Scenario, at: file.at };
        let (scenario, mut changes) = put_revision(&transaction, &origin, &checked.scenario)?;
        put_cases(&transaction, &origin, scenario, checked.scenario.cases.iter(), &mut changes)?;
        transaction.commit()?;
        Ok(Stored::Changed(changes))
    }

    /// Stores a file of case lines: all of it, or nothing when a line's scenario is unknown.
    pub fn put_cases(&mut self, file: &InboxFile, checked: &CheckedLines) -> Result<Stored> {
        let transaction = self.begin()?;
        let known = scenario_ids(&transaction)?;
        let problems: Vec<Problem> = checked
            .lines
            .iter()
            .filter(|line| !known.contains_key(&line.scenario))
            .map(|line| {
                Problem::unknown_scenario(line.line, &line.scenario, known.keys().map(String::as_str))
            })
            .collect();
        if !problems.is_empty() {
            return Ok(Stored::UnknownScenarios(problems));
        }
        let Some(file_id) = enter(&transaction, file, FileKind::Cases)? else {
            transaction.commit()?;
            return Ok(Stored::Duplicate);
        };
        put_notes(&transaction, file_id, &checked.notes)?;
        let origin = Origin { file: file_id, kind: FileKind::Cases, at: file.at };
        let mut changes = Changes::default();
        for name in checked.lines.iter().map(|line| &line.scenario).collect::<BTreeSet<_>>() {
            let cases = checked.lines.iter().filter(|line| line.scenario == *name).map(|line| &line.case);
            put_cases(&transaction, &origin, known[name], cases, &mut changes)?;
        }
        transaction.commit()?;
        Ok(Stored::Changed(changes))
    }

    /// Puts a refused file down in the ledger; `sha256` is `None` when it could not be read.
    pub fn put_rejected(
        &mut self,
        name: &str,
        sha256: Option<&str>,
        problems: &[Problem],
        at: &str,
    ) -> Result<FileId> {
        Ok(self.reader().connection.query_row(
            "INSERT INTO files (name, sha256, outcome, problems, at)
             VALUES (:name, :sha256, 'rejected', :problems, :at) RETURNING id",
            named_params! { ":name": name, ":sha256": sha256, ":problems": serde_json::json!(problems).to_string(), ":at": at },
            |row| row.get(0),
        )?)
    }
}

/// Where rows come from.
struct Origin<'a> {
    file: FileId,
    kind: FileKind,
    at: &'a str,
}

/// Enters a file into the ledger. `None`: its bytes were stored before, and that is what was entered.
fn enter(transaction: &Transaction<'_>, file: &InboxFile, kind: FileKind) -> Result<Option<FileId>> {
    let (is_new, id) = transaction.query_row(
        "INSERT INTO files (name, kind, sha256, outcome, at)
         SELECT :name, :kind, :sha256,
                iif(EXISTS (SELECT 1 FROM files WHERE sha256 = :sha256 AND outcome = 'stored'), 'duplicate', 'stored'),
                :at
         RETURNING outcome = 'stored', id",
        named_params! { ":name": file.name, ":kind": kind, ":sha256": file.sha256, ":at": file.at },
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(if is_new { Some(id) } else { None })
}

fn put_notes(transaction: &Transaction<'_>, file: FileId, notes: &[Note]) -> Result<()> {
    let mut statement =
        transaction.prepare_cached("INSERT INTO notes (file_id, place, message) VALUES (?1, ?2, ?3)")?;
    for note in notes {
        statement.execute((file, note.place.to_string(), &note.message))?;
    }
    Ok(())
}

fn scenario_ids(transaction: &Transaction<'_>) -> Result<HashMap<String, ScenarioId>> {
    let mut statement = transaction.prepare_cached("SELECT name, id FROM scenarios")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Makes `scenario` as it now is the current one. An earlier revision that comes back keeps its id, and its verdicts.
fn put_revision(
    transaction: &Transaction<'_>,
    origin: &Origin,
    scenario: &Scenario,
) -> Result<(ScenarioId, Changes)> {
    let known: Option<(ScenarioId, RevisionId)> = transaction
        .query_row("SELECT id, revision_id FROM scenarios WHERE name = ?1", [&scenario.name], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let id = match known {
        Some((id, _)) => id,
        // The two tables point at each other; the constraint is checked at the commit.
        None => transaction.query_row(
            "INSERT INTO scenarios (name, description, metrics, revision_id, added_at) VALUES (?1, '', '', 0, ?2)
             RETURNING id",
            (&scenario.name, origin.at),
            |row| row.get(0),
        )?,
    };
    let revision = revision_id(transaction, origin, id, scenario)?;
    transaction.execute(
        "UPDATE scenarios SET revision_id = ?2, description = ?3, metrics = ?4 WHERE id = ?1",
        (id, revision, &scenario.description, scenario.metrics.name()),
    )?;
    let changes = Changes {
        new_scenario: known.is_none(),
        new_revision: known.is_some_and(|(_, current)| current != revision),
        ..Changes::default()
    };
    Ok((id, changes))
}

fn revision_id(
    transaction: &Transaction<'_>,
    origin: &Origin,
    id: ScenarioId,
    scenario: &Scenario,
) -> Result<RevisionId> {
    let json = |part: serde_json::Result<String>| part.expect("what was read from JSON is JSON");
    let sha256 = scenario.revision_sha256();
    transaction.execute(
        "INSERT INTO revisions (scenario_id, sha256, schema, examples, prompts, grammar, file_id, created_at)
         VALUES (:scenario, :sha256, :schema, :examples, :prompts, :grammar, :file, :at) ON CONFLICT DO NOTHING",
        named_params! {
            ":grammar": scenario.grammar, ":scenario": id, ":sha256": sha256, ":schema": scenario.schema.to_string(),
            ":examples": json(serde_json::to_string(&scenario.examples)),
            ":prompts": json(serde_json::to_string(&scenario.prompts)), ":file": origin.file, ":at": origin.at,
        },
    )?;
    Ok(transaction.query_row(
        "SELECT id FROM revisions WHERE scenario_id = ?1 AND sha256 = ?2",
        (id, &sha256),
        |row| row.get(0),
    )?)
}

struct CurrentCase {
    id: CaseId,
    text: String,
    expected: String,
    origin: FileKind,
}

/// Brings a scenario's cases up to date with a file's list: see [`FileKind`] for what is retired.
fn put_cases<'a>(
    transaction: &Transaction<'_>,
    origin: &Origin,
    scenario: ScenarioId,
    cases: impl Iterator<Item = &'a Case>,
    changes: &mut Changes,
) -> Result<()> {
    let mut current = current_cases(transaction, scenario)?;
    for case in cases {
        let expected = case.expected.to_string();
        match current.remove(&case.id) {
            Some(known) if known.text == case.text && known.expected == expected => continue,
            Some(known) => retire(transaction, origin, known.id, changes)?,
            None => {}
        }
        transaction
            .prepare_cached(
                "INSERT INTO cases (scenario_id, name, text, expected, text_sha256, file_id, added_at)
                 VALUES (:scenario, :name, :text, :expected, :text_sha256, :file, :at)",
            )?
            .execute(named_params! {
                ":scenario": scenario, ":name": case.id, ":text": case.text, ":expected": expected,
                ":text_sha256": case.text_sha256(), ":file": origin.file, ":at": origin.at,
            })?;
        changes.added += 1;
    }
    let left_out = current.into_values().filter(|case| case.origin == FileKind::Scenario);
    for case in left_out.filter(|_| origin.kind == FileKind::Scenario) {
        retire(transaction, origin, case.id, changes)?;
    }
    Ok(())
}

fn current_cases(
    transaction: &Transaction<'_>,
    scenario: ScenarioId,
) -> Result<HashMap<String, CurrentCase>> {
    let mut statement = transaction.prepare_cached(
        "SELECT c.name, c.id, c.text, c.expected, f.kind FROM cases c JOIN files f ON f.id = c.file_id
         WHERE c.scenario_id = ?1 AND c.retired_at IS NULL",
    )?;
    let rows = statement.query_map([scenario], |row| {
        let case =
            CurrentCase { id: row.get(1)?, text: row.get(2)?, expected: row.get(3)?, origin: row.get(4)? };
        Ok((row.get(0)?, case))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn retire(transaction: &Transaction<'_>, origin: &Origin, case: CaseId, changes: &mut Changes) -> Result<()> {
    transaction
        .prepare_cached("UPDATE cases SET retired_at = ?2 WHERE id = ?1")?
        .execute((case, origin.at))?;
    changes.retired += 1;
    Ok(())
}
