//! Random timed networks.
//!
//! Two or three processes of two to four locations, one to three clocks, one or two small integers; guards, invariants
//! and resets of every kind that the front ends know. Each model draws which kinds it has ([`Kinds`]), so that most are
//! plain enough to be small and all kinds meet each other now and then. Constants are mostly at most 3, so that regions are few.

use crate::model::{Edge, Location, Model, Process};
use crate::random::Random;

/// What occurs in a model.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    /// `x - y < c`
    diagonals: bool,
    /// `x = y`
    copies: bool,
    /// `x = 2`
    values: bool,
    /// Functions that set a clock or not.
    conditional: bool,
    /// `x <= n`
    data: bool,
    /// `n == 1 imply x < 2`
    implied: bool,
    /// Receivers of broadcasts have guards on clocks.
    heard: bool,
    /// Arrays of clocks.
    array: bool,
    /// Updates may leave the range of a variable.
    careless: bool,
    tchecker: bool,
    /// The largest constant.
    top: i64,
}

struct Channel {
    name: &'static str,
    urgent: bool,
    broadcast: bool,
}

struct Generator {
    r: Random,
    kinds: Kinds,
    clocks: Vec<String>,
    channels: Vec<Channel>,
    /// Variables with their greatest value; the least is 0.
    ints: Vec<(String, i64)>,
    /// Functions that set clocks.
    functions: Vec<&'static str>,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// `E<>` and `A[]`.
    States,
    /// `A<>`, `E[]`, `-->`, and the `sup` or `inf` of a clock.
    Runs,
}

pub fn generate(seed: u64, asked: Asked) -> Model {
    let mut r = Random::new(seed);
    let kinds = Kinds {
        diagonals: r.percent(20),
        copies: r.percent(25),
        values: r.percent(30),
        conditional: r.percent(20),
        data: r.percent(35),
        implied: r.percent(15),
        heard: r.percent(35),
        array: r.percent(10),
        careless: r.percent(6),
        tchecker: r.percent(20),
        top: *r.one(&[1, 2, 2, 2, 3, 3, 3, 6]),
    };
    let mut g = Generator { r, kinds, clocks: vec![], channels: vec![], ints: vec![], functions: vec![] };
    g.model(asked)
}

/// The same, with priorities of channels, of processes, or of both; nothing in TChecker's language, which has none.
pub fn prioritised(seed: u64, asked: Asked) -> Option<Model> {
    let mut m = generate(seed, asked);
    let mut r = Random::new(seed ^ 0x5EED);
    if m.tchecker {
        return None;
    }
    m.ranked = r.percent(50);
    if !m.ranked || r.percent(30) {
        let order = ["c < default < d", "default < c < e", "d, e < default", "e < c, default < d", "c < d < default"];
        m.declarations.push(format!("chan priority {};", r.pick(&order)));
    }
    Some(m)
}

impl Generator {
    fn model(&mut self, asked: Asked) -> Model {
        let mut m = Model { tchecker: self.kinds.tchecker, ..Model::default() };
        self.declare(&mut m);
        let count = if self.r.percent(70) { 2 } else { 3 };
        let mut questions = Vec::new();
        for p in 0..count {
            m.processes.push(self.process(p, &mut questions));
        }
        if self.kinds.tchecker {
            self.vectors(&mut m);
        }
        let locations: Vec<usize> = m.processes.iter().map(|p| p.locations.len()).collect();
        self.clocks.extend(questions);
        m.queries = (0..4)
            .map(|i| match asked {
                Asked::States => self.query(i, &locations),
                Asked::Runs => self.run_query(i, &locations),
            })
            .collect();
        m
    }

    fn declare(&mut self, m: &mut Model) {
        let r = &mut self.r;
        let tchecker = self.kinds.tchecker;
        let count = *r.one(&[1, 1, 2]);
        for name in ["n", "m"].iter().take(count) {
            let hi = r.range(1, 2);
            let init = r.range(0, hi);
            m.declarations.push(match tchecker {
                true => format!("int:1:0:{hi}:{init}:{name}"),
                false => format!("int[0,{hi}] {name} = {init};"),
            });
            self.ints.push((name.to_string(), hi));
        }
        if self.kinds.array {
            m.declarations.push(if tchecker { "int:1:0:1:0:k".into() } else { "int[0,1] k;".into() });
            m.declarations.push(if tchecker { "clock:2:a".into() } else { "clock a[2];".into() });
            self.ints.push(("k".into(), 1));
            self.clocks.extend(["a[0]", "a[1]", "a[k]", "a[1 - k]"].map(String::from));
        }
        let globals = if self.kinds.array { r.below(2) } else { *r.one(&[1, 1, 2, 2, 3]) };
        for name in ["x", "y", "z"].iter().take(globals) {
            m.declarations.push(if tchecker { format!("clock:1:{name}") } else { format!("clock {name};") });
            self.clocks.push(name.to_string());
        }
        if tchecker {
            m.declarations.extend(["event:tau", "event:a", "event:b", "event:c"].map(String::from));
            return;
        }
        for (name, broadcast) in [("c", false), ("d", true), ("e", r.percent(50))] {
            let urgent = r.percent(20);
            let kind = format!("{}{}", if urgent { "urgent " } else { "" }, if broadcast { "broadcast " } else { "" });
            m.declarations.push(format!("{kind}chan {name};"));
            self.channels.push(Channel { name, urgent, broadcast });
        }
        if self.kinds.conditional && !self.clocks.is_empty() {
            let (x, y) = (self.clock(), self.clock());
            let (n, hi) = self.r.one(&self.ints).clone();
            let value = self.r.range(0, hi);
            let (a, b) = (self.r.below(2), self.constant());
            let other = self.r.pick(&["", " else { SET }", " n = 0;"]).replace("SET", &format!("{y} = {b};"));
            m.declarations.push(format!("void f() {{ if ({n} == {value}) {{ {x} = {a}; }}{other} }}"));
            m.declarations
                .push(format!("void g(int v) {{ if (v > 0) {{ {y} = v; return; }} {x} = {}; }}", self.clock()));
            self.functions = vec!["f()", "g(n)", "g(1)"];
        }
    }

    // Parts.

    fn clock(&mut self) -> String {
        self.r.one(&self.clocks).clone()
    }

    fn constant(&mut self) -> i64 {
        self.r.range(0, self.kinds.top)
    }

    fn bound(&mut self) -> String {
        if self.kinds.data && self.r.percent(40) {
            let n = self.r.one(&self.ints).0.clone();
            return match self.r.below(4) {
                0 => format!("{n} + 1"),
                1 => format!("2 - {n}"),
                2 => format!("2 * {n}"),
                _ => n,
            };
        }
        self.constant().to_string()
    }

    fn compared(&mut self, ops: &[&str]) -> String {
        let op = self.r.pick(ops);
        let (x, y) = (self.clock(), self.clock());
        if self.kinds.diagonals && x != y && self.r.percent(35) {
            let c = self.r.range(-2, 2);
            return format!("{x} - {y} {op} {c}");
        }
        let bound = self.bound();
        match self.r.below(8) {
            0 if op == "<" && !self.kinds.tchecker => format!("{bound} > {x}"),
            1 if op == ">=" && !self.kinds.tchecker => format!("{bound} <= {x}"),
            _ => format!("{x} {op} {bound}"),
        }
    }

    fn data(&mut self) -> String {
        let (n, hi) = self.r.one(&self.ints).clone();
        let c = self.r.range(0, hi);
        format!("{n} {} {c}", self.r.pick(&["==", "<", ">", "<=", ">="]))
    }

    /// A constraint that may depend on data.
    fn constraint(&mut self, ops: &[&str]) -> String {
        if self.kinds.implied && !self.kinds.tchecker && self.r.percent(40) {
            let data = self.data();
            let c = self.compared(ops);
            return match self.r.below(2) {
                0 => format!("({data} imply {c})"),
                _ => format!("({data} || {c})"),
            };
        }
        self.compared(ops)
    }

    fn update(&mut self) -> String {
        let kinds = self.kinds;
        if !self.clocks.is_empty() && self.r.percent(60) {
            if !self.functions.is_empty() && self.r.percent(40) {
                return self.r.pick(&self.functions.clone()).to_string();
            }
            let x = self.clock();
            if kinds.copies && self.r.percent(40) {
                return format!("{x} = {}", self.clock());
            }
            if kinds.values && self.r.percent(50) {
                let to =
                    if self.r.percent(40) { self.r.one(&self.ints).0.clone() } else { self.constant().to_string() };
                return format!("{x} = {to}");
            }
            return format!("{x} = 0");
        }
        let (n, hi) = self.r.one(&self.ints).clone();
        match self.r.below(8) {
            0 if kinds.careless => format!("{n} = {n} + 1"),
            1 if kinds.careless => format!("{n} = {n} - 1"),
            0..=2 => format!("{n} = ({n} + 1) % {}", hi + 1),
            3 => format!("{n} = {hi} - {n}"),
            _ => format!("{n} = {}", self.r.range(0, hi)),
        }
    }

    // Processes.

    fn process(&mut self, p: usize, questions: &mut Vec<String>) -> Process {
        let mut process = Process::default();
        let scope = self.clocks.len();
        if self.clocks.is_empty() || (scope < 3 && self.r.percent(35)) {
            if self.kinds.tchecker {
                process.declarations.push(format!("clock:1:t{p}"));
                self.clocks.push(format!("t{p}"));
                questions.push(format!("t{p}"));
            } else {
                process.declarations.push("clock t;".into());
                self.clocks.push("t".into());
                questions.push(format!("P{p}.t"));
            }
        }
        let count = *self.r.one(&[2, 2, 3, 3, 4]);
        for l in 0..count {
            let mut at = Location::default();
            if self.r.percent(35) {
                at.invariant.push(self.constraint(&["<", "<=", "<="]));
            }
            if l > 0 && self.r.percent(6) {
                at.invariant.push(self.constraint(&[">", ">=", "=="]));
            }
            if l > 0 && self.r.percent(6) {
                at.invariant.push(self.data());
            }
            at.committed = self.r.percent(6);
            at.urgent = !at.committed && self.r.percent(8);
            process.locations.push(at);
        }
        for n in 0..count + self.r.below(3) {
            let source = if n + 1 < count { n } else { self.r.below(count) };
            let target = if n + 1 < count && self.r.percent(70) { n + 1 } else { self.r.below(count) };
            let edge = self.edge(source, target);
            process.edges.push(edge);
        }
        self.clocks.truncate(scope);
        process
    }

    fn edge(&mut self, source: usize, target: usize) -> Edge {
        let mut e = Edge { source, target, ..Edge::default() };
        let scope = (self.ints.len(), self.clocks.len());
        let mut timed = true;
        if self.kinds.tchecker {
            if self.r.percent(70) {
                e.sync.push(self.r.pick(&["a", "b", "c"]).to_string());
            }
        } else {
            if self.r.percent(12) {
                let hi = self.r.range(1, 2);
                e.select.push(format!("i : int[0,{hi}]"));
                self.ints.push(("i".into(), hi));
                if self.kinds.array && hi == 1 {
                    self.clocks.push("a[i]".into());
                }
            }
            if self.r.percent(45) {
                let c = self.r.below(self.channels.len());
                let c = &self.channels[c];
                let send = self.r.percent(50);
                timed = !c.urgent && (send || !c.broadcast || self.kinds.heard);
                e.sync.push(format!("{}{}", c.name, if send { "!" } else { "?" }));
            }
        }
        let constraints = if timed { *self.r.one(&[0, 1, 1, 1, 2]) } else { 0 };
        for _ in 0..constraints {
            let c = self.constraint(&["<", "<=", "==", ">=", ">", ">="]);
            e.guard.push(c);
        }
        if self.r.percent(25) {
            e.guard.push(self.data());
        }
        // Selected values cannot be assigned to.
        let selected = self.ints.split_off(scope.0);
        for _ in 0..*self.r.one(&[0, 1, 1, 1, 2, 3]) {
            let update = match selected.first() {
                Some((i, hi)) if self.r.percent(40) => match self.ints.iter().find(|(_, top)| top >= hi) {
                    Some((n, _)) if self.r.percent(50) => format!("{n} = {i}"),
                    _ => format!("{} = {i}", self.clock()),
                },
                _ => self.update(),
            };
            e.update.push(update);
        }
        self.clocks.truncate(scope.1);
        e
    }

    fn vectors(&mut self, m: &mut Model) {
        for _ in 0..1 + self.r.below(3) {
            let mut parts = Vec::new();
            for p in 0..m.processes.len() {
                if parts.len() + (m.processes.len() - p) <= 2 || self.r.percent(75) {
                    let event = self.r.pick(&["a", "b", "c"]);
                    parts.push(format!("P{p}@{event}{}", if self.r.percent(30) { "?" } else { "" }));
                }
            }
            let vector = parts.join(":");
            if !m.vectors.contains(&vector) {
                m.vectors.push(vector);
            }
        }
    }

    // Questions.

    fn query(&mut self, kind: usize, locations: &[usize]) -> String {
        let location = |g: &mut Generator| {
            let p = g.r.below(locations.len());
            format!("P{p}.L{}", g.r.below(locations[p]))
        };
        let mut parts = vec![location(self)];
        if self.r.percent(50) {
            parts.push(location(self));
        }
        if self.r.percent(30) {
            parts.push(self.data());
        }
        let ops = ["<", "<=", "==", ">=", ">"];
        if kind == 1 || kind == 2 {
            for _ in 0..1 + self.r.below(2) {
                let c = self.compared(&ops);
                parts.push(if self.r.percent(20) { format!("!({c})") } else { c });
            }
        }
        match kind {
            2 => {
                let c = self.compared(&ops);
                format!("A[] {} imply ({} || {c})", location(self), parts[1..].join(" && "))
            }
            3 => match self.r.below(4) {
                0 | 1 => "A[] not deadlock".into(),
                2 => format!("E<> deadlock && {}", parts.join(" && ")),
                _ => format!("A[] (deadlock imply {})", self.compared(&ops)),
            },
            _ if self.r.percent(50) => format!("E<> {}", parts.join(" && ")),
            _ => format!("A[] not ({})", parts.join(" && ")),
        }
    }
    fn condition(&mut self, locations: &[usize]) -> String {
        let p = self.r.below(locations.len());
        let mut parts = vec![format!("P{p}.L{}", self.r.below(locations[p]))];
        if self.r.percent(60) {
            parts.push(self.compared(&["<", "<=", "==", ">=", ">"]));
        }
        if self.r.percent(20) {
            parts.push(self.data());
        }
        if parts.len() > 1 && self.r.percent(20) {
            parts.remove(0);
        }
        let joined = parts.join(self.r.pick(&[" && ", " || "]));
        if self.r.percent(30) { format!("!({joined})") } else { format!("({joined})") }
    }

    fn run_query(&mut self, kind: usize, locations: &[usize]) -> String {
        let c = self.condition(locations);
        match kind {
            0 => format!("A<> {c}"),
            1 => format!("E[] {c}"),
            2 => format!("{} --> {c}", self.condition(locations)),
            _ => {
                let all = self.clocks.iter().filter(|c| !c.contains('k')).cloned().collect::<Vec<_>>();
                let clock = self.r.one(&all).clone();
                format!("{}{{{c}}}: {clock}", self.r.pick(&["sup", "inf"]))
            }
        }
    }
}
