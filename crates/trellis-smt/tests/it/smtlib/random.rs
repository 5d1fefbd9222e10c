//! Random terms of every type, many of which fault, and random values.

use dashu_int::IBig;
use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{BitOp, Division, TermId, Terms, Type, Value, VarId};

/// SplitMix64.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Variables of many types.
pub fn variables(terms: &mut Terms) -> Vec<VarId> {
    let color = terms.declare_enum("Color", ["red", "green", "blue"].map(String::from).to_vec());
    let word = |width, signed| Type::Bits { width, signed };
    let mut all = vec![
        ("b", Type::Bool),
        ("c|", Type::Bool),
        ("x", Type::Int),
        ("x", Type::Int),
        ("let", Type::Range(-3, 5)),
        ("e", Type::Enum(color)),
        ("f", Type::Enum(color)),
        ("u", word(4, false)),
        ("s", word(5, true)),
        ("w", word(64, true)),
        ("v", word(64, false)),
        ("t!1", word(4, false)),
    ];
    all.push(("a", terms.array_type(Type::Range(0, 3), Type::Range(0, 7))));
    all.push(("a2", terms.array_type(Type::Range(0, 3), Type::Range(0, 7))));
    all.push(("m", terms.array_type(Type::Int, Type::Int)));
    all.push(("n", terms.array_type(word(3, true), Type::Bool)));
    all.push(("o", terms.array_type(Type::Enum(color), Type::Enum(color))));
    all.into_iter().map(|(name, ty)| terms.declare(name, ty)).collect()
}

/// A value of the type, small more often than not.
pub fn value(terms: &Terms, ty: Type, rng: &mut Rng) -> Value {
    match ty {
        Type::Int => match rng.below(8) {
            0 => Value::Int(IBig::from(rng.next() as i64) * IBig::from(rng.next() as i64)),
            1 => Value::Int(IBig::from(rng.next() as i64)),
            _ => Value::Int((rng.below(13) as i64 - 6).into()),
        },
        Type::Bits { width, signed } => {
            let n = if rng.below(2) == 0 { rng.next() } else { (rng.below(9) as i64 - 4) as u64 };
            Value::wrap(width, signed, &n.into())
        }
        Type::Array(index, entry) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let mut array = ArrayValue::new(terms, index, value(terms, entry, rng));
            for _ in 0..rng.below(5) {
                let (i, v) = (value(terms, index, rng), value(terms, entry, rng));
                array.set(&i, v);
            }
            Value::Array(array)
        }
        ty => {
            let (lo, hi) = terms.type_bounds(ty).expect("a bounded type");
            Value::from_word(ty, lo + rng.below((hi - lo + 1) as usize) as i64)
        }
    }
}

/// Values for all variables.
pub fn valuation(terms: &Terms, rng: &mut Rng) -> Valuation {
    terms.variables().map(|(v, var)| (v, value(terms, var.ty, rng))).collect()
}

/// Makes random terms.
pub struct Maker<'a> {
    pub terms: &'a mut Terms,
    pub vars: &'a [VarId],
    pub rng: &'a mut Rng,
    /// Divisors and distances may be anything, or only literals.
    pub wild: bool,
}

impl Maker<'_> {
    /// A term of the type, so many levels deep.
    pub fn term(&mut self, ty: Type, depth: usize) -> TermId {
        if depth == 0 || self.rng.below(10) == 0 {
            return self.leaf(ty);
        }
        if self.rng.below(6) == 0 {
            let (c, a, b) = (self.term(Type::Bool, depth - 1), self.term(ty, depth - 1), self.term(ty, depth - 1));
            return self.terms.ite(c, a, b);
        }
        match ty {
            Type::Bool => self.truth(depth - 1),
            Type::Int => self.int(depth - 1),
            Type::Bits { width, signed } => self.bits(width, signed, depth - 1),
            Type::Array(index, entry) => {
                let (index, entry) = (self.terms.type_of_id(index), self.terms.type_of_id(entry));
                let a = self.term(ty, depth - 1);
                let (index, entry) = (self.terms.sort(index), self.terms.sort(entry));
                let (i, v) = (self.term(index, depth - 1), self.term(entry, depth - 1));
                if self.rng.below(4) == 0 { self.terms.const_array(ty, v) } else { self.terms.store(a, i, v) }
            }
            _ => self.select(ty, depth - 1).unwrap_or_else(|| self.leaf(ty)),
        }
    }

    fn leaf(&mut self, ty: Type) -> TermId {
        let fitting: Vec<VarId> =
            self.vars.iter().copied().filter(|&v| self.terms.sort(self.terms.variable(v).ty) == ty).collect();
        if !fitting.is_empty() && self.rng.below(4) > 0 {
            let v = self.rng.pick(&fitting);
            return self.terms.var(v);
        }
        let value = value(self.terms, ty, self.rng);
        match self.terms.literal(&value) {
            Some(t) => t,
            None => {
                let v = self.rng.pick(&fitting);
                self.terms.var(v)
            }
        }
    }

    fn number_type(&mut self) -> Type {
        let word = |width, signed| Type::Bits { width, signed };
        let types =
            [Type::Int, Type::Int, word(4, false), word(5, true), word(64, true), word(64, false), word(1, true)];
        self.rng.pick(&types)
    }

    /// What may stand after a division or shift sign.
    fn right(&mut self, ty: Type, depth: usize) -> TermId {
        if self.wild {
            return self.term(ty, depth);
        }
        let n = self.rng.below(5) as i64 - 1;
        let n = if n == 0 { 3 } else { n };
        self.terms.number(ty, n.into())
    }

    fn truth(&mut self, depth: usize) -> TermId {
        match self.rng.below(8) {
            0 => {
                let a = self.term(Type::Bool, depth);
                self.terms.not(a)
            }
            n @ (1 | 2) => {
                let args: Vec<TermId> = (0..2 + self.rng.below(2)).map(|_| self.term(Type::Bool, depth)).collect();
                if n == 1 { self.terms.and(args) } else { self.terms.or(args) }
            }
            n @ (3..=5) => {
                let ty = self.number_type();
                let (a, b) = (self.term(ty, depth), self.term(ty, depth));
                match n {
                    3 => self.terms.lt(a, b),
                    4 => self.terms.le(a, b),
                    _ => self.terms.eq(a, b),
                }
            }
            6 => {
                let v = self.rng.pick(self.vars);
                let ty = self.terms.sort(self.terms.variable(v).ty);
                let (a, b) = (self.term(ty, depth), self.term(ty, depth));
                self.terms.eq(a, b)
            }
            _ => self.select(Type::Bool, depth).unwrap_or_else(|| self.leaf(Type::Bool)),
        }
    }

    fn select(&mut self, ty: Type, depth: usize) -> Option<TermId> {
        let arrays = |&v: &VarId| match self.terms.variable(v).ty {
            a @ Type::Array(index, entry) if self.terms.sort(self.terms.type_of_id(entry)) == ty => {
                Some((a, self.terms.sort(self.terms.type_of_id(index))))
            }
            _ => None,
        };
        let fitting: Vec<(Type, Type)> = self.vars.iter().filter_map(arrays).collect();
        if fitting.is_empty() {
            return None;
        }
        let (array, index) = self.rng.pick(&fitting);
        let (a, i) = (self.term(array, depth), self.term(index, depth));
        Some(self.terms.select(a, i))
    }

    fn int(&mut self, depth: usize) -> TermId {
        let d = self.rng.pick(&[Division::Euclidean, Division::Truncating]);
        match self.rng.below(10) {
            0 | 1 => {
                let args: Vec<TermId> = (0..2 + self.rng.below(2)).map(|_| self.term(Type::Int, depth)).collect();
                self.terms.add(args)
            }
            2 => {
                let a = self.term(Type::Int, depth);
                self.terms.neg(a)
            }
            3 => {
                let (a, b) = (self.term(Type::Int, depth), self.right(Type::Int, depth));
                self.terms.mul(a, b)
            }
            4 => {
                let (a, b) = (self.term(Type::Int, depth), self.right(Type::Int, depth));
                self.terms.div(d, a, b)
            }
            5 => {
                let (a, b) = (self.term(Type::Int, depth), self.right(Type::Int, depth));
                self.terms.rem(d, a, b)
            }
            6 => {
                let a = self.term(Type::Int, depth);
                self.terms.checked(a, -2, 9)
            }
            7 => {
                let (a, by) = (self.term(Type::Int, depth), self.rng.below(66) as i64);
                let by = self.terms.int(by);
                let op = self.rng.pick(&[BitOp::Shl, BitOp::Shr]);
                self.terms.bit(op, a, by)
            }
            8 => self.select(Type::Int, depth).unwrap_or_else(|| self.leaf(Type::Int)),
            _ => {
                let from = match self.rng.below(3) {
                    0 => Type::Bool,
                    1 => self.terms.variable(self.vars[5]).ty,
                    _ => self.number_type(),
                };
                let a = self.term(from, depth);
                let to = self.rng.pick(&[Type::Int, Type::Range(-1, 7)]);
                self.terms.convert(to, a)
            }
        }
    }

    fn bits(&mut self, width: u8, signed: bool, depth: usize) -> TermId {
        let ty = Type::Bits { width, signed };
        let d = self.rng.pick(&[Division::Euclidean, Division::Truncating]);
        let a = self.term(ty, depth);
        match self.rng.below(9) {
            0 => {
                let b = self.term(ty, depth);
                self.terms.add([a, b])
            }
            1 => self.terms.neg(a),
            2 => {
                let b = self.term(ty, depth);
                self.terms.mul(a, b)
            }
            3 => {
                let b = self.term(ty, depth);
                self.terms.div(d, a, b)
            }
            4 => {
                let b = self.term(ty, depth);
                self.terms.rem(d, a, b)
            }
            5 => {
                let b = self.term(ty, depth);
                let op = self.rng.pick(&[BitOp::And, BitOp::Or, BitOp::Xor]);
                self.terms.bit(op, a, b)
            }
            6 | 7 => {
                let by = self.number_type();
                let by = self.term(by, depth);
                let op = self.rng.pick(&[BitOp::Shl, BitOp::Shr]);
                self.terms.bit(op, a, by)
            }
            _ => {
                let from = if self.rng.below(4) == 0 { Type::Bool } else { self.number_type() };
                let a = self.term(from, depth);
                self.terms.convert(ty, a)
            }
        }
    }
}
