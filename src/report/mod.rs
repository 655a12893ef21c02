//! Numbers to tables. Functions to text; no queries.
//!
//! Every function takes rows as the store read them and makes a [`Table`], which is written as text or Markdown.
//! JSON needs no function here: the rows are its form, and [`scores::Board`]'s rows where intervals belong to them.

pub mod coverage;
pub mod scores;
mod statistics;
pub mod status;
pub mod strategies;
mod table;
#[cfg(test)]
mod tests;

pub use statistics::statistics_table;
pub use table::{Cell, Table};
