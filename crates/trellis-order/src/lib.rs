//! Partial orders and lattices: the traits every abstract domain speaks, the laws they must obey, and the
//! library of lattices a model may name (000 §2 and App. A, 002 Ch. 3).
//!
//! `a ⊑ b` always means: every state of `a` is a state of `b`; a larger element has more behaviour. Elements are
//! plain data; the *domain* is a value that knows how to compare them (it may hold a size, a table, a script).
//! This order is never Rust's `PartialOrd`: two elements are comparable only in the eyes of a domain.
//!
//! This crate deliberately knows nothing of models, engines or file formats.

pub mod lattice;
pub mod laws;

pub use lattice::{BuildError, Composition, Lattice, Method, MethodError, MethodKind, Shape, Shown, Trend, Word};

/// A set of elements with a partial order.
pub trait Domain {
    /// What is compared. Often unsized (a slice of words), so that elements can live in arenas.
    type Elem: ?Sized;

    /// `a ⊑ b`: all behaviour of `a` is behaviour of `b`.
    fn leq(&self, a: &Self::Elem, b: &Self::Elem) -> bool;

    /// Is `a` the least element?
    fn is_bottom(&self, a: &Self::Elem) -> bool;
}

/// A domain with least upper bounds.
pub trait Join: Domain {
    /// `a := a ⊔ b`; answers whether `a` grew.
    fn join(&self, a: &mut Self::Elem, b: &Self::Elem) -> bool;
}

/// A domain with upper bounds that are reached in finitely many steps.
pub trait Widen: Join {
    /// `a := a ∇ b`, which is above both; answers whether `a` grew. However often this is done to the same `a`, with whatever `b`, it
    /// grows only finitely often.
    fn widen(&self, a: &mut Self::Elem, b: &Self::Elem) -> bool;
}

/// A domain with greatest lower bounds and a greatest element.
pub trait Meet: Domain {
    /// `a := ⊤`.
    fn top(&self, a: &mut Self::Elem);

    /// `a := a ⊓ b`; answers whether `a` shrank.
    fn meet(&self, a: &mut Self::Elem, b: &Self::Elem) -> bool;
}
