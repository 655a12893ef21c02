//! What formulas point to: names, word lists, patterns, the schemas of members and items. Filled by the compiler.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::expr::{ExprId, Exprs, FALSE, TRUE};
use super::leaf::{Kinds, Leaf, NameId};
use super::pattern::Pattern;

/// The formulas of a schema and everything they point to.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub exprs: Exprs,
    /// What [`super::expr::Expr::Ref`] expands to.
    pub nodes: Vec<ExprId>,
    pub patterns: Vec<Pattern>,
    pub words: Vec<Arc<[Box<[u8]>]>>,
    pub items: Vec<Items>,
    pub members: Vec<Arc<Members>>,
    pub unseen_items: Vec<UnseenItems>,
    pub unseen_members: Vec<UnseenMembers>,
    names: Vec<Arc<[u8]>>,
    name_ids: FxHashMap<Arc<[u8]>, NameId>,
    pattern_ids: FxHashMap<String, u32>,
    /// Answers of the searches and derivations that come again and again.
    pub memo: Memo,
    /// Bytes of what patterns found out, roughly.
    n_found: usize,
}

/// Caches of pure functions of formulas.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo {
    pub byte: FxHashMap<(ExprId, u8), ExprId>,
    pub open: FxHashMap<(ExprId, super::leaf::Kind), ExprId>,
    pub text_alive: FxHashMap<ExprId, bool>,
    /// Characters of some text that meets a formula.
    pub completion: FxHashMap<ExprId, Option<u64>>,
    /// `None` while the answer is being found.
    pub satisfiable: FxHashMap<ExprId, Option<bool>>,
    /// How many of those answers are being found.
    pub n_open: usize,
}

/// The schemas of an array's items.
#[derive(Clone, Debug)]
pub(super) struct Items {
    /// By index.
    pub prefix: Vec<ExprId>,
    /// Of all items after those.
    pub rest: ExprId,
}

/// The schemas of an object's members.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// In the schema's order.
    pub named: Vec<(NameId, ExprId)>,
    /// Sorted by name, for looking up.
    pub sorted: Vec<(NameId, ExprId)>,
    /// By pattern of the name.
    pub patterns: Vec<(u32, ExprId)>,
    /// Of members that neither name nor pattern covers.
    pub rest: ExprId,
}

impl Members {
    /// The table for these members.
    pub(super) fn new(named: Vec<(NameId, ExprId)>, patterns: Vec<(u32, ExprId)>, rest: ExprId) -> Self {
        let mut sorted = named.clone();
        sorted.sort_unstable();
        Self { named, sorted, patterns, rest }
    }

    /// The schema of a member that `properties` names.
    pub(super) fn named(&self, name: NameId) -> Option<ExprId> {
        let idx = self.sorted.binary_search_by_key(&name, |entry| entry.0).ok()?;
        Some(self.sorted[idx].1)
    }
}

/// What a condition evaluates once it is true; parallel to a leaf's `conditions`.
#[derive(Clone, Debug)]
pub(super) enum SeenItems {
    /// The first so many.
    Prefix(u64),
    /// All of them.
    All,
    /// Those that meet a `contains` schema.
    Matching(ExprId),
}

/// `unevaluatedItems`.
#[derive(Clone, Debug)]
pub(super) struct UnseenItems {
    pub seen: Vec<SeenItems>,
    pub rest: ExprId,
}

/// What a condition evaluates once it is true; parallel to a leaf's `conditions`.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenMembers {
    pub all: bool,
    pub names: Vec<NameId>,
    pub patterns: Vec<u32>,
}

/// `unevaluatedProperties`.
#[derive(Clone, Debug)]
pub(super) struct UnseenMembers {
    pub seen: Vec<SeenMembers>,
    pub rest: ExprId,
}

impl Graph {
    /// The id of a member name.
    pub(super) fn name_id(&mut self, name: &[u8]) -> NameId {
        if let Some(&id) = self.name_ids.get(name) {
            return id;
        }
        let id = self.names.len() as NameId;
        let name: Arc<[u8]> = name.into();
        self.names.push(Arc::clone(&name));
        self.name_ids.insert(name, id);
        id
    }

    /// The bytes of a member name.
    pub(super) fn name(&self, id: NameId) -> &Arc<[u8]> {
        &self.names[id as usize]
    }

    /// The id of a pattern with this source; compiled once.
    pub(super) fn pattern_id(
        &mut self,
        source: &str,
        compile: impl FnOnce() -> Result<Pattern, String>,
    ) -> Result<u32, String> {
        if let Some(&id) = self.pattern_ids.get(source) {
            return Ok(id);
        }
        let id = self.patterns.len() as u32;
        self.patterns.push(compile()?);
        self.pattern_ids.insert(source.to_owned(), id);
        Ok(id)
    }

    /// The state of a pattern's automaton after one more byte.
    pub(super) fn pattern_next(&mut self, pattern: u32, state: u32, byte: u8) -> u32 {
        let automaton = &mut self.patterns[pattern as usize];
        let before = automaton.n_found();
        let next = automaton.next(state, byte);
        self.n_found += automaton.n_found() - before;
        next
    }

    /// Whether a whole text matches a pattern.
    pub(super) fn pattern_matches(&mut self, pattern: u32, text: &[u8]) -> bool {
        let automaton = &mut self.patterns[pattern as usize];
        let before = automaton.n_found();
        let matches = automaton.matches(text);
        self.n_found += automaton.n_found() - before;
        matches
    }

    /// Bytes of formulas, of what is remembered about them and of automata, roughly.
    pub(super) fn n_bytes(&self) -> usize {
        const PER_FORMULA: usize = 128;
        const PER_PART: usize = 8;
        const PER_ANSWER: usize = 32;
        let n_answers = self.memo.byte.len() + self.memo.open.len() + self.memo.text_alive.len();
        self.n_found
            + self.exprs.len() * PER_FORMULA
            + self.exprs.n_parts() * PER_PART
            + n_answers * PER_ANSWER
    }

    /// "Matches the pattern", from the start of a text.
    pub(super) fn pattern_leaf(&mut self, pattern: u32) -> ExprId {
        self.pattern_at(pattern, super::pattern::START)
    }

    /// "Matches the pattern", with the automaton in a state.
    pub(super) fn pattern_at(&mut self, pattern: u32, state: u32) -> ExprId {
        match self.patterns[pattern as usize].certain(state) {
            Some(true) => TRUE,
            Some(false) => FALSE,
            None => self.exprs.leaf(Leaf::Pattern { pattern, state }),
        }
    }

    /// "Is one of the words."
    pub(super) fn words_leaf(&mut self, mut words: Vec<Box<[u8]>>) -> ExprId {
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            return self.exprs.leaf(Leaf::Kinds(Kinds::of(super::leaf::Kind::Text).complement()));
        }
        let hi = words.len() as u32;
        let list = self.words.len() as u32;
        self.words.push(words.into());
        self.exprs.leaf(Leaf::Words { list, lo: 0, hi, depth: 0 })
    }

    /// What remains of a formula when the value turns out to be of this kind.
    pub(super) fn open(&mut self, id: ExprId, kind: super::leaf::Kind) -> ExprId {
        use super::expr::Expr;
        if id == TRUE || id == FALSE {
            return id;
        }
        if let Some(&known) = self.memo.open.get(&(id, kind)) {
            return known;
        }
        let opened = match self.exprs.get(id).clone() {
            Expr::Ref(node) => self.open(self.nodes[node as usize], kind),
            Expr::Leaf(Leaf::Kinds(kinds)) => {
                if kinds.contains(kind) {
                    TRUE
                } else {
                    FALSE
                }
            }
            Expr::Leaf(leaf) if leaf.kind() != Some(kind) => TRUE,
            Expr::Leaf(leaf) if !leaf.conditions().is_empty() => {
                let conditions = leaf.conditions().iter().map(|&part| self.open(part, kind)).collect();
                self.exprs.leaf(leaf.with_conditions(conditions))
            }
            Expr::Leaf(_) | Expr::False | Expr::True | Expr::Var(_) => id,
            Expr::Not(inner) => {
                let inner = self.open(inner, kind);
                self.exprs.not(inner)
            }
            Expr::And(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.open(part, kind)).collect();
                self.exprs.and(&list)
            }
            Expr::Or(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.open(part, kind)).collect();
                self.exprs.or(&list)
            }
            Expr::One(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.open(part, kind)).collect();
                self.exprs.one(&list)
            }
        };
        self.memo.open.insert((id, kind), opened);
        opened
    }
}
