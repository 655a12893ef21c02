//! Runs, and what the running one last said about itself.

use rusqlite::{OptionalExtension, Row, named_params};
use serde::Serialize;

use super::words::words;
use super::{Reader, Result, RunId, Store, Work};

words! {
    /// The command that made a run.
    pub enum RunCommand {
        /// Takes from the inbox until it is stopped.
        Daemon = "daemon",
        /// Ends when nothing is missing.
        Sweep = "sweep",
        /// Outputs made elsewhere.
        Score = "score",
    }

    /// How a run said that it ended.
    pub enum RunEnding {
        /// Nothing was left to do.
        Finished = "finished",
        /// It was told to stop.
        Interrupted = "interrupted",
        /// It could not go on.
        Failed = "failed",
    }

    /// What a daemon is doing.
    pub enum RunState {
        /// Looking at models and the inbox.
        Starting = "starting",
        /// Nothing is missing; the inbox is watched.
        Waiting = "waiting",
        /// A worker loads a model.
        Loading = "loading",
        /// A worker decodes.
        Working = "working",
        /// Seated attempts finish.
        Stopping = "stopping",
        /// It has ended.
        Ended = "ended",
    }
}

/// A run about to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// What was called.
    pub command: RunCommand,
    /// nightjar's version.
    pub version: &'a str,
    /// The bindings' and llama.cpp's; `None` when nothing is generated.
    pub engine: Option<&'a str>,
    /// The machine, for people.
    pub host: Option<&'a str>,
    /// The resolved configuration.
    pub config: &'a serde_json::Value,
    /// Of the process.
    pub pid: u32,
    /// Now.
    pub started_at: &'a str,
}

/// A run as stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Its row.
    pub id: RunId,
    /// What was called.
    pub command: RunCommand,
    /// nightjar's version.
    pub version: String,
    /// The bindings' and llama.cpp's.
    pub engine: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// Of the process.
    pub pid: u32,
    /// When it began.
    pub started_at: String,
    /// When it ended; `None` while it runs, and for ever if it was killed.
    pub ended_at: Option<String>,
    /// How it ended.
    pub ending: Option<RunEnding>,
}

/// What a daemon says about itself, about once a second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    /// Whose.
    pub run: RunId,
    /// Of the process.
    pub pid: u32,
    /// What it is doing.
    pub state: RunState,
    /// The model loaded, or being loaded.
    pub model: Option<String>,
    /// Attempts decoding now.
    pub seated: u32,
    /// Attempts that need no more work.
    pub done: u32,
    /// Attempts that have no row yet.
    pub missing: u32,
    /// Attempts that ended by infrastructure and were given up.
    pub errored: u32,
    /// Attempts a minute, lately.
    pub per_minute: Option<f64>,
    /// When the worker last produced anything.
    pub last_progress_at: Option<String>,
    /// Now.
    pub updated_at: String,
}

/// The answer to "how far is it": the latest daemon or sweep, and what it last said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The run.
    pub run: Run,
    /// `None` when it has not said anything yet.
    pub progress: Option<Progress>,
    /// What its attempts have cost each model so far.
    pub work: Vec<Work>,
}

impl Store {
    /// Begins a run.
    pub fn begin_run(&mut self, run: &NewRun) -> Result<RunId> {
        Ok(self.reader().connection.query_row(
            "INSERT INTO runs (command, version, engine, host, config, pid, started_at)
             VALUES (:command, :version, :engine, :host, :config, :pid, :started_at) RETURNING id",
            named_params! {
                ":command": run.command, ":version": run.version, ":engine": run.engine, ":host": run.host,
                ":config": run.config.to_string(), ":pid": run.pid, ":started_at": run.started_at,
            },
            |row| row.get(0),
        )?)
    }

    /// Says that a run ended, and how.
    pub fn end_run(&mut self, run: RunId, ending: RunEnding, at: &str) -> Result<()> {
        let transaction = self.begin()?;
        transaction.execute(
            "UPDATE runs SET ended_at = :at, ending = :ending WHERE id = :run",
            named_params! { ":run": run, ":ending": ending, ":at": at },
        )?;
        transaction.execute(
            "UPDATE progress SET state = :ended, seated = 0, model = NULL, updated_at = :at WHERE run_id = :run",
            named_params! { ":run": run, ":ended": RunState::Ended, ":at": at },
        )?;
        Ok(transaction.commit()?)
    }

    /// Replaces what was last said.
    pub fn put_progress(&mut self, progress: &Progress) -> Result<()> {
        let mut statement = self.reader().connection.prepare_cached(
            "INSERT OR REPLACE INTO progress (id, run_id, pid, state, model, seated, done, missing, errored,
                                              per_minute, last_progress_at, updated_at)
             VALUES (1, :run, :pid, :state, :model, :seated, :done, :missing, :errored,
                     :per_minute, :last_progress_at, :updated_at)",
        )?;
        statement.execute(named_params! {
            ":run": progress.run, ":pid": progress.pid, ":state": progress.state, ":model": progress.model,
            ":seated": progress.seated, ":done": progress.done, ":missing": progress.missing,
            ":errored": progress.errored, ":per_minute": progress.per_minute,
            ":last_progress_at": progress.last_progress_at, ":updated_at": progress.updated_at,
        })?;
        Ok(())
    }
}

impl Reader {
    /// The latest daemon or sweep; `None` before the first.
    pub fn status(&self) -> Result<Option<Status>> {
        let run = self.connection.query_row(
            "SELECT * FROM runs WHERE command IN ('daemon', 'sweep') ORDER BY id DESC LIMIT 1",
            [],
            read_run,
        );
        let Some(run) = run.optional()? else { return Ok(None) };
        let progress = self
            .connection
            .query_row("SELECT * FROM progress WHERE run_id = ?1", [run.id], read_progress)
            .optional()?;
        let work = self.work(run.id)?;
        Ok(Some(Status { run, progress, work }))
    }
}

fn read_run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get("id")?,
        command: row.get("command")?,
        version: row.get("version")?,
        engine: row.get("engine")?,
        host: row.get("host")?,
        pid: row.get("pid")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        ending: row.get("ending")?,
    })
}

fn read_progress(row: &Row<'_>) -> rusqlite::Result<Progress> {
    Ok(Progress {
        run: row.get("run_id")?,
        pid: row.get("pid")?,
        state: row.get("state")?,
        model: row.get("model")?,
        seated: row.get("seated")?,
        done: row.get("done")?,
        missing: row.get("missing")?,
        errored: row.get("errored")?,
        per_minute: row.get("per_minute")?,
        last_progress_at: row.get("last_progress_at")?,
        updated_at: row.get("updated_at")?,
    })
}
