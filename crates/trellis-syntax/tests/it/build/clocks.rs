//! Clocks: what guards, invariants, updates and queries make of them. The networks are evaluated by hand, state by state
//! and clock value by clock value, and compared with what the text means.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Limits, State, Valuation, eval, exec};
use trellis_expr::value::ArrayValue;
use trellis_expr::{TermId, Type, Value, VarId};
use trellis_model::network::{ClockAtom, Condition, DataVar, Network, Query, QueryKind, Reset, ResetTo};

use super::{built, network, refused};

/// A state by hand: data by name (else as declared), clocks in halves.
pub struct Point {
    env: Valuation,
    pub clocks: Vec<i64>,
}

fn initial(net: &Network, v: &DataVar) -> Value {
    let cell = |n: i64| if v.is_bool { Value::Bool(n != 0) } else { Value::Int(n.into()) };
    match net.terms.variable(v.var).ty {
        Type::Array(index, _) => {
            let mut array = ArrayValue::new(&net.terms, net.terms.type_of_id(index), cell(0));
            for (i, &n) in v.init.iter().enumerate() {
                array.set(&Value::Int(i.into()), cell(n));
            }
            Value::Array(array)
        }
        _ => cell(v.init[0]),
    }
}

impl Point {
    pub fn new(net: &Network, data: &[(&str, i64)], clocks: &[i64]) -> Point {
        let mut env: Valuation = net.vars.iter().chain(&net.temps).map(|v| (v.var, initial(net, v))).collect();
        env.extend(net.processes.iter().map(|p| (p.location, Value::Int(p.init.into()))));
        for (name, n) in data {
            let v = net.vars.iter().find(|v| v.name == *name).unwrap_or_else(|| panic!("no {name}"));
            env.insert(v.var, if v.is_bool { Value::Bool(*n != 0) } else { Value::Int((*n).into()) });
        }
        assert_eq!(clocks.len(), net.clocks.len());
        Point { env, clocks: clocks.to_vec() }
    }

    pub fn run(&mut self, net: &Network, s: trellis_expr::StmtId) {
        let state = State { env: self.env.clone(), host: NoHost };
        let mut ends = exec(&net.terms, s, state, Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        self.env = ends.pop().expect("an end").env;
    }

    fn number(&self, net: &Network, t: TermId) -> i64 {
        eval(&net.terms, t, &self.env, &mut NoHost).unwrap_or_else(|e| panic!("{e}")).to_word().expect("a small number")
    }

    fn atom(&self, net: &Network, a: &ClockAtom) -> bool {
        if a.when.is_some_and(|w| self.number(net, w) == 0) {
            return true;
        }
        let clock = |n: u32| if n == 0 { 0 } else { self.clocks[n as usize - 1] };
        let (difference, bound) = (clock(a.left) - clock(a.right), 2 * self.number(net, a.bound));
        if a.strict { difference < bound } else { difference <= bound }
    }

    fn condition(&mut self, net: &Network, c: &Condition, atoms: &[ClockAtom]) -> bool {
        self.run(net, c.prepare);
        self.number(net, c.holds) != 0 && atoms.iter().all(|a| self.atom(net, a))
    }

    fn query(&mut self, net: &Network, q: &Query) -> bool {
        for (var, a) in &q.atoms {
            assert!(a.when.is_none());
            let holds = self.atom(net, a);
            self.env.insert(*var, Value::Bool(holds));
        }
        let QueryKind::Possibly(c) = q.kind else { panic!("E<> is asked") };
        self.condition(net, &c, &[])
    }

    pub fn reset(&mut self, net: &Network, resets: &[Reset]) {
        for r in resets {
            if r.when.is_none_or(|w| self.number(net, w) != 0) {
                self.clocks[r.clock as usize - 1] = match r.to {
                    ResetTo::Value(t) => 2 * self.number(net, t),
                    ResetTo::Clock(0) => 0,
                    ResetTo::Clock(c) => self.clocks[c as usize - 1],
                };
            }
        }
    }
}

const DECLS: &str = "clock x, y; int[0,3] n; bool b; clock z[2]; const int N = 2; int a[4] = { 1, 0, 3, 2 };
    int twice(int i) { int r = i; r += i; return r; } int less(int i) { return i - 1; }";

/// What a condition means, of `n`, `b` and the clocks in halves: `x`, `y`, `z[0]`, `z[1]`.
type Meaning = fn(i64, bool, &[i64]) -> bool;

fn everywhere(mut check: impl FnMut(i64, bool, &[i64])) {
    let mut random = 9u64;
    for n in 0..4 {
        for b in [false, true] {
            for _ in 0..60 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let clocks = [33, 40, 47, 54].map(|s| (random >> s) as i64 % 14);
                check(n, b, &clocks.map(i64::abs));
            }
        }
    }
}

/// A guard, an invariant and a query of the same text all mean the same.
#[track_caller]
fn means(text: &str, meaning: Meaning) {
    let model =
        format!("{DECLS} process P() {{ state A {{ {text} }}; init A; trans A -> A {{ guard {text}; }}; }} system P;");
    let net = network(&model);
    let (edge, at) = (&net.processes[0].edges[0], &net.processes[0].locations[0]);
    everywhere(|n, b, clocks| {
        let point = || Point::new(&net, &[("n", n), ("b", i64::from(b))], clocks);
        let expected = meaning(n, b, clocks);
        assert_eq!(
            point().condition(&net, &edge.guard, &edge.clock_guard),
            expected,
            "guard {text} {n} {b} {clocks:?}"
        );
        let holds = match &at.invariant {
            Some(c) => point().condition(&net, c, &at.clock_invariant),
            None => at.clock_invariant.iter().all(|a| point().atom(&net, a)),
        };
        assert_eq!(holds, expected, "invariant {text} {n} {b} {clocks:?}");
    });
    asks(text, meaning);
}

/// A query means this.
#[track_caller]
fn asks(text: &str, meaning: Meaning) {
    let model = format!("{DECLS} process P() {{ state A; init A; }} system P;");
    let b = built(&model, &format!("E<> {text}")).unwrap_or_else(|e| panic!("{e}"));
    everywhere(|n, flag, clocks| {
        let mut point = Point::new(&b.network, &[("n", n), ("b", i64::from(flag))], clocks);
        assert_eq!(point.query(&b.network, &b.queries[0]), meaning(n, flag, clocks), "{text} {n} {flag} {clocks:?}");
    });
}

#[test]
fn comparisons() {
    means("x < 3", |_, _, c| c[0] < 6);
    means("x <= 3", |_, _, c| c[0] <= 6);
    means("x > 3", |_, _, c| c[0] > 6);
    means("x >= 3", |_, _, c| c[0] >= 6);
    means("x == 3", |_, _, c| c[0] == 6);
    means("3 < x", |_, _, c| c[0] > 6);
    means("N + 1 >= x", |_, _, c| c[0] <= 6);
    means("3 == x", |_, _, c| c[0] == 6);
    means("x - y < 2", |_, _, c| c[0] - c[1] < 4);
    means("2 <= x - y", |_, _, c| c[0] - c[1] >= 4);
    means("x < y", |_, _, c| c[0] < c[1]);
    means("x <= y + n", |n, _, c| c[0] <= c[1] + 2 * n);
    means("x + 1 > y - n", |n, _, c| c[0] + 2 > c[1] - 2 * n);
    means("x - y == 1", |_, _, c| c[0] - c[1] == 2);
    means("-x < -2", |_, _, c| c[0] > 4);
    means("n - x >= 0", |n, _, c| c[0] <= 2 * n);
    means("x - x < n", |n, _, _| 0 < n);
    means("x <= b", |_, b, c| c[0] <= 2 * i64::from(b));
}

#[test]
fn bounds_are_data() {
    means("x <= a[n]", |n, _, c| c[0] <= 2 * [1, 0, 3, 2][n as usize]);
    means("x > less(n)", |n, _, c| c[0] > 2 * (n - 1));
    asks(
        "n == 0 ? x < 1 : x <= a[n - 1]",
        |n, _, c| {
            if n == 0 { c[0] < 2 } else { c[0] <= 2 * [1, 0, 3, 2][n as usize - 1] }
        },
    );
    asks("!(y < 2 && n > 0) || x <= a[n - 1]", |n, _, c| {
        c[1] >= 4 || n == 0 || c[0] <= 2 * [1, 0, 3, 2][n.max(1) as usize - 1]
    });
    means("n > 0 && x <= a[n - 1]", |n, _, c| n > 0 && c[0] <= 2 * [1, 0, 3, 2][n.max(1) as usize - 1]);
}

#[test]
fn bounds_of_guards_may_need_statements() {
    for text in ["x <= twice(n)", "b imply x <= twice(n)", "b && x <= twice(n)", "b ? x <= twice(n) : x <= 1"] {
        let net = network(&format!(
            "{DECLS} process P() {{ state A {{ {text} }}; init A; trans A -> A {{ guard {text}; }}; }} system P;"
        ));
        let (edge, at) = (&net.processes[0].edges[0], &net.processes[0].locations[0]);
        everywhere(|n, b, c| {
            let bounded = c[0] <= 4 * n;
            let expected = match text.as_bytes()[2] {
                b'i' => !b || bounded,
                b'&' => b && bounded,
                b'?' if b => bounded,
                b'?' => c[0] <= 2,
                _ => bounded,
            };
            let point = || Point::new(&net, &[("n", n), ("b", i64::from(b))], c);
            assert_eq!(point().condition(&net, &edge.guard, &edge.clock_guard), expected, "{text}");
            let invariant = at.invariant.expect("what is prepared stays, even if data is not asked for");
            assert_eq!(point().condition(&net, &invariant, &at.clock_invariant), expected, "{text}");
        });
    }
    let model = format!("{DECLS} process P() {{ state A; init A; }} system P;");
    assert!(built(&model, "E<> x <= twice(n)").is_err_and(|e| e.contains("must not need a function's statements")));
}

#[test]
fn conjunctions() {
    means("x < 3 && n == 1", |n, _, c| c[0] < 6 && n == 1);
    means("n == 1 and x < 3 and (b && y > 1)", |n, b, c| n == 1 && c[0] < 6 && b && c[1] > 2);
    means("true && x < 3", |_, _, c| c[0] < 6);
    means("forall (i : int[0,1]) z[i] >= i + 1", |_, _, c| c[2] >= 2 && c[3] >= 4);
    means("forall (i : int[0,1]) i == n imply z[i] > 2", |n, _, c| n > 1 || c[2 + n as usize] > 4);
    means("exists (i : int[0,1]) i == 1 && z[i] > 2", |_, _, c| c[3] > 4);
    means("exists (i : int[0,2]) i == n || i == 0 && x < 2", |n, _, c| n < 3 || c[0] < 4);
}

#[test]
fn constraints_that_depend_on_data() {
    means("b imply x < 3", |_, b, c| !b || c[0] < 6);
    means("!b || x < 3", |_, b, c| !b || c[0] < 6);
    means("x < 3 || !b", |_, b, c| !b || c[0] < 6);
    means("n > 1 || (b && x < 3)", |n, b, c| n > 1 || (b && c[0] < 6));
    means("(b && x < 3) || n > 1", |n, b, c| n > 1 || (b && c[0] < 6));
    means("b ? x < 3 : y >= 2", |_, b, c| if b { c[0] < 6 } else { c[1] >= 4 });
    means("b ? x < 3 : n == 0", |n, b, c| if b { c[0] < 6 } else { n == 0 });
    means("x >= 3 imply b", |_, b, c| c[0] < 6 || b);
    means("b imply (n > 1 imply x == 2)", |n, b, c| !b || n <= 1 || c[0] == 4);
    means("true || x < 3", |_, _, _| true);
    means("false imply x < 3", |_, _, _| true);
}

#[test]
fn opposites() {
    means("!(x < 3)", |_, _, c| c[0] >= 6);
    means("not (x - y >= n)", |n, _, c| c[0] - c[1] < 2 * n);
    means("!!(x < 3)", |_, _, c| c[0] < 6);
    means("!(b && x < 3)", |_, b, c| !b || c[0] >= 6);
    means("!(b imply x < 3)", |_, b, c| b && c[0] >= 6);
    means("!(z[n > 1] < 2)", |n, _, c| c[2 + usize::from(n > 1)] >= 4);
}

#[test]
fn an_index_known_only_in_the_state() {
    means("z[b] <= 2", |_, b, c| c[2 + usize::from(b)] <= 4);
    means("z[b] == n", |n, b, c| c[2 + usize::from(b)] == 2 * n);
    means("x - z[b] < 1", |_, b, c| c[0] - c[2 + usize::from(b)] < 2);
    means("z[b] - z[n > 1] < 1", |n, b, c| c[2 + usize::from(b)] - c[2 + usize::from(n > 1)] < 2);
    means("z[b] - z[n > 1] < 0", |n, b, c| c[2 + usize::from(b)] < c[2 + usize::from(n > 1)]);
}

#[test]
fn queries_combine_freely() {
    asks("x < 3 || y > 2", |_, _, c| c[0] < 6 || c[1] > 4);
    asks("x != 3", |_, _, c| c[0] != 6);
    asks("!(x == 3 && y < n)", |n, _, c| c[0] != 6 || c[1] >= 2 * n);
    asks("(x < 3) == b", |_, b, c| (c[0] < 6) == b);
    asks("exists (i : int[0,1]) z[i] > n", |n, _, c| c[2] > 2 * n || c[3] > 2 * n);
    asks("x < 3 imply y < 3", |_, _, c| c[0] >= 6 || c[1] < 6);
    asks("P.A && x <= (P.A ? 2 : 1)", |_, _, c| c[0] <= 4);
    // A function with statements beside: they do not touch what stands for the constraints.
    asks("twice(n) == 2 && x < 3 || y > 4", |n, _, c| (n == 1 && c[0] < 6) || c[1] > 8);
}

#[test]
fn what_stands_for_a_constraint_is_shared() {
    let model = "clock x; clock y; process P() { clock x; state A; init A; } system P;";
    let b = built(model, "E<> x < 3 && y > 1 && !(x < 3)\nx < 3 --> x < 3 && P.x < 3\nA[] not deadlock").unwrap();
    assert_eq!(b.network.clocks, ["x", "y", "P.x"]);
    let numbers = |q: &Query| q.atoms.iter().map(|(_, a)| (a.left, a.right)).collect::<Vec<_>>();
    assert_eq!(numbers(&b.queries[0]), [(1, 0), (0, 2)]);
    assert_eq!(numbers(&b.queries[1]), [(1, 0), (3, 0)]);
    assert!(b.queries[2].atoms.is_empty());
    let temps: Vec<VarId> = b.network.temps.iter().filter(|t| t.is_bool).map(|t| t.var).collect();
    assert!(b.queries.iter().flat_map(|q| &q.atoms).all(|(v, _)| temps.contains(v)));
}

#[test]
fn bounds_of_clocks() {
    let model = "clock x, y[3]; int n; process P() { clock c; state A; init A; } system P;";
    let b = built(model, "sup: x\ninf{n > 0 && x < 2}: y[1]\nsup{P.A}: P.c\nsup{x < 2}: n").unwrap();
    let clock = |q: &Query| match q.kind {
        QueryKind::ClockBound { sup, clock, .. } => Some((sup, clock)),
        _ => None,
    };
    let found: Vec<_> = b.queries.iter().map(|q| (clock(q), q.atoms.len())).collect();
    assert_eq!(found, [(Some((true, 1)), 0), (Some((false, 3)), 1), (Some((true, 5)), 0), (None, 1)]);
    for (query, what) in [
        ("sup: y[n]", "must be known beforehand"),
        ("sup: x - y[0]", "computed from clocks"),
        ("sup: x < 2", "of a clock or of data, not of both"),
        ("E<> x", "this is `clock`"),
        ("E<> x + y[0] < 2", "adds two clocks"),
        ("E<> n == x * 2", "can only be compared"),
        ("E<> y < 2", "this is `clock[3]`"),
    ] {
        assert!(built(model, query).is_err_and(|e| e.contains(what)), "{query}");
    }
}

#[test]
fn names_of_clocks() {
    let net = network(
        "typedef struct { int n; clock c; clock d[2]; } S; clock x, y[2][int[1,2]]; S s; S t[2];
         process P(const int[1,2] id, clock &r) { clock l; state A { r <= 2 && l < id }; init A; }
         Q(const int[1,2] id) = P(id, t[1].c); system Q;",
    );
    let expected = "x y[0][1] y[0][2] y[1][1] y[1][2] s.c s.d[0] s.d[1] t[0].c t[1].c t[0].d[0] t[0].d[1] t[1].d[0] \
        t[1].d[1] Q(1).l Q(2).l";
    assert_eq!(net.clocks.join(" "), expected);
    let at = |p: usize| net.processes[p].locations[0].clock_invariant.iter().map(|a| a.left).collect::<Vec<_>>();
    assert_eq!((at(0), at(1)), (vec![10, 15], vec![10, 16]));
    assert_eq!(net.vars.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["s.n", "t.n"]);
    assert!(network("clock x = 0, y[2] = { 0, 0 }; process P() { state A; init A; } system P;").clocks.len() == 3);
    // An old guard: a comma is a conjunction.
    let net = network("clock x, y; process P() { state A; init A; trans A -> A { guard x>=3, y<2; }; } system P;");
    assert_eq!(net.processes[0].edges[0].clock_guard.len(), 2);
}

#[test]
fn urgent_channels_and_priorities() {
    let with = |decls: &str, label: &str| {
        format!("{decls} process P() {{ state A; init A; trans A -> A {{ {label} }}; }} system P;")
    };
    network(&with("clock x; urgent chan c; int n;", "guard n > 0; sync c!; assign x = 0;"));
    network(&with("clock x; urgent chan c; int n;", "guard true || x > 2; sync c!;"));
    network(&with("clock x; broadcast chan c;", "guard x > 2; sync c?;"));
    assert!(refused(&with("clock x; urgent chan c[2];", "guard x > 2; sync c[1]!;")).contains("urgent channel"));
    assert!(network(&with("clock x; chan c; chan priority c < default;", "guard x > 2; sync c!;")).has_priorities);
}

#[test]
fn what_only_costs_need_is_left_out() {
    let text =
        "clock x; hybrid clock cost; double d, e[2]; const double K = 1.5; int n; process P() { hybrid clock own;
        state A { x <= 3 && cost' == 2 * n && own' == 7 }, B; init A;
        trans A -> B { guard x > 2; assign cost = 0, d = K / 2.5, e[n] = d, n = 1; }; } system P;";
    let net = network(text);
    assert_eq!((net.clocks.len(), net.has_rates()), (1, false));
    assert!(network(&text.replace("n = 1;", "n = 1, own = 0;")).processes[0].edges[0].resets.is_empty());
    for (from, to) in [
        ("guard x > 2;", "guard x > 2 && d > 1;"),
        ("guard x > 2;", "guard cost < 5;"),
        ("n = 1;", "n = d;"),
        ("d = K / 2.5", "d = n++"),
        ("cost' == 2 * n", "cost <= 5"),
    ] {
        assert!(
            refused(&text.replace(from, to)).contains("left out")
                || refused(&text.replace(from, to)).contains("which is not supported"),
            "{to}"
        );
    }
}
