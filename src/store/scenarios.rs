//! Scenarios read back as the plan wants them: current revisions with their current cases. No writing.

use rusqlite::{Row, named_params};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use super::{CaseId, Error, Reader, Result, RevisionId, ScenarioId};
use crate::scenario::{Case, Example, Metrics, Prompts, Scenario};

/// A scenario under its current revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredScenario {
    /// Its row.
    pub id: ScenarioId,
    /// The current revision's row.
    pub revision: RevisionId,
    /// Everything a file would say, with the current cases, oldest first.
    pub scenario: Scenario,
    /// The rows of `scenario.cases`, in the same order.
    pub case_ids: Vec<CaseId>,
}

impl StoredScenario {
    /// The cases with their rows.
    pub fn cases(&self) -> impl Iterator<Item = (CaseId, &Case)> {
        self.case_ids.iter().copied().zip(&self.scenario.cases)
    }
}

impl Reader {
    /// Every scenario, by name.
    pub fn scenarios(&self) -> Result<Vec<StoredScenario>> {
        self.scenarios_named(None)
    }

    /// One scenario; [`Error::UnknownScenario`] names those there are.
    pub fn scenario(&self, name: &str) -> Result<StoredScenario> {
        if let Some(found) = self.scenarios_named(Some(name))?.pop() {
            return Ok(found);
        }
        let mut statement = self.connection.prepare("SELECT name FROM scenarios ORDER BY name")?;
        let known = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Err(Error::UnknownScenario { name: name.to_owned(), known })
    }

    fn scenarios_named(&self, name: Option<&str>) -> Result<Vec<StoredScenario>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.id, s.revision_id, s.name, s.description, s.metrics, r.schema, r.examples, r.prompts, r.grammar
             FROM scenarios s JOIN revisions r ON r.id = s.revision_id
             WHERE :name IS NULL OR s.name = :name ORDER BY s.name",
        )?;
        let rows = statement.query_and_then(named_params! { ":name": name }, read_scenario)?;
        let mut scenarios: Vec<StoredScenario> = rows.collect::<Result<_>>()?;
        for scenario in &mut scenarios {
            self.read_cases(scenario)?;
        }
        Ok(scenarios)
    }

    fn read_cases(&self, scenario: &mut StoredScenario) -> Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, name, text, expected FROM cases WHERE scenario_id = ?1 AND retired_at IS NULL ORDER BY id",
        )?;
        let mut rows = statement.query([scenario.id])?;
        while let Some(row) = rows.next()? {
            let (id, text): (String, String) = (row.get("name")?, row.get("text")?);
            let expected = read_json(row, "expected", &format!("{} / {id}", scenario.scenario.name))?;
            scenario.case_ids.push(row.get("id")?);
            scenario.scenario.cases.push(Case { id, text, expected });
        }
        Ok(())
    }
}

/// All but the cases.
fn read_scenario(row: &Row<'_>) -> Result<StoredScenario> {
    let name: String = row.get("name")?;
    let metrics: String = row.get("metrics")?;
    let schema: Value = read_json(row, "schema", &name)?;
    let examples: Vec<ExampleText> = read_json(row, "examples", &name)?;
    let prompts: PromptsText = read_json(row, "prompts", &name)?;
    let metrics = Metrics::ALL.into_iter().find(|one| one.name() == metrics).ok_or_else(|| {
        damaged("metrics", &name, serde_json::Error::custom(format!("no family is called {metrics:?}")))
    })?;
    let scenario = Scenario {
        description: row.get("description")?,
        schema,
        examples: examples.into_iter().map(|example| example.0).collect(),
        cases: Vec::new(),
        prompts: prompts.0,
        grammar: row.get("grammar")?,
        metrics,
        name,
    };
    Ok(StoredScenario {
        id: row.get("id")?,
        revision: row.get("revision_id")?,
        scenario,
        case_ids: Vec::new(),
    })
}

fn read_json<T: DeserializeOwned>(row: &Row<'_>, column: &str, owner: &str) -> Result<T> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(|error| damaged(column, owner, error))
}

fn damaged(column: &str, owner: &str, source: serde_json::Error) -> Error {
    Error::Damaged { what: format!("{column} of {owner}"), source: Box::new(source) }
}

// The nouns themselves are only ever made by the checker of scenario files; from here they come back as it left them.

#[derive(Deserialize)]
struct ExampleText(#[serde(with = "ExampleForm")] Example);

#[derive(Deserialize)]
#[serde(remote = "Example")]
struct ExampleForm {
    text: String,
    json: Value,
}

#[derive(Deserialize)]
struct PromptsText(#[serde(with = "PromptsForm")] Prompts);

#[derive(Deserialize)]
#[serde(remote = "Prompts")]
struct PromptsForm {
    plain: String,
    structured: String,
    generate: String,
    system: Option<String>,
}
