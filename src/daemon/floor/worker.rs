//! The worker seen from the daemon: started, fed, heard, buried. What comes of attempts is recorded here.

use tokio::time::Instant;

use super::{Floor, now};
use crate::daemon::Error;
use crate::daemon::dispatch::Next;
use crate::daemon::warm::warm;
use crate::decode::engine::frames::{Finish, Generation, Reply, Request};
use crate::decode::engine::process::{Death, Event, Worker};
use crate::plan::{Attempt, MAX_TRIES};
use crate::store::{self, Judged, ModelId};

impl Floor {
    /// Does what the dispatch wants done now.
    pub(in crate::daemon) fn advance(&mut self) -> Result<(), Error> {
        loop {
            match self.dispatch.next() {
                Next::Start(model) => self.start_worker(model)?,
                Next::Feed(order) => self.send(Request::Attempt(order)),
                Next::Retire => self.send(Request::Finish),
                Next::Wait => break,
            }
        }
        if let Some(model) = self.dispatch.coming()
            && self.warmed.replace(model) != Some(model)
            && let Some(runnable) = self.models.iter().find(|runnable| runnable.id() == model)
        {
            warm(runnable.path.clone());
        }
        Ok(())
    }

    fn send(&self, request: Request) {
        if let Some(worker) = &self.worker {
            worker.send(request);
        }
    }

    fn start_worker(&mut self, model: ModelId) -> Result<(), Error> {
        let Some(runnable) = self.models.iter().find(|runnable| runnable.id() == model) else {
            return Ok(());
        };
        let launch = (self.launch)(&runnable.path);
        let worker = Worker::spawn(&launch)
            .map_err(|source| Error::Io { what: launch.program.display().to_string(), source })?;
        tracing::info!("loading {} (worker {})", runnable.name, worker.pid);
        self.worker = Some(worker);
        self.last_sign = Instant::now();
        self.stalled = false;
        Ok(())
    }

    /// Takes in what the worker said or that it is gone.
    pub(super) fn on_worker(&mut self, event: Event) -> Result<(), Error> {
        self.last_sign = Instant::now();
        match event {
            Event::Gone(death) => self.bury(&death),
            Event::Reply(reply) => self.on_reply(reply),
        }
    }

    fn on_reply(&mut self, reply: Reply) -> Result<(), Error> {
        self.last_progress_at = Some(now());
        match reply {
            Reply::Loaded { context, slots, load_ms } => {
                tracing::info!("loaded in {load_ms} ms: {slots} slots of {context} tokens");
                self.dispatch.on_loaded(slots);
                if let Some((model, _)) = self.dispatch.current() {
                    self.store.put_model_problem(model, None, &now())?;
                }
            }
            Reply::Refused { reason } => {
                tracing::error!("model cannot be used: {reason}");
                self.dispatch.on_refused(&reason);
            }
            Reply::Seated { id } => {
                self.started.insert(id, now());
                self.dispatch.on_seated(id);
            }
            Reply::Progress { .. } => {}
            Reply::Drained => self.dispatch.on_drained(),
            Reply::Done { id, generation } => {
                let started = self.started.remove(&id).unwrap_or_else(now);
                if let Some(attempt) = self.dispatch.on_done(id, &generation) {
                    self.pace.push(Instant::now());
                    self.record(&attempt, &generation, None, started)?;
                }
            }
        }
        Ok(())
    }

    fn bury(&mut self, death: &Death) -> Result<(), Error> {
        self.worker = None;
        let how = if self.stalled {
            format!("no sign of the worker for {} s; it was killed", self.config.engine.stall_s)
        } else {
            death.how.clone()
        };
        let current = self.dispatch.current().map(|(model, _)| model);
        let casualties = self.dispatch.on_gone(&how);
        if !death.orderly || !casualties.attempts.is_empty() {
            tracing::error!("{how}, with {} attempts seated", casualties.attempts.len());
        }
        let log = Some(death.log.join("\n")).filter(|log| !log.is_empty());
        let started = std::mem::take(&mut self.started).into_values().min().unwrap_or_else(now);
        for attempt in &casualties.attempts {
            let generation =
                Generation { finish: Finish::Errored, error: Some(how.clone()), ..Generation::default() };
            self.record(attempt, &generation, log.clone(), started.clone())?;
        }
        if let Some(model) = casualties.gives_up {
            tracing::error!("{} is given up for now: {how}", self.model_name(model));
        }
        if let Some((model, why)) = current.and_then(|m| self.dispatch.given_up().get_key_value(&m)) {
            let (model, why) = (*model, why.clone());
            self.store.put_model_problem(model, Some(&why), &now())?;
        }
        Ok(())
    }

    /// Judges and commits what came of an attempt; it is on the disk when this returns.
    fn record(
        &mut self,
        attempt: &Attempt,
        generation: &Generation,
        error_log: Option<String>,
        started_at: String,
    ) -> Result<(), Error> {
        let judged = self.judge_all(attempt, generation)?;
        let cost = &generation.cost;
        let row = store::Attempt {
            key: attempt.key.0.clone(),
            run: self.run,
            model: attempt.model,
            profile: self.profile,
            strategy: attempt.strategy,
            repeat: attempt.repeat,
            seed: Some(attempt.seed),
            prompt_sha256: Some(generation.prompt_sha256.clone()).filter(|sha256| !sha256.is_empty()),
            grammar_sha256: attempt.constraint.grammar_sha256(),
            output: generation.output.clone(),
            finish: generation.finish,
            error: generation.error.clone(),
            error_log,
            cost: was_carried_out(generation.finish).then_some(generation.cost),
            started_at,
            finished_at: now(),
        };
        self.store.record(&row, &judged)?;
        if let (Some(prompt), Some(target)) = (&generation.prompt, attempt.targets.first()) {
            self.store.put_prompt((attempt.model, target.revision, attempt.strategy), target.case, prompt)?;
        }
        match generation.finish {
            Finish::Errored if attempt.n_errored + 1 >= MAX_TRIES => self.n_errored += 1,
            Finish::Errored => {}
            _ => self.n_done += 1,
        }
        tracing::debug!("{} {:?}: {} tokens", attempt.strategy, generation.finish, cost.n_output);
        Ok(())
    }

    fn judge_all(&mut self, attempt: &Attempt, generation: &Generation) -> Result<Vec<Judged>, Error> {
        let constants = *self.store.constants();
        let (finish, output, error) = (generation.finish, &generation.output, generation.error.as_deref());
        let mut judged = Vec::with_capacity(attempt.targets.len());
        for target in &attempt.targets {
            judged.push(self.judge.judge(self.store.reader(), &constants, *target, finish, output, error)?);
        }
        Ok(judged)
    }

    /// An attempt whose schema cannot be enforced has its row without a model being asked.
    pub(super) fn record_unsupported(&mut self, attempt: &Attempt) -> Result<(), Error> {
        let error = attempt.unsupported.as_deref().map(str::to_owned);
        let generation = Generation { finish: Finish::UnsupportedSchema, error, ..Generation::default() };
        self.record(attempt, &generation, None, now())
    }
}

/// Whether a model was asked at all, and had the time to answer.
fn was_carried_out(finish: Finish) -> bool {
    !matches!(finish, Finish::Errored | Finish::UnsupportedSchema)
}
