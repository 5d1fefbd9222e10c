//! Runs and pictures of models as graphs in the dot language (Graphviz).
//!
//! Drawing is left to Graphviz; nothing here decides where things stand.

use std::fmt::Write;

use trellis_domain::zone::Rational;

use crate::present::{Drawing, DrawnNode, NodeShape, Present, Shown};
use crate::property::PropertyReport;
use crate::text::{Clocks, changes, ending, lines, locations, number_of, place, start_values};
use crate::time;
use crate::words::{cut, graph, quote};

/// The run of a report, or its path that exists only because of joins.
pub fn report<P: Present + ?Sized, C>(r: &PropertyReport<P::Trace, C>, p: &P) -> Option<String> {
    if let Some(t) = &r.trace {
        let mut shown = p.shown(t);
        shown.run.ending = p.ending(r.kind, r.outcome, t).map(|e| e.name().into());
        return Some(run(&shown, &r.query));
    }
    r.inconclusive.as_ref().map(|i| inconclusive(&p.shown(&i.path), &i.joins, i.pivot, i.fails_at, &r.query))
}

/// A run: states are nodes, steps are arrows; a lasso returns. Time passes on arrows, also after the last step.
pub fn run(shown: &Shown, name: &str) -> String {
    let mut out = graph(name);
    steps(shown, &|_| "", &|_| "", &mut out);
    out.push_str("}\n");
    out
}

/// A path that exists only because of joins: these have a double line, the pivot is filled, the step that fails is red.
pub fn inconclusive(shown: &Shown, joins: &[usize], pivot: usize, fails_at: usize, name: &str) -> String {
    let mut out = graph(name);
    let node = |n: usize| match (n == pivot, joins.contains(&n)) {
        (true, _) => ", peripheries=2, style=\"rounded,filled\", fillcolor=gold",
        (_, true) => ", peripheries=2",
        _ => "",
    };
    let edge = |n: usize| if n == fails_at { ", color=red, fontcolor=red, style=dashed" } else { "" };
    steps(shown, &node, &edge, &mut out);
    out.push_str("}\n");
    out
}

type Looks<'a> = &'a dyn Fn(usize) -> &'static str;

/// Nodes `s0`, `s1`, … and the arrows between them. The last state of a lasso is the one it returns to.
fn steps(s: &Shown, node: Looks<'_>, edge: Looks<'_>, out: &mut String) {
    let (run, look) = (&s.run, &s.look);
    let mut first = vec!["0".to_string()];
    first.extend(look.start.clone());
    if look.start.is_none() {
        first.extend(locations(run, &run.start));
    }
    first.extend(start_values(s).into_iter().map(|v| cut(&v)));
    let _ = writeln!(out, "  s0 [shape=box, style=rounded, label={}{}];", quote(&first), node(0));
    let mut clocks = Clocks::new(run);
    let (last, red) = (run.steps.len(), ", penwidth=3, color=red");
    for (i, step) in run.steps.iter().enumerate() {
        let delay = number_of(step.delay.as_deref());
        clocks.step(step, delay);
        let to = match run.back {
            Some(back) if i + 1 == last && back < last => back,
            _ => {
                let mut label = vec![(i + 1).to_string()];
                if look.start.is_none() {
                    let moved = step.parts.iter().filter_map(|p| Some(format!("{}.{}", p.name, p.to.as_ref()?)));
                    label.extend(moved);
                }
                label.extend(changes(s, step));
                let all = clocks.all();
                label.extend((!all.is_empty()).then(|| cut(&all.join(", "))));
                let looks = node(i + 1);
                let _ = writeln!(out, "  s{} [shape=box, style=rounded, label={}{looks}];", i + 1, quote(&label));
                i + 1
            }
        };
        let waited = (delay != Rational::ZERO).then(|| format!("after {}", time::duration(delay)));
        let mut label: Vec<String> = waited.into_iter().collect();
        label.extend(Some(place(step)).filter(|p| look.table && !p.is_empty()));
        label.extend(lines(s, step).iter().map(|l| cut(l)));
        let closes = if to != i + 1 { red } else { "" };
        let _ = writeln!(out, "  s{i} -> s{to} [label={}{}{closes}];", quote(&label), edge(i));
    }
    let mut end = format!("s{last}");
    let rest = number_of(run.rest.as_deref());
    if rest != Rational::ZERO && run.back.is_none() {
        clocks.wait(rest);
        let label = quote(&[clocks.all().join(", ")]);
        let after = quote(&[format!("after {}", time::duration(rest))]);
        let _ = writeln!(out, "  rest [shape=box, style=rounded, label={label}];\n  {end} -> rest [label={after}];");
        end = "rest".into();
    }
    match run.ending.as_deref() {
        Some("loop") => {}
        Some("target") => _ = writeln!(out, "  {end} [penwidth=3];"),
        Some("idle" | "deadlock") => {
            let word =
                if run.ending.as_deref() == Some("idle") { "time may pass forever" } else { "nothing can happen" };
            let _ = writeln!(out, "  end [shape=plaintext, label={}];\n  {end} -> end [style=dashed];", quote(&[word]));
        }
        // It stays where it is: nothing more changes, or nobody says how.
        _ if run.back.is_some_and(|b| b >= last) || run.recurrent.is_some() => {
            let label = quote(&[ending(s).unwrap_or_default()]);
            let _ = writeln!(out, "  {end} -> {end} [label={label}{red}];");
        }
        _ if run.back.is_some() => {}
        _ => _ = writeln!(out, "  {end} [{}];", &red[2..]),
    }
}

/// A model: a cluster for each box with others in it.
pub fn drawing(drawing: &Drawing, name: &str) -> String {
    let mut out = graph(name);
    inside(drawing, None, 1, &mut out);
    let is_frame = |n: usize| drawing.nodes[n].shape == NodeShape::Frame;
    if drawing.edges.iter().any(|e| is_frame(e.from) || is_frame(e.to)) {
        out.push_str("  compound=true;\n");
    }
    // Graphviz has arrows between boxes only: that of a frame is cut where it crosses the frame.
    let inner = |mut n: usize| {
        while is_frame(n) {
            n = drawing.nodes.iter().position(|c| c.within == Some(n))?;
        }
        Some(n)
    };
    for e in &drawing.edges {
        let (Some(from), Some(to)) = (inner(e.from), inner(e.to)) else { continue };
        let cut = |n: usize, which: &str| if is_frame(n) { format!(", {which}=cluster_{n}") } else { String::new() };
        let (tail, head) = (cut(e.from, "ltail"), cut(e.to, "lhead"));
        let _ = writeln!(out, "  n{from} -> n{to} [label={}{tail}{head}];", quote(&e.lines));
    }
    out.push_str("}\n");
    out
}

/// The boxes that are within another, and those within them.
fn inside(drawing: &Drawing, within: Option<usize>, depth: usize, out: &mut String) {
    let blanks = "  ".repeat(depth);
    for (i, n) in drawing.nodes.iter().enumerate().filter(|(_, n)| n.within == within) {
        if n.shape == NodeShape::Frame {
            let _ = writeln!(out, "{blanks}subgraph cluster_{i} {{\n{blanks}  label={};", quote(&n.lines));
            inside(drawing, Some(i), depth + 1, out);
            let _ = writeln!(out, "{blanks}}}");
        } else {
            let _ = writeln!(out, "{blanks}n{i} [label={}{}];", quote(&n.lines), looks(n));
            inside(drawing, Some(i), depth, out);
        }
    }
}

fn looks(node: &DrawnNode) -> &'static str {
    match node.shape {
        NodeShape::Plain | NodeShape::Frame => "",
        NodeShape::Initial => ", penwidth=2",
        NodeShape::Start => ", shape=point",
        NodeShape::Committed | NodeShape::Final => ", peripheries=2",
        NodeShape::Urgent => ", style=dashed",
        NodeShape::Error => ", color=red, penwidth=2",
        NodeShape::Bar => ", shape=box",
    }
}
