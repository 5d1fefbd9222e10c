//! A chart as its author sees it, for pictures: states within states, and transitions with their labels. It means nothing; the automaton does.

use super::tree::{Kind, Target, Tree};
use crate::diag::{Sources, Span};

/// The states and transitions of a chart.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// In document order; whatever is within another comes after it.
    pub states: Vec<Outlined>,
    /// Where the chart starts.
    pub initial: Vec<usize>,
    /// From which state, to which, with which label.
    pub transitions: Vec<(usize, usize, String)>,
}

/// A state.
#[derive(Debug, Clone)]
pub struct Outlined {
    /// Its name.
    pub name: String,
    /// The state that it is within.
    pub within: Option<usize>,
    /// Has it states in it?
    pub compound: bool,
    /// Are all states in it active together?
    pub parallel: bool,
    /// Does it end the state that it is within?
    pub is_final: bool,
    /// Where it starts, if it is compound.
    pub initial: Vec<usize>,
}

pub(super) fn outline(tree: &Tree, sources: &Sources) -> Outline {
    let text = |span: Span| sources.get(span.source).text.get(span.start as usize..span.end as usize);
    // The root is no state that anybody sees.
    let target = |t: &Target| match *t {
        Target::State(s) => s.saturating_sub(1),
        Target::History(h) => tree.histories[h].parent.saturating_sub(1),
    };
    let state = |s: usize| {
        let state = &tree.states[s];
        Outlined {
            name: state.name.clone(),
            within: state.parent.checked_sub(1),
            compound: !state.children.is_empty(),
            parallel: state.kind == Kind::Parallel,
            is_final: state.kind == Kind::Final,
            initial: state.initial.iter().map(target).collect(),
        }
    };
    let mut transitions = vec![];
    for t in tree.transitions.iter().filter(|t| t.source > 0) {
        let events: Vec<&str> =
            t.events.iter().flatten().map(|e| if e.is_empty() { "*" } else { e.as_str() }).collect();
        let cond = t.cond.as_ref().and_then(|c| text(c.span));
        let cond = cond.map(|c| format!("[{}]", c.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")));
        let history = t.targets.iter().any(|t| matches!(t, Target::History(_))).then(|| "(history)".to_string());
        let label: Vec<String> =
            [Some(events.join(" ")), cond, history].into_iter().flatten().filter(|p| !p.is_empty()).collect();
        // Without a target it stays where it is.
        let targets = if t.targets.is_empty() { vec![t.source - 1] } else { t.targets.iter().map(target).collect() };
        transitions.extend(targets.into_iter().map(|to| (t.source - 1, to, label.join(" "))));
    }
    let states = (1..tree.states.len()).map(state).collect();
    Outline { states, initial: tree.states[0].initial.iter().map(target).collect(), transitions }
}
