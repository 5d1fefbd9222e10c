//! Büchi automata as graphs in the dot language (Graphviz).

use std::fmt::Write;

use trellis_model::ltl::{Buchi, Cube};

use crate::words::{cut, graph, quote};

/// The automaton. With marks on states, accepting ones have a double line; otherwise edges show their marks.
pub fn dot(a: &Buchi, atoms: &[String], name: &str) -> String {
    let on_states = a.marks == 1 && a.is_state_based();
    let mut out = graph(name);
    for (n, s) in a.initial.iter().enumerate() {
        let _ = writeln!(out, "  start{n} [shape=point, label=\"\"];\n  start{n} -> s{s};");
    }
    for (s, edges) in a.edges.iter().enumerate() {
        let accepting = on_states && edges.first().is_some_and(|e| e.marks == 1);
        let style = if accepting { ", peripheries=2" } else { "" };
        let _ = writeln!(out, "  s{s} [shape=circle, label={}{style}];", quote(&[&s.to_string()]));
        for e in edges {
            let mut lines = vec![cut(&conjunction(e.cube, atoms))];
            let marks: Vec<String> = (0..a.marks).filter(|m| e.marks >> m & 1 == 1).map(|m| m.to_string()).collect();
            if !on_states && !marks.is_empty() {
                lines.push(format!("{{{}}}", marks.join(", ")));
            }
            let _ = writeln!(out, "  s{s} -> s{} [label={}];", e.to, quote(&lines));
        }
    }
    out.push_str("}\n");
    out
}

fn conjunction(cube: Cube, atoms: &[String]) -> String {
    let named = |n: usize| atoms.get(n).cloned().unwrap_or_else(|| format!("p{n}"));
    // `!x < 3` would be misread.
    let negated = |n: usize| {
        let name = named(n);
        if name.contains(' ') { format!("!({name})") } else { format!("!{name}") }
    };
    let literal = |n: usize| match (cube.positive >> n & 1, cube.negative >> n & 1) {
        (1, _) => Some(named(n)),
        (_, 1) => Some(negated(n)),
        _ => None,
    };
    let all: Vec<String> = (0..64).filter_map(literal).collect();
    if all.is_empty() { "true".into() } else { all.join(" && ") }
}
