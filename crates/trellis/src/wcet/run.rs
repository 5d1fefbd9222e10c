//! A longest run: through the labels, then with values of the program, and on a plain cache.

use trellis_engine::program::trace::{NoTrace, Tracer};
use trellis_meter::Meter;
use trellis_model::cfa::interpret::{Trace, replay};
use trellis_model::cfa::{Cfa, EdgeId};
use trellis_smt::Embedded;

use super::cache::simulate;
use super::graph::Graph;
use super::labels::Labels;
use super::machine::{Machine, Word};
use super::{Costs, Failure, Geometry, Layout};

/// Is there a run of the program along these edges?
#[derive(Debug)]
pub enum Concrete {
    /// This one, replayed by the interpreter.
    Run(Box<Trace>),
    /// None: what is not known of the data was taken to be possible, and is not.
    None,
    /// It is not known.
    Unknown(String),
}

/// A longest run.
#[derive(Debug)]
pub struct Witness {
    /// Its edges.
    pub edges: Vec<EdgeId>,
    /// What it uses.
    pub uses: Vec<Word>,
    /// How often the plain cache has what is used, and how often not.
    pub hits: u64,
    /// The same.
    pub misses: u64,
    /// What that costs.
    pub cost: u64,
    /// With values.
    pub concrete: Concrete,
}

/// Follows the worst steps from the start.
pub fn witness(
    machine: &Machine<'_>,
    graph: &Graph,
    labels: &Labels,
    layout: &Layout,
    (geometry, costs): (&Geometry, Costs),
    meter: &Meter,
) -> Result<Witness, Failure> {
    let (mut edges, mut uses, mut n) = (Vec::new(), Vec::new(), 0);
    while let Some(step) = labels.nodes[n].worst {
        let arrow = &graph.arrows[labels.nodes[n].key as usize][step as usize];
        edges.push(arrow.edge);
        uses.push(arrow.uses.clone());
        n = labels.nodes[n].to[step as usize] as usize;
    }
    let concrete = concrete(machine, &edges, &uses, meter);
    let uses: Vec<Word> = uses.concat();
    let (hits, misses) = simulate(geometry.sets, geometry.ways, uses.iter().map(|&w| layout.block(w)));
    let cost = hits * costs.hit + misses * costs.miss;
    if cost > labels.nodes[0].bound {
        return Err(Failure::Unknown(format!("the bound is refused: a run costs {cost} on a plain cache")));
    }
    Ok(Witness { edges, uses, hits, misses, cost, concrete })
}

/// A run of the program along edges, that uses just this.
fn concrete(machine: &Machine<'_>, edges: &[EdgeId], uses: &[Vec<Word>], meter: &Meter) -> Concrete {
    let mut cfa: Cfa = machine.cfa.clone();
    let trace = match Tracer::new().trace(&mut cfa, edges, &mut Embedded::new(), meter) {
        Ok(trace) => trace,
        Err(NoTrace::Infeasible) => return Concrete::None,
        Err(NoTrace::Unknown(why)) => return Concrete::Unknown(why.to_string()),
    };
    if let Err(why) = replay(machine.cfa, &trace) {
        return Concrete::Unknown(format!("the interpreter refuses it: {why}"));
    }
    let mut before = &trace.start;
    for ((step, edge), uses) in trace.steps.iter().zip(edges).zip(uses) {
        let known = machine.known(|v| before.get(&v).and_then(|v| v.to_word()));
        let at = machine.cfa.edge(*edge).from;
        let same = machine.after(at, *edge, &known).is_ok_and(|all| all.iter().any(|(_, found)| found == uses));
        if step.edge != *edge || !same {
            return Concrete::Unknown("with values it uses other words of memory".into());
        }
        before = &step.after;
    }
    Concrete::Run(Box::new(trace))
}
