//! Clocks that stand still (`x' == 0`): exact moments for a path, by linear arithmetic, and a search through paths.
//!
//! What clocks become while some of them stand still is no zone in general; zones say a little more than can be reached
//! ([`trellis_domain::zone::ZoneDomain::up_running`]; Cassez and Larsen, *The impressive power of stopwatches*, CONCUR 2000). So what cannot be reached
//! by zones cannot be reached, and what can is looked at along its path: a clock's value is the sum of the stretches of time in which it ran since it
//! was set, so that all that guards and invariants ask is linear in the moments of the steps, and the solver's simplex finds moments, or that there are none.
//!
//! Strict inequalities are made weak by scaling: moments are `Mᵢ / T` with `T ≥ 1`, and `a < b` becomes `T·b - T·a ≥ 1`.
//!
//! What it deliberately does not do: deadlocks, liveness, differences of clocks. Reachability is undecidable here, so the search through paths
//! may end without an answer.

use std::collections::{BTreeMap, VecDeque};

use trellis_domain::zone::{Constraint, Rational};
use trellis_meter::{Meter, Progress, Stats};
use trellis_model::evidence::Reason;
use trellis_model::network::{Condition, Network, Post, Query, QueryKind, SetClock, Trace, Transitions};
use trellis_order::Word;
use trellis_smt::rows::{Name, Rows, Solved};

use super::bounds::Bounds;
use super::schedule::Plan;
use super::space::Keys;
use super::target::{Error, Target};
use super::trace::concretise;

/// So much work is enough for a path.
const WORK: u64 = 400_000_000;

/// So many paths are looked at one by one.
const PATHS: usize = 3_000;

/// Why a question cannot be answered where clocks can stand still; `None` if it can.
pub fn obstacle(net: &Network, query: &Query) -> Option<&'static str> {
    if !net.has_rates() {
        return None;
    }
    if query.deadlock {
        return Some("`deadlock` where clocks can stand still");
    }
    match query.kind {
        QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..) => {
            Some("liveness where clocks can stand still")
        }
        _ if Bounds::new(net, query).diagonal => Some("differences of clocks where clocks can stand still"),
        _ => None,
    }
}

/// A sum of moments and a constant.
#[derive(Clone, Default)]
struct Value {
    moments: BTreeMap<usize, i64>,
    constant: i64,
}

impl Value {
    fn add(&mut self, moment: usize, factor: i64) {
        // The beginning is moment 0 and time 0.
        if moment != 0 {
            let entry = self.moments.entry(moment).or_insert(0);
            *entry += factor;
            if *entry == 0 {
                self.moments.remove(&moment);
            }
        }
    }
}

struct System {
    rows: Rows,
    scale: Name,
    /// Moments; the first is the beginning.
    moments: Vec<Option<Name>>,
    lower: Vec<(Name, i64)>,
    clocks: Vec<Value>,
    fails: bool,
}

impl System {
    /// `left - right ≺ bound`, now.
    fn constrain(&mut self, c: &Constraint) {
        let Some(bound) = c.bound.constant() else { return };
        let (left, right) = (&self.clocks[c.left as usize], &self.clocks[c.right as usize]);
        let mut sum = right.clone();
        left.moments.iter().for_each(|(&m, &k)| sum.add(m, -k));
        let constant = i64::from(bound) - left.constant + right.constant;
        let least = i64::from(c.bound.is_strict());
        if sum.moments.is_empty() {
            self.fails |= constant < least;
            return;
        }
        let moments = sum.moments.iter().filter_map(|(&m, &k)| Some((self.moments[m]?, k)));
        let terms: Vec<(Name, i64)> = moments.chain((constant != 0).then_some((self.scale, constant))).collect();
        let row = self.rows.row(&terms);
        self.lower.push((row, least));
    }

    /// Time passes from one moment to the next; `still`: none does. Answers the next moment.
    fn pass(&mut self, now: usize, still: bool, stopped: &[u32]) -> usize {
        if still {
            return now;
        }
        let next = self.rows.variable(0, None);
        self.moments.push(Some(next));
        let then = self.moments.len() - 1;
        if let Some(before) = self.moments[now] {
            let row = self.rows.row(&[(next, 1), (before, -1)]);
            self.lower.push((row, 0));
        }
        for (x, clock) in self.clocks.iter_mut().enumerate().skip(1) {
            if !stopped.contains(&(x as u32)) {
                clock.add(then, 1);
                clock.add(now, -1);
            }
        }
        then
    }

    fn reset(&mut self, resets: &[SetClock]) {
        for r in resets {
            match *r {
                SetClock::Value { clock, value } => {
                    self.clocks[clock as usize] = Value { constant: value.into(), ..Value::default() };
                }
                SetClock::Copy { clock, from } => self.clocks[clock as usize] = self.clocks[from as usize].clone(),
            }
        }
    }
}

/// The moments of a plan's legs, and of its end, if there are any.
pub(super) fn moments(plan: &Plan) -> Option<(Vec<Rational>, Rational)> {
    let mut rows = Rows::default();
    let scale = rows.variable(1, None);
    let clocks = vec![Value::default(); plan.clocks + 1];
    let mut s = System { rows, scale, moments: vec![None], lower: Vec::new(), clocks, fails: false };
    let (mut now, mut of) = (0, Vec::new());
    for leg in &plan.legs {
        leg.stay.iter().for_each(|c| s.constrain(c));
        now = s.pass(now, leg.still, &leg.stopped);
        leg.stay.iter().filter(|_| !leg.still).for_each(|c| s.constrain(c));
        leg.guard.iter().for_each(|c| s.constrain(c));
        s.reset(&leg.resets);
        of.push(now);
    }
    plan.end.iter().for_each(|c| s.constrain(c));
    let last = s.pass(now, plan.still || plan.target.is_empty(), &plan.stopped);
    plan.target.iter().for_each(|c| s.constrain(c));
    if s.fails || s.rows.solve_within(&s.lower, WORK, &Meter::default()).ok()?? != Solved::Yes {
        return None;
    }
    let value = |m: usize| match s.moments[m] {
        None => Some(Rational::ZERO),
        Some(name) => s.rows.quotient(name, s.scale).map(|(n, d)| Rational::new(n, d)),
    };
    Some((of.into_iter().map(value).collect::<Option<_>>()?, value(last)?))
}

/// Looks for a run to a target, path by path, shortest first: zones say that there may be one.
pub(super) fn find(
    net: &Network,
    query: &Query,
    (condition, value): (Condition, bool),
    meter: &mut Meter,
    stats: &mut Stats,
) -> Result<Result<Trace, Reason>, Error> {
    let mut post = Post::new(net);
    let target = Target::new(&post, query, condition, value);
    let mut keys = Keys::new(net, &post.layout, Bounds::new(net, query));
    let (key, _) = post.initial()?;
    let mut waiting: VecDeque<(Vec<u32>, Vec<Word>)> = VecDeque::from([(Vec::new(), key)]);
    let mut moves = Transitions::default();
    let mut left = PATHS;
    while let Some((via, key)) = waiting.pop_front() {
        if let Err(why) = meter.ask(&Progress { waiting: waiting.len(), stats: *stats }) {
            return Ok(Err(why.into()));
        }
        let (k, _) = keys.id(&key)?;
        for case in target.cases(&mut post, query, &key, keys.active(k))? {
            if let Some(trace) = concretise(net, &mut post, &via, &case)? {
                return Ok(Ok(trace));
            }
        }
        post.moves(&key, &mut moves)?;
        for m in moves.iter().filter(|m| m.fault.is_none()) {
            stats.steps += 1;
            let next = [via.as_slice(), &[m.ordinal]].concat();
            if left > 0 && concretise(net, &mut post, &next, &[])?.is_some() {
                left -= 1;
                waiting.push_back((next, m.key.to_vec()));
            }
        }
    }
    let why = match left {
        0 => "what zones can reach where clocks stand still, and no short run was found to",
        _ => "what zones can reach where clocks stand still, and runs cannot: a proof would need more than zones",
    };
    Ok(Err(Reason::Unsupported(why.into())))
}
