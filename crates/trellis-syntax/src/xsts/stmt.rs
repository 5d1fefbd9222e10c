//! Statements become statements; those with a loop in them become edges.

use trellis_expr::{StmtId, TermId, Type, VarId};
use trellis_model::cfa::LocationId;

use super::ast::{Set, Stmt, StmtKind, VarDecl};
use super::build::Builder;
use super::{MAX_UNROLLED, Phase};
use crate::diag::Span;
use crate::text::cursor::unknown;
use crate::text::errors::Read;

/// A statement of the automaton, or one that needs locations of its own because a loop is in it.
pub enum Body {
    /// With the number of its parts, parts of loops counted as often as they were unrolled.
    Plain(StmtId, usize),
    Seq(Vec<Body>),
    Choice(Vec<Body>),
    If(TermId, Box<Body>, Box<Body>),
    /// `for counter from from to to do body`
    Loop {
        counter: VarId,
        from: TermId,
        to: TermId,
        body: Box<Body>,
        span: Span,
    },
}

/// All of them, if none needs locations; and how many parts they have.
fn plain(bodies: &[Body]) -> Option<(Vec<StmtId>, usize)> {
    let all: Option<Vec<(StmtId, usize)>> = bodies.iter().map(Body::plain).collect();
    all.map(|all| (all.iter().map(|b| b.0).collect(), all.iter().map(|b| b.1).sum()))
}

impl Body {
    fn plain(&self) -> Option<(StmtId, usize)> {
        match *self {
            Body::Plain(s, size) => Some((s, size)),
            _ => None,
        }
    }
}

impl<'a> Builder<'a> {
    /// One of the branches.
    pub fn set(&mut self, section: &'static str, set: &Set<'a>) -> Read<Body> {
        self.section = section;
        self.branches(&set.branches)
    }

    fn branches(&mut self, branches: &[Stmt<'a>]) -> Read<Body> {
        let all: Vec<Read<Body>> = branches.iter().map(|b| self.scoped(b)).collect();
        let all: Vec<Body> = all.into_iter().collect::<Read<_>>()?;
        Ok(match plain(&all) {
            Some((all, size)) => Body::Plain(self.terms().choice(all), size + 1),
            None => Body::Choice(all),
        })
    }

    fn sequence(&mut self, all: Vec<Body>) -> Body {
        match plain(&all) {
            Some((all, size)) => Body::Plain(self.terms().seq(all), size),
            None => Body::Seq(all),
        }
    }

    /// What is declared in here is gone afterwards.
    fn within<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.block, self.locals.len());
        let done = inside(self);
        self.locals.truncate(self.block);
        self.block = outer;
        done
    }

    fn scoped(&mut self, s: &Stmt<'a>) -> Read<Body> {
        self.within(|b| b.statement(s))
    }

    fn statement(&mut self, s: &Stmt<'a>) -> Read<Body> {
        let done = match &s.kind {
            StmtKind::Block(all) => {
                // All of them, to find all mistakes.
                let all: Vec<Read<Body>> = self.within(|b| all.iter().map(|s| b.statement(s)).collect());
                let all = all.into_iter().collect::<Read<_>>()?;
                return Ok(self.sequence(all));
            }
            StmtKind::Choice(branches) => return self.branches(branches),
            StmtKind::If(c, then, otherwise) => {
                let c = self.expression(c, Some(Type::Bool));
                let then = self.scoped(then);
                let otherwise = match otherwise {
                    Some(s) => self.scoped(s),
                    None => Ok(Body::Plain(self.terms().skip(), 0)),
                };
                let (c, then, otherwise) = (c?, then?, otherwise?);
                return Ok(match (then.plain(), otherwise.plain()) {
                    (Some((a, m)), Some((b, n))) => Body::Plain(self.terms().branch(c, a, b), m + n + 1),
                    _ => Body::If(c, Box::new(then), Box::new(otherwise)),
                });
            }
            StmtKind::For { name, span, from, to, body } => {
                let (from, to) = (self.expression(from, Some(Type::Int)), self.expression(to, Some(Type::Int)));
                return self.repeat(name, *span, from?, to?, body);
            }
            StmtKind::Local(declared) => self.declaration(declared)?,
            StmtKind::Assign(name, e) => {
                let v = self.target(name, s.span)?;
                let ty = self.terms().variable(v).ty;
                let t = self.expression(e, Some(ty))?;
                self.terms().assign(v, t)
            }
            StmtKind::Store(name, i, e) => {
                let v = self.target(name, s.span)?;
                let array = self.terms().var(v);
                let (index, entry) = self.array_parts(array, s.span)?;
                let (i, t) = (self.expression(i, Some(index))?, self.expression(e, Some(entry))?);
                let stored = self.terms().store(array, i, t);
                self.terms().assign(v, stored)
            }
            StmtKind::Havoc(name, span) => {
                let v = self.target(name, *span)?;
                self.terms().havoc(v)
            }
            StmtKind::Assume(e) => {
                let t = self.expression(e, Some(Type::Bool))?;
                self.terms().assume(t)
            }
        };
        Ok(Body::Plain(done, 1))
    }

    /// A variable that may be assigned.
    fn target(&mut self, name: &str, span: Span) -> Read<VarId> {
        let local = self.locals.iter().rev().find(|l| l.name == name);
        if local.is_some_and(|l| l.counter) {
            return self.fail(span, format!("`{name}` counts the rounds of the loop and cannot be changed"));
        }
        match self.variable(name) {
            Some(v) => Ok(v),
            None => {
                let locals = self.locals.iter().map(|l| l.name);
                self.errors.fail(unknown("variable", name, span, locals.chain(self.globals.keys().copied())))
            }
        }
    }

    /// A declared variable starts anew each time, with its value or with any.
    fn declaration(&mut self, declared: &VarDecl<'a>) -> Read<StmtId> {
        let ty = self.type_of(&declared.ty)?;
        // The value does not see the variable itself.
        let value = match &declared.value {
            Some(e) => self.expression(e, Some(ty)).map(Some),
            None => Ok(None),
        };
        let v = self.local(declared.name, declared.span, ty, false)?;
        Ok(match value? {
            Some(t) => self.terms().assign(v, t),
            None => self.terms().havoc(v),
        })
    }

    fn repeat(&mut self, name: &'a str, span: Span, from: TermId, to: TermId, body: &Stmt<'a>) -> Read<Body> {
        if self.variable(name).is_some() {
            return self.fail(span, format!("there is a variable `{name}` already: give the counter another name"));
        }
        let (counter, body) = self.within(|b| {
            let counter = b.local(name, span, Type::Int, true)?;
            Ok((counter, b.scoped(body)?))
        })?;
        let bounds = self.terms().as_int(from).zip(self.terms().as_int(to));
        if let (Some((first, end)), Some((s, size))) = (bounds, body.plain()) {
            let rounds = usize::try_from(i128::from(end) - i128::from(first)).unwrap_or(0);
            if end <= first {
                return Ok(Body::Plain(self.terms().skip(), 0));
            }
            let all = rounds.saturating_mul(size + 1);
            if all <= MAX_UNROLLED {
                let mut parts = vec![];
                for k in first..end {
                    let k = self.terms().int(k);
                    parts.extend([self.terms().assign(counter, k), s]);
                }
                return Ok(Body::Plain(self.terms().seq(parts), all));
            }
        }
        Ok(Body::Loop { counter, from, to, body: Box::new(body), span })
    }

    /// Edges that do this on the way from one location to the other.
    pub fn emit(&mut self, body: Body, from: LocationId, to: LocationId, phase: Phase, span: Span) {
        match body {
            Body::Plain(s, _) => self.edge(from, s, to, phase, span),
            Body::Seq(parts) => self.emit_sequence(parts, from, to, phase, span),
            Body::Choice(branches) => {
                // Those without loops stay one choice.
                let (simple, others): (Vec<_>, Vec<_>) = branches.into_iter().partition(|b| b.plain().is_some());
                if let Some((simple, _)) = plain(&simple)
                    && !simple.is_empty()
                {
                    let simple = self.terms().choice(simple);
                    self.edge(from, simple, to, phase, span);
                }
                for b in others {
                    self.emit(b, from, to, phase, span);
                }
            }
            Body::If(c, then, otherwise) => {
                let not = self.terms().not(c);
                for (c, body) in [(c, then), (not, otherwise)] {
                    let guard = Body::Plain(self.terms().assume(c), 1);
                    self.emit_sequence(vec![guard, *body], from, to, phase, span);
                }
            }
            Body::Loop { counter, from: first, to: end, body, span } => {
                let head = self.location("loop", span);
                let terms = self.terms();
                let mut start = vec![terms.assign(counter, first)];
                // The bound counts as it is now.
                let end = if terms.as_value(end).is_some() {
                    end
                } else {
                    let name = format!("{}.end", terms.variable(counter).name);
                    let limit = terms.declare(name, Type::Int);
                    start.push(terms.assign(limit, end));
                    self.cfa.variables.push(limit);
                    self.terms().var(limit)
                };
                let start = self.terms().seq(start);
                self.edge(from, start, head, phase, span);
                let terms = self.terms();
                let (now, one) = (terms.var(counter), terms.int(1));
                let (goes_on, next) = (terms.lt(now, end), terms.add([now, one]));
                let over = terms.not(goes_on);
                let (enter, leave, step) = (terms.assume(goes_on), terms.assume(over), terms.assign(counter, next));
                let round = vec![Body::Plain(enter, 1), *body, Body::Plain(step, 1)];
                self.emit_sequence(round, head, head, phase, span);
                self.edge(head, leave, to, phase, span);
            }
        }
    }

    fn emit_sequence(&mut self, parts: Vec<Body>, from: LocationId, to: LocationId, phase: Phase, span: Span) {
        let mut at = from;
        let mut waiting = vec![];
        let last = parts.len().saturating_sub(1);
        for (k, part) in parts.into_iter().enumerate() {
            if let Some((s, _)) = part.plain() {
                waiting.push(s);
                continue;
            }
            if !waiting.is_empty() {
                let next = self.location("inside", span);
                let s = self.terms().seq(std::mem::take(&mut waiting));
                self.edge(at, s, next, phase, span);
                at = next;
            }
            let next = if k == last { to } else { self.location("inside", span) };
            self.emit(part, at, next, phase, span);
            at = next;
            if k == last {
                return;
            }
        }
        let s = self.terms().seq(waiting);
        self.edge(at, s, to, phase, span);
    }
}
