//! Random statecharts: hierarchy, parallel states, histories, content everywhere. A variable `v` is changed by all content so that
//! the order of actions shows.

use std::fmt::Write;

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            r.below(2);
        });
        r
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    State,
    Parallel,
    Final,
    History(bool),
}

struct Shape {
    kind: Kind,
    parent: usize,
    children: Vec<usize>,
}

/// The structure; shape 0 is the root.
fn grow(r: &mut Random, all: &mut Vec<Shape>, parent: usize, depth: usize, budget: &mut usize) {
    let parallel = all[parent].kind == Kind::Parallel;
    let count = if parallel { 2 + r.below(2) } else { 1 + r.below(3) };
    for n in 0..count {
        if *budget == 0 && n > 0 {
            break;
        }
        *budget = budget.saturating_sub(1);
        let kind = match r.below(10) {
            0..=2 if depth < 3 => Kind::Parallel,
            3 | 4 if !parallel && n > 0 => Kind::Final,
            _ => Kind::State,
        };
        let s = all.len();
        all.push(Shape { kind, parent, children: vec![] });
        all[parent].children.push(s);
        let inside =
            kind == Kind::Parallel || (kind == Kind::State && depth < 3 && !r.one_in(if parallel { 4 } else { 2 }));
        if inside {
            grow(r, all, s, depth + 1, budget);
        }
    }
    // As a child of the root a history is not allowed.
    if parent > 0 && r.one_in(3) {
        let deep = r.one_in(2);
        all.push(Shape { kind: Kind::History(deep), parent, children: vec![] });
    }
}

struct Gen<'r> {
    r: &'r mut Random,
    all: Vec<Shape>,
    out: String,
    /// With values of all kinds, `_event`, data in events, scripts and loops.
    rich: bool,
}

/// The chart.
pub fn chart(r: &mut Random) -> String {
    let mut all = vec![Shape { kind: Kind::State, parent: 0, children: vec![] }];
    let mut budget = 4 + r.below(8);
    grow(r, &mut all, 0, 0, &mut budget);
    if r.one_in(3) {
        let s = all.len();
        all.push(Shape { kind: Kind::Final, parent: 0, children: vec![] });
        all[0].children.push(s);
    }
    let mut queue = match r.below(8) {
        0 => " trellis:queue=\"1\"".to_string(),
        1 => String::new(),
        _ => " trellis:queue=\"12\"".to_string(),
    };
    queue.push_str(match r.below(4) {
        0 => "",
        1 => " trellis:external=\"1\" trellis:timers=\"2\"",
        _ => " trellis:external=\"5\" trellis:timers=\"4\"",
    });
    queue.push_str(if r.one_in(2) { " trellis:events=\"e1 e2 e3 r1\"" } else { "" });
    let rich = r.one_in(2);
    if rich && r.one_in(3) {
        queue.push_str(" binding=\"late\"");
    }
    let more = "<data id=\"u\"/><data id=\"a\" expr=\"[1, 2]\"/><data id=\"o\" expr=\"{x: 1, y: 'red'}\"/>";
    let more = if rich { more } else { "" };
    let mut g = Gen { r, all, out: String::new(), rich };
    let initial = if g.r.one_in(3) { format!(" initial=\"{}\"", g.initial(0)) } else { String::new() };
    let _ = write!(
        g.out,
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" version=\"1.0\"{initial}{queue}>\n\
         <datamodel><data id=\"v\" expr=\"1\" trellis:type=\"0..100\"/><data id=\"n\" expr=\"0\" trellis:type=\"0..2\"/>\
         <data id=\"b\" expr=\"false\"/><data id=\"c\" expr=\"'red'\"/><data id=\"d\" expr=\"'1s'\"/>{more}</datamodel>\n"
    );
    g.children(0);
    g.out.push_str("</scxml>\n");
    g.out
}

impl Gen<'_> {
    fn below(&self, a: usize, s: usize) -> bool {
        let mut at = a;
        while at != 0 {
            at = self.all[at].parent;
            if at == s {
                return true;
            }
        }
        false
    }

    /// Names of a legal set of states inside the state.
    fn initial(&mut self, s: usize) -> String {
        let inside: Vec<usize> = (1..self.all.len()).filter(|&a| self.below(a, s)).collect();
        let first = inside[self.r.below(inside.len())];
        self.with_others(first, Some(s))
    }

    /// The state, and perhaps one of another region beside it, within the limits.
    fn with_others(&mut self, first: usize, within: Option<usize>) -> String {
        let mut at = first;
        while at != 0 && self.r.one_in(2) {
            let (child, parent) = (at, self.all[at].parent);
            if within.is_some_and(|s| s == parent) && self.all[parent].kind != Kind::Parallel {
                break;
            }
            if self.all[parent].kind == Kind::Parallel
                && !matches!(self.all[child].kind, Kind::History(_))
                && within.is_none_or(|s| s == parent || self.below(parent, s))
            {
                let beside: Vec<usize> = (1..self.all.len())
                    .filter(|&a| {
                        let apart = a != child && !self.below(a, child);
                        let history = matches!(self.all[a].kind, Kind::History(_)) && self.all[a].parent == parent;
                        self.below(a, parent) && apart && !history
                    })
                    .collect();
                if !beside.is_empty() {
                    let other = beside[self.r.below(beside.len())];
                    return format!("s{first} s{other}");
                }
            }
            at = parent;
        }
        format!("s{first}")
    }

    fn children(&mut self, s: usize) {
        for a in 1..self.all.len() {
            if self.all[a].parent == s {
                self.state(a);
            }
        }
    }

    fn state(&mut self, s: usize) {
        let kind = self.all[s].kind;
        if let Kind::History(deep) = kind {
            let parent = self.all[s].parent;
            let children: Vec<usize> = (1..self.all.len())
                .filter(|&a| self.below(a, parent) && !matches!(self.all[a].kind, Kind::History(_)))
                .collect();
            let first = children[self.r.below(children.len())];
            let mut target = self.with_others(first, Some(parent));
            if target
                .split(' ')
                .any(|t| matches!(self.all[t[1..].parse::<usize>().expect("a number")].kind, Kind::History(_)))
            {
                target = format!("s{first}");
            }
            let ty = if deep { "deep" } else { "shallow" };
            let _ = write!(self.out, "<history id=\"s{s}\" type=\"{ty}\"><transition target=\"{target}\">");
            self.block(1);
            self.out.push_str("</transition></history>\n");
            return;
        }
        let compound = kind == Kind::State && !self.all[s].children.is_empty();
        let mut attribute = String::new();
        let mut element = None;
        if compound {
            match self.r.below(3) {
                0 => attribute = format!(" initial=\"{}\"", self.initial(s)),
                1 => element = Some(self.initial(s)),
                _ => {}
            }
        }
        let tag = match kind {
            Kind::Parallel => "parallel",
            Kind::Final => "final",
            _ => "state",
        };
        let _ = writeln!(self.out, "<{tag} id=\"s{s}\"{attribute}>");
        if self.rich && kind != Kind::Final && self.r.one_in(4) {
            let e = self.r.pick(&["n + 1", "c", "u.x", "v"]);
            let _ = write!(self.out, "<datamodel><data id=\"w{s}\" expr=\"{e}\"/></datamodel>");
        }
        if self.rich && kind == Kind::Final && self.all[s].parent != 0 && self.r.one_in(2) {
            let data = self.r.pick(&[
                "<param name=\"p\" expr=\"n\"/>",
                "<content expr=\"c\"/>",
                "<param name=\"p\" expr=\"u.x\"/>",
                "<param name=\"p\" location=\"b\"/><param name=\"q\" expr=\"c\"/>",
            ]);
            let _ = write!(self.out, "<donedata>{data}</donedata>");
        }
        if let Some(target) = element {
            let _ = write!(self.out, "<initial><transition target=\"{target}\">");
            self.block(1);
            self.out.push_str("</transition></initial>\n");
        }
        for on in ["onentry", "onexit"] {
            for _ in 0..[0, 1, 1, 2][self.r.below(4)] {
                let _ = write!(self.out, "<{on}>");
                self.block(2);
                let _ = writeln!(self.out, "</{on}>");
            }
        }
        if kind != Kind::Final {
            for _ in 0..self.r.below(4) {
                self.transition();
            }
        }
        self.children(s);
        let _ = writeln!(self.out, "</{tag}>");
    }

    fn event(&mut self) -> String {
        let s = self.r.below(self.all.len());
        match self.r.below(14) {
            0 => "*".into(),
            1 => "e1.x".into(),
            2 => "e1.*".into(),
            3 => format!("done.state.s{s}"),
            4 => "error.execution".into(),
            5 => "e1 e2".into(),
            6 => "done.state r1".into(),
            7 | 8 => "r1".into(),
            9 => "e3".into(),
            n => format!("e{}", 1 + n % 2),
        }
    }

    fn cond(&mut self) -> String {
        let s = 1 + self.r.below(self.all.len() - 1);
        let s = if matches!(self.all[s].kind, Kind::History(_)) { 1 } else { s };
        if self.rich && self.r.one_in(2) {
            let conds = [
                "u",
                "u == undefined",
                "typeof u === 'number'",
                "typeof nowhere == 'undefined'",
                "a.length &lt; 3",
                "a[n] == 1",
                "a[2] || b",
                "o.x == n",
                "o.y === c",
                "o.z",
                "u.x == 1",
                "u &lt; 2",
                "u == n",
                "u !== c",
                "c + 'x' == 'redx'",
                "a instanceof Array &amp;&amp; typeof i != 'undefined'",
                "i &gt; 1",
                "u + 1 &gt; 1",
                "_event.name == 'e1'",
                "_event.type == 'internal'",
                "_event.sendid == 'k'",
                "typeof _event.data === 'undefined'",
                "_event.data.p == n",
                "_event.data == c",
            ];
            return self.r.pick(&conds).to_string();
        }
        match self.r.below(12) {
            0 => format!("In('s{s}')"),
            1 => format!("!In(&quot;s{s}&quot;) || b"),
            2 => "v % 2 == 0".into(),
            3 => "n &lt; 2".into(),
            4 => "b".into(),
            5 => "!b &amp;&amp; n != 1".into(),
            6 => "c === 'red'".into(),
            7 => "c != 'blue'".into(),
            8 => "v % n == 0".into(),
            9 => "n &gt; 0 &amp;&amp; v % n == 0".into(),
            10 => format!("(b ? n : v - 3) >= {}", self.r.below(3)),
            _ => "Math.floor((0 - v) / 7) + Math.trunc(v / (n - 1)) > -4 - n * 2".into(),
        }
    }

    fn transition(&mut self) {
        let mut attributes = String::new();
        let eventless = self.r.one_in(7);
        if !eventless {
            let event = self.event();
            let _ = write!(attributes, " event=\"{event}\"");
        }
        if eventless || self.r.one_in(3) {
            // One that holds for long, or has no value, would be taken or tried forever.
            let again = |cond: &str| cond.contains("% n") || cond.contains("!=") || cond.contains("Math");
            let mut cond = self.cond();
            while eventless && again(&cond) && !self.r.one_in(8) {
                cond = self.cond();
            }
            let _ = write!(attributes, " cond=\"{cond}\"");
        }
        if !self.r.one_in(5) {
            let first = 1 + self.r.below(self.all.len() - 1);
            let target = self.with_others(first, None);
            let _ = write!(attributes, " target=\"{target}\"");
        }
        if self.r.one_in(4) {
            attributes.push_str(" type=\"internal\"");
        }
        let _ = write!(self.out, "<transition{attributes}>");
        self.block(2);
        self.out.push_str("</transition>\n");
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..[0, 1, 1, 2, 3][self.r.below(5)] {
            self.action(depth);
        }
    }

    fn rich_action(&mut self, depth: usize) {
        if depth > 0 && self.r.one_in(6) {
            let index = self.r.pick(&["", " index=\"k\""]);
            let array = self.r.pick(&["a", "a", "[n, 7]", "u"]);
            let _ = write!(self.out, "<foreach array=\"{array}\" item=\"i\"{index}>");
            self.block(depth - 1);
            self.out.push_str("</foreach>");
            return;
        }
        let actions = [
            "<assign location=\"u\" expr=\"n\"/>",
            "<assign location=\"u\" expr=\"c\"/>",
            "<assign location=\"u\" expr=\"b\"/>",
            "<assign location=\"u\" expr=\"null\"/>",
            "<assign location=\"u\" expr=\"_event.name\"/>",
            "<assign location=\"u\" expr=\"_event.data.p\"/>",
            "<assign location=\"u\" expr=\"i\"/>",
            "<assign location=\"u\" expr=\"u + 1\"/>",
            "<assign location=\"a\" expr=\"[n, n + 1]\"/>",
            "<assign location=\"a\" expr=\"a.length &lt; 4 ? a.concat([n]) : [1]\"/>",
            "<assign location=\"a[0]\" expr=\"a[1]\"/>",
            "<assign location=\"o\" expr=\"{x: n, y: o.y, z: b}\"/>",
            "<assign location=\"o.x\" expr=\"n\"/>",
            "<assign location=\"o.z\" expr=\"c\"/>",
            "<assign location=\"u.x\" expr=\"1\"/>",
            "<assign location=\"nowhere\" expr=\"1\"/>",
            "<assign location=\"u\" expr=\"return\"/>",
            "<assign location=\"v\" expr=\"(v + (i || 5)) % 101\"/>",
            "<script>var t = n + 1; v = (v + t) % 101;</script>",
            "<send event=\"e3\"><param name=\"p\" expr=\"n\"/></send>",
            "<send event=\"e1\" namelist=\"n b\" delay=\"1s\" id=\"k\"/>",
            "<send event=\"r1\" target=\"#_internal\"><content expr=\"c\"/></send>",
            "<send eventexpr=\"c == 'red' ? 'e1' : 'e2'\"/>",
            "<send event=\"e2\" target=\"baz\" id=\"k\"/>",
            "<send event=\"e2\" target=\"#_scxml_nobody\"/>",
            "<send event=\"e2\" id=\"k\"><param name=\"p\" expr=\"u.x\"/></send>",
            "<cancel sendidexpr=\"b ? 'k' : 'l'\"/>",
        ];
        let text = self.r.pick(&actions);
        self.out.push_str(text);
    }

    fn action(&mut self, depth: usize) {
        if self.rich && self.r.one_in(2) {
            return self.rich_action(depth);
        }
        let k = self.r.below(50);
        let text = match self.r.below(14) {
            0 => "<assign location=\"n\" expr=\"n + 1\"/>".into(),
            1 => "<assign location=\"n\" expr=\"(n + 1) % 3\"/>".into(),
            2 => "<assign location=\"b\" expr=\"!b\"/>".into(),
            3 => {
                let c = self.r.pick(&["red", "green", "blue"]);
                format!("<assign location=\"c\" expr=\"b ? '{c}' : c\"/>")
            }
            // Not too often: what is raised on entry again and again fills the queue.
            4 if self.r.one_in(2) => "<raise event=\"r1\"/>".into(),
            5 if self.r.one_in(2) => "<raise event=\"e1.x\"/>".into(),
            6 => match self.r.below(9) {
                0 | 1 => "<send event=\"e3\" delay=\"1s\"/><log expr=\"v\"/>".into(),
                2 => "<send event=\"e2\" delay=\"2s\" id=\"k\"/>".into(),
                3 => "<send event=\"e1.x\" delayexpr=\"'.5s'\" id=\"k\"/>".into(),
                4 => "<send event=\"r1\" delayexpr=\"d\"/>".into(),
                5 => "<cancel sendid=\"k\"/>".into(),
                6 => {
                    let d = self.r.pick(&["1s", "2s", "soon"]);
                    format!("<assign location=\"d\" expr=\"'{d}'\"/>")
                }
                7 => "<send event=\"e1\"/>".into(),
                _ => "<send event=\"e3\"/>".into(),
            },
            7 if self.r.one_in(2) => "<send event=\"r1\" target=\"#_internal\"/>".into(),
            8 | 9 if depth > 0 => {
                let cond = self.cond();
                let _ = write!(self.out, "<if cond=\"{cond}\">");
                self.block(depth - 1);
                if self.r.one_in(2) {
                    let cond = self.cond();
                    let _ = write!(self.out, "<elseif cond=\"{cond}\"/>");
                    self.block(depth - 1);
                }
                if self.r.one_in(2) {
                    self.out.push_str("<else/>");
                    self.block(depth - 1);
                }
                self.out.push_str("</if>");
                return;
            }
            10 => format!("<assign location=\"v\" expr=\"v % n + {k}\"/>"),
            _ => format!("<assign location=\"v\" expr=\"(v * 3 + {k}) % 101\"/>"),
        };
        self.out.push_str(&text);
    }
}
