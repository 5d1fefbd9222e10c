//! Maximal runs that stay in a condition: `E[] φ` from any state of the explicit graph.
//!
//! A run is maximal if it is infinite, ends in a state where time may pass forever, or ends in a deadlock. The reachable
//! states are stored one by one (simple update: abstraction by covering does not preserve liveness). φ-states get a
//! *rank* by peeling: a state whose steps all leave φ or lead to smaller ranks, and which can neither idle nor deadlock,
//! cannot stay in φ; its rank bounds how long it can. The unranked φ-states are those that can stay forever. Ranks are
//! the proof, a walk through unranked states the counterexample.
//!
//! What this deliberately is not: a general search for accepting cycles (that is LTL's, 004).

use trellis_model::evidence::Reason;

use crate::arg::{Arg, Mark, NONE};
use crate::explore::{Exploration, InOrder, explore};
use crate::path::{Origins, Path, path_to, step};
use crate::table::NoRoom;
use crate::{Batch, System};
use trellis_meter::{Meter, Progress, Stats, StopReason};

/// What is asked about the states.
pub trait Watch<S: System> {
    /// Is this state one of those that must not be stayed in (φ)?
    fn stays(&mut self, system: &mut S, key: &[u64], elem: &[u64]) -> Result<bool, S::Error>;
    /// Does the question start here? (For `A<>`: at the initial state; for `-->`: wherever its left side holds.)
    fn starts(&mut self, system: &mut S, key: &[u64], elem: &[u64], initial: bool) -> Result<bool, S::Error>;
    /// Need states outside φ be explored further?
    fn beyond(&self) -> bool;
}

/// How the search ended.
pub enum Answer<A, E> {
    /// No starting state can stay in φ. Stored states come with their rank, if they are φ-states reachable from a start.
    Leaves,
    /// Some starting state can: the run, and the number of the state to which its last step returns (if it does).
    Stays(Path<A>, Option<usize>),
    /// A limit was reached.
    Stopped(Reason),
    /// The system is broken.
    Error(Path<A>, E),
}

/// The search after it has ended.
pub struct Search<A, E> {
    /// The verdict, with its run.
    pub answer: Answer<A, E>,
    /// What was counted.
    pub stats: Stats,
    /// The states.
    pub arg: Arg,
    /// The rank of each node.
    pub ranks: Vec<Option<u32>>,
}

#[derive(Default)]
struct Graph {
    /// Per node: its φ-membership, whether the question starts there, whether a run may end there.
    stays: Vec<bool>,
    starts: Vec<bool>,
    ends: Vec<bool>,
    /// A step that leads back to the same state.
    own_loop: Vec<Option<u32>>,
    /// Steps between different states: from, ordinal, to.
    steps: Vec<(u32, u32, u32)>,
}

/// Searches.
pub fn search<S: System>(system: &mut S, watch: &mut impl Watch<S>, meter: &mut Meter) -> Search<S::Action, S::Error> {
    let arg = Arg::new(system.key_width(), system.elem_width());
    let (graph, stats, batch, order) = Default::default();
    let mut unfolding = Unfolding { system, watch, arg, graph, stats, batch, order };
    let ended = unfolding.run(meter);
    let Unfolding { system, arg, graph, mut stats, .. } = unfolding;
    let mut ranks = Vec::new();
    let answer = match ended {
        Err(stop) => match stop {
            Failure::Limit(r) => Answer::Stopped(r),
            Failure::Broken(NONE, e) => Answer::Error(Path::empty(), e),
            Failure::Broken(n, e) => {
                Answer::Error(path_to(system, &arg, &arg.path(n)).unwrap_or_else(|_| Path::empty()), e)
            }
        },
        Ok(()) => {
            ranks = rank(&graph);
            let bad = (0..ranks.len()).find(|&n| graph.starts[n] && graph.stays[n] && ranks[n].is_none());
            match bad {
                None => Answer::Leaves,
                Some(n) => match run_from(system, &arg, &graph, &ranks, n as u32) {
                    Ok((path, back)) => Answer::Stays(path, back),
                    Err(e) => Answer::Error(Path::empty(), e),
                },
            }
        }
    };
    stats.stored = arg.nodes.len() as u64;
    Search { answer, stats, arg, ranks }
}

enum Failure<E> {
    Limit(Reason),
    Broken(u32, E),
}

impl<E> From<StopReason> for Failure<E> {
    fn from(why: StopReason) -> Failure<E> {
        Failure::Limit(why.into())
    }
}

impl<E> From<NoRoom> for Failure<E> {
    fn from(why: NoRoom) -> Failure<E> {
        Failure::Limit(why.into())
    }
}

struct Unfolding<'s, S, W> {
    system: &'s mut S,
    watch: &'s mut W,
    arg: Arg,
    graph: Graph,
    stats: Stats,
    batch: Batch,
    order: InOrder,
}

impl<S: System, W: Watch<S>> Unfolding<'_, S, W> {
    fn run(&mut self, meter: &mut Meter) -> Result<(), Failure<S::Error>> {
        let initial = self.system.initial().map_err(|e| Failure::Broken(NONE, e))?;
        let k = self.arg.key_id(&initial.0)?;
        self.arg.add(k, &initial.1, NONE, 0)?;
        explore(self, meter).map(|_| ())
    }
}

impl<S: System, W: Watch<S>> Exploration for Unfolding<'_, S, W> {
    type Found = ();
    type Failure = Failure<S::Error>;

    fn next(&mut self) -> Result<Option<u32>, Self::Failure> {
        Ok(self.order.next(self.arg.nodes.len()))
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.order.waiting(self.arg.nodes.len()), stats: self.stats }
    }

    fn expand(&mut self, n: u32, _: &mut Meter) -> Result<Option<()>, Self::Failure> {
        let Unfolding { system, watch, arg, graph, stats, batch, .. } = self;
        arg.nodes[n as usize].mark = Mark::Passed;
        stats.expanded += 1;
        let broken = |e| Failure::Broken(n, e);
        let (key, elem) = arg.state(n);
        let (kw, ew) = (key.len(), elem.len());
        let stays = watch.stays(system, key, elem).map_err(broken)?;
        let starts = watch.starts(system, key, elem, n == 0).map_err(broken)?;
        batch.clear();
        if stays || watch.beyond() {
            system.successors(key, elem, batch).map_err(broken)?;
        }
        let ends = stays && (batch.steps == 0 || system.may_idle(key, elem).map_err(broken)?);
        stats.steps += u64::from(batch.steps);
        let listed = |o: u32| batch.ordinals.binary_search(&o).is_ok();
        graph.own_loop.push((0..batch.steps).find(|&o| !listed(o)));
        graph.stays.push(stays);
        graph.starts.push(starts);
        graph.ends.push(ends);
        for (i, &via) in batch.ordinals.iter().enumerate() {
            let (key, elem) = (&batch.keys[i * kw..][..kw], &batch.elems[i * ew..][..ew]);
            let k = arg.key_id(key)?;
            let to = match arg.find(k, elem) {
                Some(to) => {
                    stats.covered += 1;
                    to
                }
                None => arg.add(k, elem, n, via)?,
            };
            graph.steps.push((n, via, to));
        }
        stats.added = arg.nodes.len() as u64;
        Ok(None)
    }
}

/// Peels the φ-states that cannot stay, from the outside in.
fn rank(graph: &Graph) -> Vec<Option<u32>> {
    let count = graph.stays.len();
    let inner = |&&(a, _, b): &&(u32, u32, u32)| graph.stays[a as usize] && graph.stays[b as usize];
    let mut open = vec![0u32; count];
    let mut back: Vec<Vec<u32>> = vec![Vec::new(); count];
    for &(a, _, b) in graph.steps.iter().filter(inner) {
        open[a as usize] += 1;
        back[b as usize].push(a);
    }
    let mut ranks = vec![None; count];
    let can_stay = |n: usize| graph.ends[n] || graph.own_loop[n].is_some();
    let mut layer: Vec<u32> =
        (0..count).filter(|&n| graph.stays[n] && open[n] == 0 && !can_stay(n)).map(|n| n as u32).collect();
    let mut rank = 0;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for n in layer {
            ranks[n as usize] = Some(rank);
            for &a in &back[n as usize] {
                open[a as usize] -= 1;
                if open[a as usize] == 0 && !can_stay(a as usize) {
                    next.push(a);
                }
            }
        }
        layer = next;
        rank += 1;
    }
    ranks
}

/// A run, and the number of the state to which its last step returns.
type Lasso<A> = (Path<A>, Option<usize>);

/// A run to `node` and from there on through states that can stay.
fn run_from<S: System>(
    system: &mut S,
    arg: &Arg,
    graph: &Graph,
    ranks: &[Option<u32>],
    node: u32,
) -> Result<Lasso<S::Action>, S::Error> {
    let mut path = path_to(system, arg, &arg.path(node))?;
    // Breadth first would give shorter lassos; following any unranked successor is enough, as there is always one.
    let mut seen = vec![(node, path.states.len() - 1)];
    let mut at = node;
    loop {
        if graph.ends[at as usize] {
            return Ok((path, None));
        }
        if let Some(via) = graph.own_loop[at as usize] {
            let here = path.states.len() - 1;
            path.actions.push(step(system, arg, at, via)?);
            path.states.push(path.states[here].clone());
            return Ok((path, Some(here)));
        }
        let first = graph.steps.partition_point(|s| s.0 < at);
        let stay = graph.steps[first..]
            .iter()
            .take_while(|s| s.0 == at)
            .find(|s| graph.stays[s.2 as usize] && ranks[s.2 as usize].is_none())
            .expect("an unranked state that cannot end has an unranked successor");
        path.actions.push(step(system, arg, at, stay.1)?);
        at = stay.2;
        let (key, elem) = arg.state(at);
        path.states.push((key.to_vec(), elem.to_vec()));
        if let Some(&(_, i)) = seen.iter().find(|s| s.0 == at) {
            return Ok((path, Some(i)));
        }
        seen.push((at, path.states.len() - 1));
    }
}
