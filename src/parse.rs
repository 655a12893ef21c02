//! Generated text to a JSON value, saying how it had to be found. Pure; never judges.
