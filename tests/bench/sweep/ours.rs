//! nightjar's own sweep: the program as users run it, loading, scoring and storing included.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nightjar::store::{Reader, RunId};
use rusqlite::Connection;

use super::{Arguments, Asked, Tally};

/// A new database, one sweep.
pub(crate) fn run(
    arguments: &Arguments,
    files: &[PathBuf],
    asked: &[Asked],
    folder: &Path,
    round: usize,
) -> Result<Tally> {
    let state = folder.join(format!("state{round}"));
    let config = folder.join("config.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nightjar"));
    command.arg("--config").arg(&config).args(["--set", &format!("paths.state={}", state.display())]);
    for setting in &arguments.set {
        command.args(["--set", setting]);
    }
    let log = fs::File::create(folder.join("log"))?;
    let start = Instant::now();
    let status = command.arg("sweep").args(files).stdout(Stdio::null()).stderr(log).status()?;
    let seconds = start.elapsed().as_secs_f64();
    ensure!(status.success(), "the sweep ended with {status}: {}", fs::read_to_string(folder.join("log"))?);
    tally(&state.join("nightjar.db"), asked, seconds)
}

fn tally(database: &Path, asked: &[Asked], seconds: f64) -> Result<Tally> {
    let connection = Connection::open(database)?;
    let prompts: u64 =
        connection.query_row("SELECT sum(n_prompt - n_reused) FROM attempts", [], |row| row.get(0))?;
    let work = Reader::open(database)?.work(RunId(1))?;
    let work = work.first().context("one model has worked")?;
    // In the order in which both sides were asked: keys hold the model's hash, which the plan of the bench has not.
    let mut statement = connection.prepare(
        "SELECT a.output FROM attempts a JOIN verdicts v ON v.attempt_id = a.id JOIN cases c ON c.id = v.case_id
         JOIN scenarios s ON s.id = c.scenario_id
         ORDER BY s.id, c.id, instr('J   P   PJ  J+  PJ+ ', a.strategy || ' ')",
    )?;
    let texts = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    ensure!(texts.len() == asked.len(), "{} of {} attempts have a text", texts.len(), asked.len());
    Ok(Tally {
        seconds,
        prompt_tokens: work.prompt_tokens,
        n_prompt: prompts,
        n_decoded: work.evaluated.saturating_sub(prompts),
        n_output: work.output_tokens,
        texts,
        model_s: work.model_s,
        constraint_s: work.constraint_s,
    })
}
