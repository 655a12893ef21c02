//! Which attempts a sweep consists of, which of them are missing, and in which order they run. Pure.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::decode::constraint::Rules;
use crate::decode::engine::frames::Constraint;
use crate::decode::profile::Profile;
use crate::hash;
use crate::prompt::{self, Message, Writer};
use crate::scenario::{Constrained, Scenario, Strategy};
use crate::store::{CaseId, ModelId, RevisionId};

/// SHA-256, in hex, over exactly what can change the text of an attempt. Same key, same work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub String);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A current scenario with the rows it is stored under.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What the file said.
    pub scenario: Scenario,
    /// Its schema, examples and prompts.
    pub revision: RevisionId,
    /// The text of the grammar that J and PJ are held to, if it is not any JSON.
    pub grammar: Option<Arc<str>>,
    /// The row of each of the scenario's cases, in their order.
    pub cases: Vec<CaseId>,
}

/// A model in the order of the sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contestant {
    /// Its row.
    pub model: ModelId,
    /// Its file's hash, in hex.
    pub sha256: String,
}

/// What is asked of every model.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// Those with the same prompt run in this order.
    pub strategies: Vec<Strategy>,
    /// Attempts for each case and strategy.
    pub repeats: u32,
    /// Of the first repeat; the others count up.
    pub seed: u64,
    /// How tokens are chosen.
    pub profile: Arc<Profile>,
}

/// What an attempt answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// The case.
    pub case: CaseId,
    /// The schema, examples and prompts it was asked with.
    pub revision: RevisionId,
}

/// One generation to be made.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// What identifies it.
    pub key: Key,
    /// By whom.
    pub model: ModelId,
    /// How it is asked.
    pub strategy: Strategy,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// For draws above temperature 0.
    pub seed: u64,
    /// The prompt, before the model's template.
    pub messages: Arc<Vec<Message>>,
    /// What the text is held to.
    pub constraint: Constraint,
    /// What it answers: one case as a rule, several when they ask the very same.
    pub targets: Vec<Target>,
    /// Why the constraint cannot be enforced, if so.
    pub unsupported: Option<Arc<str>>,
    /// How often it has ended as errored before.
    pub n_errored: u32,
}

/// What the store knows of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// There is a text.
    Done,
    /// The schema could not be enforced then.
    Unsupported,
    /// It ended as errored so many times.
    Errored(u32),
}

/// An attempt is tried this often before its error stands: once among others, once alone.
pub const MAX_TRIES: u32 = 2;

/// A planned sweep, split by what is known.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// To be run, model after model.
    pub missing: Vec<Attempt>,
    /// There already; their verdicts may be missing.
    pub done: Vec<Attempt>,
    /// Given up.
    pub errored: Vec<Attempt>,
}

/// What is put to every model alike.
#[derive(Debug, Clone)]
pub struct Question {
    strategy: Strategy,
    messages: Arc<Vec<Message>>,
    constraint: Constraint,
    target: Target,
    unsupported: Option<Arc<str>>,
    digest: [u8; 32],
}

/// How many cases the questions that show the schema are behind those that do not.
///
/// Answers to the latter differ most in length (40 cases, Qwen2.5 0.5B: 41 to 256 tokens, the others 64 to 100), and the last
/// long ones are decoded beside empty slots. With all of a case's questions together 232 of 933 turns were such, with five
/// texts each; so far behind, 133 of 830, with nine.
const LAG: usize = 16;

/// The questions of one scenario, case by case; those that show the schema some cases behind the others.
///
/// # Errors
/// A template that fails on one of the cases.
pub fn questions(subject: &Subject, sweep: &Sweep) -> Result<Vec<Question>, prompt::Error> {
    let writer = Writer::new(&subject.scenario)?;
    let json =
        subject.grammar.as_ref().map_or(Constraint::Json, |text| Constraint::Grammar(Arc::clone(text)));
    let schema = Constraint::Schema(Arc::new(subject.scenario.schema.clone()));
    let unsupported = unsupported(&subject.scenario, &sweep.profile);
    let profile = sweep.profile.unnamed();
    let mut questions = Vec::new();
    for (index, structured) in order(subject.cases.len()) {
        let messages = writer.write(structured, &subject.scenario.cases[index].text)?;
        for &strategy in sweep.strategies.iter().filter(|strategy| strategy.structured() == structured) {
            let (constraint, unsupported) = match strategy.constrained() {
                Constrained::No => (Constraint::None, None),
                Constrained::Json => (json.clone(), None),
                Constrained::Schema => (schema.clone(), unsupported.clone()),
            };
            let digest = digest(strategy, &messages, &constraint, &profile);
            let target = Target { case: subject.cases[index], revision: subject.revision };
            let messages = Arc::clone(&messages);
            questions.push(Question { strategy, messages, constraint, target, unsupported, digest });
        }
    }
    Ok(questions)
}

/// All attempts of a sweep, each model's together, in the order of the questions.
pub fn expand(questions: &[Question], models: &[Contestant], sweep: &Sweep) -> Vec<Attempt> {
    let mut attempts: Vec<Attempt> = Vec::with_capacity(questions.len() * models.len());
    for contestant in models {
        let mut by_key = HashMap::new();
        for question in questions {
            for repeat in 0..sweep.repeats {
                let seed = sweep.seed + u64::from(repeat);
                let key = key(contestant, question, seed);
                let index = *by_key.entry(key.clone()).or_insert(attempts.len());
                match attempts.get_mut(index) {
                    Some(same) => same.targets.push(question.target),
                    None => attempts.push(attempt(key, contestant.model, question, repeat, seed)),
                }
            }
        }
    }
    attempts
}

/// Splits attempts by what is known of their keys.
pub fn split(attempts: Vec<Attempt>, known: impl Fn(&Key) -> Option<Known>) -> Plan {
    let mut plan = Plan::default();
    for mut attempt in attempts {
        match known(&attempt.key) {
            Some(Known::Done) => plan.done.push(attempt),
            Some(Known::Unsupported) if attempt.unsupported.is_some() => plan.done.push(attempt),
            Some(Known::Errored(n)) if n >= MAX_TRIES => plan.errored.push(attempt),
            Some(Known::Errored(n)) => {
                attempt.n_errored = n;
                plan.missing.push(attempt);
            }
            // Enforced now, though it could not be by an earlier version.
            Some(Known::Unsupported) | None => plan.missing.push(attempt),
        }
    }
    plan
}

/// Why a scenario's schema cannot be enforced under a profile: every keyword that stands in the way.
pub fn unsupported(scenario: &Scenario, profile: &Profile) -> Option<Arc<str>> {
    let refused = Rules::schema(&scenario.schema, profile.policy()).err()?;
    let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
    Some(reasons.join("; ").into())
}

/// So many cases, and whether the schema is shown, in the order in which they are asked.
fn order(n_cases: usize) -> Vec<(usize, bool)> {
    let mut order: Vec<(usize, bool)> = (0..n_cases).flat_map(|case| [(case, false), (case, true)]).collect();
    order.sort_by_key(|(case, structured)| case + if *structured { LAG } else { 0 });
    order
}

fn digest(strategy: Strategy, messages: &[Message], constraint: &Constraint, profile: &Profile) -> [u8; 32] {
    let parts = serde_json::to_vec(&(strategy, messages, constraint, profile));
    Sha256::digest(parts.expect("plain data serialises")).into()
}

fn key(contestant: &Contestant, question: &Question, seed: u64) -> Key {
    let mut hasher = Sha256::new();
    // The version of what goes into a key, so that a change of it is a change of every key.
    hasher.update(b"nightjar attempt 1\0");
    hasher.update(contestant.sha256.as_bytes());
    hasher.update(question.digest);
    hasher.update(seed.to_le_bytes());
    Key(hash::hex(&hasher.finalize()))
}

fn attempt(key: Key, model: ModelId, question: &Question, repeat: u32, seed: u64) -> Attempt {
    Attempt {
        key,
        model,
        strategy: question.strategy,
        repeat,
        seed,
        messages: Arc::clone(&question.messages),
        constraint: question.constraint.clone(),
        targets: vec![question.target],
        unsupported: question.unsupported.clone(),
        n_errored: 0,
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
