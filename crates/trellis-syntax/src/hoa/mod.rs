//! Automata in the Hanoi format (HOA v1), in and out.
//!
//! Read are Büchi, generalised Büchi and "all" acceptance, on states or on edges, with explicit or implicit labels and aliases.
//! Refused by name: other acceptance conditions, among them all with `Fin`, and alternation. One automaton per file. Headers in
//! small letters that are not known are skipped, as the format wants it; in capital letters they are refused.

mod label;
mod lexer;
mod read;

use std::fmt::Write;

use trellis_model::ltl::{Buchi, Cube};

pub use read::read;

/// An automaton, and what its atoms are called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hoa {
    /// The automaton.
    pub automaton: Buchi,
    /// The names of the atoms (`AP:`).
    pub atoms: Vec<String>,
    /// The automaton's name (`name:`).
    pub name: Option<String>,
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// As text: acceptance on states where it is state-based, on edges otherwise.
pub fn write(hoa: &Hoa) -> String {
    let a = &hoa.automaton;
    let on_states = a.marks == 1 && a.is_state_based();
    let mut out = String::from("HOA: v1\n");
    // Writing to a string does not fail.
    if let Some(name) = &hoa.name {
        let _ = writeln!(out, "name: {}", quoted(name));
    }
    let _ = writeln!(out, "States: {}", a.edges.len());
    for s in &a.initial {
        let _ = writeln!(out, "Start: {s}");
    }
    let _ = write!(out, "AP: {}", hoa.atoms.len());
    hoa.atoms.iter().for_each(|atom| {
        let _ = write!(out, " {}", quoted(atom));
    });
    let (name, condition) = match a.marks {
        0 => ("all".to_string(), "t".to_string()),
        1 => ("Buchi".to_string(), "Inf(0)".to_string()),
        n => (format!("generalized-Buchi {n}"), (0..n).map(|m| format!("Inf({m})")).collect::<Vec<_>>().join("&")),
    };
    let _ = writeln!(out, "\nacc-name: {name}\nAcceptance: {} {condition}", a.marks);
    let kind = if on_states { "state-acc" } else { "trans-acc" };
    let deterministic = if a.is_deterministic() { " deterministic" } else { "" };
    let _ = writeln!(out, "properties: trans-labels explicit-labels {kind} no-univ-branch{deterministic}\n--BODY--");
    for (s, edges) in a.edges.iter().enumerate() {
        let accepting = on_states && edges.first().is_some_and(|e| e.marks == 1);
        let _ = writeln!(out, "State: {s}{}", if accepting { " {0}" } else { "" });
        // Edges that differ in their cubes only are one.
        let mut groups: Vec<((u32, u64), Vec<Cube>)> = vec![];
        for e in edges {
            match groups.iter_mut().find(|g| g.0 == (e.to, e.marks)) {
                Some(group) => group.1.push(e.cube),
                None => groups.push(((e.to, e.marks), vec![e.cube])),
            }
        }
        for ((to, marks), cubes) in groups {
            let label = cubes.into_iter().map(conjunction).collect::<Vec<_>>().join(" | ");
            let set: Vec<String> = (0..a.marks).filter(|m| marks >> m & 1 == 1).map(|m| m.to_string()).collect();
            let set = if on_states || set.is_empty() { String::new() } else { format!(" {{{}}}", set.join(" ")) };
            let _ = writeln!(out, "[{label}] {to}{set}");
        }
    }
    out + "--END--\n"
}

fn conjunction(cube: Cube) -> String {
    let literal = |n: u32| match (cube.positive >> n & 1, cube.negative >> n & 1) {
        (1, _) => Some(n.to_string()),
        (_, 1) => Some(format!("!{n}")),
        _ => None,
    };
    let all: Vec<String> = (0..64).filter_map(literal).collect();
    if all.is_empty() { "t".into() } else { all.join("&") }
}
