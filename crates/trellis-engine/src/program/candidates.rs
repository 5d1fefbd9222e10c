//! Guesses at invariants, for [`super::invariants`] to choose from.
//!
//! From the text: the comparisons in the program, their negations, and what is weaker. From the states of random runs
//! ([`super::samples`]): linear equations between variables (by elimination), bounds on variables, sums and differences (as they were
//! seen, and the next number in the text that was not crossed), order between variables, parity, constants. What a run has
//! contradicted is not guessed. Words wrap around, so that only equations and plain comparisons are guessed of them.
//!
//! Only variables that matter later in the program are looked at. Nothing is guessed of arrays.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Division, Stmt, StmtId, Term, TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::{Cfa, LocationId};

use super::Program;
use super::samples::samples;

/// So many variables of one type are looked at together.
const VARIABLES: usize = 10;
/// So many candidates a location has.
const CANDIDATES: usize = 300;
/// So many numbers from the text are used.
const NUMBERS: usize = 60;
/// Factors in equations are at most so large.
const FACTOR: i128 = 10_000;

/// Candidates for each location of the large automaton; none for the initial one, where anything can be, and for errors. They do not fault.
pub fn candidates(program: &mut Program<'_>) -> Vec<Vec<TermId>> {
    let text = Text::of(&program.large.cfa);
    let numbers: Vec<i64> = text.numbers.iter().filter_map(|&n| i64::try_from(n).ok()).collect();
    let samples = samples(program, &numbers);
    let live = live(&program.large.cfa);
    let cfa = &mut program.large.cfa;
    let mut all = vec![];
    for l in cfa.locations() {
        all.push(if l == cfa.initial || cfa.is_error(l) {
            vec![]
        } else {
            guess(&mut cfa.terms, &live[l.index()], &text, &samples[l.index()])
        });
    }
    all
}

/// What is written in the program.
struct Text {
    /// Comparisons and other truth values.
    atoms: Vec<TermId>,
    /// Numbers, and those next to them.
    numbers: BTreeSet<i128>,
}

impl Text {
    fn of(cfa: &Cfa) -> Text {
        let terms = &cfa.terms;
        let mut roots = BTreeSet::new();
        for e in cfa.edges() {
            collect(terms, cfa.edge(e).stmt, &mut roots);
        }
        let mut atoms = vec![];
        let mut numbers = BTreeSet::from([0, 1]);
        for t in terms.subterms(roots) {
            match *terms.get(t) {
                Term::Eq(a, _) if !matches!(terms.ty(a), Type::Array(..)) => atoms.push(t),
                Term::Lt(..) | Term::Le(..) => atoms.push(t),
                Term::Int(_) | Term::Big(_) | Term::Bits(..) => {
                    let value = terms.as_value(t).and_then(|value| i128::try_from(&value.number()).ok());
                    if let Some(n) = value.filter(|_| numbers.len() < NUMBERS) {
                        numbers.extend([n - 1, n, n + 1]);
                    }
                }
                _ => {}
            }
        }
        atoms.retain(|&t| !terms.may_fault(t));
        Text { atoms, numbers }
    }
}

/// The terms in a statement.
fn collect(terms: &Terms, s: StmtId, out: &mut BTreeSet<TermId>) {
    match *terms.stmt(s) {
        Stmt::Assume(t) | Stmt::Assign(_, t) => _ = out.insert(t),
        Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().for_each(|&p| collect(terms, p, out)),
        Stmt::If(c, a, b) => {
            out.insert(c);
            collect(terms, a, out);
            collect(terms, b, out);
        }
        Stmt::Skip | Stmt::Havoc(_) | Stmt::While(..) | Stmt::Foreign(..) => {}
    }
}

/// For each location, the variables whose values matter later.
pub(super) fn live(cfa: &Cfa) -> Vec<BTreeSet<VarId>> {
    let mut live: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); cfa.locations().len()];
    let mut todo: BTreeSet<LocationId> = cfa.locations().collect();
    while let Some(l) = todo.pop_last() {
        for &e in cfa.incoming(l) {
            let edge = cfa.edge(e);
            let before = live_before(&cfa.terms, edge.stmt, &live[l.index()]);
            let known = &mut live[edge.from.index()];
            if !before.is_subset(known) {
                known.extend(before);
                todo.insert(edge.from);
            }
        }
    }
    live
}

fn live_before(terms: &Terms, s: StmtId, after: &BTreeSet<VarId>) -> BTreeSet<VarId> {
    let reads = |t: TermId, mut live: BTreeSet<VarId>| {
        live.extend(terms.free_vars(t));
        live
    };
    let without = |v: VarId| after.iter().copied().filter(|&w| w != v).collect();
    match *terms.stmt(s) {
        Stmt::Skip => after.clone(),
        Stmt::Assume(t) => reads(t, after.clone()),
        Stmt::Assign(v, t) => reads(t, without(v)),
        Stmt::Havoc(v) => without(v),
        Stmt::Seq(ref parts) => parts.iter().rev().fold(after.clone(), |live, &p| live_before(terms, p, &live)),
        Stmt::Choice(ref parts) => parts.iter().flat_map(|&p| live_before(terms, p, after)).collect(),
        Stmt::If(c, a, b) => {
            let both = [a, b].into_iter().flat_map(|p| live_before(terms, p, after)).collect();
            reads(c, both)
        }
        Stmt::While(..) | Stmt::Foreign(..) => {
            let (reads, _) = terms.stmt_vars(s);
            after.iter().copied().chain(reads).collect()
        }
    }
}

/// What may hold in a location.
struct Guesses<'a> {
    terms: &'a mut Terms,
    samples: &'a [Valuation],
    found: Vec<TermId>,
}

fn guess(terms: &mut Terms, live: &BTreeSet<VarId>, text: &Text, samples: &[Valuation]) -> Vec<TermId> {
    let mut guesses = Guesses { terms, samples, found: vec![] };
    if samples.is_empty() {
        let never = guesses.terms.bool(false);
        guesses.found.push(never);
    }
    let mut groups: BTreeMap<String, Vec<VarId>> = BTreeMap::new();
    for &v in live {
        let ty = guesses.terms.variable(v).ty;
        if !matches!(ty, Type::Array(..)) {
            groups.entry(format!("{:?}", guesses.terms.sort(ty))).or_default().push(v);
        }
    }
    for vars in groups.values_mut() {
        vars.truncate(VARIABLES);
    }
    for vars in groups.values() {
        match guesses.terms.variable(vars[0]).ty {
            Type::Bool | Type::Enum(_) => guesses.literals(vars),
            _ => guesses.equations(vars),
        }
    }
    guesses.atoms(text, live);
    for vars in groups.values() {
        let ty = guesses.terms.variable(vars[0]).ty;
        if !matches!(ty, Type::Bool | Type::Enum(_)) {
            guesses.numbers(vars, text);
        }
    }
    guesses.found.truncate(CANDIDATES);
    guesses.found
}

impl Guesses<'_> {
    /// Takes the term unless a sample contradicts it, or it says nothing.
    fn add(&mut self, t: TermId) {
        let holds = |env| eval(self.terms, t, env, &mut NoHost) == Ok(Value::Bool(true));
        if self.terms.as_bool(t).is_none()
            && !self.terms.may_fault(t)
            && !self.found.contains(&t)
            && self.samples.iter().all(holds)
        {
            self.found.push(t);
        }
    }

    /// A comparison of the text, its negation, and what is weaker than either.
    fn atoms(&mut self, text: &Text, live: &BTreeSet<VarId>) {
        for &t in &text.atoms {
            if !self.terms.free_vars(t).is_subset(live) {
                continue;
            }
            let not = self.terms.not(t);
            self.add(t);
            self.add(not);
            let (a, b) = match *self.terms.get(t) {
                Term::Eq(a, b) | Term::Lt(a, b) | Term::Le(a, b) => (a, b),
                _ => continue,
            };
            if matches!(self.terms.ty(a), Type::Int | Type::Bits { .. }) {
                let (le, ge) = (self.terms.le(a, b), self.terms.le(b, a));
                self.add(le);
                self.add(ge);
            }
        }
    }

    /// Truth values and literals of enumerations: what was always seen, and never; equal ones; implications.
    fn literals(&mut self, vars: &[VarId]) {
        for (n, &v) in vars.iter().enumerate() {
            let (x, ty) = (self.terms.var(v), self.terms.variable(v).ty);
            for value in Value::all(self.terms, ty, 50).unwrap_or_default() {
                let Some(literal) = self.terms.literal(&value) else { continue };
                let is = self.terms.eq(x, literal);
                let is_not = self.terms.not(is);
                self.add(is);
                self.add(is_not);
            }
            for &w in &vars[n + 1..] {
                let y = self.terms.var(w);
                if self.terms.ty(x) != self.terms.ty(y) {
                    continue;
                }
                let equal = self.terms.eq(x, y);
                let different = self.terms.not(equal);
                self.add(equal);
                self.add(different);
                if ty == Type::Bool {
                    let (not_x, not_y) = (self.terms.not(x), self.terms.not(y));
                    for (a, b) in [(x, y), (not_x, y), (x, not_y), (not_x, not_y)] {
                        let either = self.terms.or([a, b]);
                        self.add(either);
                    }
                }
            }
        }
    }

    /// The values of the variables in each sample that are not too large to count with.
    fn rows(&self, vars: &[VarId]) -> Vec<Vec<i128>> {
        let value = |env: &Valuation, v| {
            let n = i128::try_from(&env.get(v)?.number()).ok()?;
            (n.abs() < 1 << 40).then_some(n)
        };
        self.samples.iter().filter_map(|env| vars.iter().map(|v| value(env, v)).collect()).collect()
    }

    /// Linear equations that all samples satisfy.
    fn equations(&mut self, vars: &[VarId]) {
        let mut rows = self.rows(vars);
        if rows.is_empty() {
            return;
        }
        for row in &mut rows {
            row.push(1);
        }
        for factors in null_space(rows, vars.len() + 1) {
            if factors.iter().take(vars.len()).any(|n| n.abs() > FACTOR) {
                continue;
            }
            let ty = self.terms.sort(self.terms.variable(vars[0]).ty);
            // Positive multiples on the left, negative ones and the constant on the right.
            let (mut left, mut right) = (vec![], vec![]);
            for (&v, &n) in vars.iter().zip(&factors) {
                let (x, factor) = (self.terms.var(v), self.terms.number(ty, n.abs().into()));
                let multiple = self.terms.mul(factor, x);
                match n.signum() {
                    1 => left.push(multiple),
                    -1 => right.push(multiple),
                    _ => {}
                }
            }
            right.push(self.terms.number(ty, (-factors[vars.len()]).into()));
            if left.is_empty() {
                continue;
            }
            let (left, right) = (self.terms.add(left), self.terms.add(right));
            let equal = self.terms.eq(left, right);
            self.add(equal);
        }
    }

    /// Bounds, order and parity.
    fn numbers(&mut self, vars: &[VarId], text: &Text) {
        let ty = self.terms.sort(self.terms.variable(vars[0]).ty);
        for (n, &v) in vars.iter().enumerate() {
            let x = self.terms.var(v);
            self.bounds(x, text);
            self.parity(x, v);
            for &w in &vars[n + 1..] {
                let y = self.terms.var(w);
                for (a, b) in [(x, y), (y, x)] {
                    let (lt, le) = (self.terms.lt(a, b), self.terms.le(a, b));
                    self.add(lt);
                    self.add(le);
                }
                if ty == Type::Int {
                    let (sum, difference) = (self.terms.add([x, y]), self.terms.sub(x, y));
                    self.bounds(difference, text);
                    self.bounds(sum, text);
                }
            }
        }
    }

    /// The least and greatest value that was seen, and the numbers of the text next to them.
    fn bounds(&mut self, t: TermId, text: &Text) {
        let value = |env| match eval(self.terms, t, env, &mut NoHost) {
            Ok(value) => i128::try_from(&value.number()).ok(),
            Err(_) => None,
        };
        let seen: Option<Vec<i128>> = self.samples.iter().map(value).collect();
        let Some(seen) = seen else { return };
        let (low, high) = (seen.iter().min().copied(), seen.iter().max().copied());
        let below = text.numbers.range(..=low.unwrap_or(i128::MAX)).rev().take(3).copied();
        let above = text.numbers.range(high.unwrap_or(i128::MIN)..).take(3).copied();
        let below: BTreeSet<i128> = below.chain(low).collect();
        let above: BTreeSet<i128> = above.chain(high).collect();
        let ty = self.terms.ty(t);
        for n in below {
            let n = self.terms.number(ty, n.into());
            let bound = self.terms.le(n, t);
            self.add(bound);
        }
        for n in above {
            let n = self.terms.number(ty, n.into());
            let bound = self.terms.le(t, n);
            self.add(bound);
        }
    }

    /// Always even, or always odd.
    fn parity(&mut self, x: TermId, v: VarId) {
        let seen: BTreeSet<i128> = self.rows(&[v]).into_iter().map(|row| row[0]).collect();
        if seen.len() < 2 {
            return;
        }
        let ty = self.terms.ty(x);
        for n in 0..2 {
            let (two, n) = (self.terms.number(ty, 2.into()), self.terms.number(ty, n.into()));
            let rest = self.terms.rem(Division::Euclidean, x, two);
            let is = self.terms.eq(rest, n);
            self.add(is);
        }
    }
}

/// A basis of the vectors that are orthogonal to all rows: whole numbers, reduced. Empty if numbers get too large.
fn null_space(mut rows: Vec<Vec<i128>>, width: usize) -> Vec<Vec<i128>> {
    let mut pivots: Vec<(usize, usize)> = vec![];
    let mut top = 0;
    // The constant is the last column; from right to left, variables are said by those before them.
    for column in (0..width).rev() {
        let Some(found) = (top..rows.len()).find(|&r| rows[r][column] != 0) else { continue };
        rows.swap(top, found);
        for r in 0..rows.len() {
            if r != top && rows[r][column] != 0 && !reduce(&mut rows, r, top, column) {
                return vec![];
            }
        }
        pivots.push((top, column));
        top += 1;
    }
    let free = (0..width).filter(|c| pivots.iter().all(|p| p.1 != *c));
    free.filter_map(|column| {
        // The free column gets the common multiple of the pivots, so that the others are whole.
        let mut multiple: i128 = 1;
        for &(r, c) in &pivots {
            if rows[r][column] != 0 {
                let p = rows[r][c].abs();
                multiple = multiple.checked_mul(p / gcd(multiple, p))?;
            }
        }
        let mut vector = vec![0; width];
        vector[column] = multiple;
        for &(r, c) in &pivots {
            vector[c] = rows[r][column].checked_mul(-(multiple / rows[r][c]))?;
        }
        let divisor = vector.iter().fold(0, |g, &n| gcd(g, n)).max(1);
        Some(vector.into_iter().map(|n| n / divisor).collect())
    })
    .collect()
}

/// Takes a multiple of the pivot's row from a row so that its entry in the column vanishes; false if numbers get too large.
fn reduce(rows: &mut [Vec<i128>], r: usize, pivot: usize, column: usize) -> bool {
    let (a, b) = (rows[pivot][column], rows[r][column]);
    let g = gcd(a, b);
    let (a, b) = (a / g, b / g);
    let mut divisor = 0;
    for c in 0..rows[r].len() {
        let new = rows[r][c].checked_mul(a).zip(rows[pivot][c].checked_mul(b)).and_then(|(x, y)| x.checked_sub(y));
        let Some(new) = new else { return false };
        rows[r][c] = new;
        divisor = gcd(divisor, new);
    }
    if divisor > 1 {
        rows[r].iter_mut().for_each(|n| *n /= divisor);
    }
    true
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::null_space;

    #[test]
    fn equations_of_a_line() {
        // x = 2i, y = 3i + 1: orthogonal to (x, y, 1) is 3x - 2y + 2.
        let rows = (0..5).map(|i| vec![2 * i, 3 * i + 1, 1]).collect();
        assert_eq!(null_space(rows, 3), [[3, -2, 2]]);
        let rows = vec![vec![1, 5, 1], vec![2, 5, 1]];
        assert_eq!(null_space(rows, 3), [[0, 1, -5]]);
        assert!(null_space(vec![vec![1, 0], vec![0, 1]], 2).is_empty());
        assert_eq!(null_space(vec![vec![0, 1]], 2), [[1, 0]]);
    }
}
