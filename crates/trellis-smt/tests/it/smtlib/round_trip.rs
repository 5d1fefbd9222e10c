//! What is written and read back means the same.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::value::ArrayValue;
use trellis_expr::{Terms, Type, Value};
use trellis_smt::smtlib::{self, Command, Writer};

use super::random::{Maker, Rng, valuation, variables};

/// A value as the text has it: enumerations are integers, words are unsigned.
fn written(terms: &Terms, to: &Terms, ty: Type, value: &Value) -> Value {
    match (ty, value) {
        (_, Value::Enum(_, n)) => Value::Int((*n).into()),
        (_, Value::Bits { width, bits, .. }) => Value::Bits { width: *width, signed: false, bits: *bits },
        (Type::Array(index, entry), Value::Array(array)) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let index_sort = match index {
                Type::Range(..) | Type::Enum(_) => Type::Int,
                Type::Bits { width, .. } => Type::Bits { width, signed: false },
                ty => ty,
            };
            let mut out = ArrayValue::new(to, index_sort, written(terms, to, entry, array.default()));
            for (n, v) in array.entries() {
                let i = match index_sort {
                    Type::Bits { width, signed } => Value::wrap(width, signed, n),
                    _ => Value::Int(n.clone()),
                };
                out.set(&i, written(terms, to, entry, v));
            }
            Value::Array(out)
        }
        (_, value) => value.clone(),
    }
}

fn round_trip(seed: u64, depth: usize) -> Option<bool> {
    let mut rng = Rng(seed);
    let mut terms = Terms::new();
    let vars = variables(&mut terms);
    let t =
        Maker { terms: &mut terms, vars: &vars, rng: &mut rng, wild: seed.is_multiple_of(3) }.term(Type::Bool, depth);
    let mut writer = Writer::new();
    let text = match writer.assert(&terms, t) {
        Ok(text) => text,
        Err(what) => {
            assert!(what.contains("bitwise"), "{what}");
            return None;
        }
    };
    let mut again = Terms::new();
    let commands = smtlib::read(&text, &mut again).unwrap_or_else(|e| panic!("seed {seed}: {e} in\n{text}"));
    let mut asserted = vec![];
    for (_, command) in &commands {
        if let Command::Assert(t, _) = command {
            match t {
                Ok(t) => asserted.push(*t),
                Err(f) => {
                    assert!(
                        f.what.contains("no literal") || f.what.contains("by zero"),
                        "seed {seed}: {f:?} in\n{text}"
                    );
                    return None;
                }
            }
        }
    }
    let (&last, bounds) = asserted.split_last().expect("an assertion");
    let mut satisfied = false;
    for _ in 0..12 {
        let env = valuation(&terms, &mut rng);
        let mut env_again = Valuation::new();
        for (_, command) in &commands {
            if let Command::Declare(name, Ok(v)) = command {
                let plain = |w: &str| w.trim_matches('|') == name;
                let of = vars.iter().find(|&&v| writer.variable(v).is_some_and(plain)).expect("a variable");
                let value = written(&terms, &again, terms.variable(*of).ty, &env[of]);
                env_again.insert(*v, value);
            }
        }
        for &b in bounds {
            let holds = eval(&again, b, &env_again, &mut NoHost);
            assert_eq!(holds, Ok(Value::Bool(true)), "seed {seed}: a bound in\n{text}\n{env:?}");
        }
        let holds = eval(&terms, t, &env, &mut NoHost) == Ok(Value::Bool(true));
        satisfied |= holds;
        let here = eval(&again, last, &env_again, &mut NoHost);
        assert_eq!(here, Ok(Value::Bool(holds)), "seed {seed}:\n{text}\n{env:?}");
    }
    Some(satisfied)
}

#[test]
fn what_is_written_and_read_back_means_the_same() {
    let rounds = std::env::var("TRELLIS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let (mut compared, mut satisfied) = (0, 0);
    for seed in 0..rounds {
        if let Some(s) = round_trip(seed, 1 + (seed % 5) as usize) {
            compared += 1;
            satisfied += u64::from(s);
        }
    }
    assert!(compared > rounds / 2, "only {compared} of {rounds} compared");
    assert!(satisfied > rounds / 8, "only {satisfied} ever true");
}

#[test]
fn sharing_and_depth_do_not_blow_up() {
    let mut terms = Terms::new();
    let x = terms.declare("x", Type::Int);
    let b = terms.declare("b", Type::Bool);
    let (mut t, b) = (terms.var(x), terms.var(b));
    let (one, x) = (terms.int(1), terms.var(x));
    for n in 0..5000 {
        let n = terms.int(n);
        let below = terms.lt(t, n);
        let c = terms.ite(below, x, t);
        let sum = terms.add([t, one]);
        t = terms.ite(b, c, sum);
    }
    let zero = terms.int(0);
    let goal = terms.lt(t, zero);
    let text = smtlib::script(&terms, &[goal]).unwrap();
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    let mut again = Terms::new();
    assert!(smtlib::read(&text, &mut again).is_ok());
    assert!(text.lines().all(|l| l.len() < 10_000));
}

#[test]
fn levels_forget_what_they_declared() {
    let mut terms = Terms::new();
    let x = terms.declare("x", Type::Range(0, 9));
    let x = terms.var(x);
    let three = terms.int(3);
    let goal = terms.lt(x, three);
    let mut writer = Writer::new();
    let mut text = writer.push();
    text += &writer.assert(&terms, goal).unwrap();
    text += &writer.pop();
    text += &writer.assert(&terms, goal).unwrap();
    assert_eq!(text.matches("declare-const x Int").count(), 2);
    assert_eq!(text.matches("(<= 0 x 9)").count(), 2);
    assert!(smtlib::read(&text, &mut Terms::new()).is_ok());
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let mut terms = Terms::new();
    let x = terms.declare("x", Type::Range(0, 9));
    let x = terms.var(x);
    let three = terms.int(3);
    let odd = terms.bit(trellis_expr::BitOp::And, x, three);
    let (bad, good) = (terms.eq(odd, three), terms.lt(x, three));
    let mut writer = Writer::new();
    assert!(writer.assert(&terms, bad).is_err());
    let text = writer.assert(&terms, good).unwrap();
    assert!(text.contains("(declare-const x Int)") && text.contains("(<= 0 x 9)"), "{text}");
}
