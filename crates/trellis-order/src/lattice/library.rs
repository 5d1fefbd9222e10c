//! The library's front door: lattices by the name under which a model imports them (`extern NAME`, 000 Fig. 3).
//!
//! [`build`] makes a lattice from a name and arguments; [`catalogue`] says what there is. Both read one table, so what
//! the help shows can be built. Sizes are bounded and errors say what to write instead: a model may ask for anything,
//! and nothing it asks for may bring the program down. Users' own lattices are not found here.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::method::{MethodDoc, Op};
use super::{
    BuildError, Congruence, Flat, Hasse, IntersectionBitVector, Interval, Lattice, LruMay, LruMust, Max, Min, Multiset,
    Parity, Powerset, PresentAbsent, Product, Sign, UnionBitVector, Vector,
};

mod make;

use make::{Fault, Made, cache, done, hasse, lexicographic, numbers, only_size, parts, plain, sizes, vector};

/// An argument of a lattice, as a model writes it.
#[derive(Debug, Clone)]
pub enum Arg {
    /// A number: `8`.
    Int(i64),
    /// A word: the name of a field or an element, or of a lattice that needs no arguments.
    Name(String),
    /// Another lattice: `UnionBitVector(8)`.
    Lattice(Arc<dyn Lattice>),
    /// A line of a Hasse diagram: `low < mid`.
    Less(String, String),
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Int(n) => n.fmt(f),
            Arg::Name(name) => name.fmt(f),
            Arg::Lattice(lattice) => lattice.name().fmt(f),
            Arg::Less(low, high) => write!(f, "{low} < {high}"),
        }
    }
}

/// A lattice of the library, as the help shows it.
#[derive(Debug)]
pub struct Entry {
    /// Its name in a model.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What can be called on its elements.
    pub methods: Vec<MethodDoc>,
    /// In `T x[n]`, is n the size of x rather than a number of copies?
    sized_by_array: bool,
    make: fn(&[Arg]) -> Made,
}

static CATALOGUE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    fn docs<L>(methods: &[Op<L>]) -> Vec<MethodDoc> {
        methods.iter().map(Op::doc).collect()
    }
    vec![
        Entry {
            name: "UnionBitVector",
            usage: "UnionBitVector(n) x, or UnionBitVector x[n]",
            about: "n bits; more ones are larger; join is or",
            methods: docs(UnionBitVector::METHODS),
            sized_by_array: true,
            make: |args| done(UnionBitVector::new(only_size(args)?)),
        },
        Entry {
            name: "IntersectionBitVector",
            usage: "IntersectionBitVector(n) x, or IntersectionBitVector x[n]",
            about: "n bits; fewer ones are larger; join is and",
            methods: docs(IntersectionBitVector::METHODS),
            sized_by_array: true,
            make: |args| done(IntersectionBitVector::new(only_size(args)?)),
        },
        Entry {
            name: "Powerset",
            usage: "Powerset(n) x, or Powerset x[n]",
            about: "sets of the numbers 0 to n-1, by inclusion",
            methods: docs(Powerset::METHODS),
            sized_by_array: true,
            make: |args| done(Powerset::new(only_size(args)?)),
        },
        Entry {
            name: "PresentAbsent",
            usage: "PresentAbsent(n) x, or PresentAbsent x[n]",
            about: "which of the values 0 to n-1 are surely present, surely absent, or unknown",
            methods: docs(PresentAbsent::METHODS),
            sized_by_array: true,
            make: |args| done(PresentAbsent::new(only_size(args)?)),
        },
        Entry {
            name: "Flat",
            usage: "Flat x",
            about: "no integer, one, or any",
            methods: docs(Flat::METHODS),
            sized_by_array: false,
            make: |args| plain(Flat, args),
        },
        Entry {
            name: "Sign",
            usage: "Sign x",
            about: "the signs an integer may have",
            methods: docs(Sign::METHODS),
            sized_by_array: false,
            make: |args| plain(Sign, args),
        },
        Entry {
            name: "Parity",
            usage: "Parity x",
            about: "even, odd, either or neither",
            methods: docs(Parity::METHODS),
            sized_by_array: false,
            make: |args| plain(Parity, args),
        },
        Entry {
            name: "Interval",
            usage: "Interval x",
            about: "integers from a lower to an upper end, each perhaps infinite",
            methods: docs(Interval::METHODS),
            sized_by_array: false,
            make: |args| plain(Interval, args),
        },
        Entry {
            name: "Max",
            usage: "Max(lo, hi) x",
            about: "numbers from lo to hi; larger ones are larger; join is the maximum",
            methods: docs(Max::METHODS),
            sized_by_array: false,
            make: |args| numbers(args, Max::new),
        },
        Entry {
            name: "Min",
            usage: "Min(lo, hi) x",
            about: "numbers from lo to hi; smaller ones are larger; join is the minimum",
            methods: docs(Min::METHODS),
            sized_by_array: false,
            make: |args| numbers(args, Min::new),
        },
        Entry {
            name: "Congruence",
            usage: "Congruence(n) x",
            about: "the remainders that an integer may leave, by divisors of n",
            methods: docs(Congruence::METHODS),
            sized_by_array: false,
            make: |args| done(Congruence::new(only_size(args)?)),
        },
        Entry {
            name: "Multiset",
            usage: "Multiset(n, most) x",
            about: "how often each of the things 0 to n-1 may be there; most means: or more",
            methods: docs(Multiset::METHODS),
            sized_by_array: false,
            make: |args| sizes(args, Multiset::new),
        },
        Entry {
            name: "Hasse",
            usage: "Hasse(low < mid, mid < high) x",
            about: "a finite lattice, drawn: which named element is below which",
            methods: docs(Hasse::METHODS),
            sized_by_array: false,
            make: hasse,
        },
        Entry {
            name: "Vector",
            usage: "Vector(T, n) x, or T x[n]",
            about: "n elements of the lattice T, compared entry by entry",
            methods: Vec::new(),
            sized_by_array: false,
            make: vector,
        },
        Entry {
            name: "Product",
            usage: "Product(S, T, ...) x, or Product(a, S, b, T, ...) x",
            about: "elements of several lattices, part by part; parts x.fst, x.snd, ..., or x.a, x.b, ...",
            methods: Vec::new(),
            sized_by_array: false,
            make: |args| done(Product::new(parts(args)?)),
        },
        Entry {
            name: "Lexicographic",
            usage: "Lexicographic(S, T) x, or Lexicographic(a, S, b, T) x",
            about: "pairs in the dictionary's order: the second parts count where the first are equal",
            methods: Vec::new(),
            sized_by_array: false,
            make: lexicographic,
        },
        Entry {
            name: "LruMust",
            usage: "LruMust(sets, ways, blocks) x",
            about: "which blocks are surely in an LRU cache",
            methods: docs(LruMust::METHODS),
            sized_by_array: false,
            make: |args| cache(args, LruMust::new),
        },
        Entry {
            name: "LruMay",
            usage: "LruMay(sets, ways, blocks) x",
            about: "which blocks are surely out of an LRU cache",
            methods: docs(LruMay::METHODS),
            sized_by_array: false,
            make: |args| cache(args, LruMay::new),
        },
    ]
});

/// Every lattice of the library.
pub fn catalogue() -> &'static [Entry] {
    &CATALOGUE
}

/// Builds the lattice that a variable declared `name(args) x` ranges over, or `name(args) x[array]`.
///
/// For the bit vectors, `Powerset` and `PresentAbsent` without arguments, `array` is the size; otherwise it makes a
/// [`Vector`].
pub fn build(name: &str, args: &[Arg], array: Option<usize>) -> Result<Arc<dyn Lattice>, BuildError> {
    let Some(entry) = find(name) else {
        let known: Vec<&str> = catalogue().iter().map(|entry| entry.name).collect();
        return Err(BuildError::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    match array {
        Some(n) if entry.sized_by_array && args.is_empty() => {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            make(entry, &[Arg::Int(n)])
        }
        Some(n) => Ok(Arc::new(Vector::new(make(entry, args)?, n)?)),
        None => make(entry, args),
    }
}

fn find(name: &str) -> Option<&'static Entry> {
    catalogue().iter().find(|entry| entry.name == name)
}

fn make(entry: &Entry, args: &[Arg]) -> Result<Arc<dyn Lattice>, BuildError> {
    (entry.make)(args).map_err(|fault| match fault {
        Fault::Build(error) => error,
        Fault::Arguments(why) => {
            let given: Vec<String> = args.iter().map(Arg::to_string).collect();
            let why = why.unwrap_or_else(|| format!("these are not its arguments: ({})", given.join(", ")));
            BuildError::Arguments { problem: format!("{}: {why}", entry.name), usage: entry.usage }
        }
    })
}
