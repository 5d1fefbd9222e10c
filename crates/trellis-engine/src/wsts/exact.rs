//! Forward search that is exact where guards have upper bounds (zero tests, inhibitor arcs, capacities).
//!
//! What such guards depend on ([`System::exact_part`]) is kept as it is; of the rest only the largest vectors are kept, and what
//! grows along a path becomes unlimited, as in [`super::forward`]. Of two states that are the same in the exact part the larger can do
//! all that the smaller can, so nothing is lost and nothing is added: a run that is found is a run, and if the search ends without
//! one, the vectors it has seen are a proof. It ends if the exact part takes finitely many values. If every variable is in it, this is
//! plain search, state by state.
//!
//! Where the exact part may start without limit, starts are tried from the smallest on, a few of them: then it finds errors only.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_model::counter::{LARGEST, OMEGA, Overflow, Rule, System, Var, Vector};
use trellis_model::evidence::Reason;

use super::forward::Triggers;
use super::pump::{Node, Tree};
use super::{Outcome, beyond, in_time};
use crate::explore::{Exploration, explore};
use trellis_meter::{Meter, Progress, Stats};

/// More starts than this are not tried.
const STARTS: usize = 20_000;
/// Where the start has no limit, so many more than the fewest are tried.
const MORE: u64 = 8;

/// Can a target be covered?
pub fn check(system: &System, meter: &mut Meter) -> Outcome {
    let exact = system.exact_part();
    let fixed: Vec<Var> = (0..system.names.len() as Var).filter(|v| exact[*v as usize]).collect();
    let mut search = Search {
        system,
        fixed,
        tree: Tree { exact, ..Tree::default() },
        seen: FxHashMap::default(),
        waiting: VecDeque::new(),
        triggers: Triggers::new(system),
        stats: Stats::default(),
    };
    let verdict = search.run(meter).unwrap_or_else(Verdict::Unknown);
    Outcome::new(verdict, search.stats)
}

struct Search<'s> {
    system: &'s System,
    /// The variables that are kept exactly.
    fixed: Vec<Var>,
    tree: Tree,
    /// The largest vectors, by their exact part; numbers are those of the nodes.
    seen: FxHashMap<Vector, Vec<u32>>,
    waiting: VecDeque<u32>,
    triggers: Triggers,
    stats: Stats,
}

impl Exploration for Search<'_> {
    type Found = Verdict;
    type Failure = Reason;

    fn next(&mut self) -> Result<Option<u32>, Reason> {
        while let Some(id) = self.waiting.pop_front() {
            if self.is_largest(id, &self.tree.nodes[id as usize].vector) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.waiting.len(), stats: self.stats }
    }

    fn expand(&mut self, id: u32, meter: &mut Meter) -> Result<Option<Verdict>, Reason> {
        in_time(meter)?;
        self.stats.expanded += 1;
        let vector = self.tree.nodes[id as usize].vector.clone();
        let mut rules = vec![];
        self.triggers.of(&vector, &mut rules);
        for &rule in &rules {
            let Some(after) = after(&self.system.rules[rule as usize], &vector).map_err(beyond)? else { continue };
            self.stats.steps += 1;
            if self.is_covered(&after) {
                self.stats.covered += 1;
                continue;
            }
            let exact = &self.tree.exact;
            let below = |a: &Vector, b: &Vector| a.leq(b) && b.iter().all(|(v, n)| !exact[v as usize] || a.get(v) == n);
            let node = self.tree.accelerated(self.system, after, id, rule, &below);
            if let Some(found) = self.add(node)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

impl Search<'_> {
    fn run(&mut self, meter: &mut Meter) -> Result<Verdict, Reason> {
        let (starts, all) = self.starts();
        for start in starts {
            if let Some(found) = self.add(Node::start(start))? {
                return Ok(found);
            }
        }
        if let Some(found) = explore(self, meter)? {
            return Ok(found);
        }
        if !all {
            return Err(Reason::Stuck(
                "no error from small starts, and where a guard has an upper bound the start may have any number".into(),
            ));
        }
        let tops: Vec<Vector> =
            self.seen.values().flatten().map(|id| self.tree.nodes[*id as usize].vector.clone()).collect();
        self.stats.stored = tops.len() as u64;
        Ok(Verdict::Safe(Certificate::Exact { fixed: self.fixed.clone(), tops }))
    }

    /// How it may start, and whether that is all.
    fn starts(&self) -> (Vec<Vector>, bool) {
        let mut all = true;
        let mut starts: Vec<Vec<(Var, u64)>> = vec![vec![]];
        for (v, start) in self.system.initial.iter().enumerate() {
            let exact = self.tree.exact[v];
            let (low, mut high) = match (exact, start.high) {
                (false, high) => (high.unwrap_or(OMEGA), high.unwrap_or(OMEGA)),
                (true, Some(high)) => (start.low, high),
                (true, None) => {
                    all = false;
                    (start.low, start.low.saturating_add(MORE))
                }
            };
            let most = (STARTS / starts.len()).max(1) as u64;
            if high - low >= most {
                all = false;
                high = low + most - 1;
            }
            starts = (low..=high)
                .flat_map(|n| starts.iter().map(move |s| s.iter().copied().chain([(v as Var, n)]).collect()))
                .collect();
        }
        (starts.into_iter().map(Vector::new).collect(), all)
    }

    /// What is kept exactly.
    fn key(&self, v: &Vector) -> Vector {
        Vector::sorted(v.iter().filter(|e| self.tree.exact[e.0 as usize]).collect())
    }

    fn is_largest(&self, id: u32, vector: &Vector) -> bool {
        self.seen.get(&self.key(vector)).is_some_and(|all| all.contains(&id))
    }

    fn is_covered(&self, vector: &Vector) -> bool {
        let above = |id: &u32| vector.leq(&self.tree.nodes[*id as usize].vector);
        self.seen.get(&self.key(vector)).is_some_and(|all| all.iter().any(above))
    }

    /// Takes in a vector that no other covers.
    fn add(&mut self, node: Node) -> Result<Option<Verdict>, Reason> {
        let id = self.tree.nodes.len() as u32;
        let hit = self.system.target.iter().find(|t| t.leq(&node.vector));
        let key = self.key(&node.vector);
        let all = self.seen.entry(key).or_default();
        all.retain(|other| !self.tree.nodes[*other as usize].vector.leq(&node.vector));
        all.push(id);
        self.tree.nodes.push(node);
        self.waiting.push_back(id);
        self.stats.added += 1;
        match hit {
            Some(t) => self.tree.concrete(self.system, id, t).map(Some),
            None => Ok(None),
        }
    }
}

/// Where the rule leads from a vector whose numbers are exact wherever the rule has upper bounds.
fn after(rule: &Rule, v: &Vector) -> Result<Option<Vector>, Overflow> {
    if rule.guards.iter().any(|(x, g)| !g.contains(v.get(*x))) {
        return Ok(None);
    }
    let mut entries: Vec<(Var, u64)> = v.iter().filter(|(x, _)| rule.update(*x).is_none()).collect();
    for (y, u) in &rule.updates {
        let mut sum = i128::from(u.constant);
        let mut unlimited = false;
        for n in u.sources.iter().map(|x| v.get(*x)) {
            unlimited |= n == OMEGA;
            sum += i128::from(n);
        }
        if unlimited {
            entries.push((*y, OMEGA));
            continue;
        }
        if sum < 0 {
            return Ok(None);
        }
        let sum = u64::try_from(sum).ok().filter(|n| *n <= LARGEST).ok_or(Overflow::Numbers)?;
        entries.push((*y, sum));
    }
    Ok(Some(Vector::new(entries)))
}
