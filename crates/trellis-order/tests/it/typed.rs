//! The law suite on a domain whose elements are not words: the divisors of 360, ordered by divisibility.

use trellis_order::laws::{self, Law};
use trellis_order::{Domain, Join, Meet};

struct Divisors;

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Domain for Divisors {
    type Elem = u32;

    fn leq(&self, a: &u32, b: &u32) -> bool {
        b.is_multiple_of(*a)
    }

    fn is_bottom(&self, a: &u32) -> bool {
        *a == 1
    }
}

impl Join for Divisors {
    fn join(&self, a: &mut u32, b: &u32) -> bool {
        let old = *a;
        *a = old / gcd(old, *b) * b;
        *a != old
    }
}

impl Meet for Divisors {
    fn top(&self, a: &mut u32) {
        *a = 360;
    }

    fn meet(&self, a: &mut u32, b: &u32) -> bool {
        let old = *a;
        *a = gcd(old, *b);
        *a != old
    }
}

#[test]
fn divisors_are_a_lattice() {
    let all: Vec<u32> = (1..=360).filter(|n| 360 % n == 0).collect();
    laws::order(&Divisors, &all).unwrap();
    laws::antisymmetry(&Divisors, &all).unwrap();
    laws::join(&Divisors, &all).unwrap();
    laws::meet(&Divisors, &all).unwrap();
    laws::absorption(&Divisors, &Divisors, &all).unwrap();
}

#[test]
fn a_stranger_is_noticed() {
    let violation = laws::meet(&Divisors, &[1, 7]).unwrap_err();
    assert_eq!((violation.law, violation.elements), (Law::TopGreatest, vec![360, 7]));
}
