//! Edge by edge, with a proof of every step.
//!
//! The certificate's locations, the start, the errors, and enough others that every way round meets one, are the *cuts*; one that the
//! certificate does not mention has the empty invariant. From a cut, the edges are followed in all ways at once to the next
//! cuts: a location in between has a literal, that the run comes here, and what the variables are worth then. Where ways meet,
//! the literals choose. So nothing is multiplied out, and there are no formulas: a statement changes the environment in which
//! the next one is read ([`crate::proof`]).
//!
//! An edge is taken, among several, if a literal of its own is true; so a run of the automaton is always among the models. For one cut
//! the question is whether some element holds there, and at some next cut none does. The answer is a refutation that is followed.
//! For induction over several steps all cuts are followed at once, as often as there are steps.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::evidence::Certificate;
use trellis_model::cfa::{Cfa, LocationId, interpret};
use trellis_smt::Reason;

use super::{OUTCOMES, Points, Rejection, Work, foreign_variable, point};
use crate::proof::{Asked, Builder, Code, Env, FALSE, Foreign, Lit, Reader, TRUE};

/// Why there is no certificate.
pub(super) enum Failed {
    /// There is none, or not in time.
    Rejected(Rejection),
    /// No proof was found, for what may be one.
    Unproved,
}

impl From<Rejection> for Failed {
    fn from(why: Rejection) -> Failed {
        Failed::Rejected(why)
    }
}

/// What has no clauses.
impl From<Foreign> for Failed {
    fn from(_: Foreign) -> Failed {
        Failed::Unproved
    }
}

/// Is the certificate an invariant without errors?
pub(super) fn certify(cfa: &Cfa, certificate: &Certificate, limits: &Meter) -> Result<Work, Failed> {
    let mut checker = Checker::new(cfa, certificate, limits)?;
    for l in cfa.errors() {
        if checker.inside.get(&l).is_some_and(|all| !all.is_empty()) {
            return Err(Rejection::Error(l).into());
        }
    }
    match certificate.k {
        0 => return Err(Rejection::Malformed("induction over no steps".into()).into()),
        1 => checker.inductive()?,
        k => checker.several(k)?,
    }
    Ok(checker.work)
}

struct Checker<'c> {
    cfa: &'c Cfa,
    terms: &'c Terms,
    inside: BTreeMap<LocationId, Vec<TermId>>,
    cut: Vec<bool>,
    /// The other locations, each before those that its edges lead to.
    between: Vec<LocationId>,
    limits: &'c Meter,
    work: Work,
}

/// A run comes here if the literal is true, and then the variables are worth this.
type State = (Lit, Env);

impl<'c> Checker<'c> {
    fn new(cfa: &'c Cfa, certificate: &'c Certificate, limits: &'c Meter) -> Result<Checker<'c>, Rejection> {
        let terms = &certificate.terms;
        let mut inside: BTreeMap<LocationId, Vec<TermId>> = BTreeMap::new();
        for (l, elements) in &certificate.invariant {
            if l.index() >= cfa.locations().len() {
                return Err(Rejection::Malformed(format!("there is no location {}", l.0)));
            }
            for &e in elements {
                if terms.ty(e) != Type::Bool {
                    return Err(Rejection::Malformed("an element that is no truth value".into()));
                }
                if let Some(name) = foreign_variable(cfa, terms, e) {
                    return Err(Rejection::Malformed(format!("{name} is no variable of it")));
                }
            }
            inside.entry(*l).or_default().extend(elements);
        }
        let mut cut: Vec<bool> = cfa.locations().map(|l| cfa.is_error(l) || inside.contains_key(&l)).collect();
        cut[cfa.initial.index()] = true;
        let between = cut_cycles(cfa, &mut cut);
        Ok(Checker { cfa, terms, inside, cut, between, limits, work: Work::default() })
    }

    fn elements(&self, l: LocationId) -> &[TermId] {
        self.inside.get(&l).map_or(&[], |all| all)
    }

    /// The literal that says that some of the elements holds.
    fn some(&self, b: &mut Builder, elements: &[TermId], env: &Env) -> Result<Lit, Foreign> {
        let mut reader = Reader::new(b, self.terms, env);
        let lits: Vec<Lit> = elements.iter().map(|&e| reader.holds(e)).collect::<Result<_, _>>()?;
        Ok(b.or(lits))
    }

    /// Shows that none of the bad things happens; otherwise says which, with values at the start.
    fn refute(&mut self, mut b: Builder, env: &Env, bad: &[Lit]) -> Result<Option<(usize, Valuation)>, Failed> {
        self.limits.go_on().map_err(|why| Rejection::Undecided(Reason::from(why)))?;
        if bad.iter().all(|&l| l == FALSE) {
            return Ok(None);
        }
        b.clause(bad);
        let asked = b.ask(self.terms, self.limits);
        self.limits.go_on().map_err(|why| Rejection::Undecided(Reason::from(why)))?;
        match asked {
            Asked::Refuted(..) => {
                self.work.proved += 1;
                Ok(None)
            }
            Asked::Model(model) => {
                let which = bad.iter().position(|&l| model.truth(l)).unwrap_or(0);
                Ok(Some((which, model.values(self.terms, env))))
            }
            Asked::Unknown(_) => Err(Failed::Unproved),
        }
    }

    fn inductive(&mut self) -> Result<(), Failed> {
        let (mut b, env) = (Builder::new(), Env::default());
        let inside = self.some(&mut b, self.elements(self.cfa.initial), &env)?;
        if let Some((_, values)) = self.refute(b, &env, &[-inside])? {
            return Err(Rejection::Start(values).into());
        }
        let sets: BTreeMap<LocationId, Points> = self
            .inside
            .iter()
            .map(|(&l, all)| (l, Points::new(&all.iter().map(|&e| point(self.terms, e)).collect::<Vec<_>>())))
            .collect();
        let cuts: Vec<LocationId> = self.inside.keys().copied().collect();
        for from in cuts {
            let mut left = vec![];
            for e in self.elements(from).to_vec() {
                match point(self.terms, e) {
                    Some(at) if !at.is_empty() && self.runs_inside(from, at.clone(), &sets) => {
                        self.work.run += 1;
                        if let Some(why) = self.limits.exceeded(0) {
                            return Err(Rejection::Undecided(why.into()).into());
                        }
                    }
                    _ => left.push(e),
                }
            }
            if !left.is_empty() {
                self.from(from, &left)?;
            }
        }
        Ok(())
    }

    /// Do all edges lead from these values to points of the invariant, as the interpreter runs them?
    fn runs_inside(&self, from: LocationId, at: Valuation, sets: &BTreeMap<LocationId, Points>) -> bool {
        let mut here: BTreeMap<LocationId, Vec<Valuation>> = [(from, vec![at])].into();
        for l in [from].into_iter().chain(self.between.iter().copied()) {
            let Some(values) = here.remove(&l) else { continue };
            for &e in self.cfa.outgoing(l) {
                let edge = self.cfa.edge(e);
                let Ok(after) = interpret::image(self.terms, edge.stmt, values.clone(), OUTCOMES) else { return false };
                if self.cut[edge.to.index()] {
                    if !after.iter().all(|env| sets.get(&edge.to).is_some_and(|set| set.has(env))) {
                        return false;
                    }
                    continue;
                }
                let there = here.entry(edge.to).or_default();
                there.extend(after);
                if there.len() > OUTCOMES {
                    return false;
                }
            }
        }
        true
    }

    /// Every way from one of the elements at a cut to the next ones stays inside.
    fn from(&mut self, from: LocationId, elements: &[TermId]) -> Result<(), Failed> {
        let (mut b, env) = (Builder::new(), Env::default());
        let start = self.some(&mut b, elements, &env)?;
        b.clause(&[start]);
        let next = self.follow(&mut b, [(from, (TRUE, env.clone()))].into())?;
        let mut bad = vec![];
        for (to, (here, there)) in &next {
            let inside = self.some(&mut b, self.elements(*to), there)?;
            bad.push(b.and([*here, -inside]));
        }
        match self.refute(b, &env, &bad)? {
            None => Ok(()),
            Some((which, values)) => {
                let to = *next.keys().nth(which).expect("a bad one for each");
                Err(Rejection::Step { from, to, values }.into())
            }
        }
    }

    /// From some cuts, by the edges, to the next ones.
    fn follow(
        &self,
        b: &mut Builder,
        from: BTreeMap<LocationId, State>,
    ) -> Result<BTreeMap<LocationId, State>, Failed> {
        let mut arrived: BTreeMap<LocationId, Vec<State>> = BTreeMap::new();
        for (l, state) in from {
            self.leave(b, l, state, &mut arrived)?;
        }
        for &l in &self.between {
            if let Some(states) = arrived.remove(&l) {
                let state = meet(b, self.terms, states);
                self.leave(b, l, state, &mut arrived)?;
            }
        }
        Ok(arrived.into_iter().map(|(l, states)| (l, meet(b, self.terms, states))).collect())
    }

    fn leave(
        &self,
        b: &mut Builder,
        l: LocationId,
        state: State,
        arrived: &mut BTreeMap<LocationId, Vec<State>>,
    ) -> Result<(), Failed> {
        self.limits.go_on().map_err(|why| Rejection::Undecided(Reason::from(why)))?;
        let edges = self.cfa.outgoing(l);
        if self.cfa.is_error(l) || state.0 == FALSE {
            return Ok(());
        }
        for &e in edges {
            let edge = self.cfa.edge(e);
            let taken = if edges.len() > 1 { b.fresh() } else { TRUE };
            let here = b.and([state.0, taken]);
            let after = self.statement(b, edge.stmt, (here, state.1.clone()))?;
            if after.0 != FALSE {
                arrived.entry(edge.to).or_default().push(after);
            }
        }
        Ok(())
    }

    /// What a statement does. Where it blocks or faults the run does not go on.
    fn statement(&self, b: &mut Builder, s: StmtId, (here, mut env): State) -> Result<State, Failed> {
        let terms = self.terms;
        match *terms.stmt(s) {
            Stmt::Skip => Ok((here, env)),
            Stmt::Assume(t) => {
                let holds = Reader::new(b, terms, &env).holds(t)?;
                Ok((b.and([here, holds]), env))
            }
            Stmt::Assign(v, t) => {
                let mut reader = Reader::new(b, terms, &env);
                let (code, defined) = reader.value(t)?;
                let fits = reader.fits(t, terms.variable(v).ty);
                env.assigned.insert(v, code);
                Ok((b.and([here, defined, fits]), env))
            }
            Stmt::Havoc(v) => {
                let any = b.free(terms, terms.variable(v).ty);
                env.assigned.insert(v, any);
                Ok((here, env))
            }
            Stmt::Seq(ref parts) => parts.iter().try_fold((here, env), |state, &p| self.statement(b, p, state)),
            Stmt::Choice(ref parts) => {
                let mut after = vec![];
                for &p in parts.iter() {
                    let taken = b.fresh();
                    let here = b.and([here, taken]);
                    after.push(self.statement(b, p, (here, env.clone()))?);
                }
                Ok(meet(b, terms, after))
            }
            Stmt::If(c, x, y) => {
                let (code, defined) = Reader::new(b, terms, &env).value(c)?;
                let Code::Bool(c) = code else { unreachable!("a truth value") };
                let (yes, no) = (b.and([here, defined, c]), b.and([here, defined, -c]));
                let after = vec![self.statement(b, x, (yes, env.clone()))?, self.statement(b, y, (no, env))?];
                Ok(meet(b, terms, after))
            }
            Stmt::While(..) | Stmt::Foreign(..) => Err(Failed::Unproved),
        }
    }

    /// Induction over several steps from cut to cut.
    fn several(&mut self, k: usize) -> Result<(), Failed> {
        // Runs from the start, of fewer than k steps, end inside.
        let (mut b, env) = (Builder::new(), Env::default());
        let mut frame: BTreeMap<LocationId, State> = [(self.cfa.initial, (TRUE, env.clone()))].into();
        let mut bad = vec![];
        for n in 0..k {
            for (&l, (here, there)) in &frame {
                let inside = self.some(&mut b, self.elements(l), there)?;
                bad.push(b.and([*here, -inside]));
            }
            if n + 1 < k {
                frame = self.follow(&mut b, frame)?;
            }
        }
        if let Some((_, values)) = self.refute(b, &env, &bad)? {
            return Err(Rejection::Start(values).into());
        }
        // Whoever has been inside for k steps stays inside.
        let (mut b, env) = (Builder::new(), Env::default());
        let mut frame: BTreeMap<LocationId, State> = BTreeMap::new();
        for l in self.cfa.locations().filter(|l| !self.elements(*l).is_empty()) {
            frame.insert(l, (b.fresh(), env.clone()));
        }
        for _ in 0..k {
            for (&l, (here, there)) in &frame {
                let inside = self.some(&mut b, self.elements(l), there)?;
                b.clause(&[-here, inside]);
            }
            frame = self.follow(&mut b, frame)?;
        }
        let mut bad = vec![];
        for (&l, (here, there)) in &frame {
            let inside = self.some(&mut b, self.elements(l), there)?;
            bad.push(b.and([*here, -inside]));
        }
        match self.refute(b, &env, &bad)? {
            None => Ok(()),
            Some((_, values)) => Err(Rejection::Steps(k, values).into()),
        }
    }
}

/// Where several ways come together: what the variables are worth is what they are on the first one that was taken.
fn meet(b: &mut Builder, terms: &Terms, mut states: Vec<State>) -> State {
    let Some((last, mut env)) = states.pop() else { return (FALSE, Env::default()) };
    let mut here = vec![last];
    for (lit, other) in states.into_iter().rev() {
        let vars: BTreeSet<VarId> = env.assigned.keys().chain(other.assigned.keys()).copied().collect();
        for v in vars {
            let (x, y) = (other.get(b, terms, v), env.get(b, terms, v));
            let either = b.either(lit, &x, &y);
            env.assigned.insert(v, either);
        }
        here.push(lit);
    }
    (b.or(here), env)
}

/// Makes a cut of the end of every edge that leads back, among the locations that are none; gives the others in order.
fn cut_cycles(cfa: &Cfa, cut: &mut [bool]) -> Vec<LocationId> {
    let mut seen = vec![false; cut.len()];
    let mut active = vec![false; cut.len()];
    let mut done = vec![];
    let successors = |l: LocationId| cfa.outgoing(l).iter().map(|e| cfa.edge(*e).to).collect::<Vec<_>>();
    let starts: Vec<LocationId> = cfa.locations().filter(|l| cut[l.index()] && !cfa.is_error(*l)).collect();
    for first in starts.into_iter().flat_map(successors) {
        let mut path: Vec<(LocationId, Vec<LocationId>)> = vec![];
        let mut enter = Some(first);
        loop {
            if let Some(l) = enter.take()
                && !cut[l.index()]
            {
                if active[l.index()] {
                    cut[l.index()] = true;
                } else if !seen[l.index()] {
                    seen[l.index()] = true;
                    active[l.index()] = true;
                    path.push((l, successors(l)));
                }
            }
            match path.last_mut() {
                None => break,
                Some((l, todo)) => match todo.pop() {
                    Some(next) => enter = Some(next),
                    None => {
                        active[l.index()] = false;
                        done.push(*l);
                        path.pop();
                    }
                },
            }
        }
    }
    done.reverse();
    done.retain(|l| !cut[l.index()]);
    done
}
