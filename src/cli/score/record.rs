//! Outputs made elsewhere as rows of an external model, beside ours in every view.

use std::collections::HashMap;

use anyhow::{Context, bail};
use serde_json::json;

use super::{Line, Score, Session, case_name};
use crate::daemon::{Lock, database, host, now};
use crate::decode::engine::frames::Finish;
use crate::hash::sha256;
use crate::judge::Judge;
use crate::parse::Json;
use crate::plan::Target;
use crate::scenario::{Case, Strategy};
use crate::store::{
    Attempt, CaseId, GridRow, Known, Model, ModelId, NewRun, ProfileId, RunCommand, RunEnding, RunId, Store,
    StoredScenario,
};

/// What all rows of one recording share.
struct Recording {
    run: RunId,
    model: ModelId,
    model_name: String,
    profile: ProfileId,
    strategy: Strategy,
    scenario: StoredScenario,
}

/// Stores the lines; returns how many were not there before.
pub(super) fn record(session: &Session, what: &Score, lines: &[(usize, Line)]) -> anyhow::Result<usize> {
    let (Some(model), Some(scenario), Some(strategy)) = (&what.model, &what.scenario, what.strategy) else {
        bail!("--record needs --model, --scenario and --strategy");
    };
    let state = &session.config.paths.state;
    std::fs::create_dir_all(state).with_context(|| state.display().to_string())?;
    let _lock = Lock::take(state)?;
    let mut store = Store::open(&database(state))?;
    let scenario = store.reader().scenario(scenario)?;
    let cases: HashMap<&str, (CaseId, &Case)> =
        scenario.cases().map(|(id, case)| (case.id.as_str(), (id, case))).collect();
    // All of it is checked before any of it is stored.
    let mut answers = Vec::with_capacity(lines.len());
    for (n, line) in lines {
        let place = || format!("{}, line {n}", what.file.display());
        answers.push((line, matching_case(line, &cases).with_context(place)?));
    }
    let settings = json!({ "name": "external" });
    let profile = store.put_profile("external", &sha256(settings.to_string().as_bytes()), &settings)?;
    let run = store.begin_run(&NewRun {
        command: RunCommand::Score,
        version: env!("CARGO_PKG_VERSION"),
        engine: None,
        host: Some(&host()),
        config: &serde_json::to_value(&session.config)?,
        pid: std::process::id(),
        started_at: &now(),
    })?;
    let model_id = store.put_model(&Model::external(model))?;
    store.add_grid(&GridRow {
        model: model_id,
        profile,
        strategy,
        scenario: scenario.id,
        repeats: 1,
        grammar_sha256: None,
    })?;
    let model_name = model.clone();
    let recording =
        Recording { run, model: model_id, model_name, profile, strategy, scenario: scenario.clone() };
    let result = store_all(&mut store, &recording, &answers);
    let ending = if result.is_ok() { RunEnding::Finished } else { RunEnding::Failed };
    store.end_run(run, ending, &now())?;
    result
}

fn matching_case<'a>(
    line: &Line,
    cases: &HashMap<&str, (CaseId, &'a Case)>,
) -> anyhow::Result<(CaseId, &'a Case)> {
    let name = case_name(line)?;
    let Some((id, case)) = cases.get(name.as_str()) else {
        let near = crate::scenario::nearest(&name, cases.keys().copied());
        bail!(
            "the scenario has no case `{name}`{}",
            near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
        );
    };
    let expected = Json::from_text(&line.expected).map_err(|e| anyhow::anyhow!("`expected`: {e}"))?;
    if expected.to_value() != case.expected {
        bail!("`expected` is not what the scenario's case `{name}` expects: {}", case.expected);
    }
    Ok((*id, case))
}

fn store_all(
    store: &mut Store,
    recording: &Recording,
    answers: &[(&Line, (CaseId, &Case))],
) -> anyhow::Result<usize> {
    let known = store.reader().known_attempts()?;
    let mut judge = Judge::default();
    let mut n_new = 0;
    for (line, (case_id, case)) in answers {
        let attempt = attempt(recording, line, case);
        if let Some(before) = known.get(&attempt.key) {
            same_output(store, before, &attempt, case)?;
            continue;
        }
        let target = Target { case: *case_id, revision: recording.scenario.revision };
        let constants = *store.constants();
        let judged =
            judge.judge(store.reader(), &constants, target, attempt.finish, &attempt.output, None)?;
        store.record(&attempt, &[judged])?;
        n_new += 1;
    }
    Ok(n_new)
}

fn attempt(recording: &Recording, line: &Line, case: &Case) -> Attempt {
    let identity = json!(["external", recording.model_name, recording.strategy.tag(), case.text]);
    let at = now();
    Attempt {
        key: sha256(identity.to_string().as_bytes()),
        run: recording.run,
        model: recording.model,
        profile: recording.profile,
        strategy: recording.strategy,
        repeat: 0,
        seed: None,
        prompt_sha256: None,
        grammar_sha256: None,
        output: line.output.clone().unwrap_or_default(),
        finish: if line.cut_off { Finish::MaxTokens } else { Finish::Stop },
        error: None,
        error_log: None,
        cost: None,
        started_at: at.clone(),
        finished_at: at,
    }
}

/// Outputs are facts: another one for the same case needs another model name.
fn same_output(store: &Store, before: &Known, attempt: &Attempt, case: &Case) -> anyhow::Result<()> {
    let stored = store.reader().output(before.attempt)?;
    if stored.text != attempt.output {
        bail!(
            "case `{}` has another output of this model and strategy already; record this one under another --model name",
            case.id
        );
    }
    Ok(())
}
