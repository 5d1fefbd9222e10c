//! Random lattice automata, as UPPAAL text.
//!
//! Two or three processes of two to four locations with data (integers, truth values, an array), binary and broadcast
//! channels, selects, committed and urgent locations, functions with loops and early returns, and up to two lattice
//! variables. See [`Flavour`].

use std::fmt::Write;

use crate::lattices::Lattice;
use crate::random::Random;

/// What kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Anything goes.
    Wild,
    /// Monotone in the lattice variables (000 Def. 2): lattice values are asked only in monotone guards, never by
    /// receivers of broadcasts, and there are no priorities.
    Tame,
    /// Monotone, and with little else than lattice values, so that joins matter.
    Rich,
    /// Small, with lattice values read through functions, quantifiers and numbers, and written bit by bit; a third has parts
    /// that are antitone, or move in no way at all.
    Mixed,
}

/// A model and questions about it.
pub struct Automaton {
    pub text: String,
    /// `E<>` and `A[]` questions that larger elements can only make more reachable.
    pub reach: Vec<String>,
    /// `A<>`, `E[]` and `-->` questions.
    pub live: Vec<String>,
    /// `sup` and `inf` of data; the first whatever the lattices say.
    pub bounds: Vec<String>,
    /// About deadlocks.
    pub deadlock: String,
}

impl Automaton {
    pub fn queries(&self) -> String {
        let all = self.reach.iter().chain(&self.live).chain(&self.bounds);
        all.chain([&self.deadlock]).map(|q| format!("{q}\n")).collect()
    }

    pub fn shown(&self) -> String {
        format!("{}\n// queries\n{}", self.text, self.queries())
    }
}

pub fn generate(seed: u64, flavour: Flavour) -> Automaton {
    let mut r = Random::new(seed);
    let mixed = flavour == Flavour::Mixed;
    let odd = mixed && seed.is_multiple_of(3);
    let tame = flavour != Flavour::Wild && !odd;
    let rich = flavour == Flavour::Rich || (mixed && r.percent(80));
    let hasty = mixed && r.percent(25);
    let numbers = flavour == Flavour::Wild || (odd && r.percent(40));
    let careless = flavour == Flavour::Wild || hasty;
    let mut g = Generator { tame, rich, numbers, careless, hasty, mixed, odd, ..Generator::default() };
    g.declare(&mut r);
    let count = if g.rich { 1 + r.below(2) } else { 2 + r.below(2) };
    for p in 0..count {
        g.process(&mut r, p);
    }
    g.system(&mut r);
    let reach = (0..2).map(|_| g.reach_query(&mut r)).collect();
    let live = (0..2).map(|_| g.live_query(&mut r)).collect();
    // A bound can be asked of data only, and the functions may look at lattices.
    g.numbers = false;
    g.calls = false;
    let bounds = vec![
        format!("{}: {}", r.pick(&["sup", "inf"]), g.int(&mut r, 1)),
        format!("{}{{{}}}: {}", r.pick(&["sup", "inf"]), g.target(&mut r), g.int(&mut r, 1)),
    ];
    let deadlock = match r.below(2) {
        0 => "A[] not deadlock".into(),
        _ => format!("E<> deadlock && {}", g.location(&mut r)),
    };
    Automaton { text: g.text, reach, live, bounds, deadlock }
}

#[derive(Default)]
struct Generator {
    tame: bool,
    rich: bool,
    /// Whether indexes may be out of bounds. Not in conditions of tame models: one that stops early on a lattice value
    /// could hide a fault from larger elements, and faults are not what monotonicity is about.
    careless: bool,
    /// Whether they may be in conditions all the same.
    hasty: bool,
    /// Whether lattice values are read and written in many ways, and whether in the wrong way.
    mixed: bool,
    odd: bool,
    /// Whether there are functions that read and write lattice values.
    helpers: bool,
    /// Whether numbers may depend on lattice values.
    numbers: bool,
    text: String,
    /// Name, least and greatest value of each integer in scope.
    ints: Vec<(String, i64, i64)>,
    bools: Vec<String>,
    /// Name and length; entries are 0 to 2.
    array: (String, usize),
    channels: Vec<Channel>,
    lattices: Vec<Lattice>,
    /// Functions of one integer that give an integer or a truth value, and what they are called with.
    calls: bool,
    processes: Vec<(String, usize)>,
    priorities: bool,
}

#[derive(Clone)]
struct Channel {
    name: String,
    broadcast: bool,
    size: Option<usize>,
}

impl Generator {
    // Declarations.

    fn declare(&mut self, r: &mut Random) {
        let mut t = String::new();
        for i in 0..1 + r.below(2) {
            let (lo, hi) = *r.one(&[(0, 1), (0, 2), (-1, 1), (0, 3)]);
            let init = r.range(lo, hi);
            let name = format!("x{i}");
            _ = writeln!(t, "int[{lo},{hi}] {name} = {init};");
            self.ints.push((name, lo, hi));
        }
        _ = writeln!(t, "bool b{};", if r.percent(40) { " = true" } else { "" });
        self.bools.push("b".into());
        self.array = ("arr".into(), 2 + r.below(2));
        if r.percent(40) {
            _ = writeln!(t, "int[0,2] arr[{}];", self.array.1);
        } else {
            let all: Vec<String> = (0..self.array.1).map(|_| r.below(3).to_string()).collect();
            _ = writeln!(t, "const int[0,2] arr[{}] = {{{}}};", self.array.1, all.join(", "));
        }
        for (name, broadcast) in [("c", false), ("d", true), ("e", r.percent(30))] {
            let size = (name == "e").then_some(2);
            let urgent = if r.percent(20) { "urgent " } else { "" };
            let kind = if broadcast { "broadcast " } else { "" };
            let suffix = size.map_or(String::new(), |n| format!("[{n}]"));
            _ = writeln!(t, "{urgent}{kind}chan {name}{suffix};");
            self.channels.push(Channel { name: name.into(), broadcast, size });
        }
        let lattices = *r.one(if self.rich { &[1, 2, 2] } else { &[0, 1, 1, 1, 2] });
        for i in 0..lattices {
            let l = match () {
                () if i == 1 && r.percent(30) => self.lattices[0].twin("l1"),
                () if self.mixed => Lattice::any(r, format!("l{i}")),
                () => Lattice::random(r, format!("l{i}")),
            };
            _ = writeln!(t, "{}{}", l.bring_in(&t), l.declare(r));
            self.lattices.push(l);
        }
        if !self.tame && r.percent(30) {
            self.priorities = true;
            t.push_str(r.pick(&[
                "chan priority c < default < d;\n",
                "chan priority d < c < default;\n",
                "chan priority default < e[1] < c, d;\n",
            ]));
        }
        self.text = t;
        if !self.rich && r.percent(50) {
            self.functions(r);
        }
        if self.mixed && !self.lattices.is_empty() && r.percent(50) {
            self.lattice_functions(r);
        }
    }

    /// `seen` returns early, `count` counts, `touch` writes; all of them by way of locals.
    fn lattice_functions(&mut self, r: &mut Random) {
        let by = |r: &mut Random, name: &'static str| {
            let l = r.one(&self.lattices).clone();
            l.guard(r, &mut |_, n| if n > 2 { name.into() } else { format!("{name} % {n}") })
        };
        let (seen, more, counted) = (by(r, "i"), by(r, "i"), by(r, "j"));
        let test = match r.below(3) {
            0 => format!("if ({seen}) return true; else return {more};"),
            1 => format!("bool t = {seen}; if (t) {{ t = {more}; }} return t;"),
            _ => format!("bool t = {seen}; return t || {more};"),
        };
        let l = r.one(&self.lattices).clone();
        let written = l.update(r, &mut |_, n| if n > 2 { "i".into() } else { format!("i % {n}") });
        let written = written.replace(", ", "; ").replace("; -", ", -");
        let written = if written.contains('(') { l.update(r, &mut |_, _| "0".into()) } else { written };
        let written = if written.contains(',') { String::new() } else { format!("{written};") };
        let only = if r.percent(50) { "if (b) " } else { "" };
        _ = write!(
            self.text,
            "bool seen(int[0,2] i) {{ {test} }}
int count(int n) {{ for (j : int[0,1]) {{ if ({counted}) n = n + 1; }} return n; }}
void touch(int[0,2] i) {{ int[0,2] k = i; {only}{{ {written} }} }}
"
        );
        self.helpers = true;
    }

    /// `find` returns early from a loop, `any` loops with a condition that has effects, `bump` writes what it is given.
    fn functions(&mut self, r: &mut Random) {
        let (k, m) = (r.range(0, 3), r.range(1, 3));
        let reads = self.int(r, 1);
        let test = self.bool(r, 1, false);
        let (array, n) = self.array.clone();
        _ = write!(
            self.text,
            "int find(int v) {{
    int i;
    for (i = 0; i < {m}; i++) {{
        if (v + i == {k}) return i;
        if ({test}) {{ v--; }} else {{ int w = v; v = w + 1; }}
    }}
    return {reads} + v;
}}
bool any(int v) {{
    int tries = 0;
    while (tries++ < 3 && v != {k}) {{
        for (j : int[0,{last}]) {{ if ({array}[j] == v) return true; }}
        v = v > 0 ? v - 1 : v + 2;
    }}
    return v == {k} && tries > 1;
}}
void bump(int &v, int by) {{
    int old = v;
    do {{ by--; }} while (by > 1);
    if (by < 0) {{ v = 0; return; }}
    v = (old + by) % 2;
    if (v < 0) v = 0;
}}
",
            last = n - 1
        );
        self.calls = true;
    }

    // Expressions. Everything compound stands in parentheses.

    /// An index from 0 to n - 1; now and then not quite.
    fn index(&self, r: &mut Random, n: usize) -> String {
        let fits: Vec<&String> =
            self.ints.iter().filter(|(_, lo, hi)| *lo >= 0 && *hi < n as i64).map(|(name, ..)| name).collect();
        match r.below(10) {
            0..=3 => r.below(n).to_string(),
            4..=7 if !fits.is_empty() => r.one(&fits).to_string(),
            // Not a constant: those are refused when the model is built.
            9 if self.careless && r.percent(15) => format!("(x0 + {})", r.range(-1, 2)),
            _ => safe(&self.int(r, 1), 0, n as i64 - 1),
        }
    }

    fn int(&self, r: &mut Random, depth: usize) -> String {
        let leaf = depth == 0;
        match r.below(if leaf { 6 } else { 16 }) {
            0 | 1 => r.range(-1, 3).to_string(),
            2..=4 => r.one(&self.ints).0.clone(),
            5 => format!("{}[{}]", self.array.0, r.below(self.array.1)),
            6 | 7 => format!("({} + {})", self.int(r, depth - 1), self.int(r, depth - 1)),
            8 => format!("({} - {})", self.int(r, depth - 1), self.int(r, depth - 1)),
            9 => format!("({} * {})", self.int(r, depth - 1), self.int(r, depth - 1)),
            10 => format!("({} % {})", self.int(r, depth - 1), r.range(2, 3)),
            11 => format!("({} / {})", self.int(r, depth - 1), r.pick(&["2", "-2", "3"])),
            12 => format!("({} {} {})", self.int(r, depth - 1), r.pick(&["<?", ">?"]), self.int(r, depth - 1)),
            13 => format!(
                "({} ? {} : {})",
                self.bool(r, depth - 1, false),
                self.int(r, depth - 1),
                self.int(r, depth - 1)
            ),
            14 if self.calls => format!("find({})", self.int(r, depth - 1)),
            15 if self.numbers && !self.lattices.is_empty() => {
                let l = r.one(&self.lattices).clone();
                l.number(r, &mut |r, n| self.index(r, n))
            }
            _ => format!("{}[{}]", self.array.0, self.index(r, self.array.1)),
        }
    }

    /// A truth value; `lattices` says whether (monotone) lattice guards may be part of it.
    fn bool(&self, r: &mut Random, depth: usize, lattices: bool) -> String {
        let leaf = depth == 0;
        let sub = depth.saturating_sub(1);
        if lattices && !self.lattices.is_empty() && r.percent(if leaf || self.rich { 60 } else { 30 }) {
            return self.lattice_guard(r);
        }
        match r.below(if leaf { 5 } else { 11 }) {
            0..=2 => {
                let op = r.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.int(r, sub), self.int(r, sub))
            }
            3 => r.one(&self.bools).clone(),
            4 => format!("!{}", r.one(&self.bools)),
            5 | 6 => format!("({} && {})", self.bool(r, sub, lattices), self.bool(r, sub, lattices)),
            7 => format!("({} || {})", self.bool(r, sub, lattices), self.bool(r, sub, lattices)),
            8 => format!("({} imply {})", self.bool(r, sub, false), self.bool(r, sub, lattices)),
            9 if self.calls => format!("any({})", self.int(r, sub)),
            _ => {
                let q = r.pick(&["forall", "exists"]);
                let last = self.array.1 - 1;
                format!("({q} (q : int[0,{last}]) {}[q] >= {})", self.array.0, self.int(r, 0))
            }
        }
    }

    fn lattice_guard(&self, r: &mut Random) -> String {
        let l = r.one(&self.lattices).clone();
        if !self.mixed {
            return format!("({})", l.guard(r, &mut |r, n| self.index(r, n)));
        }
        let plain = |r: &mut Random| {
            let l = r.one(&self.lattices).clone();
            l.guard(r, &mut |r, n| self.index(r, n))
        };
        let g = match r.below(12) {
            0 => {
                let q = r.pick(&["forall", "exists"]);
                let g = l.guard(r, &mut |_, n| if n > 2 { "q".into() } else { format!("q % {n}") });
                format!("({q} (q : int[0,2]) {g})")
            }
            1 => format!("(({}) ? {} : 0) >= 1", plain(r), r.range(1, 2)),
            2 => format!("({}) + ({}) >= {}", plain(r), plain(r), r.range(1, 2)),
            3 => format!("2 * ({}) > {}", plain(r), r.range(0, 1)),
            4 => format!("(({}) >? ({})) != 0", plain(r), plain(r)),
            5 | 6 if self.helpers => format!("seen({})", self.index(r, 3)),
            7 if self.helpers => format!("count({}) >= {}", r.below(2), r.range(1, 2)),
            _ => format!("({})", plain(r)),
        };
        if self.odd && r.percent(30) { format!("!({g})") } else { format!("({g})") }
    }

    /// An assignment or two.
    fn update(&self, r: &mut Random) -> String {
        if !self.lattices.is_empty() && r.percent(if self.rich { 95 } else { 50 }) {
            let l = r.one(&self.lattices).clone();
            if self.lattices.len() == 2 && self.lattices[0].same_type(&self.lattices[1]) && r.percent(20) {
                return "l0 = l1".into();
            }
            if self.mixed && r.percent(25) {
                let (i, g) = (r.below(2).to_string(), self.lattice_guard(r));
                if let Some(text) = l.write_bit(&i, &g) {
                    return text;
                }
            }
            if self.helpers && r.percent(25) {
                return format!("touch({})", self.index(r, 3));
            }
            return l.update(r, &mut |r, n| self.index(r, n));
        }
        let writable: Vec<&(String, i64, i64)> =
            self.ints.iter().filter(|(n, ..)| n.starts_with('x') || n.starts_with("local")).collect();
        let (x, lo, hi) = *r.one(&writable);
        match r.below(10) {
            0 => format!("b = {}", self.bool(r, 1, !self.tame)),
            1 => format!("b = !b, {x} = {}", safe(&self.int(r, 1), *lo, *hi)),
            2 if self.calls && *lo >= 0 => format!("bump({x}, {})", self.int(r, 1)),
            3 if self.text.contains("\nint[0,2] arr") => {
                let at = self.index(r, self.array.1);
                format!("arr[{at}] = {}", safe(&self.int(r, 1), 0, 2))
            }
            // These may fault.
            4 if r.percent(10) => format!("{x} += {}", self.int(r, 1)),
            5 if r.percent(10) => format!("{x}{}", r.pick(&["++", "--"])),
            _ => format!("{x} = {}", safe(&self.int(r, 2), *lo, *hi)),
        }
    }

    // Processes.

    fn process(&mut self, r: &mut Random, p: usize) {
        let scope = self.ints.len();
        let name = format!("P{p}");
        let mut locations = 2 + r.below(3);
        if !self.rich && r.percent(50) {
            locations = 2;
        }
        let parameter = r.percent(15);
        let head = if parameter { "const int[0,1] id" } else { "" };
        let mut t = format!("process {name}({head}) {{\n");
        if parameter {
            self.ints.push(("id".into(), 0, 1));
        }
        if r.percent(30) {
            _ = writeln!(t, "    int[0,1] local = {};", r.below(2));
            self.ints.push(("local".into(), 0, 1));
        }
        let mut states = Vec::new();
        for l in 0..locations {
            let invariant =
                if l > 0 && r.percent(12) { format!(" {{ {} }}", self.bool(r, 1, true)) } else { String::new() };
            states.push(format!("L{l}{invariant}"));
        }
        _ = writeln!(t, "    state {};", states.join(", "));
        for (mark, chance) in [("commit", 8), ("urgent", 12)] {
            for l in 0..locations {
                if r.percent(chance) {
                    _ = writeln!(t, "    {mark} L{l};");
                }
            }
        }
        _ = writeln!(t, "    init L0;\n    trans");
        let mut edges = Vec::new();
        for n in 0..locations + r.below(3) + if self.rich { 3 } else { 0 } {
            // Every location but the last has a way on.
            let source = if n + 1 < locations { n } else { r.below(locations) };
            let target = if n + 1 < locations && r.percent(70) { n + 1 } else { r.below(locations) };
            edges.push(format!("        L{source} -> L{target} {{ {}}}", self.labels(r)));
        }
        _ = writeln!(t, "{};\n}}", edges.join(",\n"));
        self.text.push_str(&t);
        self.ints.truncate(scope);
        let members: Vec<String> =
            if parameter { (0..2).map(|i| format!("{name}({i})")).collect() } else { vec![name] };
        self.processes.extend(members.into_iter().map(|m| (m, locations)));
    }

    fn labels(&mut self, r: &mut Random) -> String {
        let scope = self.ints.len();
        let mut t = String::new();
        if r.percent(20) {
            let hi = r.range(1, 2);
            _ = write!(t, "select i : int[0,{hi}]; ");
            self.ints.push(("i".into(), 0, hi));
        }
        let sync = r.percent(if self.rich { 15 } else { 45 }).then(|| {
            let c = r.one(&self.channels).clone();
            let send = r.percent(50);
            let index = c.size.map_or(String::new(), |n| format!("[{}]", self.index(r, n)));
            (format!("{}{index}{}", c.name, if send { "!" } else { "?" }), c.broadcast && !send)
        });
        let hears = sync.as_ref().is_some_and(|(_, hears)| *hears);
        if r.percent(if self.rich { 40 } else { 60 }) {
            let lattices = !self.tame || !hears;
            _ = write!(t, "guard {}; ", self.bool(r, 2, lattices));
        }
        if let Some((label, _)) = sync {
            _ = write!(t, "sync {label}; ");
        }
        self.careless = true;
        let updates = *r.one(if self.rich { &[1, 1, 2] } else { &[0, 1, 1, 2] });
        let updates: Vec<String> = (0..updates).map(|_| self.update(r)).collect();
        if !updates.is_empty() {
            _ = write!(t, "assign {}; ", updates.join(", "));
        }
        self.careless = (!self.tame && !self.mixed) || self.hasty;
        self.ints.truncate(scope);
        t
    }

    fn system(&mut self, r: &mut Random) {
        let mut names: Vec<String> =
            self.processes.iter().map(|(n, _)| n.split('(').next().unwrap_or(n).to_string()).collect();
        names.dedup();
        let between = if self.priorities && r.percent(50) { " < " } else { ", " };
        _ = writeln!(self.text, "system {};", names.join(between));
    }

    // Questions.

    fn location(&self, r: &mut Random) -> String {
        let (name, locations) = r.one(&self.processes);
        format!("{name}.L{}", r.below(*locations))
    }

    fn target(&self, r: &mut Random) -> String {
        let mut parts = vec![self.location(r)];
        if r.percent(40) {
            parts.push(self.location(r));
        }
        if !self.rich && r.percent(40) {
            parts.push(self.bool(r, 1, false));
        }
        if !self.lattices.is_empty() && r.percent(if self.rich { 70 } else { 40 }) {
            parts.push(self.lattice_guard(r));
        }
        parts.join(" && ")
    }

    fn reach_query(&self, r: &mut Random) -> String {
        match r.below(2) {
            0 => format!("E<> {}", self.target(r)),
            _ => format!("A[] not ({})", self.target(r)),
        }
    }

    fn live_query(&self, r: &mut Random) -> String {
        let a = match r.below(2) {
            0 => self.location(r),
            _ => self.bool(r, 1, true),
        };
        match r.below(3) {
            0 => format!("A<> {a}"),
            1 => format!("E[] not ({a})"),
            _ => format!("{} --> {a}", self.location(r)),
        }
    }
}

/// The expression, brought between the bounds.
fn safe(e: &str, lo: i64, hi: i64) -> String {
    let n = hi - lo + 1;
    match lo {
        0 => format!("(({e}) % {n} + {n}) % {n}"),
        _ => format!("((({e}) % {n} + {n}) % {n} + ({lo}))"),
    }
}
