//! A database in a temporary folder, and short ways to fill it. No assertions.

use std::path::PathBuf;

use nightjar::decode::engine::frames::Finish;
use nightjar::parse::{AnswerRules, Json, answer};
use nightjar::scenario::{self, Checked, CheckedLines, Strategy};
use nightjar::score::{self, Constants, Verdict};
use nightjar::store::{
    Attempt, AttemptId, CaseId, InboxFile, Judged, Judgement, Model, ModelId, ModelKind, NewRun, Outcome,
    ProfileId, RevisionId, RunCommand, RunId, Store, Stored,
};
use serde_json::{Value, json};

pub(crate) const NOW: &str = "2026-11-29T20:00:00.000Z";

/// An open database that goes away with its folder, with a run and a profile in it.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: Store,
    pub(crate) run: RunId,
    pub(crate) profile: ProfileId,
    n_files: u32,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = Store::open(&folder.path().join("night.db")).expect("a new database");
        let run = store.begin_run(&new_run()).expect("a run");
        let profile = store.put_profile("greedy", "p1", &json!({"temperature": 0})).expect("a profile");
        World { folder, store, run, profile, n_files: 0 }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("night.db")
    }

    /// Drops a scenario file in.
    pub(crate) fn scenario(&mut self, file: &Value) -> Stored {
        let sha256 = file.to_string();
        self.store
            .put_scenario(&InboxFile { name: "s.json", sha256: &sha256, at: NOW }, &checked(file))
            .expect("a stored scenario")
    }

    /// Drops a file of case lines in.
    pub(crate) fn lines(&mut self, lines: &[Value]) -> Stored {
        self.n_files += 1;
        let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        let checked: CheckedLines = scenario::parse_cases(&text).expect("good lines");
        let sha256 = format!("lines {}", self.n_files);
        self.store
            .put_cases(&InboxFile { name: "c.jsonl", sha256: &sha256, at: NOW }, &checked)
            .expect("stored lines")
    }

    pub(crate) fn model(&mut self, name: &str) -> ModelId {
        let model =
            Model { kind: ModelKind::Gguf, sha256: Some(format!("sha of {name}")), ..Model::external(name) };
        self.store.put_model(&model).expect("a model")
    }

    pub(crate) fn attempt(&self, key: &str, model: ModelId, strategy: Strategy, output: &str) -> Attempt {
        Attempt {
            key: key.to_owned(),
            run: self.run,
            model,
            profile: self.profile,
            strategy,
            repeat: 0,
            seed: Some(7),
            prompt_sha256: None,
            grammar_sha256: None,
            output: output.to_owned(),
            finish: Finish::Stop,
            error: None,
            error_log: None,
            cost: None,
            started_at: NOW.to_owned(),
            finished_at: NOW.to_owned(),
        }
    }

    /// Records an output as the answer to the first current case of a scenario.
    pub(crate) fn answer_first(
        &mut self,
        scenario: &str,
        key: &str,
        model: ModelId,
        output: &str,
    ) -> AttemptId {
        let asked = self.store.reader().scenario(scenario).expect("a scenario");
        let (case, stored) = asked.cases().next().expect("a case");
        let verdict = judged(case, asked.revision, &stored.expected, output, self.store.constants());
        let attempt = self.attempt(key, model, Strategy::J, output);
        self.store.record(&attempt, &[verdict]).expect("a recorded attempt")
    }
}

pub(crate) fn new_run() -> NewRun<'static> {
    static CONFIG: Value = Value::Null;
    NewRun {
        command: RunCommand::Sweep,
        version: "0.1.0",
        engine: None,
        host: None,
        config: &CONFIG,
        pid: 1,
        started_at: NOW,
    }
}

pub(crate) fn checked(file: &Value) -> Checked {
    scenario::parse(&file.to_string()).expect("a good scenario file")
}

/// A scenario file with cases named `c0`, `c1`, … that expect these values.
pub(crate) fn file(name: &str, description: &str, expected: &[Value]) -> Value {
    let cases: Vec<Value> = expected
        .iter()
        .enumerate()
        .map(|(i, expected)| json!({"id": format!("c{i}"), "text": format!("message {i}"), "expected": expected}))
        .collect();
    json!({
        "name": name,
        "description": "about nothing",
        "schema": {"type": "object", "description": description},
        "examples": [{"text": "an example", "json": {"a": 1}}],
        "cases": cases,
    })
}

/// What the daemon would make of an output.
pub(crate) fn verdict(
    expected: &Value,
    output: &str,
    constants: &Constants,
) -> (nightjar::parse::Parsed, Verdict) {
    let parsed = answer(output, &AnswerRules::without_schema(), false);
    let verdict = score::judge(&Json::from(expected), &parsed, constants);
    (parsed, verdict)
}

pub(crate) fn judged(
    case: CaseId,
    revision: RevisionId,
    expected: &Value,
    output: &str,
    constants: &Constants,
) -> Judged {
    let (parsed, verdict) = verdict(expected, output, constants);
    Judged { case, revision, judgement: Judgement::new(&parsed, verdict) }
}

pub(crate) fn unscored(case: CaseId, revision: RevisionId, outcome: Outcome) -> Judged {
    Judged {
        case,
        revision,
        judgement: Judgement::unscored(outcome, Some("worker killed by SIGKILL".to_owned())),
    }
}
