//! Inside a member's name: mentioned names by their bytes, all others by the patterns they match.

use std::sync::Arc;

use super::lex::{Lex, LexStep};
use super::local::{Edge, Local, LocalId, Name};
use super::machine::Machine;
use super::members::NameFacts;
use super::plan::Plan;
use super::policy::Spelling;
use super::space::Space;
use super::text_state::{any_character, needs_escape};

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
        let plan = self.plan(name.object);
        let mut next = Name { lex, ..name.clone() };
        for &byte in bytes {
            next = next.narrowed(&plan, byte);
        }
        next.others = name.others.and_then(|others| {
            let others = Arc::clone(self.residuals.get(others));
            let left: Vec<_> = others.iter().map(|&id| self.graph.name_bytes(id, bytes)).collect();
            (left.is_empty() || self.others_alive(name.object, &plan, &left)).then(|| self.residuals.id(left))
        });
        let offered = plan.names[next.lo as usize..next.hi as usize].iter().any(|name| name.offered);
        (offered || next.others.is_some()).then_some(next)
    }

    fn name_escape(&mut self, name: &Name, lex: Lex) -> Option<Name> {
        let plain = self.policy.spelling == Spelling::Plain;
        let possible = lex.reach().into_iter().any(|range| {
            if plain {
                let mut controls = range.filter(|&code| code < 0x80).filter_map(char::from_u32);
                return controls.any(|c| {
                    needs_escape(c)
                        && self.name_bytes(name, c.encode_utf8(&mut [0; 4]).as_bytes(), Lex::Plain).is_some()
                });
            }
            let mut step =
                |machine: &mut Self, name: &Name, byte| machine.name_bytes(name, &[byte], Lex::Plain);
            any_character(range, &mut step, self, name)
        });
        possible.then(|| Name { lex, ..name.clone() })
    }

    fn name_close(&mut self, name: &Name) -> Edge {
        let plan = self.plan(name.object);
        let object = Arc::clone(self.objects.get(name.object));
        let exact = plan.names[name.lo as usize..name.hi as usize]
            .first()
            .filter(|candidate| candidate.bytes.len() == name.depth as usize && name.begins_mentioned());
        if let Some(candidate) = exact {
            if !candidate.offered {
                return Edge::Dead;
            }
            let facts = self.facts_of(&object, &plan, candidate.id, candidate.place);
            return self.after_name(name, Some(candidate.place), &facts).map_or(Edge::Dead, Edge::Go);
        }
        let Some(others) = name.others else { return Edge::Dead };
        let others = Arc::clone(self.residuals.get(others));
        let facts = self.facts_of_other(&object, &plan, &others);
        self.after_name(name, None, &facts).map_or(Edge::Dead, Edge::GoIfNew)
    }

    fn after_name(&mut self, name: &Name, place: Option<u32>, facts: &NameFacts) -> Option<LocalId> {
        let object = Arc::clone(self.objects.get(name.object));
        let (object, child) = self.next_member(&object, place, facts)?;
        let object = self.objects.id(object);
        let waiting = self.local(Local::Member { object });
        let child = self.goals.id(child);
        Some(self.local(Local::Colon { waiting, child, space: Space::default() }))
    }
}

impl Name {
    /// Whether some mentioned name begins with what is written.
    fn begins_mentioned(&self) -> bool {
        self.lo < self.hi
    }

    /// One more decoded byte.
    fn narrowed(&self, plan: &Plan, byte: u8) -> Self {
        let names = &plan.names[self.lo as usize..self.hi as usize];
        let at = self.depth as usize;
        let from = names.partition_point(|name| name.bytes.get(at).is_none_or(|&b| b < byte)) as u32;
        let to = names.partition_point(|name| name.bytes.get(at).is_none_or(|&b| b <= byte)) as u32;
        if from == to {
            return Self { lo: 0, hi: 0, depth: 0, ..self.clone() };
        }
        Self { lo: self.lo + from, hi: self.lo + to, depth: self.depth + 1, ..self.clone() }
    }
}
