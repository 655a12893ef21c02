//! Numbers to tables. Functions to text; no queries.
