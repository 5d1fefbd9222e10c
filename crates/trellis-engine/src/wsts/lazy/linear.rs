//! Regions as formulas over linear atoms, with a solver, as 003 writes it: a predicate is an atom `Σ k·x ≥ n`, a region is any Boolean
//! formula over the predicates of its node, and `post#` is the smallest one that contains the successors (all its cubes are asked
//! for). A region is covered by all regions of smaller depth together. The root is the start, with the atoms of the start and of the
//! targets.
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

use super::tree::{Command, Precision, RegionDomain};
use super::{text, too_large};
use trellis_meter::Meter;

/// Larger certificates are not written down.
const LARGEST: u64 = 200_000;

type AtomId = usize;

/// `Σ weight · x ≥ bound`, with positive weights that have no common divisor, and a positive bound.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Atom {
    weights: Vec<(Var, i128)>,
    bound: i128,
}

/// Some atoms that hold together.
type Cube = BTreeSet<AtomId>;

/// Atoms, and the regions over them. A region is its formula.
pub struct LinearRegions<'s> {
    system: &'s System,
    terms: Terms,
    vars: Vec<VarId>,
    atoms: Vec<Atom>,
    numbers: FxHashMap<Atom, AtomId>,
    start: TermId,
    targets: Vec<Cube>,
    precisions: Vec<Vec<AtomId>>,
    /// The regions other than the start, cube by cube: which of the atoms of a precision hold.
    cubes: FxHashMap<TermId, (Precision, Vec<Vec<bool>>)>,
    limits: Meter,
}

impl<'s> LinearRegions<'s> {
    /// No atoms yet.
    pub fn new(system: &'s System, limits: Meter) -> LinearRegions<'s> {
        let mut terms = Terms::default();
        let vars = system.names.iter().map(|n| terms.declare(n.as_str(), Type::Int)).collect();
        LinearRegions {
            system,
            start: terms.bool(true),
            terms,
            vars,
            atoms: vec![],
            numbers: FxHashMap::default(),
            targets: vec![],
            precisions: vec![],
            cubes: FxHashMap::default(),
            limits,
        }
    }

    fn precision(&mut self, known: BTreeSet<AtomId>) -> Precision {
        self.precisions.push(known.into_iter().collect());
        self.precisions.len() as Precision - 1
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

    fn atom_text(&self, atom: AtomId, holds: bool) -> String {
        let Atom { weights, bound } = &self.atoms[atom];
        let part = |(v, k): &(Var, i128)| match k {
            1 => self.system.shown(*v).into_owned(),
            k => format!("{k} {}", self.system.shown(*v)),
        };
        let sum: Vec<String> = weights.iter().map(part).collect();
        let sum = if sum.is_empty() { "0".into() } else { sum.join(" + ") };
        format!("{sum} {} {bound}", if holds { ">=" } else { "<" })
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
    fn common(&mut self, region: TermId, cubes: &[Cube]) -> Result<Option<Vec<u64>>, Reason> {
        let all: Vec<TermId> = cubes.iter().map(|c| self.conjunction(c)).collect();
        let any = self.terms.or(all);
        let mut solver = self.solver(&[region, any]);
        let model = self.ask(&mut solver)?;
        model.map(|m| self.state(&m).ok_or_else(|| Reason::Stuck("a number does not fit".into()))).transpose()
    }

    /// The largest vectors of what is below the start or below a region.
    fn tops(&self, regions: impl Iterator<Item = TermId>) -> Option<Vec<Vector>> {
        let mut all = Basis::default();
        let start: Vec<u64> = self.system.initial.iter().map(|i| i.high.unwrap_or(OMEGA)).collect();
        all.insert_maximal(Vector::dense(&start));
        let mut left = LARGEST;
        for (precision, cubes) in regions.filter_map(|r| self.cubes.get(&r)) {
            for cube in cubes {
                self.tops_of(&self.precisions[*precision as usize], cube, &mut left, &mut all)?;
            }
        }
        Some(all.iter().cloned().collect())
    }

    /// Those of a cube: every variable in an atom that does not hold is limited; all values of these are tried.
    fn tops_of(&self, known: &[AtomId], cube: &[bool], left: &mut u64, all: &mut Basis) -> Option<()> {
        let literals = || known.iter().map(|a| &self.atoms[*a]).zip(cube);
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

impl RegionDomain for LinearRegions<'_> {
    type Region = TermId;
    /// Disjunct by disjunct.
    type Error = Vec<Cube>;
    type Run = Trace;
    type Proof = Certificate;

    fn start(&mut self) -> Result<(TermId, Precision), Reason> {
        let system = self.system;
        if !system.is_monotone() {
            let why = "linear atoms are only for systems without upper bounds in guards";
            return Err(Reason::Stuck(why.into()));
        }
        let mut known = BTreeSet::new();
        let mut start = vec![];
        for (v, i) in system.initial.iter().enumerate() {
            for (bound, holds) in [(Some(i.low), true), (i.high.map(|h| h + 1), false)] {
                let Some(bound) = bound.filter(|b| *b > 0) else { continue };
                let atom = self.number(vec![(v as Var, 1)], bound.into()).expect("it says something");
                known.insert(atom);
                start.push(self.literal(atom, holds));
            }
        }
        for t in &system.target {
            let atoms = t.iter().map(|(x, n)| self.number(vec![(x, 1)], n.into()).expect("it says something"));
            let cube: Cube = atoms.collect();
            known.extend(&cube);
            self.targets.push(cube);
        }
        self.start = self.terms.and(start);
        Ok((self.start, self.precision(known)))
    }

    fn targets(&mut self) -> Vec<Cube> {
        self.targets.clone()
    }

    fn is_error(&mut self, region: TermId) -> Result<bool, Reason> {
        let targets = self.targets.clone();
        self.meets(region, &targets)
    }

    fn meets(&mut self, region: TermId, error: &Vec<Cube>) -> Result<bool, Reason> {
        Ok(self.common(region, error)?.is_some())
    }

    fn pre(&mut self, command: Command, error: &Vec<Cube>) -> Result<Vec<Cube>, Reason> {
        let system = self.system;
        let rule = &system.rules[command as usize];
        let enabled = self.enabled(rule);
        let mut all = vec![];
        for cube in error {
            let mut before = enabled.clone();
            before.extend(cube.iter().filter_map(|a| self.before(*a, rule)));
            // A sum of nothing is not positive.
            if before.iter().all(|a| !self.atoms[*a].weights.is_empty()) && !all.contains(&before) {
                all.push(before);
            }
        }
        Ok(all)
    }

    /// All cubes over the predicates that a successor may satisfy.
    fn post(&mut self, region: TermId, precision: Precision) -> Result<Vec<(Command, TermId)>, Reason> {
        let system = self.system;
        let known = self.precisions[precision as usize].clone();
        let mut next = vec![];
        for (r, rule) in system.rules.iter().enumerate() {
            let enabled = self.enabled(rule);
            if enabled.iter().any(|a| self.atoms[*a].weights.is_empty()) {
                continue;
            }
            let enabled = self.conjunction(&enabled);
            let after: Vec<Option<AtomId>> = known.iter().map(|a| self.before(*a, rule)).collect();
            let mut solver = self.solver(&[region, enabled]);
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
            cubes.sort_unstable();
            let mut all = vec![];
            for cube in &cubes {
                let literals: Vec<TermId> = known.iter().zip(cube).map(|(a, h)| self.literal(*a, *h)).collect();
                all.push(self.terms.and(literals));
            }
            let after = self.terms.or(all);
            self.cubes.entry(after).or_insert((precision, cubes));
            next.push((r as Command, after));
        }
        Ok(next)
    }

    fn covers(&self, _: TermId) -> bool {
        true
    }

    fn is_within(&mut self, region: TermId, others: impl Iterator<Item = TermId>) -> Result<bool, Reason> {
        // In the order of their numbers: which solver calls are made does not depend on a hash.
        let others: BTreeSet<TermId> = others.collect();
        let mut all = vec![region];
        for r in others {
            all.push(self.terms.not(r));
        }
        let mut solver = self.solver(&all);
        Ok(self.ask(&mut solver)?.is_none())
    }

    fn refine(
        &mut self,
        (_, precision): (TermId, Precision),
        errors: &[Vec<Cube>],
        _: &[Command],
    ) -> Result<Precision, Reason> {
        let mut known: BTreeSet<AtomId> = self.precisions[precision as usize].iter().copied().collect();
        known.extend(errors.iter().flatten().flatten());
        Ok(self.precision(known))
    }

    fn run(&mut self, errors: &[Vec<Cube>], commands: &[Command]) -> Result<Verdict, Reason> {
        let initial = self.common(self.start, errors.last().expect("there is one"))?.expect("the start meets it");
        let trace = Trace { initial, rules: commands.iter().map(|c| *c as RuleId).collect(), times: vec![] };
        match interpret::walk(self.system, &trace, |_| {}) {
            Ok(end) if interpret::is_bad(self.system, &end) => Ok(Verdict::Unsafe(trace)),
            _ => Err(Reason::Stuck("a number does not fit".into())),
        }
    }

    fn certificate(&mut self, regions: impl Iterator<Item = TermId>) -> Result<Certificate, Reason> {
        self.tops(regions).map(Certificate::Below).ok_or_else(too_large)
    }

    fn predicates(&self) -> usize {
        self.atoms.len()
    }

    fn region_text(&self, region: TermId) -> String {
        let Some((precision, cubes)) = self.cubes.get(&region) else { return text::start(self.system) };
        let known = &self.precisions[*precision as usize];
        let cube = |c: &Vec<bool>| {
            let all: Vec<String> = known.iter().zip(c).map(|(a, h)| self.atom_text(*a, *h)).collect();
            all.join(", ")
        };
        text::or(cubes.iter().map(cube))
    }

    fn error_text(&self, error: &Vec<Cube>) -> String {
        text::or(error.iter().map(|cube| {
            let all: Vec<String> = cube.iter().map(|a| self.atom_text(*a, true)).collect();
            all.join(", ")
        }))
    }

    fn precision_text(&self, precision: Precision) -> Vec<String> {
        self.precisions[precision as usize].iter().map(|a| self.atom_text(*a, true)).collect()
    }

    fn command_text(&self, command: Command) -> String {
        text::command(self.system, &[command as RuleId])
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
