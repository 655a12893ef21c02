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
    fs::create_dir(folder.path().join("empty")).unwrap();
    let table: [(&[&str], i32, &str); 13] = [
        (&["config", "check"], 0, ""),
        (&["frobnicate"], 2, "unrecognized subcommand"),
        (
            &["--config", "bad.toml", "status"],
            78,
            "bad.toml, line 2: there is no key `engine.slot`; did you mean `engine.slots`?",
        ),
        (&["--config", "absent.toml", "status"], 78, "absent.toml"),
        (&["--set", "engine.slots=257", "config", "check"], 78, "engine.slots"),
        (&["status"], 3, ""),
        (&["leaderboard"], 1, "no database yet"),
        (&["rescore"], 1, "no database yet"),
        (&["check", "bad.json"], 1, ""),
        (&["check", "good.jsonl"], 0, ""),
        (&["check", "empty"], 1, "empty: there is no .json or .jsonl file in this folder"),
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
    let shared = std::env::var("TEST_SHARED")
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

/// Five cases of the shapes that the figures are about: values that stand in the text and that do not, numbers, nothing.
const VARIED: &str = r#"{"name": "varied", "description": "d", "schema": {"type": "object"},
    "examples": [{"text": "t", "json": {}}],
    "cases": [
        {"id": "a", "text": "Ännchen's order (No. 17-B): 3 chairs, 33 tables; deliver to ÄNNCHEN, please, by 14.5.2024.", "expected": {"n": 3, "name": "Ännchen", "order": "17-B"}},
        {"id": "b", "text": "Bo's order (No. 18-B): 4 chairs, 33 tables; deliver to Bo, please, by 14.5.2024.", "expected": {"n": 4, "name": "bo", "order": "18-B"}},
        {"id": "c", "text": "Bo's order (No. 18-B): 4 chairs, 33 tables – deliver to Bo\u3000please, by 14.5.2024.", "expected": {"n": 4.0, "name": "Bo", "x": null, "y": true}},
        {"id": "d", "text": "Short one", "expected": {"a": ["Short", {"b": ""}]}},
        {"id": "e", "text": "Two, short", "expected": {"a": "two"}}
    ]}"#;

#[test]
fn similarity_is_what_the_script_computes() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/similarity");
    let shipped = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let varied = folder.path().join("varied.json");
    fs::write(&varied, VARIED).unwrap();
    let mut files: Vec<String> = shipped.map(|entry| entry.unwrap().path().display().to_string()).collect();
    files.retain(|file| Path::new(file).extension().is_some_and(|extension| extension == "json"));
    files.push(varied.display().to_string());
    let Ok(output) = Command::new("python3").arg(script).args(&files).output() else {
        println!("skipped: there is no python3");
        return;
    };
    assert!(output.status.success(), "{}", stderr(&output));
    let theirs: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let arguments: Vec<&str> =
        ["--json", "check", "--stats"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let output = nightjar(folder.path(), &arguments, "");
    assert!(output.status.success(), "{}", stderr(&output));
    let ours: Vec<Value> = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(ours.len(), theirs.len());
    for theirs in theirs {
        let ours =
            ours.iter().find(|ours| ours["scenario"] == theirs["scenario"]).expect("the same scenarios");
        assert_eq!(
            (&ours["cases"], &ours["different"]),
            (&theirs["cases"], &theirs["different"]),
            "{theirs}"
        );
        let figure = |of: &Value| of["mean_jaccard"].as_f64().unwrap();
        assert!((figure(ours) - figure(&theirs)).abs() < 1e-12, "{ours} {theirs}");
        if theirs["scenario"] == "varied" {
            assert!(figure(&theirs) > 0.1 && theirs["different"] == 4, "{theirs}");
        }
    }
}

#[test]
fn the_shipped_cases_are_clean_and_faults_are_named_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let output = nightjar(folder.path(), &["check", "--strict", scenarios], "");
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let bad = r#"{"scenario": "parcels", "id": "p", "text": "Bo asks", "expected": {"name": "Bob", "n": 1}}
{"scenario": "parcels", "id": "q", "text": "Bo  asks", "expected": {"n": "x"}}"#;
    fs::write(folder.path().join("bad.jsonl"), bad).unwrap();
    let output = nightjar(folder.path(), &["check", "--strict", "bad.jsonl"], "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "bad.jsonl: 4 findings\n  \
         bad.jsonl: p, /expected/name, \"Bob\": the message does not hold it\n  \
         bad.jsonl: p, /expected/n, 1: the message states no such number, in digits or in words, and no two that make it up\n  \
         bad.jsonl: q, /expected/n, \"x\": the message does not hold it\n  \
         bad.jsonl: q, /text, \"Bo  asks\": p in bad.jsonl has the same `text`\n"
    );
    assert!(stderr(&output).contains("no file with the schema of `parcels`"), "{}", stderr(&output));
    let again = ["--json", "check", "--strict", "bad.jsonl", ".", "./bad.jsonl"];
    let output = nightjar(folder.path(), &again, "");
    let reports: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(reports.as_array().map(Vec::len), Some(1), "a file named thrice is one");
    assert_eq!(reports[0]["findings"].as_array().map(Vec::len), Some(4));
    assert_eq!(reports[0]["findings"][0]["pointer"], "/expected/name");
}

#[test]
fn generating_needs_a_scenario_and_a_model_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("parcels.json"), PARCELS).unwrap();
    fs::write(folder.path().join("bad.json"), "{}").unwrap();
    let table = [
        (["generate", "nowhere", "--model", "m", "-n", "3"], 1, "nowhere: there is no such file"),
        (
            ["generate", "bad.json", "--model", "m", "-n", "3"],
            1,
            "bad.json: the file: the member `name` is missing",
        ),
        (["generate", "parcels.json", "--model", "m.gguf", "-n", "3"], 1, "model `m.gguf`"),
        (
            ["--set", "generate.profile=greedy", "generate", "parcels.json", "--model=m", "-n3"],
            78,
            "temperature above 0",
        ),
    ];
    for (arguments, code, words) in table {
        let output = nightjar(folder.path(), &arguments, "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert!(!folder.path().join("state").exists(), "nothing is made for nothing");
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

/// A GGUF file that holds nothing but a vocabulary.
fn vocabulary(tokens: &[(&str, u32)]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let entry = |key: &str, kind: u32, value: &[u8]| [&text(key)[..], &kind.to_le_bytes(), value].concat();
    let array = |kind: u32, items: Vec<Vec<u8>>| {
        [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat()
    };
    let texts = tokens.iter().map(|(token, _)| text(token)).collect();
    let kinds = tokens.iter().map(|(_, kind)| kind.to_le_bytes().to_vec()).collect();
    let entries = [
        entry("tokenizer.ggml.model", 8, &text("gpt2")),
        entry("tokenizer.ggml.tokens", 9, &array(8, texts)),
        entry("tokenizer.ggml.token_type", 9, &array(5, kinds)),
    ];
    [b"GGUF", &3u32.to_le_bytes()[..], &0u64.to_le_bytes(), &3u64.to_le_bytes(), &entries.concat()].concat()
}

#[test]
fn grammar_says_what_is_enforced_and_why_texts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = PARCELS.replace(
        r#"{"type": "object"}"#,
        r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 5, "maximum": 9}, "day": {"format": "moon"}},
            "required": ["n"], "additionalProperties": false}"#,
    );
    let letters =
        [("{", 1), ("{\"", 1), ("n", 1), ("\":", 1), ("Ġ7", 1), ("7", 1), ("}", 1), ("<|im_end|>", 3)];
    for (name, contents) in [
        ("parcels.json", scenario.as_bytes()),
        ("bad.schema.json", br#"{"properties": {"a/b": {"pattern": "\\bx"}}, "minLength": "3"}"#),
        ("list.gbnf", b"root ::= (\"- \" [^\\n]+ \"\\n\"){2}"),
        ("bad.gbnf", b"root ::= item+\nitem ::= \"a\" | itm"),
        ("list.txt", "- Äpfel\n- Birnen, und zwar solche, die so lange beschrieben werden, dass die Zeile nicht hinpasst\nx".as_bytes()),
        ("good.txt", b"- a\n- b\n"),
        ("object.txt", b"{\"n\": 7}\r\n"),
        ("object.gbnf", b"root ::= \"{\" [^\\r\\n]* \"}\""),
        ("broken.json", b"{"),
        ("tiny.gguf", &vocabulary(&letters)),
    ] {
        fs::write(folder.path().join(name), contents).unwrap();
    }
    let table: [(&[&str], i32); 10] = [
        (&["parcels.json", "--test", r#"{"n": 7}"#], 0),
        (&["parcels.json", "--test", r#"{"n": 4}"#, "--test", r#"{"n":7"#, "--test", "{\n  \"m\": 1}"], 1),
        (&["parcels.json", "--test", r#"{"n": 7}"#, "--test", r#"{"n":7}}"#, "--tokens", "tiny.gguf"], 1),
        (&["bad.schema.json", "--test", "{}"], 1),
        (&["list.gbnf", "--test", "- a\n- b\n", "--test", "- a", "--test", "list.txt"], 1),
        (&["bad.gbnf"], 1),
        (&["list.gbnf", "--test", "- ä\n", "--json"], 1),
        (&["broken.json"], 1),
        (&["object.gbnf", "list.gbnf", "--test", "good.txt", "--test", "object.txt"], 1),
        (&["list.gbnf", "broken.json", "none.gbnf", "bad.gbnf"], 1),
    ];
    let mut all = Vec::new();
    for (arguments, code) in table {
        let output = nightjar(folder.path(), &[&["grammar"], arguments].concat(), "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        all.push(format!("$ grammar {}\n{}{}", arguments.join(" "), stdout(&output), stderr(&output)));
    }
    insta::assert_snapshot!(all.join("\n"));
    let usage = nightjar(folder.path(), &["grammar", "list.gbnf", "--tokens", "tiny.gguf"], "");
    assert_eq!(usage.status.code(), Some(2), "{}", stderr(&usage));
}

#[test]
fn a_scenario_whose_grammar_cannot_be_had_is_rejected_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("grammars")).unwrap();
    fs::write(folder.path().join("grammars/list.gbnf"), "root ::= \"[\" item* \"]\"").unwrap();
    let table = [
        ("ollama-2025", None),
        ("olama", Some("there is no grammar `olama`")),
        ("list", Some("grammar `list`, line 1, column 14: there is no rule `item`")),
    ];
    for (grammar, wrong) in table {
        let named = PARCELS.replacen('{', &format!("{{\"grammar\": \"{grammar}\", "), 1);
        fs::write(folder.path().join("parcels.json"), named).unwrap();
        let checked = nightjar(folder.path(), &["check", "parcels.json"], "");
        let swept = nightjar(
            folder.path(),
            &["--set", "models=[]", "--set", "inbox.settle_ms=20", "sweep", "parcels.json"],
            "",
        );
        let code = Some(i32::from(wrong.is_some()));
        assert_eq!((checked.status.code(), swept.status.code()), (code, code), "{}", stderr(&swept));
        if let Some(wrong) = wrong {
            assert!(stdout(&checked).contains(wrong), "{}", stdout(&checked));
            assert!(stdout(&checked).contains("/grammar"), "{}", stdout(&checked));
            assert!(stdout(&checked).starts_with("parcels.json: 1 problem"), "{}", stdout(&checked));
            let rejected = folder.path().join("state/rejected");
            let sidecars = fs::read_dir(rejected).unwrap().map(|entry| entry.unwrap().path());
            let mut sidecars = sidecars.filter(|path| path.to_string_lossy().ends_with(".error.json"));
            let said = |path: std::path::PathBuf| fs::read_to_string(path).unwrap().contains(wrong);
            assert!(sidecars.any(said), "a sidecar says: {wrong}");
        }
    }
    let profile = nightjar(
        folder.path(),
        &["--set", "profiles.greedy.grammar=nothing", "--set", "models=[]", "sweep"],
        "",
    );
    assert!(stderr(&profile).contains("there is no grammar `nothing`"), "{}", stderr(&profile));
    assert_eq!(profile.status.code(), Some(78));
}
