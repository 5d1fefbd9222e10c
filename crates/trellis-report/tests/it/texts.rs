//! What a person reads.

use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::interpret::Interpreter;
use trellis_report::{PropertyReport, Style, text};

use crate::world::{LIBRARY, certificate, library, queries_of, query, reports, walk};

#[test]
fn a_run_shows_what_moves_and_what_changes() {
    let net = library();
    let t = walk(&net, &[0, 0, 0, 1, 2]);
    assert_eq!(
        text::trace(&net, &t, Style::default()),
        "     0   User(0).Idle, User(1).Idle, Desk.Closed
         open = false, grid = [[0, 0], [0, 0]], last = 0, User(0).known = false, User(1).known = false,
         Desk.who = 0, pool = {}, load = [0, 0]
     1   Desk: Closed → Open
         open = true, last = -2
     2   User(0): Idle → Reading  login[0]!
         Desk: Open → Open  login[0]?
         User(0).known = true, Desk.who = 1
     3   User(0): Reading → Idle  (w = 0)
         pool = {60}
     4   User(1): Idle → Reading  login[1]!
         Desk: Open → Open  login[1]?
         User(1).known = true, Desk.who = 0
     5   User(1): Reading → Idle  (w = 1)
         grid[1][0] = 1, pool = {60, 61}
"
    );
}

#[test]
fn how_a_run_ends() {
    let (net, all) = reports();
    let end = |i: usize| text::render(&all[i], &net, Style::default()).lines().last().unwrap().trim().to_string();
    assert_eq!(end(4), "the run may end here: time may pass forever");
    assert_eq!(end(6), "… back to state 2, and so on forever");
    let (net, q) = query("process P() { state A, B; init A; trans A -> B { }; } system P;", "A<> false");
    let r = PropertyReport::new("p.xta", "uppaal", &q, Verdict::Unsafe(walk(&net, &[0])));
    assert_eq!(
        text::render(&r, &net, Style::default()),
        "UNSAFE   A<> false    (0.00 s)\n     0   P.A\n     1   P: A → B\n         the run ends here: nothing more can happen\n"
    );
}

#[test]
fn one_line_per_property() {
    let (net, all) = reports();
    let style = Style::default().align(all.iter().map(|r| r.query.as_str()));
    let lines: Vec<String> = all.iter().map(|r| text::line(r, style)).collect();
    assert_eq!(
        lines.concat(),
        "\
UNSAFE   A[] not Desk.Ring          (86 states, 0.01 s; trace replayed: 5 steps)
SAFE     A[] not Desk.Ring          (86 states, 0.01 s; certificate re-validated: 86 elements)
HOLDS    E<> User(0).Lost           (87 states, 0.01 s)
FAILS    E<> User(0).Lost           (87 states, 0.01 s)
UNSAFE   A<> Desk.Ring              (88 states, 0.01 s)
SAFE     A<> Desk.Ring              (88 states, 0.01 s)
HOLDS    E[] true                   (89 states, 0.01 s)
UNKNOWN  Desk.Open --> Desk.Ring    (time limit reached; 90 states, 0.01 s)
BOUND    sup: last = 0              (91 states, 0.01 s)
BOUND    inf: last: no state qualifies    (92 states, 0.01 s)
UNKNOWN  A[] not Desk.Ring          (inconclusive: only joined states reach the target; 86 states, 0.01 s)
"
    );
    let full = text::render(&all[1], &net, Style { verbose: true, ..style });
    assert_eq!(
        full.lines().skip(1).collect::<Vec<_>>(),
        [
            "         assuming monotone transitions (000 Def. 2)",
            "         reach, join update, breadth first",
            "         added 85, stored 86, expanded 87, steps 88, covered 89, joins 90, refinements 91",
        ]
    );
}

#[test]
fn an_inconclusive_join_is_explained() {
    let (net, all) = reports();
    let shown = text::render(&all[10], &net, Style::default());
    let marks: Vec<&str> = shown.lines().filter(|l| l.contains('⊔')).map(str::trim).collect();
    assert_eq!(
        marks,
        [
            "an abstract path leads to the target; ⊔ marks states that are joins:",
            "1 ⊔ Desk: Closed → Open",
            "3 ⊔ User(0): Reading → Idle  (w = 0)"
        ]
    );
    assert_eq!(
        shown.lines().last().unwrap().trim(),
        "step 3 cannot be taken without the join in state 1 (the pivot): try not to join there"
    );
}

#[test]
fn colours_only_if_asked_for() {
    let (net, all) = reports();
    for r in &all {
        let plain = text::render(r, &net, Style::default());
        let painted = text::render(r, &net, Style { color: true, ..Style::default() });
        assert!(!plain.contains('\x1b'));
        let mut stripped = String::new();
        let mut rest = painted.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        assert_eq!(stripped + rest, plain);
    }
    assert!(
        text::line(&all[0], Style { color: true, ..Style::default() }).starts_with("\x1b[1;31mUNSAFE \x1b[0m  A[]")
    );
}

#[test]
fn long_values_are_cut() {
    let model = "extern UnionBitVector; UnionBitVector b[500]; int a[300];
        process P() { state A; init A; trans A -> A { assign b[0] = 1; }; } system P;";
    let (net, _) = queries_of(model, "");
    let mut t = walk(&net, &[0]);
    t.steps[0].state.element.fill(u64::MAX >> 12);
    let shown = text::trace(&net, &t, Style::default());
    let longest = shown.lines().map(|l| l.chars().count()).max().unwrap();
    assert!(longest < 230, "{longest}");
    assert!(shown.contains("b = {0, 1, 2, 3, ") && shown.contains('…'), "{shown}");
}

#[test]
fn a_broken_model_is_reported_with_the_way_there() {
    let model = "int[0, 1] n; process P() { state A; init A; trans A -> A { assign n++; }; } system P;";
    let (net, q) = query(model, "A[] n < 2");
    let t = walk(&net, &[0]);
    let error = Interpreter::new(&net).steps(t.last()).unwrap_err();
    let r = PropertyReport::broken("p.xta", "uppaal", &q, Some(t), &error);
    let shown = text::render(&r, &net, Style::default());
    assert!(shown.starts_with("ERROR    A[] n < 2    ("), "{shown}");
    assert!(shown.contains("test.xta:1:"), "{shown}");
    assert!(shown.ends_with("the model fails here\n"), "{shown}");
}

#[test]
fn what_a_verdict_means_depends_on_the_question() {
    let (net, queries) = queries_of(LIBRARY, "A[] true\nE<> true\nA<> true\nE[] true\ntrue --> true\nsup: last\n");
    let word = |i: usize, v| {
        let r = PropertyReport::new("m", "uppaal", &queries[i], v);
        (r.outcome.word(), r.holds())
    };
    for i in 0..6 {
        assert_eq!(word(i, Verdict::Unknown(Reason::Memory)), ("UNKNOWN", None));
        let found = word(i, Verdict::Unsafe(walk(&net, &[])));
        let none = word(i, Verdict::Safe(certificate(&net, false)));
        let (expect_found, expect_none) = match i {
            1 | 3 => (("HOLDS", Some(true)), ("FAILS", Some(false))),
            5 => (("BOUND", None), ("BOUND", None)),
            _ => (("UNSAFE", Some(false)), ("SAFE", Some(true))),
        };
        assert_eq!((found, none), (expect_found, expect_none));
    }
}
