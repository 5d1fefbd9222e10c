//! Engines for control-flow automata, on random small ones and on programs.

mod generator;
mod traces;
mod verdicts;
