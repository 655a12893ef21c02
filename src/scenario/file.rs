//! A scenario file's text to a checked scenario.

use std::collections::HashMap;

use super::members::{Found, Members, Shape, read, repeated_names};
use super::problem::{Note, Place, Problem, kind, nearest, quoted};
use super::{Case, Example, Metrics, Scenario, prompts, schema};

/// A scenario that can be stored, and what was odd about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The scenario.
    pub scenario: Scenario,
    /// What the file is taken with; never a reason to refuse it.
    pub notes: Vec<Note>,
}

const LONGEST_NAME: usize = 64;
const NAME: &str = "a name of at most 64 of `a-z`, `0-9`, `_` and `-`, starting with a letter or digit, such as \
                    \"support_tickets\"";

const SCENARIO: Shape = Shape {
    what: "a scenario",
    members: &[
        ("name", NAME),
        ("description", "a line of text for people"),
        ("schema", "a JSON Schema: an object"),
        ("examples", "an array of at least one {\"text\": …, \"json\": …}"),
        ("cases", "an array of at least one {\"text\": …, \"expected\": …}"),
        ("prompts", "an object of minijinja templates"),
        ("grammar", "a grammar's name, such as \"json\", for what J and PJ are held to"),
        ("metrics", "a metric's name"),
        ("$schema", "where editors find the schema of scenario files"),
    ],
};

const EXAMPLE: Shape = Shape {
    what: "an example",
    members: &[
        ("text", "the message, a string"),
        ("json", "the JSON that the message holds, an object or array"),
    ],
};

const CASE: Shape = Shape {
    what: "a case",
    members: &[
        ("id", "a string that no other case of the scenario has, or no `id` at all"),
        ("text", "the message, a string"),
        ("expected", "the JSON that the message holds, an object or array"),
    ],
};

/// Reads the text of a scenario file (a byte-order mark is passed over). All that is wrong with it is reported,
/// unless it is no JSON: then the first thing, with line and column.
pub fn parse(text: &str) -> Result<Checked, Vec<Problem>> {
    parse_with(text, Cases::Needed)
}

/// As [`parse`], of a scenario that need not have cases yet: `cases` may be empty or absent.
pub fn parse_outline(text: &str) -> Result<Checked, Vec<Problem>> {
    parse_with(text, Cases::Optional)
}

/// Whether a scenario has to have a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cases {
    Needed,
    Optional,
}

fn parse_with(text: &str, cases: Cases) -> Result<Checked, Vec<Problem>> {
    let text = without_mark(text);
    let value = read(text, None).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let scenario = scenario((value, Place::root(None)), cases, &mut problems);
    match scenario {
        Some(scenario) if problems.is_empty() => {
            let mut notes = repeated_names(text, None);
            notes.extend(refusals(&scenario));
            Ok(Checked { scenario, notes })
        }
        _ => Err(problems),
    }
}

/// Editors on Windows write a byte-order mark; RFC 8259 lets readers ignore it.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn refusals(scenario: &Scenario) -> Vec<Note> {
    let root = Place::root(None);
    let (examples, cases) = (root.member("examples"), root.member("cases"));
    let shown = scenario.examples.iter().enumerate();
    let asked = scenario.cases.iter().enumerate();
    let values = shown
        .map(|(index, example)| (examples.item(index).member("json"), &example.json))
        .chain(asked.map(|(index, case)| (cases.item(index).member("expected"), &case.expected)));
    schema::refused_by(&scenario.schema, values)
}

fn scenario(found: Found, needs: Cases, problems: &mut Vec<Problem>) -> Option<Scenario> {
    let mut members = Members::of(found, &SCENARIO, problems)?;
    let name = members.text("name", problems);
    if let Some(name) = &name {
        check_name(name, &members.place.member("name"), problems);
    }
    let description = members.text("description", problems);
    let schema = members.required("schema", problems);
    if let Some((schema, place)) = &schema {
        schema::check(schema, place, problems);
    }
    let examples = members.list("examples", problems).unwrap_or_default();
    let examples = examples.into_iter().filter_map(|found| example(found, problems)).collect();
    let cases = match needs {
        Cases::Optional if members.lacks("cases") => Vec::new(),
        _ => members.list("cases", problems).unwrap_or_default(),
    };
    let cases = cases_of(cases, problems);
    let prompts = prompts::read(members.optional("prompts"), problems);
    let grammar = members.optional_text("grammar", problems);
    let metrics = metrics(members.optional("metrics"), problems);
    check_schema_address(members.optional("$schema"), problems);
    Some(Scenario {
        name: name?,
        description: description?,
        schema: schema?.0,
        examples,
        cases,
        prompts,
        grammar,
        metrics,
    })
}

/// Names are file names, table keys and command-line words, on systems too that fold their case.
pub(super) fn check_name(name: &str, place: &Place, problems: &mut Vec<Problem>) {
    let usable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let fits = name.len() <= LONGEST_NAME && name.chars().all(usable) && !name.starts_with(['_', '-']);
    if !fits {
        let lower = name.to_lowercase();
        let changed: String =
            lower.chars().map(|c| if usable(c) { c } else { '_' }).take(LONGEST_NAME).collect();
        let right = match changed.trim_matches('_') {
            "" => NAME.to_owned(),
            near => format!("{NAME}; here perhaps \"{near}\""),
        };
        problems.push(Problem::new(place.clone(), format!("`{name}` cannot be a scenario's name"), right));
    }
}

fn example(found: Found, problems: &mut Vec<Problem>) -> Option<Example> {
    let mut members = Members::of(found, &EXAMPLE, problems)?;
    let text = members.text("text", problems);
    let json = members.container("json", problems);
    Some(Example { text: text?, json: json? })
}

fn cases_of(found: Vec<Found>, problems: &mut Vec<Problem>) -> Vec<Case> {
    let mut first_with = HashMap::new();
    let mut cases = Vec::new();
    for (value, place) in found {
        let Some(mut members) = Members::of((value, place.clone()), &CASE, problems) else { continue };
        let Some(case) = case(&mut members, problems) else { continue };
        if let Some(first) = first_with.insert(case.id.clone(), place.clone()) {
            problems.push(same_id(&case.id, place, &first));
        }
        cases.push(case);
    }
    cases
}

/// The members that a case has in every kind of file.
pub(super) fn case(members: &mut Members, problems: &mut Vec<Problem>) -> Option<Case> {
    let before = problems.len();
    let id = members.optional_text("id", problems);
    let text = members.text("text", problems);
    let expected = members.container("expected", problems);
    if problems.len() > before {
        return None;
    }
    Some(Case::new(id, text?, expected?))
}

pub(super) fn same_id(id: &str, place: Place, first: &Place) -> Problem {
    let wrong = format!("the case at {first} has the same id, `{id}`");
    Problem::new(place, wrong, "an id of its own (cases with the same text and no `id` have the same one)")
}

fn metrics(found: Option<Found>, problems: &mut Vec<Problem>) -> Metrics {
    let Some((value, place)) = found else { return Metrics::default() };
    let names = Metrics::ALL.map(Metrics::name);
    let given = value.as_str();
    let known = Metrics::ALL.into_iter().find(|metrics| Some(metrics.name()) == given);
    known.unwrap_or_else(|| {
        let wrong = match given {
            Some(name) => format!("there are no metrics `{name}`"),
            None => format!("this is {}", kind(&value)),
        };
        let near = given.and_then(|name| nearest(name, names));
        let right = near.map_or_else(|| format!("one of {}", quoted(&names)), |near| format!("`{near}`"));
        problems.push(Problem::new(place, wrong, right));
        Metrics::default()
    })
}

fn check_schema_address(found: Option<Found>, problems: &mut Vec<Problem>) {
    if let Some((value, place)) = found.filter(|(value, _)| !value.is_string()) {
        problems.push(Problem::new(place, format!("this is {}", kind(&value)), "a string"));
    }
}
