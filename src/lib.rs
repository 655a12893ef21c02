//! nightjar finds out which local model, prompted and constrained how, turns text into correct JSON.
//!
//! The data flow, and the order of the modules below: scenario files arrive in the inbox and are stored; the plan
//! lists the attempts that have no row yet; prompts are written; the worker decodes them under a constraint; the
//! text is parsed, scored and committed; reports read the database.

pub mod hash;
pub mod config;
pub mod scenario;
pub mod grammars;
pub mod dataset;
pub mod inbox;
pub mod models;
pub mod plan;
pub mod prompt;
pub mod decode;
pub mod parse;
pub mod score;
pub mod store;
pub mod judge;
pub mod generate;
pub mod report;
pub mod daemon;
pub mod cli;
