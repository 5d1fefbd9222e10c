//! Tests of the whole crate against slow references.

mod tidied;
mod world;
