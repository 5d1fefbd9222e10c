//! Which constants a clock is compared with from now on, and which clocks matter at all.
//!
//! For each process and location, the largest lower and upper bounds of every clock on any way from there until the clock
//! is reset (Behrmann, Bouyer, Larsen, Pelánek 2006, computed per location). The bounds of a key are the largest over its
//! processes; another process's resets of a shared clock are not counted on, which only makes bounds larger; but a copy of a clock may be
//! compared by any of them. A clock
//! without bounds in a key is *inactive* there: its value cannot matter before it is reset, and zones leave it out
//! (location-based active clock reduction). What a query compares counts everywhere.
//!
//! A bound that depends on data is taken at its largest, by the ranges of the variables.

use rustc_hash::FxHashMap;
use trellis_expr::{Term, TermId};
use trellis_meter::seeded::{self, Bug};
use trellis_model::network::{ClockAtom, Network, Query, ResetTo};

/// No comparison.
pub const NONE: i32 = i32::MIN;

/// Lower and upper bound of one clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lu {
    /// The clock.
    pub clock: u32,
    /// The largest constant of `x > c`, `x ≥ c`.
    pub lower: i32,
    /// The largest constant of `x < c`, `x ≤ c`.
    pub upper: i32,
}

/// The bounds of a network.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Per process and location, ascending by clock; only clocks with bounds.
    local: Vec<Vec<Vec<Lu>>>,
    /// Everywhere.
    global: Vec<Lu>,
    /// Does anything compare two clocks?
    pub diagonal: bool,
}

type Map = FxHashMap<u32, (i32, i32)>;

fn raise(map: &mut Map, clock: u32, lower: i32, upper: i32) -> bool {
    let entry = map.entry(clock).or_insert((NONE, NONE));
    let raised = (entry.0.max(lower), entry.1.max(upper));
    let grew = raised != *entry;
    *entry = raised;
    grew
}

fn sorted(map: Map) -> Vec<Lu> {
    let mut all: Vec<Lu> = map.into_iter().map(|(clock, (lower, upper))| Lu { clock, lower, upper }).collect();
    all.sort_unstable_by_key(|b| b.clock);
    all
}

/// Carries bounds backwards along edges, through resets.
fn propagate(net: &Network, global: &Map, all: &mut [Vec<Map>]) {
    loop {
        let mut grew = false;
        for (i, p) in net.processes.iter().enumerate() {
            // A clock that gets the value of another may be compared by the query, or by another process wherever that is.
            let mut outside = global.clone();
            if p.edges.iter().any(|e| e.resets.iter().any(|r| matches!(r.to, ResetTo::Clock(_)))) {
                let others = all.iter().enumerate().filter(|(j, _)| *j != i);
                for (&clock, &(lower, upper)) in others.flat_map(|(_, maps)| maps).flatten() {
                    raise(&mut outside, clock, lower, upper);
                }
            }
            for e in &p.edges {
                let mut target = all[i][e.target as usize].clone();
                if seeded::has(Bug::ResetBounds) && !e.resets.is_empty() {
                    continue;
                }
                for r in e.resets.iter().rev() {
                    // Unless it surely happens, the old value may live on.
                    let old = if r.when.is_none() { target.remove(&r.clock) } else { target.get(&r.clock).copied() };
                    if let ResetTo::Clock(from) = r.to {
                        for (lower, upper) in [old, outside.get(&r.clock).copied()].into_iter().flatten() {
                            raise(&mut target, from, lower, upper);
                        }
                    }
                }
                for (clock, (lower, upper)) in target {
                    grew |= raise(&mut all[i][e.source as usize], clock, lower, upper);
                }
            }
        }
        if !grew {
            return;
        }
    }
}

impl Bounds {
    /// The bounds of a network under a query.
    pub fn new(net: &Network, query: &Query) -> Bounds {
        let mut diagonal = false;
        let mut global = Map::default();
        for (_, a) in &query.atoms {
            // The query may want an atom or its opposite.
            diagonal |= compare(net, a, &mut |clock, _, c| {
                raise(&mut global, clock, c, c);
            });
        }
        let mut all = Vec::new();
        for p in &net.processes {
            let mut maps = vec![Map::default(); p.locations.len()];
            let mut note = |map: &mut Map, a: &ClockAtom| {
                diagonal |= compare(net, a, &mut |clock, is_lower, c| {
                    // What is of lower priority may need it not to hold.
                    let either = net.has_priorities;
                    let (lower, upper) =
                        (if is_lower || either { c } else { NONE }, if is_lower && !either { NONE } else { c });
                    raise(map, clock, lower, upper);
                });
            };
            for (map, l) in maps.iter_mut().zip(&p.locations) {
                if !seeded::has(Bug::LowBounds) {
                    l.clock_invariant.iter().for_each(|a| note(map, a));
                }
            }
            for e in &p.edges {
                let is_receiver = e.sync.is_some_and(|s| !s.send && net.channels[s.base as usize].broadcast);
                for a in &e.clock_guard {
                    note(&mut maps[e.source as usize], a);
                    if is_receiver {
                        // A broadcast may need it not to hold.
                        compare(net, a, &mut |clock, _, c| {
                            raise(&mut maps[e.source as usize], clock, c, c);
                        });
                    }
                }
            }
            all.push(maps);
        }
        propagate(net, &global, &mut all);
        let local = all.into_iter().map(|maps| maps.into_iter().map(sorted).collect()).collect();
        Bounds { local, global: sorted(global), diagonal }
    }

    /// Makes every clock active everywhere, without bounds if it has none.
    pub fn activate_all(&mut self, clocks: usize) {
        for clock in 1..=clocks as u32 {
            if !self.global.iter().any(|b| b.clock == clock) {
                self.global.push(Lu { clock, lower: NONE, upper: NONE });
            }
        }
        self.global.sort_unstable_by_key(|b| b.clock);
    }

    /// Each constant counts from both sides: what is not told apart then can do the same, and refuse the same, deadlocks included.
    pub fn from_both_sides(&mut self) {
        let constants = self.local.iter_mut().flatten().flatten().chain(&mut self.global);
        constants.for_each(|b| (b.lower, b.upper) = (b.lower.max(b.upper), b.lower.max(b.upper)));
    }

    /// Forgets the constants: which clocks are active is all that matters. (Then keys with the same clocks share one set of them.)
    pub fn forget_constants(&mut self) {
        let constants = self.local.iter_mut().flatten().flatten().chain(&mut self.global);
        constants.for_each(|b| (b.lower, b.upper) = (NONE, NONE));
    }

    /// A clock is compared with this constant everywhere. Clocks whose values it may get must be, too.
    pub fn compare_everywhere(&mut self, clock: u32, constant: i32) {
        match self.global.iter_mut().find(|b| b.clock == clock) {
            Some(b) => (b.lower, b.upper) = (b.lower.max(constant), b.upper.max(constant)),
            None => self.global.push(Lu { clock, lower: constant, upper: constant }),
        }
        self.global.sort_unstable_by_key(|b| b.clock);
    }

    /// The bounds in a key with these locations: active clocks ascending.
    pub fn of(&self, locations: impl Iterator<Item = usize>, scratch: &mut Scratch, out: &mut Vec<Lu>) {
        out.clear();
        let mut add = |b: &Lu| match scratch.at[b.clock as usize] {
            u32::MAX => {
                scratch.at[b.clock as usize] = out.len() as u32;
                out.push(*b);
            }
            i => {
                let known = &mut out[i as usize];
                known.lower = known.lower.max(b.lower);
                known.upper = known.upper.max(b.upper);
            }
        };
        self.global.iter().for_each(&mut add);
        for (p, l) in locations.enumerate() {
            self.local[p][l].iter().for_each(&mut add);
        }
        out.iter().for_each(|b| scratch.at[b.clock as usize] = u32::MAX);
        out.sort_unstable_by_key(|b| b.clock);
    }
}

/// Working memory for [`Bounds::of`].
#[derive(Debug, Clone)]
pub struct Scratch {
    at: Vec<u32>,
}

impl Scratch {
    /// For so many clocks, 0 included.
    pub fn new(dim: usize) -> Scratch {
        Scratch { at: vec![u32::MAX; dim] }
    }
}

/// Tells which clocks an atom compares with what: clock, whether from below, constant. Answers whether it is a diagonal.
fn compare(net: &Network, a: &ClockAtom, tell: &mut impl FnMut(u32, bool, i32)) -> bool {
    let (lo, hi) = range(net, a.bound);
    let clamp = |c: i64| c.clamp(0, i64::from(trellis_domain::zone::MAX_CONSTANT)) as i32;
    match (a.left, a.right) {
        (0, 0) => {}
        // x ≺ c
        (x, 0) => tell(x, false, clamp(hi)),
        // -x ≺ c, that is, x ≻ -c
        (0, x) => tell(x, true, clamp(lo.saturating_neg())),
        (x, y) => {
            // Extrapolation is not used then; the bounds only keep the clocks active.
            let c = clamp(hi.max(lo.saturating_neg()));
            for clock in [x, y] {
                tell(clock, true, c);
                tell(clock, false, c);
            }
            return true;
        }
    }
    false
}

/// The least and greatest value of a term, by the ranges of its variables; generous where it is not simple.
fn range(net: &Network, t: TermId) -> (i64, i64) {
    let all = (i64::MIN, i64::MAX);
    match net.terms.get(t) {
        Term::Int(n) => (*n, *n),
        Term::Var(v) => {
            let of = net.vars.iter().chain(&net.temps).find(|d| d.var == *v);
            of.map_or(all, |d| (d.lo, d.hi))
        }
        Term::Select(array, _) => range(net, *array),
        Term::Checked(t, lo, hi) => {
            let inner = range(net, *t);
            (inner.0.max(*lo), inner.1.min(*hi))
        }
        Term::Add(parts) => {
            parts.iter().map(|&p| range(net, p)).fold((0, 0), |a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
        }
        Term::Neg(t) => {
            let (lo, hi) = range(net, *t);
            (hi.saturating_neg(), lo.saturating_neg())
        }
        Term::Mul(a, b) => {
            let (a, b) = (range(net, *a), range(net, *b));
            let all =
                [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
            (all.into_iter().min().unwrap_or(i64::MIN), all.into_iter().max().unwrap_or(i64::MAX))
        }
        Term::Ite(_, a, b) => {
            let (a, b) = (range(net, *a), range(net, *b));
            (a.0.min(b.0), a.1.max(b.1))
        }
        _ => all,
    }
}
