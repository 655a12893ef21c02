//! `nightjar check`: the contents of scenario and case files judged as the inbox judges them, and what constraints make of
//! them. The inbox's rules on names and sizes are not looked at.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::{Exit, Session};
use crate::grammars::Grammars;
use crate::plan;
use crate::scenario::{Note, Problem, Scenario, parse, parse_cases};

/// What is said of one file.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    /// Where it is a scenario.
    scenario: Option<Summary>,
    problems: Vec<Problem>,
    notes: Vec<Note>,
}

#[derive(Serialize)]
struct Summary {
    name: String,
    cases: usize,
    /// Why J+ and PJ+ cannot be run; `None` when they can.
    unsupported_schema: Option<String>,
}

pub(super) fn run(session: &Session, files: &[PathBuf]) -> anyhow::Result<Exit> {
    let mut reports = Vec::new();
    for path in expand(files)? {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        reports.push(report(session, path, &text));
    }
    session.print(&reports, || reports.iter().map(in_words).collect())?;
    let good = reports.iter().all(|report| report.problems.is_empty());
    Ok(if good { Exit::Done } else { Exit::Failure })
}

/// The files named, and those in folders named.
fn expand(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for file in files {
        if !file.is_dir() {
            all.push(file.clone());
            continue;
        }
        let entries = fs::read_dir(file).and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
        let mut inside: Vec<PathBuf> = entries.with_context(|| file.display().to_string())?;
        inside.retain(|path| path.extension().is_some_and(|ext| ext == "json" || ext == "jsonl"));
        inside.sort();
        all.extend(inside);
    }
    Ok(all)
}

fn report(session: &Session, file: PathBuf, text: &str) -> Report {
    if is_lines(&file) {
        return match parse_cases(text) {
            Ok(checked) => Report { file, scenario: None, problems: Vec::new(), notes: checked.notes },
            Err(problems) => Report { file, scenario: None, problems, notes: Vec::new() },
        };
    }
    match parse(text) {
        Ok(checked) => {
            let scenario = Some(summary(session, &checked.scenario));
            let grammars = Grammars { folder: session.config.paths.grammars.clone() };
            let problems = grammars.problem(&checked.scenario).into_iter().collect();
            Report { file, scenario, problems, notes: checked.notes }
        }
        Err(problems) => Report { file, scenario: None, problems, notes: Vec::new() },
    }
}

fn is_lines(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

fn summary(session: &Session, scenario: &Scenario) -> Summary {
    let unsupported = plan::unsupported(scenario, &session.config.profile);
    Summary {
        name: scenario.name.clone(),
        cases: scenario.cases.len(),
        unsupported_schema: unsupported.map(|reasons| reasons.to_string()),
    }
}

fn in_words(report: &Report) -> String {
    let file = report.file.display();
    let headline = match (&report.scenario, report.problems.len()) {
        (Some(scenario), _) => {
            format!("{file}: good, scenario {} with {} cases", scenario.name, scenario.cases)
        }
        (None, 0) => format!("{file}: good"),
        (None, n) => format!("{file}: {n} problems"),
    };
    let unsupported = report.scenario.as_ref().and_then(|scenario| scenario.unsupported_schema.as_ref());
    let problems = report.problems.iter().map(|problem| format!("  {problem}"));
    let refused = unsupported.iter().map(|reasons| format!("  note: J+ and PJ+ cannot be run: {reasons}"));
    let notes = report.notes.iter().map(|note| format!("  note: {note}"));
    let lines: Vec<String> = [headline].into_iter().chain(problems).chain(refused).chain(notes).collect();
    lines.join("\n") + "\n"
}
