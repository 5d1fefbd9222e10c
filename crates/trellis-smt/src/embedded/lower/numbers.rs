//! Words as numbers: a word is an integer between the least and the greatest of its type, and arithmetic that leaves them comes back
//! by a multiple of `2^width`. Linear arithmetic stays linear then, and so do its certificates; what works on bits
//! goes there and back.
//!
//! The other way, a bit for each bit, is the default: see `bench/smt` for how they compare.

use std::rc::Rc;

use dashu_int::IBig;
use trellis_expr::value::Value;
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type};

use super::{Code, Lowering, Unsupported};
use crate::embedded::gates::Gates;
use crate::embedded::linear::Linear;
use crate::embedded::sat::Lit;
use crate::embedded::words::Word;

/// A circuit of two words.
type Circuit<'a> = &'a dyn Fn(&mut Gates, &[Lit], &[Lit]) -> Word;

/// The least and the greatest word, as numbers.
fn limits(width: u8, signed: bool) -> (IBig, IBig) {
    let half = IBig::ONE << (usize::from(width) - 1);
    if signed { (-&half, half - IBig::ONE) } else { (IBig::ZERO, half * 2 - IBig::ONE) }
}

impl Lowering {
    /// Any word, as a number.
    pub(super) fn free_number(&mut self, width: u8, signed: bool) -> Code {
        let (lo, hi) = limits(width, signed);
        Code::Int(Rc::new(Linear::column(self.between(&lo, &hi))))
    }

    /// The word that a number becomes.
    fn wrap(&mut self, l: &Linear, width: u8, signed: bool) -> Code {
        let (lo, hi) = limits(width, signed);
        let modulus = IBig::ONE << usize::from(width);
        if let Some(n) = l.as_constant() {
            return Code::Int(Rc::new(Linear::constant(Value::wrap(width, signed, n).number())));
        }
        let turn = |n: &IBig| {
            use dashu_int::ops::DivRemEuclid;
            (n - &lo).div_rem_euclid(&modulus).0
        };
        let turns = match self.interval(l) {
            (Some(a), Some(b)) if turn(&a) == turn(&b) => {
                return Code::Int(Rc::new(l.minus(&Linear::constant(turn(&a) * modulus))));
            }
            (Some(a), Some(b)) => self.between(&turn(&a), &turn(&b)),
            _ => self.lia.forms.simplex.variable(),
        };
        let word = Linear::column(self.between(&lo, &hi));
        self.always_zero(&l.plus(&-modulus, &Linear::column(turns)).minus(&word));
        Code::Int(Rc::new(word))
    }

    /// The bits of a word that is a number.
    fn bits_of_number(&mut self, terms: &Terms, t: TermId) -> Word {
        match (terms.ty(t), self.codes[&t].clone()) {
            (Type::Bits { width, .. }, Code::Int(l)) => self.low_bits(&l, width.into()),
            (_, c) => unreachable!("a word became {c:?}"),
        }
    }

    /// Translates a node of a word type, if it needs to be done otherwise than for integers.
    pub(super) fn number_node(&mut self, terms: &Terms, t: TermId) -> Result<Option<Code>, Unsupported> {
        let Type::Bits { width, signed } = terms.ty(t) else { return Ok(None) };
        let circuit = |s: &mut Lowering, a, b, f: Circuit<'_>| {
            let (a, b) = (s.bits_of_number(terms, a), s.bits_of_number(terms, b));
            let w = f(&mut s.gates, &a, &b);
            Code::Int(Rc::new(s.number(&w, signed)))
        };
        Ok(Some(match *terms.get(t) {
            Term::Bits(..) => {
                let n = terms.as_value(t).expect("a literal").number();
                Code::Int(Rc::new(Linear::constant(n)))
            }
            Term::Add(ref args) => {
                let sum = args.iter().fold(Linear::default(), |s, &a| s.plus(&IBig::ONE, &self.int(a)));
                self.wrap(&sum, width, signed)
            }
            Term::Neg(a) => self.wrap(&self.int(a).times(&IBig::NEG_ONE), width, signed),
            Term::Mul(a, b) => match (self.int(a).as_constant(), self.int(b).as_constant()) {
                (None, None) => circuit(self, a, b, &|g, a, b| g.product(a, b)),
                _ => {
                    let product = self.product(&self.int(a), &self.int(b))?;
                    self.wrap(&product, width, signed)
                }
            },
            Term::Div(d, a, b) | Term::Rem(d, a, b) => {
                let quotient = matches!(terms.get(t), Term::Div(..));
                let (x, y) = (self.int(a), self.int(b));
                if y.as_constant().is_some() {
                    let q = self.quotient(d, &x, &y)?;
                    let l = if quotient { q } else { x.minus(&self.product(&q, &y)?) };
                    self.wrap(&l, width, signed)
                } else {
                    let euclidean = d == Division::Euclidean;
                    circuit(self, a, b, &|g, a, b| {
                        let (q, r) = g.divide(a, b, signed, euclidean);
                        if quotient { q } else { r }
                    })
                }
            }
            Term::Bit(BitOp::And, a, b) => circuit(self, a, b, &|g, a, b| g.bitwise(a, b, |g, a, b| g.and([a, b]))),
            Term::Bit(BitOp::Or, a, b) => circuit(self, a, b, &|g, a, b| g.bitwise(a, b, |g, a, b| g.or([a, b]))),
            Term::Bit(BitOp::Xor, a, b) => circuit(self, a, b, &|g, a, b| g.bitwise(a, b, Gates::xor)),
            Term::Bit(op, a, by) => {
                let by = self.distance(terms, by, width.into())?;
                let w = self.bits_of_number(terms, a);
                let fill = if op == BitOp::Shr && signed { w[w.len() - 1] } else { Lit::FALSE };
                let w = self.gates.shift(&w, &by, op == BitOp::Shl, fill);
                Code::Int(Rc::new(self.number(&w, signed)))
            }
            Term::Convert(_, a) => {
                let number = match self.codes[&a].clone() {
                    Code::Int(l) => (*l).clone(),
                    Code::Bool(l) => self.bit_column(l),
                    Code::Word(w) => self.number(&w, false),
                    c => unreachable!("a number became {c:?}"),
                };
                self.wrap(&number, width, signed)
            }
            // Variables, choices and arrays are as for other types.
            _ => return Ok(None),
        }))
    }
}
