//! A scenario's prompt templates: the built-in ones, what they may name, and whether they work.

use std::collections::BTreeSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;

use super::members::{Found, Members, Shape};
use super::problem::{Place, Problem, nearest, quoted};

/// The templates of one scenario, in the language of minijinja.
///
/// `text` is a case's message and `json` its expected JSON; `schema` is the scenario's JSON Schema; `examples` is the
/// list of its examples, each with `text` and `json`. All JSON is handed over as text, as it is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prompts {
    /// The task and the message (`text`), nothing about structure: J and J+.
    pub plain: String,
    /// Also `schema` and `examples`: P, PJ, PJ+.
    pub structured: String,
    /// From `json`, `schema` and `examples` to a new message.
    pub generate: String,
    /// The system turn of every strategy, if there is to be one. It names nothing.
    pub system: Option<String>,
}

impl Default for Prompts {
    fn default() -> Prompts {
        Prompts {
            plain: include_str!("prompts/plain.jinja").to_owned(),
            structured: include_str!("prompts/structured.jinja").to_owned(),
            generate: include_str!("prompts/generate.jinja").to_owned(),
            system: None,
        }
    }
}

const SHAPE: Shape = Shape {
    what: "`prompts`",
    members: &[
        ("plain", "a template that says the task and shows `{{ text }}`"),
        ("structured", "a template that shows `{{ schema }}`, `examples` and `{{ text }}`"),
        ("generate", "a template that asks for a message from `{{ json }}`"),
        ("system", "a template for the system turn"),
    ],
};

/// The environment that scenario templates are compiled and rendered in. Block tags leave no empty lines, a name that
/// means nothing is an error, and strings, lists and maps have Python's methods, as in chat templates.
#[expect(
    clippy::missing_panics_doc,
    reason = "the delimiters are the usual ones, and every test renders with them"
)]
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment
}

/// The member `prompts` of a scenario file; what it leaves out is built in.
pub(super) fn read(found: Option<Found>, problems: &mut Vec<Problem>) -> Prompts {
    let mut prompts = Prompts::default();
    let Some(mut members) = found.and_then(|found| Members::of(found, &SHAPE, problems)) else {
        return prompts;
    };
    let mut take = |name: &str, may: &[&str], must: Option<&str>| {
        let template = members.optional_text(name, problems)?;
        check(&template, &members.place.member(name), may, must, problems);
        Some(template)
    };
    if let Some(plain) = take("plain", &["text"], Some("text")) {
        prompts.plain = plain;
    }
    if let Some(structured) = take("structured", &["text", "schema", "examples"], Some("text")) {
        prompts.structured = structured;
    }
    if let Some(generate) = take("generate", &["json", "schema", "examples"], Some("json")) {
        prompts.generate = generate;
    }
    prompts.system = take("system", &[], None);
    prompts
}

/// Compiles a template, looks at the names it uses, and renders it once, since filters are only found then.
fn check(template: &str, place: &Place, may: &[&str], must: Option<&str>, problems: &mut Vec<Problem>) {
    let environment = environment();
    let compiled = match environment.template_from_str(template) {
        Ok(compiled) => compiled,
        Err(error) => return problems.push(template_problem(place, &error)),
    };
    let globals: Vec<&str> = environment.globals().map(|(name, _)| name).collect();
    let used: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
    let before = problems.len();
    for name in used.iter().filter(|name| !may.contains(&name.as_str()) && !globals.contains(&name.as_str()))
    {
        let right = match nearest(name, may.iter().copied()) {
            Some(near) => format!("`{near}`"),
            None if may.is_empty() => "a template without variables".to_owned(),
            None => format!("only {}", quoted(may)),
        };
        problems.push(Problem::new(place.clone(), format!("the template names `{name}`"), right));
    }
    if let Some(must) = must.filter(|must| !used.contains(*must)) {
        let wrong = format!("the template never uses `{must}`, so every case would have the same prompt");
        problems.push(Problem::new(place.clone(), wrong, format!("`{{{{ {must} }}}}` somewhere in it")));
    }
    if problems.len() == before {
        let example = context! { text => "text", json => "{}" };
        let all = context! { text => "text", json => "{}", schema => "{}", examples => [example] };
        if let Err(error) = compiled.render(all) {
            problems.push(template_problem(place, &error));
        }
    }
}

fn template_problem(place: &Place, error: &minijinja::Error) -> Problem {
    let line = error.line().map(|line| format!("line {line} of the template: ")).unwrap_or_default();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    Problem::new(
        place.clone(),
        format!("{line}{}{detail}", error.kind()),
        "a minijinja template that renders",
    )
}
