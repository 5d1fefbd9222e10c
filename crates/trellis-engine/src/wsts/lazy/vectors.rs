//! Regions as sets of vectors: a predicate is "at least `m`", a region is what is at least none of those that it excludes.
//!
//! Which predicates are below a vector is looked up once per vector; from then on regions are sets of numbers, each stored once.
//!
//! A command that raises no variable of a predicate cannot lead above it from below: if the region excludes the predicate, so does
//! what follows, and `pre` is not asked. That makes targets of 10,000 parts and wide nets bearable.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_model::counter::evidence::{Certificate, Trace, Verdict};
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::bits::Bits;
use super::region::{Cone, Pred, Predicates, Region, RegionId, START, above_start, pre_of};
use super::tree::{Command, Precision, RegionDomain};
use super::{Options, text, too_large};
use crate::wsts::{beyond, in_time, run};
use trellis_meter::Meter;

/// Larger complements of the reachable region are not written down.
const LARGEST: usize = 50_000;

/// Predicates, and the regions that they describe.
pub struct VectorRegions<'s> {
    system: &'s System,
    options: Options,
    predicates: Predicates,
    numbers: FxHashMap<Vector, Pred>,
    /// The predicates as vectors.
    cones: Vec<Cone>,
    targets: Vec<Cone>,
    /// The rules of each command: one, unless they are merged.
    commands: Vec<Vec<RuleId>>,
    /// For each variable the commands that may raise it; for each command the predicates that mention such a variable.
    raisers: Vec<Vec<Command>>,
    raised: Vec<Bits>,
    /// The predicates that the start excludes.
    not_at_start: Bits,
    /// For each command the smallest states in which it can be taken.
    enabled: Vec<Vec<Cone>>,
    /// For each command and predicate the smallest states from which it leads there.
    before: Vec<FxHashMap<Pred, Vec<Cone>>>,
    regions: Vec<Region>,
    region_numbers: FxHashMap<Rc<Bits>, RegionId>,
    precisions: Vec<Rc<Vec<Pred>>>,
    /// What leads into the target by any rules, step by step.
    layers: Vec<Basis>,
    /// Looked at inside long steps.
    limits: Meter,
}

/// For each variable the commands that may raise it.
fn raisers(system: &System, merged: bool) -> Vec<Vec<Command>> {
    let mut all = system.raisers();
    if merged {
        all.iter_mut().filter(|l| !l.is_empty()).for_each(|l| *l = vec![0]);
    }
    all
}

impl<'s> VectorRegions<'s> {
    /// No predicates yet, and no region but the start.
    pub fn new(system: &'s System, options: Options, limits: Meter) -> VectorRegions<'s> {
        let rules = 0..system.rules.len() as RuleId;
        let commands: Vec<Vec<RuleId>> =
            if options.merged { vec![rules.collect()] } else { rules.map(|r| vec![r]).collect() };
        VectorRegions {
            system,
            options,
            predicates: Predicates::default(),
            numbers: FxHashMap::default(),
            cones: vec![],
            targets: system.target.iter().map(|t| Cone::new(system, t.clone())).collect(),
            raisers: raisers(system, options.merged),
            raised: vec![Bits::default(); commands.len()],
            not_at_start: Bits::default(),
            enabled: vec![],
            before: commands.iter().map(|_| FxHashMap::default()).collect(),
            commands,
            // The start has a number that no other region has.
            regions: vec![Region { excluded: Rc::default(), all: Bits::default(), seen: 0, error: None }],
            region_numbers: FxHashMap::default(),
            precisions: vec![],
            layers: vec![Basis::minimal(system.target.iter().cloned())],
            limits,
        }
    }

    fn precision(&mut self, mut known: Vec<Pred>) -> Precision {
        known.sort_unstable();
        known.dedup();
        self.precisions.push(Rc::new(known));
        self.precisions.len() as Precision - 1
    }

    fn number(&mut self, v: Vector) -> Pred {
        *self.numbers.entry(v).or_insert_with_key(|v| {
            let cone = Cone::new(self.system, v.clone());
            let id = self.predicates.push(v.clone());
            if !cone.at_start {
                self.not_at_start.insert(id);
            }
            for c in v.iter().flat_map(|(x, _)| &self.raisers[x as usize]) {
                self.raised[*c as usize].insert(id);
            }
            self.cones.push(cone);
            id
        })
    }

    fn region(&mut self, excluded: Bits) -> RegionId {
        let excluded = Rc::new(excluded);
        *self.region_numbers.entry(excluded.clone()).or_insert_with(|| {
            self.regions.push(Region { excluded, all: Bits::default(), seen: 0, error: None });
            self.regions.len() as RegionId - 1
        })
    }

    /// Is nothing at least this in the region?
    fn excludes(&self, id: RegionId, v: &Vector) -> bool {
        match id {
            START => !self.system.may_start_above(v),
            _ => self.predicates.some_below(v, &self.regions[id as usize].excluded),
        }
    }

    /// The atoms that a pivot gets: always those of the error trace, without which it need not end.
    fn atoms(&mut self, region: RegionId, layers: &[Basis], commands: &[Command]) -> Result<Vec<Vector>, Reason> {
        let mut all: Vec<Vector> = layers.iter().flat_map(Basis::iter).cloned().collect();
        if self.options.layers {
            while self.layers.len() < layers.len() {
                let mut before = Basis::default();
                for v in self.layers.last().expect("there is one").iter() {
                    in_time(&self.limits)?;
                    for rule in &self.system.rules {
                        for p in pre(rule, v).map_err(beyond)? {
                            before.insert_minimal(p);
                        }
                    }
                }
                self.layers.push(before);
            }
            all.extend(self.layers[..layers.len()].iter().flat_map(Basis::iter).cloned());
        }
        if !self.options.project {
            return Ok(all);
        }
        // From the pivot on: what the region before still excludes, with as few variables as that takes.
        let mut before: Option<Basis> = None;
        for (layer, command) in layers.iter().rev().skip(1).zip(commands) {
            let mut here = vec![];
            for v in layer.iter() {
                let mut v = v.clone();
                for (x, _) in v.clone().iter() {
                    in_time(&self.limits)?;
                    let less = Vector::sorted(v.iter().filter(|e| e.0 != x).collect());
                    let missed = |p: &Vector| match &before {
                        None => self.excludes(region, p),
                        Some(all) => all.below(p).is_some(),
                    };
                    if pre_of(self.system, &self.commands[*command as usize], &less)?.iter().all(missed) {
                        v = less;
                    }
                }
                here.push(v);
            }
            before = Some(Basis::minimal(here.iter().cloned()));
            all.extend(here);
        }
        Ok(all)
    }

    /// The rules of a run from a vector of the last error region through all the others into the first.
    fn rules(&self, start: &Vector, layers: &[Basis], commands: &[Command]) -> Result<Vec<RuleId>, Reason> {
        let mut rules = vec![];
        let mut at = start;
        for (layer, command) in layers.iter().rev().skip(1).zip(commands) {
            'found: for v in layer.iter() {
                for &r in &self.commands[*command as usize] {
                    let before = pre(&self.system.rules[r as usize], v).map_err(beyond)?;
                    if before.iter().any(|p| p.leq(at)) {
                        rules.push(r);
                        at = v;
                        break 'found;
                    }
                }
            }
        }
        Ok(rules)
    }

    /// What is outside of all regions and above no initial state, as a basis. Nothing if it is too large.
    ///
    /// The regions are downward-closed, so what can be reached from below the start, where they say nothing, is in them too.
    fn outside(&self, regions: &[RegionId]) -> Option<Vec<Vector>> {
        // If the start is in a region, that is where to begin: the start has nothing to add.
        let holds_start = |n: &&RegionId| self.regions[**n as usize].excluded.within(&self.not_at_start);
        let first =
            regions.iter().filter(holds_start).min_by_key(|n| self.regions[**n as usize].excluded.iter().count());
        let mut basis = match first {
            Some(n) => {
                Basis::minimal(self.regions[*n as usize].excluded.iter().map(|e| self.predicates.get(e).clone()))
            }
            None => Basis::minimal(above_start(self.system)),
        };
        for &n in regions.iter().filter(|n| Some(*n) != first) {
            let mut next = Basis::default();
            for v in basis.iter() {
                in_time(&self.limits).ok()?;
                if self.excludes(n, v) {
                    next.insert_minimal(v.clone());
                    continue;
                }
                for e in self.regions[n as usize].excluded.iter() {
                    next.insert_minimal(v.join(self.predicates.get(e)));
                }
                if next.len() > LARGEST {
                    return None;
                }
            }
            basis = next;
        }
        Some(basis.iter().cloned().collect())
    }
}

impl RegionDomain for VectorRegions<'_> {
    type Region = RegionId;
    type Error = Basis;
    type Run = Trace;
    type Proof = Certificate;

    fn start(&mut self) -> Result<(RegionId, Precision), Reason> {
        let system = self.system;
        let start = above_start(system).filter(|_| self.options.start_atoms);
        let atoms: Vec<Vector> = start.chain(system.target.iter().cloned()).collect();
        let known = atoms.into_iter().map(|v| self.number(v)).collect();
        for command in &self.commands {
            let least = pre_of(system, command, &Vector::default())?;
            self.enabled.push(least.into_iter().map(|v| Cone::new(system, v)).collect());
        }
        Ok((START, self.precision(known)))
    }

    fn targets(&mut self) -> Basis {
        self.layers[0].clone()
    }

    fn is_error(&mut self, id: RegionId) -> Result<bool, Reason> {
        let region = &mut self.regions[id as usize];
        Ok(*region.error.get_or_insert_with(|| {
            self.targets.iter_mut().for_each(|t| t.grow(&self.predicates));
            !self.targets.iter().all(|t| t.outside(id, &region.excluded))
        }))
    }

    fn meets(&mut self, region: RegionId, error: &Basis) -> Result<bool, Reason> {
        Ok(!error.iter().all(|v| self.excludes(region, v)))
    }

    fn pre(&mut self, command: Command, error: &Basis) -> Result<Basis, Reason> {
        let mut before = Basis::default();
        for v in error.iter() {
            in_time(&self.limits)?;
            for p in pre_of(self.system, &self.commands[command as usize], v)? {
                before.insert_minimal(p);
            }
        }
        Ok(before)
    }

    fn post(&mut self, id: RegionId, precision: Precision) -> Result<Vec<(Command, RegionId)>, Reason> {
        let region = self.regions[id as usize].excluded.clone();
        let mut known = Bits::default();
        self.precisions[precision as usize].iter().for_each(|m| known.insert(*m));
        let here = if id == START { &self.not_at_start } else { &*region };
        let kept = known.and(here);
        let mut next = vec![];
        for command in 0..self.commands.len() as Command {
            let enabled = &mut self.enabled[command as usize];
            enabled.iter_mut().for_each(|c| c.grow(&self.predicates));
            if enabled.iter().all(|c| c.outside(id, &region)) {
                continue;
            }
            let mut excluded = kept.without(&self.raised[command as usize]);
            for (n, m) in known.without(&excluded).iter().enumerate() {
                if n % 64 == 63 {
                    in_time(&self.limits)?;
                }
                let before = match self.before[command as usize].entry(m) {
                    Entry::Occupied(e) => e.into_mut(),
                    Entry::Vacant(e) => {
                        in_time(&self.limits)?;
                        let rules = &self.commands[command as usize];
                        let all = pre_of(self.system, rules, self.predicates.get(m))?;
                        e.insert(all.into_iter().map(|v| Cone::new(self.system, v)).collect())
                    }
                };
                let outside = |c: &mut Cone| {
                    c.grow(&self.predicates);
                    c.outside(id, &region)
                };
                if before.iter_mut().all(outside) {
                    excluded.insert(m);
                }
            }
            next.push((command, self.region(excluded)));
        }
        Ok(next)
    }

    fn covers(&self, region: RegionId) -> bool {
        region != START
    }

    /// By one of them: several together are not tried.
    fn is_within(&mut self, id: RegionId, mut others: impl Iterator<Item = RegionId>) -> Result<bool, Reason> {
        let region = &mut self.regions[id as usize];
        for (i, c) in self.cones.iter_mut().enumerate().skip(region.seen) {
            if i % 64 == 63 {
                in_time(&self.limits)?;
            }
            c.grow(&self.predicates);
            if c.outside(id, &region.excluded) {
                region.all.insert(i as Pred);
            }
        }
        region.seen = self.cones.len();
        let all = &self.regions[id as usize].all;
        Ok(others.any(|n| self.regions[n as usize].excluded.within(all)))
    }

    fn refine(
        &mut self,
        (region, precision): (RegionId, Precision),
        errors: &[Basis],
        commands: &[Command],
    ) -> Result<Precision, Reason> {
        let mut known = self.precisions[precision as usize].to_vec();
        for v in self.atoms(region, errors, commands)? {
            known.push(self.number(v));
        }
        Ok(self.precision(known))
    }

    fn run(&mut self, errors: &[Basis], commands: &[Command]) -> Result<Verdict, Reason> {
        let last = errors.last().expect("there is one");
        let start = last.iter().find(|v| self.system.may_start_above(v)).expect("the start meets it");
        Ok(run(self.system, start, self.rules(start, errors, commands)?))
    }

    fn certificate(&mut self, regions: impl Iterator<Item = RegionId>) -> Result<Certificate, Reason> {
        let basis = self.outside(&regions.collect::<Vec<_>>()).ok_or_else(too_large)?;
        Ok(Certificate::Above { bounds: vec![], basis })
    }

    fn predicates(&self) -> usize {
        self.predicates.len()
    }

    fn region_text(&self, id: RegionId) -> String {
        if id == START {
            return text::start(self.system);
        }
        let excluded: Vec<&Vector> =
            self.regions[id as usize].excluded.iter().map(|p| self.predicates.get(p)).collect();
        text::excluding(self.system, &excluded)
    }

    fn error_text(&self, error: &Basis) -> String {
        text::any(self.system, error.iter())
    }

    fn precision_text(&self, precision: Precision) -> Vec<String> {
        let known = self.precisions[precision as usize].iter();
        known.map(|p| text::at_least(self.system, self.predicates.get(*p))).collect()
    }

    fn command_text(&self, command: Command) -> String {
        text::command(self.system, &self.commands[command as usize])
    }
}
