//! What `nightjar grammar` found, for people. Looks nothing up.

use super::{Kind, Problem, Report, Tested};
use crate::decode::constraint::{Formats, MemberOrder, Policy, Spelling, Whitespace};

/// Characters shown before and after the place of a refusal.
const BEFORE: usize = 60;
const AFTER: usize = 20;

/// The choices of a policy.
pub(super) fn policy(policy: Policy) -> [&'static str; 4] {
    let order = match policy.order {
        MemberOrder::Schema => "members in the schema's order, those it does not mention last",
        MemberOrder::Any => "members in any order",
    };
    let space = match policy.space {
        Whitespace::Compact => "no white space",
        Whitespace::Bounded => "white space as people write it, without endless runs",
        Whitespace::Ollama2025 => "white space as Ollama allowed it in 2025",
        Whitespace::Any => "any white space",
    };
    let spelling = match policy.spelling {
        Spelling::Plain => "integers as plain digits; in names and constrained strings no needless escapes",
        Spelling::Any => "every spelling of a string or number",
    };
    let formats = match policy.formats {
        Formats::Asserted => "known formats are asserted",
        Formats::Annotated => "formats are annotations",
    };
    [order, space, spelling, formats]
}

/// The whole report.
pub(super) fn report(report: &Report) -> String {
    let what = match report.kind {
        Kind::Schema => "a JSON Schema that",
        Kind::Scenario => "a scenario whose schema",
        Kind::Grammar => "a grammar that",
    };
    let verdict = if report.problems.is_empty() { "can" } else { "cannot" };
    let mut lines = vec![format!("{}: {what} {verdict} be enforced", report.file.display())];
    lines.extend(report.problems.iter().map(|problem| match problem {
        Problem::Keyword { keyword, pointer, reason } => {
            format!("  refused   `{keyword}` at {pointer}: {reason}")
        }
        Problem::Grammar { line, column, wrong, right } => {
            format!("  refused   line {line}, column {column}: {wrong}; right would be {right}")
        }
    }));
    if !report.enforced.is_empty() {
        let counted = report.enforced.iter().map(|(keyword, n)| match n {
            1 => keyword.clone(),
            n => format!("{keyword} ({n})"),
        });
        lines.push(format!("  enforced  {}", counted.collect::<Vec<_>>().join(", ")));
    }
    lines.extend(report.policy.iter().map(|choice| format!("  policy    {choice}")));
    lines.extend(report.notes.iter().map(|note| format!("  note      {}: {}", note.pointer, note.message)));
    for (idx, tested) in report.tests.iter().enumerate() {
        test(idx + 1, tested, &mut lines);
    }
    lines.join("\n")
}

fn test(number: usize, tested: &Tested, lines: &mut Vec<String>) {
    let file = tested.file.as_ref().map(|file| format!(" ({})", file.display())).unwrap_or_default();
    match &tested.refused {
        None => lines.push(format!("test {number}{file}: accepted")),
        Some(refused) => {
            let how = if refused.at_end { "ends too early" } else { "is refused" };
            lines.push(format!(
                "test {number}{file}: {how} at line {}, column {}",
                refused.line, refused.column
            ));
            let line = tested.text.split('\n').nth(refused.line - 1).unwrap_or_default();
            let (shown, column) = around(line, refused.column - 1);
            lines.push(format!("    {shown}"));
            lines.push(format!("    {}^ expected {}", " ".repeat(column), refused.expected));
        }
    }
    lines.extend(tested.tokens.iter().flatten().map(|row| {
        let verdict = if row.accepted { "" } else { "  is refused" };
        format!("    {:>7} {:>7} allowed  {}{verdict}", row.id, row.n_allowed, row.piece)
    }));
}

/// A part of a line around a column, and where the column is in it. Every character takes one place.
fn around(line: &str, column: usize) -> (String, usize) {
    let from = column.saturating_sub(BEFORE);
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let shown: String = line.chars().skip(from).take(column - from + AFTER).map(visible).collect();
    if from == 0 { (shown, column) } else { (format!("…{shown}"), column - from + 1) }
}
