//! Present and absent sets: what is known of a database's contents (000 §2.1 and Example 1).
//!
//! An element is a pair (P, A) of subsets of 0 to n-1 and stands for every database that contains all of P and nothing
//! of A. `(P, A) ⊑ (P', A')` iff `P' ⊆ P` and `A' ⊆ A`: knowing less admits more databases, hence more behaviour;
//! join intersects both. Initially nothing is known, the greatest element. As in the paper, pairs that overlap (and
//! stand for no database) are elements like any other: the least one has everything both present and absent.
//!
//! | method | | |
//! |---|---|---|
//! | `insert(i)` | now i is present | monotone |
//! | `delete(i)` | now i is absent | monotone |
//! | `clear()` | now everything is absent | monotone |
//! | `forget(i)` | nothing is known of i any more | monotone |
//! | `assumePresent(i)` | keep only databases with i | monotone |
//! | `assumeAbsent(i)` | keep only databases without i | monotone |
//! | `mayBePresent(i)` | is i not known to be absent? | monotone |
//! | `mayBeAbsent(i)` | is i not known to be present? | monotone |
//! | `mustBePresent(i)` | is i known to be present? | **antitone** |
//! | `mustBeAbsent(i)` | is i known to be absent? | **antitone** |
//! | `numUnknown()` | of how many is nothing known? | monotone |
//! | `numMayBePresent()` | how many may be present at once? | monotone |

use std::fmt;

use super::method::{Body::*, Done, Op, Trend::*, Truth, from_method_table, index, op};
use super::{BuildError, Lattice, Shape, Word, bits, check_size, draw_extreme};
use crate::{Domain, Join, Meet};

/// Present and absent sets; see the [module](self). The words of P come first, then those of A.
#[derive(Debug, Clone)]
pub struct PresentAbsent(usize);

impl PresentAbsent {
    /// What is known of a database of the values 0 to `n - 1`.
    pub fn new(n: usize) -> Result<Self, BuildError> {
        check_size("values", n, 32)?;
        Ok(Self(n))
    }

    fn parts<'a>(&self, elem: &'a [Word]) -> (&'a [Word], &'a [Word]) {
        elem.split_at(bits::words(self.0))
    }

    fn parts_mut<'a>(&self, elem: &'a mut [Word]) -> (&'a mut [Word], &'a mut [Word]) {
        elem.split_at_mut(bits::words(self.0))
    }

    /// Sets what is known of `i`; `None` keeps what was known.
    fn know(&self, elem: &mut [Word], i: i64, present: Option<bool>, absent: Option<bool>) -> Done {
        let i = index("value", i, self.0)?;
        let (p, a) = self.parts_mut(elem);
        if let Some(on) = present {
            bits::put(p, i, on);
        }
        if let Some(on) = absent {
            bits::put(a, i, on);
        }
        Ok(())
    }

    fn is_present(&self, elem: &[Word], i: i64) -> Truth {
        Ok(bits::get(self.parts(elem).0, index("value", i, self.0)?))
    }

    fn is_absent(&self, elem: &[Word], i: i64) -> Truth {
        Ok(bits::get(self.parts(elem).1, index("value", i, self.0)?))
    }

    fn clear(&self, elem: &mut [Word]) {
        let (p, a) = self.parts_mut(elem);
        p.fill(0);
        bits::fill(a, self.0);
    }

    fn num_unknown(&self, elem: &[Word]) -> i64 {
        let (p, a) = self.parts(elem);
        let known: u32 = p.iter().zip(a).map(|(p, a)| (p | a).count_ones()).sum();
        self.0 as i64 - i64::from(known)
    }

    fn num_may_be_present(&self, elem: &[Word]) -> i64 {
        (self.0 - bits::count(self.parts(elem).1)) as i64
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("insert(i)", Monotone, "now i is present", Do1(|l, x, i| l.know(x, i, Some(true), Some(false)))),
        op("delete(i)", Monotone, "now i is absent", Do1(|l, x, i| l.know(x, i, Some(false), Some(true)))),
        op("clear()", Monotone, "now everything is absent", Do0(|l, x| l.clear(x))),
        op("forget(i)", Monotone, "nothing is known of i", Do1(|l, x, i| l.know(x, i, Some(false), Some(false)))),
        op("assumePresent(i)", Monotone, "keep only databases with i", Do1(|l, x, i| l.know(x, i, Some(true), None))),
        op("assumeAbsent(i)", Monotone, "keep only databases without i", Do1(|l, x, i| l.know(x, i, None, Some(true)))),
        op("mayBePresent(i)", Monotone, "is i not known to be absent?", Is1(|l, x, i| Ok(!l.is_absent(x, i)?))),
        op("mayBeAbsent(i)", Monotone, "is i not known to be present?", Is1(|l, x, i| Ok(!l.is_present(x, i)?))),
        op("mustBePresent(i)", Antitone, "is i known to be present?", Is1(|l, x, i| l.is_present(x, i))),
        op("mustBeAbsent(i)", Antitone, "is i known to be absent?", Is1(|l, x, i| l.is_absent(x, i))),
        op("numUnknown()", Monotone, "of how many is nothing known?", Num0(|l, x| l.num_unknown(x))),
        op("numMayBePresent()", Monotone, "how many may be present at once?", Num0(|l, x| l.num_may_be_present(x))),
    ];
}

// Both sets are compared and joined alike, so the order works on the whole slice.

impl Domain for PresentAbsent {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        bits::subset(b, a)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        bits::count(a) == 2 * self.0
    }
}

impl Join for PresentAbsent {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::intersect(a, b)
    }
}

impl Meet for PresentAbsent {
    fn top(&self, a: &mut [Word]) {
        a.fill(0);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::unite(a, b)
    }
}

impl Lattice for PresentAbsent {
    from_method_table!(PresentAbsent);

    fn name(&self) -> String {
        format!("PresentAbsent({})", self.0)
    }

    fn width(&self) -> usize {
        2 * bits::words(self.0)
    }

    fn subset_order(&self) -> Option<Word> {
        Some(Word::MAX)
    }

    fn is_element(&self, words: &[Word]) -> bool {
        let (present, absent) = self.parts(words);
        bits::fits(present, self.0) && bits::fits(absent, self.0)
    }

    fn initial(&self, out: &mut [Word]) {
        out.fill(0);
    }

    fn bottom(&self, out: &mut [Word]) {
        let (p, a) = self.parts_mut(out);
        bits::fill(p, self.0);
        bits::fill(a, self.0);
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p, a) = self.parts(elem);
        f.write_str("present ")?;
        bits::show(p, f)?;
        f.write_str(" absent ")?;
        bits::show(a, f)
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            let (p, a) = self.parts_mut(out);
            bits::sample(self.0, random, p);
            bits::sample(self.0, random, a);
        }
    }
}
