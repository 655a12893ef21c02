//! `nightjar status`: what the daemon does, or last did, read from the database alone.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::{Exit, Session, println};
use crate::daemon::{database, is_locked};
use crate::report;
use crate::store::{Reader, Status};

/// How often `--follow` looks.
const EVERY: Duration = Duration::from_secs(1);

/// The answer, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Answer {
    running: bool,
    #[serde(flatten)]
    status: Status,
    /// Seconds until nothing is missing, at the latest pace.
    eta_s: Option<f64>,
}

pub(super) fn run(session: &Session, follow: bool) -> anyhow::Result<Exit> {
    let state = &session.config.paths.state;
    let path = database(state);
    if !path.is_file() {
        session.print(&serde_json::json!({ "running": false }), || {
            format!("nothing has been run in {}", state.display())
        })?;
        return Ok(Exit::NotRunning);
    }
    let reader = Reader::open(&path)?;
    let mut followed = false;
    loop {
        let Some(answer) = reader.status()?.map(|status| answer(status, is_locked(state))) else {
            session.print(&serde_json::json!({ "running": false }), || "nothing has been run yet".into())?;
            return Ok(Exit::NotRunning);
        };
        if follow && session.json {
            println(&serde_json::to_string(&answer)?)?;
        } else {
            session.print(&answer, || {
                report::status::status(&answer.status, Timestamp::now(), answer.running)
            })?;
        }
        if !answer.running {
            // Followed to its end, it was running when it was asked for.
            return Ok(if followed { Exit::Done } else { Exit::NotRunning });
        }
        followed = follow;
        if !follow {
            return Ok(Exit::Done);
        }
        std::thread::sleep(EVERY);
    }
}

fn answer(status: Status, is_locked: bool) -> Answer {
    let running = is_locked && status.run.ended_at.is_none();
    let eta_s = status.progress.as_ref().filter(|_| running).and_then(|progress| {
        let per_minute = progress.per_minute.filter(|rate| *rate > 0.0)?;
        Some(f64::from(progress.missing) / per_minute * 60.0)
    });
    Answer { running, status, eta_s }
}
