//! Random small timed networks. (The tests of the checker use this file too.)

#![allow(dead_code)]

use trellis_model::network::Query;

use crate::build::{E, Net};

/// Numbers that look random, from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    pub fn percent(&mut self, p: usize) -> bool {
        self.below(100) < p
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// What may occur.
#[derive(Clone, Copy, Default)]
pub struct Flavour {
    /// Constraints on differences of clocks.
    pub differences: bool,
    /// Clocks that get the value of another.
    pub copies: bool,
    /// Questions about deadlocks.
    pub deadlock: bool,
}

/// Constants are at most this.
pub const MOST: i32 = 3;

/// One or two processes over clocks `x` and `y` and a variable `n`, and a question `E<> p`.
pub fn network(seed: u64, flavour: Flavour) -> (Net, Query) {
    let mut r = Random::new(seed);
    let mut b = Net::new(&["x", "y"]);
    let n = b.var("n", 0, 2, 0);
    b.channel("c", false, false);
    b.channel("d", true, false);
    b.channel("u", r.percent(50), true);
    let mut at = Vec::new();
    for p in 0..1 + r.below(2) {
        let count = 2 + r.below(2);
        let mut locations = Vec::new();
        for (i, name) in ["a", "b", "e"].iter().enumerate().take(count) {
            let kind = if r.percent(15) { r.pick(&["~", "!"]) } else { "" };
            let invariant = match r.below(4) {
                0 => format!(": {} <= {}", r.pick(&["x", "y"]), r.below(4)),
                1 => format!(": {} < {}", r.pick(&["x", "y"]), r.below(3) + 1),
                2 if i > 0 && flavour.differences => ": x - y <= 2".into(),
                2 if i > 0 => ": x <= n".into(),
                _ => String::new(),
            };
            locations.push(format!("{name}{kind}{invariant}"));
        }
        let names: Vec<&str> = locations.iter().map(String::as_str).collect();
        let process = b.process(if p == 0 { "P" } else { "Q" }, &names);
        for _ in 0..2 + r.below(4) {
            let (from, to) = (["a", "b", "e"][r.below(count)], ["a", "b", "e"][r.below(count)]);
            let sync = match r.below(8) {
                k @ 0..6 => ["", "", "", "c!", "d!", "c?"][k],
                6 => "d?",
                _ => r.pick(&["u!", "u?"]),
            };
            let mut guard = Vec::new();
            for _ in 0..r.below(3) {
                guard.push(atom(&mut r, flavour.differences));
            }
            let guard = if sync.starts_with('u') { String::new() } else { guard.join(" && ") };
            let mut set = Vec::new();
            for _ in 0..r.below(3) {
                set.push(match r.below(6) {
                    0 => format!("{} = {}", r.pick(&["x", "y"]), r.below(3)),
                    1 if flavour.copies => r.pick(&["x = y", "y = x"]).into(),
                    2 => "y = n".into(),
                    _ => format!("{} = 0", r.pick(&["x", "y"])),
                });
            }
            let (var, number) = (b.net.terms.var(n), b.net.terms.int(r.below(3) as i64));
            let when = r.percent(20).then(|| b.net.terms.eq(var, number));
            let number = b.net.terms.int(r.below(3) as i64);
            let update = r.percent(30).then(|| b.net.terms.assign(n, number));
            b.edge(process, from, to, E { guard: &guard, sync, set: &set.join(", "), when, update, event: None });
        }
        at.push(b.at(process, ["a", "b", "e"][r.below(count)]));
    }
    if flavour.deadlock {
        at.push(b.deadlock());
    }
    if r.percent(60) {
        let text = atom(&mut r, flavour.differences);
        at.push(b.clock(&text));
    }
    let p = b.net.terms.and(at);
    let mut query = b.possibly(p);
    query.deadlock = flavour.deadlock;
    (b, query)
}

fn atom(r: &mut Random, differences: bool) -> String {
    let op = r.pick(&["<", "<=", ">", ">=", "=="]);
    match r.below(5) {
        0 if differences => format!("{} {op} {}", r.pick(&["x - y", "y - x"]), r.below(4)),
        1 => format!("{} {op} n", r.pick(&["x", "y"])),
        _ => format!("{} {op} {}", r.pick(&["x", "y"]), r.below(4)),
    }
}
