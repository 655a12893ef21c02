//! The program as a person or a script meets it: exit codes, stdout, stderr.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn nightjar(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nightjar"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn exit_codes_say_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.toml"), "[engine]\nslot = 1\n").unwrap();
    fs::write(folder.path().join("bad.json"), "{\"name\": 1}").unwrap();
    fs::write(folder.path().join("good.jsonl"), "{\"scenario\": \"a\", \"text\": \"t\", \"expected\": {}}\n")
        .unwrap();
    let table: [(&[&str], i32, &str); 12] = [
        (&["config", "check"], 0, ""),
        (&["frobnicate"], 2, "unrecognized subcommand"),
        (
            &["--config", "bad.toml", "status"],
            78,
            "bad.toml, line 2: there is no key `engine.slot`; did you mean `engine.slots`?",
        ),
        (&["--config", "absent.toml", "status"], 78, "absent.toml"),
        (&["--set", "engine.slots=0", "config", "check"], 78, "engine.slots"),
        (&["status"], 3, ""),
        (&["leaderboard"], 1, "no database yet"),
        (&["rescore"], 1, "no database yet"),
        (&["check", "bad.json"], 1, ""),
        (&["check", "good.jsonl"], 0, ""),
        (&["score", "absent.jsonl"], 1, "absent.jsonl"),
        (&["models"], 1, ""),
    ];
    for (arguments, code, words) in table {
        let output = nightjar(folder.path(), arguments, "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert!(!folder.path().join("state").exists(), "looking creates nothing");
}

#[test]
fn json_output_is_json_and_documents_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["--json", "status"][..],
        &["--json", "models"],
        &["--json", "config", "show"],
        &["schema", "scenario"],
    ] {
        let output = nightjar(folder.path(), arguments, "");
        let parsed: Result<Value, _> = serde_json::from_str(&stdout(&output));
        assert!(parsed.is_ok(), "{arguments:?}: {}", stdout(&output));
    }
    let shown = stdout(&nightjar(folder.path(), &["--set", "sweep.repeats=3", "config", "show"], ""));
    let shown: toml::Table = toml::from_str(&shown).unwrap();
    assert_eq!(shown["sweep"]["repeats"].as_integer(), Some(3));
    assert!(stdout(&nightjar(folder.path(), &["completions", "bash"], "")).contains("nightjar"));
}

fn vectors() -> Option<Vec<Value>> {
    let shared = std::env::var("NIGHTJAR_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared").into());
    let path = Path::new(&shared).join("vectors/llmstructbench-open.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn score_judges_outputs_made_elsewhere_exactly_as_the_vectors_say() {
    let Some(vectors) = vectors() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    let mut wanted = Vec::new();
    for vector in &vectors {
        match vector["kind"].as_str() {
            Some("pair") => {
                lines.push(serde_json::json!({"id": vector["name"], "expected": vector["expected"], "output": vector["output"]}));
                wanted.push(vector);
            }
            Some("parse") => {
                let (schema, cut_off) = (&vector["schema"], &vector["cut_off"]);
                lines.push(serde_json::json!({"id": vector["name"], "expected": "{}", "output": vector["output"], "schema": schema, "cut_off": cut_off}));
                wanted.push(vector);
            }
            _ => {}
        }
    }
    let input: String = lines.iter().flat_map(|line| [line.to_string(), "\n".into()]).collect();
    let output = nightjar(folder.path(), &["score", "-"], &input);
    assert!(output.status.success(), "{}", stderr(&output));
    let judged: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(judged.len(), wanted.len());
    for (got, want) in judged.iter().zip(wanted) {
        assert_eq!(got["id"], want["name"]);
        for field in ["outcome", "reason"] {
            assert!(want.get(field).is_none_or(|value| *value == got[field]), "{}: {field}", want["name"]);
        }
        for (name, value) in want["counts"].as_object().into_iter().flatten() {
            let same = match (value.as_f64(), got["counts"][name].as_f64()) {
                (Some(want), Some(got)) => (want - got).abs() < 1e-9,
                _ => *value == got["counts"][name],
            };
            assert!(same, "{}: {name} is {}, not {value}", want["name"], got["counts"][name]);
        }
    }
    println!("{} vectors through the program", judged.len());
}

#[test]
fn score_sums_up_groups_as_the_vectors_say() {
    let Some(vectors) = vectors() else { return };
    let folder = tempfile::tempdir().unwrap();
    for corpus in vectors.iter().filter(|vector| vector["kind"] == "corpus") {
        let documents = corpus["documents"].as_array().unwrap();
        let input: String =
            documents.iter().flat_map(|document| [document.to_string(), "\n".into()]).collect();
        let output = nightjar(folder.path(), &["score", "-", "--summary"], &input);
        let last = stdout(&output).lines().last().unwrap().to_owned();
        let summary: Value = serde_json::from_str(&last).unwrap();
        for (name, value) in corpus["expect"].as_object().unwrap() {
            let (want, got) = (value.as_f64().unwrap(), summary["summary"][name].as_f64().unwrap());
            assert!((want - got).abs() < 1e-9, "{}: {name} is {got}, not {want}", corpus["name"]);
        }
    }
}

const PARCELS: &str = r#"{"name": "parcels", "description": "d", "schema": {"type": "object"},
    "examples": [{"text": "t", "json": {}}],
    "cases": [{"id": "a", "text": "A", "expected": {"n": 1}}, {"id": "b", "text": "B", "expected": {"n": 2}}]}"#;

#[test]
fn recorded_outputs_stand_in_the_leaderboard_and_follow_a_correction() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |scenario: &str| {
        fs::write(folder.path().join("parcels.json"), scenario).unwrap();
        let arguments = ["--set", "models=[]", "--set", "inbox.settle_ms=20", "sweep", "parcels.json"];
        let output = nightjar(folder.path(), &arguments, "");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    let record = |model: &str, lines: &str| {
        let to = ["score", "-", "--record", "--model", model, "--scenario", "parcels", "--strategy", "P"];
        nightjar(folder.path(), &to, lines)
    };
    let flawless = || -> Vec<(String, u64)> {
        let rows: Value =
            serde_json::from_str(&stdout(&nightjar(folder.path(), &["--json", "leaderboard"], ""))).unwrap();
        let row =
            |row: &Value| (row["model"].as_str().unwrap().to_owned(), row["flawless"].as_u64().unwrap());
        rows.as_array().unwrap().iter().map(row).collect()
    };
    sweep(PARCELS);
    let lines = r#"{"id": "a", "expected": "{\"n\": 1}", "output": "{\"n\": 1}"}
{"id": "b", "expected": "{\"n\": 2}", "output": "{\"n\": 3}"}"#;
    for new in ["2 of 2", "0 of 2"] {
        let output = record("api", lines);
        assert!(output.status.success() && stderr(&output).contains(new), "{}", stderr(&output));
    }
    assert_eq!(flawless(), [("api".to_owned(), 1)]);
    sweep(&PARCELS.replace(r#"{"n": 2}"#, r#"{"n": 3}"#));
    assert_eq!(
        flawless(),
        [("api".to_owned(), 2)],
        "the corrected case is judged again, and not asked for again"
    );

    for (lines, words) in [
        (lines, "not what the scenario's case `b` expects"),
        (r#"{"id": "aa", "expected": "{\"n\": 1}", "output": ""}"#, "no case `aa`"),
        (r#"{"expected": "{\"n\": 1}", "output": ""}"#, "`id` is missing"),
        (r#"{"id": "a", "expected": "{\"n\": 1}", "output": "other"}"#, "another output"),
    ] {
        let output = record("api", lines);
        assert_eq!(output.status.code(), Some(1), "{lines}");
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    }
}

#[test]
fn a_line_that_cannot_be_judged_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = "{\"expected\": \"{}\", \"output\": \"{}\"}\n";
    let table = [
        ("{\"expected\": \"{}\"", "line 2"),
        ("{\"expected\": \"{\", \"output\": \"\"}", "line 2: `expected`"),
        ("{\"expected\": \"{}\", \"output\": \"\", \"schema\": {\"type\": 3}}", "line 2: `schema`"),
        ("{\"expected\": \"{}\", \"outputs\": \"\"}", "outputs"),
    ];
    for (line, words) in table {
        let output = nightjar(folder.path(), &["score", "-"], &format!("{good}{line}\n"));
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(stderr(&output).contains(words), "{line}: {}", stderr(&output));
    }
}
