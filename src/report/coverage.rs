//! What is there of what the sweep wants.

use super::strategies::in_order;
use super::{Cell, Table};
use crate::store::Coverage;

/// A row for each cell; `all` also shows those that the sweep no longer wants.
pub fn coverage(rows: &[Coverage], all: bool) -> Table {
    let mut shown = in_order(rows, |row| (&row.model, &row.profile, row.strategy));
    shown.retain(|row| all || row.active);
    let sum = |count: fn(&Coverage) -> u32| shown.iter().map(|row| u64::from(count(row))).sum::<u64>();
    let (wanted, done, errored, missing) =
        (sum(|row| row.wanted), sum(|row| row.done), sum(|row| row.errored), sum(|row| row.missing));
    let mut table = Table {
        title: "Coverage".to_owned(),
        header: vec![
            "Model",
            "Profile",
            "Strategy",
            "Scenario",
            "Wanted",
            "Done",
            "Errored",
            "Missing",
            "Too long",
            "Unsupported",
        ],
        rows: shown.iter().map(|row| cells(row)).collect(),
        notes: vec![format!(
            "{done} of {wanted} attempts are done, {errored} errored, {missing} are missing."
        )],
    };
    table.fold_into_title("Profile");
    table
}

fn cells(row: &Coverage) -> Vec<Cell> {
    let mut cells = vec![
        Cell::text(&row.model),
        Cell::text(&row.profile),
        Cell::text(row.strategy.tag()),
        Cell::text(&row.scenario),
    ];
    let counts =
        [row.wanted, row.done, row.errored, row.missing, row.prompt_too_long, row.unsupported_schema];
    cells.extend(counts.map(Cell::number));
    cells
}
