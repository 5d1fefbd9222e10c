//! From which states does a rule lead into an upward-closed set? Exactly.
//!
//! The states from which a rule leads to at least `m` are those in which some variables are large enough, and some sums of variables
//! are. For each sum there are as many smallest states as ways to distribute what is missing over its variables.
//!
//! A rule with upper bounds is understood as in [`super`]: whoever has too many may lose some. The smallest states then are those of
//! the rule without its upper bounds that keep them: any other state that keeps them is above one of these.

use trellis_meter::seeded::{self, Bug};

use super::vector::fits;
use super::{Basis, Overflow, Rule, Var, Vector};

/// More smallest states than this are not listed.
pub const MOST: usize = 200_000;

/// The smallest states from which the rule leads to at least `m`, losing where it must.
pub fn pre(rule: &Rule, m: &Vector) -> Result<Vec<Vector>, Overflow> {
    let mut least: Vec<(Var, u64)> = Vec::with_capacity(m.entries().len() + rule.guards.len());
    let mut sums: Vec<(&[Var], u64)> = vec![];
    let mut wanted = m.entries().iter().peekable();
    for (v, u) in &rule.updates {
        // What is not set must be large enough before.
        while let Some(e) = wanted.next_if(|e| e.0 < *v) {
            least.push(*e);
        }
        let want = wanted.next_if(|e| e.0 == *v).map_or(0, |e| e.1);
        let needed = i128::from(want) - i128::from(u.constant);
        let needed = needed + i128::from(seeded::has(Bug::PreNeeds) && needed > 0);
        let Ok(needed) = u64::try_from(needed.max(0)) else { return Err(Overflow::Numbers) };
        let needed = fits(needed)?;
        match u.sources[..] {
            [] if seeded::has(Bug::PreConstants) => return Ok(vec![]),
            _ if needed == 0 => {}
            [] => return Ok(vec![]),
            [x] => least.push((x, needed)),
            ref several => sums.push((several, needed)),
        }
    }
    least.extend(wanted);
    least.extend(rule.guards.iter().map(|(v, g)| (*v, g.low)));
    let keeps = |v: &Vector| rule.guards.iter().all(|(x, g)| g.high.is_none_or(|h| v.get(*x) <= h));
    let first = Vector::new(least);
    if !keeps(&first) {
        return Ok(vec![]);
    }
    if sums.is_empty() {
        return Ok(vec![first]);
    }
    let mut all = vec![first];
    for (sources, needed) in sums {
        let mut next = vec![];
        for v in all {
            let there: u64 = sources.iter().fold(0, |s, x| s.saturating_add(v.get(*x)));
            distribute(&v, sources, needed.saturating_sub(there), &mut next)?;
        }
        all = next;
    }
    all.retain(keeps);
    Ok(Basis::minimal(all).iter().cloned().collect())
}

/// All ways to add a number to some variables.
fn distribute(v: &Vector, over: &[Var], missing: u64, out: &mut Vec<Vector>) -> Result<(), Overflow> {
    if missing == 0 {
        out.push(v.clone());
        return Ok(());
    }
    // The first gets some, the others share the rest.
    let mut shares = vec![0; over.len()];
    let mut left = vec![missing; over.len()];
    let mut at = 0;
    loop {
        if at + 1 == over.len() {
            shares[at] = left[at];
            let mut entries = v.entries().to_vec();
            for (x, n) in over.iter().zip(&shares) {
                entries.push((*x, fits(v.get(*x) + n)?));
            }
            if out.len() >= MOST {
                return Err(Overflow::Many);
            }
            out.push(Vector::new(entries));
            // Back to somebody who can take more.
            loop {
                if at == 0 {
                    return Ok(());
                }
                at -= 1;
                if shares[at] < left[at] {
                    shares[at] += 1;
                    left[at + 1] = left[at] - shares[at];
                    at += 1;
                    break;
                }
            }
        } else {
            shares[at] = 0;
            left[at + 1] = left[at];
            at += 1;
        }
    }
}
