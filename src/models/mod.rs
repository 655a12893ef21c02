//! Model names to GGUF files, and what their headers say. Loads no model, downloads nothing, reads no environment.
//!
//! An entry of the configuration is looked up by [`resolve()`], each file found is described by [`gguf::read`], and
//! [`identity`] says which bytes it holds, so that results stay tied to the weights and not to a file's name.

pub mod gguf;
pub mod resolve;
pub mod identity;

pub use gguf::Header;
pub use identity::FileStamp;
pub use resolve::{Found, Places, resolve};
