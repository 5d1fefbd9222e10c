//! Bounds on linear forms: the general simplex of Dutertre and de Moura, on exact rationals.
//!
//! A *column* is a variable, or a row's name for a sum of variables. Every column may have a lower and an upper bound, each with a
//! reason. Basic columns are sums of the others; the others keep within their bounds at all times, and [`Simplex::check`] pivots
//! until the basic ones do, or a row shows that they cannot. That row is a certificate: bounds with positive factors (Farkas)
//! that add up to `0 < 0`. It is added up again from the definitions before anybody sees it.
//!
//! Bounds are undone in the reverse order; the values of the columns are not, they fit the wider bounds as well.
//! Nothing here knows of integers: see `integer`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dashu_int::IBig;
use rustc_hash::FxHashMap;

use super::rat::Rat;

/// A variable, or a sum of variables.
pub(crate) type Column = u32;

/// Why a bound holds; what it means is up to whoever sets it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Why(pub u32);

impl Why {
    /// It holds always.
    pub const ALWAYS: Why = Why(u32::MAX);
}

/// Which of a column's two bounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Side {
    /// The column is at least the bound.
    Lower,
    /// The column is at most the bound.
    Upper,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Lower => Side::Upper,
            Side::Upper => Side::Lower,
        }
    }
}

/// A bound on a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub value: Rat,
    pub why: Why,
}

/// Bounds that contradict each other, with the factors that show it: the sum of `factor · (column ≤ bound)` and
/// `factor · (−column ≤ −bound)` is `0 ≤ something negative`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Farkas(pub Vec<Part>);

/// One bound in a certificate.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub column: Column,
    pub side: Side,
    pub bound: Rat,
    pub why: Why,
    pub factor: Rat,
}

/// A sum of variables.
type Definition = Box<[(Column, Rat)]>;

#[derive(Default)]
struct Row {
    basic: Column,
    entries: Vec<(Column, Rat)>,
}

const NO_ROW: u32 = u32::MAX;
/// So many pivots choose a sparse column; the ones after it go by Bland's rule, which ends.
const GREEDY: u32 = 200;

/// The tableau.
#[derive(Default)]
pub(crate) struct Simplex {
    rows: Vec<Row>,
    row_of: Vec<u32>,
    /// The rows that mention a column that is not basic.
    rows_with: Vec<Vec<u32>>,
    values: Vec<Rat>,
    bounds: [Vec<Option<Bound>>; 2],
    /// What a row's name stands for, in variables.
    definitions: Vec<Option<Definition>>,
    undo: Vec<(Column, Side, Option<Bound>)>,
    /// Every basic column that is out of bounds is among these.
    suspects: BinaryHeap<Reverse<Column>>,
    suspected: Vec<bool>,
    scratch: Vec<u32>,
    pub pivots: u64,
    /// How many entries of rows pivots went through.
    pub work: u64,
}

impl Simplex {
    /// A new variable.
    pub fn variable(&mut self) -> Column {
        let c = self.values.len() as Column;
        self.row_of.push(NO_ROW);
        self.rows_with.push(vec![]);
        self.values.push(Rat::ZERO);
        self.bounds.iter_mut().for_each(|b| b.push(None));
        self.definitions.push(None);
        self.suspected.push(false);
        self.scratch.push(NO_ROW);
        c
    }

    /// A name for a sum of variables.
    pub fn sum(&mut self, form: &[(Column, Rat)]) -> Column {
        let name = self.variable();
        let index = self.rows.len() as u32;
        let mut row = Row { basic: name, entries: vec![] };
        let mut value = Rat::ZERO;
        for (c, k) in form {
            value.add_product(k, &self.values[*c as usize]);
            match self.row_of[*c as usize] {
                NO_ROW => self.add_entry(&mut row, index, *c, k),
                r => {
                    let other = std::mem::take(&mut self.rows[r as usize].entries);
                    for (d, e) in &other {
                        self.add_entry(&mut row, index, *d, &(e * k));
                    }
                    self.rows[r as usize].entries = other;
                }
            }
        }
        for (c, _) in &row.entries {
            self.scratch[*c as usize] = NO_ROW;
        }
        // Entries may have cancelled out.
        let (kept, gone): (Vec<_>, Vec<_>) = row.entries.into_iter().partition(|(_, k)| !k.is_zero());
        for (c, _) in gone {
            self.unlist(c, index);
        }
        row.entries = kept;
        self.values[name as usize] = value;
        self.row_of[name as usize] = index;
        self.definitions[name as usize] = Some(form.into());
        self.rows.push(row);
        name
    }

    /// Adds to a row whose entries are found through `scratch`.
    fn add_entry(&mut self, row: &mut Row, index: u32, c: Column, k: &Rat) {
        match self.scratch[c as usize] {
            NO_ROW => {
                self.scratch[c as usize] = row.entries.len() as u32;
                row.entries.push((c, k.clone()));
                self.rows_with[c as usize].push(index);
            }
            at => {
                let e = &mut row.entries[at as usize].1;
                *e = &*e + k;
            }
        }
    }

    fn unlist(&mut self, c: Column, row: u32) {
        let list = &mut self.rows_with[c as usize];
        let at = list.iter().position(|&r| r == row).expect("a row that mentions the column is listed");
        list.swap_remove(at);
    }

    pub fn columns(&self) -> usize {
        self.values.len()
    }

    pub fn value(&self, c: Column) -> &Rat {
        &self.values[c as usize]
    }

    pub fn bound(&self, c: Column, side: Side) -> Option<&Bound> {
        self.bounds[side as usize][c as usize].as_ref()
    }

    /// What the column stands for, in variables; nothing if it is one.
    pub fn definition(&self, c: Column) -> Option<&[(Column, Rat)]> {
        self.definitions[c as usize].as_deref()
    }

    /// The row of a basic column.
    pub fn row(&self, c: Column) -> Option<&[(Column, Rat)]> {
        match self.row_of[c as usize] {
            NO_ROW => None,
            r => Some(&self.rows[r as usize].entries),
        }
    }

    /// The basic columns whose rows mention this one, with their coefficients.
    pub fn basics_with(&self, c: Column) -> impl Iterator<Item = (Column, &Rat)> {
        self.rows_with[c as usize].iter().map(move |&r| {
            let row = &self.rows[r as usize];
            (row.basic, &row.entries.iter().find(|e| e.0 == c).expect("listed rows mention the column").1)
        })
    }

    /// Does the column have room for this value?
    pub fn fits(&self, c: Column, value: &Rat) -> bool {
        self.bound(c, Side::Lower).is_none_or(|b| b.value <= *value)
            && self.bound(c, Side::Upper).is_none_or(|b| *value <= b.value)
    }

    /// A mark to return to with [`Simplex::undo_to`].
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Takes back all bounds set since the mark.
    pub fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let (c, side, old) = self.undo.pop().expect("longer than the mark");
            self.bounds[side as usize][c as usize] = old;
        }
    }

    /// Sets a bound, unless the column has a tighter one. True if it is new.
    pub fn set(&mut self, c: Column, side: Side, value: Rat, why: Why) -> Result<bool, Farkas> {
        let tighter = |a: &Rat, b: &Rat| match side {
            Side::Upper => a < b,
            Side::Lower => a > b,
        };
        if self.bound(c, side).is_some_and(|old| !tighter(&value, &old.value)) {
            return Ok(false);
        }
        if let Some(other) = self.bound(c, side.other())
            && tighter(&value, &other.value)
        {
            let part = |side, bound: Rat, why| Part { column: c, side, bound, why, factor: Rat::ONE };
            let (b, w) = (other.value.clone(), other.why);
            return Err(self.checked(Farkas(vec![part(side, value, why), part(side.other(), b, w)])));
        }
        let outside = tighter(&value, &self.values[c as usize]);
        let old = self.bounds[side as usize][c as usize].replace(Bound { value: value.clone(), why });
        self.undo.push((c, side, old));
        if outside {
            match self.row_of[c as usize] {
                NO_ROW => self.shift(c, value),
                _ => self.suspect(c),
            }
        }
        Ok(true)
    }

    fn suspect(&mut self, c: Column) {
        if !std::mem::replace(&mut self.suspected[c as usize], true) {
            self.suspects.push(Reverse(c));
        }
    }

    /// On which side of its bounds is the column, if it is not between them?
    fn violated(&self, c: Column) -> Option<Side> {
        let v = &self.values[c as usize];
        if self.bound(c, Side::Lower).is_some_and(|b| *v < b.value) {
            Some(Side::Lower)
        } else if self.bound(c, Side::Upper).is_some_and(|b| *v > b.value) {
            Some(Side::Upper)
        } else {
            None
        }
    }

    /// Gives a column that is not basic another value.
    pub fn shift(&mut self, c: Column, value: Rat) {
        let delta = &value - &self.values[c as usize];
        self.values[c as usize] = value;
        for i in 0..self.rows_with[c as usize].len() {
            let row = &self.rows[self.rows_with[c as usize][i] as usize];
            let k = &row.entries.iter().find(|e| e.0 == c).expect("listed rows mention the column").1;
            let basic = row.basic;
            self.values[basic as usize].add_product(k, &delta);
            if self.violated(basic).is_some() {
                self.suspect(basic);
            }
        }
    }

    /// Makes all columns keep their bounds, or shows that they cannot.
    pub fn check(&mut self) -> Result<(), Farkas> {
        self.check_while(|_| true).map(|_| ())
    }

    /// The same, as long as it may go on after so much work: no if it was stopped.
    pub fn check_while(&mut self, mut go_on: impl FnMut(u64) -> bool) -> Result<bool, Farkas> {
        let mut pivots = 0;
        while let Some(Reverse(c)) = self.suspects.pop() {
            self.suspected[c as usize] = false;
            if self.row_of[c as usize] == NO_ROW {
                continue;
            }
            let Some(side) = self.violated(c) else {
                continue;
            };
            let target = self.bound(c, side).expect("a violated bound").value.clone();
            match self.entering(c, side, pivots > GREEDY) {
                Some(enter) => {
                    if pivots % 8 == 7 && !go_on(self.work) {
                        self.suspect(c);
                        return Ok(false);
                    }
                    pivots += 1;
                    self.pivot(c, enter, target);
                }
                None => {
                    let conflict = self.explain(c, side);
                    self.suspect(c);
                    return Err(self.checked(conflict));
                }
            }
        }
        Ok(true)
    }

    /// A column whose change brings the basic one towards its bound: the one in fewest rows, or by Bland's rule the first.
    fn entering(&self, basic: Column, side: Side, bland: bool) -> Option<Column> {
        let mut best: Option<(usize, Column)> = None;
        for (c, k) in self.row(basic).expect("a basic column") {
            let up = k.is_positive() == (side == Side::Lower);
            let limit = self.bound(*c, if up { Side::Upper } else { Side::Lower });
            let room = limit.is_none_or(|b| {
                if up { self.values[*c as usize] < b.value } else { self.values[*c as usize] > b.value }
            });
            if room {
                let rank = (if bland { 0 } else { self.rows_with[*c as usize].len() }, *c);
                if best.is_none_or(|b| rank < b) {
                    best = Some(rank);
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The basic column gets the value and leaves the basis for the entering one.
    fn pivot(&mut self, leave: Column, enter: Column, value: Rat) {
        self.pivots += 1;
        let r = self.row_of[leave as usize];
        let mut entries = std::mem::take(&mut self.rows[r as usize].entries);
        let at = entries.iter().position(|e| e.0 == enter).expect("the entering column is in the row");
        let k = entries[at].1.clone();
        let step = &(&value - &self.values[leave as usize]) / &k;
        self.values[leave as usize] = value;
        self.values[enter as usize] = &self.values[enter as usize] + &step;

        // The row, solved for the entering column.
        let factor = k.recip();
        for (c, e) in &mut entries {
            if *c != enter {
                *e = -&(&*e * &factor);
            }
        }
        entries[at] = (leave, factor);
        self.row_of[leave as usize] = NO_ROW;
        self.row_of[enter as usize] = r;
        let others = std::mem::take(&mut self.rows_with[enter as usize]);
        self.rows_with[leave as usize].clear();
        self.rows_with[leave as usize].push(r);

        for &s in others.iter().filter(|&&s| s != r) {
            let mut row = std::mem::take(&mut self.rows[s as usize]);
            let at = row.entries.iter().position(|e| e.0 == enter).expect("listed rows mention the column");
            let (_, k) = row.entries.swap_remove(at);
            self.work += (row.entries.len() + entries.len()) as u64;
            self.values[row.basic as usize].add_product(&k, &step);
            for (i, (c, _)) in row.entries.iter().enumerate() {
                self.scratch[*c as usize] = i as u32;
            }
            let mut cancelled = false;
            for (c, e) in &entries {
                match self.scratch[*c as usize] {
                    NO_ROW => {
                        self.scratch[*c as usize] = row.entries.len() as u32;
                        row.entries.push((*c, &k * e));
                        self.rows_with[*c as usize].push(s);
                    }
                    at => {
                        let old = &mut row.entries[at as usize].1;
                        old.add_product(&k, e);
                        cancelled |= old.is_zero();
                    }
                }
            }
            for (c, _) in &row.entries {
                self.scratch[*c as usize] = NO_ROW;
            }
            if cancelled {
                let mut i = 0;
                while i < row.entries.len() {
                    if row.entries[i].1.is_zero() {
                        let (c, _) = row.entries.swap_remove(i);
                        self.unlist(c, s);
                    } else {
                        i += 1;
                    }
                }
            }
            let basic = row.basic;
            self.rows[s as usize] = row;
            if self.violated(basic).is_some() {
                self.suspect(basic);
            }
        }
        self.rows[r as usize] = Row { basic: enter, entries };
        if self.violated(enter).is_some() {
            self.suspect(enter);
        }
    }

    /// The row of a basic column that cannot be brought back to its bound, as a certificate.
    fn explain(&self, basic: Column, side: Side) -> Farkas {
        let part = |column, side, factor| {
            let b = self.bound(column, side).expect("it has no room on this side");
            Part { column, side, bound: b.value.clone(), why: b.why, factor }
        };
        let mut parts = vec![part(basic, side, Rat::ONE)];
        for (c, k) in self.row(basic).expect("a basic column") {
            let up = k.is_positive() == (side == Side::Lower);
            parts.push(part(*c, if up { Side::Upper } else { Side::Lower }, k.abs()));
        }
        Farkas(parts)
    }

    /// Adds the certificate up, from the definitions.
    ///
    /// # Panics
    ///
    /// If it does not prove a contradiction: then this file has an error, and nothing may rest on it.
    fn checked(&self, f: Farkas) -> Farkas {
        let mut sum: FxHashMap<Column, Rat> = FxHashMap::default();
        let mut limit = Rat::ZERO;
        for p in &f.0 {
            assert!(p.factor.is_positive(), "internal error: a certificate with a factor that is not positive");
            let k = if p.side == Side::Upper { p.factor.clone() } else { -&p.factor };
            limit.add_product(&k, &p.bound);
            match self.definition(p.column) {
                None => sum.entry(p.column).or_insert(Rat::ZERO).add_product(&k, &Rat::ONE),
                Some(form) => {
                    for (c, e) in form {
                        sum.entry(*c).or_insert(Rat::ZERO).add_product(&k, e);
                    }
                }
            }
        }
        assert!(
            sum.values().all(Rat::is_zero) && limit.is_negative(),
            "internal error: a certificate of infeasibility does not add up"
        );
        f
    }
}

/// The integer coefficients of a form, as rationals.
pub(crate) fn rational(form: &[(Column, IBig)]) -> Vec<(Column, Rat)> {
    form.iter().map(|(c, k)| (*c, Rat::from(k))).collect()
}
