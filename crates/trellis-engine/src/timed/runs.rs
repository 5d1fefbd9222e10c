//! The runs of a network as paths of a graph, made while it is searched: what [`super::formula`] needs of it.
//!
//! There are two: [`Zoned`], the graph of [`super::live`], and [`Plain`] for models with lattice variables (and without clocks), whose
//! states are stored one by one, as [`crate::liveness`] does: covering and joining do not preserve what happens again and again.

use trellis_domain::zone::Rational;
use trellis_model::network::{Action, CertEntry, Condition, Judge, Network, Step, Trace, Transitions};

use super::live::{Edge, Graph};
use super::target::Error;
use crate::arg::{Arg, NONE};
use crate::network::NetworkSystem;
use crate::path::Origins;
use crate::table::NoRoom;
use crate::{Batch, System};
use trellis_meter::Stats;

/// A graph; its nodes have numbers, the first is where runs start.
pub(super) trait Runs {
    /// Makes the first node.
    fn start(&mut self) -> Result<(), Error>;
    /// Makes the edges from a node: the newest of [`edges`](Runs::edges). Answers who moves along each.
    fn expand(&mut self, n: u32) -> Result<Vec<Action>, Error>;
    /// The number of nodes.
    fn len(&self) -> usize;
    /// All edges so far.
    fn edges(&self) -> &[Edge];
    /// May a run end in a node that has been expanded?
    fn ends(&self, n: u32) -> bool;
    /// Makes a condition ready to be judged.
    fn compile(&self, condition: Condition) -> Judge;
    /// Does a condition hold in a node? It does not ask about clocks.
    fn holds(&mut self, condition: &Judge, n: u32) -> Result<bool, Error>;
    /// A node as an element of a certificate.
    fn entry(&self, n: u32) -> CertEntry;
    /// A run along edges from the start to a node, and then round and round; if there is no round, it ends there. None if none was
    /// found with exact delays.
    fn run(&mut self, net: &Network, stem: &[u32], round: &[u32], last: u32) -> Result<Option<Trace>, Error>;
    /// Some run to a node.
    fn trace_to(&mut self, net: &Network, n: u32) -> Result<Option<Trace>, Error>;
    /// What was counted.
    fn stats(&mut self) -> &mut Stats;
}

/// The graph of zones.
pub(super) struct Zoned<'n> {
    pub graph: Graph<'n>,
    pub moves: Transitions,
}

impl Runs for Zoned<'_> {
    fn start(&mut self) -> Result<(), Error> {
        self.graph.start()
    }

    fn expand(&mut self, n: u32) -> Result<Vec<Action>, Error> {
        let first = self.graph.edges.len();
        self.graph.stats.expanded += 1;
        self.graph.expand(n, &mut self.moves)?;
        let action = |e: &Edge| Action(self.moves.get(e.via as usize).action.to_vec());
        Ok(self.graph.edges[first..].iter().map(action).collect())
    }

    fn len(&self) -> usize {
        self.graph.nodes.len()
    }

    fn edges(&self) -> &[Edge] {
        &self.graph.edges
    }

    fn ends(&self, n: u32) -> bool {
        self.graph.nodes[n as usize].ends
    }

    fn compile(&self, condition: Condition) -> Judge {
        self.graph.post.compile(condition, false)
    }

    fn holds(&mut self, condition: &Judge, n: u32) -> Result<bool, Error> {
        self.graph.holds(condition, n)
    }

    fn entry(&self, n: u32) -> CertEntry {
        self.graph.entry(n)
    }

    fn run(&mut self, net: &Network, stem: &[u32], round: &[u32], last: u32) -> Result<Option<Trace>, Error> {
        self.graph.run(net, stem, round, last)
    }

    fn trace_to(&mut self, net: &Network, n: u32) -> Result<Option<Trace>, Error> {
        self.graph.trace_to(net, n)
    }

    fn stats(&mut self) -> &mut Stats {
        &mut self.graph.stats
    }
}

/// States with the elements of lattices.
pub(super) struct Plain<'n> {
    system: NetworkSystem<'n>,
    arg: Arg,
    edges: Vec<Edge>,
    ends: Vec<bool>,
    batch: Batch,
    stats: Stats,
}

impl<'n> Plain<'n> {
    pub fn new(net: &'n Network) -> Plain<'n> {
        let system = NetworkSystem::new(net);
        let arg = Arg::new(system.key_width(), system.elem_width());
        Plain { system, arg, edges: Vec::new(), ends: Vec::new(), batch: Batch::default(), stats: Stats::default() }
    }

    fn node(&mut self, key: &[u64], elem: &[u64], parent: u32, via: u32) -> Result<u32, NoRoom> {
        let k = self.arg.key_id(key)?;
        match self.arg.find(k, elem) {
            Some(n) => {
                self.stats.covered += 1;
                Ok(n)
            }
            None => {
                self.stats.added += 1;
                self.ends.push(false);
                self.arg.add(k, elem, parent, via)
            }
        }
    }

    /// The steps along edges.
    fn along(&mut self, edges: &[u32]) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for &e in edges {
            let Edge { from, via, to, .. } = self.edges[e as usize];
            let action = crate::path::step(&mut self.system, &self.arg, from, via)?;
            steps.push(Step::at_once(action, self.entry(to).state));
        }
        Ok(steps)
    }
}

impl Runs for Plain<'_> {
    fn start(&mut self) -> Result<(), Error> {
        let (key, elem) = self.system.initial()?;
        self.node(&key, &elem, NONE, 0)?;
        Ok(())
    }

    fn expand(&mut self, n: u32) -> Result<Vec<Action>, Error> {
        self.stats.expanded += 1;
        let (key, elem) = self.arg.state(n);
        let (key, elem) = (key.to_vec(), elem.to_vec());
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        self.system.successors(&key, &elem, &mut batch)?;
        self.ends[n as usize] = batch.steps == 0 || self.system.may_idle(&key, &elem)?;
        self.stats.steps += u64::from(batch.steps);
        let mut actions = Vec::new();
        let (kw, ew) = (key.len(), elem.len());
        for via in 0..batch.steps {
            // A step that is not listed leads back to the very same state.
            let to = match batch.ordinals.binary_search(&via) {
                Ok(i) => self.node(&batch.keys[i * kw..][..kw], &batch.elems[i * ew..][..ew], n, via)?,
                Err(_) => n,
            };
            self.edges.push(Edge { from: n, via, marked: false, sets: false, to });
            actions.push(crate::path::step(&mut self.system, &self.arg, n, via)?);
        }
        self.batch = batch;
        Ok(actions)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn edges(&self) -> &[Edge] {
        &self.edges
    }

    fn ends(&self, n: u32) -> bool {
        self.ends[n as usize]
    }

    fn compile(&self, condition: Condition) -> Judge {
        self.system.compile(condition)
    }

    fn holds(&mut self, condition: &Judge, n: u32) -> Result<bool, Error> {
        let (key, elem) = self.arg.state(n);
        Ok(self.system.post().judge(condition, key, elem)? != 0)
    }

    fn entry(&self, n: u32) -> CertEntry {
        let (key, elem) = self.arg.state(n);
        CertEntry::of(self.system.snapshot(key, elem))
    }

    fn run(&mut self, _: &Network, stem: &[u32], round: &[u32], _: u32) -> Result<Option<Trace>, Error> {
        let back_to = (!round.is_empty()).then_some(stem.len());
        let steps = self.along(&[stem, round].concat())?;
        Ok(Some(Trace { initial: self.entry(0).state, steps, rest: Rational::ZERO, back_to }))
    }

    fn trace_to(&mut self, _: &Network, n: u32) -> Result<Option<Trace>, Error> {
        let path = crate::path::path_to(&mut self.system, &self.arg, &self.arg.path(n))?;
        Ok(self.system.trace(&path, None))
    }

    fn stats(&mut self) -> &mut Stats {
        &mut self.stats
    }
}
