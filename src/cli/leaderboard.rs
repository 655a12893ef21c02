//! `nightjar leaderboard`: the views' figures as tables.

use anyhow::ensure;
use serde::Serialize;

use super::args::{Format, Leaderboard, Table};
use super::{Exit, Session};
use crate::daemon::database;
use crate::report::{self, scores, strategies};
use crate::store::Reader;

/// Of the resampling behind intervals: fixed, so that the same rows have the same intervals.
const SEED: u64 = 2026;

pub(super) fn run(session: &Session, what: &Leaderboard) -> anyhow::Result<Exit> {
    let path = database(&session.config.paths.state);
    ensure!(path.is_file(), "{}: no database yet; `nightjar sweep` makes one", path.display());
    let reader = Reader::open(&path)?;
    match what.table {
        None => leaderboard(session, &reader, what)?,
        Some(table) => paper_table(session, &reader, table, what.format)?,
    }
    Ok(Exit::Done)
}

fn leaderboard(session: &Session, reader: &Reader, what: &Leaderboard) -> anyhow::Result<()> {
    let mut rows = match &what.scenario {
        None => reader.leaderboard()?,
        Some(name) => {
            // Says which scenarios there are, where there is none of this name.
            reader.scenario(name)?;
            let mut rows = reader.scenario_scores()?;
            rows.retain(|row| row.scenario.as_ref() == Some(name));
            rows
        }
    };
    rows.retain(|row| what.strategy.is_none_or(|strategy| strategy == row.strategy));
    let boards = scores::with_intervals(rows, &reader.case_groups()?, &session.config.scoring, SEED);
    print(session, &boards, &scores::leaderboard(&boards), what.format)
}

fn paper_table(session: &Session, reader: &Reader, table: Table, format: Format) -> anyhow::Result<()> {
    let paper = reader.paper_strategies()?;
    match table {
        Table::Iii => {
            let rows = reader.strategy_totals()?;
            print(session, &rows, &strategies::totals(&rows, &paper), format)
        }
        Table::Iv => {
            let rows = reader.strategy_wins()?;
            print(session, &rows, &strategies::wins(&rows, &paper), format)
        }
        Table::Vi => {
            let rows = reader.error_classes()?;
            print(session, &rows, &strategies::error_classes(&rows), format)
        }
    }
}

fn print(
    session: &Session,
    rows: &impl Serialize,
    table: &report::Table,
    format: Format,
) -> anyhow::Result<()> {
    session.print(rows, || match format {
        Format::Text => table.to_text(),
        Format::Markdown => table.to_markdown(),
    })
}
