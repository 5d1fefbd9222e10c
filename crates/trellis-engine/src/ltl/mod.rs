//! Linear temporal logic by abstraction refinement (004 chapter 3): does every infinite run satisfy a formula?
//!
//! The product with the automaton of the negated formula is a control-flow automaton again ([`trellis_model::ltl::product`]), and the
//! question is whether it has a fair run. It is abstracted like any other automaton ([`graph`]) and searched for a fair cycle while
//! that is done ([`search`]). A cycle that is found is looked at ([`lasso`]): a run goes along it, or the abstraction is
//! refined, or it takes an argument about infinity, for or against it ([`recurrent`], [`rank`]). The states of models that have few are
//! listed ([`listed`]); where that cannot be done, they are enumerated by abstraction, with everything followed from the start.
//! [`bounded`] finds short lassos.

pub mod bounded;
pub mod fair;
pub mod graph;
pub mod lasso;
pub mod listed;
pub mod rank;
pub mod recurrent;
pub mod search;
pub mod translate;

use std::fmt;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::TermId;
use trellis_model::cfa::interpret::Trace;
use trellis_model::cfa::lbe::Blocks;
use trellis_model::cfa::{EdgeId, LocationId};
use trellis_model::evidence::Reason;
use trellis_model::ltl::Buchi;
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run, Step, Verdict};
use trellis_model::ltl::product::{Product, Subject, product};

use self::graph::Graph;
use self::lasso::{Looked, Looker};
use self::rank::Ranked;
use self::search::{Path, Search, Space};
use crate::program::cegar::{self, Domain};
use crate::program::domain::{assumptions, take_apart};
use crate::program::post::Mode;
use crate::program::refine::Refinement;
use crate::scheduler::{self, Runner, race};
use trellis_meter::{Meter, Stats};

/// How to abstract, refine and search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What labels are made of, and how they are refined.
    pub cegar: cegar::Options,
    /// How fair cycles are looked for.
    pub search: Search,
}

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Abstraction refinement.
    Cegar(Options),
    /// Enumeration, as far as values are few.
    Explicit(Search),
    /// Bounded search for a lasso, up to a depth if there is one.
    Bounded(Option<usize>),
    /// Several of these in turns, on so many threads.
    Portfolio(usize),
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Cegar(options) => write!(f, "cegar ({})", options.cegar),
            Engine::Explicit(_) => write!(f, "explicit"),
            Engine::Bounded(_) => write!(f, "bmc"),
            Engine::Portfolio(_) => write!(f, "portfolio"),
        }
    }
}

/// The first turn of a portfolio.
const FIRST: Duration = Duration::from_millis(400);

/// Who takes turns in a portfolio.
fn runners() -> [Engine; 6] {
    let cegar = |domain, refinement| {
        let cegar = cegar::Options { domain, refinement, ..cegar::Options::default() };
        Engine::Cegar(Options { cegar, search: Search::Components })
    };
    let predicates = Domain::Predicates(Mode::Cartesian);
    [
        Engine::Explicit(Search::Components),
        // What must hold before a loop goes on says more about it than what holds after so many rounds.
        cegar(predicates, Refinement::NewtonBackward),
        Engine::Bounded(None),
        cegar(predicates, Refinement::Sequence),
        cegar(Domain::Product(Mode::Cartesian), Refinement::Core),
        cegar(predicates, Refinement::NewtonForward),
    ]
}

/// What the engine answers.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Does every run satisfy the formula?
    pub verdict: Verdict,
    /// What was counted.
    pub stats: Stats,
    /// Of a portfolio: who answered.
    pub by: Option<Engine>,
}

impl Outcome {
    fn new(verdict: Verdict, stats: Stats) -> Outcome {
        Outcome { verdict, stats, by: None }
    }
}

impl scheduler::Outcome for Outcome {
    fn undecided(&self) -> Option<&Reason> {
        match &self.verdict {
            Verdict::Unknown(why) => Some(why),
            _ => None,
        }
    }
}

/// Does the automaton accept no run of the subject? It is that of the negated formula, over these atoms.
pub fn check(subject: &Subject, atoms: &[TermId], automaton: &Buchi, engine: &Engine, meter: &mut Meter) -> Outcome {
    match product(subject, atoms, automaton) {
        Ok(product) => ask(&product, automaton, engine, meter),
        Err(what) => Outcome::new(Verdict::Unknown(Reason::Unsupported(what.to_string())), Stats::default()),
    }
}

fn ask(product: &Product, automaton: &Buchi, engine: &Engine, meter: &mut Meter) -> Outcome {
    if let Engine::Portfolio(threads) = *engine {
        let runner = |engine: Engine| {
            Runner::new(engine.to_string(), move |meter: &mut Meter| Outcome {
                by: Some(engine),
                ..ask(product, automaton, &engine, meter)
            })
        };
        return race(runners().map(runner).into(), threads, FIRST, meter)
            .unwrap_or_else(|why| Outcome::new(Verdict::Unknown(why), Stats::default()));
    }
    let blocks = product.blocks();
    let marks: Vec<u64> = blocks.origin.iter().map(|l| product.marks[l.index()]).collect();
    let mut large = blocks.cfa.clone();
    let mut stats = Stats::default();
    let everything = matches!(engine, Engine::Explicit(_));
    if let Engine::Explicit(search) = *engine {
        let marks = (&marks[..], product.all_marks());
        match listed::check(&large, marks, automaton, search, &mut stats, meter) {
            Ok(listed::Found::Run(trace, back)) => {
                return Outcome::new(violated(product, &blocks, &trace, back), stats);
            }
            Ok(listed::Found::Proof(mut proof)) => {
                proof.nodes.iter_mut().for_each(|n| n.0 = blocks.origin[n.0.index()]);
                return Outcome::new(Verdict::Holds(*proof), stats);
            }
            // They cannot be listed.
            Err(Reason::Stuck(_)) => stats = Stats::default(),
            Err(why) => return Outcome::new(Verdict::Unknown(why), stats),
        }
    }
    let options = match *engine {
        Engine::Cegar(options) => options,
        Engine::Explicit(search) => {
            Options { cegar: cegar::Options { domain: Domain::Explicit, ..cegar::Options::default() }, search }
        }
        Engine::Bounded(depth) => {
            let found = bounded::find(&mut large, product, &marks, depth, &mut stats, meter);
            let verdict = found.map_or_else(Verdict::Unknown, |(trace, back)| violated(product, &blocks, &trace, back));
            return Outcome::new(verdict, stats);
        }
        Engine::Portfolio(_) => unreachable!("answered above"),
    };
    let graph = Graph::new(&mut large, product, &marks, &options.cegar, everything, meter);
    let mut engine = Refining { graph, looker: Looker::default(), options, rankings: None };
    let ended = engine.run();
    let stats = Stats { stored: engine.graph.nodes.len() as u64, ..engine.graph.stats };
    let verdict = match ended {
        Err(reason) => Verdict::Unknown(reason),
        Ok(Answer::Run(trace, back)) => violated(product, &blocks, &trace, back),
        Ok(Answer::Recurrence(trace, found)) => {
            let stem = run(product, &blocks, &trace);
            let place = |l: LocationId| blocks.origin[l.index()];
            let round = |r: &Vec<EdgeId>| {
                let first = r.iter().take(1).map(|&e| blocks.cfa.edge(e).from);
                first.chain(r.iter().map(|&e| blocks.cfa.edge(e).to)).map(place).collect()
            };
            let rounds = found.rounds.iter().map(round).collect();
            let (choices, set) = (found.choices, found.set);
            Verdict::Diverges(Recurrence {
                automaton: automaton.clone(),
                terms: large.terms,
                stem,
                rounds,
                choices,
                set,
            })
        }
        Ok(Answer::Proof(ranked)) => {
            let mut proof = engine.proof(ranked, automaton);
            proof.nodes.iter_mut().for_each(|n| n.0 = blocks.origin[n.0.index()]);
            Verdict::Holds(proof)
        }
    };
    Outcome::new(verdict, stats)
}

/// A lasso of the large product, as one of the subject.
fn violated(product: &Product, blocks: &Blocks, trace: &Trace, back: usize) -> Verdict {
    let stem = Trace { start: trace.start.clone(), steps: trace.steps[..back].to_vec() };
    let back = run(product, blocks, &stem).steps.len();
    Verdict::Violated(Lasso { run: run(product, blocks, trace), back }.folded())
}

/// A trace of the large product as a run of the subject.
fn run(product: &Product, blocks: &Blocks, trace: &Trace) -> Run {
    let small = blocks.expand(&product.cfa, trace).expect("engines report runs");
    let step = |s: trellis_model::cfa::interpret::Step| Step {
        edge: product.origin[s.edge.index()],
        choices: s.choices,
        after: s.after,
    };
    Run { start: small.start, steps: small.steps.into_iter().map(step).collect() }
}

enum Answer {
    Run(Trace, usize),
    Recurrence(Trace, recurrent::Found),
    Proof(Ranked),
}

/// The loop of abstraction and refinement.
struct Refining<'p> {
    graph: Graph<'p>,
    looker: Looker,
    options: Options,
    /// What rankings have left of the graph, if they were needed since it was last refined.
    rankings: Option<Ranked>,
}

impl Refining<'_> {
    fn run(&mut self) -> Result<Answer, Reason> {
        let (how, split) = (self.options.cegar.refinement, self.options.cegar.split);
        loop {
            let Some(path) = self.find()? else {
                let ranked = match self.rankings.take() {
                    Some(ranked) => ranked,
                    None => Ranked::new(&mut self.graph)?,
                };
                return Ok(Answer::Proof(ranked));
            };
            let looked = self.looker.look(&mut self.graph, &path, how, split)?;
            let why = match looked {
                Looked::Run(trace, back) => return Ok(Answer::Run(trace, back)),
                Looked::Refined => {
                    self.refined();
                    continue;
                }
                Looked::Open => None,
                Looked::Stuck(why) => Some(why),
            };
            if why.is_none() {
                let run = self.looker.run_around(&mut self.graph, &path);
                let values = run.as_ref().and_then(|t| t.steps.last()).map(|s| &s.after);
                if let Some(found) = recurrent::find(&mut self.graph, &path, values)
                    && let Some(trace) = self.looker.run_into(&mut self.graph, &path, found.set)
                {
                    return Ok(Answer::Recurrence(trace, found));
                }
            }
            if self.rankings.is_none() {
                let mut ranked = Ranked::new(&mut self.graph)?;
                ranked.rank(&mut self.graph)?;
                let helped = !ranked.rankings.is_empty();
                self.rankings = Some(ranked);
                if helped {
                    continue;
                }
            }
            if self.follow_atoms(&path) {
                self.refined();
                continue;
            }
            return Err(match why.flatten() {
                Some(why) => why,
                None => Reason::Stuck("a cycle that is neither taken forever nor ranked".into()),
            });
        }
    }

    fn refined(&mut self) {
        self.graph.stats.refinements += 1;
        self.rankings = None;
    }

    /// A fair cycle of what may be taken forever.
    fn find(&mut self) -> Result<Option<Path>, Reason> {
        let Some(ranked) = &self.rankings else { return search::find(&mut self.graph, self.options.search) };
        let Some(members) = ranked.fair(&self.graph).into_iter().next() else { return Ok(None) };
        let live: FxHashSet<_> = ranked.live.iter().copied().collect();
        let stem = search::shortest(&mut self.graph, 0, |_| true, |n| members.contains(&n))?;
        let head = stem.last().map_or(0, |s| s.1);
        let cycle = search::around(&mut Live { graph: &mut self.graph, live: &live }, head, &members)?;
        Ok(Some(Path { root: 0, stem, cycle }))
    }

    /// Takes in the conditions on the path as predicates, as the last resort.
    fn follow_atoms(&mut self, path: &Path) -> bool {
        let mut atoms = vec![];
        for &(e, _) in path.stem.iter().chain(&path.cycle) {
            let stmt = self.graph.cfa.edge(EdgeId(e)).stmt;
            assumptions(&self.graph.cfa.terms, stmt, &mut atoms);
        }
        let mut parts = vec![];
        for t in atoms {
            take_apart(&self.graph.cfa.terms, t, cegar::Split::Atoms, &mut parts);
        }
        // Values are of use only where they are known before.
        let places: Vec<LocationId> = match self.options.cegar.domain {
            Domain::Predicates(_) => {
                let nodes = path.stem.iter().chain(&path.cycle);
                nodes.map(|s| self.graph.nodes[s.1 as usize].location).collect()
            }
            _ => self.graph.cfa.locations().collect(),
        };
        let mut new = false;
        for l in places {
            for &p in &parts {
                new |= self.graph.take_in(l, p);
            }
        }
        new
    }

    /// A proof; its locations are those of the large product.
    fn proof(&mut self, ranked: Ranked, automaton: &Buchi) -> Proof {
        let number: FxHashMap<u32, u32> = ranked.nodes.iter().enumerate().map(|(i, &n)| (n, i as u32)).collect();
        let mut nodes = vec![];
        for &n in &ranked.nodes {
            let parts = self.graph.assumptions(n);
            nodes.push((self.graph.nodes[n as usize].location, self.graph.cfa.terms.and(parts)));
        }
        let mut edges: Vec<(u32, u32)> = ranked.arcs.iter().map(|a| (number[&a.0], number[&a.2])).collect();
        edges.sort_unstable();
        edges.dedup();
        let list = |r: &FxHashMap<u32, TermId>| ranked.nodes.iter().map(|n| r.get(n).copied()).collect();
        let rankings = ranked.rankings.iter().map(list).collect();
        Proof { automaton: automaton.clone(), terms: self.graph.cfa.terms.clone(), nodes, edges, rankings }
    }
}

/// The graph without what can be left out.
struct Live<'g, 'p> {
    graph: &'g mut Graph<'p>,
    live: &'g FxHashSet<rank::Arc>,
}

impl Space for Live<'_, '_> {
    type Error = Reason;

    fn roots(&mut self) -> Result<Vec<u32>, Reason> {
        self.graph.roots()
    }

    fn successors(&mut self, n: u32) -> Result<Vec<(u32, u32)>, Reason> {
        let mut all = self.graph.successors(n)?;
        all.retain(|&(e, to)| self.live.contains(&(n, EdgeId(e), to)));
        Ok(all)
    }

    fn marks(&self, n: u32) -> u64 {
        self.graph.marks(n)
    }

    fn all_marks(&self) -> u64 {
        self.graph.all_marks()
    }
}
