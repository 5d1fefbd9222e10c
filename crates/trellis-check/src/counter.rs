//! Evidence about counter systems: runs are replayed, invariants are checked by exact set operations.
//!
//! A certificate ([`trellis_model::counter::evidence`]) is a set of states; here it is checked that the start is in it, that no rule
//! leads out of it, and that no target is in it. The questions come down to comparing vectors and adding up weights: no solver is
//! needed. Upper bounds in guards may be forgotten on the way (whoever has too many loses some, see [`trellis_model::counter`]):
//! what is closed even so is closed.

use std::fmt;

use trellis_model::counter::evidence::{Bound, Certificate, Trace};
use trellis_model::counter::interpret::{self, Mistake};
use trellis_model::counter::post::post;
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, Beyond, OMEGA, Rule, RuleId, System, Var, Vector};

/// What is wrong with evidence about a counter system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It mentions a variable that there is not.
    Malformed,
    /// The run is none.
    Run(Mistake),
    /// The run does not end above a target.
    Harmless,
    /// The start need not be in the set.
    Start,
    /// This rule may lead out of the set.
    Step(RuleId),
    /// This target, by position, is not excluded.
    Target(usize),
    /// This bound, by position, is none: at the start there is no limit, or a weight is negative.
    Bound(usize),
    /// This rule may break the bound at this position, or empty one of its traps.
    Grows(usize, RuleId),
    /// Not decided.
    Beyond(Beyond),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Malformed => write!(f, "it is not about this system"),
            Refusal::Run(mistake) => write!(f, "{mistake}"),
            Refusal::Harmless => write!(f, "the run does not cover a target"),
            Refusal::Start => write!(f, "the system may start outside the invariant"),
            Refusal::Step(r) => write!(f, "rule {} may lead out of the invariant", r + 1),
            Refusal::Target(t) => write!(f, "target {} is inside the invariant", t + 1),
            Refusal::Bound(b) => write!(f, "weighted sum {} bounds nothing", b + 1),
            Refusal::Grows(b, r) => write!(f, "rule {} may break the bound on weighted sum {}", r + 1, b + 1),
            Refusal::Beyond(why) => write!(f, "not decided: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Beyond> for Refusal {
    fn from(why: Beyond) -> Refusal {
        Refusal::Beyond(why)
    }
}

/// Does the run lead to a state that covers a target?
pub fn replay(system: &System, trace: &Trace) -> Result<(), Refusal> {
    let end = interpret::walk(system, trace, |_| {}).map_err(Refusal::Run)?;
    if interpret::is_bad(system, &end) { Ok(()) } else { Err(Refusal::Harmless) }
}

/// Is the certificate a set that contains the start, that no rule leaves, and that no target is in?
pub fn certify(system: &System, certificate: &Certificate) -> Result<(), Refusal> {
    match certificate {
        Certificate::Above { bounds, basis } => {
            let known = |v: &Vector| v.entries().last().is_none_or(|e| (e.0 as usize) < system.names.len());
            if !basis.iter().all(known) {
                return Err(Refusal::Malformed);
            }
            let limits =
                bounds.iter().enumerate().map(|(n, b)| Limit::checked(system, b, n)).collect::<Result<Vec<_>, _>>()?;
            above(system, &limits, basis)
        }
        Certificate::Below(tops) => below(system, tops),
    }
}

/// A sum with positive weights, and what it cannot exceed.
struct Limit {
    weights: Vec<(Var, i128)>,
    most: i128,
}

impl Limit {
    /// Checks the bound on its own.
    fn checked(system: &System, bound: &Bound, number: usize) -> Result<Limit, Refusal> {
        let known = |v: &Var| (*v as usize) < system.names.len();
        let traps = bound.traps.iter().flat_map(|t| &t.1);
        if !bound.weights.iter().map(|w| &w.0).chain(traps).all(known) {
            return Err(Refusal::Malformed);
        }
        let none = Err(Refusal::Bound(number));
        let weights = bound.combined();
        if weights.iter().any(|w| w.1 < 0) || bound.traps.iter().any(|t| t.0 <= 0) {
            return none;
        }
        let mut all = vec![0; system.names.len()];
        bound.weights.iter().for_each(|(v, k)| all[*v as usize] += i128::from(*k));
        // The most that the start allows.
        let mut most: i128 = 0;
        for (k, start) in all.iter().zip(&system.initial) {
            let n = match k.signum() {
                0 => continue,
                1 => match start.high {
                    Some(high) => high,
                    None => return none,
                },
                _ => start.low,
            };
            most = k.checked_mul(n.into()).and_then(|n| most.checked_add(n)).ok_or(Beyond::Numbers)?;
        }
        for (r, rule) in system.rules.iter().enumerate() {
            if !never_grows(rule, &all)? {
                return Err(Refusal::Grows(number, r as RuleId));
            }
        }
        for (factor, trap) in &bound.traps {
            let inside = |v: &Var| trap.contains(v);
            if !trap.iter().any(|v| system.initial[*v as usize].low >= 1) {
                return none;
            }
            if let Some(r) = system.rules.iter().position(|rule| !keeps_one(rule, trap, &inside)) {
                return Err(Refusal::Grows(number, r as RuleId));
            }
            most -= i128::from(*factor);
        }
        Ok(Limit { weights, most })
    }

    /// Can nothing that is at least this be reached?
    fn excludes(&self, v: &Vector) -> Result<bool, Beyond> {
        let mut sum: i128 = 0;
        for (x, n) in v.iter() {
            if let Ok(i) = self.weights.binary_search_by_key(&x, |w| w.0) {
                let product = self.weights[i].1.checked_mul(n.into());
                sum = product.and_then(|p| sum.checked_add(p)).ok_or(Beyond::Numbers)?;
            }
        }
        Ok(sum > self.most)
    }
}

/// The change of a weighted sum is itself a sum over what was there before; wherever the rule can be taken, it is not positive.
fn never_grows(rule: &Rule, weights: &[i128]) -> Result<bool, Beyond> {
    let mut columns: Vec<(Var, i128)> = vec![];
    let mut change: i128 = 0;
    for (y, u) in &rule.updates {
        let k = weights[*y as usize];
        change = k.checked_mul(u.constant.into()).and_then(|n| change.checked_add(n)).ok_or(Beyond::Numbers)?;
        columns.push((*y, -k));
        columns.extend(u.sources.iter().map(|x| (*x, k)));
    }
    columns.sort_unstable_by_key(|c| c.0);
    let least = rule.least();
    for column in columns.chunk_by(|a, b| a.0 == b.0) {
        let (x, k) = (column[0].0, column.iter().map(|c| c.1).sum::<i128>());
        let n = match k.signum() {
            0 => continue,
            1 => match rule.guard(x).high {
                Some(high) => high,
                None => return Ok(false),
            },
            _ => least.get(x),
        };
        change = k.checked_mul(n.into()).and_then(|n| change.checked_add(n)).ok_or(Beyond::Numbers)?;
    }
    Ok(change <= 0)
}

/// If something was in the trap, something is in it after the rule.
fn keeps_one(rule: &Rule, trap: &[Var], inside: &dyn Fn(&Var) -> bool) -> bool {
    let least = rule.least();
    // Some variable of it is certainly not zero afterwards, …
    let certain = trap.iter().any(|y| match rule.update(*y) {
        None => least.get(*y) >= 1,
        Some(u) => {
            let sum: i128 = u.sources.iter().map(|x| i128::from(least.get(*x))).sum();
            sum + i128::from(u.constant) >= 1
        }
    });
    // … or whichever was not zero is added up in one.
    let kept = |x: &Var| {
        rule.update(*x).is_none()
            || rule.updates.iter().any(|(y, u)| inside(y) && u.constant >= 0 && u.sources.contains(x))
    };
    certain || trap.iter().all(kept)
}

/// The set of what keeps the limits and is above no vector of the basis.
fn above(system: &System, limits: &[Limit], basis: &[Vector]) -> Result<(), Refusal> {
    let outside = Basis::minimal(basis.iter().cloned());
    let excluded = |v: &Vector| -> Result<bool, Beyond> {
        if outside.below(v).is_some() {
            return Ok(true);
        }
        for l in limits {
            if l.excludes(v)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    for (n, t) in system.target.iter().enumerate() {
        if !excluded(t)? {
            return Err(Refusal::Target(n));
        }
    }
    if outside.iter().any(|v| system.may_start_above(v)) {
        return Err(Refusal::Start);
    }
    let raisers = system.raisers();
    for m in outside.iter() {
        // From outside of the others' `pre` one cannot get above `m` without being above it already.
        let mut rules: Vec<RuleId> = m.iter().flat_map(|(v, _)| raisers[v as usize].iter().copied()).collect();
        rules.sort_unstable();
        rules.dedup();
        for r in rules {
            for p in pre(&system.rules[r as usize], m)? {
                if !excluded(&p)? {
                    return Err(Refusal::Step(r));
                }
            }
        }
    }
    Ok(())
}

/// The set of what is below a vector.
fn below(system: &System, tops: &[Vector]) -> Result<(), Refusal> {
    if tops.iter().any(|t| t.entries().last().is_some_and(|e| e.0 as usize >= system.names.len())) {
        return Err(Refusal::Malformed);
    }
    let mut inside = Basis::default();
    tops.iter().for_each(|t| drop(inside.insert_maximal(t.clone())));
    let start: Vec<u64> = system.initial.iter().map(|i| i.high.unwrap_or(OMEGA)).collect();
    if inside.above(&Vector::dense(&start)).is_none() {
        return Err(Refusal::Start);
    }
    if let Some(n) = system.target.iter().position(|t| inside.above(t).is_some()) {
        return Err(Refusal::Target(n));
    }
    for top in inside.iter() {
        for (r, rule) in system.rules.iter().enumerate() {
            if post(rule, top)?.is_some_and(|after| inside.above(&after).is_none()) {
                return Err(Refusal::Step(r as RuleId));
            }
        }
    }
    Ok(())
}
