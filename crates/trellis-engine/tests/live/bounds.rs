//! `sup` and `inf`, held against the region graph.

use trellis_domain::zone::Rational;
use trellis_engine::network::ClockLimit;
use trellis_engine::timed::bound::bound;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::region::{Extreme, Options, Regions};
use trellis_model::network::{Network, Query, QueryKind};

/// Answers a `sup` or `inf` of a clock, its evidence checked.
pub fn clock(net: &Network, query: &Query) -> Result<Option<ClockLimit>, String> {
    let answer = bound(net, query, &mut Meter::unlimited()).map_err(|b| format!("broken: {}", b.error))?;
    let Verdict::Safe(certificate) = &answer.verdict else { return Err("no certificate".into()) };
    let limit = answer.clock_bound.as_ref().map(|b| b.limit);
    let claimed = match limit {
        Some(ClockLimit { value: None, .. }) => {
            let witness = answer.clock_bound.and_then(|b| b.witness).ok_or("no witness of infinity")?;
            let replayed = trellis_check::replay(net, query, &witness).map_err(|r| format!("trace: {r}"))?;
            return if replayed.unbounded { Ok(limit) } else { Err("the witness of infinity shows nothing".into()) };
        }
        Some(ClockLimit { value: Some(n), attained }) => Some((n, attained)),
        None => None,
    };
    trellis_check::certify_clock_bound(net, query, certificate, claimed).map_err(|r| format!("certificate: {r}"))?;
    if let Some((n, true)) = claimed {
        let witness = answer.clock_bound.and_then(|b| b.witness).ok_or("no witness")?;
        let replayed = trellis_check::replay(net, query, &witness).map_err(|r| format!("trace: {r}"))?;
        if replayed.clock != Some(Rational::new(n, 1)) {
            return Err(format!("the witness has {:?}", replayed.clock));
        }
    }
    Ok(limit)
}

/// Compares; `None` if there are too many regions.
pub fn compare(net: &Network, query: &Query) -> Option<Result<(), String>> {
    let explore = |at_least| Regions::explore(net, Some(query), Options { limit: 40_000, at_least, diverging: false });
    if matches!(query.kind, QueryKind::Bound { .. }) {
        let expected = explore(1)?.bound(query).expect("no faults");
        let found = bound(net, query, &mut Meter::unlimited()).map_err(|b| b.error.to_string());
        let found = match found {
            Ok(answer) => answer,
            Err(e) => return Some(Err(e)),
        };
        let Verdict::Safe(certificate) = &found.verdict else { return Some(Err("no certificate".into())) };
        let value = found.bound.as_ref().map(|b| b.value);
        if let Err(r) = trellis_check::certify_bound(net, query, certificate, value) {
            return Some(Err(format!("certificate: {r}")));
        }
        if let Some(b) = &found.bound {
            let replayed = b.witness.as_ref().map(|w| trellis_check::replay_bound(net, query, w, b.value));
            if !matches!(replayed, Some(Ok(_))) {
                return Some(Err(format!("witness: {replayed:?}")));
            }
        }
        return Some(if value == expected { Ok(()) } else { Err(format!("{value:?}, expected {expected:?}")) });
    }
    let found = match clock(net, query) {
        Ok(found) => found,
        Err(e) => return Some(Err(e)),
    };
    let at_least = match found {
        Some(ClockLimit { value: Some(n), .. }) => n + 1,
        _ => 9,
    };
    let expected = explore(at_least)?.clock_bound(query).expect("no faults");
    let agree = match (found, expected) {
        (None, Extreme::None) | (Some(ClockLimit { value: None, .. }), Extreme::Beyond) => true,
        (Some(ClockLimit { value: Some(n), attained }), Extreme::Value { value, open }) => {
            n == value && attained != open
        }
        _ => false,
    };
    Some(if agree { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) })
}
