//! The program: arguments in, exit code out. No logic.

use std::process::ExitCode;

use clap::Parser;
use nightjar::cli::{self, Cli};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli::run(cli) {
        Ok(code) => code.into(),
        Err(error) => {
            eprintln!("nightjar: {error:#}");
            cli::exit_code(&error).into()
        }
    }
}
