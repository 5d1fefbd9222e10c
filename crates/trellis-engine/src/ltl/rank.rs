//! Why a cycle is not taken forever: ranking functions.
//!
//! A *ranking* gives each node an affine expression over the integers of the product. If no edge of a strongly connected component
//! increases it, and some edges decrease it while it is not negative, then these are taken finitely often only, and can be left out;
//! what remains falls into smaller components, which are ranked again. So a row of rankings is a lexicographic argument, and
//! nothing is asked of edges that are not left out but that they do not increase.
//!
//! Coefficients are found by Farkas' lemma ([`trellis_smt::ranking`]): an edge is taken apart into a few conjunctions of linear
//! inequalities, and one system of inequalities in the coefficients says that nothing increases the ranking and a chosen edge
//! decreases it. Where edges are not so simple (words, many cases), coefficients are found from examples: a solver proposes some that fit
//! all steps seen so far, and the solvers of the edges look for a step that they do not fit. They have the last word in either case.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Type, VarId};
use trellis_model::cfa::EdgeId;
use trellis_model::cfa::interpret::zero_of;
use trellis_model::evidence::Reason;
use trellis_model::ltl::components;
use trellis_smt::ranking::{self, Way};
use trellis_smt::{Answer, Embedded, Solver};

use super::graph::Graph;
use super::search::Space;
use crate::program::reason;

/// How many proposals are looked at for one component.
const PROPOSALS: usize = 120;
/// So many conflicts one question about words may take.
const WORK: u64 = 500;
/// Components with more edges than this, or more integers, are not ranked.
const MAX_EDGES: usize = 400;
const MAX_INTEGERS: usize = 24;

/// An edge of the abstraction: from, by, to.
pub type Arc = (u32, EdgeId, u32);

/// The graph, and what is left of it.
#[derive(Debug, Default)]
pub struct Ranked {
    /// All that can be reached.
    pub nodes: Vec<u32>,
    /// All edges between these.
    pub arcs: Vec<Arc>,
    /// Those that may be taken forever, as far as is known.
    pub live: FxHashSet<Arc>,
    /// The rankings, in order.
    pub rankings: Vec<FxHashMap<u32, TermId>>,
}

impl Ranked {
    /// The whole graph.
    pub fn new(graph: &mut Graph<'_>) -> Result<Ranked, Reason> {
        let nodes = graph.reachable()?;
        let mut arcs = vec![];
        for &n in &nodes {
            arcs.extend(graph.successors(n)?.into_iter().map(|(e, to)| (n, EdgeId(e), to)));
        }
        let live = arcs.iter().copied().collect();
        Ok(Ranked { nodes, arcs, live, rankings: vec![] })
    }

    /// The strongly connected components of what is left that have all marks.
    pub fn fair(&self, graph: &Graph<'_>) -> Vec<FxHashSet<u32>> {
        let number: FxHashMap<u32, u32> = self.nodes.iter().enumerate().map(|(i, &n)| (n, i as u32)).collect();
        let mut out = vec![vec![]; self.nodes.len()];
        for a in self.arcs.iter().filter(|a| self.live.contains(a)) {
            out[number[&a.0] as usize].push(number[&a.2]);
        }
        let component = components(self.nodes.len(), |n| out[n as usize].clone());
        let mut all: FxHashMap<u32, (FxHashSet<u32>, u64, bool)> = FxHashMap::default();
        for (i, &n) in self.nodes.iter().enumerate() {
            let (members, marks, cyclic) = all.entry(component[i]).or_default();
            members.insert(n);
            *marks |= graph.marks(n);
            *cyclic |= out[i].iter().any(|&m| component[m as usize] == component[i]);
        }
        let wanted = graph.all_marks();
        let mut fair: Vec<_> =
            all.into_iter().filter(|(_, (_, marks, cyclic))| *cyclic && marks & wanted == wanted).collect();
        // The order of a hash table is nobody's business.
        fair.sort_unstable_by_key(|f| f.0);
        fair.into_iter().map(|(_, (members, ..))| members).collect()
    }

    /// Leaves out what rankings allow.
    pub fn rank(&mut self, graph: &mut Graph<'_>) -> Result<(), Reason> {
        loop {
            let mut progress = false;
            for members in self.fair(graph) {
                let inner = |a: &&Arc| self.live.contains(*a) && members.contains(&a.0) && members.contains(&a.2);
                let arcs: Vec<Arc> = self.arcs.iter().filter(inner).copied().collect();
                if let Some((ranking, dead)) = rank(graph, &arcs)? {
                    dead.iter().for_each(|a| _ = self.live.remove(a));
                    self.rankings.push(ranking);
                    progress = true;
                }
            }
            if !progress {
                return Ok(());
            }
        }
    }
}

/// A ranking of these edges, and those that it leaves out.
#[allow(clippy::type_complexity)]
fn rank(graph: &mut Graph<'_>, arcs: &[Arc]) -> Result<Option<(FxHashMap<u32, TermId>, Vec<Arc>)>, Reason> {
    if arcs.len() > MAX_EDGES {
        return Ok(None);
    }
    let mut integers: Vec<VarId> = vec![];
    for &(_, e, _) in arcs {
        let (reads, writes) = graph.cfa.terms.stmt_vars(graph.cfa.edge(e).stmt);
        integers.extend(reads.into_iter().chain(writes));
    }
    integers.sort_unstable();
    integers.dedup();
    let is_number = |v: &VarId| {
        let ty = graph.cfa.terms.variable(*v).ty;
        graph.cfa.variables.contains(v) && matches!(ty, Type::Int | Type::Range(..) | Type::Bits { .. })
    };
    integers.retain(is_number);
    if integers.is_empty() || integers.len() > MAX_INTEGERS {
        return Ok(None);
    }
    if let Some(found) = farkas(graph, arcs, &integers)? {
        return Ok(Some(found));
    }
    // Coefficients that all nodes share are few, so they come first.
    for shared in [true, false] {
        if let Some(found) = Proposer::new(graph, arcs, &integers, shared).run(graph)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// More ways than this are not put into one system, and an edge with more of them is not taken apart.
const MAX_WAYS: usize = 60;
const MAX_CASES: usize = 8;
/// So many edges are tried as the one that is left out.
const MAX_STRICT: usize = 12;

/// A ranking by Farkas' lemma.
#[allow(clippy::type_complexity)]
fn farkas(
    graph: &mut Graph<'_>,
    arcs: &[Arc],
    integers: &[VarId],
) -> Result<Option<(FxHashMap<u32, TermId>, Vec<Arc>)>, Reason> {
    let is_word = |v: &VarId| matches!(graph.cfa.terms.variable(*v).ty, Type::Bits { .. });
    if integers.iter().any(is_word) {
        return Ok(None);
    }
    let mut number: FxHashMap<u32, usize> = FxHashMap::default();
    for n in arcs.iter().flat_map(|a| [a.0, a.2]) {
        let next = number.len();
        number.entry(n).or_insert(next);
    }
    let mut ways: Vec<Way> = vec![];
    // Which ways are those of an edge.
    let mut of: Vec<std::ops::Range<usize>> = vec![];
    for &arc in arcs {
        let first = ways.len();
        let Some(cases) = cases(graph, arc)? else { return Ok(None) };
        let step = graph.domain.edges().get(graph.cfa, arc.1).map_err(reason)?;
        let after: Vec<VarId> = integers.iter().map(|&v| step.version(v)).collect();
        let after: Vec<TermId> = after.into_iter().map(|v| graph.cfa.terms.var(v)).collect();
        let way = |rows| Way { from: number[&arc.0], to: number[&arc.2], rows, after: after.clone(), strict: false };
        ways.extend(cases.into_iter().map(way));
        of.push(first..ways.len());
        if ways.len() > MAX_WAYS {
            return Ok(None);
        }
    }
    let variables: Vec<TermId> = integers.iter().map(|&v| graph.cfa.terms.var(v)).collect();
    for strict in of.into_iter().take(MAX_STRICT) {
        ways.iter_mut().enumerate().for_each(|(i, w)| w.strict = strict.contains(&i));
        let limits = graph.limits.clone();
        let found = match ranking::rank(&graph.cfa.terms, &variables, number.len(), &ways, &limits) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(why) => return limits.exceeded(0).map_or(Ok(None), |_| Err(reason(why))),
        };
        let mut all: FxHashMap<u32, TermId> = FxHashMap::default();
        for (&n, &i) in &number {
            let terms = &mut graph.cfa.terms;
            let mut parts = vec![terms.big(found[i].1.clone())];
            for (k, &v) in found[i].0.iter().zip(&variables) {
                let (k, v) = (terms.big(k.clone()), terms.convert(Type::Int, v));
                parts.push(terms.mul(k, v));
            }
            all.insert(n, terms.add(parts));
        }
        let mut judge = Proposer::new(graph, arcs, integers, true);
        if let Some(dead) = judge.left_out(graph, &all)? {
            return Ok(Some((all, dead)));
        }
    }
    Ok(None)
}

/// An edge as conjunctions of linear inequalities; nothing if there are too many, or it is not about numbers alone.
fn cases(graph: &mut Graph<'_>, (from, e, to): Arc) -> Result<Option<Vec<Vec<ranking::Row>>>, Reason> {
    let (mut said, after) = (graph.assumptions(from), graph.assumptions(to));
    let limits = graph.limits.clone();
    let step = graph.domain.edges().get(graph.cfa, e).map_err(reason)?;
    let terms = &mut graph.cfa.terms;
    said.extend(after.into_iter().map(|t| step.after(terms, t)));
    let mut whole = said.clone();
    whole.push(step.formula);
    let mut found = vec![];
    step.push();
    let answer = loop {
        match step.check(terms, &said, &limits.clone().steps(WORK)) {
            Answer::Unsat(_) => break Ok(Some(found)),
            Answer::Unknown(why) => break limits.exceeded(0).map_or(Ok(None), |_| Err(reason(why))),
            Answer::Sat(mut model) => {
                // What was asserted is in the model; what else the formula speaks of is anything.
                for v in whole.iter().flat_map(|&t| terms.free_vars(t)).collect::<Vec<_>>() {
                    let ty = terms.variable(v).ty;
                    model.entry(v).or_insert_with(|| zero_of(terms, ty));
                }
                let Some(cube) = ranking::cube(terms, &whole, &model).filter(|_| found.len() < MAX_CASES) else {
                    break Ok(None);
                };
                let not: Vec<TermId> =
                    cube.literals.iter().map(|&(t, value)| if value { terms.not(t) } else { t }).collect();
                let other = terms.or(not);
                step.assert(terms, other);
                found.push(cube.rows);
            }
        }
    };
    step.pop();
    answer
}

/// Values before and after a step.
struct Example {
    arc: usize,
    before: Vec<TermId>,
    after: Vec<TermId>,
}

struct Proposer<'a> {
    arcs: &'a [Arc],
    integers: &'a [VarId],
    /// For each node its coefficients, the last one for the constant.
    unknown: FxHashMap<u32, Vec<VarId>>,
    /// For each edge: is it left out?
    strict: Vec<VarId>,
    solver: Embedded,
    /// If there are words among the integers: for each edge a solver that takes them as numbers. (Bit by bit, sums of values take long.)
    words: Option<FxHashMap<EdgeId, Embedded>>,
}

impl<'a> Proposer<'a> {
    fn new(graph: &mut Graph<'_>, arcs: &'a [Arc], integers: &'a [VarId], shared: bool) -> Proposer<'a> {
        let terms = &mut graph.cfa.terms;
        let coefficient =
            |name: String, bound: i64, terms: &mut trellis_expr::Terms| terms.declare(name, Type::Range(-bound, bound));
        let bound = if shared { 2 } else { 4 };
        let common: Vec<VarId> =
            integers.iter().enumerate().map(|(i, _)| coefficient(format!("c {i}"), bound, terms)).collect();
        let mut unknown: FxHashMap<u32, Vec<VarId>> = FxHashMap::default();
        for n in arcs.iter().flat_map(|a| [a.0, a.2]) {
            unknown.entry(n).or_insert_with(|| {
                let mut all = match shared {
                    true => common.clone(),
                    false => (0..common.len()).map(|i| coefficient(format!("c {n} {i}"), bound, terms)).collect(),
                };
                all.push(coefficient(format!("d {n}"), 1 << 40, terms));
                all
            });
        }
        let strict: Vec<VarId> = (0..arcs.len()).map(|i| terms.declare(format!("strict {i}"), Type::Bool)).collect();
        let any: Vec<TermId> = strict.iter().map(|&v| terms.var(v)).collect();
        let any = terms.or(any);
        let mut solver = Embedded::new();
        solver.assert(terms, any);
        let is_word = |v: &VarId| matches!(terms.variable(*v).ty, Type::Bits { .. });
        let words = integers.iter().any(is_word).then(FxHashMap::default);
        Proposer { arcs, integers, unknown, strict, solver, words }
    }

    #[allow(clippy::type_complexity)]
    fn run(mut self, graph: &mut Graph<'_>) -> Result<Option<(FxHashMap<u32, TermId>, Vec<Arc>)>, Reason> {
        for _ in 0..PROPOSALS {
            let limits = graph.limits.clone();
            let model = match self.solver.check(&graph.cfa.terms, &[], &limits.clone().steps(WORK)) {
                Answer::Sat(model) => model,
                Answer::Unsat(_) => return Ok(None),
                Answer::Unknown(why) => return limits.exceeded(0).map_or(Ok(None), |_| Err(reason(why))),
            };
            let ranking = self.ranking(graph, &model);
            let strict = self.strict.iter().map(|v| model.get(v).and_then(|v| v.as_bool()) == Some(true)).collect();
            match self.refuse(graph, &ranking, strict)? {
                Some(None) => return Ok(None),
                Some(Some(example)) => self.learn(graph, &example),
                // Perhaps it leaves out more than was asked.
                None => return Ok(self.left_out(graph, &ranking)?.map(|dead| (ranking, dead))),
            }
        }
        Ok(None)
    }

    /// The edges that a ranking leaves out; nothing if there are none, or it does not fit.
    fn left_out(
        &mut self,
        graph: &mut Graph<'_>,
        ranking: &FxHashMap<u32, TermId>,
    ) -> Result<Option<Vec<Arc>>, Reason> {
        let mut dead = vec![];
        for (i, &arc) in self.arcs.iter().enumerate() {
            if self.against(graph, i, ranking, true)?.is_none() {
                dead.push(arc);
            } else if self.against(graph, i, ranking, false)?.is_some() {
                return Ok(None);
            }
        }
        Ok((!dead.is_empty()).then_some(dead))
    }

    fn ranking(&self, graph: &mut Graph<'_>, model: &Valuation) -> FxHashMap<u32, TermId> {
        let terms = &mut graph.cfa.terms;
        let mut all = FxHashMap::default();
        for (&n, unknown) in &self.unknown {
            let mut parts = vec![];
            for (i, v) in unknown.iter().enumerate() {
                let factor = model.get(v).and_then(|v| v.to_word()).unwrap_or(0);
                let factor_term = terms.int(factor);
                match self.integers.get(i) {
                    Some(_) if factor == 0 => {}
                    Some(&v) => {
                        let value = terms.var(v);
                        let value = terms.convert(Type::Int, value);
                        parts.push(terms.mul(factor_term, value));
                    }
                    None => parts.push(factor_term),
                }
            }
            all.insert(n, terms.add(parts));
        }
        all
    }

    /// A step that the ranking does not fit; `Some(None)` if that is not decided.
    fn refuse(
        &mut self,
        graph: &mut Graph<'_>,
        ranking: &FxHashMap<u32, TermId>,
        strict: Vec<bool>,
    ) -> Result<Option<Option<Example>>, Reason> {
        for (i, strict) in strict.into_iter().enumerate() {
            if let Some(example) = self.against(graph, i, ranking, strict)? {
                return Ok(Some(example));
            }
        }
        Ok(None)
    }

    fn against(
        &mut self,
        graph: &mut Graph<'_>,
        i: usize,
        ranking: &FxHashMap<u32, TermId>,
        strict: bool,
    ) -> Result<Option<Option<Example>>, Reason> {
        let (from, e, to) = self.arcs[i];
        let (mut assumed, after) = (graph.assumptions(from), graph.assumptions(to));
        let limits = graph.limits.clone();
        let step = graph.domain.edges().get(graph.cfa, e).map_err(reason)?;
        let terms = &mut graph.cfa.terms;
        assumed.extend(after.into_iter().map(|t| step.after(terms, t)));
        let (now, then) = (ranking[&from], step.after(terms, ranking[&to]));
        let wrong = if strict {
            let zero = terms.int(0);
            let (negative, stays) = (terms.lt(now, zero), terms.le(now, then));
            terms.or([negative, stays])
        } else {
            terms.lt(now, then)
        };
        assumed.push(wrong);
        let answer = match &mut self.words {
            None => step.check(terms, &assumed, &limits),
            Some(words) => {
                let solver = words.entry(e).or_insert_with(|| {
                    let mut solver = Embedded::new().words_as_numbers();
                    solver.assert(terms, step.formula);
                    solver
                });
                solver.check(terms, &assumed, &limits.clone().steps(WORK))
            }
        };
        let mut model = match answer {
            Answer::Unsat(_) => return Ok(None),
            Answer::Sat(model) => model,
            Answer::Unknown(why) => return limits.exceeded(0).map_or(Ok(Some(None)), |_| Err(reason(why))),
        };
        let mut value = |v: VarId| {
            let ty = terms.variable(v).ty;
            let value = model.entry(v).or_insert_with(|| zero_of(terms, ty)).number();
            terms.big(value)
        };
        let before = self.integers.iter().map(|&v| value(v)).collect();
        let after = self.integers.iter().map(|&v| value(step.version(v))).collect();
        Ok(Some(Some(Example { arc: i, before, after })))
    }

    /// What is proposed from here on fits the step.
    fn learn(&mut self, graph: &mut Graph<'_>, example: &Example) {
        let (from, _, to) = self.arcs[example.arc];
        let terms = &mut graph.cfa.terms;
        let one = terms.int(1);
        let mut sum = |n: u32, values: &[TermId]| {
            let mut parts = vec![];
            for (&v, &value) in self.unknown[&n].iter().zip(values.iter().chain([&one])) {
                let unknown = terms.var(v);
                let unknown = terms.convert(Type::Int, unknown);
                parts.push(terms.mul(value, unknown));
            }
            terms.add(parts)
        };
        let (before, after) = (sum(from, &example.before), sum(to, &example.after));
        let never_more = terms.le(after, before);
        let zero = terms.int(0);
        let (bounded, less) = (terms.le(zero, before), terms.lt(after, before));
        let both = terms.and([bounded, less]);
        let strict = terms.var(self.strict[example.arc]);
        let strict = terms.implies(strict, both);
        self.solver.assert(terms, never_more);
        self.solver.assert(terms, strict);
    }
}
