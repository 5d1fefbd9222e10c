//! Single cases worth stating.

use trellis_expr::code::{Host, Layout, NoHost, compile_stmt, compile_term};
use trellis_expr::eval::{ExecError, Limits, State, Valuation, eval, exec};
use trellis_expr::{BitOp, Division, Fault, FnId, Stmt, Term, Terms, Type, Value};

fn int(n: i64) -> Value {
    Value::Int(n.into())
}

#[test]
fn arrays_are_written_all_at_once() {
    let mut t = Terms::new();
    let ty = t.array_type(Type::Range(1, 3), Type::Int);
    let (a, b) = (t.declare("a", ty), t.declare("b", ty));
    let mut layout = Layout::new();
    layout.place(a, 0, 3);
    layout.place(b, 3, 3);
    let (at, bt) = (t.var(a), t.var(b));
    let (one, two) = (t.int(1), t.int(2));
    let (a1, a2) = (t.select(at, one), t.select(at, two));
    let first = t.store(at, one, a2);
    let swapped = t.store(first, two, a1);
    let swap = t.assign(a, swapped);
    let mut mem = vec![10, 20, 30, 1, 2, 3];
    let run = |t: &Terms, s, mem: &mut Vec<i64>| compile_stmt(t, &layout, s).unwrap().exec(mem, &mut NoHost);
    assert_eq!(run(&t, swap, &mut mem), Ok(true));
    assert_eq!(mem, [20, 10, 30, 1, 2, 3]);
    let copy = t.assign(a, bt);
    assert_eq!(run(&t, copy, &mut mem), Ok(true));
    assert_eq!(mem, [1, 2, 3, 1, 2, 3]);
    let over = t.store(bt, a2, a1);
    let over = t.assign(a, over);
    assert_eq!(run(&t, over, &mut mem), Ok(true));
    assert_eq!(mem, [1, 1, 3, 1, 2, 3]);
    let four = t.int(4);
    let beyond = t.store(at, four, one);
    let beyond = t.assign(a, beyond);
    assert_eq!(run(&t, beyond, &mut mem), Err(Fault::Index { index: 4, lo: 1, hi: 3 }));
    let same = t.eq(at, bt);
    let code = compile_term(&t, &layout, same).unwrap();
    assert_eq!(code.eval(&mem, &mut NoHost), Ok(0));
    assert_eq!(code.eval(&[7, 8, 9, 7, 8, 9], &mut NoHost), Ok(1));
}

#[test]
fn what_is_not_compiled_is_named() {
    let mut t = Terms::new();
    let x = t.declare("x", Type::Int);
    let unplaced = t.var(x);
    let error = compile_term(&t, &Layout::new(), unplaced).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot be compiled to machine words: the variable `x`, which has no place in memory"
    );
    let havoc = t.havoc(x);
    let skip = t.skip();
    let choice = t.choice([havoc, skip]);
    assert!(compile_stmt(&t, &Layout::new(), havoc).unwrap_err().what.contains("havoc"));
    assert!(compile_stmt(&t, &Layout::new(), choice).unwrap_err().what.contains("choice"));
    let inner = t.array_type(Type::Bool, Type::Bool);
    let nested = t.array_type(Type::Bool, inner);
    let a = t.declare("a", nested);
    let at = t.var(a);
    let same = t.intern(Term::Eq(at, at));
    let mut layout = Layout::new();
    layout.place(a, 0, 4);
    assert!(compile_term(&t, &layout, same).unwrap_err().what.contains("array of arrays"));
}

#[test]
fn loops_end() {
    let mut t = Terms::new();
    let x = t.declare("x", Type::Int);
    let mut layout = Layout::new();
    layout.place(x, 0, 1);
    let (xt, one, yes, ten) = (t.var(x), t.int(1), t.bool(true), t.int(10));
    let next = t.add([xt, one]);
    let count = t.assign(x, next);
    let less = t.lt(xt, ten);
    let ends = t.repeat(less, count);
    let mut mem = [3];
    assert_eq!(compile_stmt(&t, &layout, ends).unwrap().exec(&mut mem, &mut NoHost), Ok(true));
    assert_eq!(mem, [10]);
    let forever = t.repeat(yes, count);
    let code = compile_stmt(&t, &layout, forever).unwrap();
    assert_eq!(code.exec(&mut mem, &mut NoHost), Err(Fault::Diverges));
    let state = State { env: [(x, int(0))].into(), host: NoHost };
    let limits = Limits { iterations: 100, ..Limits::default() };
    assert_eq!(exec(&t, forever, state, limits), Err(ExecError::Fault(Fault::Diverges)));
}

#[test]
fn all_outcomes() {
    let mut t = Terms::new();
    let (x, y) = (t.declare("x", Type::Range(0, 3)), t.declare("y", Type::Int));
    let (xt, yt, two) = (t.var(x), t.var(y), t.int(2));
    let small = t.lt(xt, two);
    let (any, keep) = (t.havoc(x), t.assume(small));
    let (copy, skip) = (t.assign(y, xt), t.skip());
    let choice = t.choice([copy, skip]);
    let s = t.seq([any, keep, choice]);
    let start = State { env: [(x, int(3)), (y, int(7))].into(), host: NoHost };
    let mut after: Vec<_> = exec(&t, s, start.clone(), Limits::default()).unwrap().into_iter().map(|s| s.env).collect();
    after.sort_by_key(|env| (env[&x].to_word(), env[&y].to_word()));
    let env = |a, b| -> Valuation { [(x, int(a)), (y, int(b))].into() };
    assert_eq!(after, [env(0, 0), env(0, 7), env(1, 1), env(1, 7)]);
    let free = t.havoc(y);
    assert!(matches!(exec(&t, free, start.clone(), Limits::default()), Err(ExecError::TooMany { .. })));
    let three = t.assign(x, yt);
    let fault = Fault::OutOfRange { value: 7, lo: 0, hi: 3 };
    assert_eq!(exec(&t, three, start, Limits::default()), Err(ExecError::Fault(fault.clone())));
    assert_eq!(fault.to_string(), "the value 7 is outside its range 0 to 3");
}

#[test]
fn words() {
    let mut t = Terms::new();
    let env = Valuation::new();
    let value = |t: &Terms, term| eval(t, term, &env, &mut NoHost).map(|v| v.number());
    let (least, minus) = (t.bits(8, true, 0x80), t.bits(8, true, 0xff));
    let q = t.intern(Term::Div(Division::Truncating, least, minus));
    assert_eq!(value(&t, q), Ok((-128).into()), "wraps around");
    let shifted = t.intern(Term::Bit(BitOp::Shr, least, minus));
    assert_eq!(value(&t, shifted), Err(Fault::Shift { by: -1 }));
    let wide = t.convert(Type::Bits { width: 16, signed: false }, minus);
    assert_eq!(value(&t, wide), Ok(0xffff.into()), "sign-extended as in C");
    let (seven, three) = (t.int(-7), t.int(3));
    let quotient = |t: &mut Terms, d| {
        let (q, r) = (t.div(d, seven, three), t.rem(d, seven, three));
        (t.as_int(q), t.as_int(r))
    };
    assert_eq!(quotient(&mut t, Division::Truncating), (Some(-2), Some(-1)));
    assert_eq!(quotient(&mut t, Division::Euclidean), (Some(-3), Some(2)));
    let (one, unmasked) = (t.bits(1, false, 1), t.bits(1, false, 3));
    assert_eq!(one, unmasked, "one literal, one id");
}

/// Counts how often it is asked.
struct Counting(u32);

impl Host for Counting {
    fn query(&mut self, _: FnId, args: &[i64]) -> Result<i64, Fault> {
        self.0 += 1;
        Ok(args.iter().sum())
    }

    fn update(&mut self, _: FnId, _: &[i64]) -> Result<(), Fault> {
        Ok(())
    }
}

#[test]
fn foreign_functions_are_asked_only_when_needed() {
    let mut t = Terms::new();
    let p = t.declare("p", Type::Bool);
    let mut layout = Layout::new();
    layout.place(p, 0, 1);
    let (pt, one, two) = (t.var(p), t.int(1), t.int(2));
    let sum = t.foreign(FnId(0), [one, two]);
    let three = t.int(3);
    let is_three = t.eq(sum, three);
    let guard = t.and([pt, is_three]);
    let code = compile_term(&t, &layout, guard).unwrap();
    let mut host = Counting(0);
    assert_eq!((code.eval(&[0], &mut host), host.0), (Ok(0), 0));
    assert_eq!((code.eval(&[1], &mut host), host.0), (Ok(1), 1));
    let host: &mut dyn Host = &mut host;
    assert_eq!(code.eval(&[1], &mut { host }), Ok(1));
    assert_eq!(code.constant(), None);
    let closed = t.intern(Term::Add([one, two].into()));
    assert_eq!(compile_term(&t, &layout, closed).unwrap().constant(), Some(3));
    let call = t.intern_stmt(Stmt::Foreign(FnId(3), [one].into()));
    let fault = compile_stmt(&t, &layout, call).unwrap().exec(&mut [0], &mut NoHost).unwrap_err();
    assert_eq!(fault.to_string(), "there is no foreign procedure 3");
}
