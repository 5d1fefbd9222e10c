//! Integer solutions of bounds: branch and bound, with splits that come from proofs.
//!
//! If the simplex finds a solution with fractions, the search splits on a sum that must be whole: at most `k`, or at least `k + 1`.
//! The sum is a single variable; or, if an equation among the bounds that hold with equality has no integer solution, the one
//! that shows it (a row with its gcd, or a row of the Hermite normal form: Dillig, Dillig, Aiken, "Cuts from proofs", CAV 2009). So
//! systems like `1 ≤ 3x − 3y + z ≤ 2 ∧ z = 0` end, which splitting on variables never would.
//!
//! The answer "none" is a tree of splits whose leaves are certificates of the simplex, and nothing else: a split that the leaves below
//! do not use is left out. That tree is what interpolation works on. The search gives up after a number of splits.

use std::collections::BTreeSet;

use dashu_int::IBig;
use dashu_int::ops::{Abs, BitTest, DivRemEuclid, ExtendedGcd, Gcd};
use rustc_hash::FxHashMap;

use super::rat::{Rat, gcd_of};
use super::simplex::{Column, Farkas, Side, Simplex, Why, rational};

/// Why there is no integer solution.
#[derive(Clone, Debug)]
pub(crate) enum Proof {
    /// There is not even a rational one.
    Leaf(Farkas),
    /// The column is at most a number, or at least one more; neither has one.
    Split { column: Column, most: Rat, low: Box<Proof>, high: Box<Proof> },
    /// An equation between columns that have one value (for these reasons) and others with coefficients that have a divisor in
    /// common, which does not divide the rest. It has been checked; it could be written as a split as well. With the columns of
    /// one value and their coefficients.
    Divisor(Vec<Why>, Form),
}

impl Proof {
    /// The bounds' reasons, splits left out.
    pub fn reasons(&self) -> BTreeSet<Why> {
        let mut all = BTreeSet::new();
        let mut todo = vec![self];
        while let Some(p) = todo.pop() {
            match p {
                Proof::Leaf(f) => {
                    all.extend(f.0.iter().map(|p| p.why).filter(|w| *w != Why::ALWAYS && w.0 & SPLIT == 0));
                }
                Proof::Split { low, high, .. } => todo.extend([&**low, &**high]),
                Proof::Divisor(whys, _) => all.extend(whys.iter().filter(|w| **w != Why::ALWAYS && w.0 & SPLIT == 0)),
            }
        }
        all
    }
}

/// A sum of variables: sorted, each once.
pub(crate) type Form = Vec<(Column, IBig)>;

/// Which sums may be split on.
pub(crate) type Allowed<'a> = &'a dyn Fn(&[(Column, IBig)]) -> bool;

/// Marks a reason that is a split.
pub(crate) const SPLIT: u32 = 1 << 31;

/// The simplex, with one name for each sum.
#[derive(Default)]
pub(crate) struct Forms {
    pub simplex: Simplex,
    names: FxHashMap<Box<[(Column, IBig)]>, Column>,
}

/// What the search found.
pub(crate) enum Found {
    /// The columns' values are whole.
    Solution,
    /// There is none.
    None(Proof),
    /// Too many splits, or called off.
    GaveUp,
}

/// The solutions are looked for to this depth.
const DEPTH: u32 = 250;
/// A column is moved by at most so much to make others whole.
const PATCH: i64 = 32;
/// A variable of so few values is split on rather than an equation, whose coefficients tend to grow.
const FEW: i64 = 1000;
/// Equations are looked at from this depth on: most problems need none, and they cost. So many are named at first, and in the end.
const EQUATIONS_FROM: u32 = 2;
const MOST_FORMS: [usize; 2] = [4, 40];
/// Numbers in equations have at most so many bits.
const MOST_BITS: usize = 64;
/// Those of a sum that is named have fewer: large ones make all the rows they meet large.
const FORM_BITS: usize = 12;
/// Splits at first, and in each of the boxes in which small solutions are looked for.
const FIRST_SPLITS: u64 = 60;
const BOX_SPLITS: u64 = 500;
const BOXES: [i64; 4] = [8, 64, 1024, 1 << 20];
/// Stands for the box where a split has its depth. (One more would be `Why::ALWAYS`.)
const BOX: u32 = SPLIT - 2;
/// Equations are looked at up to so many.
const MOST_EQUATIONS: usize = 60;

impl Forms {
    /// The column of a sum of variables: sorted, each once, at least one.
    pub fn column(&mut self, form: &[(Column, IBig)]) -> Column {
        if let [(c, k)] = form
            && *k == IBig::ONE
        {
            return *c;
        }
        if let Some(&c) = self.names.get(form) {
            return c;
        }
        let c = self.simplex.sum(&rational(form));
        self.names.insert(form.into(), c);
        c
    }

    /// Looks for an integer solution of the bounds, with at most so many splits. The bounds are afterwards what they were.
    pub fn integers(&mut self, splits: u64, stop: &mut dyn FnMut() -> bool) -> Found {
        self.search(splits, false, &|_| true, stop)
    }

    /// The same, splitting only on variables and on those sums of variables that are allowed; the proof has splits and leaves only.
    pub fn integers_by(&mut self, splits: u64, allowed: Allowed<'_>, stop: &mut dyn FnMut() -> bool) -> Found {
        self.search(splits, true, allowed, stop)
    }

    fn search(&mut self, splits: u64, in_full: bool, allowed: Allowed<'_>, stop: &mut dyn FnMut() -> bool) -> Found {
        // A few splits decide most problems. If not, look for a small solution: that ends, and most solutions there are have small
        // ones among them. Then insist.
        let mut search = Search { forms: self, left: 0, equations: MOST_FORMS[0], in_full, allowed, stop };
        let first = search.attempt(FIRST_SPLITS.min(splits));
        if !matches!(first, Found::GaveUp) {
            return first;
        }
        for size in BOXES {
            if (search.stop)() {
                return Found::GaveUp;
            }
            let mark = search.forms.simplex.mark();
            search.confine(size);
            let equations = std::mem::take(&mut search.equations);
            search.left = BOX_SPLITS.min(splits);
            let found = search.run(0);
            search.equations = equations;
            search.forms.simplex.undo_to(mark);
            match found {
                Some(None) => return Found::Solution,
                Some(Some((proof, uses))) if !uses.contains(&BOX) => return Found::None(proof),
                _ => {}
            }
        }
        search.equations = MOST_FORMS[1];
        search.attempt(splits)
    }
}

struct Search<'a> {
    forms: &'a mut Forms,
    /// Splits that are left, and equations that may be named.
    left: u64,
    equations: usize,
    /// The proof has splits and leaves only.
    in_full: bool,
    allowed: Allowed<'a>,
    stop: &'a mut dyn FnMut() -> bool,
}

/// A proof, and the depths of the splits above that it uses.
type Refuted = (Proof, BTreeSet<u32>);

impl Search<'_> {
    fn attempt(&mut self, splits: u64) -> Found {
        self.left = splits;
        match self.run(0) {
            Some(None) => Found::Solution,
            Some(Some((proof, _))) => Found::None(proof),
            None => Found::GaveUp,
        }
    }

    /// Bounds the variables that have no bounds, around where they are.
    fn confine(&mut self, size: i64) {
        let s = &mut self.forms.simplex;
        for c in 0..s.columns() as Column {
            if s.definition(c).is_some() {
                continue;
            }
            for (side, bound) in [(Side::Lower, -size), (Side::Upper, size)] {
                if s.bound(c, side).is_none() {
                    // Bounds that cross are left out; there is a bound on the other side then.
                    let _ = s.set(c, side, Rat::from(bound), Why(SPLIT | BOX));
                }
            }
        }
    }

    /// None: gave up. Otherwise a proof, if there is no solution.
    fn run(&mut self, depth: u32) -> Option<Option<Refuted>> {
        if let Err(f) = self.forms.simplex.check() {
            return Some(Some(leaf(f)));
        }
        let (column, value) = match self.split(depth) {
            Next::Whole => return Some(None),
            Next::Refuted(whys, fixed) => return Some(Some(divisor(whys, fixed))),
            Next::Split(column, value) => (column, value),
        };
        if self.left == 0 || depth > DEPTH || (self.stop)() {
            return None;
        }
        self.left -= 1;
        let floor = value.floor();
        let next = &floor + &Rat::ONE;
        let nearer_low = &(&value - &floor) + &(&value - &next) <= Rat::ZERO;
        let sides = [(Side::Upper, floor.clone()), (Side::Lower, next)];
        let mut proofs = [None, None];
        let mut uses = BTreeSet::new();
        for i in if nearer_low { [0, 1] } else { [1, 0] } {
            let (side, bound) = sides[i].clone();
            let mark = self.forms.simplex.mark();
            let found = match self.forms.simplex.set(column, side, bound, Why(SPLIT | depth)) {
                Err(f) => Some(leaf(f)),
                Ok(_) => match self.run(depth + 1) {
                    None => {
                        self.forms.simplex.undo_to(mark);
                        return None;
                    }
                    Some(found) => found,
                },
            };
            self.forms.simplex.undo_to(mark);
            let Some((proof, mut used)) = found else {
                return Some(None);
            };
            if !used.remove(&depth) {
                // The split was not needed.
                return Some(Some((proof, used)));
            }
            uses.extend(used);
            proofs[i] = Some(Box::new(proof));
        }
        let [Some(low), Some(high)] = proofs else { unreachable!("both sides were refuted") };
        Some(Some((Proof::Split { column, most: floor, low, high }, uses)))
    }

    /// Moves columns that have room so that others become whole.
    fn patch(&mut self) {
        let s = &mut self.forms.simplex;
        for basic in 0..s.columns() as Column {
            if s.definition(basic).is_some() || s.value(basic).is_integer() {
                continue;
            }
            let Some(row) = s.row(basic) else { continue };
            let movable: Vec<(Column, i64)> = row
                .iter()
                .filter_map(|(c, k)| {
                    Some((*c, i64::try_from(&k.denominator()).ok().filter(|d| (2..=PATCH).contains(d))?))
                })
                .collect();
            'columns: for (c, denominator) in movable {
                for step in (1..=denominator).flat_map(|d| [d, -d]) {
                    let step = Rat::from(step);
                    let to = s.value(c) + &step;
                    if !s.fits(c, &to) {
                        continue;
                    }
                    let (mut fits, mut gain) = (true, 0);
                    for (b, k) in s.basics_with(c) {
                        let mut new = s.value(b).clone();
                        new.add_product(k, &step);
                        fits &= s.fits(b, &new) && (b != basic || new.is_integer());
                        if !fits {
                            break;
                        }
                        if s.definition(b).is_none() {
                            gain += i32::from(new.is_integer()) - i32::from(s.value(b).is_integer());
                        }
                    }
                    if fits && gain > 0 {
                        s.shift(c, to);
                        break 'columns;
                    }
                }
            }
        }
    }

    /// A sum that must be whole and is not, with its value; nothing if all variables are whole.
    fn split(&mut self, depth: u32) -> Next {
        self.patch();
        let s = &self.forms.simplex;
        let width = |c: Column| match (s.bound(c, Side::Lower), s.bound(c, Side::Upper)) {
            (Some(l), Some(u)) => Some(&u.value - &l.value),
            _ => None,
        };
        let variables = (0..s.columns() as Column).filter(|&c| s.definition(c).is_none() && !s.value(c).is_integer());
        // A variable of few values first.
        let Some(best) = variables.min_by_key(|&c| (width(c).is_none(), width(c), c)) else {
            return Next::Whole;
        };
        let few = width(best).is_some_and(|w| w <= Rat::from(FEW));
        let mut column = None;
        if let Some((form, whys, fixed)) = self.whole_row() {
            if !self.in_full {
                return Next::Refuted(whys, fixed);
            }
            column = self.name(form);
        } else if !few && self.equations > 0 && depth >= EQUATIONS_FROM {
            column = self.equation();
            self.equations -= usize::from(column.is_some());
        }
        let column = column.unwrap_or(best);
        Next::Split(column, self.forms.simplex.value(column).clone())
    }

    fn is_fixed(&self, c: Column) -> bool {
        let s = &self.forms.simplex;
        match (s.bound(c, Side::Lower), s.bound(c, Side::Upper)) {
            (Some(l), Some(u)) => l.value == u.value,
            _ => false,
        }
    }

    /// A row whose free part is a multiple of something that its fixed part is not: the free part divided by that, and why the
    /// fixed part is fixed.
    fn whole_row(&self) -> Option<(Form, Vec<Why>, Form)> {
        let s = &self.forms.simplex;
        for basic in 0..s.columns() as Column {
            let Some(row) = s.row(basic) else { continue };
            if s.value(basic).is_integer() && row.iter().all(|(_, k)| k.is_integer()) {
                continue;
            }
            // scale · basic − Σ scale · k · column = 0, in integers
            let scale = row.iter().fold(IBig::ONE, |m, (_, k)| {
                let d = k.denominator();
                &m / IBig::from((&m).gcd(&d)) * d
            });
            let scale = Rat::from(scale);
            let (mut free, mut fixed) = (vec![], vec![]);
            let entries = row.iter().map(|(c, k)| (*c, -&(k * &scale))).chain([(basic, scale.clone())]);
            for (c, k) in entries {
                if self.is_fixed(c) { fixed.push((c, k.numerator())) } else { free.push((c, k.numerator())) }
            }
            let g = gcd_of(free.iter().map(|(_, k)| k));
            if g <= IBig::ONE {
                continue;
            }
            let rest: IBig = fixed.iter().map(|(c, k)| s.value(*c).numerator() * k).sum();
            if &rest % &g == IBig::ZERO {
                continue;
            }
            let all: Form = free.iter().chain(&fixed).cloned().collect();
            assert!(self.in_variables(all).is_empty(), "internal error: a row is not an equation between its columns");
            let whys = fixed.iter().flat_map(|(c, _)| [Side::Lower, Side::Upper].map(|side| s.bound(*c, side)));
            let whys = whys.map(|b| b.expect("it is fixed").why).collect();
            return Some((free.into_iter().map(|(c, k)| (c, k / &g)).collect(), whys, fixed));
        }
        None
    }

    /// A sum of columns, in variables.
    fn in_variables(&self, form: Form) -> Form {
        let mut sum: std::collections::BTreeMap<Column, IBig> = Default::default();
        for (c, k) in form {
            match self.forms.simplex.definition(c) {
                None => *sum.entry(c).or_default() += k,
                Some(def) => {
                    for (d, e) in def {
                        *sum.entry(*d).or_default() += &k * e.numerator();
                    }
                }
            }
        }
        sum.into_iter().filter(|(_, k)| *k != IBig::ZERO).collect()
    }

    /// Names a sum of columns.
    fn name(&mut self, form: Form) -> Option<Column> {
        let form = self.in_variables(form);
        self.named(form)
    }

    /// The column of a sum of variables whose value is not whole, with the sign that names have.
    fn named(&mut self, mut form: Form) -> Option<Column> {
        if form.first()?.1 < IBig::ZERO {
            form.iter_mut().for_each(|(_, k)| *k = -&*k);
        }
        if form.iter().any(|(_, k)| k.bit_len() > FORM_BITS) || !(self.allowed)(&form) {
            return None;
        }
        let column = self.forms.column(&form);
        (!self.forms.simplex.value(column).is_integer()).then_some(column)
    }

    /// A sum of variables that the bounds that hold with equality give a value that is not whole.
    fn equation(&mut self) -> Option<Column> {
        let s = &self.forms.simplex;
        // What was given comes before the splits: an equation between given bounds refutes more than one branch.
        let rank = |c: Column| {
            let tight = [Side::Lower, Side::Upper]
                .into_iter()
                .filter_map(|side| s.bound(c, side).filter(|b| b.value == *s.value(c)));
            tight.map(|b| b.why != Why::ALWAYS && b.why.0 & SPLIT != 0).min()
        };
        let mut tight: Vec<(bool, Column)> = (0..s.columns() as Column).filter_map(|c| Some((rank(c)?, c))).collect();
        tight.sort_unstable();
        tight.truncate(MOST_EQUATIONS);
        let mut rows: Vec<(Form, IBig)> = vec![];
        for (_, c) in tight {
            let form = match s.definition(c) {
                None => vec![(c, IBig::ONE)],
                Some(def) => def.iter().map(|(c, k)| (*c, k.numerator())).collect(),
            };
            rows.push((form, s.value(c).numerator()));
        }
        let uneven = no_integer_solution(&rows)?;
        self.named(uneven.form)
    }
}

/// How the search goes on.
enum Next {
    /// All variables are whole.
    Whole,
    Refuted(Vec<Why>, Form),
    /// This sum must be whole, and has this value.
    Split(Column, Rat),
}

fn divisor(whys: Vec<Why>, fixed: Form) -> Refuted {
    let uses = whys.iter().filter(|w| **w != Why::ALWAYS && w.0 & SPLIT != 0).map(|w| w.0 & !SPLIT).collect();
    (Proof::Divisor(whys, fixed), uses)
}

fn leaf(f: Farkas) -> Refuted {
    let uses = f.0.iter().filter(|p| p.why != Why::ALWAYS && p.why.0 & SPLIT != 0).map(|p| p.why.0 & !SPLIT).collect();
    (Proof::Leaf(f), uses)
}

/// A whole-numbered sum of variables that equations give a value that is not whole.
pub(crate) struct Uneven {
    pub form: Form,
    /// The sum is that of the equations with these factors.
    pub factors: Vec<Rat>,
}

/// A whole-numbered sum of variables that the equations give a value that is not whole, if they have a rational solution but no
/// integer one. Column operations bring the equations to Hermite normal form `H` one by one; if `H⁻¹ b` is not whole in some
/// place, that row of `H⁻¹` combines the equations to such a sum.
pub(crate) fn no_integer_solution(rows: &[(Form, IBig)]) -> Option<Uneven> {
    let mut columns: Vec<Column> = rows.iter().flat_map(|r| r.0.iter().map(|e| e.0)).collect();
    columns.sort_unstable();
    columns.dedup();
    let n = columns.len();
    // x = U y with U unimodular. In the new unknowns, those before `done` have values; `values[i]` is that of y_i.
    let mut u: Vec<Vec<IBig>> = (0..n).map(|i| (0..n).map(|j| IBig::from(u8::from(i == j))).collect()).collect();
    // V = U⁻¹, kept along: y = V x.
    let mut v = u.clone();
    let mut values: Vec<IBig> = vec![];
    // The equations and factors that give the unknowns that have values.
    let mut factors: Vec<Vec<Rat>> = vec![];
    for (number, (form, b)) in rows.iter().enumerate() {
        // The row in the new unknowns.
        let mut row = vec![IBig::ZERO; n];
        for (c, k) in form {
            let i = columns.binary_search(c).expect("collected above");
            for (r, e) in row.iter_mut().zip(&u[i]) {
                if *e != IBig::ZERO {
                    *r += k * e;
                }
            }
        }
        let known: IBig = row.iter().zip(&values).map(|(a, y)| a * y).sum();
        let rest = b - known;
        let at = values.len();
        // Make all free coefficients but the first zero.
        for j in at + 1..n {
            if row[j] == IBig::ZERO {
                continue;
            }
            let (a, c) = (row[at].clone(), row[j].clone());
            let (g, p, q) = (&a).gcd_ext(&c);
            let g = IBig::from(g);
            let (r, s) = (-(&c / &g), &a / &g);
            // [y_at, y_j] := columns combined by [[p, r], [q, s]], of determinant 1
            for line in &mut u {
                let (x, y) = (line[at].clone(), line[j].clone());
                line[at] = &x * &p + &y * &q;
                line[j] = &x * &r + &y * &s;
            }
            let (x, y) = (v[at].clone(), v[j].clone());
            for k in 0..n {
                v[at][k] = &s * &x[k] - &r * &y[k];
                v[j][k] = -&q * &x[k] + &p * &y[k];
            }
            row[at] = g;
            row[j] = IBig::ZERO;
        }
        if at == n || row[at] == IBig::ZERO {
            // Says nothing new (the simplex has a solution, so it is not contradictory).
            continue;
        }
        if u.iter().chain(&v).flatten().any(|n| n.bit_len() > MOST_BITS) {
            return None;
        }
        let pivot = row[at].clone();
        // y_at = (this row − what is known of it) / pivot
        let mut own = vec![Rat::ZERO; rows.len()];
        own[number] = Rat::ONE;
        for (a, known) in row.iter().zip(&factors) {
            let minus = Rat::from(-a);
            own.iter_mut().zip(known).for_each(|(o, k)| o.add_product(&minus, k));
        }
        let by = Rat::from(&pivot).recip();
        own.iter_mut().for_each(|o| *o = &*o * &by);
        let (value, remainder) = (&rest).div_rem_euclid(&pivot.clone().abs());
        if IBig::from(remainder) != IBig::ZERO {
            let form = columns.iter().zip(&v[at]).filter(|(_, k)| **k != IBig::ZERO).map(|(c, k)| (*c, k.clone()));
            return Some(Uneven { form: form.collect(), factors: own });
        }
        factors.push(own);
        values.push(if pivot < IBig::ZERO { -value } else { value });
    }
    None
}
