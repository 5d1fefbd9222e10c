//! Control-flow automata as pictures.

use trellis_expr::{Stmt, StmtId};
use trellis_model::cfa::{Cfa, Kind};

use crate::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};
use crate::words::cut;

/// How many statements of an edge are shown; a large block may have thousands.
const MAX_LINES: usize = 20;

/// The automaton; locations show the line they stand in, and are lit by their name.
pub fn drawing(cfa: &Cfa) -> Drawing {
    let mut out = Drawing::default();
    for l in cfa.locations() {
        let location = cfa.location(l);
        let mut lines = vec![location.name.clone()];
        lines.extend(location.place.map(|p| format!("line {}", p.line)));
        let shape = match location.kind {
            Kind::Plain => NodeShape::Plain,
            Kind::Error => NodeShape::Error,
            Kind::Final => NodeShape::Final,
        };
        out.nodes.push(DrawnNode { lines, shape, ..DrawnNode::default() });
    }
    out.edges.push(DrawnEdge { from: out.nodes.len(), to: cfa.initial.index(), ..DrawnEdge::default() });
    out.nodes.push(DrawnNode { shape: NodeShape::Start, ..DrawnNode::default() });
    for e in cfa.edges() {
        let edge = cfa.edge(e);
        let mut lines = vec![];
        statements(cfa, edge.stmt, 0, &mut lines);
        if lines.len() > MAX_LINES {
            let more = lines.len() - MAX_LINES;
            lines.truncate(MAX_LINES);
            lines.push(format!("… ({more} more)"));
        }
        out.edges.push(DrawnEdge { from: edge.from.index(), to: edge.to.index(), lines, ..DrawnEdge::default() });
    }
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
