//! What a search has learnt, and from which clauses: the raw material of a proof (`embedded::prove`).
//!
//! Each clause that is given, follows from the theory, or is learnt gets a number, the next one. With a learnt clause goes the list
//! of those that make it false by unit propagation alone, in the order in which they do: hints, as in LRAT. What the search
//! knows at level 0 is a learnt clause of one literal.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{DECIDED, IMPLIED, Lit, Sat};

/// Where a clause comes from.
pub(crate) enum Origin {
    Given,
    Theory,
    /// By unit propagation, with these.
    Learnt(Vec<u32>),
}

/// All clauses, by number.
#[derive(Default)]
pub(crate) struct Log {
    pub clauses: Vec<(Vec<Lit>, Origin)>,
    lemmas: FxHashMap<Vec<Lit>, u32>,
    /// By variable that has a value at level 0: the clause that says so.
    units: FxHashMap<usize, u32>,
    /// The empty clause.
    pub empty: Option<u32>,
}

impl Log {
    pub fn add(&mut self, lits: &[Lit], origin: Origin) -> u32 {
        self.clauses.push((lits.to_vec(), origin));
        let id = self.clauses.len() as u32 - 1;
        match *lits {
            [] => _ = self.empty.get_or_insert(id),
            [l] => _ = self.units.entry(l.var()).or_insert(id),
            _ => {}
        }
        id
    }

    /// The number of a clause of the theory.
    fn lemma(&mut self, mut lits: Vec<Lit>) -> u32 {
        lits.sort_unstable();
        lits.dedup();
        if let Some(&id) = self.lemmas.get(&lits) {
            return id;
        }
        let id = self.add(&lits, Origin::Theory);
        self.lemmas.insert(lits, id);
        id
    }

    fn unit(&self, var: usize) -> u32 {
        self.units[&var]
    }
}

impl Sat {
    /// From here on everything is written down. Only before the first clause is added.
    pub fn start_log(&mut self) {
        let mut log = Log::default();
        log.add(&[Lit::TRUE], Origin::Given);
        self.log = Some(Box::new(log));
    }

    /// Writes down a clause that was given or follows from the theory.
    pub(super) fn log_given(&mut self, lits: &[Lit], theory: bool) -> u32 {
        match &mut self.log {
            None => 0,
            Some(log) if theory => log.lemma(lits.to_vec()),
            Some(log) => log.add(lits, Origin::Given),
        }
    }

    /// What is left of a clause where some literals are false at level 0.
    pub(super) fn log_shorter(&mut self, from: u32, lits: &[Lit], left: &[Lit]) -> u32 {
        match &mut self.log {
            Some(log) if log.clauses[from as usize].0.len() > left.len() => {
                let gone = lits.iter().filter(|l| !left.contains(l));
                let hints = gone.map(|l| log.unit(l.var())).chain([from]).collect();
                log.add(left, Origin::Learnt(hints))
            }
            _ => from,
        }
    }

    /// The number of the clause behind a reason that is not a decision.
    fn reason_id(&mut self, lit: Lit) -> u32 {
        let reason = self.reason[lit.var()];
        if reason & IMPLIED == 0 {
            return self.arena[reason as usize + 2];
        }
        let mut lits = vec![];
        self.because(lit, &mut lits);
        lits.push(lit);
        self.log.as_mut().map_or(0, |log| log.lemma(lits))
    }

    /// Writes down that a literal has been propagated at level 0.
    pub(super) fn log_unit(&mut self, lit: Lit) {
        let from = self.reason_id(lit);
        let mut others = vec![];
        self.because(lit, &mut others);
        if let Some(log) = &mut self.log
            && !others.is_empty()
        {
            let hints = others.iter().map(|l| log.unit(l.var())).chain([from]).collect();
            log.add(&[lit], Origin::Learnt(hints));
        }
    }

    /// Writes down what was learnt from a conflict, before the search goes back.
    pub(super) fn log_learnt(&mut self, conflict: &[Lit], from: u32, learnt: &[Lit]) -> u32 {
        if self.log.is_none() {
            return 0;
        }
        let mut seen: FxHashSet<usize> = learnt.iter().map(|l| l.var()).collect();
        let mut todo: Vec<usize> = conflict.iter().map(|l| l.var()).collect();
        let mut hints = vec![];
        let mut lits = vec![];
        while let Some(v) = todo.pop() {
            if !seen.insert(v) {
                continue;
            }
            let lit = Lit::of(v, self.values[v << 1] > 0);
            let id = match &self.log {
                Some(log) if self.level[v] == 0 => log.unit(v),
                _ => {
                    debug_assert_ne!(self.reason[v], DECIDED, "the clause that is learnt follows");
                    self.because(lit, &mut lits);
                    todo.extend(lits.iter().map(|l| l.var()));
                    self.reason_id(lit)
                }
            };
            hints.push((self.place[v], id));
        }
        hints.sort_unstable();
        let hints = hints.into_iter().map(|h| h.1).chain([from]).collect();
        self.log.as_mut().map_or(0, |log| log.add(learnt, Origin::Learnt(hints)))
    }
}
