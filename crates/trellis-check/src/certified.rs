//! What a checked certificate amounts to, whatever kind of model it is about.

use trellis_domain::zone::Bound;

/// A certificate that is a proof.
#[derive(Default, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certified {
    /// How many states it lists.
    pub entries: usize,
    /// How many steps were followed.
    pub steps: u64,
    /// Whether states below entries count: the model is monotone, or was assumed to be.
    pub up_to_order: bool,
    /// For `sup` (`inf`): the largest (smallest) value among the entries; nothing is larger (smaller).
    pub bound: Option<i64>,
    /// For `sup` (`inf`) of a clock `x`: the loosest bound of `x` (of `-x`) among the entries that are measured.
    pub clock: Option<Bound>,
}
