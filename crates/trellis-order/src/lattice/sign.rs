//! The signs that an integer may have (000 App. B.1 names signedness as what part of a state space may need).
//!
//! An element is a subset of {−, 0, +}, ordered by inclusion: more possible signs, more behaviour; join is union.
//! Initially {0}, like any integer of a model. Integers are mathematical: nothing wraps around. It does not remember
//! values, only signs.
//!
//! | method | | |
//! |---|---|---|
//! | `set(v)` | becomes v | monotone |
//! | `add(v)`, `mul(v)` | arithmetic with a number | monotone |
//! | `neg()` | changes its sign | monotone |
//! | `forget()` | becomes anything | monotone |
//! | `assumeNeg()`, `assumeZero()`, `assumePos()` | keep only this sign | monotone |
//! | `mayBeNeg()`, `mayBeZero()`, `mayBePos()` | can it have this sign? | monotone |
//! | `mayBe(v)` | can it be v? | monotone |

use std::fmt;

use super::method::{Body::*, Op, Trend::*, from_method_table, op};
use super::{Lattice, Shape, Word, bits};
use crate::{Domain, Join, Meet};

/// Subsets of {−, 0, +}; see the [module](self).
#[derive(Debug, Clone)]
pub struct Sign;

const NEG: Word = 1;
const ZERO: Word = 2;
const POS: Word = 4;
const ANY: Word = NEG | ZERO | POS;

fn sign(v: i64) -> Word {
    match v {
        ..0 => NEG,
        0 => ZERO,
        1.. => POS,
    }
}

/// The signs that numbers of sign `s` can have once `v` is added: exact, so adding 1 to a negative can give 0 only
/// because -1 + 1 = 0.
fn add_to_sign(s: Word, v: i64) -> Word {
    match (s, v) {
        (ZERO, _) => sign(v),
        (_, 0) => s,
        (NEG, ..0) | (POS, 1..) => s,
        (NEG, 1) => NEG | ZERO,
        (POS, -1) => ZERO | POS,
        _ => ANY,
    }
}

/// Replaces every sign by the signs that `f` gives for it.
fn map(elem: &mut [Word], f: impl Fn(Word) -> Word) {
    elem[0] = [NEG, ZERO, POS].into_iter().filter(|s| elem[0] & s != 0).fold(0, |all, s| all | f(s));
}

fn multiply(elem: &mut [Word], v: i64) {
    map(elem, |s| match (s, sign(v)) {
        (ZERO, _) | (_, ZERO) => ZERO,
        (a, b) if a == b => POS,
        _ => NEG,
    });
}

fn may(elem: &[Word], s: Word) -> bool {
    elem[0] & s != 0
}

impl Sign {
    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("set(v)", Monotone, "becomes v", Put1(|_, x, v| x[0] = sign(v))),
        op("add(v)", Monotone, "plus v", Put1(|_, x, v| map(x, |s| add_to_sign(s, v)))),
        op("mul(v)", Monotone, "times v", Put1(|_, x, v| multiply(x, v))),
        op("neg()", Monotone, "changes its sign", Do0(|_, x| multiply(x, -1))),
        op("forget()", Monotone, "becomes anything", Do0(|_, x| x[0] = ANY)),
        op("assumeNeg()", Monotone, "keep only negative values", Do0(|_, x| x[0] &= NEG)),
        op("assumeZero()", Monotone, "keep only 0", Do0(|_, x| x[0] &= ZERO)),
        op("assumePos()", Monotone, "keep only positive values", Do0(|_, x| x[0] &= POS)),
        op("mayBeNeg()", Monotone, "can it be negative?", Is0(|_, x| may(x, NEG))),
        op("mayBeZero()", Monotone, "can it be 0?", Is0(|_, x| may(x, ZERO))),
        op("mayBePos()", Monotone, "can it be positive?", Is0(|_, x| may(x, POS))),
        op("mayBe(v)", Monotone, "can it be v?", Is1(|_, x, v| Ok(may(x, sign(v))))),
    ];
}

impl Domain for Sign {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        bits::subset(a, b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        bits::is_empty(a)
    }
}

impl Join for Sign {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::unite(a, b)
    }
}

impl Meet for Sign {
    fn top(&self, a: &mut [Word]) {
        a[0] = ANY;
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::intersect(a, b)
    }
}

impl Lattice for Sign {
    from_method_table!(Sign);

    fn name(&self) -> String {
        "Sign".to_owned()
    }

    fn width(&self) -> usize {
        1
    }

    fn is_element(&self, words: &[Word]) -> bool {
        words[0] <= ANY
    }

    fn initial(&self, out: &mut [Word]) {
        out[0] = ZERO;
    }

    fn bottom(&self, out: &mut [Word]) {
        out[0] = 0;
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signs = [(NEG, "-"), (ZERO, "0"), (POS, "+")];
        let shown: Vec<&str> = signs.iter().filter(|(s, _)| elem[0] & s != 0).map(|(_, text)| *text).collect();
        write!(f, "{{{}}}", shown.join(", "))
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        out[0] = random() & ANY;
    }
}
