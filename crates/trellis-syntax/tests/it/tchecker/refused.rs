//! What is refused, by name and place. (The files of `tests/malformed/tchecker` are more of it.)

use super::asked;

fn refused(text: &str, place: &str, message: &str) {
    let error = asked(text, &[], "").err().unwrap_or_else(|| panic!("nothing is wrong with\n{text}"));
    let shown: String = text.chars().take(400).collect();
    assert!(error.contains(message), "{shown}\n{error}");
    assert!(error.contains(&format!("model.tck:{place}\n")), "{shown}\n{error}");
    assert!(error.contains("help:"), "no advice\n{error}");
}

/// The attributes of an edge, which stands in line 9.
fn edge(attributes: &str, column: u32, message: &str) {
    let text = format!(
        "system:s\nevent:e\nint:1:0:9:3:i\nint:4:0:9:1:a\nclock:1:x\nclock:3:z\nprocess:P\nlocation:P:l{{initial:}}\n\
         edge:P:l:l:e{{{attributes}}}\n"
    );
    refused(&text, &format!("9:{column}"), message);
}

#[test]
fn clocks_where_they_cannot_be() {
    edge("provided: x != 3", 24, "not equal to something is a disjunction");
    edge("provided: !(x == 3)", 25, "not equal to something is a disjunction");
    edge("provided: !(x < 3 && i == 1)", 25, "a disjunction over clocks is not supported");
    edge("provided: x < 3 || x > 4", 30, "expected an operator or the end of the expression, found `||`");
    edge("provided: x", 24, "a clock has no value");
    edge("provided: x * 2 < 3", 24, "a clock has no value");
    edge("provided: x + z[0] < 3", 24, "a sum of clocks is not supported");
    edge("provided: a[x] == 1", 26, "a clock has no value");
    edge("provided: (if x < 3 then 1 else 0)", 24, "a clock has no value");
    edge("provided: z < 3", 24, "`z` is an array of clocks");
    edge("provided: x[0] < 3", 24, "`x` is no array");
    edge("provided: z[3] < 3", 26, "index 3 is outside the array");
    edge("do: x = z[0] + 2", 22, "(`x = y + n`) is not supported");
    edge("do: x = 2 - x", 22, "(`x = y + n`) is not supported");
    edge("do: x = -1", 22, "a clock cannot be negative");
    edge("do: i = x", 22, "cannot hold a clock's value");
    edge("do: local k = x", 28, "a clock has no value");
    edge("do: if x < 3 then i = 0 end", 21, "clocks in the condition of a statement");
    edge("do: while i > 0 do x = 0; i = i - 1 end", 33, "a clock set inside a loop");
}

#[test]
fn data_and_names() {
    edge("provided: k == 1", 24, "there is no variable `k`");
    edge("provided: a == 1", 24, "`a` is an array");
    edge("provided: i[0] == 1", 24, "`i` is no array");
    edge("provided: i / 0 == 1", 28, "division by zero");
    edge("provided: i == 3000000000", 29, "does not fit 32 bits");
    edge(
        "provided: i * 2000000000 * 2000000000 * 2000000000 == 1 && 2000000000 * 2000000000 * 2000000000 == 1",
        73,
        "too large",
    );
    edge("do: k = 1", 18, "there is no variable `k`");
    edge("do: a = 1", 18, "`a` is an array");
    edge("do: local i", 24, "`i` is declared a second time");
    edge("do: local t[i]", 26, "the size of `t` must be a number");
    edge("do: if i then local k; nop end; k = 1", 46, "there is no variable `k`");
    edge("provided: 3 > i < 4", 30, "only `<` and `<=` can be chained");
    edge("provided: i == 1 : provided: i == 2", 33, "a second `provided`");
}

#[test]
fn systems() {
    let p = "system:s\nevent:e\nprocess:P\nlocation:P:l{initial:}\n";
    refused("system:s\n", "1:8", "the system has no process");
    refused("system:s\nprocess:P\n", "2:9", "process `P` has no location");
    refused("system:s\nprocess:P\nlocation:P:l\n", "2:9", "process `P` has no initial location");
    refused(&format!("{p}location:P:m{{initial:}}\n"), "5:14", "several initial locations, which is not supported");
    refused(&format!("{p}location:P:l\n"), "5:12", "`l` is declared a second time");
    refused(&format!("{p}edge:P:l:m:e\n"), "5:10", "no location in process `P` named `m`");
    refused(&format!("{p}edge:P:l:l:f\n"), "5:12", "there is no event `f`");
    refused(&format!("{p}edge:Q:l:l:e\n"), "5:6", "there is no process `Q`");
    refused(&format!("{p}sync:P@e\n"), "5:1", "one process does not synchronise");
    refused(&format!("{p}sync:P@e:P@e\n"), "5:10", "process `P` takes part twice");
    refused(&format!("{p}sync:P@e:Q@e\n"), "5:10", "there is no process `Q`");
    refused(&format!("{p}process:P\n"), "5:9", "process `P` is declared a second time");
    refused(&format!("{p}event:e\n"), "5:7", "event `e` is declared a second time");
    refused(&format!("{p}clock:1:x\nint:1:0:1:0:x\n"), "6:13", "variable `x` is declared a second time");
    refused(&format!("{p}int:1:3:1:2:x\n"), "5:7", "no value is between 3 and 1");
    refused(&format!("{p}int:1:0:1:2:x\n"), "5:11", "the first value 2 is not between 0 and 1");
    refused(&format!("{p}int:0:0:1:0:x\n"), "5:5", "make no array");
    refused(&format!("{p}int:99999999:0:1:0:x\n"), "5:5", "too large");
    refused(&format!("{p}clock:99999:x\n"), "5:7", "too many clocks");
    refused(&format!("{p}system:t\n"), "5:1", "a second `system` declaration");
    refused(&format!("{p}location:P:m{{initial: yes}}\n"), "5:23", "`initial` has no value");
    refused(&format!("{p}location:P:m{{invariant:}}\n"), "5:14", "expected an expression after `invariant:`");
    refused(&format!("{p}location:P:m{{labels: a b}}\n"), "5:22", "expected a label, found `a b`");
}

/// A forgotten brace is found where it is, and what comes after is read.
#[test]
fn an_unclosed_brace() {
    let text = "system:s\nprocess:P\nlocation:P:l{initial:\nlocation:P:m{}\nevnt:e\n";
    refused(text, "3:13", "this `{` is never closed");
    refused(text, "5:1", "expected a declaration, found `evnt`");
}

#[test]
fn what_is_deep_or_long_is_refused_and_wide_is_not() {
    let p = "system:s\nevent:e\nint:1:0:9:0:i\nprocess:P\nlocation:P:l{initial:}\n";
    let brackets = format!("{p}edge:P:l:l:e{{provided: {}i{} == 0}}\n", "(".repeat(5000), ")".repeat(5000));
    refused(&brackets, "6:225", "nested more than 200 levels");
    let chain = format!("{p}edge:P:l:l:e{{provided: i{} == 0}}\n", " + i".repeat(5000));
    assert!(asked(&chain, &[], "").err().is_some_and(|e| e.contains("more than 1000 operators")));
    let comparisons = format!("{p}edge:P:l:l:e{{provided: {}i{}}}\n", "(".repeat(150), " < i)".repeat(150));
    assert!(asked(&comparisons, &[], "").is_ok());
    let wide = format!("{p}edge:P:l:l:e{{provided: i == 0{}}}\n", " && i < 5".repeat(20_000));
    assert!(asked(&wide, &[], "").is_ok());
}
