//! Labels and queries about a model.

use super::asked;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Query, QueryKind};

const MODEL: &str = "system:s\nevent:e\nint:1:0:5:2:i\nint:2:0:5:1:a\nclock:1:x\nclock:2:z\n\
    process:P\nlocation:P:l{initial: : labels: start, here}\nlocation:P:m{labels: there}\nedge:P:l:m:e{do: i = 3}\n\
    process:Q\nlocation:Q:l{initial: : labels: here}\n";

fn ask(queries: &str) -> Vec<Query> {
    asked(MODEL, &[], queries).unwrap_or_else(|e| panic!("{e}")).queries
}

/// Does the condition of the query hold in the initial state?
fn holds(labels: &[&str], text: &str) -> bool {
    let built = asked(MODEL, labels, text).unwrap_or_else(|e| panic!("{e}"));
    let (QueryKind::Possibly(c) | QueryKind::Always(c)) = built.queries[0].kind else { panic!("{text}") };
    let interpreter = Interpreter::new(&built.network);
    let initial = interpreter.initial().expect("an initial state");
    interpreter.holds(&c, built.queries[0].deadlock, &initial).expect("no fault")
}

fn refused(labels: &[&str], queries: &str) -> String {
    asked(MODEL, labels, queries).err().unwrap_or_else(|| panic!("nothing is wrong with {queries}"))
}

#[test]
fn sets_of_labels() {
    assert!(holds(&["start,here"], ""));
    assert!(holds(&["start:here"], ""));
    assert!(!holds(&["start, there"], ""));
    let built = asked(MODEL, &["start,here", "there"], "").unwrap_or_else(|e| panic!("{e}"));
    let texts: Vec<_> = built.queries.iter().map(|q| q.text.as_str()).collect();
    assert_eq!(texts, ["E<> start && here", "E<> there"]);
    let error = refused(&["start,thre"], "");
    assert!(error.contains("no location has the label `thre`") && error.contains("--labels:1:7"), "{error}");
    assert!(error.contains("did you mean `there`? There are: start, here, there"), "{error}");
    assert!(refused(&["a,,b"], "").contains("expected a label"));
}

#[test]
fn conditions() {
    for text in [
        "E<> P.l",
        "E<> P.l and Q.l and not P.m",
        "E<> i == 2 && a[1] == 1",
        "E<> P.m or i + a[0] > 2",
        "E<> start",
        "E<> P.m imply false",
        "E<> here == true",
        "E<> (i == 2 ? 1 : 0) == 1",
        "A[] not deadlock",
    ] {
        assert!(holds(&[], text), "{text}");
    }
    for text in ["E<> P.m", "E<> there", "E<> deadlock", "E<> i < 2"] {
        assert!(!holds(&[], text), "{text}");
    }
}

#[test]
fn clocks_become_temporaries() {
    let found = ask("E<> P.l && x > 3");
    let [(var, atom)] = found[0].atoms[..] else { panic!("one constraint") };
    assert_eq!((atom.left, atom.right, atom.strict, atom.when), (0, 1, true, None));
    let built = asked(MODEL, &[], "E<> x == 3 or x != 1").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(built.queries[0].atoms.len(), 4);
    assert!(built.network.temps.iter().filter(|t| t.is_bool).count() >= 4);
    assert!(var.index() > 0);
    assert_eq!(ask("A[] z[i - 2] <= 4")[0].atoms.len(), 2);
    assert_eq!(ask("A[] x - z[1] < 2 || x > i")[0].atoms.len(), 2);
}

#[test]
fn kinds() {
    let found = ask("A<> P.m\nE[] P.l\nP.l --> P.m\nsup: i\ninf{P.m}: i + 1\nsup: x\ninf{P.l}: z[1]\nsup{x > 1}: i\n");
    assert!(matches!(found[0].kind, QueryKind::Eventually(_)));
    assert!(matches!(found[1].kind, QueryKind::PotentiallyAlways(_)));
    assert!(matches!(found[2].kind, QueryKind::LeadsTo(..)));
    assert!(matches!(found[3].kind, QueryKind::Bound { sup: true, .. }));
    assert!(matches!(found[4].kind, QueryKind::Bound { sup: false, .. }));
    assert!(matches!(found[5].kind, QueryKind::ClockBound { sup: true, clock: 1, .. }));
    assert!(matches!(found[6].kind, QueryKind::ClockBound { sup: false, clock: 3, .. }));
    assert_eq!(found[7].atoms.len(), 1);
    assert!(ask("A[] not deadlock")[0].deadlock && !ask("A[] P.l")[0].deadlock);
}

#[test]
fn refusals_have_a_place_and_a_name() {
    for (text, place, message) in [
        ("E<> P.n", "1:5", "no location in process `P` named `n`"),
        ("E<> P", "1:5", "`P` is a process"),
        ("E<> k == 1", "1:5", "no location, variable, clock or label `k`"),
        ("E<> x", "1:5", "a clock has no value"),
        ("E<> x * 2 > 3", "1:5", "a clock has no value"),
        ("E<> x + z[0] > 3", "1:5", "a sum of clocks"),
        ("E<> a == 1", "1:5", "`a` is an array"),
        ("E<> i[0] == 1", "1:5", "`i` is no array"),
        ("E<> a[2] == 1", "1:7", "index 2 is outside the array"),
        ("E<> z > 1", "1:5", "`z` is an array of clocks"),
        ("E<> f(1)", "1:5", "a call is not supported"),
        ("E<> forall (k : int[0,1]) a[k] == 1", "1:5", "a quantifier is not supported"),
        ("E<> (i & 1) == 1", "1:5", "this operator is not supported"),
        ("sup: x - z[0]", "1:6", "the bound of an expression over clocks"),
        ("sup: z[i]", "1:6", "which clock is meant"),
        ("control: A[] P.l", "1:1", "control is not supported"),
    ] {
        let error = refused(&[], text);
        assert!(error.contains(message) && error.contains(&format!("queries.q:{place}\n")), "{text}\n{error}");
    }
}
