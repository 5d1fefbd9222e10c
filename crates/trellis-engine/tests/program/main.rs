//! Engines for control-flow automata, on random small ones and on programs.

mod cegar;
mod generator;
mod ltl;
mod models;
mod states;
mod systems;
#[path = "../it/tableau.rs"]
mod tableau;
mod traces;
mod verdicts;
