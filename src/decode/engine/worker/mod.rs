//! Decodes many attempts in one batch a turn, evaluating what they have in common once. Knows [`Model`], neither
//! llama.cpp nor pipes.
//!
//! An attempt's place is a [`Seat`]; the attempts that have written the same text so far share a [`Branch`]; a branch
//! that has a slot of the KV cache ([`Cells`]) takes part in the batch. A turn: place the branches that have no slot,
//! evaluate a batch, let every attempt choose, split the branches whose attempts disagree.

mod batch;
mod branch;
mod cells;
mod choices;
mod drafts;
mod place;
mod seat;
mod ubatch;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, TryRecvError};
use std::time::{Duration, Instant};

use super::frames::{Constraint, Finish, Order, Reply, Request};
use super::switch::Switch;
use super::{BatchToken, Error, Model, Slot, Traffic};
use crate::decode::allowed::Allowed;
use crate::decode::constraint::{Root, Rules};
use crate::decode::sequence::Sequence;
use branch::Branch;
use cells::Cells;
use drafts::Drafts;
pub use seat::prompt_text;
use seat::{Prompt, Seat, constraint_key, refusal};

/// How often progress is reported at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// How many constraints are kept when no attempt is under them: each may remember some 200 MB about its texts.
const MAX_CONSTRAINTS: usize = 8;

/// How many slots there are, how many tokens one batch holds, and what attempts share.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Texts in one batch.
    pub slots: u32,
    /// Tokens in one batch.
    pub batch: u32,
    /// Whether the beginning of a prompt that is in the KV cache already is not evaluated again.
    pub reuse: bool,
    /// Whether attempts with the same prompt are one text for as long as they choose the same tokens.
    pub share: bool,
    /// Whether to guess ahead.
    pub drafts: Switch,
    /// Whether text that constraints leave no choice about is guessed, too.
    pub draft_forced: bool,
    /// Whether short texts are evaluated apart from long ones, where that loads less.
    pub group_by_length: bool,
}

impl Shape {
    /// Nothing shared or guessed: each attempt is decoded as if it were alone.
    pub const fn plain(slots: u32, batch: u32) -> Self {
        Self {
            slots,
            batch,
            reuse: false,
            share: false,
            drafts: Switch::Off,
            draft_forced: false,
            group_by_length: false,
        }
    }
}

/// An order and when it came.
struct Waiting {
    order: Box<Order>,
    since: Instant,
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
        worker.seat_waiting(emit);
        if worker.branches.is_empty() {
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
    /// The newest fork first; what has begun comes before what has not. Who gets a place first: `unplaced`.
    branches: Vec<Branch>,
    cells: Cells,
    /// Until the model says otherwise.
    forgets_in_part: bool,
    /// What has been found out of each constraint, by its schema's or grammar's text; empty for JSON mode. Kept from
    /// case to case, since a scenario's cases share nearly all of their masks; see [`MAX_CONSTRAINTS`].
    constraints: HashMap<String, Result<Allowed, String>>,
    drafts: Drafts,
    /// What decides which texts are evaluated together, where that matters.
    traffic: Option<Traffic>,
    /// Whether the last turn has read a prompt.
    has_read: bool,
    finishing: bool,
    n_evaluated: u64,
    reported: Instant,
}

impl<'m> Worker<'m> {
    fn new(model: &'m mut dyn Model, mut shape: Shape) -> Self {
        // A processor gains little (a token more costs it nearly what it costs to decode it later), and llama.cpp sums up
        // several tokens of a text in another order than one: in a sample, 5 of 20 texts went another way in the end.
        shape.drafts = shape.drafts.only_if(model.card().on_gpu);
        let traffic = model.card().traffic.filter(|_| shape.group_by_length);
        Self {
            model,
            shape,
            waiting: VecDeque::new(),
            branches: Vec::new(),
            cells: Cells::new(shape.slots),
            forgets_in_part: true,
            constraints: HashMap::new(),
            drafts: Drafts::new(shape.drafts),
            traffic,
            has_read: false,
            finishing: false,
            n_evaluated: 0,
            reported: Instant::now(),
        }
    }

    /// Takes what has come; waits for something only when there is nothing else to do.
    fn take_in(&mut self, requests: &Receiver<Request>, emit: &mut dyn FnMut(Reply)) {
        while !self.finishing {
            let idle = self.branches.is_empty() && self.waiting.is_empty();
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

    /// Begins a branch for every slot that none needs yet. Orders that ask the same thing share it from the start.
    fn seat_waiting(&mut self, emit: &mut dyn FnMut(Reply)) {
        while self.branches.len() < self.shape.slots as usize {
            self.prune();
            let Some(first) = self.waiting.pop_front() else { break };
            let mut together = vec![first];
            if self.shape.share {
                let (same, rest) =
                    self.waiting.drain(..).partition(|waiting| asks_the_same(waiting, &together[0]));
                together.extend::<VecDeque<Waiting>>(same);
                self.waiting = rest;
            }
            let longest = together[0].order.profile.longest_output();
            let prompt = Prompt::render(&together[0].order, self.model);
            let mut seats = Vec::new();
            for Waiting { order, since } in together {
                emit(Reply::Seated { id: order.id });
                match self.seat(&order, since, prompt.as_ref()) {
                    Ok(seat) => seats.push(seat),
                    Err((finish, error)) => {
                        let generation = refusal(&order, prompt.as_ref().ok(), finish, error);
                        emit(Reply::Done { id: order.id, generation: Box::new(generation) });
                    }
                }
            }
            if let (Ok(prompt), false) = (prompt, seats.is_empty()) {
                self.branches.push(Branch::new(prompt.tokens, longest, seats));
            }
        }
    }

    /// Forgets constraints that no attempt is under, when there are many.
    fn prune(&mut self) {
        if self.constraints.len() >= MAX_CONSTRAINTS {
            let seats = self.branches.iter().flat_map(|branch| &branch.seats);
            let used: HashSet<&String> = seats.filter_map(|seat| seat.constraint.as_ref()).collect();
            self.constraints.retain(|key, _| used.contains(key));
        }
    }

    /// An attempt ready to be decoded, or why it cannot be.
    fn seat(
        &mut self,
        order: &Order,
        since: Instant,
        prompt: Result<&Prompt, &String>,
    ) -> Result<Seat, (Finish, String)> {
        let prompt = prompt.map_err(|e| (Finish::Errored, e.clone()))?;
        if let Some(reason) = prompt.too_long(&order.profile, self.model.card()) {
            return Err((Finish::PromptTooLong, reason));
        }
        let matcher = match constraint_key(&order.constraint) {
            None => None,
            Some(key) => {
                let allowed = self.allowed(key, order).as_ref();
                Some(allowed.map_err(|e| (Finish::UnsupportedSchema, e.clone()))?.start())
            }
        };
        let thinking = prompt.thinking(&order.profile, self.model);
        let sequence = Sequence::new(&order.profile, order.seed, matcher, thinking);
        Ok(Seat::new(order, since, prompt, sequence))
    }

    /// The constraint of an order, compiled at its first use, or why it cannot be enforced.
    fn allowed(&mut self, key: String, order: &Order) -> &Result<Allowed, String> {
        let vocab = self.model.vocab();
        // One worker serves one sweep, so that the policy is the same for all and need not be part of the key.
        self.constraints.entry(key).or_insert_with(|| {
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

    /// Places, one batch, choices.
    fn turn(&mut self, emit: &mut dyn FnMut(Reply)) -> Result<(), Error> {
        self.place()?;
        let batch = self.batch();
        let start = Instant::now();
        self.model.decode(&batch)?;
        let now = Instant::now();
        self.account(&batch, now - start);
        let ready: HashSet<Slot> =
            batch.iter().filter(|token| token.wants_logits).map(|token| token.slot).collect();
        let mut next = Vec::new();
        let mut forks = Vec::new();
        for mut branch in std::mem::take(&mut self.branches) {
            match branch.slot.filter(|slot| ready.contains(slot)) {
                Some(slot) => forks.extend(self.choose_all(&mut branch, slot, now, emit)?),
                None => expire(&mut branch, now, emit),
            }
            match branch.slot {
                Some(slot) if branch.seats.is_empty() => self.cells.free(slot),
                None if branch.seats.is_empty() => {}
                _ => next.push(branch),
            }
        }
        self.branches = forks.into_iter().chain(next).collect();
        if now - self.reported >= PROGRESS_EVERY {
            self.reported = now;
            emit(Reply::Progress { n_evaluated: self.n_evaluated });
        }
        Ok(())
    }

    fn account(&mut self, batch: &[BatchToken], elapsed: Duration) {
        self.n_evaluated += batch.len() as u64;
        if batch.iter().all(|token| token.wants_logits) {
            self.drafts.took(batch.len(), elapsed);
        }
        for token in batch {
            self.cells.push(token.slot, token.token);
        }
        for branch in self.branches.iter_mut().filter(|branch| branch.slot.is_some()) {
            let n_own = batch.iter().filter(|token| Some(token.slot) == branch.slot).count();
            branch.charge(elapsed.mul_f64(n_own as f64 / batch.len() as f64));
        }
    }
}

fn end(seat: Seat, finish: Finish, error: Option<String>, now: Instant, emit: &mut dyn FnMut(Reply)) {
    let id = seat.id;
    emit(Reply::Done { id, generation: Box::new(seat.into_generation(finish, error, now)) });
}

/// Ends the attempts whose time is over.
fn expire(branch: &mut Branch, now: Instant, emit: &mut dyn FnMut(Reply)) {
    let (over, rest): (Vec<Seat>, Vec<Seat>) = branch.seats.drain(..).partition(|seat| now >= seat.deadline);
    branch.seats = rest;
    for seat in over {
        end(seat, Finish::Timeout, None, now, emit);
    }
}

/// Whether two orders have the same prompt, as far as can be told before it is rendered.
fn asks_the_same(a: &Waiting, b: &Waiting) -> bool {
    let (a, b) = (&a.order, &b.order);
    a.messages == b.messages && a.profile == b.profile
}

#[cfg(test)]
mod tests;
