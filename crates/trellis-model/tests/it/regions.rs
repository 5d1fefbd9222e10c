//! The region graph: small networks whose answers one can think out.

use trellis_expr::TermId;
use trellis_model::network::region::{Extreme, Options, Regions};
use trellis_model::network::{Network, Query, QueryKind};

use crate::build::{E, Net};

fn explore<'n>(net: &'n Network, query: &Query, diverging: bool) -> Regions<'n> {
    let options = Options { diverging, ..Options::default() };
    let regions = Regions::explore(net, Some(query), options).expect("a small network");
    assert_eq!(regions.fault, None);
    regions
}

fn possible(b: &mut Net, p: TermId) -> bool {
    let query = b.possibly(p);
    explore(&b.net, &query, false).has_trace(&query).unwrap()
}

/// A lamp (two presses in quick succession make it bright) that must be switched off some time.
fn lamp() -> (Net, usize) {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("Lamp", &["off", "low: y <= 9", "bright: y <= 9"]);
    b.edge(p, "off", "low", E { set: "x = 0, y = 0", ..E::default() });
    b.edge(p, "low", "bright", E { guard: "x < 2", ..E::default() });
    b.edge(p, "low", "off", E { guard: "x >= 2", ..E::default() });
    b.edge(p, "bright", "off", E { ..E::default() });
    (b, p)
}

#[test]
fn reachability() {
    let (mut b, p) = lamp();
    for (location, clocks, expected) in [
        ("bright", "x >= 0", true),
        ("bright", "x == 9", true),
        ("bright", "x > 9", false),
        ("low", "x - y > 0", false),
        ("low", "x - y >= 0", true),
        ("off", "x > 20", true),
        ("off", "x - y > 0", false),
    ] {
        let (here, clock) = (b.at(p, location), b.clock(clocks));
        let both = b.net.terms.and([here, clock]);
        assert_eq!(possible(&mut b, both), expected, "{location} {clocks}");
    }
    let dead = b.deadlock();
    assert!(!possible(&mut b, dead));
}

#[test]
fn strictness_matters() {
    for (guard, expected) in [("x > 3", false), ("x >= 3", true), ("x < 3", true)] {
        let mut b = Net::new(&["x"]);
        let p = b.process("P", &["a: x <= 3", "b"]);
        b.edge(p, "a", "b", E { guard, ..E::default() });
        let there = b.at(p, "b");
        assert_eq!(possible(&mut b, there), expected, "{guard}");
    }
}

/// Differences, resets to values and copies, far beyond the constants.
#[test]
fn far_clocks_can_still_be_told_apart() {
    let mut b = Net::new(&["x", "y", "z"]);
    let p = b.process("P", &["a", "b", "c", "d"]);
    b.edge(p, "a", "b", E { guard: "x > 2", set: "y = 5", ..E::default() });
    b.edge(p, "b", "c", E { guard: "x - y > 2", set: "z = x", ..E::default() });
    b.edge(p, "c", "d", E { guard: "z - x < 0", ..E::default() });
    let (c, d) = (b.at(p, "c"), b.at(p, "d"));
    assert!(possible(&mut b, c));
    assert!(!possible(&mut b, d));
    let close = b.clock("x - y <= 2");
    let c = b.at(p, "c");
    let both = b.net.terms.and([c, close]);
    assert!(!possible(&mut b, both));
}

#[test]
fn deadlocks() {
    let mut b = Net::new(&["x"]);
    let p = b.process("P", &["a: x <= 5"]);
    b.edge(p, "a", "a", E { guard: "x >= 2", ..E::default() });
    b.edge(p, "a", "a", E { guard: "x < 1", ..E::default() });
    let dead = b.deadlock();
    assert!(!possible(&mut b, dead), "at 5 the first edge can be taken");
    let mut b = Net::new(&["x"]);
    let p = b.process("P", &["a"]);
    b.edge(p, "a", "a", E { guard: "x <= 3", set: "x = 0", ..E::default() });
    for (clocks, expected) in [("x >= 0", true), ("x <= 3", false), ("x > 3", true)] {
        let (dead, clock) = (b.deadlock(), b.clock(clocks));
        let both = b.net.terms.and([dead, clock]);
        assert_eq!(possible(&mut b, both), expected, "{clocks}");
    }
}

/// The interpreter's word on deadlocks, against the graph: no step from any region that time leads to.
#[test]
fn deadlocks_are_those_of_the_graph() {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["a"]);
    b.edge(p, "a", "a", E { guard: "x < 3 && y < 5", set: "x = 0", ..E::default() });
    let q = b.process("Q", &["a", "b: x <= 4", "c: y < 6"]);
    b.edge(q, "a", "b", E { guard: "x > 3", set: "x = 1", ..E::default() });
    b.edge(q, "b", "c", E { guard: "x - y >= 1", ..E::default() });
    let clock = b.clock("x < 5");
    let query = b.possibly(clock);
    let r = explore(&b.net, &query, false);
    let mut dead = 0;
    for i in 0..r.states.len() {
        let (mut at, mut steps, mut met) = (i, 0, vec![]);
        while !met.contains(&at) {
            met.push(at);
            steps += r.steps[at].len();
            at = r.waits[at].map_or(at, |w| w.to);
        }
        assert_eq!(r.interpreter.is_deadlocked(&r.states[i]).unwrap(), steps == 0, "{:?}", r.states[i]);
        dead += usize::from(steps == 0);
    }
    assert!(dead > 10 && dead < r.states.len(), "{dead}");
}

fn live(b: &mut Net, p: TermId, diverging: bool) -> [bool; 2] {
    let c = b.condition(p);
    let query = b.query(QueryKind::Eventually(c));
    let regions = explore(&b.net, &query, diverging);
    let stay = Query { kind: QueryKind::PotentiallyAlways(c), ..query.clone() };
    [!regions.has_trace(&query).unwrap(), regions.has_trace(&stay).unwrap()]
}

#[test]
fn liveness() {
    // Must leave by 3, but without an invariant need not.
    for (locations, expected) in [(["a: x <= 3", "b"], true), (["a", "b"], false)] {
        let mut b = Net::new(&["x"]);
        let p = b.process("P", &locations);
        b.edge(p, "a", "b", E { guard: "x >= 1", ..E::default() });
        let there = b.at(p, "b");
        assert_eq!(live(&mut b, there, false)[0], expected);
        assert_eq!(live(&mut b, there, true)[0], expected);
        let here = b.at(p, "a");
        assert_eq!(live(&mut b, here, false)[1], !expected);
        let early = b.clock("x <= 3");
        assert!(!live(&mut b, early, false)[1], "time does not stop in b");
    }
}

#[test]
fn runs_in_which_time_stands_still() {
    // The loop can be taken again and again, but not for long.
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["a: x <= 3", "b"]);
    b.edge(p, "a", "a", E { set: "y = 0", ..E::default() });
    b.edge(p, "a", "b", E::default());
    let there = b.at(p, "b");
    assert!(!live(&mut b, there, false)[0]);
    assert!(live(&mut b, there, true)[0]);
    // A stop of the clock altogether is an end all the same.
    let mut b = Net::new(&["x"]);
    let p = b.process("P", &["a: x < 3", "b"]);
    b.edge(p, "a", "b", E { guard: "x > 5", ..E::default() });
    let there = b.at(p, "b");
    assert!(!live(&mut b, there, true)[0]);
}

#[test]
fn responses() {
    let (mut b, p) = lamp();
    let (low, off, bright) = (b.at(p, "low"), b.at(p, "off"), b.at(p, "bright"));
    for (from, to, expected) in [(low, off, true), (low, bright, false), (off, low, false), (bright, off, true)] {
        let (from, to) = (b.condition(from), b.condition(to));
        let query = b.query(QueryKind::LeadsTo(from, to));
        assert_eq!(!explore(&b.net, &query, true).has_trace(&query).unwrap(), expected);
        if expected {
            // In the meantime nothing else can happen, so that time need not be helped.
            assert!(!explore(&b.net, &query, false).has_trace(&query).unwrap());
        }
    }
}

#[test]
fn bounds_of_clocks() {
    let (mut b, p) = lamp();
    let mut ask = |location: &str, clocks: &str, sup: bool, clock: u32| {
        let (here, also) = (b.at(p, location), b.clock(clocks));
        let both = b.net.terms.and([here, also]);
        let when = b.condition(both);
        let query = b.query(QueryKind::ClockBound { sup, when, clock });
        explore(&b.net, &query, false).clock_bound(&query).unwrap()
    };
    let value = |value, open| Extreme::Value { value, open };
    assert_eq!(ask("low", "", true, 1), value(9, false));
    assert_eq!(ask("low", "x < 4", true, 2), value(4, true));
    assert_eq!(ask("low", "x > 4", false, 2), value(4, true));
    assert_eq!(ask("bright", "", false, 1), value(0, false));
    assert_eq!(ask("off", "", true, 1), Extreme::Beyond);
    assert_eq!(ask("low", "x > 9", true, 1), Extreme::None);
}

/// Fischer's protocol for two: safe exactly if those who wait do so for longer than those who write may take.
#[test]
fn fischer() {
    for (guard, expected) in [("x > 2", true), ("x >= 2", false), ("x > 1", false)] {
        let mut b = Net::new(&["x", "y"]);
        let id = b.var("id", 0, 2, 0);
        let mut critical = Vec::new();
        for (i, clock) in [(1, "x"), (2, "y")] {
            let replaced = |t: &str| t.replace('x', clock);
            let (req, set) = (replaced("req: x <= 2"), replaced("x = 0"));
            let p = b.process(clock, &["idle", &req, "wait", "cs"]);
            let (var, zero, me) = (b.net.terms.var(id), b.net.terms.int(0), b.net.terms.int(i));
            let (free, mine) = (b.net.terms.eq(var, zero), b.net.terms.eq(var, me));
            let (claim, release) = (b.net.terms.assign(id, me), b.net.terms.assign(id, zero));
            let e = E { set: &set, ..E::default() };
            b.edge(p, "idle", "req", E { when: Some(free), ..e });
            b.edge(p, "req", "wait", E { guard: &replaced("x <= 2"), update: Some(claim), ..e });
            b.edge(p, "wait", "req", E { when: Some(free), ..e });
            b.edge(p, "wait", "cs", E { when: Some(mine), guard: &replaced(guard), set: "", ..e });
            b.edge(p, "cs", "idle", E { update: Some(release), set: "", ..e });
            critical.push(b.at(p, "cs"));
        }
        let both = b.net.terms.and(critical);
        assert_eq!(!possible(&mut b, both), expected, "{guard}");
    }
}
