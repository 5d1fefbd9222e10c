//! The syntax tree of a TChecker model, as written: names unresolved, nothing checked.
//!
//! Expressions are those of [`crate::uppaal::ast`], of which this language uses a small part: one lowering serves the
//! model and the queries, which are UPPAAL's.

pub use crate::uppaal::ast::{Expr, Ident};

use crate::diag::Span;

/// A whole model.
#[derive(Debug, Clone)]
pub struct Ast {
    /// `system:name`
    pub system: Ident,
    /// The other declarations, in order: what is used is declared before.
    pub decls: Vec<Decl>,
}

/// A number and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// The value; it fits 32 bits.
    pub value: i64,
    /// Its place.
    pub span: Span,
}

/// A declaration.
#[derive(Debug, Clone)]
pub enum Decl {
    /// `event:name`
    Event(Ident),
    /// `process:name`
    Process(Ident),
    /// `clock:size:name`
    Clock(Number, Ident),
    /// `int:size:min:max:init:name`
    Int(Box<IntDecl>),
    /// `location:process:name{…}`
    Location(Box<Location>),
    /// `edge:process:source:target:event{…}`
    Edge(Box<Edge>),
    /// `sync:P@a:Q@b?`
    Sync(Vec<SyncPart>, Span),
}

/// `int:size:min:max:init:name`
#[derive(Debug, Clone)]
pub struct IntDecl {
    /// How many cells; 1 is no array.
    pub size: Number,
    /// The least value.
    pub min: Number,
    /// The greatest value.
    pub max: Number,
    /// The first value.
    pub init: Number,
    /// The name.
    pub name: Ident,
}

/// `location:process:name{initial: : invariant: e : labels: a, b : committed: : urgent:}`
#[derive(Debug, Clone)]
pub struct Location {
    /// Of which process.
    pub process: Ident,
    /// The name.
    pub name: Ident,
    /// Where `initial:` stands, if it does.
    pub initial: Option<Span>,
    /// `committed:`
    pub committed: bool,
    /// `urgent:`
    pub urgent: bool,
    /// `invariant:`
    pub invariant: Option<Expr>,
    /// `labels:`
    pub labels: Vec<Ident>,
}

/// `edge:process:source:target:event{provided: e : do: s}`
#[derive(Debug, Clone)]
pub struct Edge {
    /// Of which process.
    pub process: Ident,
    /// From.
    pub source: Ident,
    /// To.
    pub target: Ident,
    /// As what.
    pub event: Ident,
    /// `provided:`
    pub guard: Option<Expr>,
    /// `do:`
    pub update: Vec<Stmt>,
    /// Where it stands.
    pub span: Span,
}

/// `P@a?`
#[derive(Debug, Clone)]
pub struct SyncPart {
    /// The process.
    pub process: Ident,
    /// Its event.
    pub event: Ident,
    /// `?`
    pub weak: bool,
}

/// A statement.
#[derive(Debug, Clone)]
pub enum Stmt {
    /// `x = e`, `a[i] = e`
    Assign {
        /// What is set.
        target: Expr,
        /// To what.
        value: Expr,
    },
    /// `if c then a else b end`
    If {
        /// If.
        cond: Expr,
        /// Then.
        then: Vec<Stmt>,
        /// Else.
        els: Vec<Stmt>,
    },
    /// `while c do a end`
    While {
        /// While.
        cond: Expr,
        /// The statement that is repeated or guarded.
        body: Vec<Stmt>,
    },
    /// `local v`, `local v = e`, `local v[n]`
    Local {
        /// The name.
        name: Ident,
        /// How many cells, if it is an array.
        size: Option<Expr>,
        /// Its first value; 0 otherwise.
        init: Option<Expr>,
    },
    /// `nop`
    Nop,
}
