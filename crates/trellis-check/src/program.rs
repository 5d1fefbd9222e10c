//! Evidence about control-flow automata: invariants are checked by a solver, traces are replayed.
//!
//! A certificate ([`trellis_model::cfa::evidence`]) is checked block by block: everything holds at the start, every block leads from
//! each element of the invariant into the invariant, error locations have none. Nothing is shared with the engines but the
//! meaning of a statement as a formula, large blocks, and the solver; that answers `Unsat` or the certificate is not accepted.
//!
//! Elements that are *points*, values for some variables, need no solver where the reference interpreter can run a block from them
//! and comes to points again. It gives up where the block reads anything else, and then the solver is asked.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use trellis_expr::defined::Defined;
use trellis_expr::eval::Valuation;
use trellis_expr::ssa::Unrolling;
use trellis_expr::{Term, TermId, Terms, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_model::cfa::interpret;
use trellis_model::cfa::{Cfa, LocationId, lbe};
use trellis_smt::{Answer, Embedded, Reason, Solver};

/// What is wrong with evidence about an automaton.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Rejection {
    /// Something in it is not about this automaton.
    Malformed(String),
    /// Some values at the start are not in the invariant.
    Start(Valuation),
    /// A block, from one location to another, leads out of the invariant.
    Step {
        /// Where it starts.
        from: LocationId,
        /// Where it leads.
        to: LocationId,
        /// Versions of the variables around it.
        values: Valuation,
    },
    /// The same, for runs of several blocks.
    Steps(usize, Valuation),
    /// An error location has states.
    Error(LocationId),
    /// Not decided.
    Undecided(Reason),
    /// The run is none.
    Run(interpret::Error),
    /// The run ends elsewhere than in an error.
    Harmless(LocationId),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed(what) => write!(f, "this is not about the automaton: {what}"),
            Rejection::Start(_) => write!(f, "the invariant does not hold everywhere at the start"),
            Rejection::Step { from, to, .. } => {
                write!(f, "a step from location {} to location {} leads out of the invariant", from.0, to.0)
            }
            Rejection::Steps(k, _) => write!(f, "{k} steps inside the invariant may lead out of it"),
            Rejection::Error(l) => write!(f, "the invariant allows the error location {}", l.0),
            Rejection::Undecided(why) => write!(f, "not decided: {why}"),
            Rejection::Run(mistake) => write!(f, "{mistake}"),
            Rejection::Harmless(_) => write!(f, "the run does not end in an error location"),
        }
    }
}

impl std::error::Error for Rejection {}

/// Does the trace lead into an error location?
pub fn replay(cfa: &Cfa, trace: &Trace) -> Result<(), Rejection> {
    let end = interpret::replay(cfa, trace).map_err(Rejection::Run)?;
    if cfa.is_error(end.location) { Ok(()) } else { Err(Rejection::Harmless(end.location)) }
}

/// How an invariant was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How many questions the solver was asked.
    pub asked: usize,
    /// How often the interpreter ran a block instead.
    pub run: usize,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        if self.run > 0 {
            write!(f, "{} run, ", count(self.run, "step"))?;
        }
        write!(f, "{} to the solver", count(self.asked, "question"))
    }
}

/// Is the certificate an invariant without errors?
pub fn certify(cfa: &Cfa, certificate: &Certificate, limits: &Meter) -> Result<Work, Rejection> {
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
                if let Some(v) = cfa.terms.free_vars(e).into_iter().find(|v| !cfa.variables.contains(v)) {
                    let name = &cfa.terms.variable(v).name;
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
        let sets: Vec<Points> = self.points.iter().map(|all| Points::new(all)).collect();
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

/// More outcomes of a block than this are for the solver.
const OUTCOMES: usize = 1 << 12;

/// What variables a term gives which values, if that is all that it says.
fn point(terms: &Terms, t: TermId) -> Option<Valuation> {
    let mut point = Valuation::new();
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        let (v, value) = match *terms.get(t) {
            Term::And(ref parts) => {
                todo.extend(parts.iter().copied());
                continue;
            }
            Term::Bool(true) => continue,
            Term::Var(v) => (v, Value::Bool(true)),
            Term::Not(a) => match *terms.get(a) {
                Term::Var(v) => (v, Value::Bool(false)),
                _ => return None,
            },
            Term::Eq(a, b) => match (terms.get(a), terms.get(b)) {
                (&Term::Var(v), literal) | (literal, &Term::Var(v)) => (v, literal_value(literal)?),
                _ => return None,
            },
            _ => return None,
        };
        // Two values for one variable are no point.
        if point.insert(v, value.clone()).is_some_and(|old| old != value) {
            return None;
        }
    }
    Some(point)
}

fn literal_value(t: &Term) -> Option<Value> {
    match *t {
        Term::Bool(b) => Some(Value::Bool(b)),
        Term::Int(n) => Some(Value::Int(n.into())),
        Term::EnumLit(e, n) => Some(Value::Enum(e, n)),
        Term::Bits(width, signed, bits) => Some(Value::Bits { width, signed, bits }),
        _ => None,
    }
}

/// Points, by the variables that they speak of.
struct Points(BTreeMap<Vec<VarId>, HashSet<Vec<i64>>>);

impl Points {
    fn new(all: &[Option<Valuation>]) -> Points {
        let mut sets: BTreeMap<Vec<VarId>, HashSet<Vec<i64>>> = BTreeMap::new();
        for point in all.iter().flatten() {
            let words: Option<Vec<i64>> = point.values().map(Value::to_word).collect();
            if let Some(words) = words {
                sets.entry(point.keys().copied().collect()).or_default().insert(words);
            }
        }
        Points(sets)
    }

    /// Is one of them what this valuation says?
    fn has(&self, env: &Valuation) -> bool {
        self.0.iter().any(|(vars, set)| {
            let words: Option<Vec<i64>> = vars.iter().map(|v| env.get(v).and_then(Value::to_word)).collect();
            words.is_some_and(|words| set.contains(&words))
        })
    }
}

fn unsupported(what: trellis_expr::ssa::Unsupported) -> Rejection {
    Rejection::Undecided(Reason::Unsupported(what.to_string()))
}
