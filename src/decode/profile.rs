//! Everything that decides which token is chosen, as one flat value. Part of what identifies an attempt.

use serde::{Deserialize, Serialize};

use super::constraint::{MemberOrder, Policy, Whitespace};

/// A decode profile, resolved: the keys of `[profiles.NAME]` in `config.toml`, where each is explained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.toml explains each key, and is shipped with the program")]
pub struct Profile {
    pub name: String,
    pub temperature: f32,
    pub top_k: u32,
    pub top_p: f32,
    pub min_p: f32,
    pub repeat_penalty: f32,
    pub repeat_last_n: u32,
    pub mask_first: bool,
    pub max_tokens: u32,
    pub context: u32,
    pub timeout_s: u64,
    pub loop_spaces: u32,
    pub loop_tokens: u32,
    pub member_order: MemberOrder,
    pub whitespace: Whitespace,
    /// Left out when empty, so that keys from before it was there stay.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub grammar: String,
    pub thinking: bool,
    pub thinking_tokens: u32,
    pub date: String,
}

impl Profile {
    /// What the profile says of constraints.
    pub fn policy(&self) -> Policy {
        Policy { order: self.member_order, space: self.whitespace, ..Policy::default() }
    }

    /// The same settings without the name, which changes no text.
    #[must_use]
    pub fn unnamed(&self) -> Self {
        Self { name: String::new(), ..self.clone() }
    }

    /// Tokens that a text may have at most, reasoning included.
    pub fn longest_output(&self) -> u32 {
        self.max_tokens + if self.thinking { self.thinking_tokens } else { 0 }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// The first bad key: its name, its value, what it has to be.
    pub fn check(&self) -> Result<(), (&'static str, String, String)> {
        let number = |key, value: f32, low: f32, high: f32| {
            let good = (low..=high).contains(&value);
            if good { Ok(()) } else { Err((key, value.to_string(), format!("between {low} and {high}"))) }
        };
        number("temperature", self.temperature, 0.0, 10.0)?;
        number("top_p", self.top_p, 0.0, 1.0)?;
        number("min_p", self.min_p, 0.0, 1.0)?;
        number("repeat_penalty", self.repeat_penalty, 0.01, 10.0)?;
        for (key, value, low, high) in [
            ("max_tokens", u64::from(self.max_tokens), 1, 1_000_000),
            ("thinking_tokens", u64::from(self.thinking_tokens), 1, 1_000_000),
            ("context", u64::from(self.context), 16, 10_000_000),
            ("timeout_s", self.timeout_s, 0, 86_400),
            ("loop_spaces", u64::from(self.loop_spaces), 1, 1_000_000),
            ("loop_tokens", u64::from(self.loop_tokens), 8, 10_000),
        ] {
            if !(low..=high).contains(&value) {
                return Err((key, value.to_string(), format!("between {low} and {high}")));
            }
        }
        if self.date.parse::<jiff::civil::Date>().is_err() || self.date.len() != "2026-01-01".len() {
            return Err(("date", self.date.clone(), "a date as 2026-01-31".into()));
        }
        Ok(())
    }
}
