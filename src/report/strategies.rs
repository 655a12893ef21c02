//! The paper's tables about strategies and errors: III, IV, VI and the figures of parse outcomes.

use super::{Cell, Table};
use crate::scenario::Strategy;
use crate::store::{ErrorClasses, PaperStrategy, ParseOutcomes, StrategyTotals, StrategyWins};

const INCOMPLETE: &str = "†: with models that are incomplete; see coverage.";

/// Table III, with the paper's rows below ours. Pass no paper rows to leave them out.
pub fn totals(rows: &[StrategyTotals], paper: &[PaperStrategy]) -> Table {
    let ours = in_order(rows, |row| ("", &row.profile, row.strategy)).into_iter().map(|row| {
        let mark = if row.incomplete > 0 { "†" } else { "" };
        let counts = [row.models, row.tests, row.correct, row.mistakes, row.errors, row.failed];
        let mut cells = vec![Cell::text(&row.profile), Cell::text(format!("{}{mark}", row.strategy))];
        cells.extend(counts.map(Cell::number));
        cells.push(Cell::number(row.points));
        cells
    });
    let theirs = in_order(paper, |row| ("", "", row.strategy)).into_iter().map(|row| {
        let mut cells =
            vec![Cell::text("paper"), Cell::text(row.strategy.tag()), Cell::text(""), Cell::text("")];
        cells.extend([row.correct, row.mistakes, row.errors, row.failed].map(Cell::number));
        cells.push(Cell::text(""));
        cells
    });
    Table {
        title: "Table III: strategies over all models".to_owned(),
        header: vec![
            "Profile", "Strategy", "Models", "Tests", "Correct", "Mistakes", "Errors", "Failed", "Points",
        ],
        rows: ours.chain(theirs).collect(),
        notes: note_if(rows.iter().any(|row| row.incomplete > 0), INCOMPLETE),
    }
}

/// Table IV, with the paper's rows below ours. Pass no paper rows to leave them out.
pub fn wins(rows: &[StrategyWins], paper: &[PaperStrategy]) -> Table {
    let ours = in_order(rows, |row| ("", &row.profile, row.strategy)).into_iter().map(|row| {
        let mark = if row.incomplete > 0 { "†" } else { "" };
        vec![
            Cell::text(&row.profile),
            Cell::text(format!("{}{mark}", row.strategy)),
            Cell::number(row.wins),
            Cell::number(row.models),
        ]
    });
    let theirs = in_order(paper, |row| ("", "", row.strategy)).into_iter().map(|row| {
        vec![Cell::text("paper"), Cell::text(row.strategy.tag()), Cell::number(row.wins), Cell::text("")]
    });
    let mut notes = vec!["By points; on a tie every tied strategy wins.".to_owned()];
    notes.extend(note_if(rows.iter().any(|row| row.incomplete > 0), INCOMPLETE));
    Table {
        title: "Table IV: models won by each strategy".to_owned(),
        header: vec!["Profile", "Strategy", "Wins", "Models"],
        rows: ours.chain(theirs).collect(),
        notes,
    }
}

/// Table VI.
pub fn error_classes(rows: &[ErrorClasses]) -> Table {
    let share = |share: Option<f64>| {
        Cell::number(share.map_or("-".to_owned(), |share| format!("{:.1}", 100.0 * share)))
    };
    let cells = |row: &ErrorClasses| {
        vec![
            Cell::text(&row.model),
            Cell::text(&row.profile),
            Cell::text(row.strategy.tag()),
            Cell::number(row.tests),
            Cell::number(row.n_err),
            share(row.missing_key_share),
            share(row.missing_value_share),
            share(row.wrong_value_share),
        ]
    };
    let mut table = Table {
        title: "Table VI: classes of errors".to_owned(),
        header: vec!["Model", "Profile", "Strategy", "Tests", "N_err", "MK %", "MV %", "WV %"],
        rows: in_order(rows, |row| (&row.model, &row.profile, row.strategy)).into_iter().map(cells).collect(),
        notes: vec![
            "N_err: parsed but not flawless; of these, the share with a missing key, a missing value, a wrong value."
                .to_owned(),
        ],
    };
    table.fold_into_title("Profile");
    table
}

/// Fig. 2, with the counts of Fig. 3 and 4.
pub fn parse_outcomes(rows: &[ParseOutcomes]) -> Table {
    let cells = |row: &ParseOutcomes| {
        let mut cells =
            vec![Cell::text(&row.model), Cell::text(&row.profile), Cell::text(row.strategy.tag())];
        let counts = [
            row.tests,
            row.clean,
            row.extracted,
            row.failed,
            row.flawless,
            row.mistakes,
            row.errors,
            row.unscored,
            row.errored,
            row.missing,
        ];
        cells.extend(counts.map(Cell::number));
        cells
    };
    let mut table = Table {
        title: "Parse outcomes".to_owned(),
        header: vec![
            "Model",
            "Profile",
            "Strategy",
            "Tests",
            "Clean",
            "Extracted",
            "Failed",
            "Flawless",
            "Mistakes",
            "Errors",
            "Unscored",
            "Errored",
            "Missing",
        ],
        rows: in_order(rows, |row| (&row.model, &row.profile, row.strategy)).into_iter().map(cells).collect(),
        notes: Vec::new(),
    };
    table.fold_into_title("Profile");
    table
}

/// By model and profile, strategies in the paper's order, which is no alphabet's.
pub(super) fn in_order<'a, T>(
    rows: &'a [T],
    key: impl Fn(&'a T) -> (&'a str, &'a str, Strategy),
) -> Vec<&'a T> {
    let mut rows: Vec<&T> = rows.iter().collect();
    rows.sort_by_key(|row| key(row));
    rows
}

fn note_if(condition: bool, note: &str) -> Vec<String> {
    if condition { vec![note.to_owned()] } else { Vec::new() }
}
