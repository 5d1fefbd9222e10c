//! Tidying keeps the meaning and reads well.

use proptest::prelude::*;
use trellis_expr::TermId;
use trellis_smt::tidy::tidy;

use crate::world::{Tape, World, cases, tape};

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn equivalent(choices in tape()) {
        let mut w = World::new();
        let t = w.formula(3, &mut Tape::new(&choices));
        let s = tidy(&mut w.t, t);
        let vars: Vec<_> = w.t.free_vars(t).into_iter().collect();
        prop_assert!(w.t.free_vars(s).iter().all(|v| vars.contains(v)));
        for env in w.sample(&vars, (-4, 4), 300) {
            prop_assert_eq!(w.holds(s, &env), w.holds(t, &env), "{} became {}", w.t.show(t), w.t.show(s));
        }
    }
}

/// Builds formulas from parts, and shows what becomes of them.
struct Show(World);

impl Show {
    fn le(&mut self, v: usize, n: i64) -> TermId {
        let (v, n) = (self.0.t.var(self.0.ints[v]), self.0.t.int(n));
        self.0.t.le(v, n)
    }

    fn ge(&mut self, v: usize, n: i64) -> TermId {
        let (v, n) = (self.0.t.var(self.0.ints[v]), self.0.t.int(n));
        self.0.t.le(n, v)
    }

    fn and(&mut self, parts: &[TermId]) -> TermId {
        self.0.t.and(parts.iter().copied())
    }

    fn or(&mut self, parts: &[TermId]) -> TermId {
        self.0.t.or(parts.iter().copied())
    }

    fn tidy(&mut self, t: TermId) -> String {
        let t = tidy(&mut self.0.t, t);
        self.0.t.show(t).to_string()
    }
}

#[test]
fn readable() {
    let mut s = Show(World::new());
    let (n, m, p) = (s.0.t.var(s.0.ints[0]), s.0.t.var(s.0.ints[1]), s.0.t.var(s.0.bools[0]));
    // ¬(n - 5 > 0)
    let five = s.0.t.int(5);
    let zero = s.0.t.int(0);
    let difference = s.0.t.sub(n, five);
    let positive = s.0.t.lt(zero, difference);
    let t = s.0.t.not(positive);
    assert_eq!(s.tidy(t), "n <= 5");
    // Equalities from inequalities.
    let (a, b) = (s.le(0, 3), s.ge(0, 3));
    let t = s.and(&[a, b]);
    assert_eq!(s.tidy(t), "n == 3");
    let (a, b) = (s.0.t.le(n, m), s.0.t.le(m, n));
    let t = s.and(&[a, b, p]);
    assert_eq!(s.tidy(t), "n == m && p");
    // Implied atoms, on both sides.
    let (a, b, c) = (s.le(0, 3), s.le(0, 5), s.ge(0, 8));
    let t = s.and(&[a, p, b]);
    assert_eq!(s.tidy(t), "n <= 3 && p");
    let t = s.or(&[a, b, c]);
    assert_eq!(s.tidy(t), "n <= 5 || n >= 8");
    let t = s.and(&[a, c]);
    assert_eq!(s.tidy(t), "false");
    // Constants are put in.
    let three = s.0.t.int(3);
    let (a, b) = (s.0.t.eq(n, three), s.0.t.le(n, m));
    let t = s.and(&[b, a]);
    assert_eq!(s.tidy(t), "n == 3 && m >= 3");
    // Disjuncts are united.
    let (a, b, c, d) = (s.le(0, 3), s.ge(1, 0), s.ge(0, 4), s.le(0, 6));
    let low = s.and(&[a, b]);
    let high = s.and(&[b, c, d]);
    let t = s.or(&[low, high]);
    assert_eq!(s.tidy(t), "n <= 6 && m >= 0");
    // What a range says anyway is not said.
    let (a, b) = (s.ge(2, -2), s.ge(2, 3));
    assert_eq!(s.tidy(a), "true");
    assert_eq!(s.tidy(b), "x == 3");
}
