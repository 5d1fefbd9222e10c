//! Paths of forward searches along which numbers grow without limit, and the runs behind them.
//!
//! A node is a vector in which numbers may be unlimited. If a path leads from a vector to a larger one that can do all that the first
//! can, what has grown can be made as large as one likes by taking the path again and again: it becomes unlimited (Karp and Miller
//! 1969). Only what the rules of the path add to and subtract from, and do nothing else with, is accelerated.

use trellis_model::counter::evidence::Verdict;
use trellis_model::counter::post::post;
use trellis_model::counter::pre::pre;
use trellis_model::counter::{OMEGA, Overflow, RuleId, System, Var, Vector};
use trellis_model::evidence::Reason;

use super::{beyond, run_of};

/// Longer runs are not written down.
const LONGEST: usize = 2_000_000;

/// What became unlimited because of whom: an earlier node on the path.
pub struct Pumped {
    since: u32,
    what: Vec<Var>,
}

/// A vector, and how the search came to it.
pub struct Node {
    pub vector: Vector,
    pub parent: Option<(u32, RuleId)>,
    pub pumped: Vec<Pumped>,
}

impl Node {
    /// Where a search begins.
    pub fn start(vector: Vector) -> Node {
        Node { vector, parent: None, pumped: vec![] }
    }
}

/// All nodes of a search.
#[derive(Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    /// For each variable whether its numbers are kept as they are; empty if none is.
    pub exact: Vec<bool>,
}

impl Tree {
    /// What grows along a path becomes unlimited.
    ///
    /// `below` says when what one vector can do the other can too.
    pub fn accelerated(
        &self,
        system: &System,
        mut vector: Vector,
        parent: u32,
        rule: RuleId,
        below: &dyn Fn(&Vector, &Vector) -> bool,
    ) -> Node {
        let mut pumped = vec![];
        let mut finite: Vec<(Var, u64)> = vector.iter().filter(|e| e.1 != OMEGA).collect();
        let mut changed = true;
        while changed {
            changed = false;
            // Variables that some rule since does more with than adding and subtracting.
            let mut odd: Vec<Var> = vec![];
            let mut last = rule;
            let mut at = Some(parent);
            while let Some(n) = at {
                note_odd(system, last, &mut odd);
                let node = &self.nodes[n as usize];
                let grown = |(v, k): &(Var, u64)| *k > node.vector.get(*v) && !odd.contains(v);
                if finite.iter().any(grown) && below(&node.vector, &vector) {
                    let what: Vec<Var> = finite.iter().filter(|e| grown(e)).map(|e| e.0).collect();
                    let mut entries = vector.entries().to_vec();
                    entries.extend(what.iter().map(|v| (*v, OMEGA)));
                    vector = Vector::new(entries);
                    finite.retain(|e| !what.contains(&e.0));
                    pumped.push(Pumped { since: n, what });
                    changed = true;
                }
                at = node.parent.map(|(p, r)| {
                    last = r;
                    p
                });
            }
        }
        Node { vector, parent: Some((parent, rule)), pumped }
    }

    /// A run to at least the target, which the node's vector covers.
    pub fn concrete(&self, system: &System, node: u32, target: &Vector) -> Result<Verdict, Reason> {
        let mut rules = vec![];
        let mut root = node;
        while let Some((parent, _)) = self.nodes[root as usize].parent {
            root = parent;
        }
        let levels = self.nodes[node as usize].pumped.len();
        let start = self.back(system, (node, levels), root, target.clone(), &mut rules)?;
        let there = &self.nodes[root as usize].vector;
        if !start.leq(there) {
            return Err(Reason::Stuck("no run was found along an accelerated path".into()));
        }
        rules.reverse();
        // What was kept exactly starts as it did on the path, not as small as it may.
        let fixed = self.exact.iter().enumerate().filter(|e| *e.1).map(|(v, _)| (v as Var, there.get(v as Var)));
        let start = Vector::new(start.iter().chain(fixed).collect());
        Ok(run_of(system, &start, rules))
    }

    /// What must be there at the node `until` so that the path from it to the node leads to at least `wanted`, if what grows on
    /// the way is made to grow for long enough. Of the node's own accelerations the first so many count. Rules are
    /// listed from the end.
    fn back(
        &self,
        system: &System,
        (mut node, mut levels): (u32, usize),
        until: u32,
        mut wanted: Vector,
        rules: &mut Vec<(RuleId, u64)>,
    ) -> Result<Vector, Reason> {
        let too_long = || Reason::Stuck("a run is too long to be written down".into());
        while node != until {
            while levels > 0 {
                // Without this acceleration, is there enough?
                let n = &self.nodes[node as usize];
                let pumped = &n.pumped[levels - 1];
                let Some((parent, rule)) = n.parent else { break };
                let mut plain = post(&system.rules[rule as usize], &self.nodes[parent as usize].vector)
                    .map_err(beyond)?
                    .unwrap_or_default();
                for earlier in &n.pumped[..levels - 1] {
                    plain = plain.join(&Vector::new(earlier.what.iter().map(|v| (*v, OMEGA)).collect()));
                }
                while pumped.what.iter().any(|v| wanted.get(*v) > plain.get(*v)) {
                    if rules.len() > LONGEST {
                        return Err(too_long());
                    }
                    // A path of one rule: as often as it takes, at once.
                    let single = levels == 1 && pumped.since == parent;
                    let often = if single { taken_often(system, rule, &pumped.what, &plain, &wanted)? } else { None };
                    if let Some((before, times)) = often {
                        rules.push((rule, times));
                        wanted = before;
                        continue;
                    }
                    // Once more along the path: it starts where this node is, which is above where it started first.
                    let before = self.back(system, (node, levels - 1), pumped.since, wanted.clone(), rules)?;
                    if pumped.what.iter().all(|v| before.get(*v) >= wanted.get(*v)) {
                        return Err(Reason::Stuck("an acceleration does not grow".into()));
                    }
                    wanted = before;
                }
                levels -= 1;
            }
            let Some((parent, rule)) = self.nodes[node as usize].parent else { break };
            let before = pre(&system.rules[rule as usize], &wanted).map_err(beyond)?;
            let there = &self.nodes[parent as usize].vector;
            let missing =
                |v: &Vector| v.iter().map(|(x, n)| n.saturating_sub(there.get(x))).fold(0, u64::saturating_add);
            let Some(best) = before.into_iter().min_by_key(missing) else {
                return Err(Reason::Stuck("no run was found along an accelerated path".into()));
            };
            rules.push((rule, 1));
            if rules.len() > LONGEST {
                return Err(too_long());
            }
            wanted = best;
            node = parent;
            levels = self.nodes[node as usize].pumped.len();
        }
        Ok(wanted)
    }
}

/// What must be there so that a rule leads to at least `wanted` when it is taken so many times that `plain` has enough of what it makes grow; and
/// how many times that is. Nothing if the rule does more than adding constants, or if once is enough.
fn taken_often(
    system: &System,
    rule: RuleId,
    grown: &[Var],
    plain: &Vector,
    wanted: &Vector,
) -> Result<Option<(Vector, u64)>, Reason> {
    let rule = &system.rules[rule as usize];
    if rule.guards.iter().any(|g| g.1.high.is_some()) || rule.updates.iter().any(|(v, u)| u.sources != [*v]) {
        return Ok(None);
    }
    let change = |v: Var| rule.update(v).map_or(0, |u| i128::from(u.constant));
    let mut times: i128 = 0;
    for v in grown {
        let missing = i128::from(wanted.get(*v)) - i128::from(plain.get(*v));
        if missing > 0 {
            if change(*v) <= 0 {
                return Ok(None);
            }
            times = times.max((missing + change(*v) - 1) / change(*v));
        }
    }
    if times <= 1 {
        return Ok(None);
    }
    // What is wanted at the end, and what the first and the last time ask for.
    let mut before: Vec<(Var, u64)> = vec![];
    let mut need = |v: Var, n: i128| -> Result<(), Reason> {
        let n = u64::try_from(n.max(0)).map_err(|_| beyond(Overflow::Numbers))?;
        before.push((v, n));
        Ok(())
    };
    for (v, n) in wanted.iter() {
        need(v, i128::from(n) - times * change(v))?;
    }
    for (v, g) in &rule.guards {
        need(*v, i128::from(g.low).max(i128::from(g.low) - (times - 1) * change(*v)))?;
    }
    for (v, u) in &rule.updates {
        need(*v, (-times * i128::from(u.constant)).max(-i128::from(u.constant)))?;
    }
    let times = u64::try_from(times).map_err(|_| beyond(Overflow::Numbers))?;
    Ok(Some((Vector::new(before), times)))
}

/// Variables that a rule tests from above, or sets to something else than themselves and a constant.
fn note_odd(system: &System, rule: RuleId, odd: &mut Vec<Var>) {
    let rule = &system.rules[rule as usize];
    odd.extend(rule.guards.iter().filter(|g| g.1.high.is_some()).map(|g| g.0));
    odd.extend(rule.updates.iter().filter(|(v, u)| u.sources != [*v]).map(|u| u.0));
}
