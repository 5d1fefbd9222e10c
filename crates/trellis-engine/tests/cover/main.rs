//! Hierarchies on relations: the counts of the thesis, and random hierarchies against the plain interpreter.

mod ctl;
mod cuts;
mod draw;
#[path = "../../../trellis-cli/src/bench/families.rs"]
mod families;
mod figures;
mod formulas;
mod mec;
mod models;
mod network;
mod orders;
mod random;
mod relations;
mod siblings;
mod solver;
mod supers;
#[path = "../it/tableau.rs"]
mod tableau;
mod tree;
mod vectors;
mod walks;

use trellis_domain::relation::Memory;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_syntax::altarica::{Built, parse};
use trellis_syntax::diag::{Sources, render};

/// A model, and a condition over its top node.
fn read(text: &str, condition: &str) -> (Built, trellis_expr::TermId) {
    let mut sources = Sources::default();
    let id = sources.add("model.alt", text);
    let fail = |d: Vec<_>, s: &Sources| -> ! { panic!("{}\n{text}", render(&d, s, false)) };
    let (file, _) = parse(&sources, id).unwrap_or_else(|d| fail(d, &sources));
    let nodes = file.nodes();
    let (mut built, _) = file.build(nodes[nodes.len() - 1], &[]).unwrap_or_else(|d| fail(d, &sources));
    let id = sources.add("condition", condition);
    let bad = built.query(&sources, id).unwrap_or_else(|d| fail(d, &sources));
    (built, bad)
}

fn symbolic(built: &Built) -> Symbolic {
    Symbolic::new(&built.hierarchy, 2, Memory { nodes: 1 << 22, cache: 1 << 16 }).expect("small")
}
