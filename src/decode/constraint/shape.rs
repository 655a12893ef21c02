//! How large formulas are. Knows none of them.

/// How large a formula is when written out; what walks through one takes so many steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub weight: u32,
    pub depth: u32,
}

impl Shape {
    /// Of a formula with these parts.
    pub(super) fn around(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self { weight: 1, depth: 1 }, |all, part| Self {
            weight: all.weight.saturating_add(part.weight),
            depth: all.depth.max(part.depth.saturating_add(1)),
        })
    }
}
