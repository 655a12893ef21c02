//! `nightjar status`: what the daemon does, or last did, read from the database alone.

use std::time::Duration;

use serde::Serialize;

use super::{Exit, Session, println};
use crate::daemon::{database, is_locked};
use crate::store::{Progress, Reader, Run, Status};

/// How often `--follow` looks.
const EVERY: Duration = Duration::from_secs(1);

/// The answer, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Answer {
    running: bool,
    run: Run,
    progress: Option<Progress>,
    /// Seconds until nothing is missing, at the latest pace.
    eta_s: Option<f64>,
}

pub(super) fn run(session: &Session, follow: bool) -> anyhow::Result<Exit> {
    let state = &session.config.paths.state;
    let path = database(state);
    if !path.is_file() {
        session.print(&serde_json::json!({ "running": false }), || format!("nothing has been run in {}", state.display()))?;
        return Ok(Exit::NotRunning);
    }
    let reader = Reader::open(&path)?;
    loop {
        let Some(answer) = reader.status()?.map(|status| answer(status, is_locked(state))) else {
            session.print(&serde_json::json!({ "running": false }), || "nothing has been run yet".into())?;
            return Ok(Exit::NotRunning);
        };
        if follow && session.json {
            println(&serde_json::to_string(&answer)?)?;
        } else {
            session.print(&answer, || in_words(&answer))?;
        }
        if !answer.running {
            return Ok(Exit::NotRunning);
        }
        if !follow {
            return Ok(Exit::Done);
        }
        std::thread::sleep(EVERY);
    }
}

fn answer(status: Status, is_locked: bool) -> Answer {
    let Status { run, progress } = status;
    let running = is_locked && run.ended_at.is_none();
    let eta_s = progress.as_ref().filter(|_| running).and_then(|progress| {
        let per_minute = progress.per_minute.filter(|rate| *rate > 0.0)?;
        Some(f64::from(progress.missing) / per_minute * 60.0)
    });
    Answer { running, run, progress, eta_s }
}

fn in_words(answer: &Answer) -> String {
    let run = &answer.run;
    let mut text = match (answer.running, &run.ended_at, run.ending) {
        (true, ..) => format!("{} {} is running since {}, process {}\n", run.command, run.id.0, run.started_at, run.pid),
        (false, Some(at), Some(ending)) => format!("not running; {} {} {ending} at {at}\n", run.command, run.id.0),
        _ => format!("not running; {} {} was killed\n", run.command, run.id.0),
    };
    if let Some(progress) = &answer.progress {
        let model = progress.model.as_deref().unwrap_or("none");
        text += &format!("state {}, model {model}, {} seated\n", progress.state, progress.seated);
        text += &format!("{} done, {} missing, {} errored\n", progress.done, progress.missing, progress.errored);
        let rate = progress.per_minute.map_or("unknown".into(), |rate| format!("{rate:.1} attempts a minute"));
        let eta = answer.eta_s.map_or(String::new(), |seconds| format!(", about {} left", duration(seconds)));
        text += &format!("rate {rate}{eta}\n");
        let last = progress.last_progress_at.as_deref().unwrap_or("none yet");
        text += &format!("last progress {last}\n");
    }
    text
}

/// `5400` as `1 h 30 min`.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil() as u64;
    if minutes < 60 { format!("{minutes} min") } else { format!("{} h {} min", minutes / 60, minutes % 60) }
}
