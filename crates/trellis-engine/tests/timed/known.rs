//! Certificates that know part of the data: proofs are accepted, and what is no proof is not.

use trellis_check::certify;
use trellis_engine::timed::answer::{Clocks, Config, Data, Engine, answer};
use trellis_engine::timed::lazy;
use trellis_engine::timed::lazy::block::Direction::{Backward, Forward, Sequence};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::{Certificate, Network, Query};

use crate::load::load;

/// Two processes; `seen` is written and never asked about, `turn` decides, `n` may leave its range if `turn` were 2.
const MODEL: &str = "
int[0, 2] turn = 1; int[0, 5] n; int[0, 7] seen;
process P() { clock x; state a { x <= 3 }, b; init a;
  trans a -> b { guard x >= 1 && turn == 1; assign seen = (seen + 1) % 8, x = 0; },
        b -> a { guard x >= 2; assign turn = 1 - turn, x = 0; },
        a -> a { guard x >= 2 && turn == 0; assign turn = 1, x = 0; }; }
process Q() { clock y; state c, d; init c;
  trans c -> d { guard turn == 2; assign n = n + 6; },
        c -> c { guard y >= 4; assign seen = 0, y = 0; }; }
system P, Q;
";

fn prove(net: &Network, query: &Query, clocks: Clocks, data: Data) -> Certificate {
    let engine = Some(Engine::Lazy { clocks, data, options: lazy::Options::default() });
    let config = Config { engine, order: None, certificate: true, non_zeno: false, symmetry: false };
    match answer(net, query, &config, &mut Meter::unlimited()).ok().expect("no fault").verdict {
        Verdict::Safe(cert) => cert,
        _ => panic!("nothing is to be found"),
    }
}

#[test]
fn only_proofs_are_accepted() {
    let (net, queries) = load(MODEL, "A[] turn <= 1 && not Q.d").expect("a model");
    for clocks in [Clocks::Interpolation(Forward), Clocks::Interpolation(Backward), Clocks::Bounds] {
        for data in [Data::Interpolation(Forward), Data::Interpolation(Backward)] {
            let cert = prove(&net, &queries[0], clocks, data);
            certify(&net, &queries[0], &cert).expect("a proof");
            let turn = |k: &Vec<bool>| k[0];
            assert!(cert.entries.iter().all(|e| turn(&e.known)), "the question asks about `turn`");
            assert!(cert.entries.iter().any(|e| !e.known[1]), "`n` does not matter everywhere");
            // All locations are reachable, with both values of `turn` somewhere.
            for e in &cert.entries {
                let mut less = cert.clone();
                less.entries.retain(|o| o.state.locations != e.state.locations);
                assert!(certify(&net, &queries[0], &less).is_err(), "without {:?}", e.state.locations);
                let mut less = cert.clone();
                less.entries.retain(|o| o.state.data[0] != e.state.data[0]);
                assert!(certify(&net, &queries[0], &less).is_err(), "without `turn = {}`", e.state.data[0]);
            }
            // So is what the entries know of `turn`.
            for i in 0..cert.entries.len() {
                let mut less = cert.clone();
                less.entries[i].known[0] = false;
                assert!(certify(&net, &queries[0], &less).is_err(), "entry {i} without `turn`");
            }
            let mut other = cert.clone();
            other.entries[0].known.pop();
            assert!(certify(&net, &queries[0], &other).is_err(), "a cell too few");
        }
    }
}

#[test]
fn only_proofs_by_predicates_are_accepted() {
    // `n` counts up to 4, and what matters is whether it is below 6.
    let model = "
        int[0, 20] n; int[0, 7] seen;
        process P() { clock x; state a { x <= 3 }, b; init a;
          trans a -> a { guard x >= 1 && n < 4; assign n = n + 1, x = 0, seen = (seen + n) % 8; },
                a -> b { guard n > 5; }; }
        system P;";
    let (net, queries) = load(model, "A[] not P.b && n <= 10").expect("a model");
    let rejects = |cert: &Certificate| certify(&net, &queries[0], cert).is_err();
    for clocks in [Clocks::Interpolation(Forward), Clocks::Interpolation(Backward), Clocks::Bounds] {
        for direction in [Forward, Backward, Sequence] {
            let cert = prove(&net, &queries[0], clocks, Data::Predicates(direction));
            certify(&net, &queries[0], &cert).unwrap_or_else(|r| panic!("{clocks:?} {direction:?}: {r}"));
            assert!(rejects(&Certificate { entries: Vec::new().into(), ..cert.clone() }));
            let with = |i: usize, says: Option<&str>| {
                let mut other = cert.clone();
                other.entries[i].says = says.map(str::to_string);
                other
            };
            let all = 0..cert.entries.len();
            let says: Vec<usize> = all.clone().filter(|&i| cert.entries[i].says.is_some()).collect();
            assert!(direction == Backward || !says.is_empty(), "nothing is said but values");
            assert!(says.is_empty() || says.iter().any(|&i| rejects(&with(i, None))), "what is said does not matter");
            for i in all {
                assert!(rejects(&with(i, Some("(assert"))), "no script");
                assert!(rejects(&with(i, Some("(declare-const other Int) (assert (< other 3))"))), "no variable");
                assert!(rejects(&with(i, Some("(declare-const n Bool) (assert n)"))), "another type");
                assert!(rejects(&with(i, Some("(push 1) (assert true)"))), "more than assertions");
                assert!(rejects(&with(i, Some("(assert false)"))), "entry {i} is needed");
            }
        }
    }
}

#[test]
fn faults_are_not_missed() {
    // Nothing asks about `n`, but in the end it leaves its range.
    let model = "int[0, 5] n; process P() { clock x; state a; init a; trans a -> a { guard x >= 1; assign n = n + 1, x = 0; }; } system P;";
    let (net, queries) = load(model, "A[] true").expect("a model");
    for clocks in [Clocks::Interpolation(Forward), Clocks::Interpolation(Backward), Clocks::Bounds] {
        let predicates = [Forward, Backward, Sequence].map(Data::Predicates);
        for data in [Data::Interpolation(Forward), Data::Interpolation(Backward)].into_iter().chain(predicates) {
            let engine = Some(Engine::Lazy { clocks, data, options: lazy::Options::default() });
            let config = Config { engine, order: None, certificate: true, non_zeno: false, symmetry: false };
            assert!(answer(&net, &queries[0], &config, &mut Meter::unlimited()).is_err());
        }
    }
}
