//! The search: conflict-driven clause learning with a theory beside it (CDCL(T)).
//!
//! The usual parts: two watched literals with blockers, first unique implication point with recursive minimisation, activities
//! that decay, saved phases, Luby restarts, and clauses forgotten by the number of levels they span. A theory is told of the
//! literals it marked and answers with conflicts and implied literals; the assumptions are the first decisions, so a core comes
//! from the last conflict.
//!
//! Why not the `batsat` crate, which has a theory hook: in 0.6.0 a unit lemma over a literal that is false at level 0 is enqueued
//! once more, lemmas are "not fully supported yet", and a variable cannot be taken out of the decisions, which the levels of an
//! incremental solver need. It is the oracle of the tests instead, and the rival in `bench/smt`.

mod forget;
mod log;
mod order;

use std::ops::Not;

pub(crate) use log::{Log, Origin};
use order::Order;

/// A literal: a variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Lit(pub u32);

impl Lit {
    /// The literal that is always true.
    pub const TRUE: Lit = Lit(0);
    /// The literal that is never true.
    pub const FALSE: Lit = Lit(1);

    pub fn var(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub fn positive(self) -> bool {
        self.0 & 1 == 0
    }

    pub fn of(var: usize, positive: bool) -> Lit {
        Lit((var as u32) << 1 | u32::from(!positive))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What a theory says of the literals it was told.
pub(crate) enum Verdict {
    /// Nothing against them.
    Fine,
    /// They contradict each other: this clause follows from the theory, and all its literals are false.
    Conflict(Vec<Lit>),
    /// Not decided, and it never will be.
    GaveUp,
}

/// A theory in the search.
pub(crate) trait Theory {
    /// A marked literal has become true.
    fn assign(&mut self, lit: Lit);
    /// The last so many of those are no longer.
    fn retract(&mut self, count: usize);
    /// Do they go together? `complete`: all variables have values, and the answer decides. Implied literals, each with the
    /// true literals that imply it, go to the list.
    fn check(&mut self, complete: bool, implied: &mut Vec<(Lit, Vec<Lit>)>) -> Verdict;
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Sat,
    /// With the assumptions that suffice.
    Unsat(Vec<Lit>),
    /// Called off.
    Stopped,
    /// The theory gave up.
    GaveUp,
}

#[derive(Clone, Copy)]
struct Watch {
    clause: u32,
    blocker: Lit,
}

/// Why a literal is true: a decision, a clause, or a list of the theory's.
const DECIDED: u32 = u32::MAX;
const IMPLIED: u32 = 1 << 31;

/// Words before the literals of a clause: how many literals; whether learnt, and over how many levels; its number in the log.
const HEADER: usize = 3;
const LEARNT: u32 = 1 << 31;

/// The state of the search.
pub(crate) struct Sat {
    /// Clauses, one after the other.
    arena: Vec<u32>,
    wasted: usize,
    learnt: Vec<u32>,
    watches: Vec<Vec<Watch>>,
    /// By literal: 1 true, −1 false, 0 open.
    values: Vec<i8>,
    level: Vec<u32>,
    reason: Vec<u32>,
    trail: Vec<Lit>,
    limits: Vec<usize>,
    head: usize,
    theory_head: usize,
    /// Reasons from the theory: ends in `implied_lits`, with the position on the trail.
    implied: Vec<(usize, usize)>,
    implied_lits: Vec<Lit>,
    /// Which variables the theory is told of, and which are decided.
    marked: Vec<bool>,
    decided: Vec<bool>,
    phase: Vec<bool>,
    order: Order,
    seen: Vec<bool>,
    /// Contradictory whatever is assumed.
    dead: bool,
    pub conflicts: u64,
    max_learnt: usize,
    /// What a proof needs, if one is wanted; and where on the trail each variable is.
    pub log: Option<Box<Log>>,
    place: Vec<u32>,
}

impl Default for Sat {
    fn default() -> Sat {
        let mut sat = Sat {
            arena: vec![],
            wasted: 0,
            learnt: vec![],
            watches: vec![],
            values: vec![],
            level: vec![],
            reason: vec![],
            trail: vec![],
            limits: vec![],
            head: 0,
            theory_head: 0,
            implied: vec![],
            implied_lits: vec![],
            marked: vec![],
            decided: vec![],
            phase: vec![],
            order: Order::default(),
            seen: vec![],
            dead: false,
            conflicts: 0,
            max_learnt: 2000,
            log: None,
            place: vec![],
        };
        sat.variable();
        sat.clause(&[Lit::TRUE]);
        sat
    }
}

impl Sat {
    /// A new variable, as its positive literal.
    pub fn variable(&mut self) -> Lit {
        let v = self.level.len();
        self.watches.extend([vec![], vec![]]);
        self.values.extend([0, 0]);
        self.level.push(0);
        self.reason.push(DECIDED);
        self.place.push(0);
        self.marked.push(false);
        self.decided.push(true);
        self.phase.push(false);
        self.order.grow();
        self.seen.push(false);
        self.order.insert(v);
        Lit::of(v, true)
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.level.len()
    }

    /// The theory is told of this variable's value.
    pub fn mark(&mut self, lit: Lit) {
        self.marked[lit.var()] = true;
    }

    /// Is the variable to be decided? If not it may stay open in a model.
    pub fn set_decided(&mut self, var: usize, yes: bool) {
        self.decided[var] = yes;
        if yes && self.values[var << 1] == 0 {
            self.order.insert(var);
        }
    }

    /// The value of a literal: in a model, or for good.
    pub fn value(&self, lit: Lit) -> Option<bool> {
        match self.values[lit.index()] {
            0 => None,
            v => Some(v > 0),
        }
    }

    fn lits(&self, clause: u32) -> std::ops::Range<usize> {
        let start = clause as usize + HEADER;
        start..start + self.arena[clause as usize] as usize
    }

    fn lit(&self, at: usize) -> Lit {
        Lit(self.arena[at])
    }

    /// Adds a clause, for good. Only between searches.
    pub fn clause(&mut self, lits: &[Lit]) {
        self.add(lits, false);
    }

    /// The same, for a clause that follows from the theory.
    pub fn lemma(&mut self, lits: &[Lit]) {
        self.add(lits, true);
    }

    fn add(&mut self, lits: &[Lit], theory: bool) {
        let id = self.log_given(lits, theory);
        debug_assert!(self.limits.is_empty(), "clauses are added between searches");
        let mut c: Vec<Lit> = lits.to_vec();
        c.sort_unstable();
        c.dedup();
        let tautology = c.windows(2).any(|w| w[0] == !w[1]);
        if self.dead || tautology || c.iter().any(|&l| self.values[l.index()] > 0) {
            return;
        }
        c.retain(|&l| self.values[l.index()] == 0);
        let id = self.log_shorter(id, lits, &c);
        match c[..] {
            [] => self.dead = true,
            [l] => self.enqueue(l, DECIDED),
            _ => _ = self.attach(&c, 0, id),
        }
    }

    fn attach(&mut self, lits: &[Lit], mark: u32, id: u32) -> u32 {
        let clause = self.arena.len() as u32;
        assert!(clause < IMPLIED, "the clauses fill more memory than can be addressed");
        self.arena.extend([lits.len() as u32, mark, id]);
        self.arena.extend(lits.iter().map(|l| l.0));
        self.watches[(!lits[0]).index()].push(Watch { clause, blocker: lits[1] });
        self.watches[(!lits[1]).index()].push(Watch { clause, blocker: lits[0] });
        clause
    }

    fn enqueue(&mut self, lit: Lit, reason: u32) {
        debug_assert_eq!(self.values[lit.index()], 0);
        self.values[lit.index()] = 1;
        self.values[(!lit).index()] = -1;
        self.level[lit.var()] = self.limits.len() as u32;
        self.reason[lit.var()] = reason;
        self.place[lit.var()] = self.trail.len() as u32;
        self.trail.push(lit);
        if self.log.is_some() && self.limits.is_empty() && reason != DECIDED {
            self.log_unit(lit);
        }
    }

    /// Unit propagation; a clause that is false, if any.
    fn propagate(&mut self) -> Option<u32> {
        while self.head < self.trail.len() {
            let p = self.trail[self.head];
            self.head += 1;
            let mut list = std::mem::take(&mut self.watches[p.index()]);
            let (mut i, mut j) = (0, 0);
            let mut conflict = None;
            'watches: while i < list.len() {
                let w = list[i];
                i += 1;
                if self.values[w.blocker.index()] > 0 {
                    list[j] = w;
                    j += 1;
                    continue;
                }
                let start = w.clause as usize + HEADER;
                let end = start + self.arena[w.clause as usize] as usize;
                if self.arena[start] == (!p).0 {
                    self.arena.swap(start, start + 1);
                }
                let first = Lit(self.arena[start]);
                let kept = Watch { clause: w.clause, blocker: first };
                if first != w.blocker && self.values[first.index()] > 0 {
                    list[j] = kept;
                    j += 1;
                    continue;
                }
                for k in start + 2..end {
                    let l = Lit(self.arena[k]);
                    if self.values[l.index()] >= 0 {
                        self.arena.swap(start + 1, k);
                        self.watches[(!l).index()].push(kept);
                        continue 'watches;
                    }
                }
                list[j] = kept;
                j += 1;
                if self.values[first.index()] < 0 {
                    conflict = Some(w.clause);
                    self.head = self.trail.len();
                    break;
                }
                self.enqueue(first, w.clause);
            }
            while i < list.len() {
                list[j] = list[i];
                (i, j) = (i + 1, j + 1);
            }
            list.truncate(j);
            self.watches[p.index()] = list;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    fn backtrack(&mut self, level: usize, theory: &mut impl Theory) {
        if self.limits.len() <= level {
            return;
        }
        let keep = self.limits[level];
        if self.theory_head > keep {
            let told = self.trail[keep..self.theory_head].iter().filter(|l| self.marked[l.var()]).count();
            theory.retract(told);
            self.theory_head = keep;
        }
        for i in keep..self.trail.len() {
            let l = self.trail[i];
            self.values[l.index()] = 0;
            self.values[(!l).index()] = 0;
            self.phase[l.var()] = l.positive();
            self.order.insert(l.var());
        }
        self.trail.truncate(keep);
        while self.implied.last().is_some_and(|&(at, _)| at >= keep) {
            self.implied.pop();
        }
        self.implied_lits.truncate(self.implied.last().map_or(0, |i| i.1));
        self.limits.truncate(level);
        self.head = keep;
    }

    /// The other literals of the reason, all false.
    fn because(&self, lit: Lit, out: &mut Vec<Lit>) {
        out.clear();
        let reason = self.reason[lit.var()];
        if reason == DECIDED {
            return;
        }
        if reason & IMPLIED != 0 {
            let i = (reason & !IMPLIED) as usize;
            let start = if i == 0 { 0 } else { self.implied[i - 1].1 };
            out.extend(self.implied_lits[start..self.implied[i].1].iter().map(|&l| !l));
        } else {
            out.extend(self.lits(reason).map(|at| self.lit(at)).filter(|l| l.var() != lit.var()));
        }
    }

    /// Learns from a clause that is false, and goes back. False if that leaves nothing.
    fn learn(&mut self, conflict: &[Lit], id: u32, theory: &mut impl Theory) -> bool {
        self.conflicts += 1;
        let top = conflict.iter().map(|l| self.level[l.var()]).max().unwrap_or(0);
        if top == 0 {
            self.log_learnt(conflict, id, &[]);
            self.dead = true;
            return false;
        }
        self.backtrack(top as usize, theory);
        let mut learnt = vec![Lit::TRUE];
        let mut touched: Vec<usize> = vec![];
        let mut open = 0;
        let mut lits = conflict.to_vec();
        let mut at = self.trail.len();
        let uip = loop {
            for &q in &lits {
                let v = q.var();
                if !self.seen[v] && self.level[v] > 0 {
                    self.seen[v] = true;
                    touched.push(v);
                    self.order.bump(v);
                    if self.level[v] == top {
                        open += 1;
                    } else {
                        learnt.push(q);
                    }
                }
            }
            let p = loop {
                at -= 1;
                if self.seen[self.trail[at].var()] {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                break p;
            }
            self.because(p, &mut lits);
        };
        learnt[0] = !uip;
        let kept: Vec<Lit> = learnt[1..].iter().copied().filter(|&l| !self.is_redundant(l, &mut touched)).collect();
        learnt.truncate(1);
        learnt.extend(kept);
        for v in touched {
            self.seen[v] = false;
        }
        let mut back = 0;
        if learnt.len() > 1 {
            let (i, l) = learnt.iter().enumerate().skip(1).max_by_key(|(_, l)| self.level[l.var()]).expect("not empty");
            back = self.level[l.var()] as usize;
            learnt.swap(1, i);
        }
        let mut levels: Vec<u32> = learnt.iter().map(|l| self.level[l.var()]).collect();
        levels.sort_unstable();
        levels.dedup();
        let id = self.log_learnt(conflict, id, &learnt);
        self.backtrack(back, theory);
        if learnt.len() == 1 {
            self.enqueue(learnt[0], DECIDED);
        } else {
            let clause = self.attach(&learnt, LEARNT | levels.len() as u32, id);
            self.learnt.push(clause);
            self.enqueue(learnt[0], clause);
        }
        self.order.decay();
        true
    }

    /// Do the other literals of the learnt clause imply this one?
    fn is_redundant(&mut self, lit: Lit, touched: &mut Vec<usize>) -> bool {
        if self.reason[lit.var()] == DECIDED {
            return false;
        }
        let mut stack = vec![lit];
        let start = touched.len();
        let mut lits = vec![];
        while let Some(p) = stack.pop() {
            self.because(p, &mut lits);
            for &q in &lits {
                let v = q.var();
                if self.seen[v] || self.level[v] == 0 {
                    continue;
                }
                if self.reason[v] == DECIDED {
                    // What was marked on the way is not known to be redundant.
                    for v in touched.drain(start..) {
                        self.seen[v] = false;
                    }
                    return false;
                }
                self.seen[v] = true;
                touched.push(v);
                stack.push(q);
            }
        }
        true
    }

    /// The assumptions that make this literal, which is assumed too, false.
    fn core(&mut self, failed: Lit) -> Vec<Lit> {
        let mut core = vec![failed];
        if self.level[failed.var()] == 0 {
            return core;
        }
        self.seen[failed.var()] = true;
        let mut lits = vec![];
        for at in (self.limits[0]..self.trail.len()).rev() {
            let l = self.trail[at];
            if !self.seen[l.var()] {
                continue;
            }
            self.seen[l.var()] = false;
            if self.reason[l.var()] == DECIDED {
                core.push(l);
            } else {
                self.because(l, &mut lits);
                for q in &lits {
                    if self.level[q.var()] > 0 {
                        self.seen[q.var()] = true;
                    }
                }
            }
        }
        self.seen[failed.var()] = false;
        core
    }

    /// Can all clauses and the assumptions be true? A model stays readable until [`Sat::reset`].
    pub fn solve(
        &mut self,
        assumptions: &[Lit],
        theory: &mut impl Theory,
        mut stop: impl FnMut(u64) -> bool,
    ) -> Outcome {
        self.reset(theory);
        if self.dead {
            return Outcome::Unsat(vec![]);
        }
        let start = self.conflicts;
        let mut round = 0;
        let mut until = self.conflicts + luby(round) * 100;
        let mut implied = vec![];
        let mut rounds: u32 = 0;
        loop {
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(64) && stop(self.conflicts - start) {
                return Outcome::Stopped;
            }
            let lits = |s: &Sat, c| (s.lits(c).map(|at| s.lit(at)).collect::<Vec<_>>(), s.arena[c as usize + 2]);
            let mut conflict = self.propagate().map(|c| lits(self, c));
            if conflict.is_none() {
                self.tell(theory);
                match self.ask(theory, false, &mut implied) {
                    Asked::Nothing => {}
                    Asked::More => continue,
                    Asked::Conflict(c) => conflict = Some(self.of_theory(c)),
                    Asked::GaveUp => return Outcome::GaveUp,
                }
            }
            if let Some((conflict, id)) = conflict {
                if !self.learn(&conflict, id, theory) {
                    return Outcome::Unsat(vec![]);
                }
                continue;
            }
            if self.conflicts >= until {
                round += 1;
                until = self.conflicts + luby(round) * 100;
                self.backtrack(0, theory);
                if self.learnt.len() > self.max_learnt {
                    self.forget();
                }
                continue;
            }
            let mut next = None;
            while self.limits.len() < assumptions.len() {
                let a = assumptions[self.limits.len()];
                match self.values[a.index()] {
                    1 => self.limits.push(self.trail.len()),
                    -1 => return Outcome::Unsat(self.core(a)),
                    _ => {
                        next = Some(a);
                        break;
                    }
                }
            }
            match next.or_else(|| self.pick()) {
                Some(l) => {
                    self.limits.push(self.trail.len());
                    self.enqueue(l, DECIDED);
                }
                None => match self.ask(theory, true, &mut implied) {
                    Asked::Nothing => return Outcome::Sat,
                    Asked::More => {}
                    Asked::Conflict(c) => {
                        let (c, id) = self.of_theory(c);
                        if !self.learn(&c, id, theory) {
                            return Outcome::Unsat(vec![]);
                        }
                    }
                    Asked::GaveUp => return Outcome::GaveUp,
                },
            }
        }
    }

    fn of_theory(&mut self, conflict: Vec<Lit>) -> (Vec<Lit>, u32) {
        let id = self.log_given(&conflict, true);
        (conflict, id)
    }

    /// Leaves the last model.
    pub fn reset(&mut self, theory: &mut impl Theory) {
        self.backtrack(0, theory);
    }

    fn tell(&mut self, theory: &mut impl Theory) {
        while self.theory_head < self.trail.len() {
            let l = self.trail[self.theory_head];
            self.theory_head += 1;
            if self.marked[l.var()] {
                theory.assign(l);
            }
        }
    }

    fn ask(&mut self, theory: &mut impl Theory, complete: bool, implied: &mut Vec<(Lit, Vec<Lit>)>) -> Asked {
        implied.clear();
        match theory.check(complete, implied) {
            Verdict::GaveUp => return Asked::GaveUp,
            Verdict::Conflict(c) => return Asked::Conflict(c),
            Verdict::Fine => {}
        }
        let mut more = false;
        for (lit, because) in implied.drain(..) {
            match self.values[lit.index()] {
                1 => {}
                0 => {
                    self.implied_lits.extend(because);
                    self.implied.push((self.trail.len(), self.implied_lits.len()));
                    self.enqueue(lit, IMPLIED | (self.implied.len() as u32 - 1));
                    more = true;
                }
                _ => {
                    let mut c: Vec<Lit> = because.into_iter().map(|l| !l).collect();
                    c.push(lit);
                    return Asked::Conflict(c);
                }
            }
        }
        if more { Asked::More } else { Asked::Nothing }
    }

    fn pick(&mut self) -> Option<Lit> {
        while let Some(v) = self.order.pop_best() {
            if self.values[v << 1] == 0 && self.decided[v] {
                return Some(Lit::of(v, self.phase[v]));
            }
        }
        None
    }
}

enum Asked {
    Nothing,
    More,
    Conflict(Vec<Lit>),
    GaveUp,
}

/// 1, 1, 2, 1, 1, 2, 4, …
fn luby(mut i: u64) -> u64 {
    loop {
        let k = 64 - (i + 1).leading_zeros();
        if i + 1 == (1 << k) - 1 {
            return 1 << (k - 1);
        }
        i -= (1 << (k - 1)) - 1;
    }
}

#[cfg(test)]
mod tests;
