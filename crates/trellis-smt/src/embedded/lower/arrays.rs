//! Arrays that are listed by their entries.

use trellis_expr::{TermId, Terms, Type};

use super::{Code, Lowering, Unsupported, index_value};
use crate::embedded::gates::Gates;
use crate::embedded::linear::Linear;
use crate::embedded::sat::Lit;

impl Lowering {
    pub(super) fn select(&mut self, terms: &Terms, a: TermId, i: TermId) -> Result<Code, Unsupported> {
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

    pub(super) fn store(&mut self, terms: &Terms, a: TermId, i: TermId, v: TermId) -> Result<Code, Unsupported> {
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
    pub(super) fn is_index(&mut self, terms: &Terms, array: Type, i: TermId, position: usize) -> Lit {
        let Type::Array(index, _) = array else { unreachable!("an array") };
        match self.codes[&i].clone() {
            Code::Int(l) => {
                let at = index_value(terms.type_of_id(index), position).number();
                self.is_zero(&l.minus(&Linear::constant(at)))
            }
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
}
