//! The numbers that a message states: in digits with any separators, in words, with `k` or `million` behind them.

use super::tokens::{Sort, Token};

/// Larger than rounding in sums of cents, smaller than any difference that counts.
const SAME: f64 = 1e-6;

/// Sums are made of numbers that are at least this part of one another.
const COUNTS: f64 = 0.01;

/// The smallest number that two others can make up.
const LEAST_IMPLIED: f64 = 100.0;

/// What a message says in numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    values: Vec<f64>,
}

impl Numbers {
    /// Reads every number, in every way in which it can be read: `1.250` is both 1250 and 1.25.
    pub(super) fn read(tokens: &[Token]) -> Self {
        let mut values = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let (found, length) = match tokens[at].sort {
                Sort::Digits => in_digits(&tokens[at..]),
                Sort::Word => in_words(&tokens[at..]),
                Sort::Mark => (Vec::new(), 1),
            };
            values.extend(found);
            at += length.max(1);
        }
        Self { values }
    }

    /// Whether the number is stated.
    pub(super) fn state(&self, wanted: f64) -> bool {
        self.values.iter().any(|value| same(*value, wanted))
    }

    /// Whether it is the sum, the difference or the product of two that are stated. Small numbers are made up by any two (but
    /// for products, where the message `multiplies`), and large ones differ by any small one, so neither is asked for.
    pub(super) fn imply(&self, wanted: f64, multiplies: bool) -> bool {
        let made_of = |left: f64, right: f64| {
            let counts = left.min(right) >= left.max(right) * COUNTS;
            let sum = counts
                && wanted >= LEAST_IMPLIED
                && (same(left + right, wanted) || same((left - right).abs(), wanted));
            sum || (left.min(right) > 1.0 && same(left * right, wanted))
        };
        let with_later = |(index, left): (usize, &f64)| {
            self.values[index + 1..].iter().any(|right| made_of(*left, *right))
        };
        (multiplies || wanted >= LEAST_IMPLIED) && self.values.iter().enumerate().any(with_later)
    }
}

fn same(left: f64, right: f64) -> bool {
    (left - right).abs() < SAME
}

/// A chain of digit groups with separators, and what multiplies it.
fn in_digits(tokens: &[Token]) -> (Vec<f64>, usize) {
    let mut groups = vec![tokens[0].text];
    let mut separators = Vec::new();
    let mut used = 1;
    while let Some((separator, group, length)) = next_group(&tokens[used..]) {
        separators.push(separator);
        groups.push(group);
        used += length;
    }
    let mut values = readings(&groups, &separators);
    if separators.contains(&' ') {
        // "room 4 250 people" is two numbers, "1 250 000" one.
        values.extend(groups.iter().filter_map(|group| group.parse::<f64>().ok()));
    }
    let suffix = tokens.get(used..).and_then(|rest| rest.first());
    if let Some(scale) = suffix.filter(|token| token.sort == Sort::Word).and_then(|token| scale(token.text)) {
        values.extend(values.clone().into_iter().map(|value| value * scale));
    }
    (values, used)
}

fn next_group<'t>(tokens: &[Token<'t>]) -> Option<(char, &'t str, usize)> {
    let first = tokens.first()?;
    if first.sort == Sort::Digits {
        return (first.gap && first.text.len() == 3).then_some((' ', first.text, 1));
    }
    let group = tokens.get(1).filter(|group| group.sort == Sort::Digits && !group.gap && !first.gap)?;
    let separator = first.text.chars().next().filter(|c| matches!(c, ',' | '.' | '\'' | '_'))?;
    Some((separator, group.text, 2))
}

fn readings(groups: &[&str], separators: &[char]) -> Vec<f64> {
    let number = |text: String| text.parse::<f64>().ok();
    let Some(last) = separators.last() else { return number(groups[0].to_owned()).into_iter().collect() };
    let mut values = Vec::new();
    if are_thousands(groups) {
        values.extend(number(groups.concat()));
    }
    let (whole, decimals) = groups.split_at(groups.len() - 1);
    let other = separators[..separators.len() - 1].iter().all(|separator| separator != last);
    if matches!(last, ',' | '.') && other && (whole.len() == 1 || are_thousands(whole)) {
        values.extend(number(format!("{}.{}", whole.concat(), decimals[0])));
    }
    values
}

/// Groups of three, or of two before the last three as in India.
fn are_thousands(groups: &[&str]) -> bool {
    let (first, rest) = groups.split_first().expect("a chain has a first group");
    let Some((last, middle)) = rest.split_last() else { return true };
    let all = |length: usize| middle.iter().all(|group| group.len() == length);
    first.len() <= 3 && last.len() == 3 && (all(3) || all(2))
}

/// Abbreviations so short mean something only after a number: "I'm" and "a.m." are no million.
const SHORT: usize = 2;

/// What a word multiplies by, where no number stands before it.
fn scale_alone(word: &str) -> Option<f64> {
    scale(word).filter(|_| word.chars().count() > SHORT)
}

fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "thou" | "tsd" | "thousand" | "thousands" | "grand" | "tausend" | "mille" | "mil" | "mila"
        | "tusen" | "duizend" => 1e3,
        "m" | "mn" | "mio" | "million" | "millions" | "millionen" | "miljoen" | "miljoner" | "millones"
        | "milioni" => 1e6,
        "bn" | "billion" => 1e9,
        "lakh" | "lakhs" | "lac" => 1e5,
        "crore" | "crores" => 1e7,
        "hundred" | "hundert" => 100.0,
        "dozen" | "dozens" => 12.0,
        _ => return None,
    })
}

/// An English cardinal below a hundred.
pub(super) fn small(word: &str) -> Option<f64> {
    const WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
         seventeen eighteen nineteen twenty";
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if let Some(index) = WORDS.split(' ').position(|known| known == word) {
        return Some(index as f64);
    }
    TENS.iter().position(|known| *known == word).map(|index| index as f64 * 10.0 + 20.0)
}

/// The first dozen, twenty and thirty in languages that a message may fall into, and some words for two. Several are other
/// words in English ("due", "sex").
fn foreign(word: &str) -> Option<f64> {
    const LISTS: [(&str, f64); 14] = [
        ("ein eine einen einem einer eins une uno una en ett een single jeden", 1.0),
        ("zwei deux dos dois duas due två to twee couple pair both twin zwo dva dwie dwa", 2.0),
        ("drei trois tres tre três trzy drie trio", 3.0),
        ("vier quatre cuatro quattro quatro fyra fire cztery", 4.0),
        ("fünf cinq cinco cinque fem vijf pięć", 5.0),
        ("sechs seis sei sex seks zes sześć", 6.0),
        ("sieben sept siete sette sete sju syv zeven siedem", 7.0),
        ("acht huit ocho otto oito åtta otte osiem", 8.0),
        ("neun neuf nueve nove nio ni negen dziewięć", 9.0),
        ("zehn dix diez dieci dez tio ti tien dziesięć", 10.0),
        ("elf onze once undici elva elleve", 11.0),
        ("zwölf douze doce dodici doze tolv twaalf dutzend douzaine docena", 12.0),
        ("zwanzig vingt veinte venti vinte tjugo twintig dwadzieścia", 20.0),
        ("dreißig trente treinta trenta trinta trettio dertig", 30.0),
    ];
    LISTS.iter().find(|(list, _)| list.split(' ').any(|known| known == word)).map(|(_, value)| *value)
}

/// A cardinal word below a hundred in any language.
fn cardinal(word: &str) -> Option<f64> {
    small(word).or_else(|| foreign(word))
}

/// A number in words: its value, and the tokens that it takes.
pub(super) fn in_words(tokens: &[Token]) -> (Vec<f64>, usize) {
    let mut reader = Words::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let joint = token.is_mark("-") || token.is_word("and") || token.is_word("of");
        let next = tokens.get(at + 1).filter(|next| next.sort == Sort::Word).map_or("", |next| next.text);
        if joint && reader.started && reader.continues_with(next, token.text) {
            at += 1;
            continue;
        }
        if token.sort != Sort::Word || !reader.take(token.text, next) {
            break;
        }
        at += 1;
    }
    match reader.value() {
        Some(value) if at > 0 => (vec![value], at),
        _ => (Vec::new(), 1),
    }
}

/// What has been read of a number so far.
#[derive(Default)]
struct Words {
    started: bool,
    /// What the next digit after "point" counts.
    digit: Option<f64>,
    total: f64,
    current: f64,
    /// What may still be added: less than this.
    room: f64,
    factor: f64,
}

impl Words {
    fn value(&self) -> Option<f64> {
        let fraction = if self.factor > 0.0 && self.total + self.current == 0.0 { self.factor } else { 0.0 };
        self.started.then_some(self.total + self.current + fraction)
    }

    /// Whether a joint ("and", "-", "of") leads on to the number.
    fn continues_with(&self, next: &str, joint: &str) -> bool {
        match joint {
            "of" => self.factor > 0.0 && (next == "a" || scale(next).is_some()),
            "and" if next == "a" || next == "half" => self.current > 0.0 || self.total > 0.0,
            "and" => {
                self.room >= 100.0 && cardinal(next).is_some() && (self.current >= 100.0 || self.total > 0.0)
            }
            _ => cardinal(next).is_some() || scale(next).is_some(),
        }
    }

    fn take(&mut self, word: &str, next: &str) -> bool {
        let taken = match word {
            "half" | "quarter" | "quarters" => self.take_fraction(word),
            "point" => {
                self.digit =
                    Some(0.1).filter(|_| self.started && cardinal(next).is_some_and(|digit| digit < 10.0));
                self.digit.is_some()
            }
            "a" | "an" => {
                scale_alone(next).is_some()
                    || matches!(next, "half" | "quarter" | "couple" | "pair" | "hundred")
            }
            _ => match (cardinal(word), if self.started { scale(word) } else { scale_alone(word) }) {
                (Some(value), _) => self.take_cardinal(value),
                (None, Some(scale)) => self.take_scale(scale),
                (None, None) => false,
            },
        };
        self.started |= taken;
        taken
    }

    fn take_cardinal(&mut self, value: f64) -> bool {
        if let Some(digit) = self.digit {
            let is_digit = value < 10.0;
            if is_digit {
                self.current += value * digit;
                self.digit = Some(digit / 10.0);
            }
            return is_digit;
        }
        let size = if value >= 10.0 { 100.0 } else { 10.0 };
        if self.started && self.current != 0.0 && (value <= 0.0 || size > self.room) {
            return false;
        }
        self.current += value;
        // "twenty" leaves room for a unit, "five" and "fifteen" for nothing.
        self.room = if value >= 20.0 && value % 10.0 == 0.0 { 10.0 } else { 0.0 };
        true
    }

    fn take_scale(&mut self, scale: f64) -> bool {
        let count = match (self.current, self.factor) {
            (0.0, factor) if factor > 0.0 => factor,
            (0.0, _) if self.total > 0.0 => return false,
            (0.0, _) => 1.0,
            (current, factor) => current + factor,
        };
        (self.factor, self.digit) = (0.0, None);
        if scale <= 100.0 {
            self.current = count * scale;
            self.room = 100.0;
        } else {
            self.total += count * scale;
            self.current = 0.0;
            self.room = 1000.0;
        }
        true
    }

    fn take_fraction(&mut self, word: &str) -> bool {
        let part = if word == "half" { 0.5 } else { 0.25 };
        // "a million and a half" halves the million, "one and a half million" the one.
        if self.current == 0.0 && self.total > 0.0 {
            self.total *= 1.0 + part;
        } else if word == "quarters" {
            self.factor = part * self.current;
            self.current = 0.0;
        } else {
            self.factor = part;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::plain;
    use super::super::tokens::tokens;
    use super::*;

    fn stated(text: &str) -> Vec<f64> {
        Numbers::read(&tokens(&plain(text))).values
    }

    #[test]
    fn numbers_are_read_in_every_notation() {
        let table: [(&str, f64); 38] = [
            ("18,500 euros", 18500.0),
            ("CHF 1,250,000", 1_250_000.0),
            ("1.250.000", 1_250_000.0),
            ("1 250 000", 1_250_000.0),
            ("fr. 16'750", 16750.0),
            ("Rs. 7,50,000", 750_000.0),
            ("35k", 35000.0),
            ("35 K", 35000.0),
            ("8.4 million yen", 8_400_000.0),
            ("the 1.9m", 1_900_000.0),
            ("9.600,00", 9600.0),
            ("9,600.50", 9600.5),
            ("3,5 Mio", 3_500_000.0),
            ("ninety thousand kronor", 90000.0),
            ("fifty-eight thousand two hundred pounds", 58200.0),
            ("seven lakh fifty thousand", 750_000.0),
            ("a hundred and twenty", 120.0),
            ("one hundred and five thousand", 105_000.0),
            ("twelve hundred", 1200.0),
            ("half a million", 500_000.0),
            ("a quarter of a million", 250_000.0),
            ("three quarters of a million", 750_000.0),
            ("one and a half million", 1_500_000.0),
            ("a million and a half", 1_500_000.0),
            ("a dozen", 12.0),
            ("two dozen", 24.0),
            ("half a dozen", 6.0),
            ("a couple", 2.0),
            ("twenty-one", 21.0),
            ("two million three hundred thousand and four", 2_300_004.0),
            ("drone x2", 2.0),
            ("fifteen dip nets", 15.0),
            ("twenty twenty-five", 25.0),
            ("zwölf Laptops", 12.0),
            ("five point six million yen", 5_600_000.0),
            ("46 thou", 46000.0),
            ("five m", 5_000_000.0),
            ("two point five twenty", 2.5),
        ];
        for (text, value) in table {
            assert!(stated(text).iter().any(|got| same(*got, value)), "{text}: {:?}", stated(text));
        }
    }

    #[test]
    fn numbers_that_are_not_there_are_not_read() {
        for (text, value) in [
            ("18,500", 18.0),
            ("1,250,000", 250.0),
            ("fifty-eight thousand two hundred", 58.0),
            ("a dozen", 1.0),
            ("ninety thousand", 90.0),
            ("four hundred and five", 5.0),
            ("I'm here", 1_000_000.0),
            ("at nine a.m.", 1_000_000.0),
            ("a k of mine", 1000.0),
            ("two point five twenty", 4.5),
        ] {
            assert!(!stated(text).iter().any(|got| same(*got, value)), "{text}: {:?}", stated(text));
        }
        let numbers = Numbers::read(&tokens(
            "41,000 for the mast and 22,800 for the rest, plus 25 boards and 2 motors",
        ));
        assert!(numbers.imply(63800.0, false) && !numbers.state(63800.0) && !numbers.imply(63900.0, false));
        assert!(numbers.imply(50.0, true) && !numbers.imply(50.0, false) && !numbers.imply(27.0, true));
        assert!(!numbers.imply(41025.0, false), "a small number makes no large one");
    }
}
