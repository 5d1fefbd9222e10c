//! Multisets: how often each of n things may be there, up to a most that means "or more" (messages in transit, processes in a place).
//!
//! An element of `Multiset(n, most)` is a count from 0 to `most` for each of the things 0 to n-1; `a ⊑ b` iff no count of `a` is larger; join is the larger
//! count. Initially empty. A count that has reached `most` stays there: nobody knows how many there are.
//!
//! | method | | |
//! |---|---|---|
//! | `put(i)` | one more i | monotone |
//! | `take(i)` | one i less, if there is any | monotone |
//! | `clear()` | becomes empty | monotone |
//! | `has(i)` | may there be an i? | monotone |
//! | `hasMany(i)` | may there be `most` of i, or more? | monotone |
//! | `total()` | how many things there may be | monotone |
//! | `isEmpty()` | is there nothing, surely? | **antitone** |

use std::fmt;

use super::method::{Body::*, Done, Op, Trend::*, from_method_table, op};
use super::{BuildError, Lattice, MethodError, Shape, Word, check_size, draw_extreme};
use crate::{Domain, Join, Meet};

/// Counts of n things; see the [module](self). In memory a word for each.
#[derive(Debug, Clone)]
pub struct Multiset {
    n: usize,
    most: u64,
}

impl Multiset {
    /// Of `n` things, each counted up to `most`.
    pub fn new(n: usize, most: usize) -> Result<Multiset, BuildError> {
        check_size("things", n, 1)?;
        match most as u64 {
            most @ 1..=0xffff_ffff => Ok(Multiset { n, most }),
            most => Err(BuildError::Size(format!("a multiset counts up to between 1 and 4294967295, not {most}"))),
        }
    }

    fn at(&self, i: i64) -> Result<usize, MethodError> {
        usize::try_from(i).ok().filter(|&i| i < self.n).ok_or_else(|| {
            MethodError(format!("there is no thing {i} in {}: they are numbered 0 to {}", self.name(), self.n - 1))
        })
    }

    fn put(&self, elem: &mut [Word], i: i64) -> Done {
        let count = &mut elem[self.at(i)?];
        *count = self.most.min(*count + 1);
        Ok(())
    }

    fn take(&self, elem: &mut [Word], i: i64) -> Done {
        let count = &mut elem[self.at(i)?];
        if *count < self.most {
            *count = count.saturating_sub(1);
        }
        Ok(())
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("put(i)", Monotone, "one more i", Do1(|l, x, i| l.put(x, i))),
        op("take(i)", Monotone, "one i less, if there is any", Do1(|l, x, i| l.take(x, i))),
        op("clear()", Monotone, "becomes empty", Do0(|_, x| x.fill(0))),
        op("has(i)", Monotone, "may there be an i?", Is1(|l, x, i| l.at(i).map(|i| x[i] > 0))),
        op("hasMany(i)", Monotone, "may there be `most` of i, or more?", Is1(|l, x, i| l.at(i).map(|i| x[i] == l.most))),
        op("total()", Monotone, "how many things there may be", Num0(|_, x| x.iter().sum::<u64>() as i64)),
        op("isEmpty()", Antitone, "is there nothing, surely?", Is0(|_, x| x.iter().all(|&c| c == 0))),
    ];
}

impl Domain for Multiset {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        a.iter().zip(b).all(|(a, b)| a <= b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        a.iter().all(|&count| count == 0)
    }
}

impl Join for Multiset {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let grew = !self.leq(b, a);
        a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).max(*b));
        grew
    }
}

impl Meet for Multiset {
    fn top(&self, a: &mut [Word]) {
        a.fill(self.most);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        let shrank = !self.leq(a, b);
        a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).min(*b));
        shrank
    }
}

impl Lattice for Multiset {
    from_method_table!(Multiset);

    fn name(&self) -> String {
        format!("Multiset({}, {})", self.n, self.most)
    }

    fn width(&self) -> usize {
        self.n
    }

    fn is_element(&self, words: &[Word]) -> bool {
        words.iter().all(|&count| count <= self.most)
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
        f.write_str("{")?;
        let mut first = true;
        for (i, &count) in elem.iter().enumerate().filter(|(_, c)| **c > 0) {
            write!(f, "{}{i}", if first { "" } else { ", " })?;
            first = false;
            match count {
                1 if self.most > 1 => {}
                _ => write!(f, "×{count}{}", if count == self.most { "+" } else { "" })?,
            }
        }
        f.write_str("}")
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            out.fill_with(|| (random() % 4).min(self.most) * (random() % 2));
        }
    }
}
