//! A solver behind a pipe: only where `z3` is installed, except for what goes wrong.

use std::time::{Duration, Instant};

use trellis_expr::code::NoHost;
use trellis_expr::eval::eval;
use trellis_expr::{Division, Terms, Type, Value};
use trellis_smt::smtlib::{Logged, Process, read};
use trellis_smt::{Answer, Embedded, Meter, Reason, Solver};

use super::random::{Maker, Rng, valuation, variables};
use super::{Ignorant, run};

/// Z3, if it is there.
fn z3() -> Option<Process> {
    Process::new("z3").ok()
}

#[test]
fn a_solver_that_is_not_there_is_named() {
    let message = Process::new("no-such-solver").err().expect("no solver").to_string();
    assert!(message.starts_with("there is no solver `no-such-solver`; looked for: "), "{message}");
    let message = Process::new("./no/such/solver").err().expect("no solver").to_string();
    assert_eq!(message, "there is no solver `./no/such/solver`; looked for: ./no/such/solver");
}

#[test]
fn models_cores_and_levels() {
    let Some(mut z3) = z3() else { return };
    assert!(z3.version().contains("Z3"), "{}", z3.version());
    let mut terms = Terms::new();
    let (x, y) = (terms.declare("x", Type::Int), terms.declare("x", Type::Range(0, 9)));
    let (tx, ty, five) = (terms.var(x), terms.var(y), terms.int(5));
    let (below, above, same) = (terms.lt(tx, five), terms.lt(five, ty), terms.eq(tx, ty));
    z3.assert(&terms, above);
    assert!(z3.check(&terms, &[], &Meter::unlimited()).is_sat());
    z3.push();
    z3.assert(&terms, same);
    assert_eq!(z3.check(&terms, &[above, below], &Meter::unlimited()), Answer::Unsat(vec![1]));
    let Answer::Sat(model) = z3.check(&terms, &[above], &Meter::unlimited()) else { panic!("sat") };
    assert_eq!(model[&x], model[&y]);
    z3.pop();
    let twenty = terms.int(20);
    let far = terms.lt(twenty, ty);
    assert!(z3.check(&terms, &[far], &Meter::unlimited()).is_unsat());
    // Division by zero is neither true nor false.
    let quotient = terms.div(Division::Truncating, five, tx);
    let zero = terms.int(0);
    let (is_zero, positive) = (terms.eq(tx, zero), terms.lt(zero, quotient));
    let negated = terms.not(positive);
    assert!(z3.check(&terms, &[is_zero, positive], &Meter::unlimited()).is_unsat());
    assert!(z3.check(&terms, &[is_zero, negated], &Meter::unlimited()).is_unsat());
    assert!(z3.check(&terms, &[positive], &Meter::unlimited()).is_sat());
}

#[test]
fn a_check_that_takes_too_long_is_ended_and_the_next_is_right() {
    let Some(mut z3) = z3() else { return };
    let mut terms = Terms::new();
    let vars: Vec<_> = (0..3).map(|n| terms.declare(format!("v{n}"), Type::Int)).collect();
    let vars: Vec<_> = vars.into_iter().map(|v| terms.var(v)).collect();
    let (zero, one) = (terms.int(0), terms.int(1));
    let powers: Vec<_> = vars
        .iter()
        .map(|&v| {
            let square = terms.mul(v, v);
            terms.mul(square, v)
        })
        .collect();
    let sum = terms.add(powers.iter().copied());
    let n = terms.int(114);
    // Nobody knows.
    let hard = terms.eq(sum, n);
    let easy = terms.lt(zero, vars[0]);
    z3.assert(&terms, easy);
    z3.push();
    z3.assert(&terms, hard);
    let start = Instant::now();
    let answer = z3.check(&terms, &[], &Meter::unlimited().time(Duration::from_millis(600)));
    assert!(matches!(answer, Answer::Unknown(Reason::Time | Reason::Process(_))), "{answer:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    z3.pop();
    let not = terms.lt(vars[0], one);
    assert_eq!(z3.check(&terms, &[not], &Meter::unlimited()), Answer::Unsat(vec![0]));
    assert!(z3.check(&terms, &[], &Meter::unlimited()).is_sat());
}

/// The text of a random term says of random values what evaluation says, in the eyes of Z3.
#[test]
fn what_is_written_means_to_z3_what_it_means_to_us() {
    let Some(mut z3) = z3() else { return };
    let rounds = std::env::var("TRELLIS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut agreed = 0;
    let mut terms = Terms::new();
    let vars = variables(&mut terms);
    for seed in 0..rounds {
        let mut rng = Rng(seed ^ 0xabcdef);
        let t = Maker { terms: &mut terms, vars: &vars, rng: &mut rng, wild: true }
            .term(Type::Bool, 1 + (seed % 4) as usize);
        for _ in 0..3 {
            let env = valuation(&terms, &mut rng);
            z3.push();
            z3.assert(&terms, t);
            for v in terms.free_vars(t) {
                let var = terms.var(v);
                if let Some(literal) = terms.literal(&env[&v]) {
                    let pinned = terms.eq(var, literal);
                    z3.assert(&terms, pinned);
                } else if let (Value::Array(array), Type::Array(index, _)) = (&env[&v], terms.variable(v).ty) {
                    let index = terms.type_of_id(index);
                    let default = terms.literal(array.default()).expect("a scalar");
                    let mut whole = terms.const_array(terms.variable(v).ty, default);
                    for (n, value) in array.entries() {
                        let i = match index {
                            Type::Enum(e) => terms.enum_lit(e, u32::try_from(n).expect("small")),
                            ty => terms.number(ty, n.clone()),
                        };
                        let value = terms.literal(value).expect("a scalar");
                        whole = terms.store(whole, i, value);
                    }
                    let pinned = terms.eq(var, whole);
                    z3.assert(&terms, pinned);
                }
            }
            let holds = eval(&terms, t, &env, &mut NoHost) == Ok(Value::Bool(true));
            match z3.check(&terms, &[], &Meter::unlimited().time(Duration::from_secs(10))) {
                Answer::Sat(_) => assert!(holds, "seed {seed}: {env:?}"),
                Answer::Unsat(_) => assert!(!holds, "seed {seed}: {env:?}"),
                Answer::Unknown(Reason::Process(why)) if why.contains("(error") => panic!("seed {seed}: {why}"),
                Answer::Unknown(_) => agreed -= 1,
            }
            agreed += 1;
            z3.pop();
        }
    }
    assert!(agreed > rounds as i64 * 2, "only {agreed} of {} decided", rounds * 3);
}

/// Random functions of bit vectors have the values that Z3 gives them.
#[test]
fn bit_vectors_mean_what_z3_says() {
    if z3().is_none() {
        return;
    }
    let rounds = std::env::var("TRELLIS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut rng = Rng(99);
    let two = [
        "bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor", "bvnand", "bvnor", "bvxnor", "bvudiv", "bvurem", "bvsdiv",
        "bvsrem", "bvsmod", "bvshl", "bvlshr", "bvashr",
    ];
    for _ in 0..rounds {
        let widest = rng.pick(&[5, 64]);
        let width = 1 + rng.below(widest);
        let mut all = vec![];
        for _ in 0..60 {
            let mut part = || {
                let n = if rng.below(2) == 0 { rng.next() } else { rng.below(3) as u64 };
                format!("(_ bv{} {width})", n & (u64::MAX >> (64 - width)))
            };
            let (a, b) = (part(), part());
            let n = rng.below(width + 2);
            let term = match rng.below(6) {
                0 => format!("(bv2nat ((_ rotate_left {n}) {a}))"),
                1 => format!("(bv2nat ((_ rotate_right {n}) {a}))"),
                2 => format!(
                    "(ite ({} {a} {b}) 1 0)",
                    rng.pick(&["bvult", "bvule", "bvslt", "bvsle", "bvsgt", "bvsge", "bvugt", "bvuge"])
                ),
                _ => format!("(bv2nat ({} {a} {b}))", rng.pick(&two)),
            };
            let text = format!("(define-fun t () Int {term})(check-sat)(get-value (t))");
            let (out, _) = run(&text, &mut Always).expect("right");
            let value = out.trim().trim_start_matches("sat\n((t ").trim_end_matches("))").to_string();
            all.push((term, value));
        }
        let text: String = all.iter().map(|(t, v)| format!("(assert (= {t} {v}))\n")).collect();
        // The reader folds all this to `true`; what Z3 sees must be the text.
        let path = std::env::temp_dir().join(format!("trellis-bits-{}-{width}.smt2", std::process::id()));
        std::fs::write(&path, format!("{text}(check-sat)\n")).expect("a temporary file");
        let out = std::process::Command::new("z3").arg(&path).output().expect("z3 runs");
        let _ = std::fs::remove_file(&path);
        assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "sat", "{text}");
    }
}

/// Says yes to everything.
struct Always;

impl Solver for Always {
    fn push(&mut self) {}
    fn pop(&mut self) {}
    fn assert(&mut self, _: &Terms, _: trellis_expr::TermId) {}
    fn check(&mut self, _: &Terms, _: &[trellis_expr::TermId], _: &Meter) -> Answer {
        Answer::Sat(Default::default())
    }
}

#[test]
fn scripts_run_on_a_process() {
    let Some(mut z3) = z3() else { return };
    let text = "(set-option :produce-unsat-cores true)(declare-const x Int)(declare-const a (Array Int Int))
        (declare-const v (_ BitVec 8))(declare-datatypes ((C 0)) (((r) (g))))(declare-const c C)
        (assert (! (> (select a x) 7) :named big))(assert (= x (bv2nat v)))(assert (bvsgt v #x7d))(assert (distinct c r))(check-sat)
        (get-value (v c (> (select a x) 7)))
        (assert (! (< x 0) :named small))(check-sat)(get-unsat-core)";
    let (out, _) = run(text, &mut z3).unwrap();
    assert!(
        out.starts_with("sat\n((v #x7") && out.contains("(c g)\n ((> (select a x) 7) true))\nunsat\n(small)"),
        "{out}"
    );
}

#[test]
fn logs_can_be_read_again() {
    let folder = std::env::temp_dir().join(format!("trellis-log-{}", std::process::id()));
    let mut terms = Terms::new();
    let (x, r) = (terms.declare("x", Type::Int), terms.declare("x", Type::Range(1, 2)));
    let (x, r) = (terms.var(x), terms.var(r));
    let (less, same) = (terms.lt(x, r), terms.eq(x, r));
    for n in 1..3 {
        let mut log = Logged::new(Box::new(Ignorant), &folder).unwrap();
        assert!(log.path().ends_with(format!("000{n}.smt2")));
        log.assert(&terms, less);
        log.push();
        log.assert(&terms, same);
        log.check(&terms, &[less, same], &Meter::unlimited());
        log.pop();
        log.check(&terms, &[], &Meter::unlimited());
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert!(read(&text, &mut Terms::new()).is_ok(), "{text}");
        assert_eq!(text.matches("check-sat").count(), 2);
        assert_eq!(text.matches("; unknown: ").count(), 2);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The two solvers never contradict each other, on terms of every type. Not knowing is no contradiction.
#[test]
fn the_embedded_solver_does_not_contradict_z3() {
    let Some(mut z3) = z3() else { return };
    let rounds: u64 = std::env::var("TRELLIS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let first: u64 = std::env::var("TRELLIS_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut terms = Terms::new();
    let vars = variables(&mut terms);
    let mut both = 0;
    for seed in first..first + rounds {
        let mut rng = Rng(seed ^ 0x5eed);
        let n = 1 + rng.below(3);
        let mut maker = Maker { terms: &mut terms, vars: &vars, rng: &mut rng, wild: seed.is_multiple_of(2) };
        let goals: Vec<_> = (0..n).map(|_| maker.term(Type::Bool, 1 + (seed % 4) as usize)).collect();
        let mut ours = Embedded::new();
        z3.push();
        for &t in &goals {
            ours.assert(&terms, t);
            z3.assert(&terms, t);
        }
        let limits = || Meter::unlimited().time(Duration::from_secs(3));
        let answers = (ours.check(&terms, &[], &limits()), z3.check(&terms, &[], &limits()));
        z3.pop();
        match answers {
            (Answer::Sat(_), Answer::Unsat(_)) | (Answer::Unsat(_), Answer::Sat(_)) => {
                let text = trellis_smt::smtlib::script(&terms, &goals).unwrap_or_default();
                panic!("seed {seed}: {answers:?}\n{text}");
            }
            (Answer::Unknown(Reason::Process(why)), _) | (_, Answer::Unknown(Reason::Process(why)))
                if why.contains("(error") =>
            {
                panic!("seed {seed}: {why}")
            }
            (ours, theirs) if !matches!(ours, Answer::Unknown(_)) && !matches!(theirs, Answer::Unknown(_)) => both += 1,
            (ours, theirs) => {
                if std::env::var("TRELLIS_ROUNDS").is_ok() {
                    let show = |a: &Answer| match a {
                        Answer::Unknown(why) => why.to_string(),
                        a => format!("sat: {}", a.is_sat()),
                    };
                    eprintln!("seed {seed}: ours {}, theirs {}", show(&ours), show(&theirs));
                }
            }
        }
    }
    assert!(both > rounds / 3, "only {both} of {rounds} decided by both");
}
