//! Tests of the whole crate against slow references.

mod problems;
mod smtlib;
mod solved;
mod tidied;
mod world;
