//! One generated sweep, recorded in a database among results that no longer count, and known place by place.

use std::collections::BTreeMap;

use nightjar::decode::engine::frames::Finish;
use nightjar::parse::Parsed;
use nightjar::scenario::Strategy;
use nightjar::score::{Constants, Group, Verdict};
use nightjar::store::{Attempt, GridRow, Judged, Model, ModelId, ModelKind, Outcome, Reader, StoredScenario};
use serde_json::{Value, json};

use crate::support::{World, file, judged, unscored, verdict};

pub(crate) const STRATEGIES: [Strategy; 3] = [Strategy::J, Strategy::P, Strategy::PJPlus];
/// The last model is in no grid: its results come from elsewhere.
pub(crate) const N_MODELS: usize = 3;
const N_REPEATS: u32 = 2;
pub(crate) const SCENARIOS: [&str; 2] = ["loans", "tickets"];
pub(crate) const N_SLOTS: usize = N_MODELS * STRATEGIES.len() * 5 * N_REPEATS as usize;

fn expected() -> [Vec<Value>; 2] {
    let loan = |n: i64| json!({"who": "Aiko Tanaka", "id": null, "items": [{"type": "laptop", "n": n}, {"type": "dock", "n": 1}]});
    [vec![loan(1), loan(2), json!({"who": "Bo"})], vec![json!({"a": "x", "b": [1, 2.5]}), json!({"a": true})]]
}

/// What became of one attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    Missing,
    Errored,
    TooLong,
    Unsupported,
    Output(String),
}

/// An attempt's fate by a number that proptest can shrink; 0 is a flawless answer.
fn fate(kind: u8, expected: &Value) -> Fate {
    let other = json!({"who": "Aiko Tanka", "id": "none", "items": [{"type": "laptop", "n": "1"}, 5], "b": [1], "c": {"d": 1}});
    Fate::Output(match kind {
        0 | 1 => expected.to_string(),
        2 => format!("Sure!\n```json\n{expected}\n```"),
        3 => other.to_string(),
        4 => format!("{other} or {}", json!({"a": "hopelessly different", "b": {"x": 1}})),
        5 => "{}".to_owned(),
        6 => "I cannot.".to_owned(),
        7 => String::new(),
        8 => return Fate::Missing,
        9 => return Fate::Errored,
        10 => return Fate::TooLong,
        _ => return Fate::Unsupported,
    })
}

/// A place of the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) model: usize,
    pub(crate) strategy: Strategy,
    pub(crate) scenario: usize,
    pub(crate) case: usize,
    pub(crate) repeat: u32,
}

fn slots() -> Vec<Slot> {
    let mut slots = Vec::new();
    for model in 0..N_MODELS {
        for strategy in STRATEGIES {
            for (scenario, cases) in expected().iter().enumerate() {
                for case in 0..cases.len() {
                    slots.extend((0..N_REPEATS).map(|repeat| Slot {
                        model,
                        strategy,
                        scenario,
                        case,
                        repeat,
                    }));
                }
            }
        }
    }
    slots
}

/// The same figures as a view's row, summed up one by one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) group: Group,
    pub(crate) wanted: u64,
    pub(crate) clean: u64,
    pub(crate) extracted: u64,
    pub(crate) too_long: u64,
    pub(crate) unsupported: u64,
    pub(crate) n_err: u64,
    pub(crate) with_missing_key: u64,
    pub(crate) with_missing_value: u64,
    pub(crate) with_wrong_value: u64,
}

impl Tally {
    fn add(&mut self, fate: &Fate, expected: &Value, constants: &Constants) {
        self.wanted += 1;
        match fate {
            Fate::Missing => {}
            Fate::Errored => self.group.add(&Verdict::Errored { reason: String::new() }),
            Fate::TooLong => self.too_long += 1,
            Fate::Unsupported => self.unsupported += 1,
            Fate::Output(output) => {
                let (parsed, verdict) = verdict(expected, output, constants);
                self.clean += u64::from(matches!(parsed, Parsed::Clean(_)));
                self.extracted += u64::from(matches!(parsed, Parsed::Extracted(_)));
                self.group.add(&verdict);
                if let Verdict::Differs { counts, .. } = verdict {
                    self.n_err += 1;
                    self.with_missing_key += u64::from(counts.missing_keys > 0);
                    self.with_missing_value += u64::from(counts.missing_values > 0);
                    self.with_wrong_value += u64::from(counts.wrong_values() > 0);
                }
            }
        }
    }

    pub(crate) fn unscored(&self) -> u64 {
        self.too_long + self.unsupported
    }

    pub(crate) fn answered(&self) -> u64 {
        self.group.tests + self.group.errored + self.unscored()
    }
}

/// One generated sweep: recorded in a database, and known slot by slot.
pub(crate) struct Sweep {
    world: World,
    pub(crate) constants: Constants,
    fates: BTreeMap<Slot, Fate>,
    pub(crate) labels: Vec<String>,
}

impl Sweep {
    /// Records the fates, among results that no longer count: of a case since corrected, of a revision since replaced,
    /// of first tries.
    pub(crate) fn new(kinds: &[u8], constants: Constants) -> Sweep {
        let mut world = World::new();
        world.store.set_constants(&constants).expect("constants");
        // Two models of one name: told apart by their hashes.
        let names = ["a", "b", "b"];
        let models: Vec<ModelId> = (0..N_MODELS).map(|i| named(&mut world, names[i], i)).collect();
        let labels = vec!["a".to_owned(), "b sha00001".to_owned(), "b sha00002".to_owned()];
        outdated(&mut world, models[0]);
        for (name, cases) in SCENARIOS.iter().zip(&expected()) {
            world.scenario(&file(name, "now", cases));
        }
        let asked = SCENARIOS.map(|name| world.store.reader().scenario(name).expect("a scenario"));
        let grid: Vec<GridRow> = grid(&models[..N_MODELS - 1], &asked, &world);
        world.store.set_grid(&grid).expect("a grid");
        let mut sweep = Sweep { world, constants, fates: BTreeMap::new(), labels };
        for (slot, kind) in slots().into_iter().zip(kinds) {
            let fate = fate(*kind, &expected()[slot.scenario][slot.case]);
            sweep.record(slot, models[slot.model], &asked[slot.scenario], &fate);
            sweep.fates.insert(slot, fate);
        }
        sweep
    }

    fn record(&mut self, slot: Slot, model: ModelId, asked: &StoredScenario, fate: &Fate) {
        let (case, revision) = (asked.case_ids[slot.case], asked.revision);
        let mut attempt = self.world.attempt(&format!("{slot:?}"), model, slot.strategy, "");
        attempt.repeat = slot.repeat;
        let lost = |attempt: &mut Attempt| {
            attempt.finish = Finish::Errored;
            attempt.error = Some("SIGABRT".to_owned());
            unscored(case, revision, Outcome::Errored)
        };
        let judged: Judged = match fate {
            Fate::Missing => return,
            Fate::Errored => lost(&mut attempt),
            Fate::TooLong => unscored(case, revision, Outcome::PromptTooLong),
            Fate::Unsupported => unscored(case, revision, Outcome::UnsupportedSchema),
            Fate::Output(output) => {
                if slot.repeat == 1 {
                    let mut first = attempt.clone();
                    let first_verdict = lost(&mut first);
                    self.world.store.record(&first, &[first_verdict]).expect("a first try");
                }
                attempt.output.clone_from(output);
                judged(case, revision, &expected()[slot.scenario][slot.case], output, &self.constants)
            }
        };
        self.world.store.record(&attempt, &[judged]).expect("an attempt");
    }

    pub(crate) fn reader(&self) -> &Reader {
        self.world.store.reader()
    }

    /// How often each case of a cell is wanted: by the grid, or by what came without being listed.
    fn repeats(&self, slot: Slot) -> u32 {
        if slot.model < N_MODELS - 1 {
            return N_REPEATS;
        }
        let same_cell = |other: &Slot| {
            (other.model, other.strategy, other.scenario) == (slot.model, slot.strategy, slot.scenario)
        };
        let answered = self.fates.iter().filter(|(other, fate)| same_cell(other) && **fate != Fate::Missing);
        answered.map(|(other, _)| other.repeat + 1).max().unwrap_or(0)
    }

    pub(crate) fn tally(&self, belongs: impl Fn(&Slot) -> bool) -> Tally {
        let mut tally = Tally::default();
        for (slot, fate) in self.fates.iter().filter(|(slot, _)| belongs(slot)) {
            if slot.repeat < self.repeats(*slot) {
                tally.add(fate, &expected()[slot.scenario][slot.case], &self.constants);
            }
        }
        tally
    }

    /// Every (model, strategy) with its tally.
    pub(crate) fn rows(&self) -> Vec<(usize, Strategy, Tally)> {
        let each = (0..N_MODELS).flat_map(|model| STRATEGIES.map(|strategy| (model, strategy)));
        each.map(|(m, s)| (m, s, self.tally(|slot| slot.model == m && slot.strategy == s))).collect()
    }

    pub(crate) fn covers_all_scenarios(&self, model: usize, strategy: Strategy) -> bool {
        (0..SCENARIOS.len()).all(|s| {
            self.tally(|slot| slot.model == model && slot.strategy == strategy && slot.scenario == s).wanted
                > 0
        })
    }
}

/// A model whose hash begins with its number, so that its label is known.
fn named(world: &mut World, name: &str, i: usize) -> ModelId {
    let model = Model {
        kind: ModelKind::Gguf,
        sha256: Some(format!("sha{i:05} and so on")),
        ..Model::external(name)
    };
    world.store.put_model(&model).expect("a model")
}

fn outdated(world: &mut World, model: ModelId) {
    for name in SCENARIOS {
        world.scenario(&file(name, "before", &[json!({"a": "what was asked first"})]));
        world.answer_first(name, &format!("old revision of {name}"), model, "{}");
        world.scenario(&file(name, "now", &[json!({"a": "what was asked next"})]));
        world.answer_first(name, &format!("old case of {name}"), model, "{}");
    }
}

fn grid(models: &[ModelId], asked: &[StoredScenario], world: &World) -> Vec<GridRow> {
    let mut rows = Vec::new();
    for &model in models {
        for strategy in STRATEGIES {
            rows.extend(asked.iter().map(|scenario| GridRow {
                model,
                profile: world.profile,
                strategy,
                scenario: scenario.id,
                repeats: N_REPEATS,
                grammar_sha256: None,
            }));
        }
    }
    rows
}
