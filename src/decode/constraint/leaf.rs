//! The requirements a schema can make on one value. How events change them is in `text`, `number`, `items`, `members`.

use std::sync::Arc;

use super::expr::ExprId;
use super::number::NumberSet;

/// What a value is, told by its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Null,
    False,
    True,
    Number,
    Text,
    Array,
    Object,
}

impl Kind {
    pub(super) const EVERY: [Self; 7] =
        [Self::Null, Self::False, Self::True, Self::Number, Self::Text, Self::Array, Self::Object];
}

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(0x7f);
    pub(super) const BOOLEAN: Self = Self(1 << Kind::False as u8 | 1 << Kind::True as u8);

    pub(super) fn of(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    pub(super) fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn complement(self) -> Self {
        Self(Self::ALL.0 & !self.0)
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The id of a member name in the tables.
pub(super) type NameId = u32;

/// One requirement. All but `Kinds` hold for every value of another kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Leaf {
    /// The value is of one of these kinds.
    Kinds(Kinds),
    /// The text matches; `state` is where the automaton stands.
    Pattern { pattern: u32, state: u32 },
    /// At least so many more characters.
    MinLen(u64),
    /// At most so many more characters.
    MaxLen(u64),
    /// The text is one of words `lo..hi` of a sorted list, which agree in the first `depth` bytes.
    Words { list: u32, lo: u32, hi: u32, depth: u32 },
    /// The number is in the set.
    Number(Arc<NumberSet>),
    /// Items from `index` on are as the table says.
    Items { table: u32, index: u32 },
    /// At least so many more items.
    MinItems(u64),
    /// At most so many more items.
    MaxItems(u64),
    /// So many more items that meet the schema.
    Contains { item: ExprId, min: u64, max: Option<u64> },
    /// No two items are equal.
    Unique,
    /// Items that no condition that came true has evaluated meet the table's schema.
    UnseenItems { table: u32, index: u32, conditions: Arc<[ExprId]> },
    /// Members are as the table says.
    Members { table: u32 },
    /// The member must still come.
    Required(NameId),
    /// At least so many more members.
    MinMembers(u64),
    /// At most so many more members.
    MaxMembers(u64),
    /// Every name, as a text, meets the schema.
    Names(ExprId),
    /// Members that no condition that came true has evaluated meet the table's schema.
    UnseenMembers { table: u32, conditions: Arc<[ExprId]> },
}

impl Leaf {
    /// The only kind of value the requirement speaks about, if it is one.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Kinds(_) => None,
            Self::Pattern { .. } | Self::MinLen(_) | Self::MaxLen(_) | Self::Words { .. } => Some(Kind::Text),
            Self::Number(_) => Some(Kind::Number),
            Self::Items { .. }
            | Self::MinItems(_)
            | Self::MaxItems(_)
            | Self::Contains { .. }
            | Self::Unique
            | Self::UnseenItems { .. } => Some(Kind::Array),
            Self::Members { .. }
            | Self::Required(_)
            | Self::MinMembers(_)
            | Self::MaxMembers(_)
            | Self::Names(_)
            | Self::UnseenMembers { .. } => Some(Kind::Object),
        }
    }

    /// The formulas over the same value that the requirement waits for.
    pub(super) fn conditions(&self) -> &[ExprId] {
        match self {
            Self::UnseenItems { conditions, .. } | Self::UnseenMembers { conditions, .. } => conditions,
            _ => &[],
        }
    }

    /// The same requirement waiting for other conditions.
    pub(super) fn with_conditions(self, conditions: Arc<[ExprId]>) -> Self {
        match self {
            Self::UnseenItems { table, index, .. } => Self::UnseenItems { table, index, conditions },
            Self::UnseenMembers { table, .. } => Self::UnseenMembers { table, conditions },
            leaf => leaf,
        }
    }
}
