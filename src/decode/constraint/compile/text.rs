//! `pattern` and `format`.

use serde_json::Value;

use super::Compiler;
use crate::decode::constraint::expr::{ExprId, TRUE};
use crate::decode::constraint::formats;
use crate::decode::constraint::leaf::Leaf;
use crate::decode::constraint::pattern::Pattern;
use crate::decode::constraint::policy::Formats;

impl<'s> Compiler<'s> {
    pub(super) fn pattern(&mut self, value: &'s Value) -> ExprId {
        let Some(source) = value.as_str() else { return self.refuse("pattern", "it must be a string") };
        self.matching("pattern", source)
    }

    /// "Matches the pattern."
    fn matching(&mut self, keyword: &str, source: &str) -> ExprId {
        match self.pattern_table(source) {
            Ok(pattern) => self.graph.pattern_leaf(pattern),
            Err(reason) => self.refuse(keyword, reason),
        }
    }

    pub(super) fn pattern_table(&mut self, source: &str) -> Result<u32, String> {
        self.graph.pattern_id(source, || Pattern::ecma(source))
    }

    pub(super) fn format(&mut self, value: &'s Value) -> ExprId {
        let Some(name) = value.as_str() else { return self.refuse("format", "it must be a string") };
        if self.policy.formats == Formats::Annotated {
            return TRUE;
        }
        let Some(sources) = formats::patterns(name) else {
            self.note("format", format!("`{name}` is not asserted"));
            return TRUE;
        };
        let mut parts: Vec<_> = sources.iter().map(|source| self.matching("format", source)).collect();
        parts.extend(formats::max_length(name).map(|n| self.graph.exprs.leaf(Leaf::MaxLen(n))));
        self.graph.exprs.and(&parts)
    }
}
