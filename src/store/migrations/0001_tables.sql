-- What is known, and nothing derived but verdicts, which can be made again from the rest.
-- Times are RFC 3339 UTC text with milliseconds. Ids of rows that stay are never used again (no row is deleted).

CREATE TABLE runs (
  id          INTEGER PRIMARY KEY,
  command     TEXT    NOT NULL CHECK (command IN ('daemon', 'sweep', 'score')),
  version     TEXT    NOT NULL,           -- of nightjar
  engine      TEXT,                       -- llama.cpp's bindings and build; NULL when nothing was generated
  host        TEXT,                       -- machine and device, for people
  config      TEXT    NOT NULL CHECK (json_valid(config)),
  pid         INTEGER NOT NULL,
  started_at  TEXT    NOT NULL,
  ended_at    TEXT,                       -- NULL: still running, or it never got to say that it ended
  ending      TEXT    CHECK (ending IN ('finished', 'interrupted', 'failed')),
  CHECK ((ended_at IS NULL) = (ending IS NULL))
) STRICT;

-- What the running daemon last said about itself.
CREATE TABLE progress (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  run_id           INTEGER NOT NULL REFERENCES runs,
  pid              INTEGER NOT NULL,
  state            TEXT    NOT NULL CHECK (state IN ('starting', 'waiting', 'loading', 'working', 'stopping', 'ended')),
  model            TEXT,                  -- the model loaded, or being loaded
  seated           INTEGER NOT NULL,      -- attempts decoding now
  done             INTEGER NOT NULL,
  missing          INTEGER NOT NULL,
  errored          INTEGER NOT NULL,
  per_minute       REAL,                  -- attempts, lately; NULL when unknown
  last_progress_at TEXT,                  -- when the worker last produced anything
  updated_at       TEXT    NOT NULL
) STRICT;

CREATE TABLE models (
  id             INTEGER PRIMARY KEY,
  kind           TEXT    NOT NULL CHECK (kind IN ('gguf', 'external')),
  name           TEXT    NOT NULL,
  sha256         TEXT    UNIQUE,          -- of the file
  family         TEXT,
  architecture   TEXT,
  parameters     INTEGER,
  quantisation   TEXT,
  context_length INTEGER,
  size_bytes     INTEGER,
  problem        TEXT,                    -- why it could not be run when it was last tried
  problem_at     TEXT,
  CHECK ((kind = 'gguf') = (sha256 IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX models_external ON models (name) WHERE kind = 'external';

-- Which hash a file had, so that gigabytes are read once. Only a cache.
CREATE TABLE model_files (
  path       TEXT    PRIMARY KEY,
  size_bytes INTEGER NOT NULL,
  mtime_ns   INTEGER NOT NULL,
  sha256     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE profiles (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  sha256   TEXT NOT NULL UNIQUE,          -- of the resolved settings
  settings TEXT NOT NULL CHECK (json_valid(settings))
) STRICT;

-- The inbox ledger: every file that was taken, and what became of it.
CREATE TABLE files (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  kind     TEXT CHECK (kind IN ('scenario', 'cases')),
  sha256   TEXT,                          -- NULL when it could not be read
  outcome  TEXT NOT NULL CHECK (outcome IN ('stored', 'duplicate', 'rejected')),
  problems TEXT CHECK (problems IS NULL OR json_valid(problems)),
  at       TEXT NOT NULL,
  CHECK (outcome = 'rejected' OR (kind IS NOT NULL AND sha256 IS NOT NULL)),
  CHECK ((outcome = 'rejected') = (problems IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX files_stored_once ON files (sha256) WHERE outcome = 'stored';

CREATE TABLE scenarios (
  id          INTEGER PRIMARY KEY,
  name        TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT    NOT NULL,
  metrics     TEXT    NOT NULL,
  revision_id INTEGER NOT NULL REFERENCES revisions DEFERRABLE INITIALLY DEFERRED,  -- the current one
  added_at    TEXT    NOT NULL
) STRICT;

-- What a scenario asks: everything of its file that can change a prompt, a constraint or what is valid.
CREATE TABLE revisions (
  id          INTEGER PRIMARY KEY,
  scenario_id INTEGER NOT NULL REFERENCES scenarios DEFERRABLE INITIALLY DEFERRED,
  sha256      TEXT    NOT NULL,
  schema      TEXT    NOT NULL CHECK (json_valid(schema)),
  examples    TEXT    NOT NULL CHECK (json_valid(examples)),
  prompts     TEXT    NOT NULL CHECK (json_valid(prompts)),
  file_id     INTEGER NOT NULL REFERENCES files,
  created_at  TEXT    NOT NULL,
  UNIQUE (scenario_id, sha256)
) STRICT;

-- A corrected case is a new row; the old one is retired and stays, with its verdicts.
CREATE TABLE cases (
  id              INTEGER PRIMARY KEY,
  scenario_id     INTEGER NOT NULL REFERENCES scenarios,
  name            TEXT    NOT NULL,       -- the case's id in its file
  text            TEXT    NOT NULL,
  expected        TEXT    NOT NULL,       -- JSON, as written
  text_sha256     TEXT    NOT NULL,
  file_id         INTEGER NOT NULL REFERENCES files,  -- its kind tells whose list the case is on
  added_at        TEXT    NOT NULL,
  retired_at      TEXT                    -- NULL: current
) STRICT;
CREATE UNIQUE INDEX cases_current ON cases (scenario_id, name) WHERE retired_at IS NULL;
CREATE INDEX cases_text ON cases (text_sha256);

-- What the checker found and can live with.
CREATE TABLE notes (
  id      INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES files,
  place   TEXT    NOT NULL,               -- in the file: line, JSON pointer
  message TEXT    NOT NULL
) STRICT;
CREATE INDEX notes_file ON notes (file_id);

-- The prompt of one case per model, revision and strategy, as the model was given it.
CREATE TABLE prompts (
  model_id    INTEGER NOT NULL REFERENCES models,
  revision_id INTEGER NOT NULL REFERENCES revisions,
  strategy    TEXT    NOT NULL CHECK (strategy IN ('J', 'P', 'PJ', 'J+', 'PJ+')),
  case_id     INTEGER NOT NULL REFERENCES cases,
  text        TEXT    NOT NULL,
  PRIMARY KEY (model_id, revision_id, strategy)
) STRICT, WITHOUT ROWID;

-- One generation each, found by the key of what could change its text. Append-only.
-- No scenario or case stands here: what an attempt answers is said by its verdicts, and two cases may ask the same.
CREATE TABLE attempts (
  id            INTEGER PRIMARY KEY,
  key           TEXT    NOT NULL,
  try           INTEGER NOT NULL CHECK (try >= 1),   -- above 1 only after one without a text; the latest counts
  run_id        INTEGER NOT NULL REFERENCES runs,
  model_id      INTEGER NOT NULL REFERENCES models,
  profile_id    INTEGER NOT NULL REFERENCES profiles,
  strategy      TEXT    NOT NULL CHECK (strategy IN ('J', 'P', 'PJ', 'J+', 'PJ+')),
  repeat        INTEGER NOT NULL CHECK (repeat >= 0),
  seed          INTEGER,
  prompt_sha256 TEXT,
  output        TEXT    NOT NULL,         -- reasoning included; what there was of it when it was cut short
  finish        TEXT    NOT NULL CHECK (finish IN ('complete', 'stop', 'max_tokens', 'loop', 'timeout', 'dead_end',
                                                   'prompt_too_long', 'unsupported_schema', 'errored')),
  error         TEXT,                     -- signal or reason
  error_log     TEXT,                     -- the worker's last log lines
  n_prompt      INTEGER,                  -- tokens
  n_reused      INTEGER,                  -- of those, read before by the same slot and not evaluated again
  n_output      INTEGER,                  -- tokens, reasoning included
  n_masks       INTEGER,                  -- masks built; a free choice that is allowed needs none
  queue_ms      INTEGER,                  -- from the order's arrival at the worker to its seat
  prefill_ms    INTEGER,                  -- from the seat to the first choice
  decode_ms     INTEGER,                  -- from the first choice to the end
  check_us      INTEGER,                  -- checking choices
  mask_us       INTEGER,                  -- building masks, and choosing under them
  started_at    TEXT    NOT NULL,
  finished_at   TEXT    NOT NULL,
  UNIQUE (key, try),
  CHECK (finish <> 'errored' OR error IS NOT NULL)
) STRICT;
CREATE INDEX attempts_run ON attempts (run_id);
CREATE TRIGGER attempts_are_facts BEFORE UPDATE ON attempts
BEGIN
  SELECT RAISE(ABORT, 'attempts are append-only');
END;

-- The constants that made a score. The views use the current row.
CREATE TABLE scoring (
  id                INTEGER PRIMARY KEY,
  constants         TEXT    NOT NULL UNIQUE CHECK (json_valid(constants)),  -- all of them, in one fixed order
  coercion_credit   REAL    NOT NULL,
  f1_keys_weight    REAL    NOT NULL,
  f1_values_weight  REAL    NOT NULL,
  score_f1_weight   REAL    NOT NULL,
  score_doc_weight  REAL    NOT NULL,
  points_flawless   INTEGER NOT NULL,
  points_mistake    INTEGER NOT NULL,
  points_error      INTEGER NOT NULL,
  points_failed     INTEGER NOT NULL,
  current           INTEGER NOT NULL CHECK (current IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX scoring_current ON scoring (current) WHERE current = 1;

-- How one attempt answers one case under one revision: a function of the attempt's text, the case's expected JSON, the
-- revision's schema and the scoring constants.
CREATE TABLE verdicts (
  attempt_id       INTEGER NOT NULL REFERENCES attempts,
  case_id          INTEGER NOT NULL REFERENCES cases,
  revision_id      INTEGER NOT NULL REFERENCES revisions,
  scoring_id       INTEGER REFERENCES scoring,   -- the constants that made the scores; NULL without any
  outcome          TEXT    NOT NULL CHECK (outcome IN ('clean', 'extracted', 'failed', 'errored', 'prompt_too_long',
                                                       'unsupported_schema')),
  reason           TEXT,                  -- of a failure
  schema_valid     INTEGER CHECK (schema_valid IN (0, 1)),
  flawless         INTEGER CHECK (flawless IN (0, 1)),
  n_keys           INTEGER,
  n_values         INTEGER,
  tp_keys          INTEGER,
  extra_keys       INTEGER,
  missing_keys     INTEGER,
  missing_values   INTEGER,
  absent_values    INTEGER,
  deviations       INTEGER,
  value_errors     INTEGER,
  coercible        INTEGER,
  type_errors      INTEGER,
  structure_errors INTEGER,
  extra_values     INTEGER,
  extra_items      INTEGER,
  mistakes         INTEGER,
  errors           INTEGER,
  credit           REAL,                  -- sum of C(l) over the deviations
  tp_values        REAL,
  fp_values        INTEGER,
  f1_keys          REAL,
  f1_values        REAL,
  f1               REAL,
  PRIMARY KEY (attempt_id, case_id, revision_id),
  CHECK ((outcome IN ('clean', 'extracted')) = (n_keys IS NOT NULL)),
  CHECK ((outcome IN ('clean', 'extracted')) = (scoring_id IS NOT NULL)),
  CHECK ((outcome IN ('clean', 'extracted', 'failed')) = (flawless IS NOT NULL)),
  CHECK (outcome <> 'failed' OR (flawless = 0 AND reason IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX verdicts_case ON verdicts (case_id, revision_id);

CREATE TABLE findings (
  attempt_id  INTEGER NOT NULL,
  case_id     INTEGER NOT NULL,
  revision_id INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  path        TEXT    NOT NULL,           -- JSON pointer into the expected value, or the output for what is extra
  kind        TEXT    NOT NULL,
  expected    TEXT,
  got         TEXT,
  PRIMARY KEY (attempt_id, case_id, revision_id, idx),
  FOREIGN KEY (attempt_id, case_id, revision_id) REFERENCES verdicts ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What is wanted: coverage counts against it. A row whose model was taken out of the sweep stays, inactive.
CREATE TABLE grid (
  model_id    INTEGER NOT NULL REFERENCES models,
  profile_id  INTEGER NOT NULL REFERENCES profiles,
  strategy    TEXT    NOT NULL CHECK (strategy IN ('J', 'P', 'PJ', 'J+', 'PJ+')),
  scenario_id INTEGER NOT NULL REFERENCES scenarios,
  repeats     INTEGER NOT NULL CHECK (repeats >= 1),
  active      INTEGER NOT NULL CHECK (active IN (0, 1)),
  PRIMARY KEY (model_id, profile_id, strategy, scenario_id)
) STRICT, WITHOUT ROWID;

-- Whatever has a verdict is wanted: no result is left out of coverage because nobody listed it.
CREATE TRIGGER verdicts_are_wanted AFTER INSERT ON verdicts
BEGIN
  INSERT INTO grid (model_id, profile_id, strategy, scenario_id, repeats, active)
  SELECT a.model_id, a.profile_id, a.strategy, c.scenario_id, a.repeat + 1, 0
  FROM attempts a, cases c WHERE a.id = NEW.attempt_id AND c.id = NEW.case_id
  ON CONFLICT DO UPDATE SET repeats = max(repeats, excluded.repeats) WHERE active = 0;
END;
