//! What 003 says of its example (§5, Table 1), and what the language says of simultaneous updates.

use trellis_engine::wsts::lazy::{Control, Options, counted, told};
use trellis_meter::Meter;
use trellis_model::counter::System;
use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_model::evidence::Reason;
use trellis_model::refinements::End;
use trellis_syntax::diag::Sources;
use trellis_syntax::spec::parse;

use crate::generator::{ask, engines};

const TABLE_1: &str = "vars x y z rules
    true -> y' = 1;
    y >= 2 -> x' = 1, y' = 0;
    x >= 1 -> x' = x + 1;
    x >= 1 -> x' = x - 1, y' = y + 1;
    true -> z' = x;
    x >= 1 -> y' = y + 1;
    y >= 2 -> y' = y - 1, x' = x + 1;
    true -> z' = y;
    init x = 0, y = 0, z = 0 target z >= 2";

pub fn read(text: &str) -> System {
    let mut sources = Sources::default();
    let id = sources.add("test", text);
    parse(&sources, id).expect("a system").system
}

#[test]
fn the_example_is_safe_after_a_few_refinements_of_the_root() {
    let system = read(TABLE_1);
    for (start_atoms, linear) in [(false, false), (true, false), (true, true)] {
        let options = Options { start_atoms, linear, ..Options::default() };
        let (outcome, counts) = counted(&system, &options, &mut Meter::unlimited());
        let Verdict::Safe(c) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
        trellis_check::counter::certify(&system, &c).unwrap();
        assert_eq!(matches!(c, Certificate::Above { .. }), !linear);
        assert!(outcome.stats.refinements <= 4, "{:?}", outcome.stats);
        assert_eq!(counts.at_root, outcome.stats.refinements);
    }
}

/// What the history tells is what the paper says of its example, and what was counted.
#[test]
fn the_history_follows_the_paper() {
    let system = read(TABLE_1);
    let options = Options { linear: true, ..Options::default() };
    let (outcome, _, history) = told(&system, &options, true, &mut Meter::unlimited());
    let history = history.expect("it was kept");
    assert_eq!(history.rounds.len() as u64, outcome.stats.refinements + 1);
    assert_eq!(history.rounds.last().expect("one").end, End::Closed);
    assert_eq!(history.precisions[0], ["x >= 1", "y >= 1", "z >= 1", "z >= 2"]);
    let mut brought = vec![];
    for round in &history.rounds {
        let ids: Vec<u32> = round.nodes.iter().map(|n| n.id).collect();
        for n in &round.nodes {
            assert!(n.parent.as_ref().is_none_or(|p| ids.contains(&p.0)), "parents are told");
        }
        let End::Refined { trace, commands, new, deleted, .. } = &round.end else { continue };
        assert_eq!(trace.len(), commands.len() + 1);
        // Only the pivot misses its error region; here it is always the root.
        assert!(trace.iter().enumerate().all(|(n, c)| c.meets == (n + 1 < trace.len())));
        assert_eq!(trace.last().expect("a pivot").node, 0);
        assert_eq!(deleted.len() + 1, round.nodes.len(), "the whole tree hangs from the root");
        brought.extend(new.iter().cloned());
    }
    // What tells `y = 1` from `y ≠ 0`; the search meets c1 c8 before c1 c2 c3 c5, whose atom it is, too.
    assert!(brought.contains(&"y >= 2".to_string()), "{brought:?}");
}

/// §5 on the paper's own atoms: without refining the root there is no end.
#[test]
fn linear_atoms_diverge_under_the_adverse_control_too() {
    let system = read(TABLE_1);
    let options = Options { linear: true, control: Control::Adverse, ..Options::default() };
    let (outcome, counts) = counted(&system, &options, &mut Meter::unlimited().states(Some(60)));
    assert!(matches!(outcome.verdict, Verdict::Unknown(Reason::Iterations)), "{:?}", outcome.verdict);
    assert_eq!(counts.at_root, 0);
    assert!(outcome.stats.refinements > 0);
}

#[test]
fn another_control_grows_until_the_budget_ends_it() {
    let system = read(TABLE_1);
    let mut last = (0, 0);
    for states in [200, 1000, 4000] {
        let options = Options { control: Control::Adverse, ..Options::default() };
        let (outcome, counts) = counted(&system, &options, &mut Meter::unlimited().states(Some(states)));
        assert!(matches!(outcome.verdict, Verdict::Unknown(Reason::Iterations)), "{:?}", outcome.verdict);
        assert_eq!(counts.at_root, 0);
        let now = (outcome.stats.refinements, counts.predicates);
        assert!(now.0 > last.0 && now.1 > last.1, "{now:?} after {last:?}");
        last = now;
    }
}

#[test]
fn updates_are_simultaneous() {
    let cases = [
        // A reset forgets: a tool that ignores it would reach two.
        ("true -> x' = x + 1; x >= 1 -> x' = 0, y' = y + 1; init x = 0, y = 0 target y >= 2", false),
        ("x >= 1 -> x' = 0; y >= 1 -> x' = 1, y' = y - 1; init x = 0, y >= 0 target x >= 2", true),
        // y is what x was, not more.
        ("true -> y' = x, x' = 0; true -> x' = 1; init x = 0, y = 0 target y >= 2", true),
        ("true -> y' = x, x' = y; init x = 1, y = 0 target y >= 1", false),
        ("true -> y' = x, x' = y; init x = 1, y = 0 target x >= 1, y >= 1", true),
    ];
    for (rules, safe) in cases {
        let system = read(&format!("vars x y rules {rules}"));
        for engine in engines(false) {
            let verdict = ask(&system, &engine, None).verdict;
            assert_eq!(matches!(verdict, Verdict::Safe(_)), safe, "{engine}: {rules}");
            assert_eq!(matches!(verdict, Verdict::Unsafe(_)), !safe, "{engine}: {rules}");
        }
    }
}

#[test]
fn a_run_through_an_abstracted_zero_test_is_no_answer() {
    // Only whoever loses x may take the second rule.
    let system = read(
        "vars x y z rules y >= 1 -> x' = x + 1, y' = y - 1; x = 0, y = 0 -> z' = z + 1; init x = 0, y = 1, z = 0 target z >= 1",
    );
    for engine in engines(false) {
        assert!(matches!(ask(&system, &engine, None).verdict, Verdict::Unknown(Reason::Stuck(_))), "{engine}");
    }
}
