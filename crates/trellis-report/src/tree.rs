//! Reports about hierarchical transition systems for a person at a terminal.

use std::fmt::Write;

use trellis_expr::VarId;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::detach::Detached;
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};

use crate::property::PropertyReport;
use crate::text::{INDENT, Style, line, notes, wrap};

/// A report about a hierarchical transition system.
pub type TreeReport = PropertyReport<Trace, Certificate>;

/// In whose words states are told.
#[derive(Clone, Copy)]
pub enum Words<'w> {
    /// Nodes, and the names of their states.
    States(&'w Tree),
    /// The variables of AltaRica's nodes.
    Variables(&'w Hierarchy, &'w Detached),
}

impl Words<'_> {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        match self {
            Words::States(tree) => tree,
            Words::Variables(_, detached) => &detached.tree,
        }
    }

    /// What is to be said of a state, one text for each node or variable.
    fn tell(&self, state: &[u32]) -> Vec<String> {
        match self {
            Words::States(tree) => {
                let one = |(node, &q): (&trellis_model::hierarchy::tree::Node, &u32)| {
                    let name = if node.name.is_empty() { "top" } else { &node.name };
                    format!("{name}: {}", node.behaviour.states[q as usize])
                };
                tree.nodes().iter().zip(state).map(one).collect()
            }
            Words::Variables(hierarchy, detached) => {
                let one = |(n, &value): (usize, &i64)| {
                    let v = VarId(n as u32);
                    format!("{} = {}", hierarchy.variable(v).name, hierarchy.show_value(v, value))
                };
                detached.values(hierarchy, state).iter().enumerate().map(one).collect()
            }
        }
    }
}

/// Everything about one property.
pub fn render(report: &TreeReport, words: Words<'_>, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    if let Some(t) = &report.trace {
        out.push_str(&trace(words, t));
    }
    out
}

/// A run: the first state, then each event and what changes by it.
pub fn trace(words: Words<'_>, trace: &Trace) -> String {
    let mut out = String::new();
    let mut before: Vec<String> = vec![];
    for (step, state) in trace.states.iter().enumerate() {
        let now = words.tell(state);
        let new = |(i, said): (usize, &String)| (before.get(i) != Some(said)).then(|| said.clone());
        let changed: Vec<String> = now.iter().enumerate().filter_map(new).collect();
        let event = match step.checked_sub(1).and_then(|at| trace.steps.get(at)) {
            Some(vectors) => words.tree().show_step(vectors),
            None => "initially".into(),
        };
        let _ = writeln!(out, "{step:>6}   {event}");
        out.push_str(&wrap(&changed, INDENT + 2));
        before = now;
    }
    out
}
