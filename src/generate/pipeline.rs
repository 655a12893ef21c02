//! What is asked of the model next, and what comes of its answers. No process, no file, no clock.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use minijinja::{Environment, context};
use serde_json::Value;

use super::candidate::Candidate;
use super::pool::Pool;
use super::tight::tightened;
use crate::dataset::faults_of;
use crate::decode::constraint::Rules;
use crate::decode::engine::frames::{Constraint, Finish, Generation, Order};
use crate::decode::profile::Profile;
use crate::hash::sha256;
use crate::prompt::{Error, Message, Role, Writer};
use crate::scenario::{Case, Scenario, environment};

/// Objects and messages refused in a row, after which the model is taken to have no more to give.
const MAX_REFUSED: u32 = 40;

/// Objects that a prompt shows.
const SHOWN: usize = 3;

/// Seeds between one candidate and the next, so that their draws never meet.
const SEEDS_APART: u64 = 10_000;

/// Hexadecimal digits of a message's hash in an id.
const ID_DIGITS: usize = 12;

/// What is to be generated.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'s> {
    /// For which scenario; its cases, if it has any, are not to be repeated.
    pub scenario: &'s Scenario,
    /// How tokens are chosen.
    pub profile: &'s Profile,
    /// Candidates in all, those that are there included.
    pub wanted: usize,
    /// Where the draws begin.
    pub seed: u64,
}

/// What comes of an answer.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The next thing to ask.
    Ask(Box<Order>),
    /// A candidate is finished.
    Finished(Candidate),
}

/// Why nothing more comes.
#[derive(Debug, thiserror::Error)]
pub enum Dead {
    /// The model repeats itself.
    #[error(
        "{MAX_REFUSED} objects in a row were no new ones, the last because {0}; another --seed, a profile with a higher \
             temperature or more examples may help"
    )]
    Exhausted(String),
    /// The worker could not carry an order out.
    #[error("{}: {reason}", finish.as_str())]
    Failed {
        /// How it ended.
        finish: Finish,
        /// Why.
        reason: String,
    },
    /// The schema cannot be enforced, so no objects can be drawn under it.
    #[error("the schema cannot be enforced: {0}")]
    Schema(String),
    /// A prompt cannot be written.
    #[error(transparent)]
    Prompt(#[from] Error),
}

/// Candidates under way.
pub struct Pipeline<'s> {
    plan: Plan<'s>,
    writer: Writer<'s>,
    asks: Environment<'static>,
    schema: Arc<Value>,
    profile: Arc<Profile>,
    pool: Pool,
    texts: HashSet<String>,
    ids: HashSet<String>,
    flights: BTreeMap<u64, Flight>,
    next_order: u64,
    next_number: u64,
    n_finished: usize,
    n_refused: u32,
}

/// A candidate under way.
struct Flight {
    number: u64,
    draw: u64,
    /// Absent while it is drawn.
    object: Option<Value>,
}

impl<'s> Pipeline<'s> {
    /// A pipeline that goes on after the candidates that are there.
    ///
    /// # Errors
    /// [`Dead::Schema`] and [`Dead::Prompt`].
    #[expect(clippy::missing_panics_doc, reason = "the template is a constant that a test renders")]
    pub fn new(plan: Plan<'s>, there: &[Candidate]) -> Result<Self, Dead> {
        let Plan { scenario, profile, .. } = plan;
        let enforceable = |schema: &Value| Rules::schema(schema, profile.policy());
        let tight = tightened(&scenario.schema);
        let schema = if enforceable(&tight).is_ok() { tight } else { scenario.schema.clone() };
        enforceable(&schema).map_err(|refused| {
            let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
            Dead::Schema(reasons.join("; "))
        })?;
        let examples =
            scenario.examples.iter().map(|example| ("an example".to_owned(), example.json.clone()));
        let cases = scenario.cases.iter().map(|case| (case.id.clone(), case.expected.clone()));
        let mut pool = Pool::new(&scenario.schema, examples.chain(cases).collect());
        for candidate in there {
            pool.admit(&candidate.id, candidate.expected.clone());
        }
        let texts =
            scenario.cases.iter().map(|case| &case.text).chain(there.iter().map(|candidate| &candidate.text));
        let ids =
            scenario.cases.iter().map(|case| &case.id).chain(there.iter().map(|candidate| &candidate.id));
        let mut asks = environment();
        let source = include_str!("object.jinja");
        asks.add_template("object", source).expect("the template is a constant that a test renders");
        Ok(Self {
            writer: Writer::new(scenario)?,
            asks,
            schema: Arc::new(schema),
            profile: Arc::new(profile.clone()),
            pool,
            texts: texts.cloned().collect(),
            ids: ids.cloned().collect(),
            flights: BTreeMap::new(),
            next_order: 0,
            next_number: there.len() as u64,
            n_finished: there.len(),
            n_refused: 0,
            plan,
        })
    }

    /// How many candidates there are, and how many there are to be.
    pub fn progress(&self) -> (usize, usize) {
        (self.n_finished, self.plan.wanted)
    }

    /// How many orders are with the worker.
    pub fn n_under_way(&self) -> usize {
        self.flights.len()
    }

    /// Begins another candidate, if one is wanted.
    pub fn begin(&mut self) -> Option<Order> {
        if self.n_finished + self.flights.len() >= self.plan.wanted {
            return None;
        }
        let number = self.next_number;
        self.next_number += 1;
        Some(self.ask_object(number, 0))
    }

    /// Takes an answer in; `None` for one that was not asked for.
    ///
    /// # Errors
    /// What ends everything; candidates that are finished stay.
    pub fn answer(&mut self, id: u64, generation: &Generation) -> Result<Option<Outcome>, Dead> {
        let Some(flight) = self.flights.remove(&id) else { return Ok(None) };
        let ask = |order| Outcome::Ask(Box::new(order));
        let reason = || generation.error.clone().unwrap_or_default();
        let outcome = match (generation.finish, flight.object) {
            (finish @ (Finish::Errored | Finish::UnsupportedSchema), _) => {
                return Err(Dead::Failed { finish, reason: reason() });
            }
            // Other objects may be shorter, those that are shown too.
            (Finish::PromptTooLong, _) => ask(self.draw_again(
                flight.number,
                flight.draw,
                format!("the prompt is too long ({})", reason()),
            )?),
            (_, None) => ask(self.take_object(flight.number, flight.draw, generation)?),
            (_, Some(object)) => Outcome::Finished(self.take_message(object, generation)),
        };
        Ok(Some(outcome))
    }

    fn draw_again(&mut self, number: u64, draw: u64, refusal: String) -> Result<Order, Dead> {
        self.n_refused += 1;
        if self.n_refused >= MAX_REFUSED {
            return Err(Dead::Exhausted(refusal));
        }
        Ok(self.ask_object(number, draw + 1))
    }

    fn take_object(&mut self, number: u64, draw: u64, generation: &Generation) -> Result<Order, Dead> {
        let object: Result<Value, _> = serde_json::from_str(answer_of(&generation.output));
        let refusal = match &object {
            Ok(object) => self.pool.refusal(object),
            Err(_) => Some(format!("it is no whole JSON ({})", generation.finish.as_str())),
        };
        match (object, refusal) {
            (Ok(object), None) => {
                self.pool.admit(&format!("candidate {}", number + 1), object.clone());
                self.ask_message(number, draw, object)
            }
            (_, refusal) => self.draw_again(number, draw, refusal.unwrap_or_default()),
        }
    }

    /// The strict check of the message and its object.
    fn take_message(&mut self, object: Value, generation: &Generation) -> Candidate {
        let text = answer_of(&generation.output).to_owned();
        let case = Case { id: self.new_id(&text), text, expected: object };
        let mut reasons: Vec<String> = Vec::new();
        if case.text.is_empty() {
            reasons.push("/text: the message is empty".into());
        } else if generation.finish.is_cut_off() {
            reasons.push(format!("/text: the message was cut off ({})", generation.finish.as_str()));
        }
        if !self.texts.insert(case.text.clone()) {
            reasons.push("/text: another case has the same message".into());
        }
        let faults = faults_of(&case, Some(&self.plan.scenario.schema), self.pool.kinds());
        reasons.extend(
            faults
                .into_iter()
                .map(|fault| format!("/expected{}: {}: {}", fault.pointer, fault.value, fault.why)),
        );
        self.n_finished += 1;
        self.n_refused = 0;
        Candidate {
            scenario: self.plan.scenario.name.clone(),
            id: case.id,
            text: case.text,
            expected: case.expected,
            verified: reasons.is_empty(),
            reasons,
        }
    }

    fn new_id(&mut self, text: &str) -> String {
        // From the message, since files of several runs and models may come to one scenario, where the same id replaces a case.
        let hash = sha256(text.as_bytes());
        let mut id = format!("generated-{}", &hash[..ID_DIGITS]);
        let mut numbered = (2..).map(|number| format!("generated-{}-{number}", &hash[..ID_DIGITS]));
        while !self.ids.insert(id.clone()) {
            id = numbered.next().expect("the numbers never end");
        }
        id
    }

    fn ask_object(&mut self, number: u64, draw: u64) -> Order {
        let seed = self.seed(number, 2 * draw);
        let pretty = |value: &Value| format!("{value:#}");
        let values = context! {
            description => self.plan.scenario.description.as_str(),
            schema => pretty(&self.plan.scenario.schema),
            shown => self.pool.some(SHOWN, seed).into_iter().map(pretty).collect::<Vec<_>>(),
            number => number + 1,
        };
        let template = self.asks.get_template("object").and_then(|template| template.render(values));
        let content = template.expect("the template is a constant that a test renders");
        let constraint = Constraint::Schema(Arc::clone(&self.schema));
        let messages = Arc::new(vec![Message { role: Role::User, content: content.trim_end().to_owned() }]);
        self.order(Flight { number, draw, object: None }, messages, constraint, seed)
    }

    fn ask_message(&mut self, number: u64, draw: u64, object: Value) -> Result<Order, Dead> {
        let messages = self.writer.write_generate(&object)?;
        let seed = self.seed(number, 2 * draw + 1);
        Ok(self.order(Flight { number, draw, object: Some(object) }, messages, Constraint::None, seed))
    }

    fn seed(&self, number: u64, step: u64) -> u64 {
        self.plan.seed.wrapping_add((number + 1).wrapping_mul(SEEDS_APART)).wrapping_add(step)
    }

    fn order(
        &mut self,
        flight: Flight,
        messages: Arc<Vec<Message>>,
        constraint: Constraint,
        seed: u64,
    ) -> Order {
        let id = self.next_order;
        self.next_order += 1;
        self.flights.insert(id, flight);
        let profile = Arc::clone(&self.profile);
        Order { id, messages, constraint, profile, seed, wants_prompt: false }
    }
}

/// What stands behind the reasoning, if there is any.
fn answer_of(output: &str) -> &str {
    output.rsplit_once("</think>").map_or(output, |(_, answer)| answer).trim()
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
