//! Whether a message holds what is expected of it, leaf by leaf. One case at a time; knows no other cases.

use jiff::civil::Date;
use serde::Serialize;
use serde_json::Value;

use super::dates::{Dates, as_date};
use super::kinds::Kinds;
use super::leaves::{Leaf, leaves};
use super::numbers::Numbers;
use super::text::{holds, is_content, plain, plural_endings, same_thing, same_word, stem, words};
use super::tokens::tokens;
use crate::scenario::Case;

/// The part of a free text's content words that the message has to have.
const ENOUGH_WORDS: f64 = 0.6;

/// A string of so many words is free text even where it does not end as a sentence does.
const FREE_TEXT_WORDS: usize = 6;

/// Words that say that there is none of something.
const NONE: &str = " no not none nothing neither nor without zero nil nobody never t cannot kein keine keinen nicht ohne pas aucun \
     aucune sans non nessuno nessuna senza niet geen inga ingen inget sin ningún ninguna nem sem bez nie ";

/// A leaf that is not in the message and does not follow from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unfounded {
    /// JSON pointer into `expected`.
    pub pointer: String,
    /// What is expected there.
    pub value: Value,
    /// What the message lacks.
    pub why: String,
}

/// A message, read for all that it states.
#[derive(Debug)]
pub struct Message {
    plain: String,
    stems: Vec<String>,
    numbers: Numbers,
    dates: Dates,
}

impl Message {
    /// Reads a message.
    pub fn read(text: &str) -> Self {
        let plain = plain(text);
        let tokens = tokens(&plain);
        let (numbers, dates) = (Numbers::read(&tokens), Dates::read(&tokens));
        let stems = words(&plain).map(stem).collect();
        Self { plain, stems, numbers, dates }
    }

    /// The leaves of a case that the message does not ground. Null, booleans and enumerations need no grounding.
    pub fn unfounded(&self, case: &Case, kinds: &Kinds) -> Vec<Unfounded> {
        let needs = |leaf: &Leaf| {
            !leaf.value.is_null() && !leaf.value.is_boolean() && !kinds.is_enumeration(&leaf.path)
        };
        let fault = |leaf: Leaf| {
            let why = self.lacks(&leaf)?;
            Some(Unfounded { pointer: leaf.pointer, value: leaf.value.clone(), why })
        };
        leaves(&case.expected).into_iter().filter(needs).filter_map(fault).collect()
    }

    /// What the message lacks for a leaf, if anything.
    fn lacks(&self, leaf: &Leaf) -> Option<String> {
        match leaf.value {
            Value::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
                Some(number) => self.lacks_number(number, leaf.parent),
                None => Some("no message states a number of this size".into()),
            },
            Value::String(text) if text.trim().is_empty() => Some("it is blank".into()),
            Value::String(text) => match as_date(text) {
                Some(dates) => self.lacks_date(text, &dates),
                None => self.lacks_text(text),
            },
            _ => None,
        }
    }

    fn lacks_date(&self, text: &str, dates: &[Date]) -> Option<String> {
        if dates.is_empty() {
            return Some("the calendar has no such day".into());
        }
        let grounded = dates.iter().any(|date| self.dates.ground(*date)) || holds(&self.plain, &plain(text));
        (!grounded).then(|| {
            let stated = self.stated_dates();
            format!("the message states no such date, nor one that it follows from; it has {stated}")
        })
    }

    fn stated_dates(&self) -> String {
        let dates: Vec<String> =
            self.dates.stated().map(|date| date.strftime("%d.%m.%Y").to_string()).collect();
        if dates.is_empty() { "none".into() } else { dates.join(", ") }
    }

    fn lacks_number(&self, number: f64, parent: &Value) -> Option<String> {
        let small = number.fract() == 0.0 && (0.0..100.0).contains(&number);
        // A minus may be a mark, a word ("below zero") or the nature of the thing ("a loss").
        let grounded = self.numbers.state(number.abs())
            || self.numbers.imply(number.abs(), self.says_each())
            || (small && self.dates.span(number as i64))
            || (small && number < 1.0 && self.says_none())
            || (small && number as i64 == 1 && self.says_one(parent));
        (!grounded).then(|| {
            "the message states no such number, in digits or in words, and no two that make it up".into()
        })
    }

    /// Whether numbers are multiplied.
    fn says_each(&self) -> bool {
        words(&self.plain).any(|word| {
            matches!(word, "each" | "apiece" | "per" | "every" | "times" | "je" | "chacun" | "cada")
        })
    }

    fn says_none(&self) -> bool {
        words(&self.plain).any(|word| NONE.contains(&format!(" {word} ")) || word.ends_with("n't"))
    }

    /// One of a thing may be said by an article, or by the thing's name in the singular.
    fn says_one(&self, parent: &Value) -> bool {
        let article = words(&self.plain)
            .any(|word| matches!(word, "a" | "an" | "the" | "single" | "another" | "my" | "only" | "once"));
        let named = leaves(parent).into_iter().filter_map(|leaf| leaf.value.as_str());
        article || named.into_iter().any(|name| holds(&self.plain, &plain(name)))
    }

    fn lacks_text(&self, text: &str) -> Option<String> {
        let value = plain(text);
        let value = value.trim();
        let mut plurals = plural_endings(value).iter().map(|ending| format!("{value}{ending}"));
        if holds(&self.plain, value) || plurals.any(|plural| holds(&self.plain, &plural)) {
            return None;
        }
        let all: Vec<&str> = words(value).collect();
        // Codes, addresses and single words are one thing, whatever marks they hold.
        if (!value.contains(' ') || all.is_empty()) && !self.has_form(&all) {
            return Some("the message does not hold it".into());
        }
        let free =
            all.len() >= FREE_TEXT_WORDS || (all.len() >= 3 && value.trim_end().ends_with(['.', '!', '?']));
        let counted: Vec<&str> = all.into_iter().filter(|word| !free || is_content(word)).collect();
        let missing: Vec<&str> = counted.iter().copied().filter(|word| !self.has(word, free)).collect();
        let needed = if free { (counted.len() as f64 * ENOUGH_WORDS).ceil() as usize } else { counted.len() };
        if !counted.is_empty() && counted.len() - missing.len() >= needed {
            return None;
        }
        let n = counted.len();
        let missing_words = missing.join(", ");
        Some(if free {
            let found = n - missing.len();
            format!(
                "the message has {found} of its {n} content words, {needed} are needed; it lacks {missing_words}"
            )
        } else {
            format!("the message does not hold it, and lacks {missing_words}")
        })
    }

    /// Whether a single word is in the message in another form.
    fn has_form(&self, parts: &[&str]) -> bool {
        matches!(parts, [word] if self.has(word, false))
    }

    /// Words of free text need only be alike; names, codes and things allow no more than a plural.
    fn has(&self, word: &str, free: bool) -> bool {
        if free {
            let stem = stem(word);
            return self.stems.iter().any(|own| same_word(own, &stem));
        }
        words(&self.plain).any(|own| same_thing(own, word))
    }
}
