//! Gates: literals that stand for combinations of others, by clauses (Tseitin). Equal gates are one gate, constants are folded.

use rustc_hash::FxHashMap;

use super::sat::{Lit, Sat};

/// The search with the gates defined in it.
#[derive(Default)]
pub(crate) struct Gates {
    pub sat: Sat,
    ands: FxHashMap<Box<[Lit]>, Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    ites: FxHashMap<(Lit, Lit, Lit), Lit>,
}

impl Gates {
    /// A literal about which nothing is said.
    pub fn fresh(&mut self) -> Lit {
        self.sat.variable()
    }

    /// The constant.
    pub fn constant(b: bool) -> Lit {
        if b { Lit::TRUE } else { Lit::FALSE }
    }

    /// Are all of them true?
    pub fn and(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut all: Vec<Lit> = lits.into_iter().filter(|&l| l != Lit::TRUE).collect();
        all.sort_unstable();
        all.dedup();
        if all.first() == Some(&Lit::FALSE) || all.windows(2).any(|w| w[0] == !w[1]) {
            return Lit::FALSE;
        }
        match all[..] {
            [] => return Lit::TRUE,
            [l] => return l,
            _ => {}
        }
        if let Some(&g) = self.ands.get(&all[..]) {
            return g;
        }
        let g = self.sat.variable();
        for &l in &all {
            self.sat.clause(&[!g, l]);
        }
        let mut back: Vec<Lit> = all.iter().map(|&l| !l).collect();
        back.push(g);
        self.sat.clause(&back);
        self.ands.insert(all.into(), g);
        g
    }

    /// Is one of them true?
    pub fn or(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        !self.and(lits.into_iter().map(|l| !l))
    }

    /// Do they differ?
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.positive() != b.positive();
        let positive = |l: Lit| Lit::of(l.var(), true);
        let (mut a, mut b) = (positive(a), positive(b));
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        let g = if a == b {
            Lit::FALSE
        } else if a == Lit::TRUE {
            !b
        } else if let Some(&g) = self.xors.get(&(a, b)) {
            g
        } else {
            let g = self.sat.variable();
            for (x, y, z) in [(a, b, !g), (!a, !b, !g), (a, !b, g), (!a, b, g)] {
                self.sat.clause(&[x, y, z]);
            }
            self.xors.insert((a, b), g);
            g
        };
        if flip { !g } else { g }
    }

    /// Are they equal?
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// `a` if `c`, otherwise `b`.
    pub fn ite(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        if !c.positive() {
            return self.ite(!c, b, a);
        }
        if c == Lit::TRUE || a == b {
            return a;
        }
        if a == !b {
            return self.iff(c, a);
        }
        if a == Lit::TRUE || a == c {
            return self.or([c, b]);
        }
        if a == Lit::FALSE || a == !c {
            return self.and([!c, b]);
        }
        if b == Lit::TRUE || b == !c {
            return self.or([!c, a]);
        }
        if b == Lit::FALSE || b == c {
            return self.and([c, a]);
        }
        if let Some(&g) = self.ites.get(&(c, a, b)) {
            return g;
        }
        let g = self.sat.variable();
        for (x, y, z) in [(!c, !a, g), (!c, a, !g), (c, !b, g), (c, b, !g), (!a, !b, g), (a, b, !g)] {
            self.sat.clause(&[x, y, z]);
        }
        self.ites.insert((c, a, b), g);
        g
    }

    /// Are two or three of them true?
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let (or, and) = (self.or([b, c]), self.and([b, c]));
        self.ite(a, or, and)
    }
}
