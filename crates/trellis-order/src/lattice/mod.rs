//! The lattice library: every lattice that a model can bring in with `extern NAME` (000 §2).
//!
//! An element is a fixed number of machine words, whatever the lattice: states can then lie side by side in flat
//! memory, be hashed and copied without knowing what they mean, and a part of an element (one entry of a vector,
//! one side of a product) is simply a sub-slice. Words are canonical: two elements are equal iff their words are.

use std::fmt;

use crate::{Domain, Join, Meet, Widen};

pub mod library;

pub mod bit_vector;
mod bits;
pub mod congruence;
pub mod extreme;
pub mod flat;
pub mod hasse;
pub mod interval;
pub mod lexicographic;
pub mod lru;
mod method;
pub mod multiset;
pub mod parity;
pub mod powerset;
pub mod present_absent;
pub mod product;
pub mod sign;
pub mod vector;

pub use bit_vector::{IntersectionBitVector, UnionBitVector};
pub use congruence::Congruence;
pub use extreme::{Max, Min};
pub use flat::Flat;
pub use hasse::{Bound, DiagramError, Hasse};
pub use interval::Interval;
pub use lexicographic::Lexicographic;
pub use lru::{LruMay, LruMust};
pub use method::{MethodDoc, Trend};
pub use multiset::Multiset;
pub use parity::Parity;
pub use powerset::Powerset;
pub use present_absent::PresentAbsent;
pub use product::{Part, Product};
pub use sign::Sign;
pub use vector::Vector;

/// The unit in which elements are stored.
pub type Word = u64;

/// A lattice whose elements are `width()` words: what a model's lattice variable ranges over.
///
/// `Lattice` is used as a trait object (`Arc<dyn Lattice>`): which lattices a model uses is known only when it is
/// read, and one of them may be the user's own script.
pub trait Lattice: Domain<Elem = [Word]> + Join + fmt::Debug + Send + Sync {
    /// How this lattice is written in a model, for messages: `UnionBitVector(8)`.
    fn name(&self) -> String;

    /// Words per element.
    fn width(&self) -> usize;

    /// Are these words (`width()` of them) an element? Evidence that is read back may hold any words; nothing else here
    /// is ever asked about words that are none.
    fn is_element(&self, words: &[Word]) -> bool;

    /// The value of a variable that the model does not initialise.
    fn initial(&self, out: &mut [Word]);

    /// The least element.
    fn bottom(&self, out: &mut [Word]);

    /// What guards and updates may call. The position in this slice is the method's number.
    fn methods(&self) -> &[Method];

    /// Calls a method of kind [`MethodKind::Query`].
    fn query(&self, method: usize, elem: &[Word], args: &[i64]) -> Result<i64, MethodError>;

    /// Calls a method of kind [`MethodKind::Update`].
    fn update(&self, method: usize, elem: &mut [Word], args: &[i64]) -> Result<(), MethodError>;

    /// What `x[i]` and `x.name` mean for an element `x`.
    fn shape(&self) -> Shape<'_>;

    /// Writes an element as a reader would like to see it: `{1, 3}`, `[2, 5]`, `even`.
    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Some element, chosen by the random numbers in `random`. Audits and the law suite draw from it, so it must be
    /// able to produce every kind of element (bottom and top among them).
    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]);

    /// The lattice's meet, if it has one (a user's script may define only `leq` and `join`).
    fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>>;

    /// The lattice's widening, if chains of it may be infinite (or very long): elements that grow again and again are widened then.
    fn as_widen(&self) -> Option<&dyn Widen<Elem = [Word]>> {
        None
    }

    /// Whether `x[i]` (see [`Shape::Bits`]) is simply bit `i % 64` of word `i / 64`, so that hot loops may read and write it
    /// without a call.
    fn packed_bits(&self) -> bool {
        false
    }

    /// If `a ⊑ b` is, word by word, `(a ^ f) & !(b ^ f) == 0` for some `f` (and a join `((a ^ f) | (b ^ f)) ^ f`): that `f`.
    /// So it is for sets of packed bits; hot loops may then compare without a call.
    fn subset_order(&self) -> Option<Word> {
        None
    }

    /// What went wrong in `leq` or `join`, which cannot fail: a script's run-time error, say. If there is something, no
    /// answer that rests on this lattice counts.
    fn failure(&self) -> Option<String> {
        None
    }

    /// How the order of elements follows from the orders of their parts ([`Shape::Vector`], [`Shape::Fields`]).
    fn composition(&self) -> Composition {
        Composition::Unknown
    }

    /// Are the marks of the methods ([`Method::trend`]) and the laws of the order known to hold? Those of the library are
    /// tested exhaustively on small sizes; those of a user's script are declared by the user, and only sampled.
    fn is_vouched_for(&self) -> bool {
        false
    }

    /// Names that a model may write where a method of this lattice wants an integer: the i-th name stands for i.
    /// `level.set(high)` means `level.set(2)` if `high` is the name at position 2. Most lattices have none.
    fn names(&self) -> &[String] {
        &[]
    }
}

/// `a := a ∇ b`, or their join where the lattice has no widening; answers whether `a` grew.
pub fn widen(lattice: &dyn Lattice, a: &mut [Word], b: &[Word]) -> bool {
    match lattice.as_widen() {
        Some(by) => by.widen(a, b),
        None => lattice.join(a, b),
    }
}

/// A method that a model can call on a lattice variable: `pool.num1s()`, `cache.access(3)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// The name in the model.
    pub name: String,
    /// How many integer arguments it takes.
    pub args: usize,
    /// Whether it asks or changes.
    pub kind: MethodKind,
    /// Its mark: how the result moves when the element grows.
    pub trend: Trend,
    /// Whether its result is 0 or 1 and nothing else.
    pub truth: bool,
}

/// Whether a method asks or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodKind {
    /// Returns an integer (a truth value is 0 or 1) and changes nothing.
    Query,
    /// Changes the element and returns nothing.
    Update,
}

/// A method was called outside its domain (an index beyond the vector, say): an error of the model, not of Trellis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MethodError(pub String);

/// A lattice that cannot be built as asked: an error of the model, with what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// There is no lattice of this name.
    #[error("there is no lattice `{name}` in the library; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The arguments do not fit the lattice.
    #[error("{problem}; write {usage}")]
    Arguments {
        /// What is wrong.
        problem: String,
        /// What would be right.
        usage: &'static str,
    },
    /// A size is zero, too large, or otherwise impossible.
    #[error("{0}")]
    Size(String),
    /// A Hasse diagram that does not describe a lattice.
    #[error(transparent)]
    Diagram(#[from] DiagramError),
    /// Two parts of a product have the same name.
    #[error("two fields are called `{0}`")]
    SameField(String),
}

/// The most words an element may have: 2^24 bits. Far beyond use; it keeps absurd sizes from exhausting memory.
pub const MAX_WIDTH: usize = (1 << 24) / Word::BITS as usize;

/// Checks that `n` things, `per_word` of which fit in a word, fit in an element.
fn check_size(what: &str, n: usize, per_word: usize) -> Result<(), BuildError> {
    let most = MAX_WIDTH * per_word;
    if (1..=most).contains(&n) {
        Ok(())
    } else {
        Err(BuildError::Size(format!("the number of {what} must be between 1 and {most}, not {n}")))
    }
}

/// Now and then draws an extreme element, so that samples contain them however large the lattice is. Answers
/// whether it did.
fn draw_extreme(lattice: &dyn Lattice, random: &mut dyn FnMut() -> u64, out: &mut [Word]) -> bool {
    match (random() % 12, lattice.as_meet()) {
        (0, _) => lattice.bottom(out),
        (1, _) => lattice.initial(out),
        (2, Some(meet)) => meet.top(out),
        _ => return false,
    }
    true
}

/// How the order of a lattice follows from the orders of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Composition {
    /// Nobody says.
    Unknown,
    /// `a ⊑ b` iff each part of `a` is below the same part of `b`.
    Pointwise,
    /// `a ⊑ b` iff the first part of `a` is strictly below that of `b`, or they are equal and the second part of `a` is
    /// below that of `b`.
    FirstDecides,
}

/// How an element is put together, as far as a model can see.
pub enum Shape<'a> {
    /// Nothing inside; only methods.
    Leaf,
    /// `x[i]` is a bit, read as 0 or 1; `x[i] = b` sets it. Methods number 0 and 1 of the lattice must be
    /// `get(i)` (query) and `set(i, b)` (update).
    Bits(usize),
    /// `x[i]` is an element of another lattice, `len` of them side by side.
    Vector(usize, &'a std::sync::Arc<dyn Lattice>),
    /// `x.name` is an element of another lattice that starts at the given word.
    Fields(&'a [(String, usize, std::sync::Arc<dyn Lattice>)]),
}

/// Formats an element of a lattice with `{}`.
pub struct Shown<'a>(pub &'a dyn Lattice, pub &'a [Word]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(self.1, f)
    }
}
