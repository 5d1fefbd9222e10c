//! Sets of small numbers, 64 to a word: what the bit vectors, `Powerset` and `PresentAbsent` are made of. Bits beyond
//! the size are always 0, so that equal sets have equal words. Nothing here checks an index: callers do.

use std::fmt;

use super::Word;

const BITS: usize = Word::BITS as usize;

pub(super) fn words(n: usize) -> usize {
    n.div_ceil(BITS)
}

#[inline]
pub(super) fn get(set: &[Word], i: usize) -> bool {
    set[i / BITS] >> (i % BITS) & 1 == 1
}

#[inline]
pub(super) fn put(set: &mut [Word], i: usize, on: bool) {
    let bit = 1 << (i % BITS);
    if on {
        set[i / BITS] |= bit;
    } else {
        set[i / BITS] &= !bit;
    }
}

/// Are all members below `n`?
pub(super) fn fits(set: &[Word], n: usize) -> bool {
    n.is_multiple_of(BITS) || set.last().is_none_or(|last| last >> (n % BITS) == 0)
}

/// `set := {0, …, n-1}`.
pub(super) fn fill(set: &mut [Word], n: usize) {
    set.fill(Word::MAX);
    if !n.is_multiple_of(BITS)
        && let Some(last) = set.last_mut()
    {
        *last = (1 << (n % BITS)) - 1;
    }
}

pub(super) fn count(set: &[Word]) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}

pub(super) fn is_empty(set: &[Word]) -> bool {
    set.iter().all(|&word| word == 0)
}

#[inline]
pub(super) fn subset(a: &[Word], b: &[Word]) -> bool {
    a.iter().zip(b).all(|(a, b)| a & !b == 0)
}

/// `a := a ∪ b`; answers whether `a` changed.
#[inline]
pub(super) fn unite(a: &mut [Word], b: &[Word]) -> bool {
    let mut new = 0;
    for (a, b) in a.iter_mut().zip(b) {
        new |= b & !*a;
        *a |= b;
    }
    new != 0
}

/// `a := a ∩ b`; answers whether `a` changed.
#[inline]
pub(super) fn intersect(a: &mut [Word], b: &[Word]) -> bool {
    let mut gone = 0;
    for (a, b) in a.iter_mut().zip(b) {
        gone |= *a & !b;
        *a &= b;
    }
    gone != 0
}

pub(super) fn members(set: &[Word]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
        rest.take_while(|&word| word != 0).map(move |word| at * BITS + word.trailing_zeros() as usize)
    })
}

/// A random subset of `{0, …, n-1}`: sparse, dense or in between, for comparable sets are rare among half-full ones.
pub(super) fn sample(n: usize, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
    fill(out, n);
    let density = random() % 3;
    for word in out {
        let (x, y) = (random(), random());
        *word &= [x & y, x, x | y][density as usize];
    }
}

pub(super) fn show(set: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_set().entries(members(set)).finish()
}
