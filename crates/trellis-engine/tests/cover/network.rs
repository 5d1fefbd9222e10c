//! Random networks of automata without clocks as hierarchical transition systems: verdicts against a plain search with the interpreter.

use std::collections::BTreeSet;
use std::fmt::Write;

use trellis_engine::hierarchy::{Options, cegar, cegar_in};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::tree::Condition;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::parts::{Error, parts};
use trellis_model::network::{Network, Query, QueryKind, Snapshot};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::build::{Options as Reading, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xta};

use crate::random::Random;
use crate::tree::{runs, ways};

fn load(model: &str, queries: &str) -> (Network, Vec<Query>) {
    let mut sources = Sources::default();
    let id = sources.add("model.xta", model);
    let (nta, errors) = parse_xta(id, model);
    assert!(errors.is_empty(), "{}\n{model}", render(&errors, &sources, false));
    let id = sources.add("queries.q", queries);
    let (queries, errors) = parse_queries(id, queries);
    assert!(errors.is_empty(), "{}", render(&errors, &sources, false));
    let questions = Questions { queries, ..Questions::default() };
    match build(&nta, &questions, &sources, &Reading::default()) {
        Ok(built) => (built.network, built.queries),
        Err(errors) => panic!("{}\n{model}", render(&errors, &sources, false)),
    }
}

fn model(r: &mut Random) -> (String, String) {
    let n = 2 + r.below(3);
    let shared = r.chance(30);
    let mut text = "chan a, b, c[2];\nint[0, 2] g = 0;\nconst int K = 1;\n".to_string();
    for p in 0..n {
        let locations = 2 + r.below(2);
        let names: Vec<String> = (0..locations).map(|l| format!("L{l}")).collect();
        let _ =
            writeln!(text, "process P{p}() {{\n  int[0, 2] x = 0;\n  state {};\n  init L0;\n  trans", names.join(", "));
        let edges = 2 + r.below(3);
        for e in 0..edges {
            let (from, to) = (r.pick(&names), r.pick(&names));
            let guard = r.pick(&["x < 2", "x == K", "x > 0", "true", "true"]);
            let guard = if shared && r.chance(30) { "g == 0".to_string() } else { guard.to_string() };
            let sync = r.pick(&[
                "",
                "",
                "sync a!; ",
                "sync a?; ",
                "sync b!; ",
                "sync b?; ",
                "sync c[x % 2]!; ",
                "sync c[1]?; ",
            ]);
            let update = r.pick(&["x = (x + 1) % 3", "x = 0", "x = 2 - x", "x = K"]);
            let update = if shared && r.chance(30) { "g = (g + 1) % 3" } else { update };
            let end = if e + 1 == edges { ";" } else { "," };
            let _ = writeln!(text, "    {from} -> {to} {{ guard {guard}; {sync}assign {update}; }}{end}");
        }
        let _ = writeln!(text, "}}");
    }
    let all: Vec<String> = (0..n).map(|p| format!("P{p}")).collect();
    let _ = writeln!(text, "system {};", all.join(", "));
    let atom = |r: &mut Random| {
        let p = r.below(n);
        match r.below(4) {
            0 => format!("P{p}.x == {}", r.below(3)),
            1 => format!("P{p}.x < P{}.x", r.below(n)),
            2 if shared => format!("g == {}", r.below(3)),
            _ => format!("P{p}.L{}", r.below(2)),
        }
    };
    let query = format!("E<> {} && {} && ({} || {})", atom(r), atom(r), atom(r), atom(r));
    (text, query)
}

fn reachable(net: &Network) -> Option<BTreeSet<Snapshot>> {
    let interpreter = Interpreter::new(net);
    let first = interpreter.initial().ok()?;
    let mut seen = BTreeSet::from([first.clone()]);
    let mut waiting = vec![first];
    while let Some(s) = waiting.pop() {
        for (_, next) in interpreter.steps(&s).ok()? {
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    Some(seen)
}

#[test]
fn networks_agree_with_the_interpreter() {
    let (mut done, mut found_bad, mut refined) = (0, 0, 0);
    for seed in 1..=runs(150) {
        let mut r = Random::new(seed);
        let (text, query) = model(&mut r);
        let (net, queries) = load(&text, &query);
        let QueryKind::Possibly(p) = queries[0].kind else { panic!("{query}") };
        let context = format!("seed {seed}: {query}\n{text}");
        let Some(all) = reachable(&net) else { continue };
        let interpreter = Interpreter::new(&net);
        let reached = all.iter().any(|s| interpreter.holds(&p, false, s).unwrap());
        let parts = match parts(&net, 100_000) {
            Ok(parts) => parts,
            Err(Error::Undefined(..)) => continue,
            Err(why) => panic!("{why}: {context}"),
        };
        done += 1;
        found_bad += u64::from(reached);
        let bad = parts.condition(&net, &p).unwrap_or_else(|e| panic!("{e}: {context}"));
        let mut any = false;
        for options in ways() {
            let found = cegar_in(&parts.tree, &bad, &parts.rows(), &options, &mut Meter::unlimited());
            let context = format!("{options:?}, {context}");
            any |= found.refinements > 0;
            match &found.verdict {
                Verdict::Safe(c) => {
                    assert!(!reached, "{context}");
                    trellis_check::tree::certify(&parts.tree, &bad, c).unwrap_or_else(|e| panic!("{e}: {context}"));
                }
                Verdict::Unsafe(t) => {
                    assert!(reached, "{context}");
                    let trace = parts.trace(&net, t).unwrap_or_else(|| panic!("no run of the network: {context}"));
                    trellis_check::replay(&net, &queries[0], &trace).unwrap_or_else(|e| panic!("{e}: {context}"));
                }
                Verdict::Unknown(why) => panic!("{why}: {context}"),
            }
        }
        refined += u64::from(any);
        // Every state of the tree that can be reached is one of the network's, and the other way round.
        let nothing = Condition::Constant(false);
        let every = Options { neat: trellis_engine::hierarchy::cover::Neat::All, ..Options::default() };
        assert!(matches!(cegar(&parts.tree, &nothing, &every, &mut Meter::unlimited()).verdict, Verdict::Safe(_)));
        let mut states = BTreeSet::from([vec![0_u32; parts.tree.nodes().len()]]);
        let mut waiting: Vec<Vec<u32>> = states.iter().cloned().collect();
        while let Some(s) = waiting.pop() {
            for next in parts.tree.successors(&s, 1 << 20).unwrap() {
                if states.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        let told: BTreeSet<Snapshot> = states.iter().map(|s| parts.snapshot(&net, s)).collect();
        assert_eq!(told, all, "{context}");
    }
    eprintln!("{done} networks, {found_bad} with a run, {refined} refined");
    assert!(found_bad > 0 && found_bad < done && refined > 0);
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    for (text, why) in [
        ("clock x; process P() { state A; init A; } system P;", "clock"),
        ("broadcast chan a; process P() { state A; init A; } system P;", "broadcast channel `a`"),
        ("process P() { state A, B; commit B; init A; } system P;", "committed location `P.B`"),
        ("chan a, b; chan priority a < b; process P() { state A; init A; } system P;", "priorities"),
    ] {
        let (net, _) = load(text, "");
        let refused = parts(&net, 1000).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}
