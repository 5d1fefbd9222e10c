//! What can be asked of a network.

use trellis_expr::VarId;

use super::{ClockAtom, Condition};

/// A question with its text.
#[derive(Debug, Clone)]
pub struct Query {
    /// As the user wrote it.
    pub text: String,
    /// What it means.
    pub kind: QueryKind,
    /// Whether it asks about deadlocks.
    pub deadlock: bool,
    /// The clock constraints in its conditions. Each is a truth value: a temporary of the network, set before a condition is
    /// judged. Only data occurs in the atoms' terms.
    pub atoms: Vec<(VarId, ClockAtom)>,
}

/// The kinds of question. Conditions range over locations, data and lattice variables; `deadlock` inside one is the
/// temporary [`super::Network::deadlock`], set before the condition is judged.
#[derive(Debug, Clone, Copy)]
pub enum QueryKind {
    /// `A[] p`: p holds in every reachable state.
    Always(Condition),
    /// `E<> p`: some reachable state satisfies p.
    Possibly(Condition),
    /// `A<> p`: every maximal run meets p.
    Eventually(Condition),
    /// `E[] p`: some maximal run stays in p.
    PotentiallyAlways(Condition),
    /// `p --> q`: whenever p, then later q on every maximal run.
    LeadsTo(Condition, Condition),
    /// `sup: e` or `inf: e` over the reachable states: the largest or smallest value of an integer expression of
    /// locations and data.
    Bound {
        /// `sup` rather than `inf`.
        sup: bool,
        /// Only in states that satisfy this.
        when: Condition,
        /// What is measured: `holds` is an integer term here.
        of: Condition,
    },
    /// `sup: x` or `inf: x` of a clock.
    ClockBound {
        /// `sup` rather than `inf`.
        sup: bool,
        /// Only in states that satisfy this.
        when: Condition,
        /// The clock's number.
        clock: u32,
    },
}

impl QueryKind {
    /// Does a counterexample refute the query (`A…`), rather than a witness prove it (`E…`)?
    pub fn is_universal(&self) -> bool {
        !matches!(self, QueryKind::Possibly(_) | QueryKind::PotentiallyAlways(_))
    }
}
