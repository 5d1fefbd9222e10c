//! Trellis is a model checker: it answers whether something bad can happen in a model, **safe**, **unsafe** or **unknown**, with a proof or a
//! counterexample that it has checked itself. This is the library; `trellis-cli` has the command line.
//!
//! # A model in a file
//!
//! ```
//! # use trellis::Verdict;
//! # fn main() -> Result<(), trellis::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(&folder).unwrap();
//! # std::fs::write("gearbox.xta", "process Gear() { state Neutral, First, Stuck; init Neutral;
//! #     trans Neutral -> First { }, First -> Neutral { }; } system Gear;").unwrap();
//! # std::fs::write("gearbox.q", "A[] not Gear.Stuck\nA[] not Gear.First\n").unwrap();
//! let model = trellis::Model::open("gearbox.xta")?;
//! for property in model.properties()? {
//!     let report = model.check(&property).timeout("60s").run()?;   // engine chosen, evidence re-checked
//!     match report.verdict() {
//!         Verdict::Safe(proof) => proof.save("proof.json")?,
//!         Verdict::Unsafe(trace) => for step in trace.steps() { println!("{step}") },
//!         Verdict::Unknown(why) => eprintln!("{why}"),
//!         _ => println!("{report}"), // of E<> p, and of bounds
//!     }
//! }
//! # assert!(std::path::Path::new("proof.json").exists());
//! # Ok(())
//! # }
//! ```
//!
//! [`Model::open`] reads UPPAAL, TChecker, C, control-flow automata, transition systems, statecharts, counter systems, Petri nets,
//! AltaRica and hierarchical transition systems; [`Model::from_text`] reads the same from a text. [`Model::property`], [`Model::never`] and
//! [`Model::ltl`] ask questions of one's own; [`Check`] has the options of `trellis check`; [`Report`] has the verdict, [`Model::certify`] reads
//! evidence again.
//!
//! # A model in Rust
//!
//! Implement [`System`] and call [`reach`]: states are compared for equality. With [`lattice`] a state has a part that is ordered, too, and larger
//! ones stand in for smaller ones.
//!
//! # The map
//!
//! | to | see | example |
//! |---|---|---|
//! | check a file | [`Model`], [`Check`], [`Report`], [`Verdict`] | `check_file` |
//! | read evidence again | [`Model::certify`], [`Certified`] | `certify` |
//! | check one's own type | [`System`], [`reach`], [`Found`] | `own_system` |
//! | use a lattice of one's own | [`lattice`]; ready-made ones in [`order`] | `own_lattice` |
//! | abstract programs in one's own way | [`program`] | `own_domain` |
//! | add a kind of model with all commands | [`formalism::prelude`], [`registry::add`] | `lts` of `trellis-cli` |
//! | be told of progress, or stop a check | [`Listener`], [`Check::cancelled_by`], [`meter`] | |
//! | read and write runs | [`report`], [`Trace::run`] | |
//! | use the solver | [`smt`], terms in [`expr`] | |
//!
//! Examples are in `examples/`: `cargo run -p trellis-mc --example own_lattice`. The crates named `trellis-…` are parts of this one: what of them
//! is not reachable from here may change with any version.

mod after;
pub mod automaton;
#[doc(hidden)]
pub mod binding;
#[doc(hidden)]
pub mod certify;
#[doc(hidden)]
pub mod context;
mod error;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod formalism;
pub mod lattice;
#[doc(hidden)]
pub mod listed;
#[doc(hidden)]
pub mod mec;
mod model;
#[doc(hidden)]
pub mod pipeline;
pub mod program;
#[doc(hidden)]
pub mod python;
mod queries;
#[doc(hidden)]
pub mod registry;
#[doc(hidden)]
pub mod settings;
mod system;
#[doc(hidden)]
pub mod task;
#[doc(hidden)]
pub mod view;
#[doc(hidden)]
pub mod warnings;
#[doc(hidden)]
pub mod wcet;

pub use context::Listener;
pub use error::Error;
pub use model::{Certified, Check, Model, Proof, Property, Report, Timeout, Trace, Verdict};
pub use system::{Flaw, FlawOf, Found, Reach, System, reach};
#[doc(hidden)]
pub use trellis_domain::script;
pub use trellis_expr as expr;
pub use trellis_meter as meter;
pub use trellis_order as order;
pub use trellis_report as report;
pub use trellis_smt as smt;
