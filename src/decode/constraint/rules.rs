//! What a text has to be: JSON, JSON that a schema accepts, or what a grammar says. Compiled once, shared by all
//! attempts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::compile;
use super::expr::{ExprId, TRUE};
use super::gbnf::{Grammar, GrammarError};
use super::leaf::{Kind, Kinds, Leaf};
use super::policy::Policy;
use super::tables::Graph;

/// What a JSON text has to be when there is no schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// An object, as JSON mode asks for.
    Object,
    /// Any value.
    Any,
}

/// A keyword that cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{keyword}` at `{pointer}` cannot be enforced: {reason}")]
pub struct Unsupported {
    /// The keyword.
    pub keyword: String,
    /// JSON pointer to the keyword in the schema.
    pub pointer: String,
    /// Why.
    pub reason: String,
}

/// Something a reader of the schema may not expect, but which is no reason to refuse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// JSON pointer into the schema.
    pub pointer: String,
    /// What it is.
    pub message: String,
}

/// Compiled rules for a text.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What may be narrowed.
    pub policy: Policy,
    /// What was read as an annotation though it looks like a rule.
    pub notes: Vec<Note>,
    /// The schema's keywords that are enforced, and at how many places of it.
    pub enforced: BTreeMap<String, usize>,
    pub(super) graph: Graph,
    pub(super) root: ExprId,
    /// Then nothing of the above counts.
    pub(super) grammar: Option<Arc<Grammar>>,
}

impl Rules {
    /// JSON without a schema.
    pub fn json(root: Root, policy: Policy) -> Self {
        let mut graph = Graph::default();
        let root = match root {
            Root::Object => graph.exprs.leaf(Leaf::Kinds(Kinds::of(Kind::Object))),
            Root::Any => TRUE,
        };
        Self { policy, notes: Vec::new(), enforced: BTreeMap::new(), graph, root, grammar: None }
    }

    /// JSON that the schema accepts, or every keyword that cannot be enforced.
    pub fn schema(schema: &Value, policy: Policy) -> Result<Self, Vec<Unsupported>> {
        let compiled = compile::compile(schema, policy)?;
        Ok(Self {
            policy,
            notes: compiled.notes,
            enforced: compiled.enforced,
            graph: compiled.graph,
            root: compiled.root,
            grammar: None,
        })
    }

    /// Text as a grammar in GBNF says, or the first thing that is wrong with the grammar.
    pub fn grammar(text: &str) -> Result<Self, GrammarError> {
        let grammar = Grammar::parse(text)?;
        Ok(Self { grammar: Some(Arc::new(grammar)), ..Self::json(Root::Any, Policy::default()) })
    }
}
