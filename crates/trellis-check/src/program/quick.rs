//! The quick way: block by block in large blocks, and a solver whose `Unsat` is believed.
//!
//! It shares large blocks, statements as formulas and the solver with the engines. What [`super::edges`] cannot prove goes this way, and
//! is counted as a question to the solver.

use trellis_expr::defined::Defined;
use trellis_expr::eval::Valuation;
use trellis_expr::ssa::Unrolling;
use trellis_expr::{TermId, Terms, Type};
use trellis_meter::Meter;
use trellis_model::cfa::evidence::Certificate;
use trellis_model::cfa::{Cfa, LocationId, interpret, lbe};
use trellis_smt::{Answer, Embedded, Reason, Solver};

use super::{OUTCOMES, Points, Rejection, Work, foreign_variable, point};

/// Is the certificate an invariant without errors?
pub(super) fn certify(cfa: &Cfa, certificate: &Certificate, limits: &Meter) -> Result<Work, Rejection> {
    Checker::new(cfa, certificate, limits)?.check(certificate.k)
}

struct Checker<'l> {
    /// In large blocks, with the certificate's arena.
    cfa: Cfa,
    /// For each location of the small automaton, which large one it is.
    origin: Vec<LocationId>,
    /// For each large location the elements, fault-free.
    invariant: Vec<Vec<TermId>>,
    /// For each of them, what it is a point of.
    points: Vec<Vec<Option<Valuation>>>,
    limits: &'l Meter,
    work: Work,
}

impl<'l> Checker<'l> {
    fn new(cfa: &Cfa, certificate: &Certificate, limits: &'l Meter) -> Result<Checker<'l>, Rejection> {
        let mut grown = cfa.clone();
        grown.terms = certificate.terms.clone();
        let blocks = lbe::encode(&grown);
        let mut cfa = blocks.cfa;
        let mut invariant = vec![vec![]; blocks.origin.len()];
        let mut points = vec![vec![]; blocks.origin.len()];
        let mut defined = Defined::default();
        for (l, elements) in &certificate.invariant {
            let Some(at) = blocks.origin.iter().position(|o| o == l) else {
                return Err(Rejection::Malformed(format!("location {} is inside a block", l.0)));
            };
            for &e in elements {
                if cfa.terms.ty(e) != Type::Bool {
                    return Err(Rejection::Malformed("an element that is no truth value".into()));
                }
                if let Some(name) = foreign_variable(&cfa, &cfa.terms, e) {
                    return Err(Rejection::Malformed(format!("{name} is no variable of it")));
                }
                points[at].push(point(&cfa.terms, e));
                invariant[at].push(defined.holds(&mut cfa.terms, e).map_err(unsupported)?);
            }
        }
        Ok(Checker { cfa, origin: blocks.origin, invariant, points, limits, work: Work::default() })
    }

    fn check(&mut self, k: usize) -> Result<Work, Rejection> {
        for l in self.cfa.errors() {
            if !self.invariant[l.index()].is_empty() {
                return Err(Rejection::Error(self.origin[l.index()]));
            }
        }
        match k {
            0 => return Err(Rejection::Malformed("induction over no steps".into())),
            1 => self.inductive()?,
            _ => self.several(k)?,
        }
        Ok(self.work)
    }

    fn ask(&mut self, solver: &mut Embedded, assumptions: &[TermId]) -> Result<Option<Valuation>, Rejection> {
        self.work.asked += 1;
        match solver.check(&self.cfa.terms, assumptions, self.limits) {
            Answer::Unsat(_) => Ok(None),
            Answer::Sat(values) => Ok(Some(values)),
            Answer::Unknown(why) => Err(Rejection::Undecided(why)),
        }
    }

    fn inductive(&mut self) -> Result<(), Rejection> {
        let inside = self.invariant[self.cfa.initial.index()].clone();
        let inside = self.cfa.terms.or(inside);
        let outside = self.cfa.terms.not(inside);
        if let Some(values) = self.ask(&mut Embedded::new(), &[outside])? {
            return Err(Rejection::Start(values));
        }
        let mut unrolling = Unrolling::new();
        let sets: Vec<Points> = self.points.iter().map(Points::new).collect();
        for e in self.cfa.edges() {
            let (from, to, stmt) = (self.cfa.edge(e).from, self.cfa.edge(e).to, self.cfa.edge(e).stmt);
            let mut left = vec![];
            for (element, point) in self.invariant[from.index()].iter().zip(&self.points[from.index()]) {
                if let Some(point) = point
                    && !point.is_empty()
                    && let Ok(after) = interpret::image(&self.cfa.terms, stmt, vec![point.clone()], OUTCOMES)
                    && after.iter().all(|env| sets[to.index()].has(env))
                {
                    self.work.run += 1;
                    if self.limits.exceeded(0).is_some() {
                        return Err(Rejection::Undecided(Reason::Time));
                    }
                } else {
                    left.push(*element);
                }
            }
            if left.is_empty() {
                continue;
            }
            unrolling.restart();
            let step = unrolling.step(&mut self.cfa.terms, stmt).map_err(unsupported)?;
            let mut solver = Embedded::new();
            solver.assert(&self.cfa.terms, step);
            for element in self.invariant[to.index()].clone() {
                let after = unrolling.at(&mut self.cfa.terms, element, 1);
                let outside = self.cfa.terms.not(after);
                solver.assert(&self.cfa.terms, outside);
            }
            for element in left {
                if let Some(values) = self.ask(&mut solver, &[element])? {
                    let (from, to) = (self.origin[from.index()], self.origin[to.index()]);
                    return Err(Rejection::Step { from, to, values });
                }
            }
        }
        Ok(())
    }

    /// Induction over `k` steps of the whole automaton, with the location in a variable.
    fn several(&mut self, k: usize) -> Result<(), Rejection> {
        let count = self.cfa.locations().len() as i64;
        let terms = &mut self.cfa.terms;
        let pc = terms.declare("location", Type::Range(0, count - 1));
        let at = |terms: &mut Terms, l: LocationId| {
            let (pc, l) = (terms.var(pc), terms.int(i64::from(l.0)));
            terms.eq(pc, l)
        };
        let mut inside = vec![];
        for (l, elements) in self.invariant.iter().enumerate() {
            let here = at(terms, LocationId(l as u32));
            let elements = terms.or(elements.iter().copied());
            inside.push(terms.and([here, elements]));
        }
        let inside = terms.or(inside);
        let mut edges = vec![];
        for e in self.cfa.edges() {
            let (from, to, stmt) = (self.cfa.edge(e).from, self.cfa.edge(e).to, self.cfa.edge(e).stmt);
            let terms = &mut self.cfa.terms;
            let (here, there) = (at(terms, from), terms.int(i64::from(to.0)));
            let (leave, enter) = (terms.assume(here), terms.assign(pc, there));
            edges.push(terms.seq([leave, stmt, enter]));
        }
        let any = self.cfa.terms.choice(edges);
        let mut unrolling = Unrolling::new();
        let (mut base, mut step) = (Embedded::new(), Embedded::new());
        let start = at(&mut self.cfa.terms, self.cfa.initial);
        base.assert(&self.cfa.terms, start);
        for n in 0..=k {
            let here = unrolling.at(&mut self.cfa.terms, inside, n);
            let outside = self.cfa.terms.not(here);
            if n < k {
                if let Some(values) = self.ask(&mut base, &[outside])? {
                    return Err(Rejection::Start(values));
                }
                step.assert(&self.cfa.terms, here);
                let next = unrolling.step(&mut self.cfa.terms, any).map_err(unsupported)?;
                base.assert(&self.cfa.terms, next);
                step.assert(&self.cfa.terms, next);
            } else if let Some(values) = self.ask(&mut step, &[outside])? {
                return Err(Rejection::Steps(k, values));
            }
        }
        Ok(())
    }
}

fn unsupported(what: trellis_expr::ssa::Unsupported) -> Rejection {
    Rejection::Undecided(Reason::Unsupported(what.to_string()))
}
