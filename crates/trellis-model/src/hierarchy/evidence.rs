//! What verdicts about hierarchies carry.

use trellis_domain::relation::Relation;

/// A run: configurations, and the flat event between each and the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The values of all variables, by number; one more than events.
    pub configurations: Vec<Vec<i64>>,
    /// Flat events of the top.
    pub events: Vec<usize>,
}

/// A set of states that contains the initial ones, that no event leaves, and that has no bad configuration.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The states.
    pub states: Relation,
}
