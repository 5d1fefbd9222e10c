//! The interpreter: what may happen when.

use trellis_domain::zone::Rational;
use trellis_model::network::Snapshot;
use trellis_model::network::interpret::Interpreter;

use crate::build::{E, Net};

fn r(n: i64, d: i64) -> Rational {
    Rational::new(n, d)
}

/// The targets of a state's steps: locations and clocks.
fn targets(it: &Interpreter<'_>, s: &Snapshot) -> Vec<(Vec<u32>, Vec<Rational>)> {
    it.steps(s).unwrap().into_iter().map(|(_, s)| (s.locations, s.clocks)).collect()
}

#[test]
fn guards_resets_and_invariants() {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["a: x <= 3", "b: y < 4"]);
    b.edge(p, "a", "b", E { guard: "x > 1", set: "x = 0, y = x, x = 2", ..E::default() });
    b.edge(p, "a", "b", E { guard: "x - y == 0 && x >= 3", ..E::default() });
    b.edge(p, "b", "a", E { set: "x = 4", ..E::default() });
    let it = Interpreter::new(&b.net);
    let start = it.initial().unwrap();
    assert_eq!(start.clocks, [r(0, 1); 2]);
    assert!(targets(&it, &start).is_empty());
    assert!(it.can_wait(&start, r(3, 1)).unwrap());
    assert!(!it.can_wait(&start, r(10, 3)).unwrap());
    assert!(!it.can_wait(&start, r(-1, 3)).unwrap());
    let one = it.wait(&start, r(1, 1)).unwrap().unwrap();
    assert!(targets(&it, &one).is_empty());
    let later = it.wait(&one, r(1, 3)).unwrap().unwrap();
    // Resets happen in order.
    assert_eq!(targets(&it, &later), [(vec![1], vec![r(2, 1), r(0, 1)])]);
    let latest = it.wait(&later, r(5, 3)).unwrap().unwrap();
    assert_eq!(targets(&it, &latest).len(), 2);
    // The way back violates the invariant there.
    let (_, back) = it.steps(&latest).unwrap().remove(0);
    assert!(targets(&it, &back).is_empty());
    assert!(it.is_deadlocked(&back).unwrap() && !it.may_idle(&back).unwrap());
    assert!(!it.is_deadlocked(&start).unwrap());
}

#[test]
fn bounds_and_values_from_data() {
    let mut b = Net::new(&["x"]);
    let n = b.var("n", -3, 3, 2);
    let p = b.process("P", &["a: x <= n", "b"]);
    let (nv, one) = (b.net.terms.var(n), b.net.terms.int(1));
    let fewer = b.net.terms.sub(nv, one);
    let update = Some(b.net.terms.assign(n, fewer));
    b.edge(p, "a", "a", E { guard: "x == n", update, ..E::default() });
    b.edge(p, "a", "b", E { guard: "x < n", set: "x = n", update, ..E::default() });
    let it = Interpreter::new(&b.net);
    let mut s = it.initial().unwrap();
    assert!(!it.can_wait(&s, r(3, 1)).unwrap());
    let two = it.wait(&s, r(2, 1)).unwrap().unwrap();
    // x ≤ n would be violated after n--.
    assert!(it.steps(&two).unwrap().is_empty());
    assert_eq!(targets(&it, &s), [(vec![1], vec![r(1, 1)])]);
    s.data[0] = 0;
    assert_eq!(targets(&it, &s), []);
    // From 0 to -1: first the guard, which is fine with a clock that is -1, but no clock can be.
    s.data[0] = 1;
    s.locations = vec![0];
    assert_eq!(targets(&it, &s), [(vec![1], vec![r(0, 1)])]);
    let mut c = Net::new(&["x"]);
    c.var("n", -3, 3, -1);
    let p = c.process("P", &["a"]);
    c.edge(p, "a", "a", E { set: "x = n", ..E::default() });
    let it = Interpreter::new(&c.net);
    let error = it.steps(&it.initial().unwrap()).unwrap_err();
    assert_eq!((error.during, error.fault.to_string().as_str()), ("update", "a clock is set to -1"));
}

#[test]
fn urgency() {
    let mut b = Net::new(&["x"]);
    b.channel("u", false, true);
    let n = b.var("n", 0, 1, 0);
    let p = b.process("P", &["a", "b~", "c!"]);
    let q = b.process("Q", &["a"]);
    let (nv, one) = (b.net.terms.var(n), b.net.terms.int(1));
    let is_one = Some(b.net.terms.eq(nv, one));
    b.edge(p, "a", "b", E { sync: "u!", when: is_one, ..E::default() });
    b.edge(q, "a", "a", E { sync: "u?", ..E::default() });
    let it = Interpreter::new(&b.net);
    let s = it.initial().unwrap();
    assert!(it.can_wait(&s, r(5, 1)).unwrap() && it.may_idle(&s).unwrap());
    for (locations, data) in [([0, 0], 1), ([1, 0], 0), ([2, 0], 0)] {
        let s = Snapshot { locations: locations.to_vec(), data: vec![data], ..s.clone() };
        assert!(!it.can_wait(&s, r(1, 7)).unwrap(), "{locations:?} {data}");
        assert!(it.can_wait(&s, Rational::ZERO).unwrap() && !it.may_idle(&s).unwrap());
    }
}

#[test]
fn receivers_of_broadcasts_look_at_clocks() {
    let mut b = Net::new(&["x"]);
    b.channel("c", true, false);
    let p = b.process("P", &["a", "b"]);
    b.edge(p, "a", "b", E { sync: "c!", set: "x = 7", ..E::default() });
    for (name, guard) in [("Q", "x >= 2"), ("R", "x < 2")] {
        let q = b.process(name, &["a", "b"]);
        b.edge(q, "a", "b", E { sync: "c?", guard, set: "x = 1", ..E::default() });
    }
    let it = Interpreter::new(&b.net);
    let s = it.initial().unwrap();
    // Receivers come after the sender, and so do their resets.
    assert_eq!(targets(&it, &s), [(vec![1, 0, 1], vec![r(1, 1)])]);
    let s = it.wait(&s, r(2, 1)).unwrap().unwrap();
    assert_eq!(targets(&it, &s), [(vec![1, 1, 0], vec![r(1, 1)])]);
}

#[test]
fn vectors() {
    let mut b = Net::new(&["x"]);
    let event = |event| E { event: Some(event), ..E::default() };
    for name in ["P", "Q", "R"] {
        let p = b.process(name, &["a", "b", "c"]);
        b.edge(p, "a", "b", event(0));
        b.edge(p, "a", "c", event(0));
        b.edge(p, "b", "a", E { guard: "x > 5", ..event(1) });
        b.edge(p, "c", "c", E::default());
    }
    b.vector(&[(0, 0, false), (1, 0, false)]);
    b.vector(&[(0, 1, false), (1, 1, true), (2, 0, true)]);
    let it = Interpreter::new(&b.net);
    let at = |locations: [u32; 3], x: i64| {
        let s = Snapshot { locations: locations.to_vec(), clocks: vec![r(x, 1)], ..it.initial().unwrap() };
        targets(&it, &s).into_iter().map(|t| t.0).collect::<Vec<_>>()
    };
    assert_eq!(at([0, 0, 0], 0), [[1, 1, 0], [1, 2, 0], [2, 1, 0], [2, 2, 0]]);
    assert_eq!(at([0, 1, 0], 9), [[0; 3]; 0]);
    // A weak part that has an edge must take it, even if its guard does not hold.
    assert_eq!(at([1, 0, 1], 9), [[0, 0, 1]]);
    assert_eq!(at([1, 1, 0], 9), [[0, 0, 1], [0, 0, 2]]);
    assert_eq!(at([1, 1, 0], 5), [[0; 3]; 0]);
    // Silent edges come first.
    assert_eq!(at([1, 2, 2], 9), [[1, 2, 2], [1, 2, 2], [0, 2, 2]]);
}

#[test]
fn deadlock_is_about_all_delays() {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["a: x <= 9", "b: x < 4", "c"]);
    b.edge(p, "a", "c", E { guard: "x > 7 && y < 8 && x - y < 2", ..E::default() });
    b.edge(p, "b", "c", E { guard: "x > 3 && y > 100", ..E::default() });
    let c = b.deadlock();
    let q = b.possibly(c);
    let it = Interpreter::new(&b.net);
    let trellis_model::network::QueryKind::Possibly(c) = q.kind else { unreachable!() };
    let dead = |l: u32, x: Rational, y: Rational| {
        let s = Snapshot { locations: vec![l], data: vec![], element: vec![], clocks: vec![x, y] };
        let answer = it.is_deadlocked(&s).unwrap();
        assert_eq!(it.holds_in(&q, &c, &s).unwrap(), answer);
        answer
    };
    assert!(!dead(0, r(0, 1), r(0, 1)));
    assert!(dead(0, r(0, 1), r(2, 1)));
    assert!(!dead(0, r(0, 1), r(1, 2)));
    assert!(dead(0, r(0, 1), r(1, 1)));
    assert!(dead(0, r(2, 1), r(0, 1)));
    assert!(dead(0, r(8, 1), r(8, 1)));
    assert!(!dead(0, r(9, 1), r(15, 2)));
    assert!(!dead(1, r(0, 1), r(100, 1)) && !dead(1, r(0, 1), r(97, 1)));
    assert!(dead(1, r(0, 1), r(96, 1)));
    assert!(dead(2, r(0, 1), r(0, 1)));
}
