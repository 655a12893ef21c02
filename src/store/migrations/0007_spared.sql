-- What was written without a choice, and what was guessed.

ALTER TABLE attempts ADD COLUMN n_forced INTEGER;   -- tokens of the text that the constraint forced, taken without logits
ALTER TABLE attempts ADD COLUMN n_drafted INTEGER;  -- tokens guessed on its account, all of them evaluated
ALTER TABLE attempts ADD COLUMN n_accepted INTEGER; -- of those, chosen

-- One row for each run and model that made texts. Tokens are those of prompts and texts; `saved` is the part of them that
-- was not evaluated; seconds are the model's own, without its loading.
DROP VIEW work;
CREATE VIEW work AS
SELECT a.run_id, l.model, count(*) AS attempts, sum(a.n_prompt) AS prompt_tokens, sum(a.n_output) AS output_tokens,
       sum(a.n_evaluated) AS evaluated, 1 - 1.0 * sum(a.n_evaluated) / sum(a.n_prompt + a.n_output) AS saved,
       coalesce(sum(a.n_forced), 0) AS forced, coalesce(sum(a.n_drafted), 0) AS drafted,
       coalesce(sum(a.n_accepted), 0) AS accepted,
       sum(a.model_us) / 1e6 AS model_s, sum(a.check_us + a.mask_us) / 1e6 AS constraint_s,
       sum(a.n_evaluated) / nullif(sum(a.model_us) / 1e6, 0) AS tokens_per_s
FROM attempts a
JOIN model_labels l ON l.model_id = a.model_id
WHERE a.n_evaluated IS NOT NULL
GROUP BY a.run_id, a.model_id
HAVING sum(a.n_prompt + a.n_output) > 0;
