//! Does a run go along an abstract lasso forever (004 §3.4.4)?
//!
//! First the path: to the cycle, and then around it, several times. If no run goes along that, the precision is refined by why not (and
//! when that has not helped, by why nobody goes around the cycle twice, wherever he comes from). Else, does a run come back to the
//! values that it had? If not even after several rounds, then either it never repeats, or it does not go on forever:
//! [`super::recurrent`] and [`super::rank`] look into that.

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId};
use trellis_model::cfa::EdgeId;
use trellis_model::cfa::interpret::Trace;
use trellis_model::evidence::Reason;
use trellis_smt::Embedded;
use trellis_smt::path::NotRefuted;

use super::graph::Graph;
use super::search::Path;
use crate::program::cegar::Split;
use crate::program::reason;
use crate::program::refine::{Refinement, Refuter};
use crate::program::trace::{NoTrace, Tracer};

/// How often a run goes around the cycle at most before something else is tried.
const ROUNDS: usize = 3;

/// A cycle that comes back more often is looked at without its stem.
const AGAIN: usize = 5;

/// What has become of a lasso.
#[derive(Debug)]
pub enum Looked {
    /// A run of the product, in large blocks, and how many steps come before those that repeat.
    Run(Trace, usize),
    /// The precision is finer now.
    Refined,
    /// A run can go around several times, but does not come back to where it was.
    Open,
    /// There is no run, but nothing new is learnt from that; or it was not decided, for this reason.
    Stuck(Option<Reason>),
}

/// Looks at lassos of one product.
#[derive(Default)]
pub struct Looker {
    refuter: Refuter,
    tracer: Tracer,
    /// How often lassos went along the edges of a cycle.
    seen: FxHashMap<Vec<u32>, usize>,
}

impl Looker {
    /// Looks for a run.
    pub fn look(
        &mut self,
        graph: &mut Graph<'_>,
        path: &Path,
        how: Refinement,
        split: Split,
    ) -> Result<Looked, Reason> {
        let mut edges: Vec<EdgeId> = path.stem.iter().map(|s| EdgeId(s.0)).collect();
        let mut nodes: Vec<u32> = path.stem.iter().map(|s| s.1).collect();
        let (stem, round) = (edges.len(), path.cycle.len());
        let mut undecided = None;
        // The same cycle again and again: why nobody goes around it who comes along this stem may be something else each time. If
        // nobody goes around twice, wherever he comes from, then that is what to learn.
        let mut key: Vec<u32> = path.cycle.iter().map(|s| s.0).collect();
        key.sort_unstable();
        let seen = self.seen.entry(key).or_insert(0);
        *seen += 1;
        if *seen > AGAIN {
            let twice = || path.cycle.iter().chain(&path.cycle);
            let around: Vec<EdgeId> = twice().map(|s| EdgeId(s.0)).collect();
            let through: Vec<u32> = twice().map(|s| s.1).collect();
            if let Some(Ok(true)) = self.refute(graph, &around, &through, how, split)? {
                return Ok(Looked::Refined);
            }
        }
        for rounds in 1..=ROUNDS {
            edges.extend(path.cycle.iter().map(|s| EdgeId(s.0)));
            nodes.extend(path.cycle.iter().map(|s| s.1));
            match self.refute(graph, &edges, &nodes, how, split)? {
                Some(Ok(true)) => return Ok(Looked::Refined),
                Some(Ok(false)) => return Ok(Looked::Stuck(None)),
                Some(Err(why)) => return Ok(Looked::Stuck(Some(why))),
                None => {}
            }
            for back in (0..rounds).rev().map(|r| stem + r * round) {
                let limits = graph.limits.clone();
                match self.tracer.lasso(
                    graph.cfa,
                    &edges,
                    (back, &graph.product.relevant),
                    &mut Embedded::new(),
                    &limits,
                ) {
                    Ok(trace) => return Ok(Looked::Run(trace, back)),
                    Err(NoTrace::Infeasible) => {}
                    Err(NoTrace::Unknown(why)) => undecided = Some(reason(why)),
                }
                if let Some(why) = graph.limits.exceeded(0) {
                    return Err(reason(why));
                }
            }
        }
        Ok(undecided.map_or(Looked::Open, |why| Looked::Stuck(Some(why))))
    }

    /// A run along the path, once around its cycle.
    pub fn run_around(&mut self, graph: &mut Graph<'_>, path: &Path) -> Option<Trace> {
        let limits = graph.limits.clone();
        let edges: Vec<EdgeId> = path.stem.iter().chain(&path.cycle).map(|s| EdgeId(s.0)).collect();
        self.tracer.trace(graph.cfa, &edges, &mut Embedded::new(), &limits).ok()
    }

    /// A run to the cycle of the path that ends in a set there.
    pub fn run_into(&mut self, graph: &mut Graph<'_>, path: &Path, set: TermId) -> Option<Trace> {
        let limits = graph.limits.clone();
        let edges: Vec<EdgeId> = path.stem.iter().map(|s| EdgeId(s.0)).collect();
        self.tracer.run_into(graph.cfa, &edges, set, &mut Embedded::new(), &limits).ok()
    }

    /// If no run goes along the path: was something learnt? Or was it not decided?
    fn refute(
        &mut self,
        graph: &mut Graph<'_>,
        edges: &[EdgeId],
        nodes: &[u32],
        first: Refinement,
        split: Split,
    ) -> Result<Option<Result<bool, Reason>>, Reason> {
        let path: Vec<StmtId> = edges.iter().map(|&e| graph.cfa.edge(e).stmt).collect();
        let labels: Vec<_> = nodes.iter().map(|&n| graph.assumptions(n)).collect();
        let mut undecided = None;
        let others = Refinement::ALL.into_iter().filter(|&r| r != first);
        for how in std::iter::once(first).chain(others) {
            let limits = graph.limits.clone();
            match self.refuter.refute(&mut graph.cfa.terms, how, &path, &labels, &limits) {
                Err(NotRefuted::Feasible(_)) => return Ok(None),
                Err(NotRefuted::Unknown(why)) => {
                    if let Some(why) = graph.limits.exceeded(0) {
                        return Err(reason(why));
                    }
                    undecided.get_or_insert(why);
                }
                Ok(refutation) => {
                    let split = if how == first { split } else { Split::Whole };
                    let mut new = false;
                    for (i, &n) in nodes.iter().enumerate().take(nodes.len() - 1) {
                        new |= graph.learn(n, &refutation, i + 1, split);
                    }
                    if new {
                        return Ok(Some(Ok(true)));
                    }
                }
            }
        }
        Ok(Some(undecided.map_or(Ok(false), |why| Err(reason(why)))))
    }
}
