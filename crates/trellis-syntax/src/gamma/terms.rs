//! Expressions, triggers and actions as terms and statements.

use trellis_expr::{Division, EnumId, StmtId, TermId, Terms, Type, VarId};
use trellis_model::gamma::System;

use super::ast::{self, Action, ActionKind, Expr, ExprKind, Function, Name, Trigger};
use super::build::Port;
use super::packages::{File, lookup, unknown};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::{Errors, Read, Reported, count};

/// How many steps an unrolled loop may have.
const MAX_UNROLLED: i64 = 2_000;
/// How deeply functions may call each other.
const MAX_CALLS: usize = 10;

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    Value(TermId),
    Variable(VarId),
}

/// Where an expression stands.
#[derive(Default)]
pub struct Scope<'a> {
    pub file: usize,
    /// The innermost last.
    pub names: Vec<(&'a str, Bound)>,
    pub functions: Vec<Function<'a>>,
    pub ports: Vec<Port<'a>>,
    /// `Region.State`, with the condition that it is active.
    pub states: Vec<(String, TermId)>,
    /// Timeouts: variable and duration.
    pub timers: Vec<(&'a str, VarId, i64)>,
    /// What `this` means in an invariant of an interface.
    pub this: Option<&'a str>,
    /// How many functions are being inlined.
    pub calls: usize,
}

/// A function, the file in which it is, and its parameters.
type Called<'a> = (Function<'a>, usize, Vec<(&'a str, Bound)>);

/// Enumerations by file and name; those without a name of their own by place.
pub type Enums = Vec<((usize, String), EnumId)>;

/// Builds terms.
pub struct Words<'a, 'f> {
    pub files: &'f [File<'a>],
    pub errors: Errors,
    pub sys: System,
    pub enums: Enums,
}

impl<'a> Words<'a, '_> {
    pub fn t(&mut self) -> &mut Terms {
        &mut self.sys.terms
    }

    pub fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Read<T> {
        self.errors.fail(Diagnostic::error(span, message))
    }

    /// A type.
    pub fn ty(&mut self, file: usize, ty: &ast::Type<'a>) -> Read<Type> {
        match ty {
            ast::Type::Bool => Ok(Type::Bool),
            ast::Type::Int => Ok(Type::Int),
            ast::Type::Array(entry) => {
                let entry = self.ty(file, entry)?;
                Ok(self.t().array_type(Type::Int, entry))
            }
            ast::Type::Other(what, span) => self.fail(*span, format!("{what} are not read")),
            ast::Type::Enum(literals) => {
                let key = (usize::MAX, format!("{:?}", literals.first().map(|l| l.1)));
                Ok(Type::Enum(self.enumeration(key, "enum", literals)))
            }
            ast::Type::Named(name) => {
                let files = self.files;
                let found = lookup(files, file, |p| p.types.iter().find(|t| t.0.0 == name.0));
                let Some((there, (declared, ty))) = found else {
                    let all = files.iter().flat_map(|f| f.package.types.iter().map(|t| t.0.0));
                    let error = unknown("type", *name, all);
                    return self.errors.fail(error);
                };
                if let ast::Type::Enum(literals) = ty {
                    return Ok(Type::Enum(self.enumeration((there, declared.0.into()), declared.0, literals)));
                }
                if let ast::Type::Named(other) = ty
                    && other.0 == name.0
                {
                    return self.fail(name.1, "this type is itself");
                }
                self.ty(there, ty)
            }
        }
    }

    fn enumeration(&mut self, key: (usize, String), name: &str, literals: &[Name<'a>]) -> EnumId {
        if let Some((_, e)) = self.enums.iter().find(|(k, _)| *k == key) {
            return *e;
        }
        let literals = literals.iter().map(|l| l.0.to_string()).collect();
        let e = self.t().declare_enum(name, literals);
        self.enums.push((key, e));
        e
    }

    /// The value that variables of a type start with.
    pub fn default(&mut self, ty: Type) -> TermId {
        let t = self.t();
        match ty {
            Type::Bool => t.bool(false),
            Type::Enum(e) => t.enum_lit(e, 0),
            Type::Array(_, entry) => {
                let entry = self.sys.terms.type_of_id(entry);
                let value = self.default(entry);
                self.t().const_array(ty, value)
            }
            _ => t.int(0),
        }
    }

    /// An expression of a type.
    pub fn typed(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>, want: Type) -> Read<TermId> {
        if let (ExprKind::Array(entries), Type::Array(_, entry)) = (&e.kind, want) {
            let entry = self.sys.terms.type_of_id(entry);
            let mut array = self.default(want);
            for (n, value) in entries.iter().enumerate() {
                let value = self.typed(scope, value, entry)?;
                let index = self.t().int(n as i64);
                array = self.t().store(array, index, value);
            }
            return Ok(array);
        }
        let t = self.term(scope, e)?;
        let found = self.sys.terms.ty(t);
        if found != want {
            let message = format!("expected {}, found {}", self.called(want), self.called(found));
            return self.fail(e.span, message);
        }
        Ok(t)
    }

    fn called(&self, ty: Type) -> String {
        match ty {
            Type::Bool => "a truth value".into(),
            Type::Enum(e) => format!("a value of `{}`", self.sys.terms.enumeration(e).name),
            Type::Array(..) => "an array".into(),
            _ => "an integer".into(),
        }
    }

    /// An expression.
    pub fn term(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>) -> Read<TermId> {
        match &e.kind {
            ExprKind::Bool(b) => Ok(self.t().bool(*b)),
            ExprKind::Int(digits) => match digits.parse::<i64>() {
                Ok(n) => Ok(self.t().int(n)),
                Err(_) => self.fail(e.span, "this number is too large"),
            },
            ExprKind::Not(a) => {
                let a = self.typed(scope, a, Type::Bool)?;
                Ok(self.t().not(a))
            }
            ExprKind::Neg(a) => {
                let a = self.typed(scope, a, Type::Int)?;
                Ok(self.t().neg(a))
            }
            ExprKind::Ite(parts) => {
                let [c, a, b] = &**parts;
                let c = self.typed(scope, c, Type::Bool)?;
                let a = self.term(scope, a)?;
                let ty = self.sys.terms.ty(a);
                let b = self.typed(scope, b, ty)?;
                Ok(self.t().ite(c, a, b))
            }
            ExprKind::Two(op, parts) => self.two(scope, op, &parts[0], &parts[1]),
            ExprKind::Index(parts) => {
                let a = self.term(scope, &parts[0])?;
                if !matches!(self.sys.terms.ty(a), Type::Array(..)) {
                    return self.fail(parts[0].span, "this is no array");
                }
                let i = self.typed(scope, &parts[1], Type::Int)?;
                Ok(self.t().select(a, i))
            }
            ExprKind::Path(path) => match &path[..] {
                [name] => match self.bound(scope, *name)? {
                    Bound::Value(t) => Ok(t),
                    Bound::Variable(v) => Ok(self.t().var(v)),
                },
                _ => {
                    self.fail(e.span, "records are not read, and a parameter of an event is written `Port.event::name`")
                }
            },
            ExprKind::Param(path, name) => self.param(scope, path, *name, e.span),
            ExprKind::About("state", path) => {
                let ExprKind::Path(path) = &path.kind else { return self.fail(e.span, "expected `Region.State`") };
                let name: Vec<&str> = path.iter().map(|n| n.0).collect();
                let name = name.join(".");
                match scope.states.iter().find(|(n, _)| *n == name) {
                    Some((_, t)) => Ok(*t),
                    None => self.fail(e.span, format!("there is no state `{name}`")),
                }
            }
            ExprKind::Call(name, args) => self.call(scope, *name, args),
            ExprKind::About(..) | ExprKind::Raised(..) => {
                self.fail(e.span, "this is written in properties and traces only")
            }
            ExprKind::Array(_) => self.fail(e.span, "an array stands only where its type is clear"),
        }
    }

    fn two(&mut self, scope: &mut Scope<'a>, op: &str, a: &Expr<'a>, b: &Expr<'a>) -> Read<TermId> {
        if matches!(op, "and" | "or" | "xor" | "imply") {
            let (a, b) = (self.typed(scope, a, Type::Bool)?, self.typed(scope, b, Type::Bool)?);
            let t = self.t();
            return Ok(match op {
                "and" => t.and([a, b]),
                "or" => t.or([a, b]),
                "xor" => t.ne(a, b),
                _ => t.implies(a, b),
            });
        }
        if matches!(op, "=" | "/=") {
            let x = self.term(scope, a)?;
            let ty = self.sys.terms.ty(x);
            let y = self.typed(scope, b, ty)?;
            let t = self.t();
            return Ok(if op == "=" { t.eq(x, y) } else { t.ne(x, y) });
        }
        let (x, y) = (self.typed(scope, a, Type::Int)?, self.typed(scope, b, Type::Int)?);
        if matches!(op, "/" | "%") && self.sys.terms.as_int(y).is_none_or(|n| n == 0) {
            return self.fail(b.span, "only divisors that are constants, and not 0, are read");
        }
        let t = self.t();
        Ok(match op {
            "<" => t.lt(x, y),
            "<=" => t.le(x, y),
            ">" => t.lt(y, x),
            ">=" => t.le(y, x),
            "+" => t.add([x, y]),
            "-" => t.sub(x, y),
            "*" => t.mul(x, y),
            "/" => t.div(Division::Truncating, x, y),
            _ => t.rem(Division::Truncating, x, y),
        })
    }

    /// What a name stands for: locals, variables, parameters, constants.
    fn bound(&mut self, scope: &mut Scope<'a>, name: Name<'a>) -> Read<Bound> {
        if let Some((_, b)) = scope.names.iter().rev().find(|(n, _)| *n == name.0) {
            return Ok(*b);
        }
        let files = self.files;
        if let Some((file, c)) = lookup(files, scope.file, |p| p.constants.iter().find(|c| c.name.0 == name.0)) {
            let ty = self.ty(file, &c.ty)?;
            let mut there = Scope { file, calls: scope.calls + 1, ..Scope::default() };
            if there.calls > MAX_CALLS {
                return self.fail(name.1, "this constant depends on itself");
            }
            return Ok(Bound::Value(match &c.value {
                Some(value) => self.typed(&mut there, value, ty)?,
                None => self.default(ty),
            }));
        }
        let all: Vec<&str> = scope.names.iter().map(|(n, _)| *n).collect();
        let error = unknown("variable, parameter or constant", name, all);
        self.errors.fail(error)
    }

    /// `Enum::Literal`, `Port.event::parameter`, `Port.event::`.
    fn param(&mut self, scope: &mut Scope<'a>, path: &[Name<'a>], name: Option<Name<'a>>, span: Span) -> Read<TermId> {
        match (path, name) {
            ([ty], Some(literal)) => {
                let Type::Enum(e) = self.ty(scope.file, &ast::Type::Named(*ty))? else {
                    return self.fail(ty.1, "this is no enumeration");
                };
                let literals = self.sys.terms.enumeration(e).literals.clone();
                match literals.iter().position(|l| l == literal.0) {
                    Some(n) => Ok(self.t().enum_lit(e, n as u32)),
                    None => {
                        let error = unknown("literal", literal, literals.iter().map(String::as_str));
                        self.errors.fail(error)
                    }
                }
            }
            ([port, event], name) => {
                let port = match (port.0, scope.this) {
                    ("this", Some(this)) => (this, port.1),
                    _ => *port,
                };
                let (input, _) = self.event(scope, port, *event)?;
                let Some(signal) = input else {
                    return self.fail(event.1, format!("`{}` is no input here", event.0));
                };
                let signal = self.sys.signals[signal].clone();
                let Some(name) = name else { return Ok(self.t().var(signal.flag)) };
                match signal.params.iter().find(|(p, _, _)| p == name.0) {
                    Some((_, v, _)) => Ok(self.t().var(*v)),
                    None => {
                        let error = unknown("parameter", name, signal.params.iter().map(|(p, _, _)| p.as_str()));
                        self.errors.fail(error)
                    }
                }
            }
            _ => self.fail(span, "expected `Type::Literal` or `Port.event::parameter`"),
        }
    }

    /// An event of a port of a statechart, as it comes and as it goes.
    fn event(&mut self, scope: &Scope<'a>, port: Name<'a>, event: Name<'a>) -> Read<(Option<usize>, Option<usize>)> {
        let Some(found) = scope.ports.iter().find(|p| p.name == port.0) else {
            let error = unknown("port", port, scope.ports.iter().map(|p| p.name));
            return self.errors.fail(error);
        };
        let Some(e) = found.events.iter().find(|e| e.name == event.0) else {
            let error = unknown("event", event, found.events.iter().map(|e| e.name));
            return self.errors.fail(error);
        };
        Ok((e.ins.first().copied(), e.outs.first().copied()))
    }

    /// A trigger.
    pub fn trigger(&mut self, scope: &mut Scope<'a>, trigger: &Trigger<'a>) -> Read<TermId> {
        Ok(match trigger {
            Trigger::Cycle => self.t().bool(true),
            Trigger::Any => {
                let all: Vec<usize> =
                    scope.ports.iter().flat_map(|p| p.events.iter().flat_map(|e| e.ins.clone())).collect();
                self.some(&all)
            }
            Trigger::PortAny(port) => {
                let Some(found) = scope.ports.iter().find(|p| p.name == port.0) else {
                    let error = unknown("port", *port, scope.ports.iter().map(|p| p.name));
                    return self.errors.fail(error);
                };
                let all: Vec<usize> = found.events.iter().flat_map(|e| e.ins.clone()).collect();
                self.some(&all)
            }
            Trigger::Event(port, event) => match self.event(scope, *port, *event)?.0 {
                Some(signal) => self.some(&[signal]),
                None => return self.fail(event.1, format!("`{}` is no input here", event.0)),
            },
            Trigger::Timeout(name) => {
                let Some((_, v, _)) = scope.timers.iter().find(|t| t.0 == name.0) else {
                    let error = unknown("timeout", *name, scope.timers.iter().map(|t| t.0));
                    return self.errors.fail(error);
                };
                let (left, zero) = (self.sys.terms.var(*v), self.sys.terms.int(0));
                self.t().eq(left, zero)
            }
            Trigger::Not(inner) => {
                let inner = self.trigger(scope, inner)?;
                self.t().not(inner)
            }
            Trigger::Two(op, parts) => {
                let (a, b) = (self.trigger(scope, &parts[0])?, self.trigger(scope, &parts[1])?);
                let t = self.t();
                match *op {
                    "&&" => t.and([a, b]),
                    "||" => t.or([a, b]),
                    "^" => t.ne(a, b),
                    "->" => t.implies(a, b),
                    _ => t.eq(a, b),
                }
            }
        })
    }

    /// Is one of these raised?
    pub fn some(&mut self, signals: &[usize]) -> TermId {
        let flags: Vec<VarId> = signals.iter().map(|s| self.sys.signals[*s].flag).collect();
        let flags: Vec<TermId> = flags.into_iter().map(|f| self.t().var(f)).collect();
        self.t().or(flags)
    }

    /// The function and what its parameters are.
    fn called_function(&mut self, scope: &mut Scope<'a>, name: Name<'a>, args: &[Expr<'a>]) -> Read<Called<'a>> {
        let own = scope.functions.iter().find(|f| f.name.0 == name.0).map(|f| (scope.file, f.clone()));
        let files = self.files;
        let shared = || {
            lookup(files, scope.file, |p| p.functions.iter().find(|f| f.name.0 == name.0)).map(|(n, f)| (n, f.clone()))
        };
        let Some((file, f)) = own.or_else(shared) else {
            let error = unknown("function", name, scope.functions.iter().map(|f| f.name.0));
            return self.errors.fail(error);
        };
        if f.params.len() != args.len() {
            let message = format!("`{}` takes {}", name.0, count(f.params.len(), "argument"));
            return self.fail(name.1, message);
        }
        let mut bound = vec![];
        for (p, arg) in f.params.iter().zip(args) {
            let ty = self.ty(file, &p.ty)?;
            bound.push((p.name.0, Bound::Value(self.typed(scope, arg, ty)?)));
        }
        Ok((f, file, bound))
    }

    fn call(&mut self, scope: &mut Scope<'a>, name: Name<'a>, args: &[Expr<'a>]) -> Read<TermId> {
        let (f, file, bound) = self.called_function(scope, name, args)?;
        let body = match (&f.body, f.body.as_ref().err().map(Vec::as_slice)) {
            (Ok(e), _) => e.clone(),
            (_, Some([Action { kind: ActionKind::Return(Some(e)), .. }])) => e.clone(),
            _ => return self.fail(name.1, "in an expression, only functions that are one expression are read"),
        };
        self.inside(scope, file, bound, name, |w, scope| w.term(scope, &body))
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

    /// Actions, one after the other; local variables are forgotten at the end.
    pub fn actions(&mut self, scope: &mut Scope<'a>, all: &[Action<'a>]) -> Read<StmtId> {
        let mark = scope.names.len();
        let mut parts = vec![];
        let mut forget = vec![];
        let mut failed = false;
        for (n, action) in all.iter().enumerate() {
            match &action.kind {
                ActionKind::Local(local) => {
                    let ty = self.ty(scope.file, &local.ty)?;
                    let default = self.default(ty);
                    let value = match &local.value {
                        Some(value) => self.typed(scope, value, ty)?,
                        None => default,
                    };
                    let name = format!("@{}", local.name.0);
                    let v = self.t().declare(name, ty);
                    parts.push(self.t().assign(v, value));
                    forget.push(self.t().assign(v, default));
                    scope.names.push((local.name.0, Bound::Variable(v)));
                }
                ActionKind::Return(None) if scope.calls > 0 && n + 1 == all.len() => {}
                _ => match self.action(scope, action) {
                    Ok(s) => parts.push(s),
                    Err(Reported) => failed = true,
                },
            }
        }
        scope.names.truncate(mark);
        parts.extend(forget);
        if failed { Err(Reported) } else { Ok(self.t().seq(parts)) }
    }

    fn action(&mut self, scope: &mut Scope<'a>, action: &Action<'a>) -> Read<StmtId> {
        match &action.kind {
            ActionKind::Nothing | ActionKind::Assert => Ok(self.t().skip()),
            ActionKind::Block(all) => self.actions(scope, all),
            ActionKind::Assign(to, value) => self.assign(scope, to, value),
            ActionKind::Raise(port, event, args) => {
                let (_, Some(signal)) = self.event(scope, *port, *event)? else {
                    return self.fail(event.1, format!("`{}` is no output here", event.0));
                };
                let signal = self.sys.signals[signal].clone();
                if !args.is_empty() && args.len() != signal.params.len() {
                    let message = format!("`{}` carries {}", event.0, count(signal.params.len(), "value"));
                    return self.fail(event.1, message);
                }
                let mut parts = vec![];
                for ((_, v, _), arg) in signal.params.iter().zip(args) {
                    let ty = self.sys.terms.variable(*v).ty;
                    let value = self.typed(scope, arg, ty)?;
                    parts.push(self.t().assign(*v, value));
                }
                let yes = self.t().bool(true);
                parts.push(self.t().assign(signal.flag, yes));
                Ok(self.t().seq(parts))
            }
            ActionKind::Set(name, _) => {
                let Some((_, v, duration)) = scope.timers.iter().find(|t| t.0 == name.0).copied() else {
                    let error = unknown("timeout", *name, scope.timers.iter().map(|t| t.0));
                    return self.errors.fail(error);
                };
                let duration = self.t().int(duration);
                Ok(self.t().assign(v, duration))
            }
            ActionKind::If(c, then, or) => {
                let c = self.typed(scope, c, Type::Bool)?;
                let (then, or) = (self.actions(scope, then)?, self.actions(scope, or)?);
                Ok(self.t().branch(c, then, or))
            }
            ActionKind::Switch(e, cases, or) => {
                let e = self.term(scope, e)?;
                let ty = self.sys.terms.ty(e);
                let mut last = self.actions(scope, or)?;
                for (value, body) in cases.iter().rev() {
                    let value = self.typed(scope, value, ty)?;
                    let body = self.actions(scope, body)?;
                    let c = self.t().eq(e, value);
                    last = self.t().branch(c, body, last);
                }
                Ok(last)
            }
            ActionKind::For(counter, from, to, body) => {
                let (first, end) = (self.typed(scope, from, Type::Int)?, self.typed(scope, to, Type::Int)?);
                let (Some(first), Some(end)) = (self.sys.terms.as_int(first), self.sys.terms.as_int(end)) else {
                    return self.fail(from.span, "only loops with constant bounds are read");
                };
                if end.saturating_sub(first) > MAX_UNROLLED {
                    return self.fail(from.span, format!("this loop has more than {MAX_UNROLLED} steps"));
                }
                let mut parts = vec![];
                for n in first..end {
                    let n = self.t().int(n);
                    scope.names.push((counter.0, Bound::Value(n)));
                    let step = self.actions(scope, body);
                    scope.names.pop();
                    parts.push(step?);
                }
                Ok(self.t().seq(parts))
            }
            ActionKind::Choice(branches) => {
                let (mut parts, mut guards) = (vec![], vec![]);
                let mut otherwise = self.t().skip();
                for (guard, body) in branches {
                    let body = self.actions(scope, body)?;
                    let Some(guard) = guard else {
                        otherwise = body;
                        continue;
                    };
                    let guard = self.typed(scope, guard, Type::Bool)?;
                    guards.push(guard);
                    let assume = self.t().assume(guard);
                    parts.push(self.t().seq([assume, body]));
                }
                let any = self.t().or(guards);
                let none = self.t().not(any);
                let none = self.t().assume(none);
                parts.push(self.t().seq([none, otherwise]));
                Ok(self.t().choice(parts))
            }
            ActionKind::Call(name, args) => {
                let (f, file, bound) = self.called_function(scope, *name, args)?;
                let Err(body) = &f.body else { return Ok(self.t().skip()) };
                // Arguments are copied: the body may change what they were made of.
                let (mut parts, mut forget, mut copies) = (vec![], vec![], vec![]);
                for (p, b) in bound {
                    let Bound::Value(value) = b else { continue };
                    let ty = self.sys.terms.ty(value);
                    let v = self.t().declare(format!("@{p}"), ty);
                    let default = self.default(ty);
                    parts.push(self.t().assign(v, value));
                    forget.push(self.t().assign(v, default));
                    copies.push((p, Bound::Variable(v)));
                }
                parts.push(self.inside(scope, file, copies, *name, |w, scope| w.actions(scope, body))?);
                parts.extend(forget);
                Ok(self.t().seq(parts))
            }
            ActionKind::Local(_) => self.actions(scope, std::slice::from_ref(action)),
            ActionKind::Return(_) => self.fail(action.span, "`return` is read only at the end of a procedure"),
        }
    }

    fn assign(&mut self, scope: &mut Scope<'a>, to: &Expr<'a>, value: &Expr<'a>) -> Read<StmtId> {
        let mut indices = vec![];
        let mut at = to;
        while let ExprKind::Index(parts) = &at.kind {
            indices.push(&parts[1]);
            at = &parts[0];
        }
        indices.reverse();
        let ExprKind::Path(path) = &at.kind else { return self.fail(to.span, "this cannot be assigned") };
        let [name] = path[..] else { return self.fail(to.span, "records are not read") };
        let Bound::Variable(v) = self.bound(scope, name)? else {
            return self.fail(to.span, format!("`{}` is not a variable", name.0));
        };
        // From the outside in, then values from the inside out.
        let mut arrays = vec![self.sys.terms.var(v)];
        let mut places = vec![];
        for i in indices {
            let array = *arrays.last().expect("one at least");
            if !matches!(self.sys.terms.ty(array), Type::Array(..)) {
                return self.fail(to.span, "this is no array");
            }
            let i = self.typed(scope, i, Type::Int)?;
            places.push(i);
            arrays.push(self.t().select(array, i));
        }
        let inner = arrays.pop().expect("one at least");
        let ty = self.sys.terms.ty(inner);
        let mut value = self.typed(scope, value, ty)?;
        while let (Some(array), Some(i)) = (arrays.pop(), places.pop()) {
            value = self.t().store(array, i, value);
        }
        Ok(self.t().assign(v, value))
    }
}
