//! Three-valued evaluation and execution never say more than every completion does.

use proptest::prelude::*;
use trellis_expr::eval::{Limits, State, Valuation, eval, exec};
use trellis_expr::partial::{Partial, exec_partial, judge};
use trellis_expr::ternary::eval_partial;
use trellis_expr::{Type, Value, VarId};

use crate::world::{Foreign, Tape, World, cases, tape};

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn sound(choices in tape(), values in tape(), others in prop::collection::vec(tape(), 12), hide in any::<u32>()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let ty = w.types[choices.pick(8)];
        let t = w.term(ty, 4, &mut choices);
        let (env, _) = w.valuation(&mut Tape::new(&values));
        let hidden = |v: VarId| hide >> (v.0 % 32) & 1 == 1;
        let partial = |v: VarId| if hidden(v) { None } else { env.get(&v).cloned() };
        let total = eval(&w.t, t, &env, &mut Foreign(1));
        let nothing_hidden = eval_partial(&w.t, t, |v| env.get(&v).cloned());
        // Foreign functions are never known; apart from them a total valuation determines everything.
        if let Some(value) = &nothing_hidden {
            prop_assert_eq!(Ok(value), total.as_ref());
        }
        let Some(value) = eval_partial(&w.t, t, partial) else { return Ok(()) };
        prop_assert_eq!(nothing_hidden.as_ref(), Some(&value));
        for other in &others {
            let (mut completion, _) = w.valuation(&mut Tape::new(other));
            for (&v, known) in &env {
                if !hidden(v) {
                    completion.insert(v, known.clone());
                }
            }
            prop_assert_eq!(eval(&w.t, t, &completion, &mut Foreign(1)), Ok(value.clone()));
        }
        // All completions of one hidden variable of a small type, the others being as in `env`.
        for v in w.t.free_vars(t).into_iter().filter(|&v| hidden(v)) {
            for other in Value::all(&w.t, w.t.variable(v).ty, 300).unwrap_or_default() {
                let mut completion = env.clone();
                completion.insert(v, other);
                prop_assert_eq!(eval(&w.t, t, &completion, &mut Foreign(1)), Ok(value.clone()));
            }
        }
    }
}

/// The valuations that agree with `env` on what is not hidden, as far as `others` go.
fn completions(w: &World, env: &Valuation, hidden: &dyn Fn(VarId) -> bool, others: &[Vec<u32>]) -> Vec<Valuation> {
    let complete = |other: &Vec<u32>| {
        let (mut completion, _) = w.valuation(&mut Tape::new(other));
        completion.extend(env.iter().filter(|(v, _)| !hidden(**v)).map(|(&v, value)| (v, value.clone())));
        completion
    };
    others.iter().map(complete).chain([env.clone()]).collect()
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn judged(choices in tape(), values in tape(), others in prop::collection::vec(tape(), 12), hide in any::<u32>()) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let ty = w.types[choices.pick(8)];
        let t = w.term(ty, 4, &mut choices);
        let (env, _) = w.valuation(&mut Tape::new(&values));
        let hidden = |v: VarId| hide >> (v.0 % 32) & 1 == 1;
        let partial = |v: VarId| if hidden(v) { None } else { env.get(&v).cloned() };
        let judged = judge(&w.t, t, partial);
        if let Some(value) = eval_partial(&w.t, t, partial) {
            prop_assert_eq!(judged.value.as_ref(), Some(&value));
            prop_assert!(judged.safe);
        }
        for completion in completions(&w, &env, &hidden, &others) {
            match eval(&w.t, t, &completion, &mut Foreign(1)) {
                Ok(value) => prop_assert!(judged.value.as_ref().is_none_or(|v| *v == value)),
                Err(fault) => prop_assert!(!judged.safe, "{}", fault),
            }
        }
    }

    #[test]
    fn executed(choices in tape(), values in tape(), others in prop::collection::vec(tape(), 8), hide in any::<u32>()) {
        let mut w = World::new();
        let s = w.stmt(4, true, &mut Tape::new(&choices));
        let (env, _) = w.valuation(&mut Tape::new(&values));
        let hidden = |v: VarId| hide >> (v.0 % 32) & 1 == 1;
        let mut after: Partial = env.iter().filter(|(v, _)| !hidden(**v)).map(|(&v, x)| (v, x.clone())).collect();
        let ended = exec_partial(&w.t, s, &mut after);
        for completion in completions(&w, &env, &hidden, &others) {
            let start = State { env: completion, host: Foreign(1) };
            match exec(&w.t, s, start, Limits { outcomes: 2000, iterations: 500 }) {
                Ok(outcomes) => {
                    prop_assert!(!ended.blocked || outcomes.is_empty());
                    for o in &outcomes {
                        for (v, value) in &after {
                            prop_assert_eq!(o.env.get(v), Some(value));
                        }
                    }
                }
                Err(trellis_expr::eval::ExecError::Fault(fault)) => {
                    prop_assert!(!ended.safe || fault == trellis_expr::Fault::Diverges, "{}", fault);
                }
                Err(_) => {}
            }
        }
    }
}

#[test]
fn absorbing() {
    let mut w = World::new();
    let (p, n) = (w.t.var(w.vars[0]), w.t.var(w.vars[5]));
    let zero = w.t.int(0);
    let no = w.t.bool(false);
    let is_zero = w.t.eq(n, zero);
    let quotient = w.t.div(trellis_expr::Division::Truncating, zero, n);
    let risky = w.t.eq(quotient, zero);
    let known = |w: &World, t, p: Option<bool>| {
        eval_partial(&w.t, t, |v| if v == w.vars[0] { p.map(Value::Bool) } else { None })
    };
    let t = w.t.intern(trellis_expr::Term::And([is_zero, p].into()));
    assert_eq!(known(&w, t, Some(false)), Some(Value::Bool(false)));
    assert_eq!(known(&w, t, Some(true)), None);
    let t = w.t.intern(trellis_expr::Term::And([risky, p].into()));
    assert_eq!(known(&w, t, Some(false)), None, "it may fault first");
    let t = w.t.intern(trellis_expr::Term::And([p, risky].into()));
    assert_eq!(known(&w, t, Some(false)), Some(Value::Bool(false)));
    let t = w.t.intern(trellis_expr::Term::Or([is_zero, p].into()));
    assert_eq!(known(&w, t, Some(true)), Some(Value::Bool(true)));
    let t = w.t.intern(trellis_expr::Term::And([is_zero, no].into()));
    assert_eq!(known(&w, t, None), Some(Value::Bool(false)));
    let t = w.t.intern(trellis_expr::Term::Ite(is_zero, p, p));
    assert_eq!(known(&w, t, Some(true)), Some(Value::Bool(true)));
    assert_eq!(w.t.ty(t), Type::Bool);
}
