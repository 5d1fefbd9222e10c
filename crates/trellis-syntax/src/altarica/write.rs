//! A node written again under another name, with other transitions (what Acheck's `project` makes). What is not changed is copied from the
//! source, part by part, without comments.

use std::fmt::Write;

use super::File;
use super::ast::{Item, Name, Node, Vars};
use crate::diag::{Sources, Span};

impl File {
    /// A node under another name, with these transitions in place of its own; nothing if there is no such node, or it has parameters.
    pub fn rewritten(&self, sources: &Sources, node: &str, name: &str, transitions: &str) -> Option<String> {
        let found = self.items.iter().find_map(|item| match item {
            Item::Node(n) if n.name.text == node => Some(n),
            _ => None,
        });
        let node = found.filter(|n| n.params.is_empty() && n.param_set.is_empty())?;
        Some(written(sources, node, name, transitions))
    }
}

/// What is copied becomes one line, in which a comment to the end of the line would swallow the rest.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        out = out + &rest[..at] + " ";
        rest = rest[at..].find(end).map_or("", |n| &rest[at + n + end.len()..]);
    }
    out + rest
}

fn written(sources: &Sources, node: &Node, name: &str, transitions: &str) -> String {
    let copy = |span: Span| {
        let text = &sources.get(span.source).text[span.start as usize..span.end as usize];
        without_comments(text).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let list = |names: &[Name]| names.iter().map(|n| copy(n.span)).collect::<Vec<_>>().join(", ");
    let variables = |vars: &Vars| {
        let attributes =
            if vars.attributes.is_empty() { String::new() } else { format!(" : {}", list(&vars.attributes)) };
        format!("{} : {}{attributes}", list(&vars.names), copy(vars.dom.span))
    };
    let sections: [(&str, Vec<String>); 6] = [
        ("state", node.states.iter().map(variables).collect()),
        ("flow", node.flows.iter().map(variables).collect()),
        ("event", node.events.iter().flat_map(|p| &p.groups).map(|names| list(names)).collect()),
        (
            "sub",
            (node.subs.iter())
                .map(|sub| {
                    let sizes: String = sub.sizes.iter().map(|e| format!("[{}]", copy(e.span))).collect();
                    format!("{} : {}{sizes}", list(&sub.names), copy(sub.node.span))
                })
                .collect(),
        ),
        ("assert", node.asserts.iter().map(|e| copy(e.span)).collect()),
        ("sync", node.sync.iter().map(|v| copy(v.span)).collect()),
    ];
    let mut out = format!("node {name}\n");
    for (section, lines) in sections.iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = writeln!(out, "  {section}");
        for line in lines {
            let _ = writeln!(out, "    {line};");
        }
    }
    if !node.init.is_empty() {
        let all: Vec<String> = node.init.iter().map(|(p, e)| format!("{} := {}", copy(p.span), copy(e.span))).collect();
        let _ = writeln!(out, "  init {};", all.join(", "));
    }
    if !transitions.is_empty() {
        let _ = write!(out, "  trans\n{transitions}");
    }
    out.push_str("edon\n");
    out
}
