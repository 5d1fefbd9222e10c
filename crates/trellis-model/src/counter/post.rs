//! Where does a rule lead from a downward-closed set? Exactly, for the monotone system that may lose ([`super`]).
//!
//! The set is everything at most as large as a vector, whose numbers may be [`OMEGA`]. A monotone rule leads furthest from the
//! vector itself.

use trellis_meter::seeded::{self, Bug};

use super::vector::fits;
use super::{OMEGA, Overflow, Rule, Vector};

/// The largest vector the rule leads to from states at most `v`, if it can be taken in one.
pub fn post(rule: &Rule, v: &Vector) -> Result<Option<Vector>, Overflow> {
    for (x, g) in &rule.guards {
        // An interval in which nothing is allows nothing.
        if v.get(*x) < g.low || g.is_empty() {
            return Ok(None);
        }
    }
    // Whoever has too many loses some.
    let limits: Vec<_> = rule.guards.iter().filter_map(|(x, g)| g.high.map(|h| (*x, h))).collect();
    let value = |x| {
        let n = v.get(x);
        limits.iter().find(|l| l.0 == x).map_or(n, |l| n.min(l.1))
    };
    let mut entries = Vec::with_capacity(v.entries().len() + rule.updates.len());
    entries.extend(v.iter().filter(|(x, _)| rule.update(*x).is_none()).map(|(x, _)| (x, value(x))));
    for (y, u) in &rule.updates {
        let lost = seeded::has(Bug::PostLoses) && u.constant > 0 && u.sources.len() > 1;
        let mut sum: i128 = if lost { 0 } else { u.constant.into() };
        let mut unlimited = false;
        for x in &u.sources {
            match value(*x) {
                OMEGA => unlimited = true,
                n => sum += i128::from(n),
            }
        }
        if unlimited {
            entries.push((*y, OMEGA));
            continue;
        }
        if sum < 0 {
            return Ok(None);
        }
        entries.push((*y, fits(u64::try_from(sum).unwrap_or(u64::MAX))?));
    }
    Ok(Some(Vector::new(entries)))
}
