//! Trellis is a model checker: it answers whether something bad can happen in a model, **safe**, **unsafe** or **unknown**, with a proof or a
//! counterexample that it has checked itself. This is the library; `trellis-cli` has the command line.
//!
//! # A model in a file
//!
//! ```no_run
//! use trellis::{Model, Verdict};
//!
//! let model = Model::open("gearbox.xta")?;
//! for property in model.properties()? {
//!     let report = model.check(&property).timeout("60s").run()?; // engine chosen, evidence re-checked
//!     match report.verdict() {
//!         Verdict::Safe(proof) => proof.save("proof.json")?,
//!         Verdict::Unsafe(trace) => {
//!             for step in trace.steps() {
//!                 println!("{step}")
//!             }
//!         }
//!         Verdict::Unknown(why) => eprintln!("{why}"),
//!         _ => println!("{report}"),
//!     }
//! }
//! # Ok::<(), trellis::Error>(())
//! ```
//!
//! [`Model::open`] reads UPPAAL, TChecker, C, control-flow automata, transition systems, statecharts, counter systems, Petri nets,
//! AltaRica and hierarchical transition systems. [`Model::property`], [`Model::never`] and [`Model::ltl`] ask questions of one's own;
//! [`Check`] has the options of `trellis check`; [`Report`] has the verdict, [`Model::certify`] reads evidence again.
//!
//! # A model in Rust
//!
//! Implement [`System`] and call [`reach`].
//!
//! # The map
//!
//! | to | see |
//! |---|---|
//! | check a file | [`Model`], [`Check`], [`Report`], [`Verdict`] |
//! | check one's own type | [`System`], [`reach`] |
//! | write a lattice or an order | [`order`] |
//! | use the solver | [`smt`], terms in [`expr`] |
//! | read and write runs | [`report`] |
//! | be told of progress, or stop a check | [`Listener`], [`Check::cancelled_by`] |

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
#[doc(hidden)]
pub mod listed;
mod model;
#[doc(hidden)]
pub mod pipeline;
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

pub use context::Listener;
pub use error::Error;
pub use model::{Certified, Check, Model, Proof, Property, Report, Timeout, Trace, Verdict};
pub use system::{Flaw, FlawOf, Found, Reach, System, reach};
pub use trellis_expr as expr;
pub use trellis_meter as meter;
pub use trellis_order as order;
pub use trellis_report as report;
pub use trellis_smt as smt;
