//! What the tests of whole programs share: a state folder with models, scenarios made of a few words, the scripted worker.

use std::fs;
use std::path::{Path, PathBuf};

use nightjar::config::{Config, Layer};
use nightjar::daemon::{Ending, Error, Setup, database, run};
use nightjar::decode::engine::process::Launch;
use nightjar::models::Places;
use nightjar::store::RunCommand;
use rusqlite::Connection;

/// Three cases: one that a told model gets right, one that it gets wrong, one that is no JSON.
pub(crate) const WORDS: [(&str, &str, &str); 3] = [
    ("right", r#"{"word": "yes", "n": 1}"#, r#"{"word": "yes", "n": 1}"#),
    ("wrong", r#"{"word": "no", "extra": 1}"#, r#"{"word": "yes", "n": 1}"#),
    ("prose", "I would rather not", r#"{"word": "yes"}"#),
];

/// A folder with models, a state folder and an inbox, removed at the end.
pub(crate) struct House {
    /// The folder.
    pub(crate) folder: tempfile::TempDir,
    /// Lines of configuration beyond the usual ones.
    pub(crate) settings: String,
}

impl House {
    /// A house with these models; one whose name begins with `refused` cannot be loaded.
    pub(crate) fn with_models(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(folder.path().join("models")).unwrap();
        fs::create_dir_all(folder.path().join("state/inbox")).unwrap();
        for name in names {
            fs::write(folder.path().join(format!("models/{name}.gguf")), tiny_gguf(name)).unwrap();
        }
        Self { folder, settings: String::new() }
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The database.
    pub(crate) fn database(&self) -> PathBuf {
        database(&self.state())
    }

    /// Renames a file into the inbox.
    pub(crate) fn drop_in(&self, name: &str, text: &str) {
        let hidden = self.state().join("inbox").join(format!(".{name}"));
        fs::write(&hidden, text).unwrap();
        fs::rename(&hidden, self.state().join("inbox").join(name)).unwrap();
    }

    /// The configuration as the program would read it.
    pub(crate) fn config(&self) -> Config {
        let usual = "[inbox]\nsettle_ms = 20\nrescan_s = 1\n[engine]\nslots = 3\nstall_s = 3\n[profiles.greedy]\nmax_tokens = 300\n";
        let layers = [Layer::file(usual, "usual").unwrap(), Layer::file(&self.settings, "test").unwrap()];
        Config::parse(&layers, self.folder.path()).expect("a good configuration")
    }

    /// What a run is started with, around the scripted worker.
    pub(crate) fn setup(&self, command: RunCommand) -> Setup {
        let config = self.config();
        let slots = config.engine.slots.to_string();
        Setup {
            config,
            command,
            places: Places::new(self.folder.path().to_owned(), |_| None),
            on_progress: Box::new(|_| {}),
            launch: Box::new(move |model: &Path| Launch {
                program: scripted_worker(),
                arguments: vec!["--model".into(), model.into(), "--slots".into(), slots.clone().into()],
            }),
        }
    }

    /// Runs until nothing is missing.
    pub(crate) fn sweep(&self) -> Result<Ending, Error> {
        run(self.setup(RunCommand::Sweep))
    }
}

/// The example that cargo builds beside the tests.
pub(crate) fn scripted_worker() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let target = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/TEST");
    let worker = target.join("examples/scripted_worker");
    assert!(
        worker.is_file(),
        "{} is missing: `cargo test` builds it, and so does `cargo build --examples`",
        worker.display()
    );
    worker
}

/// The smallest file that has a GGUF header and a tensor; the name makes its hash its own.
pub(crate) fn tiny_gguf(name: &str) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let entry = |key: &str, value: &str| [text(key), 8u32.to_le_bytes().to_vec(), text(value)].concat();
    let mut file = b"GGUF".to_vec();
    file.extend(3u32.to_le_bytes());
    file.extend(1u64.to_le_bytes());
    file.extend(2u64.to_le_bytes());
    file.extend(entry("general.architecture", "llama"));
    file.extend(entry("general.name", name));
    file.extend(text("weight"));
    file.extend(1u32.to_le_bytes());
    file.extend(8u64.to_le_bytes());
    file.extend(0u32.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32) + 32, 0);
    file
}

/// A scenario file whose cases are (id, what the scripted worker is told to say, expected JSON).
pub(crate) fn scenario(name: &str, cases: &[(&str, &str, &str)]) -> String {
    let cases: Vec<_> = cases
        .iter()
        .map(|(id, says, expected)| {
            let expected: serde_json::Value = serde_json::from_str(expected).expect("expected JSON");
            serde_json::json!({"id": id, "text": format!("Case {id} of {name}: say {says}"), "expected": expected})
        })
        .collect();
    serde_json::json!({
        "name": name,
        "description": "Words that are to be said.",
        "schema": {"type": "object", "properties": {"word": {"type": "string"}, "n": {"type": "integer"}}},
        "examples": [{"text": "say what", "json": {"word": "what"}}],
        "cases": cases,
    })
    .to_string()
}

/// One line a row, columns separated by `|`.
pub(crate) fn rows(house: &House, sql: &str) -> String {
    let connection = Connection::open(house.database()).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let n_columns = statement.column_count();
    let lines = statement
        .query_map([], |row| {
            let cells = (0..n_columns).map(|i| {
                Ok(match row.get_ref(i)? {
                    rusqlite::types::ValueRef::Null => "-".to_owned(),
                    rusqlite::types::ValueRef::Integer(n) => n.to_string(),
                    rusqlite::types::ValueRef::Real(x) => format!("{x:.3}"),
                    rusqlite::types::ValueRef::Text(text) | rusqlite::types::ValueRef::Blob(text) => {
                        String::from_utf8_lossy(text).into_owned()
                    }
                })
            });
            Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        })
        .unwrap();
    lines.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("\n")
}
