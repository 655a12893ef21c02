//! Verdicts to the scores of a group: F1, DOC, Score, strategy points. Section 4 of llmstructbench.md.

use std::ops::AddAssign;

use super::{Constants, Counts, Verdict};

/// Verdicts summed up: those of a (model, strategy, scenario), of one case, of anything that is to have a score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Group {
    /// Attempts that were scored
    pub tests: u64,
    /// Of them: without any difference
    pub flawless: u64,
    /// Of them: without an answer
    pub failed: u64,
    /// Attempts that infrastructure ended; in no score
    pub errored: u64,
    /// Counts of those that were parsed
    pub counts: Counts,
}

impl Group {
    /// Adds an attempt.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Flawless { counts } => {
                self.flawless += 1;
                self.counts += counts;
            }
            Verdict::Differs { counts, .. } => self.counts += counts,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Errored { .. } => {
                self.errored += 1;
                return;
            }
        }
        self.tests += 1;
    }

    /// `F1_micro`: over the summed counts; 0 where nothing was parsed.
    pub fn f1_micro(&self, constants: &Constants) -> f64 {
        if self.tests == self.failed { 0.0 } else { self.counts.f1(constants) }
    }

    /// `DOC_micro`: the share of flawless documents, lowered by the share of failed ones; 0 where nothing was tested.
    pub fn doc_micro(&self) -> f64 {
        let tests = self.tests.max(1) as f64;
        self.flawless as f64 / tests * (1.0 - self.failed as f64 / tests)
    }

    /// The weighted mean of both.
    pub fn score(&self, constants: &Constants) -> f64 {
        constants.score_f1_weight * self.f1_micro(constants) + constants.score_doc_weight * self.doc_micro()
    }

    /// Strategy points.
    pub fn points(&self, constants: &Constants) -> i64 {
        constants.points_flawless * self.flawless as i64
            + constants.points_mistake * self.counts.mistakes() as i64
            + constants.points_error * self.counts.errors() as i64
            + constants.points_failed * self.failed as i64
    }
}

impl AddAssign<&Group> for Group {
    fn add_assign(&mut self, other: &Group) {
        self.tests += other.tests;
        self.flawless += other.flawless;
        self.failed += other.failed;
        self.errored += other.errored;
        self.counts += &other.counts;
    }
}

/// The strategies with the most points for one model, in the order given: all of them on a tie.
pub fn winners<S: Copy>(points: &[(S, i64)]) -> Vec<S> {
    let most = points.iter().map(|(_, points)| *points).max();
    points.iter().filter(|(_, points)| Some(*points) == most).map(|(strategy, _)| *strategy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Failure;

    fn differs(counts: Counts) -> Verdict {
        Verdict::Differs { counts, findings: Vec::new() }
    }

    fn summed(verdicts: &[Verdict]) -> Group {
        let mut group = Group::default();
        for verdict in verdicts {
            group.add(verdict);
        }
        group
    }

    #[test]
    fn a_group_by_hand() {
        let constants = Constants::default();
        let group = summed(&[
            Verdict::Flawless { counts: Counts { n_keys: 2, tp_keys: 2, n_values: 2, ..Counts::default() } },
            differs(Counts {
                n_keys: 2,
                tp_keys: 1,
                missing_keys: 1,
                n_values: 2,
                absent_values: 1,
                ..Counts::default()
            }),
            Verdict::Failed(Failure::Truncated),
            Verdict::Errored { reason: "worker died".to_owned() },
        ]);
        assert_eq!((group.tests, group.flawless, group.failed, group.errored), (3, 1, 1, 1));
        // Both F1s: 3 right, 1 absent. DOC: 1/3 · 2/3.
        let (f1, doc) = (6.0 / 7.0, 2.0 / 9.0);
        assert!((group.f1_micro(&constants) - f1).abs() < 1e-12);
        assert!((group.doc_micro() - doc).abs() < 1e-12);
        assert!((group.score(&constants) - f64::midpoint(f1, doc)).abs() < 1e-12);
        assert_eq!(group.points(&constants), 10 - 2 - 15);
        let mut twice = group;
        twice += &group;
        assert_eq!((twice.tests, twice.flawless, twice.failed, twice.errored), (6, 2, 2, 2));
        assert_eq!(twice.points(&constants), 2 * group.points(&constants));
    }

    #[test]
    fn nothing_parsed_and_nothing_tested_score_nothing() {
        let constants = Constants::default();
        let failed = summed(&[Verdict::Failed(Failure::Empty)]);
        for group in [failed, Group::default()] {
            assert!(group.f1_micro(&constants).abs() + group.score(&constants).abs() < 1e-12, "{group:?}");
        }
        assert_eq!(failed.points(&constants), -15);
    }

    #[test]
    fn ties_all_win() {
        assert_eq!(winners(&[("J", -3), ("P", 7), ("PJ", 7), ("J+", 0)]), ["P", "PJ"]);
        assert_eq!(winners(&[("J", -3)]), ["J"]);
        assert!(winners::<&str>(&[]).is_empty());
    }
}
