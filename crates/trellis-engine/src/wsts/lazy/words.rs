//! Regions of lossy channel systems: a predicate is "at least this pattern" by the subword order, a region is what is at least none of those that
//! it excludes. As `vectors`, with words for numbers; `pre` of a pattern is one pattern or none.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_meter::Meter;
use trellis_model::channel::{Action, Certificate, Pattern, RuleId, System, minimal, pre};
use trellis_model::evidence::{Reason, Verdict};

use super::bits::Bits;
use super::tree::{Command, Precision, RegionDomain, VerdictOf};
use crate::wsts::{in_time, lossy};

type Pred = u32;
type RegionId = u32;

/// The region of the root: the start itself.
const START: RegionId = 0;

/// Predicates, and the regions that they describe.
pub struct WordRegions<'s> {
    system: &'s System,
    predicates: Vec<Pattern>,
    numbers: FxHashMap<Pattern, Pred>,
    /// What each region excludes; the start's is not looked at.
    regions: Vec<Rc<Bits>>,
    region_numbers: FxHashMap<Rc<Bits>, RegionId>,
    precisions: Vec<Vec<Pred>>,
    /// For each command where it can be taken.
    enabled: Vec<Option<Pattern>>,
    /// For each command and predicate what leads there.
    before: FxHashMap<(Command, Pred), Option<Pattern>>,
    limits: Meter,
}

impl<'s> WordRegions<'s> {
    /// No predicates yet, and no region but the start.
    pub fn new(system: &'s System, limits: Meter) -> WordRegions<'s> {
        WordRegions {
            system,
            predicates: vec![],
            numbers: FxHashMap::default(),
            regions: vec![Rc::default()],
            region_numbers: FxHashMap::default(),
            precisions: vec![],
            enabled: system.rules.iter().map(|r| pre(r, &system.anything())).collect(),
            before: FxHashMap::default(),
            limits,
        }
    }

    fn number(&mut self, p: &Pattern) -> Pred {
        let new = self.predicates.len() as Pred;
        let id = *self.numbers.entry(p.clone()).or_insert(new);
        if id == new {
            self.predicates.push(p.clone());
        }
        id
    }

    fn precision(&mut self, mut known: Vec<Pred>) -> Precision {
        known.sort_unstable();
        known.dedup();
        self.precisions.push(known);
        self.precisions.len() as Precision - 1
    }

    /// Is nothing at least this in the region?
    fn excludes(&self, id: RegionId, m: &Pattern) -> bool {
        match id {
            START => !m.is_below(&self.system.initial),
            _ => self.regions[id as usize].iter().any(|p| self.predicates[p as usize].leq(m)),
        }
    }

    fn excluded(&self, id: RegionId) -> impl Iterator<Item = &Pattern> {
        self.regions[id as usize].iter().map(|p| &self.predicates[p as usize])
    }
}

impl RegionDomain for WordRegions<'_> {
    type Region = RegionId;
    type Error = Vec<Pattern>;
    type Run = Vec<Action>;
    type Proof = Certificate;

    fn start(&mut self) -> Result<(RegionId, Precision), Reason> {
        let known = self.system.target.iter().map(|t| self.number(t)).collect();
        Ok((START, self.precision(known)))
    }

    fn targets(&mut self) -> Vec<Pattern> {
        self.system.target.clone()
    }

    fn is_error(&mut self, region: RegionId) -> Result<bool, Reason> {
        Ok(!self.system.target.iter().all(|t| self.excludes(region, t)))
    }

    fn meets(&mut self, region: RegionId, error: &Vec<Pattern>) -> Result<bool, Reason> {
        Ok(!error.iter().all(|m| self.excludes(region, m)))
    }

    fn pre(&mut self, command: Command, error: &Vec<Pattern>) -> Result<Vec<Pattern>, Reason> {
        let rule = &self.system.rules[command as usize];
        Ok(minimal(error.iter().filter_map(|m| pre(rule, m))))
    }

    fn post(&mut self, id: RegionId, precision: Precision) -> Result<Vec<(Command, RegionId)>, Reason> {
        let known = self.precisions[precision as usize].clone();
        let mut next = vec![];
        for (c, rule) in self.system.rules.iter().enumerate() {
            in_time(&self.limits)?;
            let taken = self.enabled[c].as_ref().is_some_and(|m| !self.excludes(id, m));
            if !taken {
                continue;
            }
            let mut excluded = Bits::default();
            for &m in &known {
                let key = (c as Command, m);
                if !self.before.contains_key(&key) {
                    self.before.insert(key, pre(rule, &self.predicates[m as usize]));
                }
                if self.before[&key].as_ref().is_none_or(|p| self.excludes(id, p)) {
                    excluded.insert(m);
                }
            }
            let excluded = Rc::new(excluded);
            let new = self.regions.len() as RegionId;
            let region = *self.region_numbers.entry(excluded.clone()).or_insert(new);
            if region == new {
                self.regions.push(excluded);
            }
            next.push((c as Command, region));
        }
        Ok(next)
    }

    fn covers(&self, region: RegionId) -> bool {
        region != START
    }

    /// By one of them.
    fn is_within(&mut self, id: RegionId, mut others: impl Iterator<Item = RegionId>) -> Result<bool, Reason> {
        Ok(others.any(|other| self.excluded(other).all(|m| self.excludes(id, m))))
    }

    fn refine(
        &mut self,
        (_, precision): (RegionId, Precision),
        errors: &[Vec<Pattern>],
        _: &[Command],
    ) -> Result<Precision, Reason> {
        let mut known = self.precisions[precision as usize].clone();
        for m in errors.iter().flatten() {
            known.push(self.number(m));
        }
        Ok(self.precision(known))
    }

    fn run(&mut self, _: &[Vec<Pattern>], commands: &[Command]) -> Result<VerdictOf<Self>, Reason> {
        Ok(Verdict::Unsafe(lossy::run(self.system, commands.iter().map(|c| *c as RuleId))?))
    }

    /// The regions that are within no other one.
    fn certificate(&mut self, regions: impl Iterator<Item = RegionId>) -> Result<Certificate, Reason> {
        let mut all: Vec<RegionId> = regions.collect();
        all.sort_unstable();
        let mut kept: Vec<RegionId> = vec![];
        for r in all {
            in_time(&self.limits)?;
            if !self.is_within(r, kept.clone().into_iter())? {
                let mut left = vec![];
                for k in kept {
                    if !self.is_within(k, [r].into_iter())? {
                        left.push(k);
                    }
                }
                kept = left;
                kept.push(r);
            }
        }
        let regions = kept.iter().map(|r| minimal(self.excluded(*r).cloned())).collect();
        Ok(Certificate { regions })
    }

    fn predicates(&self) -> usize {
        self.predicates.len()
    }

    fn region_text(&self, id: RegionId) -> String {
        if id == START {
            return lossy::state_text(self.system, &self.system.initial);
        }
        let parts: Vec<String> =
            minimal(self.excluded(id).cloned()).iter().map(|m| format!("not ({})", self.system.pattern(m))).collect();
        if parts.is_empty() { "true".into() } else { parts.join(", ") }
    }

    fn error_text(&self, error: &Vec<Pattern>) -> String {
        super::text::or(error.iter().map(|m| self.system.pattern(m)))
    }

    fn precision_text(&self, precision: Precision) -> Vec<String> {
        let known = self.precisions[precision as usize].iter();
        known.map(|p| self.system.pattern(&self.predicates[*p as usize])).collect()
    }

    fn command_text(&self, command: Command) -> String {
        self.system.rules[command as usize].name.clone().unwrap_or_else(|| format!("c{}", command + 1))
    }
}
