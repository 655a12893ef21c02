//! Constrained decoding: vocab, constraint, masks, sampling, and the engine that runs the model.

pub mod profile;
pub mod vocab;
pub mod constraint;
pub mod allowed;
pub mod sampler;
pub mod loops;
pub mod sequence;
pub mod engine;
