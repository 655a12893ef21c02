//! Every figure of every view, computed a second time in Rust from what was recorded, by `score`'s formulas.

use nightjar::scenario::Strategy;
use nightjar::score::{Constants, Group, wilson, winners};
use nightjar::store::ScoreRow;
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, prop_oneof, proptest};

use crate::sweep::{N_MODELS, N_SLOTS, SCENARIOS, STRATEGIES, Slot, Sweep, Tally};

fn close(got: Option<f64>, wanted: f64, what: &str) {
    let got = got.unwrap_or_else(|| panic!("{what} is NULL, not {wanted}"));
    assert!((got - wanted).abs() < 1e-9, "{what}: {got}, not {wanted}");
}

fn check_scores(row: &ScoreRow, tally: &Tally, constants: &Constants, complete: bool) {
    let group = &tally.group;
    let got = [row.tests, row.flawless, row.failed, row.errored, row.unscored, row.missing].map(u64::from);
    let missing = tally.wanted - tally.answered();
    assert_eq!(
        got,
        [group.tests, group.flawless, group.failed, group.errored, tally.unscored(), missing],
        "{row:?}"
    );
    assert_eq!(u64::from(row.mistakes), group.counts.mistakes());
    assert_eq!(u64::from(row.errors), group.counts.errors());
    assert_eq!(row.points, group.points(constants));
    assert_eq!(row.complete, complete, "{row:?}");
    if group.tests == 0 {
        assert_eq!(
            (row.f1_keys, row.f1_micro, row.doc_micro, row.score, row.flawless_low),
            (None, None, None, None, None)
        );
        return;
    }
    close(row.f1_keys, group.counts.f1_keys(), "F1 of keys");
    close(row.f1_values, group.counts.f1_values(constants), "F1 of values");
    close(row.f1_micro, group.f1_micro(constants), "F1");
    close(row.doc_micro, group.doc_micro(), "DOC");
    close(row.score, group.score(constants), "Score");
    let interval = wilson(group.flawless, group.tests);
    close(row.flawless_low, interval.low, "Wilson, low");
    close(row.flawless_high, interval.high, "Wilson, high");
}

fn leaderboard(sweep: &Sweep) {
    let board = sweep.reader().leaderboard().expect("an answer");
    let rows: Vec<_> = sweep.rows().into_iter().filter(|(_, _, tally)| tally.answered() > 0).collect();
    assert_eq!(board.len(), rows.len());
    assert!(board.is_sorted_by(|a, b| a.score >= b.score));
    for (model, strategy, tally) in rows {
        let label = &sweep.labels[model];
        let row = board.iter().find(|row| row.model == *label && row.strategy == strategy).expect("its row");
        let complete = tally.group.tests == tally.wanted && sweep.covers_all_scenarios(model, strategy);
        check_scores(row, &tally, &sweep.constants, complete);
    }
}

fn cells(sweep: &Sweep) {
    let scores = sweep.reader().scenario_scores().expect("an answer");
    let coverage = sweep.reader().coverage().expect("an answer");
    let mut n_cells = 0;
    for (model, strategy, _) in sweep.rows() {
        for (scenario, name) in SCENARIOS.iter().enumerate() {
            let belongs = |s: &Slot| (s.model, s.strategy, s.scenario) == (model, strategy, scenario);
            let (tally, label) = (sweep.tally(belongs), &sweep.labels[model]);
            n_cells += usize::from(tally.wanted > 0);
            let cell =
                coverage.iter().find(|c| c.model == *label && c.strategy == strategy && c.scenario == *name);
            let Some(cell) = cell else {
                assert_eq!(tally.wanted, 0);
                continue;
            };
            let got = [
                cell.wanted,
                cell.done,
                cell.errored,
                cell.missing,
                cell.tests,
                cell.prompt_too_long,
                cell.unsupported_schema,
            ];
            let (errored, answered) = (tally.group.errored, tally.answered());
            let wanted = [
                tally.wanted,
                answered - errored,
                errored,
                tally.wanted - answered,
                tally.group.tests,
                tally.too_long,
                tally.unsupported,
            ];
            assert_eq!(got.map(u64::from), wanted, "{cell:?}");
            assert_eq!(cell.active, model < N_MODELS - 1);
            let row = scores.iter().find(|r| {
                r.model == *label && r.strategy == strategy && r.scenario.as_deref() == Some(*name)
            });
            match row {
                Some(row) => check_scores(row, &tally, &sweep.constants, tally.group.tests == tally.wanted),
                None => assert_eq!(tally.answered(), 0),
            }
        }
    }
    assert_eq!(coverage.len(), n_cells);
}

fn outcomes_and_classes(sweep: &Sweep) {
    let outcomes = sweep.reader().parse_outcomes().expect("an answer");
    let classes = sweep.reader().error_classes().expect("an answer");
    for (model, strategy, tally) in sweep.rows() {
        let label = &sweep.labels[model];
        if let Some(row) = outcomes.iter().find(|row| row.model == *label && row.strategy == strategy) {
            let got = [row.tests, row.clean, row.extracted, row.failed, row.flawless].map(u64::from);
            let group = &tally.group;
            assert_eq!(got, [group.tests, tally.clean, tally.extracted, group.failed, group.flawless]);
        }
        let row = classes.iter().find(|row| row.model == *label && row.strategy == strategy);
        let Some(row) = row else {
            assert_eq!(tally.group.tests, 0);
            continue;
        };
        let got = [row.tests, row.n_err, row.with_missing_key, row.with_missing_value, row.with_wrong_value];
        let wanted = [
            tally.group.tests,
            tally.n_err,
            tally.with_missing_key,
            tally.with_missing_value,
            tally.with_wrong_value,
        ];
        assert_eq!(got.map(u64::from), wanted);
        match row.wrong_value_share {
            Some(_) => close(
                row.wrong_value_share,
                tally.with_wrong_value as f64 / tally.n_err as f64,
                "share of WV",
            ),
            None => assert_eq!(tally.n_err, 0),
        }
    }
}

fn strategies(sweep: &Sweep) {
    let (totals, wins) = (sweep.reader().strategy_totals(), sweep.reader().strategy_wins());
    let (totals, wins) = (totals.expect("an answer"), wins.expect("an answer"));
    let tested: Vec<_> = sweep.rows().into_iter().filter(|(_, _, tally)| tally.group.tests > 0).collect();
    let won: Vec<Strategy> = (0..N_MODELS)
        .flat_map(|model| {
            let own = tested.iter().filter(|(m, _, _)| *m == model);
            winners(&own.map(|(_, s, tally)| (*s, tally.group.points(&sweep.constants))).collect::<Vec<_>>())
        })
        .collect();
    for strategy in STRATEGIES {
        let own: Vec<&Tally> =
            tested.iter().filter(|(_, s, _)| *s == strategy).map(|(_, _, tally)| tally).collect();
        let Some(total) = totals.iter().find(|row| row.strategy == strategy) else {
            assert!(own.is_empty());
            continue;
        };
        let mut group = Group::default();
        for tally in &own {
            group += &tally.group;
        }
        let got = [total.tests, total.correct, total.mistakes, total.errors, total.failed].map(u64::from);
        let counts = &group.counts;
        assert_eq!(got, [group.tests, group.flawless, counts.mistakes(), counts.errors(), group.failed]);
        assert_eq!((total.models as usize, total.points), (own.len(), group.points(&sweep.constants)));
        let row = wins.iter().find(|row| row.strategy == strategy).expect("a strategy with totals has wins");
        assert_eq!(row.wins as usize, won.iter().filter(|&&winner| winner == strategy).count());
    }
}

fn case_groups(sweep: &Sweep) {
    let groups = sweep.reader().case_groups().expect("an answer");
    for (model, strategy, tally) in sweep.rows() {
        let own = groups.iter().filter(|g| g.model == sweep.labels[model] && g.strategy == strategy);
        let mut sum = Group::default();
        for case in own {
            sum += &case.group;
        }
        assert_eq!((sum.tests, sum.flawless, sum.failed, sum.errored), {
            let group = &tally.group;
            (group.tests, group.flawless, group.failed, group.errored)
        });
        close(
            Some(sum.f1_micro(&sweep.constants)),
            tally.group.f1_micro(&sweep.constants),
            "F1 of summed cases",
        );
    }
}

fn constants() -> impl proptest::strategy::Strategy<Value = Constants> {
    prop_oneof![
        Just(Constants::default()),
        Just(Constants {
            coercion_credit: 0.5,
            f1_keys_weight: 0.4,
            f1_values_weight: 0.6,
            score_f1_weight: 0.3,
            score_doc_weight: 0.7,
            points_failed: -3,
            points_mistake: -4,
            ..Constants::default()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn every_view_says_what_the_formulas_say(
        // Half of the sweeps have nothing missing, so that complete rows occur.
        kinds in prop_oneof![vec(0_u8..8, N_SLOTS), vec(0_u8..12, N_SLOTS)],
        constants in constants(),
    ) {
        let sweep = Sweep::new(&kinds, constants);
        leaderboard(&sweep);
        cells(&sweep);
        outcomes_and_classes(&sweep);
        strategies(&sweep);
        case_groups(&sweep);
    }
}
