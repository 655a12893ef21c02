-- What attempts cost the model, and what they saved each other.

ALTER TABLE attempts ADD COLUMN n_evaluated INTEGER; -- tokens evaluated on its account; what attempts share is on the first one's
ALTER TABLE attempts ADD COLUMN model_us INTEGER;    -- the model's time on its account

-- One row for each run and model that made texts. Tokens are those of prompts and texts; `saved` is the part of them that
-- was not evaluated; seconds are the model's own, without its loading.
CREATE VIEW work AS
SELECT a.run_id, l.model, count(*) AS attempts, sum(a.n_prompt) AS prompt_tokens, sum(a.n_output) AS output_tokens,
       sum(a.n_evaluated) AS evaluated, 1 - 1.0 * sum(a.n_evaluated) / sum(a.n_prompt + a.n_output) AS saved,
       sum(a.model_us) / 1e6 AS model_s, sum(a.check_us + a.mask_us) / 1e6 AS constraint_s,
       sum(a.n_evaluated) / nullif(sum(a.model_us) / 1e6, 0) AS tokens_per_s
FROM attempts a
JOIN model_labels l ON l.model_id = a.model_id
WHERE a.n_evaluated IS NOT NULL
GROUP BY a.run_id, a.model_id
HAVING sum(a.n_prompt + a.n_output) > 0;
