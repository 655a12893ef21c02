//! `nightjar generate`: finds scenario, model and file, shows progress, says how it ended. The work is in `generate`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;

use super::args::Generate;
use super::{Exit, Session, sweep};
use crate::daemon::database;
use crate::generate::{Candidate, Ending, Output, Pipeline, Plan, Setup, run as generate};
use crate::models::resolve;
use crate::scenario::{Scenario, parse_outline};
use crate::store::Reader;

pub(super) fn run(session: &Session, what: &Generate) -> anyhow::Result<Exit> {
    let scenario = scenario(session, &what.scenario)?;
    let model = model(session, &what.model)?;
    let path = out(session, what, &scenario.name)?;
    let (mut output, mut there) = Output::open(&path, &scenario.name)?;
    let n_before = there.len();
    let profile = &session.config.generate_profile;
    let plan = Plan { scenario: &scenario, profile, wanted: what.number, seed: what.seed };
    let ending = if n_before >= what.number {
        Ending::Finished
    } else {
        let mut pipeline = Pipeline::new(plan, &there)?;
        let launch = sweep::launch(&session.config, profile.context)?(&model);
        let setup = Setup { launch, stall: Duration::from_secs(session.config.engine.stall_s) };
        let ending = generate(&mut pipeline, &setup, &mut |candidate, progress| {
            output.append(candidate)?;
            show(session, candidate, progress);
            there.push(candidate.clone());
            Ok(())
        });
        session.console.clear();
        ending.map_err(|error| {
            let how = if error.repeats() { "with another --seed" } else { "again" };
            let kept = format!("{} candidates are in {}", there.len(), path.display());
            anyhow::Error::from(error).context(format!("{kept}; run it {how} to go on"))
        })?
    };
    report(session, &path, &there, there.len() - n_before)?;
    match ending {
        Ending::Finished => Ok(Exit::Done),
        Ending::Interrupted => {
            eprintln!(
                "nightjar: stopped with {} candidates left; run it again to go on",
                what.number - there.len()
            );
            Ok(Exit::Interrupted)
        }
    }
}

/// A line for logs, or the bar on a terminal.
fn show(session: &Session, candidate: &Candidate, (done, wanted): (usize, usize)) {
    session.console.progress(done as u64, wanted as u64, &candidate.scenario);
    match candidate.reasons.first() {
        None => tracing::info!("{done} of {wanted}: {} is verified", candidate.id),
        Some(reason) => tracing::info!("{done} of {wanted}: {} is not verified: {reason}", candidate.id),
    }
}

fn report(session: &Session, path: &Path, candidates: &[Candidate], n_new: usize) -> anyhow::Result<()> {
    let n_verified = candidates.iter().filter(|candidate| candidate.verified).count();
    let summary = json!({"file": path, "candidates": candidates.len(), "new": n_new, "verified": n_verified});
    session.print(&summary, || {
        let n = candidates.len();
        format!("{}: {n} candidates, {n_new} of them new, {n_verified} verified", path.display())
    })
}

/// A file, or what the database has under the name.
fn scenario(session: &Session, named: &str) -> anyhow::Result<Scenario> {
    let path = Path::new(named);
    if path.is_file() {
        let text = fs::read_to_string(path).with_context(|| named.to_owned())?;
        return match parse_outline(&text) {
            Ok(checked) => Ok(checked.scenario),
            Err(problems) => {
                let lines: Vec<String> =
                    problems.iter().map(|problem| format!("{named}: {problem}")).collect();
                bail!("{}", lines.join("\n"))
            }
        };
    }
    let database = database(&session.config.paths.state);
    if !database.is_file() {
        bail!(
            "{named}: there is no such file, and no database ({}) that could know a scenario of this name",
            database.display()
        );
    }
    let reader = Reader::open(&database).with_context(|| database.display().to_string())?;
    Ok(reader.scenario(named)?.scenario)
}

/// A configured model by its name, or what another entry finds.
fn model(session: &Session, named: &str) -> anyhow::Result<PathBuf> {
    let entries = resolve(&session.config.models, &session.places);
    let known: Vec<String> = entries.iter().map(|found| found.name.clone()).collect();
    let mut found = match entries.into_iter().find(|found| found.name == named) {
        Some(found) => vec![found],
        None => resolve(&[named.to_owned()], &session.places),
    };
    let hint = || format!("configured are: {}", known.join(", "));
    let (Some(found), None) = (found.pop(), found.pop()) else {
        bail!("`{named}` is no model, or more than one; {}", hint());
    };
    let header = found.result.with_context(|| format!("model `{named}`; {}", hint()))?;
    if header.chat_template.is_none() {
        tracing::warn!("{} has no chat template; it will hardly write messages", found.name);
    }
    found.path.with_context(|| format!("model `{named}` has no file"))
}

/// The file of candidates; never in the inbox by itself.
fn out(session: &Session, what: &Generate, name: &str) -> anyhow::Result<PathBuf> {
    if let Some(out) = &what.out {
        return Ok(out.clone());
    }
    let state = &session.config.paths.state;
    fs::create_dir_all(state).with_context(|| state.display().to_string())?;
    Ok(state.join(format!("{name}.generated.jsonl")))
}
