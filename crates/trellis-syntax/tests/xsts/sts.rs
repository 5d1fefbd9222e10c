//! Symbolic transition systems: what they become, and what is refused.

use trellis_model::cfa::interpret::{State, successors, zero};
use trellis_model::cfa::{Cfa, Kind};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::sts::{Sts, parse};

use crate::run::bundled;

fn read(text: &str) -> Result<Vec<Sts>, String> {
    let mut sources = Sources::default();
    let id = sources.add("model.sts", text);
    parse(&sources, id).map(|(all, _)| all).map_err(|d| render(&d, &sources, false))
}

/// One property of one system.
fn single(inside: &str, property: &str) -> Result<Sts, String> {
    read(&format!("specification S {{ property p : {{ {inside} }} models G({property}) }}"))
        .map(|mut all| all.remove(0))
}

/// Explores; nothing if there is too much to see. Variables that are not given a value at the start must be zero.
fn safe(cfa: &Cfa) -> Option<bool> {
    let mut seen = std::collections::BTreeSet::new();
    let mut todo = vec![State { location: cfa.initial, env: zero(cfa) }];
    while let Some(state) = todo.pop() {
        for (_, next) in successors(cfa, &state, 2000).ok()? {
            if cfa.location(next.location).kind == Kind::Error {
                return Some(false);
            }
            let all: Vec<String> = next.env.values().map(|v| cfa.terms.show_value(v)).collect();
            if seen.insert(all) {
                todo.push(next);
            }
        }
        if seen.len() > 2000 {
            return None;
        }
    }
    Some(true)
}

fn verdict(inside: &str, property: &str) -> Option<bool> {
    safe(&single(inside, property).unwrap_or_else(|e| panic!("{inside}: {e}")).cfa)
}

#[test]
fn the_bundled_model() {
    let text = std::fs::read_to_string(bundled().join("xsts/lights.sts")).expect("a model");
    let all = read(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(all.len(), 3);
    for sts in all {
        assert_eq!(safe(&sts.cfa), Some(sts.name.starts_with("safe")), "{}", sts.name);
    }
}

#[test]
fn systems() {
    let counter = "var x : int initial x = 0 transition if x < 10 then x' = x + 1 else x' = 0";
    assert_eq!(verdict(counter, "x <= 10"), Some(true));
    assert_eq!(verdict(counter, "x < 10"), Some(false));
    let signed = "var x : int initial x = -3 transition x' = (if x < +2 then x + 1 else -3)";
    assert_eq!(verdict(signed, "-3 <= x and x <= 2"), Some(true));
    // Both values of `b` at each step; `equal` is iff, and binds less tightly than `imply`.
    let pair =
        "var a : bool var b : bool initial not a initial b transition (a' equal b) and (b imply true equal true)";
    assert_eq!(verdict(pair, "true"), Some(true));
    assert_eq!(verdict(pair, "not a or not b"), Some(false));
    // An invariant holds at the start and after each step, and may leave no next state.
    let stuck = "invariant x <= 3 var x : int initial x = 1 transition x' = x + 1";
    assert_eq!(verdict(stuck, "x <= 3"), Some(true));
    assert_eq!(verdict(stuck, "x <= 2"), Some(false));
    assert_eq!(verdict("var x : int initial x = 1 initial x = 2 transition x' = x", "false"), Some(true));
    assert_eq!(verdict("var x : int initial x = 1 transition x' = 2 and x' = 3", "x = 1"), Some(true));
    // A prime may follow a whole expression; it changes nothing that is constant.
    assert_eq!(verdict("const c : int := 2 var x : int initial x = 0 transition (x + c)' = x + 2 * c", "x <= 2"), None);
    assert_eq!(
        verdict("const c : int := 2 var x : int initial x = 0 transition x' = (x + 1) mod (c + 1)", "x <= 2"),
        Some(true)
    );
    // An unknown constant keeps its value: here it is what the variable starts with.
    let unknown = "const c : int var x : int initial x = 0 initial c = 0 transition x' = c' + 1 - 1";
    assert_eq!(verdict(unknown, "x = c"), Some(true));
    // No value is not true.
    assert_eq!(verdict("var x : int initial x = 0 transition x' = x", "1 / x = 1 or true"), Some(false));
}

#[test]
fn named_systems_have_parameters() {
    let text = "specification S {
        const n : int := 2
        system inner(k : int) := { var x : int initial x = 0 transition x' = (if x < n + k then x + 1 else 0) }
        // What the user of `inner` was given is not seen there.
        system outer(n : int) := inner(n * 10)
        property good : outer(1) models G(x <= 12)
        property bad : outer(1) models G(x <= 11)
        property plain : inner(0) models G(x <= n)
    }";
    let all = read(text).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<_> = all.iter().map(|s| (s.name.as_str(), safe(&s.cfa))).collect();
    assert_eq!(found, [("good", Some(true)), ("bad", Some(false)), ("plain", Some(true))]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let mut wrong = String::new();
    for (text, message, place) in [
        ("", "expected `specification`", "1:1"),
        ("(specification S)", "the Lisp-like spelling is not supported", "1:1"),
        ("specification S { }", "there is no property", "1:20"),
        ("specification S(n : int) { }", "parameters of a specification are not supported", "1:17"),
        ("specification S { property p : q models G(true) }", "there is no system `q`", "1:32"),
        ("specification S { system q := q property p : q models G(true) }", "nested too deeply", "1:31"),
        ("specification S { system q := {} system q := {} }", "there are two systems `q`", "1:41"),
        (
            "specification S { system q := {} proprety p : q models G(false) property r : q models G(true) }",
            "expected `const`, `var`, `system`, `property` or `}`",
            "1:34",
        ),
        (
            "specification S { system q(n : int) := {} property p : q models G(true) }",
            "has 1 parameters, and 0",
            "1:56",
        ),
        ("specification S { system q(n : int) := {} property p : q(true) models G(true) }", "`n` needs int", "1:58"),
        ("specification S { property p : { var x : int := 1 } models G(true) }", "write `initial`", "1:46"),
        (
            "specification S { property p : { initial x' = 1 var x : int } models G(true) }",
            "next values are not supported here",
            "1:43",
        ),
        (
            "specification S { property p : { var x : int } models G(x' = 1) }",
            "next values are not supported here",
            "1:58",
        ),
        (
            "specification S { property p : { var x : int transition x'' = 1 } models G(true) }",
            "only one next state",
            "1:59",
        ),
        ("specification S { property p : { var x : int initial x } models G(true) }", "`initial` needs bool", "1:54"),
        (
            "specification S { property p : { var x : int var x : int } models G(true) }",
            "two things called `x`",
            "1:50",
        ),
        ("specification S { property p : { var x : rat } models G(true) }", "rational numbers", "1:42"),
        ("specification S { property p : { } models G(forall (i : int) i = 0) }", "quantifiers", "1:45"),
        ("specification S { property p : { } models F(true) }", "expected `G`", "1:43"),
        ("specification S { property p : { } models G(true) junk }", "expected `const`", "1:51"),
        ("specification S { property p : { junk } models G(true) }", "expected `var`", "1:34"),
    ] {
        let said = read(text).expect_err(text);
        if !said.contains(message) || !said.contains(&format!("model.sts:{place}")) {
            wrong += &format!("{text}: {said}");
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn one_mistake_in_a_shared_system_is_said_once() {
    let text = "specification S { system q := { var x : int initial y = 1 } property p : q models G(true) property r : q models G(true) }";
    assert_eq!(read(text).expect_err("no y").matches("error").count(), 1);
}
