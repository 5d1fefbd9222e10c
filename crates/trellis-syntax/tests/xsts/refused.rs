//! What is refused, with its place; what is read though it looks odd; what is warned of.

use trellis_syntax::diag::{Sources, render};
use trellis_syntax::xsts::{Phase, parse};

use crate::run::{read, safe};

/// A model with these declarations and this transition.
fn model(declarations: &str, trans: &str) -> String {
    format!("{declarations}\ntrans {{ {trans} }}\ninit {{}}\nenv {{}}\n")
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let two = "type T : { A, B } type S : { A, C } var x : integer = 0 var b : boolean var t : T var s : S \
               var a : [integer] -> boolean";
    for (declarations, trans, message, place) in [
        ("var x : int", "", "there is no type `int`", "1:9"),
        ("type T : { A, A }", "", "the type has two literals `A`", "1:15"),
        ("type T : { A } type T : { B }", "", "there are two types `T`", "1:21"),
        ("var x : integer var x : boolean", "", "there are two variables `x`", "1:21"),
        ("type T : { A } var A : integer", "", "`A` is a literal of a type already", "1:20"),
        ("var x : integer = x", "", "there is no variable or literal `x`", "1:19"),
        ("var x : integer = true", "", "this is of type boolean, and integer is needed here", "1:19"),
        ("var x : [[integer] -> integer] -> integer", "", "arrays that are indexed by arrays", "1:10"),
        ("var x : integer type T : { A }", "", "types must be declared before variables", "1:17"),
        ("var trans : integer", "", "expected the name of the variable, found `trans`", "1:5"),
        (two, "x := 5", "expected `;`, found `}`", "2:16"),
        (two, "y := 5;", "there is no variable `y`", "2:9"),
        (two, "x := y;", "there is no variable or literal `y`", "2:14"),
        (two, "x := b;", "this is of type boolean, and integer is needed here", "2:14"),
        (two, "t := C;", "this is of type S, and T is needed here", "2:14"),
        (two, "t := s;", "this is of type S, and T is needed here", "2:14"),
        (two, "b := t == s;", "this is of type S, and T is needed here", "2:19"),
        (two, "b := A == A;", "several types have a literal `A`", "2:19"),
        (two, "b := x == 1 == 2;", "comparisons cannot be chained", "2:21"),
        (two, "b := x < 1 < 2;", "comparisons cannot be chained", "2:20"),
        (two, "b := b == !b;", "`!` cannot stand here", "2:19"),
        (two, "b := x && b;", "this is of type integer, and boolean is needed here", "2:14"),
        (two, "b := !x;", "this is of type integer, and boolean is needed here", "2:15"),
        (two, "x := x[1];", "only arrays have entries, and this is of type integer", "2:14"),
        (two, "x[1] := 1;", "only arrays have entries, and this is of type integer", "2:9"),
        (two, "a[b] := b;", "this is of type boolean, and integer is needed here", "2:11"),
        (two, "a := a[1 <- 1];", "this is of type integer, and boolean is needed here", "2:21"),
        (two, "b := [default <- true][0];", "the type of the indexes is missing", "2:14"),
        (two, "for x from 0 to 1 do {}", "there is a variable `x` already", "2:13"),
        (two, "for i from 0 to b do {}", "this is of type boolean, and integer is needed here", "2:25"),
        (two, "for i from 0 to 1 do i := 1;", "`i` counts the rounds of the loop", "2:30"),
        (two, "for i from 0 to 1 do havoc i;", "`i` counts the rounds of the loop", "2:36"),
        (two, "local var l : integer; local var l : boolean;", "there are two variables `l` in this block", "2:42"),
        (two, "{ local var l : integer = 1; } x := l;", "there is no variable or literal `l`", "2:45"),
        (two, "local var A : integer;", "`A` is a literal of a type already", "2:19"),
        (two, "if b x := 1;", "expected `(`, found `b`", "2:12"),
        (two, "ort { x := 1; } { x := 2; }", "`ort` is not supported", "2:9"),
        (two, "assume x;", "this is of type integer, and boolean is needed here", "2:16"),
        (two, "x := 1 ? 2;", "expected `;`, found the character `?`", "2:16"),
        (two, "x := 99999999999999999999999 + tru;", "there is no variable or literal `tru`", "2:40"),
    ] {
        let said = read(&model(declarations, trans), Some("true")).expect_err(trans);
        assert!(said.contains(message) && said.contains(&format!("model.xsts:{place}")), "{trans}: {said}");
    }
}

#[test]
fn many_mistakes_are_found_at_once() {
    let said = read(&model("var x : integer = 0", "y := 1; x := true; choice { z := 1; } or { x := 1; }"), None)
        .expect_err("four mistakes");
    assert_eq!(said.matches("error").count(), 4, "{said}");
}

#[test]
fn a_property_comes_from_somewhere() {
    let text = model("var x : integer = 0", "x := x + 1;");
    for (property, expected) in
        [("x < 3", false), ("prop { x >= 0 && x < 3 }", false), ("prop{x%1==0 || x/0 == 1}", true)]
    {
        let xsts = read(&text, Some(property)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(safe(&xsts, &[], 100, 20), if expected { None } else { Some(false) }, "{property}");
    }
    // No value is not true.
    assert_eq!(safe(&read(&text, Some("1 / x == 0 || true")).expect("a model"), &[], 100, 20), Some(false));
    assert_eq!(safe(&read(&text, Some("x == 0 || 1 / x >= 0")).expect("a model"), &[], 100, 20), None);
    assert!(read(&text, None).expect_err("no property").contains("there is no property"));
    assert!(read(&text, Some("x + 1")).expect_err("a number").contains("model.prop:1:1"));
    assert!(read(&text, Some("x < 1 }")).expect_err("a brace").contains("expected the end of the property"));
    assert!(read(&text, Some("")).expect_err("nothing").contains("expected an expression"));

    let mut sources = Sources::default();
    let id = sources.add("model.xsts", format!("{text} prop {{ x > 7 }} ltl {{ G(x > {{}} 0) }}"));
    let other = sources.add("model.prop", "x >= 0");
    let (xsts, warnings) = parse(&sources, id, Some(other)).expect("a model");
    let said = render(&warnings, &sources, false);
    assert!(said.contains("is not the one that is checked") && said.contains("formula of linear time"), "{said}");
    assert_eq!(xsts.cfa.terms.show(xsts.property).to_string(), "x >= 0");
    let ltl = xsts.ltl.expect("a formula");
    assert_eq!(sources.get(id).text[ltl.start as usize..ltl.end as usize].trim(), "G(x > {} 0)");
}

/// Does the expression hold?
fn holds(e: &str) -> bool {
    let declarations = "type T : { A, B, T.A } type U : { A, D } var t : T = B var u : U = A var $x.y : integer = 3 \
                        var n : [T] -> [boolean] -> integer = [B <- [true <- 1, <boolean>default <- 2], default <- [<boolean>default <- 3]]";
    let text = model(declarations, "");
    let xsts = read(&text, Some(e)).unwrap_or_else(|said| panic!("{e}: {said}"));
    safe(&xsts, &[], 10, 10) == Some(true)
}

#[test]
fn expressions() {
    for e in [
        "-5 / 3 == -2",
        "5 / -3 == -1",
        "-5 % 3 == 1",
        "5 % -3 == 2",
        "5 rem -3 == -2",
        "-5 rem 3 == 1",
        "-5 rem -3 == -1",
        "!1 == 2",
        "!1 > 2",
        "!false && true",
        "!!true",
        "false => false => false",
        "!((false => false) => false)",
        "false iff false iff true",
        "true || false && false",
        "true || true xor true",
        "false => true iff true",
        "1 + 2 * 3 == 7",
        "10 - 3 - 2 == 5",
        "2 * 7 / 4 * 2 == 6",
        "(if 1 < 2 then 3 else 4) == 3",
        "if false then false else true",
        "-$x.y == 0 - 3 && + $x.y == 3",
        "- - 2 == 2",
        "t == B && B == t && t != A",
        "u == A && T.A != t && t == T.B",
        "(if true then B else A) == t",
        "t == (if true then B else A)",
        "[<integer>default <- 3][99] == 3",
        "n == n[A <- [default <- 3]]",
        "[0 <- 1, 0 <- 2, default <- 3][0] == 1",
        "[0 <- 1, default <- 3][1 <- 5][1] == 5",
        "n[B][true] == 1 && n[B][false] == 2 && n[A][true] == 3",
        "n[A <- n[B]][A][true] == 1",
        "(n[B])[true <- 7][true] == 7",
        "12345678901234567890123 > 12345678901234567890122",
    ] {
        assert!(holds(e), "{e}");
    }
}

#[test]
fn edges_know_what_they_are() {
    let text = "var x : integer = 0 ctrl var y : integer trans x := 1; or x := 2; init {} env havoc x; or y := 0; prop { true }";
    let xsts = read(text, None).unwrap_or_else(|e| panic!("{e}"));
    let phases: Vec<Phase> = xsts.cfa.edges().map(|e| xsts.phase(e)).collect();
    assert_eq!(phases, [Phase::Values, Phase::Init, Phase::Env, Phase::Trans, Phase::Check, Phase::Check]);
    assert_eq!(xsts.cfa.control, [xsts.variables[1]]);
    let shown: Vec<String> =
        xsts.cfa.edges().map(|e| xsts.cfa.terms.show_stmt(xsts.cfa.edge(e).stmt).to_string()).collect();
    let check = "assume false";
    assert_eq!(
        shown,
        ["x := 0", "skip", "choice { havoc x } or { y := 0 }", "choice { x := 1 } or { x := 2 }", check, check]
    );
    assert_eq!(
        xsts.cfa.show_place(xsts.cfa.edge(trellis_model::cfa::EdgeId(3)).place.expect("a place")),
        "model.xsts:1:42"
    );
}
