//! Evidence from the engines is accepted; evidence that somebody has tampered with is not, whatever was done to it.

mod certificates;
mod garbage;
mod liveness;
mod models;
mod traces;
