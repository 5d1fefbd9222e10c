//! Backward search: from which states can a target be covered?
//!
//! The set of these states is upward-closed, so it is kept as its minimal elements; `pre` adds more until there is nothing new. It
//! ends because there is no infinite sequence of vectors none of which is above an earlier one (Dickson).
//!
//! With pruning, vectors of which the state equation shows that nothing above them can be reached are left out ([`super::equation`]; Blondin
//! et al., TACAS 2016, do this with the continuous relaxation). Every such proof is a weighted sum, which soon excludes
//! other vectors too.
//!
//! The loop is its own ([`crate::explore`] is for forward explorations): new vectors delete old ones from the basis, and no node has a
//! parent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::equation::Equation;
use super::{Outcome, beyond, in_time, run};
use trellis_meter::{Meter, Progress, Stats};

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Leave out what cannot be reached by the state equation.
    pub prune: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { prune: true }
    }
}

/// Can a target be covered?
pub fn check(system: &System, options: &Options, meter: &mut Meter) -> Outcome {
    let mut search = Search {
        system,
        equation: options.prune.then(|| Equation::new(system)),
        basis: Basis::default(),
        from: vec![],
        waiting: BinaryHeap::new(),
        stats: Stats::default(),
    };
    let verdict = search.run(meter).unwrap_or_else(Verdict::Unknown);
    Outcome::new(verdict, search.stats)
}

struct Search<'s> {
    system: &'s System,
    equation: Option<Equation<'s>>,
    basis: Basis,
    /// For each vector, by its number, the rule that leads from it to another; nothing for targets.
    from: Vec<Option<(RuleId, u32)>>,
    /// The smaller ones first: they lead to more, and are soonest below others.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    stats: Stats,
}

impl Search<'_> {
    fn run(&mut self, meter: &mut Meter) -> Result<Verdict, Reason> {
        for t in &self.system.target {
            if let Some(found) = self.add(t.clone(), None, meter)? {
                return Ok(found);
            }
        }
        let (raisers, limits) = (self.system.raisers(), meter.clone());
        let mut rules = vec![];
        while let Some(Reverse((_, id))) = self.waiting.pop() {
            let Some(m) = self.basis.get(id).cloned() else { continue };
            self.stats.expanded += 1;
            let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
            meter.check(&progress)?;
            in_time(&limits)?;
            rules.clear();
            rules.extend(m.iter().flat_map(|(v, _)| raisers[v as usize].iter().copied()));
            rules.sort_unstable();
            rules.dedup();
            for &r in &rules {
                self.stats.steps += 1;
                for p in pre(&self.system.rules[r as usize], &m).map_err(beyond)? {
                    if let Some(found) = self.add(p, Some((r, id)), meter)? {
                        return Ok(found);
                    }
                }
            }
        }
        self.stats.stored = self.basis.len() as u64;
        let bounds = self.equation.take().map_or(vec![], Equation::into_bounds);
        Ok(Verdict::Safe(Certificate::Above { bounds, basis: self.basis.iter().cloned().collect() }))
    }

    /// Takes in a vector from which a target can be covered.
    fn add(&mut self, v: Vector, from: Option<(RuleId, u32)>, meter: &Meter) -> Result<Option<Verdict>, Reason> {
        if self.basis.below(&v).is_some() {
            self.stats.covered += 1;
            return Ok(None);
        }
        if self.system.may_start_above(&v) {
            let mut rules = vec![];
            let mut next = from;
            while let Some((r, id)) = next {
                rules.push(r);
                next = self.from[id as usize];
            }
            return Ok(Some(run(self.system, &v, rules)));
        }
        if let Some(equation) = &mut self.equation
            && equation.excludes(&v, meter)?
        {
            return Ok(None);
        }
        let total = v.total();
        if let Some((id, _)) = self.basis.insert_minimal(v) {
            self.stats.added += 1;
            self.from.push(from);
            self.waiting.push(Reverse((total, id)));
        }
        Ok(None)
    }
}
