//! Networks of automata as hierarchical transition systems, where that is exact: a top without a state of its own, and below it the
//! processes, synchronised by vectors, one for each pair that can move over a channel. Processes that share variables which change are
//! taken as one; their behaviour is listed by the [`Interpreter`].
//!
//! Refused by name: clocks, lattice variables, broadcasts, committed locations, priorities, vectors of events, and models that do
//! something undefined. Committed locations and broadcasts would need to know what *all* others cannot do.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, TermId, Value, VarId};

use super::interpret::{Interpreter, value as cells_value};
use super::{Condition, Edge, Network, Snapshot, Step, Trace};
use crate::hierarchy::tree::apart::{Apart, TooWide, Units};
use crate::hierarchy::tree::{self, Behaviour, Node, Tree, evidence};

/// Why a network is no hierarchical transition system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It has something that cannot be said with vectors.
    #[error("{0}: not for hierarchical transition systems")]
    Unsupported(String),
    /// Processes have too many states.
    #[error("{0} has more than {1} states or transitions")]
    Large(String, usize),
    /// It does something undefined, perhaps only where the others never let it come.
    #[error("{0} may do something undefined: {1}")]
    Undefined(String, String),
    /// What is asked cannot be taken apart.
    #[error(transparent)]
    Question(#[from] TooWide),
}

/// Some processes that are taken as one.
#[derive(Debug, Clone)]
struct Group {
    processes: Vec<usize>,
    /// Which of the network's variables are theirs, and where their cells start.
    vars: Vec<(usize, usize)>,
    states: Vec<Local>,
}

/// A state of a group: its processes' locations and its variables' cells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Local {
    locations: Vec<u32>,
    data: Vec<i64>,
}

/// A network as a tree.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The tree; its last node is the top.
    pub tree: Tree,
    groups: Vec<Group>,
    initial: Snapshot,
}

/// The events of every group: to rest, to move alone; then for each channel to send and to receive.
const REST: u32 = 0;
const ALONE: u32 = 1;

fn event(channel: usize, send: bool) -> u32 {
    2 + 2 * channel as u32 + u32::from(!send)
}

/// The tree of a network; no group has more states or transitions than the limit.
pub fn parts(net: &Network, limit: usize) -> Result<Parts, Error> {
    refuse(net)?;
    let initial = Interpreter::new(net)
        .initial()
        .map_err(|e| Error::Undefined("the initial state".into(), e.fault.to_string()))?;
    let mut groups = group(net);
    let mut nodes = vec![];
    for group in &mut groups {
        let behaviour = list(net, group, &initial, limit)?;
        let channels = net.channels.iter().flat_map(|c| [format!("{}!", c.name), format!("{}?", c.name)]);
        let events: Vec<String> = [String::new(), "moves".into()].into_iter().chain(channels).collect();
        let vectors: Vec<Vec<u32>> = (0..events.len() as u32).map(|e| vec![e]).collect();
        let higher = vec![vec![]; vectors.len()];
        nodes.push(Node { name: name(net, group), events, subs: vec![], vectors, higher, behaviour });
    }
    let n = groups.len();
    let takes = |g: usize, e: u32| nodes[g].behaviour.moves.iter().flatten().any(|m| m.0 == e);
    let mut vectors: Vec<Vec<u32>> = vec![];
    let mut add = |parts: &[(usize, u32)]| {
        let mut vector = vec![REST; n + 1];
        parts.iter().for_each(|&(g, e)| vector[g + 1] = e);
        vectors.push(vector);
    };
    for g in 0..n {
        add(&[(g, ALONE)]);
    }
    for c in 0..net.channels.len() {
        for g in (0..n).filter(|&g| takes(g, event(c, true))) {
            for h in (0..n).filter(|&h| h != g && takes(h, event(c, false))) {
                add(&[(g, event(c, true)), (h, event(c, false))]);
            }
        }
    }
    let count = vectors.len();
    nodes.push(Node {
        name: String::new(),
        events: vec![String::new()],
        subs: (0..n).collect(),
        vectors,
        higher: vec![vec![]; count],
        behaviour: Arc::new(Behaviour::new(vec![String::new()], vec![0], vec![vec![(0, 0)]])),
    });
    let tree = Tree::new(nodes).map_err(|e| Error::Unsupported(e.to_string()))?;
    Ok(Parts { tree, groups, initial })
}

fn name(net: &Network, group: &Group) -> String {
    group.processes.iter().map(|&p| net.processes[p].name.as_str()).collect::<Vec<_>>().join(", ")
}

fn refuse(net: &Network) -> Result<(), Error> {
    let no = |what: String| Err(Error::Unsupported(what));
    if let Some(clock) = net.clocks.first() {
        return no(format!("clock `{clock}`"));
    }
    if let Some(l) = net.lattices.first() {
        return no(format!("lattice variable `{}`", l.name));
    }
    if net.has_priorities {
        return no("priorities".into());
    }
    if !net.vectors.is_empty() {
        return no("synchronisation vectors of events".into());
    }
    for p in &net.processes {
        if let Some(l) = p.locations.iter().find(|l| l.committed) {
            return no(format!("committed location `{}.{}`", p.name, l.name));
        }
    }
    match net.channels.iter().find(|c| c.broadcast) {
        Some(c) => no(format!("broadcast channel `{}`", c.name)),
        None => Ok(()),
    }
}

/// Variables that a process reads, and those that it writes.
fn uses(net: &Network, p: usize) -> (Vec<VarId>, Vec<VarId>) {
    let (mut reads, mut writes) = (vec![], vec![net.processes[p].location]);
    let mut stmt = |s: StmtId| {
        let (r, w) = net.terms.stmt_vars(s);
        reads.extend(r);
        writes.extend(w);
    };
    let mut terms: Vec<TermId> = vec![];
    for e in &net.processes[p].edges {
        stmt(e.guard.prepare);
        stmt(e.update);
        terms.push(e.guard.holds);
        if let Some((prepare, index)) = e.sync.and_then(|s| s.index) {
            stmt(prepare);
            terms.push(index);
        }
    }
    for invariant in net.processes[p].locations.iter().filter_map(|l| l.invariant) {
        stmt(invariant.prepare);
        terms.push(invariant.holds);
    }
    reads.extend(terms.into_iter().flat_map(|t| net.terms.free_vars(t)));
    (reads, writes)
}

/// Who must be taken as one: those who use a variable that one of them changes.
fn group(net: &Network) -> Vec<Group> {
    let all: Vec<(Vec<VarId>, Vec<VarId>)> = (0..net.processes.len()).map(|p| uses(net, p)).collect();
    // Temporaries are written before they are read, but for those that may carry something from one edge to another.
    let lasting = |v: &VarId| {
        let location = net.processes.iter().any(|p| p.location == *v);
        location || net.vars.iter().any(|d| d.var == *v) || net.meta.contains(v)
    };
    let mut of: Vec<usize> = (0..net.processes.len()).collect();
    for p in 0..all.len() {
        for v in all[p].1.iter().filter(|v| lasting(v)) {
            for q in (0..all.len()).filter(|&q| q != p && (all[q].0.contains(v) || all[q].1.contains(v))) {
                let (a, b) = (of[p].min(of[q]), of[p].max(of[q]));
                of.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
            }
        }
    }
    let mut numbers: Vec<usize> = of.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let starts: Vec<usize> = net
        .vars
        .iter()
        .scan(0, |at, v| {
            *at += v.init.len();
            Some(*at - v.init.len())
        })
        .collect();
    let make = |&g: &usize| {
        let processes: Vec<usize> = (0..of.len()).filter(|&p| of[p] == g).collect();
        let theirs = |i: &usize| processes.iter().any(|&p| all[p].1.contains(&net.vars[*i].var));
        let vars = (0..net.vars.len()).filter(theirs).map(|i| (i, starts[i])).collect();
        Group { processes, vars, states: vec![] }
    };
    numbers.iter().map(make).collect()
}

/// A network of some of the processes; if it is open, every edge moves alone.
fn only(net: &Network, group: &Group, open: bool) -> Network {
    let mut part = net.clone();
    part.processes = group.processes.iter().map(|&p| net.processes[p].clone()).collect();
    if open {
        part.processes.iter_mut().flat_map(|p| &mut p.edges).for_each(|e| e.sync = None);
    }
    part
}

fn list(net: &Network, group: &mut Group, initial: &Snapshot, limit: usize) -> Result<Arc<Behaviour>, Error> {
    let (closed, open) = (only(net, group, false), only(net, group, true));
    let (closed, open) = (Interpreter::new(&closed), Interpreter::new(&open));
    let who = name(net, group);
    let undefined = |e: super::ModelError| Error::Undefined(who.clone(), e.fault.to_string());
    let full = |local: &Local| {
        let mut all = Snapshot { locations: local.locations.clone(), ..initial.clone() };
        put(net, group, local, &mut all.data);
        all
    };
    let cut = |s: &Snapshot| {
        let cells = |&(v, at): &(usize, usize)| s.data[at..at + net.vars[v].init.len()].to_vec();
        Local { locations: s.locations.clone(), data: group.vars.iter().flat_map(cells).collect() }
    };
    let first =
        Snapshot { locations: group.processes.iter().map(|&p| initial.locations[p]).collect(), ..initial.clone() };
    let mut states = vec![cut(&first)];
    let mut numbers: FxHashMap<Local, u32> = FxHashMap::default();
    numbers.insert(states[0].clone(), 0);
    let mut moves: Vec<Vec<(u32, u32)>> = vec![];
    let mut total = 0;
    while moves.len() < states.len() {
        let here = full(&states[moves.len()]);
        let mut found: Vec<(u32, Snapshot)> = vec![];
        for (action, next) in closed.steps(&here).map_err(undefined)? {
            let edge = |p: u32, e: u32| -> &Edge { &net.processes[group.processes[p as usize]].edges[e as usize] };
            let labelled = action.0.len() == 1 && edge(action.0[0].process, action.0[0].edge).sync.is_some();
            if !labelled {
                found.push((ALONE, next));
            }
        }
        for (action, next) in open.steps(&here).map_err(undefined)? {
            let taken = action.0[0];
            let edge = &net.processes[group.processes[taken.process as usize]].edges[taken.edge as usize];
            let Some(sync) = edge.sync else { continue };
            let index = match sync.index {
                None => 0,
                Some((prepare, holds)) => {
                    open.value_given(&Condition { prepare, holds }, &here, None, &[]).map_err(undefined)?
                }
            };
            found.push((event((i64::from(sync.base) + index) as usize, sync.send), next));
        }
        let mut row = vec![(REST, moves.len() as u32)];
        for (event, next) in found {
            let local = cut(&next);
            let fresh = states.len() as u32;
            let number = *numbers.entry(local.clone()).or_insert(fresh);
            if number == fresh {
                states.push(local);
            }
            row.push((event, number));
        }
        total += row.len();
        if total > limit {
            return Err(Error::Large(who, limit));
        }
        moves.push(row);
    }
    group.states = states;
    let words = group.states.iter().map(|s| words(net, group, s)).collect();
    Ok(Arc::new(Behaviour::new(words, vec![0], moves)))
}

/// Writes a group's cells among those of the whole network.
fn put(net: &Network, group: &Group, local: &Local, data: &mut [i64]) {
    let mut cells = local.data.iter();
    for &(v, at) in &group.vars {
        let len = net.vars[v].init.len();
        data[at..at + len].iter_mut().zip(&mut cells).for_each(|(cell, value)| *cell = *value);
    }
}

fn words(net: &Network, group: &Group, s: &Local) -> String {
    let location =
        |(&p, &l): (&usize, &u32)| format!("{}.{}", net.processes[p].name, net.processes[p].locations[l as usize].name);
    let mut all: Vec<String> = group.processes.iter().zip(&s.locations).map(location).collect();
    let names =
        group.vars.iter().flat_map(|&(v, _)| (0..net.vars[v].init.len()).map(move |c| net.vars[v].cell_name(c)));
    all.extend(names.zip(&s.data).map(|(name, value)| format!("{name} = {value}")));
    all.join(", ")
}

/// The groups as [`Apart`] sees them.
struct Seen<'s> {
    net: &'s Network,
    parts: &'s Parts,
    variables: Vec<Vec<VarId>>,
}

impl Units for Seen<'_> {
    fn variables(&self, unit: usize) -> &[VarId] {
        &self.variables[unit]
    }

    fn states(&self, unit: usize) -> usize {
        self.parts.groups.get(unit).map_or(1, |g| g.states.len())
    }

    fn value(&self, unit: usize, state: usize, place: usize) -> Value {
        let group = &self.parts.groups[unit];
        let local = &group.states[state];
        if let Some(location) = local.locations.get(place) {
            return Value::Int((*location).into());
        }
        let (v, _) = group.vars[place - local.locations.len()];
        let before: usize =
            group.vars[..place - local.locations.len()].iter().map(|&(v, _)| self.net.vars[v].init.len()).sum();
        let var = &self.net.vars[v];
        cells_value(self.net, var.var, &local.data[before..before + var.init.len()])
    }
}

impl Parts {
    /// For each node and each of its states, locations and values of variables, as numbers.
    pub fn rows(&self) -> Vec<Vec<Vec<i64>>> {
        let row = |s: &Local| s.locations.iter().map(|&l| l.into()).chain(s.data.iter().copied()).collect();
        let groups = self.groups.iter().map(|g| g.states.iter().map(row).collect());
        groups.chain([vec![vec![]]]).collect()
    }

    /// A condition of a query, taken apart.
    pub fn condition(&self, net: &Network, c: &Condition) -> Result<tree::Condition, Error> {
        if !matches!(net.terms.stmt(c.prepare), Stmt::Skip) {
            return Err(Error::Unsupported("a question that calls functions".into()));
        }
        if net.deadlock.is_some_and(|d| net.terms.free_vars(c.holds).contains(&d)) {
            return Err(Error::Unsupported("deadlock".into()));
        }
        let of = |g: &Group| {
            let locations = g.processes.iter().map(|&p| net.processes[p].location);
            locations.chain(g.vars.iter().map(|&(v, _)| net.vars[v].var)).collect::<Vec<_>>()
        };
        let mut variables: Vec<Vec<VarId>> = self.groups.iter().map(of).collect();
        variables.push(vec![]);
        // What nobody changes keeps its first value.
        let mut fixed = Valuation::new();
        let mut at = 0;
        for v in net.vars.iter().chain(&net.temps) {
            if !variables.iter().any(|all| all.contains(&v.var)) {
                fixed.insert(v.var, cells_value(net, v.var, &v.init));
            }
            at += v.init.len();
        }
        debug_assert!(at >= self.initial.data.len());
        let names = |v: VarId| net.terms.variable(v).name.clone();
        let seen = Seen { net, parts: self, variables };
        Ok(Apart { terms: &net.terms, units: &seen, count: self.groups.len(), fixed, names: &names, lenient: false }
            .condition(c.holds)?)
    }

    /// A state of the tree as a state of the network.
    pub fn snapshot(&self, net: &Network, state: &[u32]) -> Snapshot {
        let mut all = self.initial.clone();
        for (group, &q) in self.groups.iter().zip(state) {
            let local = &group.states[q as usize];
            group.processes.iter().zip(&local.locations).for_each(|(&p, &l)| all.locations[p] = l);
            put(net, group, local, &mut all.data);
        }
        all
    }

    /// A run of the tree as a run of the network; nothing if a step is none of the network's, which would be a mistake.
    pub fn trace(&self, net: &Network, trace: &evidence::Trace) -> Option<Trace> {
        let interpreter = Interpreter::new(net);
        let states: Vec<Snapshot> = trace.states.iter().map(|s| self.snapshot(net, s)).collect();
        let step = |pair: &[Snapshot]| {
            let all = interpreter.steps(&pair[0]).ok()?;
            all.into_iter().find(|(_, next)| *next == pair[1]).map(|(action, next)| Step::at_once(action, next))
        };
        let steps = states.windows(2).map(step).collect::<Option<Vec<_>>>()?;
        Some(Trace { initial: states[0].clone(), steps, rest: trellis_domain::zone::Rational::ZERO, back_to: None })
    }
}
