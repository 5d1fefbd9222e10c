//! Zones against plain mathematics: closure by brute force, sets by their points.

mod closure;
mod coarse;
mod images;
mod minimal;
mod oracle;
mod order;
mod points;
mod separate;
