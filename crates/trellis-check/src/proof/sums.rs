//! Sums of integers, and the literals that say that one is at most a number.
//!
//! An integer is new, or a bit read as 0 or 1, a quotient, a choice between sums: then clauses say which. What is said of a new one
//! can always be satisfied. A product of two sums, a quotient by one and bit operations are exact if there are bounds, and
//! otherwise anything at all.

use std::collections::BTreeMap;

use dashu_int::IBig;
use dashu_int::ops::{BitTest, DivRemEuclid, Gcd};
use rustc_hash::FxHashMap;
use trellis_expr::Division;
use trellis_smt::proof::Sum;

use super::gates::{Builder, FALSE, Lit, TRUE, Word};

/// `Σ k · x + constant`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Linear {
    pub terms: BTreeMap<u32, IBig>,
    pub constant: IBig,
}

impl Linear {
    pub fn constant(n: impl Into<IBig>) -> Linear {
        Linear { terms: BTreeMap::new(), constant: n.into() }
    }

    pub fn as_constant(&self) -> Option<&IBig> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// `self + k · other`.
    pub fn plus(&self, k: &IBig, other: &Linear) -> Linear {
        let mut sum = self.clone();
        sum.constant += k * &other.constant;
        for (x, e) in &other.terms {
            *sum.terms.entry(*x).or_default() += k * e;
        }
        sum.terms.retain(|_, k| *k != IBig::ZERO);
        sum
    }

    pub fn minus(&self, other: &Linear) -> Linear {
        self.plus(&IBig::NEG_ONE, other)
    }

    pub fn times(&self, k: &IBig) -> Linear {
        Linear::default().plus(k, self)
    }
}

/// What is known of the integers.
#[derive(Default)]
pub(crate) struct Integers {
    /// Clauses say that they keep these bounds.
    bounds: Vec<(Option<IBig>, Option<IBig>)>,
    atoms: FxHashMap<(Sum, IBig), Lit>,
    /// The integers that are bits.
    bits: FxHashMap<Lit, u32>,
    /// Choices that have been made already.
    choices: FxHashMap<(Lit, Linear, Linear), Linear>,
    products: FxHashMap<(Linear, Linear), Linear>,
}

/// Factors of so many bits are multiplied out; operands of bit operations may have so many.
const FACTOR: usize = 24;
const OPERAND: usize = 128;

impl Builder {
    /// Any integer between the bounds.
    pub fn integer(&mut self, lo: Option<IBig>, hi: Option<IBig>) -> Linear {
        let x = self.problem.integers as u32;
        self.problem.integers += 1;
        self.integers.bounds.push((None, None));
        let it = Linear { terms: [(x, IBig::ONE)].into(), constant: IBig::ZERO };
        for (sum, bound) in [(it.times(&IBig::NEG_ONE), lo.as_ref()), (it.clone(), hi.as_ref())] {
            if let Some(n) = bound {
                // A lower bound is an upper bound of the opposite.
                let n = if sum.terms[&x] == IBig::ONE { -n } else { n.clone() };
                let holds = self.not_positive(&sum.plus(&IBig::ONE, &Linear::constant(n)));
                self.clause(&[holds]);
            }
        }
        self.integers.bounds[x as usize] = (lo, hi);
        it
    }

    /// The bounds that a sum keeps.
    pub fn bounds(&self, sum: &Linear) -> (Option<IBig>, Option<IBig>) {
        let (mut least, mut most) = (Some(sum.constant.clone()), Some(sum.constant.clone()));
        for (x, k) in &sum.terms {
            let (lo, hi) = &self.integers.bounds[*x as usize];
            let (lo, hi) = if *k > IBig::ZERO { (lo, hi) } else { (hi, lo) };
            least = least.zip(lo.as_ref()).map(|(n, b)| n + b * k);
            most = most.zip(hi.as_ref()).map(|(n, b)| n + b * k);
        }
        (least, most)
    }

    /// Is the sum at most zero?
    pub fn not_positive(&mut self, sum: &Linear) -> Lit {
        match self.bounds(sum) {
            (_, Some(most)) if most <= IBig::ZERO => return TRUE,
            (Some(least), _) if least > IBig::ZERO => return FALSE,
            _ => {}
        }
        let mut divisor =
            sum.terms.values().fold(IBig::ZERO, |g, k| if g == IBig::ZERO { k.clone() } else { IBig::from(g.gcd(k)) });
        let Some(first) = sum.terms.values().next() else { return Builder::constant(sum.constant <= IBig::ZERO) };
        if divisor < IBig::ZERO {
            divisor = -divisor;
        }
        let plus = *first > IBig::ZERO;
        let sign = if plus { IBig::ONE } else { IBig::NEG_ONE };
        let form: Sum = sum.terms.iter().map(|(x, k)| (*x, k * &sign / &divisor)).collect();
        // divisor · form + constant ≤ 0: form ≤ ⌊−constant / divisor⌋. With the opposite sign: form ≥ ⌈constant / divisor⌉, so not
        // form ≤ that − 1, and ⌈c / d⌉ − 1 = ⌊(c − 1) / d⌋.
        let (most, sign) = if plus {
            ((-&sum.constant).div_rem_euclid(&divisor).0, 1)
        } else {
            ((&sum.constant - IBig::ONE).div_rem_euclid(&divisor).0, -1)
        };
        if let Some(&atom) = self.integers.atoms.get(&(form.clone(), most.clone())) {
            return atom * sign;
        }
        let atom = self.fresh();
        self.problem.atoms.insert(atom, (form.clone(), most.clone()));
        self.integers.atoms.insert((form, most), atom);
        atom * sign
    }

    /// Is it zero?
    pub fn zero(&mut self, sum: &Linear) -> Lit {
        let (below, above) = (self.not_positive(sum), self.not_positive(&sum.times(&IBig::NEG_ONE)));
        self.and([below, above])
    }

    /// It is zero, if the literal is true.
    pub fn make_zero(&mut self, guard: Lit, sum: &Linear) {
        for sum in [sum.clone(), sum.times(&IBig::NEG_ONE)] {
            let holds = self.not_positive(&sum);
            self.clause(&[-guard, holds]);
        }
    }

    /// The literal as a number, 0 or 1.
    pub fn bit(&mut self, l: Lit) -> Linear {
        if l.abs() == TRUE {
            return Linear::constant(u8::from(l == TRUE));
        }
        if l < 0 {
            return Linear::constant(1).minus(&self.bit(-l));
        }
        if let Some(&x) = self.integers.bits.get(&l) {
            return Linear { terms: [(x, IBig::ONE)].into(), constant: IBig::ZERO };
        }
        let it = self.integer(Some(IBig::ZERO), Some(IBig::ONE));
        let zero = self.not_positive(&it);
        self.clause(&[zero, l]);
        self.clause(&[-zero, -l]);
        self.integers.bits.extend(it.terms.keys().map(|x| (l, *x)));
        it
    }

    /// The word as a number.
    pub fn number(&mut self, w: &[Lit], signed: bool) -> Linear {
        let mut sum = Linear::default();
        for (i, &l) in w.iter().enumerate() {
            let weight = IBig::ONE << i;
            let weight = if signed && i + 1 == w.len() { -weight } else { weight };
            let bit = self.bit(l);
            sum = sum.plus(&weight, &bit);
        }
        sum
    }

    /// The lowest bits of a number.
    pub fn low_bits(&mut self, n: &Linear, width: usize) -> Word {
        let modulus = IBig::ONE << width;
        if let Some(n) = n.as_constant() {
            let n = n.div_rem_euclid(&modulus).1;
            return (0..width).map(|i| Builder::constant(n.bit(i))).collect();
        }
        let w: Word = (0..width).map(|_| self.fresh()).collect();
        let low = self.number(&w, false);
        // n = modulus · turns + low
        let (lo, hi) = self.bounds(n);
        let turn = |n: IBig| n.div_rem_euclid(&modulus).0;
        let turns = self.integer(lo.map(turn), hi.map(turn));
        self.make_zero(TRUE, &n.minus(&low).plus(&-modulus, &turns));
        w
    }

    /// Enough bits for a number between bounds, the last one its sign.
    fn all_bits(&mut self, n: &Linear, most: usize) -> Option<Word> {
        let (Some(lo), Some(hi)) = self.bounds(n) else { return None };
        let width = lo.bit_len().max(hi.bit_len()) + 1;
        (width <= most).then(|| self.low_bits(n, width))
    }

    /// An integer of which nothing is known.
    fn anything(&mut self, why: &'static str) -> Linear {
        self.open.get_or_insert(why);
        self.integer(None, None)
    }

    pub fn product(&mut self, a: &Linear, b: &Linear) -> Linear {
        if let Some(k) = a.as_constant() {
            return b.times(k);
        }
        if let Some(k) = b.as_constant() {
            return a.times(k);
        }
        if let Some(p) = self.integers.products.get(&(a.clone(), b.clone())) {
            return p.clone();
        }
        let bits = match self.all_bits(b, FACTOR) {
            Some(w) => Some((a, w)),
            None => self.all_bits(a, FACTOR).map(|w| (b, w)),
        };
        let product = match bits {
            None => self.anything("products of two variables that are not bounded"),
            Some((other, w)) => {
                let mut sum = Linear::default();
                for (i, &l) in w.iter().enumerate() {
                    let weight = IBig::ONE << i;
                    let weight = if i + 1 == w.len() { -weight } else { weight };
                    let part = self.choose_sum(l, other, &Linear::default());
                    sum = sum.plus(&weight, &part);
                }
                sum
            }
        };
        self.integers.products.insert((a.clone(), b.clone()), product.clone());
        product
    }

    /// Quotient and remainder by a number that is not zero.
    pub fn quotient(&mut self, d: Division, a: &Linear, b: &Linear) -> (Linear, Linear) {
        let by = match b.as_constant() {
            Some(k) if *k != IBig::ZERO => k.clone(),
            // It faults; its value does not matter.
            Some(_) => return (Linear::default(), Linear::default()),
            None => {
                let why = "a quotient of integers by a variable";
                return (self.anything(why), self.anything(why));
            }
        };
        let (size, sign) = if by < IBig::ZERO { (-&by, IBig::NEG_ONE) } else { (by.clone(), IBig::ONE) };
        // a = size · q + rest, 0 ≤ rest < size
        let (lo, hi) = self.bounds(a);
        let floor = |n: IBig| n.div_rem_euclid(&size).0;
        let q = self.integer(lo.map(floor), hi.map(floor));
        let rest = a.plus(&-&size, &q);
        let (above, below) = (rest.times(&IBig::NEG_ONE), rest.minus(&Linear::constant(&size - IBig::ONE)));
        for fact in [above, below] {
            let holds = self.not_positive(&fact);
            self.clause(&[holds]);
        }
        if d == Division::Euclidean {
            return (q.times(&sign), rest);
        }
        // Towards zero: one more if `a` is negative and there is a rest.
        let (negative, exact) = (-self.not_positive(&a.times(&IBig::NEG_ONE)), self.not_positive(&rest));
        let up = self.and([negative, -exact]);
        let up = self.bit(up);
        let q = q.plus(&IBig::ONE, &up).times(&sign);
        let r = a.plus(&-by, &q);
        (q, r)
    }

    /// A bit operation on numbers, as on words that are wide enough.
    pub fn bitwise(&mut self, a: &Linear, b: &Linear, f: impl Fn(&mut Builder, Lit, Lit) -> Lit) -> Linear {
        let (Some(x), Some(y)) = (self.all_bits(a, OPERAND), self.all_bits(b, OPERAND)) else {
            return self.anything("bitwise operations on integers without bounds");
        };
        let width = x.len().max(y.len());
        let (x, y) = (super::gates::resize(&x, width, true), super::gates::resize(&y, width, true));
        let w = self.each(&x, &y, f);
        self.number(&w, true)
    }

    /// Shifted by the distance that bits say, below 64.
    pub fn shifted(&mut self, a: &Linear, by: &[Lit], left: bool) -> Linear {
        let Some(x) = self.all_bits(a, OPERAND) else {
            return self.anything("shifts of integers without bounds");
        };
        let wide = if left { x.len() + 64 } else { x.len().max(64) };
        let x = super::gates::resize(&x, wide, true);
        let fill = if left { FALSE } else { x[wide - 1] };
        let w = self.shift(&x, by, left, fill);
        self.number(&w, true)
    }

    /// `a` if `c`, otherwise `b`.
    pub fn choose_sum(&mut self, c: Lit, a: &Linear, b: &Linear) -> Linear {
        match c {
            TRUE => return a.clone(),
            FALSE => return b.clone(),
            _ if a == b => return a.clone(),
            _ => {}
        }
        if let Some(k) = a.minus(b).as_constant() {
            let bit = self.bit(c);
            return b.plus(k, &bit);
        }
        let key = (c, a.clone(), b.clone());
        if let Some(known) = self.integers.choices.get(&key) {
            return known.clone();
        }
        let ((al, ah), (bl, bh)) = (self.bounds(a), self.bounds(b));
        let it = self.integer(al.zip(bl).map(|(a, b)| a.min(b)), ah.zip(bh).map(|(a, b)| a.max(b)));
        self.make_zero(c, &it.minus(a));
        self.make_zero(-c, &it.minus(b));
        self.integers.choices.insert(key, it.clone());
        it
    }
}
