//! From a path to a run: does one go along these edges, and with which decisions on the way?
//!
//! A statement leaves things open: the values that a `havoc` gives, the branch of a choice. To read them off a model, each of
//! them becomes a variable that the statement reads: `havoc x` is `x := p`, a choice assumes in its branch `n` that `s = n`. They are
//! numbered in the order in which a run meets them, the branches of a choice from the same number on, so that equal parts stay equal.
//! The variables are forgotten before each statement and never written in it: they cost no equations where branches meet.
//! The reference interpreter then runs along the path with these decisions; what comes out is what it did, not what the model says.
//!
//! Paths are not searched for, and not refuted (that is `trellis_smt::path`).

use rustc_hash::FxHashMap;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::ssa::Unrolling;
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::interpret::{Choice, Script, Step, Trace, run, zero_of};
use trellis_model::cfa::{Cfa, EdgeId};
use trellis_smt::{Answer, Reason, Solver};

/// Why there is no trace.
#[derive(Debug, Clone, PartialEq)]
pub enum NoTrace {
    /// No run goes along the path.
    Infeasible,
    /// Not decided.
    Unknown(Reason),
}

/// Where a run is to end.
enum End<'v> {
    Anywhere,
    /// With the values that these had after so many edges.
    Back(usize, &'v [VarId]),
    /// Where this holds.
    In(TermId),
}

/// Finds runs along paths of one automaton. What it makes of an edge it keeps for the next path.
#[derive(Debug, Default)]
pub struct Tracer {
    choices: Chosen,
    /// For each edge that was met: forgets the variables that its statement reads, and the statement.
    edges: FxHashMap<EdgeId, (StmtId, StmtId)>,
    unrolling: Unrolling,
}

impl Tracer {
    /// One that has seen no edge yet.
    pub fn new() -> Tracer {
        Tracer::default()
    }

    /// A run from the initial location along these edges, which must follow each other. The automaton's arena grows by variables and
    /// terms; they are always those of the same automaton. The solver's terms must be of this arena; it has the same
    /// assertions afterwards (and had better have none).
    pub fn trace(
        &mut self,
        cfa: &mut Cfa,
        path: &[EdgeId],
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Trace, NoTrace> {
        self.find(cfa, path, End::Anywhere, solver, limits)
    }

    /// The same for a run that ends with the values that these variables had after so many edges.
    pub fn lasso(
        &mut self,
        cfa: &mut Cfa,
        path: &[EdgeId],
        (back, variables): (usize, &[VarId]),
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Trace, NoTrace> {
        self.find(cfa, path, End::Back(back, variables), solver, limits)
    }

    /// The same for a run that ends where a term holds.
    pub fn run_into(
        &mut self,
        cfa: &mut Cfa,
        path: &[EdgeId],
        set: TermId,
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Trace, NoTrace> {
        self.find(cfa, path, End::In(set), solver, limits)
    }

    fn find(
        &mut self,
        cfa: &mut Cfa,
        path: &[EdgeId],
        end: End<'_>,
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Trace, NoTrace> {
        let unsupported =
            |what: trellis_expr::ssa::Unsupported| NoTrace::Unknown(Reason::Unsupported(what.to_string()));
        self.unrolling.restart();
        let mut formulas = vec![];
        for &e in path {
            let (forget, stmt) = self.instrumented(cfa, e);
            for s in [forget, stmt] {
                formulas.push(self.unrolling.step(&mut cfa.terms, s).map_err(unsupported)?);
            }
        }
        let last = 2 * path.len();
        match end {
            End::Anywhere => {}
            End::In(set) => formulas.push(self.unrolling.at(&mut cfa.terms, set, last)),
            End::Back(back, variables) => {
                for &v in variables {
                    let [then, now] = [2 * back, last].map(|at| self.unrolling.version(v, at));
                    let (then, now) = (cfa.terms.var(then), cfa.terms.var(now));
                    formulas.push(cfa.terms.eq(then, now));
                }
            }
        }
        solver.push();
        for f in formulas {
            solver.assert(&cfa.terms, f);
        }
        let answer = solver.check(&cfa.terms, &[], limits);
        solver.pop();
        match answer {
            Answer::Sat(model) => self
                .run(cfa, path, &model)
                .ok_or_else(|| NoTrace::Unknown(Reason::Process("its model is no run".to_owned()))),
            Answer::Unsat(_) => Err(NoTrace::Infeasible),
            Answer::Unknown(reason) => Err(NoTrace::Unknown(reason)),
        }
    }

    fn instrumented(&mut self, cfa: &mut Cfa, e: EdgeId) -> (StmtId, StmtId) {
        let stmt = cfa.edge(e).stmt;
        let choices = &mut self.choices;
        *self.edges.entry(e).or_insert_with(|| {
            let terms = &mut cfa.terms;
            let stmt = choices.closed(terms, stmt, 0);
            let (reads, _) = terms.stmt_vars(stmt);
            let forget: Vec<StmtId> =
                choices.variables.values().filter(|v| reads.contains(v)).map(|&v| terms.havoc(v)).collect();
            (terms.seq(forget), stmt)
        })
    }

    /// The run that a model describes.
    fn run(&self, cfa: &Cfa, path: &[EdgeId], model: &Valuation) -> Option<Trace> {
        let terms = &cfa.terms;
        let value = |v: VarId, position: usize| {
            let version = self.unrolling.version(v, position);
            model.get(&version).cloned().unwrap_or_else(|| zero_of(terms, terms.variable(v).ty))
        };
        let start: Valuation = cfa.variables.iter().map(|&v| (v, value(v, 0))).collect();
        let mut env = start.clone();
        let mut steps = vec![];
        for (n, &edge) in path.iter().enumerate() {
            let stmt = cfa.edge(edge).stmt;
            let mut choices = vec![];
            let mut after = env.clone();
            self.choices.decide(terms, stmt, 0, &mut after, &|v| value(v, 2 * n + 2), &mut choices);
            let mut script = Script::new(&choices);
            if !run(terms, stmt, &mut env, &mut script) || !script.is_over() {
                return None;
            }
            steps.push(Step { edge, choices, after: env.clone() });
        }
        Some(Trace { start, steps })
    }
}

/// The variables that stand for what is left open.
#[derive(Debug, Default)]
struct Chosen {
    /// By number and type.
    variables: FxHashMap<(usize, Type), VarId>,
    /// How many decisions a way through the statement takes at most.
    counts: FxHashMap<StmtId, usize>,
    /// What has become of a statement whose first decision has the number.
    closed: FxHashMap<(StmtId, usize), StmtId>,
}

impl Chosen {
    fn count(&mut self, terms: &Terms, s: StmtId) -> usize {
        if let Some(&n) = self.counts.get(&s) {
            return n;
        }
        let n = match terms.stmt(s) {
            Stmt::Havoc(_) => 1,
            Stmt::Choice(parts) => 1 + parts.iter().map(|&p| self.count(terms, p)).max().unwrap_or(0),
            Stmt::Seq(parts) => parts.iter().map(|&p| self.count(terms, p)).sum(),
            &Stmt::If(_, a, b) => self.count(terms, a).max(self.count(terms, b)),
            _ => 0,
        };
        self.counts.insert(s, n);
        n
    }

    fn variable(&mut self, terms: &mut Terms, number: usize, ty: Type) -> VarId {
        *self.variables.entry((number, ty)).or_insert_with(|| terms.declare(format!("pick {number}"), ty))
    }

    /// The statement with variables in place of what it leaves open, the first of them with this number.
    fn closed(&mut self, terms: &mut Terms, s: StmtId, first: usize) -> StmtId {
        if let Some(&closed) = self.closed.get(&(s, first)) {
            return closed;
        }
        let closed = match terms.stmt(s).clone() {
            Stmt::Havoc(v) => {
                let pick = self.variable(terms, first, terms.variable(v).ty);
                let value = terms.var(pick);
                terms.assign(v, value)
            }
            Stmt::Choice(branches) => {
                let ty = selector(branches.len());
                let selector = self.variable(terms, first, ty);
                let mut parts = vec![];
                for (n, &b) in branches.iter().enumerate() {
                    let (selector, n) = (terms.var(selector), terms.number(ty, n.into()));
                    let selected = terms.eq(selector, n);
                    let selected = terms.assume(selected);
                    let branch = self.closed(terms, b, first + 1);
                    parts.push(terms.seq([selected, branch]));
                }
                terms.choice(parts)
            }
            Stmt::Seq(parts) => {
                let mut at = first;
                let mut closed = vec![];
                for &p in parts.iter() {
                    closed.push(self.closed(terms, p, at));
                    at += self.count(terms, p);
                }
                terms.seq(closed)
            }
            Stmt::If(c, a, b) => {
                let (a, b) = (self.closed(terms, a, first), self.closed(terms, b, first));
                terms.branch(c, a, b)
            }
            // Loops are refused later, as they are.
            _ => s,
        };
        self.closed.insert((s, first), closed);
        closed
    }

    /// Runs the statement with the values that its variables got, as far as it can, and says what was decided on the way.
    fn decide(
        &self,
        terms: &Terms,
        s: StmtId,
        first: usize,
        env: &mut Valuation,
        value: &dyn Fn(VarId) -> Value,
        choices: &mut Vec<Choice>,
    ) -> bool {
        match *terms.stmt(s) {
            Stmt::Havoc(v) => {
                let picked = value(self.variables[&(first, terms.variable(v).ty)]);
                choices.push(Choice::Value(picked.clone()));
                env.insert(v, picked);
                true
            }
            Stmt::Choice(ref parts) => {
                let n = value(self.variables[&(first, selector(parts.len()))]).to_word().unwrap_or(0) as usize;
                choices.push(Choice::Branch(n));
                n < parts.len() && self.decide(terms, parts[n], first + 1, env, value, choices)
            }
            Stmt::Seq(ref parts) => {
                let mut at = first;
                parts.iter().all(|&p| {
                    let here = at;
                    at += self.counts[&p];
                    self.decide(terms, p, here, env, value, choices)
                })
            }
            Stmt::If(c, a, b) => match eval(terms, c, env, &mut NoHost).ok().and_then(|c| c.as_bool()) {
                Some(c) => self.decide(terms, if c { a } else { b }, first, env, value, choices),
                None => false,
            },
            _ => run(terms, s, env, &mut Script::new(&[])),
        }
    }
}

/// The type of the variable that says which of so many branches is taken.
fn selector(branches: usize) -> Type {
    let width = usize::BITS - branches.saturating_sub(1).leading_zeros();
    Type::Bits { width: width.max(1) as u8, signed: false }
}
