//! Engines for control-flow automata, on random small ones and on programs.

mod cegar;
mod generator;
mod models;
mod traces;
mod verdicts;
