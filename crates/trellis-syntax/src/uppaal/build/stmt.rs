//! The statements of functions.
//!
//! `return` in the middle of a body becomes a flag that the statements behind it and the loops around it look at; a
//! body whose returns all stand last needs none.

use trellis_expr::{StmtId, TermId};

use super::expr::Lower;
use super::place::Place;
use super::scope::{Entity, Kind, Scope, Value};
use super::types::{Range, Ty};
use super::{Builder, Res, ast, decl, syntax};
use crate::diag::{Diagnostic, Span};
use ast::{Expr, Stmt};

impl Lower<'_, '_> {
    pub fn block(&mut self, b: &ast::Block) -> Res<()> {
        let scope = Scope::child(&self.scope);
        self.within(scope, |l| {
            for d in &b.decls {
                l.local(d)?;
            }
            l.sequence(&b.stmts)
        })
    }

    fn local(&mut self, d: &ast::Decl) -> Res<()> {
        let scope = self.scope.clone();
        let ast::Decl::Vars(v) = d else { return self.b.declare(d, &scope, "") };
        let base = self.b.resolve_type(&v.ty, &scope)?;
        for d in &v.names {
            let ty = self.b.with_dims(base.clone(), &d.dims, &scope, d.name.span)?;
            if !ty.is_data() {
                return self.err(d.name.span, format!("a local variable cannot have the type `{}`", ty.describe()));
            }
            if v.ty.is_const && d.init.is_none() {
                return Err(self.b.report(decl::constant_without_value(&d.name)));
            }
            let entity = self.local_variable(v.ty.is_const, d, &ty)?;
            self.b.bind(&scope, &d.name, entity)?;
        }
        Ok(())
    }

    fn local_variable(&mut self, is_const: bool, d: &ast::Declarator, ty: &Ty) -> Res<Entity> {
        if let (true, Some(ast::Init::Expr(e)), Some(_)) = (is_const, &d.init, ty.scalar()) {
            let v = self.value(e)?;
            let v = self.checked(v, ty, e.span)?;
            return Ok(Entity::Const(self.saved(v)));
        }
        let mut place = self.b.local_place(ty);
        match &d.init {
            None => self.clear(&place),
            Some(init) => {
                self.b.spend(4 * ty.cells().unsigned_abs(), d.name.span)?;
                self.initialise(&place, init)?;
            }
        }
        place.writable = !is_const;
        Ok(Entity::Var(place))
    }

    /// Writes the default to a whole variable.
    pub fn clear(&mut self, p: &Place) {
        for &v in &p.leaves {
            let leaf = &self.b.leaves[&v];
            let zero = super::place::default_value(leaf.lo, leaf.hi);
            let kind = if leaf.is_bool { Kind::Bool } else { Kind::Int };
            let array = leaf.array;
            let mut term = self.b.literal(zero, kind).term;
            if array {
                let ty = self.b.net.terms.variable(v).ty;
                term = self.b.terms().const_array(ty, term);
            }
            let s = self.b.terms().assign(v, term);
            self.stmts.push(s);
        }
    }

    fn initialise(&mut self, p: &Place, init: &ast::Init) -> Res<()> {
        match init {
            ast::Init::List(items, span) => {
                let items = self.b.listed(items, &p.ty, *span)?;
                let parts = match &p.ty {
                    Ty::Array(r, _) => (r.lo..r.lo + r.len).map(|i| self.b.constant_entry(p, i)).collect(),
                    _ => Builder::fields(p).into_iter().map(|(_, field)| field).collect::<Vec<_>>(),
                };
                parts.iter().zip(items).try_for_each(|(part, item)| self.initialise(part, item))
            }
            ast::Init::Expr(e) if p.ty.scalar().is_some() => {
                let v = self.value(e)?;
                self.write(p, v, e.span)
            }
            ast::Init::Expr(e) => {
                let from = self.aggregate(e, &p.ty)?;
                self.copy(p.clone(), from, e.span).map(|_| ())
            }
        }
    }

    fn sequence(&mut self, stmts: &[Stmt]) -> Res<()> {
        for (i, s) in stmts.iter().enumerate() {
            self.statement(s)?;
            let rest = &stmts[i + 1..];
            if !rest.is_empty() && syntax::may_return(s) {
                let Some(running) = self.running() else { return Ok(()) };
                let (body, ()) = self.apart(|l| l.sequence(rest))?;
                self.branch(running, body, Vec::new());
                return Ok(());
            }
        }
        Ok(())
    }

    /// `true` as long as the function has not returned; `None` if that needs no asking.
    pub fn running(&mut self) -> Option<TermId> {
        let flag = self.ret.as_ref().and_then(|r| r.1)?;
        let t = self.b.terms().var(flag);
        Some(self.b.terms().not(t))
    }

    pub fn statement(&mut self, s: &Stmt) -> Res<()> {
        let here = self.calls.last().map(|(f, _)| f.ast.name.span);
        if let Some(span) = here {
            self.b.spend(1, span)?;
            let result = self.b.enter(span).and_then(|()| self.statement_node(s));
            self.b.leave();
            return result;
        }
        self.statement_node(s)
    }

    fn statement_node(&mut self, s: &Stmt) -> Res<()> {
        match s {
            Stmt::Empty => Ok(()),
            Stmt::Expr(e) => self.effect(e),
            Stmt::Block(b) => self.block(b),
            Stmt::If { cond, then, els } => {
                let c = self.boolean(cond)?;
                let known = self.b.net.terms.as_bool(c);
                let (a, ()) = self.reached(known != Some(false), |l| l.apart(|l| l.statement(then)))?;
                let (b, ()) = self
                    .reached(known != Some(true), |l| l.apart(|l| els.as_ref().map_or(Ok(()), |e| l.statement(e))))?;
                self.branch(c, a, b);
                Ok(())
            }
            Stmt::While { cond, body, .. } => {
                self.unless_timed(|l| l.repeat(Some(cond), body, None), |l, clock| l.no_loop(clock))
            }
            Stmt::DoWhile { body, cond, .. } => {
                self.unless_timed(|l| l.repeat_after(cond, body), |l, clock| l.no_loop(clock))
            }
            Stmt::For { init, cond, step, body, .. } => {
                if let Some(i) = init {
                    self.effect(i)?;
                }
                self.unless_timed(
                    |l| l.repeat(cond.as_ref(), body, step.as_ref()),
                    |l, clock| {
                        let (Some(i), Some(c), Some(s)) = (init, cond, step) else { return l.no_loop(clock) };
                        match l.counted(i, c, s, body) {
                            Some((name, place, r)) => l.count_out(&name, &place, r, body),
                            None => l.no_loop(clock),
                        }
                    },
                )
            }
            Stmt::Iterate { var, ty, body, .. } => {
                let scope = self.scope.clone();
                let span = ty.span;
                let ty = self.b.resolve_type(ty, &scope)?;
                let Some(r) = ty.values() else {
                    return self.err(span, format!("a loop cannot range over `{}`", ty.describe()));
                };
                self.unless_timed(
                    |l| l.iterate(var, &ty, r, body),
                    |l, _| l.rounds(&var.name, r, Kind::of(&ty), None, body),
                )
            }
            Stmt::Return(e, span) => self.return_(e.as_ref(), *span),
            Stmt::Unsupported { what, span } => self.err(*span, format!("`{what}` is not supported")),
        }
    }

    /// `while (cond && !returned) { body; step }`
    fn repeat(&mut self, cond: Option<&Expr>, body: &Stmt, step: Option<&Expr>) -> Res<()> {
        let (before, c) = self.apart(|l| match cond {
            Some(c) => l.boolean(c),
            None => Ok(l.b.terms().bool(true)),
        })?;
        let running = self.running().filter(|_| syntax::may_return(body));
        let never = before.is_empty() && self.b.net.terms.as_bool(c) == Some(false);
        let (mut inner, ()) = self.reached(!never, |l| {
            l.apart(|l| {
                l.statement(body)?;
                let Some(step) = step else { return Ok(()) };
                let (step, ()) = l.apart(|l| l.effect(step))?;
                match running {
                    Some(r) => l.branch(r, step, Vec::new()),
                    None => l.stmts.extend(step),
                }
                Ok(())
            })
        })?;
        if before.is_empty() {
            let c = match running {
                Some(r) => self.b.terms().and([r, c]),
                None => c,
            };
            self.push_while(c, inner);
            return Ok(());
        }
        // The condition has a body of its own: go := true; while (go) { before; go := c; if (go) { inner; go := running } }
        let yes = self.b.terms().bool(true);
        let (go, going) = self.save(Value { term: yes, kind: Kind::Bool });
        if let Some(r) = running {
            inner.push(self.b.terms().assign(go, r));
        }
        let (outer, ()) = self.apart(|l| {
            l.stmts = before;
            let test = l.b.terms().assign(go, c);
            l.stmts.push(test);
            l.branch(going.term, inner, Vec::new());
            Ok(())
        })?;
        self.push_while(going.term, outer);
        Ok(())
    }

    /// `go := true; while (go) { body; go := !returned && cond }`
    fn repeat_after(&mut self, cond: &Expr, body: &Stmt) -> Res<()> {
        let yes = self.b.terms().bool(true);
        let (go, going) = self.save(Value { term: yes, kind: Kind::Bool });
        let running = self.running().filter(|_| syntax::may_return(body));
        let (inner, ()) = self.apart(|l| {
            l.statement(body)?;
            let (mut test, c) = l.apart(|l| l.boolean(cond))?;
            test.push(l.b.terms().assign(go, c));
            match running {
                Some(r) => {
                    let no = l.b.terms().bool(false);
                    let stop = l.b.terms().assign(go, no);
                    l.branch(r, test, vec![stop]);
                }
                None => l.stmts.extend(test),
            }
            Ok(())
        })?;
        self.push_while(going.term, inner);
        Ok(())
    }

    fn push_while(&mut self, c: TermId, body: Vec<StmtId>) {
        let body = self.b.block(body);
        let s = self.b.terms().repeat(c, body);
        self.stmts.push(s);
    }

    /// `for (i : T) body`
    fn iterate(&mut self, var: &ast::Ident, ty: &Ty, r: Range, body: &Stmt) -> Res<()> {
        let scope = self.scope.clone();
        // One beyond the last value marks the end, so the counter is a plain integer.
        let first = self.b.literal(r.lo, Kind::Int);
        let (counter, at) = self.save(first);
        let end = self.b.int(r.lo + r.len);
        let mut c = self.b.terms().lt(at.term, end);
        if let Some(running) = self.running().filter(|_| syntax::may_return(body)) {
            c = self.b.terms().and([running, c]);
        }
        let value = match ty {
            Ty::Bool => {
                let one = self.b.int(1);
                self.b.terms().eq(at.term, one)
            }
            _ => at.term,
        };
        let inner = Scope::child(&scope);
        inner.set(&var.name, Entity::Const(Value { term: value, kind: Kind::of(ty) }));
        let (mut body, ()) = self.within(inner, |l| l.apart(|l| l.statement(body)))?;
        let one = self.b.int(1);
        let next = self.b.terms().add([at.term, one]);
        body.push(self.b.terms().assign(counter, next));
        self.push_while(c, body);
        Ok(())
    }

    fn return_(&mut self, e: Option<&Expr>, span: Span) -> Res<()> {
        let Some((place, flag)) = self.ret.clone() else {
            return self.err(span, "`return` outside a function");
        };
        match (e, place) {
            (Some(e), Some(p)) if p.ty.scalar().is_some() => {
                let v = self.value(e)?;
                self.write(&p, v, e.span)?;
            }
            (Some(e), Some(p)) => {
                let from = self.aggregate(e, &p.ty)?;
                self.copy(p, from, e.span)?;
            }
            (None, None) => {}
            (Some(e), None) => return self.err(e.span, "a `void` function returns no value"),
            (None, Some(p)) => {
                let d = Diagnostic::error(span, "a value must be returned here");
                return Err(self.b.report(d.help(format!("the function returns `{}`", p.ty.describe()))));
            }
        }
        if let Some(flag) = flag {
            let yes = self.b.terms().bool(true);
            let s = self.b.terms().assign(flag, yes);
            self.stmts.push(s);
        }
        Ok(())
    }
}
