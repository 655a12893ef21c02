//! `nightjar models`: what each entry of the configuration finds, and why one cannot be used.

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use serde::Serialize;

use super::{Exit, Session};
use crate::models::{Found, resolve};

#[derive(Serialize)]
struct Row {
    entry: String,
    name: String,
    path: Option<String>,
    architecture: Option<String>,
    parameters: Option<u64>,
    size: Option<String>,
    quantisation: Option<String>,
    context_length: Option<u64>,
    chat_template: Option<bool>,
    bytes: Option<u64>,
    problem: Option<String>,
}

pub(super) fn run(session: &Session) -> anyhow::Result<Exit> {
    let rows: Vec<Row> = resolve(&session.config.models, &session.places).into_iter().map(row).collect();
    session.print(&rows, || in_words(&rows))?;
    let usable = rows.iter().any(|row| row.problem.is_none());
    Ok(if usable { Exit::Done } else { Exit::Failure })
}

fn row(found: Found) -> Row {
    let (header, problem) = match found.result {
        Ok(header) => (Some(header), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let header = header.as_ref();
    Row {
        entry: found.entry,
        name: found.name,
        path: found.path.map(|path| path.display().to_string()),
        architecture: header.map(|h| h.architecture.clone()),
        parameters: header.map(|h| h.parameters),
        size: header.map(|h| h.size_label.clone()),
        quantisation: header.map(|h| h.quantisation.clone()),
        context_length: header.and_then(|h| h.context_length),
        chat_template: header.map(|h| h.chat_template.is_some()),
        bytes: header.map(|h| h.bytes),
        problem,
    }
}

fn in_words(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    table.set_header(["model", "architecture", "size", "quantisation", "context", "template", "MB"]);
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    for row in rows.iter().filter(|row| row.problem.is_none()) {
        table.add_row([
            row.name.clone(),
            text(&row.architecture),
            text(&row.size),
            text(&row.quantisation),
            row.context_length.map(|n| n.to_string()).unwrap_or_default(),
            if row.chat_template == Some(true) { "yes".into() } else { "no".into() },
            row.bytes.map(|bytes| (bytes / 1_000_000).to_string()).unwrap_or_default(),
        ]);
    }
    let problems: String = rows
        .iter()
        .filter_map(|row| row.problem.as_ref().map(|problem| format!("{}: {problem}\n", row.entry)))
        .collect();
    format!("{table}\n{problems}")
}
