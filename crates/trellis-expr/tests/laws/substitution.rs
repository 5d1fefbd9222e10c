//! Substituting and then evaluating is evaluating the replacements first.

use proptest::prelude::*;
use rustc_hash::FxHashMap;
use trellis_expr::eval::eval;
use trellis_expr::{Term, Type, Value};

use crate::world::{Foreign, Tape, World, cases, tape};

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn lemma(choices in tape(), replacements in tape(), values in tape()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let mut replacements = Tape::new(&replacements);
        let ty = w.types[choices.pick(8)];
        let t = w.term(ty, 4, &mut choices);
        let (mut env, _) = w.valuation(&mut Tape::new(&values));
        let mut map = FxHashMap::default();
        for v in w.vars.clone() {
            let ty = w.t.variable(v).ty;
            if replacements.pick(2) == 1 {
                let new = w.term(w.t.sort(ty), 2, &mut replacements);
                let new = match ty {
                    Type::Range(lo, hi) => w.t.checked(new, lo, hi),
                    _ => new,
                };
                // The lemma is about replacements that have a value.
                if eval(&w.t, new, &env, &mut Foreign(1)).is_ok() {
                    map.insert(v, new);
                }
            }
        }
        let substituted = w.t.substitute(t, &map);
        prop_assert_eq!(w.t.ty(substituted), w.t.ty(t));
        let left = eval(&w.t, substituted, &env, &mut Foreign(1));
        let news: Vec<_> =
            map.iter().map(|(&v, &new)| (v, eval(&w.t, new, &env, &mut Foreign(1)).unwrap())).collect();
        env.extend(news);
        prop_assert_eq!(left, eval(&w.t, t, &env, &mut Foreign(1)));
    }

    /// Building a term anew by way of the builders changes neither value nor fault.
    #[test]
    fn builders(choices in tape(), values in tape()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let ty = w.types[choices.pick(8)];
        let t = w.term(ty, 4, &mut choices);
        let (env, _) = w.valuation(&mut Tape::new(&values));
        let mut new: FxHashMap<_, _> = FxHashMap::default();
        for t in w.t.subterms([t]) {
            let children: Vec<_> = w.t.children(t).iter().map(|c| new[c]).collect();
            new.insert(t, w.t.rebuild(t, &children));
        }
        prop_assert_eq!(
            eval(&w.t, new[&t], &env, &mut Foreign(1)),
            eval(&w.t, t, &env, &mut Foreign(1))
        );
    }
}

#[test]
fn simultaneous() {
    let mut w = World::new();
    let (x, z) = (w.vars[2], w.vars[4]);
    let (xt, zt) = (w.t.var(x), w.t.var(z));
    let less = w.t.lt(xt, zt);
    let swapped = w.t.rename(less, &[(x, z), (z, x)].into_iter().collect());
    assert_eq!(w.t.get(swapped), &Term::Lt(zt, xt));
    assert_eq!(w.t.free_vars(swapped), [x, z].into_iter().collect());
}

#[test]
fn deep() {
    let mut w = World::new();
    let (n, one) = (w.t.var(w.vars[5]), w.t.int(1));
    let mut t = n;
    for _ in 0..100_000 {
        let next = w.t.bit(trellis_expr::BitOp::Xor, t, one);
        t = w.t.neg(next);
    }
    let (env, mem) = w.valuation(&mut Tape::new(&[]));
    let value = eval(&w.t, t, &env, &mut Foreign(1)).unwrap();
    let code = trellis_expr::code::compile_term(&w.t, &w.layout, t).unwrap();
    assert_eq!(code.eval(&mem, &mut Foreign(1)).ok(), value.to_word());
    let seven = w.t.int(7);
    let closed = w.t.substitute(t, &[(w.vars[5], seven)].into_iter().collect());
    assert!(matches!(w.t.as_value(closed), Some(Value::Int(_))));
}
