//! Where log lines and the progress bar meet: one writer for stderr that never tears the bar.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The terminal, shared by logging and progress.
#[derive(Debug, Clone)]
pub(super) struct Console {
    bar: ProgressBar,
}

impl Console {
    /// A console without a bar yet, and log lines of `level` on stderr through it.
    ///
    /// # Errors
    /// A filter that cannot be read.
    pub(super) fn start(level: &str) -> Result<Self, tracing_subscriber::filter::ParseError> {
        let console = Self { bar: ProgressBar::hidden() };
        tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::try_new(level)?)
            .with_ansi(io::stderr().is_terminal())
            .with_writer(console.clone())
            .init();
        Ok(console)
    }

    /// Shows how much is done; only on a terminal. `message` is what is at work now.
    pub(super) fn progress(&self, done: u64, total: u64, message: &str) {
        if !io::stderr().is_terminal() {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {percent}% eta {eta} {wide_msg}");
            self.bar.set_style(style.expect("the template is a constant that a test renders"));
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message.to_owned());
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Writes to stderr with the bar out of the way.
#[derive(Debug)]
pub(super) struct Line(ProgressBar);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for Console {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(self.bar.clone())
    }
}
