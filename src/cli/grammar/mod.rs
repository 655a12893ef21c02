//! `nightjar grammar`: a schema or grammar compiled, what of it is enforced, and texts tested against it.

mod tokens;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

use super::{Exit, Session, args};
use crate::decode::constraint::{Constraint, GrammarError, Policy, Refusal, Rules, Unsupported};
use tokens::{TokenRow, Tokens};

/// What is said of one file.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    kind: Kind,
    /// Why it cannot be used; empty when it can.
    problems: Vec<Problem>,
    /// Keywords of the schema, each with the number of its places.
    enforced: BTreeMap<String, usize>,
    /// Choices of the profile beyond what the schema says.
    policy: Vec<&'static str>,
    notes: Vec<Note>,
    tests: Vec<Tested>,
}

/// What a file holds.
#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Schema,
    /// A scenario, of which the schema is looked at.
    Scenario,
    Grammar,
}

/// Something that stands in the way.
#[derive(Serialize)]
#[serde(untagged)]
enum Problem {
    /// A keyword that cannot be enforced.
    Keyword { keyword: String, pointer: String, reason: String },
    /// A fault in a grammar.
    Grammar { line: usize, column: usize, wrong: String, right: String },
}

#[derive(Serialize)]
struct Note {
    pointer: String,
    message: String,
}

/// One text.
#[derive(Serialize)]
struct Tested {
    text: String,
    /// The file it is from.
    file: Option<PathBuf>,
    refused: Option<Refused>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<TokenRow>>,
}

/// Where and why a text is refused.
#[derive(Serialize)]
struct Refused {
    /// Offset in bytes.
    byte: usize,
    /// Counted from 1.
    line: usize,
    /// In characters, counted from 1.
    column: usize,
    /// Whether the text ends where it may not.
    at_end: bool,
    expected: String,
}

/// What a text is tested for: its words, and the file that they are from.
struct Text {
    file: Option<PathBuf>,
    text: String,
}

pub(super) fn run(session: &Session, arguments: &args::Grammar) -> anyhow::Result<Exit> {
    let policy = session.config.profile.policy();
    let texts =
        arguments.test.iter().map(|argument| Text::read(argument)).collect::<anyhow::Result<Vec<_>>>()?;
    let tokens = arguments.tokens.as_deref().map(Tokens::read).transpose()?;
    let (mut reports, mut unread) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        match report(file, policy, &texts, tokens.as_ref()) {
            Ok(report) => reports.push(report),
            Err(error) => unread.push(error),
        }
    }
    if !reports.is_empty() {
        let each = || {
            reports.iter().map(words::report).collect::<Vec<_>>().join(
                "

",
            )
        };
        session.print(&reports, each)?;
    }
    for error in &unread {
        eprintln!("nightjar: {error:#}");
    }
    Ok(if unread.is_empty() && reports.iter().all(Report::is_good) { Exit::Done } else { Exit::Failure })
}

fn report(file: &Path, policy: Policy, texts: &[Text], tokens: Option<&Tokens>) -> anyhow::Result<Report> {
    let (kind, compiled) = compile(file, &read(file)?, policy)?;
    let mut report = Report {
        file: file.to_owned(),
        kind,
        problems: Vec::new(),
        enforced: BTreeMap::new(),
        policy: Vec::new(),
        notes: Vec::new(),
        tests: Vec::new(),
    };
    match compiled {
        Err(problems) => report.problems = problems,
        Ok(rules) => {
            if kind != Kind::Grammar {
                report.policy = words::policy(policy).into();
            }
            report.enforced.clone_from(&rules.enforced);
            let notes = rules.notes.iter();
            report.notes = notes
                .map(|note| Note { pointer: note.pointer.clone(), message: note.message.clone() })
                .collect();
            let rules = Arc::new(rules);
            report.tests = texts.iter().map(|text| test(&rules, text, tokens)).collect();
        }
    }
    Ok(report)
}

impl Report {
    fn is_good(&self) -> bool {
        self.problems.is_empty() && self.tests.iter().all(|tested| tested.refused.is_none())
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The rules of a file, or what stands in their way.
fn compile(file: &Path, text: &str, policy: Policy) -> anyhow::Result<(Kind, Result<Rules, Vec<Problem>>)> {
    let extension = file.extension().unwrap_or_default();
    if extension == "gbnf" || (extension != "json" && text.contains("::=")) {
        return Ok((Kind::Grammar, Rules::grammar(text).map_err(|error| vec![error.into()])));
    }
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).with_context(|| {
        format!("{}: neither JSON nor a grammar (whose name would end in .gbnf)", file.display())
    })?;
    let (kind, schema) = match value.get("schema") {
        Some(schema) if value.get("cases").is_some() => (Kind::Scenario, schema),
        _ => (Kind::Schema, &value),
    };
    let rules = Rules::schema(schema, policy);
    Ok((kind, rules.map_err(|unsupported| unsupported.into_iter().map(Problem::from).collect())))
}

impl Text {
    /// A text, or the text in a file of that name.
    fn read(argument: &str) -> anyhow::Result<Self> {
        let path = Path::new(argument);
        let file = path.is_file().then(|| path.to_owned());
        let text = if file.is_some() { read(path)? } else { argument.to_owned() };
        Ok(Self { file, text })
    }

    /// Without the line end that editors put after a file's last line.
    fn trimmed(&self) -> Option<&str> {
        let text = self.file.as_ref().and_then(|_| self.text.strip_suffix('\n'))?;
        Some(text.strip_suffix('\r').unwrap_or(text))
    }
}

/// A text is tested as it is, and where that is refused without a last line end.
fn test(rules: &Arc<Rules>, text: &Text, tokens: Option<&Tokens>) -> Tested {
    let verdict = |text: &str| Constraint::new(Arc::clone(rules)).test(text.as_bytes());
    let whole = (text.text.as_str(), verdict(&text.text));
    let (tested, verdict) = match text.trimmed() {
        Some(trimmed) if whole.1.is_err() => (trimmed, verdict(trimmed)),
        _ => whole,
    };
    let refused = verdict.err().map(|refusal| Refused::new(tested, &refusal));
    let tokens = tokens.map(|tokens| tokens.rows(rules, tested));
    Tested { text: tested.to_owned(), file: text.file.clone(), refused, tokens }
}

impl Refused {
    fn new(text: &str, refusal: &Refusal) -> Self {
        // A byte inside a character is shown at the character.
        let at = (0..=refusal.at).rev().find(|&at| text.is_char_boundary(at));
        let before = &text[..at.unwrap_or(0)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let at_end = refusal.found.is_none();
        Self { byte: refusal.at, line, column, at_end, expected: refusal.choices() }
    }
}

impl From<GrammarError> for Problem {
    fn from(error: GrammarError) -> Self {
        let GrammarError { line, column, wrong, right } = error;
        Self::Grammar { line, column, wrong, right }
    }
}

impl From<Unsupported> for Problem {
    fn from(unsupported: Unsupported) -> Self {
        let Unsupported { keyword, pointer, reason } = unsupported;
        Self::Keyword { keyword, pointer, reason }
    }
}
