//! What people get to see: places, words, help, and reports of a bearable length.

use trellis_syntax::diag::{Diagnostic, Sources, Span, decode_source, render};
use trellis_syntax::uppaal::{parse_expr, parse_queries, parse_xta};

use crate::show::{SOURCE, places};

fn first(text: &str) -> (String, String) {
    let (_, diags) = parse_xta(SOURCE, text);
    (places(text, &diags)[0].clone(), diags[0].help.clone().unwrap_or_default())
}

#[test]
fn a_missing_semicolon_is_missed_where_it_belongs() {
    let (place, help) = first("int a = 1\nint b;\n");
    assert_eq!(place, "1:10: expected `;` after the declaration, found the keyword `int`");
    assert_eq!(help, "put `;` here");
}

#[test]
fn common_slips_get_advice() {
    let process =
        |guard: &str| format!("process P() {{ state A; init A; trans A -> A {{ guard {guard}; }}; }} system P;");
    assert_eq!(first(&process("x = 1")).1, "to compare, write `==`");
    assert_eq!(first(&process("x =< 1")).1, "less or equal is written `<=`");
    assert_eq!(first(&process("x <> 1")).1, "unequal is written `!=`");
    assert_eq!(
        first("void f() { for (int i = 0; i < 3; i++) ; }").1,
        "declare the variable before the loop, or write `for (i : int[low, high])`"
    );
    assert_eq!(first("int a == 1;").1, "`==` compares; an initial value is given with `=`");
    assert_eq!(first("int state;").1, "`state` is a reserved word; choose another name");
    assert_eq!(first("system P(1);").1, "name the instance first, as in `P1 = P(…);`, and put `P1` here");
    assert_eq!(first("process P() { state Ready; init Redy; } system P;").1, "did you mean `Ready`?");
    assert_eq!(first("process P() { state A; } system P;").1, "add one after the `state` line, such as `init A;`");
    assert_eq!(first("process P() { state A, A; init A; } system P;").1, "rename one of them");
    assert_eq!(first("int x = 99999999999999999999;").1, "the largest is 2147483647");
    assert!(parse_queries(SOURCE, "P.a and P.b").1[0].help.as_ref().is_some_and(|h| h.contains("E<>")));
}

#[test]
fn one_mistake_is_one_error() {
    for text in [
        "process P() { state A, B { x <= }, C; init A; trans A -> B {}, B -> C {}; } system P;",
        "process P() { state A; init A; trans A -> A { guard x ==; sync c!; }, A -> A { assign x = 0; }; } system P;",
        "process P() { state A; init A; trans A - A { guard x; }, A -> A { assign x = 0; }; } system P;",
        "void f() { x = ; y = 1; if (x) { y = 2; } } int z; system P;",
        "void f() { if x { y = 2; } z = 3; } int z; system P;",
        "struct { int a } s; int z; system P;",
        "int f(int a { return a; } int z; system P;",
        "int é = 1; system P;",
    ] {
        let (_, diags) = parse_xta(SOURCE, text);
        assert_eq!(diags.len(), 1, "{text}: {diags:?}");
    }
}

#[test]
fn several_mistakes_are_several_errors() {
    let text =
        "int a = ;\nbool b = );\nprocess P() {\n state A;\n init B;\n trans A -> A { guard (1; };\n}\nsystem P\n";
    let (_, diags) = parse_xta(SOURCE, text);
    let lines: Vec<_> =
        places(text, &diags).iter().map(|p| p.split(':').next().unwrap_or_default().to_string()).collect();
    assert_eq!(lines, ["1", "2", "6", "5", "8"]);
}

#[test]
fn a_report_shows_the_line() {
    let text = "int a;\nint b = 1 + ;\n";
    let mut sources = Sources::default();
    let id = sources.add("m.xta", text);
    let (_, diags) = parse_xta(id, text);
    let expected = "error: expected an expression, found `;`\n --> m.xta:2:13\n  |\n2 | int b = 1 + ;\n  \
                    |             ^ expected an expression\n\n";
    assert_eq!(render(&diags, &sources, false), expected);
    assert!(render(&diags, &sources, true).contains('\u{1b}'));
}

#[test]
fn a_report_shows_help_and_whole_file_errors() {
    let mut sources = Sources::default();
    let id = sources.add("m.xta", "x");
    let mut diag = Diagnostic::warning(Span { source: id, start: 0, end: 1 }, "odd").label("here").help("do so");
    let text = render(&[diag.clone()], &sources, false);
    assert!(text.contains("warning: odd") && text.contains("^ here") && text.contains("= help: do so"), "{text}");
    diag.span = None;
    assert!(render(&[diag], &sources, false).contains("warning: odd"));
}

#[test]
fn a_report_of_a_huge_line_is_short_and_right() {
    let text = format!("{}int y = ;{}", "int x = 1; ".repeat(900_000), " int z;".repeat(100_000));
    let mut sources = Sources::default();
    let id = sources.add("m.xta", text.as_str());
    let (_, diags) = parse_xta(id, &text);
    let report = render(&diags, &sources, false);
    assert!(report.len() < 1000, "{}", report.len());
    assert!(report.contains(" --> m.xta:1:9900009\n"), "{report}");
    let mut lines = report.lines().skip_while(|l| !l.starts_with("1 |"));
    let (source, mark) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let column = |line: &str, c: char| line.chars().position(|d| d == c);
    assert_eq!(source.chars().nth(column(mark, '^').unwrap_or_default()), Some(';'), "{report}");
}

#[test]
fn reports_survive_any_span() {
    let mut sources = Sources::default();
    for text in ["", "ä", "a\n", "\r\n\r\n", "a\u{0}b\tc"] {
        let id = sources.add("t", text);
        for start in 0..6 {
            for end in 0..6 {
                let diag = Diagnostic::error(Span { source: id, start, end }, "m").label("l");
                let _ = sources.line_col(Span { source: id, start, end });
                assert!(!render(&[diag], &sources, start % 2 == 0).is_empty());
            }
        }
    }
}

#[test]
fn line_and_column_count_characters() {
    let mut sources = Sources::default();
    let id = sources.add("t", "ab\näöü x\n");
    let at = |start| sources.line_col(Span { source: id, start, end: start });
    assert_eq!(
        [at(0), at(2), at(3), at(5), at(10), at(11), at(99)],
        [(1, 1), (1, 3), (2, 1), (2, 2), (2, 5), (2, 6), (3, 1)]
    );
}

#[test]
fn bytes_that_are_not_text_are_located() {
    let error = decode_source("m.xta", b"int a;\nint \xc3\xa4 \xff;".to_vec()).expect_err("not UTF-8");
    assert_eq!(error.message, "m.xta:2:7: expected UTF-8 text, found the byte 0xff at offset 14");
    let error = decode_source("m.xta", vec![0xff, 0xfe, b'a', 0]).expect_err("not UTF-8");
    assert!(error.help.is_some_and(|h| h.contains("UTF-16")));
}

#[test]
fn a_file_that_is_not_text_is_shown() {
    let path = std::env::temp_dir().join(format!("trellis-syntax-latin1-{}.xta", std::process::id()));
    std::fs::write(&path, b"int a;\nint b\xe4r;\n").expect("a temporary file");
    let mut sources = Sources::default();
    let error = sources.read(&path).expect_err("not UTF-8");
    assert_eq!(sources.line_col(error.span.expect("a place")), (2, 6));
    assert!(render(&[error], &sources, false).contains("2 | int b"));
    std::fs::write(&path, "int a;").expect("a temporary file");
    assert!(sources.read(&path).is_ok());
    std::fs::remove_file(&path).expect("a temporary file");
    assert!(sources.read(&path).is_err());
}

#[test]
fn an_expression_must_end() {
    let (expr, diags) = parse_expr(SOURCE, "a b");
    assert!(expr.is_none());
    assert_eq!(places("a b", &diags), ["1:3: expected nothing more after the expression, found `b`"]);
}
