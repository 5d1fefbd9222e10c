//! Quantifier elimination says what trying all values says.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use trellis_expr::{Division, Type, VarId};
use trellis_smt::qe::eliminate;

use crate::world::{Tape, World, cases, tape};

static DONE: AtomicU32 = AtomicU32::new(0);
static REFUSED: AtomicU32 = AtomicU32::new(0);

proptest! {
    #![proptest_config(cases(1500))]

    fn some(choices in tape()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let every: Vec<VarId> = w.bools.iter().chain(&w.ints).chain(&w.colors).copied().collect();
        let gone: BTreeSet<VarId> = (0..=choices.pick(2)).map(|_| every[choices.pick(every.len())]).collect();
        let t = w.formula(2, &mut choices);
        let Ok(s) = eliminate(&mut w.t, t, &gone) else {
            REFUSED.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        DONE.fetch_add(1, Ordering::Relaxed);
        prop_assert!(w.t.free_vars(s).is_disjoint(&gone), "{}", w.t.show(s));
        prop_assert!(w.t.free_vars(s).is_subset(&w.t.free_vars(t)), "{}", w.t.show(s));
        let (gone, free): (Vec<VarId>, Vec<VarId>) = w.t.free_vars(t).into_iter().partition(|v| gone.contains(v));
        let integers = gone.iter().filter(|&&v| w.t.variable(v).ty == Type::Int).count();
        let bounds = if integers > 1 { (-25, 25) } else { (-70, 70) };
        for env in w.sample(&free, (-4, 4), 30) {
            prop_assert_eq!(
                w.holds(s, &env),
                w.possible(t, &gone, bounds, &env),
                "{} without {:?} became {} at {:?}", w.t.show(t), gone, w.t.show(s), env
            );
        }
    }
}

#[test]
fn as_tried() {
    some();
    let (done, refused) = (DONE.load(Ordering::Relaxed), REFUSED.load(Ordering::Relaxed));
    println!("{refused} refused, {done} done");
    assert!(refused * 20 < done, "{refused} refused, {done} done");
}

#[test]
fn examples() {
    let mut w = World::new();
    let (n, m) = (w.ints[0], w.ints[1]);
    let (nt, mt) = (w.t.var(n), w.t.var(m));
    let (two, three, five) = (w.t.int(2), w.t.int(3), w.t.int(5));
    let without_n = |w: &mut World, t| {
        let t = eliminate(&mut w.t, t, &BTreeSet::from([n])).unwrap();
        w.t.show(t).to_string()
    };
    // 2n = m
    let double = w.t.mul(two, nt);
    let t = w.t.eq(double, mt);
    assert_eq!(without_n(&mut w, t), "m mod 2 == 0");
    // 3 ≤ n < m
    let (a, b) = (w.t.le(three, nt), w.t.lt(nt, mt));
    let t = w.t.and([a, b]);
    assert_eq!(without_n(&mut w, t), "m >= 4");
    // m = n + 5 and n ≤ 2
    let sum = w.t.add([nt, five]);
    let (a, b) = (w.t.eq(mt, sum), w.t.le(nt, two));
    let t = w.t.and([b, a]);
    assert_eq!(without_n(&mut w, t), "m <= 7");
    // m = n / 3 and n ≥ 5
    let third = w.t.div(Division::Truncating, nt, three);
    let (a, b) = (w.t.eq(mt, third), w.t.le(five, nt));
    let t = w.t.and([a, b]);
    assert_eq!(without_n(&mut w, t), "m >= 1");
}
