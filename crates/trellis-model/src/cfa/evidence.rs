//! Why an automaton is safe or unsafe.
//!
//! A [`Trace`] is a run into an error location, in the edges of the automaton, with every decision on the way.
//!
//! A [`Certificate`] is an invariant for each location of the automaton of large blocks ([`super::lbe`]); a location that it does
//! not mention cannot be reached. It is *inductive*: it holds at the start, every block leads from it into it, and it is empty
//! in error locations. If `k` is more than one it need only be `k`-inductive: it holds for the first `k` blocks from the start, and
//! whoever has been inside for `k` blocks stays inside with the next. `trellis-check` asks a solver about all that.

use trellis_expr::{TermId, Terms};

use super::LocationId;
pub use super::interpret::Trace;

/// An inductive invariant.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The automaton's own arena, grown by the terms of the invariant.
    pub terms: Terms,
    /// How many steps inside it takes to stay inside: 1, except by k-induction.
    pub k: usize,
    /// For each location (of the small automaton; only those that large blocks leave) the elements whose union is the
    /// invariant there. An element that faults holds nowhere.
    pub invariant: Vec<(LocationId, Vec<TermId>)>,
}

/// The answer to whether an error location can be reached.
pub type Verdict = crate::evidence::Verdict<Trace, Certificate>;
