//! Scripted lattices and strategies, as a model would use them.

mod lattices;
mod mistakes;
mod strategies;

use std::path::PathBuf;

use trellis_domain::script::ScriptLattice;
use trellis_order::{Lattice, Shown, Word};

/// An example script that the book shows.
fn example(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/lattice").join(file)
}

fn initial(lattice: &dyn Lattice) -> Vec<Word> {
    let mut out = vec![0; lattice.width()];
    lattice.initial(&mut out);
    out
}

fn bottom(lattice: &dyn Lattice) -> Vec<Word> {
    let mut out = vec![0; lattice.width()];
    lattice.bottom(&mut out);
    out
}

fn method(lattice: &dyn Lattice, name: &str) -> usize {
    lattice.methods().iter().position(|m| m.name == name).unwrap_or_else(|| panic!("no method {name}"))
}

/// The initial element after some updates.
fn after(lattice: &dyn Lattice, updates: &[(&str, &[i64])]) -> Vec<Word> {
    let mut elem = initial(lattice);
    for (name, args) in updates {
        lattice.update(method(lattice, name), &mut elem, args).unwrap();
    }
    elem
}

fn show(lattice: &ScriptLattice, elem: &[Word]) -> String {
    Shown(lattice, elem).to_string()
}

/// A script that is right, for tests that make one thing of it wrong.
fn interval(change: &str) -> String {
    format!(
        r#"lattice = {{
  state = {{ "lo", "hi" }},
  initial = {{ lo = 0, hi = 0 }},
  leq = function(a, b) return b.lo <= a.lo and a.hi <= b.hi end,
  join = function(a, b) return {{ lo = math.min(a.lo, b.lo), hi = math.max(a.hi, b.hi) }} end,
  show = function(a) return "[" .. a.lo .. ", " .. a.hi .. "]" end,
  queries = {{ width = function(a) return a.hi - a.lo end }},
  updates = {{ set = function(a, v) a.lo = v; a.hi = v end }},
}}
{change}
"#
    )
}
