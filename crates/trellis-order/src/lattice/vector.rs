//! Several elements of one lattice side by side, compared entry by entry (000 §2.1: `IntersectionBitVector p[N]`).
//!
//! `a ⊑ b` iff `a[i] ⊑ b[i]` for every i; join and meet work entry by entry, and a larger entry is more behaviour.
//! Initially every entry has its lattice's initial value. `x[i]` is an entry, with the methods of its lattice; the
//! vector has no methods of its own and does not grow.

use std::fmt;
use std::sync::Arc;

use super::method::no_methods;
use super::{
    BuildError, Composition, Lattice, MAX_WIDTH, Method, MethodError, Shape, Shown, Word, draw_extreme, widen,
};
use crate::{Domain, Join, Meet, Widen};

/// Vectors over a lattice; see the [module](self).
#[derive(Debug, Clone)]
pub struct Vector {
    entry: Arc<dyn Lattice>,
    len: usize,
}

impl Vector {
    /// Vectors of `len` entries.
    pub fn new(entry: Arc<dyn Lattice>, len: usize) -> Result<Self, BuildError> {
        let fits = len.checked_mul(entry.width()).is_some_and(|width| width <= MAX_WIDTH);
        if len == 0 || !fits {
            let most = MAX_WIDTH / entry.width().max(1);
            let entry = entry.name();
            let problem = format!("a vector of {entry} must have between 1 and {most} entries, not {len}");
            return Err(BuildError::Size(problem));
        }
        Ok(Self { entry, len })
    }

    fn entries<'a>(&self, elem: &'a [Word]) -> impl Iterator<Item = &'a [Word]> {
        elem.chunks_exact(self.entry.width().max(1))
    }

    fn entries_mut<'a>(&self, elem: &'a mut [Word]) -> impl Iterator<Item = &'a mut [Word]> {
        elem.chunks_exact_mut(self.entry.width().max(1))
    }

    fn entry_meet(&self) -> &dyn Meet<Elem = [Word]> {
        self.entry.as_meet().expect("as_meet answers None unless the entries have a meet")
    }
}

impl Domain for Vector {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        self.entries(a).zip(self.entries(b)).all(|(a, b)| self.entry.leq(a, b))
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        self.entries(a).all(|a| self.entry.is_bottom(a))
    }
}

impl Join for Vector {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let pairs = self.entries_mut(a).zip(self.entries(b));
        pairs.fold(false, |grew, (a, b)| self.entry.join(a, b) | grew)
    }
}

impl Widen for Vector {
    fn widen(&self, a: &mut [Word], b: &[Word]) -> bool {
        let pairs = self.entries_mut(a).zip(self.entries(b));
        pairs.fold(false, |grew, (a, b)| widen(&*self.entry, a, b) | grew)
    }
}

/// To be reached through [`Lattice::as_meet`]: it panics if the entries have no meet.
impl Meet for Vector {
    fn top(&self, a: &mut [Word]) {
        self.entries_mut(a).for_each(|a| self.entry_meet().top(a));
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        let pairs = self.entries_mut(a).zip(self.entries(b));
        pairs.fold(false, |shrank, (a, b)| self.entry_meet().meet(a, b) | shrank)
    }
}

impl Lattice for Vector {
    fn name(&self) -> String {
        format!("Vector({}, {})", self.entry.name(), self.len)
    }

    fn composition(&self) -> Composition {
        Composition::Pointwise
    }

    fn is_vouched_for(&self) -> bool {
        self.entry.is_vouched_for()
    }

    fn width(&self) -> usize {
        self.len * self.entry.width()
    }

    fn is_element(&self, words: &[Word]) -> bool {
        self.entries(words).all(|entry| self.entry.is_element(entry))
    }

    fn initial(&self, out: &mut [Word]) {
        self.entries_mut(out).for_each(|entry| self.entry.initial(entry));
    }

    fn bottom(&self, out: &mut [Word]) {
        self.entries_mut(out).for_each(|entry| self.entry.bottom(entry));
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
        Shape::Vector(self.len, &self.entry)
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, entry) in self.entries(elem).enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}", Shown(&*self.entry, entry))?;
        }
        f.write_str("]")
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            self.entries_mut(out).for_each(|entry| self.entry.sample(random, entry));
        }
    }

    fn as_widen(&self) -> Option<&dyn Widen<Elem = [Word]>> {
        self.entry.as_widen().map(|_| self as _)
    }

    fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>> {
        self.entry.as_meet().map(|_| self as _)
    }
}
