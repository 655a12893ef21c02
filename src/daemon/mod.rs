//! Joins the stages: inbox, plan, worker, judge, store; shutdown; the one place that logs failures. No stage's rules.

mod dispatch;
mod lineup;
mod lock;
mod floor;
mod pace;
mod warm;

use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval};

pub use floor::{database, host, now};
pub use lineup::{Runnable, assemble};
pub use lock::{Lock, is_locked};

use crate::config::Config;
use crate::decode::engine::process::{Event, Launch, Worker};
use crate::models::Places;
use crate::store::{self, Progress, RunCommand};
use floor::Floor;

/// How often settling files are looked at and progress is written at most.
const TICK: Duration = Duration::from_millis(200);

/// What ends a daemon. Everything else becomes a rejected file, a row or a log line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed, a full disk included: without it nothing that is generated could be kept.
    #[error("database: {0}")]
    Store(#[from] store::Error),
    /// A stored text could not be judged.
    #[error("judging: {0}")]
    Judge(#[from] crate::judge::Error),
    /// The inbox cannot be watched.
    #[error("inbox: {0}")]
    Inbox(#[from] crate::inbox::Error),
    /// Another daemon works in the same folder.
    #[error("another nightjar is at work in {}; `nightjar status` shows it", .0.display())]
    Locked(PathBuf),
    /// The profile names a grammar that cannot be had.
    #[error("the profile's grammar: {0}")]
    Grammar(#[from] crate::grammars::Error),
    /// A folder, a signal handler or the worker's program could not be had.
    #[error("{what}: {source}")]
    Io {
        /// What was wanted.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What to run, and how.
pub struct Setup {
    /// Checked configuration.
    pub config: Config,
    /// [`RunCommand::Daemon`] goes on until told to stop, [`RunCommand::Sweep`] ends when nothing is missing.
    pub command: RunCommand,
    /// Where models are looked for.
    pub places: Places,
    /// Hears about progress, about once a second.
    pub on_progress: Box<dyn FnMut(&Progress) + Send>,
    /// The program that holds a model.
    pub launch: Box<dyn Fn(&Path) -> Launch + Send>,
}

/// How a run came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// It was told to stop.
    pub interrupted: bool,
    /// Attempts without a row.
    pub n_missing: usize,
    /// Attempts given up as errored.
    pub n_errored: usize,
    /// Files that were rejected.
    pub n_rejected: usize,
    /// The inbox held files that had not been taken, or could not be looked at.
    pub inbox_left: bool,
    /// Model entries that cannot be used, and why.
    pub unusable: Vec<String>,
    /// Scenarios whose prompts cannot be written, and why.
    pub failed_scenarios: Vec<String>,
    /// Models that could not be run, and why.
    pub given_up: Vec<(String, String)>,
}

/// Runs until there is nothing left to do or it is told to stop.
///
/// # Errors
/// See [`Error`]; what had been committed by then stays.
pub fn run(setup: Setup) -> Result<Ending, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Io { what: "runtime".into(), source })?;
    runtime.block_on(work(setup))
}

/// What woke the daemon.
#[derive(Debug)]
enum Wake {
    /// The worker said something, or is gone.
    Worker(Event),
    /// The inbox is to be looked at.
    Inbox,
    /// Some time has passed.
    Tick,
    /// It is to stop.
    Signal,
}

/// The next thing a worker does; never, without one.
async fn next_event(worker: Option<&mut Worker>) -> Event {
    match worker {
        Some(worker) => worker.next().await,
        None => pending().await,
    }
}

async fn work(setup: Setup) -> Result<Ending, Error> {
    let handler = |kind| signal(kind).map_err(|source| Error::Io { what: "signal handler".into(), source });
    let (mut interrupt, mut terminate) =
        (handler(SignalKind::interrupt())?, handler(SignalKind::terminate())?);
    let mut floor = Floor::open(setup)?;
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let result = loop {
        if let Err(error) = floor.advance() {
            break Err(error);
        }
        if floor.is_finished(Instant::now()) {
            break Ok(());
        }
        let (worker, watch) = floor.sources();
        let wake = tokio::select! {
            event = next_event(worker) => Wake::Worker(event),
            () = watch.look_again() => Wake::Inbox,
            _ = tick.tick() => Wake::Tick,
            _ = interrupt.recv() => Wake::Signal,
            _ = terminate.recv() => Wake::Signal,
        };
        if let Err(error) = floor.on_wake(wake, Instant::now()) {
            break Err(error);
        }
    };
    floor.close(result)
}
