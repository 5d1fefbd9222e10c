//! A system of composed statecharts as a control-flow automaton, for the engines that take programs.
//!
//! **One round of the automaton is one step of the system**: in the location `stable` something is asked; then time passes (`time`), the
//! environment raises what it likes, an edge for each input, and each statechart that runs takes its cycle (`chart`), an edge for each. What
//! connects them, adapters and queues are in `compose` and `queue`. Nothing of this is shared with the interpreter but the structure that both
//! are about; `tell` says what a run of the automaton means, and lets the interpreter replay it.

mod chart;
mod compose;
mod queue;
mod tell;
mod time;

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId, Terms, Type, VarId};
use trellis_model::cfa::{Cfa, Edge, EdgeId, Kind, Location, LocationId};
use trellis_model::gamma::{SignalId, System};

use super::names::Vocabulary;
use queue::Cells;
pub use tell::Cycle;
use time::Time;

/// What an edge is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The environment raises an input.
    Raised(usize),
    /// Time passes, by one region.
    Region,
    /// Time passes, as a variable says.
    Delay,
}

/// A system as an automaton.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The file that it was read from.
    pub file: String,
    /// The system.
    pub system: System,
    /// What properties speak of.
    pub names: Vocabulary,
    /// The automaton. Its error locations are [`Encoded::mistake`] and [`Encoded::violated`].
    pub cfa: Cfa,
    /// Where a step has been taken.
    pub stable: LocationId,
    /// Where no branch of a choice was enabled, or a number was out of bounds.
    pub mistake: Option<LocationId>,
    /// Where a property is violated.
    pub violated: Option<LocationId>,
    /// The transitions that are watched.
    pub watched: Vec<Watched>,
    /// What the environment is to raise again and again: inputs, and what says that they have been raised.
    pub fair: Vec<(usize, VarId)>,
    /// What adapters send to each other, and what says that they have.
    pub sent: Vec<(SignalId, VarId)>,
    /// What says that time has passed, if a timer runs.
    pub timely: Option<VarId>,
    about: FxHashMap<EdgeId, About>,
    queues: Vec<Vec<Cells>>,
    time: Time,
}

/// Builds the automaton.
pub struct Builder<'s> {
    sys: &'s System,
    cfa: Cfa,
    /// Where the next statement is done, and what is done there already.
    at: LocationId,
    pending: Vec<StmtId>,
    mistaken: Option<VarId>,
    mistake: Option<LocationId>,
    about: FxHashMap<EdgeId, About>,
    queues: Vec<Vec<Cells>>,
    /// Variables of the encoding's own, by their names.
    own: FxHashMap<String, VarId>,
    /// Which transitions are watched, and what says that they have fired.
    watched: Vec<Watched>,
    fair: Vec<(usize, VarId)>,
    sent: Vec<(SignalId, VarId)>,
    timely: Option<VarId>,
}

/// A transition (chart and number), and what says that it has fired in its chart's last cycle.
pub type Watched = ((usize, usize), VarId);

/// Makes the automaton of a system.
pub fn encode(system: System) -> Encoded {
    encode_for(system, &Watch::default())
}

/// What is watched: each gets a truth value that says that it has happened in the last step.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// Transitions that fire: chart and number.
    pub transitions: Vec<(usize, usize)>,
    /// Inputs that the environment raises.
    pub inputs: Vec<usize>,
    /// What adapters send to each other.
    pub sent: Vec<SignalId>,
    /// That time passes, if a timer runs.
    pub time: bool,
}

/// What says in formulas that time has passed, if a timer runs.
pub const TIMELY: &str = "time_passes";

/// What says in formulas that the environment has raised an input.
pub fn raised_name(input: usize) -> String {
    format!("raised_{input}")
}

/// The same, with a truth value for each of some transitions (chart and number): [`Encoded::watched`].
pub fn encode_watching(system: System, watched: &[(usize, usize)]) -> Encoded {
    encode_for(system, &Watch { transitions: watched.to_vec(), ..Watch::default() })
}

/// The same, watching also other things.
pub fn encode_for(mut system: System, watch: &Watch) -> Encoded {
    let names = Vocabulary::new(&mut system);
    let start = Location { name: "start".into(), kind: Kind::Plain, place: None };
    let cfa = Cfa::new(system.terms.clone(), start);
    let at = cfa.initial;
    let mut b = Builder {
        sys: &system,
        cfa,
        at,
        pending: vec![],
        mistaken: None,
        mistake: None,
        about: FxHashMap::default(),
        queues: vec![],
        own: FxHashMap::default(),
        watched: vec![],
        fair: vec![],
        sent: vec![],
        timely: None,
    };
    b.timely = watch.time.then(|| b.flag("@timely".into()));
    for &n in &watch.inputs {
        let v = b.flag(format!("@raised {n}"));
        b.fair.push((n, v));
    }
    for &s in &watch.sent {
        let v = b.flag(format!("@sent {s}"));
        b.sent.push((s, v));
    }
    for &(c, t) in &watch.transitions {
        let v = b.flag(format!("@fired {c}.{t}"));
        b.watched.push(((c, t), v));
    }
    // All variables get values on the first edge, when all are known.
    let first = b.location("blank");
    b.at = first;
    b.can_be_mistaken();
    b.declare_queues();
    let mut time = b.declare_time();
    b.reset();
    b.flush("started");
    let stable = b.at;
    b.cfa.location_mut(stable).name = "stable".into();
    for (_, v) in b.fair.clone().into_iter().chain(b.sent.clone()) {
        let no = b.t().bool(false);
        let reset = b.t().assign(v, no);
        b.push(reset);
    }
    if let Some(v) = b.timely {
        // Where there are no timers, nobody knows.
        let no_timers = b.sys.timers.is_empty();
        let start = b.t().bool(no_timers);
        let start = b.t().assign(v, start);
        b.push(start);
    }
    b.pass_time(&mut time);
    b.environment();
    b.step();
    let skip = b.t().skip();
    b.pending.push(skip);
    b.flush_to(stable);
    let blank = b.blank();
    b.edge(at, blank, first);
    let Builder { mut cfa, mistake, about, queues, watched, fair, sent, timely, .. } = b;
    cfa.variables = cfa.terms.variables().map(|(v, _)| v).collect();
    cfa.control = system.charts.iter().flat_map(|c| c.regions.iter().map(|r| r.active)).collect();
    Encoded {
        file: String::new(),
        system,
        names,
        cfa,
        stable,
        mistake,
        violated: None,
        watched,
        fair,
        sent,
        timely,
        about,
        queues,
        time,
    }
}

impl Encoded {
    /// The automaton with a condition that must hold after each step.
    pub fn asked(&self, condition: TermId, cfa: Cfa) -> Encoded {
        let mut asked = Encoded { cfa, ..self.clone() };
        let cfa = &mut asked.cfa;
        let violated = cfa.add_location(Location { name: "violated".into(), kind: Kind::Error, place: None });
        let not = cfa.terms.not(condition);
        let stmt = cfa.terms.assume(not);
        cfa.add_edge(Edge { from: self.stable, stmt, to: violated, place: None });
        asked.violated = Some(violated);
        asked
    }

    /// The automaton in which a mistake of the model is the end, and no error. Edges keep their numbers.
    pub fn without_mistakes(&self) -> Cfa {
        let mut cfa = self.cfa.clone();
        if let Some(at) = self.mistake {
            cfa.location_mut(at).kind = Kind::Plain;
        }
        cfa
    }
}

impl Builder<'_> {
    fn t(&mut self) -> &mut Terms {
        &mut self.cfa.terms
    }

    /// A variable of the encoding's own.
    fn named(&mut self, name: String, ty: Type) -> VarId {
        if let Some(v) = self.own.get(&name) {
            return *v;
        }
        let v = self.t().declare(name.clone(), ty);
        self.own.insert(name, v);
        v
    }

    fn flag(&mut self, name: String) -> VarId {
        self.named(name, Type::Bool)
    }

    fn location(&mut self, name: &str) -> LocationId {
        self.cfa.add_location(Location { name: name.into(), kind: Kind::Plain, place: None })
    }

    fn edge(&mut self, from: LocationId, stmt: StmtId, to: LocationId) -> EdgeId {
        self.cfa.add_edge(Edge { from, stmt, to, place: None })
    }

    fn push(&mut self, s: StmtId) {
        self.pending.push(s);
    }

    /// What was said up to here is an edge.
    fn flush(&mut self, name: &str) {
        let to = self.location(name);
        self.flush_to(to);
    }

    fn flush_to(&mut self, to: LocationId) {
        let parts = std::mem::take(&mut self.pending);
        let stmt = self.t().seq(parts);
        match (self.mistaken, self.mistake) {
            (Some(v), Some(mistake)) => {
                // A mistake ends the run.
                let middle = self.location("done");
                self.edge(self.at, stmt, middle);
                let v = self.t().var(v);
                let not = self.t().not(v);
                let (yes, no) = (self.t().assume(v), self.t().assume(not));
                self.edge(middle, yes, mistake);
                self.edge(middle, no, to);
            }
            _ => _ = self.edge(self.at, stmt, to),
        }
        self.at = to;
    }

    /// Is there a choice that may have no enabled branch, or an assignment that may be out of bounds?
    fn can_be_mistaken(&mut self) {
        let open = self.sys.charts.iter().any(|c| {
            let choices = c.nodes.iter().filter(|n| n.kind == trellis_model::gamma::Kind::Choice);
            choices.into_iter().any(|n| n.outgoing.iter().all(|t| !c.transitions[*t].otherwise))
        });
        if open || self.sys.mistaken.is_some() {
            let known = self.sys.mistaken;
            self.mistaken = Some(known.unwrap_or_else(|| self.flag("@no branch".into())));
            let location = Location { name: "a mistake of the model".into(), kind: Kind::Error, place: None };
            self.mistake = Some(self.cfa.add_location(location));
        }
    }

    /// No branch of a choice is enabled.
    fn mistake(&mut self, _: &str) -> StmtId {
        match self.mistaken {
            Some(v) => {
                let yes = self.t().bool(true);
                self.t().assign(v, yes)
            }
            None => self.t().skip(),
        }
    }

    /// An assumption of the model; after a mistake nothing is assumed any more.
    fn assume_unless_mistaken(&mut self, t: TermId) -> StmtId {
        let v = self.mistaken.map(|v| self.t().var(v));
        let t = self.t().or(v.into_iter().chain([t]));
        self.t().assume(t)
    }

    /// The value that variables of a type have before anything is said of them.
    fn default(&mut self, ty: Type) -> TermId {
        match ty {
            Type::Bool => self.t().bool(false),
            Type::Enum(e) => self.t().enum_lit(e, 0),
            Type::Array(_, entry) => {
                let entry = self.t().type_of_id(entry);
                let value = self.default(entry);
                self.t().const_array(ty, value)
            }
            Type::Range(lo, hi) => self.t().int(0.clamp(lo, hi)),
            _ => self.t().int(0),
        }
    }

    /// All variables have a value before the start.
    fn blank(&mut self) -> StmtId {
        let all: Vec<(VarId, Type)> = self.cfa.terms.variables().map(|(v, d)| (v, d.ty)).collect();
        let mut parts = vec![];
        for (v, ty) in all {
            let value = self.default(ty);
            parts.push(self.t().assign(v, value));
        }
        self.t().seq(parts)
    }

    // Signals.

    fn raised(&mut self, s: SignalId) -> TermId {
        let flag = self.sys.signals[s].flag;
        self.t().var(flag)
    }

    fn clear(&mut self, s: SignalId, all: bool) -> StmtId {
        let signal = &self.sys.signals[s];
        let no = self.t().bool(false);
        let mut parts = vec![self.t().assign(signal.flag, no)];
        if all || !signal.persistent {
            for &(_, v, default) in &signal.params {
                parts.push(self.t().assign(v, default));
            }
        }
        self.t().seq(parts)
    }

    /// Raises a signal with values.
    fn put(&mut self, s: SignalId, values: &[TermId]) -> StmtId {
        let signal = &self.sys.signals[s];
        let yes = self.t().bool(true);
        let mut parts = vec![self.t().assign(signal.flag, yes)];
        for ((_, v, _), value) in signal.params.iter().zip(values) {
            parts.push(self.t().assign(*v, *value));
        }
        self.t().seq(parts)
    }

    /// The values that a signal carries.
    fn carried(&mut self, s: SignalId) -> Vec<TermId> {
        self.sys.signals[s].params.iter().map(|(_, v, _)| self.cfa.terms.var(*v)).collect()
    }

    fn deliver(&mut self, from: SignalId, to: SignalId) -> StmtId {
        let values = self.carried(from);
        let (raised, put, skip) = (self.raised(from), self.put(to, &values), self.t().skip());
        self.t().branch(raised, put, skip)
    }
}
