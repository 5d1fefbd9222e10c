//! Expressions in two runs at once: how their values move, between which numbers they lie, whether they may fault.

use std::collections::BTreeSet;
use std::sync::Arc;

use trellis_expr::{BitOp, Term, TermId, Type, VarId};
use trellis_model::network::Function;
use trellis_order::{Lattice, MethodKind, Shape, Trend};

use super::part::Part;
use super::value::{Directions, FAR, Value};
use super::{FxHashSet, Prover};

/// Calls of a method that are tried to see whether it may fail.
const TRIED: i128 = 256;

/// Sets of offsets that are listed.
const LISTED: usize = 4096;

/// Terms nested more deeply are not looked into.
const DEEP: u32 = 800;

const WORD: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

fn is_word(lo: i128, hi: i128) -> bool {
    WORD.0 <= lo && hi <= WORD.1
}

impl Prover<'_> {
    /// What is known of any value of a type; of an array, of its entries.
    pub(super) fn of_type(&self, ty: Type) -> Value {
        let terms = &self.net.terms;
        let ty = match ty {
            Type::Array(_, entry) => terms.type_of_id(entry),
            ty => ty,
        };
        match terms.type_bounds(ty) {
            Some((lo, hi)) => Value::between(lo.into(), hi.into()),
            None => Value::between(-FAR, FAR),
        }
    }

    /// What is known of a variable that has not been written.
    pub(super) fn unwritten(&self, v: VarId) -> Value {
        self.of_type(self.net.terms.variable(v).ty)
    }

    /// The value of a term.
    pub(super) fn value(&mut self, t: TermId) -> Value {
        let plain = self.env.is_empty();
        let table = if plain { &self.plain } else { &self.known };
        if let Some(&v) = table.get(&t) {
            return v;
        }
        if self.net.terms.depth(t) > DEEP {
            self.obstacle("an expression is nested too deeply to be looked into");
            return Value { moves: Directions::MIXED, faults: true, ..self.of_type(self.net.terms.ty(t)) };
        }
        let v = self.node(t);
        let v = Value { lo: v.lo.max(-FAR), hi: v.hi.min(FAR), ..v };
        // What it is was found while nothing had been written, too: the parts of a term write nothing.
        let table = if plain { &mut self.plain } else { &mut self.known };
        table.insert(t, v);
        v
    }

    fn node(&mut self, t: TermId) -> Value {
        let net = self.net;
        let terms = &net.terms;
        let whole = self.of_type(terms.ty(t));
        match *terms.get(t) {
            Term::Bool(b) => Value::number(b.into()),
            Term::Int(n) => Value::number(n.into()),
            Term::EnumLit(_, n) => Value::number(n.into()),
            Term::Big(_) | Term::Bits(..) => whole,
            Term::Var(v) => self.env.get(&v).copied().unwrap_or(whole),
            Term::Not(a) => {
                let v = self.value(a);
                v.flipped().ranged(1 - v.hi, 1 - v.lo)
            }
            Term::And(ref all) => self.connective(&all.clone(), true),
            Term::Or(ref all) => self.connective(&all.clone(), false),
            Term::Ite(c, a, b) => self.choice(c, a, b),
            Term::Eq(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                match () {
                    // Equal means: at least the other.
                    () if a.hi <= b.lo => a.with(b.flipped()).ranged(0, 1),
                    () if a.lo >= b.hi => b.with(a.flipped()).ranged(0, 1),
                    () => a.with(b).mixed().ranged(0, 1),
                }
            }
            Term::Lt(a, b) | Term::Le(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                a.flipped().with(b).ranged(0, 1)
            }
            Term::Add(ref all) => {
                let all: Vec<Value> = all.clone().iter().map(|&a| self.value(a)).collect();
                let sum = all.iter().fold(Value::number(0), |sum, &v| {
                    sum.with(v).ranged((sum.lo + v.lo).max(-FAR), (sum.hi + v.hi).min(FAR))
                });
                // Sums on the way count, in any order.
                let low = all.iter().map(|v| v.lo.min(0)).fold(0, |a, b| (a + b).max(-FAR));
                let high = all.iter().map(|v| v.hi.max(0)).fold(0, |a, b| (a + b).min(FAR));
                self.arithmetic(t, sum, low, high)
            }
            Term::Neg(a) => {
                let v = self.value(a);
                let v = v.flipped().ranged(-v.hi, -v.lo);
                self.arithmetic(t, v, v.lo, v.hi)
            }
            Term::Mul(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let scaled = |by: Value, v: Value| match () {
                    () if by.lo >= 0 => v,
                    () if by.hi <= 0 => v.flipped(),
                    () => v.mixed(),
                };
                let ends = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)];
                let small = |n: i128| n.abs() <= 1 << 62;
                let (lo, hi) = match ends.iter().all(|&(x, y)| small(x) && small(y)) {
                    true => {
                        let all = ends.map(|(x, y)| x * y);
                        (all.iter().copied().min().unwrap_or(-FAR), all.iter().copied().max().unwrap_or(FAR))
                    }
                    false => (-FAR, FAR),
                };
                let v = scaled(b, a).with(scaled(a, b)).ranged(lo, hi);
                self.arithmetic(t, v, lo, hi)
            }
            Term::Div(_, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let v = match () {
                    () if b.moves != Directions::FIXED => a.with(b).mixed(),
                    () if b.lo > 0 => a.with(b),
                    () if b.hi < 0 => a.flipped().with(b),
                    () => a.with(b).mixed(),
                };
                let most = a.lo.abs().max(a.hi.abs());
                let v = v.ranged(if a.lo >= 0 && b.lo > 0 { 0 } else { -most }, most);
                let v = self.arithmetic(t, v, v.lo, v.hi);
                self.may_fault_if(v, b.lo <= 0 && b.hi >= 0, b.moves != Directions::FIXED)
            }
            Term::Rem(_, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let most = (b.lo.abs().max(b.hi.abs()) - 1).max(0);
                let v = a.with(b).mixed().ranged(if a.lo >= 0 { 0 } else { -most }, most);
                self.may_fault_if(v, b.lo <= 0 && b.hi >= 0, b.moves != Directions::FIXED)
            }
            Term::Bit(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let v = a.with(b).mixed().ranged(whole.lo, whole.hi);
                match op {
                    BitOp::And | BitOp::Or | BitOp::Xor => v,
                    BitOp::Shl | BitOp::Shr => self.may_fault_if(v, true, v.moves != Directions::FIXED),
                }
            }
            Term::Select(a, i) => {
                let (entries, index) = (self.value(a), self.value(i));
                let v = match index.moves == Directions::FIXED {
                    true => entries.with(index),
                    false => Value { moves: Directions::MIXED, ..entries.with(index) },
                };
                self.may_fault_if(v, !self.indexes(terms.ty(a), index), index.moves != Directions::FIXED)
            }
            Term::Store(a, i, v) => {
                let (entries, index, new) = (self.value(a), self.value(i), self.value(v));
                let moves = entries.moves.or(new.moves);
                let moves = if index.moves == Directions::FIXED { moves } else { Directions::MIXED };
                let out = !(whole.lo <= new.lo && new.hi <= whole.hi);
                let by = entries.by.or(index.by).or(new.by);
                let faults = entries.faults || index.faults || new.faults;
                let (lo, hi) = (entries.lo.min(new.lo), entries.hi.max(new.hi));
                let stored = Value { moves, lo: lo.max(whole.lo), hi: hi.min(whole.hi), faults, by };
                let stored = self.may_fault_if(stored, out, new.moves != Directions::FIXED);
                self.may_fault_if(stored, !self.indexes(terms.ty(a), index), index.moves != Directions::FIXED)
            }
            Term::ConstArray(_, a) => {
                let v = self.value(a);
                let out = !(whole.lo <= v.lo && v.hi <= whole.hi);
                let v = v.ranged(v.lo.max(whole.lo), v.hi.min(whole.hi));
                self.may_fault_if(v, out, v.moves != Directions::FIXED)
            }
            Term::Checked(a, lo, hi) => {
                let (lo, hi) = (i128::from(lo), i128::from(hi));
                let v = self.value(a);
                let out = v.lo < lo || v.hi > hi;
                let v = v.ranged(v.lo.max(lo), v.hi.min(hi));
                self.may_fault_if(v, out, v.moves != Directions::FIXED)
            }
            Term::Convert(ty, a) => {
                let v = self.value(a);
                match terms.type_of_id(ty) {
                    Type::Bits { .. } => v.mixed().ranged(whole.lo, whole.hi),
                    ty => {
                        let to = self.of_type(ty);
                        let out = v.lo < to.lo || v.hi > to.hi;
                        let v = v.ranged(v.lo.max(to.lo), v.hi.min(to.hi));
                        self.may_fault_if(v, out, v.moves != Directions::FIXED)
                    }
                }
            }
            Term::Foreign(f, ref args) => self.query(f.index(), &args.clone()),
        }
    }

    /// A number that machine words must hold, and the numbers on the way to it.
    fn arithmetic(&mut self, t: TermId, v: Value, low: i128, high: i128) -> Value {
        match self.net.terms.ty(t) {
            // These wrap around.
            Type::Bits { .. } => {
                let whole = self.of_type(self.net.terms.ty(t));
                v.mixed().ranged(whole.lo, whole.hi)
            }
            _ => self.may_fault_if(v, !is_word(low, high), v.moves != Directions::FIXED),
        }
    }

    /// A value that may fault by itself; `differs` says whether one run may and the other not.
    fn may_fault_if(&mut self, v: Value, faults: bool, differs: bool) -> Value {
        if faults && differs {
            let read = self.read(v).to_string();
            self.obstacle(format!("whether something faults depends on {read}"));
        }
        Value { faults: v.faults || faults, ..v }
    }

    fn indexes(&self, array: Type, index: Value) -> bool {
        match array {
            Type::Array(i, _) => match self.net.terms.type_bounds(self.net.terms.type_of_id(i)) {
                Some((lo, hi)) => i128::from(lo) <= index.lo && index.hi <= i128::from(hi),
                None => true,
            },
            _ => false,
        }
    }

    /// A conjunction or disjunction, which stops at the first part that decides.
    fn connective(&mut self, all: &[TermId], and: bool) -> Value {
        let mut so_far = Value::number(and.into());
        for &t in all {
            let v = self.value(t);
            // The second run may stop where the first does not.
            let stops = if and { so_far.moves.may_shrink() } else { so_far.moves.may_grow() };
            if v.faults && stops {
                self.hidden_fault(so_far);
            }
            let (lo, hi) = match and {
                true => (so_far.lo.min(v.lo), so_far.hi.min(v.hi)),
                false => (so_far.lo.max(v.lo), so_far.hi.max(v.hi)),
            };
            so_far = so_far.with(v).ranged(lo, hi);
        }
        so_far
    }

    fn choice(&mut self, c: TermId, a: TermId, b: TermId) -> Value {
        let (decides, x, y) = (self.value(c), self.value(a), self.value(b));
        if (x.faults && decides.moves.may_shrink()) || (y.faults && decides.moves.may_grow()) {
            self.hidden_fault(decides);
        }
        let v = Value::either(decides, x, y);
        // The smaller or the greater of two moves as they do.
        match *self.net.terms.get(c) {
            Term::Lt(p, q) | Term::Le(p, q) if (p, q) == (a, b) || (p, q) == (b, a) => {
                Value { moves: x.moves.or(y.moves), ..v }
            }
            _ => v,
        }
    }

    // Lattice values.

    /// A foreign function.
    fn query(&mut self, f: usize, args: &[TermId]) -> Value {
        let values: Vec<Value> = args.iter().map(|&t| self.value(t)).collect();
        let net = self.net;
        let function = &net.functions[f];
        let at = self.places(function, args[0]);
        let name = self.called(function, &at);
        let faults = values.iter().any(|v| v.faults);
        if let Some(v) = values.iter().find(|v| v.moves != Directions::FIXED) {
            let read = self.read(*v).to_string();
            self.obstacle(format!("an argument of {name} depends on {read}"));
        }
        let (lattice, method, faults) = match function {
            Function::GetBit(n) => {
                let i = values.get(1).copied().unwrap_or(Value::number(-1));
                (None, 0, faults || i.lo < 0 || i.hi >= *n as i128)
            }
            Function::Method { lattice, method } => {
                (Some(lattice), *method, faults || self.may_fail(lattice, *method, &values[1..]))
            }
            Function::SetBit(_) | Function::Copy(_) => (None, usize::MAX, true),
        };
        let mut moves = if at.is_empty() { Directions::MIXED } else { Directions::FIXED };
        let (mut lo, mut hi) = (FAR, -FAR);
        for p in &at {
            let lattice = lattice.unwrap_or(&p.lattice);
            let Some(m) = lattice.methods().get(method) else {
                moves = Directions::MIXED;
                continue;
            };
            moves = moves.or(match m.trend {
                Trend::Monotone if p.shown => Directions::UP,
                Trend::Antitone if p.shown => Directions::DOWN,
                _ => Directions::MIXED,
            });
            let (l, h) = range(&**lattice, method);
            (lo, hi) = (lo.min(l), hi.max(h));
        }
        if lo > hi {
            (lo, hi) = (-FAR, FAR);
        }
        let by = match self.reads.iter().position(|r| *r == name) {
            Some(i) => i,
            None => {
                self.reads.push(name);
                self.reads.len() - 1
            }
        };
        Value { moves, lo, hi, faults, by: u16::try_from(by).ok() }
    }

    /// May a method fail with arguments like these? That depends on nothing else, so one element is enough to try.
    pub(super) fn may_fail(&self, lattice: &Arc<dyn Lattice>, method: usize, args: &[Value]) -> bool {
        let Some(m) = lattice.methods().get(method).filter(|m| m.args == args.len()) else { return true };
        let count = args.iter().fold(1i128, |n, a| n.saturating_mul(a.hi - a.lo + 1));
        if !lattice.is_vouched_for() || !(1..=TRIED).contains(&count) || args.iter().any(|a| !is_word(a.lo, a.hi)) {
            return true;
        }
        let mut elem = vec![0; lattice.width()];
        (0..count).any(|n| {
            let mut rest = n;
            let mut call = Vec::new();
            for a in args {
                let width = a.hi - a.lo + 1;
                call.push((a.lo + rest % width) as i64);
                rest /= width;
            }
            lattice.bottom(&mut elem);
            match m.kind {
                MethodKind::Query => lattice.query(method, &elem, &call).is_err(),
                MethodKind::Update => lattice.update(method, &mut elem, &call).is_err(),
            }
        })
    }

    /// The parts that a function may be called on, given the term that says where it starts.
    pub(super) fn places(&mut self, function: &Function, offset: TermId) -> Vec<Part> {
        let offsets = self.offsets(offset);
        let hull = self.value(offset);
        let Some(parts) = &self.parts else {
            self.obstacle("the lattice variables have too many parts to be looked into");
            return Vec::new();
        };
        let is_one = |p: &&Part| match function {
            Function::GetBit(n) | Function::SetBit(n) => {
                p.lattice.packed_bits() && matches!(p.lattice.shape(), Shape::Bits(m) if m == *n)
            }
            Function::Method { lattice, .. } => p.is_like(lattice),
            Function::Copy(width) => p.lattice.width() == *width,
        };
        let there = |p: &&Part| match &offsets {
            Some(set) => set.contains(&(p.offset as i128)),
            None => hull.lo <= p.offset as i128 && p.offset as i128 <= hull.hi,
        };
        parts.iter().filter(there).filter(is_one).cloned().collect()
    }

    /// The values that a term for a place may have, if they can be listed.
    fn offsets(&mut self, t: TermId) -> Option<BTreeSet<i128>> {
        let net = self.net;
        let combine = |a: BTreeSet<i128>, b: BTreeSet<i128>, f: fn(i128, i128) -> i128| {
            let all = a.len().saturating_mul(b.len()) <= LISTED;
            all.then(|| a.iter().flat_map(|&x| b.iter().map(move |&y| f(x, y))).collect::<BTreeSet<i128>>())
        };
        match *net.terms.get(t) {
            Term::Add(ref all) => {
                let mut sum = BTreeSet::from([0]);
                for &t in all.iter() {
                    sum = combine(sum, self.offsets(t)?, |x, y| x + y)?;
                }
                Some(sum)
            }
            Term::Mul(a, b) => combine(self.offsets(a)?, self.offsets(b)?, |x, y| x.saturating_mul(y)),
            _ => {
                let v = self.value(t);
                (v.hi - v.lo < LISTED as i128).then(|| (v.lo..=v.hi).collect())
            }
        }
    }

    /// How a model writes the call, more or less.
    pub(super) fn called(&self, function: &Function, at: &[Part]) -> String {
        let vars: FxHashSet<usize> = at.iter().map(|p| p.var).collect();
        let var = match vars.iter().min() {
            Some(&v) => self.net.lattices[v].name.clone(),
            None => "a lattice value".into(),
        };
        match function {
            Function::GetBit(_) => format!("`{var}[…]`"),
            Function::SetBit(_) => format!("`{var}[…] = …`"),
            Function::Copy(_) => format!("`{var} = …`"),
            Function::Method { lattice, method } => {
                let name = lattice.methods().get(*method).map_or("?", |m| m.name.as_str());
                format!("`{var}.{name}`")
            }
        }
    }
}

/// Between which numbers the answers of a query lie.
fn range(lattice: &dyn Lattice, method: usize) -> (i128, i128) {
    let m = &lattice.methods()[method];
    if m.truth {
        return (0, 1);
    }
    // Without arguments, the extremes have the extreme answers.
    if let (0, true, Some(meet)) = (m.args, lattice.is_vouched_for() && m.trend != Trend::Neither, lattice.as_meet()) {
        let (mut low, mut high) = (vec![0; lattice.width()], vec![0; lattice.width()]);
        lattice.bottom(&mut low);
        meet.top(&mut high);
        if let (Ok(a), Ok(b)) = (lattice.query(method, &low, &[]), lattice.query(method, &high, &[])) {
            return (a.min(b).into(), a.max(b).into());
        }
    }
    (i64::MIN.into(), i64::MAX.into())
}
