//! Control-flow automata as graphs in the dot language (Graphviz): a picture of a program.

use std::fmt::Write;

use trellis_expr::{Stmt, StmtId};
use trellis_model::cfa::{Cfa, Kind};

use crate::words::{cut, graph, quote};

/// How many statements of an edge are shown; a large block may have thousands.
const MAX_LINES: usize = 20;

/// The automaton. An error location is red, a final one has a double line; locations show the line they stand in.
pub fn dot(cfa: &Cfa, name: &str) -> String {
    let mut out = graph(name);
    let _ = writeln!(out, "  start [shape=point, label=\"\"];\n  start -> l{};", cfa.initial.0);
    for l in cfa.locations() {
        let location = cfa.location(l);
        let mut lines = vec![location.name.clone()];
        lines.extend(location.place.map(|p| format!("line {}", p.line)));
        let style = match location.kind {
            Kind::Plain => "",
            Kind::Error => ", color=red, penwidth=2",
            Kind::Final => ", peripheries=2",
        };
        let _ = writeln!(out, "  l{} [shape=box, style=rounded, label={}{style}];", l.0, quote(&lines));
    }
    for e in cfa.edges() {
        let edge = cfa.edge(e);
        let mut lines = vec![];
        statements(cfa, edge.stmt, 0, &mut lines);
        if lines.len() > MAX_LINES {
            let more = lines.len() - MAX_LINES;
            lines.truncate(MAX_LINES);
            lines.push(format!("… ({more} more)"));
        }
        let _ = writeln!(out, "  l{} -> l{} [label={}];", edge.from.0, edge.to.0, quote(&lines));
    }
    out.push_str("}\n");
    out
}

/// One line for each simple statement; choices are indented.
fn statements(cfa: &Cfa, s: StmtId, indent: usize, lines: &mut Vec<String>) {
    let blanks = "  ".repeat(indent);
    match cfa.terms.stmt(s) {
        Stmt::Skip => {}
        Stmt::Seq(parts) => parts.iter().for_each(|&p| statements(cfa, p, indent, lines)),
        Stmt::Choice(parts) => {
            for (n, &p) in parts.iter().enumerate() {
                lines.push(format!("{blanks}{}", if n == 0 { "either" } else { "or" }));
                statements(cfa, p, indent + 1, lines);
            }
        }
        Stmt::Assume(t) => lines.push(format!("{blanks}[{}]", cut(&cfa.terms.show(*t)))),
        _ => lines.push(format!("{blanks}{}", cut(&cfa.terms.show_stmt(s)))),
    }
}
