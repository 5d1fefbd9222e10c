//! Linear temporal logic: formulas become automata.

pub mod translate;
