//! Diagrams: good ones mean what is drawn, bad ones are refused with a reason.

use proptest::prelude::*;
use trellis_order::lattice::{DiagramError, Hasse};
use trellis_order::{Domain, Join, Meet};

use super::{ask, draw, initial, run, show};

#[test]
fn a_diagram_means_what_is_drawn() {
    let levels = draw("public < secret, public < private, secret < top, private < top").unwrap();
    assert_eq!(levels.names(), ["public", "secret", "private", "top"]);
    assert_eq!(levels.name(), "Hasse(public < secret, public < private, secret < top, private < top)");
    let mut x = initial(&*levels);
    assert_eq!(show(&*levels, &x), "public");
    run(&*levels, &mut x, "raise", &[1]).unwrap();
    assert_eq!(show(&*levels, &x), "secret");
    let is = |x: &[u64], name, e| ask(&*levels, x, name, &[e]).unwrap() == 1;
    assert!(
        is(&x, "is", 1) && is(&x, "atLeast", 0) && is(&x, "atMost", 3) && !is(&x, "atLeast", 2) && !is(&x, "atMost", 2)
    );
    run(&*levels, &mut x, "raise", &[2]).unwrap();
    assert_eq!(show(&*levels, &x), "top");
    run(&*levels, &mut x, "lower", &[2]).unwrap();
    assert_eq!(show(&*levels, &x), "private");
    run(&*levels, &mut x, "lower", &[1]).unwrap();
    assert_eq!(show(&*levels, &x), "public");
    run(&*levels, &mut x, "set", &[3]).unwrap();
    assert_eq!(show(&*levels, &x), "top");
    assert!(run(&*levels, &mut x, "set", &[4]).is_err() && run(&*levels, &mut x, "set", &[-1]).is_err());
}

#[test]
fn bad_diagrams_are_refused_with_a_reason() {
    let reason = |diagram: &str| draw(diagram).unwrap_err();
    assert_eq!(reason("a < b, b < c, c < d, d < b"), "the Hasse diagram goes round in a circle: b < c < d < b");
    assert_eq!(reason("a < a"), "the Hasse diagram goes round in a circle: a < a");
    assert_eq!(
        reason("a, b"),
        "the Hasse diagram is not a lattice: `a` and `b` have no least upper bound: there is no common bound at all"
    );
    assert_eq!(
        reason("0 < a, 0 < b, a < c, a < d, b < c, b < d, c < 1, d < 1"),
        "the Hasse diagram is not a lattice: `a` and `b` have no least upper bound: `c`, `d` are all bounds, and none is best"
    );
    assert_eq!(
        reason("a < 1, b < 1"),
        "the Hasse diagram is not a lattice: `a` and `b` have no greatest lower bound: there is no common bound at all"
    );
    assert_eq!(Hasse::new(vec![], &[]).unwrap_err(), DiagramError::Empty);
    let many: Vec<String> = (0..1025).map(|i| i.to_string()).collect();
    assert_eq!(Hasse::new(many, &[]).unwrap_err(), DiagramError::TooLarge(1025));
}

#[test]
fn the_largest_diagram_is_quick_enough() {
    let names: Vec<String> = (0..1024).map(|i| i.to_string()).collect();
    // All subsets of ten elements.
    let bits = |i: usize| (0..10).filter(move |b| i >> b & 1 == 0).map(move |b| (i, i | 1 << b));
    let below: Vec<(usize, usize)> = (0..1024).flat_map(bits).collect();
    let subsets = Hasse::new(names, &below).unwrap();
    for (a, b) in [(0, 1023), (5, 9), (512, 511), (77, 77)] {
        let mut x = [a];
        subsets.join(&mut x, &[b]);
        assert_eq!(x, [a | b]);
        let mut x = [a];
        subsets.meet(&mut x, &[b]);
        assert_eq!(x, [a & b]);
    }
}

proptest! {
    /// Random diagrams: accepted exactly if bounds exist by their definition, and then with the right ones.
    #[test]
    fn agrees_with_the_definition(n in 1..7usize, pairs in proptest::collection::vec((0..7usize, 0..7usize), 0..14)) {
        let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|&(i, j)| i < n && j < n).collect();
        let mut leq = vec![vec![false; n]; n];
        (0..n).for_each(|i| leq[i][i] = true);
        for _ in 0..n {
            for &(i, j) in &pairs {
                leq.iter_mut().for_each(|row| row[j] |= row[i]);
            }
        }
        let circular = pairs.iter().any(|&(i, j)| leq[j][i]);
        let join = |a: usize, b: usize| {
            let upper: Vec<usize> = (0..n).filter(|&c| leq[a][c] && leq[b][c]).collect();
            upper.iter().copied().find(|&c| upper.iter().all(|&d| leq[c][d]))
        };
        let meet = |a: usize, b: usize| {
            let lower: Vec<usize> = (0..n).filter(|&c| leq[c][a] && leq[c][b]).collect();
            lower.iter().copied().find(|&c| lower.iter().all(|&d| leq[d][c]))
        };
        let all = || (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let is_lattice = !circular && all().all(|(a, b)| join(a, b).is_some() && meet(a, b).is_some());

        let names = (0..n).map(|i| format!("e{i}")).collect();
        match Hasse::new(names, &pairs) {
            Ok(lattice) => {
                prop_assert!(is_lattice);
                for (a, b) in all() {
                    let (x, y) = ([a as u64], [b as u64]);
                    prop_assert_eq!(lattice.leq(&x, &y), leq[a][b]);
                    let mut up = x;
                    lattice.join(&mut up, &y);
                    prop_assert_eq!(Some(up[0] as usize), join(a, b));
                    let mut down = x;
                    lattice.meet(&mut down, &y);
                    prop_assert_eq!(Some(down[0] as usize), meet(a, b));
                }
            }
            Err(DiagramError::Circle(path)) => {
                prop_assert!(circular);
                prop_assert!(path.len() > 1 && path.first() == path.last());
                let number = |name: &String| name[1..].parse::<usize>().unwrap();
                for step in path.windows(2) {
                    prop_assert!(pairs.contains(&(number(&step[0]), number(&step[1]))));
                }
            }
            Err(error) => {
                prop_assert!(!circular && !is_lattice);
                if let DiagramError::NoBound { candidates, .. } = &error {
                    prop_assert_ne!(candidates.len(), 1, "{}", error);
                }
            }
        }
    }
}
