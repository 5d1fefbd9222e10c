//! Problems for solvers, made from a seed: random ones, and some with a structure that people meet.
//!
//! All of them are SMT-LIB texts over integers and truth values with one `check-sat`. About half can be satisfied, within each
//! family. The same seed gives the same texts on every machine.

use std::fmt::Write as _;

/// A problem.
pub struct Problem {
    /// What kind.
    pub family: String,
    /// Its name, unique in the family.
    pub name: String,
    /// The script.
    pub text: String,
}

/// How many problems of each family.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub random: usize,
    pub loops: usize,
    pub jobs: usize,
    pub pigeons: usize,
    pub knapsacks: usize,
}

impl Sizes {
    /// What the table has.
    pub const FULL: Sizes = Sizes { random: 20_000, loops: 200, jobs: 150, pigeons: 50, knapsacks: 150 };
    /// What takes a moment.
    pub const QUICK: Sizes = Sizes { random: 300, loops: 20, jobs: 15, pigeons: 8, knapsacks: 15 };
}

/// All problems of these sizes.
pub fn problems(seed: u64, sizes: Sizes) -> impl Iterator<Item = Problem> {
    let make = move |family: &'static str, n: usize, text: fn(&mut Rng, usize) -> String| {
        (0..n).map(move |k| {
            let mut rng = Rng(seed ^ (k as u64) << 20 ^ family.len() as u64);
            rng.next();
            Problem { family: family.into(), name: format!("{k:05}"), text: text(&mut rng, k) }
        })
    };
    make("random", sizes.random, random)
        .chain(make("loops", sizes.loops, unrolled))
        .chain(make("job-shop", sizes.jobs, job_shop))
        .chain(make("pigeons", sizes.pigeons, pigeons))
        .chain(make("knapsacks", sizes.knapsacks, knapsack))
}

/// SplitMix64.
pub struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between both, included.
    fn within(&mut self, lo: i64, hi: i64) -> i64 {
        lo + (self.next() % (hi - lo + 1) as u64) as i64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[(self.next() % from.len() as u64) as usize]
    }
}

/// A literal: SMT-LIB has none below zero.
fn int(n: i64) -> String {
    if n < 0 { format!("(- {})", n.unsigned_abs()) } else { n.to_string() }
}

fn declare(text: &mut String, names: &[String], sort: &str) {
    for name in names {
        let _ = writeln!(text, "(declare-const {name} {sort})");
    }
}

fn assert(text: &mut String, formula: &str) {
    let _ = writeln!(text, "(assert {formula})");
}

fn ask(text: String) -> String {
    format!("(set-logic QF_LIA)\n{text}(check-sat)\n")
}

/// Boolean structure, equalities, `ite`, modulo, over 2 to 10 variables.
fn random(rng: &mut Rng, _: usize) -> String {
    let (ints, bools) = (rng.within(2, 8), rng.within(0, 2));
    let mut maker = Formulas {
        ints: (0..ints).map(|n| format!("x{n}")).collect(),
        bools: (0..bools).map(|n| format!("p{n}")).collect(),
        // How dense the problem is, and with what.
        constant: [4, 20, 100, 1000][rng.within(0, 3) as usize],
        moduli: rng.within(0, 3) as u64,
        rng,
    };
    let mut text = String::new();
    declare(&mut text, &maker.ints, "Int");
    declare(&mut text, &maker.bools, "Bool");
    if maker.rng.one_in(2) {
        let bound = maker.rng.within(5, 100);
        for x in &maker.ints {
            let _ = writeln!(text, "(assert (<= {} {x} {bound}))", int(-bound));
        }
    }
    let n = ints + maker.rng.within(1, 2 * ints + 1);
    for _ in 0..n {
        let depth = maker.rng.within(0, 2);
        let formula = maker.formula(depth);
        assert(&mut text, &formula);
    }
    ask(text)
}

/// Makes random formulas.
struct Formulas<'r> {
    rng: &'r mut Rng,
    ints: Vec<String>,
    bools: Vec<String>,
    constant: i64,
    /// How likely are `div` and `mod`?
    moduli: u64,
}

impl Formulas<'_> {
    fn formula(&mut self, depth: i64) -> String {
        if depth == 0 {
            return self.atom();
        }
        let (a, b) = (self.formula(depth - 1), self.formula(depth - 1));
        match self.rng.within(0, 7) {
            0 | 1 => format!("(and {a} {b})"),
            2 | 3 => format!("(or {a} {b})"),
            4 => format!("(=> {a} {b})"),
            5 => format!("(= {a} {b})"),
            6 => format!("(or (not {a}) {b} {})", self.atom()),
            _ => format!("(ite {} {a} {b})", self.atom()),
        }
    }

    fn atom(&mut self) -> String {
        if !self.bools.is_empty() && self.rng.one_in(6) {
            let p = self.bools[self.rng.within(0, self.bools.len() as i64 - 1) as usize].clone();
            return if self.rng.one_in(2) { p } else { format!("(not {p})") };
        }
        let left = self.sum();
        let right = if self.rng.one_in(3) { self.sum() } else { self.constant() };
        let relation = self.rng.pick(&["<=", "<", ">=", ">", "<=", ">=", "=", "distinct"]);
        format!("({relation} {left} {right})")
    }

    fn constant(&mut self) -> String {
        int(self.rng.within(-self.constant, self.constant))
    }

    fn sum(&mut self) -> String {
        let n = self.rng.within(1, 3);
        let parts: Vec<String> = (0..n).map(|_| self.part()).collect();
        if n == 1 { parts.concat() } else { format!("(+ {})", parts.join(" ")) }
    }

    fn part(&mut self) -> String {
        let x = self.ints[self.rng.within(0, self.ints.len() as i64 - 1) as usize].clone();
        if self.moduli > 0 && self.rng.next() % 16 < self.moduli {
            let (m, k) = (self.rng.within(2, 9), self.rng.within(1, 5));
            let op = self.rng.pick(&["mod", "mod", "div"]);
            return format!("({op} (+ {x} {k}) {m})");
        }
        if self.rng.one_in(12) {
            let (y, c) = (self.constant(), self.constant());
            return format!("(ite (> {x} {c}) {x} {y})");
        }
        match self.rng.within(-5, 5) {
            0 | 1 => x,
            -1 => format!("(- {x})"),
            c => format!("(* {} {x})", int(c)),
        }
    }
}

/// A loop of 10 to 200 steps, each variable once for each step; asks whether something bad happens.
fn unrolled(rng: &mut Rng, k: usize) -> String {
    let steps = rng.within(10, 200);
    let mut text = String::new();
    let step = |text: &mut String, name: &str, n: i64, value: &str| {
        let _ = writeln!(text, "(declare-const {name}{n} Int)\n(assert (= {name}{n} {value}))");
    };
    let (a, b) = (rng.within(1, 4), rng.within(1, 4));
    // One in two asks for what cannot be.
    let wrong = i64::from(rng.one_in(2));
    match k % 4 {
        // Two counters in lock-step: y = a·x.
        0 => {
            step(&mut text, "x", 0, "0");
            step(&mut text, "y", 0, "0");
            for n in 0..steps {
                step(&mut text, "x", n + 1, &format!("(+ x{n} {b})"));
                step(&mut text, "y", n + 1, &format!("(+ y{n} {})", a * b));
            }
            assert(&mut text, &format!("(= (+ y{steps} {wrong}) (* {a} x{steps}))"));
        }
        // Whichever is behind catches up; where they start is not known, the sum of both is.
        1 => {
            // About the sum one must know all branches at once: Z3 gives up on 50 steps.
            let steps = steps % 30 + 10;
            let _ = writeln!(text, "(declare-const start Int)\n(assert (<= 0 start 5))");
            step(&mut text, "x", 0, "start");
            step(&mut text, "y", 0, "(- 5 start)");
            for n in 0..steps {
                step(&mut text, "x", n + 1, &format!("(ite (< x{n} y{n}) (+ x{n} {a}) x{n})"));
                step(&mut text, "y", n + 1, &format!("(ite (< x{n} y{n}) y{n} (+ y{n} {a}))"));
            }
            assert(&mut text, &format!("(= (+ x{steps} y{steps}) {})", 5 + a * steps + wrong));
        }
        // A ring buffer: its head moves modulo its size. Some steps are up to the environment.
        2 => {
            let size = rng.within(3, 9);
            let _ = writeln!(text, "(declare-const start Int)\n(assert (<= 0 start {size}))");
            step(&mut text, "head", 0, "0");
            step(&mut text, "full", 0, "start");
            for n in 0..steps {
                let open = format!("(< full{n} {size})");
                let fixed = rng.pick(&["true", "false"]);
                let put = if n % 20 == 19 { format!("put{n}") } else { fixed.into() };
                if put != fixed {
                    let _ = writeln!(text, "(declare-const {put} Bool)");
                }
                let head = format!("(ite (and {put} {open}) (mod (+ head{n} 1) {size}) head{n})");
                step(&mut text, "head", n + 1, &head);
                let (more, less) = (
                    format!("(ite {open} (+ full{n} 1) full{n})"),
                    format!("(ite (> full{n} 0) (- full{n} 1) full{n})"),
                );
                step(&mut text, "full", n + 1, &format!("(ite {put} {more} {less})"));
            }
            let (bad, good) = (format!("(> full{steps} {size})"), format!("(<= 1 full{steps} {size})"));
            assert(&mut text, if wrong == 1 { &bad } else { &good });
        }
        // A guarded update, as a control loop has it: the value stays between bounds.
        _ => {
            let limit = rng.within(20, 60);
            let _ = writeln!(text, "(declare-const start Int)\n(assert (<= 0 start {limit}))");
            step(&mut text, "x", 0, "start");
            for n in 0..steps {
                let _ = writeln!(text, "(declare-const d{n} Int)\n(assert (<= {} d{n} {b}))", int(-a));
                step(
                    &mut text,
                    "x",
                    n + 1,
                    &format!("(ite (or (> (+ x{n} d{n}) {limit}) (< (+ x{n} d{n}) 0)) x{n} (+ x{n} d{n}))"),
                );
            }
            let bad = if wrong == 1 { format!("(> x{steps} {limit})") } else { format!("(= x{steps} {limit})") };
            assert(&mut text, &bad);
        }
    }
    ask(text)
}

/// Jobs, each with a task on every machine, in some order: can all be done in time?
fn job_shop(rng: &mut Rng, _: usize) -> String {
    let (jobs, machines) = (rng.within(2, 8), rng.within(2, 5));
    let mut text = String::new();
    // Start, duration and machine of each task.
    let mut tasks: Vec<(String, i64, i64)> = vec![];
    let mut longest = 0;
    for j in 0..jobs {
        let mut order: Vec<i64> = (0..machines).collect();
        for n in (1..order.len()).rev() {
            order.swap(n, rng.within(0, n as i64) as usize);
        }
        let mut before: Option<(String, i64)> = None;
        let mut total = 0;
        for (n, &m) in order.iter().enumerate() {
            let (name, time) = (format!("s{j}_{n}"), rng.within(1, 9));
            let _ = writeln!(text, "(declare-const {name} Int)");
            let after = before.as_ref().map_or("0".into(), |(b, t)| format!("(+ {b} {t})"));
            assert(&mut text, &format!("(>= {name} {after})"));
            before = Some((name.clone(), time));
            tasks.push((name, time, m));
            total += time;
        }
        longest = longest.max(total);
    }
    let load = |m: i64| tasks.iter().filter(|t| t.2 == m).map(|t| t.1).sum::<i64>();
    let busiest = (0..machines).map(load).max().unwrap_or(0);
    // No schedule is shorter than the longest job or the busiest machine; often one is not much longer.
    let deadline = longest.max(busiest) + rng.within(-2, 5);
    for (n, (a, time, m)) in tasks.iter().enumerate() {
        assert(&mut text, &format!("(<= (+ {a} {time}) {deadline})"));
        for (b, other, k) in &tasks[n + 1..] {
            if m == k {
                assert(&mut text, &format!("(or (<= (+ {a} {time}) {b}) (<= (+ {b} {other}) {a}))"));
            }
        }
    }
    ask(text)
}

/// Pigeons, each in a hole of its own.
fn pigeons(rng: &mut Rng, k: usize) -> String {
    let holes = 2 + (k as i64 / 2) % 6;
    let pigeons = holes + (k as i64) % 2;
    let names: Vec<String> = (0..pigeons).map(|n| format!("p{n}")).collect();
    let mut text = String::new();
    declare(&mut text, &names, "Int");
    for p in &names {
        assert(&mut text, &format!("(<= 1 {p} {holes})"));
    }
    if rng.one_in(2) {
        assert(&mut text, &format!("(distinct {})", names.join(" ")));
    } else {
        for (n, a) in names.iter().enumerate() {
            for b in &names[n + 1..] {
                assert(&mut text, &format!("(or (< {a} {b}) (> {a} {b}))"));
            }
        }
    }
    ask(text)
}

/// Things of given weights, some of each: do they fill the sack exactly, and are they worth enough?
fn knapsack(rng: &mut Rng, k: usize) -> String {
    let n = rng.within(4, 20);
    let names: Vec<String> = (0..n).map(|i| format!("n{i}")).collect();
    let most = rng.within(1, 4);
    // One in three times all weights share a factor that the sack's size lacks.
    let factor = if k.is_multiple_of(3) { rng.within(2, 4) } else { 1 };
    let weights: Vec<i64> = (0..n).map(|_| factor * rng.within(3, 40)).collect();
    let values: Vec<i64> = (0..n).map(|_| rng.within(1, 30)).collect();
    let full: i64 = weights.iter().sum::<i64>() * most;
    let size = rng.within(full / 4, full * 3 / 4) / factor * factor + i64::from(factor > 1);
    let worth = values.iter().sum::<i64>() * most * rng.within(4, 8) / 10;
    let sum = |factors: &[i64]| {
        let parts: Vec<String> = names.iter().zip(factors).map(|(x, f)| format!("(* {f} {x})")).collect();
        format!("(+ {})", parts.join(" "))
    };
    let mut text = String::new();
    declare(&mut text, &names, "Int");
    for x in &names {
        assert(&mut text, &format!("(<= 0 {x} {most})"));
    }
    assert(&mut text, &format!("(= {} {size})", sum(&weights)));
    assert(&mut text, &format!("(>= {} {worth})", sum(&values)));
    ask(text)
}
