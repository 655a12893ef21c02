//! Between the items of an array.

use std::sync::Arc;

use super::children::{Children, Goals};
use super::local::{Edge, Id, Local, LocalId, Place};
use super::machine::Machine;
use super::space::Space;
use super::tables::Graph;

impl Machine {
    pub(super) fn array_edge(&mut self, goals: Id<Goals>, place: Place, space: Space, byte: u8) -> Edge {
        if let Some(space) = self.space(space, byte) {
            return self.go(Local::Array { goals, place, space });
        }
        match (place, byte) {
            (_, b']') => self.array_end(goals).map_or(Edge::Dead, |verdicts| Edge::Pop { verdicts }),
            (Place::After, b',') => match self.next_item(goals) {
                Some((waiting, child)) => {
                    let child = self.local(Local::Value { goals: child, space: Space::default() });
                    Edge::Push { waiting, child }
                }
                None => Edge::Dead,
            },
            (Place::After, _) => Edge::Dead,
            _ => {
                let begun = self.next_item(goals).and_then(|(waiting, child)| {
                    self.begin_value(child, byte).map(|child| Edge::Push { waiting, child })
                });
                begun.unwrap_or(Edge::Dead)
            }
        }
    }

    /// The verdicts of an array that ends here; `None` when it may not.
    pub(super) fn array_end(&mut self, goals: Id<Goals>) -> Option<Id<Vec<bool>>> {
        let goals = Arc::clone(self.goals.get(goals));
        let verdicts = self.graph.finish(&goals, &Graph::items_end)?;
        Some(self.verdicts.id(verdicts))
    }

    /// The array waiting for one more item, and what is asked of the item.
    pub(super) fn next_item(&mut self, goals: Id<Goals>) -> Option<(LocalId, Id<Goals>)> {
        let goals = Arc::clone(self.goals.get(goals));
        let mut children = Children::default();
        let waiting =
            self.change_with(&goals, &mut children, &mut |graph, id, children| graph.item(id, children))?;
        let (waiting, child) = self.graph.descend(&waiting, children)?;
        if !self.graph.satisfiable(child.must) {
            return None;
        }
        let compares = waiting.all().any(|id| self.graph.compares_items(id));
        let (waiting, child) = (self.goals.id(waiting), self.goals.id(child));
        Some((self.local(Local::Item { goals: waiting, compares }), child))
    }

    pub(super) fn resume_array(
        &mut self,
        goals: Id<Goals>,
        verdicts: &[bool],
        repeats: bool,
    ) -> Option<LocalId> {
        let goals = Arc::clone(self.goals.get(goals));
        let goals = self.graph.resume(&goals, verdicts)?;
        let goals = self.graph.change(&goals, &mut |graph, id| graph.item_compared(id, repeats))?;
        let goals = self.goals.id(goals);
        if self.array_end(goals).is_none() && self.next_item(goals).is_none() {
            return None;
        }
        Some(self.local(Local::Array { goals, place: Place::After, space: Space::default() }))
    }

    /// Goals after each formula has changed and named what it asks of the next child. Nothing is decided yet: the
    /// formulas mention verdicts by index.
    pub(super) fn change_with(
        &mut self,
        goals: &Goals,
        children: &mut Children,
        change: &mut dyn FnMut(&mut Graph, super::expr::ExprId, &mut Children) -> super::expr::ExprId,
    ) -> Option<Goals> {
        let must = change(&mut self.graph, goals.must, children);
        if must == super::expr::FALSE {
            return None;
        }
        let options = goals.options.iter().map(|&option| change(&mut self.graph, option, children)).collect();
        Some(Goals { must, options, need: goals.need })
    }
}
