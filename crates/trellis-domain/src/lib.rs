//! The domains: what an engine's labels are made of, beyond the lattice library of `trellis-order`.
//!
//! [`script`] lets a user bring a lattice or a joining strategy of their own (000 §2.1).
//! [`relation`] has sets and relations over finite domains, as decision diagrams (001 §6.1).
//! [`zone`] has the sets of clock valuations that timed models are explored with (002 §3.2.4).
//!
//! This crate deliberately knows nothing of models: a domain that looks at a state does so through a trait defined here.

pub mod relation;
pub mod script;
pub mod zone;
