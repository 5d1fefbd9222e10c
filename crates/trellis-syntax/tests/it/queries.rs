//! Queries, and where one ends and the next begins.

use trellis_syntax::uppaal::ast::{Query, QueryKind};
use trellis_syntax::uppaal::parse_queries;

use crate::show::{SOURCE, show};

fn queries(text: &str) -> Vec<Query> {
    let (queries, diags) = parse_queries(SOURCE, text);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    queries
}

fn kinds(text: &str) -> Vec<String> {
    let kinds = queries(text).into_iter().map(|q| match &q.kind {
        QueryKind::Possibly(e) => format!("E<> {}", show(e)),
        QueryKind::Invariantly(e) => format!("A[] {}", show(e)),
        QueryKind::PotentiallyAlways(e) => format!("E[] {}", show(e)),
        QueryKind::Eventually(e) => format!("A<> {}", show(e)),
        QueryKind::LeadsTo(a, b) => format!("{} --> {}", show(a), show(b)),
        QueryKind::Bounds { sup, when, of } => {
            let word = if *sup { "sup" } else { "inf" };
            let when = when.as_ref().map_or(String::new(), |e| format!("{{{}}}", show(e)));
            format!("{word}{when}: {}", of.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        QueryKind::Unsupported(what) => format!("<{what}>"),
        QueryKind::Malformed(errors) => panic!("{errors:?}"),
    });
    kinds.collect()
}

#[test]
fn all_kinds() {
    assert_eq!(
        kinds("E<> P.a\nA[]not deadlock\nE[] x>1\nA<>(y)\nP.a --> P.b && x' == 1\n"),
        ["E<> P.a", "A[] (Not deadlock)", "E[] (x Gt 1)", "A<> y", "P.a --> (P.b And (x' Eq 1))"]
    );
    assert_eq!(kinds("sup: x, y\ninf{P.a && z}: x + 1"), ["sup: x", "sup: y", "inf{(P.a And z)}: (x Add 1)"]);
    assert_eq!(kinds("bounds{P.a}: x, y"), ["inf{P.a}: x", "sup{P.a}: x", "inf{P.a}: y", "sup{P.a}: y"]);
    assert_eq!(kinds("{P.a} --> {P.b}\nP.a --> P.b"), ["P.a --> P.b", "P.a --> P.b"]);
    assert_eq!(kinds("A [ ] sup > inf; E < > A"), ["A[] (sup Gt inf)", "E<> A"]);
}

#[test]
fn what_is_not_supported_is_named() {
    let text = "Pr[<=100; 5](<> P.a) >= 0.5\nE[<=10; 5](max: x)\nsimulate [<=10] {x, y}\ncontrol: A[] x\n\
        strategy S = control: A<> y\nminE(x)[<=5] : <> y\nA[] x under S\nA[ x U y ]\n{a, b} control: A[] c\nE<> z\n\
        control_t*(1, 2): A<> x\nsaveStrategy(\"a\", S)\nE<> control: x";
    assert_eq!(
        kinds(text),
        [
            "<Pr>",
            "<E[…](…)>",
            "<simulate>",
            "<control>",
            "<strategy>",
            "<minE>",
            "<under>",
            "<A[… U …]>",
            "<{…} control:>",
            "E<> z",
            "<control_t>",
            "<saveStrategy>",
            "<E<> control:>",
        ]
    );
}

#[test]
fn lines_end_queries_unless_they_cannot() {
    // After a backslash, inside brackets, after an operator, before an operator.
    assert_eq!(kinds("E<> a \\\n and b\nE<> (a\n and\n b)\nE<> a and\n b\nE<> a\n and b\n"), vec!["E<> (a And b)"; 4]);
    // What could go on does not.
    assert_eq!(kinds("E<> a\n(b) --> c\nE<> d\n"), ["E<> a", "b --> c", "E<> d"]);
    assert_eq!(kinds("E<> a; A[] b ;\n;;E<> c"), ["E<> a", "A[] b", "E<> c"]);
    assert_eq!(kinds("// nothing\n/* here */"), Vec::<String>::new());
    assert_eq!(kinds("E<> a\r\nE<> b\r\n"), ["E<> a", "E<> b"]);
}

#[test]
fn text_and_comment_are_kept() {
    let list = queries("// header\n\n// Can it\n/* be\n * so? */\nE<> a \\\n  and b\n\nA[] c // yes\nE<> d");
    assert_eq!(list[0].comment, "Can it\nbe\nso?");
    assert_eq!(list[0].text, "E<> a and b");
    assert_eq!((list[1].comment.as_str(), list[1].text.as_str()), ("", "A[] c"));
    assert_eq!(list[2].comment, "");
}

#[test]
fn one_bad_query_does_not_hide_the_others() {
    let (queries, diags) = parse_queries(SOURCE, "E<> a\nA[] )\nE<> b\n");
    let bad: Vec<_> = queries.iter().map(|q| matches!(&q.kind, QueryKind::Malformed(why) if !why.is_empty())).collect();
    assert_eq!((bad, diags.len()), (vec![false, true, false], 1));
}
