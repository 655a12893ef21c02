//! A JSON Schema to formulas. What cannot be enforced exactly is listed, never ignored.

mod array;
mod draft;
mod logic;
mod number;
mod object;
mod refs;
mod resources;
mod text;
mod unseen;
mod value;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::expr::{ExprId, FALSE, TRUE};
use super::policy::Policy;
use super::rules::{Note, Unsupported};
use super::tables::Graph;
use draft::Draft;
use resources::Resources;

/// Schemas may nest so deep; deeper ones are refused rather than overflow the stack.
const MAX_DEPTH: usize = 200;

/// A schema as formulas.
pub(super) struct Compiled {
    pub graph: Graph,
    pub root: ExprId,
    pub notes: Vec<Note>,
    /// Keywords that were given a meaning, and at how many places.
    pub enforced: BTreeMap<String, usize>,
}

/// Compiles a schema, or lists every keyword in it that cannot be enforced.
pub(super) fn compile(schema: &Value, policy: Policy) -> Result<Compiled, Vec<Unsupported>> {
    let mut compiler = Compiler::new(schema, policy);
    let root = compiler.schema(schema);
    compiler.refuse_loops(root);
    if compiler.unsupported.is_empty() {
        Ok(Compiled { graph: compiler.graph, root, notes: compiler.notes, enforced: compiler.enforced })
    } else {
        Err(compiler.unsupported)
    }
}

/// How far a schema is compiled.
#[derive(Clone, Copy)]
enum Progress {
    /// Being compiled; the node stands for it where it contains itself.
    Open {
        node: Option<u32>,
    },
    Done(ExprId),
}

struct Compiler<'s> {
    graph: Graph,
    policy: Policy,
    draft: Draft,
    resources: Resources<'s>,
    /// Where in the schema the compiler is.
    pointer: String,
    /// The URI that references are relative to.
    base: String,
    depth: usize,
    /// By address: a schema is compiled once however often it is referred to.
    progress: FxHashMap<usize, Progress>,
    unsupported: Vec<Unsupported>,
    notes: Vec<Note>,
    enforced: BTreeMap<String, usize>,
}

type Keywords = Map<String, Value>;

impl<'s> Compiler<'s> {
    fn new(schema: &'s Value, policy: Policy) -> Self {
        let draft = Draft::of(schema);
        let resources = Resources::new(schema, draft);
        Self {
            graph: Graph::default(),
            policy,
            draft,
            base: resources.root_base(),
            resources,
            pointer: String::new(),
            depth: 0,
            progress: FxHashMap::default(),
            unsupported: Vec::new(),
            notes: Vec::new(),
            enforced: BTreeMap::new(),
        }
    }

    /// The formula of a schema at the current pointer.
    fn schema(&mut self, schema: &'s Value) -> ExprId {
        let keywords = match schema {
            Value::Bool(true) => return TRUE,
            Value::Bool(false) => return FALSE,
            Value::Object(keywords) => keywords,
            _ => return self.refuse_here("a schema is an object or a boolean"),
        };
        let address = std::ptr::from_ref(schema) as usize;
        match self.progress.get(&address).copied() {
            Some(Progress::Done(id)) => return id,
            Some(Progress::Open { node }) => {
                let node = node.unwrap_or_else(|| {
                    self.graph.nodes.push(FALSE);
                    self.graph.nodes.len() as u32 - 1
                });
                self.progress.insert(address, Progress::Open { node: Some(node) });
                return self.graph.exprs.node(node);
            }
            None => {}
        }
        if self.depth >= MAX_DEPTH {
            return self.refuse_here("schemas nest too deep");
        }
        self.progress.insert(address, Progress::Open { node: None });
        self.depth += 1;
        let outer = self.resources.base_of(schema).map(|base| std::mem::replace(&mut self.base, base));
        let id = self.keywords(keywords);
        if let Some(outer) = outer {
            self.base = outer;
        }
        self.depth -= 1;
        if let Some(Progress::Open { node: Some(node) }) = self.progress.insert(address, Progress::Done(id)) {
            self.graph.nodes[node as usize] = id;
        }
        id
    }

    /// The formula of a schema below the current pointer.
    fn below(&mut self, segments: &[&str], schema: &'s Value) -> ExprId {
        self.at(segments, |compiler| compiler.schema(schema))
    }

    /// Runs with the pointer moved down.
    fn at<T>(&mut self, segments: &[&str], run: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        for segment in segments {
            self.pointer.push('/');
            self.pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        }
        let result = run(self);
        self.pointer.truncate(length);
        result
    }

    fn keywords(&mut self, keywords: &'s Keywords) -> ExprId {
        if self.draft.ref_stands_alone()
            && let Some(reference) = keywords.get("$ref")
        {
            return self.reference("$ref", reference);
        }
        let mut parts = Vec::new();
        for (keyword, value) in keywords {
            let part = self.keyword(keywords, keyword, value);
            parts.push(part);
        }
        // Last, because it refers to what the other keywords evaluate.
        parts.push(self.unseen_members(keywords));
        parts.push(self.unseen_items(keywords));
        self.graph.exprs.and(&parts)
    }

    /// What one keyword asks; groups of keywords that belong together are compiled at one of them.
    fn keyword(&mut self, keywords: &'s Keywords, keyword: &'s str, value: &'s Value) -> ExprId {
        if !self.draft.has(keyword) {
            return TRUE;
        }
        let n_notes = self.notes.len();
        let part = match keyword {
            "type" => self.types(value),
            "enum" => self.values(value),
            "const" => self.constant(value),
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(keyword, value),
            "allOf" | "anyOf" | "oneOf" => self.combination(keyword, value),
            "not" => {
                let inner = self.below(&["not"], value);
                self.graph.exprs.not(inner)
            }
            "if" => self.conditional(keywords, value),
            "dependentRequired" | "dependentSchemas" | "dependencies" => self.dependencies(keyword, value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                self.bound(keywords, keyword, value)
            }
            "multipleOf" => self.multiple(value),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                self.count(keyword, value)
            }
            "pattern" => self.pattern(value),
            "format" => self.format(value),
            "properties" | "patternProperties" | "additionalProperties" => self.members(keywords, keyword),
            "required" => self.required(value),
            "propertyNames" => {
                let schema = self.below(&["propertyNames"], value);
                self.names(schema)
            }
            "items" | "prefixItems" | "additionalItems" => self.items(keywords, keyword),
            "contains" => self.contains(keywords, value),
            "uniqueItems" => self.unique(keywords, value),
            // These are compiled after the others.
            "unevaluatedProperties" | "unevaluatedItems" => TRUE,
            _ => return TRUE,
        };
        // A note says that a keyword is not asserted.
        if self.notes.len() == n_notes || keyword != "format" {
            *self.enforced.entry(keyword.to_owned()).or_default() += 1;
        }
        part
    }

    /// Notes that the keyword at the current pointer cannot be enforced.
    fn refuse(&mut self, keyword: &str, reason: impl Into<String>) -> ExprId {
        let pointer = self.at(&[keyword], |compiler| compiler.pointer.clone());
        self.unsupported.push(Unsupported { keyword: keyword.to_owned(), pointer, reason: reason.into() });
        TRUE
    }

    fn refuse_here(&mut self, reason: &str) -> ExprId {
        let keyword = self.pointer.rsplit('/').next().unwrap_or_default().to_owned();
        let pointer = self.pointer.clone();
        self.unsupported.push(Unsupported { keyword, pointer, reason: reason.to_owned() });
        TRUE
    }

    fn note(&mut self, keyword: &str, message: impl Into<String>) {
        let pointer = self.at(&[keyword], |compiler| compiler.pointer.clone());
        self.notes.push(Note { pointer, message: message.into() });
    }
}
