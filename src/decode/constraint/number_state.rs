//! Inside a number: JSON's grammar, and the sets it still can fall into.

use std::sync::Arc;

use super::children::Goals;
use super::expr::{Expr, ExprId, FALSE, TRUE};
use super::leaf::Leaf;
use super::local::{Digits, Edge, Form, Id, Local, LocalId};
use super::machine::Machine;
use super::policy::Spelling;
use super::prefix::{EXPONENT_DIGITS, MAX_BYTES, MAX_EXPONENT, plain_text};

impl Digits {
    /// Before the first byte a sign may come, after it digits must.
    fn first(byte: u8) -> Self {
        match byte {
            b'-' => Self::Sign,
            b'0' => Self::Zero,
            _ => Self::Whole,
        }
    }

    fn step(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Sign, b'0') => Some(Self::Zero),
            (Self::Sign, b'1'..=b'9') | (Self::Whole, b'0'..=b'9') => Some(Self::Whole),
            (Self::Zero | Self::Whole, b'.') => Some(Self::Point),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Zero | Self::Whole | Self::Fraction, b'e' | b'E') => Some(Self::Exp),
            (Self::Exp, b'+' | b'-') => Some(Self::ExpSign),
            (Self::Exp | Self::ExpSign, b'0'..=b'9') => Self::exponent(0, 0, byte),
            (Self::Power { n, value }, b'0'..=b'9') => Self::exponent(n, value, byte),
            _ => None,
        }
    }

    fn exponent(n: u8, value: u16, byte: u8) -> Option<Self> {
        let value = value * 10 + u16::from(byte - b'0');
        let fits = usize::from(n) < EXPONENT_DIGITS && i64::from(value) <= MAX_EXPONENT;
        fits.then_some(Self::Power { n: n + 1, value })
    }

    fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Power { .. })
    }
}

impl Machine {
    /// The state after a number's first byte.
    pub(super) fn begin_number(&mut self, goals: &Goals, byte: u8) -> Option<LocalId> {
        let form = self.form(goals.must);
        self.number(goals, Digits::first(byte), form, &char::from(byte).to_string())
    }

    pub(super) fn number_edge(
        &mut self,
        goals: Id<Goals>,
        digits: Digits,
        form: Form,
        text: &str,
        byte: u8,
    ) -> Edge {
        let spelled = form != Form::Plain || byte.is_ascii_digit();
        if let Some(next) = digits.step(byte).filter(|_| spelled) {
            let mut longer = text.to_owned();
            if self.reads_text(goals, form) {
                longer.push(char::from(byte));
            }
            let goals = Arc::clone(self.goals.get(goals));
            return self.number(&goals, next, form, &longer).map_or(Edge::Dead, Edge::Go);
        }
        if digits.step(byte).is_some() || !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}') {
            return Edge::Dead;
        }
        match self.number_end(goals, digits, text) {
            Some(verdicts) => Edge::PopThen { verdicts },
            None => Edge::Dead,
        }
    }

    /// The verdicts of a number that ends here; `None` when it may not.
    pub(super) fn number_end(
        &mut self,
        goals: Id<Goals>,
        digits: Digits,
        text: &str,
    ) -> Option<Id<Vec<bool>>> {
        if !digits.may_end() {
            return None;
        }
        let goals = Arc::clone(self.goals.get(goals));
        let verdicts = self.graph.finish(&goals, &|leaf| match leaf {
            Leaf::Number(set) => set.accepts(text),
            _ => true,
        })?;
        Some(self.verdicts.id(verdicts))
    }

    fn number(&mut self, goals: &Goals, digits: Digits, form: Form, text: &str) -> Option<LocalId> {
        if text.len() > MAX_BYTES || (form == Form::Listed && !self.begins_listed(goals.must, text)) {
            return None;
        }
        let goals = self.graph.change(goals, &mut |graph, id| {
            graph.derive(id, &mut |_, id, leaf| match leaf {
                Leaf::Number(set) => match set.certain(text, form == Form::Plain) {
                    Some(true) => TRUE,
                    Some(false) => FALSE,
                    None => id,
                },
                _ => id,
            })
        })?;
        let goals = self.goals.id(goals);
        // Once nothing depends on the digits any more, all numbers share their states; integers need only their zeros.
        let text = match self.reads_text(goals, form) {
            false => String::new(),
            true if digits == Digits::Whole && self.asks_only_integer(goals, text) => as_integer(text),
            true => text.to_owned(),
        };
        Some(self.local(Local::Number { goals, digits, form, text: text.into() }))
    }

    fn asks_only_integer(&self, goals: Id<Goals>, text: &str) -> bool {
        self.goals.get(goals).all().all(|id| match self.graph.exprs.get(id) {
            Expr::True => true,
            Expr::Leaf(Leaf::Number(set)) => set.asks_only_integer(text),
            _ => false,
        })
    }

    fn reads_text(&self, goals: Id<Goals>, form: Form) -> bool {
        form == Form::Listed || self.goals.get(goals).all().any(|id| id != TRUE && id != FALSE)
    }

    /// Which spellings the policy leaves when these requirements have to be met.
    fn form(&self, must: ExprId) -> Form {
        if self.policy.spelling == Spelling::Any {
            return Form::Any;
        }
        let conjuncts = self.graph.exprs.conjuncts(must);
        let set = conjuncts.iter().find_map(|&part| match self.graph.exprs.get(part) {
            Expr::Leaf(Leaf::Number(set)) => Some(set),
            _ => None,
        });
        match set {
            Some(set) if set.values.is_some() => Form::Listed,
            Some(set) if set.step.as_ref().is_some_and(|step| step.unit() >= 0) => Form::Plain,
            _ => Form::Any,
        }
    }

    fn begins_listed(&self, must: ExprId, text: &str) -> bool {
        let conjuncts = self.graph.exprs.conjuncts(must);
        conjuncts.iter().all(|&part| match self.graph.exprs.get(part) {
            Expr::Leaf(Leaf::Number(set)) => set
                .values
                .as_ref()
                .is_none_or(|values| values.iter().any(|value| plain_text(value).starts_with(text))),
            _ => true,
        })
    }
}

/// A whole number that a fraction or exponent turns into an integer exactly when it does so for the given one.
fn as_integer(text: &str) -> String {
    let sign = if text.starts_with('-') { "-" } else { "" };
    let zeros = text.len() - text.trim_end_matches('0').len();
    format!("{sign}1{}", "0".repeat(zeros))
}
