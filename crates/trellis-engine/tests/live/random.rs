//! Small random timed networks.

use std::fmt::Write;

use crate::load::load;
use crate::{oracle, zones};

struct Random(u64);

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
    r.pick(&["x", "y"])
}

fn guard(r: &mut Random) -> String {
    let mut parts = Vec::new();
    while r.chance(55) && parts.len() < 2 {
        let (x, op, c) = (clock(r), r.pick(&["<", "<=", ">", ">=", "=="]), r.below(3));
        parts.push(format!("{x} {op} {c}"));
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
            0..4 => format!(" {{ {} {} {} }}", clock(r), r.pick(&["<=", "<"]), 1 + r.below(2)),
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
        for x in ["x", "y"] {
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
    let mut out = String::from("clock x, y; int[0,1] n; chan a; broadcast chan b; urgent chan u;\n");
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
        _ => format!("{} {} {}", clock(r), r.pick(&["<", "<=", ">", ">=", "=="]), r.below(3)),
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
    let count: u64 = std::env::var("TRELLIS_LIVE").ok().and_then(|s| s.parse().ok()).unwrap_or(1500);
    let first: u64 = std::env::var("TRELLIS_LIVE_FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let (mut compared, mut can, mut bad) = ([0, 0], [0, 0], 0);
    for seed in first..first + count {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..5).for_each(|_| _ = r.below(2));
        let text = model(&mut r);
        let queries = [
            format!("A<> {}", condition(&mut r)),
            format!("E[] {}", condition(&mut r)),
            format!("{} --> {}", condition(&mut r), condition(&mut r)),
        ];
        let Ok((net, built)) = load(&text, &queries.join("\n")) else {
            panic!("{text}\n{queries:?}\n{}", load(&text, &queries.join("\n")).unwrap_err())
        };
        if trellis_model::network::interpret::Interpreter::new(&net).initial().is_err() {
            continue;
        }
        for (i, query) in built.iter().enumerate() {
            for non_zeno in [false, true] {
                let Some(expected) = oracle(&net, query, non_zeno) else { continue };
                compared[usize::from(non_zeno)] += 1;
                can[usize::from(non_zeno)] += u64::from(expected);
                let found = zones(&net, query, non_zeno);
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
    eprintln!("compared {compared:?}, of which stay {can:?}");
    assert!(compared[0] > count && can[0] * 10 > compared[0] && can[0] * 10 < compared[0] * 9);
}

#[test]
fn random_bounds_agree_with_regions() {
    let count: u64 = std::env::var("TRELLIS_LIVE").ok().and_then(|s| s.parse().ok()).unwrap_or(1000);
    let first: u64 = std::env::var("TRELLIS_LIVE_FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let (mut compared, mut bad) = (0, 0);
    for seed in first..first + count {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
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
