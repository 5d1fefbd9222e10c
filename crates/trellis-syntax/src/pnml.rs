//! Place/transition nets in PNML (ISO/IEC 15909-2), as counter systems: a place is a variable, a transition a rule.
//!
//! PNML has no questions: targets come from elsewhere. Pages are read as if their content stood in the net; graphics and tool
//! specific parts are skipped. Refused by name: other types of nets, reference nodes, and arcs that are more than arcs
//! (inhibitors, resets), which P/T nets do not have.

use roxmltree::Node;
use rustc_hash::FxHashMap;
use trellis_model::counter::{Interval, LARGEST, System, Var};

use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::net::{Arcs, Names};
use crate::xml::{self, Language};

const LANGUAGE: Language = Language {
    root: "pnml",
    what: "a PNML file contains a <pnml> element with a <net>",
    textual: "is this another language? PNML is XML",
};

/// Reads the net; without targets.
pub fn parse(sources: &Sources, id: SourceId) -> Result<System, Vec<Diagnostic>> {
    read(sources, id).map_err(|d| vec![d])
}

type Read<T> = Result<T, Diagnostic>;

fn read(sources: &Sources, id: SourceId) -> Read<System> {
    let document = xml::parse(id, &sources.get(id).text, &LANGUAGE)?;
    let span = |n: Node<'_, '_>| {
        let start = n.range().start;
        // The opening tag, or what is on its line.
        Span { source: id, start: start as u32, end: (start + 1 + n.tag_name().name().len()) as u32 }
    };
    let root = document.root_element();
    let fail = |n, message: String| Err(Diagnostic::error(span(n), message));
    if root.tag_name().name() != "pnml" {
        return fail(root, format!("expected <pnml>, found <{}>", root.tag_name().name()));
    }
    let nets: Vec<Node<'_, '_>> = children(root, "net").collect();
    let [net] = nets[..] else {
        return fail(nets.get(1).copied().unwrap_or(root), format!("expected one <net>, found {}", nets.len()));
    };
    let kind = net.attribute("type").unwrap_or_default();
    if !kind.is_empty() && !kind.to_lowercase().contains("ptnet") && !kind.contains("P/T") {
        return fail(net, format!("expected a place/transition net, found the type `{kind}`"));
    }
    let mut system = System::default();
    let mut places: FxHashMap<&str, Var> = FxHashMap::default();
    let mut transitions: FxHashMap<&str, usize> = FxHashMap::default();
    let mut names = Names::default();
    let mut all: Vec<Arcs> = vec![];
    let inside = |n: &Node<'_, '_>| {
        !n.ancestors().any(|a| a.has_tag_name("toolspecific") || a.tag_name().name() == "toolspecific")
    };
    for node in net.descendants().filter(|n| n.is_element()).filter(inside) {
        let name = node.attribute("id").unwrap_or_default();
        match node.tag_name().name() {
            "place" => {
                let marking = number(node, "initialMarking", 0).map_err(|m| Diagnostic::error(span(node), m))?;
                if name.is_empty() || places.insert(name, system.names.len() as Var).is_some() {
                    return fail(node, format!("expected a place with an id of its own, found `{name}`"));
                }
                system.names.push(names.unique(name));
                system.initial.push(Interval::exactly(marking));
            }
            "transition" => {
                if name.is_empty() || transitions.insert(name, all.len()).is_some() {
                    return fail(node, format!("expected a transition with an id of its own, found `{name}`"));
                }
                all.push(Arcs { line: sources.line_col(span(node)).0 as u32, ..Arcs::default() });
            }
            "referencePlace" | "referenceTransition" => {
                return fail(
                    node,
                    format!("<{}> is not supported: write out what it refers to", node.tag_name().name()),
                );
            }
            _ => {}
        }
    }
    for arc in net.descendants().filter(|n| n.tag_name().name() == "arc").filter(inside) {
        if let Some(odd) = children(arc, "type").find(|t| !matches!(t.attribute("value"), None | Some("normal"))) {
            return fail(odd, "this is more than an arc of a place/transition net, and is not supported".into());
        }
        let weight = number(arc, "inscription", 1).map_err(|m| Diagnostic::error(span(arc), m))?;
        let ends = [arc.attribute("source").unwrap_or_default(), arc.attribute("target").unwrap_or_default()];
        let (place, arcs) = match (places.get(ends[0]), transitions.get(ends[1])) {
            (Some(p), Some(t)) => (*p, &mut all[*t].takes),
            _ => match (transitions.get(ends[0]), places.get(ends[1])) {
                (Some(t), Some(p)) => (*p, &mut all[*t].puts),
                _ => {
                    return fail(
                        arc,
                        format!(
                            "expected an arc between a place and a transition, found `{}` and `{}`",
                            ends[0], ends[1]
                        ),
                    );
                }
            },
        };
        *arcs.entry(place).or_default() += weight;
    }
    system.rules = all.into_iter().map(Arcs::rule).collect();
    Ok(system)
}

fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| n.tag_name().name() == name)
}

/// The number in `<name><text>3</text></name>`.
fn number(node: Node<'_, '_>, name: &'static str, otherwise: u64) -> Result<u64, String> {
    let Some(inner) = children(node, name).next() else { return Ok(otherwise) };
    let text = children(inner, "text").next().and_then(|t| t.text()).unwrap_or_default().trim();
    match text.parse::<u64>() {
        Ok(n) if n <= LARGEST => Ok(n),
        _ => Err(format!(
            "expected a number up to {LARGEST} in its <{name}>, found `{}`",
            crate::uppaal::token::shorten(text)
        )),
    }
}
