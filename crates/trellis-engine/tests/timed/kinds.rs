//! Runs of a kind: no run that any search finds has fewer steps than the shortest, or takes less time than the fastest.

use trellis_check::replay;
use trellis_domain::zone::Rational;
use trellis_engine::timed::answer::{Config, Engine, answer};
use trellis_engine::timed::{Fastest, fastest, reach};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::interpret::timed::sum;
use trellis_model::network::{Network, Query, Trace};

use crate::configurations::ways;
use crate::generator::{Asked, generate};
use crate::load::load;
use crate::random::for_seeds;

const NODES: u64 = 2000;

fn found(net: &Network, query: &Query, way: &Config) -> Option<Trace> {
    let found = answer(net, query, way, &mut Meter::unlimited().states(Some(NODES))).ok()?;
    if let Verdict::Unsafe(trace) = found.verdict { Some(trace) } else { None }
}

fn time(trace: &Trace) -> Rational {
    trace.steps.iter().try_fold(trace.rest, |t, s| sum(t, s.delay)).expect("small numbers")
}

fn shortest(symmetry: bool) -> Config {
    let options = reach::Options { order: Order::Shortest, ..reach::Options::default() };
    Config { engine: Some(Engine::Reach(options)), symmetry, ..ways(0)[0] }
}

#[test]
fn nothing_is_shorter_or_faster() {
    let (mut compared, mut fast) = (0, 0);
    let check = |seed: u64| {
        let (net, queries) = generate(seed, Asked::States).load()?;
        for (i, query) in queries.iter().enumerate() {
            let others: Vec<Trace> = ways(seed + i as u64).iter().filter_map(|w| found(&net, query, w)).collect();
            let Some(first) = others.first() else { continue };
            if replay(&net, query, first).is_err() {
                // It passes by a fault of the model.
                continue;
            }
            for symmetry in [false, true] {
                let Some(short) = found(&net, query, &shortest(symmetry)) else { continue };
                compared += 1;
                if let Some(t) = others.iter().find(|t| t.steps.len() < short.steps.len()) {
                    return Err(format!("{}: {} steps, not {}", query.text, t.steps.len(), short.steps.len()));
                }
            }
            match fastest(&net, query, first, &mut Meter::unlimited().states(Some(NODES))) {
                Ok(Fastest::Run(run)) => {
                    replay(&net, query, &run).map_err(|r| format!("{}: rejected: {r}", query.text))?;
                    fast += 1;
                    if let Some(t) = others.iter().find(|t| time(t) < time(&run)) {
                        return Err(format!("{}: takes {}, not {}", query.text, time(t), time(&run)));
                    }
                }
                Ok(Fastest::Open(least)) => {
                    fast += 1;
                    if others.iter().any(|t| time(t) <= Rational::new(least, 1)) {
                        return Err(format!("{}: a run within {least}", query.text));
                    }
                }
                Ok(Fastest::Unknown(_)) | Err(_) => {}
            }
        }
        Ok(())
    };
    for_seeds(7_000_000, 60, |seed| generate(seed, Asked::States).shown(), check);
    assert!(std::env::var_os("TRELLIS_SEED").is_some() || compared > 20 && fast > 20, "{compared} {fast}");
}

#[test]
fn short_is_not_fast() {
    let text = "clock x; process P() { state A, B, C, D; init A; trans
        A -> D { guard x >= 10; }, A -> B { }, B -> C { guard x >= 2; }, C -> D { guard x > 3; }; } system P;";
    for (strict, least) in [(false, Rational::new(3, 1)), (true, Rational::new(3, 1))] {
        let text = if strict { text.to_string() } else { text.replace("x > 3", "x >= 3") };
        let (net, queries) = load(&text, "E<> P.D").expect("a model");
        let short = found(&net, &queries[0], &shortest(false)).expect("a run");
        assert_eq!((short.steps.len(), time(&short)), (1, Rational::new(10, 1)));
        match fastest(&net, &queries[0], &short, &mut Meter::default()) {
            Ok(Fastest::Run(run)) if !strict => assert_eq!((time(&run), run.steps.len()), (least, 3)),
            Ok(Fastest::Open(n)) if strict => assert_eq!(Rational::new(n, 1), least),
            Ok(other) => panic!("{other:?}"),
            Err(_) => panic!("a fault"),
        }
    }
}
