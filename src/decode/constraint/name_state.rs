//! Inside a member's name: mentioned names by their bytes, all others by the patterns they match.

use std::sync::Arc;

use super::expr::ExprId;
use super::lex::{Lex, LexStep};
use super::local::{Choice, Edge, Name, Names, Outcome};
use super::machine::Machine;
use super::plan::Roster;
use super::policy::Spelling;
use super::text_state::{any_character, needs_escape, only_escaped};

impl Machine {
    pub(super) fn name_edge(&mut self, name: &Name, byte: u8) -> Edge {
        let next = match name.lex.step(byte) {
            LexStep::Refused => None,
            LexStep::Close => return self.name_close(name),
            LexStep::Wait(lex) => self.name_escape(name, lex),
            LexStep::Raw(lex) => self.name_bytes(name, &[byte], lex),
            LexStep::Char(c) if self.policy.spelling == Spelling::Plain && !needs_escape(c) => None,
            LexStep::Char(c) => self.name_bytes(name, c.encode_utf8(&mut [0; 4]).as_bytes(), Lex::Plain),
        };
        next.map_or(Edge::Dead, |name| Edge::Go(self.name(name)))
    }

    fn name_bytes(&mut self, name: &Name, bytes: &[u8], lex: Lex) -> Option<Name> {
        let names = Arc::clone(self.names.get(name.names));
        let roster = self.roster(names.order);
        let mut next = Name { lex, ..name.clone() };
        for &byte in bytes {
            next = next.narrowed(&roster, byte);
        }
        if next.lo == next.hi {
            next = self.other_name(&next);
        }
        next.others = name.others.and_then(|others| {
            let others = Arc::clone(self.residuals.get(others));
            let left: Vec<_> = others.iter().map(|&id| self.graph.name_bytes(id, bytes)).collect();
            self.other_possible(&names.choice, &left).then(|| self.residuals.id(left))
        });
        let possible = next.others.is_some()
            || self.mentioned_possible(&names.choice, next.lo as usize..next.hi as usize);
        possible.then_some(next)
    }

    /// The name once no mentioned name begins so. Where every name may come all objects share its states.
    pub(super) fn other_name(&mut self, name: &Name) -> Name {
        let mut names = name.names;
        if self.names.get(names).choice == Choice::Free {
            let order = self.orders.id(Vec::new());
            names = self.names.id(Names { order, choice: Choice::Free });
        }
        Name { names, lo: 0, hi: 0, depth: 0, ..name.clone() }
    }

    fn other_possible(&mut self, choice: &Choice, left: &[ExprId]) -> bool {
        match choice {
            Choice::Free => true,
            Choice::Only(_) => false,
            Choice::Asked(object) => {
                let plan = self.plan(*object);
                left.is_empty() || self.others_alive(*object, &plan, left)
            }
        }
    }

    fn mentioned_possible(&mut self, choice: &Choice, range: std::ops::Range<usize>) -> bool {
        match choice {
            Choice::Free => true,
            Choice::Only(offered) => offered[range].contains(&true),
            Choice::Asked(object) => self.plan(*object).offered[range].contains(&true),
        }
    }

    fn name_escape(&mut self, name: &Name, lex: Lex) -> Option<Name> {
        let plain = self.policy.spelling == Spelling::Plain;
        let possible = lex.reach().into_iter().flatten().any(|range| {
            if plain {
                return only_escaped(&range).any(|c| {
                    self.name_bytes(name, c.encode_utf8(&mut [0; 4]).as_bytes(), Lex::Plain).is_some()
                });
            }
            let mut step =
                |machine: &mut Self, name: &Name, byte| machine.name_bytes(name, &[byte], Lex::Plain);
            any_character(range, &mut step, self, name)
        });
        possible.then(|| Name { lex, ..name.clone() })
    }

    fn name_close(&mut self, name: &Name) -> Edge {
        let names = Arc::clone(self.names.get(name.names));
        let roster = self.roster(names.order);
        // The roster is sorted, so that the name which ends here comes first.
        let exact = roster.names[name.lo as usize..name.hi as usize]
            .first()
            .filter(|candidate| candidate.bytes.len() == name.depth as usize);
        let outcome = match (exact, name.others) {
            (Some(_), _)
                if !self.mentioned_possible(&names.choice, name.lo as usize..name.lo as usize + 1) =>
            {
                return Edge::Dead;
            }
            (Some(_), _) => Outcome::Mentioned(name.lo),
            (None, Some(others)) => {
                let others = Arc::clone(self.residuals.get(others));
                Outcome::Other(others.iter().map(|&id| self.graph.text_ends(id)).collect())
            }
            (None, None) => return Edge::Dead,
        };
        Edge::Named { outcome: self.outcomes.id(outcome) }
    }
}

impl Name {
    /// One more decoded byte.
    fn narrowed(&self, roster: &Roster, byte: u8) -> Self {
        let names = &roster.names[self.lo as usize..self.hi as usize];
        let at = self.depth as usize;
        let from = names.partition_point(|name| name.bytes.get(at).is_none_or(|&b| b < byte)) as u32;
        let to = names.partition_point(|name| name.bytes.get(at).is_none_or(|&b| b <= byte)) as u32;
        if from == to {
            return Self { lo: 0, hi: 0, depth: 0, ..self.clone() };
        }
        Self { lo: self.lo + from, hi: self.lo + to, depth: self.depth + 1, ..self.clone() }
    }
}
