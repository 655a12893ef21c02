//! `nightjar score`: outputs made elsewhere, judged as ours are; stored, if asked, as those of an external model.

mod record;

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::args::Score;
use super::{Exit, Session, println};
use crate::parse::{AnswerRules, Failure, Json, Parsed, Root, answer};
use crate::score::{Constants, Counts, Group, Verdict, judge};

/// One output with what was expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// JSON text.
    expected: String,
    /// What the model said; `null` when it said nothing.
    output: Option<String>,
    schema: Option<Value>,
    #[serde(default)]
    cut_off: bool,
    id: Option<Value>,
}

/// How one output was judged, with every count by its name in the specification.
#[derive(Debug, Serialize)]
struct Judged {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    outcome: &'static str,
    reason: Option<&'static str>,
    /// The value found, as JSON text.
    value: Option<String>,
    /// What the schema says of it; `null` without a schema.
    schema_valid: Option<bool>,
    counts: Option<Value>,
}

pub(super) fn run(session: &Session, what: &Score) -> anyhow::Result<Exit> {
    let constants = session.config.scoring;
    let lines = read(&what.file)?;
    let mut group = Group::default();
    for (n, line) in &lines {
        let place = || format!("{}, line {n}", what.file.display());
        let (judged, verdict) = judge_line(line, &constants).with_context(place)?;
        group.add(&verdict);
        println(&serde_json::to_string(&judged)?)?;
    }
    if what.summary {
        println(&json!({ "summary": summary(&group, &constants) }).to_string())?;
    }
    if what.record {
        let n_new = record::record(session, what, &lines)?;
        eprintln!("nightjar: {n_new} of {} outputs stored, the others were there before", lines.len());
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<Vec<(usize, Line)>> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input")?;
        text
    } else {
        std::fs::read_to_string(file).with_context(|| file.display().to_string())?
    };
    let mut lines = Vec::new();
    for (n, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let parsed = serde_json::from_str(line).with_context(|| {
            format!(
                "{}, line {n}: has to be an object of expected, output, and if need be schema, cut_off, id",
                file.display()
            )
        })?;
        lines.push((n, parsed));
    }
    Ok(lines)
}

fn judge_line(line: &Line, constants: &Constants) -> anyhow::Result<(Judged, Verdict)> {
    let expected = Json::from_text(&line.expected).map_err(|e| anyhow::anyhow!("`expected`: {e}"))?;
    let rules = match &line.schema {
        Some(schema) => AnswerRules::new(schema).map_err(|e| anyhow::anyhow!("`schema`: {e}"))?,
        None => AnswerRules { root: root_like(&expected), ..AnswerRules::without_schema() },
    };
    let parsed = answer(line.output.as_deref().unwrap_or_default(), &rules, line.cut_off);
    let verdict = judge(&expected, &parsed, constants);
    let found = match &parsed {
        Parsed::Clean(found) | Parsed::Extracted(found) => Some(found),
        Parsed::Failed(_) => None,
    };
    let judged = Judged {
        id: line.id.clone(),
        outcome: parsed.outcome(),
        reason: parsed.found().err().map(Failure::as_str),
        value: found.map(|found| found.value.to_string()),
        schema_valid: found.and_then(|found| found.schema_valid),
        counts: verdict.counts().map(|counts| all_counts(counts, constants)),
    };
    Ok((judged, verdict))
}

/// Without a schema, an answer is to be of the kind that is expected.
fn root_like(expected: &Json) -> Root {
    if matches!(expected, Json::Array(_)) { Root::Array } else { Root::Object }
}

fn all_counts(counts: &Counts, constants: &Constants) -> Value {
    json!({
        "n_keys": counts.n_keys,
        "n_values": counts.n_values,
        "tp_keys": counts.tp_keys,
        "extra_keys": counts.extra_keys,
        "missing_keys": counts.missing_keys,
        "missing_values": counts.missing_values,
        "absent_values": counts.absent_values,
        "deviations": counts.deviations,
        "value_errors": counts.value_errors,
        "coercible": counts.coercible,
        "type_errors": counts.type_errors,
        "structure_errors": counts.structure_errors,
        "extra_values": counts.extra_values,
        "extra_items": counts.extra_items,
        "mistakes": counts.mistakes(),
        "errors": counts.errors(),
        "flawless": counts.flawless(),
        "tp_values": counts.tp_values(constants),
        "fp_values": counts.fp_values(),
        "f1_keys": counts.f1_keys(),
        "f1_values": counts.f1_values(constants),
        "f1": counts.f1(constants),
    })
}

fn summary(group: &Group, constants: &Constants) -> Value {
    json!({
        "tests": group.tests,
        "flawless": group.flawless,
        "failed": group.failed,
        "mistakes": group.counts.mistakes(),
        "errors": group.counts.errors(),
        "points": group.points(constants),
        "f1_micro": group.f1_micro(constants),
        "doc_micro": group.doc_micro(),
        "score": group.score(constants),
    })
}

/// A line's id as a case's name.
fn case_name(line: &Line) -> anyhow::Result<String> {
    match &line.id {
        Some(Value::String(name)) => Ok(name.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(other) => bail!("`id` has to be text, not {other}"),
        None => bail!("`id` is missing; with --record it names a case of the scenario"),
    }
}
