//! What can be typed. No behaviour.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::decode::engine::switch::Switch;
use crate::scenario::Strategy;

/// Finds out which local model, prompted and constrained how, turns text into correct JSON.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 done, 1 failure, 2 usage, 3 not running, 75 interrupted with work left, 78 configuration."
)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What holds for every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Configuration file [default: config.toml, if there is one here]
    #[arg(long, global = true, value_name = "FILE", env = "NIGHTJAR_CONFIG")]
    pub config: Option<PathBuf>,
    /// Set one key of the configuration, such as engine.slots=4; may be repeated
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Machine-readable output on stdout
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch the inbox and run whatever is missing, until told to stop
    Daemon,
    /// Run whatever is missing, then end
    Sweep {
        /// Scenario or case files to take in first (copies go through the inbox)
        files: Vec<PathBuf>,
    },
    /// What the daemon does, or last did
    Status {
        /// Go on showing it until the daemon ends
        #[arg(long)]
        follow: bool,
    },
    /// Which model turns text into JSON best
    Leaderboard(Leaderboard),
    /// Check scenario and case files without running anything
    Check(Check),
    /// Compile a JSON Schema, a scenario's schema or a GBNF grammar, and test texts against it
    Grammar(Grammar),
    /// Let a model write new cases for a scenario, to be looked at before they are used
    Generate(Generate),
    /// What the configured model entries find
    Models,
    /// Print a JSON Schema for editors
    Schema {
        /// Of what
        #[arg(value_enum)]
        document: Document,
    },
    /// Show or check the configuration
    Config {
        /// What to do with it
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Judge every stored text again, under the current rules and constants
    Rescore,
    /// Judge outputs made elsewhere: JSON lines with expected, output and, if need be, schema, cut-off and id
    Score(Score),
    /// Print a completion script
    Completions {
        /// For which shell
        shell: Shell,
    },
    /// Hold one model and serve a daemon over stdin and stdout
    #[command(hide = true)]
    Worker(Worker),
}

/// What is compiled, and what is tested against it.
#[derive(Debug, Args)]
pub struct Grammar {
    /// JSON Schemas, scenario files or grammars in GBNF, told apart by name and contents
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// A text, or a file that holds one, to be tested; may be repeated
    #[arg(long, value_name = "TEXT|FILE", allow_hyphen_values = true)]
    pub test: Vec<String>,
    /// A GGUF file: also show how the texts fall into its tokens and how many are allowed at each
    #[arg(long, value_name = "MODEL", requires = "test")]
    pub tokens: Option<PathBuf>,
}

/// Which files, and how closely.
#[derive(Debug, Args)]
pub struct Check {
    /// Files, or folders of files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Also whether each message holds what is expected of it, and what cases have in common
    #[arg(long)]
    pub strict: bool,
    /// The figures of each scenario's cases instead
    #[arg(long, conflicts_with = "strict")]
    pub stats: bool,
}

/// New cases, of what and by whom.
#[derive(Debug, Args)]
pub struct Generate {
    /// A scenario file, which need not have cases yet, or the name of a stored scenario
    pub scenario: String,
    /// The model: a name that `nightjar models` shows, or an entry as in config.toml
    #[arg(long)]
    pub model: String,
    /// Candidates in all; those that are in the file already count
    #[arg(short = 'n', long = "number", value_name = "N")]
    pub number: usize,
    /// Where the draws begin
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The file of candidates [default: NAME.generated.jsonl in the state folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Which numbers, of what.
#[derive(Debug, Args)]
pub struct Leaderboard {
    /// Only this strategy: J, P, PJ, J+ or PJ+
    #[arg(long)]
    pub strategy: Option<Strategy>,
    /// Only this scenario
    #[arg(long)]
    pub scenario: Option<String>,
    /// A table of the paper instead: III strategies, IV wins, VI error classes
    #[arg(long, value_enum, ignore_case = true, conflicts_with_all = ["strategy", "scenario"])]
    pub table: Option<Table>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// The paper's tables that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// Per strategy over all models: correct, mistakes, errors, failed.
    #[value(name = "III", alias = "3")]
    Iii,
    /// How many models each strategy wins.
    #[value(name = "IV", alias = "4")]
    Iv,
    /// Shares of the error classes.
    #[value(name = "VI", alias = "6")]
    Vi,
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal.
    Text,
    /// For a page.
    Markdown,
}

/// What a printed schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Document {
    /// Scenario files; case lines are under `$defs`.
    Scenario,
}

/// What to do with the configuration.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigAction {
    /// Print it as it is in force
    Show,
    /// Say whether it is good
    Check,
}

/// Outputs made elsewhere.
#[derive(Debug, Args)]
pub struct Score {
    /// JSON lines; `-` for standard input
    pub file: PathBuf,
    /// Also print the scores of all lines together
    #[arg(long)]
    pub summary: bool,
    /// Store them as attempts of an external model; each line's `id` names a case of the scenario
    #[arg(long, requires_all = ["model", "scenario", "strategy"])]
    pub record: bool,
    /// The external model's name
    #[arg(long, requires = "record")]
    pub model: Option<String>,
    /// The scenario whose cases the lines answer
    #[arg(long, requires = "record")]
    pub scenario: Option<String>,
    /// How the model was asked
    #[arg(long, requires = "record")]
    pub strategy: Option<Strategy>,
}

/// What the daemon starts its child with.
#[derive(Debug, Args)]
pub struct Worker {
    /// The GGUF file
    #[arg(long)]
    pub model: PathBuf,
    /// Sequences in one batch; 0 as many as suit the device
    #[arg(long)]
    pub slots: u32,
    /// Tokens in one batch
    #[arg(long)]
    pub batch: u32,
    /// Tokens for each slot
    #[arg(long)]
    pub context: u32,
    /// Threads; 0 as many as cores
    #[arg(long)]
    pub threads: u32,
    /// Whether prompts go on from what is in the KV cache
    #[arg(long, action = clap::ArgAction::Set)]
    pub reuse: bool,
    /// Whether attempts are one text for as long as they agree
    #[arg(long, action = clap::ArgAction::Set)]
    pub share: bool,
    /// Whether to guess ahead: off, auto or on
    #[arg(long)]
    pub drafts: Switch,
    /// Whether forced text is guessed, too
    #[arg(long, action = clap::ArgAction::Set)]
    pub draft_forced: bool,
    /// Whether short texts are evaluated apart from long ones
    #[arg(long, action = clap::ArgAction::Set)]
    pub group_by_length: bool,
    /// Whether attention is computed piece by piece: off, auto or on
    #[arg(long)]
    pub flash_attention: Switch,
    /// Whether batches are filled up so that a text does not depend on its company: off, auto or on
    #[arg(long)]
    pub batch_invariant: Switch,
    /// Layers on the GPU; -1 all
    #[arg(long, allow_hyphen_values = true)]
    pub gpu_layers: i32,
}
