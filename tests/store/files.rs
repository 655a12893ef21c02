//! Opening: what is refused by name, readers beside the writer and after it, a writer that was killed.

use std::path::Path;
use std::thread;

use nightjar::store::{Error, Progress, Reader, RunEnding, RunState, Store};
use rusqlite::Connection;
use serde_json::json;

use crate::support::{NOW, World, file, new_run};

fn sql(path: &Path, statements: &str) {
    Connection::open(path).and_then(|connection| connection.execute_batch(statements)).expect("good SQL");
}

#[test]
fn what_is_not_ours_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    drop(Store::open(&at("newer.db")).expect("a new database"));
    sql(&at("newer.db"), "PRAGMA user_version = 999");
    sql(&at("other.db"), "PRAGMA application_id = 252006673; CREATE TABLE t (x)");
    sql(&at("nameless.db"), "CREATE TABLE t (x)");
    std::fs::write(
        at("text.db"),
        "this is a letter, not a database; it is long enough to have a header. ".repeat(20),
    )
    .expect("a text file");
    let told = |error: Error| error.to_string().replace(&folder.path().display().to_string(), "");
    let store = |name: &str| told(Store::open(&at(name)).expect_err(name));
    let reader = |name: &str| told(Reader::open(&at(name)).expect_err(name));
    insta::assert_snapshot!(store("newer.db"), @"/newer.db: made by a newer nightjar (schema 999; this one knows 7); update nightjar");
    insta::assert_snapshot!(store("other.db"), @"/other.db: not a nightjar database (application id 0x0f055111, nightjar's is 0x6e6a6172); name another file");
    insta::assert_snapshot!(store("nameless.db"), @"/nameless.db: not a nightjar database (application id 0x00000000, nightjar's is 0x6e6a6172); name another file");
    insta::assert_snapshot!(store("text.db"), @"/text.db: cannot open the database: file is not a database");
    insta::assert_snapshot!(store("no/folder.db"), @"/no/folder.db: cannot open the database: unable to open database file: /no/folder.db");
    insta::assert_snapshot!(reader("absent.db"), @"/absent.db: no database here; `nightjar daemon` or `nightjar sweep` makes one");
    assert_eq!(reader("newer.db"), store("newer.db"));
    std::fs::write(at("empty.db"), "").expect("an empty file");
    insta::assert_snapshot!(reader("empty.db"), @"/empty.db: made by an older nightjar (schema 0; this one reads 7); `nightjar daemon` or `nightjar sweep` brings it up to date");
}

#[test]
fn a_database_says_whose_it_is() {
    let world = World::new();
    let plain = Connection::open(world.path()).expect("a second connection");
    let pragma = |name: &str| -> String {
        plain.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).map_or_else(
            |error| error.to_string(),
            |value| match value {
                rusqlite::types::Value::Integer(n) => n.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            },
        )
    };
    assert_eq!(pragma("application_id"), i32::from_be_bytes(*b"njar").to_string());
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("integrity_check"), "ok");
}

#[test]
fn readers_work_beside_the_writer_and_after_it() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1})]));
    let model = world.model("m");
    let path = world.path();
    let reading = |path: std::path::PathBuf| {
        thread::spawn(move || {
            let reader = Reader::open(&path).expect("a reader");
            let mut last = 0;
            while last < 40 {
                let now = reader.known_attempts().expect("an answer").len();
                assert!(now >= last, "{now} attempts after {last}");
                assert!(reader.leaderboard().expect("an answer").len() <= 1);
                last = now;
            }
        })
    };
    let readers = [reading(path.clone()), reading(path.clone())];
    for i in 0..40 {
        world.answer_first("s", &format!("key {i}"), model, r#"{"a": 1}"#);
    }
    for reader in readers {
        reader.join().expect("readers find what was written");
    }
    drop(world.store);
    let after = Reader::open(&path).expect("a reader without a writer");
    assert_eq!(after.leaderboard().expect("an answer")[0].flawless, 1);
    assert_eq!(after.status().expect("an answer").expect("a run").run.ending, None);
}

/// The files as they are right after a commit are what a killed process leaves behind.
#[test]
fn a_killed_writer_loses_nothing_that_was_committed() {
    let mut world = World::new();
    world.scenario(&file("s", "", &[json!({"a": 1})]));
    let model = world.model("m");
    world.answer_first("s", "before", model, r#"{"a": 2}"#);
    let killed = tempfile::tempdir().expect("a temporary folder");
    for entry in std::fs::read_dir(world.folder.path()).expect("the folder") {
        let from = entry.expect("an entry").path();
        std::fs::copy(&from, killed.path().join(from.file_name().expect("a name"))).expect("a copy");
    }
    let path = killed.path().join("night.db");
    assert!(killed.path().join("night.db-wal").metadata().expect("a log").len() > 0);
    for _ in 0..2 {
        let mut store = Store::open(&path).expect("a database after a crash");
        assert_eq!(store.reader().known_attempts().expect("an answer").len(), 1);
        assert_eq!(store.reader().leaderboard().expect("an answer")[0].mistakes, 1);
        let run = store.begin_run(&new_run()).expect("another run");
        assert_ne!(run, world.run);
    }
}

#[test]
fn status_is_the_last_thing_said() {
    let mut world = World::new();
    let status = |world: &World| world.store.reader().status().expect("an answer").expect("a run");
    assert_eq!(status(&world).progress, None);
    let mut progress = Progress {
        run: world.run,
        pid: 1,
        state: RunState::Loading,
        model: Some("m".to_owned()),
        seated: 0,
        done: 0,
        missing: 12,
        errored: 0,
        per_minute: None,
        last_progress_at: None,
        updated_at: NOW.to_owned(),
    };
    world.store.put_progress(&progress).expect("progress");
    progress.state = RunState::Working;
    progress.per_minute = Some(33.5);
    world.store.put_progress(&progress).expect("progress");
    assert_eq!(status(&world).progress.as_ref(), Some(&progress));
    world.store.end_run(world.run, RunEnding::Interrupted, NOW).expect("an end");
    let ended = status(&world);
    assert_eq!(ended.run.ending, Some(RunEnding::Interrupted));
    assert_eq!(ended.progress.map(|said| (said.state, said.missing)), Some((RunState::Ended, 12)));
}

#[test]
fn models_keep_their_row_and_their_files_hash() {
    let mut world = World::new();
    let first = world.model("m");
    assert_eq!(world.model("m"), first);
    let external = nightjar::store::Model::external("gpt");
    let one = world.store.put_model(&external).expect("a model");
    assert_eq!(world.store.put_model(&external).expect("the same"), one);
    assert_ne!(one, first);
    let (path, store) = (Path::new("/models/m.gguf"), &mut world.store);
    store.put_file_sha256(path, 10, 5, "abc").expect("a cached hash");
    let cached = |size, mtime| store.reader().file_sha256(path, size, mtime).expect("an answer");
    assert_eq!(cached(10, 5).as_deref(), Some("abc"));
    assert_eq!((cached(11, 5), cached(10, 6)), (None, None));
    assert_eq!(store.reader().models().expect("an answer").len(), 2);
}
