//! Logits, mask, parameters and seed to a token. Pure.
