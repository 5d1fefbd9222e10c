//! Timed networks, built by hand: what the interpreter says step by step, and what the region graph makes of it.

mod build;
mod regions;
mod steps;
