//! The parsers, from outside: what it reads, what it makes of it, and how it takes bad input.

mod altarica;
mod build;
mod cfa;
mod declarations;
mod diagnostics;
mod expressions;
mod limits;
mod malformed;
mod models;
mod nets;
mod old_syntax;
mod pnml;
mod queries;
mod random;
mod show;
mod spec;
mod tchecker;
mod xml;
