//! From terms to gates and sums.
//!
//! Truth values become literals, integers sums of columns, words and enumerations bits, arrays over few indexes their entries; other
//! arrays are `maps`. What a term is worth where it faults is left open; whether it faults is a literal of its own
//! (`defined`), and an assertion holds if it is true and defined.
//!
//! Integers and words meet in `bit_column` (a bit as 0 or 1) and `bits_of` (a bounded sum as bits): products with a bounded factor,
//! bitwise operations on bounded integers and conversions go that way. What remains (a product of two unbounded variables, a
//! quotient by a variable, foreign functions) is refused by name.

mod arith;
mod arrays;
mod defined;
mod numbers;

use std::collections::BTreeMap;
use std::rc::Rc;

use dashu_int::IBig;
use rustc_hash::FxHashMap;
use trellis_expr::value::Value;
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type, VarId};

use super::gates::Gates;
use super::lia::Lia;
use super::linear::Linear;
use super::maps::{MapId, Maps};
use super::sat::Lit;
use super::simplex::Column;
use super::words::Word;

/// What a term has become.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    Bool(Lit),
    Int(Rc<Linear>),
    /// A word, or the position of an enumeration's literal.
    Word(Rc<[Lit]>),
    /// An array, by entries.
    Array(Rc<[Code]>),
    /// An array over too many indexes for that.
    Map(MapId),
}

impl Code {
    /// The literals in it.
    pub fn lits(&self, out: &mut Vec<Lit>) {
        match self {
            Code::Bool(l) => out.push(*l),
            Code::Word(w) => out.extend(w.iter()),
            Code::Array(entries) => entries.iter().for_each(|e| e.lits(out)),
            Code::Int(_) | Code::Map(_) => {}
        }
    }

    /// The columns in it.
    pub fn columns(&self, out: &mut Vec<Column>) {
        match self {
            Code::Int(l) => out.extend(l.terms.iter().map(|t| t.0)),
            Code::Array(entries) => entries.iter().for_each(|e| e.columns(out)),
            Code::Bool(_) | Code::Word(_) | Code::Map(_) => {}
        }
    }
}

/// What is not supported.
pub(crate) type Unsupported = String;

/// So many sub-terms are looked at before a variable is defined.
const LOOK: usize = 4_000;
/// An array of at most so many entries is listed by them, unless something else is asked for.
const LISTED: usize = 256;

/// The state of the translation.
#[derive(Default)]
pub(crate) struct Lowering {
    pub gates: Gates,
    pub lia: Lia,
    pub maps: Maps,
    /// Words are numbers, not bits.
    pub numbers: bool,
    /// An array of at most so many entries is listed by them.
    pub listed: Option<usize>,
    pub codes: FxHashMap<TermId, Code>,
    defined: FxHashMap<TermId, Lit>,
    pub vars: BTreeMap<VarId, Code>,
    bit_columns: FxHashMap<Lit, Column>,
    /// What variables that are not translated yet are equal to, always; no cycles.
    pub definitions: FxHashMap<VarId, TermId>,
    /// Inputs of the gates, in the order they were used: bounds, truth values and bits of variables.
    pub inputs: Vec<Lit>,
}

impl Lowering {
    /// The literal that says that the term evaluates to true.
    pub fn holds(&mut self, terms: &Terms, t: TermId) -> Result<Lit, Unsupported> {
        let value = self.lower(terms, t)?;
        let defined = self.defined(terms, t);
        Ok(self.gates.and([lit(&value), defined]))
    }

    /// Sub-terms that are not done yet, sub-terms and definitions first.
    fn pending(&self, terms: &Terms, t: TermId, done: impl Fn(TermId) -> bool) -> Vec<TermId> {
        let mut entered = rustc_hash::FxHashSet::default();
        let mut todo = vec![(t, false)];
        let mut all = vec![];
        while let Some((t, left)) = todo.pop() {
            if left {
                all.push(t);
            } else if !done(t) && entered.insert(t) {
                todo.push((t, true));
                match terms.get(t) {
                    Term::Var(v) => todo.extend(self.definition(*v).map(|d| (d, false))),
                    _ => todo.extend(terms.children(t).into_iter().map(|c| (c, false))),
                }
            }
        }
        all
    }

    /// What a variable is defined as, unless it has been translated.
    fn definition(&self, v: VarId) -> Option<TermId> {
        if self.vars.contains_key(&v) { None } else { self.definitions.get(&v).copied() }
    }

    /// Lets the variable stand for a term that never faults, if it has not been translated and does not depend on itself. True
    /// if so; then nothing else need be said about their being equal.
    pub fn define(&mut self, terms: &Terms, v: VarId, t: TermId) -> bool {
        if self.vars.contains_key(&v) || self.definitions.contains_key(&v) || terms.may_fault(t) {
            return false;
        }
        if let Type::Range(lo, hi) = terms.variable(v).ty {
            // A column with bounds is worth more than a sum that keeps them without anybody knowing.
            let plain = matches!(terms.get(t), Term::Int(_) | Term::Var(_));
            if !plain || !terms.lies_within(t, lo, hi) {
                return false;
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![t];
        while let Some(t) = todo.pop() {
            if seen.len() > LOOK {
                return false;
            }
            if !seen.insert(t) {
                continue;
            }
            match terms.get(t) {
                Term::Var(w) if *w == v => return false,
                Term::Var(w) => todo.extend(self.definition(*w)),
                _ => todo.extend(terms.children(t)),
            }
        }
        self.definitions.insert(v, t);
        true
    }

    /// Translates a term.
    pub fn lower(&mut self, terms: &Terms, t: TermId) -> Result<Code, Unsupported> {
        for t in self.pending(terms, t, |t| self.codes.contains_key(&t)) {
            let code = self.node(terms, t)?;
            self.codes.insert(t, code);
        }
        Ok(self.codes[&t].clone())
    }

    fn bool(&self, t: TermId) -> Lit {
        lit(&self.codes[&t])
    }

    fn int(&self, t: TermId) -> Rc<Linear> {
        match &self.codes[&t] {
            Code::Int(l) => l.clone(),
            c => unreachable!("an integer became {c:?}"),
        }
    }

    fn bits(&self, t: TermId) -> Rc<[Lit]> {
        match &self.codes[&t] {
            Code::Word(w) => w.clone(),
            c => unreachable!("a word became {c:?}"),
        }
    }

    /// Translates a node whose sub-terms are.
    fn node(&mut self, terms: &Terms, t: TermId) -> Result<Code, Unsupported> {
        let word = |w: Word| Code::Word(w.into());
        let sum = |l: Linear| Code::Int(Rc::new(l));
        if self.numbers
            && let Some(code) = self.number_node(terms, t)?
        {
            return Ok(code);
        }
        let numbers = self.numbers;
        let is_int = |t: TermId| match terms.ty(t) {
            Type::Bits { .. } => numbers,
            ty => ty == Type::Int,
        };
        let signed = |t: TermId| matches!(terms.ty(t), Type::Bits { signed: true, .. });
        Ok(match *terms.get(t) {
            Term::Bool(b) => Code::Bool(Gates::constant(b)),
            Term::Int(n) => sum(Linear::constant(n)),
            Term::Big(ref n) => sum(Linear::constant((**n).clone())),
            Term::EnumLit(e, n) => word(Gates::word(enum_width(terms.enumeration(e).literals.len()), n.into())),
            Term::Bits(width, _, bits) => word(Gates::word(width.into(), bits)),
            Term::Var(v) => self.variable(terms, v)?,
            Term::Not(a) => Code::Bool(!self.bool(a)),
            Term::And(ref args) => {
                let lits: Vec<Lit> = args.iter().map(|&a| self.bool(a)).collect();
                Code::Bool(self.gates.and(lits))
            }
            Term::Or(ref args) => {
                let lits: Vec<Lit> = args.iter().map(|&a| self.bool(a)).collect();
                Code::Bool(self.gates.or(lits))
            }
            Term::Ite(c, a, b) => {
                let (a, b) = (self.codes[&a].clone(), self.codes[&b].clone());
                self.ite(terms, self.bool(c), &a, &b)?
            }
            Term::Eq(a, b) => {
                let (a, b) = (self.codes[&a].clone(), self.codes[&b].clone());
                Code::Bool(self.eq(terms, &a, &b)?)
            }
            Term::Le(a, b) if is_int(a) => Code::Bool(self.at_most_zero(&self.int(a).minus(&self.int(b)))),
            Term::Lt(a, b) if is_int(a) => Code::Bool(!self.at_most_zero(&self.int(b).minus(&self.int(a)))),
            Term::Le(a, b) => Code::Bool(self.gates.at_most(&self.bits(a), &self.bits(b), signed(a))),
            Term::Lt(a, b) => Code::Bool(!self.gates.at_most(&self.bits(b), &self.bits(a), signed(a))),
            Term::Add(ref args) if is_int(t) => {
                sum(args.iter().fold(Linear::default(), |s, &a| s.plus(&IBig::ONE, &self.int(a))))
            }
            Term::Add(ref args) => {
                let mut s = self.bits(args[0]).to_vec();
                for &a in &args[1..] {
                    s = self.gates.add(&s, &self.bits(a));
                }
                word(s)
            }
            Term::Neg(a) if is_int(t) => sum(self.int(a).times(&IBig::NEG_ONE)),
            Term::Neg(a) => word(self.gates.negate(&self.bits(a))),
            Term::Mul(a, b) if is_int(t) => sum(self.product(&self.int(a), &self.int(b))?),
            Term::Mul(a, b) => word(self.gates.product(&self.bits(a), &self.bits(b))),
            Term::Div(d, a, b) if is_int(t) => sum(self.quotient(d, &self.int(a), &self.int(b))?),
            Term::Rem(d, a, b) if is_int(t) => {
                let (a, b) = (self.int(a), self.int(b));
                let q = self.quotient(d, &a, &b)?;
                sum(a.minus(&self.product(&q, &b)?))
            }
            Term::Div(d, a, b) => {
                word(self.gates.divide(&self.bits(a), &self.bits(b), signed(a), d == Division::Euclidean).0)
            }
            Term::Rem(d, a, b) => {
                word(self.gates.divide(&self.bits(a), &self.bits(b), signed(a), d == Division::Euclidean).1)
            }
            Term::Bit(op, a, b) if is_int(t) => sum(self.bitwise_int(terms, op, a, b)?),
            Term::Bit(op, a, b) => {
                let x = self.bits(a);
                let fill = if op == BitOp::Shr && signed(a) { *x.last().expect("a word has bits") } else { Lit::FALSE };
                match op {
                    BitOp::And => word(self.gates.bitwise(&x, &self.bits(b), |g, a, b| g.and([a, b]))),
                    BitOp::Or => word(self.gates.bitwise(&x, &self.bits(b), |g, a, b| g.or([a, b]))),
                    BitOp::Xor => word(self.gates.bitwise(&x, &self.bits(b), Gates::xor)),
                    BitOp::Shl | BitOp::Shr => {
                        let by = self.distance(terms, b, x.len())?;
                        word(self.gates.shift(&x, &by, op == BitOp::Shl, fill))
                    }
                }
            }
            Term::Select(a, i) => self.select(terms, a, i)?,
            Term::Store(a, i, v) => self.store(terms, a, i, v)?,
            Term::ConstArray(ty, v) => {
                let ty = terms.type_of_id(ty);
                match self.entries(terms, ty) {
                    Some(n) => Code::Array(vec![self.codes[&v].clone(); n].into()),
                    None => self.map_constant(terms, ty, self.codes[&v].clone())?,
                }
            }
            Term::Checked(a, ..) => self.codes[&a].clone(),
            Term::Convert(to, a) => self.convert(terms, terms.type_of_id(to), a),
            Term::Foreign(..) => return Err("foreign functions".into()),
        })
    }

    fn variable(&mut self, terms: &Terms, v: VarId) -> Result<Code, Unsupported> {
        let code = match self.vars.get(&v) {
            Some(code) => code.clone(),
            None => {
                let code = match self.definitions.get(&v) {
                    Some(t) => self.codes[t].clone(),
                    None => self.free(terms, terms.variable(v).ty)?,
                };
                self.vars.insert(v, code.clone());
                code
            }
        };
        code.lits(&mut self.inputs);
        Ok(code)
    }

    /// Forgets what terms have become, but not the variables: whatever is translated next gets columns of its own.
    pub fn forget(&mut self) {
        self.codes.clear();
        self.defined.clear();
        self.bit_columns.clear();
        self.inputs.clear();
    }

    /// The literal that says that the column is at most this.
    fn bound(&mut self, column: Column, k: IBig) -> Lit {
        let lit = self.lia.at_most(&mut self.gates.sat, column, k);
        self.inputs.push(lit);
        lit
    }

    /// How many entries an array has, if it is listed by them.
    fn entries(&self, terms: &Terms, array: Type) -> Option<usize> {
        let Type::Array(index, _) = array else { unreachable!("an array") };
        let (lo, hi) = terms.type_bounds(terms.type_of_id(index))?;
        let n = usize::try_from(i128::from(hi) - i128::from(lo) + 1).ok()?;
        (n <= self.listed.unwrap_or(LISTED)).then_some(n)
    }

    /// Any value of the type.
    pub fn free(&mut self, terms: &Terms, ty: Type) -> Result<Code, Unsupported> {
        Ok(match ty {
            Type::Bool => Code::Bool(self.gates.fresh()),
            Type::Int => Code::Int(Rc::new(Linear::column(self.lia.forms.simplex.variable()))),
            Type::Range(lo, hi) => Code::Int(Rc::new(Linear::column(self.between(&lo.into(), &hi.into())))),
            Type::Bits { width, signed } if self.numbers => self.free_number(width, signed),
            Type::Bits { width, .. } => Code::Word((0..width).map(|_| self.gates.fresh()).collect()),
            Type::Enum(e) => {
                let n = terms.enumeration(e).literals.len();
                if n == 0 {
                    return Err("enumerations without literals".into());
                }
                let w: Word = (0..enum_width(n)).map(|_| self.gates.fresh()).collect();
                let last = Gates::word(w.len(), n as u64 - 1);
                let fits = self.gates.at_most(&w, &last, false);
                self.gates.sat.clause(&[fits]);
                Code::Word(w.into())
            }
            Type::Array(_, e) => match self.entries(terms, ty) {
                Some(n) => {
                    let e = terms.type_of_id(e);
                    Code::Array((0..n).map(|_| self.free(terms, e)).collect::<Result<_, _>>()?)
                }
                None => self.map_free(terms, ty)?,
            },
        })
    }

    /// `a` if `c`, otherwise `b`.
    pub fn ite(&mut self, terms: &Terms, c: Lit, a: &Code, b: &Code) -> Result<Code, Unsupported> {
        Ok(match (a, b) {
            _ if c == Lit::TRUE => a.clone(),
            _ if c == Lit::FALSE => b.clone(),
            (Code::Bool(a), Code::Bool(b)) => Code::Bool(self.gates.ite(c, *a, *b)),
            (Code::Int(a), Code::Int(b)) => Code::Int(Rc::new(self.ite_int(c, a, b))),
            (Code::Word(a), Code::Word(b)) => Code::Word(self.gates.choose(c, a, b).into()),
            (Code::Array(a), Code::Array(b)) => {
                Code::Array(a.iter().zip(b.iter()).map(|(a, b)| self.ite(terms, c, a, b)).collect::<Result<_, _>>()?)
            }
            (Code::Map(a), Code::Map(b)) => self.map_ite(terms, c, *a, *b)?,
            _ => unreachable!("branches of one type"),
        })
    }

    /// Are they equal?
    pub fn eq(&mut self, terms: &Terms, a: &Code, b: &Code) -> Result<Lit, Unsupported> {
        Ok(match (a, b) {
            (Code::Bool(a), Code::Bool(b)) => self.gates.iff(*a, *b),
            (Code::Int(a), Code::Int(b)) => self.is_zero(&a.minus(b)),
            (Code::Word(a), Code::Word(b)) => self.gates.same(a, b),
            (Code::Array(a), Code::Array(b)) => {
                let parts: Vec<Lit> =
                    a.iter().zip(b.iter()).map(|(a, b)| self.eq(terms, a, b)).collect::<Result<_, _>>()?;
                self.gates.and(parts)
            }
            (Code::Map(a), Code::Map(b)) => self.map_eq(terms, *a, *b)?,
            _ => unreachable!("terms of one type"),
        })
    }

    /// The value of a code in the model that the search has found. What is open may be anything.
    pub fn value(&self, terms: &Terms, ty: Type, code: &Code) -> Value {
        match (ty, code) {
            (_, Code::Bool(l)) => Value::Bool(self.gates.sat.value(*l).unwrap_or(false)),
            (_, Code::Int(l)) => {
                let sum = l
                    .terms
                    .iter()
                    .fold(l.constant.clone(), |s, (c, k)| s + self.lia.forms.simplex.value(*c).numerator() * k);
                match ty {
                    Type::Bits { width, signed } => Value::wrap(width, signed, &sum),
                    _ => Value::Int(sum),
                }
            }
            (_, Code::Word(w)) => {
                let bit = |l: &Lit| u64::from(self.gates.sat.value(*l).unwrap_or(false));
                let bits = w.iter().enumerate().fold(0, |n, (i, l)| n | bit(l) << i);
                match ty {
                    Type::Enum(e) => Value::Enum(e, bits as u32),
                    Type::Bits { width, signed } => Value::Bits { width, signed, bits },
                    _ => unreachable!("a word of type {ty:?}"),
                }
            }
            (Type::Array(index, entry), Code::Array(entries)) => {
                let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
                let values: Vec<Value> = entries.iter().map(|c| self.value(terms, entry, c)).collect();
                let mut array = trellis_expr::value::ArrayValue::new(terms, index, values[0].clone());
                for (i, v) in values.into_iter().enumerate() {
                    array.set(&index_value(index, i), v);
                }
                Value::Array(array)
            }
            (Type::Array(..), Code::Map(m)) => self.map_value(terms, ty, *m),
            _ => unreachable!("{code:?} of type {ty:?}"),
        }
    }
}

/// The index at a position.
pub(crate) fn index_value(index: Type, position: usize) -> Value {
    match index {
        Type::Range(lo, _) => Value::Int(IBig::from(lo) + position),
        Type::Bits { width, signed } => Value::Bits { width, signed, bits: position as u64 },
        Type::Enum(e) => Value::Enum(e, position as u32),
        Type::Bool => Value::Bool(position == 1),
        _ => unreachable!("expanded arrays have few indexes"),
    }
}

fn lit(code: &Code) -> Lit {
    match code {
        Code::Bool(l) => *l,
        c => unreachable!("a truth value became {c:?}"),
    }
}

fn enum_width(literals: usize) -> usize {
    (literals.max(2) - 1).ilog2() as usize + 1
}
