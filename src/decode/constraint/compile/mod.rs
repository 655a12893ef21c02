//! A JSON Schema to formulas. What cannot be enforced exactly is listed, never ignored.

mod array;
mod budget;
mod draft;
mod logic;
mod number;
mod object;
mod refs;
mod resources;
mod scope;
mod text;
mod unseen;
mod value;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::expr::{ExprId, FALSE, TRUE};
use super::policy::Policy;
use super::rules::{Note, Unsupported};
use super::shape::Shape;
use super::tables::Graph;
use budget::{Budget, Cost};
use draft::Draft;
use resources::Resources;
use scope::Scope;

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
    compiler.spend(Cost::Text, compiler.resources.n_bytes());
    compiler.enter(compiler.resources.root_base());
    if let Some(uri) = draft::unknown(schema) {
        compiler
            .note("$schema", format!("`{uri}` is not a draft known here: read as draft 2020-12, all of it"));
    }
    let root = compiler.schema(schema);
    compiler.refuse_loops();
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
    /// What dynamic references lead to, and the ids of all such scopes.
    scope: Scope<'s>,
    scopes: FxHashMap<Vec<(String, usize)>, u32>,
    /// By address and scope: a schema is compiled once however often it is referred to.
    progress: FxHashMap<(usize, u32), Progress>,
    /// Arrays and objects of `enum` and `const`, by their text.
    constants: FxHashMap<String, ExprId>,
    budget: Budget,
    /// Nothing more is compiled, because some part of the budget is used up.
    is_spent: bool,
    unsupported: Vec<Unsupported>,
    notes: Vec<Note>,
    enforced: BTreeMap<String, usize>,
    noted: FxHashSet<&'s str>,
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
            base: String::new(),
            resources,
            scope: Scope::default(),
            scopes: FxHashMap::default(),
            pointer: String::new(),
            depth: 0,
            progress: FxHashMap::default(),
            constants: FxHashMap::default(),
            budget: Budget::default(),
            is_spent: false,
            unsupported: Vec::new(),
            notes: Vec::new(),
            enforced: BTreeMap::new(),
            noted: FxHashSet::default(),
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
        let outer = self.resources.base_of(schema).map(|base| self.enter(base));
        let id = self.schema_object(schema, keywords);
        if let Some(outer) = outer {
            self.leave(outer);
        }
        id
    }

    fn schema_object(&mut self, schema: &'s Value, keywords: &'s Keywords) -> ExprId {
        let key = (std::ptr::from_ref(schema) as usize, self.scope.id);
        match self.progress.get(&key).copied() {
            Some(Progress::Done(id)) => return id,
            Some(Progress::Open { node }) => {
                let node = node.unwrap_or_else(|| {
                    self.graph.nodes.push(FALSE);
                    self.graph.nodes.len() as u32 - 1
                });
                self.progress.insert(key, Progress::Open { node: Some(node) });
                return self.graph.exprs.node(node);
            }
            None => {}
        }
        if self.depth >= MAX_DEPTH {
            return self.refuse_here("schemas nest too deep");
        }
        if self.is_spent || !self.spend(Cost::Schemas, 1) {
            return TRUE;
        }
        self.progress.insert(key, Progress::Open { node: None });
        self.depth += 1;
        let id = self.keywords(keywords);
        self.weigh(self.graph.exprs.shape(id));
        self.depth -= 1;
        if let Some(Progress::Open { node: Some(node) }) = self.progress.insert(key, Progress::Done(id)) {
            self.graph.nodes[node as usize] = id;
        }
        id
    }

    /// Uses up a part of the budget; false, and nothing more is compiled, when that is too much.
    fn spend(&mut self, cost: Cost, amount: u64) -> bool {
        if !self.is_spent && !self.budget.spend(cost, amount) {
            self.refuse_here(cost.reason());
            self.is_spent = true;
        }
        !self.is_spent
    }

    /// Refuses a formula that is too large to work with.
    fn weigh(&mut self, shape: Shape) {
        let amounts = [
            (Cost::Parts, self.graph.exprs.n_handled()),
            (Cost::Weight, shape.weight.into()),
            (Cost::Depth, shape.depth.into()),
        ];
        for (cost, amount) in amounts {
            if !self.is_spent && amount > cost.limit() {
                self.refuse_here(cost.reason());
                self.is_spent = true;
            }
        }
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
            self.note_once(keyword, "has no meaning in this draft");
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
            _ => {
                if !draft::is_known(keyword) {
                    self.note_once(keyword, "is not a keyword of JSON Schema: it asks nothing");
                }
                return TRUE;
            }
        };
        // A note says that a keyword is not asserted.
        if self.notes.len() == n_notes || keyword != "format" {
            *self.enforced.entry(keyword.to_owned()).or_default() += 1;
        }
        part
    }

    /// Notes something about a keyword where it comes first.
    fn note_once(&mut self, keyword: &'s str, message: &str) {
        if self.noted.insert(keyword) {
            self.note(keyword, format!("`{keyword}` {message}"));
        }
    }

    /// Notes that the keyword at the current pointer cannot be enforced.
    fn refuse(&mut self, keyword: &str, reason: impl Into<String>) -> ExprId {
        self.at(&[keyword], |compiler| compiler.refuse_as(keyword.to_owned(), reason.into()))
    }

    fn refuse_here(&mut self, reason: impl Into<String>) -> ExprId {
        let keyword = self.pointer.rsplit('/').next().filter(|keyword| !keyword.is_empty());
        self.refuse_as(keyword.unwrap_or("schema").to_owned(), reason.into())
    }

    fn refuse_as(&mut self, keyword: String, reason: String) -> ExprId {
        // Once the budget is used up nothing was looked at any more that could be found wanting.
        if !self.is_spent {
            self.unsupported.push(Unsupported { keyword, pointer: self.pointer.clone(), reason });
            self.spend_text();
        }
        TRUE
    }

    /// Pays for a copy of the current pointer.
    fn spend_text(&mut self) {
        if !self.is_spent && !self.budget.spend(Cost::Text, self.pointer.len() as u64) {
            self.is_spent = true;
        }
    }

    fn note(&mut self, keyword: &str, message: impl Into<String>) {
        let pointer = self.at(&[keyword], |compiler| compiler.pointer.clone());
        self.notes.push(Note { pointer, message: message.into() });
        self.spend(Cost::Text, self.pointer.len() as u64);
    }
}
