//! Order: effects in the middle of expressions, short circuits, `++`, assignments as values.

use super::{becomes, built, is, refused};

const COUNT: &str = "int n; int x, y, z; int a[4] = { 10, 20, 30, 40 }; int i; \
                     int next() { n++; return n; } int bump(int by) { i += by; return i; }";

#[test]
fn operands_from_left_to_right() {
    becomes(COUNT, "x = next() * 10 + next()", &[("x", 12), ("n", 2)]);
    becomes(COUNT, "x = n + next()", &[("x", 1)]);
    becomes(COUNT, "x = next() + n", &[("x", 2)]);
    becomes(COUNT, "x = n++ + n * 10", &[("x", 10)]);
    becomes(COUNT, "x = n * 10 + ++n", &[("x", 1)]);
    becomes(COUNT, "x = ++n + n++ + n", &[("x", 4)]);
    becomes(COUNT, "x = (n = 5) + n", &[("x", 10)]);
    becomes(COUNT, "x = a[i] + (i = 2) + a[i]", &[("x", 42)]);
    becomes(COUNT, "x = (next() <? 5) + (n >? 0) * 10", &[("x", 11)]);
}

#[test]
fn the_right_side_runs_only_where_it_is_needed() {
    becomes(COUNT, "x = (y > 0 && next() > 0)", &[("x", 0), ("n", 0)]);
    becomes(COUNT, "x = (y == 0 && next() > 0)", &[("x", 1), ("n", 1)]);
    becomes(COUNT, "x = (y == 0 || next() > 0)", &[("x", 1), ("n", 0)]);
    becomes(COUNT, "x = (y > 0 || next() > 1)", &[("x", 0), ("n", 1)]);
    becomes(COUNT, "x = (y > 0 imply next() > 0)", &[("x", 1), ("n", 0)]);
    becomes(COUNT, "x = (y == 0 imply next() > 1)", &[("x", 0), ("n", 1)]);
    becomes(COUNT, "x = (next() > 1 || next() > 1 || next() > 1)", &[("x", 1), ("n", 2)]);
    becomes(COUNT, "x = (y > 0 ? next() : 7)", &[("x", 7), ("n", 0)]);
    becomes(COUNT, "x = (y == 0 ? next() : n++) + n", &[("x", 2), ("n", 1)]);
    becomes(COUNT, "y > 0 ? next() : bump(3)", &[("n", 0), ("i", 3)]);
    // A fault behind a condition that excludes it does not happen.
    becomes(COUNT, "x = (y != 0 && 7 / y > 0)", &[("x", 0)]);
    becomes(COUNT, "x = (i < 0 || a[i] == 10) ? 1 : a[i - 1]", &[("x", 1)]);
}

#[test]
fn steps_and_assignments_as_values() {
    becomes(COUNT, "x = n++", &[("x", 0), ("n", 1)]);
    becomes(COUNT, "x = ++n", &[("x", 1), ("n", 1)]);
    becomes(COUNT, "x = n--, y = --n", &[("x", 0), ("y", -2)]);
    becomes(COUNT, "x = y = z = 4", &[("x", 4), ("y", 4), ("z", 4)]);
    becomes(COUNT, "x = (y += 3) * 2", &[("x", 6), ("y", 3)]);
    becomes(COUNT, "x = a[i++], y = a[i]", &[("x", 10), ("y", 20), ("i", 1)]);
    becomes(COUNT, "a[i++] = i, a[i] = 7", &[("a[0]", 1), ("a[1]", 7)]);
    becomes(COUNT, "x = a[++i] = 5", &[("x", 5), ("a[1]", 5)]);
}

#[test]
fn what_is_assigned_to_is_settled_first() {
    becomes(COUNT, "a[i] = bump(2)", &[("a[0]", 2), ("a[2]", 30), ("i", 2)]);
    becomes(COUNT, "a[i] += bump(2)", &[("a[0]", 12), ("a[2]", 30)]);
    becomes(COUNT, "a[bump(1)] += a[bump(1)]", &[("a[1]", 50), ("a[2]", 30), ("i", 2)]);
    becomes(COUNT, "a[bump(1)]++, a[bump(1)] *= 2", &[("a[1]", 21), ("a[2]", 60), ("i", 2)]);
    becomes(COUNT, "i += bump(2)", &[("i", 2)]);
    becomes(COUNT, "n = 1, n += next()", &[("n", 3)]);
    becomes(
        "int b[2][2] = { { 1, 2 }, { 3, 4 } }; int j; int up() { j++; return j; }",
        "b[j][up()] = 9",
        &[("b[0][1]", 9)],
    );
}

#[test]
fn the_cell_that_was_written_is_the_value_even_if_its_index_changed() {
    // a[0] is both the index and the cell.
    let decls = "int a[3] = { 0, 7, 8 }; int x;";
    becomes(decls, "x = ++a[a[0]]", &[("x", 1), ("a[0]", 1)]);
    becomes(decls, "x = (a[a[0]] = 2)", &[("x", 2), ("a[0]", 2)]);
    becomes(decls, "x = (a[a[0]] += 2) * 10", &[("x", 20), ("a[0]", 2)]);
    becomes(decls, "x = a[a[0]]++", &[("x", 0), ("a[0]", 1)]);
    becomes(decls, "x = a[a[a[0]]++]", &[("x", 1), ("a[0]", 1)]);
}

#[test]
fn copies_whose_place_depends_on_what_is_copied() {
    // The row that is overwritten holds the index.
    let decls = "int a[2][2] = { { 0, 5 }, { 1, 6 } };";
    becomes(decls, "a[a[0][0]] = a[1]", &[("a[0][0]", 1), ("a[0][1]", 6), ("a[1][0]", 1), ("a[1][1]", 6)]);
    let decls = "struct { int x; int y; } s[2] = { { 0, 5 }, { 1, 6 } };";
    becomes(decls, "s[s[0].x] = s[1]", &[("s.x[0]", 1), ("s.y[0]", 6), ("s.y[1]", 6)]);
}

#[test]
fn an_update_without_effect_is_a_warning() {
    let model =
        |u: &str| format!("int x; process P() {{ state A; init A; trans A -> A {{ assign {u}; }}; }} system P;");
    let warnings = |u: &str| built(&model(u), "").unwrap_or_else(|e| panic!("{e}")).warnings;
    assert!(warnings("x = 1").is_empty());
    assert!(warnings("1").is_empty());
    assert_eq!(warnings("x == 1").len(), 1);
    assert_eq!(warnings("x").len(), 1);
    assert_eq!(warnings("x = 40000").len(), 1);
}

#[test]
fn guards_and_queries_change_nothing() {
    let guard = |g: &str| {
        format!(
            "int x; meta int m; int f() {{ x++; return 1; }} int g() {{ m = 1; return 1; }} int h() {{ int k; k++; return k; }} process P() {{ state A; init A; trans A -> A {{ guard {g}; }}; }} system P;"
        )
    };
    assert!(refused(&guard("f() == 1")).contains("only updates may do that"));
    assert!(refused(&guard("g() == 1")).contains("only updates may do that"));
    assert!(refused(&guard("x++ == 1")).contains("only updates may do that"));
    assert!(built(&guard("h() == 1"), "").is_ok());
    assert!(built(&guard("true"), "E<> f() == 1").is_err_and(|e| e.contains("only updates may do that")));
    assert!(refused(&guard("deadlock")).contains("only a query"));
    is("int h() { int k; k++; return k; }", "h() + h()", 2);
}

#[test]
fn commas_in_old_guards_mean_and() {
    let model = "int x = 1, y = 2; process P() { state A, B; init A; trans A -> B { guard x == 1, y == 3; }, A -> B { guard x == 1, y == 2; assign x = 5; }; } system P;";
    let net = super::network(model);
    assert_eq!(super::steps(&net).expect("steps").len(), 1);
}
