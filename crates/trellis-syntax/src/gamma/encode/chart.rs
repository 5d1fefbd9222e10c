//! A cycle of a statechart as one statement: which transitions fire, and what is left and entered.
//!
//! What the interpreter finds out while it runs (which state of a region is active, which of several transitions is enabled) is a branch here,
//! unless it is known: a source that fires is active, and so are the states around it; what a transition enters by default is no secret either.

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId, Type, VarId};
use trellis_model::gamma::{Chart, Kind, Priority, Skip};

use super::Builder;

/// The states that are known to be active, by region.
type Known = FxHashMap<usize, usize>;

/// The statements of one chart.
pub struct Cycle<'b, 's> {
    b: &'b mut Builder<'s>,
    number: usize,
    chart: &'s Chart,
    /// What triggers and guards were when the cycle began, if that counts.
    fixed: Option<Vec<VarId>>,
    /// For each region, whether something has fired in it; only where inner regions come first.
    fired: Vec<VarId>,
}

impl<'b, 's> Cycle<'b, 's> {
    pub fn new(b: &'b mut Builder<'s>, c: usize) -> Cycle<'b, 's> {
        let chart = &b.sys.charts[c];
        let (mut fixed, mut fired) = (None, vec![]);
        if chart.guards_first {
            fixed = Some((0..chart.transitions.len()).map(|n| b.flag(format!("@guard {c}.{n}"))).collect());
        }
        if chart.bottom_up {
            fired = (0..chart.regions.len()).map(|r| b.flag(format!("@fired {c}.{r}"))).collect();
        }
        Cycle { b, number: c, chart, fixed, fired }
    }

    /// A cycle.
    pub fn cycle(&mut self) -> StmtId {
        let chart = self.chart;
        let mut parts = vec![];
        for ((_, _), v) in self.b.watched.clone().into_iter().filter(|((c, _), _)| *c == self.number) {
            let no = self.b.t().bool(false);
            parts.push(self.b.t().assign(v, no));
        }
        for &t in &chart.port_invariants {
            parts.push(self.b.assume_unless_mistaken(t));
        }
        for &(v, t) in &chart.resettable {
            parts.push(self.b.t().assign(v, t));
        }
        for &s in &chart.outputs {
            parts.push(self.b.clear(s, false));
        }
        let mut wakes: Vec<TermId> = vec![];
        if chart.skip != Skip::Never {
            wakes.extend(chart.inputs.iter().map(|s| self.b.raised(*s)).collect::<Vec<_>>());
        }
        if chart.skip == Skip::NoInputNorTimeout {
            wakes.extend(chart.timers.iter().map(|t| self.b.up(*t)).collect::<Vec<_>>());
        }
        let mut body = vec![];
        if let Some(fixed) = self.fixed.clone() {
            for (v, t) in fixed.iter().zip(&chart.transitions) {
                body.push(self.b.t().assign(*v, t.enabled));
            }
        }
        body.push(self.regions(&chart.top));
        // What only steers a cycle is nothing outside of it.
        for v in self.fixed.clone().unwrap_or_default().into_iter().chain(self.fired.clone()) {
            let no = self.b.t().bool(false);
            body.push(self.b.t().assign(v, no));
        }
        let body = self.b.t().seq(body);
        parts.push(match chart.skip {
            Skip::Never => body,
            _ => {
                let (wakes, skip) = (self.b.t().or(wakes), self.b.t().skip());
                self.b.t().branch(wakes, body, skip)
            }
        });
        parts.push(self.assume_states());
        for &(v, t) in &chart.transient {
            parts.push(self.b.t().assign(v, t));
        }
        for &s in &chart.inputs {
            parts.push(self.b.clear(s, false));
        }
        self.b.t().seq(parts)
    }

    /// The invariants of the chart and of its active states.
    pub fn assume_states(&mut self) -> StmtId {
        let chart = self.chart;
        let mut parts = vec![];
        for &t in &chart.invariants {
            parts.push(self.b.assume_unless_mistaken(t));
        }
        for (n, node) in chart.nodes.iter().enumerate() {
            if node.kind == Kind::State {
                for &t in &node.invariants {
                    let active = self.active(n);
                    let t = self.b.t().implies(active, t);
                    parts.push(self.b.assume_unless_mistaken(t));
                }
            }
        }
        self.b.t().seq(parts)
    }

    /// That a state is active.
    fn active(&mut self, state: usize) -> TermId {
        let node = &self.chart.nodes[state];
        self.b.is_state(self.chart.regions[node.region].active, node.value)
    }

    /// What is done for each state of a region, if that is the active one.
    fn for_active(&mut self, region: usize, mut then: impl FnMut(&mut Self, usize) -> StmtId) -> StmtId {
        let mut all = self.b.t().skip();
        let states: Vec<usize> = self.chart.states(region).collect();
        for s in states.into_iter().rev() {
            let body = then(self, s);
            let active = self.active(s);
            all = self.b.t().branch(active, body, all);
        }
        all
    }

    fn regions(&mut self, regions: &[usize]) -> StmtId {
        let each: Vec<StmtId> = regions.iter().map(|r| self.region(*r)).collect();
        if !self.chart.unordered || each.len() < 2 {
            return self.b.t().seq(each);
        }
        let mut orders = vec![];
        permutations(&mut (0..each.len()).collect::<Vec<_>>(), 0, &mut |order| {
            orders.push(order.iter().map(|n| each[*n]).collect::<Vec<_>>());
        });
        let orders: Vec<StmtId> = orders.into_iter().map(|o| self.b.t().seq(o)).collect();
        self.b.t().choice(orders)
    }

    /// A region's turn.
    fn region(&mut self, region: usize) -> StmtId {
        let chart = self.chart;
        if !chart.bottom_up {
            let inner = self.for_active(region, |w, s| w.regions(&chart.nodes[s].regions));
            return self.own(region, inner);
        }
        let mine = self.fired[region];
        let no = self.b.t().bool(false);
        let start = self.b.t().assign(mine, no);
        let inner = self.for_active(region, |w, s| {
            let below = &chart.nodes[s].regions;
            let run = w.regions(below);
            let fired: Vec<TermId> = below.iter().map(|r| w.b.t().var(w.fired[*r])).collect();
            let any = w.b.t().or(fired);
            let note = w.b.t().assign(mine, any);
            w.b.t().seq([run, note])
        });
        let skip = self.b.t().skip();
        let own = self.own(region, skip);
        let done = self.b.t().var(mine);
        let own = self.b.t().branch(done, skip, own);
        self.b.t().seq([start, inner, own])
    }

    /// A transition whose turn it is, if one is enabled; else something else.
    fn own(&mut self, region: usize, otherwise: StmtId) -> StmtId {
        let chart = self.chart;
        let mut sources = chart.sources(region);
        if chart.bottom_up {
            sources.reverse();
        }
        let mut rest = otherwise;
        for source in sources.into_iter().rev() {
            let mut ways = vec![];
            for t in chart.of_source(source, region) {
                let enabled = self.enabled(t);
                let mut fire = self.fire(t);
                if let Some(&mine) = self.fired.get(region) {
                    let yes = self.b.t().bool(true);
                    let note = self.b.t().assign(mine, yes);
                    fire = self.b.t().seq([fire, note]);
                }
                ways.push((enabled, fire, chart.transitions[t].priority));
            }
            let picked = self.pick(ways, rest);
            let active = self.active(source);
            rest = self.b.t().branch(active, picked, rest);
        }
        rest
    }

    fn enabled(&mut self, t: usize) -> TermId {
        let chart = self.chart;
        let to = chart.transitions[t].to;
        let joined = chart.nodes[to].kind == Kind::Join;
        let mut all = vec![];
        for (n, other) in chart.transitions.iter().enumerate() {
            if n != t && !(joined && other.to == to) {
                continue;
            }
            let holds = self.fixed.as_ref().map(|f| f[n]);
            all.push(holds.map_or(other.enabled, |v| self.b.t().var(v)));
            if n != t {
                all.push(self.active(other.from));
            }
        }
        self.b.t().and(all)
    }

    /// One of several ways, the most urgent first.
    fn pick(&mut self, ways: Vec<(TermId, StmtId, i64)>, otherwise: StmtId) -> StmtId {
        let mut groups: Vec<Vec<(TermId, StmtId, i64)>> = vec![];
        for way in ways {
            match groups.last_mut() {
                Some(last) if self.chart.priority == Priority::Value && last[0].2 == way.2 => last.push(way),
                _ => groups.push(vec![way]),
            }
        }
        let mut rest = otherwise;
        for group in groups.into_iter().rev() {
            let any = self.b.t().or(group.iter().map(|w| w.0));
            let one = match &group[..] {
                [(_, only, _)] => *only,
                several => {
                    let each: Vec<StmtId> = several
                        .iter()
                        .map(|(c, s, _)| {
                            let assume = self.b.t().assume(*c);
                            self.b.t().seq([assume, *s])
                        })
                        .collect();
                    self.b.t().choice(each)
                }
            };
            rest = self.b.t().branch(any, one, rest);
        }
        rest
    }

    fn fire(&mut self, t: usize) -> StmtId {
        let chart = self.chart;
        let taken = &chart.transitions[t];
        let region = chart.nodes[taken.from].region;
        if chart.nodes[taken.to].kind != Kind::Join {
            return self.follow(t, region, false, taken.from);
        }
        let joined: Vec<usize> =
            (0..chart.transitions.len()).filter(|o| chart.transitions[*o].to == taken.to).collect();
        let start = chart.common(region, taken.to);
        let around = joined.iter().fold(start, |r, o| chart.common(r, chart.transitions[*o].from));
        let mut parts = vec![self.leave(around, taken.from, &self.around(taken.from))];
        parts.extend(joined.iter().map(|o| self.effect(*o)).collect::<Vec<_>>());
        let next = chart.nodes[taken.to].outgoing[0];
        parts.push(self.follow(next, around, true, taken.from));
        self.b.t().seq(parts)
    }

    /// What a transition does, and that it has, if anybody wants to know.
    fn effect(&mut self, t: usize) -> StmtId {
        let effect = self.chart.transitions[t].effect;
        match self.b.watched.iter().find(|(watched, _)| *watched == (self.number, t)) {
            Some(&(_, v)) => {
                let yes = self.b.t().bool(true);
                let note = self.b.t().assign(v, yes);
                self.b.t().seq([effect, note])
            }
            None => effect,
        }
    }

    /// A state that is active, and those around it.
    fn around(&self, state: usize) -> Known {
        let mut known = Known::default();
        let mut at = Some(state);
        while let Some(s) = at {
            known.insert(self.chart.nodes[s].region, s);
            at = self.chart.regions[self.chart.nodes[s].region].parent;
        }
        known
    }

    /// Along a transition: what is inside `region` has been left already, if so.
    fn follow(&mut self, t: usize, region: usize, left: bool, source: usize) -> StmtId {
        let chart = self.chart;
        let (to, effect) = (chart.transitions[t].to, self.effect(t));
        let node = &chart.nodes[to];
        let forked: Vec<usize> = match node.kind {
            Kind::Fork => node.outgoing.iter().map(|o| chart.transitions[*o].to).collect(),
            _ => vec![],
        };
        let around = forked.iter().fold(chart.common(region, to), |r, n| chart.common(r, *n));
        let mut parts = vec![];
        if !left || around != region {
            // What has been left in part is looked at again.
            let known = if left { Known::default() } else { self.around(source) };
            parts.push(self.leave(around, source, &known));
        }
        parts.push(effect);
        match node.kind {
            Kind::Choice => {
                let next = self.branches(to, |w, t| w.follow(t, around, true, source));
                parts.push(next);
            }
            Kind::Merge | Kind::Join => parts.push(self.follow(node.outgoing[0], around, true, source)),
            Kind::Fork => {
                parts.extend(node.outgoing.iter().map(|o| self.effect(*o)).collect::<Vec<_>>());
                self.enter(around, &forked, &mut parts);
            }
            _ => self.enter(around, &[to], &mut parts),
        }
        self.b.t().seq(parts)
    }

    /// A region is entered, states first, then what they do.
    fn enter(&mut self, region: usize, targets: &[usize], parts: &mut Vec<StmtId>) {
        let mut known = Known::default();
        parts.push(self.configure(region, targets, &mut known));
        parts.push(self.entries(region, &known));
    }

    /// The branches of a choice; that none is enabled is a mistake.
    fn branches(&mut self, choice: usize, mut then: impl FnMut(&mut Self, usize) -> StmtId) -> StmtId {
        let chart = self.chart;
        let all = chart.by_priority(chart.nodes[choice].outgoing.clone());
        let otherwise = match all.iter().copied().find(|t| chart.transitions[*t].otherwise) {
            Some(t) => then(self, t),
            None => self.b.mistake(&chart.nodes[choice].name),
        };
        let mut ways = vec![];
        for t in all.into_iter().filter(|t| !chart.transitions[*t].otherwise) {
            let taken = &chart.transitions[t];
            ways.push((taken.enabled, then(self, t), taken.priority));
        }
        self.pick(ways, otherwise)
    }

    /// Leaves the active state of a region; the regions around the source come before those beside them.
    fn leave(&mut self, region: usize, source: usize, known: &Known) -> StmtId {
        match known.get(&region) {
            Some(&state) => self.leave_state(state, source, known),
            None => self.for_active(region, |w, s| w.leave_state(s, source, known)),
        }
    }

    fn leave_state(&mut self, state: usize, source: usize, known: &Known) -> StmtId {
        let chart = self.chart;
        let around = chart.around(source);
        let node = &chart.nodes[state];
        let (first, rest): (Vec<usize>, Vec<usize>) = node.regions.iter().partition(|r| around.contains(r));
        let mut parts = vec![];
        for r in first.into_iter().chain(rest) {
            parts.push(self.leave(r, source, known));
        }
        parts.push(node.exit);
        let region = &chart.regions[node.region];
        if let Some(last) = region.last {
            parts.push(self.b.put_state(last, node.value));
        }
        parts.push(self.b.put_state(region.active, 0));
        self.b.t().seq(parts)
    }

    /// Enters a region, so that the targets in it are active: states only, nothing of what they do. What is then active is noted, as far as it
    /// is known.
    pub fn configure(&mut self, region: usize, targets: &[usize], known: &mut Known) -> StmtId {
        let chart = self.chart;
        let here: Vec<usize> = targets.iter().copied().filter(|n| chart.contains(region, *n)).collect();
        let Some(&first) = here.first() else {
            let entry = chart.entry_node(region).expect("every region has one");
            return self.by_node(entry, known);
        };
        if chart.nodes[first].region == region && chart.nodes[first].kind != Kind::State {
            return self.by_node(first, known);
        }
        self.activate(chart.child(region, first), &here, known)
    }

    fn activate(&mut self, state: usize, targets: &[usize], known: &mut Known) -> StmtId {
        let node = &self.chart.nodes[state];
        known.insert(node.region, state);
        let mut parts = vec![self.b.put_state(self.chart.regions[node.region].active, node.value)];
        for &r in &node.regions {
            parts.push(self.configure(r, targets, known));
        }
        self.b.t().seq(parts)
    }

    /// Enters a region by its initial or history node.
    fn by_node(&mut self, node: usize, known: &mut Known) -> StmtId {
        let chart = self.chart;
        let region = chart.nodes[node].region;
        let first = chart.nodes[node].outgoing[0];
        let Some(last) = chart.regions[region].last.filter(|_| chart.nodes[node].kind != Kind::Initial) else {
            return self.by_transition(first, region, known);
        };
        // What is remembered is not known here.
        let mut all = self.by_transition(first, region, &mut Known::default());
        let states: Vec<usize> = chart.states(region).collect();
        for s in states.into_iter().rev() {
            let body = match chart.nodes[node].kind {
                Kind::Deep => self.restore_state(s),
                _ => self.activate(s, &[], &mut Known::default()),
            };
            let remembered = self.b.is_state(last, chart.nodes[s].value);
            all = self.b.t().branch(remembered, body, all);
        }
        all
    }

    fn by_transition(&mut self, t: usize, region: usize, known: &mut Known) -> StmtId {
        let chart = self.chart;
        let (to, effect) = (chart.transitions[t].to, self.effect(t));
        let rest = match chart.nodes[to].kind {
            Kind::Choice => self.branches(to, |w, t| w.by_transition(t, region, &mut Known::default())),
            Kind::Merge => self.by_transition(chart.nodes[to].outgoing[0], region, known),
            _ => self.configure(region, &[to], known),
        };
        self.b.t().seq([effect, rest])
    }

    fn restore(&mut self, region: usize) -> StmtId {
        let chart = self.chart;
        let mut all = self.configure(region, &[], &mut Known::default());
        let Some(last) = chart.regions[region].last else { return all };
        let states: Vec<usize> = chart.states(region).collect();
        for s in states.into_iter().rev() {
            let body = self.restore_state(s);
            let remembered = self.b.is_state(last, chart.nodes[s].value);
            all = self.b.t().branch(remembered, body, all);
        }
        all
    }

    fn restore_state(&mut self, state: usize) -> StmtId {
        let node = &self.chart.nodes[state];
        let mut parts = vec![self.b.put_state(self.chart.regions[node.region].active, node.value)];
        for &r in &node.regions {
            parts.push(self.restore(r));
        }
        self.b.t().seq(parts)
    }

    /// The entry actions in a region that was just entered.
    pub fn entries(&mut self, region: usize, known: &Known) -> StmtId {
        match known.get(&region) {
            Some(&s) => self.entries_of(s, known),
            None => self.for_active(region, |w, s| w.entries_of(s, &Known::default())),
        }
    }

    fn entries_of(&mut self, state: usize, known: &Known) -> StmtId {
        let node = &self.chart.nodes[state];
        let mut parts = vec![node.entry];
        for &r in &node.regions {
            parts.push(self.entries(r, known));
        }
        self.b.t().seq(parts)
    }

    /// The start of the chart's configuration: states; then its entry actions, separately.
    pub fn start(&mut self) -> (StmtId, StmtId) {
        let (mut states, mut entries) = (vec![], vec![]);
        for &r in &self.chart.top {
            let mut known = Known::default();
            states.push(self.configure(r, &[], &mut known));
            entries.push(self.entries(r, &known));
        }
        states.push(self.assume_states());
        (self.b.t().seq(states), self.b.t().seq(entries))
    }
}

/// All orders.
fn permutations(items: &mut [usize], from: usize, then: &mut impl FnMut(&[usize])) {
    if from == items.len() {
        return then(items);
    }
    for n in from..items.len() {
        items.swap(from, n);
        permutations(items, from + 1, then);
        items.swap(from, n);
    }
}

impl Builder<'_> {
    /// That a variable for states has a value.
    pub fn is_state(&mut self, v: VarId, value: u32) -> TermId {
        let Type::Enum(e) = self.t().variable(v).ty else { return self.t().bool(false) };
        let (v, lit) = (self.t().var(v), self.t().enum_lit(e, value));
        self.t().eq(v, lit)
    }

    /// Gives a variable for states a value.
    pub fn put_state(&mut self, v: VarId, value: u32) -> StmtId {
        let Type::Enum(e) = self.t().variable(v).ty else { return self.t().skip() };
        let lit = self.t().enum_lit(e, value);
        self.t().assign(v, lit)
    }
}
