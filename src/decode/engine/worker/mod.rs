//! Seats attempts in slots and decodes them in one batch a turn. Knows [`Model`], neither llama.cpp nor pipes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, TryRecvError};
use std::time::{Duration, Instant};

use super::frames::{Constraint, Finish, Generation, Order, Reply, Request};
use super::{BatchToken, Error, Model, Slot};
use crate::decode::allowed::Allowed;
use crate::decode::constraint::{Root, Rules};
use crate::decode::profile::Profile;
use crate::decode::sequence::{Sequence, Step, THINK_CLOSE, THINK_OPEN, Thinking};
use crate::decode::vocab::TokenId;
use crate::hash;
use crate::prompt::{ChatTemplate, completion};

/// How often progress is reported at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// How many slots there are, how many tokens one batch holds, and whether slots keep what they have read.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Sequences in one batch.
    pub slots: u32,
    /// Tokens in one batch.
    pub batch: u32,
    /// Whether the beginning of a prompt that a slot has read before is not read again.
    pub reuse: bool,
}

/// An order and when it came.
struct Waiting {
    order: Box<Order>,
    since: Instant,
}

/// An attempt in its slot.
struct Seat {
    slot: Slot,
    id: u64,
    sequence: Sequence,
    /// Which of the worker's constraints it is under.
    constraint: Option<String>,
    /// Tokens still to be evaluated: the prompt, then one chosen token at a time.
    pending: VecDeque<TokenId>,
    position: u32,
    seated: Instant,
    first_choice: Option<Instant>,
    deadline: Instant,
    prompt: Prompt,
    wants_prompt: bool,
}

/// A prompt as the model reads it.
struct Prompt {
    text: String,
    tokens: Vec<TokenId>,
}

/// Serves requests until [`Request::Finish`], or until the requests' sender is gone.
///
/// # Errors
/// What the model failed with; attempts then seated are lost.
pub fn serve(
    model: &mut dyn Model,
    shape: Shape,
    requests: &Receiver<Request>,
    emit: &mut dyn FnMut(Reply),
) -> Result<(), Error> {
    let mut worker = Worker::new(model, shape);
    loop {
        worker.take_in(requests, emit);
        worker.seat_waiting(emit)?;
        if worker.seats.is_empty() {
            if worker.finishing {
                return Ok(());
            }
            continue;
        }
        worker.turn(emit)?;
    }
}

struct Worker<'m> {
    model: &'m mut dyn Model,
    shape: Shape,
    waiting: VecDeque<Waiting>,
    seats: Vec<Seat>,
    /// What each slot's KV cache holds.
    seen: Vec<Vec<TokenId>>,
    /// What has been found out of each constraint, by its schema's or grammar's text; empty for JSON mode. Kept for the worker's life,
    /// since a scenario's cases share nearly all of their masks.
    constraints: HashMap<String, Result<Allowed, String>>,
    finishing: bool,
    n_evaluated: u64,
    reported: Instant,
}

impl<'m> Worker<'m> {
    fn new(model: &'m mut dyn Model, shape: Shape) -> Self {
        Self {
            model,
            shape,
            waiting: VecDeque::new(),
            seats: Vec::new(),
            seen: vec![Vec::new(); shape.slots as usize],
            constraints: HashMap::new(),
            finishing: false,
            n_evaluated: 0,
            reported: Instant::now(),
        }
    }

    /// Takes what has come; waits for something only when there is nothing else to do.
    fn take_in(&mut self, requests: &Receiver<Request>, emit: &mut dyn FnMut(Reply)) {
        while !self.finishing {
            let idle = self.seats.is_empty() && self.waiting.is_empty();
            let next = if idle {
                requests.recv().map_err(|RecvError| TryRecvError::Disconnected)
            } else {
                requests.try_recv()
            };
            match next {
                Ok(Request::Attempt(order)) => {
                    self.waiting.push_back(Waiting { order, since: Instant::now() });
                }
                Ok(Request::Drain) => {
                    self.waiting.clear();
                    emit(Reply::Drained);
                }
                Ok(Request::Finish) | Err(TryRecvError::Disconnected) => self.finishing = true,
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    fn seat_waiting(&mut self, emit: &mut dyn FnMut(Reply)) -> Result<(), Error> {
        while self.seats.len() < self.shape.slots as usize {
            let Some(Waiting { order, since }) = self.waiting.pop_front() else { break };
            emit(Reply::Seated { id: order.id });
            match self.seat(&order, since) {
                Ok(mut seat) => {
                    self.take_slot(&mut seat)?;
                    self.seats.push(seat);
                }
                Err(generation) => emit(Reply::Done { id: order.id, generation }),
            }
        }
        Ok(())
    }

    /// Gives the seat the free slot that has read most of its prompt already, and takes that much off what is to be
    /// evaluated. The last token is always evaluated, since its logits are needed.
    fn take_slot(&mut self, seat: &mut Seat) -> Result<(), Error> {
        let prompt = &seat.prompt.tokens;
        let in_common = |slot: &Slot| {
            let seen = &self.seen[slot.0 as usize];
            let same = seen.iter().zip(&prompt[..prompt.len() - 1]).take_while(|(a, b)| a == b).count();
            if self.shape.reuse { same } else { 0 }
        };
        let free = (0..self.shape.slots).map(Slot).filter(|slot| self.seats.iter().all(|s| s.slot != *slot));
        // The first of the best, so that one slot alone is used the same way every time.
        let best = free.map(|slot| (in_common(&slot), slot)).reduce(|a, b| if b.0 > a.0 { b } else { a });
        let (same, slot) = best.expect("there are fewer seats than slots");
        let kept = self.model.keep(slot, same as u32)?;
        self.seen[slot.0 as usize].truncate(kept as usize);
        seat.slot = slot;
        seat.position = kept;
        seat.pending.drain(..kept as usize);
        seat.sequence.cost.n_reused = kept;
        Ok(())
    }

    /// An attempt ready to be decoded, or what came of one that cannot be.
    fn seat(&mut self, order: &Order, since: Instant) -> Result<Seat, Box<Generation>> {
        let seated = Instant::now();
        let failed = |finish, error: Option<String>, prompt: Option<&Prompt>| {
            let mut generation = Generation { finish, error, ..Generation::default() };
            if let Some(prompt) = prompt {
                describe(&mut generation, prompt, order.wants_prompt);
            }
            Box::new(generation)
        };
        let prompt = self.prompt(order).map_err(|e| failed(Finish::Errored, Some(e), None))?;
        let context = self.model.card().context.min(order.profile.context);
        let needed = prompt.tokens.len() as u32 + order.profile.longest_output();
        if prompt.tokens.is_empty() || needed > context {
            let error = format!("prompt and max_tokens need {needed} tokens of context, there are {context}");
            return Err(failed(Finish::PromptTooLong, Some(error), Some(&prompt)));
        }
        let constraint = constraint_key(&order.constraint);
        let matcher = match &constraint {
            None => None,
            Some(key) => match self.allowed(key, order) {
                Ok(allowed) => Some(allowed.start()),
                Err(e) => return Err(failed(Finish::UnsupportedSchema, Some(e.clone()), Some(&prompt))),
            },
        };
        let thinking = order.profile.thinking.then(|| self.thinking(&order.profile, &prompt));
        let mut sequence = Sequence::new(&order.profile, order.seed, matcher, thinking);
        sequence.cost.n_prompt = prompt.tokens.len() as u32;
        sequence.cost.queue_ms = (seated - since).as_millis() as u64;
        Ok(Seat {
            // Until it takes a slot of its own.
            slot: Slot(0),
            id: order.id,
            sequence,
            constraint,
            pending: prompt.tokens.iter().copied().collect(),
            position: 0,
            seated,
            first_choice: None,
            deadline: seated + Duration::from_secs(order.profile.timeout_s),
            prompt,
            wants_prompt: order.wants_prompt,
        })
    }

    fn prompt(&self, order: &Order) -> Result<Prompt, String> {
        let card = self.model.card();
        let text = match &card.template {
            None => completion(&order.messages),
            Some(template) => {
                let date = order.profile.date.parse().map_err(|e: jiff::Error| e.to_string())?;
                let bos = card.bos.as_ref().map_or("", |(_, name)| name.as_str());
                ChatTemplate::new(template.clone(), bos, &card.eos, date)
                    .and_then(|chat| chat.render(&order.messages, order.profile.thinking))
                    .map_err(|e| e.to_string())?
            }
        };
        let tokens = with_one_bos(self.model.tokenize(&text), card);
        Ok(Prompt { text, tokens })
    }

    /// The constraint of an order, compiled at its first use, or why it cannot be enforced.
    fn allowed(&mut self, key: &str, order: &Order) -> &Result<Allowed, String> {
        let vocab = self.model.vocab();
        // One worker serves one sweep, so that the policy is the same for all and need not be part of the key.
        self.constraints.entry(key.to_owned()).or_insert_with(|| {
            let policy = order.profile.policy();
            let rules = match &order.constraint {
                Constraint::Schema(schema) => Rules::schema(schema, policy).map_err(|unsupported| {
                    unsupported.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                })?,
                Constraint::Grammar(text) => Rules::grammar(text).map_err(|error| error.to_string())?,
                Constraint::None | Constraint::Json => Rules::json(Root::Object, policy),
            };
            Ok(Allowed::new(Arc::new(rules), Arc::clone(vocab)))
        })
    }

    fn thinking(&self, profile: &Profile, prompt: &Prompt) -> Thinking {
        Thinking {
            opened: prompt.text.trim_end().ends_with(THINK_OPEN),
            budget: profile.thinking_tokens,
            close: self.model.tokenize(&format!("{THINK_CLOSE}\n\n")),
        }
    }

    /// One batch: a token of every decoding seat first, then as much of the prompts as fits.
    fn turn(&mut self, emit: &mut dyn FnMut(Reply)) -> Result<(), Error> {
        let batch = self.batch();
        self.model.decode(&batch)?;
        self.n_evaluated += batch.len() as u64;
        let ready: Vec<Slot> =
            batch.iter().filter(|token| token.wants_logits).map(|token| token.slot).collect();
        let now = Instant::now();
        let mut index = 0;
        while index < self.seats.len() {
            let finish = self.step_seat(index, &ready, now);
            match finish {
                Some((finish, error)) => {
                    let seat = self.seats.remove(index);
                    emit(Reply::Done {
                        id: seat.id,
                        generation: Box::new(generation(&seat, finish, error, now)),
                    });
                }
                None => index += 1,
            }
        }
        if now - self.reported >= PROGRESS_EVERY {
            self.reported = now;
            emit(Reply::Progress { n_evaluated: self.n_evaluated });
        }
        Ok(())
    }

    fn step_seat(&mut self, index: usize, ready: &[Slot], now: Instant) -> Option<(Finish, Option<String>)> {
        let seat = &mut self.seats[index];
        if ready.contains(&seat.slot) {
            seat.first_choice.get_or_insert(now);
            let allowed =
                seat.constraint.as_ref().and_then(|key| self.constraints.get_mut(key)?.as_mut().ok());
            match seat.sequence.step(self.model.logits(seat.slot), self.model.vocab(), allowed) {
                Step::Feed(token) => seat.pending.push_back(token),
                Step::Stop(finish) => return Some((finish, None)),
                Step::Broken => {
                    return Some((Finish::Errored, Some("the model's logits are not numbers".into())));
                }
            }
        }
        (now >= seat.deadline).then_some((Finish::Timeout, None))
    }

    fn batch(&mut self) -> Vec<BatchToken> {
        let mut batch = Vec::with_capacity(self.shape.batch as usize);
        self.seats.sort_by_key(|seat| (seat.first_choice.is_none(), seat.seated));
        for seat in &mut self.seats {
            let room = self.shape.batch as usize - batch.len();
            let n_now = room.min(seat.pending.len());
            for token in seat.pending.drain(..n_now) {
                self.seen[seat.slot.0 as usize].push(token);
                batch.push(BatchToken {
                    slot: seat.slot,
                    token,
                    position: seat.position,
                    wants_logits: false,
                });
                seat.position += 1;
            }
            if let Some(last) = batch.last_mut().filter(|_| n_now > 0) {
                last.wants_logits = seat.pending.is_empty();
            }
        }
        batch
    }
}

/// Exactly one begin token where the model wants one, whether or not its template wrote one (or two).
fn with_one_bos(tokens: Vec<TokenId>, card: &super::Card) -> Vec<TokenId> {
    let Some(bos) = card.bos.as_ref().map(|(id, _)| TokenId(*id)) else { return tokens };
    let n_written = tokens.iter().take_while(|token| **token == bos).count();
    let wanted = card.adds_bos || n_written > 0;
    let rest = tokens.into_iter().skip(n_written);
    wanted.then_some(bos).into_iter().chain(rest).collect()
}

fn constraint_key(constraint: &Constraint) -> Option<String> {
    match constraint {
        Constraint::None => None,
        Constraint::Json => Some(String::new()),
        Constraint::Schema(schema) => Some(schema.to_string()),
        // No schema begins so.
        Constraint::Grammar(text) => Some(format!("gbnf {text}")),
    }
}

fn describe(generation: &mut Generation, prompt: &Prompt, wants_prompt: bool) {
    generation.prompt_sha256 = hash::sha256(prompt.text.as_bytes());
    generation.prompt = wants_prompt.then(|| prompt.text.clone());
    generation.cost.n_prompt = prompt.tokens.len() as u32;
}

fn generation(seat: &Seat, finish: Finish, error: Option<String>, now: Instant) -> Generation {
    let mut cost = seat.sequence.cost;
    let first_choice = seat.first_choice.unwrap_or(now);
    cost.prefill_ms = (first_choice - seat.seated).as_millis() as u64;
    cost.decode_ms = (now - first_choice).as_millis() as u64;
    let output = String::from_utf8_lossy(&seat.sequence.text).into_owned();
    let mut generation = Generation { output, finish, error, cost, ..Generation::default() };
    describe(&mut generation, &seat.prompt, seat.wants_prompt);
    generation
}

#[cfg(test)]
mod tests;
