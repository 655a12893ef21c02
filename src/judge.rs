//! A stored text to a verdict: parse and score, with the case and the revision it answers. No SQL, no rules of scoring.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::decode::engine::frames::Finish;
use crate::parse::{AnswerRules, Json, answer};
use crate::plan::Target;
use crate::score::{self, Constants};
use crate::store::{self, CaseId, Judged, Judgement, Outcome, Reader, RevisionId};

/// Judges texts, keeping what cases and revisions need.
#[derive(Default)]
pub struct Judge {
    rules: HashMap<RevisionId, AnswerRules>,
    expected: HashMap<CaseId, Json>,
}

/// Why a text could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A stored schema that the validator refuses; it was good when it was stored.
    #[error("schema of revision {revision}: {message}")]
    Schema {
        /// Its row.
        revision: i64,
        /// What the validator says.
        message: String,
    },
}

impl Judge {
    /// How a text that ended with `finish` answers a case. Attempts that were not carried out are never scored.
    ///
    /// # Errors
    /// When the case or the revision cannot be read.
    pub fn judge(
        &mut self,
        reader: &Reader,
        constants: &Constants,
        target: Target,
        finish: Finish,
        output: &str,
        error: Option<&str>,
    ) -> Result<Judged, Error> {
        let unscored = |outcome| Judgement::unscored(outcome, error.map(str::to_owned));
        let judgement = match finish {
            Finish::Errored => unscored(Outcome::Errored),
            Finish::PromptTooLong => unscored(Outcome::PromptTooLong),
            Finish::UnsupportedSchema => unscored(Outcome::UnsupportedSchema),
            _ => {
                let parsed = answer(output, self.rules(reader, target.revision)?, finish.is_cut_off());
                let verdict = score::judge(self.expected(reader, target.case)?, &parsed, constants);
                Judgement::new(&parsed, verdict)
            }
        };
        Ok(Judged { case: target.case, revision: target.revision, judgement })
    }

    fn rules(&mut self, reader: &Reader, revision: RevisionId) -> Result<&AnswerRules, Error> {
        match self.rules.entry(revision) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let rules = AnswerRules::new(&reader.schema(revision)?)
                    .map_err(|e| Error::Schema { revision: revision.0, message: e.to_string() })?;
                Ok(place.insert(rules))
            }
        }
    }

    fn expected(&mut self, reader: &Reader, case: CaseId) -> Result<&Json, Error> {
        match self.expected.entry(case) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(reader.expected(case)?)),
        }
    }
}
