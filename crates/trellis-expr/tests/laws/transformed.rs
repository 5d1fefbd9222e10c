//! Statements as formulas: unrollings, preconditions and postconditions say what the reference interpreter does.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trellis_expr::defined::{defined, holds};
use trellis_expr::eval::{Limits, State, Valuation, eval, exec};
use trellis_expr::partial::judge;
use trellis_expr::ssa::{Unrolling, Unsupported};
use trellis_expr::transform::{Quantified, Transformer, sp, wep, wlp};
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, Value, VarId};

use crate::world::{Foreign, Tape, World, cases, tape};

const NO: Option<Value> = Some(Value::Bool(false));
const YES: Option<Value> = Some(Value::Bool(true));

fn value(terms: &Terms, t: TermId, env: &Valuation) -> Option<Value> {
    eval(terms, t, env, &mut Foreign(1)).ok()
}

/// All runs that end without a fault, each by itself: another one may fault.
fn runs(terms: &Terms, s: StmtId, env: Valuation) -> Vec<Valuation> {
    match terms.stmt(s) {
        Stmt::Seq(parts) => parts
            .iter()
            .fold(vec![env], |envs, &p| dedup(envs.into_iter().flat_map(|env| runs(terms, p, env)).collect())),
        Stmt::Choice(parts) => parts.iter().flat_map(|&p| runs(terms, p, env.clone())).collect(),
        &Stmt::If(c, a, b) => match value(terms, c, &env) {
            YES => runs(terms, a, env),
            NO => runs(terms, b, env),
            _ => vec![],
        },
        _ => match exec(terms, s, State { env, host: Foreign(1) }, Limits::default()) {
            Ok(outcomes) => outcomes.into_iter().map(|o| o.env).collect(),
            Err(_) => vec![],
        },
    }
}

fn dedup(envs: Vec<Valuation>) -> Vec<Valuation> {
    let mut by_name: BTreeMap<String, Valuation> = BTreeMap::new();
    for env in envs {
        by_name.insert(key(&env), env);
    }
    by_name.into_values().collect()
}

/// Arrays are equal if their entries are; written out from the default and the entries this is not so. All of ours are small.
fn key(env: &Valuation) -> String {
    let text = |value: &Value| match value {
        Value::Array(a) => {
            let entry = |n: u32| a.get(&Value::Int(n.into())).number().to_string();
            (0..3).map(entry).collect::<Vec<_>>().join(" ")
        }
        value => value.number().to_string(),
    };
    env.iter().map(|(v, value)| format!("{}={};", v.0, text(value))).collect()
}

/// The solutions of a formula that extend the valuation to these variables; none if there are too many to look for.
fn solutions(terms: &Terms, t: TermId, env: Valuation, vars: &[VarId], work: &mut u32) -> Option<Vec<Valuation>> {
    *work = work.checked_sub(1)?;
    if judge(terms, t, |v| env.get(&v).cloned()).value == NO {
        return Some(vec![]);
    }
    let Some((&v, rest)) = vars.split_first() else { return Some(vec![env]) };
    let mut all = vec![];
    for value in Value::all(terms, terms.variable(v).ty, 1000)? {
        let mut env = env.clone();
        env.insert(v, value);
        all.extend(solutions(terms, t, env, rest, work)?);
    }
    Some(all)
}

/// For all values of the bound variables, or for some; none if there are too many.
fn quantified(terms: &Terms, q: &Quantified, env: &Valuation, all: bool, work: &mut u32) -> Option<bool> {
    let mut envs = vec![env.clone()];
    for &v in &q.bound {
        let values = Value::all(terms, terms.variable(v).ty, 1000)?;
        let with = |env: Valuation| {
            values.iter().map(move |value| {
                let mut env = env.clone();
                env.insert(v, value.clone());
                env
            })
        };
        envs = envs.into_iter().flat_map(with).collect();
        *work = work.checked_sub(envs.len() as u32)?;
    }
    let mut answers = envs.iter().map(|env| value(terms, q.term, env).expect("it never faults") == Value::Bool(true));
    Some(if all { answers.all(|b| b) } else { answers.any(|b| b) })
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn definedness(choices in tape(), values in prop::collection::vec(tape(), 6)) {
        let mut w = World::new();
        let mut choices = Tape::new(&choices);
        let ty = w.types[[0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10][choices.pick(14)]];
        let t = w.term(ty, 4, &mut choices);
        let Ok(has_value) = defined(&mut w.t, t) else { return Ok(()) };
        // Saying it twice says nothing new, and not much more.
        let twice = defined(&mut w.t, has_value).unwrap();
        for values in &values {
            let (env, _) = w.valuation(&mut Tape::new(values));
            let expected = value(&w.t, t, &env);
            prop_assert_eq!(value(&w.t, has_value, &env), Some(Value::Bool(expected.is_some())), "{}", w.t.show(t));
            prop_assert_eq!(value(&w.t, twice, &env), YES);
            if ty == Type::Bool {
                let is_true = holds(&mut w.t, t).unwrap();
                prop_assert_eq!(value(&w.t, is_true, &env), Some(Value::Bool(expected == YES)), "{}", w.t.show(t));
            }
        }
    }

    #[test]
    fn preconditions_without_faults(choices in tape(), more in tape(), values in prop::collection::vec(tape(), 8)) {
        let mut w = World::new();
        let s = w.stmt(4, true, &mut Tape::new(&choices));
        let t = w.term(Type::Bool, 3, &mut Tape::new(&more));
        let Some(before) = wep(&mut w.t, s, t) else { return Ok(()) };
        for values in &values {
            let (env, _) = w.valuation(&mut Tape::new(values));
            let start = State { env: env.clone(), host: Foreign(1) };
            let Ok(outcomes) = exec(&w.t, s, start, Limits { outcomes: 2000, iterations: 500 }) else { continue };
            let after: Result<Vec<Value>, _> =
                outcomes.into_iter().map(|mut o| eval(&w.t, t, &o.env, &mut o.host)).collect();
            let Ok(after) = after else { continue };
            let can = after.contains(&Value::Bool(true));
            prop_assert_eq!(eval(&w.t, before, &env, &mut Foreign(1)), Ok(Value::Bool(can)));
        }
    }
}

proptest! {
    #![proptest_config(cases(700))]

    #[test]
    fn unrolled(choices in tape(), more in tape()) {
        let mut choices = Tape::new(&choices);
        let mut w = World::small(&mut choices);
        let path = [w.stmt(3, true, &mut choices), w.stmt(2, true, &mut choices)];
        let mut more = Tape::new(&more);
        let mut unrolling = Unrolling::new();
        let formulas = path.map(|s| unrolling.step(&mut w.t, s).unwrap());
        let formula = w.t.and(formulas);
        let last: BTreeMap<VarId, VarId> = w.vars.iter().map(|&v| (unrolling.version(v, 2), v)).collect();
        let mut others: Vec<VarId> = w.t.free_vars(formula).into_iter().chain(last.keys().copied()).collect();
        others.retain(|v| !w.vars.contains(v));
        others.sort();
        others.dedup();
        let starts = w.all();
        for _ in 0..6 {
            let start = starts[more.pick(starts.len())].clone();
            let Some(found) = solutions(&w.t, formula, start.clone(), &others, &mut 20_000) else { continue };
            let found: Vec<Valuation> = found.iter().map(|model| {
                // Whatever else they say, the formulas do not fault.
                let full = model.clone();
                assert_eq!(value(&w.t, formula, &full), YES);
                let end = unrolling.state(model, 2);
                end.into_iter().filter(|(v, _)| w.vars.contains(v)).collect()
            }).collect();
            let middle = dedup(runs(&w.t, path[0], start));
            let expected = dedup(middle.into_iter().flat_map(|env| runs(&w.t, path[1], env)).collect());
            let keys = |envs: Vec<Valuation>| dedup(envs).iter().map(key).collect::<Vec<_>>();
            prop_assert_eq!(keys(found), keys(expected), "{}", w.t.show(formula));
        }
        // There and back again.
        let t = w.term(Type::Bool, 3, &mut more);
        for position in 0..=2 {
            let said = unrolling.at(&mut w.t, t, position);
            let back = unrolling.back(&mut w.t, said, position).unwrap();
            let env = &starts[more.pick(starts.len())];
            prop_assert_eq!(value(&w.t, back, env), value(&w.t, t, env));
        }
        // Another path takes the same names.
        let declared = w.t.variables().count();
        unrolling.restart();
        prop_assert_eq!(path.map(|s| unrolling.step(&mut w.t, s).unwrap()), formulas);
        prop_assert_eq!(w.t.variables().count(), declared);
    }

    #[test]
    fn before(choices in tape(), more in tape()) {
        let mut choices = Tape::new(&choices);
        let mut w = World::small(&mut choices);
        let s = w.stmt(3, true, &mut choices);
        let mut more = Tape::new(&more);
        let post = w.term(Type::Bool, 3, &mut more);
        // What was bound before is bound again.
        let mut transformer = Transformer::new();
        transformer.sp(&mut w.t, post, s).unwrap();
        let before = transformer.wlp(&mut w.t, s, post).unwrap();
        let mut work = 100_000;
        for env in w.all() {
            let expected = runs(&w.t, s, env.clone()).iter().all(|after| value(&w.t, post, after) == YES);
            let Some(found) = quantified(&w.t, &before, &env, true, &mut work) else { break };
            prop_assert_eq!(found, expected, "before {}", w.t.show(before.term));
        }
    }

    #[test]
    fn after(choices in tape(), more in tape()) {
        let mut choices = Tape::new(&choices);
        let mut w = World::small(&mut choices);
        let s = w.stmt(3, true, &mut choices);
        let mut more = Tape::new(&more);
        let pre = w.term(Type::Bool, 3, &mut more);
        let mut transformer = Transformer::new();
        transformer.wlp(&mut w.t, s, pre).unwrap();
        let after = transformer.sp(&mut w.t, pre, s).unwrap();
        let starts: Vec<Valuation> = w.all().into_iter().filter(|env| value(&w.t, pre, env) == YES).collect();
        let ends: Vec<Valuation> = starts.into_iter().flat_map(|env| runs(&w.t, s, env)).collect();
        let ends: Vec<String> = dedup(ends).iter().map(key).collect();
        let mut work = 100_000;
        for env in w.all() {
            let Some(found) = quantified(&w.t, &after, &env, false, &mut work) else { break };
            prop_assert_eq!(found, ends.contains(&key(&env)), "after {}", w.t.show(after.term));
        }
    }
}

#[test]
fn bound_only_where_needed() {
    let mut w = World::new();
    let (x, n) = (w.vars[2], w.vars[5]);
    let (xt, nt) = (w.t.var(x), w.t.var(n));
    let (three, five) = (w.t.int(3), w.t.int(5));
    let pre = w.t.le(nt, five);
    // Undone.
    let sum = w.t.add([nt, xt, three]);
    let s = w.t.assign(n, sum);
    assert_eq!(sp(&mut w.t, pre, s).unwrap().bound, vec![]);
    // Not mentioned.
    let s = w.t.assign(x, nt);
    assert_eq!(sp(&mut w.t, pre, s).unwrap().bound, vec![]);
    // Known.
    let known = w.t.eq(nt, xt);
    let pre = w.t.and([pre, known]);
    let s = w.t.havoc(n);
    let after = sp(&mut w.t, pre, s).unwrap();
    assert_eq!(after.bound, vec![]);
    assert!(!w.t.free_vars(after.term).contains(&n));
    // Known, but what is known does not say that it fits.
    let s = w.t.havoc(x);
    let after = sp(&mut w.t, known, s).unwrap();
    for (k, expected) in [(2, YES), (4, NO)] {
        assert_eq!(value(&w.t, after.term, &Valuation::from([(n, Value::Int(k.into()))])), expected);
    }
    // Needed.
    let s = w.t.havoc(n);
    let pre = w.t.le(nt, xt);
    assert_eq!(sp(&mut w.t, pre, s).unwrap().bound.len(), 1);
    assert_eq!(wlp(&mut w.t, s, pre).unwrap().bound.len(), 1);
}

#[test]
fn branches_are_not_multiplied_out() {
    let mut w = World::new();
    let (n, m) = (w.vars[5], w.vars[6]);
    let (nt, mt) = (w.t.var(n), w.t.var(m));
    let one = w.t.int(1);
    let (up, down) = (w.t.add([nt, one]), w.t.add([nt, mt]));
    let (a, b) = (w.t.assign(n, up), w.t.assign(n, down));
    let choice = w.t.choice([a, b]);
    let path = w.t.seq(vec![choice; 50]);
    let mut unrolling = Unrolling::new();
    let before = w.t.len();
    let formula = unrolling.step(&mut w.t, path).unwrap();
    assert!(w.t.len() < before + 1000);
    assert_eq!(unrolling.version(m, 1), m);
    assert_eq!(w.t.variable(unrolling.version(n, 1)).name, "n@50");
    assert_eq!(w.t.free_vars(formula).len(), 52);
}

#[test]
fn refused() {
    let mut w = World::new();
    let p = w.t.var(w.vars[0]);
    let skip = w.t.skip();
    let endless = w.t.repeat(p, skip);
    let set = w.t.havoc(w.vars[0]);
    let both = w.t.seq([set, endless]);
    let call = w.t.call(trellis_expr::FnId(3), []);
    let mut unrolling = Unrolling::new();
    assert_eq!(unrolling.step(&mut w.t, both), Err(Unsupported::Loop));
    assert_eq!(unrolling.position(), 0);
    assert_eq!(unrolling.version(w.vars[0], 0), w.vars[0]);
    assert_eq!(unrolling.step(&mut w.t, call), Err(Unsupported::Procedure(trellis_expr::FnId(3))));
    assert_eq!(wlp(&mut w.t, endless, p), Err(Unsupported::Loop));
    assert_eq!(sp(&mut w.t, p, call), Err(Unsupported::Procedure(trellis_expr::FnId(3))));
}
