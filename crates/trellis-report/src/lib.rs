//! Verdicts, traces and certificates, for people and for machines.
//!
//! The command line fills in one [`PropertyReport`] per property; from there on
//! - [`text`] tells it to a person at a terminal,
//! - [`json`] to a machine, under the versioned schemas that [`schema()`] gives, and reads evidence back,
//! - [`html`] to a person with a browser,
//! - [`dot`] draws networks and traces, [`automaton`] control-flow automata;
//! - [`program`] does all of that for programs and control-flow automata, [`counter`] most of it for counter systems;
//! - [`hierarchy`] tells of hierarchies of nodes, [`drawings`] draws quotients and modes of them, [`tree`] of hierarchical transition systems.
//!
//! Everything speaks the model's own names: processes, locations, variables, channels.
//!
//! This is the only library that knows JSON. It knows nothing of engines: how an answer was found comes to it as words and
//! numbers. It judges nothing either: whether evidence is any good is for `trellis-check` to say. States given to it must
//! fit the network they come with; have what [`json::read_evidence`] returns checked before it is shown.

pub mod automaton;
pub mod buchi;
mod certificate;
pub mod counter;
pub mod cuts;
pub mod dot;
pub mod drawings;
pub mod hierarchy;
pub mod html;
pub mod iterations;
pub mod json;
mod label;
pub mod ltl;
mod names;
pub mod program;
mod property;
pub mod run;
mod schema;
pub mod step;
mod tell;
pub mod text;
mod time;
mod timeline;
pub mod tree;

pub use counter::CounterReport;
pub use json::{
    Binding, Content, CounterContent, CounterEvidence, Evidence, ProgramContent, ReadError, read_counter_evidence,
    read_evidence, read_program_evidence,
};
pub use program::{Program, ProgramReport};
pub use property::{Class, ClockLimit, Ending, Inconclusive, Kind, Outcome, PropertyReport, Why};
pub use schema::{SCHEMAS, schema};
pub use tell::ending;
pub use text::Style;
pub use tree::TreeReport;
