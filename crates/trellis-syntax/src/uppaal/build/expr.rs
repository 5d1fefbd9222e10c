//! Expressions. Lowering one gives a term without effects, and appends to `stmts` what must run before the term is read:
//! assignments inside expressions and the bodies of called functions.
//!
//! Order is kept: if a later operand has effects, earlier operands are saved in temporaries first; the right side of
//! `&&`, `||`, `imply` and the branches of `?:` run only when they are needed.

use std::rc::Rc;

use trellis_expr::{BitOp, Division, StmtId, TermId, VarId};

use super::lattice::LatticePlace;
use super::scope::{ChanPlace, Entity, Kind, Place, Scope, Value};
use super::types::Ty;
use super::{Builder, Reported, Res, ast};
use crate::diag::{Diagnostic, Span};
use ast::{BinOp, Expr, ExprKind, Quant, UnOp};

/// A quantifier over more values than this is refused: it is unrolled.
const MAX_UNROLL: i64 = 1 << 16;

/// What an expression denotes.
#[derive(Debug, Clone)]
pub(crate) enum Denotes {
    Value(Value),
    Place(Place),
    Lattice(LatticePlace),
    /// One bit of a lattice element.
    Bit(LatticePlace, TermId),
    Chan(ChanPlace),
    /// The result of a `void` function or of a lattice update.
    Nothing,
}

/// Lowers the expressions of one unit.
pub(crate) struct Lower<'b, 'a> {
    pub b: &'b mut Builder<'a>,
    pub scope: Rc<Scope>,
    /// What must run before the terms are read.
    pub stmts: Vec<StmtId>,
    /// Whether the state may be changed here.
    pub effects: bool,
    /// The functions being inlined, outermost first.
    pub calls: Vec<String>,
    /// Where `return` puts its value, and the flag that says it has.
    pub ret: Option<(Option<Place>, Option<VarId>)>,
}

impl<'b, 'a> Lower<'b, 'a> {
    /// In a guard, an invariant, a query, an initialiser.
    pub fn new(b: &'b mut Builder<'a>, scope: Rc<Scope>) -> Lower<'b, 'a> {
        Lower { b, scope, stmts: Vec::new(), effects: false, calls: Vec::new(), ret: None }
    }

    fn err<T>(&mut self, span: Span, message: impl Into<String>) -> Res<T> {
        self.b.error(span, message)
    }

    /// Lowers something apart; answers what it appended.
    pub fn apart<T>(&mut self, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<(Vec<StmtId>, T)> {
        let outer = std::mem::take(&mut self.stmts);
        let result = f(self);
        let inner = std::mem::replace(&mut self.stmts, outer);
        Ok((inner, result?))
    }

    /// Lowers something with more names visible.
    pub fn within<T>(&mut self, scope: Rc<Scope>, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = f(self);
        self.scope = outer;
        result
    }

    // Reading.

    /// The scalar value of an expression.
    pub fn value(&mut self, e: &Expr) -> Res<Value> {
        match self.denote(e)? {
            Denotes::Value(v) => Ok(v),
            Denotes::Place(p) if matches!(p.ty, Ty::Int { .. } | Ty::Bool | Ty::Scalar { .. }) => Ok(self.b.read(&p)),
            Denotes::Place(p) => {
                self.err(e.span, format!("a number or truth value is needed, but this is `{}`", p.ty.describe()))
            }
            Denotes::Bit(l, i) => Ok(self.b.get_bit(&l, i)),
            Denotes::Lattice(l) => Err(self.b.report(
                Diagnostic::error(e.span, format!("a number or truth value is needed, but this is a `{}`", l.lattice.name()))
                    .help(format!("ask it with a method: {}", super::lattice::method_list(&*l.lattice))),
            )),
            Denotes::Chan(_) => self.err(e.span, "a channel is not a value"),
            Denotes::Nothing => self.err(e.span, "this has no value: the function returns `void`"),
        }
    }

    pub fn convert(&mut self, v: Value, to: Kind, span: Span) -> Res<Value> {
        let term = match (v.kind, to) {
            (a, b) if a == b => v.term,
            (Kind::Int, Kind::Bool) => {
                let zero = self.b.int(0);
                self.b.terms().ne(v.term, zero)
            }
            (Kind::Bool, Kind::Int) => {
                let (one, zero) = (self.b.int(1), self.b.int(0));
                self.b.terms().ite(v.term, one, zero)
            }
            // A scalar's number may be used where the model enumerates its set (indexes, select), never the other way.
            _ => {
                return Err(self.b.report(
                    Diagnostic::error(span, "a scalar is not a number")
                        .help("members of a scalar set can only be compared, assigned and used as indexes"),
                ));
            }
        };
        Ok(Value { term, kind: to })
    }

    pub fn integer(&mut self, e: &Expr) -> Res<TermId> {
        let v = self.value(e)?;
        Ok(self.convert(v, Kind::Int, e.span)?.term)
    }

    pub fn boolean(&mut self, e: &Expr) -> Res<TermId> {
        let v = self.value(e)?;
        Ok(self.convert(v, Kind::Bool, e.span)?.term)
    }

    /// A variable (not a value).
    pub fn place(&mut self, e: &Expr) -> Res<Place> {
        match self.denote(e)? {
            Denotes::Place(p) => Ok(p),
            Denotes::Value(_) | Denotes::Nothing => self.err(e.span, "a variable is needed here"),
            Denotes::Lattice(_) | Denotes::Bit(..) => self.err(e.span, "a data variable is needed, not a lattice"),
            Denotes::Chan(_) => self.err(e.span, "a variable is needed, not a channel"),
        }
    }

    /// Saves a term that later effects could change.
    pub fn save(&mut self, v: Value) -> Value {
        if self.b.constant_value(v).is_some() {
            return v;
        }
        let (at, saved) = self.saved(v);
        self.stmts.push(at);
        saved
    }

    fn saved(&mut self, v: Value) -> (StmtId, Value) {
        let tmp = match v.kind {
            Kind::Bool => self.b.temp(0, 1, true, None),
            _ => self.b.temp(i64::MIN / 2, i64::MAX / 2, false, None),
        };
        let stmt = self.b.terms().assign(tmp, v.term);
        let term = self.b.terms().var(tmp);
        (stmt, Value { term, kind: v.kind })
    }

    /// Values of several operands, from left to right.
    pub fn operands(&mut self, es: &[&Expr]) -> Res<Vec<Value>> {
        let mut values: Vec<Value> = Vec::new();
        for e in es {
            let mark = self.stmts.len();
            let v = self.value(e)?;
            if self.stmts.len() > mark {
                let mut saves = Vec::new();
                for old in &mut values {
                    if self.b.constant_value(*old).is_none() {
                        let (stmt, new) = self.saved(*old);
                        saves.push(stmt);
                        *old = new;
                    }
                }
                self.stmts.splice(mark..mark, saves);
            }
            values.push(v);
        }
        Ok(values)
    }

    // Denotation.

    pub fn denote(&mut self, e: &Expr) -> Res<Denotes> {
        match &e.kind {
            ExprKind::Int(n) => Ok(self.b.literal(*n, Kind::Int).into()),
            ExprKind::Bool(v) => Ok(self.b.literal(i64::from(*v), Kind::Bool).into()),
            ExprKind::Unsupported(what) => self.err(e.span, format!("{what} is not supported")),
            ExprKind::Name(n) => self.name(n, e.span),
            ExprKind::Index(a, i) => self.index(a, i),
            ExprKind::Field(a, f) => self.field(a, f),
            ExprKind::Call(f, args) => self.call(f, args, e.span),
            ExprKind::Unary(op, a) => self.unary(*op, a),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::Cond(c, a, b) => self.conditional(c, a, b),
            ExprKind::Assign(op, lhs, rhs) => self.assignment(*op, lhs, rhs, e.span),
            ExprKind::Step { up, prefix, of } => self.step(*up, *prefix, of, e.span),
            ExprKind::Quant(q, var, ty, body) => self.quantifier(*q, var, ty, body),
            ExprKind::Deadlock => {
                let d = match self.b.net.deadlock {
                    Some(d) => d,
                    None => {
                        let d = self.b.declare_cells("deadlock".into(), 0, 1, true, None, None, false);
                        self.b.net.deadlock = Some(d);
                        d
                    }
                };
                self.b.asks_deadlock = true;
                let term = self.b.terms().var(d);
                Ok(Value { term, kind: Kind::Bool }.into())
            }
            ExprKind::Rate(_) => self.err(e.span, "clock rates (stopwatches) are not supported"),
            ExprKind::Comma(a, b) => {
                // Old guards and invariants: a conjunction. In headers of `for` the effects come in order.
                if self.effects {
                    self.effect(a)?;
                    return self.denote(b);
                }
                self.binary(BinOp::And, a, b, e.span)
            }
        }
    }

    fn name(&mut self, n: &str, span: Span) -> Res<Denotes> {
        match self.scope.find(n) {
            Some(Entity::Const(v)) => Ok(v.into()),
            Some(Entity::Var(p)) => Ok(Denotes::Place(p)),
            Some(Entity::Lattice(l)) => Ok(Denotes::Lattice(l)),
            Some(Entity::Chan(c)) => Ok(Denotes::Chan(c)),
            Some(Entity::Clock) => Err(Reported), // reported at its declaration
            Some(Entity::Func(_)) => Err(self.b.report(
                Diagnostic::error(span, format!("`{n}` is a function")).help(format!("call it: `{n}(…)`")),
            )),
            Some(Entity::Type(_)) => self.err(span, format!("`{n}` is a type, not a value")),
            Some(Entity::Family(_)) => Err(self.b.report(
                Diagnostic::error(span, format!("`{n}` is a process"))
                    .help(format!("ask for a location or a variable of it: `{n}.name`")),
            )),
            Some(Entity::State(_)) => self.err(span, format!("`{n}` is a state; ask for something in it: `{n}.variable`")),
            None => {
                let d = Diagnostic::error(span, format!("unknown name `{n}`"));
                let d = match self.b.closest(n, &self.scope.clone()) {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None => d.help("declare it before it is used"),
                };
                Err(self.b.report(d))
            }
        }
    }

    fn index(&mut self, a: &Expr, i: &Expr) -> Res<Denotes> {
        let mut base = self.denote(a)?;
        let mark = self.stmts.len();
        let iv = self.value(i)?;
        if self.stmts.len() > mark
            && let Denotes::Place(p) = &mut base
            && self.b.net.terms.as_int(p.index).is_none()
        {
            // The index has effects, which could change what the array's own index reads.
            let (stmt, saved) = self.saved(Value { term: p.index, kind: Kind::Int });
            self.stmts.insert(mark, stmt);
            p.index = saved.term;
        }
        let it = match iv.kind {
            Kind::Bool => self.convert(iv, Kind::Int, i.span)?.term,
            _ => iv.term,
        };
        match base {
            Denotes::Place(p) => match &p.ty {
                Ty::Array(r, _) => {
                    self.check_constant_index(it, r.lo, r.len, i.span)?;
                    Ok(Denotes::Place(self.b.entry(&p, it)))
                }
                ty => {
                    let ty = ty.describe();
                    self.err(a.span, format!("only arrays can be indexed, and this is `{ty}`"))
                }
            },
            Denotes::Chan(c) => match c.ty.clone() {
                Ty::Array(r, t) => {
                    self.check_constant_index(it, r.lo, r.len, i.span)?;
                    let index = self.b.flat_index(c.index, it, r.lo, r.len);
                    Ok(Denotes::Chan(ChanPlace { ty: (*t).clone(), base: c.base, index }))
                }
                _ => self.err(a.span, "this channel is not an array"),
            },
            Denotes::Lattice(l) => self.b.lattice_entry(l, it, i.span),
            _ => self.err(a.span, "only arrays can be indexed"),
        }
    }

    fn check_constant_index(&mut self, i: TermId, lo: i64, len: i64, span: Span) -> Res<()> {
        match self.b.net.terms.as_int(i) {
            Some(n) if n < lo || n >= lo + len => {
                self.err(span, format!("index {n} is outside the array, which goes from {lo} to {}", lo + len - 1))
            }
            _ => Ok(()),
        }
    }

    fn field(&mut self, a: &Expr, f: &ast::Ident) -> Res<Denotes> {
        if let Some(found) = self.member(a, f)? {
            return Ok(found);
        }
        match self.denote(a)? {
            Denotes::Place(p) => match Builder::field(&p, &f.name) {
                Some(field) => Ok(Denotes::Place(field)),
                None => {
                    let ty = p.ty.describe();
                    self.err(f.span, format!("`{ty}` has no field `{}`", f.name))
                }
            },
            Denotes::Lattice(l) => self.b.lattice_field(l, f),
            _ => self.err(f.span, format!("there is no field `{}` here", f.name)),
        }
    }

    /// `P.loc`, `P(1).x`, and in strategies `x.pool`.
    fn member(&mut self, a: &Expr, f: &ast::Ident) -> Res<Option<Denotes>> {
        let (name, args): (&str, &[Expr]) = match &a.kind {
            ExprKind::Name(n) => (n, &[]),
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(n) => (n, args),
                _ => return Ok(None),
            },
            // `x.P.loc` and `x.P(1).v` in strategies: the key is common to both states.
            ExprKind::Field(state, process) => {
                let ExprKind::Name(n) = &state.kind else { return Ok(None) };
                let Some(Entity::State(_)) = self.scope.find(n) else { return Ok(None) };
                (&process.name, &[])
            }
            _ => return Ok(None),
        };
        match self.scope.find(name) {
            Some(Entity::Family(family)) => {
                let (process, scope) = self.process(&family, args, a.span)?;
                self.in_process(process, &scope, f).map(Some)
            }
            Some(Entity::State(shift)) => match self.name(&f.name, f.span)? {
                Denotes::Lattice(mut l) => {
                    let shift = self.b.int(shift as i64);
                    l.offset = self.b.terms().add([l.offset, shift]);
                    Ok(Some(Denotes::Lattice(l)))
                }
                other => Ok(Some(other)),
            },
            _ => Ok(None),
        }
    }

    fn process(&mut self, family: &super::scope::Family, args: &[Expr], span: Span) -> Res<(usize, Rc<Scope>)> {
        if args.len() != family.params {
            let hint = match family.members.first() {
                Some((values, ..)) if !values.is_empty() => {
                    format!("{}({})", family.name, values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
                }
                _ => family.name.clone(),
            };
            return Err(self.b.report(
                Diagnostic::error(span, format!("`{}` needs {} argument(s) to name a process", family.name, family.params))
                    .help(format!("for instance `{hint}`")),
            ));
        }
        let mut values = Vec::new();
        for a in args {
            let v = self.value(a)?;
            match self.b.constant_value(v) {
                Some(n) => values.push(n),
                None => return self.err(a.span, "which process is meant must be known beforehand: a constant is needed"),
            }
        }
        match family.members.iter().find(|(v, ..)| *v == values) {
            Some((_, p, scope)) => Ok((*p, scope.clone())),
            None => self.err(span, format!("there is no process `{}` with these arguments", family.name)),
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
            Some(Entity::Clock) => Err(Reported),
            _ => {
                let name = p.name.clone();
                let near = super::scope::closest_of(&f.name, p.locations.iter().map(|l| l.name.clone()));
                let d = Diagnostic::error(f.span, format!("process `{name}` has no location or variable `{}`", f.name));
                Err(self.b.report(match near {
                    Some(n) => d.help(format!("did you mean `{n}`?")),
                    None => d,
                }))
            }
        }
    }

    // Operators.

    fn unary(&mut self, op: UnOp, a: &Expr) -> Res<Denotes> {
        let value = match op {
            UnOp::Not => {
                let t = self.boolean(a)?;
                Value { term: self.b.terms().not(t), kind: Kind::Bool }
            }
            UnOp::Neg => {
                let t = self.integer(a)?;
                Value { term: self.b.terms().neg(t), kind: Kind::Int }
            }
            UnOp::Plus => Value { term: self.integer(a)?, kind: Kind::Int },
        };
        Ok(value.into())
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, span: Span) -> Res<Denotes> {
        if let BinOp::And | BinOp::Or | BinOp::Imply = op {
            return self.connective(op, a, b);
        }
        let values = self.operands(&[a, b])?;
        let value = self.operate(op, values[0], values[1], a.span, b.span)?;
        if let (BinOp::Div | BinOp::Mod, Some(0)) = (op, self.b.net.terms.as_int(values[1].term)) {
            return self.err(span, "division by zero");
        }
        Ok(value.into())
    }

    /// A strict binary operator on two values.
    fn operate(&mut self, op: BinOp, a: Value, b: Value, sa: Span, sb: Span) -> Res<Value> {
        if let (BinOp::Eq | BinOp::Ne, true) = (op, a.kind == b.kind) {
            let eq = self.b.terms().eq(a.term, b.term);
            let term = if op == BinOp::Eq { eq } else { self.b.terms().not(eq) };
            return Ok(Value { term, kind: Kind::Bool });
        }
        let x = self.convert(a, Kind::Int, sa)?.term;
        let y = self.convert(b, Kind::Int, sb)?.term;
        let t = self.b.terms();
        let (term, kind) = match op {
            BinOp::Add => (t.add([x, y]), Kind::Int),
            BinOp::Sub => (t.sub(x, y), Kind::Int),
            BinOp::Mul => (t.mul(x, y), Kind::Int),
            BinOp::Div => (t.div(Division::Truncating, x, y), Kind::Int),
            BinOp::Mod => (t.rem(Division::Truncating, x, y), Kind::Int),
            BinOp::Min | BinOp::Max => {
                let less = t.le(x, y);
                (if op == BinOp::Min { t.ite(less, x, y) } else { t.ite(less, y, x) }, Kind::Int)
            }
            BinOp::Lt => (t.lt(x, y), Kind::Bool),
            BinOp::Le => (t.le(x, y), Kind::Bool),
            BinOp::Gt => (t.lt(y, x), Kind::Bool),
            BinOp::Ge => (t.le(y, x), Kind::Bool),
            BinOp::Eq => (t.eq(x, y), Kind::Bool),
            BinOp::Ne => (t.ne(x, y), Kind::Bool),
            BinOp::BitAnd => (t.bit(BitOp::And, x, y), Kind::Int),
            BinOp::BitOr => (t.bit(BitOp::Or, x, y), Kind::Int),
            BinOp::BitXor => (t.bit(BitOp::Xor, x, y), Kind::Int),
            BinOp::Shl => (t.bit(BitOp::Shl, x, y), Kind::Int),
            BinOp::Shr => (t.bit(BitOp::Shr, x, y), Kind::Int),
            BinOp::And | BinOp::Or | BinOp::Imply => unreachable!("connectives are not strict"),
        };
        Ok(Value { term, kind })
    }

    /// `&&`, `||`, `imply`: the right side only where it is needed.
    fn connective(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Res<Denotes> {
        let mut ta = self.boolean(a)?;
        if op == BinOp::Imply {
            ta = self.b.terms().not(ta);
        }
        let is_and = op == BinOp::And;
        if self.b.net.terms.as_bool(ta) == Some(!is_and) {
            // The right side is never evaluated, but it must still make sense.
            self.apart(|l| l.boolean(b))?;
            return Ok(Value { term: ta, kind: Kind::Bool }.into());
        }
        let (stmts, tb) = self.apart(|l| l.boolean(b))?;
        let term = if stmts.is_empty() {
            if is_and { self.b.terms().and([ta, tb]) } else { self.b.terms().or([ta, tb]) }
        } else {
            let so_far = self.save_always(Value { term: ta, kind: Kind::Bool });
            let need = if is_and { so_far.1.term } else { self.b.terms().not(so_far.1.term) };
            let mut body = stmts;
            body.push(self.b.terms().assign(so_far.0, tb));
            self.branch(need, body, Vec::new());
            so_far.1.term
        };
        Ok(Value { term, kind: Kind::Bool }.into())
    }

    /// Saves into a temporary that will be written again.
    fn save_always(&mut self, v: Value) -> (VarId, Value) {
        let tmp = match v.kind {
            Kind::Bool => self.b.temp(0, 1, true, None),
            _ => self.b.temp(i64::MIN / 2, i64::MAX / 2, false, None),
        };
        let stmt = self.b.terms().assign(tmp, v.term);
        self.stmts.push(stmt);
        let term = self.b.terms().var(tmp);
        (tmp, Value { term, kind: v.kind })
    }

    /// `if (c) a else b`.
    pub fn branch(&mut self, c: TermId, a: Vec<StmtId>, b: Vec<StmtId>) {
        let (a, b) = (self.b.block(a), self.b.block(b));
        let s = self.b.terms().branch(c, a, b);
        self.stmts.push(s);
    }

    fn conditional(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Res<Denotes> {
        let tc = self.boolean(c)?;
        let (sa, va) = self.apart(|l| l.value(a))?;
        let (sb, vb) = self.apart(|l| l.value(b))?;
        let kind = if va.kind == vb.kind { va.kind } else { Kind::Int };
        let va = self.convert(va, kind, a.span)?;
        let vb = self.convert(vb, kind, b.span)?;
        if sa.is_empty() && sb.is_empty() {
            let term = self.b.terms().ite(tc, va.term, vb.term);
            return Ok(Value { term, kind }.into());
        }
        let zero = self.b.literal(0, kind);
        let (tmp, result) = self.save_always(zero);
        let (mut sa, mut sb) = (sa, sb);
        sa.push(self.b.terms().assign(tmp, va.term));
        sb.push(self.b.terms().assign(tmp, vb.term));
        self.branch(tc, sa, sb);
        Ok(result.into())
    }

    fn quantifier(&mut self, q: Quant, var: &ast::Ident, ty: &ast::TypeExpr, body: &Expr) -> Res<Denotes> {
        let scope = self.scope.clone();
        let ty_span = ty.span;
        let ty = self.b.resolve_type(ty, &scope)?;
        let Some(r) = ty.values() else {
            return self.err(ty_span, format!("a quantifier cannot range over `{}`", ty.describe()));
        };
        if r.len > MAX_UNROLL {
            return self.err(ty_span, format!("a quantifier over {} values is too large", r.len));
        }
        let kind = if q == Quant::Sum { Kind::Int } else { Kind::Bool };
        let mut terms = Vec::new();
        // Once an instance needs statements (a function with a body), the result so far lives in a temporary.
        let mut so_far: Option<(VarId, TermId)> = None;
        for n in r.lo..r.lo + r.len {
            let inner = Scope::child(&scope);
            let value = self.b.literal(n, Kind::of(&ty));
            inner.set(&var.name, Entity::Const(value));
            let (mut stmts, term) = self.within(inner, |l| {
                l.apart(|l| match q {
                    Quant::Sum => l.integer(body),
                    _ => l.boolean(body),
                })
            })?;
            if so_far.is_none() && !stmts.is_empty() {
                let term = self.combine(q, std::mem::take(&mut terms));
                let (tmp, v) = self.save_always(Value { term, kind });
                so_far = Some((tmp, v.term));
            }
            let Some((tmp, acc)) = so_far else {
                terms.push(term);
                continue;
            };
            let t = self.b.terms();
            let (needed, next) = match q {
                Quant::Forall => (acc, term),
                Quant::Exists => (t.not(acc), term),
                Quant::Sum => (t.bool(true), t.add([acc, term])),
            };
            stmts.push(self.b.terms().assign(tmp, next));
            self.branch(needed, stmts, Vec::new());
        }
        let term = match so_far {
            Some((_, acc)) => acc,
            None => self.combine(q, terms),
        };
        Ok(Value { term, kind }.into())
    }

    fn combine(&mut self, q: Quant, terms: Vec<TermId>) -> TermId {
        let zero = self.b.int(0);
        let t = self.b.terms();
        match q {
            Quant::Forall => t.and(terms),
            Quant::Exists => t.or(terms),
            Quant::Sum => t.add(terms.into_iter().chain([zero])),
        }
    }

    // Effects.

    /// An expression for its effect: an update.
    pub fn effect(&mut self, e: &Expr) -> Res<()> {
        match &e.kind {
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.effect(b)
            }
            ExprKind::Int(_) | ExprKind::Bool(_) => Ok(()), // `1` is UPPAAL's empty update
            _ => self.denote(e).map(|_| ()),
        }
    }

    fn assignment(&mut self, op: Option<BinOp>, lhs: &Expr, rhs: &Expr, span: Span) -> Res<Denotes> {
        match self.denote(lhs)? {
            Denotes::Place(mut p) => {
                self.may_write(&p, lhs.span, span)?;
                if !matches!(p.ty, Ty::Int { .. } | Ty::Bool | Ty::Scalar { .. }) {
                    let from = self.place(rhs)?;
                    if op.is_some() || !from.ty.same_shape(&p.ty) {
                        let (a, b) = (from.ty.describe(), p.ty.describe());
                        return self.err(span, format!("`{a}` cannot be assigned to `{b}`"));
                    }
                    self.copy(&p, &from);
                    return Ok(Denotes::Place(p));
                }
                let mark = self.stmts.len();
                let mut v = self.value(rhs)?;
                if self.stmts.len() > mark && self.b.net.terms.as_int(p.index).is_none() {
                    let (stmt, saved) = self.saved(Value { term: p.index, kind: Kind::Int });
                    self.stmts.insert(mark, stmt);
                    p.index = saved.term;
                }
                if let Some(op) = op {
                    let old = self.b.read(&p);
                    v = self.operate(op, old, v, lhs.span, rhs.span)?;
                }
                self.write(&p, v, rhs.span)?;
                Ok(Denotes::Place(p))
            }
            Denotes::Bit(l, i) => {
                self.may_change_lattice(span)?;
                if op.is_some() {
                    return self.err(span, "a bit can only be set: write `= 0` or `= 1`");
                }
                let v = self.integer(rhs)?;
                let s = self.b.set_bit(&l, i, v);
                self.stmts.push(s);
                Ok(Denotes::Nothing)
            }
            Denotes::Lattice(to) => {
                self.may_change_lattice(span)?;
                let Denotes::Lattice(from) = self.denote(rhs)? else {
                    return Err(self.b.report(
                        Diagnostic::error(rhs.span, format!("a `{}` is needed here", to.lattice.name()))
                            .help(format!("or use a method: {}", super::lattice::method_list(&*to.lattice))),
                    ));
                };
                if op.is_some() || from.lattice.name() != to.lattice.name() {
                    let (a, b) = (from.lattice.name(), to.lattice.name());
                    return self.err(span, format!("`{a}` cannot be assigned to `{b}`"));
                }
                let s = self.b.copy_lattice(&to, &from);
                self.stmts.push(s);
                Ok(Denotes::Lattice(to))
            }
            Denotes::Value(_) | Denotes::Nothing => Err(self.b.report(
                Diagnostic::error(lhs.span, "this cannot be assigned to").help("a constant or an expression has no place to write to; did you mean `==`?"),
            )),
            Denotes::Chan(_) => self.err(lhs.span, "a channel cannot be assigned"),
        }
    }

    fn step(&mut self, up: bool, prefix: bool, of: &Expr, span: Span) -> Res<Denotes> {
        let p = self.place(of)?;
        self.may_write(&p, of.span, span)?;
        if !matches!(p.ty, Ty::Int { .. }) {
            let ty = p.ty.describe();
            return self.err(of.span, format!("only integers can be counted up or down, and this is `{ty}`"));
        }
        let old = self.b.read(&p);
        let old = if prefix { old } else { self.save(old) };
        let by = self.b.int(if up { 1 } else { -1 });
        let term = self.b.terms().add([old.term, by]);
        self.write(&p, Value { term, kind: Kind::Int }, span)?;
        Ok(if prefix { Denotes::Place(p) } else { old.into() })
    }

    fn may_write(&mut self, p: &Place, at: Span, whole: Span) -> Res<()> {
        if !p.writable {
            return self.err(at, "a constant cannot be assigned to");
        }
        let state = p.leaves.iter().any(|v| self.b.leaves[v].state);
        if state && !self.effects {
            return Err(self.b.report(
                Diagnostic::error(whole, "this changes the state, but only updates may do that")
                    .help("in a guard or a query, compare with `==`"),
            ));
        }
        Ok(())
    }

    pub fn may_change_lattice(&mut self, span: Span) -> Res<()> {
        if self.effects {
            return Ok(());
        }
        Err(self.b.report(
            Diagnostic::error(span, "this changes a lattice variable, but only updates may do that")
                .help("in a guard or a query, compare with `==`"),
        ))
    }

    /// Writes a scalar, within its bounds or it faults.
    pub fn write(&mut self, p: &Place, v: Value, span: Span) -> Res<()> {
        let leaf = self.b.leaves[&p.leaves[0]].clone();
        let kind = Kind::of(&p.ty);
        let v = self.convert(v, kind, span)?;
        let mut term = v.term;
        if !leaf.is_bool {
            if let Some(n) = self.b.net.terms.as_int(term)
                && (n < leaf.lo || n > leaf.hi)
            {
                let ty = p.ty.describe();
                // Not refused: the assignment may never happen. It faults if it does.
                self.b.report(Diagnostic::warning(span, format!("{n} does not fit `{ty}`")));
            }
            term = self.b.terms().checked(term, leaf.lo, leaf.hi);
        }
        let var = p.leaves[0];
        if leaf.array {
            let array = self.b.terms().var(var);
            term = self.b.terms().store(array, p.index, term);
        }
        let s = self.b.terms().assign(var, term);
        self.stmts.push(s);
        Ok(())
    }

    /// Copies an array or a struct, cell by cell. Source and target may overlap only by being the same.
    pub fn copy(&mut self, to: &Place, from: &Place) {
        match to.ty.clone() {
            Ty::Array(r, _) => {
                let Ty::Array(s, _) = from.ty else { return };
                for i in 0..r.len {
                    let (i, j) = (self.b.int(r.lo + i), self.b.int(s.lo + i));
                    let (a, b) = (self.b.entry(to, i), self.b.entry(from, j));
                    self.copy(&a, &b);
                }
            }
            Ty::Struct(fields) => {
                let Ty::Struct(names) = from.ty.clone() else { return };
                for ((f, _), (g, _)) in fields.iter().zip(names.iter()) {
                    if let (Some(a), Some(b)) = (Builder::field(to, f), Builder::field(from, g)) {
                        self.copy(&a, &b);
                    }
                }
            }
            _ => {
                let v = self.b.read(from);
                // Shapes agree, so the kinds do.
                let span = Span { source: crate::diag::SourceId(0), start: 0, end: 0 };
                let _ = self.write(to, v, span);
            }
        }
    }
}

impl From<Value> for Denotes {
    fn from(v: Value) -> Denotes {
        Denotes::Value(v)
    }
}

impl Builder<'_> {
    /// The position in a flat array: `index * len + (i - lo)`, with `i` checked.
    pub fn flat_index(&mut self, index: TermId, i: TermId, lo: i64, len: i64) -> TermId {
        let checked = self.terms().checked(i, lo, lo + len - 1);
        let lo = self.int(-lo);
        let rel = self.terms().add([checked, lo]);
        let len = self.int(len);
        let row = self.terms().mul(index, len);
        self.terms().add([row, rel])
    }

    /// One entry of an array.
    pub fn entry(&mut self, p: &Place, i: TermId) -> Place {
        let Ty::Array(r, t) = &p.ty else { return p.clone() };
        let index = self.flat_index(p.index, i, r.lo, r.len);
        Place { ty: (**t).clone(), leaves: p.leaves.clone(), index, writable: p.writable }
    }

    /// One field of a struct.
    pub fn field(p: &Place, name: &str) -> Option<Place> {
        let Ty::Struct(fields) = &p.ty else { return None };
        let mut at = 0;
        for (n, t) in fields.iter() {
            let count = t.leaf_count();
            if n == name {
                let leaves = p.leaves[at..at + count].to_vec();
                return Some(Place { ty: t.clone(), leaves, index: p.index, writable: p.writable });
            }
            at += count;
        }
        None
    }

    /// The value of a scalar variable.
    pub fn read(&mut self, p: &Place) -> Value {
        let kind = Kind::of(&p.ty);
        let var = p.leaves[0];
        let leaf = &self.leaves[&var];
        if let (Some(cells), Some(i)) = (&leaf.value, self.net.terms.as_int(p.index))
            && let Some(&n) = cells.get(i as usize)
        {
            return self.literal(n, kind);
        }
        let array = leaf.array;
        let mut term = self.terms().var(var);
        if array {
            term = self.terms().select(term, p.index);
        }
        Value { term, kind }
    }
}
