//! Scenario files from a watched folder into the store.
