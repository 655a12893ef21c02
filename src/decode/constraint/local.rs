//! States of one value while it is written, and where a byte leads. Interned, so that a state is a small number.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::children::Goals;
use super::expr::ExprId;
use super::gbnf::Set;
use super::leaf::{Kind, NameId};
use super::lex::Lex;
use super::space::Space;

/// A state in a [`super::machine::Machine`].
pub(super) type LocalId = u32;

/// Where in a number the text stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Digits {
    Sign,
    Zero,
    Whole,
    Point,
    Fraction,
    Exp,
    ExpSign,
    /// After so many digits of the exponent.
    Power {
        n: u8,
        value: u16,
    },
}

/// Which spellings of a number may be written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    /// All of JSON.
    Any,
    /// No fraction and no exponent.
    Plain,
    /// The plain spelling of one of the listed values.
    Listed,
}

/// Where between the members of an object, or the items of an array, the text stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    /// Right after the opening bracket.
    Open,
    /// After a comma.
    Comma,
    /// After a member or item.
    After,
}

/// A state of the innermost open value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Local {
    /// Before a value.
    Value { goals: Id<Goals>, space: Space },
    /// Inside `null`, `true` or `false`, after so many letters.
    Word { word: Kind, at: u8, verdicts: Id<Vec<bool>> },
    /// Inside a number; its text is kept while some requirement still depends on it.
    Number { goals: Id<Goals>, digits: Digits, form: Form, text: Arc<str> },
    /// Inside a string value.
    Text { goals: Id<Goals>, lex: Lex },
    /// Between an object's members.
    Object { object: Id<Object>, place: Place, space: Space },
    /// Inside a member's name.
    Name(Name),
    /// An object while a member's name is written.
    Naming { object: Id<Object> },
    /// After a name, before the colon.
    Colon { waiting: LocalId, child: Id<Goals>, space: Space },
    /// An object while the value of a member is written.
    Member { object: Id<Object> },
    /// Between an array's items.
    Array { goals: Id<Goals>, place: Place, space: Space },
    /// An array while an item is written; `compares` when it matters whether the item equals an earlier one.
    Item { goals: Id<Goals>, compares: bool },
    /// After the whole text.
    Done { space: Space },
    /// Anywhere in a text that a grammar holds.
    Grammar(Id<Set>),
}

impl Local {
    /// Whether the text stands between tokens of JSON.
    pub(super) fn is_structural(&self) -> bool {
        matches!(
            self,
            Self::Value { .. }
                | Self::Object { .. }
                | Self::Colon { .. }
                | Self::Array { .. }
                | Self::Done { .. }
        )
    }
}

/// What an object's state is made of, white space aside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Object {
    pub goals: Id<Goals>,
    /// The names that some formula mentioned when the object began, in the schema's order.
    pub order: Id<Vec<NameId>>,
    /// With a fixed order: names before this place can no longer come.
    pub cursor: u32,
    /// With any order: bit `i` is set when the name at place `i` was written.
    pub seen: Arc<[u64]>,
}

/// A member's name as far as it is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Name {
    pub names: Id<Names>,
    /// The mentioned names that begin so, as a range of the sorted roster.
    pub lo: u32,
    pub hi: u32,
    /// Decoded bytes written; 0 once no mentioned name begins so.
    pub depth: u32,
    /// What remains of patterns and schemas of names, while a name that is not mentioned is possible.
    pub others: Option<Id<Vec<ExprId>>>,
    pub lex: Lex,
}

/// Which names may be written. As little as possible is part of it, so that objects share the states of their names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Names {
    pub order: Id<Vec<NameId>>,
    pub choice: Choice,
}

/// How it is told whether a name that is begun can be finished.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Choice {
    /// Any name may come; whether it came before is asked when it ends.
    Free,
    /// Only these, by index in the sorted roster.
    Only(Arc<[bool]>),
    /// What the object's formulas say.
    Asked(Id<Object>),
}

/// How a name ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Outcome {
    /// As the mentioned name at this index of the sorted roster.
    Mentioned(u32),
    /// As a name not mentioned, with the verdicts of patterns and schemas of names.
    Other(Vec<bool>),
}

/// Where a byte leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// Nowhere.
    Dead,
    /// To another state of the same value.
    Go(LocalId),
    /// Out of a member's name.
    Named { outcome: Id<Outcome> },
    /// Into a child value, while this one waits.
    Push { waiting: LocalId, child: LocalId },
    /// Out of the value, with verdicts on its options.
    Pop { verdicts: Id<Vec<bool>> },
    /// The value ended before this byte, which the value around it reads.
    PopThen { verdicts: Id<Vec<bool>> },
}

/// The id of an interned value.
#[derive(Debug)]
pub(super) struct Id<T> {
    pub idx: u32,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.idx == other.idx
    }
}

impl<T> Eq for Id<T> {}

impl<T> Hash for Id<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.idx.hash(state);
    }
}

impl<T> Id<T> {
    pub(super) fn new(idx: u32) -> Self {
        Self { idx, of: std::marker::PhantomData }
    }
}

/// Equal values get equal ids.
#[derive(Clone, Debug)]
pub(super) struct Interned<T> {
    values: Vec<Arc<T>>,
    ids: FxHashMap<Arc<T>, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Eq + Hash> Interned<T> {
    /// The id of a value.
    pub(super) fn id(&mut self, value: T) -> Id<T> {
        if let Some(&idx) = self.ids.get(&value) {
            return Id::new(idx);
        }
        let idx = self.values.len() as u32;
        let value = Arc::new(value);
        self.values.push(Arc::clone(&value));
        self.ids.insert(value, idx);
        Id::new(idx)
    }

    /// The value of an id.
    pub(super) fn get(&self, id: Id<T>) -> &Arc<T> {
        &self.values[id.idx as usize]
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}
