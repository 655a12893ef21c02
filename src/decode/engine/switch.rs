//! Off, on, or where it suits the device.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A setting that can decide for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Never.
    Off,
    /// Where it suits the device.
    Auto,
    /// Always.
    On,
}

impl Switch {
    /// What is left to decide once it is known whether `auto` may be on at all.
    #[must_use]
    pub fn only_if(self, suits: bool) -> Self {
        if self == Self::Auto && !suits { Self::Off } else { self }
    }

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::On => "on",
        }
    }
}

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Off, Self::Auto, Self::On];
        all.into_iter().find(|one| one.as_str() == text).ok_or_else(|| format!("{text}: not off, auto or on"))
    }
}
