//! Dates that follow from others: "tomorrow", "a week later", "on Friday", "at the end of the month". Reads no dates.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::words::{month, weekday};
use super::written::month_end;
use crate::dataset::numbers::in_words;
use crate::dataset::tokens::{Sort, Token};

/// A length of time that a message names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    /// Onwards, or back where negative.
    Exactly(i32),
    Days(i32),
    WorkingDays(i32),
    Weeks(i32),
    Months(i32),
}

impl Distance {
    fn doubled(self) -> Option<Self> {
        match self {
            Self::Exactly(_) => None,
            Self::Days(n) => Some(Self::Days(2 * n)),
            Self::WorkingDays(n) => Some(Self::WorkingDays(2 * n)),
            Self::Weeks(n) => Some(Self::Weeks(2 * n)),
            Self::Months(n) => Some(Self::Months(2 * n)),
        }
    }
}

/// A place in a month or a year that a message speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The end of something, or the last.
    End,
    /// The end of a month without a name.
    MonthEnd,
    YearEnd,
    Middle,
    Start,
    /// A month without a name.
    Month,
}

/// What a message says of times in relation to others.
#[derive(Debug, Default)]
pub(super) struct Relative {
    pub(super) distances: Vec<Distance>,
    pub(super) weekdays: Vec<Weekday>,
    turns: Vec<Turn>,
    /// Months whose end is spoken of.
    month_ends: Vec<i8>,
    pub(super) quarters: Vec<i8>,
    /// Calendar weeks.
    pub(super) weeks: Vec<i8>,
}

/// Words that belong together stand so near to one another.
const CLOSE: usize = 4;

/// Longer spans are not counted in days by people.
const LONGEST: i64 = 1000;

impl Relative {
    pub(super) fn read(tokens: &[Token]) -> Self {
        let mut relative = Self::default();
        for at in 0..tokens.len() {
            relative.read_distance(tokens, at);
            relative.read_word(tokens, at);
            relative.weekdays.extend(weekday(&tokens[at]));
        }
        if tokens.iter().any(|token| matches!(token.text, "double" | "twice" | "doubled")) {
            let doubled =
                relative.distances.iter().filter_map(|distance| distance.doubled()).collect::<Vec<_>>();
            relative.distances.extend(doubled);
        }
        relative.distances.sort_unstable();
        relative.distances.dedup();
        relative
    }

    fn read_word(&mut self, tokens: &[Token], at: usize) {
        let next = tokens.get(at + 1);
        let number = || next.and_then(Token::digits).and_then(|number| i8::try_from(number).ok());
        match tokens[at].text {
            "end" | "ends" | "ending" | "last" | "close" | "ultimo" | "ende" | "fin" | "fine" | "final"
            | "slutet" | "einde" | "through" | "out" | "whole" | "entire" | "eom" => {
                self.turns.push(Turn::End);
                self.read_end(tokens, at);
            }
            "middle" | "mid" | "mitte" | "half" => self.turns.push(Turn::Middle),
            "start" | "beginning" | "begin" | "anfang" | "first" | "early" => self.turns.push(Turn::Start),
            word if is_month(word) => self.turns.push(Turn::Month),
            "week" | "cw" | "kw" | "wk" | "vecka" | "uge" => self.weeks.extend(number()),
            "q" => self.quarters.extend(number().filter(|quarter| (1..=4).contains(quarter))),
            "weekend" => self.weekdays.extend([Weekday::Saturday, Weekday::Sunday]),
            _ => self.distances.extend(neighbour(tokens, at).into_iter().map(Distance::Exactly)),
        }
    }

    /// "the end of June", "the last day of the month", "month's end".
    fn read_end(&mut self, tokens: &[Token], at: usize) {
        let after = tokens[at + 1..].iter().take(CLOSE);
        let around = tokens[at.saturating_sub(CLOSE - 1)..at].iter().chain(after.clone());
        self.month_ends.extend(after.filter_map(month));
        for token in around {
            self.turns.extend(is_month(token.text).then_some(Turn::MonthEnd));
            self.turns.extend(is_year(token.text).then_some(Turn::YearEnd));
        }
        self.turns.extend(tokens[at].is_word("eom").then_some(Turn::MonthEnd));
    }

    /// "two weeks", "a fortnight", "ten working days", "the next month", "5d".
    fn read_distance(&mut self, tokens: &[Token], at: usize) {
        let (count, used) = match tokens[at].sort {
            Sort::Digits => (tokens[at].digits().unwrap_or(LONGEST), 1),
            Sort::Word if is_one(tokens[at].text) => (1, 1),
            Sort::Word => match in_words(&tokens[at..]) {
                (values, used) if !values.is_empty() => (values[0] as i64, used),
                _ => return self.read_bare(tokens[at].text),
            },
            Sort::Mark => return,
        };
        if count >= LONGEST {
            return;
        }
        let mut working = false;
        for token in tokens[at + used..].iter().take(4) {
            match token.text {
                "working" | "business" | "work" | "workdays" | "school" => working = true,
                "more" | "full" | "further" | "additional" | "extra" | "calendar" | "whole" | "-" | "and"
                | "of" | "to" | "or" | "consecutive" | "good" | "entire" | "half" | "a" | "other" => {}
                "day" if count == 1 => return,
                unit => return self.distances.extend(distance(unit, count as i32, working)),
            }
        }
    }

    fn read_bare(&mut self, word: &str) {
        match word {
            "fortnight" => self.distances.push(Distance::Weeks(2)),
            "week" | "woche" | "semaine" | "semana" => self.distances.push(Distance::Weeks(1)),
            "month" | "monat" | "mois" => self.distances.push(Distance::Months(1)),
            "quarter" => self.distances.push(Distance::Months(3)),
            "year" => self.distances.push(Distance::Months(12)),
            _ => {}
        }
    }

    /// Every date that a span of time leads to from `date`.
    pub(super) fn away_from(&self, date: Date) -> impl Iterator<Item = Date> {
        let spans = self.distances.iter().filter(|distance| !matches!(distance, Distance::Exactly(_)));
        spans.flat_map(move |distance| reached(date, *distance))
    }

    /// The dates next to `date` that are spoken of ("the day after").
    pub(super) fn beside(&self, date: Date) -> impl Iterator<Item = Date> {
        let beside = self.distances.iter().filter(|distance| matches!(distance, Distance::Exactly(_)));
        beside.flat_map(move |distance| reached(date, *distance))
    }

    fn says(&self, turn: Turn) -> bool {
        self.turns.contains(&turn)
    }

    /// Whether `date` is the end or the middle of its month, which is named without a day, and that is spoken of.
    pub(super) fn turns_in_named_month(&self, date: Date) -> bool {
        let ends = self.says(Turn::MonthEnd) || self.month_ends.contains(&date.month());
        (ends && month_end(date) == date) || (self.says(Turn::Middle) && date.day() == 15)
    }

    /// Whether `date` is a weekday or a turn of month, year, quarter or week that is spoken of, seen from `known`.
    pub(super) fn names(&self, date: Date, known: &[Date], within: i32) -> bool {
        let near = |days: i32| known.iter().any(|other| (date - *other).get_days().abs() <= days);
        let weekday = self.weekdays.contains(&date.weekday()) && near(within);
        let week = self.weeks.contains(&date.iso_week_date().week()) && near(400);
        let quarter = self.quarters.contains(&((date.month() + 2) / 3));
        let is_end = month_end(date) == date;
        let quarter_end = self.says(Turn::End) && is_end && date.month() % 3 == 0 && quarter;
        let quarter_start = date.day() == 1 && date.month() % 3 == 1 && quarter;
        weekday || week || quarter_end || quarter_start || self.turns(date, near(62), near(366))
    }

    fn turns(&self, date: Date, month_near: bool, year_near: bool) -> bool {
        let is_end = month_end(date) == date;
        let end_of_month = self.says(Turn::MonthEnd) && is_end && month_near;
        let start_of_month =
            self.says(Turn::Start) && self.says(Turn::Month) && date.day() == 1 && month_near;
        let end_of_year = self.says(Turn::YearEnd) && is_end && date.month() == 12 && year_near;
        let middle = self.says(Turn::Middle) && self.says(Turn::Month) && date.day() == 15 && month_near;
        end_of_month || start_of_month || end_of_year || middle
    }
}

/// How far "tomorrow", "the next day" or "the day before that" reaches; both ways where the date that is stated may be either
/// end ("yesterday (1 October)").
fn neighbour(tokens: &[Token], at: usize) -> Vec<i32> {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.text);
    let beyond = at >= 2 && word(at - 2) == "day";
    match (word(at), word(at + 1)) {
        (
            "tomorrow" | "morgen" | "demain" | "mañana" | "domani" | "amanhã" | "imorgon" | "tmrw" | "tmr"
            | "morrow" | "yesterday" | "gestern" | "hier" | "ayer" | "ieri" | "ontem" | "igår",
            _,
        ) => {
            if beyond {
                vec![2, -2]
            } else {
                vec![1, -1]
            }
        }
        ("übermorgen" | "overmorrow", _) => vec![2],
        ("next" | "following", "day" | "morning") | ("day", "after" | "later" | "following") => vec![1],
        ("previous" | "preceding", "day" | "evening")
        | ("day", "before" | "earlier" | "prior")
        | ("eve", "of")
        | ("last", "night" | "evening") => vec![-1],
        _ => Vec::new(),
    }
}

fn is_month(word: &str) -> bool {
    matches!(word, "month" | "months" | "monat" | "monats" | "mois" | "mes" | "mese" | "månaden" | "maand")
}

fn is_year(word: &str) -> bool {
    matches!(word, "year" | "jahr" | "jahres" | "année" | "año" | "anno" | "året" | "jaar")
}

fn is_one(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "one"
            | "another"
            | "next"
            | "following"
            | "single"
            | "last"
            | "previous"
            | "same"
            | "each"
    )
}

fn distance(unit: &str, count: i32, working: bool) -> Option<Distance> {
    Some(match unit {
        _ if working && unit.starts_with("day") => Distance::WorkingDays(count),
        "workdays" | "weekdays" | "werktage" => Distance::WorkingDays(count),
        "day" | "days" | "d" | "tag" | "tage" | "tagen" | "jour" | "jours" | "día" | "días" | "giorni"
        | "dias" | "dagar" | "dagen" | "dage" | "night" | "nights" | "shifts" | "mornings" | "nächte"
        | "nuits" | "noches" => Distance::Days(count),
        "week" | "weeks" | "wk" | "wks" | "w" | "woche" | "wochen" | "semaine" | "semaines" | "semana"
        | "semanas" | "settimane" | "veckor" | "weken" | "uger" => Distance::Weeks(count),
        "fortnight" | "fortnights" => Distance::Weeks(2 * count),
        "month" | "months" | "mo" | "monat" | "monate" | "monaten" | "mois" | "mes" | "meses" | "mesi"
        | "månader" | "maanden" => Distance::Months(count),
        "quarter" | "quarters" => Distance::Months(3 * count),
        "year" | "years" | "jahr" | "jahre" => Distance::Months(12 * count),
        _ => return None,
    })
}

/// The dates at a distance, either way; people count the first day in as often as not, and a week of work ends on Friday.
fn reached(date: Date, distance: Distance) -> Vec<Date> {
    let days = |days: i32| date.checked_add(days.days()).ok();
    let found: Vec<Option<Date>> = match distance {
        Distance::Exactly(n) => vec![days(n)],
        Distance::Days(n) => vec![days(n), days(-n), days(n - 1)],
        Distance::Weeks(n) => vec![days(7 * n), days(-7 * n), days(7 * n - 1), days(7 * n - 3)],
        Distance::WorkingDays(n) => {
            vec![working_days(date, n), working_days(date, n - 1), working_days(date, -n)]
        }
        Distance::Months(n) => {
            let later = date.checked_add(n.months()).ok();
            let earlier = date.checked_sub(n.months()).ok();
            let before = later.and_then(|later| later.checked_sub(1.day()).ok());
            // From the end of February to the end of August, not to its 28th.
            let ends = [later, earlier].map(|other| other.filter(|_| month_end(date) == date).map(month_end));
            [vec![later, earlier, before], ends.to_vec()].concat()
        }
    };
    found.into_iter().flatten().collect()
}

/// So many days on (or back), Saturdays and Sundays not counted.
fn working_days(from: Date, count: i32) -> Option<Date> {
    let step = count.signum();
    let mut date = from;
    let mut left = count.abs();
    while left > 0 {
        date = date.checked_add(step.days()).ok()?;
        if !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday) {
            left -= 1;
        }
    }
    Some(date)
}
