//! Clocks by zone interpolation (002 §4.3.2): concrete labels, abstract labels and what is blocked are all zones.
//!
//! An abstract label is a short list of constraints, in the network's numbering of clocks: it is made of interpolants, and
//! those have few. So proving one is a few comparisons. What needs a closed matrix makes one over the active clocks.

use smallvec::SmallVec;
use trellis_domain::zone::{Bound, Constraint, Zone};
use trellis_model::network::SetClock;

use super::block::Interpolation;
use super::tree::{Leg, Tree, Try, post};
use crate::timed::space::{ActiveClocks, Stepper, invariant, origin};
use crate::timed::target::Error;

/// The domain.
#[derive(Debug, Default)]
pub struct ZoneInterpolation {
    stepper: Stepper,
    work: Vec<Bound>,
    cycle: Vec<Constraint>,
    entries: Entries,
    /// Which clock is blamed first; empty: the one that was declared first.
    order: Vec<u32>,
}

/// Constraints in the places that they have in a zone.
type Entries = Vec<(usize, usize, Bound)>;

/// A conjunction of constraints; none: all valuations.
pub type Label = Vec<Constraint>;

fn build(active: ActiveClocks<'_>, entries: &Entries) -> Result<Zone, Error> {
    let mut zone = Zone::zero(active.domain().clocks());
    active.domain().build_each(&mut zone, entries)?;
    Ok(zone)
}

impl Interpolation for ZoneInterpolation {
    type Label = Label;
    type Exact = Zone;
    type Bad = Zone;

    fn top(&self) -> Label {
        Vec::new()
    }

    fn concrete(&mut self, tree: &Tree, n: u32) -> Zone {
        Zone::copied(tree.active(n).domain(), tree.zone(n))
    }

    fn proves(&mut self, tree: &Tree, n: u32, _: u32, label: &Label) -> bool {
        let (active, zone) = (tree.active(n), tree.zone(n));
        let d = active.domain();
        label.iter().all(|c| d.get(zone, active.place(c.left), active.place(c.right)) <= c.bound)
    }

    fn refutes(&mut self, tree: &Tree, n: u32, label: &Label, bad: &Zone) -> Result<bool, Error> {
        let active = tree.active(n);
        let d = active.domain();
        if d.is_empty(bad) {
            return Ok(true);
        }
        if label.is_empty() {
            return Ok(false);
        }
        if label.iter().any(|c| !d.satisfies(bad, active.place(c.left), active.place(c.right), c.bound)) {
            return Ok(true);
        }
        self.work.clear();
        self.work.extend_from_slice(bad);
        Ok(!invariant(active, label, &mut self.work)?)
    }

    fn post(&mut self, tree: &Tree, n: u32, label: &Label) -> Result<Zone, Error> {
        let node = &tree.nodes[n as usize];
        let (source, target) = (tree.active(node.parent), tree.active(n));
        let edge = tree.edge(n);
        self.entries.clear();
        self.entries.extend([label, edge.own, edge.guard].into_iter().flatten().map(|c| source.entry(c)));
        self.work.resize(source.domain().size(), Bound::INF);
        let rest = Leg { own: &[], guard: &[], ..edge };
        if !source.domain().build_each(&mut self.work, &self.entries)?
            || !post(&mut self.stepper, source, &self.work, &rest, target)?
        {
            return Ok(Zone::empty(target.domain().clocks()));
        }
        Ok(Zone::copied(target.domain(), &self.stepper.zone))
    }

    fn pre(&mut self, tree: &Tree, n: u32, bad: &Zone) -> Result<Zone, Error> {
        let (source, target) = (tree.active(tree.nodes[n as usize].parent), tree.active(n));
        let d = target.domain();
        let nothing = || Ok(Zone::empty(source.domain().clocks()));
        if d.is_empty(bad) {
            return nothing();
        }
        let t = tree.edge(n);
        self.work.clear();
        self.work.extend_from_slice(bad);
        if t.delay {
            d.down(&mut self.work);
        }
        self.entries.clear();
        // What is blocked has few bounds; most entries of its matrix say nothing, or nothing more than others do.
        let (zero, dim) = (&self.work[..d.dim()], d.dim());
        for (i, row) in self.work.chunks_exact(dim).enumerate() {
            for (j, &bound) in row.iter().enumerate() {
                let follows = || i != 0 && j != 0 && row[0].checked_add(zero[j]).is_some_and(|sum| sum <= bound);
                if i == j || bound.is_inf() || (i == 0 && bound == Bound::LE_ZERO) || follows() {
                    continue;
                }
                let c = Constraint { left: target.clocks[i], right: target.clocks[j], bound };
                if !pull_back(source, t.resets, &c, &mut self.entries)? {
                    return nothing();
                }
            }
        }
        self.leave(source, &t)
    }

    fn enabling(&mut self, tree: &Tree, n: u32, t: Try) -> Result<Zone, Error> {
        // All of the target, time having passed or not: its invariant pulled back, and the guard.
        self.entries.clear();
        self.leave(tree.active(n), &tree.leg(n, t))
    }

    fn interpolant(&mut self, tree: &Tree, n: u32, a: &Zone, bad: &Zone) -> Result<Option<Label>, Error> {
        let active = tree.active(n);
        self.cycle.clear();
        let disjoint = if self.order.is_empty() {
            active.domain().interpolant_into(a, bad, &mut self.cycle)
        } else {
            let places = self.order.iter().filter(|c| active.clocks.contains(c)).map(|&c| active.place(c));
            active.domain().interpolant_by(a, bad, places, &mut self.cycle)
        };
        debug_assert!(disjoint, "what is blocked is refuted");
        let rename = |c: &Constraint| Constraint {
            left: active.clocks[c.left as usize],
            right: active.clocks[c.right as usize],
            bound: c.bound,
        };
        Ok(Some(self.cycle.iter().map(rename).collect()))
    }

    fn exactly(&mut self, tree: &Tree, n: u32) -> Label {
        crate::timed::answer::constraints(tree.active(n), tree.zone(n))
    }

    fn complement(&mut self, tree: &Tree, n: u32, label: &Label) -> Result<Vec<Zone>, Error> {
        let active = tree.active(n);
        let mut parts = Vec::new();
        // Row by row, as if they were in a matrix over the clocks that they mention, in the order in which these have become
        // known: so does 002's prototype, and what is blocked first may spare others.
        let mut met: SmallVec<[u32; 16]> = SmallVec::from_slice(&[0]);
        for clock in label.iter().flat_map(|c| [c.left, c.right]) {
            if !met.contains(&clock) {
                met.push(clock);
            }
        }
        let place = |clock: u32| met.iter().position(|&m| m == clock);
        let mut rows: SmallVec<[&Constraint; 16]> = label.iter().collect();
        rows.sort_by_key(|c| (place(c.left), place(c.right)));
        for c in rows {
            let Some(bound) = c.bound.complement() else { continue };
            self.entries.clear();
            self.entries.push((active.place(c.right), active.place(c.left), bound));
            let part = build(active, &self.entries)?;
            if !active.domain().is_empty(&part) {
                parts.push(part);
            }
        }
        Ok(parts)
    }

    fn meet(&mut self, label: &mut Label, other: &Label) {
        for c in other {
            match label.iter_mut().find(|l| l.left == c.left && l.right == c.right) {
                Some(l) => l.bound = l.bound.min(c.bound),
                None => label.push(*c),
            }
        }
    }

    fn leq(&mut self, tree: &Tree, n: u32, a: &Label, _: u32, b: &Label) -> Result<bool, Error> {
        let has = |c: &Constraint| a.iter().any(|l| l.left == c.left && l.right == c.right && l.bound <= c.bound);
        if b.iter().all(has) {
            return Ok(true);
        }
        let active = tree.active(n);
        self.entries.clear();
        self.entries.extend(a.iter().map(|c| active.entry(c)));
        let zone = build(active, &self.entries)?;
        let d = active.domain();
        Ok(b.iter().all(|c| d.get(&zone, active.place(c.left), active.place(c.right)) <= c.bound))
    }
}

impl ZoneInterpolation {
    /// Of clocks that do equally well, the first of these is blamed.
    pub fn blaming(order: Vec<u32>) -> ZoneInterpolation {
        ZoneInterpolation { order, ..ZoneInterpolation::default() }
    }

    /// The valuations of the source that satisfy `entries` and from which a transition leads to the invariant of its target.
    fn leave(&mut self, source: ActiveClocks<'_>, t: &Leg<'_>) -> Result<Zone, Error> {
        for c in t.invariant {
            if !pull_back(source, t.resets, c, &mut self.entries)? {
                return Ok(Zone::empty(source.domain().clocks()));
            }
        }
        self.entries.extend(t.own.iter().chain(t.guard).map(|c| source.entry(c)));
        build(source, &self.entries)
    }
}

/// Adds what a constraint after resets says about clocks before them; answers whether that is possible.
fn pull_back(
    source: ActiveClocks<'_>,
    resets: &[SetClock],
    c: &Constraint,
    entries: &mut Entries,
) -> Result<bool, Error> {
    let ((left, add), (right, subtract)) = (origin(resets, c.left), origin(resets, c.right));
    let Some(n) = c.bound.constant() else { return Ok(true) };
    let constant = i64::from(n) - i64::from(add) + i64::from(subtract);
    let bound = Bound::checked(constant, c.bound.is_strict()).ok_or(Error::Range)?;
    if left == right {
        return Ok(bound >= Bound::LE_ZERO);
    }
    entries.push((source.place(left), source.place(right), bound));
    Ok(true)
}
