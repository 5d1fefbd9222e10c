//! The run to a state that takes the least time, when some run is known.
//!
//! A clock that nothing sets measures how much time has passed, and may not exceed what the known run takes, so that there are finitely many
//! zones. Its infimum where the state is ([`super::bound`]) is the least time.
//!
//! What it deliberately does not do: questions about deadlocks; models where clocks can stand still.

use trellis_domain::zone::{MAX_CONSTANT, Rational};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::interpret::timed::{floor, sum};
use trellis_model::network::{ClockAtom, Condition, Network, Query, QueryKind, Trace};

use super::bound::bound;
use super::live::with_measure;
use crate::network::Broken;

/// What was found.
#[derive(Debug)]
pub enum Fastest {
    /// No run is faster than this one.
    Run(Trace),
    /// No run takes the least time; this is its infimum.
    Open(i64),
    /// It is not known.
    Unknown(Reason),
}

/// Looks for a run that is as fast as can be, for a question about states that this run answers.
pub fn fastest(net: &Network, query: &Query, known: &Trace, meter: &mut Meter) -> Result<Fastest, Box<Broken>> {
    let refuse = |why: &str| Ok(Fastest::Unknown(Reason::Unsupported(why.into())));
    if net.has_rates() {
        return refuse("the least time where clocks can stand still");
    }
    let mut total = Some(known.rest);
    for step in &known.steps {
        total = total.and_then(|t| sum(t, step.delay));
    }
    // At most so much, as a whole number.
    let most = total.map(|t| if t == Rational::new(floor(t), 1) { floor(t) } else { floor(t) + 1 });
    let Some(most) = most.filter(|m| *m < i64::from(MAX_CONSTANT) / 4) else { return refuse("so long a run") };
    let (mut measured, z) = with_measure(net);
    let when = match query.kind {
        QueryKind::Possibly(p) => p,
        QueryKind::Always(p) => Condition { holds: measured.terms.not(p.holds), ..p },
        _ => return refuse("the least time of a question that is not about states"),
    };
    let most = measured.terms.int(most);
    let limit = ClockAtom { when: None, left: z, right: 0, strict: false, bound: most };
    for p in measured.processes.iter_mut().take(1) {
        p.locations.iter_mut().for_each(|l| l.clock_invariant.push(limit));
    }
    let asked = Query { kind: QueryKind::ClockBound { sup: false, when, clock: z }, ..query.clone() };
    let answer = bound(&measured, &asked, meter)?;
    let found = match (answer.verdict, answer.clock_bound) {
        (Verdict::Unknown(why), _) => return Ok(Fastest::Unknown(why)),
        (_, found) => found,
    };
    Ok(match found {
        Some(bound) => match (bound.witness, bound.limit.value) {
            (Some(run), _) => Fastest::Run(without(run)),
            (None, Some(least)) if !bound.limit.attained => Fastest::Open(least),
            _ => Fastest::Unknown(Reason::Unsupported("a run whose delays are out of range".into())),
        },
        None => Fastest::Unknown(Reason::Unsupported("a question whose states are found in another way".into())),
    })
}

/// The run without the clock that measures it.
fn without(mut run: Trace) -> Trace {
    run.initial.clocks.pop();
    run.steps.iter_mut().for_each(|s| _ = s.state.clocks.pop());
    run
}
