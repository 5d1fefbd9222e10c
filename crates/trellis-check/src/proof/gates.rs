//! Clauses for gates, and circuits of gates for words, the least significant bit first.
//!
//! A gate is a new variable with the clauses that say what it is; so whatever satisfies the rest satisfies them, too. Equal gates are
//! one, constants are folded. Word arithmetic is what one does on paper.

use rustc_hash::FxHashMap;
use trellis_smt::proof::{Literal, Problem};

pub(crate) type Lit = Literal;
/// The variable that is true.
pub(crate) const TRUE: Lit = 1;
pub(crate) const FALSE: Lit = -1;

/// A problem in the making.
pub(crate) struct Builder {
    pub problem: Problem,
    pub(super) ands: FxHashMap<Vec<Lit>, Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    majorities: FxHashMap<[Lit; 3], Lit>,
    ites: FxHashMap<[Lit; 3], Lit>,
    pub(super) integers: super::sums::Integers,
    pub(super) arrays: super::arrays::Arrays,
    /// What was left open because nothing exact is known of it here: a model is no counterexample.
    pub open: Option<&'static str>,
}

impl Builder {
    /// Nothing but the truth.
    pub fn new() -> Builder {
        let problem = Problem { variables: 1, clauses: vec![vec![TRUE]], ..Problem::default() };
        Builder {
            problem,
            ands: FxHashMap::default(),
            xors: FxHashMap::default(),
            majorities: FxHashMap::default(),
            ites: FxHashMap::default(),
            integers: Default::default(),
            arrays: Default::default(),
            open: None,
        }
    }

    /// A literal about which nothing is said.
    pub fn fresh(&mut self) -> Lit {
        self.problem.variables += 1;
        self.problem.variables as Lit
    }

    /// One of them is true.
    pub fn clause(&mut self, lits: &[Lit]) {
        if !lits.contains(&TRUE) {
            self.problem.clauses.push(lits.iter().copied().filter(|&l| l != FALSE).collect());
        }
    }

    pub fn constant(b: bool) -> Lit {
        if b { TRUE } else { FALSE }
    }

    pub fn and(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut all: Vec<Lit> = lits.into_iter().filter(|&l| l != TRUE).collect();
        all.sort_unstable();
        all.dedup();
        if all.iter().any(|l| *l == FALSE || all.binary_search(&-l).is_ok()) {
            return FALSE;
        }
        if all.len() < 2 {
            return all.first().copied().unwrap_or(TRUE);
        }
        if let Some(&g) = self.ands.get(&all) {
            return g;
        }
        let g = self.fresh();
        all.iter().for_each(|&l| self.clause(&[-g, l]));
        let back: Vec<Lit> = all.iter().map(|l| -l).chain([g]).collect();
        self.clause(&back);
        self.ands.insert(all, g);
        g
    }

    pub fn or(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        -self.and(lits.into_iter().map(|l| -l))
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let sign = a.signum() * b.signum();
        let (a, b) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
        if a == b {
            return FALSE * sign;
        }
        if a == TRUE {
            return -b * sign;
        }
        if let Some(&g) = self.xors.get(&(a, b)) {
            return g * sign;
        }
        let g = self.fresh();
        for c in [[-g, a, b], [-g, -a, -b], [g, -a, b], [g, a, -b]] {
            self.clause(&c);
        }
        self.xors.insert((a, b), g);
        g * sign
    }

    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        -self.xor(a, b)
    }

    /// `a` if `c`, otherwise `b`.
    pub fn ite(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        match () {
            () if c < 0 => self.ite(-c, b, a),
            () if c == TRUE || a == b => a,
            () if a == -b => self.iff(c, a),
            () if a == TRUE || a == c => self.or([c, b]),
            () if a == FALSE || a == -c => self.and([-c, b]),
            () if b == TRUE || b == -c => self.or([-c, a]),
            () if b == FALSE || b == c => self.and([c, a]),
            () => {
                if let Some(&g) = self.ites.get(&[c, a, b]) {
                    return g;
                }
                let g = self.fresh();
                for x in [[-c, -a, g], [-c, a, -g], [c, -b, g], [c, b, -g], [-a, -b, g], [a, b, -g]] {
                    self.clause(&x);
                }
                self.ites.insert([c, a, b], g);
                g
            }
        }
    }

    /// Are two or three of them true?
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut x = [a, b, c];
        x.sort_unstable();
        for (i, j, k) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            let other = x[k];
            match () {
                () if x[i] == x[j] => return x[i],
                () if x[i] == -x[j] => return other,
                () if other == TRUE => return self.or([x[i], x[j]]),
                () if other == FALSE => return self.and([x[i], x[j]]),
                () => {}
            }
        }
        if let Some(&g) = self.majorities.get(&x) {
            return g;
        }
        let g = self.fresh();
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            self.clause(&[-x[i], -x[j], g]);
            self.clause(&[x[i], x[j], -g]);
        }
        self.majorities.insert(x, g);
        g
    }
}

/// A word.
pub(crate) type Word = Vec<Lit>;

/// The word for a number, cut to the width.
pub(crate) fn literal(width: usize, bits: u64) -> Word {
    (0..width).map(|i| Builder::constant(i < 64 && bits >> i & 1 == 1)).collect()
}

/// In another width, cut off or filled up with the sign.
pub(crate) fn resize(a: &[Lit], width: usize, signed: bool) -> Word {
    let fill = if signed { a.last().copied().unwrap_or(FALSE) } else { FALSE };
    (0..width).map(|i| a.get(i).copied().unwrap_or(fill)).collect()
}

impl Builder {
    /// Bit by bit.
    pub fn each(&mut self, a: &[Lit], b: &[Lit], f: impl Fn(&mut Builder, Lit, Lit) -> Lit) -> Word {
        a.iter().zip(b).map(|(&a, &b)| f(self, a, b)).collect()
    }

    pub fn choose(&mut self, c: Lit, a: &[Lit], b: &[Lit]) -> Word {
        self.each(a, b, |s, a, b| s.ite(c, a, b))
    }

    pub fn same(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let bits = self.each(a, b, |s, a, b| s.iff(a, b));
        self.and(bits)
    }

    /// `a + b + carry`.
    pub fn add(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Word {
        let mut sum = vec![];
        for (&a, &b) in a.iter().zip(b) {
            let half = self.xor(a, b);
            sum.push(self.xor(half, carry));
            carry = self.majority(a, b, carry);
        }
        sum
    }

    pub fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        let not: Word = b.iter().map(|l| -l).collect();
        self.add(a, &not, TRUE)
    }

    pub fn negate(&mut self, a: &[Lit]) -> Word {
        self.subtract(&literal(a.len(), 0), a)
    }

    /// `a ≤ b`: from the least bit on, each bit decides over those below unless both are the same.
    pub fn at_most(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        let mut so_far = TRUE;
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            // The bit of the sign counts the other way round.
            let (x, y) = if signed && i + 1 == a.len() { (y, x) } else { (x, y) };
            so_far = self.majority(-x, y, so_far);
        }
        so_far
    }

    pub fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        let constants = |w: &[Lit]| w.iter().filter(|l| l.abs() == TRUE).count();
        let (a, b) = if constants(a) > constants(b) { (b, a) } else { (a, b) };
        let mut sum = literal(a.len(), 0);
        for (i, &bit) in b.iter().enumerate().filter(|(_, b)| **b != FALSE) {
            let row: Word = a[..a.len() - i].iter().map(|&l| self.and([l, bit])).collect();
            let upper = self.add(&sum[i..], &row, FALSE);
            sum.splice(i.., upper);
        }
        sum
    }

    /// Quotient and remainder of words without sign, by long division. Of a division by zero nothing is said but that it has some.
    fn divide_plain(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let wide = resize(b, b.len() + 1, false);
        let mut rest = literal(wide.len(), 0);
        let mut quotient = vec![FALSE; a.len()];
        for i in (0..a.len()).rev() {
            rest.insert(0, a[i]);
            rest.pop();
            quotient[i] = self.at_most(&wide, &rest, false);
            let less = self.subtract(&rest, &wide);
            rest = self.choose(quotient[i], &less, &rest);
        }
        rest.pop();
        (quotient, rest)
    }

    /// Quotient and remainder: the remainder has the sign of `a`, or none if `euclidean`.
    pub fn divide(&mut self, a: &[Lit], b: &[Lit], signed: bool, euclidean: bool) -> (Word, Word) {
        let (Some(&below), Some(&by_below), true) = (a.last(), b.last(), signed) else {
            return self.divide_plain(a, b);
        };
        let with_sign = |s: &mut Builder, minus: Lit, w: &[Lit]| {
            let negative = s.negate(w);
            s.choose(minus, &negative, w)
        };
        let (size, by) = (with_sign(self, below, a), with_sign(self, by_below, b));
        let (q, r) = self.divide_plain(&size, &by);
        let differ = self.xor(below, by_below);
        let (q, r) = (with_sign(self, differ, &q), with_sign(self, below, &r));
        if !euclidean {
            return (q, r);
        }
        // a = q b + r with r < 0: then r + |b| is the remainder, and q goes one away from b.
        let some = self.or(r.iter().copied());
        let short = self.and([below, some]);
        let up = self.add(&r, &by, FALSE);
        let (more, less) = (self.add(&q, &literal(q.len(), 1), FALSE), self.add(&q, &vec![TRUE; q.len()], FALSE));
        let next = self.choose(by_below, &more, &less);
        (self.choose(short, &next, &q), self.choose(short, &up, &r))
    }

    /// Shifted by a distance that is below the width.
    pub fn shift(&mut self, a: &[Lit], by: &[Lit], left: bool, fill: Lit) -> Word {
        let mut out = a.to_vec();
        for (i, &s) in by.iter().enumerate().take_while(|(i, _)| 1usize << i < a.len()) {
            let d = 1usize << i;
            let from = |j: usize| if left { j.checked_sub(d) } else { Some(j + d) };
            let moved: Word = (0..a.len()).map(|j| from(j).and_then(|k| out.get(k)).copied().unwrap_or(fill)).collect();
            out = self.choose(s, &moved, &out);
        }
        out
    }
}
