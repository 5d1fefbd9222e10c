//! What is known of a set-associative LRU cache (Alt, Ferdinand, Martin, Wilhelm 1996, which is reference 8 of 000;
//! used in 000 §2.3).
//!
//! Block b lives in set `b % sets`; each set holds the `ways` blocks used last. The *age* of a block is how many blocks
//! of its set were used since it was; at age `ways` it is out of the cache. An element bounds the age of every block:
//! - `LruMust(sets, ways, blocks)` from above. Join takes the greater age, so what stays below `ways` is in the cache
//!   for certain. `a ⊑ b` iff no age of `b` is less.
//! - `LruMay(sets, ways, blocks)` from below. Join takes the lesser age, so what is at `ways` is out of the cache for
//!   certain. `a ⊑ b` iff no age of `b` is greater.
//!
//! Larger means that less is known of the cache, which gives more behaviour. Initially the cache is empty. Elements
//! that no cache fits (two blocks of one set surely of age 0) are elements like any other. It does not model writing
//! back, prefetching or other ways to replace.
//!
//! | method | | |
//! |---|---|---|
//! | `access(b)` | block b is used | monotone |
//! | `flush()` | the cache is emptied | monotone |
//! | `forget()` | nothing is known any more | monotone |
//! | `isHit(b)` (must) | is b surely in the cache? | **antitone** |
//! | `mayMiss(b)` (must) | can b be out of it? | monotone |
//! | `isMiss(b)` (may) | is b surely out of the cache? | **antitone** |
//! | `mayHit(b)` (may) | can b be in it? | monotone |

use std::array::from_fn;
use std::fmt;

use super::method::{Body::*, Done, Op, Trend::*, Truth, from_method_table, index, op};
use super::{BuildError, Lattice, Shape, Word, check_size, draw_extreme};
use crate::{Domain, Join, Meet};

/// Upper bounds on ages; see the [module](self).
#[derive(Debug, Clone)]
pub struct LruMust(Cache);

/// Lower bounds on ages; see the [module](self).
#[derive(Debug, Clone)]
pub struct LruMay(Cache);

/// The shape of a cache, and its bounds in memory: one byte a block, eight a word; the last word's unused bytes are 0.
#[derive(Debug, Clone)]
struct Cache {
    sets: usize,
    ways: u8,
    blocks: usize,
}

const PER_WORD: usize = size_of::<Word>();

impl Cache {
    fn new(sets: usize, ways: usize, blocks: usize) -> Result<Self, BuildError> {
        check_size("sets", sets, PER_WORD)?;
        check_size("blocks", blocks, PER_WORD)?;
        match u8::try_from(ways) {
            Ok(ways @ 1..) => Ok(Self { sets, ways, blocks }),
            _ => Err(BuildError::Size(format!("the number of ways must be between 1 and 255, not {ways}"))),
        }
    }

    fn width(&self) -> usize {
        self.blocks.div_ceil(PER_WORD)
    }

    fn is_element(&self, words: &[Word]) -> bool {
        let used = (0..self.blocks).all(|block| self.age(words, block) <= self.ways);
        let beyond = self.blocks..words.len() * PER_WORD;
        used && beyond.into_iter().all(|byte| words[byte / PER_WORD].to_le_bytes()[byte % PER_WORD] == 0)
    }

    fn age(&self, elem: &[Word], block: usize) -> u8 {
        elem[block / PER_WORD].to_le_bytes()[block % PER_WORD]
    }

    fn set_age(&self, elem: &mut [Word], block: usize, age: u8) {
        let mut bytes = elem[block / PER_WORD].to_le_bytes();
        bytes[block % PER_WORD] = age;
        elem[block / PER_WORD] = Word::from_le_bytes(bytes);
    }

    fn set_all(&self, elem: &mut [Word], age: u8) {
        (0..self.blocks).for_each(|block| self.set_age(elem, block, age));
    }

    fn is_out(&self, elem: &[Word], b: i64) -> Truth {
        Ok(self.age(elem, index("block", b, self.blocks)?) == self.ways)
    }

    /// Makes `b` the youngest of its set; the blocks that `ages` choices, given their bound and that of `b`, age by one.
    fn access(&self, elem: &mut [Word], b: i64, ages: impl Fn(u8, u8) -> bool) -> Done {
        let b = index("block", b, self.blocks)?;
        let old = self.age(elem, b);
        for other in (b % self.sets..self.blocks).step_by(self.sets) {
            let age = self.age(elem, other);
            if age < self.ways && ages(age, old) {
                self.set_age(elem, other, age + 1);
            }
        }
        self.set_age(elem, b, 0);
        Ok(())
    }

    /// The blocks that may or must be in the cache, with their bounds.
    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aged = (0..self.blocks).map(|block| (block, self.age(elem, block)));
        f.debug_map().entries(aged.filter(|&(_, age)| age < self.ways)).finish()
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        for block in 0..self.blocks {
            let age = random() % (u64::from(self.ways) + 1);
            self.set_age(out, block, age as u8);
        }
    }
}

/// Applies `f` to every pair of bytes.
fn zip_bytes(a: Word, b: Word, f: impl Fn(u8, u8) -> u8) -> Word {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    Word::from_le_bytes(from_fn(|i| f(a[i], b[i])))
}

/// Are all bytes of `a` at most those of `b`?
fn at_most(a: &[Word], b: &[Word]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| zip_bytes(a, b, u8::max) == b)
}

/// Combines byte by byte into `a`; answers whether `a` changed.
fn combine(a: &mut [Word], b: &[Word], f: fn(u8, u8) -> u8) -> bool {
    let mut changed = 0;
    for (a, &b) in a.iter_mut().zip(b) {
        let new = zip_bytes(*a, b, f);
        changed |= *a ^ new;
        *a = new;
    }
    changed != 0
}

impl LruMust {
    /// Caches of `sets` sets of `ways` blocks each, for a memory of `blocks` blocks.
    pub fn new(sets: usize, ways: usize, blocks: usize) -> Result<Self, BuildError> {
        Cache::new(sets, ways, blocks).map(Self)
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        // A block that is older than b for certain keeps its age.
        op("access(b)", Monotone, "block b is used", Do1(|l, x, b| l.0.access(x, b, |age, old| age < old))),
        op("flush()", Monotone, "the cache is emptied", Do0(|l, x| l.0.set_all(x, l.0.ways))),
        op("forget()", Monotone, "nothing is known any more", Do0(|l, x| l.0.set_all(x, l.0.ways))),
        op("isHit(b)", Antitone, "is b surely in?", Is1(|l, x, b| Ok(!l.0.is_out(x, b)?))),
        op("mayMiss(b)", Monotone, "can b be out?", Is1(|l, x, b| l.0.is_out(x, b))),
    ];
}

impl LruMay {
    /// Caches of `sets` sets of `ways` blocks each, for a memory of `blocks` blocks.
    pub fn new(sets: usize, ways: usize, blocks: usize) -> Result<Self, BuildError> {
        Cache::new(sets, ways, blocks).map(Self)
    }

    #[rustfmt::skip]
    pub(super) const METHODS: &'static [Op<Self>] = &[
        // A block with the bound of b ages too: no two blocks have the same age, so it was younger or is older still.
        op("access(b)", Monotone, "block b is used", Do1(|l, x, b| l.0.access(x, b, |age, old| age <= old))),
        op("flush()", Monotone, "the cache is emptied", Do0(|l, x| l.0.set_all(x, l.0.ways))),
        op("forget()", Monotone, "nothing is known any more", Do0(|l, x| l.0.set_all(x, 0))),
        op("isMiss(b)", Antitone, "is b surely out?", Is1(|l, x, b| l.0.is_out(x, b))),
        op("mayHit(b)", Monotone, "can b be in?", Is1(|l, x, b| Ok(!l.0.is_out(x, b)?))),
    ];
}

impl Domain for LruMust {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        at_most(a, b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        a.iter().all(|&word| word == 0)
    }
}

impl Domain for LruMay {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        at_most(b, a)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        (0..self.0.blocks).all(|block| self.0.age(a, block) == self.0.ways)
    }
}

impl Join for LruMust {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        combine(a, b, u8::max)
    }
}

impl Join for LruMay {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        combine(a, b, u8::min)
    }
}

impl Meet for LruMust {
    fn top(&self, a: &mut [Word]) {
        a.fill(0);
        self.0.set_all(a, self.0.ways);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        combine(a, b, u8::min)
    }
}

impl Meet for LruMay {
    fn top(&self, a: &mut [Word]) {
        a.fill(0);
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        combine(a, b, u8::max)
    }
}

macro_rules! lru_lattice {
    ($lattice:ident, $bottom_age:expr) => {
        impl Lattice for $lattice {
            from_method_table!($lattice);

            fn name(&self) -> String {
                format!(concat!(stringify!($lattice), "({}, {}, {})"), self.0.sets, self.0.ways, self.0.blocks)
            }

            fn width(&self) -> usize {
                self.0.width()
            }

            fn is_element(&self, words: &[Word]) -> bool {
                self.0.is_element(words)
            }

            fn initial(&self, out: &mut [Word]) {
                out.fill(0);
                self.0.set_all(out, self.0.ways);
            }

            fn bottom(&self, out: &mut [Word]) {
                out.fill(0);
                self.0.set_all(out, $bottom_age(&self.0));
            }

            fn shape(&self) -> Shape<'_> {
                Shape::Leaf
            }

            fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.show(elem, f)
            }

            fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
                if !draw_extreme(self, random, out) {
                    out.fill(0);
                    self.0.sample(random, out);
                }
            }
        }
    };
}

lru_lattice!(LruMust, |_: &Cache| 0);
lru_lattice!(LruMay, |cache: &Cache| cache.ways);
