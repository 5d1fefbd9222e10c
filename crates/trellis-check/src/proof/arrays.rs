//! Arrays: as what they are made of, never entry by entry.
//!
//! To read an array is to ask whether the index is that of the last store, then the one before; at the bottom is an array of which
//! nothing is known, which has one value for each index. Two arrays are equal at every index that anybody reads; or they are not, at
//! an index of their own. An index outside the array's type counts as one more index here: whoever reads or stores there faults,
//! and what a faulting term is worth is nobody's business.

use trellis_expr::{Terms, Type};

use super::gates::{Builder, FALSE, Lit, TRUE};
use super::read::Code;

/// What an array is made of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Array {
    /// Nothing is known of it: by number.
    Free(usize),
    Constant(Code),
    Store(Code, Code, Code),
    Choice(Lit, Code, Code),
}

struct Free {
    entry: Type,
    /// Indexes that were read, with their entries.
    known: Vec<(Code, Code)>,
}

struct Equation {
    equal: Lit,
    ty: Type,
    sides: (Code, Code),
    /// For how many of the indexes of this type it has been said.
    said: usize,
}

/// All arrays.
#[derive(Default)]
pub(crate) struct Arrays {
    free: Vec<Free>,
    equations: Vec<Equation>,
    /// Indexes by which arrays are read, with the arrays' types.
    indexes: Vec<(Type, Code)>,
}

fn parts(terms: &Terms, ty: Type) -> (Type, Type) {
    let Type::Array(index, entry) = ty else { unreachable!("an array") };
    (terms.type_of_id(index), terms.type_of_id(entry))
}

impl Builder {
    pub fn free_array(&mut self, terms: &Terms, ty: Type) -> Array {
        self.arrays.free.push(Free { entry: parts(terms, ty).1, known: vec![] });
        Array::Free(self.arrays.free.len() - 1)
    }

    /// The entry at an index.
    pub fn read(&mut self, terms: &Terms, array: &Code, index: &Code) -> Code {
        let Code::Array(ty, _) = *array else { unreachable!("an array") };
        let known = &mut self.arrays.indexes;
        if !known.iter().any(|(t, i)| *t == ty && i == index) {
            known.push((ty, index.clone()));
        }
        self.entry(terms, array, index)
    }

    fn entry(&mut self, terms: &Terms, array: &Code, index: &Code) -> Code {
        // Stores in a row, from the last one on.
        let mut stores: Vec<(Lit, Code)> = vec![];
        let mut array = array.clone();
        let bottom = loop {
            let Code::Array(_, it) = &array else { unreachable!("an array") };
            let next = match &**it {
                Array::Store(base, at, value) => {
                    let here = self.equal(terms, at, index);
                    if here == TRUE {
                        break value.clone();
                    }
                    if here != FALSE {
                        stores.push((here, value.clone()));
                    }
                    base.clone()
                }
                Array::Constant(value) => break value.clone(),
                Array::Choice(c, a, b) => {
                    let (a, b) = (self.entry(terms, a, index), self.entry(terms, b, index));
                    break self.either(*c, &a, &b);
                }
                Array::Free(n) => break self.free_entry(terms, *n, index),
            };
            array = next;
        };
        stores.into_iter().rev().fold(bottom, |below, (here, value)| self.either(here, &value, &below))
    }

    fn free_entry(&mut self, terms: &Terms, n: usize, index: &Code) -> Code {
        if let Some((_, value)) = self.arrays.free[n].known.iter().find(|(i, _)| i == index) {
            return value.clone();
        }
        let entry = self.free(terms, self.arrays.free[n].entry);
        for (i, value) in self.arrays.free[n].known.clone() {
            let same = self.equal(terms, &i, index);
            self.make_equal(terms, same, &value, &entry);
        }
        self.arrays.free[n].known.push((index.clone(), entry.clone()));
        entry
    }

    /// Are two arrays of a type equal?
    pub fn equal_arrays(&mut self, terms: &Terms, ty: Type, a: &Code, b: &Code) -> Lit {
        if a == b {
            return TRUE;
        }
        let sides = (a.clone(), b.clone());
        if let Some(e) = self.arrays.equations.iter().find(|e| e.sides == sides) {
            return e.equal;
        }
        let equal = self.fresh();
        self.arrays.equations.push(Equation { equal, ty, sides, said: 0 });
        let witness = self.free(terms, parts(terms, ty).0);
        let (x, y) = (self.read(terms, a, &witness), self.read(terms, b, &witness));
        let same = self.equal(terms, &x, &y);
        self.clause(&[equal, -same]);
        equal
    }

    /// Says of all equations what they say of the indexes by which arrays of their type are read. There may be new ones by that,
    /// of arrays of arrays; some are left out at some point, which only makes less follow.
    pub fn finish_arrays(&mut self, terms: &Terms) {
        for _ in 0..4 {
            for n in 0..self.arrays.equations.len() {
                let e = &self.arrays.equations[n];
                let (equal, ty, (a, b), said) = (e.equal, e.ty, e.sides.clone(), e.said);
                let all = self.arrays.indexes.len();
                for at in said..all {
                    let (of, index) = self.arrays.indexes[at].clone();
                    if of != ty {
                        continue;
                    }
                    let (x, y) = (self.entry(terms, &a, &index), self.entry(terms, &b, &index));
                    let inside = match parts(terms, ty).0 {
                        Type::Range(lo, hi) => self.within(&index, true, lo, hi),
                        _ => TRUE,
                    };
                    let guard = self.and([equal, inside]);
                    self.make_equal(terms, guard, &x, &y);
                }
                self.arrays.equations[n].said = all;
            }
        }
        if self.arrays.equations.iter().any(|e| e.said < self.arrays.indexes.len()) {
            self.open.get_or_insert("equations of arrays of arrays");
        }
    }
}
