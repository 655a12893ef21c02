//! Boolean formulas over what is not decided yet about a value, hash-consed so that equal residuals have equal ids.
//!
//! A schema compiles to one formula. Events of the text (a kind, a byte, a name, an item, an end) turn it into the
//! formula of what remains to be shown. Nothing here knows what a leaf means.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::leaf::{Kinds, Leaf};
use super::number::NumberSet;
use super::shape::Shape;

/// A formula in an [`Exprs`] arena.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct ExprId(u32);

/// Nothing can make it true.
pub(super) const FALSE: ExprId = ExprId(0);
/// It is true already.
pub(super) const TRUE: ExprId = ExprId(1);

/// One formula, its parts named by id.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Expr {
    /// See [`FALSE`].
    False,
    /// See [`TRUE`].
    True,
    /// One requirement on the value.
    Leaf(Leaf),
    /// A schema that contains itself; expanded when a value begins.
    Ref(u32),
    /// The verdict on the child value being written, by index of its goal.
    Var(u32),
    /// The opposite.
    Not(ExprId),
    /// All of them.
    And(Arc<[ExprId]>),
    /// At least one of them.
    Or(Arc<[ExprId]>),
    /// Exactly one of them.
    One(Arc<[ExprId]>),
}

impl Expr {
    /// The formulas directly below.
    pub(super) fn parts(&self) -> &[ExprId] {
        match self {
            Self::Not(inner) => std::slice::from_ref(inner),
            Self::And(parts) | Self::Or(parts) | Self::One(parts) => parts,
            Self::Leaf(leaf) => leaf.conditions(),
            Self::False | Self::True | Self::Ref(_) | Self::Var(_) => &[],
        }
    }
}

/// All formulas made so far.
#[derive(Clone, Debug)]
pub(super) struct Exprs {
    all: Vec<Expr>,
    has_var: Vec<bool>,
    shapes: Vec<Shape>,
    ids: FxHashMap<Expr, ExprId>,
    n_parts: usize,
    n_handled: u64,
}

impl Default for Exprs {
    fn default() -> Self {
        let mut exprs = Self {
            all: Vec::new(),
            has_var: Vec::new(),
            shapes: Vec::new(),
            ids: FxHashMap::default(),
            n_parts: 0,
            n_handled: 0,
        };
        exprs.intern(Expr::False);
        exprs.intern(Expr::True);
        exprs
    }
}

impl Exprs {
    /// How many formulas there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many parts all formulas have together.
    pub(super) fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// How many parts were handled to make them: a measure of time that is the same on every machine.
    pub(super) fn n_handled(&self) -> u64 {
        self.n_handled
    }

    /// How large a formula is, schemas that contain themselves counted as one part.
    pub(super) fn shape(&self, id: ExprId) -> Shape {
        self.shapes[id.0 as usize]
    }

    /// The ids of all formulas.
    pub(super) fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.all.len() as u32).map(ExprId)
    }

    /// The formula behind an id.
    pub(super) fn get(&self, id: ExprId) -> &Expr {
        &self.all[id.0 as usize]
    }

    /// The requirement as a formula.
    pub(super) fn leaf(&mut self, leaf: Leaf) -> ExprId {
        match leaf {
            Leaf::Kinds(kinds) if kinds == Kinds::ALL => TRUE,
            Leaf::Kinds(kinds) if kinds == Kinds::NONE => FALSE,
            Leaf::MinLen(0) | Leaf::MinItems(0) | Leaf::MinMembers(0) => TRUE,
            leaf => self.intern(Expr::Leaf(leaf)),
        }
    }

    /// The schema node, expanded only when a value begins.
    pub(super) fn node(&mut self, node: u32) -> ExprId {
        self.intern(Expr::Ref(node))
    }

    /// The verdict on child goal `idx`.
    pub(super) fn var(&mut self, idx: usize) -> ExprId {
        self.intern(Expr::Var(idx as u32))
    }

    /// The opposite of a formula.
    pub(super) fn not(&mut self, id: ExprId) -> ExprId {
        match *self.get(id) {
            Expr::False => TRUE,
            Expr::True => FALSE,
            Expr::Not(inner) => inner,
            Expr::Leaf(Leaf::Kinds(kinds)) => self.leaf(Leaf::Kinds(kinds.complement())),
            _ => self.intern(Expr::Not(id)),
        }
    }

    /// Both formulas.
    pub(super) fn and2(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (a, b) {
            (TRUE, other) | (other, TRUE) => other,
            (FALSE, _) | (_, FALSE) => FALSE,
            _ if a == b => a,
            _ => self.and(&[a, b]),
        }
    }

    /// All the formulas; requirements that can be merged are.
    pub(super) fn and(&mut self, parts: &[ExprId]) -> ExprId {
        let mut list = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.get(part) {
                Expr::True => {}
                Expr::False => return FALSE,
                Expr::And(inner) => list.extend_from_slice(inner),
                _ => list.push(part),
            }
        }
        self.n_handled += list.len() as u64;
        list.sort_unstable();
        list.dedup();
        if self.contradicts(&list) || !self.merge(&mut list) {
            return FALSE;
        }
        match list[..] {
            [] => TRUE,
            [one] => one,
            _ => self.intern(Expr::And(list.into())),
        }
    }

    /// At least one of the formulas.
    pub(super) fn or(&mut self, parts: &[ExprId]) -> ExprId {
        let mut list = Vec::with_capacity(parts.len());
        let mut kinds = Kinds::NONE;
        for &part in parts {
            match self.get(part) {
                Expr::False => {}
                Expr::True => return TRUE,
                Expr::Or(inner) => list.extend_from_slice(inner),
                Expr::Leaf(Leaf::Kinds(more)) => kinds = kinds.union(*more),
                _ => list.push(part),
            }
        }
        if kinds != Kinds::NONE {
            list.push(self.leaf(Leaf::Kinds(kinds)));
        }
        self.n_handled += list.len() as u64;
        list.sort_unstable();
        list.dedup();
        if list.contains(&TRUE) || self.contradicts(&list) {
            return TRUE;
        }
        match list[..] {
            [] => FALSE,
            [one] => one,
            _ => self.intern(Expr::Or(list.into())),
        }
    }

    /// Exactly one of the formulas.
    pub(super) fn one(&mut self, parts: &[ExprId]) -> ExprId {
        let mut list: Vec<_> = parts.iter().copied().filter(|&part| part != FALSE).collect();
        self.n_handled += list.len() as u64;
        let n_true = list.iter().filter(|&&part| part == TRUE).count();
        if n_true > 1 {
            return FALSE;
        }
        if n_true == 1 {
            list.retain(|&part| part != TRUE);
            let none: Vec<_> = list.into_iter().map(|part| self.not(part)).collect();
            return self.and(&none);
        }
        // Branches that are equal are true together, so none of them can be the only one.
        list.sort_unstable();
        if list.windows(2).any(|pair| pair[0] == pair[1]) {
            let twice: Vec<_> =
                list.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
            list.retain(|part| twice.binary_search(part).is_err());
            let none: Vec<_> = twice.into_iter().map(|part| self.not(part)).collect();
            let none = self.and(&none);
            let rest = self.one(&list);
            return self.and2(none, rest);
        }
        match list[..] {
            [] => FALSE,
            [one] => one,
            _ => self.intern(Expr::One(list.into())),
        }
    }

    /// The formulas that all have to be true for `id` to be.
    pub(super) fn conjuncts(&self, id: ExprId) -> Arc<[ExprId]> {
        match self.get(id) {
            Expr::And(parts) => Arc::clone(parts),
            Expr::True => Arc::new([]),
            _ => Arc::new([id]),
        }
    }

    /// The formula with every leaf, schema node and verdict replaced by what `put` says.
    pub(super) fn replace(&mut self, id: ExprId, put: &mut dyn FnMut(&mut Self, ExprId) -> ExprId) -> ExprId {
        match self.get(id).clone() {
            Expr::False | Expr::True => id,
            Expr::Leaf(_) | Expr::Ref(_) | Expr::Var(_) => put(self, id),
            Expr::Not(inner) => {
                let inner = self.replace(inner, put);
                self.not(inner)
            }
            Expr::And(parts) => {
                let mut list = Vec::with_capacity(parts.len());
                for &part in parts.iter() {
                    match self.replace(part, put) {
                        FALSE => return FALSE,
                        part => list.push(part),
                    }
                }
                if list[..] == parts[..] { id } else { self.and(&list) }
            }
            Expr::Or(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.replace(part, put)).collect();
                if list[..] == parts[..] { id } else { self.or(&list) }
            }
            Expr::One(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.replace(part, put)).collect();
                self.one(&list)
            }
        }
    }

    /// The formula with the verdicts that `put` knows filled in.
    pub(super) fn fill(
        &mut self,
        id: ExprId,
        put: &mut dyn FnMut(&mut Self, usize) -> Option<ExprId>,
    ) -> ExprId {
        if !self.has_var[id.0 as usize] {
            return id;
        }
        self.replace(id, &mut |exprs, id| match exprs.get(id) {
            Expr::Var(idx) => {
                let idx = *idx as usize;
                put(exprs, idx).unwrap_or(id)
            }
            Expr::Leaf(leaf) if exprs.has_var[id.0 as usize] => {
                let leaf = leaf.clone();
                let conditions = leaf.conditions().iter().map(|&part| exprs.fill(part, put)).collect();
                exprs.leaf(leaf.with_conditions(conditions))
            }
            _ => id,
        })
    }

    /// The most that can still come true: every open requirement met, so that only the child's verdicts decide.
    pub(super) fn upper(&mut self, id: ExprId) -> ExprId {
        self.bound(id, true)
    }

    fn bound(&mut self, id: ExprId, upper: bool) -> ExprId {
        match self.get(id).clone() {
            Expr::False | Expr::True | Expr::Var(_) => id,
            Expr::Leaf(_) | Expr::Ref(_) => {
                if upper {
                    TRUE
                } else {
                    FALSE
                }
            }
            Expr::Not(inner) => {
                let inner = self.bound(inner, !upper);
                self.not(inner)
            }
            Expr::And(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.bound(part, upper)).collect();
                self.and(&list)
            }
            Expr::Or(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.bound(part, upper)).collect();
                self.or(&list)
            }
            Expr::One(_) if !upper => FALSE,
            Expr::One(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.bound(part, true)).collect();
                self.or(&list)
            }
        }
    }

    /// Whether a formula and its opposite are both in the sorted list.
    fn contradicts(&self, list: &[ExprId]) -> bool {
        list.iter().any(|&part| match *self.get(part) {
            Expr::Not(inner) => list.binary_search(&inner).is_ok(),
            _ => false,
        })
    }

    /// Merges requirements on the kind and on the number; false when nothing can meet them.
    fn merge(&mut self, list: &mut Vec<ExprId>) -> bool {
        let mut kinds: Vec<Kinds> = Vec::new();
        let mut numbers: Vec<Arc<NumberSet>> = Vec::new();
        for &part in list.iter() {
            match self.get(part) {
                Expr::Leaf(Leaf::Kinds(set)) => kinds.push(*set),
                Expr::Leaf(Leaf::Number(set)) => numbers.push(Arc::clone(set)),
                _ => {}
            }
        }
        if kinds.len() > 1 {
            let all = kinds.into_iter().fold(Kinds::ALL, Kinds::intersection);
            if all == Kinds::NONE {
                return false;
            }
            list.retain(|&part| !matches!(self.get(part), Expr::Leaf(Leaf::Kinds(_))));
            list.push(self.leaf(Leaf::Kinds(all)));
        }
        if numbers.len() > 1 {
            list.retain(|&part| !matches!(self.get(part), Expr::Leaf(Leaf::Number(_))));
            let mut all = NumberSet::default();
            for set in numbers {
                // Sets with no common multiple of a sensible length stay apart.
                match all.intersection(&set) {
                    Some(both) => all = both,
                    None => list.push(self.leaf(Leaf::Number(set))),
                }
            }
            list.push(self.leaf(Leaf::Number(Arc::new(all))));
        }
        list.sort_unstable();
        true
    }

    fn intern(&mut self, expr: Expr) -> ExprId {
        if let Some(&id) = self.ids.get(&expr) {
            return id;
        }
        let parts = expr.parts();
        let has_var = matches!(expr, Expr::Var(_)) || parts.iter().any(|part| self.has_var[part.0 as usize]);
        let shape = Shape::around(parts.iter().map(|&part| self.shape(part)));
        self.n_parts += parts.len();
        let id = ExprId(self.all.len() as u32);
        self.all.push(expr.clone());
        self.has_var.push(has_var);
        self.shapes.push(shape);
        self.ids.insert(expr, id);
        id
    }
}
