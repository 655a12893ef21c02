-- A grammar's file can change under its name: what was written under the old text is no answer to what is asked now.

ALTER TABLE attempts ADD COLUMN grammar_sha256 TEXT;  -- of the grammar that the text was held to; NULL: none
ALTER TABLE grid ADD COLUMN grammar_sha256 TEXT;      -- of the one that texts are to be held to; NULL: none

DROP TRIGGER verdicts_are_wanted;
CREATE TRIGGER verdicts_are_wanted AFTER INSERT ON verdicts
BEGIN
  INSERT INTO grid (model_id, profile_id, strategy, scenario_id, repeats, active, grammar_sha256)
  SELECT a.model_id, a.profile_id, a.strategy, c.scenario_id, a.repeat + 1, 0, a.grammar_sha256
  FROM attempts a, cases c WHERE a.id = NEW.attempt_id AND c.id = NEW.case_id
  ON CONFLICT DO UPDATE SET repeats = max(repeats, excluded.repeats) WHERE active = 0;
END;

DROP VIEW current_verdicts;
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
             AND a.grammar_sha256 IS g.grammar_sha256
  WHERE v.scoring_id IS NULL OR v.scoring_id = (SELECT id FROM scoring WHERE current = 1)
) WHERE age = 1;
