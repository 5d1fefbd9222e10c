//! Sets of the numbers 0 to n-1, ordered by inclusion (000 §2.2: the pool of a lossy, duplicating channel).
//!
//! `a ⊑ b` iff `a ⊆ b`; join is union. Larger sets have more behaviour, so a model should ask for what is *in* the
//! set, never for what is absent. Initially empty, the least element. The same lattice as `UnionBitVector`, with the
//! words one uses for sets; it does not offer `x[i]`.
//!
//! | method | | |
//! |---|---|---|
//! | `add(i)` | put i in | monotone |
//! | `remove(i)` | take i out | monotone |
//! | `clear()` | take everything out | monotone |
//! | `contains(i)` | is i in? | monotone |
//! | `size()` | how many are in | monotone |

use std::fmt;

use super::method::{Body::*, Op, Trend::*, from_method_table, index, op};
use super::{BuildError, Lattice, MethodError, Shape, Word, bits, check_size, draw_extreme};
use crate::{Domain, Join, Meet};

/// Sets of small numbers; see the [module](self).
#[derive(Debug, Clone)]
pub struct Powerset(usize);

impl Powerset {
    /// Sets of the numbers 0 to `n - 1`.
    pub fn new(n: usize) -> Result<Self, BuildError> {
        check_size("members", n, 64)?;
        Ok(Self(n))
    }

    fn put(&self, set: &mut [Word], i: i64, on: bool) -> Result<(), MethodError> {
        bits::put(set, index("member", i, self.0)?, on);
        Ok(())
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("add(i)", Monotone, "put i in", Do1(|l, x, i| l.put(x, i, true))),
        op("remove(i)", Monotone, "take i out", Do1(|l, x, i| l.put(x, i, false))),
        op("clear()", Monotone, "take everything out", Do0(|_, x| x.fill(0))),
        op("contains(i)", Monotone, "is i in?", Is1(|l, x, i| Ok(bits::get(x, index("member", i, l.0)?)))),
        op("size()", Monotone, "how many are in", Num0(|_, x| bits::count(x) as i64)),
    ];
}

impl Domain for Powerset {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        bits::subset(a, b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        bits::is_empty(a)
    }
}

impl Join for Powerset {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::unite(a, b)
    }
}

impl Meet for Powerset {
    fn top(&self, a: &mut [Word]) {
        bits::fill(a, self.0);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::intersect(a, b)
    }
}

impl Lattice for Powerset {
    from_method_table!(Powerset);

    fn name(&self) -> String {
        format!("Powerset({})", self.0)
    }

    fn width(&self) -> usize {
        bits::words(self.0)
    }

    fn subset_order(&self) -> Option<Word> {
        Some(0)
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
        Shape::Leaf
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
