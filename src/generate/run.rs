//! The pipeline connected to a worker process, until all is done or it is told to stop. No rules.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::candidate::{Candidate, OutputError};
use super::pipeline::{Dead, Outcome, Pipeline};
use crate::decode::engine::frames::{Reply, Request};
use crate::decode::engine::process::{Event, Launch, Worker};

/// A model may take so many times longer to load than to say something.
const LOADING_TAKES: u32 = 4;

/// How the work is done.
#[derive(Debug)]
pub struct Setup {
    /// The worker.
    pub launch: Launch,
    /// Silence that counts as a hang.
    pub stall: Duration,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// There are as many candidates as were wanted.
    Finished,
    /// It was told to stop.
    Interrupted,
}

/// What ends the work early. What was finished by then is in the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The runtime, a signal handler or the worker's program could not be had.
    #[error("{what}: {source}")]
    Io {
        /// What was wanted.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The model cannot be used.
    #[error("the model cannot be used: {0}")]
    Refused(String),
    /// The worker died.
    #[error("{how}; its last words:\n{}", log.join("\n"))]
    Died {
        /// Exit code or signal.
        how: String,
        /// Its last log lines.
        log: Vec<String>,
    },
    /// The worker hangs.
    #[error("no sign of the worker for {} s; it was killed", .0.as_secs())]
    Stalled(Duration),
    /// Nothing more comes of the pipeline.
    #[error(transparent)]
    Dead(#[from] Dead),
    /// A candidate could not be kept.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Error {
    /// Whether the same seed would end so again.
    pub fn repeats(&self) -> bool {
        matches!(self, Self::Died { .. } | Self::Dead(_))
    }
}

/// Where a finished candidate goes, with how many there are and are to be.
pub type Keep<'k> = dyn FnMut(&Candidate, (usize, usize)) -> Result<(), OutputError> + 'k;

/// Runs until the pipeline has what is wanted. Each candidate goes to `keep` as soon as it is finished, with how many there
/// are and are to be.
///
/// # Errors
/// See [`Error`].
pub fn run(pipeline: &mut Pipeline, setup: &Setup, keep: &mut Keep) -> Result<Ending, Error> {
    let io = |what: &str, source| Error::Io { what: what.to_owned(), source };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| io("runtime", e))?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|e| io("signal handler", e))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(|e| io("signal handler", e))?;
        tokio::select! {
            ending = work(pipeline, setup, keep) => ending,
            _ = interrupt.recv() => Ok(Ending::Interrupted),
            _ = terminate.recv() => Ok(Ending::Interrupted),
        }
    })
}

async fn work(pipeline: &mut Pipeline<'_>, setup: &Setup, keep: &mut Keep<'_>) -> Result<Ending, Error> {
    let program = setup.launch.program.display().to_string();
    let mut worker = Worker::spawn(&setup.launch).map_err(|source| Error::Io { what: program, source })?;
    let mut patience = setup.stall * LOADING_TAKES;
    let mut slots = 1;
    loop {
        let event = timeout(patience, worker.next()).await.map_err(|_| Error::Stalled(patience))?;
        match event {
            Event::Gone(death) => return Err(Error::Died { how: death.how, log: death.log }),
            Event::Reply(Reply::Refused { reason }) => return Err(Error::Refused(reason)),
            Event::Reply(Reply::Loaded { slots: n, .. }) => {
                patience = setup.stall;
                slots = n as usize;
            }
            Event::Reply(Reply::Done { id, generation }) => match pipeline.answer(id, &generation)? {
                Some(Outcome::Ask(order)) => worker.send(Request::Attempt(order)),
                Some(Outcome::Finished(candidate)) => keep(&candidate, pipeline.progress())?,
                None => {}
            },
            Event::Reply(Reply::Seated { .. } | Reply::Progress { .. } | Reply::Drained) => continue,
        }
        while pipeline.n_under_way() < slots {
            let Some(order) = pipeline.begin() else { break };
            worker.send(Request::Attempt(Box::new(order)));
        }
        if pipeline.n_under_way() == 0 {
            return Ok(Ending::Finished);
        }
    }
}
