//! The numbers that scores are made with: the `[scoring]` section. No formulas beyond a string's credit.

use serde::{Deserialize, Serialize};

/// The constants of llmstructbench.md, section 4, which are also the defaults. Stored with the scores they made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// β: credit for a value of the wrong type with the right text
    pub coercion_credit: f64,
    /// A string up to this relative distance counts as right
    pub full_credit_up_to: f64,
    /// A string from this relative distance on is hopeless and costs a whole value
    pub hopeless_from: f64,
    /// Between the two, credit is this times (1 − distance)
    pub credit_slope: f64,
    /// Share of the keys' F1 in F1
    pub f1_keys_weight: f64,
    /// Share of the values' F1 in F1
    pub f1_values_weight: f64,
    /// Share of F1 in the Score
    pub score_f1_weight: f64,
    /// Share of DOC in the Score
    pub score_doc_weight: f64,
    /// Strategy points for a flawless case
    pub points_flawless: i64,
    /// Strategy points for a mistake
    pub points_mistake: i64,
    /// Strategy points for an error
    pub points_error: i64,
    /// Strategy points for a failed case
    pub points_failed: i64,
}

impl Default for Constants {
    fn default() -> Constants {
        Constants {
            coercion_credit: 0.2,
            full_credit_up_to: 0.1,
            hopeless_from: 2.0,
            credit_slope: 0.5,
            f1_keys_weight: 0.25,
            f1_values_weight: 0.75,
            score_f1_weight: 0.5,
            score_doc_weight: 0.5,
            points_flawless: 10,
            points_mistake: -1,
            points_error: -2,
            points_failed: -15,
        }
    }
}

/// Constants with which scores would leave [0, 1] or mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ConstantsError {
    /// A credit outside [0, 1]
    #[error("{name}: {value} is not between 0 and 1")]
    NotAShare {
        /// The constant
        name: &'static str,
        /// What it was set to
        value: f64,
    },
    /// Two shares of one whole that are not
    #[error("{first} + {second} must be 1, but is {sum}")]
    NotAWhole {
        /// One constant
        first: &'static str,
        /// The other
        second: &'static str,
        /// What they add up to
        sum: f64,
    },
    /// Distances out of order
    #[error("full_credit_up_to ({full}) must be at least 0 and below hopeless_from ({hopeless})")]
    NoOrder {
        /// `full_credit_up_to`
        full: f64,
        /// `hopeless_from`
        hopeless: f64,
    },
}

impl Constants {
    /// Checks that F1, DOC and Score stay within [0, 1].
    pub fn check(&self) -> Result<(), ConstantsError> {
        let shares = [
            ("coercion_credit", self.coercion_credit),
            ("credit_slope", self.credit_slope),
            ("f1_keys_weight", self.f1_keys_weight),
            ("f1_values_weight", self.f1_values_weight),
            ("score_f1_weight", self.score_f1_weight),
            ("score_doc_weight", self.score_doc_weight),
        ];
        for (name, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return Err(ConstantsError::NotAShare { name, value });
            }
        }
        for [(first, one), (second, other)] in [[shares[2], shares[3]], [shares[4], shares[5]]] {
            let sum = one + other;
            // Decimal shares such as 0.7 and 0.3 rarely add up to 1 in binary.
            if (sum - 1.0).abs() > 1e-9 {
                return Err(ConstantsError::NotAWhole { first, second, sum });
            }
        }
        let (full, hopeless) = (self.full_credit_up_to, self.hopeless_from);
        if (0.0..hopeless).contains(&full) { Ok(()) } else { Err(ConstantsError::NoOrder { full, hopeless }) }
    }

    /// C(l): what a string at relative distance `l` from the expected one is worth, from 1 down to −1.
    pub fn credit(&self, l: f64) -> f64 {
        if l <= self.full_credit_up_to {
            1.0
        } else if l < self.hopeless_from {
            self.credit_slope * (1.0 - l)
        } else {
            -1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_by_the_row() {
        let rows = [
            (0.0, 1.0),
            (0.1, 1.0),
            (3.0 / 30.0, 1.0),
            (0.100_001, 0.449_999_5),
            (0.5, 0.25),
            (1.0, 0.0),
            (1.5, -0.25),
            (1.999, -0.4995),
            (2.0, -1.0),
            (17.0, -1.0),
        ];
        for (l, credit) in rows {
            assert!((Constants::default().credit(l) - credit).abs() < 1e-9, "C({l})");
        }
    }

    #[test]
    fn sections_may_be_partial_but_not_misspelt() {
        let partial: Constants =
            toml::from_str("coercion_credit = 0.5\npoints_failed = -20").expect("known keys");
        assert_eq!(partial, Constants { coercion_credit: 0.5, points_failed: -20, ..Constants::default() });
        assert!(
            toml::from_str::<Constants>("coercion = 0.5").unwrap_err().to_string().contains("unknown field")
        );
        let stored = serde_json::to_string(&partial).expect("plain numbers");
        assert_eq!(serde_json::from_str::<Constants>(&stored).expect("what was stored"), partial);
    }

    #[test]
    fn senseless_constants_are_named() {
        let sound = Constants::default();
        assert_eq!(sound.check(), Ok(()));
        let uneven = Constants { f1_keys_weight: 0.7, f1_values_weight: 0.3, ..sound };
        assert_eq!(uneven.check(), Ok(()));
        let told = |constants: Constants| constants.check().unwrap_err().to_string();
        insta::assert_snapshot!(told(Constants { coercion_credit: f64::NAN, ..sound }), @"coercion_credit: NaN is not between 0 and 1");
        insta::assert_snapshot!(told(Constants { score_f1_weight: 0.6, ..sound }), @"score_f1_weight + score_doc_weight must be 1, but is 1.1");
        insta::assert_snapshot!(told(Constants { hopeless_from: 0.1, ..sound }), @"full_credit_up_to (0.1) must be at least 0 and below hopeless_from (0.1)");
    }
}
