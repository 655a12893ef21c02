-- The figures, for people and for reports. Formulas: LLMStructBench, arXiv 2602.14743, section "metrics".
-- A name that two share is told apart by its hash, wherever it is shown.
-- They count current cases under current revisions, judged by the current constants, the latest attempt of each.
-- Only plain SQL: SQLite builds differ in which mathematical functions they have.

CREATE VIEW model_labels AS
SELECT m.id AS model_id,
       CASE WHEN m.sha256 IS NOT NULL AND EXISTS (SELECT 1 FROM models o WHERE o.name = m.name AND o.id <> m.id)
            THEN m.name || ' ' || substr(m.sha256, 1, 8)
            ELSE m.name END AS model
FROM models m;

CREATE VIEW profile_labels AS
SELECT p.id AS profile_id,
       CASE WHEN EXISTS (SELECT 1 FROM profiles o WHERE o.name = p.name AND o.id <> p.id)
            THEN p.name || ' ' || substr(p.sha256, 1, 8)
            ELSE p.name END AS profile
FROM profiles p;

-- One row for each (model, profile, strategy, case, repeat) that has a verdict.
CREATE VIEW current_verdicts AS
SELECT * FROM (
  SELECT v.*, a.model_id, a.profile_id, a.strategy, a.repeat, c.scenario_id,
         v.deviations + v.value_errors + v.coercible + v.type_errors + v.structure_errors AS wrong_values,
         row_number() OVER (PARTITION BY v.case_id, a.model_id, a.profile_id, a.strategy, a.repeat
                            ORDER BY v.attempt_id DESC) AS age
  FROM verdicts v
  JOIN cases c ON c.id = v.case_id AND c.retired_at IS NULL
  JOIN scenarios s ON s.id = c.scenario_id AND s.revision_id = v.revision_id
  JOIN attempts a ON a.id = v.attempt_id
  JOIN grid g ON g.model_id = a.model_id AND g.profile_id = a.profile_id AND g.strategy = a.strategy
             AND g.scenario_id = c.scenario_id AND a.repeat < g.repeats
  WHERE v.scoring_id IS NULL OR v.scoring_id = (SELECT id FROM scoring WHERE current = 1)
) WHERE age = 1;

CREATE VIEW cell_counts AS
SELECT g.model_id, g.profile_id, g.strategy, g.scenario_id, g.active,
       g.repeats * (SELECT count(*) FROM cases c
                    WHERE c.scenario_id = g.scenario_id AND c.retired_at IS NULL) AS wanted,
       count(v.outcome) AS answered,
       count(v.flawless) AS tests,
       coalesce(sum(v.outcome = 'clean'), 0) AS clean,
       coalesce(sum(v.outcome = 'extracted'), 0) AS extracted,
       coalesce(sum(v.outcome = 'failed'), 0) AS failed,
       coalesce(sum(v.outcome = 'errored'), 0) AS errored,
       coalesce(sum(v.outcome = 'prompt_too_long'), 0) AS prompt_too_long,
       coalesce(sum(v.outcome = 'unsupported_schema'), 0) AS unsupported_schema,
       coalesce(sum(v.schema_valid), 0) AS schema_valid,
       coalesce(sum(v.flawless), 0) AS flawless,
       coalesce(sum(v.mistakes), 0) AS mistakes,
       coalesce(sum(v.errors), 0) AS errors,
       coalesce(sum(v.tp_keys), 0) AS tp_keys,
       coalesce(sum(v.extra_keys), 0) AS extra_keys,
       coalesce(sum(v.missing_keys), 0) AS missing_keys,
       coalesce(sum(v.n_values), 0) AS n_values,
       coalesce(sum(v.absent_values), 0) AS absent_values,
       coalesce(sum(v.coercible), 0) AS coercible,
       coalesce(sum(v.wrong_values - v.structure_errors), 0) AS wrong_leaves,
       coalesce(sum(v.structure_errors + v.extra_values), 0) AS surplus_values,
       total(v.credit) AS credit
FROM grid g LEFT JOIN current_verdicts v USING (model_id, profile_id, strategy, scenario_id)
GROUP BY g.model_id, g.profile_id, g.strategy, g.scenario_id;

-- A cell, or (scenario_id NULL) all cells of a model, profile and strategy.
CREATE VIEW group_counts AS
SELECT model_id, profile_id, strategy, scenario_id, 1 AS scenarios, wanted, answered, tests, clean, extracted, failed,
       errored, prompt_too_long, unsupported_schema, schema_valid, flawless, mistakes, errors, tp_keys, extra_keys,
       missing_keys, n_values, absent_values, coercible, wrong_leaves, surplus_values, credit
FROM cell_counts
UNION ALL
SELECT model_id, profile_id, strategy, NULL, count(*), sum(wanted), sum(answered), sum(tests), sum(clean),
       sum(extracted), sum(failed), sum(errored), sum(prompt_too_long), sum(unsupported_schema), sum(schema_valid),
       sum(flawless), sum(mistakes), sum(errors), sum(tp_keys), sum(extra_keys), sum(missing_keys), sum(n_values),
       sum(absent_values), sum(coercible), sum(wrong_leaves), sum(surplus_values), sum(credit)
FROM cell_counts GROUP BY model_id, profile_id, strategy;

CREATE VIEW group_f1 AS
SELECT n.*,
       CASE WHEN tp_keys + extra_keys + missing_keys = 0 THEN 1.0
            ELSE 2.0 * tp_keys / (2 * tp_keys + extra_keys + missing_keys) END AS f1_keys,
       CASE WHEN tp_values = 0 AND fp_values = 0 AND absent_values = 0 THEN 1.0
            WHEN tp_values = 0 THEN 0.0
            ELSE 2.0 * tp_values / (2.0 * tp_values + fp_values + absent_values) END AS f1_values
FROM (
  SELECT g.*, k.f1_keys_weight, k.f1_values_weight, k.score_f1_weight, k.score_doc_weight,
         k.points_flawless * flawless + k.points_mistake * mistakes + k.points_error * errors
           + k.points_failed * failed AS points,
         max(0.0, n_values - absent_values - wrong_leaves + credit + k.coercion_credit * coercible) AS tp_values,
         wrong_leaves + surplus_values AS fp_values
  FROM group_counts g, scoring k WHERE k.current = 1
) n;

-- Without a scored verdict the rates are NULL; when nothing parsed, F1 is 0.
CREATE VIEW group_rates AS
SELECT f.*, z, z * z AS zz,
       CASE WHEN tests = 0 THEN NULL
            WHEN failed = tests THEN 0.0
            ELSE f1_keys_weight * f1_keys + f1_values_weight * f1_values END AS f1_micro,
       1.0 * flawless / tests * (1 - 1.0 * failed / tests) AS doc_micro,
       1.0 * flawless * (tests - flawless) / tests + z * z / 4 AS spread
FROM group_f1 f, (SELECT 1.959963984540054 AS z);  -- the normal distribution's 97.5 % point

-- Shown once anything was answered. The interval is Wilson's, of flawless / tests; its root is found by Newton's steps.
CREATE VIEW group_scores AS
SELECT l.model, p.profile, g.strategy, s.name AS scenario, g.scenarios, g.tests, g.flawless, g.failed,
       iif(g.tests, g.f1_keys, NULL) AS f1_keys, iif(g.tests, g.f1_values, NULL) AS f1_values,
       g.f1_micro, g.doc_micro,
       g.score_f1_weight * g.f1_micro + g.score_doc_weight * g.doc_micro AS score,
       1.0 * g.flawless / g.tests AS flawless_rate,
       max(0.0, (g.flawless + g.zz / 2 - g.z * g.root) / (g.tests + g.zz)) AS flawless_low,
       min(1.0, (g.flawless + g.zz / 2 + g.z * g.root) / (g.tests + g.zz)) AS flawless_high,
       g.points, g.mistakes, g.errors, g.clean, g.extracted, g.schema_valid,
       g.prompt_too_long + g.unsupported_schema AS unscored, g.errored, g.wanted - g.answered AS missing,
       g.tests = g.wanted AND (g.scenario_id IS NOT NULL OR NOT EXISTS (
         SELECT 1 FROM grid w WHERE w.active = 1 AND NOT EXISTS (
           SELECT 1 FROM grid o WHERE o.model_id = g.model_id AND o.profile_id = g.profile_id
             AND o.strategy = g.strategy AND o.scenario_id = w.scenario_id))) AS complete,
       m.family, m.parameters, m.quantisation, m.size_bytes, g.model_id, g.profile_id, g.scenario_id
FROM (
  SELECT r.*, (WITH RECURSIVE newton (step, x) AS (
                 SELECT 0, (1 + spread) / 2
                 UNION ALL
                 SELECT step + 1, (x + spread / x) / 2 FROM newton WHERE step < 40)
               SELECT x FROM newton WHERE step = 40) AS root
  FROM group_rates r
) g
JOIN model_labels l ON l.model_id = g.model_id
JOIN models m ON m.id = g.model_id
JOIN profile_labels p ON p.profile_id = g.profile_id
LEFT JOIN scenarios s ON s.id = g.scenario_id
WHERE g.answered > 0;

CREATE VIEW leaderboard AS
SELECT model, profile, strategy, scenarios, tests, flawless, failed, f1_keys, f1_values, f1_micro, doc_micro, score,
       flawless_rate, flawless_low, flawless_high, points, mistakes, errors, schema_valid, unscored, errored, missing,
       complete, family, parameters, quantisation, size_bytes
FROM group_scores WHERE scenario_id IS NULL
ORDER BY score DESC, model, profile, strategy;

CREATE VIEW scenario_scores AS
SELECT model, profile, strategy, scenario, scenarios, tests, flawless, failed, f1_keys, f1_values, f1_micro, doc_micro,
       score, flawless_rate, flawless_low, flawless_high, points, mistakes, errors, schema_valid, unscored, errored,
       missing, complete, family, parameters, quantisation, size_bytes
FROM group_scores WHERE scenario_id IS NOT NULL
ORDER BY scenario, score DESC, model, profile, strategy;

-- Figures 2 to 4.
CREATE VIEW parse_outcomes AS
SELECT model, profile, strategy, tests, clean, extracted, failed, unscored, errored, missing,
       flawless, mistakes, errors
FROM group_scores WHERE scenario_id IS NULL
ORDER BY model, profile, strategy;

-- Table III, with the points of all models together.
CREATE VIEW strategy_totals AS
SELECT profile, strategy, count(*) AS models, sum(tests) AS tests, sum(flawless) AS correct, sum(mistakes) AS mistakes,
       sum(errors) AS errors, sum(failed) AS failed, sum(points) AS points, sum(NOT complete) AS incomplete
FROM group_scores WHERE scenario_id IS NULL AND tests > 0
GROUP BY profile_id, strategy
ORDER BY profile, strategy;

-- Table IV: how many models each strategy wins by points; on a tie every tied strategy wins.
-- A model counts as incomplete when one of its strategies is, or lacks a strategy another one was tested with.
CREATE VIEW strategy_wins AS
SELECT profile, strategy, sum(points = best) AS wins, count(*) AS models, sum(incomplete) AS incomplete
FROM (
  SELECT g.*, max(points) OVER (PARTITION BY profile_id, model_id) AS best,
         min(complete) OVER (PARTITION BY profile_id, model_id) = 0
           OR count(*) OVER (PARTITION BY profile_id, model_id)
              < (SELECT count(DISTINCT strategy) FROM grid WHERE grid.profile_id = g.profile_id) AS incomplete
  FROM group_scores g WHERE scenario_id IS NULL AND tests > 0
)
GROUP BY profile_id, strategy
ORDER BY profile, strategy;

-- Tables VI and VII. n_err: parsed, but not flawless. A case counts once in each class it has.
CREATE VIEW error_classes AS
SELECT model, profile, strategy, tests, n_err, with_missing_key, with_missing_value, with_wrong_value,
       1.0 * with_missing_key / n_err AS missing_key_share,
       1.0 * with_missing_value / n_err AS missing_value_share,
       1.0 * with_wrong_value / n_err AS wrong_value_share
FROM (
  SELECT l.model, p.profile, v.strategy, count(*) AS tests,
         sum(v.flawless = 0 AND v.outcome <> 'failed') AS n_err,
         coalesce(sum(v.missing_keys > 0), 0) AS with_missing_key,
         coalesce(sum(v.missing_values > 0), 0) AS with_missing_value,
         coalesce(sum(v.wrong_values > 0), 0) AS with_wrong_value
  FROM current_verdicts v
  JOIN model_labels l ON l.model_id = v.model_id
  JOIN profile_labels p ON p.profile_id = v.profile_id
  WHERE v.flawless IS NOT NULL
  GROUP BY v.model_id, v.profile_id, v.strategy
)
ORDER BY model, profile, strategy;

-- wanted = done + errored + missing; done = tests + prompt_too_long + unsupported_schema (final, though not scored).
CREATE VIEW coverage AS
SELECT l.model, p.profile, n.strategy, s.name AS scenario, n.active, n.wanted,
       n.answered - n.errored AS done, n.errored, n.wanted - n.answered AS missing,
       n.tests, n.prompt_too_long, n.unsupported_schema
FROM cell_counts n
JOIN model_labels l ON l.model_id = n.model_id
JOIN profile_labels p ON p.profile_id = n.profile_id
JOIN scenarios s ON s.id = n.scenario_id
ORDER BY l.model, p.profile, n.strategy, s.name;

-- Everything about one verdict, in one row.
CREATE VIEW case_results AS
SELECT l.model, p.profile, v.strategy, s.name AS scenario, c.name AS "case", v.repeat,
       v.outcome, v.reason, v.schema_valid, v.flawless, v.mistakes, v.errors, v.f1, v.f1_keys, v.f1_values,
       c.text, c.expected, a.output, a.finish, a.error, a.error_log,
       v.n_keys, v.n_values, v.tp_keys, v.extra_keys, v.missing_keys, v.missing_values, v.absent_values, v.deviations,
       v.value_errors, v.coercible, v.type_errors, v.structure_errors, v.extra_values, v.extra_items, v.credit,
       v.tp_values, v.fp_values, v.wrong_values,
       a.n_prompt, a.n_reused, a.n_output, a.n_masks, a.queue_ms, a.prefill_ms, a.decode_ms, a.check_us, a.mask_us,
       a.seed, a.try, a.prompt_sha256, a.key, a.started_at, a.finished_at, r.version, r.engine, r.host,
       m.sha256 AS model_sha256, a.run_id, v.attempt_id, v.case_id, v.revision_id
FROM current_verdicts v
JOIN attempts a ON a.id = v.attempt_id
JOIN cases c ON c.id = v.case_id
JOIN scenarios s ON s.id = v.scenario_id
JOIN models m ON m.id = v.model_id
JOIN model_labels l ON l.model_id = v.model_id
JOIN profile_labels p ON p.profile_id = v.profile_id
JOIN runs r ON r.id = a.run_id;

-- What is not flawless, and why: a line for each finding.
CREATE VIEW failures AS
SELECT model, profile, strategy, scenario, "case", repeat, outcome, coalesce(reason, error) AS reason, finish,
       mistakes, errors,
       (SELECT group_concat(line, char(10)) FROM (
          SELECT path || ' ' || kind || coalesce(', expected ' || f.expected, '') || coalesce(', got ' || f.got, '') AS line
          FROM findings f
          WHERE f.attempt_id = r.attempt_id AND f.case_id = r.case_id AND f.revision_id = r.revision_id
          ORDER BY f.idx)) AS findings,
       text, expected, output, attempt_id
FROM case_results r WHERE flawless IS NOT 1;
