//! Timed networks under the engines: zones, bounds, exploration, lazy abstraction (002), and their evidence.

pub mod answer;
pub mod bound;
pub mod bounds;
pub mod canonical;
pub mod cells;
pub mod cycle;
mod fastest;
pub mod formula;
pub mod lazy;
pub mod live;
mod options;
mod portfolio;
pub mod product;
pub mod reach;
mod runs;
pub mod schedule;
pub mod space;
mod stopwatch;
pub mod target;
pub mod trace;

pub use answer::{Clocks, Config, Data, Engine, answer, answer_by, default_engine, obstacle, symmetry};
pub use fastest::{Fastest, fastest};
