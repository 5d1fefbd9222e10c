//! Maximal runs and bounds of clocks, against the region graph: with all that [`crate::generator`] makes.

use trellis_domain::zone::Rational;
use trellis_engine::network::{Answer, ClockLimit};
use trellis_engine::timed::{Config, answer};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::region::{Extreme, Options, Regions};
use trellis_model::network::{Network, Query, QueryKind};

use crate::generator::{Asked, generate};
use crate::model::Model;
use crate::random::for_seeds;
use crate::verdicts::check_or_shrink;

/// Larger region graphs are not explored.
const REGIONS: usize = 6000;

/// Larger zone graphs are not explored.
const NODES: u64 = 3000;

#[derive(Default, Debug)]
pub struct Count {
    too_large: usize,
    faults: usize,
    stay: usize,
    leave: usize,
    limits: usize,
    refused: usize,
    stopped: usize,
}

/// Answers, unless the answer is that there is none.
fn ask(net: &Network, query: &Query, non_zeno: bool, count: &mut Count) -> Result<Option<Answer>, String> {
    let config = Config { engine: None, order: None, non_zeno, certificate: true, symmetry: false };
    let budget = &mut Meter::unlimited().states(Some(NODES));
    let found = answer(net, query, &config, budget).map_err(|b| format!("a fault that is none: {}", b.error))?;
    match &found.verdict {
        Verdict::Unknown(Reason::Iterations) => count.stopped += 1,
        Verdict::Unknown(Reason::Unsupported(_)) => count.refused += 1,
        Verdict::Unknown(reason) => return Err(format!("no answer: {reason}")),
        Verdict::Safe(_) | Verdict::Unsafe(_) => return Ok(Some(found)),
    }
    Ok(None)
}

pub fn check(model: &Model, count: &mut Count) -> Result<(), String> {
    let (net, queries) = model.load()?;
    for query in &queries {
        let result = match query.kind {
            QueryKind::ClockBound { .. } => check_limit(&net, query, count),
            _ => [false, true].into_iter().try_for_each(|non_zeno| check_runs(&net, query, non_zeno, count)),
        };
        result.map_err(|why| format!("{}: {why}", query.text))?;
    }
    Ok(())
}

fn check_runs(net: &Network, query: &Query, non_zeno: bool, count: &mut Count) -> Result<(), String> {
    let options = Options { limit: REGIONS, diverging: non_zeno, ..Options::default() };
    let Some(regions) = Regions::explore(net, Some(query), options) else {
        count.too_large += 1;
        return Ok(());
    };
    let Some(truth) = regions.has_trace(query).ok().filter(|_| regions.fault.is_none()) else {
        count.faults += 1;
        return Ok(());
    };
    let at = |why: String| format!("non-zeno {non_zeno}: {why}");
    let Some(found) = ask(net, query, non_zeno, count).map_err(at)? else { return Ok(()) };
    let says = match &found.verdict {
        Verdict::Safe(cert) => {
            let check = if non_zeno { trellis_check::certify_non_zeno } else { trellis_check::certify };
            if truth {
                return Err(at("UNSOUND: false, but true by the region graph".into()));
            }
            check(net, query, cert).map_err(|r| at(format!("certificate rejected: {r}")))?;
            false
        }
        Verdict::Unsafe(trace) => {
            let replay = if non_zeno { trellis_check::replay_non_zeno } else { trellis_check::replay };
            replay(net, query, trace).map_err(|r| at(format!("trace rejected: {r}")))?;
            true
        }
        Verdict::Unknown(_) => return Ok(()),
    };
    if says != truth {
        return Err(at(format!("{says}, but {truth} by the region graph")));
    }
    count.stay += usize::from(truth);
    count.leave += usize::from(!truth);
    Ok(())
}

fn check_limit(net: &Network, query: &Query, count: &mut Count) -> Result<(), String> {
    let explore = |at_least| Regions::explore(net, Some(query), Options { limit: REGIONS, at_least, diverging: false });
    match explore(1) {
        None => {
            count.too_large += 1;
            return Ok(());
        }
        Some(r) if r.fault.is_some() || r.clock_bound(query).is_err() => {
            count.faults += 1;
            return Ok(());
        }
        Some(_) => {}
    }
    let Some(found) = ask(net, query, false, count)? else { return Ok(()) };
    let Verdict::Safe(cert) = &found.verdict else { return Err("the limit of a clock has no certificate".into()) };
    let limit = found.clock_bound.as_ref().map(|b| b.limit);
    let claimed = limit.map(|l| (l.value, l.attained));
    if let None | Some((Some(_), _)) = claimed {
        let claimed = claimed.and_then(|(n, attained)| Some((n?, attained)));
        trellis_check::certify_clock_bound(net, query, cert, claimed)
            .map_err(|r| format!("certificate rejected: {r}"))?;
    }
    if let Some((None, _)) = claimed {
        let witness = found.clock_bound.as_ref().and_then(|b| b.witness.as_ref());
        let witness = witness.ok_or("infinity has no witness")?;
        let replayed = trellis_check::replay(net, query, witness).map_err(|r| format!("trace rejected: {r}"))?;
        if !replayed.unbounded {
            return Err("the witness of infinity shows nothing".into());
        }
    }
    if let Some((Some(n), true)) = claimed {
        let witness = found.clock_bound.as_ref().and_then(|b| b.witness.as_ref());
        let witness = witness.ok_or("the limit of a clock has no witness")?;
        let replayed = trellis_check::replay(net, query, witness).map_err(|r| format!("trace rejected: {r}"))?;
        if replayed.clock != Some(Rational::new(n, 1)) {
            return Err(format!("the witness for the limit of a clock has {:?}", replayed.clock));
        }
    }
    let at_least = limit.and_then(|l| l.value).map_or(9, |n| n + 1);
    let Some(expected) = explore(at_least).and_then(|r| r.clock_bound(query).ok()) else { return Ok(()) };
    let agree = match (limit, expected) {
        (None, Extreme::None) | (Some(ClockLimit { value: None, .. }), Extreme::Beyond) => true,
        (Some(ClockLimit { value: Some(n), attained }), Extreme::Value { value, open }) => {
            n == value && attained != open
        }
        _ => false,
    };
    count.limits += 1;
    if agree { Ok(()) } else { Err(format!("the limit of a clock is {limit:?}, expected {expected:?}")) }
}

fn agree(first: u64, models: u64) {
    let mut count = Count::default();
    for_seeds(
        first,
        models,
        |seed| generate(seed, Asked::Runs).shown(),
        |seed| {
            let model = generate(seed, Asked::Runs);
            check(&model, &mut count).or_else(|_| check_or_shrink(&model, &mut |m| check(m, &mut Count::default())))
        },
    );
    println!("models from {first}: {count:?}");
}

#[test]
fn runs_agree_with_regions() {
    agree(2_000_000, 150);
}
