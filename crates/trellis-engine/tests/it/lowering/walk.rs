//! An evaluator of UPPAAL programs that walks the syntax tree.
//!
//! Names are looked up in hash maps, values are numbers and lists, effects happen where they stand, from left to right;
//! what is assigned to, and what it holds, is settled before the right side runs.
//! There are no terms, no statements of `trellis-expr`, no inlining: functions are called. Nothing is shared with the
//! builder but the tree.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use trellis_syntax::uppaal::ast::{
    BaseType, BinOp, Block, Decl, Declarator, Dim, Expr, ExprKind, Function, Init, Nta, Quant, Stmt, TypeExpr, UnOp,
};

/// The cells of every variable, by the name that the network gives them.
pub type Cells = BTreeMap<String, Vec<i128>>;

/// What becomes of a program.
pub enum Outcome {
    /// The guard is false.
    Blocked,
    /// The update ran.
    Done(Cells),
    /// Something has no value.
    Fault(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Blocked => f.write_str("blocked"),
            Outcome::Done(cells) => write!(f, "done, {cells:?}"),
            Outcome::Fault(what) => write!(f, "a fault: {what}"),
        }
    }
}

#[derive(Debug, Clone)]
enum Ty {
    Int(i128, i128),
    Bool,
    /// First index, length, entries.
    Array(i128, usize, Box<Ty>),
    Struct(Vec<(String, Ty)>),
    Void,
}

/// A number (truth values are 0 and 1), or the entries of an array or fields of a struct.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(i128),
    List(Vec<Value>),
}

/// A variable or a part of one.
#[derive(Debug, Clone)]
struct Place {
    slot: usize,
    path: Vec<usize>,
    ty: Ty,
}

#[derive(Debug, Clone)]
enum Name {
    Place(Place),
    /// Bound variables of quantifiers and loops.
    Number(i128),
    Type(Ty),
    Function(usize),
}

enum Failure {
    Fault(String),
    /// The evaluator does not know this.
    Lost(String),
}

type Run<T> = Result<T, Failure>;

fn fault<T>(what: impl Into<String>) -> Run<T> {
    Err(Failure::Fault(what.into()))
}

fn lost<T>(what: impl Into<String>) -> Run<T> {
    Err(Failure::Lost(what.into()))
}

enum Flow {
    Next,
    Return(Option<Value>),
}

struct Walk<'a> {
    memory: Vec<Value>,
    /// The innermost block last; the first is global.
    scopes: Vec<HashMap<String, Name>>,
    functions: Vec<&'a Function>,
    steps: u32,
}

/// Runs the only edge of the only process, once.
pub fn run(nta: &Nta) -> Result<Outcome, String> {
    let mut w = Walk { memory: Vec::new(), scopes: vec![HashMap::new()], functions: Vec::new(), steps: 0 };
    match w.program(nta) {
        Ok(outcome) => Ok(outcome),
        Err(Failure::Fault(what)) => Ok(Outcome::Fault(what)),
        Err(Failure::Lost(what)) => Err(format!("the evaluator is lost: {what}")),
    }
}

fn default_value(ty: &Ty) -> Value {
    match ty {
        Ty::Int(lo, hi) => Value::Number(if *lo <= 0 && 0 <= *hi { 0 } else { *lo }),
        Ty::Bool | Ty::Void => Value::Number(0),
        Ty::Array(_, len, of) => Value::List(vec![default_value(of); *len]),
        Ty::Struct(fields) => Value::List(fields.iter().map(|(_, t)| default_value(t)).collect()),
    }
}

/// The value as the type wants it.
fn fit(ty: &Ty, v: Value) -> Run<Value> {
    match (ty, v) {
        (Ty::Int(lo, hi), Value::Number(n)) if n < *lo || n > *hi => fault(format!("{n} is not in {lo}..{hi}")),
        (Ty::Int(..), v @ Value::Number(_)) => Ok(v),
        (Ty::Bool, Value::Number(n)) => Ok(Value::Number(i128::from(n != 0))),
        (Ty::Array(_, len, of), Value::List(l)) if l.len() == *len => {
            Ok(Value::List(l.into_iter().map(|v| fit(of, v)).collect::<Run<_>>()?))
        }
        (Ty::Struct(fields), Value::List(l)) if l.len() == fields.len() => {
            let fields = fields.iter().zip(l).map(|((_, t), v)| fit(t, v));
            Ok(Value::List(fields.collect::<Run<_>>()?))
        }
        (ty, v) => lost(format!("{v:?} as {ty:?}")),
    }
}

/// One list of cells for each scalar in the type.
fn leaves(name: &str, ty: &Ty, v: &Value) -> Vec<(String, Vec<i128>)> {
    match (ty, v) {
        (Ty::Array(_, _, of), Value::List(l)) => {
            let mut entries = l.iter().map(|v| leaves(name, of, v));
            let mut all = entries.next().unwrap_or_default();
            for entry in entries {
                all.iter_mut().zip(entry).for_each(|(a, e)| a.1.extend(e.1));
            }
            all
        }
        (Ty::Struct(fields), Value::List(l)) => {
            fields.iter().zip(l).flat_map(|((f, t), v)| leaves(&format!("{name}.{f}"), t, v)).collect()
        }
        (_, Value::Number(n)) => vec![(name.to_string(), vec![*n])],
        _ => Vec::new(),
    }
}

impl<'a> Walk<'a> {
    fn program(&mut self, nta: &'a Nta) -> Run<Outcome> {
        let mut globals: Vec<(String, Place)> = Vec::new();
        for d in &nta.decls {
            self.declare(d)?;
            if let Decl::Vars(v) = d
                && !v.ty.is_const
            {
                for d in &v.names {
                    if let Some(Name::Place(p)) = self.scopes[0].get(&d.name.name) {
                        globals.push((d.name.name.clone(), p.clone()));
                    }
                }
            }
        }
        let [template] = &nta.templates[..] else { return lost("more than one process") };
        let [edge] = &template.edges[..] else { return lost("more than one edge") };
        if let Some(g) = &edge.guard
            && self.number(g)? == 0
        {
            return Ok(Outcome::Blocked);
        }
        for u in &edge.update {
            self.value(u)?;
        }
        let cells = globals.iter().flat_map(|(name, p)| leaves(name, &p.ty, &self.memory[p.slot]));
        Ok(Outcome::Done(cells.collect()))
    }

    // Declarations.

    fn set(&mut self, name: &str, n: Name) {
        self.scopes.last_mut().expect("the global scope").insert(name.to_string(), n);
    }

    fn find(&self, name: &str) -> Run<Name> {
        match self.scopes.iter().rev().find_map(|s| s.get(name)) {
            Some(n) => Ok(n.clone()),
            None => lost(format!("the name {name}")),
        }
    }

    fn declare(&mut self, d: &'a Decl) -> Run<()> {
        match d {
            Decl::Vars(v) => {
                for d in &v.names {
                    let ty = self.declared(&v.ty, d)?;
                    let value = match &d.init {
                        None => default_value(&ty),
                        Some(i) => self.initial(i, &ty)?,
                    };
                    let place = self.allocate(&ty, value)?;
                    self.set(&d.name.name, Name::Place(place));
                }
            }
            Decl::Typedef { ty, names } => {
                for d in names {
                    let ty = self.declared(ty, d)?;
                    self.set(&d.name.name, Name::Type(ty));
                }
            }
            Decl::Function(f) => {
                self.functions.push(f);
                self.set(&f.name.name, Name::Function(self.functions.len() - 1));
            }
            other => return lost(format!("{other:?}")),
        }
        Ok(())
    }

    fn allocate(&mut self, ty: &Ty, value: Value) -> Run<Place> {
        let value = fit(ty, value)?;
        self.memory.push(value);
        Ok(Place { slot: self.memory.len() - 1, path: Vec::new(), ty: ty.clone() })
    }

    fn initial(&mut self, init: &'a Init, ty: &Ty) -> Run<Value> {
        match init {
            Init::Expr(e) => self.value(e),
            Init::List(items, _) => {
                let types: Vec<Ty> = match ty {
                    Ty::Array(_, len, of) => vec![(**of).clone(); *len],
                    Ty::Struct(fields) => fields.iter().map(|(_, t)| t.clone()).collect(),
                    _ => return lost("a list for a scalar"),
                };
                // As they stand.
                let values = items.iter().zip(&types).map(|((_, i), t)| self.initial(i, t));
                Ok(Value::List(values.collect::<Run<_>>()?))
            }
        }
    }

    fn declared(&mut self, ty: &'a TypeExpr, d: &'a Declarator) -> Run<Ty> {
        let base = self.ty(ty)?;
        self.with_dims(base, &d.dims)
    }

    fn with_dims(&mut self, base: Ty, dims: &'a [Dim]) -> Run<Ty> {
        let mut ty = base;
        for d in dims.iter().rev() {
            let index = match d {
                Dim::Type(t) => Some(self.ty(t)?),
                Dim::Expr(Expr { kind: ExprKind::Name(n), .. }) => match self.find(n)? {
                    Name::Type(t) => Some(t),
                    _ => None,
                },
                Dim::Expr(_) => None,
            };
            let (lo, len) = match (index, d) {
                (Some(Ty::Int(lo, hi)), _) => (lo, hi - lo + 1),
                (None, Dim::Expr(e)) => (0, self.number(e)?),
                (other, _) => return lost(format!("an array indexed by {other:?}")),
            };
            ty = Ty::Array(lo, len as usize, Box::new(ty));
        }
        Ok(ty)
    }

    fn ty(&mut self, t: &'a TypeExpr) -> Run<Ty> {
        Ok(match &t.base {
            // A constant need not be small.
            BaseType::Int(None) if t.is_const => Ty::Int(i32::MIN.into(), i32::MAX.into()),
            BaseType::Int(None) => Ty::Int(-32768, 32767),
            BaseType::Int(Some(bounds)) => Ty::Int(self.number(&bounds.0)?, self.number(&bounds.1)?),
            BaseType::Bool => Ty::Bool,
            BaseType::Void => Ty::Void,
            BaseType::Struct(fields) => {
                let mut all = Vec::new();
                for (t, names) in fields {
                    for d in names {
                        all.push((d.name.name.clone(), self.declared(t, d)?));
                    }
                }
                Ty::Struct(all)
            }
            BaseType::Named(n) => match self.find(&n.name)? {
                Name::Type(t) => t,
                other => return lost(format!("{other:?} as a type")),
            },
            other => return lost(format!("{other:?}")),
        })
    }

    // Places.

    fn place(&mut self, e: &'a Expr) -> Run<Place> {
        match &e.kind {
            ExprKind::Name(n) => match self.find(n)? {
                Name::Place(p) => Ok(p),
                other => lost(format!("{other:?} as a place")),
            },
            ExprKind::Index(a, i) => {
                let mut p = self.place(a)?;
                let i = self.number(i)?;
                let Ty::Array(lo, len, of) = p.ty else { return lost("an index into no array") };
                if i < lo || i >= lo + len as i128 {
                    return fault(format!("the index {i} is not in {lo}..{}", lo + len as i128 - 1));
                }
                p.path.push((i - lo) as usize);
                Ok(Place { ty: *of, ..p })
            }
            ExprKind::Field(a, f) => {
                let mut p = self.place(a)?;
                let Ty::Struct(fields) = &p.ty else { return lost("a field of no struct") };
                let Some(i) = fields.iter().position(|(n, _)| *n == f.name) else { return lost("no such field") };
                p.path.push(i);
                Ok(Place { ty: fields[i].1.clone(), ..p })
            }
            ExprKind::Call(f, args) => {
                let (value, ty) = self.call(f, args)?;
                self.allocate(&ty, value)
            }
            ExprKind::Assign(op, lhs, rhs) => self.assign(*op, lhs, rhs),
            ExprKind::Step { up, prefix: true, of } => self.step(*up, of).map(|(p, _)| p),
            _ => lost(format!("{e:?} as a place")),
        }
    }

    fn read(&self, p: &Place) -> Value {
        p.path
            .iter()
            .fold(&self.memory[p.slot], |v, &i| match v {
                Value::List(l) => &l[i],
                Value::Number(_) => v,
            })
            .clone()
    }

    fn write(&mut self, p: &Place, v: Value) -> Run<()> {
        let v = fit(&p.ty, v)?;
        let mut at = &mut self.memory[p.slot];
        for &i in &p.path {
            let Value::List(l) = at else { return lost("a path into a number") };
            at = &mut l[i];
        }
        *at = v;
        Ok(())
    }

    fn assign(&mut self, op: Option<BinOp>, lhs: &'a Expr, rhs: &'a Expr) -> Run<Place> {
        let p = self.place(lhs)?;
        let old = self.read(&p);
        let mut v = self.value(rhs)?;
        if let Some(op) = op {
            let (Value::Number(old), Value::Number(new)) = (old, v) else { return lost("a list") };
            v = Value::Number(strict(op, old, new)?);
        }
        self.write(&p, v)?;
        Ok(p)
    }

    /// The place, and what it held before.
    fn step(&mut self, up: bool, of: &'a Expr) -> Run<(Place, i128)> {
        let p = self.place(of)?;
        let Value::Number(old) = self.read(&p) else { return lost("a list") };
        self.write(&p, Value::Number(if up { old + 1 } else { old - 1 }))?;
        Ok((p, old))
    }

    // Values.

    fn number(&mut self, e: &'a Expr) -> Run<i128> {
        match self.value(e)? {
            Value::Number(n) => Ok(n),
            Value::List(_) => lost(format!("a list where a number is needed: {e:?}")),
        }
    }

    fn truth(&mut self, e: &'a Expr) -> Run<bool> {
        Ok(self.number(e)? != 0)
    }

    fn value(&mut self, e: &'a Expr) -> Run<Value> {
        self.steps += 1;
        if self.steps > 1_000_000 {
            return lost("this does not end");
        }
        let number = match &e.kind {
            ExprKind::Int(n) => i128::from(*n),
            ExprKind::Bool(b) => i128::from(*b),
            ExprKind::Name(n) => match self.find(n)? {
                Name::Number(n) => n,
                Name::Place(p) => return Ok(self.read(&p)),
                other => return lost(format!("{other:?} as a value")),
            },
            ExprKind::Index(..) | ExprKind::Field(..) | ExprKind::Assign(..) | ExprKind::Step { prefix: true, .. } => {
                let p = self.place(e)?;
                return Ok(self.read(&p));
            }
            ExprKind::Step { up, prefix: false, of } => self.step(*up, of)?.1,
            ExprKind::Call(f, args) => return Ok(self.call(f, args)?.0),
            ExprKind::Unary(UnOp::Not, a) => i128::from(!self.truth(a)?),
            ExprKind::Unary(UnOp::Neg, a) => -self.number(a)?,
            ExprKind::Unary(UnOp::Plus, a) => self.number(a)?,
            ExprKind::Binary(BinOp::And, a, b) => i128::from(self.truth(a)? && self.truth(b)?),
            ExprKind::Binary(BinOp::Or, a, b) => i128::from(self.truth(a)? || self.truth(b)?),
            ExprKind::Binary(BinOp::Imply, a, b) => i128::from(!self.truth(a)? || self.truth(b)?),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.number(a)?, self.number(b)?);
                strict(*op, x, y)?
            }
            ExprKind::Cond(c, a, b) => {
                let chosen = if self.truth(c)? { a } else { b };
                return self.value(chosen);
            }
            ExprKind::Quant(q, var, ty, body) => self.quantifier(*q, &var.name, ty, body)?,
            ExprKind::Comma(a, b) => {
                self.value(a)?;
                return self.value(b);
            }
            other => return lost(format!("{other:?}")),
        };
        Ok(Value::Number(number))
    }

    fn quantifier(&mut self, q: Quant, var: &str, ty: &'a TypeExpr, body: &'a Expr) -> Run<i128> {
        let mut sum = 0;
        for n in self.values_of(ty)? {
            self.scopes.push(HashMap::from([(var.to_string(), Name::Number(n))]));
            let v = self.number(body);
            self.scopes.pop();
            let v = v?;
            match q {
                Quant::Forall if v == 0 => return Ok(0),
                Quant::Exists if v != 0 => return Ok(1),
                Quant::Sum => sum += v,
                _ => {}
            }
        }
        Ok(match q {
            Quant::Forall => 1,
            Quant::Exists => 0,
            Quant::Sum => sum,
        })
    }

    fn values_of(&mut self, ty: &'a TypeExpr) -> Run<std::ops::RangeInclusive<i128>> {
        match self.ty(ty)? {
            Ty::Int(lo, hi) => Ok(lo..=hi),
            Ty::Bool => Ok(0..=1),
            other => lost(format!("the values of {other:?}")),
        }
    }

    // Functions and statements.

    /// What a function returns, and its type.
    fn call(&mut self, f: &'a Expr, args: &'a [Expr]) -> Run<(Value, Ty)> {
        let ExprKind::Name(name) = &f.kind else { return lost("a call of no name") };
        let Name::Function(n) = self.find(name)? else { return lost(format!("{name} is no function")) };
        let function = self.functions[n];
        let mut locals = HashMap::new();
        for (param, arg) in function.params.iter().zip(args) {
            let base = self.ty(&param.ty)?;
            let ty = self.with_dims(base, &param.dims)?;
            let place = if param.by_ref {
                self.place(arg)?
            } else {
                let value = self.value(arg)?;
                self.allocate(&ty, value)?
            };
            locals.insert(param.name.name.clone(), Name::Place(place));
        }
        let ret = self.ty(&function.ret)?;
        // The function sees the globals and its parameters, not where it is called from.
        let outer = self.scopes.split_off(1);
        self.scopes.push(locals);
        let flow = self.block(&function.body);
        self.scopes.truncate(1);
        self.scopes.extend(outer);
        match (flow?, ret) {
            (Flow::Return(None) | Flow::Next, Ty::Void) => Ok((Value::Number(0), Ty::Void)),
            (Flow::Return(Some(v)), ret) => Ok((fit(&ret, v)?, ret)),
            _ => lost("a function that returns nothing"),
        }
    }

    fn block(&mut self, b: &'a Block) -> Run<Flow> {
        self.scopes.push(HashMap::new());
        let flow = self.block_inside(b);
        self.scopes.pop();
        flow
    }

    fn block_inside(&mut self, b: &'a Block) -> Run<Flow> {
        for d in &b.decls {
            self.declare(d)?;
        }
        for s in &b.stmts {
            if let Flow::Return(v) = self.statement(s)? {
                return Ok(Flow::Return(v));
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, s: &'a Stmt) -> Run<Flow> {
        match s {
            Stmt::Empty => {}
            Stmt::Expr(e) => _ = self.value(e)?,
            Stmt::Block(b) => return self.block(b),
            Stmt::If { cond, then, els } => {
                if self.truth(cond)? {
                    return self.statement(then);
                }
                if let Some(e) = els {
                    return self.statement(e);
                }
            }
            Stmt::While { cond, body, .. } => {
                while self.truth(cond)? {
                    if let Flow::Return(v) = self.statement(body)? {
                        return Ok(Flow::Return(v));
                    }
                }
            }
            Stmt::DoWhile { body, cond, .. } => loop {
                if let Flow::Return(v) = self.statement(body)? {
                    return Ok(Flow::Return(v));
                }
                if !self.truth(cond)? {
                    break;
                }
            },
            Stmt::For { init, cond, step, body, .. } => {
                if let Some(e) = init {
                    self.value(e)?;
                }
                loop {
                    if let Some(c) = cond
                        && !self.truth(c)?
                    {
                        break;
                    }
                    if let Flow::Return(v) = self.statement(body)? {
                        return Ok(Flow::Return(v));
                    }
                    if let Some(e) = step {
                        self.value(e)?;
                    }
                }
            }
            Stmt::Iterate { var, ty, body, .. } => {
                for n in self.values_of(ty)? {
                    self.scopes.push(HashMap::from([(var.name.clone(), Name::Number(n))]));
                    let flow = self.statement(body);
                    self.scopes.pop();
                    if let Flow::Return(v) = flow? {
                        return Ok(Flow::Return(v));
                    }
                }
            }
            Stmt::Return(None, _) => return Ok(Flow::Return(None)),
            Stmt::Return(Some(e), _) => {
                let v = self.value(e)?;
                return Ok(Flow::Return(Some(v)));
            }
            Stmt::Unsupported { what, .. } => return lost(what.clone()),
        }
        Ok(Flow::Next)
    }
}

/// Operators that need both sides.
fn strict(op: BinOp, x: i128, y: i128) -> Run<i128> {
    let shift = |y: i128| if (0..64).contains(&y) { Ok(y as u32) } else { fault(format!("a shift by {y}")) };
    Ok(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div if y == 0 => return fault("division by zero"),
        BinOp::Mod if y == 0 => return fault("remainder by zero"),
        BinOp::Div => x / y,
        BinOp::Mod => x % y,
        BinOp::Min => x.min(y),
        BinOp::Max => x.max(y),
        BinOp::Lt => i128::from(x < y),
        BinOp::Le => i128::from(x <= y),
        BinOp::Eq => i128::from(x == y),
        BinOp::Ne => i128::from(x != y),
        BinOp::Ge => i128::from(x >= y),
        BinOp::Gt => i128::from(x > y),
        BinOp::BitAnd => x & y,
        BinOp::BitOr => x | y,
        BinOp::BitXor => x ^ y,
        BinOp::Shl => x << shift(y)?,
        BinOp::Shr => x >> shift(y)?,
        BinOp::And | BinOp::Or | BinOp::Imply => return lost("a connective"),
    })
}
