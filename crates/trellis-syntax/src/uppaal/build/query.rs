//! Properties, and joining strategies written as expressions.

use trellis_expr::{StmtId, TermId};
use trellis_model::network::{Condition, Query, QueryKind};

use super::expr::Lower;
use super::scope::{Entity, Kind, Scope};
use super::{Builder, Res, ast};
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
        let kind = match &q.kind {
            ast::QueryKind::Invariantly(p) => QueryKind::Always(self.state_condition(p)?),
            ast::QueryKind::Possibly(p) => QueryKind::Possibly(self.state_condition(p)?),
            ast::QueryKind::Eventually(p) => QueryKind::Eventually(self.state_condition(p)?),
            ast::QueryKind::PotentiallyAlways(p) => QueryKind::PotentiallyAlways(self.state_condition(p)?),
            ast::QueryKind::LeadsTo(p, then) => QueryKind::LeadsTo(self.state_condition(p)?, self.state_condition(then)?),
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
                let (prepare, holds) = self.lowered(|l| l.integer(of))?;
                if self.reads_lattices(holds) {
                    return self.error(of.span, "a bound can be asked of numbers, not of lattice values");
                }
                QueryKind::Bound { sup: *sup, when, of: Condition { prepare, holds } }
            }
            ast::QueryKind::Unsupported(what) => return self.refuse(q.span, what),
        };
        Ok(Query { text: q.text.clone(), kind, deadlock: self.asks_deadlock })
    }

    fn refuse<T>(&mut self, span: Span, what: &str) -> Res<T> {
        Err(self.report(
            Diagnostic::error(span, format!("{what} is not supported"))
                .help("Trellis answers A[] p, E<> p, A<> p, E[] p, p --> q, sup: e and inf: e"),
        ))
    }

    fn reads_lattices(&self, t: TermId) -> bool {
        matches!(self.net.terms.get(t), trellis_expr::Term::Foreign(..))
            || self.net.terms.children(t).into_iter().any(|c| self.reads_lattices(c))
    }

    fn lowered(&mut self, f: impl FnOnce(&mut Lower<'_, '_>) -> Res<TermId>) -> Res<(StmtId, TermId)> {
        self.new_unit();
        let scope = self.global.clone();
        let mut lower = Lower::new(self, scope);
        let holds = f(&mut lower)?;
        let stmts = lower.stmts;
        Ok((self.block(stmts), holds))
    }

    fn state_condition(&mut self, e: &ast::Expr) -> Res<Condition> {
        let (prepare, holds) = self.lowered(|l| l.boolean(e))?;
        Ok(Condition { prepare, holds })
    }

    /// An integer expression over a state.
    pub fn priority_expr(&mut self, e: &ast::Expr) -> Res<Condition> {
        let (prepare, holds) = self.lowered(|l| l.integer(e))?;
        Ok(Condition { prepare, holds })
    }

    /// An expression over `x`, `y` and `joined`, or over the common key alone.
    pub fn strategy(&mut self, e: &ast::Expr) -> Res<Strategy> {
        let width = self.net.element_width();
        let scope = Scope::child(&self.global);
        for (i, name) in ["x", "y", "joined"].into_iter().enumerate() {
            scope.set(name, Entity::State(i * width));
        }
        self.new_unit();
        let mut lower = Lower::new(self, scope);
        let value = lower.value(e)?;
        let holds = lower.convert(value, Kind::Bool, e.span)?.term;
        let stmts = lower.stmts;
        let prepare = self.block(stmts);
        Ok(Strategy { condition: Condition { prepare, holds }, uses_joined: mentions(e, "joined") })
    }
}

/// Does the expression mention a name?
fn mentions(e: &ast::Expr, name: &str) -> bool {
    use ast::ExprKind::*;
    match &e.kind {
        Name(n) => n == name,
        Int(_) | Bool(_) | Unsupported(_) | Deadlock => false,
        Index(a, b) | Binary(_, a, b) | Assign(_, a, b) | Comma(a, b) => mentions(a, name) || mentions(b, name),
        Field(a, _) | Unary(_, a) | Rate(a) => mentions(a, name),
        Step { of, .. } => mentions(of, name),
        Call(f, args) => mentions(f, name) || args.iter().any(|a| mentions(a, name)),
        Cond(a, b, c) => [a, b, c].iter().any(|x| mentions(x, name)),
        Quant(_, _, _, body) => mentions(body, name),
    }
}
