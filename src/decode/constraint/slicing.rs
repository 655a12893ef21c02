//! Which whole classes of characters a string lets pass, so that a mask need not try their tokens one by one.

use std::sync::Arc;

use super::expr::{Expr, ExprId, FALSE, TRUE};
use super::leaf::Leaf;
use super::lex::{Lex, LexStep};
use super::local::{Choice, Edge, Id, Local, LocalId, Name};
use super::machine::Machine;

/// How many states of a string are looked at before a class counts as not passing.
const STATE_LIMIT: usize = 48;

/// A string's state with what does not depend on single characters taken out.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct Loose {
    local: LocalId,
    /// Every character passes, whatever the state.
    free: bool,
    /// Characters that may still come.
    pub(in crate::decode) max_len: Option<u64>,
}

impl Machine {
    /// The state without its counts of characters and without the names it may become, if it is between characters
    /// of a string.
    pub(super) fn loosened(&mut self, local: LocalId) -> Option<Loose> {
        match &*Arc::clone(self.locals.get(Id::new(local))) {
            Local::Text { goals, lex: Lex::Plain } => {
                let goals = Arc::clone(self.goals.get(*goals));
                if goals.options.iter().any(|&option| option != TRUE && option != FALSE) {
                    return None;
                }
                let (must, max_len) = self.without_counts(goals.must);
                let goals = self.goals.id(super::children::Goals { must, ..(*goals).clone() });
                let local = self.local(Local::Text { goals, lex: Lex::Plain });
                Some(Loose { local, max_len, free: false })
            }
            Local::Name(name) if name.lex == Lex::Plain && name.others.is_some() => {
                let free = self.names.get(name.names).choice == Choice::Free;
                let local = self.name(Name { lo: 0, hi: 0, depth: 0, ..name.clone() });
                Some(Loose { local, max_len: None, free })
            }
            _ => None,
        }
    }

    fn without_counts(&mut self, must: ExprId) -> (ExprId, Option<u64>) {
        let mut max_len = None;
        let mut kept = Vec::new();
        for &part in self.graph.exprs.conjuncts(must).iter() {
            match self.graph.exprs.get(part) {
                Expr::Leaf(Leaf::MaxLen(n)) => max_len = Some(max_len.unwrap_or(*n).min(*n)),
                Expr::Leaf(Leaf::MinLen(_)) => {}
                _ => kept.push(part),
            }
        }
        // Without a count of its own an automaton may still have to stop in time; then the counts stay.
        let mixed = max_len.is_some() && !kept.is_empty();
        if mixed { (must, None) } else { (self.graph.exprs.and(&kept), max_len) }
    }

    /// Whether every text of characters of the class may follow.
    pub(super) fn passes(&mut self, loose: Loose, has: &dyn Fn(char) -> bool, is_unicode: bool) -> bool {
        if loose.free {
            return true;
        }
        let mut seen = vec![loose.local];
        let mut next = 0;
        while let Some(&local) = seen.get(next) {
            next += 1;
            let lex = match &**self.locals.get(Id::new(local)) {
                Local::Text { lex, .. } => *lex,
                Local::Name(name) => name.lex,
                _ => return false,
            };
            for byte in 0..=u8::MAX {
                let in_class = if byte < 0x80 { has(char::from(byte)) } else { is_unicode };
                if !in_class || !matches!(lex.step(byte), LexStep::Raw(_)) {
                    continue;
                }
                match self.edge(local, byte) {
                    Edge::Go(to) if seen.contains(&to) => {}
                    Edge::Go(to) if seen.len() < STATE_LIMIT => seen.push(to),
                    _ => return false,
                }
            }
        }
        true
    }
}
