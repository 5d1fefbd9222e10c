//! Counter systems as pictures. A net is drawn as people draw nets: a transition is a bar between the places it asks for and those it changes.
//! A rule of a protocol that has no name is an arrow between states: one process goes from here to there, and whoever else must move along has
//! arrows of its own. What is neither (processes are copied, or come from nowhere) is a bar, too.

use trellis_model::counter::{Rule, System, Var};

use crate::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};

/// An arrow: from, to, and whether all go there.
type Arrow = (Var, Var, bool);

/// The picture of a system.
pub(super) fn drawing(system: &System) -> Drawing {
    let place = |v: usize| {
        let name = system.shown(v as Var).into_owned();
        DrawnNode { lines: vec![name.clone()], lit: vec![(name, None)], ..DrawnNode::default() }
    };
    let mut out = Drawing { nodes: (0..system.names.len()).map(place).collect(), edges: vec![] };
    for (id, rule) in system.rules.iter().enumerate() {
        let name = rule.name.clone().or_else(|| rule.title.clone());
        let line = rule.line.map(|n| format!("line {n}"));
        if let (None, Some(line), Some(arrows)) = (&name, &line, moves(rule)) {
            out.edges.extend(arrows.into_iter().map(|(from, to, all)| DrawnEdge {
                from: from as usize,
                to: to as usize,
                lines: vec![if all { format!("{line}, all") } else { line.clone() }],
                ..DrawnEdge::default()
            }));
            continue;
        }
        let bar = out.nodes.len();
        let name = name.or(line).unwrap_or_else(|| format!("rule {}", id + 1));
        out.nodes.push(DrawnNode { lines: vec![name], shape: NodeShape::Bar, ..DrawnNode::default() });
        let arrow = |from: usize, to: usize, weight: u64| {
            let lines = if weight > 1 { vec![weight.to_string()] } else { vec![] };
            DrawnEdge { from, to, lines, ..DrawnEdge::default() }
        };
        // What is only taken away has an arrow to the bar, what is only added one from it; what is read, or set to something else, has both.
        let gains = |v: Var| rule.update(v).map(|u| if u.sources == [v] { u.constant } else { 0 });
        for (v, guard) in &rule.guards {
            let weight = gains(*v).filter(|n| *n < 0).map_or(guard.low, i64::unsigned_abs);
            out.edges.push(arrow(*v as usize, bar, weight));
        }
        for (v, _) in &rule.updates {
            let guarded = rule.guards.iter().any(|g| g.0 == *v);
            match gains(*v).unwrap_or_default() {
                n if n < 0 && guarded => {}
                n if n < 0 => out.edges.push(arrow(*v as usize, bar, n.unsigned_abs())),
                n => out.edges.push(arrow(bar, *v as usize, n.unsigned_abs())),
            }
        }
        let read = rule.guards.iter().filter(|g| rule.update(g.0).is_none());
        out.edges.extend(read.map(|(v, _)| arrow(bar, *v as usize, 1)));
    }
    out
}

/// A rule as processes that move, if that is what it is.
fn moves(rule: &Rule) -> Option<Vec<Arrow>> {
    let keeps = |v: Var| rule.update(v).is_none_or(|u| u.sources.contains(&v));
    let leave = rule.updates.iter().filter(|(v, u)| u.constant < 0 && keeps(*v)).map(|(v, _)| *v);
    let enter = rule.updates.iter().filter(|(_, u)| u.constant > 0).map(|(v, _)| *v);
    let (leave, enter): (Vec<Var>, Vec<Var>) = (leave.collect(), enter.collect());
    if leave.len() != enter.len() {
        return None;
    }
    let mut arrows: Vec<Arrow> = leave.into_iter().zip(enter).map(|(from, to)| (from, to, false)).collect();
    for (to, update) in &rule.updates {
        for from in update.sources.iter().filter(|from| *from != to) {
            if keeps(*from) {
                return None;
            }
            arrows.push((*from, *to, true));
        }
    }
    (!arrows.is_empty()).then_some(arrows)
}
