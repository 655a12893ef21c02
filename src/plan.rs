//! Which attempts are missing, and in which order they run. Pure.
