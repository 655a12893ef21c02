//! Files from the inbox into the store, and the plan made anew. No rules of files: the inbox has them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{Floor, now};
use crate::daemon::Error;
use crate::hash;
use crate::inbox::{Claimed, Contents, Moved, Taken};
use crate::plan::{self, Attempt, Contestant, Known, Question, Subject, Target};
use crate::scenario::{Constrained, Problem};
use crate::store::{
    AttemptId, GridRow, InboxFile, Judged, Rescore, ScenarioId, Stored, StoredScenario, Triple,
};

/// A file that cannot be put away is tried again at growing intervals; a sweep does not wait for one that has come to
/// intervals longer than this.
const LONGEST_SETTLING: Duration = Duration::from_secs(10);

impl Floor {
    /// Takes what is there, stores it, puts it away, and plans anew if anything changed.
    pub(super) fn on_inbox(&mut self) -> Result<(), Error> {
        let turn = self.inbox.take(SystemTime::now());
        for error in &turn.errors {
            tracing::warn!("{error}");
        }
        self.inbox_idle = turn.taken.is_empty() && turn.look_again.is_none_or(|wait| wait > LONGEST_SETTLING);
        self.inbox_trouble = !turn.errors.is_empty();
        if let Some(wait) = turn.look_again {
            self.watch.within(wait);
        }
        let mut changed = false;
        for taken in turn.taken {
            changed |= self.store_taken(taken)?;
        }
        if !self.inbox_idle {
            // What was put away may have been replaced meanwhile, and events of our own moves are no hints.
            self.watch.within(Duration::from_millis(self.config.inbox.settle_ms));
        }
        if changed { self.replan() } else { Ok(()) }
    }

    /// Stores one file and moves it away; true when that changed what is to be run.
    fn store_taken(&mut self, taken: Taken) -> Result<bool, Error> {
        let at = now();
        let Taken { claimed, contents } = taken;
        let contents = contents.and_then(|contents| match &contents {
            Contents::Scenario(checked) => match self.grammars.problem(&checked.scenario) {
                Some(problem) => Err(vec![problem]),
                None => Ok(contents),
            },
            Contents::Cases(_) => Ok(contents),
        });
        let stored = match contents {
            Err(problems) => {
                self.reject(&claimed, &problems)?;
                return Ok(false);
            }
            Ok(Contents::Scenario(checked)) => self.store.put_scenario(&file(&claimed, &at), &checked),
            Ok(Contents::Cases(checked)) => self.store.put_cases(&file(&claimed, &at), &checked),
        };
        match stored {
            Err(error) => {
                self.inbox.put_back(&claimed, SystemTime::now());
                Err(error.into())
            }
            Ok(Stored::UnknownScenarios(problems)) => {
                self.reject(&claimed, &problems)?;
                Ok(false)
            }
            Ok(stored) => {
                tracing::info!("{}: {}", claimed.name, in_words(&stored));
                let moved = self.inbox.done(&claimed, SystemTime::now());
                log_move(&claimed, moved);
                Ok(matches!(stored, Stored::Changed(_)))
            }
        }
    }

    fn reject(&mut self, claimed: &Claimed, problems: &[Problem]) -> Result<(), Error> {
        let moved = self.inbox.reject(claimed, problems, SystemTime::now());
        self.n_rejected += 1;
        // Entered once it is away, or a file that cannot be moved would be entered at every try.
        if let Ok(Moved::To(_)) = &moved {
            self.store.put_rejected(&claimed.name, claimed.sha256.as_deref(), problems, &now())?;
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            tracing::warn!("{} is rejected: {first} ({} problems)", claimed.name, problems.len());
        }
        log_move(claimed, moved);
        Ok(())
    }

    /// Plans from what is stored: the grid, verdicts that only have to be made, attempts that have to be run.
    pub(super) fn replan(&mut self) -> Result<(), Error> {
        let stored = self.store.reader().scenarios()?;
        let contestants: Vec<Contestant> = self.models.iter().map(|m| m.contestant.clone()).collect();
        let mut grid = Vec::new();
        let mut questions = Vec::new();
        let failed_before = std::mem::take(&mut self.failed_scenarios);
        for scenario in stored {
            let name = scenario.scenario.name.clone();
            let grammar = self.grammar(&scenario);
            grid.extend(self.grid(scenario.id, grammar.as_ref().ok().and_then(Option::as_ref)));
            // One scenario whose templates fail, or whose grammar is gone, must not keep the others from running.
            match grammar.and_then(|grammar| self.questions(scenario, grammar)) {
                Ok(asked) => questions.extend(asked),
                Err(error) => {
                    let failed = format!("{name}: {error}");
                    if !failed_before.contains(&failed) {
                        tracing::warn!("scenario {failed}");
                    }
                    self.failed_scenarios.push(failed);
                }
            }
        }
        self.store.set_grid(&grid)?;
        let attempts = plan::expand(&questions, &contestants, &self.sweep);
        let known = self.store.reader().known_attempts()?;
        let plan = plan::split(attempts, |key| known.get(&key.0).map(state));
        self.link(plan.done.iter().chain(&plan.errored), &known)?;
        self.n_done = plan.done.len();
        self.n_errored = plan.errored.len();
        let (unsupported, missing): (Vec<_>, Vec<_>) =
            plan.missing.into_iter().partition(|attempt| attempt.unsupported.is_some());
        for attempt in unsupported {
            self.record_unsupported(&attempt)?;
        }
        self.dispatch.plan(missing);
        Ok(())
    }

    /// What J and PJ are held to in a scenario, if it is not any JSON; read anew, since the file may have changed.
    fn grammar(&self, stored: &StoredScenario) -> Result<Option<Arc<str>>, String> {
        let of_profile = Some(&self.sweep.profile.grammar).filter(|name| !name.is_empty());
        let name = stored.scenario.grammar.as_ref().or(of_profile);
        name.map(|name| self.grammars.find(name)).transpose().map_err(|e| e.to_string())
    }

    fn questions(&self, stored: StoredScenario, grammar: Option<Arc<str>>) -> Result<Vec<Question>, String> {
        let StoredScenario { scenario, revision, case_ids: cases, .. } = stored;
        let subject = Subject { scenario, revision, grammar, cases };
        plan::questions(&subject, &self.sweep).map_err(|e| e.to_string())
    }

    /// What is wanted of every model in a scenario.
    fn grid(&self, scenario: ScenarioId, grammar: Option<&Arc<str>>) -> Vec<GridRow> {
        let sha256 = grammar.map(|text| hash::sha256(text.as_bytes()));
        let mut grid = Vec::new();
        for model in &self.models {
            for &strategy in &self.sweep.strategies {
                let held = strategy.constrained() == Constrained::Json;
                grid.push(GridRow {
                    model: model.id(),
                    profile: self.profile,
                    strategy,
                    scenario,
                    repeats: self.sweep.repeats,
                    grammar_sha256: sha256.clone().filter(|_| held),
                });
            }
        }
        grid
    }

    /// Texts that are there already and answer a case or revision that came later: only a verdict is to be made.
    fn link<'a>(
        &mut self,
        attempts: impl Iterator<Item = &'a Attempt>,
        known: &HashMap<String, crate::store::Known>,
    ) -> Result<(), Error> {
        let judged = self.store.reader().judged()?;
        let mut verdicts = Vec::new();
        for attempt in attempts {
            let id = known[&attempt.key.0].attempt;
            let triple =
                |target: &Target| Triple { attempt: id, case: target.case, revision: target.revision };
            for target in attempt.targets.iter().filter(|target| !judged.contains(&triple(target))) {
                verdicts.push((id, self.judge_stored(id, *target)?));
            }
        }
        for Triple { attempt, case, revision } in self.store.reader().unlinked_external()? {
            verdicts.push((attempt, self.judge_stored(attempt, Target { case, revision })?));
        }
        self.store.put_verdicts(&verdicts)?;
        Ok(())
    }

    fn judge_stored(&mut self, attempt: AttemptId, target: Target) -> Result<Judged, Error> {
        let output = self.store.reader().output(attempt)?;
        let constants = *self.store.constants();
        let reader = self.store.reader();
        let error = output.error.as_deref();
        Ok(self.judge.judge(reader, &constants, target, output.finish, &output.text, error)?)
    }

    /// Verdicts by constants that are no longer in force are made again.
    pub(super) fn rescore_stale(&mut self) -> Result<(), Error> {
        let mut verdicts = Vec::new();
        for Triple { attempt, case, revision } in self.store.reader().to_rescore(Rescore::Stale)? {
            verdicts.push((attempt, self.judge_stored(attempt, Target { case, revision })?));
        }
        self.store.put_verdicts(&verdicts)?;
        Ok(())
    }
}

fn state(known: &crate::store::Known) -> Known {
    use crate::decode::engine::frames::Finish;
    match known.finish {
        Finish::Errored => Known::Errored(known.tries),
        Finish::UnsupportedSchema => Known::Unsupported,
        _ => Known::Done,
    }
}

fn file<'a>(claimed: &'a Claimed, at: &'a str) -> InboxFile<'a> {
    InboxFile { name: &claimed.name, sha256: claimed.sha256.as_deref().unwrap_or_default(), at }
}

fn in_words(stored: &Stored) -> String {
    match stored {
        Stored::Duplicate => "was stored before, nothing changes".into(),
        Stored::UnknownScenarios(problems) => format!("{} unknown scenarios", problems.len()),
        Stored::Changed(changes) => {
            let what = match (changes.new_scenario, changes.new_revision) {
                (true, _) => "new scenario",
                (false, true) => "new revision",
                (false, false) => "same revision",
            };
            format!("stored, {what}, {} cases added, {} retired", changes.added, changes.retired)
        }
    }
}

fn log_move(claimed: &Claimed, moved: Result<Moved, crate::inbox::Error>) {
    match moved {
        Ok(moved) => tracing::debug!("{}: {moved:?}", claimed.name),
        Err(error) => tracing::warn!("{error}; it is stored, stays where it is and is tried again"),
    }
}
