//! An abstraction as an explicit graph (001 §6.1.2): abstract states with their sets of configurations, and existential transitions.
//!
//! Its worklists are its own: states are split while they are worked off.

use std::collections::{BTreeSet, VecDeque};

use trellis_domain::relation::{Error, Made, Relation};
use trellis_meter::{MOST_NODES, Role, Round, RoundEdge, RoundNode};
use trellis_model::hierarchy::symbolic::Event;

use super::Question;
use super::cegar::{Abstraction, Iteration, Options, Split};
use super::reach::Direction;

/// Which abstract path is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// A shortest one.
    #[default]
    Bfs,
    /// The first that is found in depth.
    Dfs,
}

/// An abstract state.
struct State {
    /// Its configurations; never empty.
    set: Relation,
    initial: bool,
    bad: bool,
    /// All its configurations are reachable (`Q₋`).
    reachable: bool,
    /// All its configurations can reach a bad one (`Q₊`).
    coreachable: bool,
    alive: bool,
    into: BTreeSet<usize>,
    out: BTreeSet<usize>,
    /// The states (of the model) that its configurations step to, once it is needed.
    post: Option<Relation>,
}

/// The abstraction. It does not hold the question, which comes with every call and must always be the same, so that it can be kept.
pub struct Graph {
    /// All configurations, and the initial ones.
    all: Relation,
    initial: Relation,
    states: Vec<State>,
    /// The events as super transitions, if these were asked for.
    supers: Option<Vec<Event>>,
    /// What could be reached when it was thrown away.
    left_behind: Relation,
    analysed: u64,
    distributed: u64,
}

impl Graph {
    /// The abstraction that some predicates induce, further split by what is initial and what is bad.
    pub fn new(
        question: &Question<'_>,
        predicates: &[Relation],
        options: &Options,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Made<Graph> {
        let m = question.symbolic;
        let s = &m.space;
        let supers = if options.super_transitions { Some(m.super_events(question.hierarchy)?) } else { None };
        let all = m.configurations()?;
        let initial = s.and(&m.configurations_of(&question.initial)?, &all)?;
        let mut sets = match options.abstraction {
            Abstraction::Partition => split_by(question, vec![all.clone()], predicates, go_on)?,
            Abstraction::Cover => {
                let mut sets = vec![];
                let mut rest = all.clone();
                for p in predicates {
                    sets.push(s.and(&all, p)?);
                    rest = s.minus(&rest, p)?;
                }
                sets.push(rest);
                sets.retain(|set| !set.is_empty());
                sets
            }
        };
        sets = split_by(question, sets, &[initial.clone(), question.bad.clone()], go_on)?;
        let mut distinct: Vec<Relation> = vec![];
        for set in sets {
            if !distinct.contains(&set) {
                distinct.push(set);
            }
        }
        let none = s.none();
        let mut graph = Graph { all, initial, states: vec![], supers, left_behind: none, analysed: 0, distributed: 0 };
        for set in distinct {
            graph.add(question, set)?;
        }
        for q in 0..graph.states.len() {
            ask(go_on)?;
            for r in 0..graph.states.len() {
                if q != r && graph.connected(question, q, r)? {
                    graph.connect(q, r);
                }
            }
        }
        // Only what is refined counts.
        graph.distributed = 0;
        Ok(graph)
    }

    fn add(&mut self, question: &Question<'_>, set: Relation) -> Made<usize> {
        let s = &question.symbolic.space;
        let (initial, bad) = (s.meets(&set, &self.initial)?, s.meets(&set, &question.bad)?);
        self.states.push(State {
            set,
            initial,
            bad,
            reachable: false,
            coreachable: false,
            alive: true,
            into: BTreeSet::new(),
            out: BTreeSet::new(),
            post: None,
        });
        Ok(self.states.len() - 1)
    }

    fn connect(&mut self, q: usize, r: usize) {
        self.states[q].out.insert(r);
        self.states[r].into.insert(q);
    }

    /// The abstract states that are left.
    pub fn size(&self) -> usize {
        self.alive().count()
    }

    fn alive(&self) -> impl Iterator<Item = usize> {
        (0..self.states.len()).filter(|&q| self.states[q].alive)
    }

    /// The configurations of states that could be reached when they were thrown away.
    pub fn left_behind(&self) -> &Relation {
        &self.left_behind
    }

    /// Images computed so far: for paths, and for transitions.
    pub fn images(&self) -> (u64, u64) {
        (self.analysed, self.distributed)
    }

    /// What there is now.
    pub fn counted(&self) -> Iteration {
        let count = |f: &dyn Fn(&State) -> usize| self.alive().map(|q| f(&self.states[q])).sum();
        Iteration {
            states: self.size(),
            transitions: count(&|s| s.out.len()),
            reachable: count(&|s| s.reachable.into()),
            coreachable: count(&|s| s.coreachable.into()),
            ..Iteration::default()
        }
    }

    /// The abstraction as a graph to be looked at, with a path from what is initial to what is bad.
    pub fn picture(&self, question: &Question<'_>, path: &[usize], title: String) -> Round {
        let shown: Vec<usize> = self.alive().take(MOST_NODES).collect();
        let at = |q: usize| shown.binary_search(&q).ok();
        let node = |&q: &usize| {
            let s = &self.states[q];
            let marks =
                [("initial", s.initial), ("bad", s.bad), ("reachable", s.reachable), ("leads to bad", s.coreachable)];
            let marks: Vec<&str> = marks.iter().filter(|m| m.1).map(|m| m.0).collect();
            let mut lines = vec![format!("{q}: {} configurations", question.symbolic.count(&s.set))];
            lines.extend((!marks.is_empty()).then(|| marks.join(", ")));
            let role = match path.contains(&q) {
                _ if s.bad => Role::Error,
                true => Role::Path,
                false => Role::Plain,
            };
            RoundNode { lines, role }
        };
        let edges = shown.iter().enumerate().flat_map(|(from, &q)| {
            let out = self.states[q].out.iter().filter_map(|&r| at(r));
            out.map(move |to| RoundEdge { from, to, ..RoundEdge::default() }).collect::<Vec<_>>()
        });
        let edges = edges.collect();
        Round { title, nodes: shown.iter().map(node).collect(), edges, cut: self.alive().count() > MOST_NODES }
    }

    /// The abstraction as a graph for dot: how many configurations each state has, the initial and bad ones (thick), the certified ones
    /// (green, red), and a path through it (bold).
    pub fn dot(&self, question: &Question<'_>, path: &[usize]) -> String {
        let mut text = String::from("digraph abstraction {\n");
        for q in self.alive() {
            let s = &self.states[q];
            let mut marks = vec![];
            if s.initial || s.bad {
                marks.push("penwidth=2");
            }
            match (s.reachable, s.coreachable) {
                (true, _) => marks.push("style=filled, fillcolor=palegreen"),
                (_, true) => marks.push("style=filled, fillcolor=lightpink"),
                _ => {}
            }
            let what = match (s.initial, s.bad) {
                (true, true) => "\\ninitial, bad",
                (true, false) => "\\ninitial",
                (false, true) => "\\nbad",
                _ => "",
            };
            let count = question.symbolic.count(&s.set);
            let marks: String = marks.iter().map(|m| format!(", {m}")).collect();
            text += &format!("  q{q} [label=\"{q}: {count}{what}\"{marks}];\n");
            for &r in &s.out {
                let bold = if path.windows(2).any(|two| two == [q, r]) { " [style=bold]" } else { "" };
                text += &format!("  q{q} -> q{r}{bold};\n");
            }
        }
        text + "}\n"
    }

    // Images.

    fn events<'e>(&'e self, question: &'e Question<'_>) -> &'e [Event] {
        self.supers.as_deref().unwrap_or(&question.symbolic.events)
    }

    /// The states that some configurations step to.
    fn post(&self, question: &Question<'_>, set: &Relation) -> Made<Relation> {
        let m = question.symbolic;
        let mut all = m.space.none();
        for event in self.events(question) {
            all = m.space.or(&all, &m.post_from(event, set)?)?;
        }
        Ok(all)
    }

    /// The configurations that step to some.
    fn pre(&self, question: &Question<'_>, set: &Relation) -> Made<Relation> {
        let m = question.symbolic;
        let states = m.states_of(set)?;
        let mut all = m.space.none();
        for event in self.events(question) {
            all = m.space.or(&all, &m.pre_to(event, &states, &self.all)?)?;
        }
        Ok(all)
    }

    fn post_of(&mut self, question: &Question<'_>, q: usize) -> Made<Relation> {
        if let Some(post) = &self.states[q].post {
            return Ok(post.clone());
        }
        let post = self.post(question, &self.states[q].set)?;
        self.states[q].post = Some(post.clone());
        Ok(post)
    }

    /// Is there a step between configurations of two states?
    fn connected(&mut self, question: &Question<'_>, q: usize, r: usize) -> Made<bool> {
        self.distributed += 1;
        let post = self.post_of(question, q)?;
        question.symbolic.space.meets(&post, &self.states[r].set)
    }

    // Certified pairs.

    fn certify_reachable(&mut self, q: usize) {
        self.states[q].reachable = true;
        // No kernel path enters it.
        for p in std::mem::take(&mut self.states[q].into) {
            self.states[p].out.remove(&q);
        }
    }

    fn certify_coreachable(&mut self, q: usize) {
        self.states[q].coreachable = true;
        // No kernel path leaves it.
        for r in std::mem::take(&mut self.states[q].out) {
            self.states[r].into.remove(&q);
        }
    }

    /// States within the initial, or within the bad configurations.
    pub fn certify_initially(&mut self, question: &Question<'_>, options: &Options) -> Made<()> {
        if !options.initial_certification && !options.must {
            return Ok(());
        }
        let s = &question.symbolic.space;
        let mut found = vec![];
        for q in self.alive() {
            let state = &self.states[q];
            let first = state.initial && !state.reachable && s.within(&state.set, &self.initial)?;
            let last = state.bad && !state.coreachable && s.within(&state.set, &question.bad)?;
            found.push((q, first, last));
        }
        // Who is both witnesses a bad run, and is not to lose its edges before that is seen; edges do not matter then.
        for (q, first, last) in found {
            if first {
                self.certify_reachable(q);
            }
            if last {
                self.certify_coreachable(q);
            }
        }
        Ok(())
    }

    /// Closure under must transitions (001 Def. 4.6).
    pub fn close(&mut self, question: &Question<'_>) -> Made<()> {
        let mut waiting: Vec<usize> = self.alive().filter(|&q| self.states[q].reachable).collect();
        while let Some(q) = waiting.pop() {
            for r in self.states[q].out.clone() {
                if self.states[r].alive && !self.states[r].reachable {
                    let post = self.post_of(question, q)?;
                    if question.symbolic.space.within(&self.states[r].set, &post)? {
                        // The transition is a witness if the target is certified, too: then it must stay.
                        if self.states[r].coreachable {
                            self.states[r].reachable = true;
                        } else {
                            self.certify_reachable(r);
                        }
                        waiting.push(r);
                    }
                }
            }
        }
        let mut waiting: Vec<usize> = self.alive().filter(|&q| self.states[q].coreachable).collect();
        while let Some(r) = waiting.pop() {
            let pre = self.pre(question, &self.states[r].set)?;
            for q in self.states[r].into.clone() {
                if self.states[q].alive && !self.states[q].coreachable {
                    let within = question.symbolic.space.within(&self.states[q].set, &pre)?;
                    if within {
                        if self.states[q].reachable {
                            self.states[q].coreachable = true;
                        } else {
                            self.certify_coreachable(q);
                        }
                        waiting.push(q);
                    }
                }
            }
        }
        Ok(())
    }

    /// Does the condition W hold, so that there is a bad run (001 Prop. 4.2)?
    pub fn witnesses(&self) -> Made<bool> {
        let here = |q: usize| {
            let s = &self.states[q];
            let next = |r: &usize| self.states[*r].alive && self.states[*r].coreachable;
            let witness = s.bad || s.coreachable || s.out.iter().any(next);
            (s.reachable && witness) || (s.initial && s.coreachable)
        };
        Ok(self.alive().any(here))
    }

    // Reduction and paths.

    /// Who can be met on the way from some states, without going on from those that are certified.
    fn met(&self, forward: bool) -> Vec<bool> {
        let mut met = vec![false; self.states.len()];
        let mut waiting: Vec<usize> = self
            .alive()
            .filter(|&q| {
                let s = &self.states[q];
                if forward { s.initial || s.reachable } else { s.bad || s.coreachable }
            })
            .collect();
        waiting.iter().for_each(|&q| met[q] = true);
        while let Some(q) = waiting.pop() {
            let s = &self.states[q];
            if if forward { s.coreachable } else { s.reachable } {
                continue;
            }
            for &r in if forward { &s.out } else { &s.into } {
                if self.states[r].alive && !met[r] {
                    met[r] = true;
                    waiting.push(r);
                }
            }
        }
        met
    }

    /// Throws away states that are on no kernel path (001 Def. 4.5).
    pub fn reduce(&mut self, question: &Question<'_>) -> Made<()> {
        let (from, to) = (self.met(true), self.met(false));
        for q in 0..self.states.len() {
            if self.states[q].alive && !(from[q] && to[q]) {
                if from[q] {
                    let s = &question.symbolic.space;
                    self.left_behind = s.or(&self.left_behind, &self.states[q].set)?;
                }
                self.remove(q);
            }
        }
        Ok(())
    }

    fn remove(&mut self, q: usize) {
        self.states[q].alive = false;
        self.states[q].post = None;
        for r in std::mem::take(&mut self.states[q].out) {
            self.states[r].into.remove(&q);
        }
        for p in std::mem::take(&mut self.states[q].into) {
            self.states[p].out.remove(&q);
        }
    }

    /// A kernel path: from a state that is initial or certified to one that is bad or certified, through others.
    pub fn path(&self, search: Search) -> Option<Vec<usize>> {
        let mut from: Vec<Option<usize>> = vec![None; self.states.len()];
        let mut seen = vec![false; self.states.len()];
        let mut waiting: VecDeque<usize> =
            self.alive().filter(|&q| self.states[q].initial || self.states[q].reachable).collect();
        waiting.iter().for_each(|&q| seen[q] = true);
        while let Some(q) = if search == Search::Bfs { waiting.pop_front() } else { waiting.pop_back() } {
            let s = &self.states[q];
            if s.bad || s.coreachable {
                let mut path = vec![q];
                while let Some(p) = from[path[path.len() - 1]] {
                    path.push(p);
                }
                path.reverse();
                return Some(path);
            }
            for &r in &s.out {
                if self.states[r].alive && !seen[r] {
                    seen[r] = true;
                    from[r] = Some(q);
                    waiting.push_back(r);
                }
            }
        }
        None
    }

    // Refinement.

    /// Looks at a path, and splits the state where it fails; false if it does not fail.
    pub fn refine(&mut self, question: &Question<'_>, path: &[usize], options: &Options) -> Made<bool> {
        let forward = options.analysis == Direction::Forward;
        let route: Vec<usize> = if forward { path.to_vec() } else { path.iter().rev().copied().collect() };
        let s = &question.symbolic.space;
        let (start, end) = match forward {
            true => (&self.initial, &question.bad),
            false => (&question.bad, &self.initial),
        };
        let certified = |state: &State, first: bool| if first == forward { state.reachable } else { state.coreachable };
        let first = &self.states[route[0]];
        let mut here = if certified(first, true) { first.set.clone() } else { s.and(&first.set, start)? };
        let mut images = 1;
        let mut whole = vec![];
        let mut failed = None;
        for at in 0..route.len() {
            if here == self.states[route[at]].set {
                whole.push(route[at]);
            }
            let Some(&next) = route.get(at + 1) else {
                let last = &self.states[route[at]];
                if !certified(last, false) && !s.meets(&here, end)? {
                    failed = Some((at, here.clone()));
                }
                break;
            };
            images += 1;
            let image = if forward { self.post(question, &here)? } else { self.pre(question, &here)? };
            let there = s.and(&self.states[next].set, &image)?;
            if there.is_empty() {
                failed = Some((at, here.clone()));
                break;
            }
            here = there;
        }
        self.analysed += images;
        let Some((at, reached)) = failed else { return Ok(false) };
        let (q, next) = (route[at], route.get(at + 1).copied());
        let part = match (options.split, next) {
            (Split::Sigma, Some(next)) => {
                self.analysed += 1;
                let image =
                    if forward { self.pre(question, &self.states[next].set)? } else { self.post_of(question, next)? };
                s.and(&self.states[q].set, &image)?
            }
            (Split::Sigma, None) => s.and(&self.states[q].set, end)?,
            (Split::Direct, _) => reached,
        };
        if options.pruning && options.feasibility_certification {
            for w in whole {
                if forward { self.certify_reachable(w) } else { self.certify_coreachable(w) }
            }
        }
        let certify = options.pruning && options.split_certification && options.split == Split::Direct;
        self.split(question, q, part, certify.then_some(forward))
    }

    /// Replaces a state by a part of it and the rest; of the part it may be known that it is reachable (or coreachable).
    fn split(&mut self, question: &Question<'_>, q: usize, part: Relation, certified: Option<bool>) -> Made<bool> {
        let s = &question.symbolic.space;
        let rest = s.minus(&self.states[q].set, &part)?;
        if rest.is_empty() || part.is_empty() {
            return Err(Error::Unsupported("a failure state that cannot be split".into()));
        }
        let (reachable, coreachable) = (self.states[q].reachable, self.states[q].coreachable);
        let (into, out) = (self.states[q].into.clone(), self.states[q].out.clone());
        self.remove(q);
        let new = [self.add(question, part)?, self.add(question, rest)?];
        // What is known of a state is known of its parts (001 Alg. PCegar, l. 15–16).
        for n in new {
            self.states[n].reachable = reachable;
            self.states[n].coreachable = coreachable;
        }
        match certified {
            Some(true) => self.states[new[0]].reachable = true,
            Some(false) => self.states[new[0]].coreachable = true,
            None => {}
        }
        for n in new {
            for p in into.iter().copied().chain(new).filter(|&p| p != n) {
                self.distribute(question, p, n)?;
            }
            for &r in &out {
                self.distribute(question, n, r)?;
            }
        }
        Ok(true)
    }

    /// A transition between two states, if there is one and it can be on a kernel path.
    fn distribute(&mut self, question: &Question<'_>, q: usize, r: usize) -> Made<()> {
        let dead = !self.states[q].alive || !self.states[r].alive;
        let useless = dead || self.states[q].coreachable || self.states[r].reachable;
        if !useless && self.connected(question, q, r)? {
            self.connect(q, r);
        }
        Ok(())
    }
}

/// There may be more classes than there is time for.
fn ask(go_on: &mut dyn FnMut() -> bool) -> Made<()> {
    if go_on() { Ok(()) } else { Err(Error::Stopped) }
}

/// Sets, split by what satisfies each predicate and what does not.
fn split_by(
    question: &Question<'_>,
    mut sets: Vec<Relation>,
    predicates: &[Relation],
    go_on: &mut dyn FnMut() -> bool,
) -> Made<Vec<Relation>> {
    let s = &question.symbolic.space;
    for p in predicates {
        ask(go_on)?;
        let mut next = vec![];
        for set in &sets {
            for part in [s.and(set, p)?, s.minus(set, p)?] {
                if !part.is_empty() {
                    next.push(part);
                }
            }
        }
        sets = next;
    }
    Ok(sets)
}
