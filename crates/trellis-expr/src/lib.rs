//! Typed terms and statements: the one expression language behind UPPAAL data, AltaRica, CFA, XSTS, C and LTL atoms.
//!
//! Terms are hash-consed in an arena ([`Terms`]): a [`TermId`] is a `u32`, equal terms have equal ids. Statements live
//! beside them. A term may *fault* when evaluated (division by zero, an index or value out of range): evaluation
//! answers with a [`Fault`], and no rewriting may hide one. Conjunction, disjunction and `ite` evaluate from left to
//! right and stop early, as every source language of ours does.
//!
//! A valuation gives each variable a value of its type. Assigning or storing what is out of range is a fault, so it
//! stays that way, and a check that the range makes superfluous may be left out.
//!
//! Rooms: `term` and `stmt` (what there is), `build` (how terms are made), `value` and `eval` (the reference meaning,
//! big integers), `ternary` and `partial` (partial valuations), `ranges` (what ranges decide), `subst`, `simplify`, `print`, `defined` (where a term does not fault), `ssa`
//! and `transform` (statements as formulas, pre- and postconditions), `code` (compiled evaluation on flat `i64` memory for
//! hot loops), `fault` (what can go wrong). There is no solver here, and no parser.

mod build;
pub mod code;
pub mod defined;
pub mod eval;
pub mod fault;
pub mod partial;
pub mod print;
pub mod ranges;
pub mod simplify;
pub mod ssa;
pub mod stmt;
pub mod subst;
pub mod term;
pub mod ternary;
pub mod transform;
pub mod value;

pub use fault::Fault;
pub use stmt::{Stmt, StmtId};
pub use term::{BitOp, Division, EnumId, FnId, Term, TermId, Terms, Type, TypeId, VarId};
pub use value::Value;
