//! Remainders: which residue an integer may have, by a divisor of n (Granger 1989, cut off at n so that meets are exact).
//!
//! An element is ⊥ (no value), or `r mod d` for a divisor `d` of `n`: all integers that leave the remainder `r`. `a ⊑ b` iff every value of `a` is
//! one of `b`; join is the closest such set around both. `d = 1` is everything. Initially 0 mod n, like any integer of a model.
//!
//! | method | | |
//! |---|---|---|
//! | `set(v)` | becomes v | monotone |
//! | `add(v)`, `mul(v)` | arithmetic with a number | monotone |
//! | `neg()` | changes its sign | monotone |
//! | `forget()` | becomes anything | monotone |
//! | `assume(v)` | keep only what leaves the remainder of v by n | monotone |
//! | `mayBe(v)` | can it be v? | monotone |
//! | `modulus()` | the divisor (⊥: the greatest integer) | **antitone** |

use std::fmt;

use super::method::{Body::*, Op, Trend::*, from_method_table, op};
use super::{BuildError, Lattice, Shape, Word, draw_extreme};
use crate::{Domain, Join, Meet};

/// Remainders by the divisors of n; see the [module](self). In memory: the divisor, the remainder; ⊥ is 1 and 1.
#[derive(Debug, Clone)]
pub struct Congruence {
    n: u64,
}

/// Larger moduli are of no use; products of two fit a word.
const MOST: u64 = 1 << 24;
const EMPTY: [Word; 2] = [1, 1];

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What `a` must be multiplied by to leave the remainder 1 by `m`; they have no divisor in common.
fn inverse(a: u64, m: u64) -> u64 {
    let (mut old, mut new) = ((a as i64, 1i64), (m as i64, 0i64));
    while new.0 != 0 {
        let q = old.0 / new.0;
        (old, new) = (new, (old.0 - q * new.0, old.1 - q * new.1));
    }
    old.1.rem_euclid(m as i64) as u64
}

impl Congruence {
    /// Remainders by the divisors of `n`.
    pub fn new(n: usize) -> Result<Congruence, BuildError> {
        match n as u64 {
            n @ 1..=MOST => Ok(Congruence { n }),
            n => Err(BuildError::Size(format!("a modulus must be between 1 and {MOST}, not {n}"))),
        }
    }

    fn rest(&self, v: i64) -> u64 {
        v.rem_euclid(self.n as i64) as u64
    }

    fn write(&self, elem: &mut [Word], d: u64, r: u64) {
        elem[0] = d;
        elem[1] = r % d;
    }

    /// Replaces what is not ⊥.
    fn map(&self, elem: &mut [Word], f: impl Fn(u64, u64) -> (u64, u64)) {
        if elem != EMPTY {
            let (d, r) = f(elem[0], elem[1]);
            self.write(elem, d, r);
        }
    }

    fn assume(&self, elem: &mut [Word], v: i64) {
        if elem != EMPTY {
            match self.rest(v) % elem[0] == elem[1] {
                true => self.write(elem, self.n, self.rest(v)),
                false => elem.copy_from_slice(&EMPTY),
            }
        }
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("set(v)", Monotone, "becomes v", Put1(|l, x, v| l.write(x, l.n, l.rest(v)))),
        op("add(v)", Monotone, "plus v", Put1(|l, x, v| l.map(x, |d, r| (d, r + l.rest(v))))),
        op("mul(v)", Monotone, "times v", Put1(|l, x, v| l.map(x, |d, r| (gcd(d * l.rest(v), l.n), r * l.rest(v))))),
        op("neg()", Monotone, "changes its sign", Do0(|l, x| l.map(x, |d, r| (d, d - r)))),
        op("forget()", Monotone, "becomes anything", Do0(|l, x| l.write(x, 1, 0))),
        op("assume(v)", Monotone, "keep only what leaves the remainder of v by n", Put1(|l, x, v| l.assume(x, v))),
        op("mayBe(v)", Monotone, "can it be v?", Is1(|l, x, v| Ok(x != EMPTY && l.rest(v) % x[0] == x[1]))),
        op("modulus()", Antitone, "the divisor", Num0(|_, x| if x == EMPTY { i64::MAX } else { x[0] as i64 })),
    ];
}

impl Domain for Congruence {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        a == EMPTY || b != EMPTY && a[0].is_multiple_of(b[0]) && a[1] % b[0] == b[1]
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        a == EMPTY
    }
}

impl Join for Congruence {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        if self.leq(b, a) {
            return false;
        }
        if a == EMPTY {
            a.copy_from_slice(b);
        } else {
            let d = gcd(gcd(a[0], b[0]), a[1].abs_diff(b[1]));
            self.write(a, d, a[1]);
        }
        true
    }
}

impl Meet for Congruence {
    fn top(&self, a: &mut [Word]) {
        self.write(a, 1, 0);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        if self.leq(a, b) {
            return false;
        }
        let common = gcd(a[0], b[0]);
        if b == EMPTY || a[1] % common != b[1] % common {
            a.copy_from_slice(&EMPTY);
            return true;
        }
        // The least common multiple divides n. By the Chinese remainder theorem there is one remainder that fits both.
        let (d, rest) = (a[0] / common * b[0], b[0] / common);
        let apart = ((b[1] + b[0] - a[1] % b[0]) % b[0]) / common;
        let times = u128::from(apart) * u128::from(inverse(a[0] / common, rest)) % u128::from(rest);
        self.write(a, d, a[1] + a[0] * times as u64);
        true
    }
}

impl Lattice for Congruence {
    from_method_table!(Congruence);

    fn name(&self) -> String {
        format!("Congruence({})", self.n)
    }

    fn width(&self) -> usize {
        2
    }

    fn is_element(&self, words: &[Word]) -> bool {
        words == EMPTY || words[0] != 0 && self.n.is_multiple_of(words[0]) && words[1] < words[0]
    }

    fn initial(&self, out: &mut [Word]) {
        self.write(out, self.n, 0);
    }

    fn bottom(&self, out: &mut [Word]) {
        out.copy_from_slice(&EMPTY);
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match elem {
            [1, 1] => f.write_str("⊥"),
            [1, _] => f.write_str("⊤"),
            _ => write!(f, "{} mod {}", elem[1], elem[0]),
        }
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            self.write(out, gcd(self.n, 1 + random() % self.n), random());
        }
    }
}
