//! The laws that tie the rooms of this crate together, on random well-typed terms.

mod compiled;
mod partial;
mod substitution;
mod world;
