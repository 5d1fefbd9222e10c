//! Intervals of integers, either end of which may be infinite (in none of the papers; Cousot and
//! Cousot 1977).
//!
//! An element is ⊥ (no value) or `[lo, hi]`; `a ⊑ b` iff every value of `a` is one of `b`; join is the smallest
//! interval around both. Wider means more behaviour. Initially [0, 0], like any integer of a model. Integers are
//! mathematical: an end that leaves 64 bits becomes infinite. Explorations of networks join and do not widen: a loop that
//! counts up grows an interval forever unless the model bounds it.
//!
//! | method | | |
//! |---|---|---|
//! | `set(v)` | becomes v | monotone |
//! | `range(lo, hi)` | becomes any value from lo to hi | monotone |
//! | `add(v)`, `mul(v)` | arithmetic with a number | monotone |
//! | `neg()` | changes its sign | monotone |
//! | `forget()` | becomes anything | monotone |
//! | `assume(v)`, `assumeLess(v)`, `assumeGreater(v)` | keep only these values | monotone |
//! | `mayBe(v)`, `mayBeLess(v)`, `mayBeGreater(v)` | is there such a value? | monotone |
//! | `max()` | the upper end (infinite: the greatest integer; ⊥: the least) | monotone |
//! | `min()` | the lower end (infinite: the least integer; ⊥: the greatest) | **antitone** |

use std::fmt;

use super::method::{Body::*, Done, Op, Trend::*, from_method_table, op};
use super::{Lattice, MethodError, Shape, Word, draw_extreme};
use crate::{Domain, Join, Meet, Widen};

/// Intervals; see the [module](self). In memory: the lower end, the upper end; ⊥ is `EMPTY` and nothing else.
#[derive(Debug, Clone)]
pub struct Interval;

/// A lower end of −∞. As an upper end the same number is just the number.
const MINUS_INFINITY: i64 = i64::MIN;
/// An upper end of +∞. As a lower end the same number is just the number.
const PLUS_INFINITY: i64 = i64::MAX;
/// ⊥: chosen so that the order, join and meet below need not treat it specially.
const EMPTY: (i64, i64) = (i64::MAX, i64::MIN);

fn read(elem: &[Word]) -> (i64, i64) {
    (elem[0] as i64, elem[1] as i64)
}

/// Writes an interval; whatever is empty becomes `EMPTY`.
fn write(elem: &mut [Word], (lo, hi): (i64, i64)) {
    let (lo, hi) = if lo <= hi { (lo, hi) } else { EMPTY };
    elem[0] = lo as Word;
    elem[1] = hi as Word;
}

/// Replaces a non-empty interval.
fn map(elem: &mut [Word], f: impl Fn(i64, i64) -> (i64, i64)) {
    let (lo, hi) = read(elem);
    if lo <= hi {
        write(elem, f(lo, hi));
    }
}

fn add(elem: &mut [Word], v: i64) {
    map(elem, |lo, hi| {
        (
            if lo == MINUS_INFINITY { lo } else { lo.saturating_add(v) },
            if hi == PLUS_INFINITY { hi } else { hi.saturating_add(v) },
        )
    })
}

fn multiply(elem: &mut [Word], v: i64) {
    let times = |end: i64| {
        let exact = i128::from(end) * i128::from(v);
        exact.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    };
    map(elem, |lo, hi| match v {
        0 => (0, 0),
        1.. => (times(lo), times(hi)),
        // -∞ is i64::MIN, but minus +∞ would come out one greater than it.
        ..0 => (if hi == PLUS_INFINITY { MINUS_INFINITY } else { times(hi) }, times(lo)),
    })
}

fn range(elem: &mut [Word], lo: i64, hi: i64) -> Done {
    if lo > hi {
        return Err(MethodError(format!("range({lo}, {hi}) is empty: the lower end comes first")));
    }
    write(elem, (lo, hi));
    Ok(())
}

fn may_be(elem: &[Word], v: i64) -> bool {
    let (lo, hi) = read(elem);
    lo <= v && v <= hi
}

fn may_be_less(elem: &[Word], v: i64) -> bool {
    let (lo, hi) = read(elem);
    lo <= hi && (lo < v || lo == MINUS_INFINITY)
}

fn may_be_greater(elem: &[Word], v: i64) -> bool {
    let (lo, hi) = read(elem);
    lo <= hi && (hi > v || hi == PLUS_INFINITY)
}

fn keep(elem: &mut [Word], lo: i64, hi: i64) {
    map(elem, |l, h| (l.max(lo), h.min(hi)));
}

fn keep_less(elem: &mut [Word], v: i64) {
    keep(elem, MINUS_INFINITY, v.saturating_sub(1));
}

fn keep_greater(elem: &mut [Word], v: i64) {
    keep(elem, v.saturating_add(1), PLUS_INFINITY);
}

impl Interval {
    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        op("set(v)", Monotone, "becomes v", Put1(|_, x, v| write(x, (v, v)))),
        op("range(lo, hi)", Monotone, "becomes any value from lo to hi", Do2(|_, x, lo, hi| range(x, lo, hi))),
        op("add(v)", Monotone, "plus v", Put1(|_, x, v| add(x, v))),
        op("mul(v)", Monotone, "times v", Put1(|_, x, v| multiply(x, v))),
        op("neg()", Monotone, "changes its sign", Do0(|_, x| multiply(x, -1))),
        op("forget()", Monotone, "becomes anything", Do0(|l, x| l.top(x))),
        op("assume(v)", Monotone, "keep only the value v", Put1(|_, x, v| keep(x, v, v))),
        op("assumeLess(v)", Monotone, "keep only values less than v", Put1(|_, x, v| keep_less(x, v))),
        op("assumeGreater(v)", Monotone, "keep only values greater than v", Put1(|_, x, v| keep_greater(x, v))),
        op("mayBe(v)", Monotone, "can it be v?", Is1(|_, x, v| Ok(may_be(x, v)))),
        op("mayBeLess(v)", Monotone, "can it be less than v?", Is1(|_, x, v| Ok(may_be_less(x, v)))),
        op("mayBeGreater(v)", Monotone, "can it be greater than v?", Is1(|_, x, v| Ok(may_be_greater(x, v)))),
        op("max()", Monotone, "the upper end", Num0(|_, x| read(x).1)),
        op("min()", Antitone, "the lower end", Num0(|_, x| read(x).0)),
    ];
}

impl Domain for Interval {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (read(a), read(b));
        b_lo <= a_lo && a_hi <= b_hi
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        read(a) == EMPTY
    }
}

impl Join for Interval {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (read(a), read(b));
        write(a, (a_lo.min(b_lo), a_hi.max(b_hi)));
        b_lo < a_lo || b_hi > a_hi
    }
}

impl Widen for Interval {
    /// An end that moves goes to infinity.
    fn widen(&self, a: &mut [Word], b: &[Word]) -> bool {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (read(a), read(b));
        if a_lo > a_hi {
            return self.join(a, b);
        }
        write(a, (if b_lo < a_lo { MINUS_INFINITY } else { a_lo }, if b_hi > a_hi { PLUS_INFINITY } else { a_hi }));
        b_lo < a_lo || b_hi > a_hi
    }
}

impl Meet for Interval {
    fn top(&self, a: &mut [Word]) {
        write(a, (MINUS_INFINITY, PLUS_INFINITY));
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (read(a), read(b));
        write(a, (a_lo.max(b_lo), a_hi.min(b_hi)));
        b_lo > a_lo || b_hi < a_hi
    }
}

impl Lattice for Interval {
    from_method_table!(Interval);

    fn as_widen(&self) -> Option<&dyn Widen<Elem = [Word]>> {
        Some(self)
    }

    fn name(&self) -> String {
        "Interval".to_owned()
    }

    fn width(&self) -> usize {
        2
    }

    fn is_element(&self, words: &[Word]) -> bool {
        let (lo, hi) = read(words);
        lo <= hi || (lo, hi) == EMPTY
    }

    fn initial(&self, out: &mut [Word]) {
        write(out, (0, 0));
    }

    fn bottom(&self, out: &mut [Word]) {
        write(out, EMPTY);
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lo, hi) = read(elem);
        if lo > hi {
            return f.write_str("⊥");
        }
        match lo {
            MINUS_INFINITY => f.write_str("(-∞, ")?,
            _ => write!(f, "[{lo}, ")?,
        }
        match hi {
            PLUS_INFINITY => f.write_str("∞)"),
            _ => write!(f, "{hi}]"),
        }
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if draw_extreme(self, random, out) {
            return;
        }
        let mut end = || match random() % 12 {
            0 => i64::MIN,
            1 => i64::MAX,
            2 => random() as i64,
            _ => (random() % 9) as i64 - 4,
        };
        let (x, y) = (end(), end());
        write(out, (x.min(y), x.max(y)));
    }
}
