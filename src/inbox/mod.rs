//! Scenario files from a watched folder into the store.
//!
//! [`Watch`] says when to look, [`Inbox::take`] looks, and hands out files that are claimed and checked; after storing,
//! [`Inbox::done`] or [`Inbox::reject`] puts each away. Events are hints and the folder is the truth: a look finds
//! whatever is there, so that a lost event costs only time, and a crash at any moment leaves the file in the inbox, to
//! be taken again (the store knows it by its SHA-256). Nothing is ever deleted or overwritten.

mod error;
mod claim;
mod shelve;
mod holds;
mod turn;
mod watch;

pub use claim::{Claimed, Kind, Look, Ready, Settling, Stamp, read, scan};
pub use error::Error;
pub use shelve::{Moved, finish, reject};
pub use turn::{Contents, FILES_A_TURN, Folders, Inbox, LARGEST, Taken, Turn};
pub use watch::Watch;
