//! Lattice variables beside clocks: every update, with and without the convex hull of zones, against regions × elements.
//!
//! The oracle is the region graph, whose states have elements, too, and are compared for equality. Simple update must agree with it on every
//! model; cover and join on those that are proved monotone, by engine and checker. Traces must replay, certificates must prove.

use trellis_check::{certify, replay};
use trellis_engine::monotone::prove;
use trellis_engine::reach::{self, Refine, Update};
use trellis_engine::timed::bounds::Bounds;
use trellis_engine::timed::product::{Options, answer};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::region::{self, Regions};
use trellis_model::network::{Network, Query};

use crate::generator::{Asked, generate, prioritised};
use crate::model::Model;
use crate::random::{Random, for_seeds};

const REGIONS: usize = 3000;
const NODES: u64 = 6000;

/// A lattice variable: declaration, updates, what asks it. The first question can only become true where elements grow.
struct Var {
    declaration: &'static str,
    updates: &'static [&'static str],
    upward: &'static [&'static str],
    other: &'static [&'static str],
}

const VARS: [Var; 5] = [
    Var {
        declaration: "extern UnionBitVector; UnionBitVector v[3];",
        updates: &["v[0] = 1", "v[1] = 1", "v[n] = 1"],
        upward: &["v[0] == 1", "v[1] == 1", "v[n] == 1"],
        other: &["v[0] == 0", "v[1] == 0"],
    },
    Var {
        declaration: "extern IntersectionBitVector; IntersectionBitVector v[3];",
        updates: &["v[0] = 0", "v[1] = 0", "v[n] = 0", "v[1] = 1"],
        upward: &["v[0] == 0", "v[1] == 0"],
        other: &["v[0] == 1", "v[n] == 1"],
    },
    Var {
        declaration: "extern M = Max(0, 2); M v;",
        updates: &["v.set(1)", "v.set(n)", "v.set(2)"],
        upward: &["v.atLeast(1)", "v.value() > 1", "v.value() > n"],
        other: &["v.atMost(1)", "v.value() == 1"],
    },
    Var {
        declaration: "extern Parity; Parity v;",
        updates: &["v.set(1)", "v.set(n)", "v.set(0)"],
        upward: &["v.mayBeEven()", "v.mayBeOdd()"],
        other: &["!v.mayBeOdd()"],
    },
    Var {
        declaration: "extern Powerset; Powerset v[3];",
        updates: &["v.add(0)", "v.add(n)", "v.add(2)"],
        upward: &["v.contains(0)", "v.contains(n)"],
        other: &["!v.contains(2)"],
    },
];

/// A random timed network with a lattice variable that most edges change or ask.
fn with_lattice(seed: u64) -> Option<Model> {
    let mut r = Random::new(seed ^ 0x1A77);
    let mut m = if r.percent(15) { prioritised(seed, Asked::States)? } else { generate(seed, Asked::States) };
    if m.tchecker {
        return None;
    }
    let var = r.one(&VARS);
    m.declarations.push(var.declaration.into());
    // Most ask what only grows, so that many models are monotone.
    let plain = r.percent(70);
    let (asks, changes) = (r.range(15, 50) as usize, r.range(40, 80) as usize);
    let question = |r: &mut Random| {
        let from = if plain || r.percent(60) { var.upward } else { var.other };
        r.pick(from).to_string()
    };
    for p in &mut m.processes {
        for e in &mut p.edges {
            if r.percent(changes) {
                let at = r.below(e.update.len() + 1);
                e.update.insert(at, r.pick(var.updates).to_string());
            }
            let hears = e.sync.iter().any(|s| s.ends_with('?'));
            if r.percent(if hears && plain { 3 } else { asks }) {
                e.guard.push(question(&mut r));
            }
        }
        for l in p.locations.iter_mut().skip(1) {
            if r.percent(6) {
                l.invariant.push(question(&mut r));
            }
        }
    }
    for q in &mut m.queries {
        if let Some(rest) = q.strip_prefix("E<> ")
            && r.percent(60)
        {
            *q = format!("E<> {} && {rest}", question(&mut r));
        } else if let Some(rest) = q.strip_prefix("A[] not (")
            && r.percent(60)
        {
            *q = format!("A[] not ({} && {rest}", question(&mut r));
        }
    }
    Some(m)
}

#[derive(Debug, Default)]
struct Count {
    networks: usize,
    with_oracle: usize,
    monotone: usize,
    found: usize,
    nothing: usize,
    certificates: usize,
    traces: usize,
    joins: u64,
    inconclusive: usize,
    stopped: usize,
}

fn ways(monotone: bool) -> Vec<Options> {
    let with = |update, refine, hull| Options { reach: reach::Options { update, order: Order::Bfs, refine }, hull };
    let mut all = vec![with(Update::Simple, Refine::Never, false)];
    if monotone {
        all.push(with(Update::Cover, Refine::Never, false));
        for hull in [false, true] {
            all.push(with(Update::Join, Refine::Split, hull));
            all.push(with(Update::Join, Refine::Never, hull));
        }
    }
    all
}

fn ask(net: &Network, query: &Query, way: Options, count: &mut Count) -> Result<Option<Result<bool, String>>, String> {
    let mut budget = Meter::unlimited().states(Some(NODES));
    let answer = match answer(net, query, way, None, None, &mut budget) {
        Ok(answer) => answer,
        Err(broken) => return Ok(Some(Err(broken.error.to_string()))),
    };
    count.joins += answer.stats.joins;
    match answer.verdict {
        Verdict::Safe(cert) => {
            count.certificates += 1;
            certify(net, query, &cert).map_err(|r| format!("certificate rejected: {r}"))?;
            Ok(Some(Ok(false)))
        }
        Verdict::Unsafe(trace) => {
            count.traces += 1;
            replay(net, query, &trace).map_err(|r| format!("trace rejected: {r}"))?;
            Ok(Some(Ok(true)))
        }
        Verdict::Unknown(Reason::InconclusiveJoin) if way.reach.refine == Refine::Never => {
            count.inconclusive += 1;
            Ok(None)
        }
        // What is refined begins again and again.
        Verdict::Unknown(Reason::Iterations) if way.reach.refine == Refine::Split => {
            count.stopped += 1;
            Ok(None)
        }
        // Where nothing can be forgotten of zones, they may be infinitely many.
        Verdict::Unknown(Reason::Iterations) if Bounds::new(net, query).diagonal => Ok(None),
        Verdict::Unknown(why) => Err(format!("no answer: {why}")),
    }
}

fn check(model: &Model, count: &mut Count) -> Result<(), String> {
    let (net, queries) = model.load()?;
    count.networks += 1;
    let mut all = queries[0].clone();
    all.atoms = queries.iter().flat_map(|q| q.atoms.clone()).collect();
    let Some(oracle) =
        Regions::explore(&net, Some(&all), region::Options { limit: REGIONS, ..region::Options::default() })
    else {
        return Ok(());
    };
    count.with_oracle += 1;
    for query in &queries {
        let truth = oracle.has_trace(query).ok();
        let faulty = oracle.fault.is_some() || truth.is_none();
        let proof = prove(&net, query);
        let monotone = proof.obstacles.is_empty()
            && proof.rests_on.is_empty()
            && trellis_check::monotone(&net, query).is_ok_and(|marks| marks.is_empty());
        count.monotone += usize::from(monotone);
        for way in ways(monotone) {
            let at = |why: String| format!("{} by {way:?}: {why}", query.text);
            match ask(&net, query, way, count) {
                // A trace may pass by a fault; whoever replays it meets it.
                Err(why) if faulty && why.contains("the model fails") => {}
                Err(why) => return Err(at(why)),
                Ok(None) => {}
                Ok(Some(Err(_))) if faulty => {}
                Ok(Some(Err(why))) => return Err(at(format!("a fault that is none: {why}"))),
                Ok(Some(Ok(false))) if faulty => return Err(at("a proof although there is a fault".into())),
                Ok(Some(Ok(says))) if !faulty && Some(says) != truth => {
                    return Err(at(format!("{says}, but {truth:?} by the region graph")));
                }
                Ok(Some(Ok(true))) => count.found += 1,
                Ok(Some(Ok(false))) => count.nothing += 1,
            }
        }
    }
    Ok(())
}

fn agree(first: u64, networks: usize) {
    let mut count = Count::default();
    let shown = |seed| with_lattice(seed).map_or_else(String::new, |m| m.shown());
    // Some seeds have no network (those in TChecker's language, which has no lattices), and some networks too many regions.
    for_seeds(first, 4 * networks as u64, shown, |seed| match with_lattice(seed) {
        Some(model) if count.with_oracle < networks => check(&model, &mut count).map_err(|why| {
            let mut fails = |m: &Model| check(m, &mut Count::default()).err();
            let (small, now) = model.shrink(why.clone(), &mut fails);
            format!("{why}\n--- made smaller: {now}\n{}\n--- from", small.shown())
        }),
        _ => Ok(()),
    });
    println!("lattices beside clocks, from {first}: {count:?}");
    let alone = std::env::var("TRELLIS_SEED").is_ok() || std::env::var("TRELLIS_RUNS").is_ok();
    assert!(alone || count.with_oracle == networks, "{count:?}");
    assert!(
        alone || count.monotone > networks / 4 && count.joins > 0 && count.found > 0 && count.nothing > 0,
        "{count:?}"
    );
}

#[test]
fn labels_agree_with_regions_and_elements_1() {
    agree(7_000_000, 500);
}

#[test]
fn labels_agree_with_regions_and_elements_2() {
    agree(7_100_000, 500);
}

#[test]
fn labels_agree_with_regions_and_elements_3() {
    agree(7_200_000, 500);
}

#[test]
fn labels_agree_with_regions_and_elements_4() {
    agree(7_300_000, 500);
}
