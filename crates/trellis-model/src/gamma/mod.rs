//! Composed statecharts as the Gamma Statechart Composition Framework has them: statecharts, synchronous compositions (`sync`, `cascade`),
//! adapters with queues, and asynchronous compositions of these.
//!
//! Everything is instantiated: names are gone, expressions and actions are terms and statements over one arena, and a port is the signals
//! at its ends. What is left to a meaning ([`interpret`], and the encoding in the front end, which share nothing but this structure) is what
//! makes the language: which transitions fire, in which order, what is entered and left, who runs when, and what waits in queues.
//!
//! Times are in milliseconds. A timer counts what is left until it is up, so it is up before it is ever set.

pub mod interpret;

use trellis_expr::{StmtId, TermId, Terms, VarId};

/// An event at a port of a statechart: is it raised, and with which values?
#[derive(Debug, Clone)]
pub struct Signal {
    /// `instance.Port.event`
    pub name: String,
    /// Whether it is raised.
    pub flag: VarId,
    /// Its values, each with the value that it has where the event is not raised.
    pub params: Vec<(String, VarId, TermId)>,
    /// Where values are parts of a record: the way to that (`parameter.field`), and what it is called.
    pub records: Vec<(String, String)>,
    /// Do its values outlast the cycle?
    pub persistent: bool,
}

/// An index into [`System::signals`].
pub type SignalId = usize;

/// What a node of a statechart is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    State,
    Initial,
    Shallow,
    Deep,
    Choice,
    Merge,
    Fork,
    Join,
}

/// A node of a statechart.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The region it is in.
    pub region: usize,
    /// The regions in it.
    pub regions: Vec<usize>,
    /// Done when it is entered.
    pub entry: StmtId,
    /// Done when it is left.
    pub exit: StmtId,
    /// Assumed of it while it is active, where a cycle ends.
    pub invariants: Vec<TermId>,
    /// The transitions that leave it, in order.
    pub outgoing: Vec<usize>,
    /// Of a state: its number among the states of its region, from 1, which is its value in [`Region::active`].
    pub value: u32,
}

/// A region.
#[derive(Debug, Clone)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// The state it is in; none at the top.
    pub parent: Option<usize>,
    /// Its nodes, in order.
    pub nodes: Vec<usize>,
    /// The active state; literal 0 if there is none.
    pub active: VarId,
    /// The state that was active when it was left, if some history asks for that.
    pub last: Option<VarId>,
}

/// A transition.
#[derive(Debug, Clone)]
pub struct Transition {
    /// Its own name, if it has one, else `Source -> Target`.
    pub name: String,
    /// The node it leaves.
    pub from: usize,
    /// The node it leads to.
    pub to: usize,
    /// Trigger and guard; of `[else]`: that no other is enabled is not said here.
    pub enabled: TermId,
    /// Is it `[else]`?
    pub otherwise: bool,
    /// The larger the sooner.
    pub priority: i64,
    /// What it does.
    pub effect: StmtId,
}

/// Which of several transitions of one source fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Any of those whose number is greatest.
    Value,
    /// The first.
    Order,
}

/// When a statechart skips a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// Never.
    Never,
    /// If no input is raised.
    NoInput,
    /// If no input is raised and no timeout that it asks for is up.
    NoInputNorTimeout,
}

/// A statechart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// `a.b`; empty if it is the whole system.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Its regions; the outermost are [`Chart::top`].
    pub regions: Vec<Region>,
    /// The outermost regions.
    pub top: Vec<usize>,
    /// Its transitions, as they are written.
    pub transitions: Vec<Transition>,
    /// Are inner regions tried first?
    pub bottom_up: bool,
    /// May regions beside each other take any order?
    pub unordered: bool,
    /// Are triggers and guards of states looked at before anything is done?
    pub guards_first: bool,
    /// Which transition fires.
    pub priority: Priority,
    /// When it skips a cycle.
    pub skip: Skip,
    /// Its variables with their names and first values.
    pub variables: Vec<(String, VarId, TermId)>,
    /// Variables that fall back to a value after each cycle.
    pub transient: Vec<(VarId, TermId)>,
    /// Variables that fall back to a value before each cycle.
    pub resettable: Vec<(VarId, TermId)>,
    /// Its inputs, internal ones included.
    pub inputs: Vec<SignalId>,
    /// What it raises, internal events included.
    pub outputs: Vec<SignalId>,
    /// The timers that triggers ask for.
    pub timers: Vec<usize>,
    /// Assumed where a cycle starts.
    pub port_invariants: Vec<TermId>,
    /// Assumed where a cycle ends.
    pub invariants: Vec<TermId>,
}

/// What is left of a time.
#[derive(Debug, Clone)]
pub struct Timer {
    /// Milliseconds until it is up.
    pub left: VarId,
    /// What it is set to.
    pub duration: i64,
    /// The chart whose timeout it is; none for clocks of adapters.
    pub chart: Option<usize>,
}

/// Who is made of whom.
#[derive(Debug, Clone)]
pub enum Part {
    /// An index into [`System::charts`].
    Chart(usize),
    /// A synchronous composition.
    Composite(Box<Composite>),
    /// An index into [`System::adapters`].
    Adapter(usize),
    /// An asynchronous composition: parts, and in which order they execute; any one of them if none is given.
    Asynchronous(Vec<Part>, Option<Vec<usize>>),
}

/// A `sync` or a `cascade`.
#[derive(Debug, Clone)]
pub struct Composite {
    /// Does each part see what those before it have raised?
    pub cascade: bool,
    /// Its parts.
    pub parts: Vec<Part>,
    /// Executed once, after the start.
    pub first: Vec<usize>,
    /// Executed in each cycle.
    pub order: Vec<usize>,
    /// The part that sends, what it sends, and the input that gets it.
    pub wires: Vec<(usize, SignalId, SignalId)>,
    /// Internal events that come back, after a part has run or at the end of the cycle: as they were raised, and as they come.
    pub internal: Vec<(Option<usize>, SignalId, SignalId)>,
    /// What its statecharts raise is also gathered here until the next cycle, because some of them run more than once: as it is raised,
    /// and as it is gathered.
    pub gathered: Vec<(SignalId, SignalId)>,
    /// All that its statecharts raise.
    pub outputs: Vec<SignalId>,
}

/// What an entry of a queue is.
#[derive(Debug, Clone)]
pub struct Entry {
    /// `Port.event`, or the name of a clock.
    pub name: String,
    /// The inputs that get it; none for ticks and control events.
    pub inputs: Vec<SignalId>,
    /// The values it carries, as some signal has them; none if it has none.
    pub like: Option<SignalId>,
    /// What happens.
    pub control: Control,
}

/// What an adapter does when a message comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Nothing but taking it in.
    Nothing,
    /// One cycle.
    Run,
    /// The component starts anew.
    Reset,
    /// The queues of this kind are emptied.
    Forget(Queues),
}

/// Which queues are emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Queues {
    Own,
    All,
    Others,
}

/// A queue of an adapter.
#[derive(Debug, Clone)]
pub struct Queue {
    /// `adapter.queue`
    pub name: String,
    /// The larger the sooner.
    pub priority: i64,
    /// How many messages fit.
    pub capacity: usize,
    /// Is the oldest dropped if one too many comes? Else that one is.
    pub drops_oldest: bool,
    /// What may wait in it.
    pub entries: Vec<Entry>,
}

/// Where messages go: adapter, queue, entry.
pub type Post = (usize, usize, usize);

/// An adapter.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// `a.b`; empty if it is the whole system.
    pub name: String,
    /// What it wraps.
    pub inner: Part,
    /// Its queues, as they are written.
    pub queues: Vec<Queue>,
    /// Its clocks: the timer, and where ticks go.
    pub clocks: Vec<(usize, Post)>,
    /// What it sends after a run, in order: what is raised, and where that goes.
    pub posts: Vec<(SignalId, Vec<Post>)>,
    /// What stays raised until the next run all the same, since the system sends it.
    pub kept: Vec<SignalId>,
    /// How often it executes in a step of the system.
    pub executions: usize,
}

/// What the environment may raise.
#[derive(Debug, Clone)]
pub struct Input {
    /// `Port.event`
    pub name: String,
    /// Of a synchronous system: the inputs that get it.
    pub inputs: Vec<SignalId>,
    /// Of an asynchronous one: where it waits.
    pub posts: Vec<Post>,
    /// The values it carries, as some signal has them.
    pub like: Option<SignalId>,
}

/// A system.
#[derive(Debug, Clone)]
pub struct System {
    /// All terms and statements.
    pub terms: Terms,
    /// Its name.
    pub name: String,
    /// What its parameters are, in their order.
    pub arguments: Vec<(String, i64)>,
    /// All events at ports of statecharts.
    pub signals: Vec<Signal>,
    /// All statecharts, in order.
    pub charts: Vec<Chart>,
    /// All adapters.
    pub adapters: Vec<Adapter>,
    /// All timers.
    pub timers: Vec<Timer>,
    /// What there is at the top.
    pub top: Part,
    /// What comes from outside.
    pub inputs: Vec<Input>,
    /// What goes outside: `Port.event`, and where that is seen.
    pub outputs: Vec<(String, SignalId)>,
    /// Does exactly one message come in each step?
    pub one_message: bool,
    /// The least and greatest time that passes before a step.
    pub period: (i64, Option<i64>),
    /// Says that a variable was to get a value out of its bounds: a mistake of the model. None if that cannot be.
    pub mistaken: Option<VarId>,
}

impl Chart {
    /// The regions around a node, outermost first.
    pub fn around(&self, node: usize) -> Vec<usize> {
        self.around_region(self.nodes[node].region)
    }

    /// The same, of a region, and itself.
    pub fn around_region(&self, region: usize) -> Vec<usize> {
        let mut all = vec![region];
        let mut at = region;
        while let Some(parent) = self.regions[at].parent {
            at = self.nodes[parent].region;
            all.push(at);
        }
        all.reverse();
        all
    }

    /// The innermost region around another region (or that itself) and a node.
    pub fn common(&self, region: usize, node: usize) -> usize {
        let (a, b) = (self.around_region(region), self.around(node));
        let same = a.iter().zip(&b).take_while(|(x, y)| x == y).map(|(x, _)| *x);
        // Different regions at the top have nothing around them: that is refused by whoever builds a chart.
        same.last().unwrap_or(region)
    }

    /// The state in a region that a node is in, or is.
    pub fn child(&self, region: usize, node: usize) -> usize {
        let mut at = node;
        while self.nodes[at].region != region {
            match self.regions[self.nodes[at].region].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// Is a node somewhere in a region?
    pub fn contains(&self, region: usize, node: usize) -> bool {
        self.around(node).contains(&region)
    }

    /// The node that a region is entered by if nothing else is said.
    pub fn entry_node(&self, region: usize) -> Option<usize> {
        let of = |kind| self.regions[region].nodes.iter().copied().find(|n| self.nodes[*n].kind == kind);
        of(Kind::Initial).or_else(|| of(Kind::Deep)).or_else(|| of(Kind::Shallow))
    }

    /// The states of a region, in order.
    pub fn states(&self, region: usize) -> impl Iterator<Item = usize> + '_ {
        self.regions[region].nodes.iter().copied().filter(|n| self.nodes[*n].kind == Kind::State)
    }

    /// The region whose turn a transition is at: that of its choice, fork or join if the source is in there, else that of the source.
    pub fn owner(&self, transition: usize) -> usize {
        let t = &self.transitions[transition];
        let own = self.nodes[t.from].region;
        let outer = self.nodes[t.to].region;
        let compound = matches!(self.nodes[t.to].kind, Kind::Choice | Kind::Fork | Kind::Join);
        if compound && self.around_region(own).contains(&outer) { outer } else { own }
    }

    /// The states with transitions whose turn is a region's, outer ones first.
    pub fn sources(&self, region: usize) -> Vec<usize> {
        let has = |n: &usize| self.nodes[*n].outgoing.iter().any(|t| self.owner(*t) == region);
        let mut all: Vec<usize> =
            (0..self.nodes.len()).filter(|n| self.nodes[*n].kind == Kind::State).filter(has).collect();
        all.sort_by_key(|n| self.around(*n).len());
        all
    }

    /// The transitions of a source whose turn is a region's, the most urgent first.
    pub fn of_source(&self, source: usize, region: usize) -> Vec<usize> {
        let out = self.nodes[source].outgoing.iter().copied();
        self.by_priority(out.filter(|t| self.owner(*t) == region).collect())
    }

    /// Transitions, the most urgent first.
    pub fn by_priority(&self, mut all: Vec<usize>) -> Vec<usize> {
        if self.priority == Priority::Value {
            all.sort_by_key(|t| std::cmp::Reverse(self.transitions[*t].priority));
        }
        all
    }
}

impl System {
    /// The statecharts in a part, in order.
    pub fn charts_in(&self, part: &Part) -> Vec<usize> {
        match part {
            Part::Chart(c) => vec![*c],
            Part::Composite(c) => c.parts.iter().flat_map(|p| self.charts_in(p)).collect(),
            Part::Adapter(a) => self.charts_in(&self.adapters[*a].inner),
            Part::Asynchronous(parts, _) => parts.iter().flat_map(|p| self.charts_in(p)).collect(),
        }
    }
}
