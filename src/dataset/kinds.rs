//! Which leaves choose from a list, and which tell cases apart: from the schema, and from the cases themselves. Reads no
//! messages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::dates::as_date;
use super::leaves::leaves;

/// From so many cases on, the values themselves say what is an enumeration.
const ENOUGH_CASES: usize = 20;

/// A leaf with at most so many values over [`ENOUGH_CASES`] cases is an enumeration, whatever its schema says.
const FEW_VALUES: usize = 5;

/// So many subschemas are looked at, the outer ones first: references may go in circles, and branch at every turn.
const MOST_VISITED: usize = 10_000;

/// What kind of leaf each path (see [`super::Leaf::path`]) leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    enumerations: BTreeSet<String>,
    identifying: BTreeSet<String>,
    sure: bool,
}

impl Kinds {
    /// Looks at the schema, where there is one, and at the expected values of all cases of a scenario.
    pub fn of<'v>(schema: Option<&Value>, expected: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut enumerations = schema.map(listed).unwrap_or_default();
        let mut n_cases = 0;
        let mut values: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for value in expected {
            n_cases += 1;
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
        Self { enumerations, identifying, sure: n_cases >= ENOUGH_CASES }
    }

    /// Whether there were cases enough to tell what their values are. Of few, any string may seem to be identifying.
    pub fn is_sure(&self) -> bool {
        self.sure
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

/// The paths at which a schema allows only what it lists.
fn listed(root: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut queue = VecDeque::from([(root, String::new())]);
    let mut left = MOST_VISITED;
    while let Some((node, path)) = queue.pop_front() {
        let Some(members) = node.as_object() else { continue };
        let before = queue.len();
        queue.extend(below(members, root, &path).into_iter().take(left));
        left -= queue.len() - before;
        let is_boolean = members.get("type").is_some_and(|kind| kind == "boolean");
        if members.contains_key("enum") || members.contains_key("const") || is_boolean {
            found.insert(path);
        }
    }
    found
}

/// The subschemas that a schema applies, with the paths of what they apply to.
fn below<'s>(members: &'s Map<String, Value>, root: &'s Value, path: &str) -> Vec<(&'s Value, String)> {
    let reference = members.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    let mut found: Vec<(&Value, String)> =
        target.into_iter().map(|target| (target, path.to_owned())).collect();
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                found.extend(properties.iter().map(|(name, property)| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    (property, format!("{path}/{name}"))
                }));
            }
            ("items" | "additionalItems" | "contains", Value::Object(_)) => {
                found.push((value, format!("{path}/*")));
            }
            ("items" | "prefixItems", Value::Array(items)) => {
                found.extend(items.iter().map(|item| (item, format!("{path}/*"))));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                found.extend(branches.iter().map(|branch| (branch, path.to_owned())));
            }
            ("then" | "else" | "if", _) => found.push((value, path.to_owned())),
            _ => {}
        }
    }
    found
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

    /// Every subschema leads to every other, so there are 8^n paths of n steps.
    #[test]
    fn references_in_circles_end() {
        let names: Vec<String> = (0..8).map(|n| format!("d{n}")).collect();
        let to_all: Map<String, Value> =
            names.iter().map(|name| (name.clone(), json!({"$ref": format!("#/$defs/{name}")}))).collect();
        let node = json!({"properties": to_all, "enum": [1]});
        let defs: Map<String, Value> = names.iter().map(|name| (name.clone(), node.clone())).collect();
        let kinds = Kinds::of(Some(&json!({"properties": to_all, "$defs": defs})), []);
        assert!(kinds.is_enumeration("/d7") && kinds.is_enumeration("/d7/d0/d7"));
        let alone = Kinds::of(Some(&json!({"$ref": "#", "enum": [1]})), []);
        assert!(alone.is_enumeration(""));
    }

    #[test]
    fn twenty_cases_with_few_values_make_an_enumeration_and_values_of_their_own_identify() {
        let cases = |n: usize| -> Vec<Value> {
            let severity = ["High", "Low"];
            (0..n).map(|i| json!({"severity": severity[i % 2], "id": i.to_string(), "day": "01.01.2024", "n": i, "none": null})).collect()
        };
        let (few, many) = (cases(19), cases(20));
        assert!(!Kinds::of(None, &few).is_enumeration("/severity") && !Kinds::of(None, &few).is_sure());
        let kinds = Kinds::of(None, &many);
        assert!(
            kinds.is_enumeration("/severity")
                && !kinds.is_enumeration("/id")
                && !kinds.is_enumeration("/day")
                && kinds.is_sure()
        );
        assert!(
            kinds.is_identifying("/id") && !kinds.is_identifying("/severity") && !kinds.is_identifying("/n")
        );
    }
}
