//! `nightjar rescore`: every stored text judged again, under the current rules and constants.

use anyhow::Context;
use serde_json::json;

use super::{Exit, Session};
use crate::daemon::{Lock, database};
use crate::judge::Judge;
use crate::plan::Target;
use crate::store::{Rescore, Store, Triple};

/// Verdicts in one transaction: enough to be fast, few enough to keep memory small.
const AT_ONCE: usize = 500;

pub(super) fn run(session: &Session) -> anyhow::Result<Exit> {
    let state = &session.config.paths.state;
    let path = database(state);
    anyhow::ensure!(path.is_file(), "{}: no database yet; nothing has been run", path.display());
    let _lock = Lock::take(state)?;
    let mut store = Store::open(&path).with_context(|| path.display().to_string())?;
    store.set_constants(&session.config.scoring)?;
    let constants = *store.constants();
    let triples = store.reader().to_rescore(Rescore::All)?;
    let mut judge = Judge::default();
    for (done, chunk) in (0..).step_by(AT_ONCE).zip(triples.chunks(AT_ONCE)) {
        session.console.progress(done, triples.len() as u64, "judging");
        let mut verdicts = Vec::with_capacity(chunk.len());
        for &Triple { attempt, case, revision } in chunk {
            let output = store.reader().output(attempt)?;
            let target = Target { case, revision };
            let error = output.error.as_deref();
            let judged =
                judge.judge(store.reader(), &constants, target, output.finish, &output.text, error)?;
            verdicts.push((attempt, judged));
        }
        store.put_verdicts(&verdicts)?;
    }
    session.console.clear();
    session
        .print(&json!({"judged": triples.len()}), || format!("{} verdicts judged again", triples.len()))?;
    Ok(Exit::Done)
}
