//! Timed networks under the engines: zones, bounds, exploration, lazy abstraction (002), and their evidence.

pub mod bounds;
pub mod reach;
pub mod space;
pub mod target;
