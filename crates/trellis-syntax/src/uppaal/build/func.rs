//! Functions: inlined at every call. UPPAAL has no recursion, so that this ends; local variables are temporaries.
//!
//! `return` in the middle of a body becomes a flag that the statements behind it and the loops around it look at; a
//! body whose returns all stand last needs none.

use std::rc::Rc;

use trellis_expr::{StmtId, TermId, VarId};

use super::expr::{Denotes, Lower};
use super::scope::{Entity, FuncDef, Kind, Place, Scope, Value};
use super::types::Ty;
use super::{Res, ast};
use crate::diag::{Diagnostic, Span};
use ast::{Expr, ExprKind, Stmt};

impl Lower<'_, '_> {
    /// `f(x)`, `v.method(x)`.
    pub fn call(&mut self, f: &Expr, args: &[Expr], span: Span) -> Res<Denotes> {
        match &f.kind {
            ExprKind::Field(of, method) => {
                let Denotes::Lattice(l) = self.denote(of)? else {
                    return self.b.error(method.span, format!("there is no method `{}` here: only lattices have methods", method.name));
                };
                self.method(&l, method, args)
            }
            ExprKind::Name(n) => match self.scope.find(n) {
                Some(Entity::Func(def)) => self.inline(&def, args, span),
                Some(Entity::Family(_)) => self.b.error(span, format!("`{n}` is a process; ask for something in it: `{n}(…).name`")),
                Some(_) => self.b.error(f.span, format!("`{n}` is not a function")),
                None => {
                    let d = Diagnostic::error(f.span, format!("unknown function `{n}`"));
                    let d = match self.b.closest(n, &self.scope.clone()) {
                        Some(near) => d.help(format!("did you mean `{near}`?")),
                        None => d,
                    };
                    Err(self.b.report(d))
                }
            },
            _ => self.b.error(f.span, "this cannot be called"),
        }
    }

    fn inline(&mut self, def: &Rc<FuncDef>, args: &[Expr], span: Span) -> Res<Denotes> {
        let f = &def.ast;
        let name = &f.name.name;
        if self.calls.contains(name) {
            return self.b.error(span, format!("`{name}` calls itself, which UPPAAL does not allow"));
        }
        if args.len() != f.params.len() {
            return self.b.error(span, format!("`{name}` takes {} argument(s), not {}", f.params.len(), args.len()));
        }
        let scope = Scope::child(&def.scope);
        let ret_ty = self.b.resolve_type(&f.ret, &def.scope)?;
        let formula = match (&f.body.decls[..], &f.body.stmts[..]) {
            ([], [Stmt::Return(Some(e), _)]) if ret_ty.values().is_some() => Some(e),
            _ => None,
        };
        for (param, arg) in f.params.iter().zip(args) {
            let entity = self.argument(param, arg, &def.scope, formula.is_some())?;
            scope.set(&param.name.name, entity);
        }
        // A body that is one `return` needs no place for the result.
        if let Some(e) = formula {
            self.calls.push(name.clone());
            let v = self.within(scope, |l| l.value(e));
            self.calls.pop();
            let kind = Kind::of(&ret_ty);
            let mut v = { self.convert(v?, kind, e.span)? };
            if let Ty::Int { lo, hi } = ret_ty {
                v.term = self.b.terms().checked(v.term, lo, hi);
            }
            return Ok(v.into());
        }
        let place = match &ret_ty {
            Ty::Void => None,
            ty if ty.is_data() => Some(self.b.local_place(ty)),
            ty => return self.b.error(f.ret.span, format!("a function cannot return `{}`", ty.describe())),
        };
        let flag = returns_early(&f.body.stmts).then(|| self.b.temp(0, 1, true, None));
        if let Some(flag) = flag {
            let no = self.b.terms().bool(false);
            let s = self.b.terms().assign(flag, no);
            self.stmts.push(s);
        }
        let outer = self.ret.replace((place.clone(), flag));
        self.calls.push(name.clone());
        let body = self.within(scope, |l| l.block(&f.body));
        self.calls.pop();
        self.ret = outer;
        body?;
        match place {
            None => Ok(Denotes::Nothing),
            // The cells are this call's own: nothing writes them again in this unit.
            Some(p) => Ok(Denotes::Place(Place { writable: false, ..p })),
        }
    }

    fn argument(&mut self, param: &ast::Param, arg: &Expr, scope: &Rc<Scope>, formula: bool) -> Res<Entity> {
        let base = self.b.resolve_type(&param.ty, scope)?;
        let ty = self.b.with_dims(base, &param.dims, scope, param.name.span)?;
        if param.by_ref {
            return match self.denote(arg)? {
                Denotes::Place(mut p) => {
                    if !p.ty.same_shape(&ty) {
                        let (a, b) = (p.ty.describe(), ty.describe());
                        return self.b.error(arg.span, format!("`{b}` is needed, but this is `{a}`"));
                    }
                    if self.b.net.terms.as_int(p.index).is_none() {
                        p.index = self.save(Value { term: p.index, kind: Kind::Int }).term;
                    }
                    Ok(Entity::Var(p))
                }
                Denotes::Lattice(mut l) => {
                    if self.b.net.terms.as_int(l.offset).is_none() {
                        l.offset = self.save(Value { term: l.offset, kind: Kind::Int }).term;
                    }
                    Ok(Entity::Lattice(l))
                }
                Denotes::Chan(c) => Ok(Entity::Chan(c)),
                _ => self.b.error(arg.span, "a variable is needed for a reference parameter"),
            };
        }
        if !ty.is_data() {
            return self.b.error(param.name.span, format!("a parameter of type `{}` must be a reference (`&`)", ty.describe()));
        }
        if ty.values().is_some() {
            let v = self.value(arg)?;
            let v = self.convert(v, Kind::of(&ty), arg.span)?;
            // Constant arguments of a formula need no cells of their own; where nothing can be written, no arguments do.
            let constant = self.b.constant_value(v).is_some();
            if (formula && (constant || !self.effects)) || (param.ty.is_const && constant) {
                let mut v = v;
                if let Ty::Int { lo, hi } = ty {
                    v.term = self.b.terms().checked(v.term, lo, hi);
                }
                return Ok(Entity::Const(v));
            }
            let place = self.b.local_place(&ty);
            self.write(&place, v, arg.span)?;
            return Ok(Entity::Var(Place { writable: !param.ty.is_const, ..place }));
        }
        let from = self.place(arg)?;
        if !from.ty.same_shape(&ty) {
            let (a, b) = (from.ty.describe(), ty.describe());
            return self.b.error(arg.span, format!("`{b}` is needed, but this is `{a}`"));
        }
        let place = self.b.local_place(&ty);
        self.copy(&place, &from);
        Ok(Entity::Var(place))
    }

    // Statements.

    fn block(&mut self, b: &ast::Block) -> Res<()> {
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
                return self.b.error(d.name.span, format!("a local variable cannot have the type `{}`", ty.describe()));
            }
            let place = self.b.local_place(&ty);
            match &d.init {
                Some(ast::Init::Expr(e)) if ty.values().is_some() => {
                    let value = self.value(e)?;
                    if v.ty.is_const && self.b.constant_value(value).is_some() {
                        let value = self.convert(value, Kind::of(&ty), e.span)?;
                        self.b.bind(&scope, &d.name, Entity::Const(value))?;
                        continue;
                    }
                    self.write(&place, value, e.span)?;
                }
                Some(ast::Init::Expr(e)) => {
                    let from = self.place(e)?;
                    if !from.ty.same_shape(&ty) {
                        return self.b.error(e.span, "the value has another shape than the variable");
                    }
                    self.copy(&place, &from);
                }
                Some(ast::Init::List(..)) | None => self.fill(&place, d.init.as_ref())?,
            }
            self.b.bind(&scope, &d.name, Entity::Var(place))?;
        }
        Ok(())
    }

    /// Writes a list of values, or defaults, to a variable.
    fn fill(&mut self, p: &Place, init: Option<&ast::Init>) -> Res<()> {
        let items = match init {
            Some(ast::Init::List(items, span)) => {
                let expected = match &p.ty {
                    Ty::Array(r, _) => r.len as usize,
                    Ty::Struct(fields) => fields.len(),
                    _ => return self.b.error(*span, "a list of values for a scalar variable"),
                };
                if items.len() != expected {
                    return self.b.error(*span, format!("{} values where {expected} are needed", items.len()));
                }
                Some(items)
            }
            Some(ast::Init::Expr(e)) => {
                let v = self.value(e)?;
                return self.write(p, v, e.span);
            }
            None => None,
        };
        match p.ty.clone() {
            Ty::Array(r, _) => {
                for i in 0..r.len {
                    let at = self.b.int(r.lo + i);
                    let entry = self.b.entry(p, at);
                    self.fill(&entry, items.map(|l| &l[i as usize].1))?;
                }
            }
            Ty::Struct(fields) => {
                for (i, (name, _)) in fields.iter().enumerate() {
                    let item = items.map(|l| {
                        l.iter().find(|(n, _)| n.as_ref().is_some_and(|n| n.name == *name)).unwrap_or(&l[i])
                    });
                    if let Some(field) = super::Builder::field(p, name) {
                        self.fill(&field, item.map(|(_, i)| i))?;
                    }
                }
            }
            ty => {
                let mut bounds = Vec::new();
                ty.leaves(&mut bounds);
                let zero = bounds.first().map_or(0, |(lo, hi, _)| super::default_value(*lo, *hi));
                let v = self.b.literal(zero, Kind::of(&ty));
                let span = Span { source: crate::diag::SourceId(0), start: 0, end: 0 };
                self.write(p, v, span)?;
            }
        }
        Ok(())
    }

    fn sequence(&mut self, stmts: &[Stmt]) -> Res<()> {
        for (i, s) in stmts.iter().enumerate() {
            self.statement(s)?;
            let rest = &stmts[i + 1..];
            if !rest.is_empty() && may_return(s) {
                let Some(running) = self.running() else { return Ok(()) };
                let (body, ()) = self.apart(|l| l.sequence(rest))?;
                self.branch(running, body, Vec::new());
                return Ok(());
            }
        }
        Ok(())
    }

    /// `true` as long as the function has not returned; `None` if that needs no asking.
    fn running(&mut self) -> Option<TermId> {
        let flag = self.ret.as_ref().and_then(|r| r.1)?;
        let t = self.b.terms().var(flag);
        Some(self.b.terms().not(t))
    }

    fn statement(&mut self, s: &Stmt) -> Res<()> {
        match s {
            Stmt::Empty => Ok(()),
            Stmt::Expr(e) => {
                // A bare expression statement may write locals even where the state must not change.
                self.effect(e)
            }
            Stmt::Block(b) => self.block(b),
            Stmt::If { cond, then, els } => {
                let c = self.boolean(cond)?;
                let (a, ()) = self.apart(|l| l.statement(then))?;
                let (b, ()) = self.apart(|l| els.as_ref().map_or(Ok(()), |e| l.statement(e)))?;
                self.branch(c, a, b);
                Ok(())
            }
            Stmt::While { cond, body, .. } => self.repeat(Some(cond), body, None),
            Stmt::DoWhile { body, cond, .. } => {
                let (once, ()) = self.apart(|l| l.statement(body))?;
                self.stmts.extend(once);
                let running = self.running().filter(|_| may_return(body));
                let (rest, ()) = self.apart(|l| l.repeat(Some(cond), body, None))?;
                match running {
                    Some(r) => self.branch(r, rest, Vec::new()),
                    None => self.stmts.extend(rest),
                }
                Ok(())
            }
            Stmt::For { init, cond, step, body, .. } => {
                if let Some(i) = init {
                    self.effect(i)?;
                }
                self.repeat(cond.as_ref(), body, step.as_ref())
            }
            Stmt::Iterate { var, ty, body, .. } => self.iterate(var, ty, body),
            Stmt::Return(e, span) => self.return_(e.as_ref(), *span),
            Stmt::Unsupported { what, span } => self.b.error(*span, format!("`{what}` is not supported")),
        }
    }

    /// `while (cond && !returned) { body; step }`
    fn repeat(&mut self, cond: Option<&Expr>, body: &Stmt, step: Option<&Expr>) -> Res<()> {
        let (before, c) = self.apart(|l| match cond {
            Some(c) => l.boolean(c),
            None => Ok(l.b.terms().bool(true)),
        })?;
        let running = self.running().filter(|_| may_return(body));
        let (mut inner, ()) = self.apart(|l| {
            l.statement(body)?;
            let Some(step) = step else { return Ok(()) };
            match running {
                Some(r) => {
                    let (s, ()) = l.apart(|l| l.effect(step))?;
                    l.branch(r, s, Vec::new());
                    Ok(())
                }
                None => l.effect(step),
            }
        })?;
        if before.is_empty() {
            let c = match running {
                Some(r) => self.b.terms().and([r, c]),
                None => c,
            };
            return self.push_while(c, inner);
        }
        // The condition has a body of its own: go := true; while (go) { before; go := c; if (go) { inner; go := running } }
        let go = self.b.temp(0, 1, true, None);
        let yes = self.b.terms().bool(true);
        let start = self.b.terms().assign(go, yes);
        self.stmts.push(start);
        let go_term = self.b.terms().var(go);
        if let Some(r) = running {
            inner.push(self.b.terms().assign(go, r));
        }
        let mut outer = before;
        outer.push(self.b.terms().assign(go, c));
        let inner = self.b.block(inner);
        let skip = self.b.terms().skip();
        outer.push(self.b.terms().branch(go_term, inner, skip));
        self.push_while(go_term, outer)
    }

    fn push_while(&mut self, c: TermId, body: Vec<StmtId>) -> Res<()> {
        if self.b.net.terms.as_bool(c) == Some(false) {
            return Ok(());
        }
        let body = self.b.block(body);
        let s = self.b.terms().intern_stmt(trellis_expr::Stmt::While(c, body));
        self.stmts.push(s);
        Ok(())
    }

    /// `for (i : T) body`
    fn iterate(&mut self, var: &ast::Ident, ty: &ast::TypeExpr, body: &Stmt) -> Res<()> {
        let scope = self.scope.clone();
        let span = ty.span;
        let ty = self.b.resolve_type(ty, &scope)?;
        let Some(r) = ty.values() else {
            return self.b.error(span, format!("a loop cannot range over `{}`", ty.describe()));
        };
        // One beyond the last value marks the end, so the counter is a plain integer.
        let counter = self.b.temp(i64::MIN / 2, i64::MAX / 2, false, None);
        let first = self.b.int(r.lo);
        let s = self.b.terms().assign(counter, first);
        self.stmts.push(s);
        let at = self.b.terms().var(counter);
        let end = self.b.int(r.lo + r.len);
        let mut c = self.b.terms().lt(at, end);
        if let Some(running) = self.running().filter(|_| may_return(body)) {
            c = self.b.terms().and([running, c]);
        }
        let inner = Scope::child(&scope);
        let value = match ty {
            Ty::Bool => {
                let one = self.b.int(1);
                self.b.terms().eq(at, one)
            }
            _ => at,
        };
        inner.set(&var.name, Entity::Const(Value { term: value, kind: Kind::of(&ty) }));
        let (mut body, ()) = self.within(inner, |l| l.apart(|l| l.statement(body)))?;
        let one = self.b.int(1);
        let next = self.b.terms().add([at, one]);
        body.push(self.b.terms().assign(counter, next));
        self.push_while(c, body)
    }

    fn return_(&mut self, e: Option<&Expr>, span: Span) -> Res<()> {
        let Some((place, flag)) = self.ret.clone() else {
            return self.b.error(span, "`return` outside a function");
        };
        match (e, place) {
            (Some(e), Some(p)) if p.ty.values().is_some() => {
                let v = self.value(e)?;
                self.write(&p, v, e.span)?;
            }
            (Some(e), Some(p)) => {
                let from = self.place(e)?;
                if !from.ty.same_shape(&p.ty) {
                    return self.b.error(e.span, "the returned value has another type than the function");
                }
                self.copy(&p, &from);
            }
            (None, None) => {}
            (Some(e), None) => return self.b.error(e.span, "a `void` function returns no value"),
            (None, Some(_)) => return self.b.error(span, "a value must be returned here"),
        }
        if let Some(flag) = flag {
            self.mark(flag);
        }
        Ok(())
    }

    fn mark(&mut self, flag: VarId) {
        let yes = self.b.terms().bool(true);
        let s = self.b.terms().assign(flag, yes);
        self.stmts.push(s);
    }
}

/// Can the statement return?
fn may_return(s: &Stmt) -> bool {
    match s {
        Stmt::Return(..) => true,
        Stmt::Block(b) => b.stmts.iter().any(may_return),
        Stmt::If { then, els, .. } => may_return(then) || els.as_ref().is_some_and(|e| may_return(e)),
        Stmt::For { body, .. } | Stmt::Iterate { body, .. } | Stmt::While { body, .. } | Stmt::DoWhile { body, .. } => {
            may_return(body)
        }
        Stmt::Empty | Stmt::Expr(_) | Stmt::Unsupported { .. } => false,
    }
}

/// Does something happen after a return, so that a flag is needed?
fn returns_early(stmts: &[Stmt]) -> bool {
    let Some((last, rest)) = stmts.split_last() else { return false };
    rest.iter().any(may_return)
        || match last {
            Stmt::Block(b) => returns_early(&b.stmts),
            Stmt::If { then, els, .. } => {
                let early = |s: &Stmt| match s {
                    Stmt::Return(..) => false,
                    s => returns_early(std::slice::from_ref(s)),
                };
                early(then) || els.as_ref().is_some_and(|e| early(e))
            }
            Stmt::Return(..) => false,
            loop_ => may_return(loop_),
        }
}
