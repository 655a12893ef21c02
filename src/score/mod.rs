//! Expected against output: counts, findings, scores. Pure.

mod constants;
mod counts;
mod compare;
mod metrics;
mod interval;

pub use compare::{Comparison, Finding, FindingKind, MAX_EXCERPT, compare};
pub use constants::{Constants, ConstantsError};
pub use counts::Counts;
pub use interval::{Interval, bootstrap, wilson};
pub use metrics::{Group, winners};

use crate::parse::{Failure, Json, Parsed};

/// How an attempt ended, judged against what was expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// An answer without any difference (the paper's "correct")
    Flawless {
        /// What was compared
        counts: Counts,
    },
    /// An answer that differs
    Differs {
        /// How often, by kind
        counts: Counts,
        /// Where
        findings: Vec<Finding>,
    },
    /// The model gave no answer
    Failed(Failure),
    /// The attempt ended by no fault of the model's; never scored
    Errored {
        /// What happened
        reason: String,
    },
}

impl Verdict {
    /// The verdict's name in reports and files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Flawless { .. } => "flawless",
            Verdict::Differs { .. } => "differs",
            Verdict::Failed(_) => "failed",
            Verdict::Errored { .. } => "errored",
        }
    }

    /// What was counted, where there was an answer to count in.
    pub fn counts(&self) -> Option<&Counts> {
        match self {
            Verdict::Flawless { counts } | Verdict::Differs { counts, .. } => Some(counts),
            Verdict::Failed(_) | Verdict::Errored { .. } => None,
        }
    }
}

/// Judges what was found in an output.
pub fn judge(expected: &Json, parsed: &Parsed, constants: &Constants) -> Verdict {
    match parsed.found() {
        Err(failure) => Verdict::Failed(failure),
        Ok(found) => {
            let Comparison { counts, findings } = compare(expected, &found.value, constants);
            if counts.flawless() {
                Verdict::Flawless { counts }
            } else {
                Verdict::Differs { counts, findings }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{AnswerRules, answer};

    #[test]
    fn each_output_gets_its_verdict() {
        let expected = Json::from_text(r#"{"a":1}"#).expect("test text reads");
        let rows = [
            (r#"{"a":1.0}"#, "flawless", 0),
            (r#"I say {"a":1}"#, "flawless", 0),
            (r#"{"a":2}"#, "differs", 1),
            (r#"{"b":1}"#, "differs", 2),
            ("[1]", "failed", 0),
        ];
        for (output, name, n_findings) in rows {
            let parsed = answer(output, &AnswerRules::without_schema(), false);
            let verdict = judge(&expected, &parsed, &Constants::default());
            assert_eq!(verdict.as_str(), name, "{output}");
            match &verdict {
                Verdict::Differs { findings, .. } => assert_eq!(findings.len(), n_findings, "{output}"),
                other => assert_eq!(other.counts().is_some(), name == "flawless", "{output}"),
            }
        }
        let parsed = answer("{", &AnswerRules::without_schema(), true);
        assert_eq!(judge(&expected, &parsed, &Constants::default()), Verdict::Failed(Failure::Truncated));
    }
}
