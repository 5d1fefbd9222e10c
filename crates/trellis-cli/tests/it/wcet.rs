//! `trellis wcet`: the bundled programs under every update, and random programs against all their runs on a plain cache.

use std::fmt::Write;

use trellis::meter::Meter;
use trellis::wcet::machine::{Key, Machine, Word};
use trellis::wcet::{Costs, Found, Geometry, Options, Update, analyse, cache::Cache};

use crate::{stderr, stdout, trellis};

fn bound(text: &str) -> u64 {
    let number = text.split_once("wcet <= ").and_then(|(_, rest)| rest.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no bound in: {text}"))
}

#[test]
fn all_updates_bound_the_bundled_programs_and_a_plain_cache_confirms_a_run() {
    for (program, cache) in [
        ("binary-search", "lru:2x8"),
        ("bubble-sort", "lru:2x4"),
        ("matrix-product", "lru:2x8"),
        ("matrix-product", "lru:1x4"),
    ] {
        let file = format!("wcet/{program}.c");
        let run = |more: &[&str]| {
            let out = trellis(&[&["wcet", &file, "--cache", cache], more].concat());
            assert_eq!(out.status.code(), Some(0), "{program} {more:?}: {}{}", stdout(&out), stderr(&out));
            stdout(&out)
        };
        let by = |update: &str| run(&["--update", update]);
        let (simple, cover, join) = (by("simple"), by("cover"), by("join"));
        assert!(simple.contains("the bound is attained"), "{program}: {simple}");
        assert!(bound(&simple) <= bound(&cover) && bound(&cover) <= bound(&join), "{simple}{cover}{join}");
        for text in [&simple, &cover, &join] {
            let explained = text.contains("the bound is attained")
                || text.contains("what was joined on its way makes the bound larger")
                || text.contains("the bound may be larger than needed");
            assert!(explained && text.contains("bound checked"), "{program}: {text}");
        }
        let best = run(&[]);
        assert!(best.contains("the bound is attained"), "{program}: {best}");
        assert_eq!(bound(&best), bound(&simple), "{program}");
    }
}

#[test]
fn what_cannot_be_bounded_is_refused() {
    let refused = |args: &[&str], code, words: &str| {
        let out = trellis(&[&["wcet"], args].concat());
        assert_eq!(out.status.code(), Some(code), "{args:?}: {}{}", stdout(&out), stderr(&out));
        let said = stdout(&out) + &stderr(&out);
        assert!(said.contains(words), "{args:?}: {said}");
    };
    refused(&["wcet/bubble-sort.c", "--cache", "fifo:2x2"], 2, "write lru:WAYSxSETS");
    refused(&["wcet/bubble-sort.c", "--loop", "1=3"], 2, "no loop begins there");
    refused(&["wcet/bubble-sort.c", "--hit", "5", "--miss", "2"], 2, "a miss costs at least");
    refused(&["wcet/bubble-sort.c", "--states", "10"], 20, "UNKNOWN");
    refused(&["lattice/leader.xml"], 2, "only for C programs");
    refused(&["wcet/bubble-sort.c", "--const", "N=3"], 2, "--const: no constants can be set in C");
    refused(&["wcet/bubble-sort.c", "--after", "0"], 2, "--after: not for C");
    refused(&["wcet/bubble-sort.c", "--period", "5ms"], 2, "--period: not for C");
}

/// Random programs: loops with counters, reads at counters, and branches on what is read.
struct Program {
    random: u64,
    text: String,
    locations: usize,
}

impl Program {
    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % n
    }

    fn location(&mut self) -> usize {
        self.locations += 1;
        self.locations
    }

    fn edge(&mut self, from: usize, to: usize, what: &str) {
        _ = writeln!(self.text, "    L{from} -> L{to} {{ {what} }}");
    }

    /// Something from a location on; answers where it ends.
    fn block(&mut self, from: usize, depth: usize, counters: usize) -> usize {
        let to = self.location();
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => {
                let (array, index) = (self.below(2), self.below(6));
                self.edge(from, to, &format!("x := a{array}[{index}]"));
                to
            }
            1 => {
                let (array, counter, more) = (self.below(2), self.below(counters.max(1) as u64), self.below(3));
                let index = if counters == 0 { "2".to_string() } else { format!("i{counter} + {more}") };
                self.edge(from, to, &format!("x := a{array}[{index}]"));
                to
            }
            2 => {
                // What was read decides.
                let (yes, no) = (self.location(), self.location());
                self.edge(from, yes, "assume x > 0");
                self.edge(from, no, "assume x <= 0");
                let ends = [self.block(yes, depth - 1, counters), self.block(no, depth - 1, counters)];
                ends.iter().for_each(|&e| self.edge(e, to, "x := 0"));
                let again = self.location();
                // What is known of x again depends on nothing.
                self.edge(to, again, "havoc x");
                again
            }
            3 if counters < 2 => {
                let (head, body) = (self.location(), self.location());
                let rounds = 1 + self.below(3);
                self.edge(from, head, &format!("i{counters} := 0"));
                self.edge(head, to, &format!("assume i{counters} >= {rounds}"));
                self.edge(head, body, &format!("assume i{counters} < {rounds}"));
                let end = self.block(body, depth - 1, counters + 1);
                self.edge(end, head, &format!("i{counters} := i{counters} + 1"));
                to
            }
            _ => {
                let middle = self.block(from, depth - 1, counters);
                let end = self.block(middle, depth - 1, counters);
                self.edge(end, to, "havoc x");
                to
            }
        }
    }

    fn random(seed: u64) -> String {
        let mut p = Program { random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, text: String::new(), locations: 0 };
        let mut at = 0;
        for _ in 0..2 + p.below(3) {
            at = p.block(at, 3, 0);
        }
        let mut text = "main process cfa {\n".to_string();
        for v in ["x : int", "i0 : int", "i1 : int", "a0 : [int] -> int", "a1 : [int] -> int"] {
            _ = writeln!(text, "    var {v}");
        }
        (0..=p.locations).for_each(|l| {
            _ = writeln!(
                text,
                "    {}loc L{l}",
                if l == 0 {
                    "init "
                } else if l == at {
                    "final "
                } else {
                    ""
                }
            )
        });
        _ = writeln!(text, "{}    error loc ERROR\n    L{at} -> ERROR {{ assume false }}\n}}", p.text);
        text
    }
}

/// The largest cost of a run, by taking them all; nothing if there are too many.
fn longest(
    machine: &Machine<'_>,
    key: &Key,
    cache: &Cache,
    block: &dyn Fn(Word) -> u64,
    budget: &mut u64,
) -> Option<u64> {
    *budget = budget.checked_sub(1)?;
    let mut worst = 0;
    for step in machine.steps(key).expect("known") {
        let (mut cache, mut cost) = (cache.clone(), 0);
        for &word in &step.uses {
            cost += if cache.hit(block(word)) { 1 } else { 10 };
        }
        worst = worst.max(cost + longest(machine, &step.to, &cache, block, budget)?);
    }
    Some(worst)
}

#[test]
fn random_programs_take_as_long_as_their_longest_run() {
    let (mut compared, mut larger) = (0, 0);
    for seed in 1..=300 {
        let text = Program::random(seed);
        let cfa = trellis::program::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let machine = Machine::new(&cfa, &[]).expect("a machine");
        let geometry = Geometry { ways: 1 + seed as usize % 3, sets: 1 + seed as usize % 2, line: 2 };
        let by = |update| -> Found {
            let costs = Costs { hit: 1, miss: 10 };
            let options = Options { geometry, costs, loops: vec![], update: Some(update) };
            analyse(&cfa, &options, &mut Meter::unlimited()).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"))
        };
        let (simple, cover, join) = (by(Update::Simple), by(Update::Cover), by(Update::Join));
        let shown = || format!("seed {seed}, {} {} {}\n{text}", simple.bound, cover.bound, join.bound);
        assert!(simple.bound <= cover.bound && cover.bound <= join.bound, "{}", shown());
        // Where words lie does not matter here but for which of them share a block, and a set: the same as there.
        let graph = trellis::wcet::graph::explore(&machine, &mut Meter::unlimited()).expect("a graph");
        let layout = trellis::wcet::Layout::new(&machine, &graph, geometry.line).expect("small");
        let block = |w: Word| layout.block(w);
        let empty = Cache::new(geometry.sets, geometry.ways);
        if let Some(worst) = longest(&machine, &machine.initial(), &empty, &block, &mut 50_000) {
            assert_eq!(simple.bound, worst, "{}", shown());
            assert_eq!(simple.witness.cost, worst, "{}", shown());
            compared += 1;
            larger += usize::from(join.bound > worst);
        }
    }
    println!("{compared} compared, joins too coarse in {larger}");
    assert!(compared > 200 && larger > 0 && larger < compared, "{compared} {larger}");
}
