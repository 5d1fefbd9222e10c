//! Random compositions of two small statecharts, as they are written.

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

const INTERFACES: &str = "interface Env { in event a in event b(v : boolean) out event o out event e(v : boolean) }
interface Link { out event u(v : boolean) out event w in event r }
";

struct Chart<'r> {
    r: &'r mut Random,
    /// Does it provide the link?
    first: bool,
    timed: bool,
    transitions: Vec<String>,
    nodes: usize,
}

impl Chart<'_> {
    fn trigger(&mut self) -> String {
        let link: &[&str] = if self.first { &["L.r"] } else { &["L.u", "L.w"] };
        let mut all = vec!["P.a", "P.a", "P.b", "P.any", "any", "cycle"];
        all.extend(link);
        all.extend(link);
        if self.timed {
            all.extend(["timeout t", "timeout t"]);
        }
        let one = self.r.of(&all).to_string();
        let plain = |t: &str| t != "any" && t != "cycle";
        if plain(&one) && self.r.one_in(5) {
            let other = self.r.of(&["P.a", "P.b"]).to_string();
            let op = self.r.of(&["&&", "||", "^"]);
            return format!("{one} {op} {other}");
        }
        if plain(&one) && self.r.one_in(8) {
            return format!("!({one})");
        }
        one
    }

    fn condition(&mut self) -> String {
        let value = if self.first { "P.b::v" } else { "L.u::v" };
        self.r.of(&["x < 2", "x = 1", "f", "not f", "x /= 0", value, "f or x = 2"]).to_string()
    }

    fn action(&mut self) -> String {
        let link: &[&str] =
            if self.first { &["raise L.u(f);", "raise L.w;", "raise L.u(true);"] } else { &["raise L.r;"] };
        let mut all = vec![
            "x := x < 2 ? x + 1 : 0;",
            "x := 0;",
            "f := not f;",
            "f := true;",
            "raise P.o;",
            "raise P.e(f);",
            "if (f) { x := 1; } else { f := true; }",
            "choice { branch [x = 0] x := 2; branch [f] f := false; }",
        ];
        all.extend(link);
        all.extend(link);
        if self.timed && self.r.one_in(6) {
            return "set t := 4 ms;".into();
        }
        self.r.of(&all).to_string()
    }

    fn actions(&mut self, one_in: usize) -> String {
        if self.r.one_in(one_in) { self.action() } else { String::new() }
    }

    fn transition(&mut self, from: &str, to: &str, plain: bool) {
        let trigger = if plain { String::new() } else { format!("when {} ", self.trigger()) };
        let guard = if !plain && self.r.one_in(3) { format!("[{}] ", self.condition()) } else { String::new() };
        let priority = if !plain && self.r.one_in(4) { format!("({}) ", self.r.below(3)) } else { String::new() };
        let act = self.actions(2);
        let act = if act.is_empty() { act } else { format!("/ {act}") };
        self.transitions.push(format!("transition {priority}from {from} to {to} {trigger}{guard}{act}"));
    }

    fn name(&mut self, kind: &str) -> String {
        self.nodes += 1;
        format!("{kind}{}", self.nodes)
    }

    /// A region, and the states in it.
    fn region(&mut self, depth: usize) -> (String, Vec<String>) {
        let name = self.name("Region");
        let count = 2 + usize::from(self.r.one_in(2));
        let states: Vec<String> = (0..count).map(|_| self.name("S")).collect();
        let kind =
            if depth > 0 { self.r.of(&["initial", "initial", "shallow history", "deep history"]) } else { "initial" };
        let entry = self.name("Entry");
        let mut text = format!("region {name} {{ {kind} {entry} ");
        self.transition(&entry, &states[0], true);
        let mut below = vec![];
        for (n, s) in states.iter().enumerate() {
            let (mut into, mut out) = (self.actions(3), self.actions(4));
            if self.timed && self.r.one_in(2) {
                into.push_str(" set t := 4 ms;");
            }
            if !into.trim().is_empty() {
                into = format!("entry / {into} ");
            }
            if !out.is_empty() {
                out = format!("exit / {out} ");
            }
            let mut inner = String::new();
            if depth < 2 && n == 1 && self.r.one_in(if depth == 0 { 2 } else { 5 }) {
                for _ in 0..1 + self.r.below(2) {
                    let (more, states) = self.region(depth + 1);
                    inner.push_str(&more);
                    below.extend(states);
                }
            }
            text.push_str(&format!("state {s} {{ {into}{out}{inner}}} "));
        }
        for _ in 0..count {
            let (from, to) = (self.r.below(count), self.r.below(count));
            let (from, to) = (states[from].clone(), states[to].clone());
            self.transition(&from, &to, false);
        }
        if self.r.one_in(4) {
            let choice = self.name("Choice");
            text.push_str(&format!("choice {choice} "));
            self.transition(&states[0], &choice, false);
            let condition = self.condition();
            self.transitions.push(format!("transition from {choice} to {} [{condition}]", states[1]));
            let condition = self.condition();
            let last = if self.r.one_in(3) { format!("[{condition}]") } else { "[else]".into() };
            self.transitions.push(format!("transition from {choice} to {} {last}", states[0]));
        }
        // Across levels.
        if !below.is_empty() && self.r.one_in(2) {
            let deep = below[self.r.below(below.len())].clone();
            if self.r.one_in(2) {
                self.transition(&states[0], &deep, false)
            } else {
                self.transition(&deep, &states[0], false)
            }
        }
        text.push_str("}\n");
        let mut all = states;
        all.extend(below);
        (text, all)
    }
}

fn chart(r: &mut Random, name: &str, first: bool, timed: bool, asynchronous: bool) -> String {
    let mut c = Chart { r: &mut *r, first, timed, transitions: vec![], nodes: 0 };
    let (mut regions, _) = c.region(0);
    if c.r.one_in(4) {
        regions.push_str(&c.region(1).0);
    }
    let transitions = c.transitions.join("\n");
    let mut notes = String::new();
    if asynchronous {
        notes.push_str("@Asynchronous\n");
    }
    notes.push_str(r.of(&["", "@RegionSchedule = bottom-up\n", "@RegionSchedule = top-down\n"]));
    notes.push_str(r.of(&["", "@TransitionPriority = order-based\n", "@TransitionPriority = value-based\n"]));
    notes.push_str(r.of(&["", "", "@GuardEvaluation = beginning-of-step\n"]));
    notes.push_str(r.of(&["", "", "@OrthogonalRegionSchedule = unordered\n"]));
    notes.push_str(r.of(&["", "", "", "@RunUponExternalEvent\n"]));
    let (side, timeout) = (if first { "provides" } else { "requires" }, if timed { "timeout t" } else { "" });
    let transient = r.of(&["", "", "@Transient ", "@Resettable "]);
    let invariant = if r.one_in(8) { "invariant x < 3 or f" } else { "" };
    format!(
        "{notes}statechart {name} [ port P : provides Env port L : {side} Link ] {{
{transient}var x : integer
var f : boolean
{timeout}
{invariant}
{regions}{transitions}
}}
"
    )
}

/// A package; the system is its last component.
pub fn package(r: &mut Random) -> String {
    let timed = r.one_in(3);
    let asynchronous = r.one_in(3);
    let a = chart(r, "A", true, timed, false);
    let late = timed && r.one_in(3);
    let b = chart(r, "B", false, late, false);
    let mut text = format!("package random\n{INTERFACES}{a}{b}");
    let (mut first, mut second, mode) = ("A", "B", r.of(&["sync", "cascade", "cascade"]));
    let mut mode = mode.to_string();
    let mut order = String::new();
    if asynchronous {
        for (name, of) in [("AA", "A"), ("BB", "B")] {
            let control = r.of(&[
                "when any / run",
                "when P.any / run when L.any / run",
                "when P.a / reset when any / run",
                "when L.any / run",
            ]);
            let (capacity, discard) = (1 + r.below(2), r.of(&["", ", discard = oldest"]));
            let queues = if r.one_in(2) {
                format!(
                    "queue p(priority = {}, capacity = {capacity}{discard}) {{ P.any }} queue l(priority = 1, capacity = 1) {{ L.any }}",
                    r.below(3)
                )
            } else {
                "queue q(priority = 1, capacity = 1) { P.any, L.any }".into()
            };
            text.push_str(&format!("adapter {name} of component c : {of} {{ {control} {queues} }}\n"));
        }
        (first, second, mode) = ("AA", "BB", r.of(&["async", "scheduled-async"]).to_string());
    } else if mode == "cascade" && r.one_in(2) {
        order = r.of(&["execute b, a", "execute a, b, a", "initial execute b execute a, b"]).to_string();
    }
    // The more inputs, the more states.
    let (port, bind) = if r.one_in(4) { (" port PB : provides Env", "bind PB -> b.P") } else { ("", "") };
    text.push_str(&format!(
        "{mode} S [ port PA : provides Env{port} ] {{
component a : {first}
component b : {second}
bind PA -> a.P
{bind}
channel [ a.L ] -o)- [ b.L ]
{order}
}}
"
    ));
    text
}
