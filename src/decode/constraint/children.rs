//! Goals: what is asked of one value, and how the goals of a value follow from those of the value around it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::expr::{Expr, ExprId, Exprs, FALSE, TRUE};
use super::leaf::Leaf;
use super::tables::Graph;

/// How large what the verdicts on a child have to allow may become. It can grow with every level that values nest;
/// beyond this no child is offered.
const MAX_WEIGHT: u32 = 200_000;
const MAX_DEPTH: u32 = 1_000;

/// What is asked of one value. Nearly always `must` alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Goals {
    /// Has to come true.
    pub must: ExprId,
    /// Formulas whose verdicts the value around this one waits for.
    pub options: Arc<[ExprId]>,
    /// What those verdicts have to allow, as a formula over them.
    pub need: ExprId,
}

impl Goals {
    /// One formula and nothing else.
    pub(super) fn only(must: ExprId) -> Self {
        Self { must, options: Arc::new([]), need: TRUE }
    }

    /// All formulas: `must` first.
    pub(super) fn all(&self) -> impl Iterator<Item = ExprId> + '_ {
        std::iter::once(self.must).chain(self.options.iter().copied())
    }
}

/// The schemas that the next child value is held against, gathered while an event is applied.
#[derive(Debug, Default)]
pub(super) struct Children {
    schemas: Vec<ExprId>,
    places: FxHashMap<ExprId, usize>,
}

impl Children {
    /// The verdict on the child against a schema, as a formula.
    pub(super) fn verdict(&mut self, exprs: &mut Exprs, schema: ExprId) -> ExprId {
        if schema == TRUE || schema == FALSE {
            return schema;
        }
        let idx = *self.places.entry(schema).or_insert_with(|| {
            self.schemas.push(schema);
            self.schemas.len() - 1
        });
        exprs.var(idx)
    }
}

impl Graph {
    /// A formula with every leaf replaced by what the event leaves of it.
    pub(super) fn derive(
        &mut self,
        id: ExprId,
        event: &mut dyn FnMut(&mut Self, ExprId, &Leaf) -> ExprId,
    ) -> ExprId {
        match self.exprs.get(id).clone() {
            Expr::False | Expr::True | Expr::Ref(_) | Expr::Var(_) => id,
            Expr::Leaf(leaf) => event(self, id, &leaf),
            Expr::Not(inner) => {
                let inner = self.derive(inner, event);
                self.exprs.not(inner)
            }
            Expr::And(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.derive(part, event)).collect();
                if list[..] == parts[..] { id } else { self.exprs.and(&list) }
            }
            Expr::Or(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.derive(part, event)).collect();
                if list[..] == parts[..] { id } else { self.exprs.or(&list) }
            }
            Expr::One(parts) => {
                let list: Vec<_> = parts.iter().map(|&part| self.derive(part, event)).collect();
                self.exprs.one(&list)
            }
        }
    }

    /// Goals after each formula has changed; `None` when they cannot be met any more.
    pub(super) fn change(
        &mut self,
        goals: &Goals,
        change: &mut dyn FnMut(&mut Self, ExprId) -> ExprId,
    ) -> Option<Goals> {
        let must = change(self, goals.must);
        if must == FALSE {
            return None;
        }
        if goals.options.is_empty() {
            return Some(Goals::only(must));
        }
        let options = goals.options.iter().map(|&option| change(self, option)).collect();
        self.settle(must, options, goals.need)
    }

    /// Goals with what is decided drawn into `need` and what is needed for certain drawn into `must`.
    fn settle(&mut self, mut must: ExprId, mut options: Vec<ExprId>, need: ExprId) -> Option<Goals> {
        let mut need = need;
        loop {
            need = self.exprs.fill(need, &mut |_, idx| {
                (options[idx] == TRUE || options[idx] == FALSE).then_some(options[idx])
            });
            let certain = self.certain_verdicts(need);
            if certain.is_empty() || need == FALSE {
                break;
            }
            for (idx, wanted) in certain {
                let option = if wanted { options[idx] } else { self.exprs.not(options[idx]) };
                must = self.exprs.and2(must, option);
                options[idx] = if wanted { TRUE } else { FALSE };
            }
        }
        (must != FALSE && need != FALSE).then(|| Goals { must, options: options.into(), need })
    }

    /// The verdicts that the formula leaves no choice about.
    fn certain_verdicts(&self, need: ExprId) -> Vec<(usize, bool)> {
        let var = |id| match *self.exprs.get(id) {
            Expr::Var(idx) => Some(idx as usize),
            _ => None,
        };
        let verdict = |&part: &ExprId| match *self.exprs.get(part) {
            Expr::Not(inner) => var(inner).map(|idx| (idx, false)),
            _ => var(part).map(|idx| (idx, true)),
        };
        self.exprs.conjuncts(need).iter().filter_map(verdict).collect()
    }

    /// Splits goals that mention the verdicts on a child into the goals that wait for it and the child's own.
    pub(super) fn descend(&mut self, waiting: &Goals, children: Children) -> Option<(Goals, Goals)> {
        if waiting.must == FALSE {
            return None;
        }
        let schemas = children.schemas;
        if schemas.is_empty() {
            let waiting = self.settle(waiting.must, waiting.options.to_vec(), waiting.need)?;
            return Some((waiting, Goals::only(TRUE)));
        }
        let upper = self.upper_need(waiting);
        let shape = self.exprs.shape(upper);
        if shape.weight > MAX_WEIGHT || shape.depth > MAX_DEPTH {
            return None;
        }
        let certain = self.certain_verdicts(upper);
        let mut musts = Vec::with_capacity(certain.len());
        for &(idx, wanted) in &certain {
            musts.push(if wanted { schemas[idx] } else { self.exprs.not(schemas[idx]) });
        }
        let must = self.exprs.and(&musts);
        if must == FALSE || upper == FALSE {
            return None;
        }
        let mut known = vec![None; schemas.len()];
        for &(idx, wanted) in &certain {
            known[idx] = Some(wanted);
        }
        let rest: Vec<usize> = (0..schemas.len()).filter(|&idx| known[idx].is_none()).collect();
        let mut put = |exprs: &mut Exprs, idx: usize| match known[idx] {
            Some(wanted) => Some(if wanted { TRUE } else { FALSE }),
            None => rest.binary_search(&idx).ok().map(|new| exprs.var(new)),
        };
        let waiting_must = self.exprs.fill(waiting.must, &mut put);
        let waiting_options =
            waiting.options.iter().map(|&option| self.exprs.fill(option, &mut put)).collect();
        let need = self.exprs.fill(upper, &mut put);
        let waiting = self.settle(waiting_must, waiting_options, waiting.need)?;
        let child = self.settle(must, rest.into_iter().map(|idx| schemas[idx]).collect(), need)?;
        Some((waiting, child))
    }

    /// What the child's verdicts have to allow so that the goals around it can still be met.
    fn upper_need(&mut self, waiting: &Goals) -> ExprId {
        let must = self.exprs.upper(waiting.must);
        if waiting.options.is_empty() {
            return must;
        }
        let options: Vec<_> = waiting.options.iter().map(|&option| self.exprs.upper(option)).collect();
        // `need` speaks about the options by index; what is put in its place speaks about the child.
        let need = self.exprs.fill(waiting.need, &mut |_, idx| Some(options[idx]));
        self.exprs.and2(must, need)
    }

    /// Goals that waited for a child, once its verdicts are known.
    pub(super) fn resume(&mut self, waiting: &Goals, verdicts: &[bool]) -> Option<Goals> {
        let mut put = |_: &mut Exprs, idx: usize| Some(if verdicts[idx] { TRUE } else { FALSE });
        let must = self.exprs.fill(waiting.must, &mut put);
        let options = waiting.options.iter().map(|&option| self.exprs.fill(option, &mut put)).collect();
        self.settle(must, options, waiting.need)
    }

    /// The verdicts on the options when the value ends; `None` when the goals are not met.
    pub(super) fn finish(&self, goals: &Goals, end: &dyn Fn(&Leaf) -> bool) -> Option<Vec<bool>> {
        if !self.decide(goals.must, end) {
            return None;
        }
        let verdicts: Vec<_> = goals.options.iter().map(|&option| self.decide(option, end)).collect();
        self.need_met(goals.need, &verdicts).then_some(verdicts)
    }

    fn need_met(&self, need: ExprId, verdicts: &[bool]) -> bool {
        match self.exprs.get(need) {
            Expr::True => true,
            Expr::False | Expr::Leaf(_) | Expr::Ref(_) => false,
            Expr::Var(idx) => verdicts[*idx as usize],
            Expr::Not(inner) => !self.need_met(*inner, verdicts),
            Expr::And(parts) => parts.iter().all(|&part| self.need_met(part, verdicts)),
            Expr::Or(parts) => parts.iter().any(|&part| self.need_met(part, verdicts)),
            Expr::One(parts) => parts.iter().filter(|&&part| self.need_met(part, verdicts)).count() == 1,
        }
    }
}
