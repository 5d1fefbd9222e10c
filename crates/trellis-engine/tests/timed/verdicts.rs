//! Every way to explore, against the region graph.
//!
//! A verdict must be the region graph's; where that is too large, all ways must agree. Only exact zones without
//! simulation (and all ways where clocks are compared with each other) may give up.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trellis_model::network::Network;
use trellis_model::network::Query;
use trellis_model::network::region::{Options, Regions};

use crate::configurations::{Outcome, explore, ways};
use crate::generator::generate;
use crate::model::Model;
use crate::random::for_seeds;
use crate::steps;

/// Larger region graphs are not explored.
const REGIONS: usize = 4000;

/// Larger zone graphs are not explored.
const NODES: u64 = 4000;

#[derive(Default, Debug)]
pub struct Count {
    /// Models with a region graph, and their regions.
    exhausted: usize,
    regions: usize,
    too_large: usize,
    faults: usize,
    found: usize,
    nothing: usize,
    runs: usize,
    stopped: usize,
    unsuited: usize,
}

/// The regions of a network, as fine as all of its queries need.
fn regions<'n>(net: &'n Network, queries: &[Query]) -> Option<Regions<'n>> {
    let mut all = queries.first()?.clone();
    all.atoms = queries.iter().flat_map(|q| q.atoms.clone()).collect();
    Regions::explore(net, Some(&all), Options { limit: REGIONS, ..Options::default() })
}

/// Holds all ways against the region graph, and each other.
pub fn check(model: &Model, seed: u64, count: &mut Count) -> Result<(), String> {
    let (net, queries) = model.load()?;
    let oracle = regions(&net, &queries);
    if let Some(o) = &oracle {
        count.exhausted += 1;
        count.regions += o.states.len();
        count.faults += usize::from(o.fault.is_some());
        steps::compare(&net, o, 300)?;
    } else {
        count.too_large += 1;
    }
    for (i, query) in queries.iter().enumerate() {
        // Who says what: the first to do so.
        let mut known: Option<(bool, String)> = None;
        let mut faulty = false;
        if let Some(o) = &oracle {
            let truth = o.has_trace(query).ok();
            faulty = o.fault.is_some() || truth.is_none();
            known = truth.map(|t| (t, "the region graph".to_string()));
            count.found += usize::from(truth == Some(true));
            count.nothing += usize::from(truth == Some(false));
        }
        for way in ways(seed + i as u64) {
            let at = |why: String| format!("{} by {way:?}: {why}", query.text);
            let outcome = catch_unwind(AssertUnwindSafe(|| explore(&net, query, way, NODES)));
            let outcome = outcome.map_err(|_| at("panicked".into()))?;
            count.runs += 1;
            let says = match outcome {
                Outcome::Stopped => {
                    count.stopped += 1;
                    continue;
                }
                Outcome::Unsuited => {
                    count.unsuited += 1;
                    continue;
                }
                Outcome::Broken(_) if faulty || oracle.is_none() => continue,
                Outcome::Broken(why) => return Err(at(format!("a fault that is none: {why}"))),
                Outcome::Nothing if faulty => return Err(at("nothing although there is a fault".into())),
                Outcome::Nothing => false,
                Outcome::Found => true,
            };
            match &known {
                // Behind a fault the region graph does not look further.
                _ if faulty => {}
                Some((truth, by)) if *truth != says => {
                    return Err(at(format!("{}, but {truth} by {by}", if says { "true" } else { "UNSOUND: false" })));
                }
                Some(_) => {}
                None => known = Some((says, format!("{way:?}"))),
            }
        }
    }
    Ok(())
}

/// Checks, and if it fails makes the model smaller.
pub fn check_or_shrink(model: &Model, seed: u64, count: &mut Count) -> Result<(), String> {
    let once = |m: &Model, count: &mut Count| {
        catch_unwind(AssertUnwindSafe(|| check(m, seed, count))).unwrap_or_else(|_| Err("panicked".into())).err()
    };
    let Some(why) = once(model, count) else { return Ok(()) };
    let (small, now) = model.shrink(why.clone(), &mut |m| once(m, &mut Count::default()));
    Err(format!("{why}\n--- made smaller: {now}\n{}\n--- from", small.shown()))
}

fn agree(first: u64, models: u64) {
    let mut count = Count::default();
    for_seeds(first, models, |seed| generate(seed).shown(), |seed| check_or_shrink(&generate(seed), seed, &mut count));
    println!("{models} models from {first}: {count:?}");
}

#[test]
fn engines_agree_with_regions_1() {
    agree(0, 150);
}

#[test]
fn engines_agree_with_regions_2() {
    agree(1_000_000, 150);
}
