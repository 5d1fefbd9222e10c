//! From where some step can happen: what is left of an entry is a deadlock.
//!
//! An entry with bounds also stands for valuations that its zone simulates. Where the bounds are the same from both sides and at least all constants
//! that steps compare clocks with, these are equal to one of the zone or beyond the constants in the same clocks, so that each simulates the other.

use trellis_domain::zone::Zone;
use trellis_model::network::{SetClock, Transitions};

use super::{Checker, enough, origins, zones};
use crate::{Cause, Rejection};

impl Checker<'_> {
    /// From where in an entry's locations and data some step can happen, now or later.
    pub(super) fn alive(&mut self, i: usize) -> Result<Vec<Zone>, Rejection> {
        let mut moves = Transitions::default();
        let mut invariant = Vec::new();
        let found = self.post.moves(&self.entries[i].key, &mut moves);
        let found = found.and_then(|()| self.post.timing(&self.entries[i].key, &mut invariant));
        let delay = found.map_err(|e| self.model(e))?;
        let mut alive = Vec::new();
        for m in moves.iter() {
            if let Some(b) = self.entries[i].bounds {
                let same: Vec<_> = (0..self.domain.dim()).map(Some).collect();
                enough(b, m.guard, &same)
                    .and_then(|()| enough(b, &invariant, &same))
                    .and_then(|()| enough(b, m.invariant, &origins(self.domain.dim(), m.resets)))
                    .map_err(|why| self.wrong_move(Cause::LowBounds(why), &self.entries[i], &m))?;
            }
            let mut zone = Zone::build(self.net.clocks.len(), m.invariant).map_err(zones)?;
            for r in m.resets.iter().rev() {
                match *r {
                    SetClock::Value { clock, value } => self.domain.pre_reset(&mut zone, clock as usize, value),
                    SetClock::Copy { clock, from } => self.domain.pre_assign(&mut zone, clock as usize, from as usize),
                }
                .map_err(zones)?;
            }
            self.domain.constrain_all(&mut zone, m.guard).map_err(zones)?;
            self.domain.constrain_all(&mut zone, &invariant).map_err(zones)?;
            if delay {
                self.domain.down(&mut zone);
            }
            alive.push(zone);
        }
        Ok(alive)
    }
}
