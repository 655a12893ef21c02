//! Where the schemas of a document are: by URI, by anchor, by JSON pointer.

use std::rc::Rc;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::budget::Cost;
use super::draft::Draft;

/// Keywords whose value maps names to schemas.
const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value is a schema.
const SINGLES: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// The schemas of a document that have a name of their own.
pub(super) struct Resources<'s> {
    draft: Draft,
    root: &'s Value,
    root_base: String,
    /// By URI, with the anchor after `#` if it has one.
    by_uri: FxHashMap<String, (&'s Value, String)>,
    /// The base URI of schemas that set one, by address.
    bases: FxHashMap<usize, String>,
    /// By URI of the document they are in: what dynamic references may lead to.
    dynamic: FxHashMap<String, Vec<(String, Target<'s>)>>,
    n_bytes: u64,
}

/// The name under which `$recursiveAnchor` is kept; no anchor can have it.
pub(super) const RECURSIVE: &str = "#";

/// What a reference leads to.
#[derive(Clone)]
pub(super) struct Target<'s> {
    pub schema: &'s Value,
    pub base: String,
    pub pointer: String,
}

impl<'s> Resources<'s> {
    /// Finds the schemas of a document.
    pub(super) fn new(root: &'s Value, draft: Draft) -> Self {
        let mut resources = Self {
            draft,
            root,
            root_base: String::new(),
            by_uri: FxHashMap::default(),
            bases: FxHashMap::default(),
            dynamic: FxHashMap::default(),
            n_bytes: 0,
        };
        resources.by_uri.insert(String::new(), (root, String::new()));
        resources.scan(root, &Rc::from(""), &mut String::new(), 0);
        resources.root_base = resources.base_of(root).unwrap_or_default();
        resources
    }

    /// Bytes of all names and pointers that are kept.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The URI of the document.
    pub(super) fn root_base(&self) -> String {
        self.root_base.clone()
    }

    /// The base URI a schema sets for itself and what is in it.
    pub(super) fn base_of(&self, schema: &Value) -> Option<String> {
        self.bases.get(&(std::ptr::from_ref(schema) as usize)).cloned()
    }

    /// The anchors of a document that dynamic references may lead to.
    pub(super) fn dynamic_anchors(&self, document: &str) -> &[(String, Target<'s>)] {
        self.dynamic.get(document).map_or(&[], Vec::as_slice)
    }

    /// Follows a reference, if it stays in this document.
    pub(super) fn resolve(&self, base: &str, reference: &str) -> Option<Target<'s>> {
        let uri = join(base, reference);
        let (document, fragment) = uri.split_once('#').unwrap_or((&uri, ""));
        let fragment = percent_decoded(fragment)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let (schema, pointer) = self.by_uri.get(&format!("{document}#{fragment}"))?;
            let base = self.base_of(schema).unwrap_or_else(|| document.to_owned());
            return Some(Target { schema, base, pointer: pointer.clone() });
        }
        let known = self.by_uri.get(document).map(|found| (found.0, found.1.clone()));
        let (mut schema, pointer) = known.or_else(|| Some((metaschema(document)?, document.to_owned())))?;
        let mut base = document.to_owned();
        for segment in fragment.split('/').skip(1) {
            if let Some(inner) = self.base_of(schema) {
                base = inner;
            }
            let key = segment.replace("~1", "/").replace("~0", "~");
            schema = match schema {
                Value::Object(map) => map.get(&key)?,
                Value::Array(list) => list.get(key.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        if let Some(inner) = self.base_of(schema) {
            base = inner;
        }
        Some(Target { schema, base, pointer: pointer + &fragment })
    }

    fn scan(&mut self, schema: &'s Value, base: &Rc<str>, pointer: &mut String, depth: usize) {
        let Value::Object(map) = schema else { return };
        if depth > super::MAX_DEPTH || self.n_bytes > Cost::Text.limit() {
            return;
        }
        let base = self.scan_names(schema, base, pointer);
        for (keyword, value) in map {
            let is_list = LISTS.contains(&keyword.as_str()) && value.is_array();
            match value {
                Value::Object(schemas) if MAPS.contains(&keyword.as_str()) => {
                    for (name, inner) in schemas {
                        let segment = name.replace('~', "~0").replace('/', "~1");
                        self.scan_below(inner, &base, pointer, &[keyword, &segment], depth);
                    }
                }
                Value::Array(schemas) if is_list => {
                    for (idx, inner) in schemas.iter().enumerate() {
                        self.scan_below(inner, &base, pointer, &[keyword, &idx.to_string()], depth);
                    }
                }
                inner if SINGLES.contains(&keyword.as_str()) => {
                    self.scan_below(inner, &base, pointer, &[keyword], depth);
                }
                _ => {}
            }
        }
    }

    fn scan_below(
        &mut self,
        schema: &'s Value,
        base: &Rc<str>,
        pointer: &mut String,
        segments: &[&str],
        depth: usize,
    ) {
        let length = pointer.len();
        for segment in segments {
            pointer.extend(["/", segment]);
        }
        self.scan(schema, base, pointer, depth + 1);
        pointer.truncate(length);
    }

    /// Registers what the schema calls itself, and returns its base URI.
    fn scan_names(&mut self, schema: &'s Value, base: &Rc<str>, pointer: &str) -> Rc<str> {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let ignored = self.draft.ref_stands_alone() && schema.get("$ref").is_some();
        let mut base = Rc::clone(base);
        if let Some(id) = text(self.draft.id_keyword()).filter(|_| !ignored) {
            let uri = join(&base, id);
            let (document, anchor) = uri.split_once('#').unwrap_or((&uri, ""));
            // Before 2019 an anchor was an `$id` that is only a fragment.
            if !anchor.is_empty() && self.draft.ref_stands_alone() {
                self.register(uri.clone(), schema, pointer);
            }
            if !id.starts_with('#') {
                base = document.into();
                self.register(document.to_owned(), schema, pointer);
                self.bases.insert(std::ptr::from_ref(schema) as usize, document.to_owned());
            }
        }
        if self.draft.ref_stands_alone() {
            return base;
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(anchor) = text(keyword) {
                self.register(format!("{base}#{anchor}"), schema, pointer);
                if keyword == "$dynamicAnchor" {
                    self.register_dynamic(anchor, schema, &base, pointer);
                }
            }
        }
        if schema.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.register_dynamic(RECURSIVE, schema, &base, pointer);
        }
        debug_assert!(self.root.is_object());
        base
    }

    fn register_dynamic(&mut self, name: &str, schema: &'s Value, base: &str, pointer: &str) {
        self.n_bytes += (name.len() + base.len() + pointer.len()) as u64;
        let target = Target { schema, base: base.to_owned(), pointer: pointer.to_owned() };
        self.dynamic.entry(base.to_owned()).or_default().push((name.to_owned(), target));
    }

    fn register(&mut self, uri: String, schema: &'s Value, pointer: &str) {
        self.n_bytes += (uri.len() + pointer.len()) as u64;
        self.by_uri.insert(uri, (schema, pointer.to_owned()));
    }
}

/// The published schemas of schemas that need no other document.
fn metaschema(uri: &str) -> Option<&'static Value> {
    static TEXTS: [(&str, &str); 3] = [
        ("http://json-schema.org/draft-04/schema", include_str!("metaschemas/draft4.json")),
        ("http://json-schema.org/draft-06/schema", include_str!("metaschemas/draft6.json")),
        ("http://json-schema.org/draft-07/schema", include_str!("metaschemas/draft7.json")),
    ];
    static PARSED: LazyLock<Vec<Value>> = LazyLock::new(|| {
        TEXTS
            .iter()
            .map(|(_, text)| serde_json::from_str(text).expect("a published schema is JSON"))
            .collect()
    });
    let idx = TEXTS.iter().position(|(known, _)| *known == uri)?;
    Some(&PARSED[idx])
}

/// A reference made absolute.
fn join(base: &str, reference: &str) -> String {
    let base = base.split('#').next().unwrap_or_default();
    let has_scheme = reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if has_scheme {
        return reference.to_owned();
    }
    if reference.is_empty() || reference.starts_with('#') {
        return format!("{base}{reference}");
    }
    let path_start =
        base.find("://").map_or(0, |at| base[at + 3..].find('/').map_or(base.len(), |path| at + 3 + path));
    let (authority, path) = base.split_at(path_start);
    if reference.starts_with('/') {
        return format!("{authority}{}", without_dots(reference));
    }
    let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
    let folder = if authority.is_empty() && !path.contains('/') { "" } else { folder };
    format!("{authority}{}", without_dots(&format!("{folder}{reference}")))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    kept.join("/")
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}
