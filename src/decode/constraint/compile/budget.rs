//! How much a schema may take to compile. All limits are counts, so that the same schema is refused or not on every
//! machine and on every day. Knows no keywords.

/// What compiling uses up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cost {
    /// Schemas compiled, each once however often it is referred to.
    Schemas,
    /// Values and names that are listed: `enum`, `const`, `required`.
    Listed,
    /// Parts handled while formulas are made.
    Parts,
    /// Parts of one formula written out: every byte of a text may walk through all of them.
    Weight,
    /// How deep one formula nests: walking through it takes so much stack.
    Depth,
    /// Bytes of automata for `pattern` and `format`.
    Automata,
    /// Bytes of pointers and URIs.
    Text,
    /// Schemas, names and patterns that `unevaluated…` looks through, for each way to them.
    Unevaluated,
}

impl Cost {
    /// How many kinds there are.
    pub(super) const COUNT: usize = 8;

    /// How much is allowed.
    pub(super) const fn limit(self) -> u64 {
        match self {
            Self::Schemas | Self::Unevaluated | Self::Weight => 100_000,
            Self::Listed => 250_000,
            Self::Parts => 5_000_000,
            Self::Depth => 400,
            Self::Automata => 32 << 20,
            Self::Text => 64 << 20,
        }
    }

    /// What is counted, in words.
    fn what(self) -> &'static str {
        match self {
            Self::Schemas => "schemas",
            Self::Listed => "listed values and names",
            Self::Parts => "parts of formulas handled",
            Self::Weight => "parts in the formula of one schema",
            Self::Depth => "levels in the formula of one schema",
            Self::Automata => "bytes of automata for patterns",
            Self::Text => "bytes of pointers and URIs",
            Self::Unevaluated => "ways to what `unevaluated…` has to look through",
        }
    }

    /// Why a schema is refused.
    pub(super) fn reason(self) -> String {
        format!(
            "the schema is too large: compiling it as far as this takes more than {} {}",
            self.limit(),
            self.what()
        )
    }
}

/// What has been used up.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: [u64; Cost::COUNT],
}

impl Budget {
    /// Uses up some more; false when that is too much.
    pub(super) fn spend(&mut self, cost: Cost, amount: u64) -> bool {
        let spent = &mut self.spent[cost as usize];
        *spent = spent.saturating_add(amount);
        *spent <= cost.limit()
    }
}
