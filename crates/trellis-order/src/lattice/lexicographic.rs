//! Two lattices, the first of which decides (the dictionary's order on pairs; in none of the papers).
//!
//! `(a₁, a₂) ⊑ (b₁, b₂)` iff `a₁ ⊏ b₁`, or `a₁ = b₁` and `a₂ ⊑ b₂`. A larger first part is more behaviour whatever the
//! second is: use it only where that is true of the system. The join always exists, because the second lattice has a
//! least element:
//! - equal first parts: `(a₁, a₂ ⊔ b₂)`;
//! - comparable first parts: the pair with the larger one, as it is;
//! - incomparable first parts: `(a₁ ⊔ b₁, ⊥)`. Any upper bound must have a first part at or above `a₁ ⊔ b₁`, which is
//!   strictly above both, so nothing is asked of the second part.
//!
//! The meet is the same upside down, with ⊤ for ⊥. The parts are `x.fst` and `x.snd` (or named, as in `Product`), with
//! the methods of their lattices; initially each has its initial value. What it does not do: asking `x.snd` is *not*
//! monotone, even through a monotone method, for `x.snd` may shrink when `x` grows; nor is an update of `x.fst` that
//! may make two different first parts equal.

use std::fmt;

use super::method::no_methods;
use super::product::{Field, Part, lay_out, meet_of, name_parts, part, part_mut, show_parts};
use super::{BuildError, Composition, Lattice, Method, MethodError, Shape, Word, draw_extreme};
use crate::{Domain, Join, Meet};

/// Pairs in the dictionary's order; see the [module](self).
#[derive(Debug, Clone)]
pub struct Lexicographic {
    fields: [Field; 2],
    width: usize,
}

impl Lexicographic {
    /// Pairs of a part that decides and a part that is asked when the first ones are equal.
    pub fn new(fst: Part, snd: Part) -> Result<Self, BuildError> {
        let (fields, width) = lay_out(vec![fst, snd])?;
        let fields = fields.try_into().expect("two parts give two fields");
        Ok(Self { fields, width })
    }

    fn split<'a>(&self, elem: &'a [Word]) -> (&'a [Word], &'a [Word]) {
        elem.split_at(self.fields[1].1)
    }

    fn split_mut<'a>(&self, elem: &'a mut [Word]) -> (&'a mut [Word], &'a mut [Word]) {
        elem.split_at_mut(self.fields[1].1)
    }

    fn fst(&self) -> &dyn Lattice {
        &*self.fields[0].2
    }

    fn snd(&self) -> &dyn Lattice {
        &*self.fields[1].2
    }
}

impl Domain for Lexicographic {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        let ((a1, a2), (b1, b2)) = (self.split(a), self.split(b));
        if a1 == b1 { self.snd().leq(a2, b2) } else { self.fst().leq(a1, b1) }
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        self.fields.iter().all(|field| field.2.is_bottom(part(field, a)))
    }
}

impl Join for Lexicographic {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let ((a1, a2), (b1, b2)) = (self.split_mut(a), self.split(b));
        if a1 == b1 {
            return self.snd().join(a2, b2);
        }
        if self.fst().leq(b1, a1) {
            return false;
        }
        if self.fst().leq(a1, b1) {
            a2.copy_from_slice(b2);
        } else {
            self.snd().bottom(a2);
        }
        self.fst().join(a1, b1)
    }
}

/// To be reached through [`Lattice::as_meet`]: it panics if a part has no meet.
impl Meet for Lexicographic {
    fn top(&self, a: &mut [Word]) {
        self.fields.iter().for_each(|field| meet_of(field).top(part_mut(field, a)));
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        let (fst, snd) = (meet_of(&self.fields[0]), meet_of(&self.fields[1]));
        let ((a1, a2), (b1, b2)) = (self.split_mut(a), self.split(b));
        if a1 == b1 {
            return snd.meet(a2, b2);
        }
        if self.fst().leq(a1, b1) {
            return false;
        }
        if self.fst().leq(b1, a1) {
            a2.copy_from_slice(b2);
        } else {
            snd.top(a2);
        }
        fst.meet(a1, b1)
    }
}

impl Lattice for Lexicographic {
    fn name(&self) -> String {
        format!("Lexicographic({})", name_parts(&self.fields))
    }

    fn composition(&self) -> Composition {
        Composition::FirstDecides
    }

    fn is_vouched_for(&self) -> bool {
        self.fields.iter().all(|field| field.2.is_vouched_for())
    }

    fn width(&self) -> usize {
        self.width
    }

    fn is_element(&self, words: &[Word]) -> bool {
        self.fields.iter().all(|field| field.2.is_element(part(field, words)))
    }

    fn initial(&self, out: &mut [Word]) {
        self.fields.iter().for_each(|field| field.2.initial(part_mut(field, out)));
    }

    fn bottom(&self, out: &mut [Word]) {
        self.fields.iter().for_each(|field| field.2.bottom(part_mut(field, out)));
    }

    fn methods(&self) -> &[Method] {
        &[]
    }

    fn query(&self, _: usize, _: &[Word], _: &[i64]) -> Result<i64, MethodError> {
        no_methods()
    }

    fn update(&self, _: usize, _: &mut [Word], _: &[i64]) -> Result<(), MethodError> {
        no_methods()
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Fields(&self.fields)
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_parts(&self.fields, elem, f)
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            self.fields.iter().for_each(|field| field.2.sample(random, part_mut(field, out)));
        }
    }

    fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>> {
        self.fields.iter().all(|field| field.2.as_meet().is_some()).then_some(self)
    }
}
