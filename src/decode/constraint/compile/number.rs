//! Bounds and multiples of numbers, and counts of characters, items and members.

use std::sync::Arc;

use serde_json::Value;

use super::{Compiler, Keywords};
use crate::decode::constraint::decimal::Decimal;
use crate::decode::constraint::expr::{ExprId, TRUE};
use crate::decode::constraint::leaf::Leaf;
use crate::decode::constraint::number::{Bound, NumberSet};

impl<'s> Compiler<'s> {
    pub(super) fn bound(&mut self, keywords: &'s Keywords, keyword: &str, value: &'s Value) -> ExprId {
        let is_flag = self.draft.is_4() && keyword.starts_with("exclusive");
        if is_flag && value.is_boolean() {
            return TRUE;
        }
        let Some(at) = self.decimal(keyword, value) else { return TRUE };
        let flag = match keyword {
            "minimum" => "exclusiveMinimum",
            "maximum" => "exclusiveMaximum",
            _ => "",
        };
        let flagged = self.draft.is_4() && keywords.get(flag) == Some(&Value::Bool(true));
        let bound = Some(Bound { at, exclusive: flagged || keyword.starts_with("exclusive") });
        let set = match keyword {
            "minimum" | "exclusiveMinimum" => NumberSet { low: bound, ..NumberSet::default() },
            _ => NumberSet { high: bound, ..NumberSet::default() },
        };
        self.graph.exprs.leaf(Leaf::Number(Arc::new(set)))
    }

    pub(super) fn multiple(&mut self, value: &'s Value) -> ExprId {
        match self.decimal("multipleOf", value) {
            Some(step) if step.is_negative() || step.is_zero() => {
                self.refuse("multipleOf", "it must be above zero")
            }
            Some(step) => {
                let set = NumberSet { step: Some(step), ..NumberSet::default() };
                self.graph.exprs.leaf(Leaf::Number(Arc::new(set)))
            }
            None => TRUE,
        }
    }

    pub(super) fn count(&mut self, keyword: &str, value: &'s Value) -> ExprId {
        let Some(n) = self.whole(keyword, value) else { return TRUE };
        self.graph.exprs.leaf(match keyword {
            "minLength" => Leaf::MinLen(n),
            "maxLength" => Leaf::MaxLen(n),
            "minItems" => Leaf::MinItems(n),
            "maxItems" => Leaf::MaxItems(n),
            "minProperties" => Leaf::MinMembers(n),
            _ => Leaf::MaxMembers(n),
        })
    }

    /// The value as a count, `2.0` included; refused when it is none.
    pub(super) fn whole(&mut self, keyword: &str, value: &'s Value) -> Option<u64> {
        let number = value.as_number().and_then(Decimal::of);
        let whole =
            number.filter(|number| number.unit() >= 0 && !number.is_negative() && number.order() < 19);
        let count = whole.and_then(|number| u64::try_from(number.in_units(0)).ok());
        if count.is_none() {
            self.refuse(keyword, "it must be a whole number, 0 or more");
        }
        count
    }

    fn decimal(&mut self, keyword: &str, value: &'s Value) -> Option<Decimal> {
        let number = value.as_number().and_then(Decimal::of);
        if number.is_none() {
            self.refuse(keyword, "it must be a number small enough to compute with");
        }
        number
    }
}
