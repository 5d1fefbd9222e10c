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
    /// Columns with new bounds since rows were last looked at.
    touched: Vec<Column>,
    /// A contradiction found while being told, and how many literals there were.
    pending: Option<(usize, Vec<Lit>)>,
    dirty: bool,
    pub stop: Option<Box<dyn FnMut() -> bool>>,
}

impl Lia {
    /// The literal that says that the column is at most this.
    pub fn at_most(&mut self, sat: &mut Sat, column: Column, k: IBig) -> Lit {
        if let Some(&lit) = self.by_column.entry(column).or_default().get(&k) {
            return lit;
        }
        let lit = sat.variable();
        self.stands_for(sat, lit, column, k);
        lit
    }

    /// A new literal says that the column is at most this; no other does.
    pub fn stands_for(&mut self, sat: &mut Sat, lit: Lit, column: Column, k: IBig) {
        let known = self.by_column.entry(column).or_default();
        sat.mark(lit);
        if let Some((_, &below)) = known.range(..&k).next_back() {
            sat.lemma(&[!below, lit]);
        }
        if let Some((_, &above)) = known.range(&k..).next() {
            sat.lemma(&[!lit, above]);
        }
        self.atoms.insert(lit.var() as u32, (column, Rat::from(&k)));
        known.insert(k, lit);
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

/// Rows of more columns than that are not looked at for what they imply.
const LONG: usize = 24;

impl Lia {
    /// Literals that follow from the bounds on the other columns of a row.
    fn propagate(&mut self, implied: &mut Vec<(Lit, Vec<Lit>)>) {
        let mut rows: Vec<Column> = vec![];
        for c in std::mem::take(&mut self.touched) {
            match self.forms.simplex.row(c) {
                Some(_) => rows.push(c),
                None => rows.extend(self.forms.simplex.basics_with(c).map(|b| b.0)),
            }
        }
        rows.sort_unstable();
        rows.dedup();
        for basic in rows {
            self.propagate_row(basic, implied);
        }
    }

    /// The row says `0 = −basic + Σ k · column`: each column is bounded by the others.
    fn propagate_row(&self, basic: Column, implied: &mut Vec<(Lit, Vec<Lit>)>) {
        let s = &self.forms.simplex;
        let row = s.row(basic).expect("a basic column");
        if row.len() > LONG {
            return;
        }
        let minus = Rat::from(-1);
        let entries = || row.iter().map(|(c, k)| (*c, k)).chain([(basic, &minus)]);
        for up in [false, true] {
            // The greatest (or least) value of the sum, and the columns that have no bound on that side.
            let far = |k: &Rat| if k.is_positive() == up { Side::Upper } else { Side::Lower };
            let mut total = Rat::ZERO;
            let mut open = None;
            let mut many = false;
            for (c, k) in entries() {
                match s.bound(c, far(k)) {
                    Some(b) => total.add_product(k, &b.value),
                    None => many |= open.replace(c).is_some(),
                }
            }
            if many {
                continue;
            }
            for (c, k) in entries() {
                if open.is_some_and(|o| o != c) {
                    continue;
                }
                let Some(atoms) = self.by_column.get(&c) else { continue };
                // k · c ≥ −(total without c) if `up`, otherwise ≤
                let mut rest = total.clone();
                if let Some(b) = s.bound(c, far(k)).filter(|_| open.is_none()) {
                    rest.add_product(&-k, &b.value);
                }
                let limit = &-&rest / k;
                let lower = k.is_positive() == up;
                let lit = if lower {
                    // c ≥ limit: whatever says "at most less than that" is false.
                    let below = -&(-&limit).floor();
                    if s.bound(c, Side::Lower).is_some_and(|b| b.value >= below) {
                        continue;
                    }
                    atoms.range(..below.numerator()).next_back().map(|(_, &l)| !l)
                } else {
                    let above = limit.floor();
                    if s.bound(c, Side::Upper).is_some_and(|b| b.value <= above) {
                        continue;
                    }
                    atoms.range(above.numerator()..).next().map(|(_, &l)| l)
                };
                let Some(lit) = lit else { continue };
                let whys = entries().filter(|e| e.0 != c).map(|(d, k)| s.bound(d, far(k)).expect("bounded").why);
                implied.push((lit, whys.filter(|w| *w != Why::ALWAYS).map(|w| Lit(w.0)).collect()));
            }
        }
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
            Ok(false) => {}
            Ok(true) => {
                self.dirty = true;
                self.touched.push(column);
            }
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

    fn check(&mut self, complete: bool, implied: &mut Vec<(Lit, Vec<Lit>)>) -> Verdict {
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
            self.propagate(implied);
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
