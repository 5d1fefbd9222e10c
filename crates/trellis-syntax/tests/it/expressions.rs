//! Operators: how tightly they bind, which way they lean, and what they cover in the source.

use trellis_syntax::uppaal::ast::ExprKind;
use trellis_syntax::uppaal::parse_expr;

use crate::show::{SOURCE, covered, expr};

#[test]
fn precedence_is_that_of_the_help_page() {
    // Each row binds tighter than the next; the neighbours are tried both ways round.
    let rows = [
        ("*", "Mul"),
        ("+", "Add"),
        ("<<", "Shl"),
        ("<?", "Min"),
        ("<", "Lt"),
        ("==", "Eq"),
        ("&", "BitAnd"),
        ("^", "BitXor"),
        ("|", "BitOr"),
        ("&&", "And"),
        ("||", "Or"),
    ];
    for (i, (tight, tight_name)) in rows.iter().enumerate() {
        for (loose, loose_name) in &rows[i + 1..] {
            assert_eq!(expr(&format!("a {tight} b {loose} c")), format!("((a {tight_name} b) {loose_name} c)"));
            assert_eq!(expr(&format!("a {loose} b {tight} c")), format!("(a {loose_name} (b {tight_name} c))"));
        }
    }
}

#[test]
fn operators_of_one_row_lean_left() {
    assert_eq!(expr("a - b + c - d"), "(((a Sub b) Add c) Sub d)");
    assert_eq!(expr("a / b % c * d"), "(((a Div b) Mod c) Mul d)");
    assert_eq!(expr("a < b <= c"), "((a Lt b) Le c)");
    assert_eq!(expr("a >? b <? c"), "((a Max b) Min c)");
    assert_eq!(expr("a imply b imply c"), "((a Imply b) Imply c)");
    assert_eq!(expr("a or b imply c || d"), "(((a Or b) Imply c) Or d)");
    assert_eq!(expr("a && b and c"), "((a And b) And c)");
    assert_eq!(expr("a or b and c imply d"), "((a Or (b And c)) Imply d)");
}

#[test]
fn not_binds_as_tightly_as_its_sign() {
    assert_eq!(expr("not a == b"), "((Not a) Eq b)");
    assert_eq!(expr("!a == b"), "((Not a) Eq b)");
    assert_eq!(expr("not a and not b"), "((Not a) And (Not b))");
    assert_eq!(expr("not (a and b)"), "(Not (a And b))");
    assert_eq!(expr("!!-+a"), "(Not (Not (Neg (Plus a))))");
    assert_eq!(expr("-a.b[1]"), "(Neg a.b[1])");
}

#[test]
fn xor_is_unequal_truth() {
    assert_eq!(expr("a xor b"), "((Not a) Ne (Not b))");
    assert_eq!(expr("xor + 1"), "(xor Add 1)");
}

#[test]
fn assignments_and_conditionals_lean_right() {
    assert_eq!(expr("a = b = c"), "(a = (b = c))");
    assert_eq!(expr("a := b + 1"), "(a = (b Add 1))");
    assert_eq!(expr("a ? b : c ? d : e"), "(a ? b : (c ? d : e))");
    assert_eq!(expr("a ? b ? c : d : e"), "(a ? (b ? c : d) : e)");
    assert_eq!(expr("x = a ? b : c"), "(x = (a ? b : c))");
    assert_eq!(expr("a || b ? c : d"), "((a Or b) ? c : d)");
    for (sign, name) in [
        ("+=", "Add"),
        ("-=", "Sub"),
        ("*=", "Mul"),
        ("/=", "Div"),
        ("%=", "Mod"),
        ("&=", "BitAnd"),
        ("|=", "BitOr"),
        ("^=", "BitXor"),
        ("<<=", "Shl"),
        (">>=", "Shr"),
    ] {
        assert_eq!(expr(&format!("a {sign} b + c")), format!("(a {name}= (b Add c))"));
    }
}

#[test]
fn postfix_operators_chain() {
    assert_eq!(expr("a[1][2].b.c[d]"), "a[1][2].b.c[d]");
    assert_eq!(expr("P(1).x"), "P(1).x");
    assert_eq!(expr("v.join(w).size()"), "v.join(w).size()");
    assert_eq!(expr("x++ + ++y"), "((x++) Add (++y))");
    assert_eq!(expr("x-- - --y"), "((x--) Sub (--y))");
    assert_eq!(expr("x' == 1"), "(x' Eq 1)");
    assert_eq!(expr("f()"), "f()");
    assert_eq!(expr("f(a, b = 1, c ? d : e)"), "f(a, (b = 1), (c ? d : e))");
    assert_eq!(expr("x-->y"), "((x--) Gt y)");
}

#[test]
fn quantifiers_reach_to_the_right() {
    assert_eq!(expr("forall (i : id_t) a[i] && b"), "(Forall i:id_t (a[i] And b))");
    assert_eq!(expr("a && exists (i : int[0,3]) b || c"), "(a And (Exists i:int[0,3] (b Or c)))");
    assert_eq!(expr("sum (i : id_t) a[i] + 1 > 2"), "(Sum i:id_t ((a[i] Add 1) Gt 2))");
    assert_eq!(expr("forall (i : id_t) forall (j : scalar[3]) a"), "(Forall i:id_t (Forall j:scalar[3] a))");
    // `sum` is only a word where it binds something.
    assert_eq!(expr("sum + sum(1)"), "(sum Add sum(1))");
}

#[test]
fn literals() {
    assert_eq!(expr("true && false || deadlock"), "((true And false) Or deadlock)");
    assert_eq!(expr("2147483647"), "2147483647");
    assert_eq!(expr("-2147483648"), "(Neg 2147483648)");
    assert_eq!(expr("1.5 + 2e3"), "(<the floating-point number 1.5> Add <the floating-point number 2e3>)");
    assert_eq!(expr("\"text\""), "<a string>");
    assert_eq!(expr("spawn P(1)"), "<spawn>");
}

#[test]
fn spans_cover_the_whole_expression() {
    let text = "  x + (y * 2) // no more";
    let e = parse_expr(SOURCE, text).0.expect("an expression");
    assert_eq!(covered(text, e.span), "x + (y * 2)");
    let ExprKind::Binary(_, left, right) = &e.kind else { panic!("{e:?}") };
    assert_eq!(covered(text, left.span), "x");
    assert_eq!(covered(text, right.span), "(y * 2)");
}

#[test]
fn comments_and_blanks_mean_nothing() {
    assert_eq!(expr("a /* + b */ + // x\n c\t\r\n"), "(a Add c)");
    assert_eq!(expr("\u{feff}a"), "a");
}
