//! Text that constraints leave no choice about: read in one go, without logits.

use std::time::Instant;

use super::branch::Branch;
use super::{Worker, end};
use crate::decode::engine::Model;
use crate::decode::engine::frames::Reply;
use crate::decode::sequence::Step;
use crate::decode::vocab::TokenId;

/// Bytes that are looked ahead: enough for the longest names, and little work where a schema spells out whole texts.
const LIMIT: usize = 256;

impl Worker<'_> {
    /// Adds to a branch what all of its attempts are forced to write, as the tokens that the model's tokenizer makes of it.
    ///
    /// The last of these tokens is left to be chosen: the model may prefer one that goes on beyond the forced text.
    pub(super) fn force(&mut self, branch: &mut Branch, now: Instant, emit: &mut dyn FnMut(Reply)) {
        let forced = self.forced(branch);
        let mut tokens = canonical(self.model, &forced);
        tokens.pop();
        for token in tokens {
            let mut staying = Vec::new();
            for mut seat in branch.seats.drain(..) {
                let key = seat.constraint.as_ref();
                let allowed = key.and_then(|key| self.constraints.get_mut(key)?.as_mut().ok());
                match seat.sequence.take_forced(token, self.model.vocab(), allowed) {
                    Step::Stop(finish) => end(seat, finish, None, now, emit),
                    Step::Feed(_) | Step::Broken => staying.push(seat),
                }
            }
            branch.seats = staying;
            if branch.seats.is_empty() {
                return;
            }
            branch.push(token);
        }
    }

    /// The bytes that every attempt of a branch is forced to write.
    fn forced(&mut self, branch: &mut Branch) -> Vec<u8> {
        let mut common: Option<Vec<u8>> = None;
        for seat in &mut branch.seats {
            let key = seat.constraint.as_ref();
            let allowed = key.and_then(|key| self.constraints.get_mut(key)?.as_mut().ok());
            let limit = common.as_ref().map_or(LIMIT, Vec::len);
            let mut forced = allowed.map_or(Vec::new(), |allowed| seat.sequence.forced(allowed, limit));
            if let Some(common) = &common {
                let n = forced.iter().zip(common).take_while(|(a, b)| a == b).count();
                forced.truncate(n);
            }
            if forced.is_empty() {
                return forced;
            }
            common = Some(forced);
        }
        common.unwrap_or_default()
    }
}

/// The tokenizer's tokens of a text; none where they do not spell it (some put a blank in front).
fn canonical(model: &dyn Model, text: &[u8]) -> Vec<TokenId> {
    let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
    if text.is_empty() {
        return Vec::new();
    }
    let tokens = model.tokenize(text);
    let spelt: Vec<u8> = tokens.iter().flat_map(|token| model.vocab().piece(*token)).copied().collect();
    if spelt == text.as_bytes() { tokens } else { Vec::new() }
}
