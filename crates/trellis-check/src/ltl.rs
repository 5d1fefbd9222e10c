//! Evidence about formulas of linear temporal logic ([`trellis_model::ltl::evidence`]).
//!
//! A lasso is replayed by the reference interpreter, and the formula is evaluated on its letters: no automaton is needed for that.
//! Proofs and recurrent sets are about the product with the automaton of the negated formula; that the automaton is the right one is
//! proven first ([`crate::language`]). A proof is then checked like any invariant,
//! node by node, its rankings edge by edge, and the rest by looking for fair cycles in a finite graph. Nodes that are points need no solver where
//! the reference interpreter can run the edges from them and comes to such nodes again.
//!
//! Instead of a formula there may be an automaton of the runs that must not be. Then lassos are judged by what it accepts, and
//! proofs must be about this very automaton.

use std::fmt;

use trellis_expr::code::NoHost;
use trellis_expr::defined::Defined;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::ssa::Unrolling;
use trellis_expr::{StmtId, TermId, Terms, Type, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::interpret::{Script, has_type, image, run};
use trellis_model::cfa::lbe::Blocks;
use trellis_model::cfa::{EdgeId, LocationId};
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run};
use trellis_model::ltl::product::{Product, Subject, product};
use trellis_model::ltl::{Buchi, Formula, Letter, Spec, Word, components, relevant};
use trellis_smt::{Answer, Embedded, Reason, Solver, qe};

use crate::language::{Relation, compare};
use crate::program::{OUTCOMES, Points, point};

/// What is wrong with evidence about a formula.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Rejection {
    /// Something in it is not about this model.
    Malformed(String),
    /// This step of the run (from 0) cannot be taken so.
    Step(usize),
    /// The run does not come back to where it was.
    Open,
    /// The run satisfies the formula.
    Satisfied,
    /// The automaton and the formula agree on a word; they must not.
    Automaton(Word),
    /// Whether the automaton is that of the negated formula was not proven within the limits.
    Unproven,
    /// Not all that can be at the start is in a node there.
    Start,
    /// A step leads out of the nodes that may follow this one.
    Leaves(u32),
    /// A ranking increases on a step from one node to another.
    Increases(u32, u32),
    /// A fair cycle is left, through this node.
    Cycle(u32),
    /// The run does not end in the recurrent set, or does not begin the cycle.
    Outside,
    /// The cycle leads out of the recurrent set, or is not fair.
    NotRecurrent,
    /// Not decided.
    Undecided(Reason),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed(what) => write!(f, "this is not about the model: {what}"),
            Rejection::Step(n) => write!(f, "step {} of the run cannot be taken so", n + 1),
            Rejection::Open => write!(f, "the run does not come back to where it was"),
            Rejection::Satisfied => write!(f, "the run satisfies the formula"),
            Rejection::Automaton(_) => write!(f, "the automaton is not that of the negated formula"),
            Rejection::Unproven => write!(f, "that the automaton is that of the negated formula was not proven"),
            Rejection::Start => write!(f, "the nodes do not contain everything at the start"),
            Rejection::Leaves(n) => write!(f, "a step from node {n} leads out of the nodes that may follow"),
            Rejection::Increases(n, m) => write!(f, "a ranking increases from node {n} to node {m}"),
            Rejection::Cycle(n) => write!(f, "a fair cycle through node {n} is left"),
            Rejection::Outside => write!(f, "the run does not end in the recurrent set"),
            Rejection::NotRecurrent => write!(f, "the set is not recurrent"),
            Rejection::Undecided(why) => write!(f, "not decided: {why}"),
        }
    }
}

impl std::error::Error for Rejection {}

/// What evidence is about. A [`Spec`] is such a claim.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// What the atoms are.
    pub atoms: &'a [TermId],
    /// What is claimed of all runs.
    pub of_runs: OfRuns<'a>,
}

/// What is claimed of all runs.
#[derive(Debug, Clone, Copy)]
pub enum OfRuns<'a> {
    /// They satisfy the formula.
    Satisfy(&'a Formula),
    /// The automaton accepts none of them.
    Avoid(&'a Buchi),
}

impl<'a> From<&'a Spec> for Claim<'a> {
    fn from(spec: &'a Spec) -> Claim<'a> {
        Claim { atoms: &spec.atoms, of_runs: OfRuns::Satisfy(&spec.formula) }
    }
}

impl Claim<'_> {
    fn is_violated_by(&self, word: &Word) -> bool {
        match self.of_runs {
            OfRuns::Satisfy(formula) => !word.satisfies(formula),
            OfRuns::Avoid(automaton) => automaton.accepts(word),
        }
    }

    /// Is the automaton the one whose words must not be?
    fn is_about(&self, automaton: &Buchi) -> Result<(), Rejection> {
        match self.of_runs {
            OfRuns::Satisfy(formula) => of_negation(formula, automaton),
            OfRuns::Avoid(other) if other == automaton => well_formed(automaton),
            OfRuns::Avoid(_) => Err(Rejection::Malformed("the automaton is another one".into())),
        }
    }
}

/// Is the lasso a run that violates the formula?
pub fn replay<'a>(subject: &Subject, claim: impl Into<Claim<'a>>, lasso: &Lasso) -> Result<(), Rejection> {
    let claim = claim.into();
    if let OfRuns::Avoid(automaton) = claim.of_runs {
        well_formed(automaton)?;
    }
    let (places, letters) = follow(subject, claim.atoms, &lasso.run)?;
    let end = lasso.run.steps.len();
    if lasso.back >= end {
        return Err(Rejection::Open);
    }
    let values = |n: usize| if n == 0 { &lasso.run.start } else { &lasso.run.steps[n - 1].after };
    let same = |v: &VarId| values(lasso.back).get(v) == values(end).get(v);
    if places[lasso.back] != places[end] || !relevant(&subject.cfa, claim.atoms).iter().all(same) {
        return Err(Rejection::Open);
    }
    let read = |range: std::ops::Range<usize>| letters[range].iter().flatten().copied().collect::<Vec<Letter>>();
    let cycle = read(lasso.back..end);
    if cycle.is_empty() {
        return Err(Rejection::Malformed("nothing is read on the cycle".into()));
    }
    match claim.is_violated_by(&Word::new(read(0..lasso.back), cycle)) {
        true => Ok(()),
        false => Err(Rejection::Satisfied),
    }
}

/// Where the run is before each step and at its end, and which letter each step reads.
#[allow(clippy::type_complexity)]
fn follow(
    subject: &Subject,
    atoms: &[TermId],
    told: &Run,
) -> Result<(Vec<LocationId>, Vec<Option<Letter>>), Rejection> {
    let cfa = &subject.cfa;
    let (mut at, mut env) = (cfa.initial, told.start.clone());
    if let Some(v) = cfa.variables.iter().find(|v| !env.contains_key(v)) {
        return Err(Rejection::Malformed(format!("{} has no value at the start", cfa.terms.variable(*v).name)));
    }
    let (mut places, mut letters) = (vec![at], vec![]);
    for (n, step) in told.steps.iter().enumerate() {
        let reads = match step.edge {
            None if subject.is_end(at) => true,
            Some(e) if e.index() < cfa.edges().len() && cfa.edge(e).from == at && !subject.is_end(at) => {
                let mut script = Script::new(&step.choices);
                if !run(&cfa.terms, cfa.edge(e).stmt, &mut env, &mut script) || !script.is_over() {
                    return Err(Rejection::Step(n));
                }
                at = cfa.edge(e).to;
                subject.reads[e.index()]
            }
            _ => return Err(Rejection::Step(n)),
        };
        if cfa.variables.iter().any(|v| env.get(v) != step.after.get(v)) {
            return Err(Rejection::Step(n));
        }
        letters.push(reads.then(|| letter(subject, atoms, at, &env)));
        places.push(at);
    }
    Ok((places, letters))
}

/// Which atoms hold; one that has no value does not.
fn letter(subject: &Subject, atoms: &[TermId], at: LocationId, env: &Valuation) -> Letter {
    let mut env = env.clone();
    for (v, places) in &subject.places {
        env.insert(*v, trellis_expr::Value::Bool(places.contains(&at)));
    }
    let holds = |t: TermId| eval(&subject.cfa.terms, t, &env, &mut NoHost).ok().and_then(|v| v.as_bool()) == Some(true);
    atoms.iter().enumerate().filter(|(_, t)| holds(**t)).fold(0, |letter, (i, _)| letter | 1 << i)
}

/// How a proof was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How many questions were asked of the solver.
    pub asked: usize,
    /// How often the interpreter ran an edge instead.
    pub run: usize,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        if self.run > 0 {
            write!(f, "{} step{} run, ", self.run, s(self.run))?;
        }
        write!(f, "{} question{} to the solver", self.asked, s(self.asked))
    }
}

/// Does the proof show that every run satisfies the formula?
pub fn certify<'a>(
    subject: &Subject,
    claim: impl Into<Claim<'a>>,
    proof: &Proof,
    limits: &Meter,
) -> Result<Work, Rejection> {
    let claim = claim.into();
    claim.is_about(&proof.automaton)?;
    let mut checker = Checker::new(subject, claim.atoms, &proof.automaton, &proof.terms, limits)?;
    checker.proof(proof)?;
    Ok(Work { asked: checker.asked, run: checker.run })
}

/// Do runs go along the cycle forever, from the end of the run that is given?
pub fn certify_recurrence<'a>(
    subject: &Subject,
    claim: impl Into<Claim<'a>>,
    recurrence: &Recurrence,
    limits: &Meter,
) -> Result<usize, Rejection> {
    let claim = claim.into();
    claim.is_about(&recurrence.automaton)?;
    let mut checker = Checker::new(subject, claim.atoms, &recurrence.automaton, &recurrence.terms, limits)?;
    let (places, letters) = follow(subject, claim.atoms, &recurrence.stem)?;
    checker.recurrence(recurrence, &places, &letters)?;
    Ok(checker.asked)
}

pub(crate) fn well_formed(automaton: &Buchi) -> Result<(), Rejection> {
    let edges = || automaton.edges.iter().flatten();
    if edges().any(|e| e.to as usize >= automaton.edges.len())
        || automaton.initial.iter().any(|&q| q as usize >= automaton.edges.len())
        || automaton.marks > 63
    {
        return Err(Rejection::Malformed("the automaton has an edge to nowhere, or too many marks".into()));
    }
    Ok(())
}

/// The automaton accepts what the formula forbids, and nothing else.
pub(crate) fn of_negation(formula: &Formula, automaton: &Buchi) -> Result<(), Rejection> {
    well_formed(automaton)?;
    match compare(&Formula::Not(Box::new(formula.clone())), automaton) {
        Relation::Same => Ok(()),
        Relation::Differ(word) => Err(Rejection::Automaton(word)),
        Relation::Open => Err(Rejection::Unproven),
    }
}

struct Checker<'l> {
    product: Product,
    /// In large blocks, with the arena of the evidence.
    large: Blocks,
    limits: &'l Meter,
    asked: usize,
    /// How often the interpreter ran an edge instead.
    run: usize,
}

impl<'l> Checker<'l> {
    fn new(
        subject: &Subject,
        atoms: &[TermId],
        automaton: &Buchi,
        terms: &Terms,
        limits: &'l Meter,
    ) -> Result<Checker<'l>, Rejection> {
        let mut product = product(subject, atoms, automaton).map_err(unsupported)?;
        // The arena of the evidence has grown from that of the product in large blocks: what is made anew must be in it already.
        let made = product.blocks();
        if terms.len() < made.cfa.terms.len() {
            return Err(Rejection::Malformed("its terms are not those of the product".into()));
        }
        product.cfa.terms = terms.clone();
        let large = product.blocks();
        Ok(Checker { product, large, limits, asked: 0, run: 0 })
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.large.cfa.terms
    }

    fn is_unsat(&mut self, solver: &mut Embedded, assumptions: &[TermId]) -> Result<bool, Rejection> {
        self.asked += 1;
        match solver.check(&self.large.cfa.terms, assumptions, self.limits) {
            Answer::Unsat(_) => Ok(true),
            Answer::Sat(_) => Ok(false),
            Answer::Unknown(why) => Err(Rejection::Undecided(why)),
        }
    }

    /// A location of the large product.
    fn location(&self, small: LocationId) -> Result<LocationId, Rejection> {
        let at = self.large.origin.iter().position(|&o| o == small);
        let at = at.ok_or_else(|| Rejection::Malformed(format!("location {} is inside a block", small.0)))?;
        Ok(LocationId(at as u32))
    }

    /// A term over the variables that has a value everywhere.
    fn said(&mut self, t: TermId, ty: Type) -> Result<TermId, Rejection> {
        let terms = self.terms();
        if terms.sort(terms.ty(t)) != ty {
            return Err(Rejection::Malformed("a term of the wrong type".into()));
        }
        if let Some(v) = self.large.cfa.terms.free_vars(t).into_iter().find(|v| !self.large.cfa.variables.contains(v)) {
            let name = &self.large.cfa.terms.variable(v).name;
            return Err(Rejection::Malformed(format!("{name} is no variable of it")));
        }
        let terms = self.terms();
        match ty {
            Type::Bool => Defined::default().holds(terms, t).map_err(unsupported),
            _ if terms.may_fault(t) => Err(Rejection::Malformed("a ranking that may have no value".into())),
            _ => Ok(t),
        }
    }

    fn proof(&mut self, proof: &Proof) -> Result<(), Rejection> {
        let count = proof.nodes.len();
        let mut nodes = vec![];
        for &(l, t) in &proof.nodes {
            nodes.push((self.location(l)?, self.said(t, Type::Bool)?));
        }
        let mut after: Vec<Vec<u32>> = vec![vec![]; count];
        for &(n, m) in &proof.edges {
            if n as usize >= count || m as usize >= count {
                return Err(Rejection::Malformed("an edge to nowhere".into()));
            }
            after[n as usize].push(m);
        }
        let initial = self.large.cfa.initial;
        let inside: Vec<TermId> = nodes.iter().filter(|n| n.0 == initial).map(|n| n.1).collect();
        let inside = self.terms().or(inside);
        let outside = self.terms().not(inside);
        if !self.is_unsat(&mut Embedded::new(), &[outside])? {
            return Err(Rejection::Start);
        }
        // All edges of the abstraction, each with what it says.
        let mut arcs: Vec<(u32, EdgeId, u32)> = vec![];
        let mut unrolling = Unrolling::new();
        let mut at: Vec<Vec<usize>> = vec![vec![]; self.large.cfa.locations().len()];
        nodes.iter().enumerate().for_each(|(n, (l, _))| at[l.index()].push(n));
        let points: Vec<Option<Valuation>> =
            proof.nodes.iter().map(|(_, t)| point(&self.large.cfa.terms, *t)).collect();
        for e in self.large.cfa.edges() {
            let (from, to, stmt) =
                (self.large.cfa.edge(e).from, self.large.cfa.edge(e).to, self.large.cfa.edge(e).stmt);
            let mut solver = None;
            for &n in &at[from.index()] {
                let there: Vec<u32> = after[n].iter().copied().filter(|&m| nodes[m as usize].0 == to).collect();
                arcs.extend(there.iter().map(|&m| (n as u32, e, m)));
                if self.comes_to(stmt, &points[n], there.iter().map(|&m| &points[m as usize]))? {
                    continue;
                }
                if solver.is_none() {
                    unrolling.restart();
                    let step = unrolling.step(self.terms(), stmt).map_err(unsupported)?;
                    let mut made = Embedded::new();
                    made.assert(&self.large.cfa.terms, step);
                    solver = Some(made);
                }
                let Some(solver) = &mut solver else { continue };
                let mut assumed = vec![nodes[n].1];
                for &m in &there {
                    let there = unrolling.at(self.terms(), nodes[m as usize].1, 1);
                    assumed.push(self.terms().not(there));
                }
                if !self.is_unsat(solver, &assumed)? {
                    return Err(Rejection::Leaves(n as u32));
                }
            }
        }
        for ranking in &proof.rankings {
            self.ranking(&nodes, &mut arcs, ranking)?;
        }
        self.no_fair_cycle(&nodes, &arcs)
    }

    /// Does the interpreter, from a point, come to one of these points only? Where it reads what the point does not say, that is not known.
    fn comes_to<'p>(
        &mut self,
        stmt: StmtId,
        from: &Option<Valuation>,
        there: impl Iterator<Item = &'p Option<Valuation>>,
    ) -> Result<bool, Rejection> {
        let Some(from) = from else { return Ok(false) };
        let Ok(after) = image(&self.large.cfa.terms, stmt, vec![from.clone()], OUTCOMES) else { return Ok(false) };
        if self.limits.exceeded(0).is_some() {
            return Err(Rejection::Undecided(Reason::Time));
        }
        let there = Points::new(there);
        let inside = after.iter().all(|env| there.has(env));
        self.run += usize::from(inside);
        Ok(inside)
    }

    /// For each node the number of its component.
    fn components(&self, count: usize, arcs: &[(u32, EdgeId, u32)]) -> Vec<u32> {
        let mut after = vec![vec![]; count];
        arcs.iter().for_each(|a| after[a.0 as usize].push(a.2));
        components(count, |n| after[n as usize].clone())
    }

    /// Drops the edges that a ranking leaves out.
    fn ranking(
        &mut self,
        nodes: &[(LocationId, TermId)],
        arcs: &mut Vec<(u32, EdgeId, u32)>,
        ranking: &[Option<TermId>],
    ) -> Result<(), Rejection> {
        if ranking.len() != nodes.len() {
            return Err(Rejection::Malformed("a ranking of other nodes".into()));
        }
        let mut said = vec![];
        for r in ranking {
            said.push(r.map(|r| self.said(r, Type::Int)).transpose()?);
        }
        let component = self.components(nodes.len(), arcs);
        // A component is ranked if all its nodes are.
        let mut ranked = vec![true; nodes.len()];
        (0..nodes.len()).filter(|&n| said[n].is_none()).for_each(|n| ranked[component[n] as usize] = false);
        let mut unrolling = Unrolling::new();
        let mut rest = vec![];
        for &(n, e, m) in arcs.iter() {
            let (from, to) = (n as usize, m as usize);
            let within = component[from] == component[to] && ranked[component[from] as usize];
            let (true, Some(now), Some(then)) = (within, said[from], said[to]) else {
                rest.push((n, e, m));
                continue;
            };
            unrolling.restart();
            let stmt = self.large.cfa.edge(e).stmt;
            let step = unrolling.step(self.terms(), stmt).map_err(unsupported)?;
            let there = unrolling.at(self.terms(), nodes[to].1, 1);
            let then = unrolling.at(self.terms(), then, 1);
            let terms = self.terms();
            let zero = terms.int(0);
            let more = terms.lt(now, then);
            let (negative, stays) = (terms.lt(now, zero), terms.le(now, then));
            let kept = terms.or([negative, stays]);
            // Sums of words are taken as numbers: bit by bit they take long.
            let words = self
                .large
                .cfa
                .variables
                .iter()
                .any(|&v| matches!(self.large.cfa.terms.variable(v).ty, Type::Bits { .. }));
            let mut solver = if words { Embedded::new().words_as_numbers() } else { Embedded::new() };
            for t in [step, nodes[from].1, there] {
                solver.assert(&self.large.cfa.terms, t);
            }
            if !self.is_unsat(&mut solver, &[more])? {
                return Err(Rejection::Increases(n, m));
            }
            if !self.is_unsat(&mut solver, &[kept])? {
                rest.push((n, e, m));
            }
        }
        *arcs = rest;
        Ok(())
    }

    fn no_fair_cycle(&self, nodes: &[(LocationId, TermId)], arcs: &[(u32, EdgeId, u32)]) -> Result<(), Rejection> {
        let component = self.components(nodes.len(), arcs);
        let mut marks = vec![0; nodes.len()];
        for (n, &(l, _)) in nodes.iter().enumerate() {
            marks[component[n] as usize] |= self.product.marks[self.large.origin[l.index()].index()];
        }
        let all = self.product.all_marks();
        for &(n, _, m) in arcs {
            let at = component[n as usize];
            if at == component[m as usize] && marks[at as usize] & all == all {
                return Err(Rejection::Cycle(n));
            }
        }
        Ok(())
    }

    fn recurrence(
        &mut self,
        told: &Recurrence,
        places: &[LocationId],
        letters: &[Option<Letter>],
    ) -> Result<(), Rejection> {
        let set = self.said(told.set, Type::Bool)?;
        let Some(&head) = told.rounds.first().and_then(|r| r.first()) else { return Err(Rejection::NotRecurrent) };
        let (head, all) = (self.location(head)?, self.product.all_marks());
        let mut rounds: Vec<StmtId> = vec![];
        for round in &told.rounds {
            let [first, .., last] = round[..] else { return Err(Rejection::NotRecurrent) };
            let mut marks = 0;
            let mut stmts: Vec<StmtId> = vec![];
            for pair in round.windows(2) {
                let (from, to) = (self.location(pair[0])?, self.location(pair[1])?);
                let mut between: Vec<StmtId> = vec![];
                for &e in self.large.cfa.outgoing(from) {
                    between.extend((self.large.cfa.edge(e).to == to).then(|| self.large.cfa.edge(e).stmt));
                }
                marks |= self.product.marks[pair[1].index()];
                stmts.push(self.terms().choice(between));
            }
            if self.location(first)? != head || self.location(last)? != head || marks & all != all {
                return Err(Rejection::NotRecurrent);
            }
            rounds.push(self.terms().seq(stmts));
        }
        for (&v, &value) in &told.choices {
            let terms = &self.large.cfa.terms;
            let fits = terms.as_value(value).is_some_and(|value| has_type(terms, &value, terms.variable(v).ty));
            if !fits || terms.sort(terms.ty(value)) != terms.sort(terms.variable(v).ty) {
                return Err(Rejection::Malformed(format!("{} cannot have such a value", terms.variable(v).name)));
            }
        }
        let cycle = self.terms().choice(rounds);
        let hard = |_| Rejection::Undecided(Reason::Unsupported("what must hold before the cycle".into()));
        let again = qe::pre(self.terms(), cycle, set, &told.choices).map_err(hard)?;
        let again = Defined::default().holds(self.terms(), again).map_err(unsupported)?;
        let leaves = self.terms().not(again);
        if !self.is_unsat(&mut Embedded::new(), &[set, leaves])? {
            return Err(Rejection::NotRecurrent);
        }
        // The run ends where the cycle begins, in the set, and the Büchi automaton can have come along.
        let (place, state) = self.product.places[self.large.origin[head.index()].index()];
        let env = told.stem.steps.last().map_or(&told.stem.start, |s| &s.after);
        let value = eval(&self.large.cfa.terms, set, env, &mut NoHost).ok().and_then(|v| v.as_bool());
        if places.last() != Some(&place) || value != Some(true) {
            return Err(Rejection::Outside);
        }
        let mut states = told.automaton.initial.clone();
        for letter in letters.iter().flatten() {
            let edges = states.iter().flat_map(|&q| &told.automaton.edges[q as usize]);
            states = edges.filter(|e| e.cube.admits(*letter)).map(|e| e.to).collect();
            states.sort_unstable();
            states.dedup();
        }
        let unread = letters.iter().flatten().next().is_none();
        let started = state as usize != told.automaton.edges.len();
        if (unread && started) || (!unread && !states.contains(&state)) {
            return Err(Rejection::Outside);
        }
        Ok(())
    }
}

fn unsupported(what: trellis_expr::ssa::Unsupported) -> Rejection {
    Rejection::Undecided(Reason::Unsupported(what.to_string()))
}
