//! Networks and traces as graphs in the dot language (Graphviz).
//!
//! Drawing is left to Graphviz; nothing here decides where things stand.

use std::collections::BTreeMap;
use std::fmt::Write;

use trellis_domain::zone::Rational;
use trellis_model::network::{Edge, Location, Network, Trace};

use crate::label;
use crate::property::{Ending, Inconclusive};
use crate::tell::{Renderer, cut, later, states};
use crate::text::describe;
use crate::time;

/// A network: one cluster per process, one arrow per edge of the source, however many values its selects take.
pub fn network(net: &Network, name: &str) -> String {
    let teller = Renderer::new(net);
    let mut out = head(name);
    for (p, process) in net.processes.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{p} {{\n    label={};", quote(&[&teller.names.processes[p]]));
        for (l, location) in process.locations.iter().enumerate() {
            let (lines, style) = location_label(net, &teller.names.locations[p][l], location);
            let _ = writeln!(out, "    p{p}_{l} [label={}{style}];", quote(&lines));
        }
        let _ = writeln!(out, "    p{p}_start [shape=point, label=\"\"];\n    p{p}_start -> p{p}_{};", process.init);
        let mut drawn: BTreeMap<u32, Vec<&Edge>> = BTreeMap::new();
        for e in &process.edges {
            drawn.entry(e.origin).or_default().push(e);
        }
        for instances in drawn.values() {
            let (source, target) = (instances[0].source, instances[0].target);
            let lines = label::edges(net, instances);
            let _ = writeln!(out, "    p{p}_{source} -> p{p}_{target} [label={}];", quote(&lines));
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn location_label(net: &Network, name: &str, l: &Location) -> (Vec<String>, &'static str) {
    let mut lines = vec![name.to_string()];
    let style = match (l.committed, l.urgent) {
        (true, _) => {
            lines.push("committed".into());
            ", peripheries=2"
        }
        (_, true) => {
            lines.push("urgent".into());
            ", style=dashed"
        }
        _ => "",
    };
    lines.extend(l.invariant.and_then(|c| label::condition(net, c)).map(|text| cut(&text)));
    lines.extend(label::clock_guard(net, &l.clock_invariant).map(|text| cut(&text)));
    (lines, style)
}

/// A run: states are nodes, steps are arrows; a lasso returns. Time passes on arrows, also after the last step.
pub fn trace(net: &Network, trace: &Trace, ending: Ending, name: &str) -> String {
    let teller = Renderer::new(net);
    let mut out = head(name);
    run(&teller, trace, &|_| "", &|_| "", &mut out);
    let mut last = format!("s{}", trace.steps.len());
    if trace.rest != Rational::ZERO && trace.back_to.is_none() {
        let clocks = later(&trace.last().clocks, trace.rest).unwrap_or_default();
        let (label, after) = (quote(clocks_line(&teller, &clocks).as_slice()), quote(&[waited(trace.rest)]));
        let _ = writeln!(out, "  rest [shape=box, style=rounded, label={label}];\n  {last} -> rest [label={after}];");
        last = "rest".into();
    }
    match ending {
        Ending::Loop => {}
        Ending::Target => _ = writeln!(out, "  {last} [penwidth=3];"),
        Ending::Error => _ = writeln!(out, "  {last} [penwidth=3, color=red];"),
        Ending::Idle | Ending::Deadlock => {
            let word = if ending == Ending::Idle { "time may pass forever" } else { "nothing can happen" };
            let _ =
                writeln!(out, "  end [shape=plaintext, label={}];\n  {last} -> end [style=dashed];", quote(&[word]));
        }
    }
    out.push_str("}\n");
    out
}

/// A path that exists only because of joins: these have a double line, the pivot is filled, the step that fails is red.
pub fn inconclusive(net: &Network, i: &Inconclusive, name: &str) -> String {
    let teller = Renderer::new(net);
    let mut out = head(name);
    let node = |n: usize| match (n == i.pivot, i.joins.contains(&n)) {
        (true, _) => ", peripheries=2, style=\"rounded,filled\", fillcolor=gold",
        (_, true) => ", peripheries=2",
        _ => "",
    };
    let edge = |n: usize| if n == i.fails_at { ", color=red, fontcolor=red, style=dashed" } else { "" };
    run(&teller, &i.path, &node, &edge, &mut out);
    out.push_str("}\n");
    out
}

type Looks<'a> = &'a dyn Fn(usize) -> &'static str;

/// Nodes `s0`, `s1`, … and the arrows between them. The last state of a lasso is the one it returns to.
fn run(teller: &Renderer<'_>, trace: &Trace, node: Looks<'_>, edge: Looks<'_>, out: &mut String) {
    let mut lines = vec!["0".to_string()];
    lines.extend(teller.locations(&trace.initial));
    lines.extend(teller.values(&trace.initial));
    let _ = writeln!(out, "  s0 [shape=box, style=rounded, label={}{}];", quote(&lines), node(0));
    let last = trace.steps.len();
    for (i, (before, step)) in states(trace).enumerate() {
        let moves = teller.moves(before, &step.action);
        let to = match trace.back_to {
            Some(back) if i + 1 == last => back,
            _ => {
                let mut lines = vec![(i + 1).to_string()];
                lines.extend(moves.iter().map(|m| format!("{}.{}", m.process, m.to)));
                let changes = teller.changes(before, &step.state);
                lines.extend(changes.iter().map(|(name, value)| format!("{name} = {value}")));
                lines.extend(clocks_line(teller, &step.state.clocks));
                let looks = node(i + 1);
                let _ = writeln!(out, "  s{} [shape=box, style=rounded, label={}{looks}];", i + 1, quote(&lines));
                i + 1
            }
        };
        let waited = (step.delay != Rational::ZERO).then(|| waited(step.delay));
        let lines: Vec<String> = waited.into_iter().chain(moves.iter().map(describe)).collect();
        let _ = writeln!(out, "  s{i} -> s{to} [label={}{}];", quote(&lines), edge(i));
    }
}

fn waited(delay: Rational) -> String {
    format!("after {}", time::duration(delay))
}

/// All clocks in one line, if there are any.
fn clocks_line(teller: &Renderer<'_>, clocks: &[Rational]) -> Option<String> {
    (!clocks.is_empty()).then(|| cut(&teller.clocks(clocks).join(", ")))
}

pub(crate) fn head(name: &str) -> String {
    format!(
        "digraph {} {{\n  graph [fontname=\"sans-serif\"];\n  node [fontname=\"sans-serif\", fontsize=11];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];\n",
        quote(&[name])
    )
}

/// Lines as one quoted string.
pub(crate) fn quote<T: AsRef<str>>(lines: &[T]) -> String {
    let mut out = String::from("\"");
    for (i, line) in lines.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "\\n" });
        for c in line.as_ref().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                c if c.is_control() => out.push(' '),
                c => out.push(c),
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn odd_characters_are_escaped() {
        assert_eq!(super::quote(&["a \"b\"", "c\\N\n\u{1}"]), r#""a \"b\"\nc\\N\n ""#);
    }
}
