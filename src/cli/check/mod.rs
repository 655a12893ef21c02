//! `nightjar check`: the contents of scenario and case files judged as the inbox judges them, and what constraints make of
//! them. The inbox's rules on names and sizes are not looked at.

mod strict;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;

use super::args::Check;
use super::{Exit, Session};
use crate::dataset::Finding;
use crate::grammars::Grammars;
use crate::plan;
use crate::scenario::{CaseLine, Note, Problem, Scenario, parse, parse_cases};

/// What is said of one file.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    /// Where it is a scenario.
    scenario: Option<Summary>,
    problems: Vec<Problem>,
    notes: Vec<Note>,
    /// What is wrong with its cases, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<Finding>>,
}

#[derive(Serialize)]
struct Summary {
    name: String,
    cases: usize,
    /// Why J+ and PJ+ cannot be run; `None` when they can.
    unsupported_schema: Option<String>,
}

/// A file as it was read; without scenario and lines where it is bad.
struct Read {
    path: PathBuf,
    name: String,
    scenario: Option<Scenario>,
    lines: Vec<CaseLine>,
    problems: Vec<Problem>,
    notes: Vec<Note>,
}

pub(super) fn run(session: &Session, what: &Check) -> anyhow::Result<Exit> {
    let grammars = Grammars { folder: session.config.paths.grammars.clone() };
    let mut files = Vec::new();
    for path in expand(&what.files)? {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        files.push(read(&grammars, path, &text));
    }
    if what.stats {
        return statistics(session, &files);
    }
    let findings = what.strict.then(|| strict::findings(&files));
    let unchecked = if what.strict { strict::without_schema(&files) } else { Vec::new() };
    let reports: Vec<Report> =
        files.into_iter().map(|file| report(session, file, findings.as_deref())).collect();
    session.print(&reports, || reports.iter().map(in_words).collect())?;
    for name in unchecked {
        eprintln!(
            "nightjar: no file with the schema of `{name}` was given, so its cases were checked without one"
        );
    }
    let good = reports.iter().all(|report| report.problems.is_empty());
    let clean = findings.is_none_or(|findings| findings.is_empty());
    Ok(if good && clean { Exit::Done } else { Exit::Failure })
}

/// The figures alone; a file that cannot be read is named on stderr and counts for nothing.
fn statistics(session: &Session, files: &[Read]) -> anyhow::Result<Exit> {
    let statistics = strict::statistics(files);
    session.print(&statistics, || strict::in_words(&statistics))?;
    let mut good = true;
    for (file, problem) in
        files.iter().flat_map(|file| file.problems.iter().map(move |problem| (file, problem)))
    {
        good = false;
        eprintln!("nightjar: {}: {problem}", file.name);
    }
    Ok(if good { Exit::Done } else { Exit::Failure })
}

/// The files named, and those in folders named, each once.
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
        if inside.is_empty() {
            bail!("{}: there is no .json or .jsonl file in this folder", file.display());
        }
        inside.sort();
        all.extend(inside);
    }
    let mut seen = HashSet::new();
    // What is not there has no canonical path; reading it says so.
    all.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
    Ok(all)
}

fn read(grammars: &Grammars, path: PathBuf, text: &str) -> Read {
    let name = path.display().to_string();
    let empty =
        Read { path, name, scenario: None, lines: Vec::new(), problems: Vec::new(), notes: Vec::new() };
    let read = if is_lines(&empty.path) {
        parse_cases(text).map(|checked| (None, checked.lines, checked.notes))
    } else {
        parse(text).map(|checked| (Some(checked.scenario), Vec::new(), checked.notes))
    };
    match read {
        Ok((scenario, lines, notes)) => {
            let problems =
                scenario.as_ref().and_then(|scenario| grammars.problem(scenario)).into_iter().collect();
            Read { scenario, lines, problems, notes, ..empty }
        }
        Err(problems) => Read { problems, ..empty },
    }
}

fn is_lines(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

fn report(session: &Session, file: Read, findings: Option<&[Finding]>) -> Report {
    let scenario = file.scenario.as_ref().map(|scenario| summary(session, scenario));
    let own =
        |findings: &[Finding]| findings.iter().filter(|finding| finding.file == file.name).cloned().collect();
    let findings = findings.map(own);
    Report { file: file.path, scenario, problems: file.problems, notes: file.notes, findings }
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
    let n_findings = report.findings.as_ref().map_or(0, Vec::len);
    let verdict = if n_findings == 0 { "good".to_owned() } else { format!("{n_findings} findings") };
    let headline = match (&report.scenario, report.problems.len()) {
        (Some(scenario), 0) => {
            format!("{file}: {verdict}, scenario {} with {} cases", scenario.name, scenario.cases)
        }
        (None, 0) => format!("{file}: {verdict}"),
        (_, n) => format!("{file}: {n} problems"),
    };
    let unsupported = report.scenario.as_ref().and_then(|scenario| scenario.unsupported_schema.as_ref());
    let problems = report.problems.iter().map(|problem| format!("  {problem}"));
    let refused = unsupported.iter().map(|reasons| format!("  note: J+ and PJ+ cannot be run: {reasons}"));
    let notes = report.notes.iter().map(|note| format!("  note: {note}"));
    let findings = report.findings.iter().flatten().map(|finding| format!("  {finding}"));
    let lines: Vec<String> =
        [headline].into_iter().chain(problems).chain(findings).chain(refused).chain(notes).collect();
    lines.join("\n") + "\n"
}
