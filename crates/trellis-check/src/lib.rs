//! Re-validation of evidence: does this trace, or this certificate, really show what a verdict claims?
//!
//! Shares no logic with the engines, and may not depend on them:
//! - [`replay`] takes a trace step by step with the reference interpreter
//!   ([`trellis_model::network::interpret`]), which shares nothing with the fast semantics the engines use;
//! - [`certify`] checks that a certificate is a proof: with the reference interpreter's steps, zones of its own (`dbm`) and
//!   the order of elements, and nothing else; [`quickly`] is the exception.
//!
//! Evidence is not trusted: it may come from a file that somebody has edited. Whatever is in it, the answer is yes, or a
//! [`Rejection`] that says in words what is wrong and shows the state.
//!
//! What each kind of question needs:
//!
//! | question | a trace | a certificate |
//! |---|---|---|
//! | `A[] p` | refutes: ends where p fails | proves: a closed set, p everywhere |
//! | `E<> p` | proves: ends where p holds | refutes: a closed set, p nowhere |
//! | `A<> p` | refutes: a maximal run without p | proves: ranks count down to p |
//! | `E[] p` | proves: a maximal run within p | refutes: ranks count down to not p |
//! | `p --> q` | refutes: a maximal run, p, then never q | proves: a closed set, after p ranks count down to q |
//! | a formula of linear temporal logic | refutes: a maximal run that violates it | proves: why no run that goes on for ever does |
//! | `sup: e`, `inf: e` | a state with this value | a closed set without a larger (smaller) one |
//! | `sup: x`, `inf: x` of a clock | a state with this value | a closed set without a larger (smaller) one |
//!
//! A certificate up to symmetry also stands for what its entries become when processes are swapped that cannot be told apart;
//! that they cannot is verified here.
//!
//! A run is maximal if it ends where nothing can happen, or where time may pass forever, or goes round in a circle.
//!
//! [`program`] does the same for control-flow automata, with a solver; [`counter`] for counter systems; [`hierarchy`] for
//! hierarchies of nodes, on relations; [`tree`] for hierarchical transition systems, node by node; [`branching`] for formulas of
//! computation tree logic, [`acheck`] for sets of Acheck and [`mec`] for relations of Mec 5, about hierarchies of which everything that can be reached can be listed.
//! [`language`] proves that an automaton is that of a formula.
//!
//! In models with clocks, entries of certificates are zones, a circle need only return to a state that nothing can tell from
//! the first, and a run that ends goes on for
//! as long as time may pass: what must hold all along must hold then too.

pub mod acheck;
pub mod branching;
mod certificate;
mod certified;
pub mod channel;
pub mod counter;
mod dbm;
mod describe;
mod formula;
pub mod hierarchy;
mod index;
pub mod language;
mod limit;
pub mod ltl;
pub mod mec;
mod monotone;
mod moves;
pub mod program;
pub mod proof;
mod rejection;
mod siblings;
mod state;
mod steps;
mod symmetric;
mod timed;
mod timed_liveness;
mod trace;
pub mod tree;

pub use certificate::{certify, certify_bound};
pub use certified::Certified;
pub use describe::{describe, describe_action};
pub use formula::{certify_formula, replay_formula};
pub use limit::within;
pub use monotone::{assuming_monotone, monotone};
pub use rejection::{Cause, Claimed, Rejection};
pub use steps::quickly;
pub use timed::certify_clock_bound;
pub use timed_liveness::certify_non_zeno;
pub use trace::{End, Replayed, replay, replay_bound, replay_non_zeno};
