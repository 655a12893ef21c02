//! The scalars of a JSON value with their places, how large it is, and what makes it equal to another. Judges nothing.

use std::collections::BTreeMap;

use serde_json::Value;

/// A string, number, boolean or null somewhere in a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'v> {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    /// The pointer with `*` for every index, so that the elements of an array share one.
    pub path: String,
    /// The scalar.
    pub value: &'v Value,
    /// The object or array that holds it; itself at the root.
    pub parent: &'v Value,
}

/// Every leaf, in the order of the text.
pub fn leaves(value: &Value) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    collect(value, value, (String::new(), String::new()), &mut found);
    found
}

fn collect<'v>(
    value: &'v Value,
    parent: &'v Value,
    (pointer, path): (String, String),
    found: &mut Vec<Leaf<'v>>,
) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                let below = (format!("{pointer}/{name}"), format!("{path}/{name}"));
                collect(member, value, below, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, value, (format!("{pointer}/{index}"), format!("{path}/*")), found);
            }
        }
        _ => found.push(Leaf { pointer, path, value, parent }),
    }
}

/// Member names at every level, those inside array elements included.
pub fn n_keys(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(|member| 1 + n_keys(member)).sum(),
        Value::Array(items) => items.iter().map(n_keys).sum(),
        _ => 0,
    }
}

/// A scalar is 1 deep; a container is 1 deeper than the deepest of what it holds.
pub fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Object(members) => members.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => None,
    };
    1 + below.unwrap_or(0)
}

/// The same text for equal values, whatever the order of their members.
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

/// The value with the members of every object in alphabetical order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let ordered: BTreeMap<&String, Value> =
                members.iter().map(|(name, value)| (name, sorted(value))).collect();
            Value::Object(ordered.into_iter().map(|(name, value)| (name.clone(), value)).collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        scalar => scalar.clone(),
    }
}
