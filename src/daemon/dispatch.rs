//! Who is asked what next: queues, what is in flight, and what becomes of it when a worker dies. No I/O, no clock.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::decode::engine::frames::{Finish, Generation, Order};
use crate::decode::profile::Profile;
use crate::plan::{Attempt, MAX_TRIES};
use crate::scenario::Strategy;
use crate::store::{ModelId, RevisionId};

/// Orders sent for each slot. Attempts at one case share slots, five strategies two at first, and a slot that falls free
/// is to have its next attempt at hand.
const ORDERS_PER_SLOT: usize = 3;

/// Deaths of a worker in a row with nothing seated, after which its model is given up.
const MAX_IDLE_DEATHS: usize = 2;

/// What the daemon should do with its worker.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// Start one for this model.
    Start(ModelId),
    /// Send it an order.
    Feed(Box<Order>),
    /// Tell it to end.
    Retire,
    /// Nothing, until something happens.
    Wait,
}

/// What a dead worker leaves behind.
#[derive(Debug, Default)]
pub(super) struct Casualties {
    /// Attempts that were decoding: each is to be recorded as errored.
    pub attempts: Vec<Attempt>,
    /// The model is given up for this run.
    pub gives_up: Option<ModelId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Absent,
    Loading(ModelId),
    Ready(ModelId),
    Retiring(ModelId),
}

struct Flight {
    attempt: Attempt,
    seated: bool,
}

/// The sweep's state in the daemon.
pub(super) struct Dispatch {
    /// The worker's; one until a worker has said.
    slots: usize,
    profile: Arc<Profile>,
    order: Vec<ModelId>,
    queues: HashMap<ModelId, VecDeque<Attempt>>,
    /// Attempts whose worker died: each runs with nothing beside it.
    alone: HashMap<ModelId, VecDeque<Attempt>>,
    flights: BTreeMap<u64, Flight>,
    next_id: u64,
    stage: Stage,
    last_model: Option<ModelId>,
    n_idle_deaths: usize,
    n_deaths: usize,
    given_up: HashMap<ModelId, String>,
    prompts_kept: HashSet<(ModelId, RevisionId, Strategy)>,
    draining: bool,
}

impl Dispatch {
    /// A dispatch without work. `order` is the models' order.
    pub(super) fn new(profile: Arc<Profile>, order: Vec<ModelId>) -> Self {
        Self {
            slots: 1,
            profile,
            order,
            queues: HashMap::new(),
            alone: HashMap::new(),
            flights: BTreeMap::new(),
            next_id: 0,
            stage: Stage::Absent,
            last_model: None,
            n_idle_deaths: 0,
            n_deaths: 0,
            given_up: HashMap::new(),
            prompts_kept: HashSet::new(),
            draining: false,
        }
    }

    /// Replaces what is missing, as planned anew. What is in flight stays in flight.
    pub(super) fn plan(&mut self, missing: Vec<Attempt>) {
        self.queues.clear();
        self.alone.clear();
        let flights = self.flights.iter().map(|(id, flight)| (flight.attempt.key.clone(), *id));
        let in_flight: HashMap<_, _> = flights.collect();
        for attempt in missing {
            // What is under way may by now answer other cases than when it was sent.
            match in_flight.get(&attempt.key).and_then(|id| self.flights.get_mut(id)) {
                Some(flight) => flight.attempt.targets = attempt.targets,
                None => self.enqueue(attempt),
            }
        }
    }

    fn enqueue(&mut self, attempt: Attempt) {
        let queues = if attempt.n_errored > 0 { &mut self.alone } else { &mut self.queues };
        queues.entry(attempt.model).or_default().push_back(attempt);
    }

    /// How many attempts wait or are in flight.
    pub(super) fn n_missing(&self) -> usize {
        let waiting: usize = self.queues.values().chain(self.alone.values()).map(VecDeque::len).sum();
        waiting + self.flights.len()
    }

    /// How many attempts are decoding.
    pub(super) fn n_seated(&self) -> usize {
        self.flights.values().filter(|flight| flight.seated).count()
    }

    /// Whether the worker owes something, so that its silence means trouble.
    pub(super) fn is_waiting_for_worker(&self) -> bool {
        !self.flights.is_empty() || matches!(self.stage, Stage::Loading(_) | Stage::Retiring(_))
    }

    /// The model in the worker, and whether it is ready.
    pub(super) fn current(&self) -> Option<(ModelId, bool)> {
        match self.stage {
            Stage::Absent => None,
            Stage::Loading(model) => Some((model, false)),
            Stage::Ready(model) | Stage::Retiring(model) => Some((model, true)),
        }
    }

    /// Why models have been given up.
    pub(super) fn given_up(&self) -> &HashMap<ModelId, String> {
        &self.given_up
    }

    /// Whether there is nothing left that could be done.
    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Absent && self.next_model().is_none()
    }

    /// Nothing more is to be seated.
    pub(super) fn drain(&mut self) {
        self.draining = true;
    }

    /// What to do now. Called until it says [`Next::Wait`].
    pub(super) fn next(&mut self) -> Next {
        match self.stage {
            Stage::Absent => match self.next_model() {
                Some(model) if !self.draining => {
                    if self.last_model.replace(model) != Some(model) {
                        (self.n_deaths, self.n_idle_deaths) = (0, 0);
                    }
                    self.stage = Stage::Loading(model);
                    Next::Start(model)
                }
                _ => Next::Wait,
            },
            Stage::Ready(model) => match self.next_order(model) {
                Some(order) => Next::Feed(Box::new(order)),
                None if self.flights.is_empty() => {
                    self.stage = Stage::Retiring(model);
                    Next::Retire
                }
                None => Next::Wait,
            },
            Stage::Loading(_) | Stage::Retiring(_) => Next::Wait,
        }
    }

    /// The model that will be loaded once what the current one has in flight is done.
    pub(super) fn coming(&self) -> Option<ModelId> {
        let Stage::Ready(current) = self.stage else { return None };
        self.next_model().filter(|model| *model != current && !self.draining)
    }

    fn next_model(&self) -> Option<ModelId> {
        let has_work = |model: &&ModelId| {
            let waits = |queues: &HashMap<ModelId, VecDeque<Attempt>>| {
                queues.get(model).is_some_and(|queue| !queue.is_empty())
            };
            !self.given_up.contains_key(model) && (waits(&self.alone) || waits(&self.queues))
        };
        self.order.iter().find(has_work).copied()
    }

    fn next_order(&mut self, model: ModelId) -> Option<Order> {
        if self.draining || self.flights.values().any(|flight| flight.attempt.n_errored > 0) {
            return None;
        }
        let alone = self.alone.get_mut(&model).filter(|queue| !queue.is_empty());
        let attempt = match alone {
            Some(queue) if self.flights.is_empty() => queue.pop_front()?,
            Some(_) => return None,
            None if self.flights.len() >= self.slots * ORDERS_PER_SLOT => return None,
            None => self.queues.get_mut(&model)?.pop_front()?,
        };
        let id = self.next_id;
        self.next_id += 1;
        let first = attempt.targets.first().map(|target| target.revision);
        let wants_prompt =
            first.is_some_and(|revision| !self.prompts_kept.contains(&(model, revision, attempt.strategy)));
        let order = Order {
            id,
            messages: Arc::clone(&attempt.messages),
            constraint: attempt.constraint.clone(),
            profile: Arc::clone(&self.profile),
            seed: attempt.seed,
            wants_prompt,
        };
        self.flights.insert(id, Flight { attempt, seated: false });
        Some(order)
    }

    /// The model is ready, with so many slots.
    pub(super) fn on_loaded(&mut self, slots: u32) {
        self.slots = slots as usize;
        if let Stage::Loading(model) = self.stage {
            self.stage = Stage::Ready(model);
        }
    }

    /// The model cannot be used; the worker will end.
    pub(super) fn on_refused(&mut self, reason: &str) {
        if let Some((model, _)) = self.current() {
            self.given_up.insert(model, reason.to_owned());
            self.stage = Stage::Retiring(model);
        }
    }

    /// An attempt has its slot.
    pub(super) fn on_seated(&mut self, id: u64) {
        if let Some(flight) = self.flights.get_mut(&id) {
            flight.seated = true;
        }
    }

    /// The worker has forgotten what was not seated.
    pub(super) fn on_drained(&mut self) {
        let (seated, waiting) = std::mem::take(&mut self.flights).into_iter().partition(|(_, f)| f.seated);
        self.flights = seated;
        self.put_back(waiting);
    }

    /// Attempts that were sent and not seated are the first to be sent again.
    fn put_back(&mut self, flights: BTreeMap<u64, Flight>) {
        for (_, flight) in flights.into_iter().rev() {
            let queues = if flight.attempt.n_errored > 0 { &mut self.alone } else { &mut self.queues };
            queues.entry(flight.attempt.model).or_default().push_front(flight.attempt);
        }
    }

    /// An attempt has ended; `None` for an id that is not in flight. One that ended as errored is to be tried again
    /// alone, like those whose worker died.
    pub(super) fn on_done(&mut self, id: u64, generation: &Generation) -> Option<Attempt> {
        let flight = self.flights.remove(&id)?;
        if generation.finish == Finish::Errored {
            self.retry(flight.attempt.clone());
        } else {
            (self.n_deaths, self.n_idle_deaths) = (0, 0);
        }
        if let (true, Some(target)) = (generation.prompt.is_some(), flight.attempt.targets.first()) {
            self.prompts_kept.insert((flight.attempt.model, target.revision, flight.attempt.strategy));
        }
        Some(flight.attempt)
    }

    /// The worker is gone, in order or not.
    pub(super) fn on_gone(&mut self, how: &str) -> Casualties {
        let mut casualties = Casualties::default();
        let stage = std::mem::replace(&mut self.stage, Stage::Absent);
        let (seated, waiting) = std::mem::take(&mut self.flights).into_iter().partition(|(_, f)| f.seated);
        self.put_back(waiting);
        let seated: BTreeMap<u64, Flight> = seated;
        for (_, flight) in seated {
            self.retry(flight.attempt.clone());
            casualties.attempts.push(flight.attempt);
        }
        if let Stage::Loading(model) | Stage::Ready(model) = stage {
            self.n_deaths += 1;
            self.n_idle_deaths = if casualties.attempts.is_empty() { self.n_idle_deaths + 1 } else { 0 };
            if self.n_idle_deaths >= MAX_IDLE_DEATHS || self.n_deaths >= self.max_deaths() {
                self.given_up.insert(model, how.to_owned());
                casualties.gives_up = Some(model);
            }
        }
        casualties
    }

    /// Deaths without one text between them, after which a model is given up: more than one bad attempt and all its
    /// neighbours in the batch can cause, each retried alone.
    fn max_deaths(&self) -> usize {
        self.slots + 2
    }

    fn retry(&mut self, mut attempt: Attempt) {
        attempt.n_errored += 1;
        if attempt.n_errored < MAX_TRIES {
            self.alone.entry(attempt.model).or_default().push_back(attempt);
        }
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
