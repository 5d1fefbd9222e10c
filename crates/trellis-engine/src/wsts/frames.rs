//! Frames: an IC3-style search (Kloos, Majumdar, Niksic, Piskac: Incremental, Inductive Coverability, CAV 2013).
//!
//! Frame `i` is a downward-closed set that contains whatever can be reached in at most `i` steps: all that is at least none of the
//! vectors *blocked* there. A vector that is to be blocked in a frame and has a predecessor in the one before makes that
//! predecessor an obligation of its own; one that has none is made smaller as long as that stays so, and is blocked. When all that
//! is blocked in a frame is blocked in the next one too, the frame is an invariant. It ends for the same reason as backward search
//! (their §4). Frame 0 is the start itself.
//!
//! The loop is its own: obligations are worked off in the order of their frames, and come back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::{Outcome, beyond, in_time, run};
use trellis_meter::{Meter, Progress, Stats};

/// Can a target be covered?
pub fn check(system: &System, meter: &mut Meter) -> Outcome {
    let mut search = Search {
        system,
        raisers: system.raisers(),
        blocked: vec![Basis::default(); 2],
        obligations: vec![],
        limits: meter.clone(),
        stats: Stats::default(),
    };
    let verdict = search.run(meter).unwrap_or_else(Verdict::Unknown);
    Outcome::new(verdict, search.stats)
}

/// Something to be blocked, and how it leads to the target.
struct Obligation {
    vector: Vector,
    next: Option<(RuleId, u32)>,
}

struct Search<'s> {
    system: &'s System,
    raisers: Vec<Vec<RuleId>>,
    /// For each frame what is blocked in it and in no later one; in a frame, whatever is blocked in it or later is missing. The
    /// first is not used.
    blocked: Vec<Basis>,
    obligations: Vec<Obligation>,
    limits: Meter,
    stats: Stats,
}

impl Search<'_> {
    fn run(&mut self, meter: &mut Meter) -> Result<Verdict, Reason> {
        if let Some(t) = self.system.target.iter().find(|t| self.system.may_start_above(t)) {
            return Ok(run(self.system, t, vec![]));
        }
        loop {
            let last = self.blocked.len() - 1;
            for t in &self.system.target {
                if let Some(found) = self.block(t, last, meter)? {
                    return Ok(found);
                }
            }
            self.blocked.push(Basis::default());
            if let Some(basis) = self.push()? {
                self.stats.stored = basis.len() as u64;
                return Ok(Verdict::Safe(Certificate::Above { bounds: vec![], basis }));
            }
        }
    }

    /// Is nothing that is at least this in the frame?
    fn is_blocked(&self, v: &Vector, frame: usize) -> bool {
        match frame {
            0 => !self.system.may_start_above(v),
            _ => self.blocked[frame..].iter().any(|b| b.below(v).is_some()),
        }
    }

    /// A predecessor of what is at least this that is in the frame, and not at least this itself.
    fn predecessor(&self, v: &Vector, frame: usize) -> Result<Option<(RuleId, Vector)>, Reason> {
        // What a rule cannot raise it leads to only from above.
        let mut rules: Vec<RuleId> = v.iter().flat_map(|(x, _)| self.raisers[x as usize].iter().copied()).collect();
        rules.sort_unstable();
        rules.dedup();
        for r in rules {
            for p in pre(&self.system.rules[r as usize], v).map_err(beyond)? {
                if !v.leq(&p) && !self.is_blocked(&p, frame) {
                    return Ok(Some((r, p)));
                }
            }
        }
        Ok(None)
    }

    /// Blocks a vector in a frame, or finds a run to it.
    fn block(&mut self, v: &Vector, frame: usize, meter: &mut Meter) -> Result<Option<Verdict>, Reason> {
        self.obligations.clear();
        self.obligations.push(Obligation { vector: v.clone(), next: None });
        // Early frames first.
        let mut waiting = BinaryHeap::from([(Reverse(frame), 0)]);
        while let Some((Reverse(frame), id)) = waiting.pop() {
            self.stats.expanded += 1;
            meter.check(&Progress { waiting: waiting.len(), stats: self.stats })?;
            in_time(&self.limits)?;
            let v = self.obligations[id as usize].vector.clone();
            if self.is_blocked(&v, frame) {
                self.stats.covered += 1;
                continue;
            }
            let Some((rule, p)) = self.predecessor(&v, frame - 1)? else {
                let v = self.smaller(v, frame)?;
                self.stats.refinements += 1;
                self.blocked[frame].insert_minimal(v);
                continue;
            };
            self.stats.added += 1;
            let start = self.system.may_start_above(&p).then(|| p.clone());
            let new = self.obligations.len() as u32;
            self.obligations.push(Obligation { vector: p, next: Some((rule, id)) });
            if let Some(start) = start {
                let mut rules = vec![];
                let mut at = new;
                while let Some((rule, next)) = self.obligations[at as usize].next {
                    rules.push(rule);
                    at = next;
                }
                return Ok(Some(run(self.system, &start, rules)));
            }
            waiting.push((Reverse(frame - 1), new));
            waiting.push((Reverse(frame), id));
        }
        Ok(None)
    }

    /// A vector that is blocked, made as small as it can be with numbers tried from zero.
    fn smaller(&self, mut v: Vector, frame: usize) -> Result<Vector, Reason> {
        for (x, n) in v.clone().iter() {
            for less in [0, n / 2, n - 1] {
                in_time(&self.limits)?;
                if less >= v.get(x) {
                    break;
                }
                let others = v.iter().filter(|e| e.0 != x).chain([(x, less)]);
                let w = Vector::new(others.collect());
                if !self.system.may_start_above(&w) && self.predecessor(&w, frame - 1)?.is_none() {
                    v = w;
                    break;
                }
            }
        }
        Ok(v)
    }

    /// Blocks in later frames what can be blocked there; an invariant, if a frame has become the same as the next.
    fn push(&mut self) -> Result<Option<Vec<Vector>>, Reason> {
        for frame in 1..self.blocked.len() - 1 {
            let mut stay = Basis::default();
            let here = std::mem::take(&mut self.blocked[frame]);
            let vectors: Vec<Vector> = here.iter().cloned().collect();
            // What stands beside a vector counts for it while it is tried.
            self.blocked[frame] = here;
            for v in vectors {
                in_time(&self.limits)?;
                if self.blocked[frame + 1..].iter().any(|b| b.below(&v).is_some()) {
                    continue;
                }
                if self.predecessor(&v, frame)?.is_none() {
                    self.blocked[frame + 1].insert_minimal(v);
                } else {
                    stay.insert_minimal(v);
                }
            }
            self.blocked[frame] = stay;
            if self.blocked[frame].is_empty() {
                return Ok(Some(
                    Basis::minimal(self.blocked[frame + 1..].iter().flat_map(Basis::iter).cloned())
                        .iter()
                        .cloned()
                        .collect(),
                ));
            }
        }
        Ok(None)
    }
}
