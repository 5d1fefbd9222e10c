//! The engines against oracles.
//!
//! - [`automata`] makes random lattice automata, as text; [`steps`] holds the fast step relation against the reference
//!   interpreter, and [`verdicts`] holds every way to explore against a plain search with the interpreter. Evidence must
//!   pass `trellis-check`.
//! - [`lowering`] checks the front end a second time: random programs are run by an evaluator that walks the syntax tree
//!   and knows nothing of terms, and by the network built from them.
//! - [`workers`] holds explorations by several workers against each other, and the oracle.
//! - [`monotone`] holds verdicts under default options, and the proofs that they rest on, against the oracle.
//! - [`regressions`] are what these found, by name.
//!
//! Everything is deterministic: a failure prints its seed and its model. `TRELLIS_SEED=n` runs one seed alone,
//! `TRELLIS_RUNS=n` runs so many per test.

mod automata;
mod lattices;
mod load;
mod lowering;
mod monotone;
mod oracle;
mod random;
mod regressions;
mod steps;
mod verdicts;
mod workers;
