//! Certificates: checked to be proofs, with the model's steps (`steps`) and the order of its elements.
//!
//! A set of states proves that nothing else is reachable if it contains the initial state and every step from it stays
//! inside. Ranks prove that something happens: each step leads to it or counts down, and no state lets time pass forever
//! or has no step.
//!
//! Up to the order, "inside" means below an entry. Then a proof rests on the monotonicity of the model and of what is
//! looked for (000 Def. 2). It is proved here (`monotone`), or the certificate is refused, unless somebody has said to assume it
//! ([`assuming_monotone`](crate::assuming_monotone)). Deadlocks and liveness cannot be shown up to the order at all.
//!
//! What is not here: models with clocks. They have a module of their own, `timed`.

use std::ops::ControlFlow;

use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{
    Certificate, Condition, Elements, Layout, ModelError, Network, Query, QueryKind, Snapshot,
};
use trellis_order::Word;

use crate::certified::Certified;
use crate::index::Index;
use crate::monotone::rests_on_order;
use crate::rejection::Claimed;
use crate::state::check;
use crate::steps::{Asked, Steps};
use crate::{Cause, Rejection, symmetric};

/// Checks a certificate. It must prove what a certificate can prove about the query: see the table in the
/// [crate](crate)'s description.
pub fn certify(net: &Network, query: &Query, cert: &Certificate) -> Result<Certified, Rejection> {
    if !net.clocks.is_empty() {
        return crate::timed::certify(net, query, cert);
    }
    let symmetry = symmetric::symmetry(net, query, cert);
    symmetric::tried(net, query, cert, &symmetry)?;
    let mut c = Checker::new(net, query, cert, symmetry)?;
    let mut bound = None;
    match &query.kind {
        QueryKind::Always(p) => c.invariant(p, true, "the property does not hold in this state")?,
        QueryKind::Possibly(p) => c.invariant(p, false, "the property holds in this state, so it may be possible")?,
        QueryKind::Eventually(p) => c.inevitable(p, true)?,
        QueryKind::PotentiallyAlways(p) => c.inevitable(p, false)?,
        QueryKind::LeadsTo(p, q) => c.response(p, q)?,
        QueryKind::Bound { sup, when, of } => bound = c.bound(*sup, when, of)?,
        QueryKind::ClockBound { .. } => return Err(Rejection::new(Cause::BesideThePoint("bounds of clocks"))),
    }
    Ok(Certified { entries: c.set.index.len(), steps: c.steps, up_to_order: c.set.order.is_some(), bound, clock: None })
}

/// Checks the certificate behind `sup: e = claimed` (nothing is larger), `inf: e = claimed` (nothing is smaller), or, if
/// nothing is claimed, that no state is measured at all.
pub fn certify_bound(
    net: &Network,
    query: &Query,
    cert: &Certificate,
    claimed: Option<i64>,
) -> Result<Certified, Rejection> {
    let QueryKind::Bound { sup, .. } = query.kind else {
        return Err(Rejection::new(Cause::BesideThePoint("a bound for a question that asks for none")));
    };
    let certified = certify(net, query, cert)?;
    let claimed = match claimed {
        None => Claimed::Nothing,
        Some(n) if sup => Claimed::AtMost(n),
        Some(n) => Claimed::AtLeast(n),
    };
    match (certified.bound, claimed) {
        (Some(found), Claimed::AtMost(n)) if found <= n => {}
        (Some(found), Claimed::AtLeast(n)) if found >= n => {}
        (Some(found), claimed) => return Err(Rejection::new(Cause::Value { found, claimed })),
        (None, _) => {}
    }
    Ok(certified)
}

struct Checker<'n> {
    net: &'n Network,
    deadlock: bool,
    walk: Steps<'n>,
    set: Set,
    steps: u64,
}

/// What a certificate stands for.
struct Set {
    index: Index,
    /// The states below the entries, rather than the entries alone.
    order: Option<Elements>,
    /// What may be swapped, and how keys are packed.
    reduction: Option<(Symmetry, Layout)>,
}

impl Set {
    fn contains(&self, key: &[Word], elem: &[Word]) -> bool {
        let sorted;
        let key = match &self.reduction {
            None => key,
            Some((symmetry, layout)) => {
                let mut cells = vec![0; layout.key_cells()];
                layout.unpack(key, &mut cells);
                symmetry.sort(&mut cells, &mut Vec::new());
                let mut key = vec![0; key.len()];
                layout.pack(&cells, &mut key);
                sorted = key;
                &sorted
            }
        };
        match &self.order {
            None => self.index.find(key, elem).is_some(),
            Some(order) => self.index.covers(order, key, elem),
        }
    }
}

/// What waiting for something looks like.
struct Goal {
    judge: Asked,
    value: bool,
}

impl<'n> Checker<'n> {
    fn new(net: &'n Network, query: &Query, cert: &Certificate, symmetry: Symmetry) -> Result<Checker<'n>, Rejection> {
        let walk = Steps::new(net);
        let mut index = Index::new(&walk.layout, net.element_width(), cert.entries.len())?;
        for (i, e) in symmetric::sorted_entries(net, &symmetry, cert).enumerate() {
            crate::limit::ask()?;
            check(net, &e.state).map_err(|r| r.number(i))?;
            if !e.known.is_empty() || e.says.is_some() {
                let why = "entries that know only part of the data cannot be checked";
                return Err(Rejection::new(Cause::BesideThePoint(why)).number(i));
            }
            if !e.zone.is_empty() || e.bounds.is_some() || !e.state.clocks.is_empty() {
                let why = Cause::Malformed("there is something about clocks, and the model has none".into());
                return Err(Rejection::new(why).number(i).state(net, &e.state));
            }
            index.add(&walk.layout.key_of(&e.state), &e.state.element, e.rank).map_err(|r| r.number(i))?;
        }
        let up_to_order = rests_on_order(net, query, cert)?;
        let order = up_to_order.then(|| net.elements());
        if order.is_some() {
            index.chain();
        }
        let reduction = (!symmetry.is_empty()).then(|| (symmetry, walk.layout.clone()));
        Ok(Checker { net, deadlock: query.deadlock, walk, set: Set { index, order, reduction }, steps: 0 })
    }

    // Words for what is wrong.

    fn snapshot(&self, key: &[Word], elem: &[Word]) -> Snapshot {
        self.walk.layout.snapshot(self.net, key, elem)
    }

    fn model(&self, e: ModelError) -> Rejection {
        Rejection::model(self.net, e)
    }

    fn wrong(&self, why: Cause, e: u32) -> Rejection {
        let state = self.snapshot(self.set.index.key(e), self.set.index.elem(e));
        Rejection::new(why).number(e as usize).state(self.net, &state)
    }

    /// What is wrong with a step, by its number.
    fn wrong_step(&self, why: Cause, e: u32, ordinal: u32) -> Rejection {
        let r = self.wrong(why, e);
        match self.walk.step(self.set.index.key(e), self.set.index.elem(e), ordinal) {
            Some((action, next)) => r.step(self.net, &action).next(self.net, &next),
            None => r,
        }
    }

    // What can be asked.

    fn compile(&self, c: &Condition) -> Asked {
        self.walk.ask(*c, self.deadlock)
    }

    fn judge(&mut self, judge: &Asked, e: u32) -> Result<i64, Rejection> {
        let value = self.walk.judge(judge, self.set.index.key(e), self.set.index.elem(e));
        value.map_err(|error| self.model(error))
    }

    fn entries(&self) -> std::ops::Range<u32> {
        0..self.set.index.len() as u32
    }

    /// Follows the steps of an entry, apart from those that lead back to the entry itself; answers how many there are,
    /// all counted.
    fn follow(
        &mut self,
        e: u32,
        mut visit: impl FnMut(&Set, u32, &[Word], &[Word]) -> ControlFlow<()>,
    ) -> Result<u32, Rejection> {
        let Checker { walk, set, .. } = self;
        let (key, elem) = (set.index.key(e), set.index.elem(e));
        let found = walk.successors(key, elem, &mut |o, k: &[Word], x: &[Word]| visit(set, o, k, x));
        let count = found.map_err(|error| self.model(error))?;
        self.steps += u64::from(count);
        Ok(count)
    }

    // Proofs.

    /// The set contains the initial state, and no step leaves it.
    fn closed(&mut self) -> Result<(), Rejection> {
        let (key, elem) = self.walk.initial().map_err(|e| self.model(e))?;
        if !self.set.contains(&key, &elem) {
            let state = self.snapshot(&key, &elem);
            return Err(Rejection::new(Cause::InitialMissing).state(self.net, &state));
        }
        for e in self.entries() {
            crate::limit::ask()?;
            let mut outside = None;
            self.follow(e, |set, ordinal, key, elem| {
                if set.contains(key, elem) {
                    return ControlFlow::Continue(());
                }
                outside = Some(ordinal);
                ControlFlow::Break(())
            })?;
            if let Some(ordinal) = outside {
                return Err(self.wrong_step(Cause::LeadsOutside, e, ordinal));
            }
        }
        Ok(())
    }

    /// A closed set in which a condition has the same value everywhere.
    fn invariant(&mut self, c: &Condition, value: bool, otherwise: &'static str) -> Result<(), Rejection> {
        let judge = self.compile(c);
        for e in self.entries() {
            crate::limit::ask()?;
            if (self.judge(&judge, e)? != 0) != value {
                return Err(self.wrong(Cause::Condition(otherwise), e));
            }
        }
        self.closed()
    }

    /// A closed set; the extreme value of an expression where it is measured.
    fn bound(&mut self, sup: bool, when: &Condition, of: &Condition) -> Result<Option<i64>, Rejection> {
        self.closed()?;
        let (when, of) = (self.compile(when), self.compile(of));
        let mut bound = None;
        for e in self.entries() {
            crate::limit::ask()?;
            if self.judge(&when, e)? != 0 {
                let n = self.judge(&of, e)?;
                bound = Some(bound.map_or(n, |b| if sup { n.max(b) } else { n.min(b) }));
            }
        }
        Ok(bound)
    }

    /// From the initial state, the condition gets this value sooner or later.
    fn inevitable(&mut self, c: &Condition, value: bool) -> Result<(), Rejection> {
        let goal = Goal { judge: self.compile(c), value };
        let (key, elem) = self.walk.initial().map_err(|e| self.model(e))?;
        if !self.reached(&goal, &key, &elem)? {
            let state = self.snapshot(&key, &elem);
            match self.set.index.find(&key, &elem) {
                None => return Err(Rejection::new(Cause::InitialMissing).state(self.net, &state)),
                Some(e) if self.set.index.rank(e).is_none() => return Err(self.wrong(Cause::NoRank, e)),
                Some(_) => {}
            }
        }
        self.ranked(&goal)
    }

    /// A closed set in which p is always followed by q.
    fn response(&mut self, p: &Condition, q: &Condition) -> Result<(), Rejection> {
        let (p, goal) = (self.compile(p), Goal { judge: self.compile(q), value: true });
        for e in self.entries() {
            crate::limit::ask()?;
            let starts = self.judge(&p, e)? != 0 && self.judge(&goal.judge, e)? == 0;
            if starts && self.set.index.rank(e).is_none() {
                return Err(self.wrong(Cause::NoRank, e));
            }
        }
        self.closed()?;
        self.ranked(&goal)
    }

    fn reached(&mut self, goal: &Goal, key: &[Word], elem: &[Word]) -> Result<bool, Rejection> {
        match self.walk.judge(&goal.judge, key, elem) {
            Ok(v) => Ok((v != 0) == goal.value),
            Err(e) => Err(self.model(e)),
        }
    }

    /// Every entry with a rank leads to the goal: it is not there yet, cannot stay, and each step reaches the goal or a
    /// smaller rank.
    fn ranked(&mut self, goal: &Goal) -> Result<(), Rejection> {
        let (kw, ew) = (self.walk.layout.key_width(), self.net.element_width());
        let mut next: Vec<(u32, Vec<Word>)> = Vec::new();
        for e in self.entries() {
            crate::limit::ask()?;
            let Some(rank) = self.set.index.rank(e) else { continue };
            let (key, elem) = (self.set.index.key(e).to_vec(), self.set.index.elem(e).to_vec());
            if self.reached(goal, &key, &elem)? {
                let why = "what is awaited has happened here already, so the state must not have a rank";
                return Err(self.wrong(Cause::Condition(why), e));
            }
            next.clear();
            let count = self.follow(e, |_, ordinal, key, elem| {
                next.push((ordinal, [key, elem].concat()));
                ControlFlow::Continue(())
            })?;
            if count == 0 {
                return Err(self.wrong(Cause::Deadlock, e));
            }
            if next.len() != count as usize {
                let ordinal = (0..count).find(|o| next.iter().all(|(n, _)| n != o)).unwrap_or(0);
                return Err(self.wrong_step(Cause::SelfLoop, e, ordinal));
            }
            if self.walk.may_idle(&key, &elem).map_err(|e| self.model(e))? {
                return Err(self.wrong(Cause::MayIdle, e));
            }
            for (ordinal, state) in &next {
                let (key, elem) = (&state[..kw], &state[kw..kw + ew]);
                let to = self.set.index.find(key, elem).and_then(|e| self.set.index.rank(e));
                if to.is_none_or(|to| to >= rank) && !self.reached(goal, key, elem)? {
                    return Err(self.wrong_step(Cause::RankNotSmaller { from: rank, to }, e, *ordinal));
                }
            }
        }
        Ok(())
    }
}
