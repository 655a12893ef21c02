//! Exact decimal numbers as JSON writes them. No floating point.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// Larger powers of ten are refused rather than computed with.
pub(super) const MAX_EXPONENT: i64 = 5_000;
/// A schema's numbers have at most so many digits, written without exponent; arithmetic with longer ones takes time that grows with the square.
pub(super) const MAX_DIGITS: i64 = 1_000;

/// `digits × 10^exponent`, with no trailing zero in `digits`; zero has exponent 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Decimal {
    digits: BigInt,
    exponent: i64,
    /// Count of decimal digits in `digits`.
    length: i64,
}

impl Decimal {
    /// `digits × 10^exponent`.
    pub(super) fn new(digits: BigInt, exponent: i64) -> Self {
        if digits.sign() == Sign::NoSign {
            return Self { digits, exponent: 0, length: 1 };
        }
        let text = digits.magnitude().to_string();
        let zeros = text.len() - text.trim_end_matches('0').len();
        let digits = if zeros == 0 { digits } else { digits / power(zeros as i64) };
        Self { digits, exponent: exponent + zeros as i64, length: (text.len() - zeros) as i64 }
    }

    /// The number a JSON text stands for; `None` when it is none or its exponent is beyond [`MAX_EXPONENT`].
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.checked_sub(fraction.len() as i64)?;
        let number = Self::new(digits, exponent);
        (number.exponent.abs() <= MAX_EXPONENT).then_some(number)
    }

    /// A schema's number; `None` when it is too long or too large to compute with.
    pub(super) fn of(number: &serde_json::Number) -> Option<Self> {
        let text = number.to_string();
        let number = (text.len() as i64 <= MAX_DIGITS).then(|| Self::parse(&text))?;
        number.filter(|number| number.exponent.abs() <= MAX_DIGITS)
    }

    /// 0.
    pub(super) fn zero() -> Self {
        Self::new(BigInt::ZERO, 0)
    }

    /// 1.
    pub(super) fn one() -> Self {
        Self::new(BigInt::from(1), 0)
    }

    /// The opposite number.
    pub(super) fn negated(&self) -> Self {
        Self { digits: -&self.digits, ..self.clone() }
    }

    /// Whether it is 1.
    pub(super) fn is_one(&self) -> bool {
        *self == Self::one()
    }

    /// The power of ten that its last digit counts.
    pub(super) fn unit(&self) -> i64 {
        self.exponent
    }

    /// Whether it is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.digits.sign() == Sign::NoSign
    }

    /// Whether it is below zero.
    pub(super) fn is_negative(&self) -> bool {
        self.digits.sign() == Sign::Minus
    }

    /// Count of its digits, trailing zeros aside.
    pub(super) fn n_digits(&self) -> i64 {
        self.length
    }

    /// The digits, without sign, trailing zeros or point.
    pub(super) fn digits(&self) -> String {
        self.digits.magnitude().to_string()
    }

    /// The power of ten just above the magnitude: 1 for 5, 2 for 10, 0 for 0.5.
    pub(super) fn order(&self) -> i64 {
        self.length + self.exponent
    }

    /// Both numbers as integers of the same unit `10^unit`.
    pub(super) fn aligned(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let unit = self.exponent.min(other.exponent);
        (self.in_units(unit), other.in_units(unit), unit)
    }

    /// The number divided by `10^unit`, which must be whole.
    pub(super) fn in_units(&self, unit: i64) -> BigInt {
        &self.digits * power(self.exponent - unit)
    }

    /// Whether it is a whole multiple of a positive number.
    pub(super) fn is_multiple_of(&self, step: &Self) -> bool {
        let (number, step, _) = self.aligned(step);
        number % step == BigInt::ZERO
    }
}

/// `10^exponent`.
pub(super) fn power(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).expect("units are chosen so that powers are not negative"))
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| number.digits.sign();
        if sign(self) != sign(other) || self.is_zero() {
            return sign(self).cmp(&sign(other));
        }
        // Magnitudes first: aligning 1e300 with 1e-300 would build 600 digits for nothing.
        match self.order().cmp(&other.order()) {
            Ordering::Equal => {
                let (a, b, _) = self.aligned(other);
                a.cmp(&b)
            }
            order if self.is_negative() => order.reverse(),
            order => order,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).expect(text)
    }

    #[test]
    fn equal_numbers_are_equal_however_written() {
        for (a, b) in [("1.0", "1"), ("100", "1e2"), ("0", "-0.00"), ("0.1", "1E-1"), ("-250", "-2.5e+2")] {
            assert_eq!(number(a), number(b), "{a} and {b}");
        }
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let sorted = ["-1e300", "-10", "-9.99", "-0.1", "0", "1e-300", "0.1", "0.11", "9", "10", "1e300"];
        for pair in sorted.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
            assert!(number(pair[1]) > number(pair[0]), "{pair:?}");
        }
    }

    #[test]
    fn multiples_are_exact() {
        assert!(number("0.3").is_multiple_of(&number("0.1")));
        assert!(!number("1e40").is_multiple_of(&number("7e-1")));
        assert!(!number("0.35").is_multiple_of(&number("0.1")));
    }

    #[test]
    fn absurd_exponents_are_refused() {
        assert_eq!(Decimal::parse("1e99999999999"), None);
        assert_eq!(Decimal::parse("1e6000"), None);
    }
}
