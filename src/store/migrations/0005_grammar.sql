-- The grammar that a scenario names for JSON mode; NULL: it names none.
ALTER TABLE revisions ADD COLUMN grammar TEXT;
