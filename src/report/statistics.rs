//! The figures of datasets beside the paper's, as a table. Counts nothing.

use super::table::{Cell, Table};
use crate::dataset::Statistics;

/// One scenario a row; the paper's figures in brackets, where the paper has a scenario of that name.
pub fn statistics_table(all: &[Statistics]) -> Table {
    let notes = vec![
        "words: of a message, shortest / median / longest; vocabulary: different words in all messages.".to_owned(),
        "different: texts left different once every value is replaced by a placeholder; Jaccard: mean similarity of these texts, by five words in a row.".to_owned(),
        "In brackets: Table I of LLMStructBench (arXiv 2602.14743).".to_owned(),
    ];
    Table {
        title: "Scenarios".to_owned(),
        header: vec![
            "scenario",
            "cases",
            "keys",
            "leaves",
            "depth",
            "words",
            "null",
            "vocabulary",
            "different",
            "Jaccard",
        ],
        rows: all.iter().map(row).collect(),
        notes,
    }
}

fn row(statistics: &Statistics) -> Vec<Cell> {
    let paper = statistics.paper;
    let beside = |ours: String, theirs: Option<String>| {
        Cell::number(theirs.map_or(ours.clone(), |theirs| format!("{ours} ({theirs})")))
    };
    let mean = |ours: f64, theirs: Option<f64>| {
        beside(format!("{ours:.2}"), theirs.map(|theirs| format!("{theirs:.2}")))
    };
    let words = statistics.words;
    vec![
        Cell::text(&statistics.scenario),
        beside(statistics.cases.to_string(), paper.map(|row| row.cases.to_string())),
        mean(statistics.keys, paper.map(|row| row.keys)),
        mean(statistics.leaves, paper.map(|row| row.leaves)),
        mean(statistics.depth, paper.map(|row| row.depth)),
        Cell::number(format!("{} / {} / {}", words.min, words.median, words.max)),
        Cell::number(format!("{:.1} %", 100.0 * statistics.with_null)),
        Cell::number(statistics.vocabulary),
        Cell::number(statistics.similarity.different),
        Cell::number(format!("{:.5}", statistics.similarity.mean_jaccard)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scenario::Case;

    #[test]
    fn the_paper_s_figures_stand_in_brackets() {
        let case = |id: &str, text: &str, expected| Case { id: id.into(), text: text.into(), expected };
        let cases = [
            case("a", "Ann is ill from Monday on", json!({"Employee": {"Name": "Ann"}, "Until": null})),
            case("b", "Bo too", json!({"Employee": {"Name": "Bo"}})),
        ];
        let both: Vec<&Case> = cases.iter().collect();
        let all: Vec<Statistics> =
            ["sick_leave", "parcels"].iter().filter_map(|name| Statistics::of(name, &both)).collect();
        insta::assert_snapshot!(statistics_table(&all).to_text());
    }
}
