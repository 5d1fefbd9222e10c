//! Steppers against the reference interpreters: on random models, along random walks, every offer is a successor and every successor an offer;
//! what is taken back is gone; what was walked is a run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use trellis_expr::eval::Valuation;
use trellis_expr::{StmtId, Terms, Type, VarId};
use trellis_model::cfa::interpret::{self, State};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId};
use trellis_model::counter::{self, Interval, Rule, System, Update};
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::tree::{Behaviour, Node, Tree, meaning::meaning};
use trellis_model::network::interpret::Interpreter;
use trellis_report::step::counter::CounterStepper;
use trellis_report::step::hierarchy::HierarchyStepper;
use trellis_report::step::network::NetworkStepper;
use trellis_report::step::program::ProgramStepper;
use trellis_report::step::tree::TreeStepper;
use trellis_report::step::{Ask, Stepper, text};
use trellis_syntax::altarica;
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::diag::Sources;

use super::world;

const WALKS: u64 = 200;
const STEPS: usize = 12;

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What holds of every stepper in every state: offers can be taken and taken back, the run says where it is, nothing panics.
fn holds_together(s: &mut dyn Stepper) {
    let (state, steps) = (s.state(), s.steps());
    let Ok(choices) = s.choices() else { return };
    for (n, offer) in choices.offers.iter().enumerate() {
        s.take(n).expect("what is offered can be taken");
        if choices.ask == Ask::Step && s.steps() == steps + 1 {
            assert_eq!(s.run().state(s.steps()), s.state());
            let mut after = state.clone();
            after.extend(offer.set.clone());
            assert_eq!(after, s.state(), "{offer:?}");
        }
        assert!(s.undo());
        assert_eq!((s.state(), s.steps()), (state.clone(), steps));
    }
    assert!(s.take(choices.offers.len()).is_err() && s.take(usize::MAX).is_err());
    assert!(s.input("no such name", "5").is_err() && s.wait("junk").is_err());
    assert!(s.replay("{").is_err() && s.replay("").is_err());
    assert_eq!((s.state(), s.steps()), (state, steps));
    text::run(&s.run(), &|_, _| false, trellis_report::Style::default());
}

/// Undoes everything.
fn back_to_start(s: &mut dyn Stepper) {
    while s.undo() {}
    assert_eq!(s.steps(), 0);
    assert!(s.run().steps.is_empty());
}

fn random_network(r: &mut Random) -> String {
    let mut text = String::from("int[0,3] x; int[0,3] y; bool b; chan a; broadcast chan d; clock c; clock e;\n");
    let timed = r.below(2) == 0;
    for p in ["P", "Q", "R"] {
        let invariant = if timed && r.below(2) == 0 { " { c <= 4 }" } else { "" };
        text += &format!("process {p}() {{ state A, B{invariant}, C; init A; trans\n");
        let edges: Vec<String> = (0..2 + r.below(4))
            .map(|_| {
                let (from, to) = (*r.one(&["A", "B", "C"]), *r.one(&["A", "B", "C"]));
                let clock = if timed { *r.one(&["", "guard c >= 1;", "guard e > 2;", "guard c < 3;"]) } else { "" };
                let guard =
                    if clock.is_empty() { *r.one(&["", "guard x < 2;", "guard y != 1;", "guard b;"]) } else { clock };
                let sync = r.one(&["", "", "sync a!;", "sync a?;", "sync d!;", "sync d?;"]);
                let sync = if clock.is_empty() { sync } else { "" };
                let assign = r.one(&["", "assign x = 1;", "assign y = 3 - x;", "assign b = !b;", "assign c = 0;"]);
                format!("  {from} -> {to} {{ {guard} {sync} {assign} }}")
            })
            .collect();
        text += &format!("{};\n}}\n", edges.join(",\n"));
    }
    text + "system P, Q, R;\n"
}

#[test]
fn networks_offer_what_the_interpreter_does() {
    for seed in 0..WALKS {
        let r = &mut Random::new(seed);
        let net = world::queries_of(&random_network(r), "").0;
        let interpreter = Interpreter::new(&net);
        let Ok(mut s) = NetworkStepper::new(Cow::Borrowed(&net)) else { continue };
        for _ in 0..STEPS {
            let now = interpreter.wait(s.trace().last(), s.trace().rest).unwrap().unwrap();
            let expected = interpreter.steps(&now).unwrap();
            assert_eq!(s.choices().unwrap().offers.len(), expected.len());
            for (n, (action, state)) in expected.into_iter().enumerate() {
                s.take(n).unwrap();
                let last = s.trace().steps.last().unwrap();
                assert_eq!((&last.action, &last.state), (&action, &state));
                assert!(s.undo());
            }
            holds_together(&mut s);
            if s.wait("1/2").is_ok() {
                let later = interpreter.wait(&now, s.trace().rest).unwrap().expect("time may pass");
                assert_eq!(s.choices().unwrap().offers.len(), interpreter.steps(&later).unwrap().len());
                holds_together(&mut s);
                assert!(s.undo());
            }
            if !s.random(&mut |n| r.below(n)).unwrap() {
                break;
            }
        }
        // Every step is one of the interpreter's, after its delay.
        let mut at = interpreter.initial().unwrap();
        for step in &s.trace().steps {
            at = interpreter.wait(&at, step.delay).unwrap().expect("time may pass");
            at = interpreter.take(&at, &step.action).unwrap().expect("the step is possible");
            assert_eq!(at, step.state);
        }
        back_to_start(&mut s);
    }
}

#[test]
fn channels_have_their_names() {
    let net = world::library();
    let mut s = NetworkStepper::new(Cow::Borrowed(&net)).unwrap();
    s.take(0).unwrap();
    let offers = s.choices().unwrap().offers;
    assert_eq!(offers[0].label, "User(0): Idle → Reading  login[0]!; Desk: Open → Open  login[0]?");
    assert_eq!((offers[0].message.as_deref(), offers[0].parts[0].sends), (Some("login[0]"), true));
    assert_eq!(text::offer(&offers[0]), format!("{}    (User(0).known = true, Desk.who = 1)", offers[0].label));
}

fn random_statement(r: &mut Random, terms: &mut Terms, vars: &[VarId; 3], depth: usize) -> StmtId {
    let [b, x, n] = *vars;
    let (tb, tx, tn) = (terms.var(b), terms.var(x), terms.var(n));
    let (one, two) = (terms.int(1), terms.int(2));
    match r.below(if depth == 0 { 7 } else { 10 }) {
        0 => terms.skip(),
        1 => terms.havoc(b),
        2 => terms.havoc(x),
        3 => {
            let t = terms.le(tx, two);
            terms.assume(t)
        }
        4 => terms.assume(tb),
        5 => {
            let t = terms.add([tn, tx]);
            terms.assign(n, t)
        }
        // May leave its range, which blocks.
        6 => {
            let t = terms.add([tx, one]);
            terms.assign(x, t)
        }
        7 => {
            let parts = [(); 2].map(|()| random_statement(r, terms, vars, depth - 1));
            terms.seq(parts)
        }
        8 => {
            let parts = [(); 3].map(|()| random_statement(r, terms, vars, depth - 1));
            terms.choice(parts)
        }
        _ => {
            let (yes, no) = (random_statement(r, terms, vars, depth - 1), random_statement(r, terms, vars, depth - 1));
            terms.branch(tb, yes, no)
        }
    }
}

fn random_automaton(r: &mut Random) -> Cfa {
    let mut terms = Terms::new();
    let vars = [terms.declare("b", Type::Bool), terms.declare("x", Type::Range(0, 3)), terms.declare("n", Type::Int)];
    let place = |name: &str, kind| Location { name: name.into(), kind, place: None };
    let mut cfa = Cfa::new(terms, place("L0", Kind::Plain));
    cfa.variables = vars.to_vec();
    for (name, kind) in [("L1", Kind::Plain), ("L2", Kind::Plain), ("E", Kind::Error)] {
        cfa.add_location(place(name, kind));
    }
    for _ in 0..3 + r.below(5) {
        let (from, to) = (LocationId(r.below(3) as u32), LocationId(r.below(4) as u32));
        let stmt = random_statement(r, &mut cfa.terms, &vars, 3);
        cfa.add_edge(Edge { from, stmt, to, place: None });
    }
    cfa
}

/// All that a step may become, through everything that is chosen on the way.
fn successors(s: &mut ProgramStepper<'_>, steps: usize, out: &mut Vec<(u32, Valuation)>) {
    if s.steps() > steps {
        let last = s.trace().steps.pop().unwrap();
        let new = (last.edge.0, last.after);
        if !out.contains(&new) {
            out.push(new);
        }
        return;
    }
    for n in 0..s.choices().unwrap().offers.len() {
        s.take(n).unwrap();
        successors(s, steps, out);
        assert!(s.undo());
    }
}

#[test]
fn programs_offer_what_the_interpreter_does() {
    let mut compared = 0;
    for seed in 0..WALKS {
        let r = &mut Random::new(seed);
        let cfa = random_automaton(r);
        let mut s = ProgramStepper::new(Cow::Borrowed(&cfa), vec![]);
        for _ in 0..STEPS {
            let end = interpret::replay(&cfa, &s.trace()).expect("what was walked is a run");
            let state = State { location: end.location, env: end.env };
            let mut expected: Vec<(u32, Valuation)> = vec![];
            for (edge, next) in interpret::successors(&cfa, &state, 100_000).unwrap() {
                if !expected.contains(&(edge.0, next.env.clone())) {
                    expected.push((edge.0, next.env));
                }
            }
            let mut found = vec![];
            let steps = s.steps();
            successors(&mut s, steps, &mut found);
            assert!(found.len() == expected.len() && found.iter().all(|f| expected.contains(f)), "seed {seed}");
            compared += found.len();
            holds_together(&mut s);
            if !s.random(&mut |n| r.below(n)).unwrap() {
                break;
            }
        }
        interpret::replay(&cfa, &s.trace()).expect("what was walked is a run");
        back_to_start(&mut s);
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn an_open_value_is_asked_for() {
    let mut terms = Terms::new();
    let x = terms.declare("x", Type::Int);
    let mut cfa = Cfa::new(terms, Location { name: "L0".into(), kind: Kind::Plain, place: None });
    cfa.variables = vec![x];
    let to = cfa.add_location(Location { name: "L1".into(), kind: Kind::Plain, place: None });
    let (read, tx, limit) = (cfa.terms.havoc(x), cfa.terms.var(x), cfa.terms.int(42));
    let small = cfa.terms.le(tx, limit);
    let small = cfa.terms.assume(small);
    let stmt = cfa.terms.seq([read, small]);
    cfa.add_edge(Edge { from: LocationId(0), stmt, to, place: None });
    let mut s = ProgramStepper::new(Cow::Borrowed(&cfa), vec![]);
    let choices = s.choices().unwrap();
    let labels: Vec<&str> = choices.offers.iter().map(|o| o.label.as_str()).collect();
    assert!(matches!(&choices.ask, Ask::Input(i) if i.name == "x" && i.domain == "int"), "{:?}", choices.ask);
    assert_eq!(labels, ["x = 0", "x = 1", "x = -1", "x = 42"]);
    assert_eq!(s.input("x", "43").unwrap_err().to_string(), "the step cannot be taken with this value");
    assert_eq!(s.input("x", "red").unwrap_err().to_string(), "`red` is no value of type int");
    assert_eq!(s.input("y", "1").unwrap_err().to_string(), "`y` is not open here; `x` is");
    assert_eq!((s.steps(), s.state()["at"].as_str()), (0, Some("L0")));
    s.input("x", "-99999999999999999999").unwrap();
    assert_eq!((s.steps(), s.state()["x"].as_str()), (1, Some("-99999999999999999999")));
    assert!(s.undo() && !s.undo());
    s.input("", "7").unwrap();
    assert_eq!(s.state()["x"], 7);
}

fn random_system(r: &mut Random) -> System {
    let names: Vec<String> = ["p", "q", "r", "s"].map(String::from).to_vec();
    let rule = |r: &mut Random| {
        let v = |r: &mut Random| r.below(4) as u32;
        let mut rule = Rule::default();
        let from = v(r);
        let high = (r.below(4) == 0).then_some(2);
        rule.guards.push((from, Interval { low: r.below(2) as u64, high }));
        let mut updates: Vec<(u32, Update)> = vec![(from, Update { sources: vec![from], constant: -1 })];
        let to = v(r);
        if to != from {
            let mut sources = vec![to];
            if r.below(3) == 0 && from != to {
                sources.push(from);
                sources.sort_unstable();
            }
            updates.push((to, Update { sources, constant: 1 + r.below(2) as i64 }));
        }
        updates.sort_by_key(|u| u.0);
        rule.updates = updates;
        rule
    };
    let rules = (0..5).map(|_| rule(r)).collect();
    System { names, rules, initial: vec![Interval::ANY; 4], ..System::default() }
}

#[test]
fn counter_systems_offer_what_the_interpreter_does() {
    for seed in 0..WALKS {
        let r = &mut Random::new(seed);
        let system = random_system(r);
        let start: Vec<u64> = (0..4).map(|_| r.below(4) as u64).collect();
        let mut now = start.clone();
        let mut s = CounterStepper::new(Cow::Borrowed(&system), start).unwrap();
        for _ in 0..STEPS {
            let all = 0..system.rules.len() as u32;
            let expected: Vec<Vec<u64>> =
                all.filter_map(|rule| counter::interpret::step(&system, rule, &now).unwrap()).collect();
            let numbers = |s: &dyn Stepper| s.state().values().map(|v| v.as_u64().unwrap()).collect::<Vec<u64>>();
            let offered: Vec<Vec<u64>> = (0..s.choices().unwrap().offers.len())
                .map(|n| {
                    s.take(n).unwrap();
                    let after = numbers(&s);
                    assert!(s.undo());
                    after
                })
                .collect();
            assert_eq!(offered, expected, "seed {seed}");
            holds_together(&mut s);
            if !s.random(&mut |n| r.below(n)).unwrap() {
                break;
            }
            now = numbers(&s);
            assert!(expected.contains(&now));
        }
        back_to_start(&mut s);
    }
}

fn random_tree(r: &mut Random) -> Tree {
    let node = |r: &mut Random, name: &str, subs: Vec<usize>| {
        let events: Vec<String> = ["", "a", "b"].map(String::from).to_vec();
        let states: Vec<String> = ["one", "two", "three"].map(String::from).to_vec();
        let mut moves: Vec<Vec<(u32, u32)>> = (0..3).map(|q| vec![(0, q)]).collect();
        for _ in 0..4 {
            moves[r.below(3)].push((1 + r.below(2) as u32, r.below(3) as u32));
        }
        let mut vectors: Vec<Vec<u32>> = match subs.len() {
            0 => (0..3).map(|e| vec![e]).collect(),
            n => (0..5).map(|_| (0..=n).map(|_| r.below(3) as u32).collect()).collect(),
        };
        vectors.sort();
        vectors.dedup();
        let higher = vec![vec![]; vectors.len()];
        let initial = if r.below(3) == 0 { vec![0, 1] } else { vec![0] };
        let behaviour = Arc::new(Behaviour::new(states, initial, moves));
        let mut node = Node { name: name.into(), events, subs, vectors, higher, behaviour };
        if r.below(2) == 0 {
            node.prioritise(|low, high| low == 1 && high == 2);
        }
        node
    };
    let nodes = vec![node(r, "left", vec![]), node(r, "right", vec![]), node(r, "", vec![0, 1])];
    Tree::new(nodes).expect("a tree")
}

#[test]
fn trees_offer_what_they_mean() {
    let mut compared = 0;
    for seed in 0..WALKS {
        let r = &mut Random::new(seed);
        let tree = random_tree(r);
        let levels = meaning(&tree);
        let top = &levels[tree.top()];
        let mut s = TreeStepper::new(Cow::Borrowed(&tree)).unwrap();
        for _ in 0..STEPS {
            holds_together(&mut s);
            if s.choices().unwrap().ask == Ask::Start {
                let n = s.choices().unwrap().offers.len();
                s.take(r.below(n)).unwrap();
            }
            let now = s.now().clone();
            let at = top.states.iter().position(|q| *q == now).unwrap();
            let to = top.transitions.range((at, 0, 0)..(at + 1, 0, 0)).map(|t| top.states[t.2].clone());
            let expected: BTreeSet<Vec<u32>> = to.collect();
            let mut found = BTreeSet::new();
            for n in 0..s.choices().unwrap().offers.len() {
                s.take(n).unwrap();
                assert!(found.insert(s.now().clone()), "each once");
                assert!(s.undo());
            }
            // That nothing happens is not offered, where nothing else leads to the same state.
            assert!(found.is_subset(&expected) && expected.difference(&found).all(|to| *to == now), "seed {seed}");
            let silent = tree.explain(&now, &now).is_some_and(|v| tree.show_step(&v) == "ε");
            assert!(found.contains(&now) || !expected.contains(&now) || silent, "seed {seed}");
            compared += found.len();
            if !s.random(&mut |n| r.below(n)).unwrap() {
                break;
            }
        }
        back_to_start(&mut s);
    }
    assert!(compared > 500, "{compared}");
}

/// Nodes with flows, priorities and broadcasts.
const NODES: [&str; 2] = [
    "node Pump
       state on : bool; wear : [0, 2];
       flow out : bool;
       event start, stop, fail;
       init on := false, wear := 0;
       trans not on |- start -> on := true; on |- stop -> on := false; on and wear < 2 |- fail -> wear := wear + 1;
       assert out = (on and wear < 2);
     edon
     node Main
       sub p : Pump; q : Pump;
       flow water : bool; other : bool;
       event both;
       trans true |- both -> ;
       sync <both, p.start, q.start>;
       assert water = (p.out or q.out);
     edon",
    "node Bell
       state n : [0, 1];
       event ring, rest;
       init n := 0;
       trans n = 0 |- ring -> n := 1; n = 1 |- rest -> n := 0;
     edon
     node Main
       sub a : Bell; b : Bell; c : Bell;
       event go;
       trans true |- go -> ;
       sync <go, a.ring?, b.ring?, c.ring?> >= 1;
     edon",
];

#[test]
fn hierarchies_offer_what_they_mean() {
    for seed in 0..WALKS / 2 {
        let r = &mut Random::new(seed);
        let mut sources = Sources::default();
        let id = sources.add("test.alt", NODES[seed as usize % NODES.len()]);
        let (file, _) = altarica::parse(&sources, id).expect("it can be read");
        let last: Name = (*file.nodes().last().unwrap()).clone();
        let h = file.build(&last, &[]).expect("it can be built").0.hierarchy;
        let all = Meaning::of(&h, 10_000).expect("it is small");
        let level = &all.components[h.top.index()];
        let order = h.variables_below(h.top);
        let by_number = |c: &Vec<i64>| {
            let mut values = vec![0; c.len()];
            order.iter().zip(c).for_each(|(v, &value)| values[v.index()] = value);
            values
        };
        let known: Vec<Vec<i64>> = level.configurations.iter().map(by_number).collect();
        let mut s = HierarchyStepper::new(Cow::Borrowed(&h)).unwrap();
        let starts: BTreeSet<Vec<i64>> = all.initial(&h, h.top).into_iter().map(|n| known[n].clone()).collect();
        for _ in 0..STEPS {
            holds_together(&mut s);
            if s.choices().unwrap().ask == Ask::Start {
                let n = s.choices().unwrap().offers.len();
                assert_eq!(n, starts.len());
                s.take(r.below(n)).unwrap();
            }
            let now = s.now().clone();
            let at = known.iter().position(|c| *c == now).expect("a configuration");
            let to = level.transitions.iter().filter(|t| t.0 == at).map(|t| (t.1, known[t.2].clone()));
            // That nothing happens is not offered.
            let expected: BTreeSet<(usize, Vec<i64>)> = to.filter(|(event, to)| *event != 0 || *to != now).collect();
            let mut found = BTreeSet::new();
            for n in 0..s.choices().unwrap().offers.len() {
                s.take(n).unwrap();
                let event = *s.actions().last().unwrap();
                found.insert((event, s.now().clone()));
                assert!(s.undo());
            }
            assert_eq!(found, expected, "seed {seed}");
            if !s.random(&mut |n| r.below(n)).unwrap() {
                break;
            }
        }
        assert!(starts.contains(&s.states()[0]));
        back_to_start(&mut s);
    }
}
