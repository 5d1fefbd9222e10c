//! Every way to answer, against the region graph.
//!
//! A verdict must be the region graph's, a trace must replay, a certificate must prove. Where the region graph is too
//! large, all ways must agree. Zones that nothing is forgotten of may be too many; everything else must answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trellis_check::{certify, replay};
use trellis_engine::timed::answer::{Config, Engine, answer};
use trellis_engine::timed::bounds::Bounds;
use trellis_engine::timed::reach::{Cover, Extrapolation};
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::region::{Options, Regions};
use trellis_model::network::{Network, Query};

use crate::configurations::ways;
use crate::generator::{Asked, generate};
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
    pub exhausted: usize,
    regions: usize,
    too_large: usize,
    faults: usize,
    pub found: usize,
    nothing: usize,
    pub traces: usize,
    pub certificates: usize,
    pub stopped: usize,
    unsuited: usize,
}

/// The regions of a network, as fine as all of its queries need.
fn regions<'n>(net: &'n Network, queries: &[Query]) -> Option<Regions<'n>> {
    let mut all = queries.first()?.clone();
    all.atoms = queries.iter().flat_map(|q| q.atoms.clone()).collect();
    Regions::explore(net, Some(&all), Options { limit: REGIONS, ..Options::default() })
}

/// What one way says: is there something to find? Its evidence is checked.
pub fn ask(net: &Network, query: &Query, way: &Config, mut budget: Meter, count: &mut Count) -> Result<Said, String> {
    let answer = match answer(net, query, way, &mut budget) {
        Ok(answer) => answer,
        Err(broken) => return Ok(Said::Broken(broken.error.to_string())),
    };
    match answer.verdict {
        Verdict::Safe(cert) => {
            count.certificates += 1;
            certify(net, query, &cert).map_err(|r| format!("certificate rejected: {r}"))?;
            Ok(Said::Verdict(false))
        }
        Verdict::Unsafe(trace) => {
            count.traces += 1;
            replay(net, query, &trace).map_err(|r| format!("trace rejected: {r}"))?;
            Ok(Said::Verdict(true))
        }
        Verdict::Unknown(Reason::Iterations) => {
            count.stopped += 1;
            let exact = match way.engine {
                Some(Engine::Reach(o)) => o.extrapolation == Extrapolation::None && o.cover != Cover::Alu,
                _ => false,
            };
            let hard = exact || Bounds::new(net, query).diagonal;
            if hard { Ok(Said::Nothing) } else { Ok(Said::TooLarge) }
        }
        Verdict::Unknown(Reason::Unsupported(_)) => {
            count.unsuited += 1;
            Ok(Said::Nothing)
        }
        Verdict::Unknown(Reason::Time) => {
            count.stopped += 1;
            Ok(Said::TooLarge)
        }
        Verdict::Unknown(reason) => Err(format!("no answer: {reason}")),
    }
}

/// What one way says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// There is something to find (or not).
    Verdict(bool),
    /// The model is broken.
    Broken(String),
    /// Nothing, which it may.
    Nothing,
    /// The limit was met.
    TooLarge,
}

fn up_to(way: &Config) -> &'static str {
    if way.symmetry { " up to symmetry" } else { "" }
}

/// Holds all ways against the region graph, and each other.
pub fn check(model: &Model, seed: u64, count: &mut Count) -> Result<(), String> {
    let (net, queries) = model.load()?;
    check_network(&net, &queries, seed, count)
}

/// As [`check`].
pub fn check_network(net: &Network, queries: &[Query], seed: u64, count: &mut Count) -> Result<(), String> {
    check_ways(net, queries, &|i| ways(seed + i as u64), count)
}

/// Holds these ways against the region graph, and each other.
pub fn check_ways(
    net: &Network,
    queries: &[Query],
    ways: &dyn Fn(usize) -> Vec<Config>,
    count: &mut Count,
) -> Result<(), String> {
    let oracle = regions(net, queries);
    if let Some(o) = &oracle {
        count.exhausted += 1;
        count.regions += o.states.len();
        count.faults += usize::from(o.fault.is_some());
        steps::compare(net, o, 300)?;
    } else {
        count.too_large += 1;
    }
    for (i, query) in queries.iter().enumerate() {
        // What is known, and who says so.
        let mut known: Option<(bool, String)> = None;
        let mut faulty = false;
        if let Some(o) = &oracle {
            let truth = o.has_trace(query).ok();
            faulty = o.fault.is_some() || truth.is_none();
            known = truth.map(|t| (t, "the region graph".to_string()));
            count.found += usize::from(truth == Some(true));
            count.nothing += usize::from(truth == Some(false));
        }
        for way in ways(i) {
            let at = |why: String| format!("{} by {:?}{}: {why}", query.text, way.engine, up_to(&way));
            let said =
                catch_unwind(AssertUnwindSafe(|| ask(net, query, &way, Meter::unlimited().states(Some(NODES)), count)));
            let said = match said.map_err(|_| at("panicked".into()))? {
                // A trace may pass by a fault; whoever replays it meets it.
                Err(why) if faulty && why.contains("the model fails") => continue,
                said => said.map_err(at)?,
            };
            let says = match said {
                Said::Nothing => continue,
                Said::TooLarge if oracle.is_none() => continue,
                Said::TooLarge => return Err(at("too many zones".into())),
                Said::Broken(_) if faulty || oracle.is_none() => continue,
                Said::Broken(why) => return Err(at(format!("a fault that is none: {why}"))),
                Said::Verdict(false) if faulty => return Err(at("a proof although there is a fault".into())),
                Said::Verdict(says) => says,
            };
            match &known {
                // Behind a fault the region graph does not look further.
                _ if faulty => {}
                Some((truth, by)) if *truth != says => {
                    return Err(at(format!("{}, but {truth} by {by}", if says { "true" } else { "UNSOUND: false" })));
                }
                Some(_) => {}
                None => known = Some((says, format!("{:?}{}", way.engine, up_to(&way)))),
            }
        }
    }
    Ok(())
}

/// What kind of failure it is: making a model smaller must not turn one into another.
fn kind(why: &str) -> Option<&'static str> {
    const KINDS: [&str; 14] = [
        "limit of a clock",
        "UNSOUND",
        "true, but",
        "certificate rejected",
        "trace rejected",
        "panicked",
        "a fault that is none",
        "a proof although",
        "too many zones",
        "only the interpreter",
        "only `Post`",
        "interpreter:",
        "delay",
        "may_idle",
    ];
    KINDS.into_iter().find(|k| why.contains(k))
}

/// Checks, and if it fails makes the model smaller.
pub fn check_or_shrink(model: &Model, check: &mut dyn FnMut(&Model) -> Result<(), String>) -> Result<(), String> {
    let mut once =
        |m: &Model| catch_unwind(AssertUnwindSafe(|| check(m))).unwrap_or_else(|_| Err("panicked".into())).err();
    let Some(why) = once(model) else { return Ok(()) };
    let (small, now) = model.shrink(why.clone(), &mut |m| once(m).filter(|now| kind(now) == kind(&why)));
    Err(format!("{why}\n--- made smaller: {now}\n{}\n--- from", small.shown()))
}

fn agree(first: u64, models: u64) {
    let mut count = Count::default();
    for_seeds(
        first,
        models,
        |seed| generate(seed, Asked::States).shown(),
        |seed| {
            let model = generate(seed, Asked::States);
            check(&model, seed, &mut count)
                .or_else(|_| check_or_shrink(&model, &mut |m| check(m, seed, &mut Count::default())))
        },
    );
    println!("models from {first}: {count:?}");
}

#[test]
fn engines_agree_with_regions_1() {
    agree(0, 150);
}

#[test]
fn engines_agree_with_regions_2() {
    agree(1_000_000, 150);
}
