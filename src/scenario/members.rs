//! Reading JSON text and the members of objects of a known shape, collecting every problem on the way.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

use super::problem::{Note, Place, Problem, kind, nearest, quoted};

/// A value and where it was found.
pub(super) type Found = (Value, Place);

/// An object that files are made of: its members' names, and what each has to be.
pub(super) struct Shape {
    pub(super) what: &'static str,
    pub(super) members: &'static [(&'static str, &'static str)],
}

impl Shape {
    fn names(&self) -> Vec<&'static str> {
        self.members.iter().map(|(name, _)| *name).collect()
    }

    fn right(&self, name: &str) -> &'static str {
        let member = self.members.iter().find(|(known, _)| *known == name);
        member.expect("only members of the shape are asked for").1
    }
}

/// The members of one object, taken out one by one.
pub(super) struct Members {
    shape: &'static Shape,
    pub(super) place: Place,
    map: Map<String, Value>,
}

impl Members {
    /// The members of `found`; names that the shape lacks are problems, and so is anything but an object.
    pub(super) fn of(found: Found, shape: &'static Shape, problems: &mut Vec<Problem>) -> Option<Members> {
        let (value, place) = found;
        let Value::Object(map) = value else {
            let right = format!("{}: an object with the members {}", shape.what, quoted(&shape.names()));
            problems.push(Problem::new(place, format!("this is {}", kind(&value)), right));
            return None;
        };
        for name in map.keys().filter(|name| !shape.names().contains(&name.as_str())) {
            let right = match nearest(name, shape.names()) {
                Some(near) => format!("`{near}`"),
                None => format!("{} has only {}", shape.what, quoted(&shape.names())),
            };
            problems.push(Problem::new(place.member(name), format!("unknown member `{name}`"), right));
        }
        Some(Members { shape, place, map })
    }

    /// The member `name` if it is there.
    pub(super) fn optional(&mut self, name: &str) -> Option<Found> {
        let value = self.map.remove(name)?;
        Some((value, self.place.member(name)))
    }

    /// The member `name`; its absence is a problem.
    pub(super) fn required(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<Found> {
        let found = self.optional(name);
        if found.is_none() {
            let wrong = format!("the member `{name}` is missing");
            problems.push(Problem::new(self.place.clone(), wrong, self.shape.right(name)));
        }
        found
    }

    /// The member `name`, which must be there and be a string with something in it.
    pub(super) fn text(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<String> {
        let found = self.required(name, problems)?;
        self.string(name, found, problems)
    }

    /// The member `name`, which may be absent, but not another thing than a string with something in it.
    pub(super) fn optional_text(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<String> {
        let found = self.optional(name)?;
        self.string(name, found, problems)
    }

    /// The member `name`, which may be absent, but not another thing than true or false.
    pub(super) fn optional_flag(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<bool> {
        let (value, place) = self.optional(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            problems.push(Problem::new(place, format!("this is {}", kind(&value)), self.shape.right(name)));
        }
        flag
    }

    /// The member `name`, which may be absent, but not another thing than an array of strings. Only looked at.
    pub(super) fn optional_strings(&mut self, name: &str, problems: &mut Vec<Problem>) {
        let Some((value, place)) = self.optional(name) else { return };
        if !value.as_array().is_some_and(|items| items.iter().all(Value::is_string)) {
            let wrong = "this is no array of strings";
            problems.push(Problem::new(place, wrong, self.shape.right(name)));
        }
    }

    fn string(&self, name: &str, (value, place): Found, problems: &mut Vec<Problem>) -> Option<String> {
        let wrong = match value {
            Value::String(text) if !is_blank(&text) => return Some(text),
            Value::String(_) => "this is blank".to_owned(),
            other => format!("this is {}", kind(&other)),
        };
        problems.push(Problem::new(place, wrong, self.shape.right(name)));
        None
    }

    /// Takes the member `name` away if it is an empty array; whether there is none now.
    pub(super) fn lacks(&mut self, name: &str) -> bool {
        if self.map.get(name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
            self.map.shift_remove(name);
        }
        !self.map.contains_key(name)
    }

    /// The member `name`, which must be an array with at least one element.
    pub(super) fn list(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<Vec<Found>> {
        let (value, place) = self.required(name, problems)?;
        let wrong = match value {
            Value::Array(items) if !items.is_empty() => {
                let places = (0..items.len()).map(|index| place.item(index));
                return Some(items.into_iter().zip(places).collect());
            }
            Value::Array(_) => "this is empty".to_owned(),
            other => format!("this is {}", kind(&other)),
        };
        problems.push(Problem::new(place, wrong, self.shape.right(name)));
        None
    }

    /// The member `name`, which must be an object or an array: only those can be found in a model's output.
    pub(super) fn container(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<Value> {
        let (value, place) = self.required(name, problems)?;
        if value.is_object() || value.is_array() {
            return Some(value);
        }
        problems.push(Problem::new(place, format!("this is {}", kind(&value)), self.shape.right(name)));
        None
    }
}

/// ECMA-262 counts the byte-order mark as white space, Unicode does not; editors go by the former.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// Reads one JSON text; `line` is its line in a file of JSON lines.
pub(super) fn read(text: &str, line: Option<usize>) -> Result<Value, Problem> {
    if line.is_none() && text.trim().is_empty() {
        return Err(Problem::new(Place::file(), "this is empty", "one JSON object"));
    }
    serde_json::from_str(text).map_err(|error| {
        let place = Place::text(line.unwrap_or(error.line()), error.column());
        let message = error.to_string();
        let wrong = message.split(" at line ").next().unwrap_or(&message);
        Problem::new(place, format!("this is no JSON: {wrong}"), how_to_write_json(error.classify(), line))
    })
}

fn how_to_write_json(category: Category, line: Option<usize>) -> &'static str {
    match (category, line) {
        (Category::Eof, None) => {
            "the whole text: was the file taken before it was written to its end? Write it under a name \
             ending in .tmp and rename it"
        }
        (Category::Eof, Some(_)) => "one whole JSON object on one line",
        _ => "strict JSON (RFC 8259): double quotes, no comments, no trailing commas, nothing after the end",
    }
}

/// A note for every member name that an object of this JSON text, at any depth, holds twice: readers keep the last
/// value, and the one before is lost without a word.
pub(super) fn repeated_names(text: &str, line: Option<usize>) -> Vec<Note> {
    let mut notes = Vec::new();
    let walk = Names { place: Place::root(line), notes: &mut notes };
    // The text has been read as JSON before; nothing is left to fail here.
    let _ = walk.deserialize(&mut serde_json::Deserializer::from_str(text));
    notes
}

struct Names<'n> {
    place: Place,
    notes: &'n mut Vec<Note>,
}

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

// Numbers arrive as a map of one private name (serde_json's `arbitrary_precision`), which is never a repetition.
impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for index in 0.. {
            let item = Names { place: self.place.item(index), notes: self.notes };
            if items.next_element_seed(item)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            let place = self.place.member(&name);
            members.next_value_seed(Names { place: place.clone(), notes: self.notes })?;
            if !seen.insert(name) {
                let message = "this member is here more than once; the last one counts".to_owned();
                self.notes.push(Note { place, message });
            }
        }
        Ok(())
    }
}
