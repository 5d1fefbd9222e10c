//! What each construct of a model becomes.

use super::{asked, built};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{ClockAtom, Network, ResetTo, Snapshot};

/// A process `P` with variables, one edge with these attributes, and what it needs.
fn with_edge(decls: &str, attributes: &str) -> Network {
    let text = format!(
        "system:s\nevent:e\n{decls}\nprocess:P\nlocation:P:a{{initial:}}\nlocation:P:b\nedge:P:a:b:e{{{attributes}}}\n"
    );
    built(&text).network
}

/// The data after the one step there is; nothing if it is blocked.
fn after(net: &Network) -> Option<Vec<i64>> {
    let interpreter = Interpreter::new(net);
    let initial = interpreter.initial().expect("an initial state");
    let steps: Vec<Snapshot> = interpreter.steps(&initial).expect("no fault").into_iter().map(|(_, s)| s).collect();
    assert!(steps.len() <= 1);
    steps.into_iter().next().map(|s| s.data)
}

const INTS: &str = "int:1:0:9:3:i\nint:1:-5:5:0:j\nint:4:0:9:1:a\nclock:1:x\nclock:1:y\nclock:3:z";

fn run(statements: &str) -> Option<Vec<i64>> {
    after(&with_edge(INTS, &format!("do: {statements}")))
}

fn enabled(guard: &str) -> bool {
    after(&with_edge(INTS, &format!("provided: {guard}"))).is_some()
}

/// The clock constraints of a guard: when it applies, left, right, strict, bound.
fn atoms(guard: &str) -> Vec<(bool, u32, u32, bool, i64)> {
    let net = with_edge(INTS, &format!("provided: {guard}"));
    let shown = |a: &ClockAtom| {
        let bound = net.terms.as_int(a.bound).expect("a constant bound");
        (a.when.is_some(), a.left, a.right, a.strict, bound)
    };
    net.processes[0].edges[0].clock_guard.iter().map(shown).collect()
}

#[test]
fn expressions_over_data() {
    for guard in [
        "i == 3",
        "i + 2 * 2 == 7",
        "(i + 2) * 2 == 10",
        "-i == -3",
        "7 / 2 == 3 && 7 % 2 == 1 && -7 / 2 == -3",
        "a[i] == 1",
        "a[i - 3] != 0",
        "i",
        "!j",
        "!i == 4",
        "!!i",
        "1 < i <= 3",
        "(if i > 2 then 5 else 6) == 5",
        "if i > 2 && j == 0 then 1 else 0",
        "(i == 3 && (j == 0))",
        "i\n  == 3",
    ] {
        assert!(enabled(guard), "{guard}");
    }
    for guard in ["i != 3", "j", "!i", "!i == 3", "3 < i <= 5", "1 <= i < 3", "i == 3 && j == 1"] {
        assert!(!enabled(guard), "{guard}");
    }
}

#[test]
fn clock_constraints() {
    assert_eq!(atoms("x < 3"), [(false, 1, 0, true, 3)]);
    assert_eq!(atoms("x <= 2 * 3"), [(false, 1, 0, false, 6)]);
    assert_eq!(atoms("x > 3"), [(false, 0, 1, true, -3)]);
    assert_eq!(atoms("x >= 3"), [(false, 0, 1, false, -3)]);
    assert_eq!(atoms("x == 3"), [(false, 1, 0, false, 3), (false, 0, 1, false, -3)]);
    assert_eq!(atoms("3 > x"), [(false, 1, 0, true, 3)]);
    assert_eq!(atoms("3 <= x"), [(false, 0, 1, false, -3)]);
    assert_eq!(atoms("x - y < 3"), [(false, 1, 2, true, 3)]);
    assert_eq!(atoms("x - y >= -3"), [(false, 2, 1, false, 3)]);
    assert_eq!(atoms("3 < x - y"), [(false, 2, 1, true, -3)]);
    assert_eq!(atoms("x < y + 3"), [(false, 1, 2, true, 3)]);
    assert_eq!(atoms("!(x < 3)"), [(false, 0, 1, false, -3)]);
    assert_eq!(atoms("!!(x < 3)"), [(false, 1, 0, true, 3)]);
    assert_eq!(atoms("1 < x <= 5"), [(false, 0, 1, true, -1), (false, 1, 0, false, 5)]);
    assert_eq!(atoms("z[1] <= 4"), [(false, 4, 0, false, 4)]);
    let each: Vec<_> = (3..6).map(|c| (true, c, 0, false, 4)).collect();
    assert_eq!(atoms("z[i - 2] <= 4"), each);
    assert_eq!(atoms("z[i % 3] - z[0] < 1").len(), 3);
    assert_eq!(atoms("x - x < 1"), []);
}

#[test]
fn a_guard_has_a_part_for_data_and_one_for_clocks() {
    let net = with_edge(INTS, "provided: x > 1 && i == 4 && y < i");
    let edge = &net.processes[0].edges[0];
    assert_eq!(edge.clock_guard.len(), 2);
    assert!(net.terms.as_int(edge.clock_guard[1].bound).is_none(), "the bound depends on data");
    assert_eq!(after(&net), None, "4 is not 3");
    let net = with_edge(INTS, "provided: x > 1");
    assert_eq!(net.terms.as_bool(net.processes[0].edges[0].guard.holds), Some(true));
}

#[test]
fn statements_over_data() {
    assert_eq!(run("nop"), Some(vec![3, 0, 1, 1, 1, 1]));
    assert_eq!(run("i = i + 1; j = i;"), Some(vec![4, 4, 1, 1, 1, 1]));
    assert_eq!(run("a[i] = 7; a[a[i] - 7] = 2"), Some(vec![3, 0, 2, 1, 1, 7]));
    assert_eq!(run("if i == 3 then j = 1 else j = 2 end"), Some(vec![3, 1, 1, 1, 1, 1]));
    assert_eq!(run("if i == 4 then j = 1; else j = 2; end; i = 0"), Some(vec![0, 2, 1, 1, 1, 1]));
    assert_eq!(run("if i then nop end"), Some(vec![3, 0, 1, 1, 1, 1]));
    assert_eq!(run("while i > 0 do i = i - 1; j = j + 1 end"), Some(vec![0, 3, 1, 1, 1, 1]));
    assert_eq!(run("local k; k = 100; j = k - 98"), Some(vec![3, 2, 1, 1, 1, 1]));
    assert_eq!(run("local k = i * i; j = k - 7"), Some(vec![3, 2, 1, 1, 1, 1]));
    assert_eq!(run("local t[3]; t[1] = 20; j = t[0] + t[1] - 18"), Some(vec![3, 2, 1, 1, 1, 1]));
    assert_eq!(
        run("while i > 0 do local k; k = k + 1; i = i - k; j = k end"),
        Some(vec![0, 1, 1, 1, 1, 1]),
        "a local variable is 0 each time"
    );
}

#[test]
fn what_does_not_fit_blocks_the_step() {
    assert_eq!(run("i = 10"), None);
    assert_eq!(run("i = -1"), None);
    assert_eq!(run("i = i + 6"), Some(vec![9, 0, 1, 1, 1, 1]));
    assert_eq!(run("i = i + 7"), None);
    assert_eq!(run("i = i + 7; i = 0"), None, "even if it is mended later");
    assert_eq!(run("a[0] = 10"), None);
    assert_eq!(run("j = -5"), Some(vec![3, -5, 1, 1, 1, 1]));
    assert_eq!(run("if i == 4 then i = 99 end"), Some(vec![3, 0, 1, 1, 1, 1]));
}

#[test]
fn an_index_outside_faults() {
    for text in ["a[i + 1] = 0", "j = a[i + 1]", "j = 1 / (i - 3)"] {
        let net = with_edge(INTS, &format!("do: {text}"));
        let interpreter = Interpreter::new(&net);
        let initial = interpreter.initial().expect("an initial state");
        assert!(interpreter.steps(&initial).is_err(), "{text}");
    }
}

/// The clocks an edge sets: whether always, which, and to what.
fn resets(statements: &str) -> Vec<(bool, u32, String)> {
    let net = with_edge(INTS, &format!("do: {statements}"));
    let to = |r| match r {
        ResetTo::Clock(c) => format!("clock {c}"),
        ResetTo::Value(t) => net.terms.as_int(t).map_or("data".into(), |n| n.to_string()),
    };
    net.processes[0].edges[0].resets.iter().map(|r| (r.when.is_none(), r.clock, to(r.to))).collect()
}

#[test]
fn clocks_are_set() {
    assert_eq!(resets("x = 0; y = 2"), [(true, 1, "0".into()), (true, 2, "2".into())]);
    assert_eq!(resets("x = y"), [(true, 1, "clock 2".into())]);
    assert_eq!(resets("x = y + 0"), [(true, 1, "clock 2".into())]);
    assert_eq!(resets("x = i"), [(true, 1, "data".into())]);
    assert_eq!(resets("z[2] = 0"), [(true, 5, "0".into())]);
    assert_eq!(resets("z[i - 1] = 0").len(), 3);
    assert_eq!(resets("x = z[i - 1]").len(), 3);
    assert_eq!(resets("if i == 3 then x = 0 else y = 0 end"), [(false, 1, "0".into()), (false, 2, "0".into())]);
}

/// The value of a clock is the one its variable had at the assignment: it is kept in a temporary.
#[test]
fn a_clock_gets_the_value_of_its_moment() {
    let net = with_edge(INTS, "do: x = i; i = 0; if i == 0 then i = 1; y = 0 end");
    let edge = &net.processes[0].edges[0];
    let ResetTo::Value(value) = edge.resets[0].to else { panic!("a value") };
    let i = net.vars[0].var;
    let used = net.terms.subterms([value, edge.resets[1].when.expect("a condition")]);
    let reads = |t: &trellis_expr::TermId| matches!(net.terms.get(*t), trellis_expr::Term::Var(v) if *v == i);
    assert!(!used.iter().any(reads), "`i` has changed when clocks are set");
}

#[test]
fn locations_and_their_attributes() {
    let net = built(
        "system:s\nprocess:P\nclock:1:x\nint:1:0:1:0:i\n\
         location:P:a{labels: l, m : committed:}\n\
         location:P:b{initial: : invariant: x <= 3 && i == 0 : urgent:}\n\
         location:P:c{labels: m\n  : invariant: x < 1}\n",
    );
    let p = &net.network.processes[0];
    assert_eq!(p.init, 1);
    assert!(p.locations[0].committed && !p.locations[0].urgent);
    assert!(p.locations[1].urgent && p.locations[1].invariant.is_some());
    assert_eq!(p.locations[1].clock_invariant.len(), 1);
    assert!(p.locations[2].invariant.is_none());
    assert_eq!(net.labels, [("l".into(), vec![(0, 0)]), ("m".into(), vec![(0, 0), (0, 2)])]);
    assert!(net.warnings.is_empty());
}

#[test]
fn synchronisation() {
    let net = built(
        "system:s\nevent:a\nevent:b\nprocess:P\nlocation:P:l{initial:}\nedge:P:l:l:a\nedge:P:l:l:b{}\n\
         process:Q\nlocation:Q:l{initial:}\nedge:Q:l:l:a\nsync:Q@b?:P@a # comment\n",
    );
    assert!(net.warnings.is_empty());
    let net = net.network;
    assert_eq!(net.vectors.len(), 1);
    let parts: Vec<_> = net.vectors[0].parts.iter().map(|p| (p.process, p.event, p.weak)).collect();
    assert_eq!(parts, [(0, 0, false), (1, 1, true)]);
    let events: Vec<_> = net.processes.iter().flat_map(|p| p.edges.iter().map(|e| e.event)).collect();
    assert_eq!(events, [Some(0), None, None], "only `a` of P is synchronous");
    assert!(net.processes[0].edges.iter().all(|e| e.sync.is_none()));
    assert_eq!(&*net.processes[0].edges[1].place, "model.tck:7:1");
    assert_eq!(net.processes[0].edges[1].origin, 1);
}

#[test]
fn an_order_that_matters_is_warned_of() {
    let text = |sync: &str| {
        format!(
            "system:s\nevent:a\nint:1:0:5:0:i\nprocess:P\nlocation:P:l{{initial:}}\nedge:P:l:l:a{{do: i = 1}}\n\
             process:Q\nlocation:Q:l{{initial:}}\nedge:Q:l:l:a{{do: i = i + 1}}\nsync:{sync}\n"
        )
    };
    assert_eq!(built(&text("Q@a:P@a")).warnings.len(), 1);
    assert!(built(&text("P@a:Q@a")).warnings.is_empty());
}

#[test]
fn unknown_attributes_are_refused() {
    let text = "system:s{a: b}\nevent:e\nprocess:P\nlocation:P:l{initial: : foo: bar}\nedge:P:l:l:e{povided: x<1}\n";
    let said = asked(text, &[], "").err().expect("three attributes that nobody knows");
    for (what, help) in
        [("`a` of this system", "remove it"), ("`foo` of this location", ""), ("`povided` of this edge", "provided")]
    {
        assert!(said.contains(what) && said.contains(help), "{what}: {said}");
    }
}

#[test]
fn blanks_line_ends_and_dotted_names() {
    let net = built(
        "\u{feff}\r\n# a\r\nsystem : s\r\nprocess : P.1\r\nclock:1:P.1.x\r\nevent : e # no more\r\n\
         location : P.1 : l {initial:}\r\nedge:P.1:l:l:e{provided: P.1.x<3}",
    );
    assert_eq!(net.network.processes[0].edges[0].clock_guard.len(), 1);
}
