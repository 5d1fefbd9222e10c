//! Expressions and triggers as terms.

use trellis_expr::{Division, EnumId, TermId, Terms, Type, VarId};
use trellis_model::gamma::System;

use super::ast::{self, Expr, ExprKind, Function, Name, Trigger};
use super::build::Port;
use super::packages::{File, lookup, unknown};
use super::shape::{Shape, Tree};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::{Errors, Read};

/// How deeply functions may call each other.
pub const MAX_CALLS: usize = 10;
/// So many values of a quantified variable are gone through.
const MAX_VALUES: usize = 1_000;

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Bound {
    Value(Tree),
    /// Its leaves are variables.
    Variable(Tree),
    /// A local variable of a function that is evaluated where it is called: its value there.
    Local(Tree),
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
    /// Where the result of the function goes, and what says that it has ended; and that the loop has.
    pub frame: Frame,
}

/// What `return` and `break` do.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    pub result: Option<Tree>,
    pub returned: Option<VarId>,
    pub broken: Option<VarId>,
}

/// Enumerations by file and name; those without a name of their own by place.
pub type Enums = Vec<((usize, String), EnumId)>;

/// Builds terms.
pub struct Words<'a, 'f> {
    pub files: &'f [File<'a>],
    pub errors: Errors,
    pub sys: System,
    pub enums: Enums,
    /// How many types are being looked up within each other.
    pub types: usize,
}

impl<'a, 'f> Words<'a, 'f> {
    pub fn new(files: &'f [File<'a>], sys: System, enums: Enums) -> Words<'a, 'f> {
        Words { files, errors: Errors::default(), sys, enums, types: 0 }
    }
}

impl<'a> Words<'a, '_> {
    pub fn t(&mut self) -> &mut Terms {
        &mut self.sys.terms
    }

    pub fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Read<T> {
        self.errors.fail(Diagnostic::error(span, message))
    }

    pub fn enumeration(&mut self, key: (usize, String), name: &str, literals: &[Name<'a>]) -> EnumId {
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
            // 0, if there is one.
            Type::Range(lo, hi) => t.int(0.clamp(lo, hi)),
            _ => t.int(0),
        }
    }

    /// An expression of a type that is no record. What is within bounds is an integer; a constant out of them is a mistake.
    pub fn typed(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>, want: Type) -> Read<TermId> {
        if let (ExprKind::Array(entries), Type::Array(_, entry)) = (&e.kind, want) {
            let entry = self.sys.terms.type_of_id(entry);
            let mut array = self.default(want);
            for (n, value) in entries.iter().enumerate() {
                let span = value.span;
                let value = self.typed(scope, value, entry)?;
                if let Type::Range(lo, hi) = entry
                    && !self.sys.terms.lies_within(value, lo, hi)
                {
                    return self.fail(span, format!("only numbers between {lo} and {hi} that are known are read here"));
                }
                let index = self.t().int(n as i64);
                array = self.t().store(array, index, value);
            }
            return Ok(array);
        }
        let t = self.term(scope, e)?;
        let found = self.sys.terms.ty(t);
        if let (Type::Range(lo, hi), Some(n)) = (want, self.sys.terms.as_int(t))
            && !(lo..=hi).contains(&n)
        {
            return self.fail(e.span, format!("{n} is not between {lo} and {hi}"));
        }
        if self.sys.terms.sort(found) != self.sys.terms.sort(want) {
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

    /// An expression that is no record.
    pub fn term(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>) -> Read<TermId> {
        match self.tree(scope, e)? {
            Tree::Leaf(t) => Ok(t),
            Tree::Record(name, _) => {
                self.fail(e.span, format!("this is a record (`{name}`); here a single value is needed"))
            }
            Tree::Records(_, name, _) => self.fail(e.span, format!("this is an array of records (`{name}`)")),
        }
    }

    /// An expression.
    pub fn tree(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>) -> Read<Tree> {
        let leaf = match &e.kind {
            ExprKind::Bool(b) => self.t().bool(*b),
            ExprKind::Int(digits) => match digits.parse::<i64>() {
                Ok(n) => self.t().int(n),
                Err(_) => return self.fail(e.span, "this number is too large"),
            },
            ExprKind::Not(a) => {
                let a = self.typed(scope, a, Type::Bool)?;
                self.t().not(a)
            }
            ExprKind::Neg(a) => {
                let a = self.typed(scope, a, Type::Int)?;
                self.t().neg(a)
            }
            ExprKind::Ite(parts) => {
                let [c, a, b] = &**parts;
                let c = self.typed(scope, c, Type::Bool)?;
                let (x, y) = (self.tree(scope, a)?, self.tree(scope, b)?);
                return self.either(c, &x, &y, b.span);
            }
            ExprKind::Two(op, parts) => self.two(scope, op, &parts[0], &parts[1])?,
            ExprKind::Index(parts) => {
                let a = self.tree(scope, &parts[0])?;
                let i = self.typed(scope, &parts[1], Type::Int)?;
                if let Some(entry) = a.entry(&mut |t| self.sys.terms.select(t, i)) {
                    return Ok(entry);
                }
                match a {
                    Tree::Leaf(a) if matches!(self.sys.terms.ty(a), Type::Array(..)) => self.t().select(a, i),
                    _ => return self.fail(parts[0].span, "this is no array"),
                }
            }
            ExprKind::Path(path) => {
                let (Bound::Value(t) | Bound::Variable(t) | Bound::Local(t)) = self.bound(scope, path[0])?;
                return path[1..].iter().try_fold(t, |t, field| self.field(&t, *field));
            }
            ExprKind::Field(of, field) => {
                let of = self.tree(scope, of)?;
                return self.field(&of, *field);
            }
            ExprKind::Record(name, fields) => return self.record(scope, *name, fields),
            ExprKind::Quantified(all, name, ty, body) => self.quantified(scope, *all, *name, ty, body)?,
            ExprKind::Param(path, name) => return self.param(scope, path, *name, e.span),
            ExprKind::About("state", path) => {
                let ExprKind::Path(path) = &path.kind else { return self.fail(e.span, "expected `Region.State`") };
                let name: Vec<&str> = path.iter().map(|n| n.0).collect();
                let name = name.join(".");
                match scope.states.iter().find(|(n, _)| *n == name) {
                    Some((_, t)) => *t,
                    None => return self.fail(e.span, format!("there is no state `{name}`")),
                }
            }
            ExprKind::Call(name, args) => return self.call(scope, *name, args),
            ExprKind::About(..) | ExprKind::Raised(..) => {
                return self.fail(e.span, "this is written in properties and traces only");
            }
            ExprKind::Array(_) => return self.fail(e.span, "an array stands only where its type is clear"),
        };
        Ok(Tree::Leaf(leaf))
    }

    fn field(&mut self, of: &Tree, field: Name<'a>) -> Read<Tree> {
        if let Some(found) = of.field(field.0) {
            return Ok(found.clone());
        }
        let error = match of {
            Tree::Record(_, fields) => unknown("field", field, fields.iter().map(|(n, _)| n.as_str())),
            _ => Diagnostic::error(field.1, format!("`{}` is a field of nothing here", field.0))
                .help("a parameter of an event is written `Port.event::name`"),
        };
        self.errors.fail(error)
    }

    fn record(&mut self, scope: &mut Scope<'a>, name: Name<'a>, fields: &[(Name<'a>, Expr<'a>)]) -> Read<Tree> {
        let Shape::Record(record, shapes) = self.shape(scope.file, &ast::Type::Named(name))? else {
            return self.fail(name.1, format!("`{}` is no record", name.0));
        };
        if let Some((field, _)) = fields.iter().find(|(f, _)| !shapes.iter().any(|(n, _)| n == f.0)) {
            let error = unknown("field", *field, shapes.iter().map(|(n, _)| n.as_str()));
            return self.errors.fail(error);
        }
        let mut all = vec![];
        for (field, shape) in &shapes {
            let value = match fields.iter().find(|(f, _)| f.0 == field) {
                Some((_, value)) => self.within(scope, value, shape)?,
                None => self.default_tree(shape),
            };
            all.push((field.clone(), value));
        }
        Ok(Tree::Record(record, all))
    }

    /// What is certainly within the bounds of its type.
    pub fn within(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>, shape: &Shape) -> Read<Tree> {
        let value = self.shaped(scope, e, shape)?;
        for (t, (_, ty)) in value.leaves().into_iter().zip(shape.leaves()) {
            if let Type::Range(lo, hi) = ty
                && !self.sys.terms.lies_within(t, lo, hi)
            {
                return self.fail(e.span, format!("only numbers between {lo} and {hi} that are known are read here"));
            }
        }
        Ok(value)
    }

    /// For all values of a type, or for some.
    fn quantified(
        &mut self,
        scope: &mut Scope<'a>,
        all: bool,
        name: Name<'a>,
        ty: &ast::Type<'a>,
        body: &Expr<'a>,
    ) -> Read<TermId> {
        let ty = self.ty(scope.file, ty, name.1)?;
        let Some(values) = trellis_expr::Value::all(&self.sys.terms, ty, MAX_VALUES) else {
            return self.fail(name.1, "only variables of few values are quantified: write `#[0 to 7]`, not `integer`");
        };
        let mut parts = vec![];
        for value in values {
            let Some(value) = self.t().literal(&value) else { continue };
            scope.names.push((name.0, Bound::Value(Tree::Leaf(value))));
            let part = self.typed(scope, body, Type::Bool);
            scope.names.pop();
            parts.push(part?);
        }
        Ok(if all { self.t().and(parts) } else { self.t().or(parts) })
    }

    /// One value or the other.
    pub fn either(&mut self, c: TermId, a: &Tree, b: &Tree, span: Span) -> Read<Tree> {
        let same = a.is_like(b)
            && a.leaves().into_iter().zip(b.leaves()).all(|(x, y)| {
                let terms = &self.sys.terms;
                terms.sort(terms.ty(x)) == terms.sort(terms.ty(y))
            });
        if !same {
            return self.fail(span, "these have different types");
        }
        let mut others = b.leaves().into_iter();
        Ok(a.map(&mut |x| others.next().map_or(x, |y| self.sys.terms.ite(c, x, y))))
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
            let x = self.tree(scope, a)?;
            let equal = if let Tree::Leaf(x) = x {
                let ty = self.sys.terms.ty(x);
                let y = self.typed(scope, b, ty)?;
                self.t().eq(x, y)
            } else {
                let y = self.tree(scope, b)?;
                if !x.is_like(&y) {
                    return self.fail(b.span, "these have different types");
                }
                let pairs: Vec<_> = x.leaves().into_iter().zip(y.leaves()).collect();
                let each: Vec<TermId> = pairs.into_iter().map(|(x, y)| self.sys.terms.eq(x, y)).collect();
                self.t().and(each)
            };
            return Ok(if op == "=" { equal } else { self.t().not(equal) });
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
    pub fn bound(&mut self, scope: &mut Scope<'a>, name: Name<'a>) -> Read<Bound> {
        if let Some((_, b)) = scope.names.iter().rev().find(|(n, _)| *n == name.0) {
            return Ok(b.clone());
        }
        let files = self.files;
        if let Some((file, c)) = lookup(files, scope.file, |p| p.constants.iter().find(|c| c.name.0 == name.0)) {
            let shape = self.shape(file, &c.ty)?;
            let mut there = Scope { file, calls: scope.calls + 1, ..Scope::default() };
            if there.calls > MAX_CALLS {
                return self.fail(name.1, "this constant depends on itself");
            }
            return Ok(Bound::Value(match &c.value {
                Some(value) => self.shaped(&mut there, value, &shape)?,
                None => self.default_tree(&shape),
            }));
        }
        let all: Vec<&str> = scope.names.iter().map(|(n, _)| *n).collect();
        let error = unknown("variable, parameter or constant", name, all);
        self.errors.fail(error)
    }

    /// `Enum::Literal`, `Port.event::parameter`, `Port.event::`.
    fn param(&mut self, scope: &mut Scope<'a>, path: &[Name<'a>], name: Option<Name<'a>>, span: Span) -> Read<Tree> {
        match (path, name) {
            ([ty], Some(literal)) => {
                let Type::Enum(e) = self.ty(scope.file, &ast::Type::Named(*ty), ty.1)? else {
                    return self.fail(ty.1, "this is no enumeration");
                };
                let literals = self.sys.terms.enumeration(e).literals.clone();
                match literals.iter().position(|l| l == literal.0) {
                    Some(n) => Ok(Tree::Leaf(self.t().enum_lit(e, n as u32))),
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
                let Some(name) = name else { return Ok(Tree::Leaf(self.t().var(signal.flag))) };
                let groups = self.groups(&signal.params, &signal.records);
                match groups.iter().position(|(p, _)| p == name.0) {
                    Some(n) => Ok(groups[n].1.clone()),
                    None => {
                        let error = unknown("parameter", name, groups.iter().map(|(p, _)| p.as_str()));
                        self.errors.fail(error)
                    }
                }
            }
            _ => self.fail(span, "expected `Type::Literal` or `Port.event::parameter`"),
        }
    }

    /// The parameters of an event as they are declared, records put together again.
    pub fn groups(&mut self, params: &[(String, VarId, TermId)], records: &[(String, String)]) -> Vec<(String, Tree)> {
        fn add(at: &mut Vec<(String, Tree)>, before: &str, way: &str, leaf: TermId, records: &[(String, String)]) {
            let Some((first, rest)) = way.split_once('.') else {
                at.push((way.to_string(), Tree::Leaf(leaf)));
                return;
            };
            let whole = format!("{before}{first}");
            let known = at.iter().position(|(n, _)| n == first).unwrap_or_else(|| {
                let name = records.iter().find(|(p, _)| *p == whole).map_or(String::new(), |r| r.1.clone());
                at.push((first.to_string(), Tree::Record(name, vec![])));
                at.len() - 1
            });
            if let Tree::Record(_, fields) = &mut at[known].1 {
                add(fields, &format!("{whole}."), rest, leaf, records);
            }
        }
        let mut all = vec![];
        for (name, v, _) in params {
            let leaf = self.t().var(*v);
            add(&mut all, "", name, leaf, records);
        }
        all
    }

    /// An event of a port of a statechart, as it comes and as it goes.
    pub fn event(
        &mut self,
        scope: &Scope<'a>,
        port: Name<'a>,
        event: Name<'a>,
    ) -> Read<(Option<usize>, Option<usize>)> {
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
}
