//! Evidence about counter systems: runs are replayed, invariants are checked by exact set operations.
//!
//! A certificate ([`trellis_model::counter::evidence`]) is a set of states; here it is checked that the start is in it, that no rule
//! leads out of it, and that no target is in it. The questions come down to comparing vectors and adding up weights: no solver is
//! needed, and nothing of what the engines compute with. Upper bounds in guards may be forgotten on the way (whoever has too many loses some, see [`trellis_model::counter`]):
//! what is closed even so is closed. Where a certificate fixes numbers they are not forgotten, and what rules do to it is found with
//! the reference interpreter alone ([`interpret::step`]).

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::counter::evidence::{Bound, Certificate, Trace};
use trellis_model::counter::interpret;
use trellis_model::counter::{OMEGA, Overflow, Rule, RuleId, System, Var, Vector};

/// What is wrong with evidence about a counter system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It mentions a variable that there is not.
    Malformed,
    /// The run is none.
    Run(interpret::Error),
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
    /// A number that this rule tests from above, or that such a number is computed from, may be smaller than the certificate says.
    Loose(RuleId),
    /// The system has no target, so there is nothing to prove.
    NothingAsked,
    /// Not decided.
    Overflow(Overflow),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed => write!(f, "it is not about this system"),
            Rejection::Run(mistake) => write!(f, "{mistake}"),
            Rejection::Harmless => write!(f, "the run does not cover a target"),
            Rejection::Start => write!(f, "the system may start outside the invariant"),
            Rejection::Step(r) => write!(f, "rule {} may lead out of the invariant", r + 1),
            Rejection::Target(t) => write!(f, "target {} is inside the invariant", t + 1),
            Rejection::Bound(b) => write!(f, "weighted sum {} bounds nothing", b + 1),
            Rejection::Grows(b, r) => write!(f, "rule {} may break the bound on weighted sum {}", r + 1, b + 1),
            Rejection::Loose(r) => write!(f, "rule {} depends on a number that is not fixed", r + 1),
            Rejection::NothingAsked => write!(f, "there is no target, so nothing was asked"),
            Rejection::Overflow(why) => write!(f, "not decided: {why}"),
        }
    }
}

impl std::error::Error for Rejection {}

impl From<Overflow> for Rejection {
    fn from(why: Overflow) -> Rejection {
        Rejection::Overflow(why)
    }
}

/// Does the run lead to a state that covers a target?
pub fn replay(system: &System, trace: &Trace) -> Result<(), Rejection> {
    let end = interpret::walk(system, trace, |_| {}).map_err(Rejection::Run)?;
    if interpret::is_bad(system, &end) { Ok(()) } else { Err(Rejection::Harmless) }
}

/// Is the certificate a set that contains the start, that no rule leaves, and that no target is in?
pub fn certify(system: &System, certificate: &Certificate) -> Result<(), Rejection> {
    if system.target.is_empty() {
        return Err(Rejection::NothingAsked);
    }
    match certificate {
        Certificate::Above { bounds, basis } => {
            let known = |v: &Vector| v.entries().last().is_none_or(|e| (e.0 as usize) < system.names.len());
            if !basis.iter().all(known) {
                return Err(Rejection::Malformed);
            }
            let limits =
                bounds.iter().enumerate().map(|(n, b)| Limit::checked(system, b, n)).collect::<Result<Vec<_>, _>>()?;
            above(system, &limits, basis)
        }
        Certificate::Below(tops) => below(system, tops),
        Certificate::Exact { fixed, tops } => exactly(system, fixed, tops),
    }
}

/// A sum with positive weights, and what it cannot exceed.
struct Limit {
    weights: Vec<(Var, i128)>,
    most: i128,
}

impl Limit {
    /// Checks the bound on its own.
    fn checked(system: &System, bound: &Bound, number: usize) -> Result<Limit, Rejection> {
        let known = |v: &Var| (*v as usize) < system.names.len();
        let traps = bound.traps.iter().flat_map(|t| &t.1);
        if !bound.weights.iter().map(|w| &w.0).chain(traps).all(known) {
            return Err(Rejection::Malformed);
        }
        let none = Err(Rejection::Bound(number));
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
            most = k.checked_mul(n.into()).and_then(|n| most.checked_add(n)).ok_or(Overflow::Numbers)?;
        }
        for (r, rule) in system.rules.iter().enumerate() {
            if !never_grows(rule, &all)? {
                return Err(Rejection::Grows(number, r as RuleId));
            }
        }
        for (factor, trap) in &bound.traps {
            let inside = |v: &Var| trap.contains(v);
            if !trap.iter().any(|v| system.initial[*v as usize].low >= 1) {
                return none;
            }
            if let Some(r) = system.rules.iter().position(|rule| !keeps_one(rule, trap, &inside)) {
                return Err(Rejection::Grows(number, r as RuleId));
            }
            most -= i128::from(*factor);
        }
        Ok(Limit { weights, most })
    }

    /// Can nothing that is at least this be reached?
    fn excludes(&self, v: &Vector) -> Result<bool, Overflow> {
        let mut sum: i128 = 0;
        for (x, n) in v.iter() {
            if let Ok(i) = self.weights.binary_search_by_key(&x, |w| w.0) {
                let product = self.weights[i].1.checked_mul(n.into());
                sum = product.and_then(|p| sum.checked_add(p)).ok_or(Overflow::Numbers)?;
            }
        }
        Ok(sum > self.most)
    }
}

/// The change of a weighted sum is itself a sum over what was there before; wherever the rule can be taken, it is not positive.
fn never_grows(rule: &Rule, weights: &[i128]) -> Result<bool, Overflow> {
    let mut columns: Vec<(Var, i128)> = vec![];
    let mut change: i128 = 0;
    for (y, u) in &rule.updates {
        let k = weights[*y as usize];
        change = k.checked_mul(u.constant.into()).and_then(|n| change.checked_add(n)).ok_or(Overflow::Numbers)?;
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
        change = k.checked_mul(n.into()).and_then(|n| change.checked_add(n)).ok_or(Overflow::Numbers)?;
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

fn leq(a: &Vector, b: &Vector) -> bool {
    a.iter().all(|(x, n)| n <= b.get(x))
}

/// Vectors, by the variables that they mention.
struct Many<'a> {
    all: &'a [Vector],
    mention: Vec<Vec<usize>>,
}

impl<'a> Many<'a> {
    fn new(system: &System, all: &'a [Vector]) -> Result<Many<'a>, Rejection> {
        let mut mention = vec![vec![]; system.names.len()];
        for (i, v) in all.iter().enumerate() {
            for (x, _) in v.iter() {
                mention.get_mut(x as usize).ok_or(Rejection::Malformed)?.push(i);
            }
        }
        Ok(Many { all, mention })
    }

    /// Is one of them at least this? It mentions all that this mentions.
    fn above(&self, v: &Vector) -> bool {
        match v.iter().map(|(x, _)| &self.mention[x as usize]).min_by_key(|list| list.len()) {
            Some(list) => list.iter().any(|&i| leq(v, &self.all[i])),
            None => !self.all.is_empty(),
        }
    }
}

/// What is above one of some vectors, or breaks a limit. Whatever is above something in it is in it too.
struct Outside<'a> {
    limits: &'a [Limit],
    all: &'a [Vector],
    /// Each under one of its variables: the one that fewest mention. What is below another mentions nothing else.
    filed: Vec<Vec<usize>>,
    has_zero: bool,
}

impl<'a> Outside<'a> {
    fn new(system: &System, limits: &'a [Limit], all: &'a [Vector]) -> Result<Outside<'a>, Rejection> {
        let mention = Many::new(system, all)?.mention;
        let mut filed = vec![vec![]; system.names.len()];
        let mut has_zero = false;
        for (i, v) in all.iter().enumerate() {
            match v.iter().map(|e| e.0 as usize).min_by_key(|&x| mention[x].len()) {
                Some(x) => filed[x].push(i),
                None => has_zero = true,
            }
        }
        Ok(Outside { limits, all, filed, has_zero })
    }

    fn has(&self, v: &Vector) -> Result<bool, Overflow> {
        let below = |x: Var| self.filed[x as usize].iter().any(|&i| leq(&self.all[i], v));
        if self.has_zero || v.iter().any(|(x, _)| below(x)) {
            return Ok(true);
        }
        for l in self.limits {
            if l.excludes(v)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The set of what keeps the limits and is above no vector of the basis.
fn above(system: &System, limits: &[Limit], basis: &[Vector]) -> Result<(), Rejection> {
    let outside = Outside::new(system, limits, basis)?;
    for (n, t) in system.target.iter().enumerate() {
        if !outside.has(t)? {
            return Err(Rejection::Target(n));
        }
    }
    // The start can be as large as its upper bounds are.
    let may_start = |v: &Vector| v.iter().all(|(x, n)| system.initial[x as usize].high.is_none_or(|h| n <= h));
    if basis.iter().any(may_start) {
        return Err(Rejection::Start);
    }
    // What a rule does not set to more than there was, it cannot lead above.
    let mut raise: Vec<Vec<RuleId>> = vec![vec![]; system.names.len()];
    for (r, rule) in system.rules.iter().enumerate() {
        for (y, u) in &rule.updates {
            let lowers = u.constant <= 0 && u.sources.iter().all(|x| x == y);
            if !lowers {
                raise[*y as usize].push(r as RuleId);
            }
        }
    }
    for m in basis {
        let mut rules: Vec<RuleId> = m.iter().flat_map(|(y, _)| raise[y as usize].iter().copied()).collect();
        rules.sort_unstable();
        rules.dedup();
        for r in rules {
            if leads_above(&system.rules[r as usize], m, &outside)? {
                return Err(Rejection::Step(r));
            }
        }
    }
    Ok(())
}

/// More states than this are not looked at for one rule and one vector.
const LOOKED_AT: usize = 1_000_000;
/// No number in a state that is looked at is larger.
const LARGE: i128 = 1 << 50;

/// Does a rule lead from a state that is not outside to one that is at least `m`?
///
/// Such a state has at least certain numbers, and certain sums of its numbers are large enough. From the least numbers on, those that are
/// in a sum that is too small are raised one by one, unless what there is already is outside: then all that is larger is, too.
fn leads_above(rule: &Rule, m: &Vector, outside: &Outside<'_>) -> Result<bool, Overflow> {
    let mut least: Vec<(Var, u64)> = rule.guards.iter().map(|(x, g)| (*x, g.low)).collect();
    least.extend(m.iter().filter(|(y, _)| rule.updates.iter().all(|u| u.0 != *y)));
    let mut sums: Vec<(&[Var], i128)> = vec![];
    for (y, u) in &rule.updates {
        let needed = i128::from(m.get(*y)) - i128::from(u.constant);
        if needed > LARGE {
            return Err(Overflow::Numbers);
        }
        match u.sources[..] {
            _ if needed <= 0 => {}
            [] => return Ok(false),
            [x] => least.push((x, needed as u64)),
            ref several => sums.push((several, needed)),
        }
    }
    let mut seen = FxHashSet::default();
    let mut waiting = vec![Vector::new(least)];
    while let Some(v) = waiting.pop() {
        if rule.guards.iter().any(|(x, g)| g.high.is_some_and(|h| v.get(*x) > h)) || outside.has(&v)? {
            continue;
        }
        let sum = |of: &[Var]| of.iter().map(|x| i128::from(v.get(*x))).sum::<i128>();
        let Some((sources, _)) = sums.iter().find(|(of, needed)| sum(of) < *needed) else { return Ok(true) };
        for &x in *sources {
            let more = Vector::new(v.iter().chain([(x, v.get(x) + 1)]).collect());
            if seen.insert(more.clone()) {
                waiting.push(more);
            }
        }
        if seen.len() > LOOKED_AT {
            return Err(Overflow::Many);
        }
    }
    Ok(false)
}

/// The set of what is below a vector.
fn below(system: &System, tops: &[Vector]) -> Result<(), Rejection> {
    let inside = Many::new(system, tops)?;
    let start: Vec<u64> = system.initial.iter().map(|i| i.high.unwrap_or(OMEGA)).collect();
    if !inside.above(&Vector::dense(&start)) {
        return Err(Rejection::Start);
    }
    if let Some(n) = system.target.iter().position(|t| inside.above(t)) {
        return Err(Rejection::Target(n));
    }
    for top in tops {
        for (r, rule) in system.rules.iter().enumerate() {
            if furthest(rule, top)?.is_some_and(|after| !inside.above(&after)) {
                return Err(Rejection::Step(r as RuleId));
            }
        }
    }
    Ok(())
}

/// At least what a rule leads to from states that are at most `top`, if it can be taken in one. Numbers that a guard bounds from above are
/// at most that bound where it is taken.
fn furthest(rule: &Rule, top: &Vector) -> Result<Option<Vector>, Overflow> {
    if rule.guards.iter().any(|(x, g)| g.high.is_some_and(|h| h < g.low) || top.get(*x) < g.low) {
        return Ok(None);
    }
    let most = |x: Var| {
        let high = rule.guards.iter().filter(|g| g.0 == x).filter_map(|g| g.1.high);
        high.fold(top.get(x), u64::min)
    };
    let mut after: Vec<(Var, u64)> = top.iter().map(|(x, _)| (x, most(x))).collect();
    after.retain(|(x, _)| rule.updates.iter().all(|u| u.0 != *x));
    for (y, u) in &rule.updates {
        let numbers: Vec<u64> = u.sources.iter().map(|x| most(*x)).collect();
        let sum = numbers.iter().map(|&n| i128::from(n)).sum::<i128>() + i128::from(u.constant);
        match sum {
            _ if numbers.contains(&OMEGA) => after.push((*y, OMEGA)),
            ..0 => return Ok(None),
            0..=LARGE => after.push((*y, sum as u64)),
            _ => return Err(Overflow::Numbers),
        }
    }
    Ok(Some(Vector::new(after)))
}

/// More starts than this are not gone through.
const STARTS: usize = 1_000_000;
/// No number that is not unlimited is larger; rules add and subtract at most 2^50.
const MOST: u64 = 1 << 51;
/// Stands for what has no limit: whatever a rule subtracts, it is still more than [`MOST`].
const UNLIMITED: u64 = 1 << 54;

/// The set of what is below a vector, and the same in what is fixed.
///
/// Upper bounds, and what they are computed from, must be fixed. Then each rule leads furthest from the vector itself, and one step of
/// the interpreter says how far. A number without limit is taken as one so large that nothing the rule does is noticed: a rule that
/// reads it leads to another such number, which counts as unlimited again.
fn exactly(system: &System, fixed: &[Var], tops: &[Vector]) -> Result<(), Rejection> {
    let known = |v: Var| (v as usize) < system.names.len();
    if !fixed.iter().all(|v| known(*v)) || tops.iter().flat_map(Vector::iter).any(|(v, _)| !known(v)) {
        return Err(Rejection::Malformed);
    }
    let mut is_fixed = vec![false; system.names.len()];
    fixed.iter().for_each(|v| is_fixed[*v as usize] = true);
    for (r, rule) in system.rules.iter().enumerate() {
        let tested = rule.guards.iter().filter(|g| g.1.high.is_some()).map(|g| g.0);
        let read =
            rule.updates.iter().filter(|(v, _)| is_fixed[*v as usize]).flat_map(|(_, u)| u.sources.iter().copied());
        if tested.chain(read).any(|v| !is_fixed[v as usize]) {
            return Err(Rejection::Loose(r as RuleId));
        }
    }
    let mut groups: FxHashMap<Vec<u64>, Vec<Vec<u64>>> = FxHashMap::default();
    let part = |state: &[u64]| fixed.iter().map(|v| state[*v as usize]).collect::<Vec<u64>>();
    for top in tops {
        let mut state = vec![0; system.names.len()];
        for (v, n) in top.iter() {
            match n {
                OMEGA if !is_fixed[v as usize] => state[v as usize] = UNLIMITED,
                n if n <= MOST => state[v as usize] = n,
                _ => return Err(Rejection::Malformed),
            }
        }
        groups.entry(part(&state)).or_default().push(state);
    }
    let inside = |state: &[u64]| {
        let above = |top: &Vec<u64>| state.iter().zip(top).all(|(a, b)| a <= b || *b == UNLIMITED);
        groups.get(&part(state)).is_some_and(|all| all.iter().any(above))
    };
    starts(system, &is_fixed, &inside)?;
    for top in groups.values().flatten() {
        if let Some(n) = system.target.iter().position(|t| t.below(top)) {
            return Err(Rejection::Target(n));
        }
        for r in 0..system.rules.len() as RuleId {
            let Some(mut after) = interpret::step(system, r, top)? else { continue };
            after.iter_mut().filter(|n| **n > MOST).for_each(|n| *n = UNLIMITED);
            if !inside(&after) {
                return Err(Rejection::Step(r));
            }
        }
    }
    Ok(())
}

/// Is every start inside?
fn starts(system: &System, is_fixed: &[bool], inside: &dyn Fn(&[u64]) -> bool) -> Result<(), Rejection> {
    // The largest in what is not fixed, all of them in what is.
    let most = system.initial.iter().map(|i| i.high.unwrap_or(UNLIMITED));
    let mut all: Vec<Vec<u64>> = vec![most.collect()];
    for (v, start) in system.initial.iter().enumerate().filter(|(v, _)| is_fixed[*v]) {
        let Some(high) = start.high else { return Err(Rejection::Start) };
        let several = usize::try_from(high - start.low).ok().and_then(|n| n.checked_add(1)?.checked_mul(all.len()));
        if several.is_none_or(|n| n > STARTS) {
            return Err(Rejection::Overflow(Overflow::Many));
        }
        let with = |state: &Vec<u64>, n: u64| {
            let mut state = state.clone();
            state[v] = n;
            state
        };
        all = all.iter().flat_map(|state| (start.low..=high).map(move |n| with(state, n))).collect();
    }
    if all.iter().all(|state| inside(state)) { Ok(()) } else { Err(Rejection::Start) }
}
