//! Makes lattices of arguments: what each lattice of the catalogue accepts.

use std::sync::Arc;

use super::{Arg, find, make};
use crate::lattice::product::{ORDINALS, Part};
use crate::lattice::{BuildError, Hasse, Lattice, Lexicographic, Vector};

/// A lattice, or why not.
pub(super) type Made = Result<Arc<dyn Lattice>, Fault>;

/// An error; the usage line is added by [`build`](super::build).
pub(super) enum Fault {
    Build(BuildError),
    /// The arguments make no sense. Says why, or nothing if the usage line says it all.
    Arguments(Option<String>),
}

impl From<BuildError> for Fault {
    fn from(error: BuildError) -> Self {
        Fault::Build(error)
    }
}

pub(super) fn done<L: Lattice + 'static, E: Into<BuildError>>(lattice: Result<L, E>) -> Made {
    lattice.map(|lattice| Arc::new(lattice) as _).map_err(|error| Fault::Build(error.into()))
}

fn wrong<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Arguments(Some(why.into())))
}

fn size(n: i64) -> Result<usize, Fault> {
    usize::try_from(n).or_else(|_| wrong(format!("a size must be at least 1, not {n}")))
}

pub(super) fn only_size(args: &[Arg]) -> Result<usize, Fault> {
    match args {
        [Arg::Int(n)] => size(*n),
        [] => wrong("it needs a size"),
        _ => Err(Fault::Arguments(None)),
    }
}

pub(super) fn plain<L: Lattice + 'static>(lattice: L, args: &[Arg]) -> Made {
    if args.is_empty() { Ok(Arc::new(lattice)) } else { wrong("it takes no arguments") }
}

/// A lattice of two numbers.
pub(super) fn numbers<L: Lattice + 'static>(args: &[Arg], new: fn(i64, i64) -> Result<L, BuildError>) -> Made {
    match args {
        [Arg::Int(a), Arg::Int(b)] => done(new(*a, *b)),
        _ => Err(Fault::Arguments(None)),
    }
}

/// A lattice of two sizes.
pub(super) fn sizes<L: Lattice + 'static>(args: &[Arg], new: fn(usize, usize) -> Result<L, BuildError>) -> Made {
    match args {
        [Arg::Int(a), Arg::Int(b)] => done(new(size(*a)?, size(*b)?)),
        _ => Err(Fault::Arguments(None)),
    }
}

pub(super) fn hasse(args: &[Arg]) -> Made {
    fn number(names: &mut Vec<String>, name: &String) -> usize {
        names.iter().position(|other| other == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        })
    }
    let mut names = Vec::new();
    let mut below = Vec::new();
    for arg in args {
        match arg {
            Arg::Name(name) => _ = number(&mut names, name),
            Arg::Less(low, high) => below.push((number(&mut names, low), number(&mut names, high))),
            Arg::Int(_) | Arg::Lattice(_) => {
                return wrong(format!("`{arg}` is not an element or a pair of them"));
            }
        }
    }
    done(Hasse::new(names, &below))
}

/// The lattice that an argument stands for, if it does.
fn as_lattice(arg: &Arg) -> Result<Option<Arc<dyn Lattice>>, Fault> {
    match arg {
        Arg::Lattice(lattice) => Ok(Some(lattice.clone())),
        Arg::Name(name) => Ok(find(name).map(|entry| make(entry, &[])).transpose()?),
        Arg::Int(_) | Arg::Less(..) => Ok(None),
    }
}

pub(super) fn vector(args: &[Arg]) -> Made {
    let [entry, Arg::Int(n)] = args else {
        return Err(Fault::Arguments(None));
    };
    match as_lattice(entry)? {
        Some(entry) => done(Vector::new(entry, size(*n)?)),
        None => wrong(format!("`{entry}` is not a lattice")),
    }
}

/// The parts of a product: lattices, each perhaps with a name before it.
pub(super) fn parts(args: &[Arg]) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    let mut name: Option<&String> = None;
    for arg in args {
        if let Some(lattice) = as_lattice(arg)? {
            let name = match (name.take(), ORDINALS.get(parts.len())) {
                (Some(name), _) => name.clone(),
                (None, Some(&ordinal)) => ordinal.to_owned(),
                (None, None) => {
                    return wrong(format!("with more than {} parts, name them", ORDINALS.len()));
                }
            };
            parts.push((name, lattice));
        } else if let (Arg::Name(new), None) = (arg, name) {
            name = Some(new);
        } else {
            return wrong(format!("`{arg}` is not a lattice"));
        }
    }
    match (name, parts.len()) {
        (Some(name), _) => wrong(format!("no lattice follows the name `{name}`")),
        (None, 0 | 1) => wrong("it needs at least two lattices"),
        (None, _) => Ok(parts),
    }
}

pub(super) fn lexicographic(args: &[Arg]) -> Made {
    match <[_; 2]>::try_from(parts(args)?) {
        Ok([fst, snd]) => done(Lexicographic::new(fst, snd)),
        Err(_) => wrong("it needs exactly two lattices"),
    }
}

pub(super) fn cache<L: Lattice + 'static>(args: &[Arg], new: fn(usize, usize, usize) -> Result<L, BuildError>) -> Made {
    match args {
        [Arg::Int(sets), Arg::Int(ways), Arg::Int(blocks)] => done(new(size(*sets)?, size(*ways)?, size(*blocks)?)),
        _ => Err(Fault::Arguments(None)),
    }
}
