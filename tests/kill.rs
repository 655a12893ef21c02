//! A real model, and death: the daemon killed at random moments, the worker killed while it decodes.
#![cfg(feature = "llama")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rusqlite::Connection;

const MODEL: &str = "models/smollm2-135m-instruct.q4_1.gguf";

/// A folder of its own with a few short cases of two scenarios; `None`, and a line that says so, without the model.
fn house(settings: &str) -> Option<tempfile::TempDir> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(MODEL);
    if !model.is_file() {
        println!("skipped: {MODEL} is not there; scripts/fetch-model fetches it");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("state/inbox")).unwrap();
    let config = format!(
        "models = [{:?}]\n[inbox]\nsettle_ms = 20\n[sweep]\nstrategies = [\"J\", \"P\", \"J+\"]\n\
         [profiles.greedy]\nmax_tokens = 40\n{settings}",
        model.display()
    );
    fs::write(folder.path().join("config.toml"), config).unwrap();
    for name in ["support_tickets", "sick_leave"] {
        let text =
            fs::read_to_string(format!("{}/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let mut scenario: serde_json::Value = serde_json::from_str(&text).unwrap();
        scenario["cases"].as_array_mut().unwrap().truncate(2);
        fs::write(folder.path().join(format!("state/inbox/{name}.json")), scenario.to_string()).unwrap();
    }
    Some(folder)
}

/// Without a home, a test that fails would leave its sweep running.
struct Sweep(Child);

impl Sweep {
    fn start(folder: &Path) -> Self {
        let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_nightjar"))
            .args(["--config", "config.toml", "sweep"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        Self(child)
    }

    fn finish(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }

    /// The process id of its worker, once it has one.
    fn worker(&self) -> Option<u32> {
        let tasks = format!("/proc/{0}/task/{0}/children", self.0.id());
        fs::read_to_string(tasks).ok()?.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        // An error means that it has ended already.
        self.0.kill().unwrap_or_default();
        self.0.wait().unwrap();
    }
}

fn database(folder: &Path) -> PathBuf {
    folder.join("state/nightjar.db")
}

fn rows(folder: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(database(folder)).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// What an attempt is and what came of it: all that must not depend on how often the daemon died.
const TEXTS: &str = "SELECT key || '|' || try || '|' || finish || '|' || n_output || '|' || output FROM attempts ORDER BY key, try";

#[test]
fn a_daemon_killed_ten_times_ends_with_the_rows_of_one_that_was_not() {
    // Nothing kept, so that a prompt is read in the same batches whatever was read before it.
    let one_slot = "[engine]\nslots = 1\nthreads = 2\nreuse_prompts = false\nshare_texts = false";
    let (Some(calm), Some(rough)) = (house(one_slot), house(one_slot)) else { return };
    let start = Instant::now();
    assert_eq!(Sweep::start(calm.path()).finish(), Some(0));
    // On a machine of any speed, most of the ten come before the end.
    let longest = (start.elapsed().as_millis() as u64 / 4).max(100);
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(20_261_129);
    for _ in 0..10 {
        let sweep = Sweep::start(rough.path());
        std::thread::sleep(Duration::from_millis(random.random_range(50..longest)));
        drop(sweep);
    }
    assert_eq!(Sweep::start(rough.path()).finish(), Some(0));
    let (expected, got) = (rows(calm.path(), TEXTS), rows(rough.path(), TEXTS));
    assert_eq!(expected.len(), 12, "2 scenarios × 2 cases × 3 strategies");
    assert_eq!(got, expected);
    let killed = rows(rough.path(), "SELECT id || '' FROM runs WHERE ended_at IS NULL").len();
    println!("{killed} runs were cut short, {} attempts equal", got.len());
    assert!(killed >= 5, "the kills came too late to mean anything: {killed}");
    let left: Vec<_> = fs::read_dir(rough.path().join("state/inbox")).unwrap().collect();
    assert!(left.is_empty(), "files were stored but not put away: {left:?}");
}

/// Waits until more than `n_before` attempts have left a text and none is left to be made good, then gives the process id
/// of the worker, which decodes others by now. (An attempt that loses its worker twice stands as errored, by design.)
fn decoding(sweep: &Sweep, folder: &Path, n_before: i64) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(120);
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        if database(folder).is_file() && count(folder, TEXTS_LEFT) > n_before && count(folder, UNMENDED) == 0
        {
            std::thread::sleep(Duration::from_millis(300));
            return sweep.worker().expect("it has work left");
        }
    }
    panic!("no attempt in two minutes: {}", fs::read_to_string(folder.join("log")).unwrap());
}

const TEXTS_LEFT: &str = "SELECT count(*) FROM attempts WHERE finish <> 'errored'";
const UNMENDED: &str = "SELECT count(*) FROM attempts WHERE finish = 'errored'
    AND key NOT IN (SELECT key FROM attempts WHERE finish <> 'errored')";

fn count(folder: &Path, sql: &str) -> i64 {
    let connection = Connection::open(database(folder)).unwrap();
    // The table is not there for the first moments of a database's life.
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or(0)
}

#[test]
fn a_worker_killed_while_it_decodes_costs_no_attempt_and_its_end_is_on_record() {
    let table = [("KILL", "SIGKILL"), ("ABRT", "SIGABRT"), ("STOP", "no sign of the worker for 4 s")];
    let Some(folder) = house("[engine]\nslots = 2\nthreads = 2\nstall_s = 4") else { return };
    let sweep = Sweep::start(folder.path());
    let mut seen = 0;
    for (signal, _) in table {
        let worker = decoding(&sweep, folder.path(), seen);
        let sent = Command::new("kill").args([&format!("-{signal}"), &worker.to_string()]).status().unwrap();
        assert!(sent.success(), "{signal}");
        seen = count(folder.path(), TEXTS_LEFT);
    }
    assert_eq!(sweep.finish(), Some(0), "{}", fs::read_to_string(folder.path().join("log")).unwrap());
    let errors = rows(folder.path(), "SELECT error FROM attempts WHERE finish = 'errored'").join("\n");
    for (signal, words) in table {
        assert!(errors.contains(words), "SIG{signal} left no record:\n{errors}");
    }
    let outcomes = "SELECT outcome FROM case_results WHERE outcome = 'errored'";
    assert!(rows(folder.path(), outcomes).is_empty(), "every attempt was made good");
    assert_eq!(rows(folder.path(), "SELECT DISTINCT key FROM attempts WHERE finish <> 'errored'").len(), 12);
}
