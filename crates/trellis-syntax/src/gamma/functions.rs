//! Functions and procedures, inlined. One that changes nothing but its own variables is evaluated where it is called, so that guards can call it, too;
//! one that changes something else is a statement, and its result a variable.
//!
//! What is deliberately not read: a call of a function that changes something in the middle of an expression, where nobody says what is first.

use trellis_expr::{StmtId, TermId, Type};

use super::ast::{Action, ActionKind, Expr, ExprKind, Function, Name};
use super::packages::{lookup, unknown};
use super::shape::{Shape, Tree};
use super::terms::{Bound, Frame, MAX_CALLS, Scope, Words};
use crate::text::errors::{Read, count};

/// The value of a function so far.
struct Pure {
    /// Has it returned? Has the innermost loop ended?
    returned: TermId,
    broken: TermId,
    value: Option<Tree>,
    /// What it returns.
    shape: Option<Shape>,
}

fn is_return(action: &Action<'_>) -> bool {
    let any = |all: &[Action<'_>]| all.iter().any(is_return);
    match &action.kind {
        ActionKind::Return(_) => true,
        ActionKind::Block(all) | ActionKind::For(_, _, _, all) => any(all),
        ActionKind::If(_, a, b) => any(a) || any(b),
        ActionKind::Switch(_, cases, or) => cases.iter().any(|(_, body)| any(body)) || any(or),
        ActionKind::Choice(branches) => branches.iter().any(|(_, body)| any(body)),
        _ => false,
    }
}

impl<'a> Words<'a, '_> {
    fn function(&self, scope: &Scope<'a>, name: &str) -> Option<(usize, Function<'a>)> {
        let own = scope.functions.iter().find(|f| f.name.0 == name).map(|f| (scope.file, f.clone()));
        let shared = || {
            let found = lookup(self.files, scope.file, |p| p.functions.iter().find(|f| f.name.0 == name));
            found.map(|(n, f)| (n, f.clone()))
        };
        own.or_else(shared)
    }

    /// Does a function change nothing but its own variables?
    pub fn is_pure(&self, scope: &Scope<'a>, name: Name<'a>) -> bool {
        self.is_pure_within(scope, name.0, 0)
    }

    fn is_pure_within(&self, scope: &Scope<'a>, name: &str, depth: usize) -> bool {
        let Some((_, f)) = self.function(scope, name) else { return true };
        let mut own: Vec<&str> = f.params.iter().map(|p| p.name.0).collect();
        match &f.body {
            Ok(_) => true,
            Err(body) => depth > MAX_CALLS || body.iter().all(|a| self.leaves_alone(scope, a, &mut own, depth)),
        }
    }

    fn leaves_alone(&self, scope: &Scope<'a>, action: &Action<'a>, own: &mut Vec<&'a str>, depth: usize) -> bool {
        let pure = |e: &Expr<'a>| match &e.kind {
            ExprKind::Call(name, _) => self.is_pure_within(scope, name.0, depth + 1),
            _ => true,
        };
        let mut all = |list: &[Action<'a>]| list.iter().all(|a| self.leaves_alone(scope, a, own, depth));
        match &action.kind {
            ActionKind::Assign(to, value) => {
                let mut at = to;
                loop {
                    match &at.kind {
                        ExprKind::Index(parts) => at = &parts[0],
                        ExprKind::Field(of, _) => at = of,
                        ExprKind::Path(path) => return own.contains(&path[0].0) && pure(value),
                        _ => return false,
                    }
                }
            }
            ActionKind::Local(v) => {
                own.push(v.name.0);
                v.value.as_ref().is_none_or(pure)
            }
            ActionKind::Raise(..) | ActionKind::Set(..) | ActionKind::Choice(_) => false,
            ActionKind::Call(name, _) => self.is_pure_within(scope, name.0, depth + 1),
            ActionKind::Block(list) | ActionKind::For(_, _, _, list) => all(list),
            ActionKind::If(_, a, b) => all(a) && all(b),
            ActionKind::Switch(_, cases, or) => cases.iter().all(|(_, body)| all(body)) && all(or),
            ActionKind::Return(value) => value.as_ref().is_none_or(pure),
            ActionKind::Nothing | ActionKind::Break | ActionKind::Assert => true,
        }
    }

    /// The function, the file that it is in, and what its arguments are.
    #[allow(clippy::type_complexity)]
    fn called_function(
        &mut self,
        scope: &mut Scope<'a>,
        name: Name<'a>,
        args: &[Expr<'a>],
    ) -> Read<(usize, Function<'a>, Vec<(&'a str, Shape, Tree)>)> {
        let Some((file, f)) = self.function(scope, name.0) else {
            let error = unknown("function", name, scope.functions.iter().map(|f| f.name.0));
            return self.errors.fail(error);
        };
        if f.params.len() != args.len() {
            let message = format!("`{}` takes {}", name.0, count(f.params.len(), "argument"));
            return self.fail(name.1, message);
        }
        let mut bound = vec![];
        for (p, arg) in f.params.iter().zip(args) {
            let shape = self.shape(file, &p.ty)?;
            let value = self.shaped(scope, arg, &shape)?;
            bound.push((p.name.0, shape, value));
        }
        Ok((file, f, bound))
    }

    /// The value of a function.
    pub fn call(&mut self, scope: &mut Scope<'a>, name: Name<'a>, args: &[Expr<'a>]) -> Read<Tree> {
        let (file, f, bound) = self.called_function(scope, name, args)?;
        if !self.is_pure(scope, name) {
            let message = format!("`{}` changes something, and is called in the middle of an expression", name.0);
            return self.fail(name.1, format!("{message}; write `x := {}(…)`", name.0));
        }
        let bound = bound.into_iter().map(|(p, _, value)| (p, Bound::Local(value))).collect();
        self.inside(scope, file, bound, name, |w, scope| {
            let shape = f.result.as_ref().map(|ty| w.shape(file, ty)).transpose()?;
            let body = match (&f.body, &shape) {
                (Ok(e), Some(shape)) => return w.shaped(scope, e, shape),
                (Ok(e), None) => return w.tree(scope, e),
                (Err(body), _) => body,
            };
            let no = w.t().bool(false);
            let mut so_far = Pure { returned: no, broken: no, value: None, shape };
            w.evaluate(scope, body, no, &mut so_far)?;
            let Some(value) = so_far.value else {
                return w.fail(name.1, format!("`{}` returns nothing", name.0));
            };
            if w.sys.terms.as_bool(so_far.returned) == Some(true) {
                return Ok(value);
            }
            // Where it ends without a `return`, it is what variables of its type start with.
            let nothing = match &so_far.shape {
                Some(shape) => w.default_tree(shape),
                None => value.clone(),
            };
            w.either(so_far.returned, &value, &nothing, name.1)
        })
    }

    /// Something with other names in front; values of arguments are those before the call.
    fn inside<T>(
        &mut self,
        scope: &mut Scope<'a>,
        file: usize,
        bound: Vec<(&'a str, Bound)>,
        name: Name<'a>,
        then: impl FnOnce(&mut Self, &mut Scope<'a>) -> Read<T>,
    ) -> Read<T> {
        if scope.calls >= MAX_CALLS {
            return self
                .fail(name.1, format!("functions that call each other more than {MAX_CALLS} deep are not read"));
        }
        let (mark, before) = (scope.names.len(), scope.file);
        scope.names.extend(bound);
        scope.calls += 1;
        scope.file = file;
        let done = then(self, scope);
        scope.calls -= 1;
        scope.file = before;
        scope.names.truncate(mark);
        done
    }

    /// What actions do to local variables, where `skip` does not hold.
    fn evaluate(&mut self, scope: &mut Scope<'a>, all: &[Action<'a>], skip: TermId, so_far: &mut Pure) -> Read<()> {
        let mark = scope.names.len();
        let done = all.iter().try_for_each(|action| self.evaluate_one(scope, action, skip, so_far));
        scope.names.truncate(mark);
        done
    }

    fn evaluate_one(
        &mut self,
        scope: &mut Scope<'a>,
        action: &Action<'a>,
        skip: TermId,
        so_far: &mut Pure,
    ) -> Read<()> {
        let passed = self.t().or([skip, so_far.returned, so_far.broken]);
        match &action.kind {
            // What changes nothing need not be done.
            ActionKind::Nothing | ActionKind::Assert | ActionKind::Call(..) => Ok(()),
            ActionKind::Block(all) => self.evaluate(scope, all, skip, so_far),
            ActionKind::Local(local) => {
                let shape = self.shape(scope.file, &local.ty)?;
                let value = match &local.value {
                    Some(value) => self.shaped(scope, value, &shape)?,
                    None => self.default_tree(&shape),
                };
                scope.names.push((local.name.0, Bound::Local(value)));
                Ok(())
            }
            ActionKind::Assign(to, value) => {
                let (base, way) = self.way(scope, to)?;
                let (part, ty) = self.part_at(&base, &way, to.span)?;
                let span = value.span;
                let value = match (&part, ty) {
                    (Tree::Leaf(_), Some(ty)) => Tree::Leaf(self.typed(scope, value, ty)?),
                    _ => self.tree(scope, value)?,
                };
                let value = self.either(passed, &part, &value, span)?;
                let whole = self.with_part(&base, &way, &value, span)?;
                let name = base_name(to);
                match scope.names.iter_mut().rev().find(|(n, _)| Some(*n) == name) {
                    Some((_, bound @ Bound::Local(_))) => *bound = Bound::Local(whole),
                    _ => {
                        return self.fail(
                            to.span,
                            "a function that is called in an expression changes only its own variables",
                        );
                    }
                }
                Ok(())
            }
            ActionKind::If(c, a, b) => {
                let c = self.typed(scope, c, Type::Bool)?;
                let not = self.t().not(c);
                let (then, or) = (self.t().or([skip, not]), self.t().or([skip, c]));
                self.evaluate(scope, a, then, so_far)?;
                self.evaluate(scope, b, or, so_far)
            }
            ActionKind::Switch(e, cases, or) => {
                let e = self.term(scope, e)?;
                let ty = self.sys.terms.ty(e);
                let mut others = vec![skip];
                for (value, body) in cases {
                    let value = self.typed(scope, value, ty)?;
                    let it = self.t().eq(e, value);
                    let not = self.t().not(it);
                    let here = self.t().or(others.iter().copied().chain([not]));
                    self.evaluate(scope, body, here, so_far)?;
                    others.push(it);
                }
                let otherwise = self.t().or(others);
                self.evaluate(scope, or, otherwise, so_far)
            }
            ActionKind::For(counter, from, to, body) => {
                let no = self.t().bool(false);
                let outer = std::mem::replace(&mut so_far.broken, no);
                let skip = self.t().or([skip, outer]);
                for n in self.steps_of(scope, (from, to))? {
                    let n = self.t().int(n);
                    scope.names.push((counter.0, Bound::Value(Tree::Leaf(n))));
                    let done = self.evaluate(scope, body, skip, so_far);
                    scope.names.pop();
                    done?;
                }
                so_far.broken = outer;
                Ok(())
            }
            ActionKind::Return(value) => {
                if let Some(e) = value {
                    let value = match so_far.shape.clone() {
                        Some(shape) => self.shaped(scope, e, &shape)?,
                        None => self.tree(scope, e)?,
                    };
                    so_far.value = Some(match so_far.value.take() {
                        Some(before) => self.either(passed, &before, &value, e.span)?,
                        None => value,
                    });
                }
                let now = self.t().not(passed);
                so_far.returned = self.t().or([so_far.returned, now]);
                Ok(())
            }
            ActionKind::Break => {
                let now = self.t().not(passed);
                so_far.broken = self.t().or([so_far.broken, now]);
                Ok(())
            }
            ActionKind::Raise(..) | ActionKind::Set(..) | ActionKind::Choice(_) => {
                self.fail(action.span, "a function that is called in an expression changes only its own variables")
            }
        }
    }

    /// A function as a statement; its result goes there.
    pub fn run_function(
        &mut self,
        scope: &mut Scope<'a>,
        name: Name<'a>,
        args: &[Expr<'a>],
        result: Option<Tree>,
    ) -> Read<StmtId> {
        let (file, f, bound) = self.called_function(scope, name, args)?;
        let Err(body) = &f.body else { return Ok(self.t().skip()) };
        // Arguments are copied: the body may change what they were made of.
        let (mut parts, mut forget, mut copies) = (vec![], vec![], vec![]);
        for (p, shape, value) in bound {
            let v = self.declare(&format!("@{p}"), &shape);
            let default = self.default_tree(&shape);
            for ((to, value), default) in v.leaves().into_iter().zip(value.leaves()).zip(default.leaves()) {
                parts.push(self.put(to, value));
                forget.push(self.put(to, default));
            }
            copies.push((p, Bound::Variable(v)));
        }
        let early = match body.split_last() {
            Some((last, rest)) => {
                let ends = matches!(last.kind, ActionKind::Return(_));
                rest.iter().any(is_return) || (!ends && is_return(last))
            }
            None => false,
        };
        let returned = early.then(|| self.t().declare("@returned", Type::Bool));
        let frame = Frame { result, returned, broken: None };
        let done = self.inside(scope, file, copies, name, |w, scope| {
            let outer = std::mem::replace(&mut scope.frame, frame);
            let done = w.actions(scope, body);
            scope.frame = outer;
            done
        });
        parts.push(done?);
        if let Some(v) = returned {
            let no = self.t().bool(false);
            parts.push(self.t().assign(v, no));
        }
        parts.extend(forget);
        Ok(self.t().seq(parts))
    }
}

/// The variable that an assignment is about.
fn base_name<'a>(to: &Expr<'a>) -> Option<&'a str> {
    let mut at = to;
    loop {
        match &at.kind {
            ExprKind::Index(parts) => at = &parts[0],
            ExprKind::Field(of, _) => at = of,
            ExprKind::Path(path) => return Some(path[0].0),
            _ => return None,
        }
    }
}
