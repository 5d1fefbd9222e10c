//! Simplification changes neither values nor faults.

use proptest::prelude::*;
use trellis_expr::eval::eval;
use trellis_expr::simplify::simplify;
use trellis_expr::{Term, Type, Value};

use crate::world::{Foreign, Tape, World, cases, tape};

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn equal(choices in tape(), values in prop::collection::vec(tape(), 6)) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let ty = w.types[[0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10][choices.pick(14)]];
        let t = w.term(ty, 4, &mut choices);
        let s = simplify(&mut w.t, t);
        prop_assert_eq!(w.t.ty(s), w.t.ty(t));
        for values in &values {
            let (env, _) = w.valuation(&mut Tape::new(values));
            prop_assert_eq!(
                eval(&w.t, s, &env, &mut Foreign(1)),
                eval(&w.t, t, &env, &mut Foreign(1)),
                "{} became {}", w.t.show(t), w.t.show(s)
            );
        }
        let again = simplify(&mut w.t, s);
        prop_assert_eq!(again, s, "{} became {} became {}", w.t.show(t), w.t.show(s), w.t.show(again));
    }

    /// Small formulas over few variables, where rules meet; on all valuations of them.
    #[test]
    fn logic(choices in tape()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let (x, y, n) = (w.t.var(w.vars[2]), w.t.var(w.vars[3]), w.t.var(w.vars[1]));
        let mut formulas = vec![n];
        for _ in 0..choices.pick(12) {
            let pick = |choices: &mut Tape, from: &[_]| from[choices.pick(from.len())];
            let k = w.t.int(choices.pick(7) as i64 - 3);
            let (a, b) = (pick(&mut choices, &[x, y, k]), pick(&mut choices, &[x, y, k]));
            let a = match choices.pick(4) {
                1 => w.t.neg(a),
                2 => w.t.add([a, k]),
                3 => w.t.checked(a, 0, 3),
                _ => a,
            };
            let (p, q, r) =
                (pick(&mut choices, &formulas), pick(&mut choices, &formulas), pick(&mut choices, &formulas));
            let node = match choices.pick(8) {
                0 => Term::Not(p),
                1 => Term::And([p, q, r].into()),
                2 => Term::Or([p, q, r].into()),
                3 => Term::Ite(p, q, r),
                4 => Term::Eq(a, b),
                5 => Term::Lt(a, b),
                6 => Term::Le(a, b),
                _ => Term::Le(b, a),
            };
            let t = w.t.intern(node);
            formulas.push(t);
        }
        let t = formulas[formulas.len() - 1];
        let s = simplify(&mut w.t, t);
        let (mut env, _) = w.valuation(&mut Tape::new(&[]));
        for x in -2..=3 {
            for y in 0..=2 {
                for q in [false, true] {
                    env.insert(w.vars[2], Value::Int(x.into()));
                    env.insert(w.vars[3], Value::Int(y.into()));
                    env.insert(w.vars[1], Value::Bool(q));
                    prop_assert_eq!(
                        eval(&w.t, s, &env, &mut Foreign(1)),
                        eval(&w.t, t, &env, &mut Foreign(1)),
                        "{} became {} at {} {} {}", w.t.show(t), w.t.show(s), x, y, q
                    );
                }
            }
        }
    }

    /// Reads and writes of one array at few indexes, some of which fault.
    #[test]
    fn arrays(choices in tape(), values in prop::collection::vec(tape(), 4)) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let (x, y, k) = (w.t.var(w.vars[2]), w.t.var(w.vars[3]), w.t.int(choices.pick(4) as i64 - 1));
        let ratio = w.t.div(trellis_expr::Division::Truncating, x, y);
        let pool = [x, y, k, w.t.int(0), ratio, w.t.checked(x, -1, 1)];
        let mut array = w.t.var(w.vars[16]);
        for _ in 0..choices.pick(5) {
            let i = pool[choices.pick(pool.len())];
            let v = match choices.pick(3) {
                0 => w.t.select(array, i),
                _ => pool[choices.pick(pool.len())],
            };
            array = w.t.store(array, i, v);
        }
        let t = match choices.pick(2) {
            0 => array,
            _ => w.t.select(array, pool[choices.pick(pool.len())]),
        };
        let s = simplify(&mut w.t, t);
        for values in &values {
            let (env, _) = w.valuation(&mut Tape::new(values));
            prop_assert_eq!(
                eval(&w.t, s, &env, &mut Foreign(1)),
                eval(&w.t, t, &env, &mut Foreign(1)),
                "{} became {}", w.t.show(t), w.t.show(s)
            );
        }
    }
}

#[test]
fn deep() {
    let mut w = World::new();
    let (n, m) = (w.t.var(w.vars[5]), w.t.var(w.vars[6]));
    let mut t = w.t.lt(n, m);
    for k in 0..100_000 {
        let k = w.t.int(k % 7);
        let less = w.t.lt(n, k);
        let both = w.t.and([less, t]);
        t = w.t.intern(Term::Not(both));
    }
    let s = simplify(&mut w.t, t);
    assert_eq!(w.t.ty(s), Type::Bool);
}
