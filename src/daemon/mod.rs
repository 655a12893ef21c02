//! Joins the stages: channels, event loop, shutdown. No stage's rules.
