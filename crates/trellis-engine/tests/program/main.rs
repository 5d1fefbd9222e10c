//! Engines for control-flow automata, on random small ones and on programs.

mod cegar;
mod generator;
mod ltl;
mod models;
mod systems;
mod traces;
mod verdicts;
