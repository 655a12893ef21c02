//! Sets of numbers, and whether what is written so far can still become a number of the set. Exact decimals only.

use std::sync::Arc;

use num_bigint::BigInt;
use num_integer::Integer;

use super::decimal::{Decimal, MAX_DIGITS, power};
use super::prefix::{Prefix, exponents};

/// One end of an interval.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Bound {
    pub at: Decimal,
    /// Whether the number itself is outside.
    pub exclusive: bool,
}

impl Bound {
    pub(super) fn closed(at: Decimal) -> Self {
        Self { at, exclusive: false }
    }
}

/// The numbers that meet every part that is given.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct NumberSet {
    pub low: Option<Bound>,
    pub high: Option<Bound>,
    /// A positive number that divides them; 1 for integers.
    pub step: Option<Decimal>,
    /// Draft 4: an integer is written without fraction or exponent.
    pub digits_only: bool,
    /// One of these, sorted.
    pub values: Option<Arc<[Decimal]>>,
}

impl NumberSet {
    /// The set of all integers.
    pub(super) fn integers() -> Self {
        Self { step: Some(Decimal::one()), ..Self::default() }
    }

    /// The numbers in both sets; `None` when their common step would be too long to compute with.
    pub(super) fn intersection(&self, other: &Self) -> Option<Self> {
        let values = match (&self.values, &other.values) {
            (Some(a), Some(b)) => {
                Some(a.iter().filter(|value| b.binary_search(value).is_ok()).cloned().collect())
            }
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let step = match (&self.step, &other.step) {
            (Some(a), Some(b)) => Some(least_common_multiple(a, b)?),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let mut both = Self {
            low: tighter(self.low.as_ref(), other.low.as_ref(), |a, b| a > b),
            high: tighter(self.high.as_ref(), other.high.as_ref(), |a, b| a < b),
            step,
            digits_only: self.digits_only || other.digits_only,
            values: None,
        };
        both.values = values.map(|values: Arc<[Decimal]>| {
            values.iter().filter(|value| both.contains(value)).cloned().collect()
        });
        Some(both)
    }

    /// Whether the number is in the set, spelling aside.
    pub(super) fn contains(&self, number: &Decimal) -> bool {
        above(number, self.low.as_ref())
            && below(number, self.high.as_ref())
            && self.step.as_ref().is_none_or(|step| number.is_multiple_of(step))
            && self.values.as_ref().is_none_or(|values| values.binary_search(number).is_ok())
    }

    /// Whether a complete number is in the set.
    pub(super) fn accepts(&self, text: &str) -> bool {
        !(self.digits_only && text.contains(['.', 'e', 'E']))
            && Decimal::parse(text).is_some_and(|number| self.contains(&number))
    }

    /// Whether no number at all is in the set.
    pub(super) fn is_empty(&self) -> bool {
        match (&self.values, &self.low) {
            (Some(values), _) => values.is_empty(),
            (None, Some(low)) => !self.meets(low, None),
            (None, None) => false,
        }
    }

    /// What is certain about every number that `text` can become; `None` when it still depends.
    ///
    /// With `plain` the text gets neither fraction nor exponent.
    pub(super) fn certain(&self, text: &str, plain: bool) -> Option<bool> {
        if self.digits_only && text.contains(['.', 'e', 'E']) {
            return Some(false);
        }
        let prefix = Prefix::read(text);
        let set = if prefix.negative { self.mirrored() } else { self.clone() };
        if set.holds_from(&prefix, plain) || set.holds_at_any_exponent(&prefix) {
            return Some(true);
        }
        (!set.possible(&prefix, plain || self.digits_only)).then_some(false)
    }

    /// Whether nothing but being an integer is left to show for a positive or negative number that begins so.
    pub(super) fn asks_only_integer(&self, text: &str) -> bool {
        let whole = Self { step: None, ..self.clone() };
        let prefix = Prefix::read(text);
        let set = if prefix.negative { whole.mirrored() } else { whole };
        !self.digits_only && self.step.as_ref().is_some_and(Decimal::is_one) && set.holds_from(&prefix, false)
    }

    /// The set of the opposite numbers, so that below only magnitudes matter.
    fn mirrored(&self) -> Self {
        let flip = |bound: &Bound| Bound { at: bound.at.negated(), exclusive: bound.exclusive };
        Self {
            low: self.high.as_ref().map(flip),
            high: self.low.as_ref().map(flip),
            values: self.values.as_ref().map(|values| values.iter().rev().map(Decimal::negated).collect()),
            ..self.clone()
        }
    }

    /// Whether every number at or above zero that begins so is in the set.
    fn holds_from(&self, prefix: &Prefix<'_>, plain: bool) -> bool {
        let whole = self.step.as_ref().is_none_or(|step| plain && step.is_one());
        let spelled = !self.digits_only || plain;
        let begun = !prefix.digits.is_empty() || prefix.is_zero;
        let no_end = self.values.is_none() && self.high.is_none();
        whole && spelled && begun && no_end && above(&Decimal::zero(), self.low.as_ref())
    }

    /// Whether the digits are complete, and in the set at whatever exponent is being written: both 3 and 5 divide
    /// `15e2`, however it goes on.
    fn holds_at_any_exponent(&self, prefix: &Prefix<'_>) -> bool {
        let (Some(digits), Some(exponent)) = (prefix.digits(), prefix.exponent) else { return false };
        let fits = |exponent| self.contains(&Decimal::new(digits.clone(), exponent - prefix.n_fraction));
        if digits == BigInt::ZERO { fits(0) } else { exponents(exponent).into_iter().all(fits) }
    }

    /// Whether some number that begins so is in the set; `plain` numbers have neither fraction nor exponent.
    fn possible(&self, prefix: &Prefix<'_>, plain: bool) -> bool {
        if let Some(values) = &self.values {
            return values.iter().any(|value| prefix.can_become(value, plain));
        }
        let Some(digits) = prefix.digits() else { return self.meets(&Bound::closed(Decimal::zero()), None) };
        if let Some(exponent) = prefix.exponent {
            let fits = |exponent| self.contains(&Decimal::new(digits.clone(), exponent - prefix.n_fraction));
            return if digits == BigInt::ZERO { fits(0) } else { exponents(exponent).into_iter().any(fits) };
        }
        match (digits == BigInt::ZERO, plain) {
            (true, true) => self.contains(&Decimal::zero()),
            (true, false) => self.meets(&Bound::closed(Decimal::zero()), None),
            (false, true) => self.meets_shifted(&digits, 0, Some(1)),
            // With an exponent the digits may stand at any power of ten.
            (false, false) => {
                self.meets_shifted(&digits, self.smallest_order() - prefix.n_digits() - 1, None)
            }
        }
    }

    /// Whether the set has a number that begins with the digits, their last one worth `10^shift` or more; when
    /// `unit` is given only whole numbers count.
    fn meets_shifted(&self, digits: &BigInt, shift: i64, unit: Option<i64>) -> bool {
        // Up to where the digits are beyond all bounds and what they can become is wider than a step.
        let step = self.step.as_ref().map_or(0, Decimal::order);
        let last = (self.largest_order() - digits.to_string().len() as i64 + 1).max(step).max(shift) + 1;
        (shift..=last).any(|shift| {
            let from = Bound::closed(Decimal::new(digits.clone(), shift));
            let to = match unit {
                Some(unit) => Bound::closed(Decimal::new((digits + 1) * power(shift) - unit, 0)),
                None => Bound { at: Decimal::new(digits + 1, shift), exclusive: true },
            };
            self.meets(&from, Some(&to))
        })
    }

    /// Whether the set, its list of values aside, has a number between the two.
    fn meets(&self, from: &Bound, to: Option<&Bound>) -> bool {
        let low = tighter(self.low.as_ref(), Some(from), |a, b| a > b);
        let high = tighter(self.high.as_ref(), to, |a, b| a < b);
        let (Some(low), Some(high)) = (low, high) else { return true };
        if low.at >= high.at {
            let met = low.at == high.at && !low.exclusive && !high.exclusive;
            return met && self.step.as_ref().is_none_or(|step| low.at.is_multiple_of(step));
        }
        let Some(step) = &self.step else { return true };
        let unit = low.at.unit().min(high.at.unit()).min(step.unit());
        let (from, to, step) = (low.at.in_units(unit), high.at.in_units(unit), step.in_units(unit));
        let mut first = from.div_ceil(&step) * &step;
        if low.exclusive && first == from {
            first += &step;
        }
        first < to || (first == to && !high.exclusive)
    }

    /// Numbers above `10^order` are either all within the bounds or all outside.
    fn largest_order(&self) -> i64 {
        let bounds = [&self.low, &self.high].into_iter().flatten().map(|bound| bound.at.order());
        bounds.max().unwrap_or(0).max(1)
    }

    /// The same for positive numbers below `10^order`.
    fn smallest_order(&self) -> i64 {
        let bounds = [&self.low, &self.high].into_iter().flatten().map(|bound| bound.at.order());
        bounds.min().unwrap_or(0).min(0)
    }
}

fn least_common_multiple(a: &Decimal, b: &Decimal) -> Option<Decimal> {
    let (a, b, unit) = a.aligned(b);
    Some(Decimal::new(a.lcm(&b), unit)).filter(|multiple| multiple.n_digits() <= MAX_DIGITS)
}

fn above(number: &Decimal, low: Option<&Bound>) -> bool {
    low.is_none_or(|bound| *number > bound.at || (*number == bound.at && !bound.exclusive))
}

fn below(number: &Decimal, high: Option<&Bound>) -> bool {
    high.is_none_or(|bound| *number < bound.at || (*number == bound.at && !bound.exclusive))
}

fn tighter(a: Option<&Bound>, b: Option<&Bound>, inner: fn(&Decimal, &Decimal) -> bool) -> Option<Bound> {
    match (a, b) {
        (Some(x), Some(y)) if x.at == y.at => {
            Some(Bound { at: x.at.clone(), exclusive: x.exclusive || y.exclusive })
        }
        (Some(x), Some(y)) => Some(if inner(&x.at, &y.at) { x.clone() } else { y.clone() }),
        (x, y) => x.or(y).cloned(),
    }
}
