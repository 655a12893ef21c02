//! The reports as people read them, on made-up rows.

use jiff::Timestamp;

use super::{coverage, scores, status, strategies};
use crate::scenario::Strategy;
use crate::score::{Constants, Counts, Group};
use crate::store::{
    CaseGroup, Coverage, ErrorClasses, PaperRow, PaperStrategy, ParseOutcomes, Progress, Run, RunCommand,
    RunEnding, RunId, RunState, ScoreRow, Status, StrategyTotals, StrategyWins, Work,
};

fn row(model: &str, strategy: Strategy, flawless: u32, complete: bool) -> ScoreRow {
    let rate = f64::from(flawless) / 60.0;
    ScoreRow {
        model: model.to_owned(),
        profile: "greedy".to_owned(),
        strategy,
        scenario: None,
        scenarios: 5,
        tests: 60,
        flawless,
        failed: 2,
        f1_keys: Some(0.95),
        f1_values: Some(0.8 + rate / 10.0),
        f1_micro: Some(0.84 + rate / 10.0),
        doc_micro: Some(rate * 58.0 / 60.0),
        score: Some(f64::midpoint(0.84 + rate / 10.0, rate * 58.0 / 60.0)),
        flawless_rate: Some(rate),
        flawless_low: Some((rate - 0.1).max(0.0)),
        flawless_high: Some((rate + 0.1).min(1.0)),
        points: i64::from(flawless) * 10 - 50,
        mistakes: 20,
        errors: 0,
        schema_valid: 50,
        unscored: 0,
        errored: if complete { 0 } else { 3 },
        missing: if complete { 0 } else { 12 },
        complete,
        family: None,
        parameters: Some(600_000_000),
        quantisation: Some("Q4_K_M".to_owned()),
        size_bytes: None,
    }
}

fn board() -> Vec<scores::Board> {
    let rows = vec![
        row("smollm2", Strategy::PJPlus, 55, false),
        row("qwen3:0.6b", Strategy::PJPlus, 33, true),
        row("qwen3:0.6b", Strategy::P, 20, true),
    ];
    let case = |i: u64| CaseGroup {
        model: "qwen3:0.6b".to_owned(),
        profile: "greedy".to_owned(),
        strategy: Strategy::P,
        scenario: "loans".to_owned(),
        group: Group {
            tests: 1,
            flawless: i % 2,
            counts: Counts { n_keys: 4, tp_keys: 3 + i % 2, missing_keys: 1 - i % 2, ..Counts::default() },
            ..Group::default()
        },
    };
    scores::with_intervals(rows, &(0..20).map(case).collect::<Vec<_>>(), &Constants::default(), 1)
}

#[test]
fn leaderboard() {
    let table = scores::leaderboard(&board());
    insta::assert_snapshot!(table.to_text(), @"
    Leaderboard · profile: greedy · scenario: all

     #   Model        Size   Strategy   Tests          Flawless %   Failed                    F1      DOC                 Score   Points
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     1   smollm2†     0.6B   PJ+           60   91.7 (81.7–100.0)        2                 0.932    0.886                 0.909      500
     2   qwen3:0.6b   0.6B   PJ+           60   55.0 (45.0–65.0)*        2                0.895*   0.532*                0.713*      280
     3   qwen3:0.6b   0.6B   P             60    33.3 (23.3–43.3)        2   0.873 (0.976–0.990)    0.322   0.598 (0.638–0.845)      150

    In brackets: 95 % intervals, Wilson's for flawless, bootstrap over cases for F1 and Score. *: best of its column.

    † smollm2 PJ+ is incomplete: 12 not attempted yet, 3 ended by infrastructure.
    ");
    insta::assert_snapshot!(table.to_markdown(), @"
    ### Leaderboard · profile: greedy · scenario: all

    | # | Model      | Size | Strategy | Tests |           Flawless % | Failed |                  F1 |       DOC |               Score | Points |
    |---|------------|------|----------|-------|----------------------|--------|---------------------|-----------|---------------------|--------|
    | 1 | smollm2†   | 0.6B | PJ+      |    60 |    91.7 (81.7–100.0) |      2 |               0.932 |     0.886 |               0.909 |    500 |
    | 2 | qwen3:0.6b | 0.6B | PJ+      |    60 | **55.0 (45.0–65.0)** |      2 |           **0.895** | **0.532** |           **0.713** |    280 |
    | 3 | qwen3:0.6b | 0.6B | P        |    60 |     33.3 (23.3–43.3) |      2 | 0.873 (0.976–0.990) |     0.322 | 0.598 (0.638–0.845) |    150 |

    In brackets: 95 % intervals, Wilson's for flawless, bootstrap over cases for F1 and Score. *: best of its column.

    † smollm2 PJ+ is incomplete: 12 not attempted yet, 3 ended by infrastructure.
    ");
}

#[test]
fn leaderboard_of_one_model_without_a_score() {
    let mut lost = row("broken", Strategy::J, 0, false);
    lost.tests = 0;
    (lost.f1_micro, lost.doc_micro, lost.score) = (None, None, None);
    (lost.flawless_rate, lost.flawless_low, lost.flawless_high) = (None, None, None);
    (lost.missing, lost.errored, lost.unscored, lost.failed) = (0, 0, 60, 0);
    let board = scores::with_intervals(vec![lost], &[], &Constants::default(), 1);
    insta::assert_snapshot!(scores::leaderboard(&board).to_text(), @"
    Leaderboard · profile: greedy · scenario: all

     #   Model     Size   Strategy   Tests   Flawless %   Failed   F1   DOC   Score   Points
    ─────────────────────────────────────────────────────────────────────────────────────────
     1   broken†   0.6B   J              0            -        0    -     -       -      -50

    In brackets: 95 % intervals, Wilson's for flawless, bootstrap over cases for F1 and Score. *: best of its column.

    † broken J is incomplete: 60 could not be asked (prompt too long, or schema not enforceable).
    ");
}

#[test]
fn json_is_flat() {
    let json = serde_json::to_value(&board()[2]).expect("plain values");
    assert_eq!(json["strategy"], "P");
    assert_eq!(json["f1_interval"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        serde_json::to_value(&board()[0]).expect("plain values")["score_interval"],
        serde_json::Value::Null
    );
}

fn totals() -> Vec<StrategyTotals> {
    let row = |strategy, correct, incomplete| StrategyTotals {
        profile: "greedy".to_owned(),
        strategy,
        models: 3,
        tests: 180,
        correct,
        mistakes: 210,
        errors: 31,
        failed: 4,
        points: 812,
        incomplete,
    };
    vec![row(Strategy::J, 12, 0), row(Strategy::JPlus, 30, 1), row(Strategy::P, 90, 0)]
}

fn paper() -> Vec<PaperStrategy> {
    let row = |strategy, correct, wins| PaperStrategy {
        strategy,
        correct,
        mistakes: 1,
        errors: 2,
        failed: 3,
        wins,
    };
    vec![row(Strategy::JPlus, 6129, 0), row(Strategy::P, 7791, 11)]
}

#[test]
fn tables_of_strategies() {
    insta::assert_snapshot!(strategies::totals(&totals(), &paper()).to_text(), @"
    Table III: strategies over all models

     Profile   Strategy   Models   Tests   Correct   Mistakes   Errors   Failed   Points
    ─────────────────────────────────────────────────────────────────────────────────────
     greedy    J               3     180        12        210       31        4      812
     greedy    P               3     180        90        210       31        4      812
     greedy    J+†             3     180        30        210       31        4      812
     paper     P                              7791          1        2        3
     paper     J+                             6129          1        2        3

    †: with models that are incomplete; see coverage.
    ");
    let wins: Vec<StrategyWins> = totals()
        .into_iter()
        .map(|row| StrategyWins {
            profile: row.profile,
            strategy: row.strategy,
            wins: row.correct / 30,
            models: 3,
            incomplete: 0,
        })
        .collect();
    insta::assert_snapshot!(strategies::wins(&wins, &paper()).to_text(), @"
    Table IV: models won by each strategy

     Profile   Strategy   Wins   Models
    ────────────────────────────────────
     greedy    J             0        3
     greedy    P             3        3
     greedy    J+            1        3
     paper     P            11
     paper     J+            0

    By points; on a tie every tied strategy wins.
    ");
}

#[test]
fn tables_of_errors() {
    let classes = |strategy, n_err, share| ErrorClasses {
        model: "qwen3:0.6b".to_owned(),
        profile: "greedy".to_owned(),
        strategy,
        tests: 60,
        n_err,
        with_missing_key: 1,
        with_missing_value: 0,
        with_wrong_value: 20,
        missing_key_share: share,
        missing_value_share: share.map(|_| 0.0),
        wrong_value_share: share.map(|_| 0.952),
    };
    let rows = [classes(Strategy::JPlus, 21, Some(0.0476)), classes(Strategy::P, 0, None)];
    insta::assert_snapshot!(strategies::error_classes(&rows).to_text(), @"
    Table VI: classes of errors · profile: greedy

     Model        Strategy   Tests   N_err   MK %   MV %   WV %
    ────────────────────────────────────────────────────────────
     qwen3:0.6b   P             60       0      -      -      -
     qwen3:0.6b   J+            60      21    4.8    0.0   95.2

    N_err: parsed but not flawless; of these, the share with a missing key, a missing value, a wrong value.
    ");
    let outcomes = ParseOutcomes {
        model: "a|b".to_owned(),
        profile: "greedy".to_owned(),
        strategy: Strategy::P,
        tests: 60,
        clean: 40,
        extracted: 18,
        failed: 2,
        unscored: 0,
        errored: 1,
        missing: 0,
        flawless: 20,
        mistakes: 66,
        errors: 7,
    };
    insta::assert_snapshot!(strategies::parse_outcomes(&[outcomes]).to_markdown(), @r"
    ### Parse outcomes · profile: greedy

    | Model | Strategy | Tests | Clean | Extracted | Failed | Flawless | Mistakes | Errors | Unscored | Errored | Missing |
    |-------|----------|-------|-------|-----------|--------|----------|----------|--------|----------|---------|---------|
    | a\|b  | P        |    60 |    40 |        18 |      2 |       20 |       66 |      7 |        0 |       1 |       0 |
    ");
}

#[test]
fn coverage_counts() {
    let cell = |scenario: &str, active| Coverage {
        model: "qwen3:0.6b".to_owned(),
        profile: "greedy".to_owned(),
        strategy: Strategy::PJ,
        scenario: scenario.to_owned(),
        active,
        wanted: 12,
        done: 9,
        errored: 1,
        missing: 2,
        tests: 8,
        prompt_too_long: 1,
        unsupported_schema: 0,
    };
    let rows = [cell("loans", true), cell("tickets", false)];
    insta::assert_snapshot!(coverage::coverage(&rows, false).to_text(), @"
    Coverage · profile: greedy

     Model        Strategy   Scenario   Wanted   Done   Errored   Missing   Too long   Unsupported
    ───────────────────────────────────────────────────────────────────────────────────────────────
     qwen3:0.6b   PJ         loans          12      9         1         2          1             0

    9 of 12 attempts are done, 1 errored, 2 are missing.
    ");
    assert_eq!(coverage::coverage(&rows, true).rows.len(), 2);
}

#[test]
fn paper_beside_ours() {
    let row = |paper: Option<&str>, ours: Option<&str>| PaperRow {
        paper_model: paper.map(str::to_owned),
        strategy: Strategy::P,
        paper_f1: paper.map(|_| 0.92),
        paper_doc: paper.map(|_| 0.3),
        paper_score: paper.map(|_| 0.61),
        model: ours.map(str::to_owned),
        profile: ours.map(|_| "greedy".to_owned()),
        f1_micro: ours.map(|_| 0.901),
        doc_micro: ours.map(|_| 0.25),
        score: ours.map(|_| 0.5755),
        complete: ours.map(|_| false),
    };
    let rows =
        [row(Some("GPT-4o"), None), row(Some("Qwen3 0.6B"), Some("qwen3:0.6b")), row(None, Some("smollm2"))];
    insta::assert_snapshot!(scores::paper_comparison(&rows).to_text(), @"
    LLMStructBench (arXiv 2602.14743) and here, strategy P

     Paper          F1    DOC   Score   Here          Profile      F1     DOC   Score
    ──────────────────────────────────────────────────────────────────────────────────
     GPT-4o       0.92   0.30    0.61   -             -             -       -       -
     Qwen3 0.6B   0.92   0.30    0.61   qwen3:0.6b†   greedy    0.901   0.250   0.576
     -               -      -       -   smollm2†      greedy    0.901   0.250   0.576

    Matched by family and size; the paper ran other quantisations, other cases and Ollama's sampling. †: incomplete.
    ");
}

fn stored(progress: Option<Progress>) -> Status {
    let run = Run {
        id: RunId(3),
        command: RunCommand::Sweep,
        version: "0.1.0".to_owned(),
        engine: None,
        host: None,
        pid: 4711,
        started_at: "2026-11-29T20:00:00.000Z".to_owned(),
        ended_at: None,
        ending: None,
    };
    let work = Work {
        model: "alpha".into(),
        attempts: 40,
        prompt_tokens: 24_000,
        output_tokens: 4_000,
        evaluated: 7_000,
        forced: 25,
        drafted: 90,
        accepted: 81,
        saved: 0.75,
        model_s: 70.0,
        constraint_s: 0.1,
        tokens_per_s: Some(100.0),
    };
    Status { work: progress.iter().map(|_| work.clone()).collect(), run, progress }
}

#[test]
fn status_of_every_kind() {
    let now: Timestamp = "2026-11-29T22:30:00Z".parse().expect("a time");
    let progress = Progress {
        run: RunId(3),
        pid: 4711,
        state: RunState::Working,
        model: Some("qwen3:0.6b".to_owned()),
        seated: 8,
        done: 312,
        missing: 688,
        errored: 2,
        per_minute: Some(41.25),
        last_progress_at: Some("2026-11-29T22:29:57.100Z".to_owned()),
        updated_at: "2026-11-29T22:29:59.000Z".to_owned(),
    };
    let running = stored(Some(progress));
    let mut ended = running.clone();
    ended.run.ended_at = Some("2026-11-29T22:00:00.000Z".to_owned());
    ended.run.ending = Some(RunEnding::Interrupted);
    insta::assert_snapshot!(status::status(&running, now, true), @"
    sweep (run 3, pid 4711) is running, started 2.5 h ago
      state     working
      model     qwen3:0.6b
      attempts  312 done, 688 missing, 2 errored, 8 decoding
      rate      41.2 a minute, 17 min left
      progress  3 s ago
      work      alpha: 7000 of 28000 tokens evaluated (75 % saved), 100 a second; 81 of 90 guesses right, 25 forced
    ");
    insta::assert_snapshot!(status::status(&running, now, false), @"
    sweep (run 3, pid 4711) is gone without having said so; started 2.5 h ago
      model     qwen3:0.6b
      attempts  312 done, 688 missing, 2 errored
      progress  3 s ago
      work      alpha: 7000 of 28000 tokens evaluated (75 % saved), 100 a second; 81 of 90 guesses right, 25 forced
    ");
    insta::assert_snapshot!(status::status(&ended, now, false), @"
    sweep (run 3, pid 4711) was interrupted 30 min ago
      model     qwen3:0.6b
      attempts  312 done, 688 missing, 2 errored
      progress  3 s ago
      work      alpha: 7000 of 28000 tokens evaluated (75 % saved), 100 a second; 81 of 90 guesses right, 25 forced
    ");
    insta::assert_snapshot!(status::status(&stored(None), now, true), @"sweep (run 3, pid 4711) is running, started 2.5 h ago");
}
