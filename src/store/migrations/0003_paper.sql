-- The figures of LLMStructBench (arXiv 2602.14743) to stand beside ours: 995 cases, Ollama, its default quantisations.

-- Table V: strategy P, best first.
CREATE TABLE paper_results (
  position  INTEGER PRIMARY KEY,
  model     TEXT NOT NULL,
  family    TEXT NOT NULL,
  billions  REAL,                          -- parameters; NULL: not published
  strategy  TEXT NOT NULL,
  f1_micro  REAL NOT NULL,
  doc_micro REAL NOT NULL,
  score     REAL NOT NULL
) STRICT;

INSERT INTO paper_results (position, model, family, billions, strategy, f1_micro, doc_micro, score) VALUES
  ( 1, 'GPT-4o',          'gpt-4o',      NULL, 'P', 0.96, 0.52, 0.74),
  ( 2, 'Gemma3 27B',      'gemma3',      27.0, 'P', 0.96, 0.52, 0.74),
  ( 3, 'Llama3.1 70B',    'llama3.1',    70.0, 'P', 0.95, 0.51, 0.73),
  ( 4, 'Gemma3 12B',      'gemma3',      12.0, 'P', 0.95, 0.49, 0.72),
  ( 5, 'Deepseek-R1 70B', 'deepseek-r1', 70.0, 'P', 0.95, 0.45, 0.70),
  ( 6, 'Llama3.3 70B',    'llama3.3',    70.0, 'P', 0.95, 0.45, 0.70),
  ( 7, 'Qwen3 14B',       'qwen3',       14.0, 'P', 0.95, 0.44, 0.69),
  ( 8, 'Deepseek-R1 14B', 'deepseek-r1', 14.0, 'P', 0.95, 0.43, 0.69),
  ( 9, 'Qwen3 1.7B',      'qwen3',        1.7, 'P', 0.94, 0.40, 0.67),
  (10, 'Deepseek-R1 7B',  'deepseek-r1',  7.0, 'P', 0.94, 0.39, 0.67),
  (11, 'Qwen3 32B',       'qwen3',       32.0, 'P', 0.94, 0.39, 0.67),
  (12, 'Deepseek-R1 8B',  'deepseek-r1',  8.0, 'P', 0.94, 0.38, 0.66),
  (13, 'Phi3 14B',        'phi3',        14.0, 'P', 0.94, 0.38, 0.66),
  (14, 'Phi4-mini 3.8B',  'phi4-mini',    3.8, 'P', 0.95, 0.38, 0.66),
  (15, 'Phi4 14B',        'phi4',        14.0, 'P', 0.94, 0.38, 0.66),
  (16, 'Qwen3 4B',        'qwen3',        4.0, 'P', 0.93, 0.37, 0.65),
  (17, 'Qwen3 8B',        'qwen3',        8.0, 'P', 0.93, 0.36, 0.65),
  (18, 'Deepseek-R1 32B', 'deepseek-r1', 32.0, 'P', 0.94, 0.33, 0.63),
  (19, 'Qwen3 0.6B',      'qwen3',        0.6, 'P', 0.92, 0.30, 0.61),
  (20, 'Deepseek-R1 1.5B','deepseek-r1',  1.5, 'P', 0.90, 0.16, 0.53),
  (21, 'Gemma3 1B',       'gemma3',       1.0, 'P', 0.89, 0.10, 0.49),
  (22, 'Phi3.5 3.8B',     'phi3.5',       3.8, 'P', 0.95, 0.03, 0.49),
  (23, 'Phi3 3.8B',       'phi3',         3.8, 'P', 0.95, 0.01, 0.48);

-- Tables III and IV.
CREATE TABLE paper_strategies (
  strategy TEXT PRIMARY KEY,
  correct  INTEGER NOT NULL,
  mistakes INTEGER NOT NULL,
  errors   INTEGER NOT NULL,
  failed   INTEGER NOT NULL,
  wins     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO paper_strategies (strategy, correct, mistakes, errors, failed, wins) VALUES
  ('J',   2271, 45951, 28797,  726,  0),
  ('P',   7791, 14171,  2879, 1597, 11),
  ('PJ',  6800, 15792, 13506,  445,  3),
  ('J+',  6129, 28903,  1242,  135,  0),
  ('PJ+', 7646, 20652,  1169,   18,  8);

-- Every row of the paper with ours beside it, and ours that it has no counterpart for. Loosely matched: the family's
-- letters and digits agree, and the parameter count is within a quarter (files count embeddings differently).
CREATE VIEW paper_comparison AS
WITH ours AS (
  SELECT model, profile, strategy, tests, f1_micro, doc_micro, score, complete, parameters / 1e9 AS billions,
         replace(replace(replace(replace(lower(coalesce(family, model)), '-', ''), '_', ''), '.', ''), ' ', '') AS kin
  FROM leaderboard WHERE tests > 0
), paper AS (
  SELECT *, replace(replace(lower(family), '-', ''), '.', '') AS kin FROM paper_results
), matched AS (
  SELECT paper.position, ours.*
  FROM paper JOIN ours ON ours.kin = paper.kin AND ours.strategy = paper.strategy
   AND (paper.billions IS NULL OR ours.billions BETWEEN 0.75 * paper.billions AND 1.25 * paper.billions)
)
SELECT p.model AS paper_model, p.strategy, p.f1_micro AS paper_f1, p.doc_micro AS paper_doc, p.score AS paper_score,
       m.model, m.profile, m.tests, m.f1_micro, m.doc_micro, m.score, m.complete
FROM paper p LEFT JOIN matched m ON m.position = p.position
UNION ALL
SELECT NULL, o.strategy, NULL, NULL, NULL, o.model, o.profile, o.tests, o.f1_micro, o.doc_micro, o.score, o.complete
FROM ours o
WHERE o.strategy IN (SELECT strategy FROM paper_results)
  AND NOT EXISTS (SELECT 1 FROM matched m
                  WHERE m.model = o.model AND m.profile = o.profile AND m.strategy = o.strategy)
ORDER BY paper_score DESC NULLS LAST, score DESC;
