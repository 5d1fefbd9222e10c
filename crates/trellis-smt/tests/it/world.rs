//! A few variables, random formulas over them, and what they mean.

use proptest::prelude::*;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::partial::judge;
use trellis_expr::{Division, EnumId, Term, TermId, Terms, Type, Value, VarId};

/// Random decisions that shrink: when they run out, the first alternative is taken.
pub struct Tape<'a>(std::slice::Iter<'a, u32>);

impl Tape<'_> {
    pub fn new(choices: &[u32]) -> Tape<'_> {
        Tape(choices.iter())
    }

    pub fn pick(&mut self, n: usize) -> usize {
        self.0.next().map_or(0, |&k| k as usize % n)
    }
}

pub fn tape() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 1..120)
}

/// So many cases (times the environment variable `MORE`), and no files left behind.
pub fn cases(n: u32) -> ProptestConfig {
    let more: u32 = std::env::var("MORE").map_or(1, |m| m.parse().expect("a number"));
    ProptestConfig { cases: n * more, failure_persistence: None, ..ProptestConfig::default() }
}

pub struct World {
    pub t: Terms,
    pub color: EnumId,
    pub bools: Vec<VarId>,
    pub ints: Vec<VarId>,
    pub colors: Vec<VarId>,
}

impl World {
    /// Two truth values, two integers, two ranges, a color.
    pub fn new() -> World {
        let mut t = Terms::new();
        let color = t.declare_enum("Color", ["red", "green", "blue"].map(String::from).to_vec());
        let bools = ["p", "q"].map(|name| t.declare(name, Type::Bool)).to_vec();
        let declared = [("n", Type::Int), ("m", Type::Int), ("x", Type::Range(-2, 3)), ("y", Type::Range(0, 2))];
        let ints = declared.map(|(name, ty)| t.declare(name, ty)).to_vec();
        let colors = vec![t.declare("c", Type::Enum(color))];
        World { t, color, bools, ints, colors }
    }

    pub fn sum(&mut self, tape: &mut Tape) -> TermId {
        let mut parts = vec![];
        for _ in 0..=tape.pick(3) {
            let v = self.t.var(self.ints[tape.pick(self.ints.len())]);
            let n = self.t.int([1, 1, 1, -1, 2, -2, 3][tape.pick(7)]);
            parts.push(match tape.pick(8) {
                7 => n,
                _ => self.t.mul(n, v),
            });
        }
        let constant = self.t.int([0, 0, 1, -1, 2, 3, -4, 5][tape.pick(8)]);
        parts.push(constant);
        self.t.add(parts)
    }

    pub fn atom(&mut self, tape: &mut Tape) -> TermId {
        match tape.pick(12) {
            0 => {
                let v = self.bools[tape.pick(self.bools.len())];
                self.t.var(v)
            }
            1 => {
                let (v, k) = (self.colors[tape.pick(self.colors.len())], tape.pick(3) as u32);
                let (v, k) = (self.t.var(v), self.t.enum_lit(self.color, k));
                self.t.eq(v, k)
            }
            2 => {
                let (sum, k) = (self.sum(tape), 2 + tape.pick(2) as i64);
                let (k, r) = (self.t.int(k), self.t.int(tape.pick(2) as i64));
                let division = [Division::Euclidean, Division::Truncating][tape.pick(2)];
                match tape.pick(4) {
                    0 => {
                        let quotient = self.t.div(division, sum, k);
                        self.t.le(quotient, r)
                    }
                    _ => {
                        let rem = self.t.rem(division, sum, k);
                        self.t.eq(rem, r)
                    }
                }
            }
            3..=6 => {
                let v = self.t.var(self.ints[tape.pick(self.ints.len())]);
                let k = self.t.int(tape.pick(7) as i64 - 3);
                match tape.pick(4) {
                    0 => self.t.le(v, k),
                    1 => self.t.le(k, v),
                    2 => self.t.eq(v, k),
                    _ => self.t.lt(v, k),
                }
            }
            _ => {
                let (a, b) = (self.sum(tape), self.sum(tape));
                match tape.pick(4) {
                    0 => self.t.lt(a, b),
                    1 => self.t.eq(a, b),
                    _ => self.t.le(a, b),
                }
            }
        }
    }

    pub fn formula(&mut self, depth: usize, tape: &mut Tape) -> TermId {
        if depth == 0 {
            return self.atom(tape);
        }
        let node = match tape.pick(8) {
            0 => return self.atom(tape),
            1 => Term::Not(self.formula(depth - 1, tape)),
            k @ 2..=6 => {
                let parts: Vec<TermId> = (0..2 + tape.pick(3)).map(|_| self.formula(depth - 1, tape)).collect();
                if k % 2 == 0 { Term::And(parts.into()) } else { Term::Or(parts.into()) }
            }
            _ => {
                let (c, a, b) =
                    (self.formula(depth - 1, tape), self.formula(depth - 1, tape), self.formula(depth - 1, tape));
                Term::Ite(c, a, b)
            }
        };
        self.t.intern(node)
    }

    /// The values of a variable, integers between the bounds.
    fn values(&self, v: VarId, (lo, hi): (i64, i64)) -> Vec<Value> {
        let ty = match self.t.variable(v).ty {
            Type::Int => Type::Range(lo, hi),
            ty => ty,
        };
        Value::all(&self.t, ty, 1000).expect("a small type")
    }

    /// All valuations of the variables with integers between the bounds, or so many of them.
    pub fn sample(&self, vars: &[VarId], bounds: (i64, i64), count: usize) -> Vec<Valuation> {
        let values: Vec<Vec<Value>> = vars.iter().map(|&v| self.values(v, bounds)).collect();
        let total: usize = values.iter().map(Vec::len).product();
        let number = |k: usize| if total <= count { k } else { k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20 };
        let valuation = |k: usize| {
            let mut rest = number(k);
            let mut value = |values: &Vec<Value>| {
                let value = values[rest % values.len()].clone();
                rest /= values.len();
                value
            };
            vars.iter().zip(&values).map(|(&v, values)| (v, value(values))).collect()
        };
        (0..total.min(count)).map(valuation).collect()
    }

    /// Is the formula true for some values of these variables, integers between the bounds?
    pub fn possible(&self, t: TermId, vars: &[VarId], bounds: (i64, i64), env: &Valuation) -> bool {
        let Some((&v, rest)) = vars.split_first() else { return self.holds(t, env) };
        if judge(&self.t, t, |v| env.get(&v).cloned()).is_false() {
            return false;
        }
        self.values(v, bounds).into_iter().any(|value| {
            let mut env = env.clone();
            env.insert(v, value);
            self.possible(t, rest, bounds, &env)
        })
    }

    pub fn holds(&self, t: TermId, env: &Valuation) -> bool {
        eval(&self.t, t, env, &mut NoHost).expect("it never faults") == Value::Bool(true)
    }
}
