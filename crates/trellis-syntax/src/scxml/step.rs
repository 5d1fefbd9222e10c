//! A micro-step: which transitions are taken, and what happens then. The names are those of W3C's Appendix D.
//!
//! Whether a transition is to be taken is a truth value. Two things make it simple: a transition's domain (the state below
//! which everything is left) does not depend on the run; and the domains of transitions that are taken together lie beside each
//! other, so that what is left and entered in document order is, domain by domain, a stretch of the document.

use trellis_expr::{StmtId, TermId, Type, VarId};

use super::lower::{Lower, Made};
use super::tree::{Block, Kind, Target};

/// The truth values of a transition.
#[derive(Debug, Clone)]
pub struct Choice {
    /// It is to be taken; and for which atomic state it was found first, where that decides when its content is run.
    flags: Vec<(usize, VarId)>,
    /// It was found before, for another atomic state: only where several can find it.
    seen: Option<VarId>,
    domain: Option<usize>,
}

impl Lower<'_> {
    /// The atomic states (final ones included) in document order.
    fn atomic_states(&self) -> Vec<usize> {
        (1..self.tree.states.len()).filter(|&s| self.tree.is_atomic(s)).collect()
    }

    /// The transitions that an atomic state may find, in the order in which it looks.
    fn found_from(&self, a: usize) -> Vec<usize> {
        let path = std::iter::once(a).chain(self.tree.above(a));
        path.flat_map(|s| self.tree.states[s].transitions.iter().copied()).collect()
    }

    /// Declares what says which transitions are taken.
    pub fn declare_choices(&mut self) -> Vec<Choice> {
        let tree = self.tree;
        let mut choices = vec![];
        for (t, transition) in tree.transitions.iter().enumerate() {
            let source = transition.source;
            let atomic: Vec<usize> =
                std::iter::once(source).chain(tree.below(source)).filter(|&s| tree.is_atomic(s)).collect();
            let shared = std::iter::once(source).chain(tree.below(source)).any(|s| tree.is_parallel(s));
            let each = if shared && !transition.content.is_empty() { &atomic[..] } else { &atomic[..1] };
            let name = |what: &str| format!("{what} {t} of {}", tree.states[source].name);
            let mut flags = vec![];
            for &a in each {
                let found = if each.len() > 1 { format!(" for {}", tree.states[a].name) } else { String::new() };
                flags.push((a, self.declare(&(name("take") + &found), Type::Bool, true)));
            }
            let seen = shared.then(|| self.declare(&name("seen"), Type::Bool, true));
            choices.push(Choice { flags, seen, domain: tree.domain(transition) });
        }
        choices
    }

    /// Is the transition to be taken?
    fn taken(&mut self, choice: &Choice) -> TermId {
        let flags: Vec<TermId> = choice.flags.iter().map(|&(_, v)| self.terms.var(v)).collect();
        self.terms.or(flags)
    }

    /// Is any transition to be taken?
    pub fn any_taken(&mut self, choices: &[Choice]) -> TermId {
        let all: Vec<TermId> = choices.iter().map(|c| self.taken(c)).collect();
        self.terms.or(all)
    }

    fn set(&mut self, v: VarId, value: bool) -> StmtId {
        let value = self.terms.bool(value);
        self.terms.assign(v, value)
    }

    /// Forgets which transitions were taken.
    pub fn forget(&mut self, choices: &[Choice]) -> StmtId {
        let all = choices.iter().flat_map(|c| c.flags.iter().map(|&(_, v)| v).chain(c.seen));
        let parts: Vec<StmtId> = all.map(|v| self.set(v, false)).collect();
        self.terms.seq(parts)
    }

    /// `selectTransitions`, or without an event `selectEventlessTransitions`, with `removeConflictingTransitions`: the latter goes
    /// through the transitions in the order in which the former finds them, so both are done at once.
    pub fn select(&mut self, choices: &[Choice]) -> StmtId {
        let tree = self.tree;
        let guards: Vec<(TermId, TermId, StmtId)> = (0..choices.len()).map(|t| self.guard(t)).collect();
        let atomic = self.atomic_states();
        let mut parts = vec![];
        for (n, &a) in atomic.iter().enumerate() {
            // What other atomic states may have found before.
            let mut before = vec![false; choices.len()];
            for &b in &atomic[..n] {
                let common = tree.above(a).find(|&s| tree.below(s).contains(&b));
                if common.is_some_and(|s| tree.is_parallel(s)) {
                    self.found_from(b).into_iter().for_each(|t| before[t] = true);
                }
            }
            let mut look = self.terms.skip();
            for t in self.found_from(a).into_iter().rev() {
                let (matches, holds, error) = guards[t];
                let take = self.take(t, a, choices, &before);
                let skip = self.terms.skip();
                // A condition is not looked at unless the event matches.
                let error = self.terms.branch(matches, error, skip);
                let found = self.terms.and([matches, holds]);
                let tried = self.terms.branch(found, take, look);
                look = self.terms.seq([error, tried]);
            }
            let active = self.active(a);
            let skip = self.terms.skip();
            parts.push(self.terms.branch(active, look, skip));
        }
        self.terms.seq(parts)
    }

    /// When the event matches; when the condition holds; and what happens, where it does not, because it may have no value.
    pub fn guard(&mut self, t: usize) -> (TermId, TermId, StmtId) {
        self.of(self.tree.transitions[t].source, |l| l.guard_of(t))
    }

    fn guard_of(&mut self, t: usize) -> (TermId, TermId, StmtId) {
        let tree = self.tree;
        let current = self.terms.var(self.event);
        let matches = match &tree.transitions[t].events {
            None => {
                let none = self.event_literal(0);
                self.terms.eq(current, none)
            }
            Some(descriptors) => {
                let all = 1..self.events.names.len() as u32;
                let matching: Vec<u32> = all.filter(|&n| self.events.matches(descriptors, n)).collect();
                self.one_of(&matching)
            }
        };
        let (holds, error) = match &tree.transitions[t].cond {
            Some(cond) => self.condition(cond, tree.transitions[t].events.is_none()),
            None => (self.terms.bool(true), self.terms.skip()),
        };
        (matches, holds, error)
    }

    /// Is the current event one of these?
    pub fn one_of(&mut self, events: &[u32]) -> TermId {
        let current = self.terms.var(self.event);
        if events.len() + 1 == self.events.names.len() && !events.is_empty() {
            let none = self.event_literal(0);
            return self.terms.ne(current, none);
        }
        let mut parts = vec![];
        for &n in events {
            let literal = self.event_literal(n);
            parts.push(self.terms.eq(current, literal));
        }
        self.terms.or(parts)
    }

    /// An atomic state has found the transition; one that it conflicts with, found before, may keep it from being taken, or give
    /// way to it.
    fn take(&mut self, t: usize, a: usize, choices: &[Choice], before: &[bool]) -> StmtId {
        let tree = self.tree;
        let source = tree.transitions[t].source;
        let (mut preempted, mut parts) = (vec![], vec![]);
        for (other, choice) in choices.iter().enumerate() {
            let (Some(d1), Some(d2)) = (choices[t].domain, choice.domain) else { continue };
            if other == t || !before[other] || !tree.comparable(d1, d2) {
                continue;
            }
            if tree.below(tree.transitions[other].source).contains(&source) {
                parts.extend(choice.flags.iter().map(|&(_, v)| self.set(v, false)).collect::<Vec<_>>());
            } else {
                preempted.push(self.taken(choice));
            }
        }
        let flags = &choices[t].flags;
        let flag = flags.iter().find(|(first, _)| *first == a).or(flags.first());
        parts.extend(flag.map(|&(_, v)| self.set(v, true)));
        let take = self.terms.seq(parts);
        let (preempted, skip) = (self.terms.or(preempted), self.terms.skip());
        let take = self.terms.branch(preempted, skip, take);
        match choices[t].seen {
            Some(v) => {
                let (seen, see) = (self.terms.var(v), self.set(v, true));
                let take = self.terms.seq([see, take]);
                self.terms.branch(seen, skip, take)
            }
            None => take,
        }
    }

    /// `exitStates`
    pub fn exit(&mut self, choices: &[Choice]) -> StmtId {
        let mut parts = vec![];
        for domain in (0..self.tree.states.len()).rev() {
            let mut taken = vec![];
            for choice in choices.iter().filter(|c| c.domain == Some(domain)) {
                taken.push(self.taken(choice));
            }
            if !taken.is_empty() {
                let (taken, skip) = (self.terms.or(taken), self.terms.skip());
                let (record, exit) = (self.record_below(domain), self.exit_children(domain));
                let left = self.terms.seq([record, exit]);
                parts.push(self.terms.branch(taken, left, skip));
            }
        }
        self.terms.seq(parts)
    }

    /// The histories of all active states below.
    fn record_below(&mut self, s: usize) -> StmtId {
        let tree = self.tree;
        let mut parts = vec![];
        for s in tree.below(s) {
            let record: Vec<StmtId> = tree.states[s].histories.iter().map(|&h| self.record(h)).collect();
            let (record, active, skip) = (self.terms.seq(record), self.active(s), self.terms.skip());
            parts.push(self.terms.branch(active, record, skip));
        }
        self.terms.seq(parts)
    }

    /// Leaves what is active below an active state.
    pub fn exit_children(&mut self, s: usize) -> StmtId {
        let children = &self.tree.states[s].children;
        if self.tree.is_parallel(s) {
            let all: Vec<StmtId> = children.iter().rev().map(|&c| self.exit_state(c)).collect();
            return self.terms.seq(all);
        }
        let mut stmt = self.terms.skip();
        for &c in children {
            let (active, exit) = (self.active(c), self.exit_state(c));
            stmt = self.terms.branch(active, exit, stmt);
        }
        stmt
    }

    fn exit_state(&mut self, s: usize) -> StmtId {
        if let Some(&made) = self.known.get(&Made::Exit(s)) {
            return made;
        }
        let tree = self.tree;
        let mut parts = vec![self.exit_children(s)];
        parts.extend(self.of(s, |l| tree.states[s].exit.iter().map(|b| l.block(b)).collect::<Vec<_>>()));
        parts.push(self.cancel_invoked(s));
        parts.push(self.set_active(s, false));
        let stmt = self.terms.seq(parts);
        self.known.insert(Made::Exit(s), stmt);
        stmt
    }

    /// `executeTransitionContent`: in the order in which the transitions were found.
    pub fn act(&mut self, choices: &[Choice]) -> StmtId {
        let tree = self.tree;
        let mut parts = vec![];
        for a in self.atomic_states() {
            for t in self.found_from(a) {
                for &(first, v) in &choices[t].flags {
                    if first == a && !tree.transitions[t].content.is_empty() {
                        let (taken, skip) = (self.terms.var(v), self.terms.skip());
                        let transition = &tree.transitions[t];
                        let content = self.of(transition.source, |l| l.block(&transition.content));
                        parts.push(self.terms.branch(taken, content, skip));
                    }
                }
            }
        }
        self.terms.seq(parts)
    }

    /// `enterStates`
    pub fn enter(&mut self, choices: &[Choice]) -> StmtId {
        let tree = self.tree;
        let mut order: Vec<usize> = (0..choices.len()).collect();
        order.sort_by_key(|&t| choices[t].domain);
        let mut parts = vec![];
        for t in order {
            if let Some(domain) = choices[t].domain {
                let (taken, skip) = (self.taken(&choices[t]), self.terms.skip());
                let entered = self.descend(domain, &tree.transitions[t].targets);
                parts.push(self.terms.branch(taken, entered, skip));
            }
        }
        self.terms.seq(parts)
    }

    /// Below an active state, enters what is on the way to the targets, the targets, and what belongs to them. With a history of the
    /// state itself as its target: what that remembers, or its default.
    pub fn descend(&mut self, s: usize, targets: &[Target]) -> StmtId {
        let tree = self.tree;
        if let &[Target::History(h)] = targets
            && tree.histories[h].parent == s
        {
            let remembered = self.restore(h, s);
            let default = self.descend(s, &tree.histories[h].default);
            let remembers = self.remembers(h);
            return self.terms.branch(remembers, remembered, default);
        }
        let mut parts = vec![];
        for &c in &tree.states[s].children {
            let inside = |target: &Target| *target == Target::State(c) || tree.contains(c, *target);
            let inside: Vec<Target> = targets.iter().copied().filter(inside).collect();
            if !inside.is_empty() {
                parts.push(self.enter_towards(c, &inside));
            } else if tree.is_parallel(s) {
                parts.push(self.enter_by_default(c));
            }
        }
        self.terms.seq(parts)
    }

    /// Enters what the history remembers below the state.
    fn restore(&mut self, h: usize, s: usize) -> StmtId {
        let tree = self.tree;
        let deep = tree.histories[h].deep;
        let mut parts = vec![];
        for &c in &tree.states[s].children {
            let entered = if deep {
                let (enter, below) = (self.enter_itself(c), self.restore(h, c));
                self.terms.seq([enter, below])
            } else {
                self.enter_by_default(c)
            };
            let (was, skip) = (self.was_active(h, c), self.terms.skip());
            parts.push(self.terms.branch(was, entered, skip));
        }
        self.terms.seq(parts)
    }

    /// Enters the state because targets lie in it, or because it is one.
    fn enter_towards(&mut self, s: usize, targets: &[Target]) -> StmtId {
        if targets.contains(&Target::State(s)) {
            return self.enter_by_default(s);
        }
        let parts = [self.enter_itself(s), self.default_content(s, targets), self.descend(s, targets)];
        self.terms.seq(parts)
    }

    /// Enters the state and what is initial in it.
    fn enter_by_default(&mut self, s: usize) -> StmtId {
        if let Some(&made) = self.known.get(&Made::Enter(s)) {
            return made;
        }
        let state = &self.tree.states[s];
        let parts = [
            self.enter_itself(s),
            self.of(s, |l| l.block(&state.initial_content)),
            self.default_content(s, &state.initial),
            self.descend(s, &state.initial),
        ];
        let stmt = self.terms.seq(parts);
        self.known.insert(Made::Enter(s), stmt);
        stmt
    }

    /// What is done in a state because its history, which is the target, remembers nothing.
    fn default_content(&mut self, s: usize, targets: &[Target]) -> StmtId {
        let tree = self.tree;
        let skip = self.terms.skip();
        match targets {
            &[Target::History(h)] if tree.histories[h].parent == s => {
                let content = self.of(s, |l| l.block(&tree.histories[h].content));
                let remembers = self.remembers(h);
                self.terms.branch(remembers, skip, content)
            }
            _ => skip,
        }
    }

    /// The state alone: it becomes active, acts, and if it is final says so.
    fn enter_itself(&mut self, s: usize) -> StmtId {
        let tree = self.tree;
        let state = &tree.states[s];
        let mut parts = vec![self.set_active(s, true), self.of(s, |l| l.bind(s))];
        let blocks: Vec<&Block> = state.entry.iter().collect();
        parts.extend(self.of(s, |l| blocks.into_iter().map(|b| l.block(b)).collect::<Vec<_>>()));
        parts.push(self.invoke_later(s));
        if state.kind == Kind::Final && tree.is_session(state.parent) {
            parts.push(self.of(s, |l| l.ends_invoked(s)));
        } else if state.kind == Kind::Final {
            parts.push(self.of(s, |l| l.say_done(s)));
            let grandparent = tree.states[state.parent].parent;
            if tree.is_parallel(grandparent) {
                let nothing = self.constant(super::value::Kind::Undefined);
                let (all, done) = (self.is_in_final(grandparent), self.enqueue_done(grandparent, &nothing));
                let skip = self.terms.skip();
                parts.push(self.terms.branch(all, done, skip));
            }
        }
        self.terms.seq(parts)
    }

    /// A final state tells its parent, with its `<donedata>`. What has no value there is an error, and left out.
    pub fn say_done(&mut self, s: usize) -> StmtId {
        let (tree, nothing) = (self.tree, self.constant(super::value::Kind::Undefined));
        let parent = tree.states[s].parent;
        let (data, outcome) = self.evaluating(|l| l.payload(&tree.states[s].done));
        let done = self.enqueue_done(parent, &data);
        if self.terms.as_bool(outcome.ok) == Some(true) {
            return self.when_within(outcome, done);
        }
        let failed = [self.enqueue_error(None), self.enqueue_done(parent, &nothing)];
        let failed = self.terms.seq(failed);
        let stmt = self.terms.branch(outcome.ok, done, failed);
        self.when_within(outcome, stmt)
    }

    /// `isInFinalState`
    fn is_in_final(&mut self, s: usize) -> TermId {
        let tree = self.tree;
        let children = &tree.states[s].children;
        if tree.is_parallel(s) {
            let all: Vec<TermId> = children.iter().map(|&c| self.is_in_final(c)).collect();
            return self.terms.and(all);
        }
        let ends: Vec<usize> = children.iter().copied().filter(|&c| tree.states[c].kind == Kind::Final).collect();
        let ends: Vec<TermId> = ends.into_iter().map(|c| self.active(c)).collect();
        self.terms.or(ends)
    }
}
