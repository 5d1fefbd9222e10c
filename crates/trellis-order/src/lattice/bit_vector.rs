//! Vectors of bits, in two orders (000 §2.1, Fig. 3, and §2.2).
//!
//! `UnionBitVector(n)`: `a ⊑ b` iff every 1 of `a` is a 1 of `b`; join is *or*. More ones, more behaviour: a pool of
//! messages that may have been sent. Initially all 0, the least element.
//!
//! `IntersectionBitVector(n)`: `a ⊑ b` iff every 1 of `b` is a 1 of `a`; join is *and*. A 1 is something known for
//! certain, and knowing less gives more behaviour. Initially all 0, the greatest element.
//!
//! | method | in the union order | in the intersection order |
//! |---|---|---|
//! | `get(i)` bit i | monotone | antitone |
//! | `set(i, b)` bit i becomes 1 if b is not 0 | monotone | monotone |
//! | `num0s()` how many bits are 0 | antitone | monotone |
//! | `num1s()` how many bits are 1 | monotone | antitone |
//!
//! `x[i]` reads and writes a bit. An index beyond the vector is an error of the model. The vectors do not grow.

use std::fmt;

use super::method::{Body::*, Done, Op, Trend::*, Truth, from_method_table, index, op};
use super::{BuildError, Lattice, Shape, Word, bits, check_size, draw_extreme};
use crate::{Domain, Join, Meet};

/// Bits ordered by the set of ones; see the [module](self).
#[derive(Debug, Clone)]
pub struct UnionBitVector(usize);

/// Bits ordered by the reverse of the set of ones; see the [module](self).
#[derive(Debug, Clone)]
pub struct IntersectionBitVector(usize);

fn get(n: usize, elem: &[Word], i: i64) -> Truth {
    Ok(bits::get(elem, index("bit", i, n)?))
}

fn set(n: usize, elem: &mut [Word], i: i64, b: i64) -> Done {
    bits::put(elem, index("bit", i, n)?, b != 0);
    Ok(())
}

fn num0s(n: usize, elem: &[Word]) -> i64 {
    (n - bits::count(elem)) as i64
}

fn num1s(elem: &[Word]) -> i64 {
    bits::count(elem) as i64
}

impl UnionBitVector {
    /// Vectors of `n` bits.
    pub fn new(n: usize) -> Result<Self, BuildError> {
        check_size("bits", n, 64)?;
        Ok(Self(n))
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("get(i)", Monotone, "bit i", Is1(|l, x, i| get(l.0, x, i))),
        op("set(i, b)", Monotone, "bit i := 1 if b is not 0, else 0", Do2(|l, x, i, b| set(l.0, x, i, b))),
        op("num0s()", Antitone, "how many bits are 0", Num0(|l, x| num0s(l.0, x))),
        op("num1s()", Monotone, "how many bits are 1", Num0(|_, x| num1s(x))),
    ];
}

impl IntersectionBitVector {
    /// Vectors of `n` bits.
    pub fn new(n: usize) -> Result<Self, BuildError> {
        check_size("bits", n, 64)?;
        Ok(Self(n))
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("get(i)", Antitone, "bit i", Is1(|l, x, i| get(l.0, x, i))),
        op("set(i, b)", Monotone, "bit i := 1 if b is not 0, else 0", Do2(|l, x, i, b| set(l.0, x, i, b))),
        op("num0s()", Monotone, "how many bits are 0", Num0(|l, x| num0s(l.0, x))),
        op("num1s()", Antitone, "how many bits are 1", Num0(|_, x| num1s(x))),
    ];
}

impl Domain for UnionBitVector {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        bits::subset(a, b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        bits::is_empty(a)
    }
}

impl Domain for IntersectionBitVector {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        bits::subset(b, a)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        bits::count(a) == self.0
    }
}

impl Join for UnionBitVector {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::unite(a, b)
    }
}

impl Join for IntersectionBitVector {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::intersect(a, b)
    }
}

impl Meet for UnionBitVector {
    fn top(&self, a: &mut [Word]) {
        bits::fill(a, self.0);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::intersect(a, b)
    }
}

impl Meet for IntersectionBitVector {
    fn top(&self, a: &mut [Word]) {
        a.fill(0);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::unite(a, b)
    }
}

impl Lattice for UnionBitVector {
    from_method_table!(UnionBitVector);

    fn name(&self) -> String {
        format!("UnionBitVector({})", self.0)
    }

    fn width(&self) -> usize {
        bits::words(self.0)
    }

    fn is_element(&self, words: &[Word]) -> bool {
        bits::fits(words, self.0)
    }

    fn initial(&self, out: &mut [Word]) {
        out.fill(0);
    }

    fn bottom(&self, out: &mut [Word]) {
        out.fill(0);
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Bits(self.0)
    }

    fn packed_bits(&self) -> bool {
        true
    }

    fn subset_order(&self) -> Option<Word> {
        Some(0)
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bits::show(elem, f)
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            bits::sample(self.0, random, out);
        }
    }
}

impl Lattice for IntersectionBitVector {
    from_method_table!(IntersectionBitVector);

    fn name(&self) -> String {
        format!("IntersectionBitVector({})", self.0)
    }

    fn width(&self) -> usize {
        bits::words(self.0)
    }

    fn is_element(&self, words: &[Word]) -> bool {
        bits::fits(words, self.0)
    }

    fn initial(&self, out: &mut [Word]) {
        out.fill(0);
    }

    fn bottom(&self, out: &mut [Word]) {
        bits::fill(out, self.0);
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Bits(self.0)
    }

    fn packed_bits(&self) -> bool {
        true
    }

    fn subset_order(&self) -> Option<Word> {
        Some(Word::MAX)
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bits::show(elem, f)
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            bits::sample(self.0, random, out);
        }
    }
}
