//! Checks that need the text itself: names that repeat in an object, items that repeat in an array.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::decimal::Decimal;

/// A text in two parts: what a matcher holds, and what a walk has added.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct Written<'a> {
    pub(in crate::decode) before: &'a [u8],
    pub(in crate::decode) path: &'a [u8],
}

impl Written<'_> {
    pub(super) fn len(self) -> usize {
        self.before.len() + self.path.len()
    }

    fn from(self, start: usize) -> Vec<u8> {
        let mut text = self.before.get(start..).unwrap_or(&[]).to_vec();
        text.extend_from_slice(&self.path[start.saturating_sub(self.before.len()).min(self.path.len())..]);
        text
    }
}

/// The names of an open object, read once and asked about for every token that could end one more.
#[derive(Debug, Default)]
pub(super) struct NamesSoFar {
    known: Option<Known>,
}

#[derive(Debug)]
struct Known {
    start: usize,
    /// Decoded, without the one being written.
    names: FxHashSet<Vec<u8>>,
    /// Where the name being written begins in the matcher's text.
    open: Option<usize>,
}

impl NamesSoFar {
    /// Forgets everything, because the text may have changed.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }

    /// Whether the member name that ends with the next byte, a quote, was written before in its object, which begins
    /// at or after `start`.
    pub(super) fn repeats(&mut self, written: Written<'_>, start: usize) -> bool {
        if start >= written.before.len() {
            return repeats_name(&written.from(start));
        }
        let known =
            self.known.take_if(|known| known.start == start).unwrap_or_else(|| read(written.before, start));
        let mut quotes =
            written.path.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(idx, _)| idx);
        let repeats = match (known.open, quotes.next(), quotes.next()) {
            (Some(open), None, _) => known.has(&[&written.before[open..], written.path].concat()),
            (None, Some(quote), None) => known.has(&written.path[quote + 1..]),
            _ => repeats_name(&written.from(start)),
        };
        self.known = Some(known);
        repeats
    }
}

impl NamesSoFar {
    /// The name being written at the end of the text, decoded, and those written before it in its object, which begins
    /// at or after `start`.
    pub(super) fn open_name(
        &mut self,
        before: &[u8],
        start: usize,
    ) -> Option<(Vec<u8>, &FxHashSet<Vec<u8>>)> {
        let known = self.known.take_if(|known| known.start == start).unwrap_or_else(|| read(before, start));
        let known = self.known.insert(known);
        Some((decoded(&before[known.open?..]), &known.names))
    }
}

impl Known {
    fn has(&self, name: &[u8]) -> bool {
        self.names.contains(&decoded(name))
    }
}

fn read(before: &[u8], start: usize) -> Known {
    let text = &before[start..];
    let mut names = names_of(text);
    // A name that runs to the end of the text is the one being written.
    let open = names.pop_if(|name| name.as_ptr_range().end == text.as_ptr_range().end);
    let open = open.map(|name| before.len() - name.len());
    Known { start, names: names.into_iter().map(decoded).collect(), open }
}

/// Whether the last name of an object, which ends with the text, was there before.
fn repeats_name(text: &[u8]) -> bool {
    let names = names_of(text);
    let Some((last, earlier)) = names.split_last() else { return false };
    let last = decoded(last);
    earlier.iter().any(|name| decoded(name) == last)
}

/// The names of the outermost object of a text, as spelled, without quotes.
fn names_of(text: &[u8]) -> Vec<&[u8]> {
    let mut names = Vec::new();
    let mut depth = 0u32;
    let mut expects_name = false;
    let mut idx = 0;
    while idx < text.len() {
        match text[idx] {
            b'"' => {
                let from = idx + 1;
                idx = end_of_string(text, from);
                if depth == 1 && expects_name {
                    names.push(&text[from..idx.min(text.len())]);
                    expects_name = false;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                expects_name = depth == 1;
            }
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => expects_name = true,
            _ => {}
        }
        idx += 1;
    }
    names
}

fn end_of_string(text: &[u8], from: usize) -> usize {
    let mut idx = from;
    while idx < text.len() && text[idx] != b'"' {
        idx += if text[idx] == b'\\' { 2 } else { 1 };
    }
    idx
}

/// The name without escapes.
pub(super) fn decoded(name: &[u8]) -> Vec<u8> {
    if !name.contains(&b'\\') {
        return name.to_vec();
    }
    let quoted = [b"\"", name, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).map_or_else(|_| name.to_vec(), String::into_bytes)
}

/// Whether the item that ends here, `last` included, equals an earlier one of its array. The array begins at or
/// after `array`, the item at or after `item`.
pub(super) fn repeats_item(written: Written<'_>, last: Option<u8>, array: usize, item: usize) -> bool {
    let mut text = written.from(array);
    text.extend(last);
    let (earlier, item) = text.split_at(item - array);
    let earlier = earlier.trim_ascii();
    let mut earlier = earlier.strip_suffix(b",").unwrap_or(earlier).to_vec();
    earlier.push(b']');
    let (Ok(earlier), Ok(item)) =
        (serde_json::from_slice::<Vec<Value>>(&earlier), serde_json::from_slice::<Value>(item))
    else {
        return false;
    };
    earlier.iter().any(|other| equal(other, &item))
}

/// Equality of JSON values: numbers by value, members in any order.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || Decimal::parse(&a.to_string()).is_some_and(|a| Decimal::parse(&b.to_string()) == Some(a))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => a == b,
    }
}
