//! The library's lattices against the laws, and against plain models of what they abstract.

mod faults;
mod hasse;
mod laws;
mod library;
mod lru;
mod numbers;
mod sets;
mod typed;

use std::sync::Arc;

use trellis_order::lattice::library::{Arg, build};
use trellis_order::{Lattice, MethodError, Shown, Word};

/// A lattice of numbers: `lattice("UnionBitVector", &[8])`.
fn lattice(name: &str, sizes: &[i64]) -> Arc<dyn Lattice> {
    let args: Vec<Arg> = sizes.iter().map(|&n| Arg::Int(n)).collect();
    build(name, &args, None).unwrap()
}

/// A lattice of lattices.
fn compose(name: &str, parts: &[&Arc<dyn Lattice>]) -> Arc<dyn Lattice> {
    let args: Vec<Arg> = parts.iter().map(|&part| Arg::Lattice(part.clone())).collect();
    build(name, &args, None).unwrap()
}

/// `n` copies of a lattice.
fn vector(entry: &Arc<dyn Lattice>, n: i64) -> Arc<dyn Lattice> {
    build("Vector", &[Arg::Lattice(entry.clone()), Arg::Int(n)], None).unwrap()
}

/// A Hasse diagram: `draw("low < mid, mid < high")`.
fn draw(diagram: &str) -> Result<Arc<dyn Lattice>, String> {
    let arg = |text: &str| match text.trim().split_once('<') {
        Some((low, high)) => Arg::Less(low.trim().to_owned(), high.trim().to_owned()),
        None => Arg::Name(text.trim().to_owned()),
    };
    let args: Vec<Arg> = diagram.split(',').map(arg).collect();
    build("Hasse", &args, None).map_err(|error| error.to_string())
}

/// The initial element.
fn initial(lattice: &dyn Lattice) -> Vec<Word> {
    let mut elem = vec![0; lattice.width()];
    lattice.initial(&mut elem);
    elem
}

/// A random element.
fn sample(lattice: &dyn Lattice, seed: u64) -> Vec<Word> {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state ^ (state >> 33)
    };
    let mut elem = vec![0; lattice.width()];
    lattice.sample(&mut random, &mut elem);
    elem
}

fn number_of(lattice: &dyn Lattice, name: &str) -> usize {
    let known = lattice.methods().iter().position(|method| method.name == name);
    known.unwrap_or_else(|| panic!("{} has no method {name}", lattice.name()))
}

fn ask(lattice: &dyn Lattice, elem: &[Word], name: &str, args: &[i64]) -> Result<i64, MethodError> {
    lattice.query(number_of(lattice, name), elem, args)
}

fn run(lattice: &dyn Lattice, elem: &mut [Word], name: &str, args: &[i64]) -> Result<(), MethodError> {
    lattice.update(number_of(lattice, name), elem, args)
}

fn show(lattice: &dyn Lattice, elem: &[Word]) -> String {
    Shown(lattice, elem).to_string()
}
