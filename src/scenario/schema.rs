//! Whether a scenario's schema is a valid JSON Schema that stands on its own, and what it refuses.

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::{Value, json};

use super::problem::{Note, Place, Problem, kind, nearest, quoted};

/// Longer messages, which quote a whole instance, are shortened by leaving the instance out.
const LONGEST_MESSAGE: usize = 300;

/// What holds instances and not schemas: a `$ref` in there is no reference.
const HOLD_INSTANCES: [&str; 4] = ["const", "enum", "default", "examples"];

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

const DRAFTS: &str = "no `$schema` (then 2020-12 holds) or the address of draft 4, 6, 7, 2019-09 or 2020-12, such as \
                      https://json-schema.org/draft/2020-12/schema";

/// Everything that keeps `schema`, found at `place`, from being used.
pub(super) fn check(schema: &Value, place: &Place, problems: &mut Vec<Problem>) {
    if !schema.is_object() {
        let wrong = format!("this is {}", kind(schema));
        return problems.push(Problem::new(place.clone(), wrong, "a JSON Schema: an object"));
    }
    let draft = Draft::default().detect(schema);
    if draft == Draft::Unknown {
        let wrong = "this JSON Schema draft is not known";
        return problems.push(Problem::new(place.member("$schema"), wrong, DRAFTS));
    }
    let before = problems.len();
    match jsonschema::meta::validator_for(schema) {
        Ok(meta) => problems.extend(meta.iter_errors(schema).map(|error| meta_problem(place, &error))),
        Err(error) => problems.push(build_problem(place, schema, &error)),
    }
    check_references(schema, place, problems);
    check_patterns(schema, place, problems);
    if problems.len() == before
        && let Err(error) = compile(schema)
    {
        problems.push(build_problem(place, schema, &error));
    }
}

/// A note for every value that `schema` refuses, at the spot in it: such pairs exist in published benchmarks, and are
/// scored as they are written.
pub fn refused_by<'v>(schema: &Value, values: impl IntoIterator<Item = (Place, &'v Value)>) -> Vec<Note> {
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(error) => return vec![Note { place: Place::root(None), message: shown(&error) }],
    };
    let refusals = |(place, value): (Place, &'v Value)| -> Vec<Note> {
        let note = |error: ValidationError| Note {
            place: place.below(error.instance_path().as_str()),
            message: format!("the schema refuses this: {}", shown(&error)),
        };
        validator.iter_errors(value).map(note).collect()
    };
    values.into_iter().flat_map(refusals).collect()
}

fn compile(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options().offline().build(schema)
}

fn shown(error: &ValidationError) -> String {
    let message = error.to_string();
    if message.len() <= LONGEST_MESSAGE { message } else { error.masked().to_string() }
}

fn meta_problem(place: &Place, error: &ValidationError) -> Problem {
    let place = place.below(error.instance_path().as_str());
    let keyword = place.pointer.as_deref().and_then(|pointer| pointer.rsplit('/').next()).unwrap_or_default();
    let right = match (keyword, error.instance().as_str().and_then(|given| nearest(given, TYPES))) {
        ("type", Some(near)) => format!("`{near}`"),
        ("type", None) => format!("one of {}, or a list of them", quoted(&TYPES)),
        _ => format!("what the JSON Schema draft allows for `{keyword}`"),
    };
    Problem::new(place, format!("this is no valid JSON Schema: {}", shown(error)), right)
}

/// The compiler stops at the first thing that it cannot use, and does not say where a reference stands.
fn build_problem(place: &Place, schema: &Value, error: &ValidationError) -> Problem {
    let message = error.to_string();
    let named = references(schema, place).into_iter().find(|(_, reference)| {
        let target = reference.rsplit('#').next().unwrap_or_default();
        !target.is_empty() && message.contains(target)
    });
    let place = named.map_or_else(|| place.below(error.instance_path().as_str()), |(place, _)| place);
    Problem::new(
        place,
        format!("this schema cannot be used: {}", shown(error)),
        "a JSON Schema that compiles",
    )
}

/// Every reference must lead to something inside the schema: nothing is ever fetched.
fn check_references(schema: &Value, place: &Place, problems: &mut Vec<Problem>) {
    let mut ids = Vec::new();
    walk(schema, place, &mut |name, value, _| {
        ids.extend(value.as_str().filter(|_| matches!(name, "$id" | "id")));
    });
    for (place, reference) in references(schema, place) {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let embedded = ids.iter().any(|id| id.trim_end_matches('#').ends_with(document));
        if !document.is_empty() && !embedded && Draft::from_schema_uri(document) == Draft::Unknown {
            let wrong =
                format!("this refers to `{reference}`, which is outside the schema and is never fetched");
            problems.push(Problem::new(place, wrong, "a copy under `$defs`, and a reference to `#/$defs/…`"));
        } else if ids.is_empty() && fragment.starts_with('/') && target(schema, fragment).is_none() {
            let right = match nearest(reference, definitions(schema).iter().map(String::as_str)) {
                Some(near) => format!("`{near}`"),
                None => "a pointer to a part of this schema, such as `#/$defs/…`".to_owned(),
            };
            problems.push(Problem::new(place, format!("`{reference}` leads nowhere"), right));
        }
    }
}

/// Each pattern by itself, since the compiler would name only the first bad one.
fn check_patterns(schema: &Value, place: &Place, problems: &mut Vec<Problem>) {
    let mut check = |pattern: &str, place: Place| {
        if compile(&json!({ "pattern": pattern })).is_err() {
            let wrong = format!("`{pattern}` is no regular expression that can be used");
            problems.push(Problem::new(place, wrong, "a regular expression (ECMA-262)"));
        }
    };
    walk(schema, place, &mut |name, value, place| match (name, value) {
        ("pattern", Value::String(pattern)) => check(pattern, place),
        ("patternProperties", Value::Object(patterns)) => {
            patterns.keys().for_each(|pattern| check(pattern, place.member(pattern)));
        }
        _ => {}
    });
}

fn target<'s>(schema: &'s Value, fragment: &str) -> Option<&'s Value> {
    schema.pointer(fragment).or_else(|| schema.pointer(&percent_decoded(fragment)))
}

/// Pointers in references are URI fragments; `%25` and its like are rare, and only ASCII is looked for here.
fn percent_decoded(fragment: &str) -> String {
    let mut parts = fragment.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                decoded.push(char::from(byte));
                decoded.push_str(&part[2..]);
            }
            _ => {
                decoded.push('%');
                decoded.push_str(part);
            }
        }
    }
    decoded
}

fn definitions(schema: &Value) -> Vec<String> {
    let names_in = |keyword: &str| -> Vec<String> {
        let definitions = schema.get(keyword).and_then(Value::as_object);
        definitions.into_iter().flat_map(|map| map.keys()).map(|name| format!("#/{keyword}/{name}")).collect()
    };
    [names_in("$defs"), names_in("definitions")].concat()
}

fn references<'s>(schema: &'s Value, place: &Place) -> Vec<(Place, &'s str)> {
    let mut found = Vec::new();
    walk(schema, place, &mut |name, value, place| {
        let reference = value.as_str().filter(|_| matches!(name, "$ref" | "$dynamicRef"));
        found.extend(reference.map(|reference| (place, reference)));
    });
    found
}

/// Shows `visit` every member of every object in the schema, but for those inside instances.
fn walk<'s>(value: &'s Value, place: &Place, visit: &mut dyn FnMut(&str, &'s Value, Place)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| !HOLD_INSTANCES.contains(&name.as_str())) {
                visit(name, value, place.member(name));
                walk(value, &place.member(name), visit);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &place.item(index), visit);
            }
        }
        _ => {}
    }
}
