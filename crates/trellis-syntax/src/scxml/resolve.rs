//! Finds the states that names mean, and checks that the chart is one: what W3C demands of targets, and what this front end
//! cannot do.

use rustc_hash::FxHashMap;

use super::read::{Names, Raw};
use super::tree::{Kind, Target, Tree};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::{Errors, closest};

/// The tree with all names resolved; what is wrong is in the errors.
pub fn resolve(raw: Raw, errors: &mut Errors) -> Tree {
    let Raw { tree, initials, targets, defaults, invokes: _ } = raw;
    let mut r = Resolver { tree, names: FxHashMap::default(), errors };
    r.declare();
    r.check_states();
    for (s, names) in initials.iter().enumerate() {
        r.initial(s, names.as_ref());
    }
    for (h, names) in defaults.iter().enumerate() {
        r.default(h, names);
    }
    for (t, names) in targets.iter().enumerate() {
        r.transition(t, names);
    }
    r.tree
}

struct Resolver<'a> {
    tree: Tree,
    names: FxHashMap<String, Target>,
    errors: &'a mut Errors,
}

impl Resolver<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(span, message));
    }

    fn declare(&mut self) {
        let states = self.tree.states.iter().enumerate().skip(1);
        let states = states.map(|(s, state)| (state.name.clone(), state.span, Target::State(s)));
        let histories = self.tree.histories.iter().enumerate();
        let histories = histories.map(|(h, history)| (history.name.clone(), history.span, Target::History(h)));
        for (name, span, target) in states.chain(histories).collect::<Vec<_>>() {
            if self.names.insert(name.clone(), target).is_some() {
                self.error(span, format!("the id `{}` is taken by another element", shorten(&name)));
            }
        }
    }

    fn check_states(&mut self) {
        for s in 0..self.tree.states.len() {
            let state = &self.tree.states[s];
            if state.children.is_empty() && matches!(state.kind, Kind::Root | Kind::Parallel) {
                let (span, what) = (state.span, if s == 0 { "<scxml>" } else { "<parallel>" });
                self.error(span, format!("expected a state inside {what}, found none"));
            }
        }
        for h in 0..self.tree.histories.len() {
            let (parent, span) = (self.tree.histories[h].parent, self.tree.histories[h].span);
            if self.tree.is_atomic(parent) {
                self.error(span, "a state without child states has no history");
            }
        }
    }

    fn target(&mut self, name: &str, span: Span) -> Option<Target> {
        let found = self.names.get(name).copied();
        if found.is_none() {
            let d = Diagnostic::error(span, format!("there is no state `{}`", shorten(name)));
            self.errors.push(d.meant(closest(name, self.names.keys().map(String::as_str))));
        }
        found
    }

    /// Targets, no two of which exclude each other.
    fn targets(&mut self, names: &Names) -> Vec<Target> {
        let mut targets: Vec<Target> = vec![];
        for (name, span) in names {
            let Some(target) = self.target(name, *span) else { continue };
            let tree = &self.tree;
            let a = tree.anchor(target);
            let apart = |b: usize| {
                let common = tree.above(a).find(|&s| tree.below(s).contains(&b));
                !tree.comparable(a, b) && common.is_some_and(|s| tree.is_parallel(s))
            };
            if !targets.iter().all(|&other| apart(tree.anchor(other))) {
                self.error(*span, format!("`{}` cannot be entered together with the targets before it", shorten(name)));
            }
            targets.push(target);
        }
        targets
    }

    fn initial(&mut self, s: usize, names: Option<&Names>) {
        let state = &self.tree.states[s];
        let first = state.children.first().copied();
        match names {
            None if self.tree.is_compound(s) => self.tree.states[s].initial.extend(first.map(Target::State)),
            None => {}
            Some(names) => {
                let span = names.first().map_or(state.span, |(_, span)| *span);
                let compound = self.tree.is_compound(s);
                let targets = self.targets(names);
                let complete = targets.len() == names.len();
                if !compound {
                    self.error(span, "a state without child states has no initial state");
                } else if targets.is_empty() && complete {
                    self.error(span, "expected the name of a state, found none");
                } else if complete && !targets.iter().all(|&t| self.tree.contains(s, t)) {
                    self.error(span, "an initial state must be inside the state that it is the initial state of");
                }
                self.tree.states[s].initial = targets;
            }
        }
    }

    fn default(&mut self, h: usize, names: &Names) {
        let history = &self.tree.histories[h];
        let (span, parent) = (names.first().map_or(history.span, |(_, span)| *span), history.parent);
        let targets = self.targets(names);
        for &target in &targets {
            match target {
                Target::History(_) => self.error(span, "a history that leads to another one is not supported"),
                Target::State(s) if !self.tree.below(parent).contains(&s) => {
                    self.error(span, "a history must lead into the state that it is the history of")
                }
                Target::State(_) => {}
            }
        }
        if names.is_empty() {
            self.error(span, "expected the name of a state, found none");
        }
        self.tree.histories[h].default = targets;
    }

    fn transition(&mut self, t: usize, names: &Names) {
        let targets = self.targets(names);
        let transition = &self.tree.transitions[t];
        let (source, internal) = (transition.source, transition.internal);
        for (&target, (_, span)) in targets.iter().zip(names) {
            let Target::History(h) = target else { continue };
            let parent = self.tree.histories[h].parent;
            let inside = self.tree.below(parent).contains(&source);
            let child = self.tree.states[source].parent == parent;
            // What is left would then depend on what the history remembers, and W3C's algorithm may enter states twice.
            if inside && (!child || (internal && self.tree.is_compound(source))) {
                let parent = shorten(&self.tree.states[parent].name);
                let message =
                    format!("a transition from deep inside `{parent}` into the history of `{parent}` is not supported");
                self.error(*span, message);
            }
        }
        self.tree.transitions[t].targets = targets;
    }
}
