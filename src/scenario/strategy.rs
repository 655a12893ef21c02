//! The five strategies of `LLMStructBench`: what the decoding is held to, and what the prompt tells.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::problem::nearest;

/// How a model is asked (`LLMStructBench`, section III): is the output constrained, is the structure described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Strategy {
    /// `J`: held to any JSON; the prompt says nothing about the structure.
    J,
    /// `P`: not held to anything; the prompt shows schema and examples.
    P,
    /// `PJ`: held to any JSON; the prompt shows schema and examples.
    PJ,
    /// `J+`: held to the schema; the prompt says nothing about the structure.
    JPlus,
    /// `PJ+`: held to the schema; the prompt shows schema and examples.
    PJPlus,
}

/// What the output is held to while it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constrained {
    /// Nothing.
    No,
    /// Any JSON.
    Json,
    /// The scenario's JSON Schema.
    Schema,
}

/// No strategy has this tag.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy `{tag}`; {right}")]
pub struct UnknownStrategy {
    /// What was given.
    pub tag: String,
    /// What would be right.
    pub right: String,
}

impl Strategy {
    /// All five, in the order in which tables list them.
    pub const ALL: [Strategy; 5] =
        [Strategy::J, Strategy::P, Strategy::PJ, Strategy::JPlus, Strategy::PJPlus];

    /// The paper's name for it.
    pub fn tag(self) -> &'static str {
        match self {
            Strategy::J => "J",
            Strategy::P => "P",
            Strategy::PJ => "PJ",
            Strategy::JPlus => "J+",
            Strategy::PJPlus => "PJ+",
        }
    }

    /// What the output is held to.
    pub fn constrained(self) -> Constrained {
        match self {
            Strategy::P => Constrained::No,
            Strategy::J | Strategy::PJ => Constrained::Json,
            Strategy::JPlus | Strategy::PJPlus => Constrained::Schema,
        }
    }

    /// Whether the prompt shows the schema and the examples.
    pub fn structured(self) -> bool {
        matches!(self, Strategy::P | Strategy::PJ | Strategy::PJPlus)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(tag: &str) -> Result<Strategy, UnknownStrategy> {
        let tags = Strategy::ALL.map(Strategy::tag);
        Strategy::ALL.into_iter().find(|strategy| strategy.tag() == tag).ok_or_else(|| {
            let near = nearest(tag, tags).map(|near| format!("the nearest is `{near}`, "));
            let right = format!("{}all are {}", near.unwrap_or_default(), tags.join(", "));
            UnknownStrategy { tag: tag.to_owned(), right }
        })
    }
}

impl From<Strategy> for &'static str {
    fn from(strategy: Strategy) -> &'static str {
        strategy.tag()
    }
}

impl TryFrom<String> for Strategy {
    type Error = UnknownStrategy;

    fn try_from(tag: String) -> Result<Strategy, UnknownStrategy> {
        tag.parse()
    }
}
