//! One schema held against its oracles: the jsonschema crate for texts, the matcher for masks.

use std::sync::Arc;

use jsonschema::Validator;
use nightjar::decode::allowed::Allowed;
use nightjar::decode::constraint::{Constraint, Formats, MemberOrder, Policy, Rules, Spelling, Whitespace};
use nightjar::decode::vocab::{TokenId, Vocab};
use serde_json::Value;

use crate::source::Source;
use crate::support::is_beyond_oracle;

/// A schema, compiled by both.
pub(crate) struct Trial {
    schema: Value,
    validator: Validator,
    policy: Policy,
    rules: Arc<Rules>,
}

impl Trial {
    /// `None` when one of the two refuses the schema.
    pub(crate) fn new(schema: &Value) -> Option<Self> {
        let policy = Policy {
            order: MemberOrder::Any,
            space: Whitespace::Any,
            spelling: Spelling::Any,
            formats: Formats::Annotated,
        };
        let rules = Arc::new(Rules::schema(schema, policy).ok()?);
        let validator = jsonschema::options().build(schema).ok()?;
        Some(Self { schema: schema.clone(), validator, policy, rules })
    }

    /// Both say the same about a value.
    pub(crate) fn agree_on_a_value(&mut self, source: &mut Source<'_>) {
        let value = source.value(3);
        let text = value.to_string();
        let mut constraint = Constraint::new(Arc::clone(&self.rules));
        let mut matcher = constraint.start();
        let n = constraint.advance_all(&mut matcher, text.as_bytes());
        let accepted = n == text.len() && constraint.may_end(&mut matcher);
        let expected = self.validator.is_valid(&value);
        assert_eq!(accepted, expected, "{} on {text}: byte {n}", self.schema);
    }

    /// Writes a text by choice among the allowed tokens, in the default order of members as well.
    pub(crate) fn write(&mut self, vocab: &Arc<Vocab>, source: &mut Source<'_>) {
        let policy = if source.below(2) == 0 {
            self.policy
        } else {
            Policy { formats: Formats::Annotated, ..Policy::default() }
        };
        let rules = Rules::schema(&self.schema, policy).expect("policies refuse nothing");
        let mut allowed = Allowed::new(Arc::new(rules), Arc::clone(vocab));
        let mut matcher = allowed.start();
        while !source.is_dry() {
            let mask: Vec<_> = allowed.mask(&mut matcher).iter().collect();
            let ids = (0..vocab.len() as u32).map(TokenId);
            let checked: Vec<_> = ids.filter(|&token| allowed.check(&mut matcher, token)).collect();
            let at = String::from_utf8_lossy(matcher.text()).into_owned();
            assert_eq!(mask, checked, "{} after {at}", self.schema);
            if mask.is_empty() {
                return;
            }
            let token = mask[source.below(256) * mask.len() / 256];
            assert!(allowed.advance(&mut matcher, token), "{} after {at}", self.schema);
            if allowed.constraint().may_end(&mut matcher) {
                let text = std::str::from_utf8(matcher.text()).expect("accepted text is UTF-8");
                let value: Value = serde_json::from_str(text).expect("accepted text is JSON");
                let valid = is_beyond_oracle(text) || self.validator.is_valid(&value);
                assert!(valid, "{} accepts {text}", self.schema);
            }
            if vocab.is_end(token) {
                return;
            }
        }
    }
}
