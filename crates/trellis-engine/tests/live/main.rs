//! Liveness of timed networks, held against the region graph.

mod bounds;
#[path = "../it/load.rs"]
mod load;
mod random;
mod verdicts;

use trellis_engine::timed::live::live;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::region::{Options, Regions};
use trellis_model::network::{Network, Query};

/// What the region graph says: does a run that stays exist? `None` if it is too large.
pub fn oracle(net: &Network, query: &Query, diverging: bool) -> Option<bool> {
    let options = Options { limit: 30_000, diverging, ..Options::default() };
    let regions = Regions::explore(net, Some(query), options)?;
    assert!(regions.fault.is_none(), "{:?}", regions.fault);
    Some(regions.has_trace(query).expect("no faults"))
}

/// What the zone graph says, its evidence checked.
pub fn zones(net: &Network, query: &Query, non_zeno: bool) -> Result<bool, String> {
    let answer = live(net, query, non_zeno, &mut Meter::unlimited().states(Some(4000)))
        .map_err(|b| format!("broken: {}", b.error))?;
    match answer.verdict {
        Verdict::Unknown(reason) => Err(format!("unknown: {reason}")),
        Verdict::Safe(certificate) => {
            let check = if non_zeno { trellis_check::certify_non_zeno } else { trellis_check::certify };
            match check(net, query, &certificate) {
                Ok(_) => Ok(false),
                Err(r) => Err(format!("certificate: {r}")),
            }
        }
        Verdict::Unsafe(trace) => {
            let replay = if non_zeno { trellis_check::replay_non_zeno } else { trellis_check::replay };
            match replay(net, query, &trace) {
                Ok(_) => Ok(true),
                Err(r) => Err(format!("trace: {r}\n{trace:?}")),
            }
        }
    }
}
