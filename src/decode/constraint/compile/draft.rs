//! The drafts of JSON Schema and which keywords each knows.

use serde_json::Value;

/// A draft, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl Draft {
    /// The draft that `$schema` names; the newest when it names none.
    pub(super) fn of(schema: &Value) -> Self {
        let uri = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        Self::named(uri).unwrap_or(Self::D2020)
    }

    fn named(uri: &str) -> Option<Self> {
        let name = uri.split_once("://").map_or(uri, |parts| parts.1);
        Some(match name.trim_end_matches('#') {
            "json-schema.org/draft-04/schema" => Self::D4,
            "json-schema.org/draft-06/schema" => Self::D6,
            "json-schema.org/draft-07/schema" => Self::D7,
            "json-schema.org/draft/2019-09/schema" => Self::D2019,
            "json-schema.org/draft/2020-12/schema" => Self::D2020,
            _ => return None,
        })
    }

    /// Whether keywords beside `$ref` are ignored.
    pub(super) fn ref_stands_alone(self) -> bool {
        self <= Self::D7
    }

    /// Whether `items` may be a list, followed by `additionalItems`.
    pub(super) fn items_may_be_list(self) -> bool {
        self <= Self::D2019
    }

    /// Whether `1.0` is no integer, and `exclusiveMinimum` a flag.
    pub(super) fn is_4(self) -> bool {
        self == Self::D4
    }

    /// The name of the keyword that gives a schema its URI.
    pub(super) fn id_keyword(self) -> &'static str {
        if self.is_4() { "id" } else { "$id" }
    }

    /// Whether the draft gives the keyword a meaning for validation.
    pub(super) fn has(self, keyword: &str) -> bool {
        let since = match keyword {
            "const" | "contains" | "propertyNames" => Self::D6,
            "if" | "then" | "else" => Self::D7,
            "dependentRequired"
            | "dependentSchemas"
            | "minContains"
            | "maxContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::D2019,
            "$recursiveRef" => return self == Self::D2019,
            "additionalItems" => return self.items_may_be_list(),
            "prefixItems" | "$dynamicRef" => Self::D2020,
            _ => Self::D4,
        };
        self >= since
    }
}

/// The draft that the schema names, when it is none of those.
pub(super) fn unknown(schema: &Value) -> Option<&str> {
    schema.get("$schema").and_then(Value::as_str).filter(|uri| Draft::named(uri).is_none())
}

/// Keywords without a rule of their own: annotations, and parts of rules that other keywords begin.
const SILENT: [&str; 27] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "else",
    "examples",
    "id",
    "maxContains",
    "minContains",
    "readOnly",
    "then",
    "title",
    "unevaluatedItems",
    "unevaluatedProperties",
    "writeOnly",
];

/// Whether JSON Schema has the keyword, in some draft, though nothing asks for its rule alone.
pub(super) fn is_known(keyword: &str) -> bool {
    SILENT.contains(&keyword)
}
