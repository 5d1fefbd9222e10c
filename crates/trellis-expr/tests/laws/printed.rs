//! What terms and statements look like, raw and simplified.

use trellis_expr::simplify::simplify;
use trellis_expr::{BitOp, Division, FnId, Term, Terms, Type};

/// Names for the things the examples are made of.
struct Names {
    t: Terms,
    x: trellis_expr::TermId,
    y: trellis_expr::TermId,
    z: trellis_expr::TermId,
    p: trellis_expr::TermId,
    q: trellis_expr::TermId,
    a: trellis_expr::TermId,
    i: trellis_expr::TermId,
    red: trellis_expr::TermId,
    k: Vec<trellis_expr::TermId>,
}

fn names() -> Names {
    let mut t = Terms::new();
    let color = t.declare_enum("Color", vec!["red".into(), "green".into()]);
    let numbers = t.array_type(Type::Range(0, 3), Type::Int);
    let mut var = |name: &str, ty| {
        let v = t.declare(name, ty);
        t.var(v)
    };
    let (x, y, z) = (var("x", Type::Int), var("y", Type::Int), var("z", Type::Range(0, 9)));
    let (p, q) = (var("p", Type::Bool), var("q", Type::Bool));
    let (a, i) = (var("a", numbers), var("i", Type::Bits { width: 8, signed: true }));
    let red = t.enum_lit(color, 0);
    let k = (0..10).map(|n| t.int(n)).collect();
    Names { t, x, y, z, p, q, a, i, red, k }
}

#[track_caller]
fn shows(t: &Terms, term: trellis_expr::TermId, text: &str) {
    assert_eq!(t.show(term).to_string(), text);
}

#[track_caller]
fn simplifies(t: &mut Terms, term: trellis_expr::TermId, before: &str, after: &str) {
    shows(t, term, before);
    let simple = simplify(t, term);
    shows(t, simple, after);
}

#[test]
fn precedence() {
    let Names { mut t, x, y, z, p, q, a, i, red, k } = names();
    let t = &mut t;
    let sum = t.add([x, y]);
    let product = t.mul(sum, z);
    shows(t, product, "(x + y) * z");
    let negative = t.neg(y);
    let difference = t.add([x, negative, product]);
    shows(t, difference, "x - y + (x + y) * z");
    let nested = t.sub(x, sum);
    shows(t, nested, "x - (x + y)");
    let quotient = t.div(Division::Truncating, x, product);
    shows(t, quotient, "x / ((x + y) * z)");
    let remainder = t.rem(Division::Euclidean, quotient, k[3]);
    shows(t, remainder, "x / ((x + y) * z) mod 3");
    let minus = t.int(-5);
    let scaled = t.mul(minus, x);
    shows(t, scaled, "-5 * x");
    let shifted = t.add([x, minus]);
    shows(t, shifted, "x - 5");
    let doubly = t.intern(Term::Neg(minus));
    shows(t, doubly, "-(-5)");

    let (less, equal) = (t.lt(x, y), t.eq(x, k[3]));
    let both = t.and([less, equal]);
    let either = t.or([both, p]);
    shows(t, either, "x < y && x == 3 || p");
    let clauses = t.or([p, q]);
    let conjunction = t.and([clauses, less]);
    shows(t, conjunction, "(p || q) && x < y");
    let neither = t.not(clauses);
    shows(t, neither, "!(p || q)");
    let different = t.not(equal);
    shows(t, different, "x != 3");
    let not_less = t.not(less);
    shows(t, not_less, "x >= y");
    let above = t.lt(k[5], x);
    shows(t, above, "x > 5");
    let iff = t.eq(p, less);
    shows(t, iff, "p == (x < y)");

    let inner = t.ite(q, x, y);
    let choice = t.ite(p, z, inner);
    shows(t, choice, "p ? z : q ? x : y");
    let choice = t.ite(p, inner, z);
    shows(t, choice, "p ? (q ? x : y) : z");
    let choice = t.add([choice, k[1]]);
    shows(t, choice, "(p ? (q ? x : y) : z) + 1");

    let mask = t.bit(BitOp::And, x, k[7]);
    let test = t.eq(mask, k[4]);
    shows(t, test, "x & 7 == 4");
    let shift = t.bit(BitOp::Shl, sum, k[2]);
    let bits = t.bit(BitOp::Or, mask, shift);
    shows(t, bits, "x & 7 | x + y << 2");

    let entry = t.select(a, z);
    let stored = t.store(a, k[0], entry);
    let entry = t.select(stored, sum);
    shows(t, entry, "a[0 := a[z]][x + y]");
    let all = t.const_array(t.ty(a), k[7]);
    shows(t, all, "all(7)");
    let checked = t.checked(sum, 0, 9);
    shows(t, checked, "check(x + y, 0..9)");
    let word = t.convert(Type::Bits { width: 8, signed: false }, i);
    shows(t, word, "u8(i)");
    let literal = t.bits(8, true, 255);
    let same = t.eq(i, literal);
    shows(t, same, "i == -1i8");
    let call = t.foreign(FnId(2), [x, sum]);
    shows(t, call, "f2(x, x + y)");
    shows(t, red, "red");
    assert_eq!(t.show_type(t.ty(a)).to_string(), "[0..3] int");
}

#[test]
fn statements() {
    let Names { mut t, x, y, p, a, k, .. } = names();
    let t = &mut t;
    let var = |t: &Terms, term| match *t.get(term) {
        Term::Var(v) => v,
        _ => unreachable!(),
    };
    let (vx, va, vp) = (var(t, x), var(t, a), var(t, p));
    let next = t.add([x, k[1]]);
    let (count, free) = (t.assign(vx, next), t.havoc(vp));
    let stored = t.store(a, x, y);
    let put = t.assign(va, stored);
    let (less, skip) = (t.lt(x, k[3]), t.skip());
    let guard = t.assume(less);
    let seq = t.seq([guard, count, put]);
    assert_eq!(t.show_stmt(seq).to_string(), "assume x < 3; x := x + 1; a[x] := y");
    let choice = t.choice([seq, free]);
    assert_eq!(t.show_stmt(choice).to_string(), "choice { assume x < 3; x := x + 1; a[x] := y } or { havoc p }");
    let branch = t.branch(p, count, skip);
    let repeat = t.repeat(less, branch);
    assert_eq!(t.show_stmt(repeat).to_string(), "while x < 3 { if p { x := x + 1 } }");
    let call = t.call(FnId(1), [x]);
    let branch = t.branch(p, call, count);
    assert_eq!(t.show_stmt(branch).to_string(), "if p { f1(x) } else { x := x + 1 }");
}

#[test]
fn simple_forms() {
    let Names { mut t, x, y, z, p, q, a, i, k, .. } = names();
    let t = &mut t;
    let above = t.lt(k[5], x);
    let not = t.not(above);
    simplifies(t, not, "x <= 5", "x <= 5");
    let less = t.lt(x, k[6]);
    simplifies(t, less, "x < 6", "x <= 5");
    let plus = t.add([x, k[2]]);
    let le = t.le(plus, k[5]);
    simplifies(t, le, "x + 2 <= 5", "x <= 3");
    let minus = t.sub(k[5], x);
    let le = t.le(minus, k[2]);
    simplifies(t, le, "-x + 5 <= 2", "x >= 3");
    let (left, right) = (t.add([x, y, k[3]]), t.add([y, k[1]]));
    let le = t.lt(left, right);
    simplifies(t, le, "x + y + 3 < y + 1", "x <= -3");
    let (succ, pred) = (t.add([y, k[1]]), t.int(-1));
    let lt = t.lt(x, succ);
    simplifies(t, lt, "x < y + 1", "x <= y");
    let pred = t.add([y, pred]);
    let le = t.le(x, pred);
    simplifies(t, le, "x <= y - 1", "x < y");
    let twice = t.add([x, y, x]);
    simplifies(t, twice, "x + y + x", "2 * x + y");
    let (sum, same) = (t.add([x, y]), t.add([y, k[4]]));
    let difference = t.sub(sum, same);
    simplifies(t, difference, "x + y - (y + 4)", "x - 4");
    let in_range = t.le(z, k[9]);
    simplifies(t, in_range, "z <= 9", "true");
    let one = t.bits(8, true, 1);
    let wrapped = t.add([i, one]);
    let four = t.bits(8, true, 4);
    let le = t.le(wrapped, four);
    simplifies(t, le, "i + 1i8 <= 4i8", "i + 1i8 <= 4i8");
    let eq = t.eq(wrapped, four);
    simplifies(t, eq, "i + 1i8 == 4i8", "i == 3i8");

    let not_p = t.not(p);
    let never = t.and([p, q, not_p]);
    simplifies(t, never, "p && q && !p", "false");
    let ratio = t.div(Division::Truncating, x, y);
    let risky = t.lt(ratio, k[3]);
    let risky_never = t.and([risky, q, not_p, p]);
    simplifies(t, risky_never, "x / y < 3 && q && !p && p", "x / y <= 2 && false");
    let (some, eq) = (t.or([p, q]), t.eq(x, k[3]));
    let (conj, small) = (t.and([p, some]), t.le(x, k[5]));
    simplifies(t, conj, "p && (p || q)", "p");
    let conj = t.and([eq, small]);
    simplifies(t, conj, "x == 3 && x <= 5", "x == 3");
    let large = t.lt(k[5], x);
    let conj = t.and([eq, large]);
    simplifies(t, conj, "x == 3 && x > 5", "false");
    let both = t.and([p, eq]);
    let not = t.not(both);
    simplifies(t, not, "!(p && x == 3)", "!p || x != 3");

    let inner = t.ite(p, x, y);
    let outer = t.ite(p, inner, z);
    simplifies(t, outer, "p ? (p ? x : y) : z", "p ? x : z");
    let inner = t.ite(q, x, y);
    let outer = t.ite(p, x, inner);
    simplifies(t, outer, "p ? x : q ? x : y", "p || q ? x : y");
    let flag = t.ite(p, k[1], k[0]);
    let set = t.eq(flag, k[1]);
    simplifies(t, set, "(p ? 1 : 0) == 1", "p");

    let stored = t.store(a, k[1], x);
    let stored = t.store(stored, k[2], y);
    let read = t.select(stored, k[1]);
    simplifies(t, read, "a[1 := x][2 := y][1]", "x");
    let read = t.select(stored, k[3]);
    simplifies(t, read, "a[1 := x][2 := y][3]", "a[3]");
    let stored = t.store(a, k[1], ratio);
    let read = t.select(stored, k[3]);
    simplifies(t, read, "a[1 := x / y][3]", "a[1 := x / y][3]");
    let read = t.select(stored, k[1]);
    simplifies(t, read, "a[1 := x / y][1]", "x / y");
}
