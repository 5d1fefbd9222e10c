//! Timed networks under the engines: zones, bounds, exploration, lazy abstraction (002), and their evidence.

pub mod answer;
pub mod bounds;
pub mod reach;
pub mod space;
pub mod target;
pub mod trace;

pub use answer::{Clocks, Config, Data, Engine, answer, default_engine, obstacle};
