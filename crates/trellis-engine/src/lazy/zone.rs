//! Clocks by zone interpolation (002 §4.3.2): concrete labels, abstract labels and what is blocked are all zones.
//!
//! An abstract label is a short list of constraints, in the network's numbering of clocks: it is made of interpolants, and
//! those have few. So proving one is a few comparisons. What needs a closed matrix makes one over the active clocks.

use trellis_domain::zone::{Bound, Constraint, Zone};

use super::block::Interpolation;
use super::tree::{Leg, Tree, Try, post};
use crate::timed::space::{Shape, Stepper, invariant, origin};
use crate::timed::target::Trouble;

/// The domain.
#[derive(Debug, Default)]
pub struct ZoneInterpolation {
    stepper: Stepper,
    work: Vec<Bound>,
    cycle: Vec<Constraint>,
}

/// A conjunction of constraints; none: all valuations.
pub type Label = Vec<Constraint>;

fn build(shape: &Shape, label: &[Constraint]) -> Result<Zone, Trouble> {
    let mut zone = Zone::universe(shape.domain().clocks());
    invariant(shape, label, &mut zone)?;
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
        Zone::copied(tree.shape(n).domain(), tree.zone(n))
    }

    fn proves(&mut self, tree: &Tree, n: u32, _: u32, label: &Label) -> bool {
        let (shape, zone) = (tree.shape(n), tree.zone(n));
        let d = shape.domain();
        label.iter().all(|c| d.get(zone, shape.place(c.left), shape.place(c.right)) <= c.bound)
    }

    fn refutes(&mut self, tree: &Tree, n: u32, label: &Label, bad: &Zone) -> Result<bool, Trouble> {
        let shape = tree.shape(n);
        let d = shape.domain();
        if d.is_empty(bad) {
            return Ok(true);
        }
        if label.is_empty() {
            return Ok(false);
        }
        if label.iter().any(|c| !d.satisfies(bad, shape.place(c.left), shape.place(c.right), c.bound)) {
            return Ok(true);
        }
        self.work.clear();
        self.work.extend_from_slice(bad);
        Ok(!invariant(shape, label, &mut self.work)?)
    }

    fn post(&mut self, tree: &Tree, n: u32, label: &Label) -> Result<Zone, Trouble> {
        let node = &tree.nodes[n as usize];
        let (source, target) = (tree.shape(node.parent), tree.shape(n));
        let zone = build(source, label)?;
        if !post(&mut self.stepper, source, &zone, &tree.edge(n), target)? {
            return Ok(Zone::empty(target.domain().clocks()));
        }
        Ok(Zone::copied(target.domain(), &self.stepper.zone))
    }

    fn pre(&mut self, tree: &Tree, n: u32, bad: &Zone) -> Result<Zone, Trouble> {
        let node = &tree.nodes[n as usize];
        before(tree.shape(node.parent), &tree.edge(n), tree.shape(n), bad)
    }

    fn enabling(&mut self, tree: &Tree, n: u32, t: Try) -> Result<Zone, Trouble> {
        // All of the target, time having passed or not: its invariant pulled back, and the guard.
        let t = tree.leg(n, t);
        let shape = tree.shape(n);
        let mut zone = Zone::universe(shape.domain().clocks());
        if !pull_back(shape, t.resets, t.invariant, &mut zone)?
            || !invariant(shape, t.own, &mut zone)?
            || !invariant(shape, t.guard, &mut zone)?
        {
            return Ok(Zone::empty(shape.domain().clocks()));
        }
        Ok(zone)
    }

    fn interpolant(&mut self, tree: &Tree, n: u32, a: &Zone, bad: &Zone) -> Result<Option<Label>, Trouble> {
        let shape = tree.shape(n);
        self.cycle.clear();
        let disjoint = shape.domain().interpolant_into(a, bad, &mut self.cycle);
        debug_assert!(disjoint, "what is blocked is refuted");
        let rename = |c: &Constraint| Constraint {
            left: shape.clocks[c.left as usize],
            right: shape.clocks[c.right as usize],
            bound: c.bound,
        };
        Ok(Some(self.cycle.iter().map(rename).collect()))
    }

    fn exactly(&mut self, tree: &Tree, n: u32) -> Label {
        crate::timed::answer::constraints(tree.shape(n), tree.zone(n))
    }

    fn complement(&mut self, tree: &Tree, n: u32, label: &Label) -> Result<Vec<Zone>, Trouble> {
        let shape = tree.shape(n);
        let mut parts = Vec::new();
        for c in label {
            let Some(bound) = c.bound.complement() else { continue };
            let mut part = Zone::universe(shape.domain().clocks());
            if invariant(shape, &[Constraint { left: c.right, right: c.left, bound }], &mut part)? {
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

    fn leq(&mut self, tree: &Tree, n: u32, a: &Label, _: u32, b: &Label) -> Result<bool, Trouble> {
        let has = |c: &Constraint| a.iter().any(|l| l.left == c.left && l.right == c.right && l.bound <= c.bound);
        if b.iter().all(has) {
            return Ok(true);
        }
        let shape = tree.shape(n);
        let zone = build(shape, a)?;
        let d = shape.domain();
        Ok(b.iter().all(|c| d.get(&zone, shape.place(c.left), shape.place(c.right)) <= c.bound))
    }
}

/// The valuations of the source from which a transition leads into a zone of the target.
fn before(source: &Shape, t: &Leg<'_>, target: &Shape, bad: &Zone) -> Result<Zone, Trouble> {
    let d = target.domain();
    let nothing = || Ok(Zone::empty(source.domain().clocks()));
    if d.is_empty(bad) {
        return nothing();
    }
    let mut after = bad.clone();
    if t.delay {
        d.down(&mut after);
    }
    if !invariant(target, t.invariant, &mut after)? {
        return nothing();
    }
    let mut zone = Zone::universe(source.domain().clocks());
    if !invariant(source, t.own, &mut zone)? || !invariant(source, t.guard, &mut zone)? {
        return nothing();
    }
    // What is blocked has few bounds; most entries of its matrix say nothing.
    for (i, row) in after.chunks_exact(d.dim()).enumerate() {
        for (j, &bound) in row.iter().enumerate() {
            if i == j || bound.is_inf() || (i == 0 && bound == Bound::LE_ZERO) {
                continue;
            }
            let c = Constraint { left: target.clocks[i], right: target.clocks[j], bound };
            if !pull_back(source, t.resets, &[c], &mut zone)? {
                return nothing();
            }
        }
    }
    Ok(zone)
}

/// Adds what constraints after resets say about clocks before them; answers whether anything is left.
fn pull_back(
    source: &Shape,
    resets: &[trellis_model::network::SetClock],
    constraints: &[Constraint],
    zone: &mut Zone,
) -> Result<bool, Trouble> {
    let d = source.domain();
    for c in constraints {
        let ((left, add), (right, subtract)) = (origin(resets, c.left), origin(resets, c.right));
        let Some(n) = c.bound.constant() else { continue };
        let constant = i64::from(n) - i64::from(add) + i64::from(subtract);
        let bound = Bound::checked(constant, c.bound.is_strict()).ok_or(Trouble::Range)?;
        if left == right {
            if bound < Bound::LE_ZERO {
                return Ok(false);
            }
        } else if !d.constrain(zone, source.place(left), source.place(right), bound)? {
            return Ok(false);
        }
    }
    Ok(true)
}
