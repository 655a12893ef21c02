//! The child process that holds the model: frames over its pipes, its log, its death. Knows neither grammar nor score.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::frames::{Reply, Request};

/// How many of the worker's last log lines are kept for the record of its death.
const KEPT_LOG_LINES: usize = 20;

/// How long llama.cpp's threads spin at a barrier before they sleep. Left alone they hardly ever sleep: with another
/// process on one of two cores, a sweep that takes 12 to 16 s with this took 59 s without.
const SPIN: (&str, &str) = ("GOMP_SPINCOUNT", "10000");

/// What the worker process is started with.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Something that the worker did.
#[derive(Debug)]
pub enum Event {
    /// It said something.
    Reply(Reply),
    /// It is gone; nothing comes after this.
    Gone(Death),
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// Exit code or signal, in words.
    pub how: String,
    /// Whether it ended by itself and in order.
    pub orderly: bool,
    /// Its last log lines.
    pub log: Vec<String>,
}

/// A running worker. Dropping it closes its pipes, at which it ends; the end of the runtime kills it if it does not.
#[derive(Debug)]
pub struct Worker {
    requests: mpsc::UnboundedSender<Request>,
    events: mpsc::UnboundedReceiver<Event>,
    kill: mpsc::Sender<()>,
    /// The process id.
    pub pid: u32,
}

impl Worker {
    /// Starts the process. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the program cannot be started.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn spawn(launch: &Launch) -> std::io::Result<Self> {
        let mut command = Command::new(&launch.program);
        if std::env::var_os(SPIN.0).is_none() {
            command.env(SPIN.0, SPIN.1);
        }
        let mut child = command
            .args(&launch.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A terminal's Ctrl-C goes to the whole group; the daemon alone decides what it means.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().unwrap_or_default();
        let stdin = child.stdin.take().expect("stdin was piped");
        // Unbounded, but the daemon has at most a few orders more than slots under way.
        let (requests, orders) = mpsc::unbounded_channel();
        let (reports, events) = mpsc::unbounded_channel();
        let (kill, killed) = mpsc::channel(1);
        tokio::spawn(write_requests(stdin, orders));
        tokio::spawn(attend(child, reports, killed));
        Ok(Self { requests, events, kill, pid })
    }

    /// Sends a request. One that comes too late is not an error: [`Event::Gone`] says so.
    pub fn send(&self, request: Request) {
        if self.requests.send(request).is_err() {
            tracing::debug!("worker {} is gone, a request to it was dropped", self.pid);
        }
    }

    /// The next thing the worker does. Cancel safe.
    pub async fn next(&mut self) -> Event {
        let gone = || Event::Gone(Death { how: "worker is gone".into(), orderly: false, log: Vec::new() });
        self.events.recv().await.unwrap_or_else(gone)
    }

    /// Kills the process; its death comes as an event.
    pub fn kill(&self) {
        // A full channel means that the kill is already under way.
        self.kill.try_send(()).unwrap_or_default();
    }
}

/// Writes until the daemon drops its end or the process stops reading.
async fn write_requests(mut stdin: ChildStdin, mut orders: mpsc::UnboundedReceiver<Request>) {
    while let Some(request) = orders.recv().await {
        let mut line = serde_json::to_vec(&request).expect("requests are plain data");
        line.push(b'\n');
        if stdin.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Reads replies until the process closes its output, then waits for its end.
async fn attend(mut child: Child, reports: mpsc::UnboundedSender<Event>, mut killed: mpsc::Receiver<()>) {
    let stdout = child.stdout.take().expect("stdout was piped");
    let stderr = child.stderr.take().expect("stderr was piped");
    let log: JoinHandle<Vec<String>> = tokio::spawn(async move {
        let mut last = VecDeque::with_capacity(KEPT_LOG_LINES);
        let mut lines = BufReader::new(stderr).split(b'\n');
        // Bytes, since drivers and libraries print what they like.
        while let Ok(Some(line)) = lines.next_segment().await {
            let line = String::from_utf8_lossy(&line).into_owned();
            tracing::debug!(target: "nightjar::worker", "{line}");
            if last.len() == KEPT_LOG_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
        last.into()
    });
    let mut lines = BufReader::new(stdout).split(b'\n');
    loop {
        tokio::select! {
            line = lines.next_segment() => match line {
                Ok(Some(line)) => report(&String::from_utf8_lossy(&line), &reports),
                Ok(None) | Err(_) => break,
            },
            Some(()) = killed.recv() => kill(&mut child),
        }
    }
    // A process can close its output and live on; give it a moment, then see to it.
    let grace = tokio::time::sleep(std::time::Duration::from_secs(5));
    let status = tokio::select! {
        status = child.wait() => status,
        () = grace => {
            kill(&mut child);
            child.wait().await
        }
    };
    let log = log.await.unwrap_or_default();
    let death = match status {
        Ok(status) => Death { how: describe(status), orderly: status.success(), log },
        Err(error) => Death { how: format!("worker's end could not be read: {error}"), orderly: false, log },
    };
    // The daemon may have dropped the worker before its end; then nobody asks how it was.
    reports.send(Event::Gone(death)).unwrap_or_default();
}

fn kill(child: &mut Child) {
    if let Err(error) = child.start_kill() {
        tracing::debug!("killing a worker: {error}");
    }
}

fn report(line: &str, reports: &mpsc::UnboundedSender<Event>) {
    match serde_json::from_str(line) {
        // As above: nobody may be left to hear it.
        Ok(reply) => reports.send(Event::Reply(reply)).unwrap_or_default(),
        Err(error) => tracing::warn!("worker said something that is no reply ({error}): {line}"),
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("worker ended with exit code {code}"),
        (None, Some(signal)) => format!("worker was killed by {}", signal_name(signal)),
        (None, None) => format!("worker ended: {status}"),
    }
}

fn signal_name(signal: i32) -> String {
    let known = [
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (15, "SIGTERM"),
    ];
    let name = known.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name);
    match name {
        // What the kernel sends when memory runs out looks like any other SIGKILL.
        Some("SIGKILL") => "SIGKILL (by hand, by a time limit, or because memory ran out)".into(),
        Some(name) => name.into(),
        None => format!("signal {signal}"),
    }
}
