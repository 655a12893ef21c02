//! `nightjar check --strict` and `--stats`: the cases of all files, scenario by scenario. Reads what was read; the rules and
//! the counting live in `dataset`.

use std::collections::BTreeMap;

use super::Read;
use crate::dataset::{Entry, Finding, Statistics, Subject, strict};
use crate::report::statistics_table;
use crate::scenario::Case;

/// The cases of all files that could be read, under their scenarios' names.
fn subjects(files: &[Read]) -> BTreeMap<&str, Subject<'_>> {
    let mut subjects: BTreeMap<&str, Subject> = BTreeMap::new();
    for file in files {
        if let Some(scenario) = &file.scenario {
            let subject = subjects.entry(&scenario.name).or_default();
            subject.schema.get_or_insert(&scenario.schema);
            subject.entries.extend(scenario.cases.iter().map(|case| Entry { file: &file.name, case }));
        }
        for line in &file.lines {
            let subject = subjects.entry(&line.scenario).or_default();
            subject.entries.push(Entry { file: &file.name, case: &line.case });
        }
    }
    subjects
}

/// Every fault of every case.
pub(super) fn findings(files: &[Read]) -> Vec<Finding> {
    subjects(files).values().flat_map(strict).collect()
}

/// Names of scenarios of which there are cases, but no file with a schema.
pub(super) fn without_schema(files: &[Read]) -> Vec<String> {
    let unknown = subjects(files).into_iter().filter(|(_, subject)| subject.schema.is_none());
    unknown.map(|(name, _)| name.to_owned()).collect()
}

/// The figures of every scenario.
pub(super) fn statistics(files: &[Read]) -> Vec<Statistics> {
    let of = |(name, subject): (&str, Subject)| {
        let cases: Vec<&Case> = subject.entries.iter().map(|entry| entry.case).collect();
        Statistics::of(name, &cases)
    };
    subjects(files).into_iter().filter_map(of).collect()
}

/// The figures as a table.
pub(super) fn in_words(statistics: &[Statistics]) -> String {
    statistics_table(statistics).to_text()
}
