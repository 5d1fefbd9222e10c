//! The UPPAAL language, as XML (`nta`, flat DTDs 1.1–1.6) and as text (`.xta`, `.ta`, queries in `.q`), with the
//! `extern` lattice types of 000. Both spellings give the one syntax tree of [`ast`].
//!
//! [`parse_xml`], [`parse_xta`], [`parse_queries`] and [`parse_expr`] read; they return what they could make of the text
//! together with what is wrong with it. Names, types and templates are the business of the builder.

pub mod ast;
pub mod build;
pub mod lexer;
pub mod parser;
pub mod text;
pub mod token;
pub mod xml;

pub use parser::{parse_expr, parse_queries, parse_xta};
pub use xml::parse_xml;
