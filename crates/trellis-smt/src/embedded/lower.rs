//! From terms to gates and sums.
//!
//! Truth values become literals, integers sums of columns, words and enumerations bits, arrays over few indexes their entries; other
//! arrays are `maps`. What a term is worth where it faults is left open; whether it faults is a literal of its own
//! (`defined`), and an assertion holds if it is true and defined.
//!
//! Integers and words meet in `bit_column` (a bit as 0 or 1) and `bits_of` (a bounded sum as bits): products with a bounded factor,
//! bitwise operations on bounded integers and conversions go that way. What remains (a product of two unbounded variables, a
//! quotient by a variable, foreign functions) is refused by name.

use std::collections::BTreeMap;
use std::rc::Rc;

use dashu_int::IBig;
use dashu_int::ops::{BitTest, DivRemEuclid};
use rustc_hash::FxHashMap;
use trellis_expr::value::Value;
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type, VarId};

use super::gates::Gates;
use super::lia::Lia;
use super::linear::Linear;
use super::maps::{MapId, Maps};
use super::rat::Rat;
use super::sat::Lit;
use super::simplex::{Column, Side};
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
/// An array of at most so many entries is expanded.
const EXPAND: usize = 256;
/// A bounded factor of a product may have so many bits, an operand of a bitwise operation so many.
const FACTOR_BITS: usize = 24;
const OPERAND_BITS: usize = 256;

/// The state of the translation.
#[derive(Default)]
pub(crate) struct Lowering {
    pub gates: Gates,
    pub lia: Lia,
    pub maps: Maps,
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
        let defined = self.defined(terms, t)?;
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
        if let Type::Range(lo, hi) = terms.variable(v).ty
            && !terms.lies_within(t, lo, hi)
        {
            return false;
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
        let is_int = |t: TermId| terms.ty(t) == Type::Int;
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
                match entries(terms, ty) {
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

    /// Any value of the type.
    pub fn free(&mut self, terms: &Terms, ty: Type) -> Result<Code, Unsupported> {
        Ok(match ty {
            Type::Bool => Code::Bool(self.gates.fresh()),
            Type::Int => Code::Int(Rc::new(Linear::column(self.lia.forms.simplex.variable()))),
            Type::Range(lo, hi) => Code::Int(Rc::new(Linear::column(self.between(&lo.into(), &hi.into())))),
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
            Type::Array(_, e) => match entries(terms, ty) {
                Some(n) => {
                    let e = terms.type_of_id(e);
                    Code::Array((0..n).map(|_| self.free(terms, e)).collect::<Result<_, _>>()?)
                }
                None => self.map_free(terms, ty)?,
            },
        })
    }

    /// A bound that holds always. It says what something new is; so if it contradicts what holds, that was contradictory.
    fn always(&mut self, column: Column, side: Side, value: Rat) {
        if !self.lia.always(column, side, value) {
            self.gates.sat.clause(&[]);
        }
    }

    /// A new column between bounds.
    fn between(&mut self, lo: &IBig, hi: &IBig) -> Column {
        let c = self.lia.forms.simplex.variable();
        self.always(c, Side::Lower, Rat::from(lo));
        self.always(c, Side::Upper, Rat::from(hi));
        c
    }

    /// The bounds that the sum keeps always, if it has both.
    fn interval(&self, l: &Linear) -> (Option<IBig>, Option<IBig>) {
        let (mut lo, mut hi) = (Some(l.constant.clone()), Some(l.constant.clone()));
        for (c, k) in &l.terms {
            let (below, above) = if *k > IBig::ZERO { (Side::Lower, Side::Upper) } else { (Side::Upper, Side::Lower) };
            let bound = |side| self.lia.forms.simplex.bound(*c, side).map(|b| b.value.numerator() * k);
            lo = lo.and_then(|l| Some(l + bound(below)?));
            hi = hi.and_then(|h| Some(h + bound(above)?));
        }
        (lo, hi)
    }

    /// Does `l ≤ 0` hold?
    pub fn at_most_zero(&mut self, l: &Linear) -> Lit {
        match self.interval(l) {
            (_, Some(hi)) if hi <= IBig::ZERO => return Lit::TRUE,
            (Some(lo), _) if lo > IBig::ZERO => return Lit::FALSE,
            _ => {}
        }
        // divisor · form ≤ −constant
        let (form, divisor) = l.normal();
        let column = self.lia.forms.column(&form);
        if divisor > IBig::ZERO {
            let k = (-&l.constant).div_rem_euclid(&divisor).0;
            self.bound(column, k)
        } else {
            // form ≥ constant / |divisor|, rounded up: not form ≤ that − 1
            let d = -divisor;
            let k = (&l.constant - IBig::ONE).div_rem_euclid(&d).0;
            !self.bound(column, k)
        }
    }

    /// Does `l = 0` hold?
    pub fn is_zero(&mut self, l: &Linear) -> Lit {
        match self.interval(l) {
            (_, Some(hi)) if hi < IBig::ZERO => return Lit::FALSE,
            (Some(lo), _) if lo > IBig::ZERO => return Lit::FALSE,
            _ => {}
        }
        if l.terms.is_empty() {
            return Gates::constant(l.constant == IBig::ZERO);
        }
        let (_, divisor) = l.normal();
        if &l.constant % &divisor != IBig::ZERO {
            return Lit::FALSE;
        }
        let (a, b) = (self.at_most_zero(l), self.at_most_zero(&l.times(&IBig::NEG_ONE)));
        self.gates.and([a, b])
    }

    /// The sum is zero, always.
    fn always_zero(&mut self, l: &Linear) {
        let (form, divisor) = l.normal();
        debug_assert!(&l.constant % &divisor == IBig::ZERO);
        let column = self.lia.forms.column(&form);
        let value = Rat::from(-&l.constant / divisor);
        self.always(column, Side::Lower, value.clone());
        self.always(column, Side::Upper, value);
    }

    /// The literal as a number, 0 or 1.
    pub fn bit_column(&mut self, l: Lit) -> Linear {
        if l.var() == 0 {
            return Linear::constant(u8::from(l == Lit::TRUE));
        }
        if !l.positive() {
            return Linear::constant(1).minus(&self.bit_column(!l));
        }
        if let Some(&c) = self.bit_columns.get(&l) {
            return Linear::column(c);
        }
        let c = self.between(&IBig::ZERO, &IBig::ONE);
        let zero = self.bound(c, IBig::ZERO);
        self.gates.sat.clause(&[zero, l]);
        self.gates.sat.clause(&[!zero, !l]);
        self.bit_columns.insert(l, c);
        Linear::column(c)
    }

    /// The word as a number.
    pub fn number(&mut self, w: &[Lit], signed: bool) -> Linear {
        let mut sum = Linear::default();
        for (i, &l) in w.iter().enumerate() {
            let weight = IBig::ONE << i;
            let weight = if signed && i + 1 == w.len() { -weight } else { weight };
            sum = sum.plus(&weight, &self.bit_column(l));
        }
        sum
    }

    /// The lowest bits of a sum. It may be any number.
    fn low_bits(&mut self, l: &Linear, width: usize) -> Word {
        let modulus = IBig::ONE << width;
        if let Some(n) = l.as_constant() {
            let n = n.div_rem_euclid(&modulus).1;
            return (0..width).map(|i| Gates::constant(n.bit(i))).collect();
        }
        let w: Word = (0..width).map(|_| self.gates.fresh()).collect();
        let low = self.number(&w, false);
        let rest = l.minus(&low);
        let q = match self.interval(l) {
            (Some(lo), Some(hi)) if lo >= IBig::ZERO && hi < modulus => Linear::default(),
            (Some(lo), Some(hi)) => {
                let c = self.between(&lo.div_rem_euclid(&modulus).0, &hi.div_rem_euclid(&modulus).0);
                Linear::column(c)
            }
            _ => Linear::column(self.lia.forms.simplex.variable()),
        };
        self.always_zero(&rest.plus(&-modulus, &q));
        w
    }

    /// A bounded sum as bits above its least value: `l = low + Σ 2^i · bit`, or nothing if it is too wide.
    fn bits_of(&mut self, l: &Linear, most: usize) -> Option<(IBig, Word)> {
        let (Some(lo), Some(hi)) = self.interval(l) else { return None };
        let width = (&hi - &lo).bit_len();
        if width > most {
            return None;
        }
        let above = l.minus(&Linear::constant(lo.clone()));
        let w = self.low_bits(&above, width);
        Some((lo, w))
    }

    fn product(&mut self, a: &Linear, b: &Linear) -> Result<Linear, Unsupported> {
        if let Some(k) = a.as_constant() {
            return Ok(b.times(k));
        }
        if let Some(k) = b.as_constant() {
            return Ok(a.times(k));
        }
        let width = |l: &Lowering, f: &Linear| match l.interval(f) {
            (Some(lo), Some(hi)) => (hi - lo).bit_len(),
            _ => usize::MAX,
        };
        let (a, b) = if width(self, a) < width(self, b) { (b, a) } else { (a, b) };
        let Some((low, bits)) = self.bits_of(b, FACTOR_BITS) else {
            return Err("products of two variables that are not bounded".into());
        };
        let mut sum = a.times(&low);
        for (i, &bit) in bits.iter().enumerate() {
            let part = self.ite_int(bit, a, &Linear::default());
            sum = sum.plus(&(IBig::ONE << i), &part);
        }
        Ok(sum)
    }

    fn quotient(&mut self, d: Division, a: &Linear, b: &Linear) -> Result<Linear, Unsupported> {
        let Some(k) = b.as_constant().cloned() else {
            return Err("a quotient of integers by a variable".into());
        };
        if k == IBig::ZERO {
            // It faults; its value does not matter.
            return Ok(Linear::default());
        }
        let magnitude = if k < IBig::ZERO { -&k } else { k.clone() };
        let sign = if k < IBig::ZERO { IBig::NEG_ONE } else { IBig::ONE };
        let q = match (a.as_constant(), self.interval(a)) {
            (Some(n), _) => Linear::constant(n.div_rem_euclid(&magnitude).0),
            (_, (Some(lo), Some(hi))) => {
                let (lo, hi) = (lo.div_rem_euclid(&magnitude).0, hi.div_rem_euclid(&magnitude).0);
                if lo == hi { Linear::constant(lo) } else { Linear::column(self.between(&lo, &hi)) }
            }
            _ => Linear::column(self.lia.forms.simplex.variable()),
        };
        let rest = a.plus(&-&magnitude, &q);
        if !rest.terms.is_empty() {
            self.always_between(&rest, &IBig::ZERO, &(&magnitude - IBig::ONE));
        }
        if d == Division::Euclidean {
            return Ok(q.times(&sign));
        }
        // Towards zero: one more if negative and not exact.
        let (negative, exact) = (!self.at_most_zero(&a.times(&IBig::NEG_ONE)), self.at_most_zero(&rest));
        let up = self.gates.and([negative, !exact]);
        let up = self.bit_column(up);
        Ok(q.plus(&IBig::ONE, &up).times(&sign))
    }

    /// The sum keeps between the bounds, always.
    fn always_between(&mut self, l: &Linear, lo: &IBig, hi: &IBig) {
        let (form, divisor) = l.normal();
        let column = self.lia.forms.column(&form);
        let (lo, hi) = (lo - &l.constant, hi - &l.constant);
        let (lo, hi) = if divisor > IBig::ZERO { (lo, hi) } else { (-hi, -lo) };
        let d = if divisor > IBig::ZERO { divisor } else { -divisor };
        let up = -((-lo).div_rem_euclid(&d).0);
        self.always(column, Side::Lower, Rat::from(up));
        self.always(column, Side::Upper, Rat::from(hi.div_rem_euclid(&d).0));
    }

    fn bitwise_int(&mut self, terms: &Terms, op: BitOp, a: TermId, b: TermId) -> Result<Linear, Unsupported> {
        let refuse = || "bitwise operations on integers without bounds".to_string();
        let width = |s: &Lowering, l: &Linear| match s.interval(l) {
            (Some(lo), Some(hi)) => Ok(lo.bit_len().max(hi.bit_len()) + 1),
            _ => Err(refuse()),
        };
        let x = self.int(a);
        let n = width(self, &x)?;
        if let BitOp::Shl | BitOp::Shr = op {
            // The distance is below 64 where the term is defined.
            let by = self.distance(terms, b, 64)?;
            let wide = if op == BitOp::Shl { n + 64 } else { n.max(64) };
            if wide > OPERAND_BITS {
                return Err(refuse());
            }
            let w = self.low_bits(&x, n);
            let w = Gates::resize(&w, wide, true);
            let fill = if op == BitOp::Shl { Lit::FALSE } else { w[wide - 1] };
            let shifted = self.gates.shift(&w, &by, op == BitOp::Shl, fill);
            return Ok(self.number(&shifted, true));
        }
        let y = self.int(b);
        let n = n.max(width(self, &y)?);
        if n > OPERAND_BITS {
            return Err(refuse());
        }
        let (x, y) = (self.low_bits(&x, n), self.low_bits(&y, n));
        let w = self.gates.bitwise(&x, &y, |g, a, b| match op {
            BitOp::And => g.and([a, b]),
            BitOp::Or => g.or([a, b]),
            _ => g.xor(a, b),
        });
        Ok(self.number(&w, true))
    }

    /// The low bits of a shift's distance, enough to count below the width.
    fn distance(&mut self, terms: &Terms, b: TermId, width: usize) -> Result<Word, Unsupported> {
        let bits = (width - 1).max(1).ilog2() as usize + 1;
        Ok(match terms.ty(b) {
            Type::Int => self.low_bits(&self.int(b), bits),
            _ => Gates::resize(&self.bits(b), bits, false),
        })
    }

    fn convert(&mut self, terms: &Terms, to: Type, a: TermId) -> Code {
        let number = match terms.ty(a) {
            Type::Bits { signed, .. } => match to {
                Type::Bits { width, .. } => {
                    return Code::Word(Gates::resize(&self.bits(a), width.into(), signed).into());
                }
                _ => self.number(&self.bits(a), signed),
            },
            Type::Enum(_) => self.number(&self.bits(a), false),
            Type::Bool => self.bit_column(self.bool(a)),
            _ => (*self.int(a)).clone(),
        };
        match to {
            Type::Bits { width, .. } => Code::Word(self.low_bits(&number, width.into()).into()),
            _ => Code::Int(Rc::new(number)),
        }
    }

    fn ite_int(&mut self, c: Lit, a: &Linear, b: &Linear) -> Linear {
        match c {
            Lit::TRUE => return a.clone(),
            Lit::FALSE => return b.clone(),
            _ => {}
        }
        let difference = a.minus(b);
        if let Some(k) = difference.as_constant() {
            let bit = self.bit_column(c);
            return b.plus(k, &bit);
        }
        let v = self.lia.forms.simplex.variable();
        let least = |x: Option<IBig>, y: Option<IBig>| Some(x?.min(y?));
        let most = |x: Option<IBig>, y: Option<IBig>| Some(x?.max(y?));
        let ((al, ah), (bl, bh)) = (self.interval(a), self.interval(b));
        if let Some(lo) = least(al, bl) {
            self.always(v, Side::Lower, Rat::from(lo));
        }
        if let Some(hi) = most(ah, bh) {
            self.always(v, Side::Upper, Rat::from(hi));
        }
        for (guard, x) in [(!c, a), (c, b)] {
            let d = Linear::column(v).minus(x);
            let (le, ge) = (self.at_most_zero(&d), self.at_most_zero(&d.times(&IBig::NEG_ONE)));
            self.gates.sat.clause(&[guard, le]);
            self.gates.sat.clause(&[guard, ge]);
        }
        Linear::column(v)
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

    fn select(&mut self, terms: &Terms, a: TermId, i: TermId) -> Result<Code, Unsupported> {
        match self.codes[&a].clone() {
            Code::Array(entries) => {
                let mut out = entries.last().cloned().ok_or("arrays without entries")?;
                for (n, e) in entries.iter().enumerate().rev().skip(1) {
                    let here = self.is_index(terms, terms.ty(a), i, n);
                    out = self.ite(terms, here, e, &out)?;
                }
                Ok(out)
            }
            Code::Map(m) => self.map_select(terms, m, self.codes[&i].clone()),
            c => unreachable!("an array became {c:?}"),
        }
    }

    fn store(&mut self, terms: &Terms, a: TermId, i: TermId, v: TermId) -> Result<Code, Unsupported> {
        let value = self.codes[&v].clone();
        match self.codes[&a].clone() {
            Code::Array(entries) => {
                let mut out = vec![];
                for (n, e) in entries.iter().enumerate() {
                    let here = self.is_index(terms, terms.ty(a), i, n);
                    out.push(self.ite(terms, here, &value, e)?);
                }
                Ok(Code::Array(out.into()))
            }
            Code::Map(m) => self.map_store(terms, m, self.codes[&i].clone(), value),
            c => unreachable!("an array became {c:?}"),
        }
    }

    /// Is the index the one at this position?
    fn is_index(&mut self, terms: &Terms, array: Type, i: TermId, position: usize) -> Lit {
        let Type::Array(index, _) = array else { unreachable!("an array") };
        let first = match terms.type_of_id(index) {
            Type::Range(lo, _) => IBig::from(lo),
            _ => IBig::ZERO,
        };
        match self.codes[&i].clone() {
            Code::Int(l) => self.is_zero(&l.minus(&Linear::constant(first + position))),
            // Words are taken by their bits, whatever the sign.
            Code::Word(w) => self.gates.same(&w, &Gates::word(w.len(), position as u64)),
            Code::Bool(l) => {
                if position == 1 {
                    l
                } else {
                    !l
                }
            }
            c => unreachable!("an index became {c:?}"),
        }
    }

    /// The literal that says that the term evaluates without a fault.
    fn defined(&mut self, terms: &Terms, t: TermId) -> Result<Lit, Unsupported> {
        if !terms.may_fault(t) {
            return Ok(Lit::TRUE);
        }
        let order = self.pending(terms, t, |t| self.defined.contains_key(&t) || !terms.may_fault(t));
        for t in order {
            let d = |s: &Lowering, t: TermId| s.defined.get(&t).copied().unwrap_or(Lit::TRUE);
            let lit = match *terms.get(t) {
                Term::And(ref args) | Term::Or(ref args) => {
                    let and = matches!(terms.get(t), Term::And(_));
                    let mut rest = Lit::TRUE;
                    for &a in args.iter().rev() {
                        let stops = if and { !self.bool(a) } else { self.bool(a) };
                        let after = self.gates.or([stops, rest]);
                        rest = self.gates.and([d(self, a), after]);
                    }
                    rest
                }
                Term::Ite(c, a, b) => {
                    let branch = self.gates.ite(self.bool(c), d(self, a), d(self, b));
                    self.gates.and([d(self, c), branch])
                }
                _ => {
                    let mut all: Vec<Lit> = terms.children(t).into_iter().map(|c| d(self, c)).collect();
                    all.extend(self.own_checks(terms, t));
                    self.gates.and(all)
                }
            };
            self.defined.insert(t, lit);
        }
        Ok(self.defined[&t])
    }

    /// What must hold for a node not to fault by itself.
    fn own_checks(&mut self, terms: &Terms, t: TermId) -> Vec<Lit> {
        match *terms.get(t) {
            Term::Div(_, _, b) | Term::Rem(_, _, b) => {
                let zero = match self.codes[&b].clone() {
                    Code::Int(l) => self.is_zero(&l),
                    Code::Word(w) => !self.gates.or(w.iter().copied()),
                    c => unreachable!("a number became {c:?}"),
                };
                vec![!zero]
            }
            Term::Select(a, i) => vec![self.index_fits(terms, terms.ty(a), i)],
            Term::Store(a, i, v) => {
                vec![self.index_fits(terms, terms.ty(a), i), self.entry_fits(terms, terms.ty(a), v)]
            }
            Term::ConstArray(ty, v) => vec![self.entry_fits(terms, terms.type_of_id(ty), v)],
            Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => {
                let width = match terms.ty(a) {
                    Type::Bits { width, .. } => i64::from(width),
                    _ => 64,
                };
                vec![self.within(terms, by, 0, width - 1)]
            }
            Term::Checked(a, lo, hi) => vec![self.within(terms, a, lo, hi)],
            Term::Convert(to, a) => match terms.type_of_id(to) {
                Type::Range(lo, hi) => vec![self.within(terms, a, lo, hi)],
                _ => vec![],
            },
            _ => vec![],
        }
    }

    fn index_fits(&mut self, terms: &Terms, array: Type, i: TermId) -> Lit {
        let Type::Array(index, _) = array else { unreachable!("an array") };
        match terms.type_of_id(index) {
            Type::Range(lo, hi) => self.within(terms, i, lo, hi),
            _ => Lit::TRUE,
        }
    }

    fn entry_fits(&mut self, terms: &Terms, array: Type, v: TermId) -> Lit {
        let Type::Array(_, entry) = array else { unreachable!("an array") };
        match terms.type_of_id(entry) {
            Type::Range(lo, hi) => self.within(terms, v, lo, hi),
            _ => Lit::TRUE,
        }
    }

    /// Is the number, of any type, between the bounds?
    fn within(&mut self, terms: &Terms, t: TermId, lo: i64, hi: i64) -> Lit {
        let l = match (self.codes[&t].clone(), terms.ty(t)) {
            (Code::Int(l), _) => (*l).clone(),
            (Code::Word(w), Type::Bits { signed, .. }) => self.number(&w, signed),
            (Code::Word(w), _) => self.number(&w, false),
            (Code::Bool(b), _) => self.bit_column(b),
            (c, _) => unreachable!("a number became {c:?}"),
        };
        let above = self.at_most_zero(&Linear::constant(lo).minus(&l));
        let below = self.at_most_zero(&l.minus(&Linear::constant(hi)));
        self.gates.and([above, below])
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
                Value::Int(sum)
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

/// How many entries an array has, if it is expanded.
fn entries(terms: &Terms, array: Type) -> Option<usize> {
    let Type::Array(index, _) = array else { unreachable!("an array") };
    let (lo, hi) = terms.type_bounds(terms.type_of_id(index))?;
    let n = usize::try_from(i128::from(hi) - i128::from(lo) + 1).ok()?;
    (n <= EXPAND).then_some(n)
}
