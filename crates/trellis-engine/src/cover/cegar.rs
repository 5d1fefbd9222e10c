//! Covers of the configurations, refined until no abstract run is left or one of them is real: `Cegar` and `PCegar` (001 §4.1, §4.4),
//! with the options of 001 §6.2.
//!
//! An abstract state is a set of configurations; the abstraction is an explicit graph of them, with existential transitions that are
//! redistributed locally when a state is split (Fig. 6.3). `PCegar` also knows, of some abstract states, that all their configurations
//! are reachable (`Q₋`) or that all can reach a bad one (`Q₊`), and throws away every state that is on no *kernel path* between them.
//!
//! A proof is what was thrown away: the states that could be reached but led nowhere bad. No step leaves them, because the successor
//! of such a state is one too, at the latest at the end. This deliberately does not hand out an abstract run: when there is one that is
//! real, a shortest run is found on the states themselves.

use std::collections::BTreeSet;

use trellis_domain::relation::{Made, Relation};
use trellis_expr::TermId;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::{Domain, Hierarchy};

use super::graph::{Graph, Search};
use super::reach::Direction;
use super::{Question, reason};
use crate::budget::{Budget, Progress, Stats};

/// What the predicates make of the configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Abstraction {
    /// Classes of configurations that satisfy the same predicates.
    #[default]
    Partition,
    /// One state for each predicate, and one for what satisfies none.
    Cover,
}

/// How a failure state is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// What was reached of it, and the rest.
    #[default]
    Direct,
    /// What has a step to the next state of the path (or from the one before), and the rest.
    Sigma,
}

/// The options of 001 §6.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `PCegar`: certified pairs and pruning. Without it, the four ways of certifying have no meaning.
    pub pruning: bool,
    /// What the predicates make of the configurations.
    pub abstraction: Abstraction,
    /// Which abstract path is looked at.
    pub search: Search,
    /// From which end it is looked at.
    pub analysis: Direction,
    /// How a failure state is split.
    pub split: Split,
    /// States within the initial, or within the bad configurations, are certified.
    pub initial_certification: bool,
    /// What a direct split cuts out is certified.
    pub split_certification: bool,
    /// States that an analysis reaches as a whole are certified.
    pub feasibility_certification: bool,
    /// Certificates spread along must transitions.
    pub must: bool,
    /// At most so many refinements.
    pub limit: Option<u64>,
    /// Keep a picture of the abstraction of each round.
    pub pictures: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            pruning: true,
            abstraction: Abstraction::Partition,
            search: Search::Bfs,
            analysis: Direction::Forward,
            split: Split::Direct,
            initial_certification: true,
            split_certification: true,
            feasibility_certification: true,
            must: false,
            limit: None,
            pictures: false,
        }
    }
}

/// What happened in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Iteration {
    /// Abstract states after trimming.
    pub states: usize,
    /// Abstract transitions between them.
    pub transitions: usize,
    /// Length of the abstract path, in states.
    pub path: usize,
    /// States known to be reachable.
    pub reachable: usize,
    /// States known to reach a bad configuration.
    pub coreachable: usize,
    /// Images computed to look at the path.
    pub analysis: u64,
    /// Images computed to redistribute transitions.
    pub distribution: u64,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The answer.
    pub verdict: Verdict<Trace, Certificate>,
    /// All rounds that refined.
    pub iterations: Vec<Iteration>,
    /// The abstract states at the end.
    pub states: usize,
    /// If they were asked for: the abstraction of each round, for dot.
    pub pictures: Vec<String>,
}

/// The predicates that say where each component is: one for each literal of each state variable that is an enumeration.
pub fn control_locations(question: &Question<'_>) -> Made<Vec<Relation>> {
    let mut all = vec![];
    for (number, v) in question.hierarchy.variables.iter().enumerate().filter(|(_, v)| !v.flow) {
        if let Domain::Literals(values) = &v.domain {
            for &value in values {
                all.push(question.symbolic.space.equals(question.symbolic.columns[number], 0, value.into())?);
            }
        }
    }
    Ok(all)
}

/// The predicates that are the guards of transitions.
pub fn guards(question: &Question<'_>) -> Made<Vec<Relation>> {
    let guards = |h: &Hierarchy| -> BTreeSet<TermId> {
        h.components.iter().flat_map(|c| &c.transitions).map(|t| t.guard).collect()
    };
    let all = guards(question.hierarchy).into_iter();
    all.map(|g| question.symbolic.satisfying(question.hierarchy, g)).collect()
}

/// Refines an abstraction that the predicates induce until there is an answer.
pub fn cegar(question: &Question<'_>, predicates: &[Relation], options: &Options, budget: &mut Budget<'_>) -> Found {
    let mut found =
        Found { verdict: Verdict::Unknown(Reason::Iterations), iterations: vec![], states: 0, pictures: vec![] };
    let mut run = || -> Result<Verdict<Trace, Certificate>, Reason> {
        let mut graph = Graph::new(question, predicates, options).map_err(reason)?;
        let verdict = rounds(question, &mut graph, options, budget, &mut found.iterations, &mut found.pictures);
        found.states = graph.size();
        verdict
    };
    found.verdict = run().unwrap_or_else(Verdict::Unknown);
    found
}

fn rounds(
    question: &Question<'_>,
    graph: &mut Graph<'_, '_>,
    options: &Options,
    budget: &mut Budget<'_>,
    iterations: &mut Vec<Iteration>,
    pictures: &mut Vec<String>,
) -> Result<Verdict<Trace, Certificate>, Reason> {
    let unsafe_run = || -> Result<Verdict<Trace, Certificate>, Reason> {
        let trace = question.trace(question.symbolic.admissible()).map_err(reason)?;
        trace.map(Verdict::Unsafe).ok_or(Reason::Stuck("an abstract run is real, but no run was found".into()))
    };
    loop {
        if options.pruning {
            graph.certify_initially(options).map_err(reason)?;
            if options.must {
                graph.close().map_err(reason)?;
            }
            if graph.witnesses().map_err(reason)? {
                return unsafe_run();
            }
        }
        graph.reduce().map_err(reason)?;
        let Some(path) = graph.path(options.search) else {
            let states = question.symbolic.states_of(graph.left_behind()).map_err(reason)?;
            return Ok(Verdict::Safe(Certificate { states }));
        };
        if options.limit.is_some_and(|limit| iterations.len() as u64 >= limit) {
            return Err(Reason::Iterations);
        }
        if options.pictures {
            pictures.push(graph.dot(&path));
        }
        let mut iteration = graph.counted();
        iteration.path = path.len();
        let (before, moved) = graph.images();
        let refined = graph.refine(&path, options).map_err(reason)?;
        let (after, moved_after) = graph.images();
        iteration.analysis = after - before;
        iteration.distribution = moved_after - moved;
        if !refined {
            return unsafe_run();
        }
        iterations.push(iteration);
        let stats = Stats { added: iteration.states as u64, refinements: iterations.len() as u64, ..Stats::default() };
        budget.ask(&Progress { waiting: 0, stats }, 0)?;
    }
}
