//! What a daemon is doing, or how it ended, in a few lines.

use jiff::Timestamp;

use crate::store::{Progress, Run, RunEnding, Status, Work};

/// `alive`: whether the run's process is there. Times that cannot be read are shown as they are stored.
pub fn status(status: &Status, now: Timestamp, alive: bool) -> String {
    let mut lines = vec![headline(&status.run, now, alive)];
    if let Some(progress) = &status.progress {
        lines.extend(progress_lines(progress, now, alive && status.run.ended_at.is_none()));
    }
    lines.extend(status.work.iter().map(work_line));
    lines.push(String::new());
    lines.join("\n")
}

fn headline(run: &Run, now: Timestamp, alive: bool) -> String {
    let name = format!("{} (run {}, pid {})", run.command, run.id.0, run.pid);
    match (&run.ended_at, run.ending) {
        (Some(at), Some(RunEnding::Finished)) => format!("{name} finished {}", ago(at, now)),
        (Some(at), Some(RunEnding::Interrupted)) => format!("{name} was interrupted {}", ago(at, now)),
        (Some(at), _) => format!("{name} failed {}", ago(at, now)),
        (None, _) if alive => format!("{name} is running, started {}", ago(&run.started_at, now)),
        (None, _) => {
            format!("{name} is gone without having said so; started {}", ago(&run.started_at, now))
        }
    }
}

fn progress_lines(progress: &Progress, now: Timestamp, running: bool) -> Vec<String> {
    let Progress { done, missing, errored, .. } = progress;
    let decoding = if running { format!(", {} decoding", progress.seated) } else { String::new() };
    let left = progress.per_minute.filter(|rate| running && *rate > 0.0).map(|rate| {
        let left = duration(60.0 * f64::from(*missing) / rate);
        format!("  rate      {rate:.1} a minute, {left} left")
    });
    let lines = [
        running.then(|| format!("  state     {}", progress.state)),
        progress.model.as_ref().map(|model| format!("  model     {model}")),
        Some(format!("  attempts  {done} done, {missing} missing, {errored} errored{decoding}")),
        left,
        progress.last_progress_at.as_ref().map(|at| format!("  progress  {}", ago(at, now))),
    ];
    lines.into_iter().flatten().collect()
}

/// How fast a model was, and how much of the tokens it did not have to evaluate.
fn work_line(work: &Work) -> String {
    let Work { model, prompt_tokens, output_tokens, evaluated, saved, .. } = work;
    let speed = work.tokens_per_s.map_or_else(String::new, |speed| format!(", {speed:.0} a second"));
    let tokens = prompt_tokens + output_tokens;
    let spared = match work.drafted {
        0 => String::new(),
        drafted => format!("; {} of {drafted} guesses right, {} forced", work.accepted, work.forced),
    };
    format!(
        "  work      {model}: {evaluated} of {tokens} tokens evaluated ({:.0} % saved){speed}{spared}",
        100.0 * saved
    )
}

fn ago(at: &str, now: Timestamp) -> String {
    match at.parse::<Timestamp>() {
        Ok(then) => format!("{} ago", duration(now.duration_since(then).as_secs_f64())),
        Err(_) => format!("at {at}"),
    }
}

/// In the largest unit that leaves two digits or so.
fn duration(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{:.0} s", seconds.max(0.0)),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}
