//! Compositions, the start, adapters with their queues, and what comes from outside.

use trellis_expr::Value;

use super::{Done, Message, Run};
use crate::gamma::{Composite, Control, Part, Post, Queues};

impl Run<'_> {
    // Compositions.

    fn run(&mut self, part: &Part) -> Done {
        match part {
            Part::Chart(c) => self.cycle(*c),
            Part::Composite(c) => self.composite(c),
            Part::Adapter(_) | Part::Asynchronous(..) => Ok(()),
        }
    }

    fn composite(&mut self, c: &Composite) -> Done {
        if c.cascade {
            for &s in c.outputs.iter().chain(c.gathered.iter().map(|(_, g)| g)) {
                self.clear(s, false)?;
            }
        }
        for &k in &c.order {
            self.run(&c.parts[k])?;
            self.after(c, k);
        }
        if !c.cascade {
            for &(_, from, to) in &c.wires {
                self.deliver(from, to);
            }
        }
        self.come_back(c, None);
        Ok(())
    }

    /// What happens after a part has run.
    fn after(&mut self, c: &Composite, k: usize) {
        for &(s, g) in &c.gathered {
            self.deliver(s, g);
        }
        self.come_back(c, Some(k));
        if c.cascade {
            for &(_, from, to) in c.wires.iter().filter(|(part, _, _)| *part == k) {
                self.deliver(from, to);
            }
        }
    }

    fn come_back(&mut self, c: &Composite, part: Option<usize>) {
        for &(_, from, to) in c.internal.iter().filter(|(k, _, _)| *k == part) {
            self.deliver(from, to);
        }
    }

    /// The start: of everything.
    pub fn reset(&mut self) -> Done {
        for (_, queue) in self.state.queues.iter_mut().flat_map(|q| q.iter_mut().enumerate()) {
            queue.clear();
        }
        for a in &self.sys.adapters {
            for (t, _) in &a.clocks {
                let timer = &self.sys.timers[*t];
                self.set(timer.left, Value::Int(timer.duration.into()));
            }
        }
        self.start(&self.sys.top)?;
        for a in 0..self.sys.adapters.len() {
            self.post(a)?;
        }
        Ok(())
    }

    /// A part starts: variables, then configurations, then entry actions; what these raise is delivered.
    fn start(&mut self, part: &Part) -> Done {
        let charts = self.sys.charts_in(part);
        for &c in &charts {
            let chart = &self.sys.charts[c];
            for &s in chart.inputs.iter().chain(&chart.outputs) {
                self.clear(s, true)?;
            }
            for r in &chart.regions {
                self.put_state(r.active, 0);
                if let Some(last) = r.last {
                    self.put_state(last, 0);
                }
            }
            for t in &chart.timers {
                self.set(self.sys.timers[*t].left, Value::Int(0.into()));
            }
            for (_, v, first) in &chart.variables {
                self.set_term(*v, *first)?;
            }
        }
        self.forget(part)?;
        for &c in &charts {
            let chart = &self.sys.charts[c];
            for &r in &chart.top {
                self.configure(chart, r, &[])?;
            }
            self.assume_states(chart)?;
        }
        for &c in &charts {
            let chart = &self.sys.charts[c];
            for &r in &chart.top {
                self.entries(chart, r)?;
            }
            for (v, t) in &chart.transient {
                self.set_term(*v, *t)?;
            }
        }
        self.first(part)
    }

    /// What was gathered before a start is gone.
    fn forget(&mut self, part: &Part) -> Done {
        match part {
            Part::Composite(c) => {
                for (_, g) in &c.gathered {
                    self.clear(*g, true)?;
                }
                c.parts.iter().try_for_each(|p| self.forget(p))
            }
            Part::Adapter(a) => self.forget(&self.sys.adapters[*a].inner),
            Part::Asynchronous(parts, _) => parts.iter().try_for_each(|p| self.forget(p)),
            Part::Chart(_) => Ok(()),
        }
    }

    /// Delivers what entry actions have raised, and executes what is executed first.
    fn first(&mut self, part: &Part) -> Done {
        match part {
            Part::Chart(_) => Ok(()),
            Part::Adapter(a) => self.first(&self.sys.adapters[*a].inner),
            Part::Asynchronous(parts, _) => parts.iter().try_for_each(|p| self.first(p)),
            Part::Composite(c) => {
                c.parts.iter().try_for_each(|p| self.first(p))?;
                for &(s, g) in &c.gathered {
                    self.deliver(s, g);
                }
                for &(_, from, to) in &c.internal {
                    self.deliver(from, to);
                }
                for &(_, from, to) in &c.wires {
                    self.deliver(from, to);
                }
                for &k in &c.first {
                    self.run(&c.parts[k])?;
                    self.after(c, k);
                }
                Ok(())
            }
        }
    }

    // Adapters.

    fn push(&mut self, (a, q, entry): Post, values: Vec<Value>) {
        let queue = &self.sys.adapters[a].queues[q];
        let waiting = &mut self.state.queues[a][q];
        if waiting.len() == queue.capacity {
            if !queue.drops_oldest {
                return;
            }
            waiting.pop_front();
        }
        let carried = queue.entries[entry].like.map_or(0, |s| self.sys.signals[s].params.len());
        waiting.push_back(Message { entry, values: values.into_iter().take(carried).collect() });
    }

    /// One execution of an adapter.
    fn execute(&mut self, a: usize) -> Done {
        let adapter = &self.sys.adapters[a];
        let waiting = (0..adapter.queues.len()).filter(|q| !self.state.queues[a][*q].is_empty());
        // Of several with the greatest priority, the first.
        let Some(q) = waiting.min_by_key(|q| (std::cmp::Reverse(adapter.queues[*q].priority), *q)) else {
            return Ok(());
        };
        let Some(message) = self.state.queues[a][q].pop_front() else { return Ok(()) };
        let entry = &adapter.queues[q].entries[message.entry];
        for &s in &entry.inputs {
            self.put(s, &message.values);
        }
        match entry.control {
            Control::Nothing => Ok(()),
            Control::Run => {
                self.run(&adapter.inner)?;
                self.post(a)
            }
            Control::Reset => {
                self.start(&adapter.inner)?;
                self.post(a)
            }
            Control::Forget(which) => {
                for (n, queue) in self.state.queues[a].iter_mut().enumerate() {
                    if match which {
                        Queues::All => true,
                        Queues::Own => n == q,
                        Queues::Others => n != q,
                    } {
                        queue.clear();
                    }
                }
                Ok(())
            }
        }
    }

    /// Sends what was raised.
    fn post(&mut self, a: usize) -> Done {
        let adapter = &self.sys.adapters[a];
        for (s, posts) in &adapter.posts {
            if self.raised(*s) && !posts.is_empty() {
                let values = self.carried(*s);
                posts.iter().for_each(|p| self.push(*p, values.clone()));
                if !adapter.kept.contains(s) {
                    self.clear(*s, false)?;
                }
            }
        }
        Ok(())
    }

    fn spread(&mut self, part: &Part) -> Done {
        match part {
            Part::Adapter(a) => self.execute(*a),
            Part::Asynchronous(parts, Some(order)) => order.iter().try_for_each(|k| self.spread(&parts[*k])),
            Part::Asynchronous(parts, None) => {
                let k = self.choose(parts.len());
                parts.get(k).map_or(Ok(()), |p| self.spread(p))
            }
            part => self.run(part),
        }
    }

    // From outside.

    /// The environment raises an input, by its number.
    pub fn raise(&mut self, input: usize, values: &[Value]) {
        let input = &self.sys.inputs[input];
        if input.posts.is_empty() {
            input.inputs.iter().for_each(|s| self.put(*s, values));
        }
        input.posts.iter().for_each(|p| self.push(*p, values.to_vec()));
    }

    /// Time passes, in milliseconds.
    pub fn elapse(&mut self, time: i64) {
        for timer in &self.sys.timers {
            if let Some(Value::Int(left)) = self.state.values.get(&timer.left) {
                let left = left.clone() - time;
                let left = if left < 0.into() { 0.into() } else { left };
                self.set(timer.left, Value::Int(left));
            }
        }
    }

    /// One step of the system: a cycle, or executions of adapters.
    pub fn step(&mut self) -> Done {
        for a in &self.sys.adapters {
            for (t, post) in &a.clocks {
                let timer = &self.sys.timers[*t];
                if self.state.values.get(&timer.left) == Some(&Value::Int(0.into())) {
                    self.set(timer.left, Value::Int(timer.duration.into()));
                    self.push(*post, vec![]);
                }
            }
        }
        self.spread(&self.sys.top)
    }

    /// One execution of an adapter, by its name.
    pub fn schedule(&mut self, name: &str) -> Option<Done> {
        let a = self.sys.adapters.iter().position(|a| a.name == name)?;
        Some(self.execute(a))
    }
}
