//! Control-flow automata: large blocks reach what small edges reach, and traces can be told either way.

use std::collections::BTreeSet;

use trellis_expr::eval::Valuation;
use trellis_expr::{Division, StmtId, TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Error, Oracle, State, Step, Trace, replay, run, successors, walk, zero};
use trellis_model::cfa::lbe::{Block, encode};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId};

/// A small generator of numbers (xorshift), so that a failure can be had again.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

fn location(name: String, kind: Kind) -> Location {
    Location { name, kind, place: None }
}

fn term(terms: &mut Terms, vars: &[VarId], r: &mut Random) -> TermId {
    let a = terms.var(vars[r.below(vars.len())]);
    let b = match r.below(2) {
        0 => terms.int(r.below(4) as i64),
        _ => terms.var(vars[r.below(vars.len())]),
    };
    match r.below(4) {
        0 => terms.add([a, b]),
        1 => terms.sub(a, b),
        // May divide by zero.
        2 => terms.div(Division::Truncating, a, b),
        _ => b,
    }
}

fn statement(terms: &mut Terms, vars: &[VarId], r: &mut Random, depth: usize) -> StmtId {
    match r.below(if depth == 0 { 6 } else { 8 }) {
        0 => terms.skip(),
        1 | 2 => {
            let (a, b) = (term(terms, vars, r), term(terms, vars, r));
            let c = if r.below(2) == 0 { terms.lt(a, b) } else { terms.eq(a, b) };
            terms.assume(c)
        }
        3 | 4 => {
            let t = term(terms, vars, r);
            terms.assign(vars[r.below(vars.len())], t)
        }
        5 => terms.havoc(vars[r.below(vars.len())]),
        n => {
            let parts: Vec<StmtId> = (0..2 + r.below(2)).map(|_| statement(terms, vars, r, depth - 1)).collect();
            if n == 6 { terms.seq(parts) } else { terms.choice(parts) }
        }
    }
}

fn random(seed: u64) -> Cfa {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut terms = Terms::new();
    let vars: Vec<VarId> = (0..2).map(|n| terms.declare(format!("x{n}"), Type::Range(0, 3))).collect();
    let mut cfa = Cfa::new(terms, location("start".into(), Kind::Plain));
    cfa.variables = vars.clone();
    let count = 3 + r.below(7);
    for n in 1..count {
        let kind = match r.below(8) {
            0 => Kind::Error,
            1 => Kind::Final,
            _ => Kind::Plain,
        };
        cfa.add_location(location(format!("L{n}"), kind));
    }
    for _ in 0..count + r.below(2 * count) {
        let stmt = statement(&mut cfa.terms, &vars, &mut r, 2);
        let [from, to] = [0, 0].map(|_| LocationId(r.below(count) as u32));
        cfa.add_edge(Edge { from, stmt, to, place: None });
    }
    cfa
}

fn key(env: &Valuation) -> Vec<Option<i64>> {
    env.values().map(Value::to_word).collect()
}

/// All states that can be reached from all-zero.
fn reachable(cfa: &Cfa) -> BTreeSet<(LocationId, Vec<Option<i64>>)> {
    let start = State { location: cfa.initial, env: zero(cfa) };
    let mut seen = BTreeSet::from([(start.location, key(&start.env))]);
    let mut todo = vec![start];
    while let Some(state) = todo.pop() {
        for (_, next) in successors(cfa, &state, 100_000).expect("few values") {
            if seen.insert((next.location, key(&next.env))) {
                todo.push(next);
            }
        }
    }
    seen
}

/// Decides at random.
impl Oracle for Random {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let mut values = Value::all(terms, terms.variable(v).ty, 1000)?;
        Some(values.swap_remove(self.below(values.len())))
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        (branches > 0).then(|| self.below(branches))
    }
}

/// A random walk: the edges in random order, a few attempts each.
fn wander(cfa: &Cfa, r: &mut Random) -> Trace {
    let start = zero(cfa);
    let mut state = State { location: cfa.initial, env: start.clone() };
    let mut steps: Vec<Step> = vec![];
    for _ in 0..40 {
        let out = cfa.outgoing(state.location);
        if out.is_empty() || cfa.is_error(state.location) || steps.len() == 12 {
            break;
        }
        let edge = out[r.below(out.len())];
        let mut env = state.env.clone();
        let mut recorder = trellis_model::cfa::interpret::Recorder::new(r);
        if run(&cfa.terms, cfa.edge(edge).stmt, &mut env, &mut recorder) {
            steps.push(Step { edge, choices: recorder.choices, after: env.clone() });
            state = State { location: cfa.edge(edge).to, env };
        }
    }
    Trace { start, steps }
}

#[test]
fn large_blocks_reach_what_small_edges_reach() {
    let mut smaller = 0;
    for seed in 1..400 {
        let cfa = random(seed);
        let large = encode(&cfa);
        let small: BTreeSet<_> = reachable(&cfa).into_iter().filter(|(l, _)| large.origin.contains(l)).collect();
        let big: BTreeSet<_> =
            reachable(&large.cfa).into_iter().map(|(l, env)| (large.origin[l.index()], env)).collect();
        assert_eq!(small, big, "seed {seed}");
        let kept = |l: &LocationId| large.origin.contains(l);
        let connected = cfa.connected();
        assert!(cfa.errors().filter(|l| connected[l.index()]).all(|l| kept(&l)), "seed {seed}");
        smaller += usize::from(large.cfa.locations().len() < cfa.locations().len());
    }
    assert!(smaller > 200, "{smaller}");
}

#[test]
fn a_trace_of_blocks_is_a_trace_of_edges() {
    let mut steps = 0;
    for seed in 1..400 {
        let cfa = random(seed);
        let large = encode(&cfa);
        let trace = wander(&large.cfa, &mut Random(seed | 1));
        let end = replay(&large.cfa, &trace).expect("a run");
        let told = large.expand(&cfa, &trace).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
        let small = replay(&cfa, &told).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
        assert_eq!((large.origin[end.location.index()], &end.env), (small.location, &small.env), "seed {seed}");
        steps += told.steps.len();
    }
    assert!(steps > 500, "{steps}");
}

#[test]
fn pruning_keeps_what_can_happen() {
    for seed in 1..200 {
        let cfa = random(seed);
        let ends = |cfa: &Cfa| -> BTreeSet<(String, Vec<Option<i64>>)> {
            reachable(cfa).into_iter().map(|(l, env)| (cfa.location(l).name.clone(), env)).collect()
        };
        assert_eq!(ends(&cfa), ends(&cfa.clone().pruned()), "seed {seed}");
    }
}

/// start -> loop; loop -> loop while x < 3; loop -> error if x == 3
fn counter() -> (Cfa, VarId) {
    let mut terms = Terms::new();
    let x = terms.declare("x", Type::Range(0, 3));
    let mut cfa = Cfa::new(terms, location("start".into(), Kind::Plain));
    cfa.variables = vec![x];
    let [head, body, after] = ["head", "body", "after"].map(|n| cfa.add_location(location(n.into(), Kind::Plain)));
    let error = cfa.add_location(location("error".into(), Kind::Error));
    let end = cfa.add_location(location("end".into(), Kind::Final));
    let t = &mut cfa.terms;
    let (var, zero, one, three) = (t.var(x), t.int(0), t.int(1), t.int(3));
    let (less, is, next) = (t.lt(var, three), t.eq(var, three), t.add([var, one]));
    let (not_less, is_not) = (t.not(less), t.not(is));
    let reset = t.assign(x, zero);
    let step = t.assign(x, next);
    let [less, not_less, is, is_not] = [less, not_less, is, is_not].map(|c| t.assume(c));
    for (from, stmt, to) in [
        (cfa.initial, reset, head),
        (head, less, body),
        (body, step, head),
        (head, not_less, after),
        (after, is, error),
        (after, is_not, end),
    ] {
        cfa.add_edge(Edge { from, stmt, to, place: None });
    }
    (cfa, x)
}

#[test]
fn a_loop_becomes_one_edge() {
    let (cfa, _) = counter();
    let large = encode(&cfa);
    let names: Vec<&str> = large.cfa.locations().map(|l| large.cfa.location(l).name.as_str()).collect();
    assert_eq!(names, ["start", "head", "error", "end"]);
    assert_eq!(large.cfa.edges().len(), 4);
    assert!(large.blocks.iter().filter(|b| matches!(b, Block::Seq(_))).count() == 3);
}

#[test]
fn a_run_can_be_replayed_and_a_false_one_not() {
    let (cfa, x) = counter();
    let start = State { location: cfa.initial, env: zero(&cfa) };
    let (end, steps) = walk(&cfa, start.clone(), &mut Random(1), 100);
    assert_eq!(cfa.location(end.location).name, "error");
    let trace = Trace { start: start.env, steps };
    assert_eq!(replay(&cfa, &trace), Ok(end));
    let mut wrong = trace.clone();
    wrong.steps[2].after.insert(x, Value::Int(3.into()));
    assert_eq!(replay(&cfa, &wrong), Err(Error::Value(2, x)));
    let mut wrong = trace.clone();
    wrong.steps.remove(1);
    assert_eq!(replay(&cfa, &wrong), Err(Error::Elsewhere(1)));
    let mut wrong = trace.clone();
    wrong.start.insert(x, Value::Int(4.into()));
    assert_eq!(replay(&cfa, &wrong), Err(Error::Start(x)));
}

#[test]
fn a_fault_blocks_its_own_way_only() {
    let mut terms = Terms::new();
    let x = terms.declare("x", Type::Range(0, 3));
    let (var, one) = (terms.var(x), terms.int(1));
    let quotient = terms.div(Division::Truncating, one, var);
    let faults = terms.assign(x, quotient);
    let fine = terms.assign(x, one);
    let either = terms.choice([faults, fine]);
    let start: Valuation = [(x, Value::Int(0.into()))].into();
    let after = trellis_model::cfa::interpret::outcomes(&terms, either, &start, 10).expect("few");
    assert_eq!(after, [[(x, Value::Int(1.into()))].into()]);
}
