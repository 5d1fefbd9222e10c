//! Time: what is left of timers, and how it passes before a step.
//!
//! Where any time may pass, only the regions of timed automata count: the whole multiples of a unit (the greatest that divides all durations) and
//! the order of the fractions. What is left of a timer that is between two multiples is held as the greater of them less 1 ms, and its rank among
//! the fractions beside it. One edge passes to the next region; so finitely many values are enough, and every run of them is one in which
//! time is dense. [`delays`] finds whole milliseconds for a run of regions.
//!
//! Where a period is given, what is left is counted down by it. A timer whose transitions can only fire in states that set it when they are
//! entered is wound down outside of them: nobody notices.

use trellis_expr::{StmtId, TermId, Type, VarId};
use trellis_model::cfa::LocationId;
use trellis_model::gamma::Chart;

use super::{About, Builder};

/// How time passes.
#[derive(Debug, Clone, Default)]
pub struct Time {
    /// The unit in milliseconds.
    pub unit: i64,
    /// The ranks of fractions, for each timer, where there are several timers.
    ranks: Vec<VarId>,
    /// What has passed, if a period is given.
    pub passed: Option<VarId>,
    /// Where time has passed.
    pub done: Option<LocationId>,
    /// For each timer, where it matters; everywhere if it says nothing.
    pub matters: Vec<Option<TermId>>,
}

impl Builder<'_> {
    /// That a timer is up.
    pub fn up(&mut self, timer: usize) -> TermId {
        let left = self.sys.timers[timer].left;
        let (left, zero) = (self.t().var(left), self.t().int(0));
        self.t().eq(left, zero)
    }

    /// Variables for time, and where it matters.
    pub fn declare_time(&mut self) -> Time {
        let sys = self.sys;
        let mut time = Time { unit: 1, ..Time::default() };
        if sys.timers.is_empty() {
            return time;
        }
        time.unit = sys.timers.iter().map(|t| t.duration).fold(0, gcd).max(1);
        let any = sys.period == (0, None);
        if any && time.unit > 1 && sys.timers.len() > 1 {
            let count = sys.timers.len() as i64 + 1;
            time.ranks =
                (0..sys.timers.len()).map(|n| self.named(format!("@rank {n}"), Type::Range(0, count))).collect();
        }
        if !any {
            let longest = sys.timers.iter().map(|t| t.duration).max().unwrap_or(0);
            let (least, most) = (sys.period.0, sys.period.1.unwrap_or(sys.period.0.max(longest)));
            time.passed = Some(self.named("@passed".into(), Type::Range(least, most.max(least))));
        }
        time.matters = (0..sys.timers.len()).map(|t| self.matters(t)).collect();
        time
    }

    /// Where a timer matters: in the states whose transitions ask for it, if all of these set it when they are entered.
    fn matters(&mut self, timer: usize) -> Option<TermId> {
        let sys = self.sys;
        let chart: &Chart = &sys.charts[sys.timers[timer].chart?];
        if chart.skip != trellis_model::gamma::Skip::Never {
            return None;
        }
        let left = sys.timers[timer].left;
        let asks = |t: TermId| {
            self.cfa
                .terms
                .subterms([t])
                .into_iter()
                .any(|t| matches!(self.cfa.terms.get(t), trellis_expr::Term::Var(v) if *v == left))
        };
        let mut states = vec![];
        for t in chart.transitions.iter().filter(|t| asks(t.enabled)) {
            let node = &chart.nodes[t.from];
            if node.kind != trellis_model::gamma::Kind::State || !self.always_sets(node.entry, left) {
                return None;
            }
            states.push((chart.regions[node.region].active, node.value));
        }
        let states: Vec<TermId> = states.into_iter().map(|(v, n)| self.is_state(v, n)).collect();
        Some(self.t().or(states))
    }

    fn always_sets(&self, s: StmtId, v: VarId) -> bool {
        match self.cfa.terms.stmt(s) {
            trellis_expr::Stmt::Assign(to, _) => *to == v,
            trellis_expr::Stmt::Seq(parts) => parts.iter().any(|p| self.always_sets(*p, v)),
            _ => false,
        }
    }

    /// Time passes before a step.
    pub fn pass_time(&mut self, time: &mut Time) {
        if self.sys.timers.is_empty() {
            return;
        }
        let mut parts = vec![];
        for (n, matters) in time.matters.iter().enumerate() {
            let Some(matters) = *matters else { continue };
            let zero = self.t().int(0);
            let left = self.sys.timers[n].left;
            let off = self.t().assign(left, zero);
            let skip = self.t().skip();
            parts.push(self.t().branch(matters, skip, off));
        }
        if let Some(passed) = time.passed {
            parts.push(self.t().havoc(passed));
            let by = self.t().var(passed);
            for timer in &self.sys.timers {
                parts.push(self.count_down(timer.left, by));
            }
            if let Some(v) = self.timely {
                let (by, zero) = (self.t().var(passed), self.t().int(0));
                let some = self.t().lt(zero, by);
                parts.push(self.t().assign(v, some));
            }
            let stmt = self.t().seq(parts);
            let to = self.location("time has passed");
            let e = self.edge(self.at, stmt, to);
            self.about.insert(e, About::Delay);
            self.at = to;
            time.done = Some(to);
            return;
        }
        parts.push(self.ranked(time));
        parts.into_iter().for_each(|s| self.push(s));
        self.flush("time passes");
        let at = self.at;
        let (mut step, mut stop) = (self.next_region(time), self.t().skip());
        if let Some(v) = self.timely {
            let yes = self.t().bool(true);
            let note = self.t().assign(v, yes);
            step = self.t().seq([step, note]);
            let (mut none, zero) = (vec![self.t().var(v)], self.t().int(0));
            let mut all = vec![];
            for timer in &self.sys.timers {
                let left = self.t().var(timer.left);
                all.push(self.t().eq(left, zero));
            }
            none.push(self.t().and(all));
            let done = self.t().or(none);
            stop = self.t().assign(v, done);
        }
        let e = self.edge(at, step, at);
        self.about.insert(e, About::Region);
        let on = self.location("time has passed");
        self.edge(at, stop, on);
        self.at = on;
        time.done = Some(on);
    }

    fn count_down(&mut self, left: VarId, by: TermId) -> StmtId {
        let (l, zero) = (self.t().var(left), self.t().int(0));
        let less = self.t().sub(l, by);
        let over = self.t().le(l, by);
        let next = self.t().ite(over, zero, less);
        self.t().assign(left, next)
    }

    /// That a timer is not up, and at a whole multiple of the unit, or between two of them.
    fn aligned(&mut self, timer: usize, unit: i64) -> (TermId, TermId) {
        let timer = &self.sys.timers[timer];
        let left = self.t().var(timer.left);
        let multiples: Vec<i64> = (1..=timer.duration / unit).map(|n| n * unit).collect();
        let mut on = |offset: i64| {
            let each: Vec<TermId> = multiples
                .iter()
                .map(|m| {
                    let value = self.cfa.terms.int(m - offset);
                    self.cfa.terms.eq(left, value)
                })
                .collect();
            self.cfa.terms.or(each)
        };
        (on(0), on(1))
    }

    /// Ranks are as small as their order lets them be, and 0 where there is no fraction.
    fn ranked(&mut self, time: &Time) -> StmtId {
        let ranks = &time.ranks;
        let mut parts = vec![];
        for (n, &rank) in ranks.iter().enumerate() {
            let (_, between) = self.aligned(n, time.unit);
            let zero = self.t().int(0);
            let (off, skip) = (self.t().assign(rank, zero), self.t().skip());
            parts.push(self.t().branch(between, skip, off));
        }
        // Gaps are closed from above, so that each is closed once.
        for gap in (1..=ranks.len() as i64).rev() {
            let gap = self.t().int(gap);
            let mut used = vec![];
            for &r in ranks {
                let r = self.t().var(r);
                used.push(self.t().eq(r, gap));
            }
            let used = self.t().or(used);
            let mut down = vec![];
            for &rank in ranks {
                let (r, one) = (self.t().var(rank), self.t().int(1));
                let (above, less) = (self.t().lt(gap, r), self.t().sub(r, one));
                let next = self.t().ite(above, less, r);
                down.push(self.t().assign(rank, next));
            }
            let (down, skip) = (self.t().seq(down), self.t().skip());
            parts.push(self.t().branch(used, skip, down));
        }
        self.t().seq(parts)
    }

    /// A little time passes: to the next region.
    fn next_region(&mut self, time: &Time) -> StmtId {
        let timers: Vec<VarId> = self.sys.timers.iter().map(|t| t.left).collect();
        let (one, zero) = (self.t().int(1), self.t().int(0));
        let mut live = vec![];
        for &left in &timers {
            let l = self.t().var(left);
            live.push(self.t().lt(zero, l));
        }
        let any = self.t().or(live);
        let assume = self.t().assume(any);
        if time.unit == 1 {
            let mut parts = vec![assume];
            for &left in &timers {
                parts.push(self.count_down(left, one));
            }
            return self.t().seq(parts);
        }
        let places: Vec<(TermId, TermId)> = (0..timers.len()).map(|n| self.aligned(n, time.unit)).collect();
        // Those at a multiple leave it, and are the last of all fractions.
        let mut leave = vec![];
        let top = match &time.ranks[..] {
            [] => None,
            ranks => {
                let mut most = zero;
                for &r in ranks {
                    let r = self.t().var(r);
                    let above = self.t().lt(most, r);
                    most = self.t().ite(above, r, most);
                }
                Some(self.t().add([most, one]))
            }
        };
        let last = top.map(|top| (self.named("@last rank".into(), Type::Range(0, timers.len() as i64 + 1)), top));
        if let Some((v, top)) = last {
            leave.push(self.t().assign(v, top));
        }
        for (n, &left) in timers.iter().enumerate() {
            let l = self.t().var(left);
            let less = self.t().sub(l, one);
            let mut body = vec![self.t().assign(left, less)];
            if let Some((v, _)) = last {
                let v = self.t().var(v);
                body.push(self.t().assign(time.ranks[n], v));
            }
            let (body, skip) = (self.t().seq(body), self.t().skip());
            leave.push(self.t().branch(places[n].0, body, skip));
        }
        if let Some((v, _)) = last {
            leave.push(self.t().assign(v, zero));
        }
        // Or the first of the fractions come to a multiple, and the others move up.
        let mut arrive = vec![];
        let rest = self.t().int(time.unit - 1);
        for (n, &left) in timers.iter().enumerate() {
            let l = self.t().var(left);
            let next = self.t().sub(l, rest);
            let mut body = vec![self.t().assign(left, next)];
            let mut first = places[n].1;
            if let Some(&rank) = time.ranks.get(n) {
                let r = self.t().var(rank);
                body.push(self.t().assign(rank, zero));
                let it = self.t().eq(r, one);
                first = self.t().and([first, it]);
            }
            let body = self.t().seq(body);
            let others = match time.ranks.get(n) {
                Some(&rank) => {
                    let r = self.t().var(rank);
                    let above = self.t().lt(zero, r);
                    let less = self.t().sub(r, one);
                    let (down, skip) = (self.t().assign(rank, less), self.t().skip());
                    self.t().branch(above, down, skip)
                }
                None => self.t().skip(),
            };
            arrive.push(self.t().branch(first, body, others));
        }
        let (leave, arrive) = (self.t().seq(leave), self.t().seq(arrive));
        let somewhere = self.t().or(places.iter().map(|p| p.0));
        let step = self.t().branch(somewhere, leave, arrive);
        let ranked = self.ranked(time);
        self.t().seq([assume, step, ranked])
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// That the moment of one step lies at least so long after that of another.
pub type Bound = (usize, usize, i64);

/// Whole milliseconds between moments, each not before the one before it: `(a, b, d)` says that `b` is at least `d` after `a` (which may be less
/// than nothing). None if there are none.
pub fn delays(moments: usize, bounds: &[Bound]) -> Option<Vec<i64>> {
    let mut at = vec![0_i64; moments];
    let in_order = (1..moments).map(|n| (n - 1, n, 0));
    let all: Vec<Bound> = bounds.iter().copied().chain(in_order).collect();
    for round in 0..=moments {
        let mut changed = false;
        for &(a, b, d) in &all {
            if at[b] < at[a] + d {
                at[b] = at[a] + d;
                changed = true;
            }
        }
        if !changed {
            return Some(at.windows(2).map(|w| w[1] - w[0]).collect());
        }
        if round == moments {
            break;
        }
    }
    None
}
