//! A JSON number as it was written, compared by its exact decimal value. No floating point lives here.

use std::cmp::Ordering;
use std::fmt;

/// A JSON number, kept as its text.
///
/// Two numbers are equal when they are numerically equal, however they are written and however long they are
/// (`1` = `1.0` = `10e-1`). Only exponents that do not fit in 64 bits are treated as the nearest that does.
/// Invariant: the text follows RFC 8259's `number` rule.
#[derive(Debug, Clone)]
pub struct Number(String);

impl Number {
    /// Takes text that the reader has already checked against RFC 8259's `number` rule.
    pub(super) fn from_checked(text: String) -> Number {
        Number(text)
    }

    /// The number as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `text` is how this number reads: plain decimal digits without needless zeros, and without a point
    /// when the number is whole (`42.0` reads `42`, `1e2` reads `100`, `0.50` reads `0.5`, `-0` reads `0`).
    pub fn reads_as(&self, text: &str) -> bool {
        let decimal = Decimal::of(&self.0);
        // Spelling out 1e999999999 would take a gigabyte, so the length is compared first.
        decimal.plain_len() == text.len() as u64 && decimal.plain() == text
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.0 == other.0 || Decimal::of(&self.0) == Decimal::of(&other.0)
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `digits` × 10^`exponent`, without leading or trailing zeros, so that equal numbers have equal fields.
/// Zero has no digits, exponent 0 and no sign.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Decimal {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = format!("{whole}{fraction}");
        let kept = written.trim_end_matches('0');
        let dropped = written.len() - kept.len();
        let digits = kept.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Decimal { negative: false, digits, exponent: 0 };
        }
        let exponent = saturating_exponent(exponent)
            .saturating_add(dropped as i64)
            .saturating_sub(fraction.len() as i64);
        Decimal { negative, digits, exponent }
    }

    /// The length of [`Decimal::plain`], computed without writing it.
    fn plain_len(&self) -> u64 {
        let n_digits = self.digits.len() as u64;
        let beside = self.exponent.unsigned_abs();
        let unsigned = match self.exponent.cmp(&0) {
            Ordering::Equal => n_digits.max(1),
            Ordering::Greater => n_digits.saturating_add(beside),
            Ordering::Less if beside >= n_digits => beside.saturating_add(2),
            Ordering::Less => n_digits + 1,
        };
        unsigned.saturating_add(u64::from(self.negative))
    }

    fn plain(&self) -> String {
        let digits = &self.digits;
        let beside = self.exponent.unsigned_abs() as usize;
        let unsigned = match self.exponent.cmp(&0) {
            Ordering::Equal if digits.is_empty() => "0".to_owned(),
            Ordering::Equal => digits.clone(),
            Ordering::Greater => format!("{digits}{}", "0".repeat(beside)),
            Ordering::Less if beside >= digits.len() => format!("0.{digits:0>beside$}"),
            Ordering::Less => {
                let (whole, fraction) = digits.split_at(digits.len() - beside);
                format!("{whole}.{fraction}")
            }
        };
        if self.negative { format!("-{unsigned}") } else { unsigned }
    }
}

fn saturating_exponent(text: &str) -> i64 {
    // The only way a checked exponent fails to parse is by its size.
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::from_checked(text.to_owned())
    }

    #[test]
    fn equal_values_are_equal_however_written() {
        let classes: &[&[&str]] = &[
            &["0", "-0", "0.0", "-0.0e5", "0e99999999999999999999"],
            &["1", "1.0", "1.000", "10e-1", "0.1E+1", "1e0", "1e-0", "100e-2"],
            &["100", "1e2", "1E+2", "10.0e1", "100.00"],
            &["-1.5", "-15e-1", "-0.15e1"],
            &["9007199254740993"],
            &["9007199254740992", "9007199254740992.0"],
            &["0.1"],
            &["0.1000000000000000055511151231257827"],
            &["1e400", "10e399"],
            &["1e401"],
        ];
        for (i, left) in classes.iter().enumerate() {
            for (j, right) in classes.iter().enumerate() {
                for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
                    assert_eq!(number(a) == number(b), i == j, "{a} and {b}");
                }
            }
        }
    }

    #[test]
    fn a_number_reads_as_one_text_only() {
        let rows = [
            ("42", "42"),
            ("42.0", "42"),
            ("-42.00", "-42"),
            ("1e2", "100"),
            ("1.5e1", "15"),
            ("0.50", "0.5"),
            ("5e-3", "0.005"),
            ("-12.340", "-12.34"),
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1e25", "10000000000000000000000000"),
        ];
        for (written, text) in rows {
            assert!(number(written).reads_as(text), "{written} reads {text}");
            for other in [format!("{text}.0"), format!("+{text}"), format!("0{text}"), format!(" {text}")] {
                assert!(!number(written).reads_as(&other), "{written} does not read {other}");
            }
        }
        assert!(!number("1e999999999999").reads_as("1"), "and takes no gigabyte to say so");
        assert!(!number("1e-99999999999999999999").reads_as("0"));
    }

    proptest! {
        #[test]
        fn agrees_with_floats_on_shortest_text(x in -1e15_f64..1e15) {
            let shortest = format!("{x}");
            let scientific = format!("{x:e}");
            prop_assert!(number(&shortest).reads_as(&shortest));
            prop_assert!(number(&scientific).reads_as(&shortest));
            prop_assert_eq!(number(&shortest), number(&scientific));
        }

        #[test]
        fn agrees_with_integers_on_equality(a in -2000_i128..2000, b in -2000_i128..2000, shift in 0_usize..12) {
            let left = format!("{a}e-{shift}");
            let right = format!("{}{}e-{}", b, "0".repeat(shift), 2 * shift);
            prop_assert_eq!(number(&left) == number(&right), a == b);
        }
    }
}
