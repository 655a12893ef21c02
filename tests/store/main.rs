//! The database as other modules use it: real files, real verdicts, every figure computed twice.

mod figures;
mod files;
mod history;
mod support;
mod sweep;
