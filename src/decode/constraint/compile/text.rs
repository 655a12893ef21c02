//! `pattern` and `format`.

use serde_json::Value;

use super::Compiler;
use super::budget::Cost;
use crate::decode::constraint::expr::{ExprId, TRUE};
use crate::decode::constraint::formats;
use crate::decode::constraint::leaf::{Kind, Kinds, Leaf};
use crate::decode::constraint::pattern::{self, Pattern};
use crate::decode::constraint::policy::Formats;

/// A pattern may begin with so many look-aheads; each is looked for in all that follows it.
const MAX_LOOK_AHEADS: usize = 32;

impl<'s> Compiler<'s> {
    pub(super) fn pattern(&mut self, value: &'s Value) -> ExprId {
        let Some(mut source) = value.as_str() else { return self.refuse("pattern", "it must be a string") };
        let mut parts = Vec::new();
        // A look-ahead at the start asks for one more pattern from there, or forbids it.
        while let Some((negated, inner, rest)) =
            leading_look_ahead(source).filter(|_| source.starts_with('^') || !parts.is_empty())
            && parts.len() < MAX_LOOK_AHEADS
        {
            let inner = self.matching("pattern", &format!("^(?:{inner})"));
            parts.push(if negated { self.unless(inner) } else { inner });
            source = rest;
        }
        let anchored = if parts.is_empty() { source.to_owned() } else { format!("^(?:{source})") };
        parts.push(self.matching("pattern", &anchored));
        self.graph.exprs.and(&parts)
    }

    /// "Matches the pattern."
    fn matching(&mut self, keyword: &str, source: &str) -> ExprId {
        match self.pattern_table(source) {
            Ok(pattern) => self.graph.pattern_leaf(pattern),
            Err(reason) => self.refuse(keyword, reason),
        }
    }

    /// "Does not meet this requirement on texts." Holds for all values that are no texts.
    fn unless(&mut self, text: ExprId) -> ExprId {
        let not = self.graph.exprs.not(text);
        let other = self.kind(Kinds::of(Kind::Text).complement());
        self.graph.exprs.or(&[not, other])
    }

    pub(super) fn pattern_table(&mut self, source: &str) -> Result<u32, String> {
        let n_known = self.graph.patterns.len();
        let found = self.graph.pattern_id(source, || Pattern::ecma(source));
        let cost = match &found {
            Ok(id) if *id as usize == n_known => self.graph.patterns[n_known].n_bytes(),
            Ok(_) => 0,
            // What was built before it was refused is gone, but it took its time.
            Err(_) => pattern::SIZE_LIMIT / 4,
        };
        self.spend(Cost::Automata, cost as u64);
        found
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

/// Takes a look-ahead off the start of an anchored pattern: whether it is negated, its inside, and the pattern after
/// it. The caller puts the anchor back, so that a pattern whose anchor is gone still counts as anchored.
fn leading_look_ahead(source: &str) -> Option<(bool, &str, &str)> {
    let inside = source.strip_prefix('^').unwrap_or(source);
    let negated = inside.starts_with("(?!");
    let inside = inside.strip_prefix("(?!").or_else(|| inside.strip_prefix("(?="))?;
    let end = closing_bracket(inside)?;
    let rest = &inside[end + 1..];
    // An alternative beside the look-ahead would be outside its reach.
    (!has_open_alternative(rest)).then_some((negated, &inside[..end], rest))
}

/// Where the group ends that was opened before the text.
fn closing_bracket(text: &str) -> Option<usize> {
    levels(text).find(|&(_, c, depth)| c == ')' && depth < 0).map(|found| found.0)
}

fn has_open_alternative(text: &str) -> bool {
    levels(text).any(|(_, c, depth)| c == '|' && depth == 0)
}

/// The characters of a pattern that are neither escaped nor in a class, with the depth of groups after each.
fn levels(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
    let (mut depth, mut escaped, mut in_class) = (0, false, false);
    text.char_indices().filter_map(move |(at, c)| {
        if std::mem::take(&mut escaped) {
            return None;
        }
        match c {
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth -= 1,
            _ => {}
        }
        (!in_class && c != '\\').then_some((at, c, depth))
    })
}
