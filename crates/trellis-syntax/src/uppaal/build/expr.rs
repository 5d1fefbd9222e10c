//! Expressions. Lowering one gives a term without effects, and appends to `stmts` what must run before the term is read:
//! assignments inside expressions and the bodies of called functions.
//!
//! Order is kept: what was lowered first and could be changed by the effects of what is lowered later is held in a
//! temporary; the right side of `&&`, `||`, `imply` and the branches of `?:` run only when they are needed.

use std::rc::Rc;

use trellis_expr::{BitOp, Division, StmtId, Term, TermId, Terms, VarId};
use trellis_model::network::Reset;

use super::clock::{Linear, Operand};
use super::formula::Formula;
use super::lattice::LatticePlace;
use super::place::{ChanPlace, Place};
use super::scope::{Entity, FuncDef, Kind, Scope, Value};
use super::types::{Range, Ty};
use super::{Builder, Reported, Res, ast};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use ast::{BinOp, Expr, ExprKind, UnOp};

/// What an expression denotes.
#[derive(Debug, Clone)]
pub(crate) enum Denotes {
    Value(Value),
    Place(Place),
    Lattice(LatticePlace),
    /// One bit of a lattice element.
    Bit(LatticePlace, TermId),
    Chan(ChanPlace),
    /// A sum or difference with clocks in it.
    Linear(Linear),
    /// What a guard or an invariant asks of clocks, and of data beside.
    Constraint(Formula),
    /// The result of a `void` function or of a lattice update.
    Nothing,
}

/// What is being lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A size, a bound, an initial value, an argument of a template.
    Constant,
    /// A guard, a synchronisation.
    Guard,
    Invariant,
    /// The state may be changed.
    Update,
    /// One may speak of deadlocks.
    Query,
    /// Lattice values belong to one of the states `x`, `y` and `joined`.
    Strategy,
}

/// Lowers the expressions of one unit.
pub(crate) struct Lower<'b, 'a> {
    pub b: &'b mut Builder<'a>,
    pub scope: Rc<Scope>,
    pub unit: Unit,
    /// What must run before the terms are read.
    pub stmts: Vec<StmtId>,
    /// Whether this is never reached: it must make sense, but constants in it need not be in range.
    pub dead: bool,
    /// The functions being inlined and where they are called, outermost first.
    pub calls: Vec<(Rc<FuncDef>, Span)>,
    /// Where `return` puts its value, and the flag that says it has.
    pub ret: Option<(Option<Place>, Option<VarId>)>,
    /// The clocks that are set, in order.
    pub resets: Vec<Reset>,
    /// In how many things that are lowered apart, and so may not happen, this stands.
    pub nested: u32,
    /// In how many loops this stands, and where the innermost one sets a clock.
    pub loops: u32,
    pub loop_reset: Option<Span>,
    /// In queries: what holds where this is looked at.
    pub path: Vec<TermId>,
}

impl<'b, 'a> Lower<'b, 'a> {
    pub fn new(b: &'b mut Builder<'a>, scope: Rc<Scope>, unit: Unit) -> Lower<'b, 'a> {
        Lower {
            b,
            scope,
            unit,
            stmts: Vec::new(),
            dead: false,
            calls: Vec::new(),
            ret: None,
            resets: Vec::new(),
            nested: 0,
            loops: 0,
            loop_reset: None,
            path: Vec::new(),
        }
    }

    pub fn err<T>(&mut self, span: Span, message: impl Into<String>) -> Res<T> {
        self.b.error(span, message)
    }

    /// Lowers something apart; answers what it appended.
    pub fn apart<T>(&mut self, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<(Vec<StmtId>, T)> {
        let outer = std::mem::take(&mut self.stmts);
        self.nested += 1;
        let result = f(self);
        self.nested -= 1;
        let inner = std::mem::replace(&mut self.stmts, outer);
        Ok((inner, result?))
    }

    /// Lowers something that is or is not reached.
    pub fn reached<T>(&mut self, reached: bool, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let outer = self.dead;
        self.dead |= !reached;
        let result = f(self);
        self.dead = outer;
        result
    }

    /// Lowers something that is looked at only where a condition holds.
    pub fn under<T>(&mut self, condition: TermId, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.path.push(condition);
        let result = f(self);
        self.path.pop();
        result
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
        let found = self.denote(e)?;
        self.value_of(found, e.span)
    }

    /// The scalar value of what an expression denotes.
    pub fn value_of(&mut self, found: Denotes, span: Span) -> Res<Value> {
        match found {
            Denotes::Value(v) => Ok(v),
            Denotes::Place(p) if p.ty.scalar().is_some() => Ok(self.b.read(&p)),
            Denotes::Bit(l, i) => Ok(self.b.get_bit(&l, i)),
            Denotes::Nothing => self.err(span, "a number or truth value is needed, but this has no value"),
            found => {
                let what = format!("a number or truth value is needed, but this is {}", found.describe());
                let d = Diagnostic::error(span, what);
                Err(self.b.report(match found {
                    Denotes::Place(p) if matches!(p.ty, Ty::Clock) => d.help(super::clock::NO_NUMBER),
                    Denotes::Linear(_) => d.help(super::clock::NO_NUMBER),
                    Denotes::Constraint(_) => d.help(super::formula::PLACES),
                    Denotes::Lattice(l) => {
                        d.help(format!("ask it with a method: {}", super::lattice::method_list(&*l.lattice)))
                    }
                    _ => d,
                }))
            }
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
            (Kind::Scalar(_), Kind::Scalar(_)) => {
                return self.err(span, "this belongs to another scalar set");
            }
            (from, _) => {
                let what = if matches!(from, Kind::Scalar(_)) {
                    "a scalar is not a number"
                } else {
                    "a number is not a scalar"
                };
                return Err(self.b.report(
                    Diagnostic::error(span, what)
                        .help("members of a scalar set can only be compared, assigned and used as indexes"),
                ));
            }
        };
        Ok(Value { term, kind: to })
    }

    /// A value of a scalar type; it faults outside the type's bounds.
    pub fn checked(&mut self, v: Value, ty: &Ty, span: Span) -> Res<Value> {
        let mut v = self.convert(v, Kind::of(ty), span)?;
        if let Some((lo, hi, false)) = ty.scalar() {
            v.term = self.b.terms().checked(v.term, lo, hi);
        }
        Ok(v)
    }

    pub fn integer(&mut self, e: &Expr) -> Res<TermId> {
        let v = self.value(e)?;
        Ok(self.convert(v, Kind::Int, e.span)?.term)
    }

    pub fn boolean(&mut self, e: &Expr) -> Res<TermId> {
        let v = self.value(e)?;
        Ok(self.convert(v, Kind::Bool, e.span)?.term)
    }

    /// An array or a struct of the shape that is needed.
    pub fn aggregate(&mut self, e: &Expr, needed: &Ty) -> Res<Place> {
        match self.denote(e)? {
            Denotes::Place(p) if p.ty.same_shape(needed) => Ok(p),
            found => self.err(e.span, format!("`{}` is needed, but this is {}", needed.describe(), found.describe())),
        }
    }

    // Holding on to values.

    /// A term with the value that this one has before the statements behind the mark, which could change it.
    pub fn held(&mut self, mark: usize, v: Value) -> TermId {
        if self.stmts.len() == mark || self.b.constant_value(v).is_some() {
            return v.term;
        }
        let tmp = self.b.temp_for(v.kind);
        let stmt = self.b.terms().assign(tmp, v.term);
        self.stmts.insert(mark, stmt);
        self.b.terms().var(tmp)
    }

    /// The same for an index.
    pub fn held_index(&mut self, mark: usize, term: TermId) -> TermId {
        self.held(mark, Value { term, kind: Kind::Int })
    }

    /// The same variable, lattice value or channel as before the statements behind the mark.
    fn held_place(&mut self, mark: usize, d: Denotes) -> Denotes {
        match d {
            Denotes::Place(p) => Denotes::Place(Place { index: self.held_index(mark, p.index), ..p }),
            Denotes::Lattice(l) => Denotes::Lattice(LatticePlace { offset: self.held_index(mark, l.offset), ..l }),
            Denotes::Chan(c) => Denotes::Chan(ChanPlace { index: self.held_index(mark, c.index), ..c }),
            other => other,
        }
    }

    /// Saves a value now, in a temporary that may be written again.
    pub fn save(&mut self, v: Value) -> (VarId, Value) {
        let tmp = self.b.temp_for(v.kind);
        let stmt = self.b.terms().assign(tmp, v.term);
        self.stmts.push(stmt);
        let term = self.b.terms().var(tmp);
        (tmp, Value { term, kind: v.kind })
    }

    /// The value saved now, unless it is a constant.
    pub fn saved(&mut self, v: Value) -> Value {
        if self.b.constant_value(v).is_some() { v } else { self.save(v).1 }
    }

    /// The variable with its index fixed now, whatever happens to what the index was made of.
    pub fn pinned(&mut self, p: Place) -> Place {
        let index = self.saved(Value { term: p.index, kind: Kind::Int }).term;
        Place { index, ..p }
    }

    // Denotation.

    pub fn denote(&mut self, e: &Expr) -> Res<Denotes> {
        let entered = self.b.enter(e.span).and_then(|()| self.b.spend(1, e.span));
        let result = entered.and_then(|()| self.denote_node(e));
        self.b.leave();
        result
    }

    fn rate_is(&mut self, rate: &Expr, e: &Expr, span: Span) -> Res<Denotes> {
        match &rate.kind {
            ExprKind::Rate(of) => self.rate(of, e, span),
            _ => self.denote(rate),
        }
    }

    fn denote_node(&mut self, e: &Expr) -> Res<Denotes> {
        match &e.kind {
            ExprKind::Int(n) => Ok(self.b.literal(*n, Kind::Int).into()),
            ExprKind::Bool(v) => Ok(self.b.literal(i64::from(*v), Kind::Bool).into()),
            ExprKind::Unsupported(what) => self.err(e.span, format!("{what} is not supported")),
            ExprKind::Name(n) => self.name(n, e.span),
            ExprKind::Index(a, i) => self.index(a, i),
            ExprKind::Field(a, f) => self.field(a, f),
            ExprKind::Call(f, args) => self.call(f, args, e.span),
            ExprKind::Unary(op, a) => self.unary(*op, a, e.span),
            ExprKind::Binary(BinOp::Eq, a, b) if matches!(a.kind, ExprKind::Rate(_)) => self.rate_is(a, b, e.span),
            ExprKind::Binary(BinOp::Eq, a, b) if matches!(b.kind, ExprKind::Rate(_)) => self.rate_is(b, a, e.span),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::Cond(c, a, b) => self.conditional(c, a, b),
            ExprKind::Assign(op, lhs, rhs) => self.assignment(*op, lhs, rhs, e.span, true),
            ExprKind::Step { up, prefix, of } => self.step(*up, *prefix, of, e.span, true),
            ExprKind::Quant(q, var, ty, body) => self.quantifier(*q, var, ty, body, e.span),
            ExprKind::Deadlock => {
                if self.unit != Unit::Query {
                    return self.err(e.span, "only a query can ask about deadlocks");
                }
                self.b.asks_deadlock = true;
                let d = self.b.deadlock();
                let term = self.b.terms().var(d);
                Ok(Value { term, kind: Kind::Bool }.into())
            }
            ExprKind::Rate(_) => self.err(e.span, "a rate is not a number; say what it is in an invariant: `x' == 0`"),
            ExprKind::Comma(a, b) => {
                // In functions and updates one after the other; in old guards and invariants a conjunction.
                if self.unit == Unit::Update || !self.calls.is_empty() {
                    self.effect(a)?;
                    return self.denote(b);
                }
                self.binary(BinOp::And, a, b, e.span)
            }
        }
    }

    pub fn name(&mut self, n: &str, span: Span) -> Res<Denotes> {
        let Some(found) = self.scope.find(n) else {
            let d = self.b.unknown("name", n, span, &self.scope);
            return Err(self.b.report(d));
        };
        let shown = shorten(n);
        let (what, help) = match found {
            Entity::Const(v) => return Ok(v.into()),
            Entity::Var(p) => return Ok(Denotes::Place(p)),
            Entity::Lattice(_) if self.unit == Unit::Strategy => {
                ("is a lattice variable of both states", format!("say which one is meant: `x.{shown}` or `y.{shown}`"))
            }
            Entity::Lattice(l) => return Ok(Denotes::Lattice(l)),
            Entity::Chan(c) => return Ok(Denotes::Chan(c)),
            Entity::Broken => return Err(Reported),
            Entity::LeftOut(what) => (what, "what depends on it cannot be checked; use integers and clocks".into()),
            Entity::Func(_) => ("is a function", format!("call it: `{shown}(…)`")),
            Entity::Type(_) => ("is a type, not a value", "use a variable or a constant here".into()),
            Entity::Family(_) => ("is a process", format!("ask for a location or a variable of it: `{shown}.name`")),
            Entity::State(_) => ("is a state", format!("ask for something in it: `{shown}.variable`")),
        };
        Err(self.b.report(Diagnostic::error(span, format!("`{shown}` {what}")).help(help)))
    }

    fn index(&mut self, a: &Expr, i: &Expr) -> Res<Denotes> {
        let base = self.denote(a)?;
        let mark = self.stmts.len();
        let value = self.value(i)?;
        let base = self.held_place(mark, base);
        let at = match value.kind {
            Kind::Bool => self.convert(value, Kind::Int, i.span)?.term,
            _ => value.term,
        };
        match base {
            Denotes::Place(p) => match &p.ty {
                Ty::Array(r, _) => {
                    self.check_index(i, at, *r, value.kind)?;
                    Ok(Denotes::Place(self.b.entry(&p, at)))
                }
                ty => {
                    let ty = ty.describe();
                    self.err(a.span, format!("only arrays can be indexed, and this is `{ty}`"))
                }
            },
            Denotes::Chan(c) => match c.ty.clone() {
                Ty::Array(r, t) => {
                    self.check_index(i, at, r, value.kind)?;
                    let index = self.b.flat_index(c.index, at, r.lo, r.len);
                    Ok(Denotes::Chan(ChanPlace { ty: (*t).clone(), base: c.base, index }))
                }
                _ => self.err(a.span, "only arrays can be indexed, and this is one channel"),
            },
            Denotes::Lattice(l) => {
                let Some(len) = super::lattice::entries(&*l.lattice) else {
                    return self.err(a.span, format!("`{}` has no entries", l.lattice.name()));
                };
                self.check_index(i, at, Range { lo: 0, len: len as i64, set: 0 }, value.kind)?;
                Ok(self.b.lattice_entry(l, at))
            }
            _ => self.err(a.span, "only arrays can be indexed"),
        }
    }

    /// Refuses an index that is written as a constant and does not fit. One that only turns out to be a constant (the
    /// value of a select, say) faults when it is used, if ever.
    fn check_index(&mut self, i: &Expr, at: TermId, r: Range, kind: Kind) -> Res<()> {
        let Range { lo, len, set } = r;
        match kind {
            Kind::Scalar(s) if s != set => {
                let what = if set == 0 { "numbers" } else { "another scalar set" };
                return self.err(i.span, format!("this array is indexed by {what}, and this is a scalar"));
            }
            Kind::Int | Kind::Bool if set != 0 => {
                return self.err(i.span, "this array is indexed by members of a scalar set, and this is a number");
            }
            _ => {}
        }
        match self.b.net.terms.as_int(at) {
            Some(n) if !(lo..lo + len).contains(&n) && self.is_plain(i) => {
                self.err(i.span, format!("index {n} is outside the array, which goes from {lo} to {}", lo + len - 1))
            }
            _ => Ok(()),
        }
    }

    /// Is the expression, which is reached, made of numbers and global constants only?
    pub fn is_plain(&self, e: &Expr) -> bool {
        !self.dead
            && match &e.kind {
                ExprKind::Int(_) | ExprKind::Bool(_) => true,
                ExprKind::Name(n) => self.scope.is_global_const(n),
                ExprKind::Unary(_, a) => self.is_plain(a),
                ExprKind::Binary(_, a, b) => self.is_plain(a) && self.is_plain(b),
                _ => false,
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
                    self.err(f.span, format!("`{ty}` has no field `{}`", shorten(&f.name)))
                }
            },
            Denotes::Lattice(l) => self.b.lattice_field(l, f),
            _ => self.err(f.span, format!("there is no field `{}` here", shorten(&f.name))),
        }
    }

    // Operators.

    /// A number that fits a machine word.
    pub fn number(&mut self, t: TermId, span: Span) -> Res<TermId> {
        if too_big(&self.b.net.terms, t) { self.err(span, "this number is too large") } else { Ok(t) }
    }

    fn unary(&mut self, op: UnOp, a: &Expr, span: Span) -> Res<Denotes> {
        if op == UnOp::Not {
            let f = self.formula(a)?;
            return Ok(self.negated(f, span)?.into());
        }
        let v = match self.operand(a)? {
            Operand::Value(v) => self.convert(v, Kind::Int, a.span)?,
            Operand::Linear(l) if op == UnOp::Plus => return Ok(Denotes::Linear(l)),
            Operand::Linear(l) => return Ok(Denotes::Linear(self.opposite(l))),
        };
        let term = match op {
            UnOp::Neg => self.b.terms().neg(v.term),
            _ => v.term,
        };
        Ok(Value { term: self.number(term, span)?, kind: Kind::Int }.into())
    }

    pub fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, span: Span) -> Res<Denotes> {
        if let BinOp::And | BinOp::Or | BinOp::Imply = op {
            return self.connective(op, a, b);
        }
        let x = match self.denote(a)? {
            Denotes::Place(p) if matches!((op, &p.ty), (BinOp::Eq | BinOp::Ne, Ty::Array(..) | Ty::Struct(_))) => {
                let same = self.same_cells(p, b, span)?;
                let term = if op == BinOp::Eq { same } else { self.b.terms().not(same) };
                return Ok(Value { term, kind: Kind::Bool }.into());
            }
            found => self.operand_of(found, a.span)?,
        };
        let mark = self.stmts.len();
        let y = self.operand(b)?;
        let (x, y) = match (self.held_operand(mark, x), y) {
            (Operand::Value(x), Operand::Value(y)) => (x, y),
            (x, y) => return self.timed(op, [(x, a.span), (y, b.span)], span),
        };
        let by_zero = matches!(op, BinOp::Div | BinOp::Mod) && self.b.net.terms.as_int(y.term) == Some(0);
        if by_zero && self.is_plain(b) {
            return self.err(span, "division by zero");
        }
        Ok(self.operate(op, x, y, [a.span, b.span])?.into())
    }

    /// A strict binary operator on two values.
    pub fn operate(&mut self, op: BinOp, a: Value, b: Value, spans: [Span; 2]) -> Res<Value> {
        if let (BinOp::Eq | BinOp::Ne, true) = (op, a.kind == b.kind) {
            let eq = self.b.terms().eq(a.term, b.term);
            let term = if op == BinOp::Eq { eq } else { self.b.terms().not(eq) };
            return Ok(Value { term, kind: Kind::Bool });
        }
        if let (BinOp::Eq | BinOp::Ne, Kind::Scalar(_), _) | (BinOp::Eq | BinOp::Ne, _, Kind::Scalar(_)) =
            (op, a.kind, b.kind)
        {
            return self.err(spans[0].to(spans[1]), "a scalar can only be compared with members of its own set");
        }
        let mut a = self.convert(a, Kind::Int, spans[0])?;
        let mut b = self.convert(b, Kind::Int, spans[1])?;
        if let BinOp::Min | BinOp::Max = op {
            // Both are used twice.
            let heavy = [a, b].map(|v| self.b.is_heavy(v.term));
            if heavy[0] || heavy[1] {
                (a, b) = (self.saved(a), self.saved(b));
            }
        }
        let (x, y) = (a.term, b.term);
        let t = self.b.terms();
        let term = match op {
            BinOp::Add => t.add([x, y]),
            BinOp::Sub => t.sub(x, y),
            BinOp::Mul => t.mul(x, y),
            BinOp::Div => t.div(Division::Truncating, x, y),
            BinOp::Mod => t.rem(Division::Truncating, x, y),
            BinOp::Min | BinOp::Max => {
                let less = t.le(x, y);
                if op == BinOp::Min { t.ite(less, x, y) } else { t.ite(less, y, x) }
            }
            BinOp::BitAnd => t.bit(BitOp::And, x, y),
            BinOp::BitOr => t.bit(BitOp::Or, x, y),
            BinOp::BitXor => t.bit(BitOp::Xor, x, y),
            BinOp::Shl => t.bit(BitOp::Shl, x, y),
            BinOp::Shr => t.bit(BitOp::Shr, x, y),
            _ => return Ok(Value { term: compared(t, op, x, y), kind: Kind::Bool }),
        };
        Ok(Value { term: self.number(term, spans[0].to(spans[1]))?, kind: Kind::Int })
    }

    /// `if (c) a else b`.
    pub fn branch(&mut self, c: TermId, a: Vec<StmtId>, b: Vec<StmtId>) {
        let (a, b) = (self.b.block(a), self.b.block(b));
        let s = self.b.terms().branch(c, a, b);
        if !matches!(self.b.net.terms.stmt(s), trellis_expr::Stmt::Skip) {
            self.stmts.push(s);
        }
    }
}

/// Does a number not fit a machine word?
pub(crate) fn too_big(terms: &Terms, t: TermId) -> bool {
    let is_big = |t: &TermId| matches!(terms.get(*t), Term::Big(_));
    match terms.get(t) {
        Term::Add(parts) => parts.last().is_some_and(is_big),
        _ => is_big(&t),
    }
}

/// A comparison of numbers.
pub(crate) fn compared(t: &mut Terms, op: BinOp, x: TermId, y: TermId) -> TermId {
    match op {
        BinOp::Lt => t.lt(x, y),
        BinOp::Le => t.le(x, y),
        BinOp::Gt => t.lt(y, x),
        BinOp::Ge => t.le(y, x),
        BinOp::Ne => t.ne(x, y),
        _ => t.eq(x, y),
    }
}

impl Denotes {
    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Denotes::Value(v) => match v.kind {
                Kind::Int => "a number".into(),
                Kind::Bool => "a truth value".into(),
                Kind::Scalar(_) => "a scalar".into(),
            },
            Denotes::Place(p) => format!("`{}`", p.ty.describe()),
            Denotes::Lattice(l) => format!("a `{}`", l.lattice.name()),
            Denotes::Bit(..) => "a bit of a lattice".into(),
            Denotes::Chan(c) if matches!(c.ty, Ty::Chan { .. }) => "a channel".into(),
            Denotes::Chan(_) => "an array of channels".into(),
            Denotes::Linear(_) => "computed from clocks".into(),
            Denotes::Constraint(_) => "a clock constraint".into(),
            Denotes::Nothing => "no value".into(),
        }
    }
}

impl From<Value> for Denotes {
    fn from(v: Value) -> Denotes {
        Denotes::Value(v)
    }
}
