//! A small world of variables of all types, and random well-typed terms and statements over it.

use proptest::prelude::*;
use trellis_expr::code::{Host, Layout};
use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{BitOp, Division, Fault, FnId, Stmt, StmtId, Term, TermId, Terms, Type, Value, VarId};

/// Foreign functions with a bit of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign(pub i64);

impl Host for Foreign {
    fn query(&mut self, f: FnId, args: &[i64]) -> Result<i64, Fault> {
        let sum = args.iter().fold(self.0, |a, &b| a.wrapping_mul(3).wrapping_add(b));
        match f.0 {
            0 => Ok(sum.rem_euclid(5)),
            _ if sum % 2 == 0 => Err(Fault::Foreign(format!("refused {args:?}"))),
            _ => Ok(sum.rem_euclid(3) - 1),
        }
    }

    fn update(&mut self, f: FnId, args: &[i64]) -> Result<(), Fault> {
        self.0 = self.query(f, args)? * 7 + 1;
        Ok(())
    }
}

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
    prop::collection::vec(any::<u32>(), 1..80)
}

/// So many cases (times the environment variable `MORE`), and no files left behind.
pub fn cases(n: u32) -> ProptestConfig {
    let more: u32 = std::env::var("MORE").map_or(1, |m| m.parse().expect("a number"));
    ProptestConfig { cases: n * more, failure_persistence: None, ..ProptestConfig::default() }
}

pub struct World {
    pub t: Terms,
    pub vars: Vec<VarId>,
    /// Only loops write it.
    pub counter: VarId,
    pub layout: Layout,
    pub words: usize,
    pub types: Vec<Type>,
    /// No loops, nothing foreign.
    plain: bool,
    /// The terms made so far, to be used again.
    made: Vec<TermId>,
}

pub const I8: Type = Type::Bits { width: 8, signed: true };
pub const U3: Type = Type::Bits { width: 3, signed: false };
pub const U64: Type = Type::Bits { width: 64, signed: false };
pub const I64: Type = Type::Bits { width: 64, signed: true };
pub const I1: Type = Type::Bits { width: 1, signed: true };

impl World {
    pub fn new() -> World {
        let mut t = Terms::new();
        let color = t.declare_enum("Color", ["red", "green", "blue"].map(String::from).to_vec());
        let numbers = t.array_type(Type::Range(-1, 1), Type::Range(0, 4));
        let flags = t.array_type(Type::Enum(color), Type::Bool);
        let words = t.array_type(Type::Bool, U3);
        let declared = [
            ("p", Type::Bool),
            ("q", Type::Bool),
            ("x", Type::Range(-2, 3)),
            ("y", Type::Range(0, 2)),
            ("z", Type::Range(-2, 3)),
            ("n", Type::Int),
            ("m", Type::Int),
            ("c", Type::Enum(color)),
            ("d", Type::Enum(color)),
            ("i", I8),
            ("j", I8),
            ("u", U3),
            ("v", U64),
            ("w", U64),
            ("l", I64),
            ("o", I1),
            ("a", numbers),
            ("b", numbers),
            ("f", flags),
            ("g", words),
        ];
        let mut layout = Layout::new();
        let mut at = 2;
        let mut place = |t: &mut Terms, name: &str, ty| {
            let v = t.declare(name, ty);
            let len = match ty {
                Type::Array(index, _) => {
                    let (lo, hi) = t.type_bounds(t.type_of_id(index)).unwrap();
                    (hi - lo + 1) as u32
                }
                _ => 1,
            };
            layout.place(v, at, len);
            at += len;
            v
        };
        let vars = declared.map(|(name, ty)| place(&mut t, name, ty)).to_vec();
        let counter = place(&mut t, "k", Type::Int);
        let types = vec![Type::Bool, Type::Int, Type::Enum(color), I8, U3, U64, I64, I1, numbers, flags, words];
        World { t, vars, counter, layout, words: at as usize, types, plain: false, made: vec![] }
    }

    /// A world with a few variables of small types, without loops and foreign functions: all valuations can be tried.
    pub fn small(tape: &mut Tape) -> World {
        let mut w = World::new();
        let more = [w.types[2], U3, I1, w.types[9], Type::Range(0, 2)][tape.pick(5)];
        let declared = [("p'", Type::Bool), ("x'", Type::Range(-1, 2)), ("b'", Type::Bool), ("m'", more)];
        w.vars = declared.map(|(name, ty)| w.t.declare(name, ty)).to_vec();
        w.plain = true;
        w
    }

    /// All valuations of the variables.
    pub fn all(&self) -> Vec<Valuation> {
        let mut all = vec![Valuation::new()];
        for &v in &self.vars {
            let values = Value::all(&self.t, self.t.variable(v).ty, 1000).expect("a small type");
            let with = |env: &Valuation| {
                let env = env.clone();
                values.clone().into_iter().map(move |value| {
                    let mut env = env.clone();
                    env.insert(v, value);
                    env
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    /// A value for every variable, and the same as memory.
    pub fn valuation(&self, tape: &mut Tape) -> (Valuation, Vec<i64>) {
        let mut env = Valuation::new();
        let mut mem = vec![0; self.words];
        for &v in &self.vars {
            let ty = self.t.variable(v).ty;
            let (at, len) = self.layout.slot(v).unwrap();
            let cells = &mut mem[at as usize..][..len as usize];
            let value = match ty {
                Type::Array(index, entry) => {
                    let (index, entry) = (self.t.type_of_id(index), self.t.type_of_id(entry));
                    let (lo, _) = self.t.type_bounds(index).unwrap();
                    let mut array = ArrayValue::new(&self.t, index, self.scalar(entry, tape));
                    for (k, cell) in cells.iter_mut().enumerate() {
                        let value = self.scalar(entry, tape);
                        *cell = value.to_word().unwrap();
                        array.set(&Value::from_word(index, lo + k as i64), value);
                    }
                    Value::Array(array)
                }
                _ => {
                    let value = self.scalar(ty, tape);
                    cells[0] = value.to_word().unwrap();
                    value
                }
            };
            env.insert(v, value);
        }
        env.insert(self.counter, Value::Int(0.into()));
        (env, mem)
    }

    fn scalar(&self, ty: Type, tape: &mut Tape) -> Value {
        let word = match self.t.type_bounds(ty) {
            Some((lo, hi)) if hi.checked_sub(lo).is_some_and(|n| n < 300) => {
                lo + tape.pick((hi - lo + 1) as usize) as i64
            }
            _ => SOME[tape.pick(SOME.len())],
        };
        Value::from_word(ty, word)
    }

    /// A variable of the type, if there is one.
    fn variable(&self, ty: Type, tape: &mut Tape) -> Option<VarId> {
        let fit: Vec<VarId> = self.vars.iter().copied().filter(|&v| self.t.sort(self.t.variable(v).ty) == ty).collect();
        if fit.is_empty() { None } else { Some(fit[tape.pick(fit.len())]) }
    }

    /// Interns raw or builds.
    fn node(&mut self, node: Term, raw: bool) -> TermId {
        let t = self.t.intern(node);
        if raw {
            return t;
        }
        let children = self.t.children(t);
        self.t.rebuild(t, &children)
    }

    fn leaf(&mut self, ty: Type, tape: &mut Tape) -> TermId {
        if tape.pick(3) != 1
            && let Some(v) = self.variable(ty, tape)
        {
            return self.t.var(v);
        }
        match ty {
            Type::Array(_, entry) => {
                let entry = self.t.type_of_id(entry);
                let value = self.scalar(entry, tape);
                let value = self.t.literal(&value).unwrap();
                self.t.const_array(ty, value)
            }
            Type::Int if tape.pick(30) == 7 => self.t.big(dashu_int::IBig::from(i64::MAX) + 5),
            Type::Int if tape.pick(10) != 7 => {
                let n = tape.pick(9) as i64 - 3;
                self.t.int(n)
            }
            _ => {
                let value = self.scalar(ty, tape);
                self.t.literal(&value).unwrap()
            }
        }
    }

    /// A term of the type; sometimes one that was made before.
    pub fn term(&mut self, ty: Type, depth: usize, tape: &mut Tape) -> TermId {
        if tape.pick(6) == 5 {
            let fit: Vec<TermId> = self.made.iter().copied().filter(|&t| self.t.ty(t) == ty).collect();
            if !fit.is_empty() {
                return fit[tape.pick(fit.len())];
            }
        }
        let t = self.new_term(ty, depth, tape);
        self.made.push(t);
        t
    }

    fn new_term(&mut self, ty: Type, depth: usize, tape: &mut Tape) -> TermId {
        if depth == 0 || tape.pick(8) == 0 {
            return self.leaf(ty, tape);
        }
        let d = depth - 1;
        let raw = tape.pick(2) == 1;
        let division = if tape.pick(2) == 0 { Division::Truncating } else { Division::Euclidean };
        if tape.pick(6) == 1 {
            let (c, a, b) = (self.term(Type::Bool, d, tape), self.term(ty, d, tape), self.term(ty, d, tape));
            return self.node(Term::Ite(c, a, b), raw);
        }
        let node = match ty {
            Type::Bool => match tape.pick(9) {
                0 => Term::Not(self.term(ty, d, tape)),
                1 => Term::And(self.some(ty, d, tape)),
                2 => Term::Or(self.some(ty, d, tape)),
                3 | 4 => {
                    let ty = self.types[tape.pick(self.types.len())];
                    Term::Eq(self.term(ty, d, tape), self.term(ty, d, tape))
                }
                5 => return self.entry(ty, d, tape, raw),
                k => {
                    let ty = [Type::Int, Type::Int, I8, U3, U64, I64, I1][tape.pick(7)];
                    let (a, b) = (self.term(ty, d, tape), self.term(ty, d, tape));
                    if k == 6 { Term::Lt(a, b) } else { Term::Le(a, b) }
                }
            },
            Type::Int | Type::Bits { .. } => match tape.pick(11) {
                0 | 1 => Term::Add(self.some(ty, d, tape)),
                2 => Term::Neg(self.term(ty, d, tape)),
                3 => Term::Mul(self.term(ty, d, tape), self.term(ty, d, tape)),
                4 => Term::Div(division, self.term(ty, d, tape), self.term(ty, d, tape)),
                5 => Term::Rem(division, self.term(ty, d, tape), self.term(ty, d, tape)),
                6 => {
                    let op = [BitOp::And, BitOp::Or, BitOp::Xor][tape.pick(3)];
                    Term::Bit(op, self.term(ty, d, tape), self.term(ty, d, tape))
                }
                7 => {
                    let op = [BitOp::Shl, BitOp::Shr][tape.pick(2)];
                    let by = [Type::Int, ty, U3, U64][tape.pick(4)];
                    Term::Bit(op, self.term(ty, d, tape), self.term(by, d.min(1), tape))
                }
                8 => {
                    let from = self.types[tape.pick(8)];
                    let to = match ty {
                        Type::Int if tape.pick(3) == 1 => Type::Range(-1, 5),
                        _ => ty,
                    };
                    let to = self.t.type_id(to);
                    Term::Convert(to, self.term(from, d, tape))
                }
                _ if ty == U3 => return self.entry(ty, d, tape, raw),
                9 if ty == Type::Int => return self.entry(ty, d, tape, raw),
                _ if ty == Type::Int => match tape.pick(2) {
                    k if k == 0 || self.plain => Term::Checked(self.term(ty, d, tape), -1, 2 + tape.pick(3) as i64),
                    _ => Term::Foreign(FnId(tape.pick(2) as u32), self.some(ty, d, tape)),
                },
                _ => return self.leaf(ty, tape),
            },
            Type::Array(index, entry) => {
                let (i, e) = (self.t.type_of_id(index), self.t.type_of_id(entry));
                let (i, e) = (self.t.sort(i), self.t.sort(e));
                if tape.pick(4) == 1 {
                    let of = self.t.type_id(ty);
                    Term::ConstArray(of, self.term(e, d, tape))
                } else {
                    Term::Store(self.term(ty, d, tape), self.term(i, d, tape), self.term(e, d, tape))
                }
            }
            _ => return self.leaf(ty, tape),
        };
        self.node(node, raw)
    }

    fn some(&mut self, ty: Type, depth: usize, tape: &mut Tape) -> std::sync::Arc<[TermId]> {
        (0..=tape.pick(3)).map(|_| self.term(ty, depth, tape)).collect()
    }

    /// An array entry of that type.
    fn entry(&mut self, ty: Type, depth: usize, tape: &mut Tape, raw: bool) -> TermId {
        let arrays: Vec<(Type, Type)> = self.types[8..]
            .iter()
            .filter_map(|&array| match array {
                Type::Array(i, e) if self.t.sort(self.t.type_of_id(e)) == ty => {
                    Some((array, self.t.sort(self.t.type_of_id(i))))
                }
                _ => None,
            })
            .collect();
        let (array, index) = arrays[tape.pick(arrays.len())];
        let node = Term::Select(self.term(array, depth, tape), self.term(index, depth, tape));
        self.node(node, raw)
    }

    /// A statement; deterministic if so wished.
    pub fn stmt(&mut self, depth: usize, choices: bool, tape: &mut Tape) -> StmtId {
        let d = depth.saturating_sub(1);
        match tape.pick(if depth == 0 { 8 } else { 13 }) {
            0..=4 => {
                let v = self.vars[tape.pick(self.vars.len())];
                let ty = self.t.sort(self.t.variable(v).ty);
                let value = self.term(ty, 3, tape);
                self.t.assign(v, value)
            }
            5 => {
                let c = self.term(Type::Bool, 2, tape);
                self.t.assume(c)
            }
            6 if !self.plain => {
                let args = self.some(Type::Int, 2, tape);
                self.t.intern_stmt(Stmt::Foreign(FnId(tape.pick(2) as u32), args))
            }
            6 | 7 if choices => {
                let v = self.vars[tape.pick(self.vars.len().min(5))];
                self.t.havoc(v)
            }
            6 | 7 => self.t.skip(),
            8 if choices => {
                let parts: Vec<StmtId> = (0..=tape.pick(2)).map(|_| self.stmt(d, choices, tape)).collect();
                self.t.choice(parts)
            }
            k @ 8..=12 if k <= 10 || (k == 12 && self.plain) => {
                let parts: Vec<StmtId> = (0..=tape.pick(3)).map(|_| self.stmt(d, choices, tape)).collect();
                self.t.seq(parts)
            }
            11 => {
                let c = self.term(Type::Bool, 2, tape);
                let (a, b) = (self.stmt(d, choices, tape), self.stmt(d, choices, tape));
                self.t.branch(c, a, b)
            }
            _ => {
                let k = self.t.var(self.counter);
                let (one, some) = (self.t.int(1), self.t.int(1 + tape.pick(4) as i64));
                let (next, more) = (self.t.add([k, one]), self.t.lt(k, some));
                let c = self.term(Type::Bool, 2, tape);
                let c = self.t.and([more, c]);
                let (count, body) = (self.t.assign(self.counter, next), self.stmt(d, choices, tape));
                let body = self.t.seq([count, body]);
                self.t.repeat(c, body)
            }
        }
    }
}

const SOME: [i64; 12] = [0, 1, -1, 2, 3, 5, -7, 62, 100, i64::MAX, i64::MIN, i64::MIN + 1];
