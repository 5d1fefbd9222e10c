//! From a path to a run: does one go along these edges, and with which decisions on the way?
//!
//! A statement leaves things open: the values that a `havoc` gives, the branch of a choice. To read them off a model, each of
//! them becomes a variable that the statement reads: `havoc x` is `x := p`, a choice assumes in its branch `n` that `s = n`. Those
//! variables are forgotten before the statement and never written in it, so that they cost no equations where branches meet.
//! The reference interpreter then runs along the path with these decisions; what comes out is what it did, not what the model says.
//!
//! Paths are not searched for, and not refuted (that is `trellis_smt::path`).

use rustc_hash::FxHashMap;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::ssa::Unrolling;
use trellis_expr::{Stmt, StmtId, Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Pick, Script, Step, Trace, run, zero_of};
use trellis_model::cfa::{Cfa, EdgeId};
use trellis_smt::{Answer, Limits, Reason, Solver};

/// Why there is no trace.
#[derive(Debug, Clone, PartialEq)]
pub enum NoTrace {
    /// No run goes along the path.
    Infeasible,
    /// Not decided.
    Unknown(Reason),
}

/// Finds runs along paths of one automaton. What it makes of an edge it keeps for the next path.
#[derive(Debug, Default)]
pub struct Tracer {
    edges: FxHashMap<EdgeId, Instrumented>,
    unrolling: Unrolling,
}

/// A statement that reads what was left open.
#[derive(Debug, Clone)]
struct Instrumented {
    stmt: StmtId,
    open: Open,
}

/// What a statement leaves open, in its own shape.
#[derive(Debug, Clone)]
enum Open {
    Nothing,
    /// The variable that holds the value of a `havoc`.
    Value(VarId),
    /// The variable that holds the number of the branch, and the branches.
    Branch(VarId, Vec<Open>),
    /// The parts of a sequence, or the two branches of an `if`.
    Parts(Vec<Open>),
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
        limits: &Limits,
    ) -> Result<Trace, NoTrace> {
        let unsupported =
            |what: trellis_expr::ssa::Unsupported| NoTrace::Unknown(Reason::Unsupported(what.to_string()));
        self.unrolling.restart();
        let mut formulas = vec![];
        for &e in path {
            let stmt = self.instrumented(cfa, e).stmt;
            formulas.push(self.unrolling.step(&mut cfa.terms, stmt).map_err(unsupported)?);
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

    fn instrumented(&mut self, cfa: &mut Cfa, e: EdgeId) -> &Instrumented {
        let stmt = cfa.edge(e).stmt;
        self.edges.entry(e).or_insert_with(|| instrument(&mut cfa.terms, stmt))
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
            let mut picks = vec![];
            let open = &self.edges[&edge].open;
            let mut after = env.clone();
            decide(terms, stmt, open, &mut after, &|v| value(v, n + 1), &mut picks);
            let mut script = Script::new(&picks);
            if !run(terms, stmt, &mut env, &mut script) || !script.is_over() {
                return None;
            }
            steps.push(Step { edge, picks, after: env.clone() });
        }
        Some(Trace { start, steps })
    }
}

/// The statement with variables in place of what it leaves open.
fn instrument(terms: &mut Terms, stmt: StmtId) -> Instrumented {
    let mut picks = vec![];
    let (body, open) = closed(terms, stmt, &mut picks);
    let mut parts: Vec<StmtId> = picks.into_iter().map(|v| terms.havoc(v)).collect();
    parts.push(body);
    Instrumented { stmt: terms.seq(parts), open }
}

fn closed(terms: &mut Terms, s: StmtId, picks: &mut Vec<VarId>) -> (StmtId, Open) {
    match terms.stmt(s).clone() {
        Stmt::Havoc(v) => {
            let (name, ty) = (format!("{}?", terms.variable(v).name), terms.variable(v).ty);
            let pick = terms.declare(name, ty);
            picks.push(pick);
            let value = terms.var(pick);
            (terms.assign(v, value), Open::Value(pick))
        }
        Stmt::Choice(branches) => {
            let width = usize::BITS - branches.len().saturating_sub(1).leading_zeros();
            let ty = Type::Bits { width: width.max(1) as u8, signed: false };
            let selector = terms.declare("branch?", ty);
            picks.push(selector);
            let (mut parts, mut open) = (vec![], vec![]);
            for (n, &b) in branches.iter().enumerate() {
                let (b, o) = closed(terms, b, picks);
                let (selector, n) = (terms.var(selector), terms.number(ty, n.into()));
                let selected = terms.eq(selector, n);
                let selected = terms.assume(selected);
                parts.push(terms.seq([selected, b]));
                open.push(o);
            }
            (terms.choice(parts), Open::Branch(selector, open))
        }
        Stmt::Seq(parts) => {
            let (parts, open): (Vec<StmtId>, _) = parts.iter().map(|&p| closed(terms, p, picks)).unzip();
            (terms.seq(parts), Open::Parts(open))
        }
        Stmt::If(c, a, b) => {
            let ((a, x), (b, y)) = (closed(terms, a, picks), closed(terms, b, picks));
            (terms.branch(c, a, b), Open::Parts(vec![x, y]))
        }
        // Loops are refused later, as they are.
        _ => (s, Open::Nothing),
    }
}

/// Runs the statement with the values that its variables got, and says what was decided on the way. It goes on as far as it can.
fn decide(
    terms: &Terms,
    s: StmtId,
    open: &Open,
    env: &mut Valuation,
    value: &dyn Fn(VarId) -> Value,
    picks: &mut Vec<Pick>,
) -> bool {
    match (terms.stmt(s), open) {
        (&Stmt::Havoc(v), &Open::Value(pick)) => {
            picks.push(Pick::Value(value(pick)));
            env.insert(v, value(pick));
            true
        }
        (Stmt::Choice(parts), Open::Branch(selector, open)) => {
            let n = value(*selector).to_word().unwrap_or(0) as usize;
            picks.push(Pick::Branch(n));
            n < parts.len() && decide(terms, parts[n], &open[n], env, value, picks)
        }
        (Stmt::Seq(parts), Open::Parts(open)) => {
            parts.iter().zip(open).all(|(&p, o)| decide(terms, p, o, env, value, picks))
        }
        (&Stmt::If(c, a, b), Open::Parts(open)) => {
            match eval(terms, c, env, &mut NoHost).ok().and_then(|c| c.as_bool()) {
                Some(true) => decide(terms, a, &open[0], env, value, picks),
                Some(false) => decide(terms, b, &open[1], env, value, picks),
                None => false,
            }
        }
        _ => run(terms, s, env, &mut Script::new(&[])),
    }
}
