//! Engines for control-flow automata, on random small ones and on programs.

mod cegar;
mod generator;
mod traces;
mod verdicts;
