//! What one comparison counted, and the scores of a single document. Knows no JSON.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::Constants;

/// Everything that llmstructbench.md, section 3, counts, of one document or summed over many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Keys in the expected JSON
    pub n_keys: u64,
    /// `N_v`: leaves in the expected JSON
    pub n_values: u64,
    /// Members in both
    pub tp_keys: u64,
    /// Keys only in the output, surplus occurrences of a repeated name included
    pub extra_keys: u64,
    /// MK: keys only in the expected JSON
    pub missing_keys: u64,
    /// MV: absent values that no missing key covers
    pub missing_values: u64,
    /// `FN_v`: expected leaves without a value in the output
    pub absent_values: u64,
    /// Strings that differ
    pub deviations: u64,
    /// Numbers or booleans that differ
    pub value_errors: u64,
    /// Scalars of the wrong type with the right text
    pub coercible: u64,
    /// Leaves with a value of the wrong type otherwise
    pub type_errors: u64,
    /// Containers with a value of another kind
    pub structure_errors: u64,
    /// Leaves only in the output
    pub extra_values: u64,
    /// Those of them that are below no member of an extra array element
    pub extra_items: u64,
    /// Σ C(l) over the deviations
    pub credit: f64,
}

impl Counts {
    /// WV: wrong values of all five kinds.
    pub fn wrong_values(&self) -> u64 {
        self.wrong_leaves() + self.structure_errors
    }

    fn wrong_leaves(&self) -> u64 {
        self.deviations + self.value_errors + self.coercible + self.type_errors
    }

    /// Wrong values, extra keys and extra items.
    pub fn mistakes(&self) -> u64 {
        self.wrong_values() + self.extra_keys + self.extra_items
    }

    /// Missing keys and missing values.
    pub fn errors(&self) -> u64 {
        self.missing_keys + self.missing_values
    }

    /// No difference at all.
    pub fn flawless(&self) -> bool {
        self.mistakes() + self.errors() + self.absent_values + self.extra_values == 0
    }

    /// `TP_v`: right values, with partial credit for those that are nearly right.
    pub fn tp_values(&self, constants: &Constants) -> f64 {
        let right = self.n_values as f64 - (self.absent_values + self.wrong_leaves()) as f64;
        (right + self.credit + constants.coercion_credit * self.coercible as f64).max(0.0)
    }

    /// `FP_v`: wrong and extra values.
    pub fn fp_values(&self) -> u64 {
        self.wrong_values() + self.extra_values
    }

    /// F1 over keys.
    pub fn f1_keys(&self) -> f64 {
        f1(self.tp_keys as f64, self.extra_keys, self.missing_keys)
    }

    /// F1 over values.
    pub fn f1_values(&self, constants: &Constants) -> f64 {
        f1(self.tp_values(constants), self.fp_values(), self.absent_values)
    }

    /// The weighted mean of both. Micro-averaged when these are the counts of many documents.
    pub fn f1(&self, constants: &Constants) -> f64 {
        constants.f1_keys_weight * self.f1_keys() + constants.f1_values_weight * self.f1_values(constants)
    }
}

fn f1(tp: f64, fp: u64, fn_: u64) -> f64 {
    let wrong = fp + fn_;
    if tp > 0.0 {
        2.0 * tp / (2.0 * tp + wrong as f64)
    } else if wrong == 0 {
        1.0
    } else {
        0.0
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        // Written out, so that a new field cannot be forgotten.
        let Counts {
            n_keys,
            n_values,
            tp_keys,
            extra_keys,
            missing_keys,
            missing_values,
            absent_values,
            deviations,
            value_errors,
            coercible,
            type_errors,
            structure_errors,
            extra_values,
            extra_items,
            credit,
        } = other;
        self.n_keys += n_keys;
        self.n_values += n_values;
        self.tp_keys += tp_keys;
        self.extra_keys += extra_keys;
        self.missing_keys += missing_keys;
        self.missing_values += missing_values;
        self.absent_values += absent_values;
        self.deviations += deviations;
        self.value_errors += value_errors;
        self.coercible += coercible;
        self.type_errors += type_errors;
        self.structure_errors += structure_errors;
        self.extra_values += extra_values;
        self.extra_items += extra_items;
        self.credit += credit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_by_the_row() {
        let rows =
            [(0.0, 0, 0, 1.0), (0.0, 1, 0, 0.0), (0.0, 0, 1, 0.0), (2.0, 1, 1, 2.0 / 3.0), (0.5, 0, 1, 0.5)];
        for (tp, fp, fn_, expected) in rows {
            assert!((f1(tp, fp, fn_) - expected).abs() < 1e-12, "f1({tp}, {fp}, {fn_})");
        }
    }

    #[test]
    fn penalties_stop_at_zero() {
        let counts = Counts { n_values: 1, deviations: 1, credit: -1.0, ..Counts::default() };
        assert!(counts.tp_values(&Constants::default()).abs() < 1e-12);
        // In a sum they are paid by the other documents.
        let mut sum = Counts { n_values: 3, ..Counts::default() };
        sum += &counts;
        assert!((sum.tp_values(&Constants::default()) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn sums_add_every_field() {
        let ones: serde_json::Map<String, serde_json::Value> =
            match serde_json::to_value(Counts::default()).expect("plain numbers") {
                serde_json::Value::Object(fields) => {
                    fields.into_iter().map(|(name, _)| (name, 1.into())).collect()
                }
                other => unreachable!("a struct is an object, not {other}"),
            };
        let one: Counts = serde_json::from_value(ones.into()).expect("all fields take a 1");
        let mut two = one;
        two += &one;
        let all_two = serde_json::to_string(&one).expect("plain numbers").replace(":1", ":2");
        assert_eq!(serde_json::to_string(&two).expect("plain numbers"), all_two);
    }
}
