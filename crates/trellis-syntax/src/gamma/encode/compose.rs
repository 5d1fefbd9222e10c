//! Compositions: who runs when, what they send each other, how all starts, and what comes from outside.

use trellis_expr::{StmtId, VarId};
use trellis_model::gamma::{Composite, Part};

use super::chart::Cycle;
use super::{About, Builder};

impl Builder<'_> {
    // What runs.

    /// A synchronous part runs.
    pub fn run(&mut self, part: &Part) {
        match part {
            Part::Chart(c) => {
                let s = Cycle::new(self, *c).cycle();
                self.push(s);
                let name = format!("after {}", self.sys.charts[*c].name);
                self.flush(&name);
            }
            Part::Composite(c) => self.composite(c),
            Part::Adapter(_) | Part::Asynchronous(..) => {}
        }
    }

    fn composite(&mut self, c: &Composite) {
        if c.cascade {
            for &s in c.outputs.iter().chain(c.gathered.iter().map(|(_, g)| g)) {
                let clear = self.clear(s, false);
                self.push(clear);
            }
        }
        for &k in &c.order {
            self.run(&c.parts[k]);
            self.after(c, k);
        }
        if !c.cascade {
            self.deliver_all(c.wires.iter().map(|&(_, from, to)| (from, to)));
        }
        self.come_back(c, None);
    }

    fn deliver_all(&mut self, pairs: impl Iterator<Item = (usize, usize)>) {
        for (from, to) in pairs {
            let s = self.deliver(from, to);
            self.push(s);
        }
    }

    /// What happens after a part has run.
    fn after(&mut self, c: &Composite, k: usize) {
        self.deliver_all(c.gathered.iter().copied());
        self.come_back(c, Some(k));
        if c.cascade {
            self.deliver_all(c.wires.iter().filter(|w| w.0 == k).map(|&(_, from, to)| (from, to)));
        }
    }

    fn come_back(&mut self, c: &Composite, part: Option<usize>) {
        self.deliver_all(c.internal.iter().filter(|(k, _, _)| *k == part).map(|&(_, from, to)| (from, to)));
    }

    // The start.

    /// Everything starts.
    pub fn reset(&mut self) {
        let sys = self.sys;
        for a in 0..sys.adapters.len() {
            for q in 0..sys.adapters[a].queues.len() {
                let s = self.forget_queue(a, q);
                self.push(s);
            }
            for (t, _) in &sys.adapters[a].clocks {
                let s = self.wind(*t);
                self.push(s);
            }
        }
        self.start(&sys.top);
        for a in 0..sys.adapters.len() {
            let s = self.post(a);
            self.push(s);
        }
    }

    /// A timer is set.
    fn wind(&mut self, timer: usize) -> StmtId {
        let timer = &self.sys.timers[timer];
        let duration = self.t().int(timer.duration);
        self.t().assign(timer.left, duration)
    }

    /// A part starts: variables, then configurations, then entry actions; what these raise is delivered.
    pub fn start(&mut self, part: &Part) {
        let sys = self.sys;
        let charts = sys.charts_in(part);
        for &c in &charts {
            let chart = &sys.charts[c];
            for &s in chart.inputs.iter().chain(&chart.outputs) {
                let clear = self.clear(s, true);
                self.push(clear);
            }
            for r in &chart.regions {
                for v in std::iter::once(r.active).chain(r.last) {
                    let none = self.put_state(v, 0);
                    self.push(none);
                }
            }
            for &t in &chart.timers {
                let zero = self.t().int(0);
                let s = self.t().assign(sys.timers[t].left, zero);
                self.push(s);
            }
            for &(_, v, first) in &chart.variables {
                let s = self.t().assign(v, first);
                self.push(s);
            }
        }
        self.forget(part);
        let mut entries = vec![];
        for &c in &charts {
            let (states, acts) = Cycle::new(self, c).start();
            self.push(states);
            entries.push((c, acts));
        }
        for (c, acts) in entries {
            self.push(acts);
            for &(v, t) in &sys.charts[c].transient {
                let s = self.t().assign(v, t);
                self.push(s);
            }
        }
        self.first(part);
    }

    /// What was gathered before a start is gone.
    fn forget(&mut self, part: &Part) {
        let sys = self.sys;
        match part {
            Part::Composite(c) => {
                for (_, g) in &c.gathered {
                    let clear = self.clear(*g, true);
                    self.push(clear);
                }
                c.parts.iter().for_each(|p| self.forget(p));
            }
            Part::Adapter(a) => self.forget(&sys.adapters[*a].inner),
            Part::Asynchronous(parts, _) => parts.iter().for_each(|p| self.forget(p)),
            Part::Chart(_) => {}
        }
    }

    /// Delivers what entry actions have raised, and executes what is executed first.
    fn first(&mut self, part: &Part) {
        let sys = self.sys;
        match part {
            Part::Chart(_) => {}
            Part::Adapter(a) => self.first(&sys.adapters[*a].inner),
            Part::Asynchronous(parts, _) => parts.iter().for_each(|p| self.first(p)),
            Part::Composite(c) => {
                c.parts.iter().for_each(|p| self.first(p));
                self.deliver_all(c.gathered.iter().copied());
                self.deliver_all(c.internal.iter().map(|&(_, from, to)| (from, to)));
                self.deliver_all(c.wires.iter().map(|&(_, from, to)| (from, to)));
                for &k in &c.first {
                    self.run(&c.parts[k]);
                    self.after(c, k);
                }
            }
        }
    }

    // From outside.

    /// The environment raises what it likes: an edge for each input that is raised.
    pub fn environment(&mut self) {
        let sys = self.sys;
        if sys.one_message {
            self.flush("one message");
            let (from, to) = (self.at, self.location("sent"));
            for n in 0..sys.inputs.len() {
                let (stmt, room) = self.sent(n);
                let note = self.note_raised(n);
                let stmt = self.t().seq([room, stmt, note]);
                let e = self.edge(from, stmt, to);
                self.about.insert(e, About::Raised(n));
            }
            self.at = to;
            return;
        }
        for (n, input) in sys.inputs.iter().enumerate().filter(|(_, i)| i.posts.is_empty()) {
            self.flush(&format!("{}?", input.name));
            let (from, to) = (self.at, self.location(&format!("after {}", input.name)));
            let skip = self.t().skip();
            self.edge(from, skip, to);
            // One value for all that get it.
            let mut parts: Vec<StmtId> = vec![];
            let values: Vec<VarId> = input.like.map_or(vec![], |s| sys.signals[s].params.iter().map(|p| p.1).collect());
            parts.extend(values.iter().map(|v| self.cfa.terms.havoc(*v)));
            let values: Vec<_> = values.iter().map(|v| self.cfa.terms.var(*v)).collect();
            parts.extend(input.inputs.iter().map(|s| self.put(*s, &values)).collect::<Vec<_>>());
            parts.push(self.note_raised(n));
            let stmt = self.t().seq(parts);
            let e = self.edge(from, stmt, to);
            self.about.insert(e, About::Raised(n));
            self.at = to;
        }
        let mut fed: Vec<(usize, usize)> = vec![];
        for (a, q, _) in sys.inputs.iter().filter_map(|i| i.posts.first()) {
            if !fed.contains(&(*a, *q)) {
                fed.push((*a, *q));
            }
        }
        for (a, q) in fed {
            let into = |n: &usize| sys.inputs[*n].posts.first().is_some_and(|p| (p.0, p.1) == (a, q));
            let inputs: Vec<usize> = (0..sys.inputs.len()).filter(into).collect();
            for _ in 0..sys.adapters[a].executions.max(1) {
                self.flush(&format!("messages for {}", sys.adapters[a].queues[q].name));
                let (from, to) = (self.at, self.location("sent"));
                let skip = self.t().skip();
                self.edge(from, skip, to);
                for &n in &inputs {
                    let (stmt, room) = self.sent(n);
                    let note = self.note_raised(n);
                    let stmt = self.t().seq([room, stmt, note]);
                    let e = self.edge(from, stmt, to);
                    self.about.insert(e, About::Raised(n));
                }
                self.at = to;
            }
        }
    }

    /// That an input has been raised, if somebody wants to know.
    fn note_raised(&mut self, input: usize) -> StmtId {
        match self.fair.iter().find(|(n, _)| *n == input) {
            Some(&(_, v)) => {
                let yes = self.t().bool(true);
                self.t().assign(v, yes)
            }
            None => self.t().skip(),
        }
    }

    /// Time has passed, the environment has said what it says: a step.
    pub fn step(&mut self) {
        let sys = self.sys;
        for adapter in &sys.adapters {
            for (t, post) in &adapter.clocks {
                let up = self.up(*t);
                let (wind, push, skip) = (self.wind(*t), self.push_message(*post, &[]), self.t().skip());
                let tick = self.t().seq([wind, push]);
                let s = self.t().branch(up, tick, skip);
                self.push(s);
            }
        }
        self.spread(&sys.top);
    }

    fn spread(&mut self, part: &Part) {
        match part {
            Part::Adapter(a) => self.execute(*a),
            Part::Asynchronous(parts, Some(order)) => order.iter().for_each(|k| self.spread(&parts[*k])),
            Part::Asynchronous(parts, None) => {
                self.flush("any component");
                let (from, to) = (self.at, self.location("executed"));
                for p in parts {
                    self.at = from;
                    self.spread(p);
                    self.flush_to(to);
                }
                self.at = to;
            }
            part => self.run(part),
        }
    }
}
