//! Any text as a grammar in GBNF: it compiles or is refused with a place in it, and then any bytes are stepped over. The
//! input is a grammar, a zero byte, and a text.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use nightjar::decode::constraint::{Constraint, Rules};

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&byte| byte == 0);
    let (grammar, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(grammar) = std::str::from_utf8(grammar) else { return };
    let rules = match Rules::grammar(grammar) {
        Ok(rules) => rules,
        Err(error) => {
            let n_lines = grammar.split(['\n', '\r']).count();
            assert!((1..=n_lines).contains(&error.line), "line {} of {n_lines}", error.line);
            return;
        }
    };
    let mut constraint = Constraint::new(Arc::new(rules));
    let mut matcher = constraint.start();
    constraint.advance_all(&mut matcher, text);
    for byte in constraint.next_bytes(&mut matcher) {
        assert!(constraint.advance(&mut matcher.clone(), byte), "what may come next is accepted");
    }
});
