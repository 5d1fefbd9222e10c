//! Proofs about models with clocks: sets of zones, with and without bounds.

use trellis_check::{Cause, Rejection, certify};
use trellis_domain::zone::{Bound, Constraint, Rational, Zone, ZoneDomain};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::region::{Options, Regions};
use trellis_model::network::{
    CertEntry, Certificate, LuBounds, Network, Post, Query, QueryKind, SetClock, Snapshot, Transitions,
};
use trellis_order::Domain;

use crate::build::{E, Net};
use crate::random::{Flavour, MOST, Random, network};

fn why(r: Result<impl std::fmt::Debug, Rejection>) -> Cause {
    r.unwrap_err().why
}

/// How zones are kept few.
#[derive(Clone, Copy)]
enum Coarse {
    Exact,
    Extrapolated,
    /// By bounds that suffice for all models here.
    Bounded,
    /// By these bounds of `x` and `y`, lower and upper.
    By([i32; 2], [i32; 2]),
}

/// All zones, as a certificate. Nothing if there are too many.
fn zones(net: &Network, coarse: Coarse) -> Option<Certificate> {
    let clocks = net.clocks.len();
    let d = ZoneDomain::new(clocks);
    let most = vec![MOST; clocks + 1];
    let bounds = match coarse {
        Coarse::Exact | Coarse::Extrapolated => None,
        Coarse::Bounded => Some(LuBounds { lower: most.clone(), upper: most.clone() }),
        Coarse::By(l, u) => Some(LuBounds { lower: vec![0, l[0], l[1]], upper: vec![0, u[0], u[1]] }),
    };
    let mut post = Post::new(net);
    let mut found: Vec<(Vec<u64>, Zone)> = Vec::new();
    let add = |found: &mut Vec<(Vec<u64>, Zone)>, key: &[u64], mut z: Zone, inv: &[Constraint], delay| {
        d.constrain_all(&mut z, inv).unwrap();
        if delay {
            d.up(&mut z);
            d.constrain_all(&mut z, inv).unwrap();
        }
        if let Coarse::Extrapolated = coarse {
            d.extra_m(&mut z, &most).unwrap();
        }
        let covers = |(k, old): &(Vec<u64>, Zone)| {
            let within = match &bounds {
                Some(b) => d.leq_alu(&z, old, &b.lower, &b.upper),
                None => d.leq(&z, old),
            };
            k == key && within
        };
        if !d.is_empty(&z) && !found.iter().any(covers) {
            found.push((key.to_vec(), z));
        }
    };
    let initial = Interpreter::new(net).initial().ok()?;
    let key = post.layout.key_of(&initial);
    let mut invariant = Vec::new();
    let delay = post.timing(&key, &mut invariant).unwrap();
    add(&mut found, &key, Zone::zero(clocks), &invariant, delay);
    let mut moves = Transitions::default();
    let mut i = 0;
    while i < found.len() {
        if found.len() > 300 {
            return None;
        }
        let (key, zone) = found[i].clone();
        post.moves(&key, &mut moves).ok()?;
        for m in moves.iter() {
            let mut z = zone.clone();
            d.constrain_all(&mut z, m.guard).unwrap();
            for s in m.resets {
                match *s {
                    SetClock::Value { clock, value } => d.reset(&mut z, clock as usize, value).unwrap(),
                    SetClock::Copy { clock, from } => d.assign(&mut z, clock as usize, from as usize),
                }
            }
            add(&mut found, m.key, z, m.invariant, m.delay);
        }
        i += 1;
    }
    let entry = |(key, zone): &(Vec<u64>, Zone)| CertEntry {
        zone: d.minimal(zone),
        bounds: bounds.clone(),
        ..CertEntry::of(post.layout.snapshot(net, key, &[]))
    };
    Some(Certificate { entries: found.iter().map(entry).collect(), up_to_order: false, up_to_symmetry: false })
}

/// Work, with a proof that it is never late. Constants are at most 3.
fn proved() -> (Net, Query) {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["idle", "work: x <= 2", "rest", "late"]);
    b.edge(p, "idle", "work", E { guard: "x > 0", set: "x = 0, y = 0", ..E::default() });
    b.edge(p, "work", "rest", E { guard: "x >= 1", ..E::default() });
    b.edge(p, "rest", "idle", E { guard: "x < 3", set: "x = 0", ..E::default() });
    b.edge(p, "work", "late", E { guard: "y > 2", ..E::default() });
    let late = b.at(p, "late");
    let mut query = b.possibly(late);
    query.deadlock = false;
    (b, query)
}

#[test]
fn proofs_are_accepted_and_no_part_is_superfluous() {
    let (b, query) = proved();
    for coarse in [Coarse::Extrapolated, Coarse::Bounded] {
        let whole = zones(&b.net, coarse).unwrap();
        let certified = certify(&b.net, &query, &whole).unwrap();
        assert!(certified.entries == whole.entries.len() && certified.entries >= 3 && certified.steps >= 3);
        for i in 0..whole.entries.len() {
            let mut cert = whole.clone();
            cert.entries.remove(i);
            assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LeadsOutside | Cause::InitialMissing), "{i}");
            // Smaller.
            let mut cert = whole.clone();
            cert.entries[i].zone.push(Constraint::new(1, 0, Bound::lt(1)));
            let wrong = why(certify(&b.net, &query, &cert));
            assert!(matches!(wrong, Cause::LeadsOutside | Cause::InitialMissing), "{i}");
            // As large as can be: that is a proof still only where all clocks are reset next.
            let mut cert = whole.clone();
            cert.entries[i].zone.clear();
            let larger = certify(&b.net, &query, &cert);
            match cert.entries[i].state.locations[0] {
                0 => assert!(larger.is_ok(), "{i}: {larger:?}"),
                1 => assert!(matches!(why(larger), Cause::LeadsOutside)),
                _ => {}
            }
            let mut cert = whole.clone();
            cert.entries[i].zone.push(Constraint::new(3, 0, Bound::lt(1)));
            assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::Malformed(_)));
            let mut cert = whole.clone();
            cert.entries[i].state.clocks = vec![Rational::ZERO; 2];
            assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::Malformed(_)));
            let mut cert = whole.clone();
            cert.entries[i].known = vec![];
            cert.entries[i].state.locations = vec![3];
            assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::Condition(_)));
            // Nor with a part of the data.
            cert.entries[i].known = vec![true];
            assert!(certify(&b.net, &query, &cert).is_err());
        }
    }
}

#[test]
fn low_bounds_are_noticed() {
    let (b, query) = proved();
    let whole = zones(&b.net, Coarse::Bounded).unwrap();
    let in_work = whole.entries.iter().position(|e| e.state.locations == [1]).unwrap();
    let none = i32::MIN;
    let lowered = |lower: [i32; 2], upper: [i32; 2]| {
        let mut cert = whole.clone();
        for e in &mut cert.entries {
            e.bounds = Some(LuBounds { lower: vec![0, 1, none], upper: vec![0, 3, none] });
        }
        let (lower, upper) = (vec![0, lower[0], lower[1]], vec![0, upper[0], upper[1]]);
        cert.entries[in_work].bounds = Some(LuBounds { lower, upper });
        certify(&b.net, &query, &cert)
    };
    // In `work`, that y > 2 is not possible must be seen; that x < 3 matters, later; that x ≤ 2 was asked on the way in.
    assert!(lowered([3, 3], [3, 3]).is_ok());
    assert!(lowered([1, 2], [3, none]).is_ok());
    assert!(matches!(why(lowered([1, 1], [3, 3])), Cause::LowBounds(_)));
    assert!(matches!(why(lowered([1, none], [3, none])), Cause::LowBounds(_)));
    assert!(matches!(why(lowered([0, 2], [3, none])), Cause::LowBounds(_)));
    assert!(matches!(why(lowered([1, 2], [2, 9])), Cause::LeadsOutside));
    // Where nothing is told apart, anything can happen: here, being late.
    let mut cert = whole.clone();
    for e in &mut cert.entries {
        e.bounds = Some(LuBounds { lower: vec![none; 3], upper: vec![none; 3] });
    }
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LowBounds(_)));
    // Where a step leads must not know more than where it comes from.
    let mut cert = whole.clone();
    for e in &mut cert.entries {
        e.bounds = Some(LuBounds { lower: vec![2; 3], upper: vec![3; 3] });
    }
    certify(&b.net, &query, &cert).unwrap();
    let in_rest = cert.entries.iter().position(|e| e.state.locations == [2]).unwrap();
    cert.entries[in_rest].bounds = Some(LuBounds { lower: vec![2; 3], upper: vec![4; 3] });
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LeadsOutside));
    cert.entries[in_rest].bounds = None;
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LeadsOutside));
    cert.entries[in_rest].bounds = Some(LuBounds { lower: vec![2; 2], upper: vec![4; 3] });
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::Malformed(_)));
}

#[test]
fn several_zones_may_cover_one() {
    let (b, query) = proved();
    let mut cert = zones(&b.net, Coarse::Extrapolated).unwrap();
    let idle = cert.entries.iter().position(|e| e.state.locations == [0]).unwrap();
    let mut late = cert.entries[idle].clone();
    cert.entries[idle].zone.push(Constraint::new(1, 0, Bound::le(2)));
    late.zone.push(Constraint::new(0, 1, Bound::lt(-2)));
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LeadsOutside | Cause::InitialMissing));
    cert.entries.push(late);
    certify(&b.net, &query, &cert).unwrap();
    let last = cert.entries.len() - 1;
    cert.entries[last].zone.push(Constraint::new(0, 1, Bound::lt(-3)));
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LeadsOutside | Cause::InitialMissing));
}

#[test]
fn conditions_on_clocks_are_judged_in_every_part_of_a_zone() {
    let (mut b, _) = proved();
    let ask = |b: &mut Net, location: &str, clocks: &str| {
        let (here, clock) = (b.at(0, location), b.clock(clocks));
        let both = b.net.terms.and([here, clock]);
        let mut query = b.possibly(both);
        query.deadlock = false;
        query
    };
    for (location, clocks, possible) in [
        ("work", "x > 2", false),
        ("work", "x >= 2", true),
        ("work", "x > 1 && y <= 1", false),
        ("work", "x > 1 && x < 2", true),
        ("rest", "x < 1", false),
        ("rest", "x - y > 0", false),
        ("rest", "x - y >= 0", true),
    ] {
        let query = ask(&mut b, location, clocks);
        for coarse in [Coarse::Extrapolated, Coarse::Bounded] {
            let cert = zones(&b.net, coarse).unwrap();
            let found = certify(&b.net, &query, &cert);
            match (coarse, possible) {
                (Coarse::Bounded, _) if clocks.contains('-') => assert!(matches!(why(found), Cause::LowBounds(_))),
                (_, true) => assert!(matches!(why(found), Cause::Condition(_)), "{location} {clocks}"),
                (_, false) => assert!(found.is_ok(), "{location} {clocks}: {found:?}"),
            }
        }
    }
    // Bounds that suffice for the model need not suffice for the question: y is never 3 or more in `work`.
    let query = ask(&mut b, "work", "y >= 3");
    certify(&b.net, &query, &zones(&b.net, Coarse::By([3, 3], [3, 3])).unwrap()).unwrap();
    let cert = zones(&b.net, Coarse::By([3, 2], [3, 3])).unwrap();
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LowBounds(_)));
}

#[test]
fn deadlocks_are_looked_for_in_every_part_of_a_zone() {
    for (guard, dies) in [("x > 1", false), ("x >= 2", false), ("x < 2", true), ("x == 0", true)] {
        let mut b = Net::new(&["x", "y"]);
        let p = b.process("P", &["a: x <= 2", "b: x <= 3"]);
        b.edge(p, "a", "b", E { guard, set: "y = x", ..E::default() });
        b.edge(p, "b", "a", E { guard: "x >= 1", set: "x = 0", ..E::default() });
        let dead = b.deadlock();
        let no = b.net.terms.not(dead);
        let query = b.always(no);
        let cert = zones(&b.net, Coarse::Extrapolated).unwrap();
        let found = certify(&b.net, &query, &cert);
        assert_eq!(found.is_err(), dies, "{guard}: {found:?}");
        if dies {
            assert!(matches!(why(found), Cause::Condition(_)));
        }
        // Bounds that are the same from both sides tell deadlocks from what is none; others need not.
        let cert = zones(&b.net, Coarse::Bounded).unwrap();
        assert_eq!(certify(&b.net, &query, &cert).is_err(), dies, "{guard}, up to bounds");
        let cert = zones(&b.net, Coarse::By([4, 4], [3, 3])).unwrap();
        assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::BesideThePoint(_)));
    }
}

#[test]
fn resets_happen_in_order() {
    for (set, dies) in [("x = 2, y = x", true), ("y = x, x = 2", false)] {
        let mut b = Net::new(&["x", "y"]);
        let p = b.process("P", &["a: x <= 1", "b: y <= 1"]);
        b.edge(p, "a", "b", E { set, ..E::default() });
        b.edge(p, "b", "a", E { set: "x = 0", ..E::default() });
        let dead = b.deadlock();
        let no = b.net.terms.not(dead);
        let query = b.always(no);
        let found = certify(&b.net, &query, &zones(&b.net, Coarse::Extrapolated).unwrap());
        assert_eq!(found.is_err(), dies, "{set}: {found:?}");
    }
}

/// A valuation that satisfies the invariant may be simulated by one that does not, if the bounds do not see to it.
#[test]
fn what_violates_the_invariant_counts_if_the_bounds_cannot_tell() {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["idle", "work: x <= 2", "late"]);
    b.edge(p, "idle", "work", E::default());
    b.edge(p, "work", "late", E { guard: "y >= 1", ..E::default() });
    let late = b.at(p, "late");
    let mut query = b.possibly(late);
    query.deadlock = false;
    let state = |l| Snapshot { locations: vec![l], ..Snapshot::default() };
    let mut work = CertEntry::of(state(1));
    work.zone = vec![Constraint::new(0, 1, Bound::le(-3))];
    work.bounds = Some(LuBounds { lower: vec![0, i32::MIN, 1], upper: vec![0, i32::MIN, i32::MIN] });
    let cert =
        Certificate { entries: vec![CertEntry::of(state(0)), work].into(), up_to_order: false, up_to_symmetry: false };
    assert!(matches!(why(certify(&b.net, &query, &cert)), Cause::LeadsOutside));
}

#[test]
fn a_proof_of_safety_is_none_of_liveness() {
    let (b, mut query) = proved();
    let cert = zones(&b.net, Coarse::Extrapolated).unwrap();
    let QueryKind::Possibly(c) = query.kind else { unreachable!() };
    query.kind = QueryKind::Eventually(c);
    // There are no ranks.
    assert!(certify(&b.net, &query, &cert).is_err());
}

// At random, against the region graph.

fn regions<'n>(net: &'n Network, query: &Query) -> Option<Regions<'n>> {
    let r = Regions::explore(net, Some(query), Options { limit: 3000, ..Options::default() })?;
    r.fault.is_none().then_some(r)
}

/// What all zones prove is true, and all that is true is proved; without differences of clocks also in few zones.
#[test]
fn random_proofs() {
    let mut count = [0; 2];
    for seed in 0..1200 {
        let flavour = Flavour { differences: seed % 3 == 0, copies: seed % 2 == 0, deadlock: seed % 4 == 1 };
        let (b, query) = network(seed, flavour);
        let Some(regions) = regions(&b.net, &query) else { continue };
        let possible = regions.has_trace(&query).unwrap();
        let ways: &[Coarse] = match flavour {
            Flavour { differences: true, .. } => &[Coarse::Exact],
            Flavour { deadlock: true, .. } => &[Coarse::Extrapolated],
            _ => &[Coarse::Exact, Coarse::Extrapolated, Coarse::Bounded],
        };
        for &coarse in ways {
            let Some(cert) = zones(&b.net, coarse) else { continue };
            let accepted = certify(&b.net, &query, &cert);
            assert_eq!(accepted.is_ok(), !possible, "seed {seed}: {accepted:?}");
            count[usize::from(possible)] += 1;
        }
    }
    assert!(count.iter().all(|&n| n > 100), "{count:?}");
}

/// Bounds that are too low prove nothing that is not so; and if they prove it, they were not too low.
#[test]
fn random_bounds() {
    let mut accepted = 0;
    let mut low = 0;
    for seed in 0..1200 {
        let flavour = Flavour { copies: seed % 2 == 0, ..Flavour::default() };
        let (b, query) = network(seed, flavour);
        let Some(regions) = regions(&b.net, &query) else { continue };
        let possible = regions.has_trace(&query).unwrap();
        let mut random = Random::new(seed + 99);
        for _ in 0..20 {
            let mut draw = || [(); 2].map(|()| [i32::MIN, 0, 1, 2, MOST][random.below(5)]);
            let Some(cert) = zones(&b.net, Coarse::By(draw(), draw())) else { continue };
            match certify(&b.net, &query, &cert) {
                Ok(_) => {
                    assert!(!possible, "seed {seed}: {cert:?}");
                    accepted += 1;
                }
                Err(Rejection { why: Cause::LowBounds(_), .. }) => low += 1,
                Err(_) => {}
            }
        }
    }
    assert!(accepted > 100 && low > 1000, "{accepted} {low}");
}

/// Whatever is done to a certificate, it does not prove what is not so.
#[test]
fn random_damage() {
    let mut tried = 0;
    for seed in 0..1200 {
        let flavour = Flavour { differences: false, copies: seed % 2 == 0, deadlock: seed % 4 == 1 };
        let (b, query) = network(seed, flavour);
        let Some(regions) = regions(&b.net, &query) else { continue };
        if !regions.has_trace(&query).unwrap() {
            continue;
        }
        let coarse = if flavour.deadlock { Coarse::Extrapolated } else { Coarse::Bounded };
        let Some(whole) = zones(&b.net, coarse) else { continue };
        let mut random = Random::new(seed + 77);
        for _ in 0..20 {
            let mut cert = whole.clone();
            for _ in 0..1 + random.below(6) {
                damage(&mut cert, &mut random);
            }
            assert!(certify(&b.net, &query, &cert).is_err(), "seed {seed}: {cert:?}");
            tried += 1;
        }
    }
    assert!(tried > 1000, "{tried}");
}

fn damage(cert: &mut Certificate, random: &mut Random) {
    if cert.entries.is_empty() {
        return;
    }
    let i = random.below(cert.entries.len());
    let e = &mut cert.entries[i];
    match random.below(6) {
        0 => _ = cert.entries.remove(i),
        1 => e.zone.clear(),
        2 => _ = e.zone.pop(),
        3 => {
            let (left, right) = (random.below(3), random.below(3));
            let n = random.below(6) as i32 - 3;
            e.zone.push(Constraint::new(left, right, if random.percent(50) { Bound::le(n) } else { Bound::lt(n) }));
        }
        _ => {
            if let Some(b) = &mut e.bounds {
                let side = if random.percent(50) { &mut b.lower } else { &mut b.upper };
                side[1 + random.below(2)] = [i32::MIN, 0, 1, 2][random.below(4)];
            }
        }
    }
}
