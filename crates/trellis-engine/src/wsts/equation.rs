//! The state equation: what rules add and take away, whatever their order.
//!
//! A state that can be reached is the start plus the effects of the rules taken, so many times each. If no rational numbers of times
//! lead above a vector, neither does any run; the proof (Farkas) is a weighted sum of the variables that no rule increases. Traps,
//! sets of variables out of which no rule takes the last, refine it (Esparza, Ledesma-Garza, Majumdar, Meyer, Niksic, CAV 2014): a
//! solution that leaves a trap empty is none.
//!
//! A rule that transfers has no fixed effect. Here it has its effect on the smallest state in which it can be taken, and for each
//! variable that it moves another one: that of moving one more, any number of times. So every system has an equation, though
//! for transfers it says little.
//!
//! The loop is its own: a linear program is refined until it has no solution; nothing is explored.

use rustc_hash::FxHashMap;
use trellis_model::counter::evidence::{Bound, Certificate, Verdict};
use trellis_model::counter::{Rule, System, Var, Vector};
use trellis_model::evidence::Reason;
use trellis_smt::rows::{Name, Rows, Solved};

use super::Outcome;
use trellis_meter::{Meter, Progress, Stats};

/// So often the equation is asked to exclude something, and so often more for each time that it did. (Measured: with more patience
/// systems with transfers, about which the equation says little, take longer; with less, some nets do.)
const PATIENCE: (u64, u64) = (20, 5);
/// So much work, as [`Rows::work`] counts it, is put into that, and so much more for each time that it is asked. (Measured: with this
/// much the nets are still done that it decides at once; some whose linear programs are slow, and exclude nothing, go on with the search.)
const WORK: (u64, u64) = (20_000_000, 2_000);
/// So many traps are added for one vector.
const TRAPS: usize = 40;

/// Can a target be covered? Answers SAFE or UNKNOWN.
pub fn check(system: &System, meter: &mut Meter) -> Outcome {
    let mut equation = Equation::new(system);
    let mut stats = Stats::default();
    for t in &system.target {
        stats.added += 1;
        let excluded =
            meter.ask(&Progress { waiting: 0, stats }).map_err(Reason::from).and_then(|()| equation.ask(t, &*meter));
        let why = match excluded {
            Ok(true) => continue,
            Ok(false) => Reason::Stuck("the state equation has a solution".into()),
            Err(why) => why,
        };
        return Outcome::new(Verdict::Unknown(why), stats);
    }
    let bounds = equation.into_bounds();
    stats.stored = bounds.len() as u64;
    Outcome::new(Verdict::Safe(Certificate::Above { bounds, basis: vec![] }), stats)
}

/// A bound, and what it says of vectors.
struct Known {
    bound: Bound,
    weights: Vec<(Var, i128)>,
    most: i128,
    used: bool,
}

/// The equation of a system, and what has been proved with it.
pub struct Equation<'s> {
    system: &'s System,
    rows: Rows,
    /// For each variable its row, and what must be added to it: the start, where that is one number.
    places: Vec<(Name, i64)>,
    forms: Vec<Vec<(Name, i64)>>,
    least: Vec<Vector>,
    traps: Vec<(Name, Vec<Var>)>,
    known: Vec<Known>,
    by_row: FxHashMap<Name, Row>,
    calls: u64,
    asked: u64,
    excluded: u64,
}

#[derive(Clone, Copy)]
enum Row {
    Place(Var),
    Trap(usize),
}

impl<'s> Equation<'s> {
    /// Sets it up; invariants that the system claims, and that were checked when it was read, are known from the start.
    pub fn new(system: &'s System) -> Equation<'s> {
        let mut rows = Rows::default();
        let mut forms: Vec<Vec<(Name, i64)>> = vec![vec![]; system.names.len()];
        let mut seen = FxHashMap::default();
        for rule in &system.rules {
            for effect in effects(rule) {
                if !effect.is_empty() && seen.insert(effect.clone(), ()).is_none() {
                    let count = rows.variable(0, None);
                    effect.iter().for_each(|(v, k)| forms[*v as usize].push((count, *k)));
                }
            }
        }
        let mut places = vec![];
        let mut by_row = FxHashMap::default();
        for (v, start) in system.initial.iter().enumerate() {
            let fixed = start.high == Some(start.low);
            if !fixed {
                // Numbers of systems are at most 2^50.
                let first = rows.variable(start.low as i64, start.high.map(|h| h as i64));
                forms[v].push((first, 1));
            }
            let row = rows.row(&forms[v]);
            let add = if fixed { start.low as i64 } else { 0 };
            rows.at_least(row, -add);
            by_row.insert(row, Row::Place(v as Var));
            places.push((row, add));
        }
        let least = system.rules.iter().map(Rule::least).collect();
        let (known, traps) = (vec![], vec![]);
        let mut all =
            Equation { system, rows, places, forms, least, traps, known, by_row, calls: 0, asked: 0, excluded: 0 };
        for weights in &system.claimed {
            all.learn(Bound { weights: weights.clone(), traps: vec![] });
        }
        all
    }

    /// Can nothing at least this be reached? Asks only as long as that has been worth while.
    pub fn excludes(&mut self, v: &Vector, limits: &Meter) -> Result<bool, Reason> {
        if self.is_known(v) {
            return Ok(true);
        }
        self.calls += 1;
        let left = (WORK.0 + WORK.1 * self.calls).saturating_sub(self.rows.work());
        if left == 0 || self.asked > PATIENCE.0 + PATIENCE.1 * self.excluded {
            return Ok(false);
        }
        self.ask_within(v, left, limits)
    }

    fn is_known(&mut self, v: &Vector) -> bool {
        let found = self.known.iter_mut().rev().find(|k| k.excludes(v));
        found.map(|k| k.used = true).is_some()
    }

    /// The same, whatever it takes.
    pub fn ask(&mut self, v: &Vector, limits: &Meter) -> Result<bool, Reason> {
        self.ask_within(v, u64::MAX, limits)
    }

    fn ask_within(&mut self, v: &Vector, work: u64, limits: &Meter) -> Result<bool, Reason> {
        if self.is_known(v) {
            return Ok(true);
        }
        self.asked += 1;
        let wanted: Vec<(Name, i64)> = v
            .iter()
            .map(|(x, n)| {
                let (row, add) = self.places[x as usize];
                (row, n as i64 - add)
            })
            .collect();
        for _ in 0..TRAPS {
            match self.rows.solve_within(&wanted, work, limits) {
                Ok(None) => return Ok(false),
                Ok(Some(Solved::No(factors))) => {
                    let bound = self.bound(&factors);
                    self.excluded += 1;
                    // The bound excludes the vector unless this module is wrong; then it is not used.
                    return Ok(self.learn(bound) && self.is_known(v));
                }
                Ok(Some(Solved::Yes)) => {
                    if !self.add_trap() {
                        return Ok(false);
                    }
                }
                Err(trellis_smt::Reason::Time) => return Err(Reason::Time),
                Err(trellis_smt::Reason::Cancelled) => return Err(Reason::Interrupted),
                // Numbers too large for certificates.
                Err(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    /// What has been proved and used.
    pub fn into_bounds(self) -> Vec<Bound> {
        self.known.into_iter().filter(|k| k.used).map(|k| k.bound).collect()
    }

    fn learn(&mut self, bound: Bound) -> bool {
        let mut most: i128 = 0;
        for (v, k) in &bound.weights {
            let start = self.system.initial[*v as usize];
            let n = if *k < 0 { Some(start.low) } else { start.high };
            let Some(n) = n.and_then(|n| i128::from(*k).checked_mul(n.into())) else { return false };
            let Some(sum) = most.checked_add(n) else { return false };
            most = sum;
        }
        most -= bound.traps.iter().map(|t| i128::from(t.0)).sum::<i128>();
        let weights = bound.combined();
        self.known.push(Known { bound, weights, most, used: false });
        true
    }

    /// The bound behind factors of rows.
    fn bound(&self, factors: &[(Name, i64)]) -> Bound {
        let mut weights: FxHashMap<Var, i64> = FxHashMap::default();
        let mut traps = vec![];
        for (row, factor) in factors {
            match self.by_row.get(row) {
                Some(Row::Place(v)) => *weights.entry(*v).or_default() += factor,
                Some(Row::Trap(t)) => {
                    let trap = &self.traps[*t].1;
                    trap.iter().for_each(|v| *weights.entry(*v).or_default() += factor);
                    traps.push((*factor, trap.clone()));
                }
                // Numbers of times are not negative.
                None => {}
            }
        }
        let mut weights: Vec<(Var, i64)> = weights.into_iter().filter(|w| w.1 != 0).collect();
        weights.sort_unstable();
        Bound { weights, traps }
    }

    /// Looks for a trap that the solution leaves empty, though it is not empty at the start.
    fn add_trap(&mut self) -> bool {
        let mut inside: Vec<bool> = self.places.iter().map(|(row, add)| self.rows.is(*row, -add)).collect();
        loop {
            let mut changed = false;
            for (rule, least) in self.system.rules.iter().zip(&self.least) {
                let at = |v: Var| inside[v as usize];
                let sure = |y: Var| match rule.update(y) {
                    None => least.get(y) >= 1,
                    Some(u) => {
                        u.sources.iter().map(|x| i128::from(least.get(*x))).sum::<i128>() + i128::from(u.constant) >= 1
                    }
                };
                let certain =
                    rule.updates.iter().any(|(y, _)| at(*y) && sure(*y)) || least.iter().any(|(y, _)| at(y) && sure(y));
                if certain {
                    continue;
                }
                let kept =
                    |x: Var| rule.updates.iter().any(|(y, u)| at(*y) && u.constant >= 0 && u.sources.contains(&x));
                let lost: Vec<Var> = rule.updates.iter().map(|u| u.0).filter(|x| at(*x) && !kept(*x)).collect();
                changed |= !lost.is_empty();
                lost.into_iter().for_each(|x| inside[x as usize] = false);
            }
            if !changed {
                break;
            }
        }
        let trap: Vec<Var> = (0..inside.len() as Var).filter(|v| inside[*v as usize]).collect();
        if !trap.iter().any(|v| self.system.initial[*v as usize].low >= 1) {
            return false;
        }
        let mut sum: FxHashMap<Name, i64> = FxHashMap::default();
        let mut start: i64 = 0;
        for v in &trap {
            self.forms[*v as usize].iter().for_each(|(n, k)| *sum.entry(*n).or_default() += k);
            let Some(all) = start.checked_add(self.places[*v as usize].1) else { return false };
            start = all;
        }
        let mut sum: Vec<(Name, i64)> = sum.into_iter().filter(|e| e.1 != 0).collect();
        sum.sort_unstable_by_key(|e| e.0);
        let row = self.rows.row(&sum);
        self.rows.at_least(row, 1 - start);
        self.by_row.insert(row, Row::Trap(self.traps.len()));
        self.traps.push((row, trap));
        true
    }
}

impl Known {
    fn excludes(&self, v: &Vector) -> bool {
        let mut sum: i128 = 0;
        for (x, n) in v.iter() {
            if let Ok(i) = self.weights.binary_search_by_key(&x, |w| w.0) {
                sum = sum.saturating_add(self.weights[i].1.saturating_mul(n.into()));
            }
        }
        sum > self.most
    }
}

/// What a rule may add and take away: on the smallest state, and of each variable that it moves one more.
pub(super) fn effects(rule: &Rule) -> Vec<Vec<(Var, i64)>> {
    let least = rule.least();
    let mut first: Vec<(Var, i64)> = vec![];
    let mut columns: Vec<(Var, Var, i64)> = vec![];
    for (y, u) in &rule.updates {
        let there = u.sources.iter().fold(0_u64, |s, x| s.saturating_add(least.get(*x)));
        let change = i128::from(there) + i128::from(u.constant) - i128::from(least.get(*y));
        first.push((*y, i64::try_from(change).unwrap_or(i64::MAX)));
        columns.push((*y, *y, -1));
        columns.extend(u.sources.iter().map(|x| (*x, *y, 1)));
    }
    first.retain(|e| e.1 != 0);
    let mut all = vec![first];
    columns.sort_unstable_by_key(|c| (c.0, c.1));
    for column in columns.chunk_by(|a, b| a.0 == b.0) {
        let x = column[0].0;
        if rule.guard(x).high.is_some_and(|h| h <= least.get(x)) {
            continue;
        }
        let mut moved: Vec<(Var, i64)> = vec![];
        for (_, y, k) in column {
            match moved.last_mut() {
                Some(last) if last.0 == *y => last.1 += k,
                _ => moved.push((*y, *k)),
            }
        }
        moved.retain(|e| e.1 != 0);
        all.push(moved);
    }
    all
}
