//! Strategy and case to chat messages, and messages to the text that a model reads. Pure.

mod chat;

use std::sync::Arc;

use minijinja::{Environment, context};
use serde::{Deserialize, Serialize};

pub use chat::{ChatTemplate, completion};

use crate::scenario::{Prompts, Scenario, environment};

/// Whose words a message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions above the conversation.
    System,
    /// The person.
    User,
}

impl Role {
    /// What templates call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
        }
    }
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
    /// A scenario's template failed on one of its cases.
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

/// The prompts of one scenario, compiled once and written for each case.
pub struct Writer<'a> {
    environment: Environment<'a>,
    scenario: minijinja::Value,
    has_system: bool,
}

impl<'a> Writer<'a> {
    /// Compiles the templates. They see `schema` and `examples` (each `text` and `json`; all JSON as text) and, for each
    /// case, `text`; `generate` sees `json` instead.
    ///
    /// # Errors
    /// A template that does not compile.
    pub fn new(scenario: &'a Scenario) -> Result<Self, Error> {
        let mut environment = environment();
        let Prompts { plain, structured, generate, system } = &scenario.prompts;
        let templates = [
            ("plain", Some(plain)),
            ("structured", Some(structured)),
            ("generate", Some(generate)),
            ("system", system.as_ref()),
        ];
        for (name, source) in templates {
            if let Some(source) = source {
                environment
                    .add_template(name, source)
                    .map_err(|e| Error::Scenario { name, message: format!("{e:#}") })?;
            }
        }
        let examples: Vec<_> = scenario
            .examples
            .iter()
            .map(|example| context! { text => example.text.trim(), json => pretty(&example.json) })
            .collect();
        let values = context! { schema => pretty(&scenario.schema), examples => examples };
        Ok(Self { environment, scenario: values, has_system: system.is_some() })
    }

    /// The messages for one case's text: with schema and examples (P, PJ, PJ+) or without (J, J+).
    ///
    /// # Errors
    /// A template that fails on this text.
    pub fn write(&self, structured: bool, text: &str) -> Result<Arc<Vec<Message>>, Error> {
        let values = context! { text => text.trim(), ..self.scenario.clone() };
        let mut messages = Vec::with_capacity(2);
        if self.has_system {
            messages.push(Message { role: Role::System, content: self.render("system", &values)? });
        }
        let name = if structured { "structured" } else { "plain" };
        messages.push(Message { role: Role::User, content: self.render(name, &values)? });
        Ok(Arc::new(messages))
    }

    /// The message that asks for a new message of the scenario's kind, which holds `json`.
    ///
    /// # Errors
    /// A template that fails on this JSON.
    pub fn write_generate(&self, json: &serde_json::Value) -> Result<Arc<Vec<Message>>, Error> {
        let values = context! { json => pretty(json), ..self.scenario.clone() };
        Ok(Arc::new(vec![Message { role: Role::User, content: self.render("generate", &values)? }]))
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
