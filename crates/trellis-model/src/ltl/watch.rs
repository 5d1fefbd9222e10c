//! Questions about states, asked of the same subjects and at the same moments as formulas: can a state be reached in which something holds when
//! a letter would be read?
//!
//! Formulas speak of complete runs, so they say nothing of the states on a run that an assumption blocks later on. Here a state counts as soon
//! as it is reached: a new error location can be entered wherever the condition holds.

use rustc_hash::FxHashMap;
use trellis_expr::defined::{self, Unsupported};
use trellis_expr::{TermId, transform};

use super::product::Subject;
use crate::cfa::{Cfa, Edge, Kind, Location, LocationId};

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// States in which this holds.
    Holds(TermId),
    /// States in which this does not hold.
    Fails(TermId),
    /// States from which no step leads on although the run has not ended.
    Deadlock,
    /// All others.
    NoDeadlock,
}

/// Why something cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The condition is about something that there are no terms for.
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
    /// Whether a step is possible depends on a value that is chosen in the step.
    #[error("whether a step is possible here depends on a value that is chosen in that step")]
    Chosen,
}

/// The automaton whose only error is what is looked for. What was an error before is an end.
pub fn watch(subject: Subject, watched: Watched) -> Result<Cfa, Error> {
    let Subject { mut cfa, reads, places, stuck: _ } = subject;
    let all: Vec<LocationId> = cfa.locations().collect();
    for &l in &all {
        if cfa.location(l).kind == Kind::Error {
            cfa.location_mut(l).kind = Kind::Final;
        }
    }
    let found = Location { name: "the state asked for".into(), kind: Kind::Error, place: None };
    let error = cfa.add_location(found);
    for l in all {
        let read = |e: &crate::cfa::EdgeId| reads[e.index()];
        let (before, after) = (cfa.incoming(l), cfa.outgoing(l));
        // Where letters begin to be read is the start; what is before it is not looked at.
        let starts = after.iter().any(read) && !before.iter().all(read);
        if !starts && !before.iter().any(read) {
            continue;
        }
        let condition = match watched {
            Watched::Holds(t) => defined::holds(&mut cfa.terms, t)?,
            Watched::Fails(t) => {
                let holds = defined::holds(&mut cfa.terms, t)?;
                cfa.terms.not(holds)
            }
            Watched::Deadlock => stuck(&mut cfa, l)?,
            Watched::NoDeadlock => {
                let stuck = stuck(&mut cfa, l)?;
                cfa.terms.not(stuck)
            }
        };
        let here: FxHashMap<_, _> = places.iter().map(|(v, at)| (*v, cfa.terms.bool(at.contains(&l)))).collect();
        let condition = cfa.terms.substitute(condition, &here);
        if cfa.terms.as_bool(condition) != Some(false) {
            let place = cfa.location(l).place;
            let stmt = cfa.terms.assume(condition);
            cfa.add_edge(Edge { from: l, stmt, to: error, place });
        }
    }
    Ok(cfa)
}

/// Where no edge can be taken although the run has not ended.
fn stuck(cfa: &mut Cfa, l: LocationId) -> Result<TermId, Error> {
    if cfa.location(l).kind != Kind::Plain {
        return Ok(cfa.terms.bool(false));
    }
    let statements: Vec<_> = cfa.outgoing(l).iter().map(|&e| cfa.edge(e).stmt).collect();
    let mut all = vec![];
    for s in statements {
        let never = cfa.terms.bool(false);
        let blocked = transform::wlp(&mut cfa.terms, s, never)?;
        if !blocked.bound.is_empty() {
            return Err(Error::Chosen);
        }
        all.push(blocked.term);
    }
    Ok(cfa.terms.and(all))
}
