//! The greatest, or the least, that a number may have been: integers between two ends, where a larger one, or a smaller one, has more behaviour (000
//! §2.1: opaal's library has integers with maximum and with minimum for a join).
//!
//! An element of `Max(lo, hi)` is a number from `lo` to `hi`; `a ⊑ b` iff `a ≤ b`; join is the maximum, and what would be greater than `hi` is
//! `hi`, which so means "or more". `Min(lo, hi)` is the same upside down: `a ⊑ b` iff `a ≥ b`. Initially the number nearest to 0.
//!
//! | method | | |
//! |---|---|---|
//! | `set(v)` | becomes v | monotone |
//! | `add(v)` | plus v | monotone |
//! | `atLeast(v)` | is it v or more? | monotone (Min: **antitone**) |
//! | `atMost(v)` | is it v or less? | **antitone** (Min: monotone) |
//! | `value()` | the number | monotone (Min: **antitone**) |

use std::fmt;

use super::method::{Body::*, Op, Trend::*, from_method_table, op};
use super::{BuildError, Lattice, Shape, Word};
use crate::{Domain, Join, Meet};

/// The ends of a range.
fn range(lo: i64, hi: i64) -> Result<(i64, i64), BuildError> {
    match lo <= hi {
        true => Ok((lo, hi)),
        false => Err(BuildError::Size(format!("the range from {lo} to {hi} is empty: the lower end comes first"))),
    }
}

macro_rules! extreme {
    ($name:ident, $text:literal, $about:literal, $grows:ident, $shrinks:ident, $larger:ident, $smaller:ident, $least:ident, $greatest:ident) => {
        #[doc = $about]
        #[derive(Debug, Clone)]
        pub struct $name {
            lo: i64,
            hi: i64,
        }

        impl $name {
            /// From `lo` to `hi`.
            pub fn new(lo: i64, hi: i64) -> Result<Self, BuildError> {
                range(lo, hi).map(|(lo, hi)| Self { lo, hi })
            }

            fn put(&self, elem: &mut [Word], v: i64) {
                elem[0] = v.clamp(self.lo, self.hi) as Word;
            }

                    #[rustfmt::skip]
            pub(super) const METHODS: &'static [Op<Self>] = &[
                        op("set(v)", Monotone, "becomes v", Put1(|l, x, v| l.put(x, v))),
                        op("add(v)", Monotone, "plus v", Put1(|l, x, v| l.put(x, (x[0] as i64).saturating_add(v)))),
                        op("atLeast(v)", $grows, "is it v or more?", Is1(|_, x, v| Ok(x[0] as i64 >= v))),
                        op("atMost(v)", $shrinks, "is it v or less?", Is1(|_, x, v| Ok(x[0] as i64 <= v))),
                        op("value()", $grows, "the number", Num0(|_, x| x[0] as i64)),
                    ];
        }

        impl Domain for $name {
            type Elem = [Word];

            fn leq(&self, a: &[Word], b: &[Word]) -> bool {
                (a[0] as i64).$larger(b[0] as i64) == b[0] as i64
            }

            fn is_bottom(&self, a: &[Word]) -> bool {
                a[0] as i64 == self.$least
            }
        }

        impl Join for $name {
            fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
                let old = a[0];
                a[0] = (old as i64).$larger(b[0] as i64) as Word;
                old != a[0]
            }
        }

        impl Meet for $name {
            fn top(&self, a: &mut [Word]) {
                a[0] = self.$greatest as Word;
            }

            fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
                let old = a[0];
                a[0] = (old as i64).$smaller(b[0] as i64) as Word;
                old != a[0]
            }
        }

        impl Lattice for $name {
            from_method_table!($name);

            fn name(&self) -> String {
                format!(concat!($text, "({}, {})"), self.lo, self.hi)
            }

            fn width(&self) -> usize {
                1
            }

            fn is_element(&self, words: &[Word]) -> bool {
                (self.lo..=self.hi).contains(&(words[0] as i64))
            }

            fn initial(&self, out: &mut [Word]) {
                self.put(out, 0);
            }

            fn bottom(&self, out: &mut [Word]) {
                out[0] = self.$least as Word;
            }

            fn shape(&self) -> Shape<'_> {
                Shape::Leaf
            }

            fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", elem[0] as i64)
            }

            fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
                match random() % 6 {
                    0 => self.bottom(out),
                    1 => self.top(out),
                    // Few values, so that samples meet; never so many that they do not fit.
                    _ => self.put(out, self.lo.saturating_add((random() % 9) as i64)),
                }
            }
        }
    };
}

extreme!(
    Max,
    "Max",
    "Numbers of which a larger one has more behaviour; see the [module](self).",
    Monotone,
    Antitone,
    max,
    min,
    lo,
    hi
);
extreme!(
    Min,
    "Min",
    "Numbers of which a smaller one has more behaviour; see the [module](self).",
    Antitone,
    Monotone,
    min,
    max,
    hi,
    lo
);
