//! The lattice library: every lattice that a model can bring in with `extern NAME` (000 §2).
//!
//! An element is a fixed number of machine words, whatever the lattice: states can then lie side by side in flat
//! memory, be hashed and copied without knowing what they mean, and a part of an element (one entry of a vector,
//! one side of a product) is simply a sub-slice. Words are canonical: two elements are equal iff their words are.

use std::fmt;

use crate::{Domain, Join, Meet};

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
