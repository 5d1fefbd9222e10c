//! From a path through a zone graph, given by the numbers of its moves, to a run with exact delays.

use trellis_domain::zone::Constraint;
use trellis_model::network::{Action, ModelError, Network, Post, Trace, Transitions};

use super::schedule::{Leg, Plan};

/// A run along moves from the start, at the end of which `finally` holds. Nothing if there is none.
pub fn concretise(
    net: &Network,
    post: &mut Post<'_>,
    via: &[u32],
    finally: &[Constraint],
) -> Result<Option<Trace>, ModelError> {
    let mut plan = Plan::new(net.clocks.len());
    let (mut key, elem) = post.initial()?;
    post.beside(&elem);
    let mut stay = Vec::new();
    let mut delay = post.timing(&key, &mut stay)?;
    let mut stopped = if delay { post.stopped(&key)? } else { Vec::new() };
    let mut moves = Transitions::default();
    for &ordinal in via {
        post.moves(&key, &mut moves)?;
        let m = moves.get(ordinal as usize);
        plan.extend([Leg {
            stay: std::mem::replace(&mut stay, m.invariant.to_vec()),
            still: !delay,
            stopped,
            guard: m.guard.to_vec(),
            action: Some(Action(m.action.to_vec())),
            resets: m.resets.to_vec(),
        }]);
        delay = m.delay;
        key = m.key.to_vec();
        post.beside(m.elem);
        stopped = if delay { post.stopped(&key)? } else { Vec::new() };
    }
    if !finally.is_empty() {
        plan.target = [&stay, finally].concat();
    }
    plan.end = stay;
    plan.still = !delay;
    plan.stopped = stopped;
    Ok(plan.schedule().and_then(|s| s.trace(net)))
}
