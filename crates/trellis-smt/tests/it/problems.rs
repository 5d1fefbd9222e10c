//! Random terms over a few variables of small types, and all their valuations.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::value::Value;
use trellis_expr::{BitOp, Division, TermId, Terms, Type, VarId};

/// A small generator of numbers (splitmix64): the same everywhere.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as usize) as i64
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Variables, and terms over them.
pub struct World {
    pub terms: Terms,
    pub vars: Vec<(VarId, Type)>,
    pub rng: Rng,
}

pub const WORD: Type = Type::Bits { width: 3, signed: true };
pub const BYTE: Type = Type::Bits { width: 2, signed: false };

impl World {
    /// Two arrays of so many entries, and a few integers, one of them without bounds.
    pub fn arrays(seed: u64, entries: i64) -> World {
        let mut terms = Terms::new();
        let array = terms.array_type(Type::Range(0, entries - 1), Type::Range(-1, 2));
        let types = [array, array, Type::Range(-3, 4), Type::Int];
        let vars = types.iter().enumerate().map(|(i, &ty)| (terms.declare(format!("v{i}"), ty), ty)).collect();
        World { terms, vars, rng: Rng(seed) }
    }

    pub fn new(seed: u64) -> World {
        let mut rng = Rng(seed);
        let mut terms = Terms::new();
        let color = terms.declare_enum("color", ["red", "green", "blue"].map(String::from).to_vec());
        let array = terms.array_type(Type::Range(0, 1), Type::Range(-1, 2));
        let all = [Type::Bool, Type::Range(-3, 4), Type::Int, Type::Enum(color), WORD, BYTE, array];
        let n = 1 + rng.below(3);
        let vars = (0..n)
            .map(|i| {
                let ty = all[rng.below(all.len())];
                (terms.declare(format!("v{i}"), ty), ty)
            })
            .collect();
        World { terms, vars, rng }
    }

    /// Variables of mixed types, of which [`World::vars`] is a window.
    pub fn chain(seed: u64, length: usize) -> (World, Vec<(VarId, Type)>) {
        let mut w = World::new(seed);
        let types: Vec<Type> = w.vars.iter().map(|v| v.1).collect();
        let mut all = vec![];
        for i in 0..=length {
            let ty = if w.rng.one_in(3) { types[w.rng.below(types.len())] } else { Type::Int };
            all.push((w.terms.declare(format!("w{i}"), ty), ty));
        }
        (w, all)
    }

    /// All valuations; integers without bounds are between −4 and 4.
    pub fn valuations(&self) -> Vec<Valuation> {
        let mut all = vec![Valuation::new()];
        for &(v, ty) in &self.vars {
            let ty = if ty == Type::Int { Type::Range(-4, 4) } else { ty };
            let values = Value::all(&self.terms, ty, 1000).expect("a small type");
            all = all
                .into_iter()
                .flat_map(|a| {
                    values.iter().map(move |x| {
                        let mut a = a.clone();
                        a.insert(v, x.clone());
                        a
                    })
                })
                .collect();
        }
        all
    }

    /// What confines the integers that have no bounds.
    pub fn confine(&mut self) -> Vec<TermId> {
        let t = &mut self.terms;
        let mut out = vec![];
        for &(v, ty) in &self.vars {
            if ty == Type::Int {
                let (v, lo, hi) = (t.var(v), t.int(-4), t.int(4));
                out.push(t.le(lo, v));
                out.push(t.le(v, hi));
            }
        }
        out
    }

    pub fn holds(&self, t: TermId, v: &Valuation) -> bool {
        eval(&self.terms, t, v, &mut NoHost) == Ok(Value::Bool(true))
    }

    fn variable(&mut self, fits: impl Fn(Type) -> bool) -> Option<TermId> {
        let fitting: Vec<VarId> = self.vars.iter().filter(|v| fits(v.1)).map(|v| v.0).collect();
        if fitting.is_empty() {
            return None;
        }
        let v = fitting[self.rng.below(fitting.len())];
        Some(self.terms.var(v))
    }

    pub fn bool(&mut self, depth: u32) -> TermId {
        if depth == 0 || self.rng.one_in(8) {
            let b = self.rng.one_in(2);
            return self
                .variable(|t| t == Type::Bool)
                .unwrap_or_else(|| if depth == 0 { self.terms.bool(b) } else { self.atom(depth) });
        }
        match self.rng.below(6) {
            0 => {
                let a = self.bool(depth - 1);
                self.terms.not(a)
            }
            1 | 2 => {
                let n = 2 + self.rng.below(2);
                let parts: Vec<TermId> = (0..n).map(|_| self.bool(depth - 1)).collect();
                if self.rng.one_in(2) { self.terms.and(parts) } else { self.terms.or(parts) }
            }
            3 => {
                let (c, a, b) = (self.bool(depth - 1), self.bool(depth - 1), self.bool(depth - 1));
                self.terms.ite(c, a, b)
            }
            _ => self.atom(depth),
        }
    }

    fn atom(&mut self, depth: u32) -> TermId {
        let d = depth.saturating_sub(1);
        match self.rng.below(9) {
            0..=4 => {
                let (a, b) = (self.int(d), self.int(d));
                self.compare(a, b)
            }
            5 | 6 => {
                let ty = if self.rng.one_in(2) { WORD } else { BYTE };
                let (a, b) = (self.word(ty, d), self.word(ty, d));
                self.compare(a, b)
            }
            7 => {
                let Some(a) = self.variable(|t| matches!(t, Type::Enum(_))) else { return self.bool(d) };
                let Type::Enum(e) = self.terms.ty(a) else { unreachable!() };
                let n = self.rng.below(3) as u32;
                let b = self.terms.enum_lit(e, n);
                self.terms.eq(a, b)
            }
            _ => {
                let Some(a) = self.array(d) else { return self.bool(d) };
                let b = self.array(d).expect("there is one");
                self.terms.eq(a, b)
            }
        }
    }

    fn compare(&mut self, a: TermId, b: TermId) -> TermId {
        match self.rng.below(4) {
            0 => self.terms.eq(a, b),
            1 => self.terms.le(a, b),
            2 => self.terms.lt(a, b),
            _ => self.terms.ne(a, b),
        }
    }

    fn division(&mut self) -> Division {
        if self.rng.one_in(2) { Division::Euclidean } else { Division::Truncating }
    }

    pub fn int(&mut self, depth: u32) -> TermId {
        if depth == 0 || self.rng.one_in(5) {
            if let Some(v) = self.variable(Type::is_int)
                && !self.rng.one_in(3)
            {
                return v;
            }
            let n = self.rng.between(-5, 6);
            return self.terms.int(n);
        }
        let d = depth - 1;
        match self.rng.below(13) {
            0..=2 => {
                let (a, b) = (self.int(d), self.int(d));
                self.terms.add([a, b])
            }
            3 => {
                let a = self.int(d);
                self.terms.neg(a)
            }
            4 | 5 => {
                let k = self.rng.between(-4, 5);
                let (a, k) = (self.int(d), self.terms.int(k));
                self.terms.mul(k, a)
            }
            6 | 7 => {
                let (a, k) = (self.int(d), self.rng.between(-4, 4));
                let (k, division) = (self.terms.int(k), self.division());
                if self.rng.one_in(2) { self.terms.div(division, a, k) } else { self.terms.rem(division, a, k) }
            }
            8 => {
                let (c, a, b) = (self.bool(d), self.int(d), self.int(d));
                self.terms.ite(c, a, b)
            }
            9 => {
                let a = self.int(d);
                self.terms.checked(a, -2, 3)
            }
            10 => {
                let a = if self.rng.one_in(2) { self.word(WORD, d) } else { self.bool(d) };
                self.terms.convert(Type::Int, a)
            }
            11 => {
                let Some(a) = self.array(d) else { return self.int(d) };
                let i = self.int(d);
                self.terms.select(a, i)
            }
            _ => {
                let (Some(a), Some(b)) =
                    (self.variable(|t| matches!(t, Type::Range(..))), self.variable(|t| matches!(t, Type::Range(..))))
                else {
                    return self.int(d);
                };
                match self.rng.below(3) {
                    0 => self.terms.mul(a, b),
                    n => self.terms.bit([BitOp::And, BitOp::Xor][n - 1], a, b),
                }
            }
        }
    }

    fn array(&mut self, depth: u32) -> Option<TermId> {
        let a = self.variable(|t| matches!(t, Type::Array(..)))?;
        if depth == 0 || self.rng.one_in(2) {
            return Some(a);
        }
        let (i, v) = (self.int(depth - 1), self.int(depth - 1));
        Some(self.terms.store(a, i, v))
    }

    pub fn word(&mut self, ty: Type, depth: u32) -> TermId {
        let Type::Bits { width, signed } = ty else { unreachable!() };
        if depth == 0 || self.rng.one_in(5) {
            if let Some(v) = self.variable(|t| t == ty)
                && !self.rng.one_in(3)
            {
                return v;
            }
            let bits = self.rng.next();
            return self.terms.bits(width, signed, bits);
        }
        let d = depth - 1;
        match self.rng.below(8) {
            0 | 1 => {
                let (a, b) = (self.word(ty, d), self.word(ty, d));
                self.terms.add([a, b])
            }
            2 => {
                let a = self.word(ty, d);
                self.terms.neg(a)
            }
            3 => {
                let (a, b) = (self.word(ty, d), self.word(ty, d));
                self.terms.mul(a, b)
            }
            4 => {
                let (a, b, division) = (self.word(ty, d), self.word(ty, d), self.division());
                if self.rng.one_in(2) { self.terms.div(division, a, b) } else { self.terms.rem(division, a, b) }
            }
            5 => {
                let op = [BitOp::And, BitOp::Or, BitOp::Xor, BitOp::Shl, BitOp::Shr][self.rng.below(5)];
                let (a, b) = (self.word(ty, d), self.word(ty, d));
                self.terms.bit(op, a, b)
            }
            6 => {
                let a =
                    if self.rng.one_in(2) { self.int(d) } else { self.word(if ty == WORD { BYTE } else { WORD }, d) };
                self.terms.convert(ty, a)
            }
            _ => {
                let (c, a, b) = (self.bool(d), self.word(ty, d), self.word(ty, d));
                self.terms.ite(c, a, b)
            }
        }
    }
}
