//! Inside a string value: the decoded text against what is asked of it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use regex_syntax::utf8::Utf8Sequences;

use super::children::Goals;
use super::expr::{ExprId, FALSE, TRUE};
use super::lex::{Lex, LexStep};
use super::local::{Edge, Id, Local, LocalId};
use super::machine::Machine;
use super::policy::Spelling;
use super::tables::Graph;

impl Machine {
    /// The state after a string's opening quote.
    pub(super) fn begin_text(&mut self, goals: Goals) -> Option<LocalId> {
        self.graph.texts_alive(&goals).then(|| {
            let goals = self.goals.id(goals);
            self.local(Local::Text { goals, lex: Lex::Plain })
        })
    }

    pub(super) fn text_edge(&mut self, id: Id<Goals>, lex: Lex, byte: u8) -> Edge {
        let goals = Arc::clone(self.goals.get(id));
        let next = match lex.step(byte) {
            LexStep::Refused => None,
            LexStep::Close => return self.text_close(&goals),
            LexStep::Wait(lex) => {
                self.escape_possible(&goals, lex).then(|| self.local(Local::Text { goals: id, lex }))
            }
            LexStep::Raw(lex) => self.text_bytes(&goals, &[byte], lex),
            LexStep::Char(c) if !self.may_escape(&goals, c) => None,
            LexStep::Char(c) => self.text_bytes(&goals, c.encode_utf8(&mut [0; 4]).as_bytes(), Lex::Plain),
        };
        next.map_or(Edge::Dead, Edge::Go)
    }

    fn text_close(&mut self, goals: &Goals) -> Edge {
        match self.graph.finish(goals, &|leaf| self.graph.text_end(leaf)) {
            Some(verdicts) => Edge::Pop { verdicts: self.verdicts.id(verdicts) },
            None => Edge::Dead,
        }
    }

    fn text_bytes(&mut self, goals: &Goals, bytes: &[u8], lex: Lex) -> Option<LocalId> {
        let goals = self.graph.texts_bytes(goals, bytes)?;
        let goals = self.goals.id(goals);
        Some(self.local(Local::Text { goals, lex }))
    }

    /// Plain spelling: in a constrained string no character that can stand for itself is escaped.
    fn may_escape(&self, goals: &Goals, c: char) -> bool {
        self.policy.spelling == Spelling::Any
            || needs_escape(c)
            || goals.all().all(|id| id == TRUE || id == FALSE)
    }

    fn escape_possible(&mut self, goals: &Goals, lex: Lex) -> bool {
        let free = goals.all().all(|id| id == TRUE || id == FALSE);
        if free {
            return lex.reach().iter().any(Option::is_some);
        }
        let plain = self.policy.spelling == Spelling::Plain;
        let graph = &mut self.graph;
        lex.reach().into_iter().flatten().any(|range| {
            if plain {
                return only_escaped(&range)
                    .any(|c| graph.texts_bytes(goals, c.encode_utf8(&mut [0; 4]).as_bytes()).is_some());
            }
            any_character(
                range,
                &mut |graph: &mut Graph, state: &Goals, byte| graph.texts_bytes(state, &[byte]),
                graph,
                goals,
            )
        })
    }
}

/// The characters of a range of code points that JSON has no other way to write in a string.
pub(super) fn only_escaped(range: &RangeInclusive<u32>) -> impl Iterator<Item = char> + use<> {
    // All of them are ASCII; the range may be all of Unicode.
    (*range.start()..=*range.end().min(&0x7f)).filter_map(char::from_u32).filter(|&c| needs_escape(c))
}

/// Whether JSON has no other way to write the character in a string.
pub(super) fn needs_escape(c: char) -> bool {
    c < ' ' || c == '"' || c == '\\'
}

impl Graph {
    /// Goals for a text after these bytes of it; `None` when no text can meet them.
    fn texts_bytes(&mut self, goals: &Goals, bytes: &[u8]) -> Option<Goals> {
        let goals = self
            .change(goals, &mut |graph, id| bytes.iter().fold(id, |id, &byte| graph.text_byte(id, byte)))?;
        self.texts_alive(&goals).then_some(goals)
    }

    fn texts_alive(&mut self, goals: &Goals) -> bool {
        self.text_alive(goals.must)
    }

    /// A formula after these bytes of a name; `None` when no name can meet it.
    pub(super) fn name_bytes(&mut self, id: ExprId, bytes: &[u8]) -> ExprId {
        bytes.iter().fold(id, |id, &byte| if id == FALSE { id } else { self.text_byte(id, byte) })
    }
}

/// Whether some character in the range of code points leads somewhere.
pub(super) fn any_character<C, S>(
    range: RangeInclusive<u32>,
    step: &mut impl FnMut(&mut C, &S, u8) -> Option<S>,
    context: &mut C,
    state: &S,
) -> bool {
    let (from, to) = (*range.start(), *range.end());
    // Surrogates stand for no character.
    let parts = [(from, to.min(0xd7ff)), (from.max(0xe000), to)];
    parts.into_iter().filter(|(from, to)| from <= to).any(|(from, to)| {
        let (Some(from), Some(to)) = (char::from_u32(from), char::from_u32(to)) else { return false };
        Utf8Sequences::new(from, to).any(|sequence| follow(sequence.as_slice(), step, context, state))
    })
}

fn follow<C, S>(
    ranges: &[regex_syntax::utf8::Utf8Range],
    step: &mut impl FnMut(&mut C, &S, u8) -> Option<S>,
    context: &mut C,
    state: &S,
) -> bool {
    let Some((first, rest)) = ranges.split_first() else { return true };
    (first.start..=first.end)
        .any(|byte| step(context, state, byte).is_some_and(|next| follow(rest, step, context, &next)))
}
