//! 002's Algorithms 1 and 2, for whatever has labels: nodes are taken from the waiting list, closed if an older node can stand in for them,
//! and expanded otherwise.
//!
//! Two searches are run by this: [`crate::timed::lazy::Lazy`] for networks with clocks, whose concrete labels are computed, and
//! [`crate::program::lazy`] for automata, whose concrete labels are paths that a solver refutes.

use trellis_meter::Meter;

/// A search.
pub trait Search {
    /// Why it ends early: what was looked for has been found, a limit was reached, the model is broken.
    type End;

    /// The next node that waits.
    fn next(&mut self) -> Result<Option<u32>, Self::End>;

    /// May the search go on?
    fn spend(&mut self, meter: &mut Meter) -> Result<(), Self::End>;

    /// The newest expanded node that could cover this one.
    fn newest(&mut self, n: u32) -> Option<u32>;

    /// The one before it.
    fn older(&mut self, than: u32) -> Option<u32>;

    /// Does the concrete label of `n`, as far as it is known, prove the abstract label of `by`?
    fn proves(&mut self, n: u32, by: u32) -> bool;

    /// Lets `by` cover `n`, and strengthens labels so that it may. Does the cover stay?
    fn cover(&mut self, n: u32, by: u32) -> Result<bool, Self::End>;

    /// The last chance to have a node covered: labels on the way to it are strengthened for that.
    fn force(&mut self, _n: u32) -> Result<bool, Self::End> {
        Ok(false)
    }

    /// Follows everything that leaves a node (Algorithm 3).
    fn expand(&mut self, n: u32) -> Result<(), Self::End>;
}

/// Algorithm 1: until nothing waits, so that everything is covered or expanded.
pub fn check<S: Search>(search: &mut S, meter: &mut Meter) -> Result<(), S::End> {
    while let Some(n) = search.next()? {
        search.spend(meter)?;
        if !close(search, n)? {
            search.expand(n)?;
        }
    }
    Ok(())
}

/// Algorithm 2: looks for a node that covers, newest first.
fn close<S: Search>(search: &mut S, n: u32) -> Result<bool, S::End> {
    let mut candidate = search.newest(n);
    while let Some(by) = candidate {
        if search.proves(n, by) && search.cover(n, by)? {
            return Ok(true);
        }
        candidate = search.older(by);
    }
    search.force(n)
}
