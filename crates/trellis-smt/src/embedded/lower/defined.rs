//! Where a term is defined: the literal that says that evaluating it does not fault.

use trellis_expr::{BitOp, Term, TermId, Terms, Type};

use super::{Code, Lowering};
use crate::embedded::linear::Linear;
use crate::embedded::sat::Lit;

impl Lowering {
    /// The literal that says that the term evaluates without a fault.
    pub(super) fn defined(&mut self, terms: &Terms, t: TermId) -> Lit {
        if !terms.may_fault(t) {
            return Lit::TRUE;
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
        self.defined[&t]
    }

    /// What must hold for a node not to fault by itself.
    pub(super) fn own_checks(&mut self, terms: &Terms, t: TermId) -> Vec<Lit> {
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

    pub(super) fn index_fits(&mut self, terms: &Terms, array: Type, i: TermId) -> Lit {
        let Type::Array(index, _) = array else { unreachable!("an array") };
        match terms.type_of_id(index) {
            Type::Range(lo, hi) => self.within(terms, i, lo, hi),
            _ => Lit::TRUE,
        }
    }

    pub(super) fn entry_fits(&mut self, terms: &Terms, array: Type, v: TermId) -> Lit {
        let Type::Array(_, entry) = array else { unreachable!("an array") };
        match terms.type_of_id(entry) {
            Type::Range(lo, hi) => self.within(terms, v, lo, hi),
            _ => Lit::TRUE,
        }
    }

    /// Is the number, of any type, between the bounds?
    pub(super) fn within(&mut self, terms: &Terms, t: TermId, lo: i64, hi: i64) -> Lit {
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
}
