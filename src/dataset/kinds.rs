//! Which leaves choose from a list, and which tell cases apart: from the schema, and from the cases themselves. Reads no
//! messages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::dates::as_date;
use super::leaves::leaves;

/// From so many cases on, the values themselves say what is an enumeration.
const ENOUGH_CASES: usize = 20;

/// A leaf with at most so many values over [`ENOUGH_CASES`] cases is an enumeration, whatever its schema says.
const FEW_VALUES: usize = 5;

/// References in schemas may go in circles.
const DEEPEST: usize = 32;

/// What kind of leaf each path (see [`super::Leaf::path`]) leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    enumerations: BTreeSet<String>,
    identifying: BTreeSet<String>,
}

impl Kinds {
    /// Looks at the schema, where there is one, and at the expected values of all cases of a scenario.
    pub fn of<'v>(schema: Option<&Value>, expected: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut enumerations = BTreeSet::new();
        if let Some(schema) = schema {
            visit(schema, schema, "", DEEPEST, &mut enumerations);
        }
        let mut values: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for value in expected {
            for leaf in leaves(value).into_iter().filter(|leaf| !leaf.value.is_null()) {
                values.entry(leaf.path).or_default().push(leaf.value);
            }
        }
        for (path, values) in &values {
            let distinct: BTreeSet<String> = values.iter().map(ToString::to_string).collect();
            let is_date =
                values.iter().any(|value| value.as_str().is_some_and(|text| as_date(text).is_some()));
            if values.len() >= ENOUGH_CASES && distinct.len() <= FEW_VALUES && !is_date {
                enumerations.insert(path.clone());
            }
        }
        let identifying = values.iter().filter(|(path, values)| {
            !path.contains('*') && !enumerations.contains(*path) && tell_apart(values)
        });
        let identifying = identifying.map(|(path, _)| path.clone()).collect();
        Self { enumerations, identifying }
    }

    /// Whether the leaf chooses from a list: `enum`, `const` or boolean in the schema, or at most 5 values over 20 cases or
    /// more.
    pub fn is_enumeration(&self, path: &str) -> bool {
        self.enumerations.contains(path)
    }

    /// Whether the leaf tells cases apart: a string outside of arrays, neither a date nor an enumeration, that no two cases
    /// share.
    pub fn is_identifying(&self, path: &str) -> bool {
        self.identifying.contains(path)
    }
}

fn tell_apart(values: &[&Value]) -> bool {
    let texts: Option<Vec<&str>> = values.iter().map(|value| value.as_str()).collect();
    texts.is_some_and(|texts| {
        let distinct: BTreeSet<&str> = texts.iter().copied().collect();
        distinct.len() == texts.len() && texts.iter().all(|text| as_date(text).is_none())
    })
}

/// Finds the paths at which a schema allows only what it lists.
fn visit(node: &Value, root: &Value, path: &str, left: usize, found: &mut BTreeSet<String>) {
    let Some(members) = node.as_object().filter(|_| left > 0) else { return };
    let is_boolean = members.get("type").is_some_and(|kind| kind == "boolean");
    if members.contains_key("enum") || members.contains_key("const") || is_boolean {
        found.insert(path.to_owned());
    }
    let target =
        members.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    if let Some(target) = target.and_then(|pointer| root.pointer(pointer)) {
        visit(target, root, path, left - 1, found);
    }
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    visit(property, root, &format!("{path}/{name}"), left - 1, found);
                }
            }
            ("items" | "additionalItems" | "contains", Value::Object(_)) => {
                visit(value, root, &format!("{path}/*"), left - 1, found);
            }
            ("items" | "prefixItems", Value::Array(items)) => {
                for item in items {
                    visit(item, root, &format!("{path}/*"), left - 1, found);
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                for branch in branches {
                    visit(branch, root, path, left - 1, found);
                }
            }
            ("then" | "else" | "if", _) => visit(value, root, path, left - 1, found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_s_lists_are_enumerations_wherever_they_stand() {
        let schema = json!({
            "properties": {
                "a": {"enum": ["x"]},
                "b": {"type": "boolean"},
                "c": {"items": {"properties": {"d/e": {"const": 1}}}},
                "f": {"$ref": "#/$defs/f"},
                "g": {"anyOf": [{"type": "null"}, {"enum": [1]}]},
                "h": {"type": "string"}
            },
            "$defs": {"f": {"properties": {"i": {"enum": [2]}, "f": {"$ref": "#/$defs/f"}}}}
        });
        let kinds = Kinds::of(Some(&schema), []);
        let table = [
            ("/a", true),
            ("/b", true),
            ("/c/*/d~1e", true),
            ("/f/i", true),
            ("/f/f/i", true),
            ("/g", true),
            ("/h", false),
            ("", false),
        ];
        for (path, is) in table {
            assert_eq!(kinds.is_enumeration(path), is, "{path}");
        }
    }

    #[test]
    fn twenty_cases_with_few_values_make_an_enumeration_and_values_of_their_own_identify() {
        let cases = |n: usize| -> Vec<Value> {
            let severity = ["High", "Low"];
            (0..n).map(|i| json!({"severity": severity[i % 2], "id": i.to_string(), "day": "01.01.2024", "n": i, "none": null})).collect()
        };
        let (few, many) = (cases(19), cases(20));
        assert!(!Kinds::of(None, &few).is_enumeration("/severity"));
        let kinds = Kinds::of(None, &many);
        assert!(
            kinds.is_enumeration("/severity")
                && !kinds.is_enumeration("/id")
                && !kinds.is_enumeration("/day")
        );
        assert!(
            kinds.is_identifying("/id") && !kinds.is_identifying("/severity") && !kinds.is_identifying("/n")
        );
    }
}
