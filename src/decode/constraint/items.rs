//! Requirements on an array: what one more item, or the end, leaves of them.

use super::children::Children;
use super::expr::{Expr, ExprId, FALSE, TRUE};
use super::leaf::Leaf;
use super::tables::{Graph, SeenItems};

impl Graph {
    /// What remains of a formula over an array when an item begins; its schemas go to `children`.
    pub(super) fn item(&mut self, id: ExprId, children: &mut Children) -> ExprId {
        self.derive(id, &mut |graph, id, leaf| graph.leaf_item(id, leaf, children))
    }

    fn leaf_item(&mut self, id: ExprId, leaf: &Leaf, children: &mut Children) -> ExprId {
        match leaf {
            Leaf::Items { table, index } => {
                let items = &self.items[*table as usize];
                let schema = items.prefix.get(*index as usize).copied().unwrap_or(items.rest);
                let index = (index + 1).min(items.prefix.len() as u32);
                let later = self.exprs.leaf(Leaf::Items { table: *table, index });
                let verdict = children.verdict(&mut self.exprs, schema);
                self.exprs.and2(later, verdict)
            }
            Leaf::MinItems(n) => self.exprs.leaf(Leaf::MinItems(n - 1)),
            Leaf::MaxItems(0) => FALSE,
            Leaf::MaxItems(n) => self.exprs.leaf(Leaf::MaxItems(n - 1)),
            Leaf::Contains { item, min, max } => {
                let verdict = children.verdict(&mut self.exprs, *item);
                let found = match max {
                    Some(0) => FALSE,
                    None if *min <= 1 => TRUE,
                    _ => {
                        let (min, max) = (min.saturating_sub(1), max.map(|max| max - 1));
                        self.exprs.leaf(Leaf::Contains { item: *item, min, max })
                    }
                };
                let not_found = self.exprs.not(verdict);
                let met = self.exprs.and2(verdict, found);
                let later = self.exprs.and2(not_found, id);
                self.exprs.or(&[met, later])
            }
            Leaf::UnseenItems { table, index, conditions } => {
                let conditions: Vec<_> = conditions.iter().map(|&part| self.item(part, children)).collect();
                let met = self.seen_item(*table, *index, &conditions, children);
                // No prefix is longer than this, so that the index stops changing the state there.
                let last = self.longest_prefix(*table);
                let later = Leaf::UnseenItems {
                    table: *table,
                    index: (index + 1).min(last),
                    conditions: conditions.into(),
                };
                let later = self.exprs.leaf(later);
                self.exprs.and2(later, met)
            }
            _ => id,
        }
    }

    fn seen_item(
        &mut self,
        table: u32,
        index: u32,
        conditions: &[ExprId],
        children: &mut Children,
    ) -> ExprId {
        let unseen = self.unseen_items[table as usize].clone();
        let mut either = vec![children.verdict(&mut self.exprs, unseen.rest)];
        for (seen, &condition) in unseen.seen.iter().zip(conditions) {
            match seen {
                SeenItems::All => either.push(condition),
                SeenItems::Prefix(n) if u64::from(index) < *n => either.push(condition),
                SeenItems::Prefix(_) => {}
                SeenItems::Matching(item) => {
                    let verdict = children.verdict(&mut self.exprs, *item);
                    either.push(self.exprs.and2(condition, verdict));
                }
            }
        }
        self.exprs.or(&either)
    }

    fn longest_prefix(&self, table: u32) -> u32 {
        let prefixes = self.unseen_items[table as usize].seen.iter().map(|seen| match seen {
            SeenItems::Prefix(n) => u32::try_from(*n).unwrap_or(u32::MAX),
            SeenItems::All | SeenItems::Matching(_) => 0,
        });
        prefixes.max().unwrap_or(0)
    }

    /// What remains of a formula over an array once it is known whether the item that ended equals an earlier one.
    pub(super) fn item_compared(&mut self, id: ExprId, repeats: bool) -> ExprId {
        self.derive(id, &mut |graph, id, leaf| match leaf {
            Leaf::Unique if repeats => FALSE,
            leaf if !leaf.conditions().is_empty() => {
                let conditions =
                    leaf.conditions().iter().map(|&part| graph.item_compared(part, repeats)).collect();
                graph.exprs.leaf(leaf.clone().with_conditions(conditions))
            }
            _ => id,
        })
    }

    /// Whether a formula depends on items being different.
    pub(super) fn compares_items(&self, id: ExprId) -> bool {
        match self.exprs.get(id) {
            Expr::Leaf(Leaf::Unique) => true,
            Expr::Leaf(leaf) => leaf.conditions().iter().any(|&part| self.compares_items(part)),
            Expr::Not(inner) => self.compares_items(*inner),
            Expr::And(parts) | Expr::Or(parts) | Expr::One(parts) => {
                parts.iter().any(|&part| self.compares_items(part))
            }
            _ => false,
        }
    }

    /// What a requirement comes to when the array ends here.
    pub(super) fn items_end(leaf: &Leaf) -> bool {
        match leaf {
            Leaf::MinItems(n) => *n == 0,
            Leaf::Contains { min, .. } => *min == 0,
            _ => true,
        }
    }
}
