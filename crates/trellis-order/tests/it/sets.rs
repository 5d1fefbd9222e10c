//! The set-like lattices against `HashSet`.

use std::collections::HashSet;

use proptest::prelude::*;

use super::{ask, initial, lattice, run, show};

/// Numbers below 130, so that sets of 1, 64, 65, … members are all met.
fn members() -> impl Strategy<Value = HashSet<i64>> {
    proptest::collection::hash_set(0..130i64, 0..40)
}

fn clip(set: &HashSet<i64>, n: i64) -> HashSet<i64> {
    set.iter().copied().filter(|&i| i < n).collect()
}

proptest! {
    #[test]
    fn bit_vectors_are_sets(n in 1..130i64, a in members(), b in members()) {
        let (a, b) = (clip(&a, n), clip(&b, n));
        let union = lattice("UnionBitVector", &[n]);
        let intersection = lattice("IntersectionBitVector", &[n]);
        let encode = |set: &HashSet<i64>| {
            let mut elem = initial(&*union);
            set.iter().for_each(|&i| run(&*union, &mut elem, "set", &[i, 7]).unwrap());
            elem
        };
        let (x, y) = (encode(&a), encode(&b));
        prop_assert_eq!(union.leq(&x, &y), a.is_subset(&b));
        prop_assert_eq!(intersection.leq(&x, &y), b.is_subset(&a));

        let mut joined = x.clone();
        prop_assert_eq!(union.join(&mut joined, &y), !b.is_subset(&a));
        prop_assert_eq!(&joined, &encode(&(&a | &b)));
        let mut joined = x.clone();
        prop_assert_eq!(intersection.join(&mut joined, &y), !a.is_subset(&b));
        prop_assert_eq!(&joined, &encode(&(&a & &b)));

        for lattice in [union, intersection] {
            prop_assert_eq!(ask(&*lattice, &x, "num1s", &[]).unwrap(), a.len() as i64);
            prop_assert_eq!(ask(&*lattice, &x, "num0s", &[]).unwrap(), n - a.len() as i64);
            for i in 0..n {
                prop_assert_eq!(ask(&*lattice, &x, "get", &[i]).unwrap(), a.contains(&i) as i64);
            }
        }
    }

    #[test]
    fn powersets_are_sets(n in 1..130i64, steps in proptest::collection::vec((0..130i64, 0..8u8), 0..60)) {
        let powerset = lattice("Powerset", &[n]);
        let mut elem = initial(&*powerset);
        let mut set = HashSet::new();
        for (i, step) in steps.into_iter().filter(|&(i, _)| i < n) {
            match step {
                0 => { run(&*powerset, &mut elem, "clear", &[]).unwrap(); set.clear(); }
                1 | 2 => { run(&*powerset, &mut elem, "remove", &[i]).unwrap(); set.remove(&i); }
                _ => { run(&*powerset, &mut elem, "add", &[i]).unwrap(); set.insert(i); }
            }
            prop_assert_eq!(ask(&*powerset, &elem, "size", &[]).unwrap(), set.len() as i64);
            prop_assert_eq!(ask(&*powerset, &elem, "contains", &[i]).unwrap(), set.contains(&i) as i64);
        }
        let mut sorted: Vec<i64> = set.into_iter().collect();
        sorted.sort();
        prop_assert_eq!(show(&*powerset, &elem), format!("{{{}}}", sorted.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")));
    }

    /// Example 1 of 000: an element describes a database exactly as its (P, A) says, and updates keep that true.
    #[test]
    fn present_absent_describes_the_database(
        start in members(),
        steps in proptest::collection::vec((0..70i64, 0..6u8), 0..60),
    ) {
        let n = 70;
        let knowledge = lattice("PresentAbsent", &[n]);
        let mut elem = initial(&*knowledge);
        let mut database = clip(&start, n);
        for (i, step) in steps {
            match step {
                0 => { run(&*knowledge, &mut elem, "insert", &[i]).unwrap(); database.insert(i); }
                1 => { run(&*knowledge, &mut elem, "delete", &[i]).unwrap(); database.remove(&i); }
                2 => run(&*knowledge, &mut elem, "forget", &[i]).unwrap(),
                3 if database.contains(&i) => run(&*knowledge, &mut elem, "assumePresent", &[i]).unwrap(),
                4 if !database.contains(&i) => run(&*knowledge, &mut elem, "assumeAbsent", &[i]).unwrap(),
                5 if i == 0 => { run(&*knowledge, &mut elem, "clear", &[]).unwrap(); database.clear(); }
                _ => {}
            }
            let mut unknown = 0;
            for i in 0..n {
                let is = |name| ask(&*knowledge, &elem, name, &[i]).unwrap() == 1;
                let truth = if database.contains(&i) { "mayBePresent" } else { "mayBeAbsent" };
                prop_assert!(is(truth));
                prop_assert_eq!(is("mustBePresent"), !is("mayBeAbsent"));
                prop_assert_eq!(is("mustBeAbsent"), !is("mayBePresent"));
                unknown += (is("mayBePresent") && is("mayBeAbsent")) as i64;
            }
            prop_assert_eq!(ask(&*knowledge, &elem, "numUnknown", &[]).unwrap(), unknown);
            prop_assert!(ask(&*knowledge, &elem, "numMayBePresent", &[]).unwrap() >= database.len() as i64);
        }
    }
}

#[test]
fn an_index_beyond_the_vector_is_an_error_that_says_so() {
    let bits = lattice("UnionBitVector", &[4]);
    let mut elem = initial(&*bits);
    for i in [4, 5, 64, -1, i64::MIN, i64::MAX] {
        let error = ask(&*bits, &elem, "get", &[i]).unwrap_err();
        assert_eq!(error.0, format!("there is no bit {i}: they are numbered 0 to 3"));
        assert!(run(&*bits, &mut elem, "set", &[i, 1]).is_err());
    }
    assert_eq!(elem, initial(&*bits), "nothing is written");
    assert!(
        bits.query(0, &elem, &[]).is_err()
            && bits.query(1, &elem, &[0]).is_err()
            && bits.query(99, &elem, &[]).is_err()
    );
}

#[test]
fn initial_elements_are_at_the_right_end() {
    let union = lattice("UnionBitVector", &[70]);
    assert!(union.is_bottom(&initial(&*union)));
    for name in ["IntersectionBitVector", "PresentAbsent"] {
        let lattice = lattice(name, &[70]);
        let mut top = vec![0; lattice.width()];
        lattice.as_meet().unwrap().top(&mut top);
        assert_eq!(initial(&*lattice), top);
    }
}
