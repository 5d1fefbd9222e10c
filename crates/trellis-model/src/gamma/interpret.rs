//! The reference meaning of composed statecharts: plainly, one thing after the other, slowly.
//!
//! Where something is open (transitions of equal rank, regions in any order, which component is next) a list of decisions says what is
//! taken; [`outcomes`] goes through all lists. Environment and time are the caller's: [`Run::raise`], [`Run::elapse`], then [`Run::step`].

use std::collections::VecDeque;

use trellis_expr::code::NoHost;
use trellis_expr::eval::{self, Limits, Valuation, eval};
use trellis_expr::{StmtId, TermId, Type, Value, VarId};

mod parts;

use super::{Chart, Kind, Priority, SignalId, Skip, System};

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Which entry of its queue it is.
    pub entry: usize,
    /// What it carries.
    pub values: Vec<Value>,
}

/// A state of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// All variables.
    pub values: Valuation,
    /// For each adapter and each of its queues.
    pub queues: Vec<Vec<VecDeque<Message>>>,
}

/// Why a step cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An invariant, which is an assumption, does not hold.
    #[error("an invariant does not hold")]
    Blocked,
    /// No branch of a choice is enabled: a mistake in the model.
    #[error("no branch of the choice `{0}` is enabled")]
    NoBranch(String),
    /// A variable was to get a value out of its bounds: a mistake in the model, too.
    #[error("a number is out of the bounds of its type")]
    OutOfBounds,
    /// Something has no value, or has too many.
    #[error("{0}")]
    Value(String),
}

impl Fault {
    /// Is the model to blame?
    pub fn is_mistake(&self) -> bool {
        matches!(self, Fault::NoBranch(_) | Fault::OutOfBounds)
    }
}

type Done = Result<(), Fault>;

/// A run under way.
pub struct Run<'s> {
    sys: &'s System,
    /// Where it is.
    pub state: State,
    /// What was decided, and among how many.
    decisions: Vec<(usize, usize)>,
    at: usize,
    /// The values that triggers and guards had when the cycle began, if that counts.
    fixed: Option<Vec<bool>>,
}

/// All ways something can go from a state; ways on which an invariant does not hold are no ways.
pub fn outcomes(sys: &System, from: &State, act: impl Fn(&mut Run<'_>) -> Done) -> Result<Vec<State>, Fault> {
    let mut all: Vec<State> = vec![];
    let mut decisions = vec![];
    loop {
        let mut run = Run { sys, state: from.clone(), decisions, at: 0, fixed: None };
        match act(&mut run) {
            Ok(()) => {
                if !all.contains(&run.state) {
                    all.push(run.state);
                }
            }
            Err(Fault::Blocked) => {}
            Err(fault) => return Err(fault),
        }
        decisions = run.decisions;
        while decisions.last().is_some_and(|(n, of)| n + 1 == *of) {
            decisions.pop();
        }
        match decisions.last_mut() {
            Some((n, _)) => *n += 1,
            None => return Ok(all),
        }
    }
}

/// A state in which nothing has a meaning yet: [`Run::reset`] comes first.
pub fn blank(sys: &System) -> State {
    let value = |v: VarId| {
        let default = |ty: Type| match ty {
            Type::Bool => Value::Bool(false),
            Type::Enum(e) => Value::Enum(e, 0),
            Type::Range(lo, hi) => Value::Int(0.clamp(lo, hi).into()),
            ty => Value::from_word(ty, 0),
        };
        match sys.terms.variable(v).ty {
            Type::Array(index, entry) => {
                let (index, entry) = (sys.terms.type_of_id(index), sys.terms.type_of_id(entry));
                // Arrays of arrays get their entries with their first value.
                Value::Array(trellis_expr::value::ArrayValue::new(&sys.terms, index, default(entry)))
            }
            ty => default(ty),
        }
    };
    let values = sys.terms.variables().map(|(v, _)| (v, value(v))).collect();
    let queues = sys.adapters.iter().map(|a| a.queues.iter().map(|_| VecDeque::new()).collect()).collect();
    State { values, queues }
}

impl Run<'_> {
    fn choose(&mut self, of: usize) -> usize {
        if of <= 1 {
            return 0;
        }
        if self.at == self.decisions.len() {
            self.decisions.push((0, of));
        }
        self.at += 1;
        self.decisions[self.at - 1].0
    }

    fn value(&self, t: TermId) -> Result<Value, Fault> {
        eval(&self.sys.terms, t, &self.state.values, &mut NoHost).map_err(|e| Fault::Value(e.to_string()))
    }

    /// Does a condition hold?
    pub fn holds(&self, t: TermId) -> Result<bool, Fault> {
        Ok(self.value(t)?.as_bool() == Some(true))
    }

    fn assume(&self, all: &[TermId]) -> Done {
        for t in all {
            if !self.holds(*t)? {
                return Err(Fault::Blocked);
            }
        }
        Ok(())
    }

    fn set(&mut self, v: VarId, value: Value) {
        self.state.values.insert(v, value);
    }

    fn set_term(&mut self, v: VarId, t: TermId) -> Done {
        let value = self.value(t)?;
        self.set(v, value);
        Ok(())
    }

    fn act(&mut self, s: StmtId) -> Done {
        let start = eval::State { env: self.state.values.clone(), host: NoHost };
        let mut ends =
            eval::exec(&self.sys.terms, s, start, Limits::default()).map_err(|e| Fault::Value(e.to_string()))?;
        if ends.is_empty() {
            return Err(Fault::Blocked);
        }
        let n = self.choose(ends.len());
        self.state.values = ends.swap_remove(n).env;
        match self.sys.mistaken {
            Some(v) if self.state.values.get(&v) == Some(&Value::Bool(true)) => Err(Fault::OutOfBounds),
            _ => Ok(()),
        }
    }

    // Signals.

    fn raised(&self, s: SignalId) -> bool {
        self.state.values.get(&self.sys.signals[s].flag) == Some(&Value::Bool(true))
    }

    fn clear(&mut self, s: SignalId, all: bool) -> Done {
        let signal = &self.sys.signals[s];
        self.set(signal.flag, Value::Bool(false));
        if all || !signal.persistent {
            for (_, v, default) in &signal.params {
                self.set_term(*v, *default)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, s: SignalId, values: &[Value]) {
        let signal = &self.sys.signals[s];
        self.set(signal.flag, Value::Bool(true));
        for ((_, v, _), value) in signal.params.iter().zip(values) {
            self.set(*v, value.clone());
        }
    }

    fn carried(&self, s: SignalId) -> Vec<Value> {
        self.sys.signals[s].params.iter().map(|(_, v, _)| self.state.values[v].clone()).collect()
    }

    fn deliver(&mut self, from: SignalId, to: SignalId) {
        if self.raised(from) {
            let values = self.carried(from);
            self.put(to, &values);
        }
    }

    // Statecharts.

    fn active(&self, chart: &Chart, region: usize) -> Option<usize> {
        let number = match self.state.values.get(&chart.regions[region].active) {
            Some(Value::Enum(_, n)) => *n,
            _ => 0,
        };
        chart.states(region).find(|s| chart.nodes[*s].value == number)
    }

    fn is_active(&self, chart: &Chart, state: usize) -> bool {
        self.active(chart, chart.nodes[state].region) == Some(state)
    }

    fn put_state(&mut self, v: VarId, number: u32) {
        if let Type::Enum(e) = self.sys.terms.variable(v).ty {
            self.set(v, Value::Enum(e, number));
        }
    }

    fn cycle(&mut self, c: usize) -> Done {
        let chart = &self.sys.charts[c];
        self.assume(&chart.port_invariants)?;
        for (v, t) in &chart.resettable {
            self.set_term(*v, *t)?;
        }
        for &s in &chart.outputs {
            self.clear(s, false)?;
        }
        let input = chart.inputs.iter().any(|s| self.raised(*s));
        let up = |run: &Self, t: &usize| run.state.values[&run.sys.timers[*t].left] == Value::Int(0.into());
        let runs = match chart.skip {
            Skip::Never => true,
            Skip::NoInput => input,
            Skip::NoInputNorTimeout => input || chart.timers.iter().any(|t| up(self, t)),
        };
        if runs {
            self.fixed = None;
            if chart.guards_first {
                let all: Result<_, _> = chart.transitions.iter().map(|t| self.holds(t.enabled)).collect();
                self.fixed = Some(all?);
            }
            self.regions(chart, &chart.top)?;
        }
        self.assume_states(chart)?;
        for (v, t) in &chart.transient {
            self.set_term(*v, *t)?;
        }
        for &s in &chart.inputs {
            self.clear(s, false)?;
        }
        Ok(())
    }

    fn assume_states(&self, chart: &Chart) -> Done {
        self.assume(&chart.invariants)?;
        for (n, node) in chart.nodes.iter().enumerate() {
            if node.kind == Kind::State && self.is_active(chart, n) {
                self.assume(&node.invariants)?;
            }
        }
        Ok(())
    }

    fn regions(&mut self, chart: &Chart, regions: &[usize]) -> Result<bool, Fault> {
        let mut left = regions.to_vec();
        let mut fired = false;
        while !left.is_empty() {
            let next = if chart.unordered { self.choose(left.len()) } else { 0 };
            let r = left.remove(next);
            fired |= self.region(chart, r)?;
        }
        Ok(fired)
    }

    /// A region's turn: did something fire?
    fn region(&mut self, chart: &Chart, region: usize) -> Result<bool, Fault> {
        let Some(state) = self.active(chart, region) else { return Ok(false) };
        let inner = &chart.nodes[state].regions;
        if chart.bottom_up {
            return Ok(self.regions(chart, inner)? || self.own(chart, region)?);
        }
        Ok(self.own(chart, region)? || self.regions(chart, inner)?)
    }

    /// Fires a transition whose turn it is, if one is enabled.
    fn own(&mut self, chart: &Chart, region: usize) -> Result<bool, Fault> {
        let mut sources = chart.sources(region);
        if chart.bottom_up {
            sources.reverse();
        }
        for source in sources {
            if !self.is_active(chart, source) {
                continue;
            }
            let mut enabled = vec![];
            for t in chart.of_source(source, region) {
                if self.enabled(chart, t)? {
                    enabled.push(t);
                }
            }
            if let Some(t) = self.pick(chart, &enabled) {
                self.fire(chart, t)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn enabled(&self, chart: &Chart, t: usize) -> Result<bool, Fault> {
        let to = chart.transitions[t].to;
        let joined = chart.nodes[to].kind == Kind::Join;
        for (n, other) in chart.transitions.iter().enumerate() {
            let counts = if joined { other.to == to } else { n == t };
            if counts {
                let holds = match &self.fixed {
                    Some(fixed) => fixed[n],
                    None => self.holds(other.enabled)?,
                };
                if !holds || !self.is_active(chart, other.from) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// One of the enabled transitions; the most urgent come first.
    fn pick(&mut self, chart: &Chart, enabled: &[usize]) -> Option<usize> {
        let first = *enabled.first()?;
        if chart.priority == Priority::Order {
            return Some(first);
        }
        let priority = |t: &usize| chart.transitions[*t].priority;
        let equal = enabled.iter().take_while(|t| priority(t) == priority(&first)).count();
        Some(enabled[self.choose(equal)])
    }

    fn fire(&mut self, chart: &Chart, t: usize) -> Done {
        let taken = &chart.transitions[t];
        let region = chart.nodes[taken.from].region;
        if chart.nodes[taken.to].kind != Kind::Join {
            return self.follow(chart, t, region, false, taken.from);
        }
        let joined: Vec<&super::Transition> = chart.transitions.iter().filter(|o| o.to == taken.to).collect();
        let around = joined.iter().fold(chart.common(region, taken.to), |r, o| chart.common(r, o.from));
        self.leave(chart, around, taken.from)?;
        for o in joined {
            self.act(o.effect)?;
        }
        let next = chart.nodes[taken.to].outgoing[0];
        self.follow(chart, next, around, true, taken.from)
    }

    /// Goes along a transition: what is inside `region` has been left already, if so.
    fn follow(&mut self, chart: &Chart, t: usize, region: usize, left: bool, source: usize) -> Done {
        let (to, effect) = (chart.transitions[t].to, chart.transitions[t].effect);
        let node = &chart.nodes[to];
        let forked: Vec<usize> = match node.kind {
            Kind::Fork => node.outgoing.iter().map(|o| chart.transitions[*o].to).collect(),
            _ => vec![],
        };
        let around = forked.iter().fold(chart.common(region, to), |r, n| chart.common(r, *n));
        if !left || around != region {
            self.leave(chart, around, source)?;
        }
        self.act(effect)?;
        match node.kind {
            Kind::Choice => {
                let next = self.branch(chart, to)?;
                self.follow(chart, next, around, true, source)
            }
            Kind::Merge | Kind::Join => self.follow(chart, node.outgoing[0], around, true, source),
            Kind::Fork => {
                for &o in &node.outgoing {
                    self.act(chart.transitions[o].effect)?;
                }
                self.configure(chart, around, &forked)?;
                self.entries(chart, around)
            }
            _ => {
                self.configure(chart, around, &[to])?;
                self.entries(chart, around)
            }
        }
    }

    /// The branch of a choice that is taken.
    fn branch(&mut self, chart: &Chart, choice: usize) -> Result<usize, Fault> {
        let all = chart.by_priority(chart.nodes[choice].outgoing.clone());
        let mut enabled = vec![];
        for &t in &all {
            if !chart.transitions[t].otherwise && self.holds(chart.transitions[t].enabled)? {
                enabled.push(t);
            }
        }
        let otherwise = all.iter().copied().find(|t| chart.transitions[*t].otherwise);
        let found = self.pick(chart, &enabled).or(otherwise);
        found.ok_or_else(|| Fault::NoBranch(chart.nodes[choice].name.clone()))
    }

    /// Leaves the active state of a region; the regions around the source come before those beside them.
    fn leave(&mut self, chart: &Chart, region: usize, source: usize) -> Done {
        let Some(state) = self.active(chart, region) else { return Ok(()) };
        let around = chart.around(source);
        let (first, rest): (Vec<usize>, Vec<usize>) =
            chart.nodes[state].regions.iter().partition(|r| around.contains(r));
        for r in first.into_iter().chain(rest) {
            self.leave(chart, r, source)?;
        }
        self.act(chart.nodes[state].exit)?;
        if let Some(last) = chart.regions[region].last {
            self.put_state(last, chart.nodes[state].value);
        }
        self.put_state(chart.regions[region].active, 0);
        Ok(())
    }

    /// Enters a region, so that the targets in it are active: states only, nothing of what they do.
    fn configure(&mut self, chart: &Chart, region: usize, targets: &[usize]) -> Done {
        let here: Vec<usize> = targets.iter().copied().filter(|n| chart.contains(region, *n)).collect();
        let Some(&first) = here.first() else {
            let entry = chart.entry_node(region).expect("every region has one");
            return self.by_node(chart, entry);
        };
        if chart.nodes[first].region == region && chart.nodes[first].kind != Kind::State {
            return self.by_node(chart, first);
        }
        self.activate(chart, chart.child(region, first), &here)
    }

    fn activate(&mut self, chart: &Chart, state: usize, targets: &[usize]) -> Done {
        self.put_state(chart.regions[chart.nodes[state].region].active, chart.nodes[state].value);
        for &r in &chart.nodes[state].regions {
            self.configure(chart, r, targets)?;
        }
        Ok(())
    }

    /// Enters a region by its initial or history node.
    fn by_node(&mut self, chart: &Chart, node: usize) -> Done {
        let region = chart.nodes[node].region;
        let last = chart.regions[region].last.and_then(|v| match self.state.values.get(&v) {
            Some(Value::Enum(_, n)) => chart.states(region).find(|s| chart.nodes[*s].value == *n),
            _ => None,
        });
        match (chart.nodes[node].kind, last) {
            (Kind::Shallow, Some(state)) => self.activate(chart, state, &[]),
            (Kind::Deep, Some(_)) => self.restore(chart, region),
            _ => {
                let mut t = chart.nodes[node].outgoing[0];
                loop {
                    self.act(chart.transitions[t].effect)?;
                    let to = chart.transitions[t].to;
                    t = match chart.nodes[to].kind {
                        Kind::Choice => self.branch(chart, to)?,
                        Kind::Merge => chart.nodes[to].outgoing[0],
                        _ => return self.configure(chart, region, &[to]),
                    };
                }
            }
        }
    }

    fn restore(&mut self, chart: &Chart, region: usize) -> Done {
        let last = chart.regions[region].last.and_then(|v| match self.state.values.get(&v) {
            Some(Value::Enum(_, n)) => chart.states(region).find(|s| chart.nodes[*s].value == *n),
            _ => None,
        });
        let Some(state) = last else { return self.configure(chart, region, &[]) };
        self.put_state(chart.regions[region].active, chart.nodes[state].value);
        for &r in &chart.nodes[state].regions {
            self.restore(chart, r)?;
        }
        Ok(())
    }

    /// The entry actions in a region that was just entered.
    fn entries(&mut self, chart: &Chart, region: usize) -> Done {
        let Some(state) = self.active(chart, region) else { return Ok(()) };
        self.act(chart.nodes[state].entry)?;
        for &r in &chart.nodes[state].regions {
            self.entries(chart, r)?;
        }
        Ok(())
    }
}
