//! Strategy and case to chat messages, and messages to the text that a model reads. Pure.

mod chat;

use minijinja::{Environment, UndefinedBehavior, context};
use serde::{Deserialize, Serialize};

pub use chat::{ChatTemplate, completion};

use crate::scenario::Scenario;

/// J and J+: the task and the message, nothing about structure.
pub const PLAIN: &str = "\
{{ description }}

Read the message and answer with the information that it holds, as one JSON object and nothing else.

Message:
{{ message }}
";

/// P, PJ and PJ+: also the JSON Schema and the example pairs. The message comes last, so that all that the cases of a
/// scenario share stands before it and has to be read only once.
pub const STRUCTURED: &str = "\
{{ description }}

Read the message and answer with the information that it holds, as one JSON object and nothing else. The object has to \
follow this JSON Schema:

{{ schema }}
{% for example in examples %}
Example message:
{{ example.text }}

Example answer:
{{ example.json }}
{% endfor %}
Message:
{{ message }}
";

/// Whose words a message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions above the conversation.
    System,
    /// The person.
    User,
}

/// One chat message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// Whose words.
    pub role: Role,
    /// The words.
    pub content: String,
}

/// Why no prompt could be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario's own template failed.
    #[error("prompts/{name}: {message}")]
    Scenario {
        /// Which of the scenario's templates.
        name: &'static str,
        /// What minijinja says, with the line.
        message: String,
    },
    /// The model's chat template failed.
    #[error("the model's chat template: {0}")]
    Chat(String),
}

/// Which of the two prompts a strategy sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// J and J+.
    Plain,
    /// P, PJ and PJ+.
    Structured,
}

/// The prompts of one scenario, compiled once and written for each case.
pub struct Prompts<'a> {
    environment: Environment<'a>,
    scenario: minijinja::Value,
    has_system: bool,
}

impl<'a> Prompts<'a> {
    /// Compiles the scenario's templates, or the built-in ones where it has none.
    ///
    /// Templates see `name`, `description`, `schema` (JSON text), `examples` (each `text` and `json`, JSON text),
    /// `example` (the first) and `message`.
    pub fn new(scenario: &'a Scenario) -> Result<Self, Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_keep_trailing_newline(false);
        let own = &scenario.prompts;
        let mut add = |name, source: &'a str| {
            environment.add_template(name, source).map_err(|e| Error::Scenario { name, message: e.to_string() })
        };
        add("plain", own.plain.as_deref().unwrap_or(PLAIN))?;
        add("structured", own.structured.as_deref().unwrap_or(STRUCTURED))?;
        if let Some(system) = &own.system {
            add("system", system)?;
        }
        let examples: Vec<_> = scenario
            .examples
            .iter()
            .map(|example| context! { text => example.text.trim(), json => pretty(&example.json) })
            .collect();
        let values = context! {
            name => scenario.name,
            description => scenario.description,
            schema => pretty(&scenario.schema),
            example => examples.first(),
            examples => examples,
        };
        Ok(Self { environment, scenario: values, has_system: own.system.is_some() })
    }

    /// The messages for one case's text.
    pub fn write(&self, kind: Kind, text: &str) -> Result<Vec<Message>, Error> {
        let values = context! { message => text.trim(), ..self.scenario.clone() };
        let name = match kind {
            Kind::Plain => "plain",
            Kind::Structured => "structured",
        };
        let mut messages = Vec::with_capacity(2);
        if self.has_system {
            messages.push(Message { role: Role::System, content: self.render("system", &values)? });
        }
        messages.push(Message { role: Role::User, content: self.render(name, &values)? });
        Ok(messages)
    }

    fn render(&self, name: &'static str, values: &minijinja::Value) -> Result<String, Error> {
        let rendered = self.environment.get_template(name).and_then(|template| template.render(values));
        // minijinja's alternate form has the template's line and the source around it.
        rendered.map_err(|e| Error::Scenario { name, message: format!("{e:#}") })
    }
}

/// JSON as people write it, members in their own order.
fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests;
