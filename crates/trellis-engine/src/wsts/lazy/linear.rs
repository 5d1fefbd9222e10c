//! `LA[BF]` with linear atoms and a solver, as 003 writes it: a predicate is an atom `Σ k·x ≥ n`, a region is any Boolean formula over
//! the predicates of its node, and `post#` is the smallest one that contains the successors (all its cubes are asked for).
//! A node is covered if its region is within all regions of smaller depth together. The root is the start, with the atoms of the
//! start and of the targets.
//!
//! This is for study and for comparison: regions have up to 2ⁿ cubes. Only for systems without upper bounds in guards, and only
//! breadth first. Reachable regions need not be downward-closed; the certificate is what is below them, which no rule leaves
//! either, because rules are monotone.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_model::counter::evidence::{Certificate, Trace, Verdict};
use trellis_model::counter::{Basis, OMEGA, Rule, RuleId, System, Var, Vector, interpret};
use trellis_model::evidence::Reason;
use trellis_smt::{Answer, Embedded, Solver};

use super::Counts;
use crate::wsts::Outcome;
use trellis_meter::{Meter, Progress, Stats};

/// Larger certificates are not written down.
const LARGEST: u64 = 200_000;

type NodeId = usize;
type AtomId = usize;

/// `Σ weight · x ≥ bound`, with positive weights that have no common divisor, and a positive bound.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Atom {
    weights: Vec<(Var, i128)>,
    bound: i128,
}

/// Some atoms that hold together.
type Cube = BTreeSet<AtomId>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unprocessed,
    Covered,
    Uncovered,
    Deleted,
}

struct Node {
    parent: Option<(NodeId, RuleId)>,
    depth: usize,
    known: Vec<AtomId>,
    region: TermId,
    /// The region of a node other than the root, cube by cube: which of the known atoms hold.
    cubes: Vec<Vec<bool>>,
    children: Vec<NodeId>,
    mark: Mark,
    at: u64,
}

struct Tree<'s> {
    system: &'s System,
    terms: Terms,
    vars: Vec<VarId>,
    atoms: Vec<Atom>,
    numbers: FxHashMap<Atom, AtomId>,
    nodes: Vec<Node>,
    waiting: BTreeSet<(usize, NodeId)>,
    clock: u64,
    limits: Meter,
    counts: Counts,
    stats: Stats,
}

/// Can a target be covered?
pub fn counted(system: &System, meter: &mut Meter) -> (Outcome, Counts) {
    let mut terms = Terms::default();
    let vars = system.names.iter().map(|n| terms.declare(n.as_str(), Type::Int)).collect();
    let mut tree = Tree {
        system,
        terms,
        vars,
        atoms: vec![],
        numbers: FxHashMap::default(),
        nodes: vec![],
        waiting: BTreeSet::new(),
        clock: 0,
        limits: meter.clone(),
        counts: Counts::default(),
        stats: Stats::default(),
    };
    let verdict = if system.is_monotone() {
        tree.run(meter).unwrap_or_else(Verdict::Unknown)
    } else {
        Verdict::Unknown(Reason::Stuck("linear atoms are only for systems without upper bounds in guards".into()))
    };
    tree.counts.predicates = tree.atoms.len();
    tree.stats.stored = tree.nodes.iter().filter(|n| n.mark == Mark::Uncovered).count() as u64;
    (Outcome::new(verdict, tree.stats), tree.counts)
}

impl Tree<'_> {
    fn run(&mut self, meter: &mut Meter) -> Result<Verdict, Reason> {
        let mut known = BTreeSet::new();
        let mut start = vec![];
        for (v, i) in self.system.initial.iter().enumerate() {
            for (bound, holds) in [(Some(i.low), true), (i.high.map(|h| h + 1), false)] {
                let Some(bound) = bound.filter(|b| *b > 0) else { continue };
                let atom = self.number(vec![(v as Var, 1)], bound.into()).expect("it says something");
                known.insert(atom);
                start.push(self.literal(atom, holds));
            }
        }
        let targets = self.targets();
        known.extend(targets.iter().flatten());
        let region = self.terms.and(start);
        self.add(None, known.into_iter().collect(), region, vec![]);
        while let Some((_, id)) = self.waiting.pop_first() {
            meter.check(&Progress { waiting: self.waiting.len(), stats: self.stats })?;
            self.stats.expanded += 1;
            self.clock += 1;
            self.nodes[id].at = self.clock;
            if self.meets(self.nodes[id].region, &targets)?.is_some() {
                if let Some(found) = self.refine(id, &targets)? {
                    return Ok(found);
                }
            } else if self.is_covered(id)? {
                self.nodes[id].mark = Mark::Covered;
                self.stats.covered += 1;
            } else {
                self.nodes[id].mark = Mark::Uncovered;
                self.expand(id)?;
            }
        }
        let tops = self.tops();
        let stuck = || Reason::Stuck("the reachable region has too many parts to be written down".into());
        tops.map(|all| Verdict::Safe(Certificate::Below(all))).ok_or_else(stuck)
    }

    fn targets(&mut self) -> Vec<Cube> {
        let system = self.system;
        let mut all = vec![];
        for t in &system.target {
            let atoms = t.iter().map(|(x, n)| self.number(vec![(x, 1)], n.into()).expect("it says something"));
            all.push(atoms.collect());
        }
        all
    }

    /// The number of an atom; nothing if it holds always. The weights may come in any order and more than once.
    fn number(&mut self, mut weights: Vec<(Var, i128)>, bound: i128) -> Option<AtomId> {
        if bound <= 0 {
            return None;
        }
        weights.sort_unstable_by_key(|w| w.0);
        let mut sums: Vec<(Var, i128)> = vec![];
        for (v, k) in weights {
            match sums.last_mut() {
                Some(last) if last.0 == v => last.1 += k,
                _ => sums.push((v, k)),
            }
        }
        let common = sums.iter().fold(0, |a, w| gcd(a, w.1)).max(1);
        sums.iter_mut().for_each(|w| w.1 /= common);
        let atom = Atom { weights: sums, bound: (bound + common - 1) / common };
        let new = self.atoms.len();
        let id = *self.numbers.entry(atom.clone()).or_insert(new);
        if id == new {
            self.atoms.push(atom);
        }
        Some(id)
    }

    fn literal(&mut self, atom: AtomId, holds: bool) -> TermId {
        let a = self.atoms[atom].clone();
        if a.weights.is_empty() {
            // Nothing is not at least something.
            return self.terms.bool(!holds);
        }
        let mut sum = vec![];
        for (v, k) in a.weights {
            let (k, x) = (self.terms.number(Type::Int, k.into()), self.terms.var(self.vars[v as usize]));
            sum.push(self.terms.mul(k, x));
        }
        let sum = self.terms.add(sum);
        let bound = self.terms.number(Type::Int, a.bound.into());
        let t = self.terms.le(bound, sum);
        if holds { t } else { self.terms.not(t) }
    }

    fn conjunction(&mut self, cube: &Cube) -> TermId {
        let all: Vec<TermId> = cube.iter().map(|a| self.literal(*a, true)).collect();
        self.terms.and(all)
    }

    /// An atom, said of what is before a rule.
    fn before(&mut self, atom: AtomId, rule: &Rule) -> Option<AtomId> {
        let Atom { weights, mut bound } = self.atoms[atom].clone();
        let mut sums = vec![];
        for (v, k) in weights {
            match rule.update(v) {
                None => sums.push((v, k)),
                Some(u) => {
                    bound -= k * i128::from(u.constant);
                    sums.extend(u.sources.iter().map(|x| (*x, k)));
                }
            }
        }
        self.number(sums, bound)
    }

    /// Where the rule can be taken.
    fn enabled(&mut self, rule: &Rule) -> Cube {
        let mut all: Vec<Option<AtomId>> =
            rule.guards.iter().map(|(v, g)| self.number(vec![(*v, 1)], g.low.into())).collect();
        for (_, u) in &rule.updates {
            all.push(self.number(u.sources.iter().map(|x| (*x, 1)).collect(), -i128::from(u.constant)));
        }
        all.into_iter().flatten().collect()
    }

    /// `pre`, disjunct by disjunct.
    fn pre(&mut self, cubes: &[Cube], rule: RuleId) -> Vec<Cube> {
        let system = self.system;
        let rule = &system.rules[rule as usize];
        let enabled = self.enabled(rule);
        let mut all = vec![];
        for cube in cubes {
            let mut before = enabled.clone();
            before.extend(cube.iter().filter_map(|a| self.before(*a, rule)));
            // A sum of nothing is not positive.
            if before.iter().all(|a| !self.atoms[*a].weights.is_empty()) && !all.contains(&before) {
                all.push(before);
            }
        }
        all
    }

    fn solver(&mut self, all: &[TermId]) -> Embedded {
        let mut solver = Embedded::new();
        let zero = self.terms.int(0);
        for v in self.vars.clone() {
            let x = self.terms.var(v);
            let t = self.terms.le(zero, x);
            solver.assert(&self.terms, t);
        }
        all.iter().for_each(|t| solver.assert(&self.terms, *t));
        solver
    }

    fn ask(&self, solver: &mut Embedded) -> Result<Option<Valuation>, Reason> {
        match solver.check(&self.terms, &[], &self.limits) {
            Answer::Sat(model) => Ok(Some(model)),
            Answer::Unsat(_) => Ok(None),
            Answer::Unknown(trellis_smt::Reason::Time) => Err(Reason::Time),
            Answer::Unknown(trellis_smt::Reason::Cancelled) => Err(Reason::Interrupted),
            Answer::Unknown(why) => Err(Reason::Stuck(why.to_string())),
        }
    }

    /// The model, if it fits.
    fn state(&self, model: &Valuation) -> Option<Vec<u64>> {
        let value = |v: &VarId| match model.get(v) {
            Some(Value::Int(n)) => u64::try_from(n).ok(),
            _ => Some(0),
        };
        self.vars.iter().map(value).collect()
    }

    /// A state of the region in one of the cubes.
    fn meets(&mut self, region: TermId, cubes: &[Cube]) -> Result<Option<Vec<u64>>, Reason> {
        let all: Vec<TermId> = cubes.iter().map(|c| self.conjunction(c)).collect();
        let any = self.terms.or(all);
        let mut solver = self.solver(&[region, any]);
        let model = self.ask(&mut solver)?;
        model.map(|m| self.state(&m).ok_or_else(|| Reason::Stuck("a number does not fit".into()))).transpose()
    }

    fn add(&mut self, parent: Option<(NodeId, RuleId)>, known: Vec<AtomId>, region: TermId, cubes: Vec<Vec<bool>>) {
        let id = self.nodes.len();
        let depth = parent.map_or(0, |p| self.nodes[p.0].depth + 1);
        if let Some((p, _)) = parent {
            self.nodes[p].children.push(id);
        }
        self.nodes.push(Node { parent, depth, known, region, cubes, children: vec![], mark: Mark::Unprocessed, at: 0 });
        self.waiting.insert((depth, id));
        self.stats.added += 1;
    }

    /// `post#` for every rule: all cubes over the predicates that a successor may satisfy.
    fn expand(&mut self, id: NodeId) -> Result<(), Reason> {
        let system = self.system;
        let known = self.nodes[id].known.clone();
        for (r, rule) in system.rules.iter().enumerate() {
            let enabled = self.enabled(rule);
            if enabled.iter().any(|a| self.atoms[*a].weights.is_empty()) {
                continue;
            }
            let enabled = self.conjunction(&enabled);
            let after: Vec<Option<AtomId>> = known.iter().map(|a| self.before(*a, rule)).collect();
            let mut solver = self.solver(&[self.nodes[id].region, enabled]);
            let mut cubes: Vec<Vec<bool>> = vec![];
            while let Some(model) = self.ask(&mut solver)? {
                let Some(state) = self.state(&model) else { return Err(Reason::Stuck("a number does not fit".into())) };
                let cube: Vec<bool> = after.iter().map(|a| a.is_none_or(|a| holds(&self.atoms[a], &state))).collect();
                let mut other = vec![];
                for (a, held) in after.iter().zip(&cube) {
                    // What holds always tells no two cubes apart.
                    if let Some(a) = a {
                        other.push(self.literal(*a, !held));
                    }
                }
                let other = self.terms.or(other);
                solver.assert(&self.terms, other);
                cubes.push(cube);
            }
            if cubes.is_empty() {
                continue;
            }
            self.stats.steps += 1;
            cubes.sort_unstable();
            let mut all = vec![];
            for cube in &cubes {
                let literals: Vec<TermId> = known.iter().zip(cube).map(|(a, h)| self.literal(*a, *h)).collect();
                all.push(self.terms.and(literals));
            }
            let region = self.terms.or(all);
            self.add(Some((id, r as RuleId)), known.clone(), region, cubes);
        }
        Ok(())
    }

    fn is_covered(&mut self, id: NodeId) -> Result<bool, Reason> {
        let (region, depth) = (self.nodes[id].region, self.nodes[id].depth);
        let before = |n: &&Node| n.mark == Mark::Uncovered && n.depth < depth;
        let regions: BTreeSet<TermId> = self.nodes.iter().filter(before).map(|n| n.region).collect();
        if regions.contains(&region) {
            return Ok(true);
        }
        let mut all = vec![region];
        for r in regions {
            all.push(self.terms.not(r));
        }
        let mut solver = self.solver(&all);
        Ok(self.ask(&mut solver)?.is_none())
    }

    /// An error node: the run is real, or the pivot gets the atoms of all error regions from it to the error.
    fn refine(&mut self, error: NodeId, targets: &[Cube]) -> Result<Option<Verdict>, Reason> {
        let mut layers = vec![targets.to_vec()];
        let mut rules = vec![];
        let mut at = error;
        while let Some((parent, rule)) = self.nodes[at].parent {
            let before = self.pre(layers.last().expect("there is one"), rule);
            layers.push(before.clone());
            rules.push(rule);
            at = parent;
            match self.meets(self.nodes[at].region, &before)? {
                None => break,
                Some(_) if self.nodes[at].parent.is_some() => {}
                Some(initial) => {
                    rules.reverse();
                    return self.real(initial, rules).map(Some);
                }
            }
        }
        if at == error {
            // The root itself.
            let initial = self.meets(self.nodes[at].region, targets)?.expect("it is an error node");
            return self.real(initial, vec![]).map(Some);
        }
        self.stats.refinements += 1;
        self.counts.at_root += u64::from(at == 0);
        self.counts.deepest_pivot = self.counts.deepest_pivot.max(self.nodes[at].depth);
        let mut known: BTreeSet<AtomId> = self.nodes[at].known.iter().copied().collect();
        known.extend(layers.iter().flatten().flatten());
        self.nodes[at].known = known.into_iter().collect();
        let since = self.nodes[at].at;
        let mut gone = std::mem::take(&mut self.nodes[at].children);
        while let Some(n) = gone.pop() {
            gone.append(&mut self.nodes[n].children);
            self.nodes[n].mark = Mark::Deleted;
            self.waiting.remove(&(self.nodes[n].depth, n));
        }
        for n in 0..self.nodes.len() {
            let node = &mut self.nodes[n];
            if n == at || (node.mark == Mark::Covered && node.at > since) {
                node.mark = Mark::Unprocessed;
                self.waiting.insert((node.depth, n));
            }
        }
        Ok(None)
    }

    fn real(&self, initial: Vec<u64>, rules: Vec<RuleId>) -> Result<Verdict, Reason> {
        let trace = Trace { initial, rules };
        match interpret::walk(self.system, &trace, |_| {}) {
            Ok(end) if interpret::is_bad(self.system, &end) => Ok(Verdict::Unsafe(trace)),
            _ => Err(Reason::Stuck("a number does not fit".into())),
        }
    }

    /// The largest vectors of what is below the start or below a region.
    fn tops(&self) -> Option<Vec<Vector>> {
        let mut all = Basis::default();
        let start: Vec<u64> = self.system.initial.iter().map(|i| i.high.unwrap_or(OMEGA)).collect();
        all.insert_maximal(Vector::dense(&start));
        let mut left = LARGEST;
        for node in self.nodes.iter().skip(1).filter(|n| n.mark == Mark::Uncovered) {
            for cube in &node.cubes {
                self.tops_of(node, cube, &mut left, &mut all)?;
            }
        }
        Some(all.iter().cloned().collect())
    }

    /// Those of a cube: every variable in an atom that does not hold is limited; all values of these are tried.
    fn tops_of(&self, node: &Node, cube: &[bool], left: &mut u64, all: &mut Basis) -> Option<()> {
        let literals = || node.known.iter().map(|a| &self.atoms[*a]).zip(cube);
        let limits: Vec<&Atom> = literals().filter(|l| !l.1).map(|l| l.0).collect();
        let needs: Vec<&Atom> = literals().filter(|l| *l.1).map(|l| l.0).collect();
        let limited: Vec<Var> = {
            let all: BTreeSet<Var> = limits.iter().flat_map(|a| a.weights.iter().map(|w| w.0)).collect();
            all.into_iter().collect()
        };
        let mut state = vec![OMEGA; self.system.names.len()];
        limited.iter().for_each(|v| state[*v as usize] = 0);
        loop {
            *left = left.checked_sub(1)?;
            let keeps = limits.iter().all(|a| !holds(a, &state));
            if keeps && needs.iter().all(|a| holds(a, &state)) {
                all.insert_maximal(Vector::dense(&state));
            }
            // The next values: count up the first variable, and where a limit is broken start it over and carry.
            let mut i = 0;
            loop {
                let Some(v) = limited.get(i) else { return Some(()) };
                state[*v as usize] += 1;
                if limits.iter().all(|a| !holds(a, &state)) {
                    break;
                }
                state[*v as usize] = 0;
                i += 1;
            }
        }
    }
}

fn holds(a: &Atom, state: &[u64]) -> bool {
    let mut sum: i128 = 0;
    for (v, k) in &a.weights {
        match state[*v as usize] {
            OMEGA => return true,
            n => sum = sum.saturating_add(k.saturating_mul(n.into())),
        }
    }
    sum >= a.bound
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
