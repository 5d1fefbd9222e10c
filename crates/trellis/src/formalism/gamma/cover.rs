//! Tests from a model: an execution trace for each state, transition or interaction that can be reached, and a proof for each that cannot.

use std::path::Path;

use trellis_engine::program::Engine;
use trellis_meter::Meter;
use trellis_model::cfa::evidence::Verdict;
use trellis_model::gamma::{Kind, System, Transition};
use trellis_report::program::text;
use trellis_syntax::gamma::encode::{Encoded, Watch, encode_for, encode_watching};

use super::read;
use crate::Error;
use crate::settings::Model;

/// What is to be covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// Every state is active after some cycle.
    States,
    /// Every transition fires.
    Transitions,
    /// Every event that one component sends to another is sent.
    Interactions,
}

/// What became of an element.
#[derive(Debug, Clone)]
pub enum Covered {
    /// There is a run: an execution trace of so many cycles.
    Reached(usize, String),
    /// There is none, and how that was proven.
    Unreachable(String),
    /// Nobody knows.
    Unknown(String),
}

/// An element, and how it is asked for.
enum Element {
    State(String, trellis_expr::TermId),
    Transition(String, usize, usize),
    Interaction(String, Vec<trellis_expr::VarId>),
    /// What an adapter sends to another.
    Message(String, usize),
}

/// Looks for a run to each element of a model; each is told as it is found.
pub fn cover(
    (model, component): (&Model, Option<&String>),
    elements: Elements,
    folder: &Path,
    color: bool,
    meter: &dyn Fn() -> Meter,
    tell: &mut dyn FnMut(&str, &Covered) -> Result<(), Error>,
) -> Result<(), Error> {
    let (encoded, _, _) = read(model, component, color)?;
    let import = relative(folder, &model.model);
    for (n, element) in all(&encoded, elements).into_iter().enumerate() {
        let (name, asked) = match element {
            Element::State(name, t) => {
                let mut cfa = encoded.cfa.clone();
                let never = cfa.terms.not(t);
                (name, encoded.asked(never, cfa))
            }
            Element::Message(name, s) => {
                let watching = encode_for(encoded.system.clone(), &Watch { sent: vec![s], ..Watch::default() });
                let mut cfa = watching.cfa.clone();
                let Some(&(_, sent)) = watching.sent.first() else { continue };
                let sent = cfa.terms.var(sent);
                let never = cfa.terms.not(sent);
                (name, watching.asked(never, cfa))
            }
            Element::Interaction(name, flags) => {
                let mut cfa = encoded.cfa.clone();
                let flags: Vec<_> = flags.into_iter().map(|f| cfa.terms.var(f)).collect();
                let some = cfa.terms.or(flags);
                let never = cfa.terms.not(some);
                (name, encoded.asked(never, cfa))
            }
            Element::Transition(name, chart, t) => {
                let watching = encode_watching(encoded.system.clone(), &[(chart, t)]);
                let mut cfa = watching.cfa.clone();
                let Some(&(_, taken)) = watching.watched.first() else { continue };
                let taken = cfa.terms.var(taken);
                let never = cfa.terms.not(taken);
                (name, watching.asked(never, cfa))
            }
        };
        let title = format!("Test{}", n + 1);
        let covered = one(&asked, &title, &import, &mut meter());
        tell(&name, &covered)?;
    }
    Ok(())
}

fn one(asked: &Encoded, title: &str, import: &str, meter: &mut Meter) -> Covered {
    let found = super::solve(asked, &Engine::Portfolio(2), meter);
    match found.verdict {
        Verdict::Unsafe(trace) => match asked.cycles(&trace) {
            Some(cycles) => {
                let count = cycles.iter().filter(|c| c.stable).count().saturating_sub(1);
                Covered::Reached(count, asked.execution_trace(title, import, &cycles))
            }
            None => Covered::Unknown("the run needs times that are no whole milliseconds".into()),
        },
        Verdict::Safe(proof) => match trellis_check::program::certify(&asked.cfa, &proof, meter) {
            Ok(work) => Covered::Unreachable(format!("{} checked: {work}", text::summary(&proof))),
            Err(why) => Covered::Unknown(why.to_string()),
        },
        Verdict::Unknown(why) => Covered::Unknown(why.to_string()),
    }
}

fn all(encoded: &Encoded, elements: Elements) -> Vec<Element> {
    let sys = &encoded.system;
    match elements {
        Elements::States => encoded.names.states.iter().map(|(name, t)| Element::State(name.clone(), *t)).collect(),
        Elements::Transitions => {
            let mut all = vec![];
            for (c, chart) in sys.charts.iter().enumerate() {
                let prefix = if chart.name.is_empty() { String::new() } else { format!("{}: ", chart.name) };
                for (t, transition) in chart.transitions.iter().enumerate() {
                    // How a region is entered is no choice of anybody, and that it is, its states say.
                    let from = chart.nodes[transition.from].kind;
                    if matches!(from, Kind::Initial | Kind::Shallow | Kind::Deep) {
                        continue;
                    }
                    // Those with the same name are numbered.
                    let alike = |all: &[Transition]| all.iter().filter(|o| o.name == transition.name).count();
                    let number = match alike(&chart.transitions) {
                        1 => String::new(),
                        _ => format!(" ({})", alike(&chart.transitions[..=t])),
                    };
                    all.push(Element::Transition(format!("{prefix}{}{number}", transition.name), c, t));
                }
            }
            all
        }
        Elements::Interactions => interactions(sys),
    }
}

/// The events that leave a component for another.
fn interactions(sys: &System) -> Vec<Element> {
    use trellis_model::gamma::Part;
    fn wires(sys: &System, part: &Part, out: &mut Vec<usize>) {
        match part {
            Part::Composite(c) => {
                out.extend(c.wires.iter().map(|w| w.1));
                c.parts.iter().for_each(|p| wires(sys, p, out));
            }
            Part::Adapter(a) => wires(sys, &sys.adapters[*a].inner, out),
            Part::Asynchronous(parts, _) => parts.iter().for_each(|p| wires(sys, p, out)),
            Part::Chart(_) => {}
        }
    }
    let mut signals = vec![];
    wires(sys, &sys.top, &mut signals);
    signals.sort_unstable();
    signals.dedup();
    let name = |s: usize| sys.signals[s].name.trim_start_matches('@').to_string();
    let mut all: Vec<Element> =
        signals.into_iter().map(|s| Element::Interaction(name(s), vec![sys.signals[s].flag])).collect();
    for (n, adapter) in sys.adapters.iter().enumerate() {
        let others = adapter.posts.iter().filter(|(_, posts)| posts.iter().any(|p| p.0 != n));
        all.extend(others.map(|(s, _)| Element::Message(name(*s), *s)));
    }
    all
}

/// A file as it is named from a folder.
pub fn relative(folder: &Path, file: &Path) -> String {
    let whole = |p: &Path| p.canonicalize().unwrap_or_else(|_| p.to_path_buf());
    let (folder, file) = (whole(folder), whole(file));
    let (a, b): (Vec<_>, Vec<_>) = (folder.components().collect(), file.components().collect());
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let up = std::iter::repeat_n("..".to_string(), a.len() - same);
    let down = b[same..].iter().map(|c| c.as_os_str().to_string_lossy().to_string());
    up.chain(down).collect::<Vec<_>>().join("/")
}
