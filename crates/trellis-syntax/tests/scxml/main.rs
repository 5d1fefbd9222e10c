//! Statecharts: beside a reference written straight from W3C's Appendix D, the bundled charts, what is refused.

mod conformance;
mod content;
mod expression;
mod generate;
mod lockstep;
mod models;
mod reference;
mod refused;
mod sends;

use trellis_syntax::diag::{Sources, render};
use trellis_syntax::scxml::{Chart, parse};

/// Reads a chart with properties.
pub fn read(text: &str, properties: &[&str]) -> Result<Vec<Chart>, String> {
    let mut sources = Sources::default();
    let id = sources.add("chart.scxml", text);
    let properties: Vec<_> = properties.iter().map(|p| sources.add("--property", *p)).collect();
    parse(&sources, id, &properties).map(|(charts, _)| charts).map_err(|d| render(&d, &sources, false))
}
