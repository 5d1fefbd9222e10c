//! Compiled code answers as the reference evaluator does, fault for fault.

use dashu_int::IBig;
use proptest::prelude::*;
use trellis_expr::code::{Unsupported, compile_stmt, compile_term};
use trellis_expr::eval::{ExecError, Limits, State, Valuation, eval, exec};
use trellis_expr::{Fault, TermId, Terms, Type, Value};

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
}
