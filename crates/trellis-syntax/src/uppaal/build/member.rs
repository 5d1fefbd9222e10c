//! What is inside something that has a name: `P.loc` and `P(1).x` in queries, `x.pool` and `x.P(1).v` in strategies.

use std::rc::Rc;

use super::expr::{Denotes, Lower};
use super::scope::{Entity, Family, FuncDef, Kind, Scope, Value, closest_of};
use super::{Reported, Res, ast};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::count;
use ast::{Expr, ExprKind};

impl Lower<'_, '_> {
    /// The member of a process or of a state, if the left side is one.
    pub fn member(&mut self, a: &Expr, f: &ast::Ident) -> Res<Option<Denotes>> {
        if let Some(shift) = self.state(a) {
            // The key is common to all states; what belongs to one of them is its lattice values.
            let found = self.scope.find(&f.name);
            let found = match found {
                Some(Entity::Lattice(l)) => Denotes::Lattice(l),
                _ => self.name(&f.name, f.span)?,
            };
            return Ok(Some(self.shifted(found, shift)));
        }
        let (callee, args): (&Expr, &[Expr]) = match &a.kind {
            ExprKind::Call(callee, args) => (callee, args),
            _ => (a, &[]),
        };
        let (name, shift) = match &callee.kind {
            ExprKind::Name(n) => (n, None),
            ExprKind::Field(state, process) => match self.state(state) {
                Some(shift) => (&process.name, Some(shift)),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some(Entity::Family(family)) = self.scope.find(name) else { return Ok(None) };
        let (process, scope) = self.process(&family, args, a.span)?;
        let found = self.in_process(process, &scope, f)?;
        match (found, shift) {
            (found, Some(shift)) => Ok(Some(self.shifted(found, shift))),
            (Denotes::Lattice(_), None) if self.unit == super::expr::Unit::Strategy => {
                let name = shorten(&f.name);
                let d = Diagnostic::error(f.span, format!("`{name}` is a lattice variable of both states"));
                Err(self.b.report(d.help("say which one is meant: `x.…` or `y.…`")))
            }
            (found, None) => Ok(Some(found)),
        }
    }

    /// The function of a process, if that is what is meant: `P(1).isDone`.
    pub fn function_of(&mut self, a: &Expr, f: &ast::Ident) -> Res<Option<Rc<FuncDef>>> {
        let (callee, args): (&Expr, &[Expr]) = match &a.kind {
            ExprKind::Call(callee, args) => (callee, args),
            _ => (a, &[]),
        };
        let ExprKind::Name(name) = &callee.kind else { return Ok(None) };
        let Some(Entity::Family(family)) = self.scope.find(name) else { return Ok(None) };
        let (_, scope) = self.process(&family, args, a.span)?;
        match scope.here(&f.name) {
            Some(Entity::Func(def)) => Ok(Some(def)),
            _ => Ok(None),
        }
    }

    /// Where the element of a state starts, if the expression names one.
    fn state(&self, e: &Expr) -> Option<usize> {
        let ExprKind::Name(n) = &e.kind else { return None };
        match self.scope.find(n) {
            Some(Entity::State(shift)) => Some(shift),
            _ => None,
        }
    }

    fn shifted(&mut self, d: Denotes, shift: usize) -> Denotes {
        match d {
            Denotes::Lattice(mut l) => {
                let shift = self.b.int(shift as i64);
                l.offset = self.b.terms().add([l.offset, shift]);
                Denotes::Lattice(l)
            }
            other => other,
        }
    }

    fn process(&mut self, family: &Family, args: &[Expr], span: Span) -> Res<(usize, Rc<Scope>)> {
        let name = shorten(&family.name);
        let example = match &family.first[..] {
            [] => name.clone(),
            values => format!("{name}({})", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
        };
        if args.len() != family.params {
            let d = Diagnostic::error(
                span,
                format!("`{name}` needs {} to name a process", count(family.params, "argument")),
            );
            return Err(self.b.report(d.help(format!("for instance `{example}`"))));
        }
        let mut values = Vec::new();
        for a in args {
            let v = self.value(a)?;
            match self.b.constant_value(v) {
                Some(n) => values.push(n),
                None => {
                    return self.err(a.span, "which process is meant must be known beforehand: a constant is needed");
                }
            }
        }
        // Where this is never reached, any member will do.
        let found = family.members.get(&values).or_else(|| family.members.get(&family.first).filter(|_| self.dead));
        match found {
            Some((process, scope)) => Ok((*process, scope.clone())),
            None => {
                let d = Diagnostic::error(span, format!("there is no process `{name}` with these arguments"));
                Err(self.b.report(d.help(format!("the first one is `{example}`"))))
            }
        }
    }

    fn in_process(&mut self, process: usize, scope: &Rc<Scope>, f: &ast::Ident) -> Res<Denotes> {
        let p = &self.b.net.processes[process];
        if let Some(l) = p.locations.iter().position(|l| l.name == f.name) {
            let at = p.location;
            let at = self.b.terms().var(at);
            let l = self.b.int(l as i64);
            let term = self.b.terms().eq(at, l);
            return Ok(Value { term, kind: Kind::Bool }.into());
        }
        match scope.here(&f.name) {
            Some(Entity::Const(v)) => Ok(v.into()),
            Some(Entity::Var(p)) => Ok(Denotes::Place(p)),
            Some(Entity::Lattice(l)) => Ok(Denotes::Lattice(l)),
            Some(Entity::Broken) => Err(Reported),
            Some(Entity::LeftOut(what)) => self.err(f.span, format!("`{}` {what}", shorten(&f.name))),
            Some(Entity::Func(_)) => {
                let name = shorten(&f.name);
                let d = Diagnostic::error(f.span, format!("`{name}` is a function"));
                Err(self.b.report(d.help(format!("call it: `{name}(…)`"))))
            }
            _ => {
                let name = p.name.clone();
                let near = closest_of(&f.name, p.locations.iter().map(|l| l.name.clone()).chain(scope.own_names()));
                let what = format!("process `{name}` has no location or variable `{}`", shorten(&f.name));
                let d = Diagnostic::error(f.span, what);
                Err(self.b.report(d.meant(near)))
            }
        }
    }
}
