//! The timed engines against the region graph.
//!
//! - [`generator`] makes random timed networks, as UPPAAL or TChecker text; [`model`] is what they are made of, and how
//!   to make a failing one smaller.
//! - [`steps`] holds zone-free moves against the interpreter, at a point of every region; [`verdicts`] holds every way to
//!   explore against the region graph.
//! - [`kinds`] looks for runs that are shorter than the shortest, or faster than the fastest.
//! - [`priorities`] does the same for networks with priorities.
//! - [`runs`] holds liveness and bounds of clocks against it; [`formula`] holds linear temporal logic, and fairness.
//! - [`models`] lets all of them loose on the shared models, where they must agree with each other.
//! - [`symmetric`] makes networks of processes that cannot be told apart, or almost, and explores them up to symmetry.
//! - [`lattices`] holds lattice variables beside clocks against regions and elements.
//! - [`known`] takes certificates apart that know part of the data.
//! - [`stopwatch`] holds clocks that stand still against enumeration with steps of time.
//! - [`seeded`] has bugs on purpose, and sees what the checker refuses.
//! - [`table`] is what 002 counted.
//! - [`regressions`] are what these found, by name.
//!
//! Everything is deterministic: a failure prints its seed, its model made smaller, the query and the configuration.
//! `TRELLIS_SEED=n` runs one seed alone, `TRELLIS_RUNS=n` runs so many per test.

mod configurations;
mod formula;
mod generator;
mod kinds;
mod known;
mod lattices;
#[path = "../it/load.rs"]
mod load;
mod model;
mod models;
mod priorities;
#[path = "../it/random.rs"]
mod random;
mod regressions;
mod runs;
mod seeded;
mod steps;
mod stopwatch;
mod symmetric;
mod table;
#[path = "../it/tableau.rs"]
mod tableau;
mod verdicts;
