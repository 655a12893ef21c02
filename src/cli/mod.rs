//! The command line: one file a command. Reads arguments, environment and files; prints; no stage's rules.

mod args;
mod check;
mod console;
mod generate;
mod grammar;
mod leaderboard;
mod models;
mod rescore;
mod score;
mod status;
mod sweep;
pub mod worker;

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use serde::Serialize;

pub use args::Cli;
use args::{Command, ConfigAction, Document, Global};
use console::Console;

use crate::config::{self, Config, Layer};
use crate::daemon;
use crate::models::Places;
use crate::scenario::schema_document;

/// What a command tells the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Done = 0,
    /// Something failed, or what was checked is bad.
    Failure = 1,
    /// `status`: no daemon is running.
    NotRunning = 3,
    /// A sweep was interrupted with work left.
    Interrupted = 75,
    /// The configuration is bad.
    Configuration = 78,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Runs a command.
///
/// # Errors
/// What ended it; [`exit_code`] says what the shell is told.
pub fn run(cli: Cli) -> anyhow::Result<Exit> {
    let Cli { global, command } = cli;
    match command {
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "nightjar", &mut std::io::stdout());
            Ok(Exit::Done)
        }
        Command::Schema { document: Document::Scenario } => {
            println(&format!("{:#}", schema_document()))?;
            Ok(Exit::Done)
        }
        Command::Worker(arguments) => run_worker(&arguments),
        command => run_configured(&global, command),
    }
}

fn run_configured(global: &Global, command: Command) -> anyhow::Result<Exit> {
    let session = Session::open(global)?;
    match command {
        Command::Daemon => sweep::daemon(session),
        Command::Sweep { files } => sweep::sweep(session, &files),
        Command::Status { follow } => status::run(&session, follow),
        Command::Leaderboard(what) => leaderboard::run(&session, &what),
        Command::Check(what) => check::run(&session, &what),
        Command::Grammar(what) => grammar::run(&session, &what),
        Command::Generate(what) => generate::run(&session, &what),
        Command::Models => models::run(&session),
        Command::Config { action } => show_config(&session, action),
        Command::Rescore => rescore::run(&session),
        Command::Score(what) => score::run(&session, &what),
        Command::Schema { .. } | Command::Completions { .. } | Command::Worker(_) => {
            unreachable!("these need no configuration and were run before")
        }
    }
}

/// What the shell is told of an error.
pub fn exit_code(error: &anyhow::Error) -> Exit {
    let names_no_grammar = matches!(error.downcast_ref(), Some(daemon::Error::Grammar(_)));
    if error.is::<config::Error>() || names_no_grammar { Exit::Configuration } else { Exit::Failure }
}

/// The configuration, and what else commands share.
struct Session {
    config: Config,
    console: Console,
    /// Where the configuration came from; `None` when it is the default.
    origin: Option<PathBuf>,
    places: Places,
    json: bool,
}

impl Session {
    fn open(global: &Global) -> anyhow::Result<Self> {
        let (layers, origin) = layers(global)?;
        let folder = origin.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let base = folder.unwrap_or(Path::new("."));
        let config = Config::parse(&layers, base)?;
        let console = Console::start(&config.log.level).map_err(|e| config::Error::BadValue {
            origin: "log".into(),
            key: "log.level".into(),
            got: config.log.level.clone(),
            expected: format!("a level or a filter ({e})"),
        })?;
        let places = Places::new(base.to_owned(), |name| std::env::var_os(name));
        Ok(Self { config, console, origin, places, json: global.json })
    }

    /// Prints for a program where `--json` was given, else for a person.
    fn print(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        let text = if self.json { serde_json::to_string_pretty(value)? } else { text() };
        println(text.trim_end())
    }
}

/// The file, the environment and the flags, weakest first.
fn layers(global: &Global) -> anyhow::Result<(Vec<Layer>, Option<PathBuf>)> {
    let mut layers = Vec::new();
    let path = global.config.clone().unwrap_or_else(|| PathBuf::from("config.toml"));
    let origin = match fs::read_to_string(&path) {
        Ok(text) => {
            layers.push(Layer::file(&text, &path.display().to_string())?);
            Some(path)
        }
        // Only a file that was asked for has to be there.
        Err(error) if error.kind() == ErrorKind::NotFound && global.config.is_none() => None,
        Err(error) => {
            let origin = path.display().to_string();
            return Err(config::Error::Syntax { origin, message: error.to_string() }.into());
        }
    };
    // Not `vars`, which panics at any variable that is not UTF-8, whoever it belongs to.
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())));
    let ours = text.filter(|(name, _)| name.starts_with("NIGHTJAR_") && name != "NIGHTJAR_CONFIG");
    layers.push(Layer::environment(ours)?);
    layers.push(Layer::flags(global.set.iter().map(String::as_str))?);
    Ok((layers, origin))
}

fn show_config(session: &Session, action: ConfigAction) -> anyhow::Result<Exit> {
    match action {
        ConfigAction::Show => {
            session.print(&session.config, || {
                toml::to_string_pretty(&session.config).unwrap_or_else(|e| e.to_string())
            })?;
        }
        ConfigAction::Check => {
            let origin =
                session.origin.as_ref().map_or("built-in defaults".into(), |path| path.display().to_string());
            session
                .print(&serde_json::json!({"origin": origin, "good": true}), || format!("{origin}: good"))?;
        }
    }
    Ok(Exit::Done)
}

/// Prints a line to stdout; a reader that has gone away (`| head`) is no failure.
fn println(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("stdout"),
    }
}

#[cfg(feature = "llama")]
fn run_worker(arguments: &args::Worker) -> anyhow::Result<Exit> {
    // llama.cpp's log goes to stderr, from where the daemon keeps its last lines.
    Console::start("info")?;
    worker::run(arguments)?;
    Ok(Exit::Done)
}

#[cfg(not(feature = "llama"))]
fn run_worker(_: &args::Worker) -> anyhow::Result<Exit> {
    anyhow::bail!("this nightjar was built without llama.cpp; build it with its default features")
}
