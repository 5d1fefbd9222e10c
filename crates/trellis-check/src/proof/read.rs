//! What terms mean, in clauses: a reading of its own of what [`trellis_expr::eval`] says.
//!
//! A term has a [`Code`], whatever it is worth where it faults, and a literal that says that evaluating it does not fault. It *holds*
//! where both are true. Variables are looked up in an environment ([`Env`]), so that a program's assignments need no formulas.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{BitOp, Division, Term, TermId, Terms, Type, VarId};

use super::arrays::Array;
use super::gates::{Builder, FALSE, Lit, TRUE, Word, literal, resize};
use super::sums::Linear;

/// What a term is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Bool(Lit),
    Int(Rc<Linear>),
    /// A word, or the position of an enumeration's literal.
    Word(Rc<[Lit]>),
    Array(Type, Rc<Array>),
}

/// A foreign function has no formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign;

/// The values of variables: those at the start, and what has been assigned since.
#[derive(Clone, Default)]
pub(crate) struct Env {
    start: Rc<RefCell<BTreeMap<VarId, Code>>>,
    pub assigned: BTreeMap<VarId, Code>,
}

impl Env {
    pub fn get(&self, b: &mut Builder, terms: &Terms, v: VarId) -> Code {
        if let Some(code) = self.assigned.get(&v) {
            return code.clone();
        }
        if let Some(code) = self.start.borrow().get(&v) {
            return code.clone();
        }
        let code = b.free(terms, terms.variable(v).ty);
        self.start.borrow_mut().insert(v, code.clone());
        code
    }

    /// The variables at the start that anybody has asked for.
    pub fn at_start(&self) -> Vec<(VarId, Code)> {
        self.start.borrow().iter().map(|(v, c)| (*v, c.clone())).collect()
    }
}

fn sum(l: Linear) -> Code {
    Code::Int(Rc::new(l))
}

fn enum_width(literals: usize) -> usize {
    (literals.max(2) - 1).ilog2() as usize + 1
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::Bits { signed: true, .. })
}

impl Builder {
    /// Any value of the type.
    pub fn free(&mut self, terms: &Terms, ty: Type) -> Code {
        match ty {
            Type::Bool => Code::Bool(self.fresh()),
            Type::Int => sum(self.integer(None, None)),
            Type::Range(lo, hi) => sum(self.integer(Some(lo.into()), Some(hi.into()))),
            Type::Bits { width, .. } => Code::Word((0..width).map(|_| self.fresh()).collect()),
            Type::Enum(e) => {
                let n = terms.enumeration(e).literals.len();
                let w: Word = (0..enum_width(n)).map(|_| self.fresh()).collect();
                let fits = self.at_most(&w, &literal(w.len(), (n as u64).saturating_sub(1)), false);
                self.clause(&[fits]);
                Code::Word(w.into())
            }
            Type::Array(..) => Code::Array(ty, Rc::new(self.free_array(terms, ty))),
        }
    }

    /// `a` if `c`, otherwise `b`.
    pub fn either(&mut self, c: Lit, a: &Code, b: &Code) -> Code {
        match (a, b) {
            _ if c == TRUE || a == b => a.clone(),
            _ if c == FALSE => b.clone(),
            (Code::Bool(a), Code::Bool(b)) => Code::Bool(self.ite(c, *a, *b)),
            (Code::Int(a), Code::Int(b)) => sum(self.choose_sum(c, a, b)),
            (Code::Word(a), Code::Word(b)) => Code::Word(self.choose(c, a, b).into()),
            (Code::Array(ty, _), Code::Array(..)) => Code::Array(*ty, Rc::new(Array::Choice(c, a.clone(), b.clone()))),
            _ => unreachable!("branches of one type"),
        }
    }

    pub fn equal(&mut self, terms: &Terms, a: &Code, b: &Code) -> Lit {
        match (a, b) {
            (Code::Bool(a), Code::Bool(b)) => self.iff(*a, *b),
            (Code::Int(a), Code::Int(b)) => self.zero(&a.minus(b)),
            (Code::Word(a), Code::Word(b)) => self.same(a, b),
            (Code::Array(ty, _), Code::Array(..)) => self.equal_arrays(terms, *ty, a, b),
            _ => unreachable!("terms of one type"),
        }
    }

    /// They are equal, if the guard is true.
    pub fn make_equal(&mut self, terms: &Terms, guard: Lit, a: &Code, b: &Code) {
        match (a, b) {
            _ if guard == FALSE || a == b => {}
            (Code::Bool(a), Code::Bool(b)) => {
                self.clause(&[-guard, -a, *b]);
                self.clause(&[-guard, *a, -b]);
            }
            (Code::Int(a), Code::Int(b)) => self.make_zero(guard, &a.minus(b)),
            (Code::Word(a), Code::Word(b)) => {
                for (a, b) in a.iter().zip(b.iter()) {
                    self.clause(&[-guard, -a, *b]);
                    self.clause(&[-guard, *a, -b]);
                }
            }
            _ => {
                let same = self.equal(terms, a, b);
                self.clause(&[-guard, same]);
            }
        }
    }

    /// The scalar as a number.
    fn as_number(&mut self, code: &Code, signed: bool) -> Linear {
        match code {
            Code::Bool(l) => self.bit(*l),
            Code::Int(l) => (**l).clone(),
            Code::Word(w) => self.number(w, signed),
            Code::Array(..) => unreachable!("an array is no number"),
        }
    }

    /// Is the scalar between the bounds?
    pub fn within(&mut self, code: &Code, signed: bool, lo: i64, hi: i64) -> Lit {
        let n = self.as_number(code, signed);
        let (above, below) =
            (self.not_positive(&Linear::constant(lo).minus(&n)), self.not_positive(&n.minus(&Linear::constant(hi))));
        self.and([above, below])
    }
}

/// Reads terms in an environment.
pub(crate) struct Reader<'a> {
    pub b: &'a mut Builder,
    pub terms: &'a Terms,
    pub env: &'a Env,
    codes: FxHashMap<TermId, Code>,
    defined: FxHashMap<TermId, Lit>,
}

impl<'a> Reader<'a> {
    pub fn new(b: &'a mut Builder, terms: &'a Terms, env: &'a Env) -> Reader<'a> {
        Reader { b, terms, env, codes: FxHashMap::default(), defined: FxHashMap::default() }
    }

    /// The literal that says that the term evaluates to true.
    pub fn holds(&mut self, t: TermId) -> Result<Lit, Foreign> {
        let (code, defined) = self.value(t)?;
        let Code::Bool(l) = code else { unreachable!("a truth value") };
        Ok(self.b.and([l, defined]))
    }

    /// What a term is worth, and where.
    pub fn value(&mut self, t: TermId) -> Result<(Code, Lit), Foreign> {
        // Sub-terms first, each once, however deep.
        let mut entered = FxHashSet::default();
        let mut todo = vec![(t, false)];
        while let Some((t, left)) = todo.pop() {
            if left {
                let code = self.node(t)?;
                self.codes.insert(t, code);
                let defined = self.where_defined(t);
                self.defined.insert(t, defined);
            } else if !self.codes.contains_key(&t) && entered.insert(t) {
                todo.push((t, true));
                todo.extend(self.terms.children(t).into_iter().map(|c| (c, false)));
            }
        }
        Ok((self.codes[&t].clone(), self.defined[&t]))
    }

    fn truth(&self, t: TermId) -> Lit {
        let Code::Bool(l) = self.codes[&t] else { unreachable!("a truth value") };
        l
    }

    fn int(&self, t: TermId) -> Rc<Linear> {
        let Code::Int(l) = &self.codes[&t] else { unreachable!("an integer") };
        l.clone()
    }

    fn word(&self, t: TermId) -> Rc<[Lit]> {
        let Code::Word(w) = &self.codes[&t] else { unreachable!("a word") };
        w.clone()
    }

    fn is_int(&self, t: TermId) -> bool {
        matches!(self.codes[&t], Code::Int(_))
    }

    fn signed(&self, t: TermId) -> bool {
        is_signed(self.terms.ty(t))
    }

    /// An index of an array, in the form that all its indexes have.
    fn index(&mut self, array: TermId, i: TermId) -> Code {
        let Type::Array(index, _) = self.terms.ty(array) else { unreachable!("an array") };
        let code = self.codes[&i].clone();
        match self.terms.type_of_id(index) {
            Type::Int | Type::Range(..) if !self.is_int(i) => {
                let signed = self.signed(i);
                sum(self.b.as_number(&code, signed))
            }
            _ => code,
        }
    }

    /// The distance of a shift, as few bits as count below the width.
    fn distance(&mut self, by: TermId, width: usize) -> Word {
        let bits = (width - 1).max(1).ilog2() as usize + 1;
        match self.codes[&by].clone() {
            Code::Int(l) => self.b.low_bits(&l, bits),
            Code::Word(w) => resize(&w, bits, false),
            code => unreachable!("a number became {code:?}"),
        }
    }

    fn node(&mut self, t: TermId) -> Result<Code, Foreign> {
        let terms = self.terms;
        let word = |w: Word| Code::Word(w.into());
        Ok(match *terms.get(t) {
            Term::Bool(b) => Code::Bool(Builder::constant(b)),
            Term::Int(n) => sum(Linear::constant(n)),
            Term::Big(ref n) => sum(Linear::constant((**n).clone())),
            Term::EnumLit(e, n) => word(literal(enum_width(terms.enumeration(e).literals.len()), n.into())),
            Term::Bits(width, _, bits) => word(literal(width.into(), bits)),
            Term::Var(v) => self.env.get(self.b, terms, v),
            Term::Not(a) => Code::Bool(-self.truth(a)),
            Term::And(ref args) => {
                let lits: Vec<Lit> = args.iter().map(|&a| self.truth(a)).collect();
                Code::Bool(self.b.and(lits))
            }
            Term::Or(ref args) => {
                let lits: Vec<Lit> = args.iter().map(|&a| self.truth(a)).collect();
                Code::Bool(self.b.or(lits))
            }
            Term::Ite(c, x, y) => {
                let (x, y) = (self.codes[&x].clone(), self.codes[&y].clone());
                self.b.either(self.truth(c), &x, &y)
            }
            Term::Eq(x, y) => {
                let (x, y) = (self.codes[&x].clone(), self.codes[&y].clone());
                Code::Bool(self.b.equal(terms, &x, &y))
            }
            Term::Le(x, y) => Code::Bool(self.at_most(x, y)),
            Term::Lt(x, y) => Code::Bool(-self.at_most(y, x)),
            Term::Add(ref args) if self.is_int(args[0]) => {
                sum(args.iter().fold(Linear::default(), |s, &a| s.plus(&dashu_int::IBig::ONE, &self.int(a))))
            }
            Term::Add(ref args) => {
                let mut s = self.word(args[0]).to_vec();
                for &a in &args[1..] {
                    s = self.b.add(&s, &self.word(a), FALSE);
                }
                word(s)
            }
            Term::Neg(a) if self.is_int(a) => sum(self.int(a).times(&dashu_int::IBig::NEG_ONE)),
            Term::Neg(a) => word(self.b.negate(&self.word(a))),
            Term::Mul(x, y) if self.is_int(x) => sum(self.b.product(&self.int(x), &self.int(y))),
            Term::Mul(x, y) => word(self.b.multiply(&self.word(x), &self.word(y))),
            Term::Div(d, x, y) if self.is_int(x) => sum(self.b.quotient(d, &self.int(x), &self.int(y)).0),
            Term::Rem(d, x, y) if self.is_int(x) => sum(self.b.quotient(d, &self.int(x), &self.int(y)).1),
            Term::Div(d, x, y) => word(self.divide(d, x, y).0),
            Term::Rem(d, x, y) => word(self.divide(d, x, y).1),
            Term::Bit(op @ (BitOp::Shl | BitOp::Shr), x, by) if self.is_int(x) => {
                let by = self.distance(by, 64);
                sum(self.b.shifted(&self.int(x), &by, op == BitOp::Shl))
            }
            Term::Bit(op @ (BitOp::Shl | BitOp::Shr), x, by) => {
                let w = self.word(x);
                let by = self.distance(by, w.len());
                let sign = w.last().copied().filter(|_| op == BitOp::Shr && self.signed(x));
                word(self.b.shift(&w, &by, op == BitOp::Shl, sign.unwrap_or(FALSE)))
            }
            Term::Bit(op, x, y) => {
                let f = move |b: &mut Builder, x, y| match op {
                    BitOp::And => b.and([x, y]),
                    BitOp::Or => b.or([x, y]),
                    _ => b.xor(x, y),
                };
                if self.is_int(x) {
                    sum(self.b.bitwise(&self.int(x), &self.int(y), f))
                } else {
                    word(self.b.each(&self.word(x), &self.word(y), f))
                }
            }
            Term::Select(a, i) => {
                let (array, index) = (self.codes[&a].clone(), self.index(a, i));
                self.b.read(terms, &array, &index)
            }
            Term::Store(a, i, v) => {
                let (array, index, value) = (self.codes[&a].clone(), self.index(a, i), self.codes[&v].clone());
                Code::Array(terms.ty(a), Rc::new(Array::Store(array, index, value)))
            }
            Term::ConstArray(ty, v) => {
                Code::Array(terms.type_of_id(ty), Rc::new(Array::Constant(self.codes[&v].clone())))
            }
            Term::Checked(a, ..) => self.codes[&a].clone(),
            Term::Convert(to, a) => {
                let (code, signed) = (self.codes[&a].clone(), self.signed(a));
                match (terms.type_of_id(to), &code) {
                    (Type::Bits { width, .. }, Code::Word(w)) => word(resize(w, width.into(), signed)),
                    (Type::Bits { width, .. }, code) => {
                        let n = self.b.as_number(code, signed);
                        word(self.b.low_bits(&n, width.into()))
                    }
                    (_, code) => sum(self.b.as_number(code, signed)),
                }
            }
            Term::Foreign(..) => return Err(Foreign),
        })
    }

    fn at_most(&mut self, x: TermId, y: TermId) -> Lit {
        match (&self.codes[&x], &self.codes[&y]) {
            (Code::Int(x), Code::Int(y)) => {
                let difference = x.minus(y);
                self.b.not_positive(&difference)
            }
            _ => {
                let signed = self.signed(x);
                self.b.at_most(&self.word(x), &self.word(y), signed)
            }
        }
    }

    fn divide(&mut self, d: Division, x: TermId, y: TermId) -> (Word, Word) {
        let signed = self.signed(x);
        self.b.divide(&self.word(x), &self.word(y), signed, d == Division::Euclidean)
    }

    /// Where the term has a value, given where its sub-terms have.
    fn where_defined(&mut self, t: TermId) -> Lit {
        let terms = self.terms;
        match *terms.get(t) {
            // A part is evaluated if those before it have not decided.
            Term::And(ref args) | Term::Or(ref args) => {
                let and = matches!(terms.get(t), Term::And(_));
                let mut rest = TRUE;
                for a in args.iter().rev() {
                    let decided = if and { -self.truth(*a) } else { self.truth(*a) };
                    let go_on = self.b.or([decided, rest]);
                    rest = self.b.and([self.defined[a], go_on]);
                }
                rest
            }
            Term::Ite(c, x, y) => {
                let chosen = self.b.ite(self.truth(c), self.defined[&x], self.defined[&y]);
                self.b.and([self.defined[&c], chosen])
            }
            _ => {
                let mut all: Vec<Lit> = terms.children(t).iter().map(|c| self.defined[c]).collect();
                all.push(self.own_check(t));
                self.b.and(all)
            }
        }
    }

    fn own_check(&mut self, t: TermId) -> Lit {
        let terms = self.terms;
        match *terms.get(t) {
            Term::Div(_, _, by) | Term::Rem(_, _, by) => match self.codes[&by].clone() {
                Code::Int(l) => -self.b.zero(&l),
                Code::Word(w) => self.b.or(w.iter().copied()),
                code => unreachable!("a number became {code:?}"),
            },
            Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => {
                let width = match terms.ty(a) {
                    Type::Bits { width, .. } => i64::from(width),
                    _ => 64,
                };
                self.fits(by, Type::Range(0, width - 1))
            }
            Term::Select(a, i) => self.index_fits(a, i),
            Term::Store(a, i, v) => {
                let (index, entry) = (self.index_fits(a, i), self.entry_fits(terms.ty(a), v));
                self.b.and([index, entry])
            }
            Term::ConstArray(ty, v) => self.entry_fits(terms.type_of_id(ty), v),
            Term::Checked(a, lo, hi) => self.fits(a, Type::Range(lo, hi)),
            Term::Convert(to, a) => match terms.type_of_id(to) {
                Type::Bits { .. } => TRUE,
                ty => self.fits(a, ty),
            },
            _ => TRUE,
        }
    }

    /// May the term's value be given to a variable of the type?
    pub fn fits(&mut self, t: TermId, ty: Type) -> Lit {
        let Type::Range(lo, hi) = ty else { return TRUE };
        let (code, signed) = (self.codes[&t].clone(), self.signed(t));
        self.b.within(&code, signed, lo, hi)
    }

    fn index_fits(&mut self, array: TermId, i: TermId) -> Lit {
        let Type::Array(index, _) = self.terms.ty(array) else { unreachable!("an array") };
        self.fits(i, self.terms.type_of_id(index))
    }

    fn entry_fits(&mut self, array: Type, v: TermId) -> Lit {
        let Type::Array(_, entry) = array else { unreachable!("an array") };
        self.fits(v, self.terms.type_of_id(entry))
    }
}
