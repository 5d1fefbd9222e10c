//! What lazy abstraction did, shown: the abstract reachability tree refinement by refinement, as text, as JSON and as a drawing.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use trellis_model::refinements::{Cut, End, History, Node, Round, State};

use crate::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};

/// So many nodes are drawn; rounds that do not fit are left out.
const DRAWN: usize = 450;
/// Lines in a box are so long.
const WIDE: usize = 44;
/// Of the error node, the pivot, and what is covered.
const RED: &str = "#d1491f";
const GOLD: &str = "#e0b020";
const GREY: &str = "#c8c8c8";

impl Tree<'_> {
    /// All nodes, each before its children.
    fn walk(&self) -> Vec<&Node> {
        let mut out = vec![];
        let mut left: Vec<&Node> = self.children.get(&None).cloned().unwrap_or_default();
        left.reverse();
        while let Some(n) = left.pop() {
            out.push(n);
            left.extend(self.children.get(&Some(n.id)).into_iter().flatten().rev());
        }
        out
    }
}

/// The children of each node.
struct Tree<'r> {
    children: BTreeMap<Option<u32>, Vec<&'r Node>>,
}

fn tree(round: &Round) -> Tree<'_> {
    let mut children: BTreeMap<Option<u32>, Vec<&Node>> = BTreeMap::new();
    round.nodes.iter().for_each(|n| children.entry(n.parent.as_ref().map(|p| p.0)).or_default().push(n));
    Tree { children }
}

fn numbers(all: &[u32]) -> String {
    let all: Vec<String> = all.iter().map(u32::to_string).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// What a round comes to, in a line.
fn headline(n: usize, round: &Round) -> String {
    match &round.end {
        End::Refined { trace, commands, .. } => {
            let pivot = trace.last().map_or(0, |c| c.node);
            format!("refinement {}: node {pivot} is the pivot of the error trace {}", n + 1, commands.join(" "))
        }
        End::Real { commands, .. } => format!("tree {}: the error trace {} is a run", n + 1, commands.join(" ")),
        End::Closed => format!("tree {}: no node waits, and none is an error", n + 1),
    }
}

/// Round by round.
pub fn text(history: &History) -> String {
    let mut out = String::new();
    let mut said = vec![false; history.precisions.len()];
    for (n, round) in history.rounds.iter().enumerate() {
        let last = n + 1 == history.rounds.len();
        if last && history.left_out > 0 {
            let _ = writeln!(out, "… {} more are left out\n", history.left_out);
        }
        let number = if last { n + history.left_out } else { n };
        let _ = writeln!(out, "{}", headline(number, round));
        for node in &round.nodes {
            if !std::mem::replace(&mut said[node.precision], true) {
                let _ =
                    writeln!(out, "  P{} = {{ {} }}", node.precision, history.precisions[node.precision].join(" | "));
            }
        }
        for node in tree(round).walk() {
            let command = node.parent.as_ref().map_or("", |p| p.1.as_str());
            let arrow = if command.is_empty() { String::new() } else { format!("{command} → ") };
            let state = match node.state {
                State::Waiting => ", waits",
                State::Covered => ", covered",
                State::Passed => "",
            };
            let indent = 2 + 2 * node.depth;
            let _ = writeln!(out, "{:indent$}{arrow}{}: {}   [P{}{state}]", "", node.id, node.region, node.precision);
        }
        end(&round.end, &mut out);
        out.push('\n');
    }
    out
}

fn end(end: &End, out: &mut String) {
    let (End::Refined { trace, .. } | End::Real { trace, .. }) = end else { return };
    out.push_str("  error regions, backwards:\n");
    for Cut { node, error, meets } in trace {
        let meets = if *meets { "met" } else { "missed: the pivot" };
        let _ = writeln!(out, "    at {node}: {error}   ({meets})");
    }
    if let End::Refined { trace, new, deleted, reopened, .. } = end {
        let pivot = trace.last().map_or(0, |c| c.node);
        let _ = writeln!(
            out,
            "  node {pivot} gets: {}",
            if new.is_empty() { "nothing new".into() } else { new.join(" | ") }
        );
        let _ = writeln!(out, "  deleted: {}; covered and opened again: {}", numbers(deleted), numbers(reopened));
    }
}

/// For machines.
pub fn json(history: &History) -> Value {
    let cut = |c: &Cut| json!({ "node": c.node, "error": c.error, "met": c.meets });
    let node = |n: &Node| {
        let state = match n.state {
            State::Waiting => "waiting",
            State::Passed => "passed",
            State::Covered => "covered",
        };
        let (parent, command) =
            n.parent.as_ref().map_or((Value::Null, Value::Null), |p| (p.0.into(), p.1.clone().into()));
        json!({
            "id": n.id, "parent": parent, "command": command, "depth": n.depth, "region": n.region,
            "predicates": n.precision, "state": state,
        })
    };
    let round = |r: &Round| {
        let nodes: Vec<Value> = r.nodes.iter().map(node).collect();
        let end = match &r.end {
            End::Refined { trace, commands, new, deleted, reopened } => json!({
                "kind": "refined", "pivot": trace.last().map(|c| c.node),
                "trace": trace.iter().map(cut).collect::<Vec<_>>(), "commands": commands, "new": new,
                "deleted": deleted, "reopened": reopened,
            }),
            End::Real { trace, commands } => json!({
                "kind": "run", "trace": trace.iter().map(cut).collect::<Vec<_>>(), "commands": commands,
            }),
            End::Closed => json!({ "kind": "closed" }),
        };
        json!({ "nodes": nodes, "end": end })
    };
    let rounds: Vec<Value> = history.rounds.iter().map(round).collect();
    json!({ "predicates": history.precisions, "rounds": rounds, "left_out": history.left_out })
}

/// A text in lines that are not too long, cut at commas if possible.
fn lines(text: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    for part in text.split_inclusive(", ") {
        match out.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() <= WIDE => line.push_str(part),
            _ => out.push(part.into()),
        }
    }
    out.iter().map(|l| l.trim_end().to_string()).collect()
}

/// The trees, one after the other; each stands in a box of its own. What does not fit is left out.
pub fn drawing(history: &History) -> Drawing {
    let mut out = Drawing::default();
    let (mut drawn, mut hidden) = (0, history.left_out);
    for (n, round) in history.rounds.iter().enumerate() {
        // The last one is drawn if any is.
        let room = DRAWN.saturating_sub(drawn + if n + 1 == history.rounds.len() { 0 } else { last_size(history) });
        if round.nodes.len() > room {
            hidden += 1;
            continue;
        }
        drawn += round.nodes.len();
        let frame = out.nodes.len();
        let mut title = vec![headline(n, round)];
        if let End::Refined { new, .. } = &round.end {
            title.extend(lines(&format!("new predicates: {}", new.join(", "))));
        }
        out.nodes.push(DrawnNode { lines: title, shape: NodeShape::Frame, ..DrawnNode::default() });
        inside(round, frame, &mut out);
    }
    if hidden > 0 {
        let lines = vec![format!("{hidden} more are too large to be drawn")];
        out.nodes.push(DrawnNode { lines, ..DrawnNode::default() });
    }
    out
}

/// The last tree alone: if nothing waits in it, it is the proof.
pub fn proof(history: &History) -> Drawing {
    let mut out = Drawing::default();
    if let Some(round) = history.rounds.last() {
        let frame = DrawnNode { lines: vec!["the proof".into()], shape: NodeShape::Frame, ..DrawnNode::default() };
        out.nodes.push(frame);
        inside(round, 0, &mut out);
    }
    out
}

fn last_size(history: &History) -> usize {
    history.rounds.last().map_or(0, |r| r.nodes.len())
}

fn inside(round: &Round, frame: usize, out: &mut Drawing) {
    let (trace, refined) = match &round.end {
        End::Refined { trace, .. } => (&trace[..], true),
        End::Real { trace, .. } => (&trace[..], false),
        End::Closed => (&[][..], false),
    };
    let mut places = BTreeMap::new();
    for n in tree(round).walk() {
        let (is_error, is_pivot) =
            (trace.first().is_some_and(|c| c.node == n.id), refined && trace.last().is_some_and(|c| c.node == n.id));
        let state = if n.state == State::Waiting && !is_error { " waits" } else { "" };
        let mut text = vec![format!("{} [P{}]{state}", n.id, n.precision)];
        text.extend(lines(&n.region));
        if let Some(cut) = trace.iter().find(|c| c.node == n.id) {
            text.extend(lines(&format!("error: {}", cut.error)));
        }
        let color = match (is_error, is_pivot, n.state) {
            (true, _, _) => Some(RED),
            (_, true, _) => Some(GOLD),
            (_, _, State::Covered) => Some(GREY),
            _ => None,
        };
        let shape = match (is_error, n.depth) {
            (true, _) => NodeShape::Error,
            (_, 0) => NodeShape::Initial,
            _ => NodeShape::Plain,
        };
        places.insert(n.id, out.nodes.len());
        let color = color.map(str::to_string);
        out.nodes.push(DrawnNode { lines: text, within: Some(frame), shape, color, ..DrawnNode::default() });
        if let Some((parent, command)) = &n.parent {
            let on_trace = [*parent, n.id].iter().all(|id| trace.iter().any(|c| c.node == *id));
            let color = on_trace.then(|| RED.to_string());
            let to = places[&n.id];
            out.edges.push(DrawnEdge {
                from: places[parent],
                to,
                lines: vec![command.clone()],
                color,
                ..DrawnEdge::default()
            });
        }
    }
}
