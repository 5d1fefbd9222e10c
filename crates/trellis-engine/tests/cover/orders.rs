//! Orders of variables that do not depend on who is declared where: what synchronisation vectors join comes together.

use trellis_domain::relation::Memory;
use trellis_engine::cover::{Question, reach};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::symbolic::Symbolic;

/// Dining philosophers: all of them, then all forks, in an order of one's own.
fn philosophers(n: usize, order: impl Fn(usize) -> usize) -> String {
    let mut text = String::from(
        "node Philosopher state s : [0,2]; init s := 0; event left, right, back;
         trans s = 0 |- left -> s := 1; s = 1 |- right -> s := 2; s = 2 |- back -> s := 0; edon
         node Fork state free : bool; init free := true; event take, back;
         trans free |- take -> free := false; not free |- back -> free := true; edon
         node Main sub ",
    );
    (0..n).for_each(|i| text += &format!("P{} : Philosopher; ", order(i)));
    (0..n).for_each(|i| text += &format!("F{} : Fork; ", i));
    text += "sync ";
    for i in 0..n {
        let next = (i + 1) % n;
        text += &format!("<P{i}.left, F{i}.take>; <P{i}.right, F{next}.take>; <P{i}.back, F{i}.back, F{next}.back>; ");
    }
    text + "edon"
}

#[test]
fn forks_may_be_declared_behind_philosophers() {
    for order in [|i| i, |i| i * 7 % 20] {
        let (built, bad) = super::read(&philosophers(20, order), "P0.s = 2 and P1.s = 2");
        let h = &built.hierarchy;
        let m = Symbolic::tried(h, 2, Memory { nodes: 1 << 20, cache: 1 << 16 }, &|| true).expect("small");
        let question =
            Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad: m.satisfying(h, bad).unwrap() };
        let found = reach::reach(&question, reach::Direction::Forward, &mut Meter::unlimited());
        assert!(matches!(found.verdict, Verdict::Safe(_)), "{:?}", found.verdict);
        // Declared one after the other, without vectors in the order, there are more than a million.
        assert!(found.nodes < 2_000, "{} nodes", found.nodes);
    }
}

/// Layers of a shortest run would be too much work here: events are chained, and the run is one all the same.
#[test]
fn long_runs_are_found_by_chaining() {
    let n = 60;
    let all = (0..n).map(|i| format!("P{i}.s = 1")).collect::<Vec<_>>().join(" and ");
    let (built, bad) = super::read(&philosophers(n, |i| i * 7 % 60), &all);
    let h = &built.hierarchy;
    let m = Symbolic::tried(h, 2, Memory { nodes: 1 << 22, cache: 1 << 16 }, &|| true).expect("small");
    let question =
        Question { hierarchy: h, symbolic: &m, initial: m.initial(h).unwrap(), bad: m.satisfying(h, bad).unwrap() };
    let found = reach::reach(&question, reach::Direction::Forward, &mut Meter::unlimited());
    let Verdict::Unsafe(trace) = found.verdict else { panic!("{:?}", found.verdict) };
    trellis_check::hierarchy::replay(h, Some(&m), bad, &trace).expect("a run");
    assert!(trace.events.len() >= n);
}
