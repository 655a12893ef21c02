//! The leaderboard: scores with their intervals, best values marked, incomplete rows marked and explained.

use serde::Serialize;

use super::{Cell, Table};
use crate::score::{Constants, Group, Interval, bootstrap};
use crate::store::{CaseGroup, PaperRow, ScoreRow};

/// Enough for two stable digits of a 95 % interval.
const N_RESAMPLES: usize = 1000;

/// More incomplete rows than these are only counted.
const MAX_EXPLAINED: usize = 8;

/// A leaderboard's row with the intervals that SQL cannot make.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Board {
    /// The scores.
    #[serde(flatten)]
    pub scores: ScoreRow,
    /// 95 % of F1, by bootstrap over cases: low and high.
    pub f1_interval: Option<[f64; 2]>,
    /// 95 % of the Score, likewise.
    pub score_interval: Option<[f64; 2]>,
}

/// Adds the intervals. `cases` may hold more than the rows need; the same `seed` gives the same intervals.
pub fn with_intervals(
    rows: Vec<ScoreRow>,
    cases: &[CaseGroup],
    constants: &Constants,
    seed: u64,
) -> Vec<Board> {
    rows.into_iter()
        .map(|scores| {
            let own: Vec<Group> =
                cases.iter().filter(|case| belongs(case, &scores)).map(|case| case.group).collect();
            let interval = |statistic: fn(&Group, &Constants) -> f64| {
                let sampled = bootstrap(&own, |group| statistic(group, constants), seed, N_RESAMPLES);
                sampled.map(|Interval { low, high }| [low, high])
            };
            let (f1_interval, score_interval) = (interval(Group::f1_micro), interval(Group::score));
            Board { scores, f1_interval, score_interval }
        })
        .collect()
}

/// Cases without a scored attempt are in no score, so they are not sampled from either.
fn belongs(case: &CaseGroup, row: &ScoreRow) -> bool {
    case.group.tests > 0
        && case.model == row.model
        && case.profile == row.profile
        && case.strategy == row.strategy
        && row.scenario.as_ref().is_none_or(|scenario| *scenario == case.scenario)
}

/// Table V, for whatever strategies are in the rows, which stay in their order.
pub fn leaderboard(rows: &[Board]) -> Table {
    let cells = rows.iter().enumerate().map(|(i, row)| cells(i + 1, row, rows)).collect();
    let header = vec![
        "#",
        "Model",
        "Size",
        "Profile",
        "Strategy",
        "Scenario",
        "Tests",
        "Flawless %",
        "Failed",
        "F1",
        "DOC",
        "Score",
        "Points",
    ];
    let mut table = Table { title: "Leaderboard".to_owned(), header, rows: cells, notes: notes(rows) };
    table.fold_into_title("Profile");
    table.fold_into_title("Scenario");
    table
}

fn cells(place: usize, row: &Board, rows: &[Board]) -> Vec<Cell> {
    let scores = &row.scores;
    let mark = if scores.complete { "" } else { "†" };
    let percent =
        scores.flawless_low.zip(scores.flawless_high).map(|(low, high)| [100.0 * low, 100.0 * high]);
    let best = |figure| is_best(scores, rows, figure);
    vec![
        Cell::number(place),
        Cell::text(format!("{}{mark}", scores.model)),
        Cell::number(scores.parameters.map_or_else(String::new, size)),
        Cell::text(&scores.profile),
        Cell::text(scores.strategy.tag()),
        Cell::text(scores.scenario.as_deref().unwrap_or("all")),
        Cell::number(scores.tests),
        Cell::number(figure(scores.flawless_rate.map(|rate| 100.0 * rate), percent, 1))
            .best_if(best(|s| s.flawless_rate)),
        Cell::number(scores.failed),
        Cell::number(figure(scores.f1_micro, row.f1_interval, 3)).best_if(best(|s| s.f1_micro)),
        Cell::number(figure(scores.doc_micro, None, 3)).best_if(best(|s| s.doc_micro)),
        Cell::number(figure(scores.score, row.score_interval, 3)).best_if(best(|s| s.score)),
        Cell::number(scores.points),
    ]
}

/// Incomplete rows compete only among themselves: half a night's score may lie anywhere.
fn is_best(row: &ScoreRow, rows: &[Board], figure: fn(&ScoreRow) -> Option<f64>) -> bool {
    let rivals = || rows.iter().map(|rival| &rival.scores).filter(|rival| rival.scenario == row.scenario);
    let may_win = row.complete || !rivals().any(|rival| rival.complete);
    let best = rivals().filter(|rival| rival.complete == row.complete).filter_map(figure).reduce(f64::max);
    may_win && figure(row).is_some() && figure(row) == best
}

/// A figure with its 95 % interval.
fn figure(figure: Option<f64>, interval: Option<[f64; 2]>, decimals: usize) -> String {
    match (figure, interval) {
        (None, _) => "-".to_owned(),
        (Some(figure), None) => format!("{figure:.decimals$}"),
        (Some(figure), Some([low, high])) => {
            format!("{figure:.decimals$} ({low:.decimals$}–{high:.decimals$})")
        }
    }
}

/// Parameters as people say them: 135M, 0.6B, 70B.
fn size(parameters: u64) -> String {
    let billions = parameters as f64 / 1e9;
    match billions {
        0.0..0.5 => format!("{:.0}M", 1000.0 * billions),
        0.5..20.0 => format!("{billions:.1}B"),
        _ => format!("{billions:.0}B"),
    }
}

fn notes(rows: &[Board]) -> Vec<String> {
    let mut notes = vec![
        "In brackets: 95 % intervals, Wilson's for flawless, bootstrap over cases for F1 and Score. *: best of its column."
            .to_owned(),
    ];
    let incomplete: Vec<&ScoreRow> = rows.iter().map(|row| &row.scores).filter(|row| !row.complete).collect();
    notes.extend(
        incomplete
            .iter()
            .take(MAX_EXPLAINED)
            .map(|row| format!("† {} {} is incomplete: {}.", row.model, row.strategy, what_lacks(row))),
    );
    if incomplete.len() > MAX_EXPLAINED {
        notes.push(format!("† and {} rows more are incomplete.", incomplete.len() - MAX_EXPLAINED));
    }
    notes
}

fn what_lacks(row: &ScoreRow) -> String {
    let parts = [
        (row.missing, "not attempted yet"),
        (row.errored, "ended by infrastructure"),
        (row.unscored, "could not be asked (prompt too long, or schema not enforceable)"),
    ];
    let lacking: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if lacking.is_empty() { "not tested in every scenario".to_owned() } else { lacking.join(", ") }
}

/// The paper's Table V with ours beside it.
pub fn paper_comparison(rows: &[PaperRow]) -> Table {
    let plain = |value: Option<f64>, decimals| Cell::number(figure(value, None, decimals));
    let cells = |row: &PaperRow| {
        let mark = if row.complete == Some(false) { "†" } else { "" };
        vec![
            Cell::text(row.paper_model.as_deref().unwrap_or("-")),
            plain(row.paper_f1, 2),
            plain(row.paper_doc, 2),
            plain(row.paper_score, 2),
            Cell::text(row.model.as_ref().map_or("-".to_owned(), |model| format!("{model}{mark}"))),
            Cell::text(row.profile.as_deref().unwrap_or("-")),
            plain(row.f1_micro, 3),
            plain(row.doc_micro, 3),
            plain(row.score, 3),
        ]
    };
    Table {
        title: "LLMStructBench (arXiv 2602.14743) and here, strategy P".to_owned(),
        header: vec!["Paper", "F1", "DOC", "Score", "Here", "Profile", "F1", "DOC", "Score"],
        rows: rows.iter().map(cells).collect(),
        notes: vec![
            "Matched by family and size; the paper ran other quantisations, other cases and Ollama's sampling. †: incomplete."
                .to_owned(),
        ],
    }
}
