//! The dates that a message states or implies. Knows no case and no schema.

mod words;
mod written;
mod relative;

use jiff::civil::Date;

pub(super) use written::as_date;

use super::tokens::Token;
use relative::Relative;
use written::Written;

/// A weekday is meant within so many days of a date that is stated, or that is a step away from it. A week on it has come
/// round again.
const WEEKDAY_REACH: i32 = 6;

/// What a message says of dates.
#[derive(Debug)]
pub(super) struct Dates {
    /// Stated whole, or by day and month with the year elsewhere.
    stated: Vec<Date>,
    /// A day alone with month and year elsewhere.
    assembled: Vec<Date>,
    /// Months named without a day, whose end or middle may be meant.
    months: Vec<(i16, i8)>,
    relative: Relative,
    weekdays: Vec<jiff::civil::Weekday>,
}

impl Dates {
    pub(super) fn read(tokens: &[Token]) -> Self {
        let written = Written::read(tokens);
        let months =
            written.months.iter().flat_map(|month| written.years.iter().map(move |year| (*year, *month)));
        Self {
            stated: written.completed().into_iter().collect(),
            assembled: written.assembled().into_iter().collect(),
            months: months.collect(),
            relative: Relative::read(tokens),
            weekdays: written.weekdays,
        }
    }

    /// Whether the message states the date, or it follows from one that is stated.
    pub(super) fn ground(&self, date: Date) -> bool {
        self.stated.contains(&date) || self.assembled.contains(&date) || self.follows(date)
    }

    /// By a weekday, a turn of the month, or a distance from what is stated, and the day beside that.
    fn follows(&self, date: Date) -> bool {
        let month_named = self.months.contains(&(date.year(), date.month()));
        if month_named && self.relative.turns_in_named_month(date) {
            return true;
        }
        let known: Vec<Date> = self.stated.iter().chain(&self.assembled).copied().collect();
        if self.relative.names(date, &known, WEEKDAY_REACH) {
            return true;
        }
        let away: Vec<Date> = known.iter().flat_map(|known| self.relative.away_from(*known)).collect();
        let has_beside = |other: &Date| self.relative.beside(*other).any(|found| found == date);
        away.contains(&date)
            || known.iter().chain(&away).any(has_beside)
            || self.relative.names(date, &away, WEEKDAY_REACH)
    }

    /// Whether a small number is how many days lie between two dates or weekdays that are spoken of; the nights of a stay
    /// and the days of a visit differ by one.
    pub(super) fn span(&self, days: i64) -> bool {
        let all = || self.stated.iter().chain(&self.assembled);
        let between = |from: &Date, to: &Date| {
            let length = i64::from((*to - *from).get_days());
            length > 0 && (length == days || length + 1 == days)
        };
        let dates = all().any(|from| all().any(|to| between(from, to)));
        let weekdays = self.weekdays.iter().any(|from| {
            self.weekdays.iter().any(|to| {
                let length = i64::from(from.until(*to));
                length > 0 && (length == days || length + 1 == days)
            })
        });
        dates || weekdays
    }

    /// What is stated, for a message that says what is there instead.
    pub(super) fn stated(&self) -> impl Iterator<Item = Date> {
        self.stated.iter().copied()
    }
}

#[cfg(test)]
mod tests;
