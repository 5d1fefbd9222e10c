//! How far is it from a vector to the target? A guess by the state equation, for forward search (Blondin, Haase and Offtermatt,
//! TACAS 2021, guide a search without accelerations like this).
//!
//! The distance is the least sum of numbers of times, rational ones, that rules must be taken so that their effects lead from the
//! vector above a target, or above a mixture of several. If there are no such numbers, no run leads there either. A number that is
//! unlimited in the vector asks for nothing.
//!
//! It is not computed by minimising but by asking whether so many steps suffice: a proof that they do not (Farkas) is a weighted
//! sum, a [`Cut`], which also bounds the distance of every other vector from below. So most guesses need no linear programming,
//! and each question begins with the best cut so far.
//!
//! A rule that transfers counts for one step, and moves any number of what it moves ([`effects`]). That the guess is right is not
//! relied on: whoever searches puts off what seems out of reach, and does not leave it out.

use rustc_hash::FxHashMap;
use trellis_meter::Meter;
use trellis_model::counter::{OMEGA, System, Var, Vector};
use trellis_model::evidence::Reason;
use trellis_smt::rows::{Name, Rows, Solved};

use super::equation::effects;

/// So many questions make up one guess.
const QUESTIONS: usize = 12;
/// So many cuts are kept.
const CUTS: usize = 40;
/// With more targets there is no guide.
const TARGETS: usize = 500;

/// A guess: so many steps, or nothing if no number of them suffices.
pub type Distance = Option<u64>;

/// From any vector `m`, `price · steps ≥ gain - Σ weight · m`; of a price of zero there is never enough.
struct Cut {
    /// For each variable.
    weights: Box<[i64]>,
    gain: i64,
    price: i64,
    /// When it was last the best.
    used: u64,
}

impl Cut {
    fn bound(&self, m: &Vector) -> Distance {
        let mut missing = i128::from(self.gain);
        for (v, n) in m.iter() {
            match (self.weights[v as usize], n) {
                (0, _) => {}
                (_, OMEGA) => return Some(0),
                (k, n) => missing -= i128::from(k) * i128::from(n),
            }
            if missing <= 0 {
                return Some(0);
            }
        }
        let price = i128::from(self.price);
        let steps = (price > 0).then(|| (missing + price - 1) / price)?;
        Some(u64::try_from(steps).unwrap_or(u64::MAX))
    }
}

/// The equation, from any vector.
pub struct Guide {
    rows: Rows,
    /// For each variable its row, less the targets.
    places: Vec<Name>,
    of_place: FxHashMap<Name, Var>,
    /// All steps, negated; all shares of targets.
    steps: Name,
    shares: Name,
    cuts: Vec<Cut>,
    clock: u64,
}

impl Guide {
    /// Sets it up; nothing if there are too many targets.
    pub fn new(system: &System) -> Option<Guide> {
        if system.target.len() > TARGETS {
            return None;
        }
        let mut rows = Rows::default();
        let mut forms: Vec<Vec<(Name, i64)>> = vec![vec![]; system.names.len()];
        let (mut steps, mut shares) = (vec![], vec![]);
        let mut seen = FxHashMap::default();
        for rule in &system.rules {
            for (i, effect) in effects(rule).into_iter().enumerate() {
                if !effect.is_empty() && seen.insert(effect.clone(), ()).is_none() {
                    let count = rows.variable(0, None);
                    effect.iter().for_each(|(v, k)| forms[*v as usize].push((count, *k)));
                    if i == 0 {
                        steps.push((count, -1));
                    }
                }
            }
        }
        for t in &system.target {
            let share = rows.variable(0, None);
            // Numbers of systems are at most 2^50.
            t.iter().for_each(|(v, n)| forms[v as usize].push((share, -(n as i64))));
            shares.push((share, 1));
        }
        let places: Vec<Name> = forms.iter().map(|f| rows.row(f)).collect();
        let of_place = places.iter().enumerate().map(|(v, n)| (*n, v as Var)).collect();
        let (steps, shares) = (rows.row(&steps), rows.row(&shares));
        Some(Guide { rows, places, of_place, steps, shares, cuts: vec![], clock: 0 })
    }

    /// What is known without asking: never more than [`Guide::ask`] says.
    pub fn guess(&mut self, m: &Vector) -> Distance {
        self.clock += 1;
        let mut best = (Some(0), None);
        for (i, cut) in self.cuts.iter().enumerate() {
            match cut.bound(m) {
                None => {
                    best = (None, Some(i));
                    break;
                }
                bound if bound > best.0 => best = (bound, Some(i)),
                _ => {}
            }
        }
        if let Some(i) = best.1 {
            self.cuts[i].used = self.clock;
        }
        best.0
    }

    /// The distance, or less: linear programming goes on until all questions together have taken so much work.
    pub fn ask(&mut self, m: &Vector, work: u64, limits: &Meter) -> Result<Distance, Reason> {
        let Some(mut least) = self.guess(m) else { return Ok(None) };
        let mut wanted = vec![(self.steps, 0), (self.shares, 1)];
        let finite = self.places.iter().enumerate().map(|(v, row)| (*row, m.get(v as Var)));
        wanted.extend(finite.filter(|e| e.1 != OMEGA).map(|(row, n)| (row, -(n as i64))));
        for _ in 0..QUESTIONS {
            let left = work.saturating_sub(self.rows.work());
            if left == 0 {
                break;
            }
            wanted[0].1 = i64::try_from(least).map_or(i64::MIN, |n| -n);
            match self.rows.solve_within(&wanted, left, limits) {
                Ok(None | Some(Solved::Yes)) => break,
                Ok(Some(Solved::No(factors))) => self.learn(&factors),
                Err(trellis_smt::Reason::Time) => return Err(Reason::Time),
                Err(trellis_smt::Reason::Cancelled) => return Err(Reason::Interrupted),
                // Numbers too large for certificates.
                Err(_) => break,
            }
            match self.guess(m) {
                None => return Ok(None),
                Some(more) if more > least => least = more,
                // The cut says no more than the others: a guess need not be exact.
                Some(_) => break,
            }
        }
        Ok(Some(least))
    }

    fn learn(&mut self, factors: &[(Name, i64)]) {
        let weights = vec![0; self.places.len()].into();
        let mut cut = Cut { weights, gain: 0, price: 0, used: self.clock };
        for (row, factor) in factors {
            match self.of_place.get(row) {
                Some(v) => cut.weights[*v as usize] = *factor,
                None if *row == self.steps => cut.price = *factor,
                None if *row == self.shares => cut.gain = *factor,
                // Numbers of times are not negative.
                None => {}
            }
        }
        if self.cuts.len() >= CUTS {
            // Whoever has not been the best for longest goes.
            let oldest = (0..self.cuts.len()).min_by_key(|i| self.cuts[*i].used);
            oldest.map(|i| self.cuts.swap_remove(i));
        }
        self.cuts.push(cut);
    }
}
