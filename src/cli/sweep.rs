//! `nightjar daemon` and `nightjar sweep`: the same pipeline, with and without an end.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Exit, Session, println};
use crate::config::Config;
use crate::daemon::{self, Ending, Setup};
use crate::decode::engine::process::Launch;
use crate::store::RunCommand;

pub(super) fn daemon(session: Session) -> anyhow::Result<Exit> {
    run(session, RunCommand::Daemon)
}

pub(super) fn sweep(session: Session, files: &[PathBuf]) -> anyhow::Result<Exit> {
    let state = &session.config.paths.state;
    if daemon::is_locked(state) {
        return Err(daemon::Error::Locked(state.clone()).into());
    }
    let inbox = state.join("inbox");
    fs::create_dir_all(&inbox).with_context(|| inbox.display().to_string())?;
    for file in files {
        drop_in(file, &inbox)?;
    }
    run(session, RunCommand::Sweep)
}

fn run(session: Session, command: RunCommand) -> anyhow::Result<Exit> {
    let Session { config, console, places, json, .. } = session;
    let launch = launch(&config, config.profile.context)?;
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
        launch: Box::new(launch),
        config,
    };
    let ending = daemon::run(setup);
    console.clear();
    let ending = ending?;
    if json {
        println(&serde_json::to_string_pretty(&ending)?)?;
    }
    Ok(exit(&ending))
}

/// How a worker is started for a model, with so many tokens for each slot.
pub(super) fn launch(
    config: &Config,
    context: u32,
) -> anyhow::Result<impl Fn(&Path) -> Launch + Send + use<>> {
    let program = std::env::current_exe().context("this program's own path")?;
    let arguments = worker_arguments(config, context);
    Ok(move |model: &Path| {
        let mut all: Vec<OsString> = vec!["worker".into(), "--model".into(), model.into()];
        all.extend(arguments.iter().map(OsString::from));
        Launch { program: program.clone(), arguments: all }
    })
}

fn worker_arguments(config: &Config, context: u32) -> Vec<String> {
    let engine = &config.engine;
    let pairs = [
        ("--slots", engine.slots.to_string()),
        ("--batch", engine.batch.to_string()),
        ("--context", context.to_string()),
        ("--threads", engine.threads.to_string()),
        ("--reuse", engine.reuse_prompts.to_string()),
        ("--share", engine.share_texts.to_string()),
        ("--drafts", engine.drafts.as_str().to_owned()),
        ("--draft-forced", engine.draft_forced.to_string()),
        ("--group-by-length", engine.group_by_length.to_string()),
        ("--flash-attention", engine.flash_attention.as_str().to_owned()),
        ("--batch-invariant", engine.batch_invariant.as_str().to_owned()),
        ("--gpu-layers", engine.gpu_layers.to_string()),
    ];
    pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
}

fn exit(ending: &Ending) -> Exit {
    for (model, why) in &ending.given_up {
        eprintln!("nightjar: {model} could not be run: {why}");
    }
    for problem in ending.unusable.iter().chain(&ending.failed_scenarios) {
        eprintln!("nightjar: {problem}");
    }
    if ending.n_rejected > 0 {
        eprintln!("nightjar: {} files were rejected; rejected/ says why", ending.n_rejected);
    }
    if ending.n_errored > 0 {
        eprintln!("nightjar: {} attempts ended as errored; the view `coverage` shows them", ending.n_errored);
    }
    let left = ending.n_missing > 0 || ending.inbox_left;
    let failed =
        ending.n_errored + ending.n_rejected + ending.unusable.len() + ending.failed_scenarios.len() > 0;
    if ending.interrupted && left {
        eprintln!("nightjar: stopped with {} attempts left; start again to go on", ending.n_missing);
        Exit::Interrupted
    } else if failed || !ending.given_up.is_empty() || (left && !ending.interrupted) {
        Exit::Failure
    } else {
        Exit::Done
    }
}

/// Copies a file into the inbox the way every writer should: under a name that is not looked at, then put in place whole.
/// Nothing that is there already is replaced.
fn drop_in(file: &Path, inbox: &Path) -> anyhow::Result<()> {
    let name = file.file_name().and_then(OsStr::to_str).filter(|name| !is_ignored(name));
    let Some(name) = name else {
        bail!("{}: the inbox does not look at files of such a name", file.display());
    };
    let hidden = inbox.join(format!(".{name}"));
    fs::copy(file, &hidden).with_context(|| file.display().to_string())?;
    let placed = (1..)
        .map(|n| if n == 1 { inbox.join(name) } else { inbox.join(format!("{n}-{name}")) })
        .find_map(|target| match fs::hard_link(&hidden, target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            result => Some(result),
        });
    fs::remove_file(&hidden).with_context(|| hidden.display().to_string())?;
    placed.transpose().map(|_| ()).with_context(|| inbox.display().to_string())
}

/// As the inbox's own rule for files that are still being written.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || [".tmp", ".part", "~"].iter().any(|ending| name.ends_with(ending))
}
