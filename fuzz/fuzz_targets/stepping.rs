//! Schemas made from bytes: a value is accepted exactly when the jsonschema crate accepts it, masks are what the matcher
//! says token by token, and a text that is written by choice among the allowed tokens is valid when it ends.

#![no_main]

#[path = "../../tests/support/source.rs"]
mod source;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../tests/support/mod.rs"]
mod support;
#[path = "../../tests/support/trial.rs"]
mod trial;

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use nightjar::decode::vocab::Vocab;

static VOCAB: LazyLock<Arc<Vocab>> = LazyLock::new(|| Arc::new(support::nasty_vocab()));

fuzz_target!(|input: &[u8]| {
    let mut source = source::Source::new(input);
    if let Some(mut trial) = trial::Trial::new(&source.document()) {
        trial.agree_on_a_value(&mut source);
        trial.write(&VOCAB, &mut source);
    }
});
