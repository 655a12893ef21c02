//! Expected against output: counts, findings, scores. Pure.
