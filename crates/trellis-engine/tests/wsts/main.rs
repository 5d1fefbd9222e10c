//! Engines for counter systems, on random small ones, on protocols, and on what the paper says about them.
//!
//! `TRELLIS_RUNS=n` runs so many random systems per test.

mod formulas;
mod generator;
mod large;
mod long;
mod models;
mod nets;
mod paper;
mod seeded;
mod structures;
#[path = "../it/tableau.rs"]
mod tableau;
mod tampered;
mod threads;
mod verdicts;
mod words;
