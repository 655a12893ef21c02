//! A JSON value that keeps what `serde_json::Value` loses: repeated member names and numbers as they were written.

use std::collections::HashMap;
use std::fmt;

use super::Number;

/// A JSON value as it was written.
///
/// Equality is that of the writing, with numbers compared by value: members in the same order, repeats included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, exact
    Number(Number),
    /// A string, its escapes decoded; an escaped surrogate without its partner became U+FFFD
    String(String),
    /// The elements in order
    Array(Vec<Json>),
    /// The members in the order in which they were written, repeated names included
    Object(Vec<(String, Json)>),
}

/// How large a JSON value is, by the spec's measures (llmstructbench.md, section 1). Of a repeated member name only
/// the last counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Member names at every level, in array elements too
    pub keys: u64,
    /// Scalars
    pub leaves: u64,
    /// 1 for a scalar; 1 plus the deepest of what it holds for a container
    pub depth: u64,
}

impl Json {
    /// The value as `serde_json` has it: of a repeated member name the last value counts. Numbers keep their text.
    pub fn to_value(&self) -> serde_json::Value {
        match self {
            Json::Null => serde_json::Value::Null,
            Json::Bool(value) => serde_json::Value::Bool(*value),
            Json::Number(number) => serde_json::Value::Number(serde_json::Number::from_string_unchecked(
                number.as_str().to_owned(),
            )),
            Json::String(text) => serde_json::Value::String(text.clone()),
            Json::Array(elements) => elements.iter().map(Json::to_value).collect(),
            Json::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), value.to_value())).collect()
            }
        }
    }

    /// Counts keys, leaves and depth.
    pub fn size(&self) -> Size {
        let (own_keys, children): (u64, Vec<&Json>) = match self {
            Json::Array(elements) => (0, elements.iter().collect()),
            Json::Object(members) => {
                let last: HashMap<&str, &Json> =
                    members.iter().map(|(name, value)| (name.as_str(), value)).collect();
                (last.len() as u64, last.into_values().collect())
            }
            _ => return Size { keys: 0, leaves: 1, depth: 1 },
        };
        let empty = Size { keys: own_keys, leaves: 0, depth: 1 };
        children.into_iter().map(Json::size).fold(empty, |sum, child| Size {
            keys: sum.keys + child.keys,
            leaves: sum.leaves + child.leaves,
            depth: sum.depth.max(child.depth + 1),
        })
    }
}

/// For values that were stored as `serde_json` values; numbers keep their text.
impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Json {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(value) => Json::Bool(*value),
            serde_json::Value::Number(number) => Json::Number(Number::from_checked(number.to_string())),
            serde_json::Value::String(text) => Json::String(text.clone()),
            serde_json::Value::Array(elements) => Json::Array(elements.iter().map(Json::from).collect()),
            serde_json::Value::Object(members) => {
                Json::Object(members.iter().map(|(name, value)| (name.clone(), Json::from(value))).collect())
            }
        }
    }
}

/// Compact JSON text: no white space, members and repeats as written, numbers as written.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => write!(f, "{number}"),
            Json::String(text) => write_string(f, text),
            Json::Array(elements) => {
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (name, value)) in members.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { "," })?;
                    write_string(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::from_text(text).expect("test text reads")
    }

    #[test]
    fn size_is_the_papers() {
        let loan = r#"{"BorrowerName":"H","BorrowerID":null,"Equipment":[{"t":"x","n":1},{"t":"y","n":2}],
                       "ReturnDate":"23.11.2023"}"#;
        let rows = [
            ("1", (0, 1, 1)),
            ("{}", (0, 0, 1)),
            ("[[]]", (0, 0, 2)),
            (r#"{"a":1,"b":null}"#, (2, 2, 2)),
            (r#"{"a":{"b":1},"a":[1,2]}"#, (1, 2, 3)),
            // 4 + 2n keys, 3 + 2n leaves, depth 4
            (loan, (8, 7, 4)),
        ];
        for (text, (keys, leaves, depth)) in rows {
            assert_eq!(json(text).size(), Size { keys, leaves, depth }, "{text}");
        }
    }

    #[test]
    fn text_keeps_what_was_written() {
        let text = r#"{"b":[1.0,-0,1e400],"a":"é\"\n","b":{"x":null,"x":true}}"#;
        assert_eq!(json(text).to_string(), text);
        assert_eq!(json(&format!(" {} ", text.replace(',', " ,\t"))).to_string(), text);
    }

    #[test]
    fn the_last_of_a_repeated_name_counts() {
        let value = json(r#"{"a":{"q":1},"b":1e400,"a":{"q":2,"q":3}}"#).to_value();
        assert_eq!(value.to_string(), r#"{"a":{"q":3},"b":1e400}"#);
    }
}
