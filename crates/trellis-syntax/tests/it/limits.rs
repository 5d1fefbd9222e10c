//! Input that is too deep, too long or too large: an error with a place, soon, and no overflow, whatever is done with
//! the tree.

use trellis_syntax::uppaal::ast::{Decl, Expr, ExprKind, Init};
use trellis_syntax::uppaal::{parse_expr, parse_queries, parse_xml, parse_xta};

use crate::show::SOURCE;

fn height(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Binary(_, a, b) => 1 + height(a).max(height(b)),
        _ => 1,
    }
}

#[test]
fn nesting_stops_at_two_hundred() {
    let nested = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert!(parse_expr(SOURCE, &nested(150)).1.is_empty());
    for open in ["(", "!", "-", "a[", "f(", "++", "a?", "forall(i:t)", "x=", "a+("] {
        let (_, diags) = parse_expr(SOURCE, &open.repeat(100_000));
        assert_eq!(diags.len(), 1, "{open}");
        assert!(diags[0].message.contains("200"), "{open}: {}", diags[0].message);
        assert!(diags[0].span.is_some());
    }
}

#[test]
fn blocks_types_and_initialisers_stop_too() {
    for (head, open) in [
        ("void f() {", "{"),
        ("void f() {", "if (a) "),
        ("void f() {", "if (a) b; else { "),
        ("void f() {", "while (a) "),
        ("void f() {", "do "),
        ("void f() {", "for (;;) "),
        ("void f() {", "for (i : t) "),
        ("", "struct { "),
        ("int a = ", "{"),
        ("int a = ", "{ a: "),
        ("int ", "a[int["),
        ("typedef ", "scalar["),
    ] {
        let text = format!("{head}{}", open.repeat(50_000));
        let (nta, diags) = parse_xta(SOURCE, &text);
        assert!((1..=20).contains(&diags.len()), "{open}: {}", diags.len());
        drop(nta.clone());
    }
}

#[test]
fn long_chains_are_refused_or_balanced() {
    // Few enough: as written.
    let (expr, diags) = parse_expr(SOURCE, &vec!["1"; 400].join("+"));
    assert!(diags.is_empty());
    assert_eq!(height(&expr.expect("an expression")), 400);
    // Too many: an error.
    for sign in ["+", "-", "*", " imply ", "==", "<", "&", "<?"] {
        let (_, diags) = parse_expr(SOURCE, &vec!["1"; 100_000].join(sign));
        assert_eq!(diags.len(), 1, "{sign}");
        assert!(diags[0].message.contains("500"), "{}", diags[0].message);
    }
    let (_, diags) = parse_expr(SOURCE, &format!("a{}", "[0]".repeat(100_000)));
    assert_eq!(diags.len(), 1);
    // `&&` and `||` may go on and on: generated models do that.
    for sign in [" && ", " || ", " and ", " or "] {
        let (expr, diags) = parse_expr(SOURCE, &vec!["a == 1"; 100_000].join(sign));
        assert!(diags.is_empty(), "{sign}");
        let expr = expr.expect("an expression");
        assert!(height(&expr) < 100);
        assert_eq!(names(&expr.clone()), 100_000);
    }
}

fn names(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Binary(_, a, b) => names(a) + names(b),
        ExprKind::Name(_) => 1,
        _ => 0,
    }
}

#[test]
fn a_balanced_chain_keeps_its_order() {
    let text = (0..1000).map(|i| format!("a{i}")).collect::<Vec<_>>().join(" && ");
    let expr = parse_expr(SOURCE, &text).0.expect("an expression");
    let mut found = Vec::new();
    in_order(&expr, &mut found);
    assert_eq!(found.join(" && "), text);
}

fn in_order(e: &Expr, out: &mut Vec<String>) {
    match &e.kind {
        ExprKind::Binary(_, a, b) => {
            in_order(a, out);
            in_order(b, out);
        }
        ExprKind::Name(name) => out.push(name.clone()),
        _ => {}
    }
}

#[test]
fn many_else_ifs_are_fine() {
    let chain = |n: usize| format!("void f() {{ {} a = 1; }}", "if (a) b; else ".repeat(n));
    assert!(parse_xta(SOURCE, &chain(400)).1.is_empty());
    assert_eq!(parse_xta(SOURCE, &chain(10_000)).1.len(), 1);
}

#[test]
fn long_lists_are_fine() {
    let (nta, diags) = parse_xta(SOURCE, &format!("int a[100000] = {{ {} }};", vec!["1"; 100_000].join(",")));
    assert!(diags.is_empty());
    let Decl::Vars(vars) = &nta.decls[0] else { panic!() };
    assert!(matches!(&vars.names[0].init, Some(Init::List(list, _)) if list.len() == 100_000));
}

#[test]
fn a_small_stack_is_enough() {
    let work = || {
        for text in ["(".repeat(10_000), "!".repeat(10_000), vec!["1"; 500].join("+"), "f(".repeat(10_000)] {
            let (expr, _) = parse_expr(SOURCE, &text);
            drop(expr.clone());
        }
        drop(parse_xta(SOURCE, &format!("void f() {}", "{ if (a) ".repeat(10_000))));
        drop(parse_xta(SOURCE, &"struct { ".repeat(10_000)));
        drop(parse_xml(SOURCE, &"<a>".repeat(100_000)));
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

#[test]
fn errors_stop_after_twenty() {
    for text in ["@ ".repeat(1_000_000), "int ;\n".repeat(100_000), "} ".repeat(100_000), "process ".repeat(100_000)] {
        let (_, diags) = parse_xta(SOURCE, &text);
        assert!((1..=21).contains(&diags.len()), "{}", diags.len());
    }
    let (_, diags) = parse_queries(SOURCE, &")\n".repeat(100_000));
    assert_eq!(diags.len(), 21);
    assert!(diags[20].message.contains("stopped after 20 errors"));
    let elements = format!("<nta>{}</nta>", "<b/>".repeat(10_000));
    assert_eq!(parse_xml(SOURCE, &elements).1.len(), 21);
}
