//! The daemon's state and what each event does to it. Synchronous but for waiting; the loop around it is next door.

mod intake;
mod worker;

use std::collections::HashMap;
use std::env::consts;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::dispatch::Dispatch;
use super::lineup::{Runnable, assemble};
use super::lock::Lock;
use super::pace::Pace;
use super::{Ending, Error, Setup, Wake};
use crate::config::Config;
use crate::decode::engine::frames::Request;
use crate::decode::engine::process::{Launch, Worker};
use crate::grammars::Grammars;
use crate::inbox::{Folders, Inbox, Watch};
use crate::judge::Judge;
use crate::plan;
use crate::store::{ModelId, NewRun, ProfileId, Progress, RunCommand, RunEnding, RunId, RunState, Store};

/// How often progress is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// A model may take so many times longer to load than a batch takes: nothing is heard of it meanwhile.
const LOADING_TAKES: u32 = 4;

/// How often progress is written.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Everything the daemon holds.
pub(super) struct Floor {
    config: Config,
    command: RunCommand,
    store: Store,
    judge: Judge,
    run: RunId,
    profile: ProfileId,
    models: Vec<Runnable>,
    sweep: plan::Sweep,
    grammars: Grammars,
    inbox: Inbox,
    watch: Watch,
    /// Whether the last look into the inbox found nothing to take and nothing that settles.
    inbox_idle: bool,
    /// Whether something there could not be read or moved.
    inbox_trouble: bool,
    dispatch: Dispatch,
    n_errored: usize,
    n_done: usize,
    n_rejected: usize,
    unusable: Vec<String>,
    failed_scenarios: Vec<String>,
    worker: Option<Worker>,
    launch: Box<dyn Fn(&Path) -> Launch + Send>,
    /// The model whose file was last read ahead.
    warmed: Option<ModelId>,
    /// When the worker last said anything.
    last_sign: Instant,
    last_progress_at: Option<String>,
    stalled: bool,
    stop: Option<Stop>,
    pace: Pace,
    told_progress: Option<Instant>,
    logged_progress: Option<Instant>,
    on_progress: Box<dyn FnMut(&Progress) + Send>,
    started: HashMap<u64, String>,
    _lock: Lock,
}

/// A stop that has been asked for.
#[derive(Debug, Clone, Copy)]
struct Stop {
    deadline: Instant,
    now: bool,
}

impl Floor {
    /// Takes the lock, opens database and inbox, finds the models, plans what is there.
    pub(super) fn open(setup: Setup) -> Result<Self, Error> {
        let Setup { config, command, places, on_progress, launch } = setup;
        let grammars = grammars(&config)?;
        let state = &config.paths.state;
        let io = |source| Error::Io { what: state.display().to_string(), source };
        std::fs::create_dir_all(state).map_err(io)?;
        let lock = Lock::take(state)?;
        let mut store = Store::open(&database(state))?;
        if *store.constants() != config.scoring {
            store.set_constants(&config.scoring)?;
        }
        let run = begin_run(&mut store, command, &config)?;
        let profile = put_profile(&mut store, &config)?;
        let (models, unusable) = assemble(&config.models, &places, &mut store, &mut |name, done, all| {
            // Gigabytes take a while; once for each file, the hash is kept.
            if done == 0 {
                tracing::info!("reading {name} ({} MB) to identify it", all / 1_000_000);
            }
        })?;
        let (inbox, watch) = open_inbox(state, &config.inbox)?;
        let sweep = sweep(&config);
        let order = models.iter().map(Runnable::id).collect();
        let dispatch = Dispatch::new(Arc::clone(&sweep.profile), order);
        let start = Instant::now();
        let mut floor = Self {
            command,
            store,
            judge: Judge::default(),
            run,
            profile,
            models,
            sweep,
            grammars,
            inbox,
            watch,
            inbox_idle: false,
            inbox_trouble: false,
            dispatch,
            n_errored: 0,
            n_done: 0,
            worker: None,
            launch,
            warmed: None,
            last_sign: start,
            last_progress_at: None,
            stalled: false,
            stop: None,
            pace: Pace::new(start),
            told_progress: None,
            logged_progress: None,
            n_rejected: 0,
            unusable,
            failed_scenarios: Vec::new(),
            on_progress,
            started: HashMap::new(),
            config,
            _lock: lock,
        };
        floor.say_what_is_there();
        floor.rescore_stale()?;
        floor.replan()?;
        Ok(floor)
    }

    fn say_what_is_there(&self) {
        let inbox = self.config.paths.state.join("inbox");
        tracing::info!("inbox {}, {} models to run", inbox.display(), self.models.len());
        if self.models.is_empty() {
            tracing::error!("no model can be run; `nightjar models` says why");
        }
    }

    /// What can wake the daemon beside time and signals.
    pub(super) fn sources(&mut self) -> (Option<&mut Worker>, &mut Watch) {
        (self.worker.as_mut(), &mut self.watch)
    }

    /// Does what follows from an event.
    pub(super) fn on_wake(&mut self, wake: Wake, now: Instant) -> Result<(), Error> {
        match wake {
            Wake::Worker(event) => self.on_worker(event),
            Wake::Inbox => self.on_inbox(),
            Wake::Tick => {
                self.on_tick(now);
                Ok(())
            }
            Wake::Signal => {
                self.on_signal(now);
                Ok(())
            }
        }
    }

    /// Whether there is nothing left to do, or no time left to do it.
    pub(super) fn is_finished(&self, now: Instant) -> bool {
        match self.stop {
            Some(stop) => stop.now || now >= stop.deadline || self.worker.is_none(),
            None => self.command == RunCommand::Sweep && self.inbox_idle && self.dispatch.is_done(),
        }
    }

    /// The first signal ends seating, the second ends everything.
    fn on_signal(&mut self, now: Instant) {
        if let Some(stop) = &mut self.stop {
            stop.now = true;
            return;
        }
        let grace = Duration::from_secs(self.config.engine.grace_s);
        let n_seated = self.dispatch.n_seated();
        tracing::info!("stopping: {n_seated} seated attempts may finish; interrupt again to stop now");
        self.stop = Some(Stop { deadline: now + grace, now: false });
        self.dispatch.drain();
        match &self.worker {
            // Nothing is seated in a worker that still loads, so nothing is waited for.
            Some(_) if self.dispatch.current().is_some_and(|(_, ready)| !ready) => self.worker = None,
            Some(worker) => worker.send(Request::Drain),
            None => {}
        }
    }

    /// Looks for a worker that has hung, and says how far things are.
    fn on_tick(&mut self, now: Instant) {
        let loading = self.dispatch.current().is_some_and(|(_, ready)| !ready);
        let limit = Duration::from_secs(self.config.engine.stall_s) * if loading { LOADING_TAKES } else { 1 };
        let silent = self.dispatch.is_waiting_for_worker() && now - self.last_sign > limit;
        if let Some(worker) = self.worker.as_ref().filter(|_| silent && !self.stalled) {
            tracing::error!("no sign of the worker for {} s, killing it", limit.as_secs());
            self.stalled = true;
            worker.kill();
        }
        if self.told_progress.is_none_or(|told| now - told >= PROGRESS_EVERY) {
            self.told_progress = Some(now);
            let progress = self.progress(now);
            // Somebody may hold the database for a moment; that is no reason to end a night.
            if let Err(error) = self.store.put_progress(&progress) {
                tracing::warn!("progress could not be written: {error}");
            }
            (self.on_progress)(&progress);
            self.log_progress(&progress, now);
        }
    }

    /// A line a minute, for logs that nobody watches.
    fn log_progress(&mut self, progress: &Progress, now: Instant) {
        if progress.state == RunState::Waiting || self.logged_progress.is_some_and(|at| now - at < LOG_EVERY)
        {
            return;
        }
        self.logged_progress = Some(now);
        let model = progress.model.as_deref().unwrap_or("no model");
        let Progress { done, missing, errored, .. } = progress;
        tracing::info!("{model}: {done} done, {missing} missing, {errored} errored");
    }

    fn progress(&self, at: Instant) -> Progress {
        let current = self.dispatch.current();
        let state = match (self.stop, current) {
            (Some(_), _) => RunState::Stopping,
            (None, None) => RunState::Waiting,
            (None, Some((_, false))) => RunState::Loading,
            (None, Some((_, true))) => RunState::Working,
        };
        Progress {
            run: self.run,
            pid: std::process::id(),
            state,
            model: current.map(|(model, _)| self.model_name(model).to_owned()),
            seated: self.dispatch.n_seated() as u32,
            done: self.n_done as u32,
            missing: self.dispatch.n_missing() as u32,
            errored: self.n_errored as u32,
            per_minute: self.pace.per_minute(at),
            last_progress_at: self.last_progress_at.clone(),
            updated_at: now(),
        }
    }

    fn model_name(&self, model: ModelId) -> &str {
        self.models.iter().find(|runnable| runnable.id() == model).map_or("?", |runnable| &runnable.name)
    }

    /// Ends the run, whatever ended the loop, and says how.
    pub(super) fn close(mut self, result: Result<(), Error>) -> Result<Ending, Error> {
        // Dropped before anything else, so that no half-finished attempt is waited for.
        self.worker = None;
        let given_up = self.dispatch.given_up().iter();
        let ending = Ending {
            interrupted: self.stop.is_some(),
            n_missing: self.dispatch.n_missing(),
            n_errored: self.n_errored,
            n_rejected: self.n_rejected,
            inbox_left: !self.inbox_idle || self.inbox_trouble,
            unusable: self.unusable.clone(),
            failed_scenarios: self.failed_scenarios.clone(),
            given_up: given_up
                .map(|(model, why)| (self.model_name(*model).to_owned(), why.clone()))
                .collect(),
        };
        let how = match &result {
            Err(_) => RunEnding::Failed,
            Ok(()) if ending.interrupted => RunEnding::Interrupted,
            Ok(()) => RunEnding::Finished,
        };
        let mut progress = self.progress(Instant::now());
        progress.state = RunState::Ended;
        let closed =
            self.store.put_progress(&progress).and_then(|()| self.store.end_run(self.run, how, &now()));
        result?;
        closed?;
        Ok(ending)
    }
}

fn begin_run(store: &mut Store, command: RunCommand, config: &Config) -> Result<RunId, Error> {
    let settings = serde_json::to_value(config).expect("a configuration is plain data");
    Ok(store.begin_run(&NewRun {
        command,
        version: env!("CARGO_PKG_VERSION"),
        engine: Some(ENGINE),
        host: Some(&host()),
        config: &settings,
        pid: std::process::id(),
        started_at: &now(),
    })?)
}

fn open_inbox(state: &Path, settings: &crate::config::Inbox) -> Result<(Inbox, Watch), Error> {
    let [inbox, processed, rejected] = ["inbox", "processed", "rejected"].map(|name| state.join(name));
    let folders = Folders { inbox: inbox.clone(), processed, rejected };
    let opened = Inbox::open(folders, Duration::from_millis(settings.settle_ms))?;
    let (watch, problem) = Watch::start(&inbox, Duration::from_secs(settings.rescan_s));
    if let Some(problem) = problem {
        tracing::warn!("the inbox is only looked at every {} s: {problem}", settings.rescan_s);
    }
    Ok((opened, watch))
}

/// What generated the texts, for the record of a run.
const ENGINE: &str = if cfg!(feature = "llama") { "llama-cpp-2 0.1.160" } else { "none" };

/// The database of a state folder.
pub fn database(state: &Path) -> std::path::PathBuf {
    state.join("nightjar.db")
}

/// The machine for the record of a run: name, system and how many cores a process may use.
pub fn host() -> String {
    let name = gethostname::gethostname();
    let n_cores = std::thread::available_parallelism().map_or_else(|_| "unknown".into(), |n| n.to_string());
    format!("{} ({} {}, cores: {n_cores})", name.display(), consts::OS, consts::ARCH)
}

/// Now, as the database writes times.
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

fn sweep(config: &Config) -> plan::Sweep {
    plan::Sweep {
        strategies: config.sweep.strategies.clone(),
        repeats: config.sweep.repeats,
        seed: config.sweep.seed,
        profile: Arc::new(config.profile.clone()),
    }
}

/// Where grammars are looked for, after the profile's has been found there.
fn grammars(config: &Config) -> Result<Grammars, Error> {
    let grammars = Grammars { folder: config.paths.grammars.clone() };
    if !config.profile.grammar.is_empty() {
        grammars.find(&config.profile.grammar)?;
    }
    Ok(grammars)
}

fn put_profile(store: &mut Store, config: &Config) -> Result<ProfileId, Error> {
    let json = |profile| serde_json::to_value(profile).expect("a profile is plain data");
    let settings = json(&config.profile);
    let sha256 = crate::hash::sha256(json(&config.profile.unnamed()).to_string().as_bytes());
    Ok(store.put_profile(&config.profile.name, &sha256, &settings)?)
}
