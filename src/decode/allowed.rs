//! Constraint and vocab to token mask: the hot walk.
