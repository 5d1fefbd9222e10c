//! Circuits for words: fixed-width arithmetic, bit by bit, the least significant bit first.
//!
//! Tested against [`trellis_expr::eval`] on all values of small widths.

use super::gates::Gates;
use super::sat::Lit;

/// A word.
pub(crate) type Word = Vec<Lit>;

impl Gates {
    /// The literal word.
    pub fn word(width: usize, bits: u64) -> Word {
        (0..width).map(|i| Gates::constant(i < 64 && bits >> i & 1 == 1)).collect()
    }

    /// The word in another width.
    pub fn resize(a: &[Lit], width: usize, signed: bool) -> Word {
        let fill = if signed { *a.last().expect("a word has bits") } else { Lit::FALSE };
        (0..width).map(|i| a.get(i).copied().unwrap_or(fill)).collect()
    }

    /// Bit by bit.
    pub fn bitwise(&mut self, a: &[Lit], b: &[Lit], mut f: impl FnMut(&mut Gates, Lit, Lit) -> Lit) -> Word {
        a.iter().zip(b).map(|(&a, &b)| f(self, a, b)).collect()
    }

    /// `a` if `c`, otherwise `b`.
    pub fn choose(&mut self, c: Lit, a: &[Lit], b: &[Lit]) -> Word {
        self.bitwise(a, b, |g, a, b| g.ite(c, a, b))
    }

    /// Are they equal?
    pub fn same(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let bits = self.bitwise(a, b, |g, a, b| g.iff(a, b));
        self.and(bits)
    }

    /// `a + b + carry`, and what is carried out.
    fn sum(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Word, Lit) {
        let mut out = vec![];
        for (&a, &b) in a.iter().zip(b) {
            let half = self.xor(a, b);
            out.push(self.xor(half, carry));
            carry = self.majority(a, b, carry);
        }
        (out, carry)
    }

    /// `a + b`.
    pub fn add(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.sum(a, b, Lit::FALSE).0
    }

    /// `a − b`, and whether it is not negative, read without sign.
    fn difference(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Lit) {
        let b: Word = b.iter().map(|&l| !l).collect();
        self.sum(a, &b, Lit::TRUE)
    }

    /// `−a`.
    pub fn negate(&mut self, a: &[Lit]) -> Word {
        let zero = vec![Lit::FALSE; a.len()];
        self.difference(&zero, a).0
    }

    /// `a ≤ b`.
    pub fn at_most(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        if !signed {
            return self.difference(b, a).1;
        }
        let flip = |w: &[Lit]| {
            let mut w = w.to_vec();
            let top = w.last_mut().expect("a word has bits");
            *top = !*top;
            w
        };
        self.difference(&flip(b), &flip(a)).1
    }

    /// `a · b`.
    pub fn product(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        // The word with more constant bits selects what is added.
        let constants = |w: &[Lit]| w.iter().filter(|l| l.var() == 0).count();
        let (a, b) = if constants(a) > constants(b) { (b, a) } else { (a, b) };
        let n = a.len();
        let mut out = vec![Lit::FALSE; n];
        for i in 0..n {
            if b[i] == Lit::FALSE {
                continue;
            }
            let row: Word = a[..n - i].iter().map(|&l| self.and([l, b[i]])).collect();
            let upper = self.add(&out[i..], &row);
            out.splice(i.., upper);
        }
        out
    }

    /// Quotient and remainder, without sign. Dividing by zero gives whatever the circuit gives.
    fn divide_unsigned(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let n = a.len();
        let wide = Gates::resize(b, n + 1, false);
        let mut rest = vec![Lit::FALSE; n + 1];
        let mut quotient = vec![Lit::FALSE; n];
        for i in (0..n).rev() {
            rest.rotate_right(1);
            rest[0] = a[i];
            let (less, fits) = self.difference(&rest, &wide);
            quotient[i] = fits;
            rest = self.choose(fits, &less, &rest);
        }
        rest.truncate(n);
        (quotient, rest)
    }

    /// Quotient and remainder; `euclidean`: the remainder is never negative, otherwise it has the sign of `a`.
    pub fn divide(&mut self, a: &[Lit], b: &[Lit], signed: bool, euclidean: bool) -> (Word, Word) {
        if !signed {
            return self.divide_unsigned(a, b);
        }
        let (sa, sb) = (*a.last().expect("a word has bits"), *b.last().expect("a word has bits"));
        let signed_by = |g: &mut Gates, s: Lit, w: &[Lit]| {
            let n = g.negate(w);
            g.choose(s, &n, w)
        };
        let (ma, mb) = (signed_by(self, sa, a), signed_by(self, sb, b));
        let (q, r) = self.divide_unsigned(&ma, &mb);
        let different = self.xor(sa, sb);
        let (q, r) = (signed_by(self, different, &q), signed_by(self, sa, &r));
        if !euclidean {
            return (q, r);
        }
        // A negative remainder goes up by |b|, and the quotient one towards it.
        let some = self.or(r.iter().copied());
        let negative = self.and([sa, some]);
        let up = self.add(&r, &mb);
        let (one, minus) = (Gates::word(a.len(), 1), Gates::word(a.len(), u64::MAX));
        let step = self.choose(sb, &one, &minus);
        let next = self.add(&q, &step);
        (self.choose(negative, &next, &q), self.choose(negative, &up, &r))
    }

    /// Shifted by a distance that is below the width, else by whatever its low bits say.
    pub fn shift(&mut self, a: &[Lit], by: &[Lit], left: bool, fill: Lit) -> Word {
        let n = a.len();
        let mut out = a.to_vec();
        for (i, &s) in by.iter().enumerate().take_while(|(i, _)| 1usize << i < n) {
            let d = 1 << i;
            let moved: Word = (0..n)
                .map(|j| {
                    if left { if j >= d { out[j - d] } else { fill } } else { out.get(j + d).copied().unwrap_or(fill) }
                })
                .collect();
            out = self.choose(s, &moved, &out);
        }
        out
    }
}
