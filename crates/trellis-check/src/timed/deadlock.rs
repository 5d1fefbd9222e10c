//! From where some step can happen: what is left of an entry is a deadlock.
//!
//! An entry with bounds also stands for valuations that its zone simulates. Where the bounds are the same from both sides and at least all constants
//! that steps compare clocks with, these are equal to one of the zone or beyond the constants in the same clocks, so that each simulates the other.

use super::{Checker, enough, origins};
use crate::dbm::Dbm;
use crate::{Cause, Rejection, moves};

impl Checker<'_> {
    /// From where in an entry's locations and data some step can happen, now or later.
    pub(super) fn alive(&self, i: usize) -> Result<Vec<Dbm>, Rejection> {
        let e = &self.entries[i];
        let (invariant, delay) = self.interpreter.timing(e.state).map_err(|e| self.model(e))?;
        let mut alive = Vec::new();
        for m in moves::moves(self.net, e.state).map_err(|e| self.model(e))? {
            if let Some(b) = e.bounds {
                let same: Vec<_> = (0..self.dim()).map(Some).collect();
                enough(b, &m.guard, &same)
                    .and_then(|()| enough(b, &invariant, &same))
                    .and_then(|()| enough(b, &m.invariant, &origins(self.dim(), &m.resets)))
                    .map_err(|why| self.wrong_move(Cause::LowBounds(why), e, &m))?;
            }
            let mut zone = moves::before(self.net.clocks.len(), &m.guard, &m.resets, &m.invariant);
            zone.constrain_all(&invariant);
            if delay {
                zone.down();
            }
            alive.push(zone);
        }
        Ok(alive)
    }
}
