//! The abstraction of a product: nodes are locations with labels, edges are large blocks. It is made while it is searched, and kept
//! when a precision is refined: only successors at locations whose precision has changed are computed again (004 §3.4.3).

use rustc_hash::FxHashMap;
use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, VarId};
use trellis_model::cfa::interpret::{outcomes, zero_of};
use trellis_model::cfa::{Cfa, EdgeId, LocationId};
use trellis_model::evidence::Reason;
use trellis_model::ltl::product::Product;
use trellis_smt::path::Refutation;

use super::search::Space;
use crate::program::cegar::Options;
use crate::program::domain::{Precisions, Scope, Split, is_plain};
use crate::program::facts::{self, Known};
use crate::program::label::Label;
use crate::program::post::Precision;
use crate::program::reason;
use trellis_meter::{Meter, Progress, Stats};

/// What takes a solver more conflicts than this is not known of a successor: labels may always be larger.
const WORK: u64 = 1000;
/// Statements with more outcomes than this are left to the solver.
const OUTCOMES: usize = 4096;

/// A set of states.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// The location of the program.
    pub location: LocationId,
    /// What is known of the values there.
    pub label: Label,
}

/// An abstract product.
pub struct Graph<'p> {
    /// The product in large blocks.
    pub cfa: &'p mut Cfa,
    /// The product.
    pub product: &'p Product,
    /// The marks of the large locations.
    marks: &'p [u64],
    /// Computes successors.
    pub domain: Box<Known>,
    /// What is followed where.
    precisions: Precisions<Precision>,
    /// All nodes that were ever made.
    pub nodes: Vec<Node>,
    index: FxHashMap<Node, u32>,
    /// For each node what follows by an edge, and how often the precision at the edge's target had changed then.
    known: Vec<FxHashMap<EdgeId, (u32, Vec<u32>)>>,
    scope: Scope,
    /// How often the precision of a location has changed.
    changes: Vec<u32>,
    /// What was counted.
    pub stats: Stats,
    /// How long solvers may take.
    pub limits: Meter,
    meter: &'p mut Meter,
}

impl<'p> Graph<'p> {
    /// Of a product in large blocks, and the marks of its locations. All variables that matter can be followed from the start.
    pub fn new(
        cfa: &'p mut Cfa,
        product: &'p Product,
        marks: &'p [u64],
        options: &Options,
        everything: bool,
        meter: &'p mut Meter,
    ) -> Graph<'p> {
        let domain = facts::finite(cfa, options.domain, options.max_values);
        let mut first = domain.first(cfa);
        if everything {
            first.variables.extend(product.relevant.iter().filter(|v| is_plain(&cfa.terms, **v)));
        }
        let precisions = Precisions::new(cfa, first, options.scope);
        let first = Node { location: cfa.initial, label: domain.top() };
        Graph {
            domain,
            precisions,
            index: FxHashMap::from_iter([(first.clone(), 0)]),
            nodes: vec![first],
            known: vec![FxHashMap::default()],
            scope: options.scope,
            changes: vec![0; cfa.locations().len()],
            stats: Stats { added: 1, ..Stats::default() },
            limits: meter.clone(),
            meter,
            cfa,
            product,
            marks,
        }
    }

    /// What holds in a node, as terms.
    pub fn assumptions(&mut self, n: u32) -> Vec<TermId> {
        self.domain.assumptions(&mut self.cfa.terms, &self.nodes[n as usize].label)
    }

    /// Takes in what a refutation says at a position, where the node is. Is it new there?
    pub fn learn(&mut self, n: u32, refutation: &Refutation, position: usize, split: Split) -> bool {
        let l = self.nodes[n as usize].location;
        let gained = self.domain.learn(&mut self.cfa.terms, l, refutation, position, split);
        let new = self.precisions.take_in(l, &gained);
        self.changed(l, new)
    }

    /// Takes in a predicate at a location; or its values.
    pub fn take_in(&mut self, l: LocationId, p: TermId) -> bool {
        let gained = self.domain.follow(&mut self.cfa.terms, l, p);
        let new = self.precisions.take_in(l, &gained);
        self.changed(l, new)
    }

    fn changed(&mut self, l: LocationId, new: bool) -> bool {
        match self.scope {
            Scope::Local => self.changes[l.index()] += u32::from(new),
            Scope::Global => self.changes.iter_mut().for_each(|c| *c += u32::from(new)),
        }
        new
    }

    /// The marks of a location.
    pub fn marks_at(&self, l: LocationId) -> u64 {
        self.marks[l.index()]
    }

    /// All nodes that can be reached now.
    pub fn reachable(&mut self) -> Result<Vec<u32>, Reason> {
        let mut seen = vec![0];
        let mut next = 0;
        let mut known: FxHashMap<u32, ()> = FxHashMap::from_iter([(0, ())]);
        while next < seen.len() {
            for (_, to) in self.successors(seen[next])? {
                if known.insert(to, ()).is_none() {
                    seen.push(to);
                }
            }
            next += 1;
        }
        Ok(seen)
    }

    fn compute(&mut self, n: u32, e: EdgeId) -> Result<Vec<u32>, Reason> {
        let to = self.cfa.edge(e).to;
        let labels = match self.enumerate(n, e) {
            Some(labels) => labels,
            None => {
                let before = self.assumptions(n);
                let precision = self.precisions.at(to).clone();
                self.domain
                    .successors(self.cfa, &before, e, &precision, &self.limits.clone().steps(WORK))
                    .map_err(reason)?
            }
        };
        let mut found = vec![];
        for label in labels {
            self.stats.steps += 1;
            let node = Node { location: to, label };
            let id = *self.index.entry(node.clone()).or_insert_with(|| {
                self.nodes.push(node);
                self.known.push(FxHashMap::default());
                self.stats.added += 1;
                self.nodes.len() as u32 - 1
            });
            found.push(id);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

impl Graph<'_> {
    /// What follows a single state, if all values are followed: no solver is needed for that.
    fn enumerate(&mut self, n: u32, e: EdgeId) -> Option<Vec<Label>> {
        let (edge, values) = (self.cfa.edge(e), &self.nodes[n as usize].label.values);
        let (stmt, to) = (edge.stmt, edge.to);
        let count = self.product.relevant.len();
        if values.len() < count || self.precisions.at(to).variables.len() < count {
            return None;
        }
        let terms = &mut self.cfa.terms;
        let env: Option<Valuation> = values.iter().map(|&(v, t)| Some((v, terms.as_value(t)?))).collect();
        let mut env = env?;
        let matters = |v: &VarId| self.product.relevant.binary_search(v).is_ok();
        for &v in self.cfa.variables.iter().filter(|v| !matters(v)) {
            env.insert(v, zero_of(terms, terms.variable(v).ty));
        }
        let found = outcomes(terms, stmt, &env, OUTCOMES).ok()?;
        let mut labels = vec![];
        for env in found {
            let mut values = vec![];
            for (&v, value) in env.iter().filter(|(v, _)| matters(v)) {
                values.push((v, terms.literal(value)?));
            }
            values.sort_unstable_by_key(|x| x.0);
            labels.push(Label { values, cubes: vec![vec![]] });
        }
        Some(labels)
    }
}

impl Space for Graph<'_> {
    type Error = Reason;

    fn roots(&mut self) -> Result<Vec<u32>, Reason> {
        Ok(vec![0])
    }

    fn successors(&mut self, n: u32) -> Result<Vec<(u32, u32)>, Reason> {
        let location = self.nodes[n as usize].location;
        let mut all = vec![];
        for e in self.cfa.outgoing(location).to_vec() {
            let change = self.changes[self.cfa.edge(e).to.index()];
            let fresh = self.known[n as usize].get(&e).is_some_and(|k| k.0 == change);
            if !fresh {
                self.stats.expanded += 1;
                let progress = Progress { waiting: 0, stats: self.stats };
                self.meter.check(&progress)?;
                if let Some(why) = self.limits.exceeded(0) {
                    return Err(reason(why));
                }
                let found = self.compute(n, e)?;
                self.known[n as usize].insert(e, (change, found));
            }
            all.extend(self.known[n as usize][&e].1.iter().map(|&to| (e.0, to)));
        }
        Ok(all)
    }

    fn marks(&self, n: u32) -> u64 {
        self.marks[self.nodes[n as usize].location.index()]
    }

    fn all_marks(&self) -> u64 {
        self.product.all_marks()
    }
}
