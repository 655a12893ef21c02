//! The inbox on real folders with real events: whatever is dropped ends stored or rejected with reasons, never lost,
//! never stored twice.

mod night;
mod events;
mod files;
mod trouble;
