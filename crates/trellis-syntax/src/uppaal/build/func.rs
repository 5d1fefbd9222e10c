//! Functions: inlined at every call. UPPAAL has no recursion, so that this ends; local variables are temporaries.

use std::rc::Rc;

use super::expr::{Denotes, Lower, Unit};
use super::lattice::LatticePlace;
use super::place::{ChanPlace, Place};
use super::scope::{Entity, FuncDef, Kind, Scope, Value};
use super::types::Ty;
use super::{Builder, Reported, Res, ast, syntax};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::count;
use ast::{Expr, ExprKind, Stmt};

impl Lower<'_, '_> {
    /// `f(x)`, `v.method(x)`.
    pub fn call(&mut self, f: &Expr, args: &[Expr], span: Span) -> Res<Denotes> {
        match &f.kind {
            ExprKind::Field(of, method) => {
                if let Some(def) = self.function_of(of, method)? {
                    return self.inline(&def, args, span);
                }
                let found = match self.member(of, method) {
                    // `P.f(1)`: not a variable with a method.
                    Ok(Some(_)) => return self.err(span, "this cannot be called"),
                    Ok(None) => self.denote(of)?,
                    Err(e) => return Err(e),
                };
                let Denotes::Lattice(l) = found else {
                    let name = shorten(&method.name);
                    return self
                        .err(method.span, format!("there is no method `{name}` here: only lattices have methods"));
                };
                self.method(l, method, args)
            }
            ExprKind::Name(n) => match self.scope.find(n) {
                Some(Entity::Func(def)) => self.inline(&def, args, span),
                Some(Entity::Broken) => Err(Reported),
                Some(Entity::Family(_)) => {
                    let n = shorten(n);
                    self.err(span, format!("`{n}` is a process; ask for something in it: `{n}(…).name`"))
                }
                Some(_) => self.err(f.span, format!("`{}` is not a function", shorten(n))),
                None if n == "abs" && args.len() == 1 => self.absolute(&args[0]),
                None => {
                    let d = self.b.unknown("function", n, f.span, &self.scope);
                    Err(self.b.report(d))
                }
            },
            _ => self.err(f.span, "this cannot be called"),
        }
    }

    /// `abs(a)`, which UPPAAL has from the start.
    fn absolute(&mut self, a: &Expr) -> Res<Denotes> {
        let v = self.value(a)?;
        let v = self.convert(v, Kind::Int, a.span)?;
        // It is used twice.
        let x = if self.b.is_heavy(v.term) { self.saved(v).term } else { v.term };
        let zero = self.b.int(0);
        let terms = self.b.terms();
        let (is_negative, opposite) = (terms.lt(x, zero), terms.neg(x));
        let term = terms.ite(is_negative, opposite, x);
        Ok(Value { term: self.number(term, a.span)?, kind: Kind::Int }.into())
    }

    fn inline(&mut self, def: &Rc<FuncDef>, args: &[Expr], span: Span) -> Res<Denotes> {
        let f = &def.ast;
        let name = shorten(&f.name.name);
        if self.calls.iter().any(|(f, _)| Rc::ptr_eq(f, def)) {
            return Err(self.b.report(
                Diagnostic::error(span, format!("`{name}` calls itself, which UPPAAL does not allow"))
                    .help("use a loop"),
            ));
        }
        if args.len() != f.params.len() {
            let takes = count(f.params.len(), "argument");
            return self.err(span, format!("`{name}` takes {takes}, not {}", args.len()));
        }
        self.b.spend(8, span)?;
        // A body that is one `return` is a formula: it needs no place for its result.
        let formula = match (&f.body.decls[..], &f.body.stmts[..]) {
            ([], [Stmt::Return(Some(e), _)]) => Some(e),
            _ => None,
        };
        let scope = Scope::child(&def.scope);
        let mut by_name: Vec<(&str, Value)> = Vec::new();
        for (param, arg) in f.params.iter().zip(args) {
            let mark = self.stmts.len();
            let entity = self.argument(param, arg, def, formula)?;
            if self.stmts.len() > mark {
                // What was given by name must not see the effects of later arguments.
                for (name, v) in &mut by_name {
                    v.term = self.held(mark, *v);
                    scope.set(name, Entity::Const(*v));
                }
            }
            if let Entity::Const(v) = entity {
                by_name.push((&param.name.name, v));
            }
            scope.set(&param.name.name, entity);
        }
        self.enter_function(def, scope, formula, span)
    }

    /// Lowers the body; the parameters are bound.
    fn enter_function(
        &mut self,
        def: &Rc<FuncDef>,
        scope: Rc<Scope>,
        formula: Option<&Expr>,
        at: Span,
    ) -> Res<Denotes> {
        let f = &def.ast;
        def.called.set(true);
        let ret_ty = self.b.resolve_type(&f.ret, &def.scope)?;
        if let (Some(e), Some(_)) = (formula, ret_ty.scalar()) {
            self.calls.push((def.clone(), at));
            let v = self.within(scope, |l| l.value(e));
            self.calls.pop();
            return Ok(self.checked(v?, &ret_ty, e.span)?.into());
        }
        let place = match &ret_ty {
            Ty::Void => None,
            ty if ty.is_data() => Some(self.b.local_place(ty)),
            ty => return self.err(f.ret.span, format!("a function cannot return `{}`", ty.describe())),
        };
        if let Some(p) = &place
            && !syntax::block_returns(&f.body, syntax::must_return)
        {
            self.clear(p);
        }
        let flag = syntax::returns_early(&f.body.stmts).then(|| self.b.temp(0, 1, true, None));
        if let Some(flag) = flag {
            let no = self.b.terms().bool(false);
            let s = self.b.terms().assign(flag, no);
            self.stmts.push(s);
        }
        let outer = self.ret.replace((place.clone(), flag));
        self.calls.push((def.clone(), at));
        let body = self.within(scope, |l| l.block(&f.body));
        self.calls.pop();
        self.ret = outer;
        body?;
        match place {
            None => Ok(Denotes::Nothing),
            // The cells are this call's own: nothing writes them again before they are read.
            Some(p) => Ok(Denotes::Place(Place { writable: false, ..p })),
        }
    }

    /// What a parameter stands for inside a function.
    fn argument(&mut self, param: &ast::Param, arg: &Expr, f: &FuncDef, formula: Option<&Expr>) -> Res<Entity> {
        let ty = self.b.param_type(param, &f.scope)?;
        if param.by_ref {
            let given = self.denote(arg)?;
            return self.reference(param, given, ty, arg.span);
        }
        if !ty.is_data() {
            let what = format!("a parameter of type `{}` must be a reference (`&`)", ty.describe());
            return self.err(param.name.span, what);
        }
        if ty.scalar().is_some() {
            let v = self.value(arg)?;
            let v = self.checked(v, &ty, arg.span)?;
            let constant = self.b.constant_value(v).is_some();
            let by_name = match formula {
                Some(e) => self.goes_by_name(param, v, f, e),
                None => constant && param.ty.is_const,
            };
            if by_name {
                return Ok(Entity::Const(v));
            }
            let place = self.b.local_place(&ty);
            self.write(&place, v, arg.span)?;
            return Ok(Entity::Var(Place { writable: !param.ty.is_const, ..place }));
        }
        let from = self.aggregate(arg, &ty)?;
        if param.ty.is_const && self.b.is_constant(&from) {
            return Ok(Entity::Var(from));
        }
        let place = self.b.local_place(&ty);
        let place = self.copy(place, from, arg.span)?;
        Ok(Entity::Var(Place { writable: !param.ty.is_const, ..place }))
    }

    /// Constant arguments of a formula need no cells of their own; where nothing can be written, no arguments do.
    fn goes_by_name(&mut self, param: &ast::Param, v: Value, f: &FuncDef, formula: &Expr) -> bool {
        let name = &param.name.name;
        let by_ref = |g: &str, i: usize| match f.scope.find(g) {
            Some(Entity::Func(g)) => g.ast.params.get(i).is_none_or(|p| p.by_ref),
            _ => true,
        };
        if syntax::writes_to(formula, name, &by_ref) {
            return false;
        }
        let written = self.unit == Unit::Update || f.ast.params.iter().any(|p| p.by_ref);
        let cheap = !self.b.is_heavy(v.term) || syntax::uses(formula, name) < 2;
        // A fault in it must not go unnoticed.
        let safe = !self.b.net.terms.may_fault(v.term) || syntax::surely_uses(formula, name);
        self.b.constant_value(v).is_some() || (!written && cheap && safe)
    }

    /// What a reference parameter of a function or a template stands for.
    pub fn reference(&mut self, param: &ast::Param, given: Denotes, ty: Ty, span: Span) -> Res<Entity> {
        match (given, ty.innermost()) {
            (Denotes::Place(p), _) if p.ty.same_shape(&ty) => {
                let p = self.pinned(p);
                Ok(Entity::Var(Place { writable: p.writable && !param.ty.is_const, ..p }))
            }
            (Denotes::Lattice(l), Ty::Lattice(def)) => {
                let needed = self.b.lattice_of(def, &ty, param.name.span)?;
                if needed.name() != l.lattice.name() {
                    let what = format!("a `{}` is needed, but this is a `{}`", needed.name(), l.lattice.name());
                    return self.err(span, what);
                }
                let offset = self.saved(Value { term: l.offset, kind: Kind::Int }).term;
                Ok(Entity::Lattice(LatticePlace { offset, ..l }))
            }
            (Denotes::Chan(c), _) if c.ty.same_shape(&ty) => {
                let index = self.saved(Value { term: c.index, kind: Kind::Int }).term;
                Ok(Entity::Chan(ChanPlace { index, ..c }))
            }
            (Denotes::Value(v), _) if param.ty.is_const && ty.scalar().is_some() => {
                let v = self.convert(v, Kind::of(&ty), span)?;
                Ok(Entity::Const(self.saved(v)))
            }
            (found, _) => {
                let what =
                    format!("a variable of type `{}` is needed, but this is {}", ty.describe(), found.describe());
                self.err(span, what)
            }
        }
    }
}

impl Builder<'_> {
    pub fn param_type(&mut self, p: &ast::Param, scope: &Rc<Scope>) -> Res<Ty> {
        let base = self.resolve_type(&p.ty, scope)?;
        self.with_dims(base, &p.dims, scope, p.name.span)
    }

    /// Looks into the functions that nothing calls: they may be wrong, too.
    pub fn check_uncalled(&mut self) {
        let mut seen = std::collections::HashSet::new();
        // Callers stand behind what they call: most is seen on the way.
        for def in std::mem::take(&mut self.declared).into_iter().rev() {
            if !def.called.get() && !seen.contains(&def.ast.name.span) {
                // What it becomes is thrown away.
                let _ = self.try_out(&def);
            }
            seen.insert(def.ast.name.span);
        }
    }

    fn try_out(&mut self, def: &Rc<FuncDef>) -> Res<()> {
        let scope = Scope::child(&def.scope);
        for p in &def.ast.params {
            let ty = self.param_type(p, &def.scope)?;
            let index = self.int(0);
            let entity = match ty.innermost() {
                Ty::Lattice(l) => {
                    let lattice = self.lattice_of(l, &ty, p.name.span)?;
                    Entity::Lattice(LatticePlace { lattice, offset: index })
                }
                Ty::Chan { .. } => Entity::Chan(ChanPlace { ty, base: 0, index }),
                _ if ty.is_data() || (p.by_ref && ty.is_stored()) => {
                    Entity::Var(Place { writable: !p.ty.is_const, ..self.local_place(&ty) })
                }
                _ if ty.is_stored() => {
                    let what = format!("a parameter of type `{}` must be a reference (`&`)", ty.describe());
                    return self.error(p.name.span, what);
                }
                _ => {
                    let what = format!("a function cannot have a parameter of type `{}`", ty.describe());
                    return self.error(p.name.span, what);
                }
            };
            scope.set(&p.name.name, entity);
        }
        self.new_unit();
        let mut lower = Lower::new(self, Scope::child(&def.scope), Unit::Update);
        lower.enter_function(def, scope, None, def.ast.name.span).map(|_| ())
    }
}
