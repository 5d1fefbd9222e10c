//! All paths at once: the runs of an automaton of large blocks, step by step, as formulas.
//!
//! The location is a variable like any other (`pc`). One step is a choice between the edges that leave the locations where a run can
//! be by now; each of them asks for its source, and leaves its target and its own number behind (`via`), so that a model
//! says which path it takes. Only locations from which an error can be reached are visited, and nothing happens after an error.
//! [`super::bmc`] starts in the initial location, [`super::induction`] anywhere.

use rustc_hash::FxHashMap;
use trellis_expr::eval::Valuation;
use trellis_expr::ssa::{Unrolling, Unsupported};
use trellis_expr::{StmtId, TermId, Terms, Type, VarId};
use trellis_model::cfa::paths::error_distances;
use trellis_model::cfa::{Cfa, EdgeId, LocationId};

/// An unrolling of all paths.
#[derive(Debug)]
pub struct Steps {
    unrolling: Unrolling,
    /// Where the run is.
    pc: VarId,
    /// Which edge brought it there.
    via: VarId,
    /// Can an error be reached from there by edges?
    useful: Vec<bool>,
    /// Where runs can be now; no errors.
    here: Vec<LocationId>,
    /// The errors that can be reached with the last step.
    errors: Vec<LocationId>,
}

impl Steps {
    /// Runs from the initial location.
    pub fn from_start(cfa: &mut Cfa) -> Steps {
        let initial = cfa.initial;
        Steps::new(cfa, |l| l == initial)
    }

    /// Runs from anywhere but from an error.
    pub fn from_anywhere(cfa: &mut Cfa) -> Steps {
        Steps::new(cfa, |_| true)
    }

    fn new(cfa: &mut Cfa, start: impl Fn(LocationId) -> bool) -> Steps {
        let useful = error_distances(cfa).iter().map(Option::is_some).collect();
        Steps::among(cfa, useful, start)
    }

    /// Runs through these locations only, from some of them.
    pub fn among(cfa: &mut Cfa, useful: Vec<bool>, start: impl Fn(LocationId) -> bool) -> Steps {
        let here = cfa.locations().filter(|&l| useful[l.index()] && !cfa.is_error(l) && start(l)).collect();
        let word =
            |count: usize| Type::Bits { width: (usize::BITS - count.leading_zeros()).max(1) as u8, signed: false };
        let (locations, edges) = (word(cfa.locations().len()), word(cfa.edges().len()));
        let pc = cfa.terms.declare("pc", locations);
        let via = cfa.terms.declare("via", edges);
        Steps { unrolling: Unrolling::new(), pc, via, useful, here, errors: vec![] }
    }

    /// How many steps have been made.
    pub fn position(&self) -> usize {
        self.unrolling.position()
    }

    /// Where runs can be now, as far as edges say; errors are left out.
    pub fn here(&self) -> &[LocationId] {
        &self.here
    }

    /// One step more, as a formula over the versions before and after it; a run that has met an error makes none.
    pub fn step(&mut self, cfa: &mut Cfa) -> Result<TermId, Unsupported> {
        let stmt = self.statement(cfa);
        let formula = self.unrolling.step(&mut cfa.terms, stmt)?;
        let mut reached: Vec<LocationId> = vec![];
        for &l in &self.here {
            reached.extend(cfa.outgoing(l).iter().map(|&e| cfa.edge(e).to).filter(|to| self.useful[to.index()]));
        }
        reached.sort_unstable();
        reached.dedup();
        (self.errors, self.here) = reached.into_iter().partition(|&l| cfa.is_error(l));
        Ok(formula)
    }

    /// What the next step does, if a run that has met an error stays there.
    pub fn waiting(&self, cfa: &mut Cfa) -> StmtId {
        let step = self.statement(cfa);
        let mut ways = vec![step];
        for &l in &self.errors {
            let there = self.is_at(&mut cfa.terms, l);
            ways.push(cfa.terms.assume(there));
        }
        cfa.terms.choice(ways)
    }

    /// What the next step does.
    fn statement(&self, cfa: &mut Cfa) -> StmtId {
        let mut ways = vec![];
        for &l in &self.here {
            for e in cfa.outgoing(l).to_vec() {
                let (stmt, to) = (cfa.edge(e).stmt, cfa.edge(e).to);
                if self.useful[to.index()] {
                    ways.push(self.edge(&mut cfa.terms, e, l, stmt, to));
                }
            }
        }
        cfa.terms.choice(ways)
    }

    fn edge(&self, terms: &mut Terms, e: EdgeId, from: LocationId, stmt: StmtId, to: LocationId) -> StmtId {
        let from = self.is_at(terms, from);
        let from = terms.assume(from);
        let to = self.goes_to(terms, to);
        let number = terms.number(terms.variable(self.via).ty, e.0.into());
        let number = terms.assign(self.via, number);
        terms.seq([from, stmt, to, number])
    }

    fn number(&self, terms: &mut Terms, l: LocationId) -> TermId {
        terms.number(terms.variable(self.pc).ty, l.0.into())
    }

    /// `pc := l`
    pub fn goes_to(&self, terms: &mut Terms, l: LocationId) -> StmtId {
        let l = self.number(terms, l);
        terms.assign(self.pc, l)
    }

    /// What the term says of a location.
    pub fn located(&self, terms: &mut Terms, t: TermId, l: LocationId) -> TermId {
        let l = self.number(terms, l);
        terms.substitute(t, &FxHashMap::from_iter([(self.pc, l)]))
    }

    /// Can an error be reached from there by edges?
    pub fn is_useful(&self, l: LocationId) -> bool {
        self.useful[l.index()]
    }

    /// `pc = l`
    pub fn is_at(&self, terms: &mut Terms, l: LocationId) -> TermId {
        let (pc, l) = (terms.var(self.pc), self.number(terms, l));
        terms.eq(pc, l)
    }

    /// A term over the variables and [`Steps::is_at`], said of the current position.
    pub fn now(&self, terms: &mut Terms, t: TermId) -> TermId {
        self.unrolling.at(terms, t, self.position())
    }

    /// These values and the location are the same at two positions.
    pub fn same(&self, terms: &mut Terms, variables: &[VarId], a: usize, b: usize) -> TermId {
        let mut parts = vec![];
        for v in variables.iter().copied().chain([self.pc]) {
            let [a, b] = [a, b].map(|at| self.unrolling.version(v, at)).map(|v| terms.var(v));
            parts.push(terms.eq(a, b));
        }
        terms.and(parts)
    }

    /// A term over [`Steps::is_at`], said of a position.
    pub fn at(&self, terms: &mut Terms, t: TermId, position: usize) -> TermId {
        self.unrolling.at(terms, t, position)
    }

    /// The last step leads to an error.
    pub fn error(&self, terms: &mut Terms) -> TermId {
        let parts: Vec<TermId> = self.errors.iter().map(|&l| self.is_at(terms, l)).collect();
        let any = terms.or(parts);
        self.now(terms, any)
    }

    /// The run is where it can be now, in no error.
    pub fn inside(&self, terms: &mut Terms) -> TermId {
        let parts: Vec<TermId> = self.here.iter().map(|&l| self.is_at(terms, l)).collect();
        let any = terms.or(parts);
        self.now(terms, any)
    }

    /// The edges that a model of the formulas takes.
    pub fn path(&self, model: &Valuation) -> Vec<EdgeId> {
        let edge = |position| {
            let value = model.get(&self.unrolling.version(self.via, position))?;
            Some(EdgeId(u32::try_from(value.to_word()?).ok()?))
        };
        (1..=self.position()).map_while(edge).collect()
    }
}
