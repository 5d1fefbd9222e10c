//! Small random timed networks.

use std::fmt::Write;

use crate::load::load;
use crate::{oracle, zones};

/// What the networks may have.
#[derive(Clone, Copy, PartialEq)]
enum Flavour {
    Plain,
    /// Differences of clocks in guards and questions.
    Diagonal,
    /// Three clocks, greater constants, bounds that depend on data.
    Wide,
}

struct Random(u64, Flavour);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

fn clock(r: &mut Random) -> &'static str {
    if r.1 == Flavour::Wide { r.pick(&["x", "y", "w"]) } else { r.pick(&["x", "y"]) }
}

/// A clock constraint.
fn compare(r: &mut Random) -> String {
    let (x, op) = (clock(r), r.pick(&["<", "<=", ">", ">=", "=="]));
    let flavour = r.1;
    match flavour {
        Flavour::Diagonal if r.chance(40) => {
            let c = r.below(4) as i64 - 2;
            format!("x - y {} {c}", r.pick(&["<", "<=", ">", ">="]))
        }
        Flavour::Wide if r.chance(15) => format!("{x} {op} n + 1"),
        Flavour::Wide => format!("{x} {op} {}", r.below(5)),
        _ => format!("{x} {op} {}", r.below(3)),
    }
}

fn guard(r: &mut Random) -> String {
    let mut parts = Vec::new();
    while r.chance(55) && parts.len() < 2 {
        parts.push(compare(r));
    }
    if r.chance(15) {
        parts.push(format!("n == {}", r.below(2)));
    }
    parts.join(" && ")
}

fn process(r: &mut Random, name: &str, out: &mut String) {
    let locations = 2 + r.below(2);
    writeln!(out, "process {name}() {{\nstate").unwrap();
    let mut urgent = Vec::new();
    let mut committed = Vec::new();
    for l in 0..locations {
        let invariant = match r.below(10) {
            0..4 => format!(
                " {{ {} {} {} }}",
                clock(r),
                r.pick(&["<=", "<"]),
                1 + r.below(2 + u64::from(r.1 == Flavour::Wide))
            ),
            _ => String::new(),
        };
        write!(out, "{}L{l}{invariant}", if l == 0 { "" } else { ", " }).unwrap();
        if r.chance(10) {
            urgent.push(format!("L{l}"));
        } else if r.chance(7) {
            committed.push(format!("L{l}"));
        }
    }
    writeln!(out, ";").unwrap();
    if !committed.is_empty() {
        writeln!(out, "commit {};", committed.join(", ")).unwrap();
    }
    if !urgent.is_empty() {
        writeln!(out, "urgent {};", urgent.join(", ")).unwrap();
    }
    writeln!(out, "init L0;\ntrans").unwrap();
    let edges = 2 + r.below(4);
    for e in 0..edges {
        let (from, to) = (r.below(locations), r.below(locations));
        let sync = match r.below(10) {
            0 => " sync a!;",
            1 => " sync a?;",
            2 => " sync b!;",
            3 => " sync b?;",
            4 => " sync u!;",
            5 => " sync u?;",
            _ => "",
        };
        // No clocks on urgent channels, as in UPPAAL.
        let guard = if sync.contains('u') { String::new() } else { guard(r) };
        let guard = if guard.is_empty() { guard } else { format!(" guard {guard};") };
        let mut sets = Vec::new();
        for x in ["x", "y", "w"] {
            if x == "w" && r.1 != Flavour::Wide {
                continue;
            }
            if r.chance(35) {
                sets.push(format!("{x} = {}", if r.chance(85) { "0" } else { r.pick(&["1", "x", "y"]) }));
            }
        }
        if r.chance(15) {
            sets.push(format!("n = {}", r.below(2)));
        }
        let assign = if sets.is_empty() { String::new() } else { format!(" assign {};", sets.join(", ")) };
        let end = if e + 1 == edges { ";" } else { "," };
        writeln!(out, "L{from} -> L{to} {{{guard}{sync}{assign} }}{end}").unwrap();
    }
    writeln!(out, "}}").unwrap();
}

fn model(r: &mut Random) -> String {
    let mut out = String::from(if r.1 == Flavour::Wide { "clock x, y, w;" } else { "clock x, y;" });
    out.push_str(" int[0,1] n; chan a; broadcast chan b; urgent chan u;\n");
    process(r, "P", &mut out);
    if r.chance(60) {
        process(r, "Q", &mut out);
        out.push_str("system P, Q;\n");
    } else {
        out.push_str("system P;\n");
    }
    out
}

fn atom(r: &mut Random) -> String {
    match r.below(10) {
        0..4 => format!("P.L{}", r.below(2)),
        4 => "n == 1".into(),
        5 => "true".into(),
        _ => compare(r),
    }
}

fn condition(r: &mut Random) -> String {
    let (a, b) = (atom(r), atom(r));
    let not = if r.chance(30) { "not " } else { "" };
    match r.below(4) {
        0 => format!("{not}({a} && {b})"),
        1 => format!("{not}({a} || {b})"),
        _ => format!("{not}({a})"),
    }
}

#[test]
fn random_networks_agree_with_regions() {
    maximal_runs(Flavour::Plain, 1500);
}

#[test]
fn random_networks_that_compare_clocks_agree_with_regions() {
    maximal_runs(Flavour::Diagonal, 600);
}

#[test]
fn random_networks_of_three_clocks_agree_with_regions() {
    maximal_runs(Flavour::Wide, 150);
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

fn maximal_runs(flavour: Flavour, count: u64) {
    let count = number("TRELLIS_LIVE").unwrap_or(count);
    let first = number("TRELLIS_LIVE_FROM").unwrap_or(0);
    let (mut compared, mut can, mut bad, mut open) = ([0, 0], [0, 0], 0, 0);
    for seed in first..first + count {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, flavour);
        (0..5).for_each(|_| _ = r.below(2));
        let text = model(&mut r);
        let queries = [
            format!("A<> {}", condition(&mut r)),
            format!("E[] {}", condition(&mut r)),
            format!("{} --> {}", condition(&mut r), condition(&mut r)),
        ];
        let (net, built) = load(&text, &queries.join("\n")).unwrap_or_else(|e| panic!("{text}\n{queries:?}\n{e}"));
        if trellis_model::network::interpret::Interpreter::new(&net).initial().is_err() {
            continue;
        }
        for (i, query) in built.iter().enumerate() {
            for non_zeno in [false, true] {
                let Some(expected) = oracle(&net, query, non_zeno) else { continue };
                let found = zones(&net, query, non_zeno);
                if flavour == Flavour::Diagonal && found.as_ref().is_err_and(|e| e.contains("state limit")) {
                    open += 1;
                    continue;
                }
                compared[usize::from(non_zeno)] += 1;
                can[usize::from(non_zeno)] += u64::from(expected);
                if found != Ok(expected) {
                    bad += 1;
                    eprintln!(
                        "seed {seed}, {}, non-zeno {non_zeno}: {found:?}, expected {expected}\n{text}",
                        queries[i]
                    );
                    assert!(bad < 5, "enough");
                }
            }
        }
    }
    assert_eq!(bad, 0);
    eprintln!("compared {compared:?}, of which stay {can:?}; {open} did not end");
    assert!(compared[0] > count / 2 && can[0] * 10 > compared[0] && can[0] * 10 < compared[0] * 9);
}

#[test]
fn random_bounds_agree_with_regions() {
    let count = number("TRELLIS_LIVE").unwrap_or(1000);
    let first = number("TRELLIS_LIVE_FROM").unwrap_or(0);
    let (mut compared, mut bad) = (0, 0);
    for seed in first..first + count {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, Flavour::Plain);
        (0..7).for_each(|_| _ = r.below(2));
        let text = model(&mut r);
        let queries = [
            format!("sup{{{}}}: x", condition(&mut r)),
            format!("inf{{{}}}: y", condition(&mut r)),
            "sup: y".to_string(),
            format!("sup{{{}}}: n", condition(&mut r)),
        ];
        let (net, built) = load(&text, &queries.join("\n")).unwrap_or_else(|e| panic!("{text}\n{queries:?}\n{e}"));
        if trellis_model::network::interpret::Interpreter::new(&net).initial().is_err() {
            continue;
        }
        for (i, query) in built.iter().enumerate() {
            match crate::bounds::compare(&net, query) {
                None => {}
                Some(Ok(())) => compared += 1,
                // Copies of clocks that may be unbounded are refused.
                Some(Err(e)) if e == "no certificate" && (text.contains("= x") || text.contains("= y")) => {}
                Some(Err(e)) => {
                    bad += 1;
                    eprintln!("seed {seed}, {}: {e}\n{text}", queries[i]);
                    assert!(bad < 4, "enough");
                }
            }
        }
    }
    assert_eq!(bad, 0);
    assert!(compared > count * 2, "{compared}");
}
