//! The flat lattice of integers: nothing, one known value, or anything (002 §3.2.1, explicit value
//! abstraction, for one variable).
//!
//! An element stands for a set of integers: ⊥ for none, a number for itself, ⊤ for all. `a ⊑ b` iff the set of `a` is
//! part of the set of `b`; two different numbers join to ⊤. Larger means less is known, hence more behaviour.
//! Initially 0, like any integer of a model. A result beyond 64 bits is ⊤. It does not keep two values apart: use
//! `Interval`, or do not join.
//!
//! | method | | |
//! |---|---|---|
//! | `set(v)` | becomes v | monotone |
//! | `add(v)`, `mul(v)` | arithmetic with a number | monotone |
//! | `forget()` | becomes ⊤ | monotone |
//! | `assume(v)` | keep only the value v | monotone |
//! | `assumeNot(v)` | drop the value v | monotone |
//! | `mayBe(v)` | can it be v? | monotone |
//! | `mayBeLess(v)`, `mayBeGreater(v)` | can it be less, greater than v? | monotone |
//! | `isTop()` | is nothing known? | monotone |
//! | `mustBe(v)` | is it v, or impossible? | **antitone** |

use std::fmt;

use super::method::{Body::*, Op, Trend::*, from_method_table, op};
use super::{Lattice, Shape, Word};
use crate::{Domain, Join, Meet};

/// Nothing, one value or any; see the [module](self).
#[derive(Debug, Clone)]
pub struct Flat;

/// An element, decoded. In memory: a tag (0, 1, 2), then the value or 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Bottom,
    Known(i64),
    Top,
}
use Value::{Bottom, Known, Top};

fn read(elem: &[Word]) -> Value {
    match elem[0] {
        0 => Bottom,
        1 => Known(elem[1] as i64),
        _ => Top,
    }
}

fn write(elem: &mut [Word], value: Value) {
    let (tag, payload) = match value {
        Bottom => (0, 0),
        Known(v) => (1, v as Word),
        Top => (2, 0),
    };
    elem[0] = tag;
    elem[1] = payload;
}

/// Replaces a known value; `None` means that the result does not fit.
fn map(elem: &mut [Word], f: impl Fn(i64) -> Option<i64>) {
    if let Known(v) = read(elem) {
        write(elem, f(v).map_or(Top, Known));
    }
}

/// Is there a value for which `test` holds?
fn may(elem: &[Word], test: impl Fn(i64) -> bool) -> bool {
    match read(elem) {
        Bottom => false,
        Known(v) => test(v),
        Top => true,
    }
}

fn multiply(elem: &mut [Word], v: i64) {
    if v == 0 && read(elem) == Top {
        write(elem, Known(0));
    }
    map(elem, |x| x.checked_mul(v));
}

fn assume_not(elem: &mut [Word], v: i64) {
    if read(elem) == Known(v) {
        write(elem, Bottom);
    }
}

impl Flat {
    fn assume(&self, elem: &mut [Word], v: i64) {
        let mut only = [0; 2];
        write(&mut only, Known(v));
        self.meet(elem, &only);
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("set(v)", Monotone, "becomes v", Put1(|_, x, v| write(x, Known(v)))),
        op("add(v)", Monotone, "plus v", Put1(|_, x, v| map(x, |x| x.checked_add(v)))),
        op("mul(v)", Monotone, "times v", Put1(|_, x, v| multiply(x, v))),
        op("forget()", Monotone, "nothing is known any more", Do0(|_, x| write(x, Top))),
        op("assume(v)", Monotone, "keep only the value v", Put1(|l, x, v| l.assume(x, v))),
        op("assumeNot(v)", Monotone, "drop the value v", Put1(|_, x, v| assume_not(x, v))),
        op("mayBe(v)", Monotone, "can it be v?", Is1(|_, x, v| Ok(may(x, |x| x == v)))),
        op("mayBeLess(v)", Monotone, "can it be less than v?", Is1(|_, x, v| Ok(may(x, |x| x < v)))),
        op("mayBeGreater(v)", Monotone, "can it be greater than v?", Is1(|_, x, v| Ok(may(x, |x| x > v)))),
        op("isTop()", Monotone, "is nothing known?", Is0(|_, x| read(x) == Top)),
        op("mustBe(v)", Antitone, "is it v, or impossible?", Is1(|_, x, v| Ok(!may(x, |x| x != v)))),
    ];
}

impl Domain for Flat {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        read(a) == Bottom || read(b) == Top || a == b
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        read(a) == Bottom
    }
}

impl Join for Flat {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        if self.leq(b, a) {
            return false;
        }
        write(a, if read(a) == Bottom { read(b) } else { Top });
        true
    }
}

impl Meet for Flat {
    fn top(&self, a: &mut [Word]) {
        write(a, Top);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        if self.leq(a, b) {
            return false;
        }
        write(a, if read(a) == Top { read(b) } else { Bottom });
        true
    }
}

impl Lattice for Flat {
    from_method_table!(Flat);

    fn name(&self) -> String {
        "Flat".to_owned()
    }

    fn width(&self) -> usize {
        2
    }

    fn is_element(&self, words: &[Word]) -> bool {
        words[0] == 1 || (matches!(words[0], 0 | 2) && words[1] == 0)
    }

    fn initial(&self, out: &mut [Word]) {
        write(out, Known(0));
    }

    fn bottom(&self, out: &mut [Word]) {
        write(out, Bottom);
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match read(elem) {
            Bottom => f.write_str("⊥"),
            Known(v) => write!(f, "{v}"),
            Top => f.write_str("⊤"),
        }
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        let value = match random() % 8 {
            0 => Bottom,
            1 => Top,
            2 => Known(random() as i64),
            _ => Known((random() % 7) as i64 - 3),
        };
        write(out, value);
    }
}
