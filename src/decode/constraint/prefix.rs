//! A JSON number as far as it is written. Knows no set of numbers.

use num_bigint::BigInt;

use super::decimal::Decimal;

/// Exponents in JSON text have at most so many digits; longer ones are refused rather than computed with.
pub(super) const EXPONENT_DIGITS: usize = 3;

/// Numbers on whose digits something depends are written with at most so many bytes: what is computed for every byte
/// grows with their count.
pub(super) const MAX_BYTES: usize = 400;

/// Numbers with larger exponents, either way, are never written: programs that read JSON overflow on them.
pub(super) const MAX_EXPONENT: i64 = 308;

/// The parts of a number as far as it is written.
pub(super) struct Prefix<'a> {
    magnitude: &'a str,
    pub negative: bool,
    /// Digits before and after the point, without leading zeros.
    pub digits: String,
    /// How many of the digits written stand after the point.
    pub n_fraction: i64,
    /// The integer part is a lone zero.
    pub is_zero: bool,
    /// Sign and digits of the exponent, once there is an `e`.
    pub exponent: Option<&'a str>,
}

impl<'a> Prefix<'a> {
    /// Takes apart what the lexer has let through.
    pub(super) fn read(text: &'a str) -> Self {
        let negative = text.starts_with('-');
        let magnitude = text.trim_start_matches('-');
        let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (magnitude, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").trim_start_matches('0').to_owned();
        Self {
            magnitude,
            negative,
            digits,
            n_fraction: fraction.len() as i64,
            is_zero: whole == "0",
            exponent,
        }
    }

    /// The digits as an integer; `None` when only a sign is written.
    pub(super) fn digits(&self) -> Option<BigInt> {
        match self.digits.as_str() {
            "" if !self.is_zero => None,
            "" => Some(BigInt::ZERO),
            digits => digits.parse().ok(),
        }
    }

    /// How many digits are written, leading zeros aside.
    pub(super) fn n_digits(&self) -> i64 {
        self.digits.len() as i64
    }

    /// Whether a spelling of the number, whose sign is this prefix's when it is positive here, begins so; `plain` ones
    /// have neither fraction nor exponent.
    pub(super) fn can_become(&self, value: &Decimal, plain: bool) -> bool {
        if value.is_negative() {
            return false;
        }
        if let Some(exponent) = self.exponent {
            let digits = self.digits().unwrap_or(BigInt::ZERO);
            let fits = |exponent| Decimal::new(digits.clone(), exponent - self.n_fraction) == *value;
            return if digits == BigInt::ZERO {
                value.is_zero()
            } else {
                exponents(exponent).into_iter().any(fits)
            };
        }
        if plain {
            return value.unit() >= 0 && plain_text(value).starts_with(self.magnitude);
        }
        if value.is_zero() {
            return self.digits.is_empty();
        }
        let digits = value.digits();
        digits.starts_with(&self.digits) || digits == self.digits.trim_end_matches('0')
    }
}

/// The number written out without exponent.
pub(super) fn plain_text(value: &Decimal) -> String {
    let digits = value.digits();
    let unit = value.unit();
    let sign = if value.is_negative() { "-" } else { "" };
    if unit >= 0 {
        return format!("{sign}{digits}{}", "0".repeat(unit as usize));
    }
    let n_fraction = unit.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = n_fraction + 1);
    let (whole, fraction) = padded.split_at(padded.len() - n_fraction);
    format!("{sign}{whole}.{fraction}")
}

/// Every exponent that begins with the characters, as far as the lexer lets them through.
pub(super) fn exponents(text: &str) -> Vec<i64> {
    let signs: &[i64] = match text.as_bytes().first() {
        Some(b'-') => &[-1],
        Some(_) => &[1],
        None => &[1, -1],
    };
    let written = text.trim_start_matches(['+', '-']);
    let mut found = Vec::new();
    for n_more in 0..=EXPONENT_DIGITS.saturating_sub(written.len()) {
        let first = written.parse::<i64>().unwrap_or(0) * 10i64.pow(n_more as u32);
        let last = first + 10i64.pow(n_more as u32);
        found.extend(
            (first..last.min(MAX_EXPONENT + 1))
                .flat_map(|exponent| signs.iter().map(move |sign| sign * exponent)),
        );
    }
    found
}
