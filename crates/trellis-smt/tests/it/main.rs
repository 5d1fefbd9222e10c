//! Tests of the whole crate against slow references.

mod eliminated;
mod paths;
mod problems;
mod smtlib;
mod solved;
mod tidied;
mod world;
