//! Properties, and joining strategies written as expressions.

use std::rc::Rc;

use trellis_expr::{Stmt, StmtId, Term, TermId};
use trellis_model::network::{Condition, Query, QueryKind};

use super::expr::{Denotes, Lower, Unit};
use super::scope::{Entity, Scope};
use super::{Builder, Reported, Res, ast, syntax};
use crate::diag::{Diagnostic, Span};

/// A joining strategy (000 Def. 6): may the elements of two states with the same key be joined?
///
/// In its condition, the words of `x` come first in the element, then those of `y`, then those of their join.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// When to join.
    pub condition: Condition,
    /// Whether it looks at the join itself.
    pub uses_joined: bool,
}

impl Builder<'_> {
    pub fn query(&mut self, q: &ast::Query) -> Res<Query> {
        self.asks_deadlock = false;
        self.asks_clocks.clear();
        let kind = match &q.kind {
            ast::QueryKind::Invariantly(p) => QueryKind::Always(self.state_condition(p)?),
            ast::QueryKind::Possibly(p) => QueryKind::Possibly(self.state_condition(p)?),
            ast::QueryKind::Eventually(p) => QueryKind::Eventually(self.state_condition(p)?),
            ast::QueryKind::PotentiallyAlways(p) => QueryKind::PotentiallyAlways(self.state_condition(p)?),
            ast::QueryKind::LeadsTo(p, then) => {
                QueryKind::LeadsTo(self.state_condition(p)?, self.state_condition(then)?)
            }
            ast::QueryKind::Bounds { sup, when, of } => {
                let [of] = &of[..] else {
                    return self.error(q.span, "ask for the bound of one expression at a time");
                };
                let when = match when {
                    Some(w) => self.state_condition(w)?,
                    None => {
                        let holds = self.terms().bool(true);
                        Condition { prepare: self.terms().skip(), holds }
                    }
                };
                let of_when = std::mem::take(&mut self.asks_clocks);
                let clock = self.measured_clock(of)?;
                if let Some(clock) = clock {
                    self.asks_clocks = of_when;
                    let kind = QueryKind::ClockBound { sup: *sup, when, clock };
                    return Ok(self.asked(q, kind));
                }
                let bound = self.lowered(of, |l| l.integer(of))?;
                if !std::mem::replace(&mut self.asks_clocks, of_when).is_empty() {
                    let d = Diagnostic::error(of.span, "a bound can be asked of a clock or of data, not of both");
                    return Err(self.report(d.help("ask only in some states: `sup{x < 5}: n`")));
                }
                if self.reads_lattices(bound) {
                    return self.error(of.span, "a bound can be asked of numbers, not of lattice values");
                }
                QueryKind::Bound { sup: *sup, when, of: bound }
            }
            ast::QueryKind::Unsupported(what) => return self.refuse(q.span, what),
            ast::QueryKind::Malformed(errors) => {
                self.diags.extend(errors.iter().cloned());
                return Err(Reported);
            }
        };
        Ok(self.asked(q, kind))
    }

    fn asked(&mut self, q: &ast::Query, kind: QueryKind) -> Query {
        let atoms = std::mem::take(&mut self.asks_clocks);
        Query { text: q.text.clone(), kind, deadlock: self.asks_deadlock, atoms }
    }

    /// The clock whose bound is asked for, if it is one.
    fn measured_clock(&mut self, of: &ast::Expr) -> Res<Option<u32>> {
        self.new_unit();
        let scope = self.asking.clone();
        let mut lower = Lower::new(self, scope, Unit::Query);
        let Denotes::Place(p) = lower.denote(of)? else { return Ok(None) };
        let Some(clock) = lower.clock(&p) else { return Ok(None) };
        match lower.choices(Some(clock))[..] {
            [(number, None)] => Ok(Some(number)),
            _ => {
                let d = Diagnostic::error(of.span, "whose bound is asked for must be known beforehand");
                Err(self.report(d.help("give the clock a constant index: `sup: x[2]`")))
            }
        }
    }

    fn refuse<T>(&mut self, span: Span, what: &str) -> Res<T> {
        Err(self.report(
            Diagnostic::error(span, format!("{what} is not supported"))
                .help("Trellis answers A[] p, E<> p, A<> p, E[] p, p --> q, sup: e and inf: e"),
        ))
    }

    fn reads_lattices(&self, c: Condition) -> bool {
        let terms = &self.net.terms;
        let mut found = vec![c.holds];
        let mut todo: Vec<StmtId> = vec![c.prepare];
        while let Some(s) = todo.pop() {
            match terms.stmt(s) {
                Stmt::Skip | Stmt::Havoc(_) => {}
                Stmt::Assume(t) | Stmt::Assign(_, t) => found.push(*t),
                Stmt::Seq(parts) | Stmt::Choice(parts) => todo.extend(parts.iter()),
                Stmt::If(t, a, b) => {
                    found.push(*t);
                    todo.extend([a, b]);
                }
                Stmt::While(t, body) => {
                    found.push(*t);
                    todo.push(*body);
                }
                Stmt::Foreign(..) => return true,
            }
        }
        terms.subterms(found).into_iter().any(|t| matches!(terms.get(t), Term::Foreign(..)))
    }

    fn lowered(&mut self, e: &ast::Expr, f: impl FnOnce(&mut Lower<'_, '_>) -> Res<TermId>) -> Res<Condition> {
        let scope = self.asking.clone();
        self.lowered_in(scope, Unit::Query, e, f)
    }

    fn lowered_in(
        &mut self,
        scope: Rc<Scope>,
        unit: Unit,
        e: &ast::Expr,
        f: impl FnOnce(&mut Lower<'_, '_>) -> Res<TermId>,
    ) -> Res<Condition> {
        self.new_unit();
        let mut lower = Lower::new(self, scope, unit);
        let holds = f(&mut lower)?;
        let stmts = lower.stmts;
        let prepare = self.block(stmts);
        self.spend_on(prepare, Some(holds), e.span)?;
        Ok(Condition { prepare, holds })
    }

    fn state_condition(&mut self, e: &ast::Expr) -> Res<Condition> {
        self.lowered(e, |l| l.boolean(e))
    }

    /// What a formula may speak of: a truth value or a number, or why it may not.
    pub fn spoken_of(&mut self, e: &ast::Expr) -> Result<Condition, String> {
        self.asks_deadlock = false;
        self.asks_clocks.clear();
        let before = self.diags.len();
        let found = self.lowered(e, |l| l.value(e).map(|v| v.term));
        let why = self.diags.drain(before..).next().map(|d| match d.help {
            Some(help) => format!("{}; {help}", d.message),
            None => d.message,
        });
        if self.asks_deadlock {
            return Err("formulas do not speak of `deadlock`; ask for it with --property".into());
        }
        if !self.asks_clocks.is_empty() {
            return Err("formulas do not speak of clocks".into());
        }
        found.map_err(|Reported| why.unwrap_or_else(|| "this is not part of the model".into()))
    }

    /// An integer expression over a state.
    pub fn priority_expr(&mut self, e: &ast::Expr) -> Res<Condition> {
        let scope = self.asking.clone();
        self.lowered_in(scope, Unit::Guard, e, |l| l.integer(e))
    }

    /// An expression over `x`, `y` and `joined`, or over the common key alone.
    pub fn strategy(&mut self, e: &ast::Expr) -> Res<Strategy> {
        let width = self.net.element_width();
        let scope = Scope::child(&self.asking);
        for (i, name) in ["x", "y", "joined"].into_iter().enumerate() {
            scope.set(name, Entity::State(i * width));
        }
        let condition = self.lowered_in(scope, Unit::Strategy, e, |l| l.boolean(e))?;
        Ok(Strategy { condition, uses_joined: syntax::uses(e, "joined") > 0 })
    }
}
