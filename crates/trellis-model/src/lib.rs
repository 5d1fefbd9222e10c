//! What the input languages mean: one module per formalism, each with its fast semantics and its reference
//! interpreter, and the evidence (traces, certificates) that verdicts carry.
//!
//! Knows nothing of how a model was written: front ends build these structures, engines explore them.

pub mod acheck;
pub mod cfa;
pub mod channel;
pub mod counter;
pub mod evidence;
pub mod gamma;
pub mod hierarchy;
pub mod ltl;
pub mod mec;
pub mod network;
pub mod refinements;
