//! Dates as they are written out, whole or in parts. No arithmetic.

use std::collections::BTreeSet;

use jiff::civil::{Date, Weekday, date};

use super::words::{feast, is_connector, is_ordinal_ending, month, ordinal, roman, weekday};
use crate::dataset::numbers::{in_words, small};
use crate::dataset::tokens::{Sort, Token};

/// How far a list of days may stand from its month, in tokens.
const REACH: usize = 16;

/// How far a date without a year may be from one with it, in days, to be taken for the nearest of its kind.
const NEAR: i32 = 200;

/// What a message says of dates.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Day, month and year together.
    pub(super) whole: BTreeSet<Date>,
    /// Day and month.
    pub(super) days_of_months: BTreeSet<(i8, i8)>,
    /// Days alone: "the 5th".
    pub(super) days: BTreeSet<i8>,
    pub(super) months: BTreeSet<i8>,
    pub(super) years: BTreeSet<i16>,
    pub(super) weekdays: Vec<Weekday>,
}

impl Written {
    pub(super) fn read(tokens: &[Token]) -> Self {
        let mut written = Self::default();
        for at in 0..tokens.len() {
            written.read_year(tokens, at);
            written.read_digits(tokens, at);
            written.read_day(tokens, at);
            if let Some(month) = month(&tokens[at]) {
                written.read_around(tokens, at, month);
            }
            written.weekdays.extend(weekday(&tokens[at]));
            written.days_of_months.extend(feast(&tokens[at..]));
        }
        written
    }

    /// Every date that day and month with a year of the message make, or with the year of a date nearby.
    pub(super) fn completed(&self) -> BTreeSet<Date> {
        let mut dates = self.whole.clone();
        for &(day, month) in &self.days_of_months {
            dates.extend(self.years.iter().filter_map(|year| Date::new(*year, month, day).ok()));
            for near in &self.whole {
                let around =
                    (near.year() - 1..=near.year() + 1).filter_map(|year| Date::new(year, month, day).ok());
                dates.extend(around.filter(|date| (*date - *near).get_days().abs() <= NEAR));
            }
        }
        dates
    }

    /// Every date that a day alone makes with a month and a year of the message.
    pub(super) fn assembled(&self) -> BTreeSet<Date> {
        let known = self.completed();
        let pairs = self.months.iter().flat_map(|month| self.years.iter().map(move |year| (*year, *month)));
        let months: BTreeSet<(i16, i8)> =
            pairs.chain(known.iter().map(|date| (date.year(), date.month()))).collect();
        let days = |(year, month): (i16, i8)| {
            self.days.iter().filter_map(move |day| Date::new(year, month, *day).ok())
        };
        months.into_iter().flat_map(days).collect()
    }

    fn add(&mut self, year: i64, month: i64, day: i64) {
        let year = if year < 100 { year + 2000 } else { year };
        let (Ok(year), Ok(month), Ok(day)) = (i16::try_from(year), i8::try_from(month), i8::try_from(day))
        else {
            return;
        };
        if let Ok(date) = Date::new(year, month, day)
            && is_year(i64::from(year))
        {
            self.whole.insert(date);
            self.months.insert(month);
            self.years.insert(year);
        }
    }

    fn add_day_of_month(&mut self, day: i64, month: i64) {
        // Leap years have every day that there is.
        if let (Ok(day), Ok(month)) = (i8::try_from(day), i8::try_from(month))
            && Date::new(2024, month, day).is_ok()
        {
            self.days_of_months.insert((day, month));
            self.months.insert(month);
        }
    }

    fn read_year(&mut self, tokens: &[Token], at: usize) {
        let token = &tokens[at];
        if token.text.len() == 4
            && let Some(year) = token.digits().filter(|year| is_year(*year))
        {
            self.years.insert(year as i16);
            // 2024/25
            let next = tokens.get(at + 2).filter(|next| tokens[at + 1].is_mark("/") && next.text.len() == 2);
            if next.and_then(Token::digits) == Some(year % 100 + 1) {
                self.years.insert(year as i16 + 1);
            }
        }
        if token.is_mark("'")
            && let Some(year) =
                tokens.get(at + 1).filter(|next| !next.gap && next.text.len() == 2).and_then(Token::digits)
            && is_year(year + 2000)
        {
            self.years.insert(year as i16 + 2000);
        }
        let after_year = at > 0 && tokens[at - 1].is_word("year");
        if let Some(short) =
            in_words(&tokens[at..]).0.first().filter(|short| after_year && (10.0..60.0).contains(*short))
        {
            self.years.insert(*short as i16 + 2000);
        }
        if token.is_word("twenty") || token.is_word("two") {
            self.years.extend(year_in_words(&tokens[at..]));
        }
    }

    /// `14.05.2024`, `14/5`, `2024-05-14`, `14 05 24`, `20240514`, `14.V.2024`.
    fn read_digits(&mut self, tokens: &[Token], at: usize) {
        let part = |index: usize| tokens.get(at + index);
        let Some(first) = tokens[at].digits() else { return };
        self.read_ideographs(tokens, at, first);
        if tokens[at].text.len() == 8 {
            self.add(first / 10_000, first / 100 % 100, first % 100);
            self.add(first % 10_000, first / 10_000 % 100, first / 1_000_000);
            return;
        }
        let (Some(separator), Some(second)) = (part(1), part(2)) else { return };
        if !matches!(separator.text, "." | "/" | "-" | ",") || separator.gap {
            return self.read_spaced(tokens, at, first);
        }
        let Some(second) = second.digits().or_else(|| roman(second.text).map(i64::from)) else { return };
        // Swedes write 3/1-25.
        let goes_on = |mark: &&Token| {
            !mark.gap && (mark.text == separator.text || (separator.text == "/" && mark.text == "-"))
        };
        let third =
            part(3).filter(goes_on).and(part(4)).and_then(|third| Some((third.digits()?, third.text.len())));
        match third {
            _ if separator.text == "," => {}
            Some((third, _)) if tokens[at].text.len() == 4 => self.add(first, second, third),
            Some((third, 2 | 4)) => {
                self.add(third, second, first);
                if separator.text != "." {
                    self.add(third, first, second);
                    self.add(first, second, third);
                }
            }
            _ => {
                self.add_day_of_month(first, second);
                if separator.text == "/" {
                    self.add_day_of_month(second, first);
                }
            }
        }
    }

    /// `2024年1月26日`, `1月26日`.
    fn read_ideographs(&mut self, tokens: &[Token], at: usize, first: i64) {
        let sign = |index: usize, signs: [char; 2]| {
            tokens.get(at + index).is_some_and(|token| token.text.starts_with(signs))
        };
        let number = |index: usize| tokens.get(at + index).and_then(Token::digits);
        match (number(2), number(4)) {
            (Some(month), Some(day)) if sign(1, ['年', '년']) && sign(3, ['月', '월']) => {
                self.add(first, month, day);
            }
            (Some(day), _) if sign(1, ['月', '월']) && sign(3, ['日', '일']) => {
                self.add_day_of_month(day, first);
            }
            _ => {}
        }
    }

    fn read_spaced(&mut self, tokens: &[Token], at: usize, first: i64) {
        let Some([second, third]) = tokens.get(at + 1..at + 3) else { return };
        if let (Some(month), Some(year), 1..=2, 2, 2 | 4) =
            (second.digits(), third.digits(), tokens[at].text.len(), second.text.len(), third.text.len())
        {
            self.add(year, month, first);
        }
    }

    /// Days without a month beside them: "the 5th", "the fifteenth", "the 5".
    fn read_day(&mut self, tokens: &[Token], at: usize) {
        let stands_alone = |day: i64| i8::try_from(day).ok().filter(|day| (1..=31).contains(day));
        if let Some((day, _)) = ordinal(&tokens[at..]) {
            self.days.extend(stands_alone(day));
        }
        let Some(day) = tokens[at].digits().filter(|_| tokens[at].text.len() <= 2).and_then(stands_alone)
        else {
            return;
        };
        let ends = tokens.get(at + 1).is_some_and(is_ordinal_ending);
        let led = at > 0
            && (weekday(&tokens[at - 1]).is_some()
                || matches!(
                    tokens[at - 1].text,
                    "the" | "den" | "am" | "le" | "el" | "il" | "on" | "till" | "until" | "to" | "from" | "-"
                ));
        if ends || led {
            self.days.insert(day);
        }
    }

    /// The days before and after a month's name, and the year.
    fn read_around(&mut self, tokens: &[Token], at: usize, month: i8) {
        self.months.insert(month);
        let before = days_before(tokens, at);
        let (after, year) = days_and_year_after(tokens, at, !before.is_empty());
        for day in before.iter().chain(&after) {
            self.add_day_of_month(*day, i64::from(month));
            if let Some(year) = year {
                self.add(year, i64::from(month), *day);
            }
        }
        // "2024 May 14", "Date: 2024, 14 May"
        let before = at.checked_sub(1).and_then(|before| tokens[before].digits());
        if let Some(year) = before.filter(|year| is_year(*year)) {
            for day in after {
                self.add(year, i64::from(month), day);
            }
        }
    }
}

fn is_year(year: i64) -> bool {
    (1950..2060).contains(&year)
}

/// "twenty twenty-five", "two thousand and twenty-five".
fn year_in_words(tokens: &[Token]) -> Option<i16> {
    let (first, used) = in_words(tokens);
    let first = *first.first()? as i64;
    // "an' nineteen"
    let joints =
        tokens[used..].iter().take_while(|token| matches!(token.text, "an" | "n" | "and" | "'")).count();
    let second = tokens
        .get(used + joints..)
        .map(in_words)
        .and_then(|(values, _)| values.first().map(|value| *value as i64));
    let year = match second {
        Some(second) if matches!(first, 20 | 2000) && (10..60).contains(&second) => 2000 + second,
        _ => first,
    };
    is_year(year).then_some(year as i16)
}

/// A day in digits or words at a token, and how many tokens it takes.
fn day_at(tokens: &[Token], at: usize) -> Option<(i64, usize)> {
    if let Some(day) = ordinal(&tokens[at..]) {
        return Some(day);
    }
    let token = &tokens[at];
    let is_clock = |mark: Option<&Token>| mark.is_some_and(|mark| mark.is_mark(":") && !mark.gap);
    match token.sort {
        Sort::Digits if token.text.len() <= 2 && !is_clock(tokens.get(at + 1)) => Some((token.digits()?, 1)),
        Sort::Word if small(token.text).is_some() => {
            let (values, used) = in_words(&tokens[at..]);
            values.first().map(|value| (*value as i64, used))
        }
        _ => None,
    }
    .filter(|(day, _)| (1..=31).contains(day))
}

/// The days of the list that ends before a month's name: "14 to 16 May", "Tuesday 11th and Wednesday 12th February".
fn days_before(tokens: &[Token], at: usize) -> Vec<i64> {
    let start = at.saturating_sub(REACH);
    let mut days = Vec::new();
    // Words of a day stand left of its end, so every start is tried, from the month leftwards.
    let mut left = at;
    while left > start {
        let begins = (start..left).find_map(|from| {
            day_at(tokens, from).filter(|(_, used)| from + used == left).map(|(day, _)| (from, day))
        });
        if let Some((from, day)) = begins {
            days.push(day);
            left = from;
        } else if is_connector(&tokens[left - 1]) {
            left -= 1;
        } else {
            break;
        }
    }
    days
}

/// "May 14 to 16, 2024", "May '24", "May 24" (after "14": the year).
fn days_and_year_after(tokens: &[Token], at: usize, has_days: bool) -> (Vec<i64>, Option<i64>) {
    let mut days = Vec::new();
    let mut right = at + 1;
    while right < tokens.len().min(at + REACH) {
        let token = &tokens[right];
        if let Some(year) = token.digits().filter(|year| token.text.len() == 4 && is_year(*year)) {
            return (days, Some(year));
        }
        let whole_year_follows =
            tokens[right + 1..].iter().take(2).any(|next| next.text.len() == 4 && next.digits().is_some());
        let is_short = token.text.len() == 2
            && token.digits().is_some_and(|year| is_year(year + 2000))
            && !whole_year_follows;
        if is_short && (tokens[right - 1].is_mark("'") || (has_days && days.is_empty() && right <= at + 2)) {
            return (days, token.digits().map(|year| year + 2000));
        }
        if let Some(year) = year_in_words(&tokens[right..]) {
            return (days, Some(i64::from(year)));
        }
        match day_at(tokens, right) {
            Some((day, used)) => {
                days.push(day);
                right += used;
            }
            None if is_connector(token) => right += 1,
            None => break,
        }
    }
    // After "14 May", further numbers belong to something else, unless a year follows: "room 3 May 14, 2024".
    (if has_days { Vec::new() } else { days }, None)
}

/// What a value of `expected` may be that has the shape of a date: `14.05.2024`, `2024-05-14`, and, in either order of day and
/// month, `14/05/2024`. None where the calendar has no such day.
pub(in crate::dataset) fn as_date(value: &str) -> Option<Vec<Date>> {
    let parts: Vec<&str> = value.split(['.', '-', '/']).collect();
    let separators: Vec<char> = value.chars().filter(|c| !c.is_ascii_digit()).collect();
    let [first, second, third] = parts[..] else { return None };
    if separators.len() != 2 || separators[0] != separators[1] {
        return None;
    }
    let orders = match (first.len(), second.len(), third.len(), separators[0]) {
        (2, 2, 4, '.') => vec![[third, second, first]],
        (2, 2, 4, '/') => vec![[third, second, first], [third, first, second]],
        (4, 2, 2, '-') => vec![[first, second, third]],
        _ => return None,
    };
    let date = |[year, month, day]: [&str; 3]| {
        Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
    };
    let mut dates: Vec<Date> = orders.into_iter().filter_map(date).collect();
    dates.dedup();
    Some(dates)
}

/// The last day of a date's month.
pub(super) fn month_end(of: Date) -> Date {
    date(of.year(), of.month(), of.days_in_month())
}
