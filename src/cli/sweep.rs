//! `nightjar daemon` and `nightjar sweep`: the same pipeline, with and without an end.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Exit, Session};
use crate::config::Config;
use crate::daemon::{self, Ending, Setup};
use crate::decode::engine::process::Launch;
use crate::store::RunCommand;

pub(super) fn daemon(session: Session) -> anyhow::Result<Exit> {
    run(session, RunCommand::Daemon)
}

pub(super) fn sweep(session: Session, files: &[PathBuf]) -> anyhow::Result<Exit> {
    let inbox = session.config.paths.state.join("inbox");
    fs::create_dir_all(&inbox).with_context(|| inbox.display().to_string())?;
    for file in files {
        drop_in(file, &inbox)?;
    }
    run(session, RunCommand::Sweep)
}

fn run(session: Session, command: RunCommand) -> anyhow::Result<Exit> {
    let Session { config, console, places, .. } = session;
    let arguments = worker_arguments(&config);
    let program = std::env::current_exe().context("this program's own path")?;
    let bar = console.clone();
    let setup = Setup {
        command,
        places,
        on_progress: Box::new(move |progress| {
            let (done, missing) = (u64::from(progress.done), u64::from(progress.missing));
            let model = progress.model.as_deref().unwrap_or("-");
            bar.progress(
                done,
                done + missing,
                &format!("{model}, {} seated, {} errored", progress.seated, progress.errored),
            );
        }),
        launch: Box::new(move |model: &Path| {
            let mut all: Vec<OsString> = vec!["worker".into(), "--model".into(), model.into()];
            all.extend(arguments.iter().map(OsString::from));
            Launch { program: program.clone(), arguments: all }
        }),
        config,
    };
    let ending = daemon::run(setup);
    console.clear();
    Ok(exit(&ending?))
}

fn worker_arguments(config: &Config) -> Vec<String> {
    let engine = &config.engine;
    let pairs = [
        ("--slots", engine.slots.to_string()),
        ("--batch", engine.batch.to_string()),
        ("--context", config.profile.context.to_string()),
        ("--threads", engine.threads.to_string()),
        ("--reuse", engine.reuse_prompts.to_string()),
        ("--gpu-layers", engine.gpu_layers.to_string()),
    ];
    pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
}

fn exit(ending: &Ending) -> Exit {
    for (model, why) in &ending.given_up {
        eprintln!("nightjar: {model} could not be run: {why}");
    }
    if ending.n_errored > 0 {
        eprintln!("nightjar: {} attempts ended as errored; the view `coverage` shows them", ending.n_errored);
    }
    if ending.interrupted && ending.n_missing > 0 {
        eprintln!("nightjar: stopped with {} attempts left; start again to go on", ending.n_missing);
        Exit::Interrupted
    } else if ending.n_errored > 0 || !ending.given_up.is_empty() || ending.n_missing > 0 {
        Exit::Failure
    } else {
        Exit::Done
    }
}

/// Copies a file into the inbox the way every writer should: under a name that is not looked at, then renamed.
fn drop_in(file: &Path, inbox: &Path) -> anyhow::Result<()> {
    let Some(name) = file.file_name() else { bail!("{}: not a file", file.display()) };
    let mut hidden = OsString::from(".");
    hidden.push(name);
    let hidden = inbox.join(hidden);
    fs::copy(file, &hidden).with_context(|| file.display().to_string())?;
    fs::rename(&hidden, inbox.join(name)).with_context(|| inbox.display().to_string())
}
