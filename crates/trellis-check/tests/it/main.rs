//! Evidence from the engines is accepted; evidence that somebody has tampered with is not, whatever was done to it.

#[path = "../../../trellis-model/tests/it/build.rs"]
mod build;
mod certificates;
mod garbage;
mod liveness;
mod models;
#[allow(dead_code)]
#[path = "../../../trellis-smt/tests/it/problems.rs"]
mod problems;
mod proofs;
#[path = "../../../trellis-model/tests/it/random.rs"]
mod random;
mod timed;
mod traces;
mod zones;
