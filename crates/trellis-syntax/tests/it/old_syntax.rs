//! The syntax of before UPPAAL 3.4.

use trellis_syntax::uppaal::ast::{BaseType, Decl, Init};

use crate::show::{show, show_type, xta};

#[test]
fn constants_without_type_and_sign() {
    let nta = xta("const N 5, M -6; const A[2] { 1, 2 }; const K = 7; system P;");
    let mut found = Vec::new();
    for decl in &nta.decls {
        let Decl::Vars(vars) = decl else { panic!() };
        assert!(vars.ty.is_const && matches!(vars.ty.base, BaseType::Int(None)));
        for name in &vars.names {
            found.push((name.name.name.as_str(), matches!(name.init, Some(Init::Expr(_) | Init::List(..)))));
        }
    }
    assert_eq!(found, [("N", true), ("M", true), ("A", true), ("K", true)]);
}

#[test]
fn parameters_with_semicolons() {
    let nta = xta("process P(const id; const delay, d2; int a, b; clock x; chan c) { state S; init S; } system P;");
    let params = nta.templates[0].params.iter().map(|p| (p.name.name.as_str(), show_type(&p.ty), p.by_ref));
    let params = params.map(|(n, t, r)| format!("{t} {}{n}", if r { "&" } else { "" }));
    assert_eq!(
        params.collect::<Vec<_>>(),
        ["const int id", "const int delay", "const int d2", "int &a", "int &b", "clock &x", "chan &c"]
    );
}

#[test]
fn a_lone_parameter_follows_the_rest_of_the_file() {
    let new = xta("process P(int a) { state S; init S; } system P;");
    assert!(!new.templates[0].params[0].by_ref);
    let old = xta("const N 3; process P(int a) { state S; init S; } system P;");
    assert!(old.templates[0].params[0].by_ref);
}

#[test]
fn commas_in_guards_and_invariants_mean_and() {
    let nta = xta("process P { state S { x <= 1, y <= 2, z < 3 }; init S;
        trans S -> S { guard x == 1, y > 2; assign x := 0, y := 1; }; } system P;");
    let p = &nta.templates[0];
    assert_eq!(p.locations[0].invariant.as_ref().map(show).as_deref(), Some("(((x Le 1) And (y Le 2)) And (z Lt 3))"));
    assert_eq!(p.edges[0].guard.as_ref().map(show).as_deref(), Some("((x Eq 1) And (y Gt 2))"));
    assert_eq!(p.edges[0].update.iter().map(show).collect::<Vec<_>>(), ["(x = 0)", "(y = 1)"]);
}

#[test]
fn instances_with_colon_equals() {
    let nta = xta("process P(const id) { state S; init S; } P1 := P(1); system P1;");
    assert_eq!(nta.instances.len(), 1);
    assert_eq!(nta.instances[0].template.name, "P");
}
