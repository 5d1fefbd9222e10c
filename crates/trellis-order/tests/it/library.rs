//! Building lattices by name.

use trellis_order::Shape;
use trellis_order::lattice::library::{Arg, build, catalogue};

use super::{compose, initial, lattice, run, show, vector};

fn name(text: &str) -> Arg {
    Arg::Name(text.to_owned())
}

fn error(lattice: &str, args: &[Arg], array: Option<usize>) -> String {
    build(lattice, args, array).unwrap_err().to_string()
}

#[test]
fn an_array_sizes_some_lattices_and_repeats_others() {
    let built = |lattice, args: &[Arg], array| build(lattice, args, array).unwrap().name();
    assert_eq!(built("IntersectionBitVector", &[], Some(5)), "IntersectionBitVector(5)");
    assert_eq!(built("IntersectionBitVector", &[Arg::Int(3)], Some(5)), "Vector(IntersectionBitVector(3), 5)");
    assert_eq!(built("PresentAbsent", &[], Some(2)), "PresentAbsent(2)");
    assert_eq!(built("Powerset", &[], Some(2)), "Powerset(2)");
    assert_eq!(built("Interval", &[], Some(2)), "Vector(Interval, 2)");
    assert_eq!(built("LruMust", &[1, 2, 3].map(Arg::Int), None), "LruMust(1, 2, 3)");
    assert_eq!(built("Vector", &[name("Sign"), Arg::Int(4)], None), "Vector(Sign, 4)");
}

#[test]
fn parts_have_names_and_places() {
    let product =
        compose("Product", &[&lattice("Interval", &[]), &lattice("UnionBitVector", &[65]), &lattice("Sign", &[])]);
    let Shape::Fields(fields) = product.shape() else { panic!("a product has fields") };
    let places: Vec<(&str, usize)> = fields.iter().map(|field| (field.0.as_str(), field.1)).collect();
    assert_eq!(places, [("fst", 0), ("snd", 2), ("third", 4)]);
    assert_eq!(product.width(), 5);
    assert_eq!(show(&*product, &initial(&*product)), "(fst = [0, 0], snd = {}, third = {0})");

    let args = [name("cost"), name("Interval"), name("kind"), name("Parity")];
    let named = build("Lexicographic", &args, None).unwrap();
    assert_eq!(named.name(), "Lexicographic(cost, Interval, kind, Parity)");
    assert_eq!(show(&*named, &initial(&*named)), "(cost = [0, 0], kind = even)");

    let array = vector(&lattice("Flat", &[]), 3);
    let Shape::Vector(3, entry) = array.shape() else { panic!("three entries") };
    let mut elem = initial(&*array);
    run(&**entry, &mut elem[2..4], "set", &[9]).unwrap();
    assert_eq!(show(&*array, &elem), "[0, 9, 0]");
}

/// The join of incomparable first parts is their join and nothing of the second.
#[test]
fn lexicographic_joins() {
    let pairs = compose("Lexicographic", &[&lattice("UnionBitVector", &[2]), &lattice("Interval", &[])]);
    let elem = |bits: u64, v: i64| vec![bits, v as u64, v as u64];
    let join = |a: &[u64], b: &[u64]| {
        let mut result = a.to_vec();
        pairs.join(&mut result, b);
        show(&*pairs, &result)
    };
    assert_eq!(join(&elem(1, 5), &elem(1, 7)), "(fst = {0}, snd = [5, 7])");
    assert_eq!(join(&elem(1, 5), &elem(3, 7)), "(fst = {0, 1}, snd = [7, 7])");
    assert_eq!(join(&elem(1, 5), &elem(2, 7)), "(fst = {0, 1}, snd = ⊥)");
}

#[test]
fn errors_say_what_to_write() {
    assert_eq!(
        error("UnionBitVector", &[], None),
        "UnionBitVector: it needs a size; write UnionBitVector(n) x, or UnionBitVector x[n]"
    );
    assert_eq!(
        error("Powerset", &[Arg::Int(-3)], None),
        "Powerset: a size must be at least 1, not -3; write Powerset(n) x, or Powerset x[n]"
    );
    assert_eq!(error("Powerset", &[Arg::Int(0)], None), "the number of members must be between 1 and 16777216, not 0");
    assert_eq!(error("Sign", &[], Some(0)), "a vector of Sign must have between 1 and 262144 entries, not 0");
    assert_eq!(error("Sign", &[Arg::Int(1)], None), "Sign: it takes no arguments; write Sign x");
    assert_eq!(
        error("LruMay", &[Arg::Int(1), name("two")], None),
        "LruMay: these are not its arguments: (1, two); write LruMay(sets, ways, blocks) x"
    );
    assert_eq!(
        error("LruMay", &[1, 256, 1].map(Arg::Int), None),
        "the number of ways must be between 1 and 255, not 256"
    );
    assert!(
        error("Unknown", &[], None)
            .starts_with("there is no lattice `Unknown` in the library; there are: UnionBitVector, ")
    );
    assert!(error("Vector", &[name("x"), Arg::Int(1)], None).starts_with("Vector: `x` is not a lattice"));
    assert!(error("Product", &[name("Sign")], None).starts_with("Product: it needs at least two lattices"));
    assert!(error("Product", &[name("Sign"), name("x")], None).starts_with("Product: no lattice follows the name `x`"));
    assert!(error("Product", &[name("x"), name("y"), name("Sign")], None).starts_with("Product: `y` is not a lattice"));
    assert_eq!(
        error("Product", &[name("x"), name("Sign"), name("x"), name("Flat")], None),
        "two fields are called `x`"
    );
    assert!(error("Product", &vec![name("Sign"); 9], None).contains("with more than 8 parts, name them"));
    assert!(error("Lexicographic", &vec![name("Sign"); 3], None).contains("exactly two"));
    assert!(error("Product", &[name("Sign"), name("Powerset")], None).contains("it needs a size"));
    assert!(error("Hasse", &[Arg::Int(1)], None).contains("`1` is not an element"));
    assert!(error("Hasse", &[], None).contains("at least one element"));
}

#[test]
fn absurd_sizes_are_errors() {
    let absurd = [i64::MIN, -1, 0, 1 << 25, 1 << 40, i64::MAX];
    for entry in catalogue() {
        for a in absurd {
            assert!(build(entry.name, &[Arg::Int(a)], None).is_err(), "{}({a})", entry.name);
            assert!(build(entry.name, &[name("Flat"), Arg::Int(a)], None).is_err());
            for sizes in [[a, 1, 1], [1, a, 1], [1, 1, a], [a, a, a]] {
                assert!(build(entry.name, &sizes.map(Arg::Int), None).is_err());
            }
        }
        for n in [0, 1 << 25, usize::MAX] {
            assert!(build(entry.name, &[], Some(n)).is_err(), "{} x[{n}]", entry.name);
        }
    }
    let large = build("UnionBitVector", &[Arg::Int(1 << 24)], None).unwrap();
    assert!(build("Vector", &[Arg::Lattice(large.clone()), Arg::Int(2)], None).is_err());
    assert!(build("Product", &[Arg::Lattice(large.clone()), Arg::Lattice(large)], None).is_err());
}

/// The table in the head of each lattice's file is the documentation people read first: it names every method.
#[test]
fn the_files_document_their_methods() {
    let sources = [
        ("UnionBitVector", include_str!("../../src/lattice/bit_vector.rs")),
        ("IntersectionBitVector", include_str!("../../src/lattice/bit_vector.rs")),
        ("Powerset", include_str!("../../src/lattice/powerset.rs")),
        ("PresentAbsent", include_str!("../../src/lattice/present_absent.rs")),
        ("Flat", include_str!("../../src/lattice/flat.rs")),
        ("Sign", include_str!("../../src/lattice/sign.rs")),
        ("Parity", include_str!("../../src/lattice/parity.rs")),
        ("Interval", include_str!("../../src/lattice/interval.rs")),
        ("Max", include_str!("../../src/lattice/extreme.rs")),
        ("Min", include_str!("../../src/lattice/extreme.rs")),
        ("Congruence", include_str!("../../src/lattice/congruence.rs")),
        ("Multiset", include_str!("../../src/lattice/multiset.rs")),
        ("Hasse", include_str!("../../src/lattice/hasse.rs")),
        ("LruMust", include_str!("../../src/lattice/lru.rs")),
        ("LruMay", include_str!("../../src/lattice/lru.rs")),
    ];
    for entry in catalogue().iter().filter(|entry| !entry.methods.is_empty()) {
        let (_, source) = sources.iter().find(|(name, _)| *name == entry.name).expect(entry.name);
        for method in &entry.methods {
            let documented =
                source.lines().any(|line| line.starts_with("//! |") && line.contains(&format!("`{}`", method.usage)));
            assert!(documented, "{}: {}", entry.name, method.usage);
        }
    }
}
