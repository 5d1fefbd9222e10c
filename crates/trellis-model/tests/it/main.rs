//! Timed networks, built by hand or at random: what the interpreter says step by step, what the region graph makes of it,
//! and whether the fast semantics agrees.

mod build;
mod cfa;
mod counter;
mod moves;
mod random;
mod regions;
mod steps;
