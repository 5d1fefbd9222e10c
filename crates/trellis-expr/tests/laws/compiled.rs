//! Compiled code answers as the reference evaluator does, fault for fault.

use dashu_int::IBig;
use proptest::prelude::*;
use trellis_expr::code::{Layout, NoHost, Unsupported, compile_stmt, compile_term};
use trellis_expr::eval::{ExecError, Limits, State, Valuation, eval, exec};
use trellis_expr::{Fault, FnId, Term, TermId, Terms, Type, Value};

use crate::world::{Foreign, Tape, World, cases, tape};

/// Is some integer so large that machine words may not suffice?
fn large(terms: &Terms, t: TermId, env: &Valuation) -> bool {
    let value = eval(terms, t, env, &mut Foreign(1));
    let limit = IBig::ONE << 60;
    let big = match &value {
        Ok(v @ (Value::Int(_) | Value::Bits { .. })) => v.number() >= limit || v.number() <= -limit,
        _ => false,
    };
    big || terms.children(t).iter().any(|&c| large(terms, c, env))
}

fn only_big_literals(e: &Unsupported) -> bool {
    e.what.contains("beyond 64 bits")
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn terms(choices in tape(), values in tape()) {
        let mut w = World::new();
        let mut tape = Tape::new(&choices);
        let ty = w.types[tape.pick(8)];
        let t = w.term(ty, 4, &mut tape);
        let code = match compile_term(&w.t, &w.layout, t) {
            Ok(code) => code,
            Err(e) => {
                prop_assert!(only_big_literals(&e), "{e}");
                return Ok(());
            }
        };
        let (env, mem) = w.valuation(&mut Tape::new(&values));
        let expected = eval(&w.t, t, &env, &mut Foreign(1));
        let word = code.eval(&mem, &mut Foreign(1));
        if word == Err(Fault::Overflow) {
            prop_assert!(large(&w.t, t, &env), "{expected:?}");
        } else {
            prop_assert_eq!(&word.clone().map(|n| Value::from_word(ty, n)), &expected);
            if let Ok(value) = &expected {
                prop_assert_eq!(Some(word.clone().unwrap()), value.to_word());
            }
        }
        if let Some(n) = code.constant() {
            prop_assert_eq!(word, Ok(n));
        }
        if !w.t.may_fault(t) {
            prop_assert!(expected.is_ok(), "{expected:?}");
        }
        if let (Some((lo, hi)), Ok(value)) = (w.t.bounds(t), &expected) {
            prop_assert!(IBig::from(lo) <= value.number() && value.number() <= IBig::from(hi));
        }
    }

    #[test]
    fn statements(choices in tape(), values in tape()) {
        let mut w = World::new();
        let s = w.stmt(3, false, &mut Tape::new(&choices));
        let code = match compile_stmt(&w.t, &w.layout, s) {
            Ok(code) => code,
            Err(e) => {
                prop_assert!(only_big_literals(&e), "{e}");
                return Ok(());
            }
        };
        let (env, mut mem) = w.valuation(&mut Tape::new(&values));
        let expected = exec(&w.t, s, State { env, host: Foreign(1) }, Limits::default());
        let mut host = Foreign(1);
        let done = code.exec(&mut mem, &mut host);
        match (expected, done) {
            (_, Err(Fault::Overflow)) => {}
            (Err(ExecError::Fault(fault)), done) => prop_assert_eq!(done, Err(fault)),
            (Ok(states), Ok(false)) => prop_assert!(states.is_empty()),
            (Ok(states), Ok(true)) => {
                prop_assert_eq!(states.len(), 1);
                prop_assert_eq!(&states[0].host, &host);
                for (&v, value) in &states[0].env {
                    let (at, len) = w.layout.slot(v).unwrap();
                    let cells = &mem[at as usize..][..len as usize];
                    match (w.t.variable(v).ty, value) {
                        (Type::Array(i, e), Value::Array(array)) => {
                            let (i, e) = (w.t.type_of_id(i), w.t.type_of_id(e));
                            let (lo, _) = w.t.type_bounds(i).unwrap();
                            for (k, &cell) in cells.iter().enumerate() {
                                let entry = array.get(&Value::from_word(i, lo + k as i64));
                                prop_assert_eq!(&Value::from_word(e, cell), entry);
                            }
                        }
                        (ty, value) => prop_assert_eq!(&Value::from_word(ty, cells[0]), value),
                    }
                }
            }
            (expected, done) => prop_assert!(false, "{expected:?} but {done:?}"),
        }
    }

    /// The shapes of guards that have instructions of their own, at and around the ends of machine words.
    #[test]
    fn guards(choices in tape(), values in tape()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let parts: Vec<TermId> = (0..=choices.pick(2)).map(|_| guard(&mut w, &mut choices)).collect();
        let t = w.t.intern(if choices.pick(2) == 0 { Term::And(parts.into()) } else { Term::Or(parts.into()) });
        let code = compile_term(&w.t, &w.layout, t);
        let Ok(code) = code else {
            prop_assert!(only_big_literals(&code.unwrap_err()));
            return Ok(());
        };
        let (env, mem) = w.valuation(&mut Tape::new(&values));
        let expected = eval(&w.t, t, &env, &mut Foreign(1));
        let word = code.eval(&mem, &mut Foreign(1));
        if word == Err(Fault::Overflow) {
            prop_assert!(large(&w.t, t, &env), "{}: {expected:?}", w.t.show(t));
        } else {
            prop_assert_eq!(word.map(|n| Value::Bool(n == 1)), expected, "{}", w.t.show(t));
        }
    }
}

#[test]
fn counting() {
    let mut t = Terms::new();
    let (x, y) = (t.declare("x", Type::Range(0, 3)), t.declare("y", Type::Int));
    let mut layout = Layout::new();
    layout.place(x, 0, 1);
    layout.place(y, 1, 1);
    let yt = t.var(y);
    for (k, lo, hi) in [(1, 0, 3), (1, -1, 2), (-1, 1, 5), (2, 0, 9), (i64::MAX, 0, 3), (0, 1, 2)] {
        let k = t.int(k);
        let sum = t.add([yt, k]);
        let checked = t.checked(sum, lo, hi);
        for (v, value) in [(x, sum), (x, checked), (y, sum), (y, checked)] {
            let s = t.assign(v, value);
            let code = compile_stmt(&t, &layout, s).unwrap();
            for n in [-2, -1, 0, 1, 2, 3, 4, i64::MAX] {
                let env = [(x, Value::Int(0.into())), (y, Value::Int(n.into()))].into();
                let mut mem = [0, n];
                let done = code.exec(&mut mem, &mut NoHost);
                match exec(&t, s, State { env, host: NoHost }, Limits::default()) {
                    _ if done == Err(Fault::Overflow) => assert!(n == i64::MAX || t.as_int(k) == Some(i64::MAX)),
                    Ok(states) => {
                        let word = |v| states[0].env[&v].to_word();
                        assert_eq!((done, word(x), word(y)), (Ok(true), Some(mem[0]), Some(mem[1])));
                    }
                    Err(ExecError::Fault(fault)) => assert_eq!(done, Err(fault)),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

/// A comparison of sums of few cells and constants.
fn guard(w: &mut World, choices: &mut Tape) -> TermId {
    let side = |w: &mut World, choices: &mut Tape| {
        let mut parts = vec![];
        for _ in 0..choices.pick(3) {
            let n = w.vars[[2, 3, 4, 5, 6][choices.pick(5)]];
            let n = w.t.var(n);
            let part = match choices.pick(6) {
                0 => {
                    let a = w.t.var(w.vars[16]);
                    w.t.select(a, n)
                }
                1 => {
                    let (a, i) = (w.t.var(w.vars[16]), w.t.int(choices.pick(4) as i64 - 1));
                    w.t.select(a, i)
                }
                2 => {
                    let k = w.t.int(choices.pick(4) as i64);
                    w.t.foreign(FnId(choices.pick(2) as u32), [k, k])
                }
                _ => n,
            };
            parts.push(if choices.pick(3) == 1 { w.t.neg(part) } else { part });
        }
        if parts.is_empty() || choices.pick(2) == 1 {
            let edge = [0, 1, 2, 3, -1, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1][choices.pick(9)];
            parts.push(w.t.int(edge));
        }
        w.t.add(parts)
    };
    let (a, b) = (side(w, choices), side(w, choices));
    let node = match choices.pick(3) {
        0 => Term::Eq(a, b),
        1 => Term::Lt(a, b),
        _ => Term::Le(a, b),
    };
    let t = w.t.intern(node);
    if choices.pick(3) == 1 { w.t.not(t) } else { t }
}
