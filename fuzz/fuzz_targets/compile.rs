//! Any JSON as a schema: it compiles or is refused, and then any bytes are stepped over. No panic, no hang, no memory
//! without bound. The input is a schema, a zero byte, and a text.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use nightjar::decode::constraint::{Constraint, Policy, Rules};

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&byte| byte == 0);
    let (schema, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(schema) = serde_json::from_slice(schema) else { return };
    let Ok(rules) = Rules::schema(&schema, Policy::default()) else { return };
    let mut constraint = Constraint::new(Arc::new(rules));
    let mut matcher = constraint.start();
    constraint.advance_all(&mut matcher, text);
    let next = constraint.next_bytes(&mut matcher);
    for byte in next {
        assert!(constraint.advance(&mut matcher.clone(), byte), "what may come next is accepted");
    }
});
