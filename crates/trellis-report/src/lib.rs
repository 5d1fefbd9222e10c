//! Verdicts, traces and certificates, for people and for machines.
//!
//! The command line fills in one [`PropertyReport`] per property. A formalism says about itself what [`Present`] asks: its traces as [`run::Run`]s
//! and back, its proofs as documents and back, its drawing. From there on everything is written once, for all formalisms:
//! - [`text`] for a person at a terminal, [`page`] for one with a browser, [`dot`] and [`chart`] draw;
//! - [`json`] for machines, under the versioned schemas that [`schema()`] gives, and reads evidence back;
//! - [`itf`] and [`vcd`] for other tools.
//!
//! [`network`], [`program`], [`counter`], [`hierarchy`], [`tree`] and [`ltl`] are the formalisms; each also has what only it has: invariants in
//! words, witnesses for C, drawings of modes ([`drawings`]), cut sets ([`cuts`]).
//!
//! Everything speaks the model's own names: processes, locations, variables, channels. This is the only library that knows JSON. It knows nothing
//! of engines: how an answer was found comes to it as words and numbers. It judges nothing either: whether evidence is any good is for
//! `trellis-check` to say. States given to it must fit the model they come with; have what [`json::read`] returns checked before it is shown.

pub mod automaton;
mod binding;
pub mod buchi;
pub mod channel;
pub mod chart;
pub mod counter;
pub mod cuts;
pub mod dot;
pub mod drawings;
mod evidence;
pub mod hierarchy;
pub mod iterations;
pub mod itf;
pub mod layout;
pub mod ltl;
pub mod network;
pub mod page;
pub mod present;
pub mod program;
mod property;
mod reader;
pub mod refinements;
pub mod run;
mod schema;
pub mod step;
mod style;
pub mod svg;
pub mod text;
mod time;
mod timeline;
pub mod tree;
pub mod vcd;
mod words;

/// Reports and evidence as JSON, and evidence back.
pub mod json {
    pub use crate::binding::{Binding, Input};
    pub use crate::evidence::*;
    pub use crate::reader::ReadError;
}

pub use binding::Binding;
pub use counter::CounterReport;
pub use evidence::Content;
pub use network::ending;
pub use present::Present;
pub use program::{Program, ProgramReport};
pub use property::{Class, ClockLimit, Ending, Inconclusive, Kind, Outcome, PropertyReport, Why};
pub use reader::ReadError;
pub use schema::{SCHEMAS, generated, schema};
pub use style::Style;
pub use tree::TreeReport;
