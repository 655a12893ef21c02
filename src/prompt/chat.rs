//! A model's chat template, rendered by minijinja as its authors' Jinja2 would. Knows no strategy and no scenario.

use jiff::civil::Date;
use jiff::fmt::strtime;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error as JinjaError, ErrorKind, context};

use super::{Error, Message, Role};

/// The template of a GGUF file (`tokenizer.chat_template`), compiled.
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos: String,
    eos: String,
}

impl ChatTemplate {
    /// Compiles a template. `bos` and `eos` are the texts of these tokens, empty where the model has none; `date` is
    /// what `strftime_now` takes for today.
    ///
    /// # Errors
    /// [`Error::Chat`] when the template is not Jinja that minijinja reads.
    pub fn new(source: String, bos: &str, eos: &str, date: Date) -> Result<Self, Error> {
        let mut environment = Environment::new();
        // As transformers' own environment for chat templates has them.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|e| Error::Chat(e.to_string()))?);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<String, JinjaError> {
            Err(JinjaError::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", move |format: String| {
            strtime::format(&format, date.at(0, 0, 0, 0))
                .map_err(|e| JinjaError::new(ErrorKind::InvalidOperation, e.to_string()))
        });
        environment.add_template_owned("chat", source).map_err(|e| Error::Chat(format!("{e:#}")))?;
        Ok(Self { environment, bos: bos.to_owned(), eos: eos.to_owned() })
    }

    /// The prompt text, up to where the model's answer begins. A system message that the template refuses is put in
    /// front of the first user message.
    ///
    /// # Errors
    /// [`Error::Chat`] when the template fails on plain user messages too.
    pub fn render(&self, messages: &[Message], thinking: bool) -> Result<String, Error> {
        match self.try_render(messages, thinking) {
            Ok(text) if mentions_all(&text, messages) => Ok(text),
            // Refused, or (as some templates do) dropped without a word.
            _ => self.try_render(&fold_system(messages), thinking),
        }
    }

    fn try_render(&self, messages: &[Message], thinking: bool) -> Result<String, Error> {
        let turns: Vec<_> = messages
            .iter()
            .map(|m| context! { role => m.role.name(), content => m.content.as_str() })
            .collect();
        let values = context! {
            messages => turns,
            bos_token => self.bos.as_str(),
            eos_token => self.eos.as_str(),
            add_generation_prompt => true,
            enable_thinking => thinking,
            tools => (),
        };
        let template = self.environment.get_template("chat").map_err(|e| Error::Chat(e.to_string()))?;
        template.render(values).map_err(|e| Error::Chat(format!("{e:#}")))
    }
}

fn mentions_all(text: &str, messages: &[Message]) -> bool {
    messages.iter().all(|message| text.contains(message.content.trim()))
}

fn fold_system(messages: &[Message]) -> Vec<Message> {
    let (system, others): (Vec<_>, Vec<_>) = messages.iter().partition(|m| m.role == Role::System);
    let mut folded: Vec<Message> = others.into_iter().cloned().collect();
    let instructions: Vec<&str> = system.iter().map(|m| m.content.trim()).collect();
    if let Some(first) = folded.first_mut().filter(|_| !instructions.is_empty()) {
        first.content = format!("{}\n\n{}", instructions.join("\n\n"), first.content);
    }
    folded
}

/// The prompt for a model without a chat template: the words of all messages, and a cue for the answer to continue.
pub fn completion(messages: &[Message]) -> String {
    let words: Vec<&str> = messages.iter().map(|m| m.content.trim()).collect();
    format!("{}\n\nJSON:\n", words.join("\n\n"))
}
