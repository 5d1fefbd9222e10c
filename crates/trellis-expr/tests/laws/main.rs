//! The laws that tie the rooms of this crate together, on random well-typed terms.

mod compiled;
mod examples;
mod partial;
mod printed;
mod simplified;
mod substitution;
mod transformed;
mod world;
