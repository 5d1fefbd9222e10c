//! Integers: bounds on sums, products, quotients, bits, and the way from and to words.

use std::rc::Rc;

use dashu_int::IBig;
use dashu_int::ops::{BitTest, DivRemEuclid};
use trellis_expr::{BitOp, Division, TermId, Terms, Type};

use super::{Code, Lowering, Unsupported};
use crate::embedded::gates::Gates;
use crate::embedded::linear::Linear;
use crate::embedded::rat::Rat;
use crate::embedded::sat::Lit;
use crate::embedded::simplex::{Column, Side};
use crate::embedded::words::Word;

/// A bounded factor of a product may have so many bits, an operand of a bitwise operation so many.
const FACTOR_BITS: usize = 24;
const OPERAND_BITS: usize = 256;

impl Lowering {
    /// A bound that holds always. It says what something new is; so if it contradicts what holds, that was contradictory.
    pub(super) fn always(&mut self, column: Column, side: Side, value: Rat) {
        if !self.lia.always(column, side, value) {
            self.gates.sat.clause(&[]);
        }
    }

    /// A new column between bounds.
    pub(super) fn between(&mut self, lo: &IBig, hi: &IBig) -> Column {
        let c = self.lia.forms.simplex.variable();
        self.always(c, Side::Lower, Rat::from(lo));
        self.always(c, Side::Upper, Rat::from(hi));
        c
    }

    /// The bounds that the sum keeps always, if it has both.
    pub(super) fn interval(&self, l: &Linear) -> (Option<IBig>, Option<IBig>) {
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
    pub(super) fn always_zero(&mut self, l: &Linear) {
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
    pub(super) fn low_bits(&mut self, l: &Linear, width: usize) -> Word {
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
    pub(super) fn bits_of(&mut self, l: &Linear, most: usize) -> Option<(IBig, Word)> {
        let (Some(lo), Some(hi)) = self.interval(l) else { return None };
        let width = (&hi - &lo).bit_len();
        if width > most {
            return None;
        }
        let above = l.minus(&Linear::constant(lo.clone()));
        let w = self.low_bits(&above, width);
        Some((lo, w))
    }

    pub(super) fn product(&mut self, a: &Linear, b: &Linear) -> Result<Linear, Unsupported> {
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

    pub(super) fn quotient(&mut self, d: Division, a: &Linear, b: &Linear) -> Result<Linear, Unsupported> {
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

    /// Does the number divide the sum?
    pub(crate) fn divides(&mut self, divisor: &IBig, l: &Linear) -> Lit {
        let q = self.quotient(Division::Euclidean, l, &Linear::constant(divisor.clone())).expect("a constant divisor");
        let rest = l.plus(&-divisor, &q);
        self.at_most_zero(&rest)
    }

    /// The sum keeps between the bounds, always.
    pub(super) fn always_between(&mut self, l: &Linear, lo: &IBig, hi: &IBig) {
        let (form, divisor) = l.normal();
        let column = self.lia.forms.column(&form);
        let (lo, hi) = (lo - &l.constant, hi - &l.constant);
        let (lo, hi) = if divisor > IBig::ZERO { (lo, hi) } else { (-hi, -lo) };
        let d = if divisor > IBig::ZERO { divisor } else { -divisor };
        let up = -((-lo).div_rem_euclid(&d).0);
        self.always(column, Side::Lower, Rat::from(up));
        self.always(column, Side::Upper, Rat::from(hi.div_rem_euclid(&d).0));
    }

    pub(super) fn bitwise_int(
        &mut self,
        terms: &Terms,
        op: BitOp,
        a: TermId,
        b: TermId,
    ) -> Result<Linear, Unsupported> {
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
    pub(super) fn distance(&mut self, terms: &Terms, b: TermId, width: usize) -> Result<Word, Unsupported> {
        let bits = (width - 1).max(1).ilog2() as usize + 1;
        Ok(match terms.ty(b) {
            Type::Int => self.low_bits(&self.int(b), bits),
            Type::Bits { .. } if self.numbers => self.low_bits(&self.int(b), bits),
            _ => Gates::resize(&self.bits(b), bits, false),
        })
    }

    pub(super) fn convert(&mut self, terms: &Terms, to: Type, a: TermId) -> Code {
        let number = match terms.ty(a) {
            Type::Bits { .. } if self.numbers => (*self.int(a)).clone(),
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

    pub(super) fn ite_int(&mut self, c: Lit, a: &Linear, b: &Linear) -> Linear {
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
}
