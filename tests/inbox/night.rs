//! What all these tests use: an inbox in a temporary folder, a stand-in for the store, the daemon's loop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use nightjar::inbox::{Contents, Error, FILES_A_TURN, Folders, Inbox, Moved, Taken, Turn, Watch};
use nightjar::scenario::Problem;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const SETTLE: Duration = Duration::from_millis(100);
/// Longer than any test: what is found is found through events.
pub(crate) const NO_RESCAN: Duration = Duration::from_secs(600);

/// An inbox, and a store that knows scenarios by name and files by hash.
pub(crate) struct Night {
    _dir: TempDir,
    pub(crate) folders: Folders,
    pub(crate) inbox: Inbox,
    hashes: BTreeSet<String>,
    pub(crate) scenarios: BTreeMap<String, usize>,
    pub(crate) errors: Vec<String>,
    pub(crate) turns: usize,
}

impl Night {
    pub(crate) fn new() -> Night {
        let dir = tempfile::tempdir().expect("a folder");
        let state = dir.path().to_owned();
        Night::within(dir, &state)
    }

    pub(crate) fn within(dir: TempDir, state: &Path) -> Night {
        let folder = |name: &str| state.join(name);
        let folders =
            Folders { inbox: folder("inbox"), processed: folder("processed"), rejected: folder("rejected") };
        let inbox = Inbox::open(folders.clone(), SETTLE).expect("an inbox");
        let (hashes, scenarios, errors) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Night { _dir: dir, folders, inbox, hashes, scenarios, errors, turns: 0 }
    }

    pub(crate) fn drop_file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folders.inbox.join(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// One turn at a time when everything has settled.
    pub(crate) fn turn(&mut self) -> Option<Duration> {
        let turn = self.inbox.take(settled());
        self.put_away(&turn)
    }

    pub(crate) fn put_away(&mut self, turn: &Turn) -> Option<Duration> {
        assert!(turn.taken.len() <= FILES_A_TURN);
        self.turns += usize::from(!turn.taken.is_empty());
        self.errors.extend(turn.errors.iter().map(ToString::to_string));
        for taken in &turn.taken {
            if let Err(error) = self.store(taken) {
                self.errors.push(error.to_string());
            }
        }
        turn.look_again
    }

    pub(crate) fn store(&mut self, taken: &Taken) -> Result<Moved, Error> {
        let (claimed, now) = (&taken.claimed, SystemTime::now());
        let problems = match &taken.contents {
            Err(problems) => problems.clone(),
            Ok(contents) => self.unknown(contents),
        };
        if !problems.is_empty() {
            return self.inbox.reject(claimed, &problems, now);
        }
        if self.hashes.insert(claimed.sha256.clone().expect("it was read")) {
            match taken.contents.as_ref().expect("no problems") {
                Contents::Scenario(checked) => {
                    *self.scenarios.entry(checked.scenario.name.clone()).or_default() +=
                        checked.scenario.cases.len();
                }
                Contents::Cases(checked) => {
                    for line in &checked.lines {
                        *self.scenarios.get_mut(&line.scenario).expect("known") += 1;
                    }
                }
            }
        }
        self.inbox.done(claimed, now)
    }

    fn unknown(&self, contents: &Contents) -> Vec<Problem> {
        let Contents::Cases(checked) = contents else { return Vec::new() };
        let unknown = checked.lines.iter().filter(|line| !self.scenarios.contains_key(&line.scenario));
        let known = || self.scenarios.keys().map(String::as_str);
        unknown.map(|line| Problem::unknown_scenario(line.line, &line.scenario, known())).collect()
    }

    /// The daemon's loop, until `enough` or five seconds are over.
    pub(crate) async fn watch(&mut self, watch: &mut Watch, enough: impl Fn(&Night) -> bool) {
        let end = Instant::now() + Duration::from_secs(5);
        while !enough(self) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "in vain: {:?} {:?}", self.files(), self.errors);
            if tokio::time::timeout(left, watch.look_again()).await.is_ok() {
                let turn = self.inbox.take(SystemTime::now());
                let look_again = self.put_away(&turn);
                if let Some(wait) = look_again {
                    watch.within(wait);
                }
            }
        }
    }

    /// Names in inbox, processed and rejected.
    pub(crate) fn files(&self) -> [Vec<String>; 3] {
        [&self.folders.inbox, &self.folders.processed, &self.folders.rejected].map(|folder| names(folder))
    }

    pub(crate) fn sidecar(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.folders.rejected.join(name)).expect("a sidecar");
        serde_json::from_str(&text).expect("JSON")
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A time by which files written now have been left alone long enough, even ones that are cut off.
pub(crate) fn settled() -> SystemTime {
    SystemTime::now() + SETTLE * 20
}

pub(crate) fn watched(night: &Night) -> Watch {
    let (watch, error) = Watch::start(&night.folders.inbox, NO_RESCAN);
    assert!(error.is_none(), "{error:?}");
    watch
}

pub(crate) fn scenario(name: &str) -> String {
    json!({
        "name": name, "description": "d", "schema": {"type": "object"},
        "examples": [{"text": "t", "json": {}}], "cases": [{"text": "t", "expected": {"a": 1}}]
    })
    .to_string()
}

pub(crate) fn case(scenario: &str, text: &str) -> String {
    json!({"scenario": scenario, "text": text, "expected": {}}).to_string() + "\n"
}

pub(crate) fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).expect("open");
    file.write_all(text.as_bytes()).expect("written");
}
