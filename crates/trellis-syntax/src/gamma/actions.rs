//! Actions as statements. `return` and `break` in the middle of something are truth values that what follows looks at.

use trellis_expr::{StmtId, TermId, Type, VarId};

use super::ast::{Action, ActionKind, Expr, ExprKind, Name};
use super::packages::unknown;
use super::shape::Tree;
use super::terms::{Bound, Scope, Words};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::{Read, Reported, count};

/// How many steps an unrolled loop may have.
const MAX_UNROLLED: i64 = 2_000;

/// One step into what is assigned.
pub enum Way<'a> {
    Field(Name<'a>),
    Index(TermId),
}

/// May something in there end more than itself?
pub fn may_stop(action: &Action<'_>) -> bool {
    let any = |all: &[Action<'_>]| all.iter().any(may_stop);
    match &action.kind {
        ActionKind::Return(_) | ActionKind::Break => true,
        ActionKind::Block(all) | ActionKind::For(_, _, _, all) => any(all),
        ActionKind::If(_, a, b) => any(a) || any(b),
        ActionKind::Switch(_, cases, or) => cases.iter().any(|(_, body)| any(body)) || any(or),
        ActionKind::Choice(branches) => branches.iter().any(|(_, body)| any(body)),
        _ => false,
    }
}

impl<'a> Words<'a, '_> {
    /// Actions, one after the other; local variables are forgotten at the end.
    pub fn actions(&mut self, scope: &mut Scope<'a>, all: &[Action<'a>]) -> Read<StmtId> {
        let mark = scope.names.len();
        let mut forget = vec![];
        let done = self.one_by_one(scope, all, &mut forget);
        scope.names.truncate(mark);
        let done = done?;
        Ok(self.t().seq(std::iter::once(done).chain(forget)))
    }

    fn one_by_one(&mut self, scope: &mut Scope<'a>, all: &[Action<'a>], forget: &mut Vec<StmtId>) -> Read<StmtId> {
        let mut parts = vec![];
        let mut failed = false;
        for (n, action) in all.iter().enumerate() {
            let read = match &action.kind {
                ActionKind::Local(local) => {
                    let shape = self.shape(scope.file, &local.ty)?;
                    let default = self.default_tree(&shape);
                    let v = self.declare(&format!("@{}", local.name.0), &shape);
                    for (v, value) in v.leaves().into_iter().zip(default.leaves()) {
                        let reset = self.put(v, value);
                        forget.push(reset);
                    }
                    let set = match &local.value {
                        Some(value) => self.assign_tree(scope, &v, value, &[])?,
                        None => self.put_tree(&v, &default),
                    };
                    scope.names.push((local.name.0, Bound::Variable(v)));
                    Ok(set)
                }
                _ => self.action(scope, action),
            };
            match read {
                Ok(s) => parts.push(s),
                Err(Reported) => failed = true,
            }
            let rest = &all[n + 1..];
            if may_stop(action) && !rest.is_empty() {
                let stopped: Vec<VarId> = scope.frame.returned.into_iter().chain(scope.frame.broken).collect();
                let stopped: Vec<TermId> = stopped.into_iter().map(|v| self.t().var(v)).collect();
                let stopped = self.t().or(stopped);
                let rest = self.one_by_one(scope, rest, forget)?;
                let skip = self.t().skip();
                parts.push(self.t().branch(stopped, skip, rest));
                break;
            }
        }
        if failed { Err(Reported) } else { Ok(self.t().seq(parts)) }
    }

    fn action(&mut self, scope: &mut Scope<'a>, action: &Action<'a>) -> Read<StmtId> {
        match &action.kind {
            ActionKind::Nothing => Ok(self.t().skip()),
            ActionKind::Assert => {
                let warning = Diagnostic::warning(action.span, "`assert` is not checked; it does nothing")
                    .help("ask it as a property: `--error`, `-p 'A[] …'` or `--ltl`");
                self.errors.push(warning);
                Ok(self.t().skip())
            }
            ActionKind::Block(all) => self.actions(scope, all),
            ActionKind::Assign(to, value) => self.assign(scope, to, value),
            ActionKind::Raise(port, event, args) => {
                let (_, Some(signal)) = self.event(scope, *port, *event)? else {
                    return self.fail(event.1, format!("`{}` is no output here", event.0));
                };
                let flag = self.sys.signals[signal].flag;
                let mut parts = vec![];
                if !args.is_empty() {
                    for (v, value) in self.arguments(scope, signal, *event, args)? {
                        let v = self.t().var(v);
                        parts.push(self.put(v, value));
                    }
                }
                let yes = self.t().bool(true);
                parts.push(self.t().assign(flag, yes));
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
            ActionKind::For(counter, from, to, body) => self.unrolled(scope, *counter, (from, to), body),
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
            ActionKind::Call(name, args) => self.run_function(scope, *name, args, None),
            ActionKind::Local(_) => self.actions(scope, std::slice::from_ref(action)),
            ActionKind::Return(value) => self.give_back(scope, value.as_ref(), action.span),
            ActionKind::Break => {
                let Some(v) = scope.frame.broken else { return self.fail(action.span, "there is no loop to break") };
                let yes = self.t().bool(true);
                Ok(self.t().assign(v, yes))
            }
        }
    }

    fn give_back(&mut self, scope: &mut Scope<'a>, value: Option<&Expr<'a>>, span: Span) -> Read<StmtId> {
        let mut parts = vec![];
        match (value, scope.frame.result.clone()) {
            (Some(value), Some(to)) => parts.push(self.assign_tree(scope, &to, value, &[])?),
            (Some(_), None) if scope.calls > 0 => {}
            (None, _) if scope.calls > 0 => {}
            _ => return self.fail(span, "there is no function to return from"),
        }
        if let Some(v) = scope.frame.returned {
            let yes = self.t().bool(true);
            parts.push(self.t().assign(v, yes));
        }
        Ok(self.t().seq(parts))
    }

    /// The first and the last but one value of a counter.
    pub fn steps_of(
        &mut self,
        scope: &mut Scope<'a>,
        (from, to): (&Expr<'a>, &Expr<'a>),
    ) -> Read<std::ops::Range<i64>> {
        let (first, end) = (self.typed(scope, from, Type::Int)?, self.typed(scope, to, Type::Int)?);
        let (Some(first), Some(end)) = (self.sys.terms.as_int(first), self.sys.terms.as_int(end)) else {
            return self.fail(from.span, "only loops with constant bounds are read");
        };
        if end.saturating_sub(first) > MAX_UNROLLED {
            return self.fail(from.span, format!("this loop has more than {MAX_UNROLLED} steps"));
        }
        Ok(first..end)
    }

    fn unrolled(
        &mut self,
        scope: &mut Scope<'a>,
        counter: Name<'a>,
        bounds: (&Expr<'a>, &Expr<'a>),
        body: &[Action<'a>],
    ) -> Read<StmtId> {
        let steps = self.steps_of(scope, bounds)?;
        let stops = body.iter().any(may_stop);
        let outer = scope.frame.broken;
        if stops {
            let v = self.t().declare("@broken", Type::Bool);
            scope.frame.broken = Some(v);
        }
        let mut parts = vec![];
        let mut failed = false;
        for n in steps {
            let n = self.t().int(n);
            scope.names.push((counter.0, Bound::Value(Tree::Leaf(n))));
            let step = self.actions(scope, body);
            scope.names.pop();
            let Ok(step) = step else {
                failed = true;
                break;
            };
            parts.push(if stops && !parts.is_empty() {
                let stopped: Vec<VarId> = scope.frame.returned.into_iter().chain(scope.frame.broken).collect();
                let stopped: Vec<TermId> = stopped.into_iter().map(|v| self.t().var(v)).collect();
                let (stopped, skip) = (self.t().or(stopped), self.t().skip());
                self.t().branch(stopped, skip, step)
            } else {
                step
            });
        }
        if let (true, Some(v)) = (stops, scope.frame.broken) {
            let no = self.t().bool(false);
            parts.push(self.t().assign(v, no));
        }
        scope.frame.broken = outer;
        if failed { Err(Reported) } else { Ok(self.t().seq(parts)) }
    }

    /// What the arguments of an event are, parameter by parameter.
    pub fn arguments(
        &mut self,
        scope: &mut Scope<'a>,
        signal: usize,
        event: Name<'a>,
        args: &[Expr<'a>],
    ) -> Read<Vec<(VarId, TermId)>> {
        let signal = self.sys.signals[signal].clone();
        let groups = self.groups(&signal.params, &signal.records);
        if args.len() != groups.len() {
            return self.fail(event.1, format!("`{}` carries {}", event.0, count(groups.len(), "value")));
        }
        let mut all = vec![];
        for ((_, to), arg) in groups.iter().zip(args) {
            let values = match to {
                Tree::Leaf(v) => {
                    let ty = self.type_of(*v);
                    vec![self.typed(scope, arg, ty)?]
                }
                _ => {
                    let value = self.tree(scope, arg)?;
                    if !value.is_like(to) {
                        return self.fail(arg.span, "this is a value of another type");
                    }
                    value.leaves()
                }
            };
            all.extend(to.leaves().into_iter().filter_map(|t| self.variable_of(t)).zip(values));
        }
        Ok(all)
    }

    /// The variable that a term is.
    pub fn variable_of(&self, t: TermId) -> Option<VarId> {
        if let trellis_expr::Term::Var(v) = self.sys.terms.get(t) { Some(*v) } else { None }
    }

    /// The type that a variable was declared with.
    fn type_of(&self, t: TermId) -> Type {
        self.variable_of(t).map_or_else(|| self.sys.terms.ty(t), |v| self.sys.terms.variable(v).ty)
    }

    // Assigning.

    /// A variable gets a value; that this is out of its bounds is a mistake of the model.
    pub fn put(&mut self, to: TermId, value: TermId) -> StmtId {
        let Some(v) = self.variable_of(to) else { return self.t().skip() };
        let ty = self.sys.terms.variable(v).ty;
        let set = self.t().assign(v, value);
        self.unless_out_of(ty, value, set)
    }

    fn unless_out_of(&mut self, ty: Type, value: TermId, set: StmtId) -> StmtId {
        let Type::Range(lo, hi) = ty else { return set };
        if self.sys.terms.lies_within(value, lo, hi) {
            return set;
        }
        let mistaken = match self.sys.mistaken {
            Some(v) => v,
            None => {
                let v = self.t().declare("@mistaken", Type::Bool);
                self.sys.mistaken = Some(v);
                v
            }
        };
        let (lo, hi, yes) = (self.t().int(lo), self.t().int(hi), self.t().bool(true));
        let (above, below) = (self.t().le(lo, value), self.t().le(value, hi));
        let fits = self.t().and([above, below]);
        let note = self.t().assign(mistaken, yes);
        self.t().branch(fits, set, note)
    }

    fn put_tree(&mut self, to: &Tree, value: &Tree) -> StmtId {
        let pairs: Vec<_> = to.leaves().into_iter().zip(value.leaves()).collect();
        let parts: Vec<StmtId> = pairs.into_iter().map(|(to, value)| self.put(to, value)).collect();
        self.at_once(to, value, parts)
    }

    /// A record may get values that are made of its own: then all are read before any is written.
    fn at_once(&mut self, to: &Tree, value: &Tree, parts: Vec<StmtId>) -> StmtId {
        let written: Vec<VarId> = to.leaves().into_iter().filter_map(|t| self.variable_of(t)).collect();
        let pairs: Vec<_> = to.leaves().into_iter().zip(value.leaves()).collect();
        let read_later = |w: &Self, n: usize| {
            pairs[n + 1..].iter().any(|(_, value)| {
                let vars = w.sys.terms.free_vars(*value);
                written[..=n].iter().any(|v| vars.contains(v))
            })
        };
        if (0..pairs.len()).all(|n| !read_later(self, n)) {
            return self.t().seq(parts);
        }
        let (mut first, mut then, mut last) = (vec![], vec![], vec![]);
        for (to, value) in pairs {
            let ty = self.sys.terms.sort(self.sys.terms.ty(value));
            let copy = self.t().declare("@copy", ty);
            first.push(self.t().assign(copy, value));
            let copied = self.t().var(copy);
            then.push(self.put(to, copied));
            let nothing = self.default(ty);
            last.push(self.t().assign(copy, nothing));
        }
        self.t().seq(first.into_iter().chain(then).chain(last))
    }

    fn assign(&mut self, scope: &mut Scope<'a>, to: &Expr<'a>, value: &Expr<'a>) -> Read<StmtId> {
        let (base, way) = self.way(scope, to)?;
        self.assign_tree(scope, &base, value, &way)
    }

    /// The variable that is assigned, and the way to what of it is.
    pub fn way(&mut self, scope: &mut Scope<'a>, to: &Expr<'a>) -> Read<(Tree, Vec<Way<'a>>)> {
        let mut way = vec![];
        let mut at = to;
        loop {
            match &at.kind {
                ExprKind::Index(parts) => {
                    way.push(Way::Index(self.typed(scope, &parts[1], Type::Int)?));
                    at = &parts[0];
                }
                ExprKind::Field(of, name) => {
                    way.push(Way::Field(*name));
                    at = of;
                }
                ExprKind::Path(path) => {
                    way.extend(path[1..].iter().rev().map(|f| Way::Field(*f)));
                    way.reverse();
                    return match self.bound(scope, path[0])? {
                        Bound::Variable(v) | Bound::Local(v) => Ok((v, way)),
                        Bound::Value(_) => self.fail(to.span, format!("`{}` is not a variable", path[0].0)),
                    };
                }
                _ => return self.fail(to.span, "this cannot be assigned"),
            }
        }
    }

    /// Assigns to a part of a variable.
    pub fn assign_tree(
        &mut self,
        scope: &mut Scope<'a>,
        base: &Tree,
        value: &Expr<'a>,
        way: &[Way<'a>],
    ) -> Read<StmtId> {
        // What changes something stands by itself.
        if let ExprKind::Call(name, args) = &value.kind
            && !self.is_pure(scope, *name)
        {
            let (part, _) = self.part_at(base, way, value.span)?;
            let result = part.map(&mut |t| {
                let ty = self.sys.terms.sort(self.sys.terms.ty(t));
                let v = self.sys.terms.declare("@result", ty);
                self.sys.terms.var(v)
            });
            let run = self.run_function(scope, *name, args, Some(result.clone()))?;
            let set = self.set_part(base, way, &result, value.span)?;
            let mut parts = vec![run, set];
            for t in result.leaves() {
                let ty = self.sys.terms.ty(t);
                let nothing = self.default(ty);
                parts.push(self.put(t, nothing));
            }
            return Ok(self.t().seq(parts));
        }
        let span = value.span;
        let (part, ty) = self.part_at(base, way, span)?;
        let value = match (&part, ty) {
            (Tree::Leaf(_), Some(ty)) => Tree::Leaf(self.typed(scope, value, ty)?),
            _ => {
                let found = match &value.kind {
                    ExprKind::Array(_) => return self.fail(value.span, "write the entries one by one"),
                    _ => self.tree(scope, value)?,
                };
                if !found.is_like(&part) {
                    return self.fail(value.span, "this is a value of another type");
                }
                found
            }
        };
        self.set_part(base, way, &value, span)
    }

    /// What is there now, and of which type, if it is a single one.
    pub fn part_at(&mut self, base: &Tree, way: &[Way<'a>], span: Span) -> Read<(Tree, Option<Type>)> {
        let mut part = base.clone();
        let mut ty = if let Tree::Leaf(t) = part { Some(self.type_of(t)) } else { None };
        for step in way {
            part = match step {
                Way::Field(name) => match part.field(name.0) {
                    Some(found) => found.clone(),
                    None => return self.fail(name.1, format!("there is no field `{}`", name.0)),
                },
                Way::Index(i) => match part.entry(&mut |t| self.sys.terms.select(t, *i)) {
                    Some(entry) => entry,
                    None => match (&part, ty) {
                        (Tree::Leaf(t), Some(Type::Array(_, entry))) => {
                            ty = Some(self.sys.terms.type_of_id(entry));
                            Tree::Leaf(self.sys.terms.select(*t, *i))
                        }
                        _ => return self.fail(span, "this is no array"),
                    },
                },
            };
            if let (Tree::Leaf(t), Way::Field(_)) = (&part, step) {
                ty = Some(self.entry_type(*t));
            }
        }
        Ok((part, ty))
    }

    /// The type of a variable, or of an entry of one.
    fn entry_type(&self, t: TermId) -> Type {
        match self.sys.terms.get(t) {
            trellis_expr::Term::Var(v) => self.sys.terms.variable(*v).ty,
            trellis_expr::Term::Select(a, _) => match self.entry_type(*a) {
                Type::Array(_, entry) => self.sys.terms.type_of_id(entry),
                ty => ty,
            },
            _ => self.sys.terms.ty(t),
        }
    }

    /// Statements that give a part of a variable a value.
    fn set_part(&mut self, base: &Tree, way: &[Way<'a>], value: &Tree, span: Span) -> Read<StmtId> {
        let (part, _) = self.part_at(base, way, span)?;
        if !part.is_like(value) {
            return self.fail(span, "this is a value of another type");
        }
        // The leaves of the variable that are written, in the order of those of the part.
        let mut at = vec![base.clone()];
        for step in way {
            if let (Way::Field(name), Some(last)) = (step, at.last()) {
                let next = match last {
                    Tree::Record(_, fields) | Tree::Records(_, _, fields) => {
                        fields.iter().find(|(n, _)| n == name.0).map(|(_, t)| t.clone())
                    }
                    Tree::Leaf(_) => None,
                };
                at.extend(next);
            }
        }
        let leaves = at.last().map_or(vec![], Tree::leaves);
        let indices: Vec<TermId> =
            way.iter().filter_map(|w| if let Way::Index(i) = w { Some(*i) } else { None }).collect();
        let (mut parts, mut written) = (vec![], vec![]);
        for (leaf, value) in leaves.iter().zip(value.leaves()) {
            let mut arrays = vec![*leaf];
            for i in &indices {
                let last = arrays[arrays.len() - 1];
                arrays.push(self.sys.terms.select(last, *i));
            }
            let ty = arrays.pop().map_or(Type::Int, |t| self.entry_type(t));
            let mut whole = value;
            for (array, i) in arrays.into_iter().rev().zip(indices.iter().rev()) {
                whole = self.t().store(array, *i, whole);
            }
            let Some(v) = self.variable_of(*leaf) else { return self.fail(span, "this cannot be assigned") };
            let set = self.t().assign(v, whole);
            parts.push(self.unless_out_of(ty, value, set));
            written.push((*leaf, value));
        }
        let to = Tree::Record(String::new(), written.iter().map(|w| (String::new(), Tree::Leaf(w.0))).collect());
        let from = Tree::Record(String::new(), written.iter().map(|w| (String::new(), Tree::Leaf(w.1))).collect());
        if indices.is_empty() { Ok(self.at_once(&to, &from, parts)) } else { Ok(self.t().seq(parts)) }
    }

    /// The same where values are kept, and no variables: the tree in which a part has another value.
    pub fn with_part(&mut self, base: &Tree, way: &[Way<'a>], value: &Tree, span: Span) -> Read<Tree> {
        let Some((step, rest)) = way.split_first() else { return Ok(value.clone()) };
        match step {
            Way::Field(name) => {
                let Tree::Record(record, fields) = base else { return self.fail(name.1, "this is no record") };
                let mut fields = fields.clone();
                let Some(at) = fields.iter().position(|(n, _)| n == name.0) else {
                    return self.fail(name.1, format!("there is no field `{}`", name.0));
                };
                fields[at].1 = self.with_part(&fields[at].1.clone(), rest, value, span)?;
                Ok(Tree::Record(record.clone(), fields))
            }
            Way::Index(i) => {
                let (part, _) = self.part_at(base, std::slice::from_ref(step), span)?;
                let part = self.with_part(&part, rest, value, span)?;
                let mut entries = part.leaves().into_iter();
                Ok(base.map(&mut |a| match entries.next() {
                    Some(entry) => self.sys.terms.store(a, *i, entry),
                    None => a,
                }))
            }
        }
    }
}
