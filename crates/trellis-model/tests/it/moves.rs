//! The moves of a key, judged at exact points, are the steps of the interpreter.

use trellis_domain::zone::{Constraint, Rational};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::timed::difference;
use trellis_model::network::region::{Options, Regions};
use trellis_model::network::{Action, Network, Post, SetClock, Snapshot, Transitions};

use crate::build::{E, Net};
use crate::random::{Flavour, network};

fn satisfies(clocks: &[Rational], all: &[Constraint]) -> bool {
    let value = |c: usize| if c == 0 { Rational::ZERO } else { clocks[c - 1] };
    all.iter().all(|c| {
        let d = difference(value(c.clocks().0), value(c.clocks().1)).unwrap();
        c.bound.admits(d.numerator(), d.denominator())
    })
}

/// The interpreter lists the same moves.
fn same_plainly(net: &Network, post: &Post<'_>, moves: &Transitions, s: &Snapshot, seed: u64) {
    let interpreter = Interpreter::new(net);
    let s = Snapshot { clocks: Vec::new(), ..s.clone() };
    let text = |mut guard: Vec<Constraint>, rest: String| {
        guard.sort_by_key(|c| (c.left, c.right, c.bound));
        format!("{guard:?} {rest}")
    };
    let fast = moves.iter().map(|m| {
        let to = m.fault.is_none().then(|| post.layout.snapshot(net, m.key, &[]));
        let rest = (m.action.to_vec(), to, m.resets.to_vec(), m.invariant.to_vec(), m.delay && m.fault.is_none());
        text(m.guard.to_vec(), format!("{rest:?}"))
    });
    let plain = interpreter.moves(&s).unwrap().into_iter().map(|m| {
        let to = m.fault.is_none().then_some(m.to);
        text(m.guard, format!("{:?}", (m.action.0, to, m.resets, m.invariant, m.delay)))
    });
    let (mut fast, mut plain): (Vec<String>, Vec<String>) = (fast.collect(), plain.collect());
    fast.sort();
    plain.sort();
    assert_eq!(fast, plain, "seed {seed}: {s:?}");
}

/// In every region, moves are steps and the same delays are possible.
fn agree(net: &Network, seed: u64) -> Option<usize> {
    let regions = Regions::explore(net, None, Options { limit: 3000, ..Options::default() })?;
    if regions.fault.is_some() {
        return None;
    }
    let (mut post, mut moves, mut invariant) = (Post::new(net), Transitions::default(), Vec::new());
    for (i, s) in regions.states.iter().enumerate() {
        let key = post.layout.key_of(s);
        post.moves(&key, &mut moves).unwrap();
        same_plainly(net, &post, &moves, s, seed);
        let mut fast: Vec<(Action, Snapshot)> = Vec::new();
        let mut delays = Vec::new();
        for m in moves.iter().filter(|m| satisfies(&s.clocks, m.guard)) {
            let mut clocks = s.clocks.clone();
            for r in m.resets {
                match *r {
                    SetClock::Value { clock, value } => clocks[clock as usize - 1] = Rational::new(value.into(), 1),
                    SetClock::Copy { clock, from } => clocks[clock as usize - 1] = clocks[from as usize - 1],
                }
            }
            let next = Snapshot { clocks, ..post.layout.snapshot(net, m.key, &[]) };
            // A step that is possible in several ways is one step.
            let step = (Action(m.action.to_vec()), next);
            if satisfies(&step.1.clocks, m.invariant) && !fast.contains(&step) {
                delays.push(m.delay);
                fast.push(step);
            }
        }
        let slow = regions.interpreter.steps(s).unwrap();
        assert_eq!(fast, slow, "seed {seed}: {s:?}");
        let delay = post.timing(&key, &mut invariant).unwrap();
        assert!(satisfies(&s.clocks, &invariant));
        let mut idle = delay;
        idle &= !invariant.iter().any(|c| c.right == 0 && c.left != 0);
        assert_eq!(idle, regions.interpreter.may_idle(s).unwrap(), "seed {seed}: {s:?}");
        if let Some(wait) = regions.waits[i] {
            assert!(delay && satisfies(&regions.states[wait.to].clocks, &invariant), "seed {seed}: {s:?}");
        }
        for ((_, next), delay) in slow.iter().zip(delays) {
            let key = post.layout.key_of(next);
            assert_eq!(delay, post.timing(&key, &mut invariant).unwrap());
        }
    }
    Some(regions.states.len())
}

#[test]
fn of_random_networks() {
    let flavour = Flavour { differences: true, copies: true, deadlock: false };
    let states: usize = (0..1500).filter_map(|seed| agree(&network(seed, flavour).0.net, seed)).sum();
    assert!(states > 20_000, "{states}");
}

#[test]
fn of_vectors() {
    let mut b = Net::new(&["x", "y"]);
    fn event(event: u32, guard: &str) -> E<'_> {
        E { event: Some(event), guard, ..E::default() }
    }
    for (name, clock) in [("P", "x"), ("Q", "y"), ("R", "x")] {
        let p = b.process(name, &["a", "b: x <= 5", "c!"]);
        b.edge(p, "a", "b", E { set: &format!("{clock} = 0"), ..event(0, "") });
        b.edge(p, "a", "c", event(0, &format!("{clock} > 1")));
        b.edge(p, "b", "a", event(1, &format!("{clock} > 2")));
        b.edge(p, "c", "a", event(2, ""));
    }
    b.vector(&[(0, 0, false), (1, 0, false)]);
    b.vector(&[(0, 1, false), (1, 1, true), (2, 0, true)]);
    b.vector(&[(0, 2, true), (1, 2, true), (2, 2, true)]);
    b.vector(&[(1, 1, false), (2, 1, true)]);
    assert!(agree(&b.net, 0).unwrap() > 50);
}
