//! Random compositions of two small statecharts, as they are written: with all that the language has, a little of it at a time, since states multiply.

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

/// Types, constants and functions of all packages.
const TYPES: &str = "const TOP : integer := 2
type Colour : enum { Red, Green, Blue }
type Pair : record { p : boolean, c : Colour }
type Small : #[0 to 2]
lambda next(c : Colour) : Colour := c = Colour::Red ? Colour::Green : (c = Colour::Green ? Colour::Blue : Colour::Red)
procedure among(k : integer) : boolean {
    for (j : integer in <+ 1 .. TOP +>) {
        if (j = k) { return true; }
        if (j > k) { break; }
    }
    return false;
}
";

/// What the interfaces of a package are like.
#[derive(Clone, Copy)]
pub struct Style {
    /// The type of the parameter of `b`, and when that is so.
    value: (&'static str, &'static str),
    /// What `u` carries, when that is so, and how it is raised.
    link: (&'static str, &'static str, &'static str),
    persistent: bool,
    /// Have charts events of their own?
    internal: bool,
}

impl Style {
    fn new(r: &mut Random) -> Style {
        let values = [
            ("boolean", "P.b::v"),
            ("boolean", "P.b::v"),
            ("Colour", "P.b::v = Colour::Green"),
            ("Small", "P.b::v > 0"),
        ];
        let links = [
            ("boolean", "L.u::v", "raise L.u(f);"),
            ("boolean", "L.u::v", "raise L.u(true);"),
            ("Pair", "L.u::v.p", "raise L.u(#Pair{p := f, c := Colour::Green});"),
            ("Colour", "L.u::v /= Colour::Red", "raise L.u(f ? Colour::Blue : Colour::Red);"),
        ];
        Style { value: values[r.below(4)], link: links[r.below(4)], persistent: r.one_in(4), internal: r.one_in(4) }
    }

    fn interfaces(&self) -> String {
        let persistent = if self.persistent { "persistent " } else { "" };
        format!(
            "interface Env {{ in event a in {persistent}event b(v : {}) out event o out {persistent}event e(v : boolean) }}
interface Link {{ out {persistent}event u(v : {}) out event w in event r }}
interface Own {{ internal event z }}
",
            self.value.0, self.link.0
        )
    }
}

/// The variable that a chart has beside `x` and `f`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    Nothing,
    Colour,
    Record,
    Array,
    Bounded,
}

struct Chart<'r> {
    r: &'r mut Random,
    /// Does it provide the link?
    first: bool,
    timed: bool,
    style: Style,
    more: More,
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
        if self.style.internal {
            all.extend(["I.z", "I.z"]);
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
        let value = if self.first { self.style.value.1 } else { self.style.link.1 };
        let mut all = vec!["x < TOP", "x = 1", "f", "not f", "x /= 0", value, "f or x = 2", "among(x)"];
        all.extend(match self.more {
            More::Nothing => ["P.a::", "forall (q : boolean) : (q = f or x > 0)"],
            More::Colour => ["g = Colour::Red", "next(g) /= Colour::Blue"],
            More::Record => ["h.p", "h = #Pair{p := f, c := Colour::Red}"],
            More::Array => ["k[0]", "k[x > 0 ? 1 : 0]"],
            More::Bounded => ["s > 0", "exists (q : Small) : (q = s and q < x)"],
        });
        self.r.of(&all).to_string()
    }

    fn action(&mut self) -> String {
        let link: &[&str] =
            if self.first { &[self.style.link.2, "raise L.w;", self.style.link.2] } else { &["raise L.r;"] };
        let mut all = vec![
            "x := x < 2 ? x + 1 : 0;",
            "x := 0;",
            "f := not f;",
            "f := true;",
            "raise P.o;",
            "raise P.e(f);",
            "if (f) { x := 1; } else { f := true; }",
            "choice { branch [x = 0] x := 2; branch [f] f := false; }",
            "bump(f);",
            "f := flip();",
            "{ var i : integer := x; x := i > 0 ? i - 1 : TOP; }",
        ];
        all.extend(match self.more {
            More::Nothing => ["no operation;", "f := among(x);"],
            More::Colour => ["g := next(g);", "switch (g) { case Colour::Red : g := Colour::Blue; default : x := 0; }"],
            More::Record => ["h.p := f;", "h := #Pair{p := not h.p, c := Colour::Blue};"],
            More::Array => ["k[0] := f;", "for (i : integer in <+ 0 .. 1 +>) { k[i] := not k[i]; }"],
            // Out of its bounds now and then.
            More::Bounded => ["s := x;", "s := s > 1 ? 0 : s + (f ? 1 : 2);"],
        });
        if self.style.internal {
            all.extend(["raise I.z;", "raise I.z;"]);
        }
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
        if self.r.one_in(6) {
            let merge = self.name("Merge");
            text.push_str(&format!("merge {merge} "));
            self.transition(&states[0], &merge, false);
            self.transition(&states[1], &merge, false);
            let act = self.actions(2);
            self.transitions.push(format!("transition from {merge} to {} / {act} no operation;", states[0]));
        }
        if depth == 0 && self.r.one_in(6) {
            let (fork, join, both) = (self.name("Fork"), self.name("Join"), self.name("Both"));
            let mut inner = String::new();
            let mut halves = vec![];
            for _ in 0..2 {
                let (region, entry) = (self.name("Half"), self.name("Entry"));
                let (one, two) = (self.name("S"), self.name("S"));
                inner.push_str(&format!("region {region} {{ initial {entry} state {one} state {two} }} "));
                self.transition(&entry, &one, true);
                self.transition(&one, &two, false);
                halves.push((one, two));
            }
            text.push_str(&format!("state {both} {{ {inner}}} fork {fork} join {join} "));
            self.transition(&states[0], &fork, false);
            for (one, two) in halves {
                let act = self.actions(2);
                self.transitions.push(format!("transition from {fork} to {two} / {act} no operation;"));
                let from = if self.r.one_in(2) { one } else { two };
                self.transition(&from, &join, false);
            }
            self.transitions.push(format!("transition from {join} to {}", states[1]));
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

/// A chart; with a capacity, it is asynchronous by itself.
fn chart(r: &mut Random, name: &str, style: Style, first: bool, timed: bool, capacity: Option<usize>) -> String {
    let more = [More::Nothing, More::Nothing, More::Colour, More::Record, More::Array, More::Bounded][r.below(6)];
    let mut c = Chart { r: &mut *r, first, timed, style, more, transitions: vec![], nodes: 0 };
    let (mut regions, _) = c.region(0);
    if c.r.one_in(4) {
        regions.push_str(&c.region(1).0);
    }
    let transitions = c.transitions.join("\n");
    let mut notes = String::new();
    if capacity.is_some() {
        notes.push_str("@Asynchronous\n");
    }
    notes.push_str(r.of(&["", "@RegionSchedule = bottom-up\n", "@RegionSchedule = top-down\n"]));
    notes.push_str(r.of(&["", "@TransitionPriority = order-based\n", "@TransitionPriority = value-based\n"]));
    notes.push_str(r.of(&["", "", "@GuardEvaluation = beginning-of-step\n"]));
    notes.push_str(r.of(&["", "", "@OrthogonalRegionSchedule = unordered\n"]));
    notes.push_str(r.of(&["", "", "", "@RunUponExternalEvent\n", "@RunUponExternalEventOrInternalTimeout\n"]));
    let (side, timeout) = (if first { "provides" } else { "requires" }, if timed { "timeout t" } else { "" });
    let transient = r.of(&["", "", "@Transient ", "@Resettable "]);
    let invariant = if r.one_in(8) { "invariant x < 3 or f" } else { "" };
    let more = match more {
        More::Nothing => "",
        More::Colour => "var g : Colour := Colour::Green",
        More::Record => "var h : Pair := #Pair{c := Colour::Blue}",
        More::Array => "var k : [2]boolean",
        More::Bounded => "var s : Small := 1",
    };
    let assumed = if r.one_in(8) { " { invariant not (P.a:: and P.b::) }" } else { "" };
    let own = if style.internal { " port I : provides Own" } else { "" };
    let capacity = capacity.map_or(String::new(), |n| format!(" capacity ({n})"));
    format!(
        "{notes}statechart {name}{capacity} [ port P : provides Env{assumed} port L : {side} Link{own} ] {{
{transient}var x : integer
var f : boolean
{more}
{timeout}
{invariant}
{regions}{transitions}
procedure bump(by : boolean) : void {{
    if (x >= TOP) {{ x := 0; return; }}
    if (by) {{ x := x + 1; }}
}}
procedure flip() : boolean {{
    f := not f;
    return x > 0 and f;
}}
}}
"
    )
}

/// A composition around one chart.
fn wrapped(r: &mut Random, name: &str, of: &str, first: bool) -> String {
    let (mode, side) = (r.of(&["sync", "cascade"]), if first { "provides" } else { "requires" });
    format!(
        "{mode} {name} [ port P : provides Env port L : {side} Link ] {{
component inner : {of}
bind P -> inner.P
bind L -> inner.L
}}
"
    )
}

/// A package; the system is its last component.
pub fn package(r: &mut Random) -> String {
    let style = Style::new(r);
    let timed = r.one_in(3);
    let asynchronous = r.one_in(3);
    let by_itself = asynchronous && r.one_in(3);
    let a = chart(r, "A", style, true, timed, by_itself.then_some(1));
    let late = timed && r.one_in(3);
    let b = chart(r, "B", style, false, late, by_itself.then_some(1));
    let mut text = format!("package random\n{TYPES}{}{a}{b}", style.interfaces());
    let (mut first, mut second, mode) = ("A", "B", r.of(&["sync", "cascade", "cascade"]));
    let mut mode = mode.to_string();
    let mut order = String::new();
    let mut parts = ["A", "B"];
    if !by_itself && r.one_in(4) {
        text.push_str(&wrapped(r, "WA", "A", true));
        parts[0] = "WA";
    }
    if !by_itself && r.one_in(4) {
        text.push_str(&wrapped(r, "WB", "B", false));
        parts[1] = "WB";
    }
    if asynchronous && !by_itself {
        for (name, of) in [("AA", parts[0]), ("BB", parts[1])] {
            let control = r.of(&[
                "when any / run",
                "when P.any / run when L.any / run",
                "when P.a / reset when any / run",
                "when P.a / reset-queues when any / run",
                "when P.a / reset-other-queues when P.any / run when L.any / run",
                "when L.any / run",
            ]);
            let (capacity, discard) = (1 + r.below(2), r.of(&["", ", discard = oldest"]));
            // What wraps a chart has no port for its own events.
            let own = if style.internal && of.len() == 1 { ", I.any" } else { "" };
            let queues = if r.one_in(2) {
                format!(
                    "queue p(priority = {}, capacity = {capacity}{discard}) {{ P.any }} queue l(priority = 1, capacity = 1) {{ L.any{own} }}",
                    r.below(3)
                )
            } else {
                format!("queue q(priority = 1, capacity = 1) {{ P.any, L.any{own} }}")
            };
            let clock = r.one_in(5);
            let clock = if clock {
                ("clock k(rate = 4 ms) when k / run", "queue ticks(priority = 2, capacity = 1) { k }")
            } else {
                ("", "")
            };
            text.push_str(&format!(
                "adapter {name} of component c : {of} {{ {} {control} {queues} {} }}\n",
                clock.0, clock.1
            ));
        }
    }
    if asynchronous {
        if !by_itself {
            (first, second) = ("AA", "BB");
        }
        mode = r.of(&["async", "scheduled-async", "scheduled-async"]).to_string();
        if mode == "scheduled-async" && r.one_in(3) {
            order = r.of(&["execute b, a", "execute a, b, a"]).to_string();
        }
    } else {
        (first, second) = (parts[0], parts[1]);
        if mode == "cascade" && r.one_in(2) {
            // What runs repeatedly is a chart.
            let lists: &[&str] = if parts == ["A", "B"] {
                &["execute b, a", "execute a, b, a", "initial execute b execute a, b"]
            } else {
                &["execute b, a"]
            };
            order = r.of(lists).to_string();
        }
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
