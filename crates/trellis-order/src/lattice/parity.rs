//! Whether an integer may be even or odd (000 App. B.1 names parity as what part of a state space may need).
//!
//! An element is a subset of {even, odd}, ordered by inclusion: ⊥, even, odd, ⊤; more possibilities, more behaviour;
//! join is union. Initially even, like the 0 of any integer of a model. It does not remember values.
//!
//! | method | | |
//! |---|---|---|
//! | `set(v)` | becomes v | monotone |
//! | `add(v)`, `mul(v)` | arithmetic with a number | monotone |
//! | `neg()` | changes its sign (and so nothing here) | monotone |
//! | `forget()` | becomes anything | monotone |
//! | `assumeEven()`, `assumeOdd()` | keep only this parity | monotone |
//! | `mayBeEven()`, `mayBeOdd()` | can it have this parity? | monotone |
//! | `mayBe(v)` | can it be v? | monotone |

use std::fmt;

use super::method::{Body::*, Op, Trend::*, from_method_table, op};
use super::{Lattice, Shape, Word, bits};
use crate::{Domain, Join, Meet};

/// Subsets of {even, odd}; see the [module](self).
#[derive(Debug, Clone)]
pub struct Parity;

const EVEN: Word = 1;
const ODD: Word = 2;
const ANY: Word = EVEN | ODD;

fn parity(v: i64) -> Word {
    if v & 1 == 0 { EVEN } else { ODD }
}

fn add(elem: &mut [Word], v: i64) {
    if parity(v) == ODD {
        elem[0] = (elem[0] & EVEN) << 1 | (elem[0] & ODD) >> 1;
    }
}

fn multiply(elem: &mut [Word], v: i64) {
    if parity(v) == EVEN && elem[0] != 0 {
        elem[0] = EVEN;
    }
}

fn may(elem: &[Word], p: Word) -> bool {
    elem[0] & p != 0
}

impl Parity {
    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("set(v)", Monotone, "becomes v", Put1(|_, x, v| x[0] = parity(v))),
        op("add(v)", Monotone, "plus v", Put1(|_, x, v| add(x, v))),
        op("mul(v)", Monotone, "times v", Put1(|_, x, v| multiply(x, v))),
        op("neg()", Monotone, "changes its sign", Do0(|_, _| ())),
        op("forget()", Monotone, "becomes anything", Do0(|_, x| x[0] = ANY)),
        op("assumeEven()", Monotone, "keep only even values", Do0(|_, x| x[0] &= EVEN)),
        op("assumeOdd()", Monotone, "keep only odd values", Do0(|_, x| x[0] &= ODD)),
        op("mayBeEven()", Monotone, "can it be even?", Is0(|_, x| may(x, EVEN))),
        op("mayBeOdd()", Monotone, "can it be odd?", Is0(|_, x| may(x, ODD))),
        op("mayBe(v)", Monotone, "can it be v?", Is1(|_, x, v| Ok(may(x, parity(v))))),
    ];
}

impl Domain for Parity {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        bits::subset(a, b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        bits::is_empty(a)
    }
}

impl Join for Parity {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::unite(a, b)
    }
}

impl Meet for Parity {
    fn top(&self, a: &mut [Word]) {
        a[0] = ANY;
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        bits::intersect(a, b)
    }
}

impl Lattice for Parity {
    from_method_table!(Parity);

    fn name(&self) -> String {
        "Parity".to_owned()
    }

    fn width(&self) -> usize {
        1
    }

    fn is_element(&self, words: &[Word]) -> bool {
        words[0] <= ANY
    }

    fn initial(&self, out: &mut [Word]) {
        out[0] = EVEN;
    }

    fn bottom(&self, out: &mut [Word]) {
        out[0] = 0;
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["⊥", "even", "odd", "⊤"][elem[0] as usize])
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        out[0] = random() & ANY;
    }
}
