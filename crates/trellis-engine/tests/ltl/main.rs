//! Formulas and their automata, held against the evaluator of formulas on ultimately periodic words.
//!
//! `TRELLIS_RUNS=n` looks at `n` formulas of each class.

mod generator;
mod patterns;
mod proved;
mod random;
