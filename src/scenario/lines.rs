//! A text of JSON lines to more cases for known scenarios.

use std::collections::HashMap;

use super::Case;
use super::file::{case, check_name, same_id, without_mark};
use super::members::{Members, Shape, read, repeated_names};
use super::problem::{Note, Place, Problem};

/// A case and the scenario that it is for; whether there is one, only the store knows.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseLine {
    /// Its line, counted from 1.
    pub line: usize,
    /// The scenario's name.
    pub scenario: String,
    /// The case.
    pub case: Case,
}

/// The cases of a whole file, and what was odd about it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedLines {
    /// The cases, ids unique within each scenario.
    pub lines: Vec<CaseLine>,
    /// What the file is taken with; never a reason to refuse it.
    pub notes: Vec<Note>,
}

const CASE_LINE: Shape = Shape {
    what: "a case line",
    members: &[
        ("scenario", "the name of a known scenario, a string"),
        ("id", "a string that no other case of the scenario has, or no `id` at all"),
        ("text", "the message, a string"),
        ("expected", "the JSON that the message holds, an object or array"),
        ("verified", "true or false, in a line that was generated; false leaves it out"),
        ("reasons", "an array of strings, in a line that was generated: why it is not verified"),
    ],
};

/// Reads `{"scenario", "id"?, "text", "expected"}` from every line that is not blank. One bad line refuses them all,
/// and every problem names its line. Candidates that were generated (`verified`, `reasons`) are cases where they are
/// verified; the others are left out with a note.
pub fn parse_cases(text: &str) -> Result<CheckedLines, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut checked = CheckedLines { lines: Vec::new(), notes: Vec::new() };
    let mut first_with = HashMap::new();
    let mut n_left_out = 0;
    let numbered = without_mark(text).lines().enumerate().map(|(index, text)| (index + 1, text));
    for (line, text) in numbered.filter(|(_, text)| !text.trim().is_empty()) {
        checked.notes.extend(repeated_names(text, Some(line)));
        let Some((found, verified)) = case_line(line, text, &mut problems) else { continue };
        if !verified {
            checked.notes.push(left_out(line));
            n_left_out += 1;
            continue;
        }
        let key = (found.scenario.clone(), found.case.id.clone());
        if let Some(first) = first_with.insert(key, Place::root(Some(line))) {
            problems.push(same_id(&found.case.id, Place::root(Some(line)), &first));
        }
        checked.lines.push(found);
    }
    if checked.lines.is_empty() && problems.is_empty() {
        let right = "a line {\"scenario\": …, \"text\": …, \"expected\": …} for every case";
        let wrong = if n_left_out > 0 { "no candidate in it is verified" } else { "there is no case in it" };
        problems.push(Problem::new(Place::file(), wrong, right));
    }
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}

fn left_out(line: usize) -> Note {
    let message =
        "this candidate is not verified and is left out; to take it, correct it and take `verified` away";
    Note { place: Place::root(Some(line)), message: message.into() }
}

/// The case, and whether it is to be taken.
fn case_line(line: usize, text: &str, problems: &mut Vec<Problem>) -> Option<(CaseLine, bool)> {
    let value = read(text, Some(line)).map_err(|problem| problems.push(problem)).ok()?;
    let mut members = Members::of((value, Place::root(Some(line))), &CASE_LINE, problems)?;
    let scenario = members.text("scenario", problems);
    if let Some(name) = &scenario {
        check_name(name, &members.place.member("scenario"), problems);
    }
    let case = case(&mut members, problems);
    let verified = members.optional_flag("verified", problems).unwrap_or(true);
    members.optional_strings("reasons", problems);
    Some((CaseLine { line, scenario: scenario?, case: case? }, verified))
}
