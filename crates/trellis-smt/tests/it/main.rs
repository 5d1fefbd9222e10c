//! Tests of the whole crate against slow references.

mod eliminated;
mod tidied;
mod world;
