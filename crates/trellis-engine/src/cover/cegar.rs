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
use trellis_meter::{Board, Meter, Progress, Stats};

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
    /// Steps that do not ask whether their target satisfies the assertion (001 §6.2.1). The abstraction is the same, because its states
    /// are sets of configurations; only the diagrams differ. Refused where there are priorities or broadcasts.
    pub super_transitions: bool,
    /// At most so many refinements, each time.
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
            super_transitions: false,
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

impl Found {
    /// An answer, and what led to it.
    pub(super) fn of(verdict: Verdict<Trace, Certificate>, run: Option<Run>) -> Found {
        match run {
            Some(run) => {
                Found { verdict, states: run.graph.size(), iterations: run.iterations, pictures: run.pictures }
            }
            None => Found { verdict, states: 0, iterations: vec![], pictures: vec![] },
        }
    }
}

/// Refines an abstraction that the predicates induce until there is an answer.
pub fn cegar(question: &Question<'_>, predicates: &[Relation], options: &Options, meter: &mut Meter) -> Found {
    match Run::new(question, predicates, options, meter) {
        Ok(mut run) => Found::of(run.go_on(question, options, meter), Some(run)),
        Err(why) => Found::of(Verdict::Unknown(why), None),
    }
}

/// An abstraction that is being refined. It can be left after some rounds, or when time is up, and taken up again where it stopped, with
/// other options if that is wanted (001 §6.2.6); only which abstraction and which steps is settled at the start. The question must be
/// the same each time.
pub struct Run {
    graph: Graph,
    iterations: Vec<Iteration>,
    pictures: Vec<String>,
    /// Why it is of no use any more: it was left in the middle of a round.
    broken: Option<Reason>,
}

impl Run {
    /// The abstraction that the predicates induce.
    pub fn new(
        question: &Question<'_>,
        predicates: &[Relation],
        options: &Options,
        meter: &mut Meter,
    ) -> Result<Run, Reason> {
        let mut stopped = None;
        let mut go_on = || {
            stopped = meter.ask(&Progress::default()).err();
            stopped.is_none()
        };
        let graph = Graph::new(question, predicates, options, &mut go_on);
        match (graph, stopped) {
            (Ok(graph), _) => Ok(Run { graph, iterations: vec![], pictures: vec![], broken: None }),
            (Err(_), Some(why)) => Err(why.into()),
            (Err(trouble), None) => Err(reason(trouble)),
        }
    }

    /// All rounds so far.
    pub fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// The pictures of all rounds so far for which they were asked for.
    pub fn pictures(&self) -> &[String] {
        &self.pictures
    }

    /// Refines until there is an answer, or no more rounds or time.
    pub fn go_on(
        &mut self,
        question: &Question<'_>,
        options: &Options,
        meter: &mut Meter,
    ) -> Verdict<Trace, Certificate> {
        let last = options.limit.map(|limit| limit.saturating_add(self.iterations.len() as u64));
        loop {
            if let Some(why) = &self.broken {
                return Verdict::Unknown(why.clone());
            }
            match self.round(question, options, last, meter.board()) {
                Ok(None) => {}
                Ok(Some(verdict)) => return verdict,
                Err(trouble) => self.broken = Some(reason(trouble)),
            }
            let (added, refinements) = (self.iterations.last().map_or(0, |i| i.states as u64), self.iterations.len());
            let stats = Stats { added, refinements: refinements as u64, ..Stats::default() };
            if let Err(why) = meter.ask(&Progress { waiting: 0, stats }) {
                return Verdict::Unknown(why.into());
            }
        }
    }

    /// One round; nothing if there is no answer yet.
    fn round(
        &mut self,
        question: &Question<'_>,
        options: &Options,
        last: Option<u64>,
        board: &Board,
    ) -> Made<Option<Verdict<Trace, Certificate>>> {
        let unsafe_run = || -> Made<Option<Verdict<Trace, Certificate>>> {
            let trace = question.trace(question.symbolic.admissible())?;
            let stuck = || Verdict::Unknown(Reason::Stuck("an abstract run is real, but no run was found".into()));
            Ok(Some(trace.map_or_else(stuck, Verdict::Unsafe)))
        };
        let graph = &mut self.graph;
        if options.pruning {
            graph.certify_initially(question, options)?;
            if options.must {
                graph.close(question)?;
            }
            if graph.witnesses()? {
                return unsafe_run();
            }
        }
        graph.reduce(question)?;
        let Some(path) = graph.path(options.search) else {
            board.round(|| graph.picture(question, &[], "the proof: no path is left".into()));
            let states = question.symbolic.states_of(graph.left_behind())?;
            return Ok(Some(Verdict::Safe(Certificate { states })));
        };
        if last.is_some_and(|last| self.iterations.len() as u64 >= last) {
            return Ok(Some(Verdict::Unknown(Reason::Iterations)));
        }
        if options.pictures {
            self.pictures.push(graph.dot(question, &path));
        }
        let title = || {
            format!(
                "round {}: a path of {} abstract states is looked at, and split where it cannot go on",
                self.iterations.len() + 1,
                path.len()
            )
        };
        board.round(|| graph.picture(question, &path, title()));
        let mut iteration = graph.counted();
        iteration.path = path.len();
        let (before, moved) = graph.images();
        let refined = graph.refine(question, &path, options)?;
        let (after, moved_after) = graph.images();
        iteration.analysis = after - before;
        iteration.distribution = moved_after - moved;
        if !refined {
            return unsafe_run();
        }
        self.iterations.push(iteration);
        Ok(None)
    }
}
