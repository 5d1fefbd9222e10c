//! Linear integer arithmetic as a theory of the search: literals stand for bounds on sums, `column ≤ k`.

use std::collections::BTreeMap;

use dashu_int::IBig;
use rustc_hash::FxHashMap;

use super::integer::{Forms, Found};
use super::rat::Rat;
use super::sat::{Lit, Sat, Theory, Verdict};
use super::simplex::{Column, Farkas, Side, Why};

/// A complete check may split so often before it gives up.
const SPLITS: u64 = 20_000;

/// The theory.
#[derive(Default)]
pub(crate) struct Lia {
    pub forms: Forms,
    /// By variable of the search: the literal says that the column is at most this.
    atoms: FxHashMap<u32, (Column, Rat)>,
    by_column: FxHashMap<Column, BTreeMap<IBig, Lit>>,
    marks: Vec<usize>,
    /// A contradiction found while being told, and how many literals there were.
    pending: Option<(usize, Vec<Lit>)>,
    dirty: bool,
    pub stop: Option<Box<dyn FnMut() -> bool>>,
}

impl Lia {
    /// The literal that says that the column is at most this.
    pub fn at_most(&mut self, sat: &mut Sat, column: Column, k: IBig) -> Lit {
        let known = self.by_column.entry(column).or_default();
        if let Some(&lit) = known.get(&k) {
            return lit;
        }
        let lit = sat.variable();
        sat.mark(lit);
        if let Some((_, &below)) = known.range(..&k).next_back() {
            sat.clause(&[!below, lit]);
        }
        if let Some((_, &above)) = known.range(&k..).next() {
            sat.clause(&[!lit, above]);
        }
        self.atoms.insert(lit.var() as u32, (column, Rat::from(&k)));
        known.insert(k, lit);
        lit
    }

    /// The bound that a literal of the search stands for.
    pub fn bound_of(&self, lit: Lit) -> Option<(Column, Side, Rat)> {
        let (column, k) = self.atoms.get(&(lit.var() as u32))?;
        Some(match lit.positive() {
            true => (*column, Side::Upper, k.clone()),
            false => (*column, Side::Lower, k + &Rat::ONE),
        })
    }

    /// The simplex was used from outside: its values may be out of bounds.
    pub fn disturbed(&mut self) {
        self.dirty = true;
    }

    /// A bound that holds always. False if that is contradictory.
    pub fn always(&mut self, column: Column, side: Side, value: Rat) -> bool {
        self.dirty = true;
        self.forms.simplex.set(column, side, value, Why::ALWAYS).is_ok()
    }
}

fn clause(f: &Farkas) -> Vec<Lit> {
    f.0.iter().filter(|p| p.why != Why::ALWAYS).map(|p| !Lit(p.why.0)).collect()
}

impl Theory for Lia {
    fn assign(&mut self, lit: Lit) {
        self.marks.push(self.forms.simplex.mark());
        if self.pending.is_some() {
            return;
        }
        let (column, side, value) = self.bound_of(lit).expect("only bounds are marked");
        match self.forms.simplex.set(column, side, value, Why(lit.0)) {
            Ok(new) => self.dirty |= new,
            Err(f) => self.pending = Some((self.marks.len(), clause(&f))),
        }
    }

    fn retract(&mut self, count: usize) {
        let keep = self.marks.len() - count;
        if count > 0 {
            self.forms.simplex.undo_to(self.marks[keep]);
            self.marks.truncate(keep);
        }
        if self.pending.as_ref().is_some_and(|p| p.0 > keep) {
            self.pending = None;
        }
    }

    fn check(&mut self, complete: bool, _implied: &mut Vec<(Lit, Vec<Lit>)>) -> Verdict {
        if let Some((_, c)) = &self.pending {
            return Verdict::Conflict(c.clone());
        }
        if std::mem::take(&mut self.dirty)
            && let Err(f) = self.forms.simplex.check()
        {
            self.dirty = true;
            return Verdict::Conflict(clause(&f));
        }
        if !complete {
            return Verdict::Fine;
        }
        let mut stop = self.stop.take().unwrap_or_else(|| Box::new(|| false));
        let found = self.forms.integers(SPLITS, &mut *stop);
        self.stop = Some(stop);
        match found {
            Found::Solution => Verdict::Fine,
            Found::None(proof) => {
                self.dirty = true;
                Verdict::Conflict(proof.reasons().into_iter().map(|w| !Lit(w.0)).collect())
            }
            Found::GaveUp => Verdict::GaveUp,
        }
    }
}
