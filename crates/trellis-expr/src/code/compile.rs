//! From terms and statements to instructions.
//!
//! Registers are handed out like a stack: a method that is given a register may use it and all above it.

use super::op::{Atom, Bin, Call, Cell, Cmp, Entry, Interval, Op, Place, Reg, Test};
use super::run::{Fixed, extend, start};
use super::{Code, Layout, NoHost, Unsupported, name_of};
use crate::term::{BitOp, Division, FnId, Term, TermId, Terms, Type, VarId};
use crate::{Stmt, StmtId};

type Done = Result<(), Unsupported>;

/// A place in the code that is not known yet.
#[derive(Clone, Copy)]
struct Label(u32);

struct Compiler<'a> {
    terms: &'a Terms,
    layout: &'a Layout,
    ops: Vec<Op>,
    labels: Vec<u32>,
    pool: Vec<i64>,
    calls: Vec<Call>,
    entries: Vec<Entry>,
    frame: u32,
}

/// An array's shape: the first index, the number of entries, the bounds that entries must keep.
#[derive(Clone, Copy)]
struct Shape {
    lo: i64,
    len: u32,
    entry: Option<(i64, i64)>,
}

pub(super) fn term(terms: &Terms, layout: &Layout, t: TermId) -> Result<Code, Unsupported> {
    let mut c = Compiler::new(terms, layout);
    if terms.ty(t) == Type::Bool {
        let no = c.label();
        c.jump(t, false, no, 0)?;
        c.ops.push(Op::ReturnConst { value: 1 });
        c.bind(no);
        c.ops.push(Op::ReturnConst { value: 0 });
    } else {
        c.value(t, 0)?;
        c.ops.push(Op::Return { r: 0 });
    }
    Ok(c.finish())
}

pub(super) fn stmt(terms: &Terms, layout: &Layout, s: StmtId) -> Result<Code, Unsupported> {
    let mut c = Compiler::new(terms, layout);
    let no = c.label();
    c.stmt(s, no)?;
    c.ops.push(Op::ReturnConst { value: 1 });
    c.bind(no);
    c.ops.push(Op::ReturnConst { value: 0 });
    Ok(c.finish())
}

/// The instruction as a test that decides the result.
fn atom(op: &Op, ops: &[Op]) -> Option<Atom> {
    let Op::JumpTest { test, on, to } = *op else {
        return None;
    };
    match ops[to as usize] {
        Op::ReturnConst { value } => Some(Atom { test, on, result: value != 0 }),
        _ => None,
    }
}

impl<'a> Compiler<'a> {
    fn new(terms: &'a Terms, layout: &'a Layout) -> Compiler<'a> {
        Compiler { terms, layout, ops: vec![], labels: vec![], pool: vec![], calls: vec![], entries: vec![], frame: 0 }
    }

    fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.ops.len() as u32;
    }

    /// Resolves labels, and finds out whether the code is constant.
    fn finish(mut self) -> Code {
        let mut closed = true;
        // A jump to a jump goes on at once.
        let resolve = |ops: &[Op], labels: &[u32], label: u32| {
            let mut at = labels[label as usize];
            while let Some(Op::Jump { to }) = ops.get(at as usize) {
                let next = labels[*to as usize];
                if next <= at {
                    break;
                }
                at = next;
            }
            at
        };
        let resolved: Vec<u32> = (0..self.labels.len() as u32).map(|l| resolve(&self.ops, &self.labels, l)).collect();
        for op in &mut self.ops {
            match op {
                Op::JumpTest { to, .. }
                | Op::JumpReg { to, .. }
                | Op::JumpCmp { to, .. }
                | Op::JumpSame { to, .. }
                | Op::Jump { to }
                | Op::Loop { to } => *to = resolved[*to as usize],
                _ => {}
            }
            closed &= matches!(
                op,
                Op::JumpReg { .. }
                    | Op::JumpCmp { .. }
                    | Op::Jump { .. }
                    | Op::Return { .. }
                    | Op::ReturnConst { .. }
                    | Op::Const { .. }
                    | Op::Add { .. }
                    | Op::Sub { .. }
                    | Op::AddConst { .. }
                    | Op::Neg { .. }
                    | Op::WNeg { .. }
                    | Op::Bin { .. }
                    | Op::Extend { .. }
                    | Op::Unsigned { .. }
                    | Op::Clamp { .. }
                    | Op::Check { .. }
                    | Op::CheckIndex { .. }
            );
        }
        let mut code = Code {
            cells: Box::new([]),
            atoms: Box::new([]),
            otherwise: None,
            ops: self.ops.into(),
            pool: self.pool.into(),
            calls: self.calls.into(),
            entries: self.entries.into(),
            frame: self.frame,
            constant: None,
        };
        if closed && let Ok(value) = start(&code, Fixed(&[]), &mut NoHost) {
            code.constant = Some(value);
            code.otherwise = Some(value);
            code.ops = Box::new([Op::ReturnConst { value }]);
            code.frame = 0;
            return code;
        }
        let mut cells = vec![];
        let mut atoms = vec![];
        for Atom { test, on, result } in code.ops.iter().map_while(|op| atom(op, &code.ops)) {
            match test {
                Test::In { m, within } if atoms.is_empty() => cells.push(Cell { within, m, on, result }),
                _ => atoms.push(Atom { test, on, result }),
            }
        }
        if let Op::ReturnConst { value } = code.ops[cells.len() + atoms.len()] {
            code.otherwise = Some(value);
        }
        code.cells = cells.into();
        code.atoms = atoms.into();
        code
    }

    fn need(&mut self, regs: u32) -> Done {
        if regs > 1 << 24 {
            return Unsupported::new("a term with more than 16 million temporaries");
        }
        self.frame = self.frame.max(regs);
        Ok(())
    }

    fn slot(&self, v: VarId) -> Result<(u32, u32), Unsupported> {
        match self.layout.slot(v) {
            Some(slot) => Ok(slot),
            None => Unsupported::new(format!(
                "the variable `{}`, which has no place in memory",
                self.terms.variable(v).name
            )),
        }
    }

    fn shape(&self, ty: Type) -> Result<Shape, Unsupported> {
        let Type::Array(index, entry) = ty else {
            return Unsupported::new("an array that is none");
        };
        let Some((lo, hi)) = self.terms.type_bounds(self.terms.type_of_id(index)) else {
            return Unsupported::new("an array over unbounded indexes");
        };
        let entry = match self.terms.type_of_id(entry) {
            Type::Range(lo, hi) => Some((lo, hi)),
            Type::Array(..) => return Unsupported::new("an array of arrays"),
            _ => None,
        };
        match u32::try_from(i128::from(hi) - i128::from(lo) + 1) {
            Ok(len) if len < 1 << 24 => Ok(Shape { lo, len, entry }),
            _ => Unsupported::new("an array of more than 16 million entries"),
        }
    }

    /// Where an array variable is.
    fn array_slot(&self, v: VarId) -> Result<(u32, Shape), Unsupported> {
        let (offset, len) = self.slot(v)?;
        let shape = self.shape(self.terms.variable(v).ty)?;
        if len != shape.len {
            let name = &self.terms.variable(v).name;
            return Unsupported::new(format!("the array `{name}`, which has {} entries but {len} places", shape.len));
        }
        Ok((offset, shape))
    }

    /// The machine word of a literal.
    fn literal(&self, t: TermId) -> Option<i64> {
        match *self.terms.get(t) {
            Term::Bool(b) => Some(i64::from(b)),
            Term::Int(n) => Some(n),
            Term::EnumLit(_, n) => Some(i64::from(n)),
            Term::Bits(width, signed, bits) => Some(extend(bits as i64, width, signed)),
            _ => None,
        }
    }

    /// The one memory cell that holds the term's value, if that is known now.
    fn address(&self, t: TermId) -> Result<Option<u32>, Unsupported> {
        match *self.terms.get(t) {
            Term::Var(v) if !matches!(self.terms.ty(t), Type::Array(..)) => Ok(Some(self.slot(v)?.0)),
            Term::Select(a, i) => match (self.terms.get(a), self.literal(i)) {
                (&Term::Var(v), Some(i)) => {
                    let (offset, shape) = self.array_slot(v)?;
                    let at = i128::from(i) - i128::from(shape.lo);
                    Ok((0..i128::from(shape.len)).contains(&at).then(|| offset + at as u32))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    // Conditions.

    /// Jumps to the label if the truth value is `on`, and goes on otherwise.
    fn jump(&mut self, t: TermId, on: bool, to: Label, base: Reg) -> Done {
        let terms = self.terms;
        match *terms.get(t) {
            Term::Bool(b) => {
                if b == on {
                    self.ops.push(Op::Jump { to: to.0 });
                }
                Ok(())
            }
            Term::Not(a) => self.jump(a, !on, to, base),
            Term::And(ref args) => self.connective(args, false, on, to, base),
            Term::Or(ref args) => self.connective(args, true, on, to, base),
            Term::Ite(c, a, b) => {
                let (no, end) = (self.label(), self.label());
                self.jump(c, false, no, base)?;
                self.jump(a, on, to, base)?;
                self.ops.push(Op::Jump { to: end.0 });
                self.bind(no);
                self.jump(b, on, to, base)?;
                self.bind(end);
                Ok(())
            }
            Term::Eq(a, b) => match (terms.ty(a), self.literal(a), self.literal(b)) {
                (Type::Array(..), ..) => self.same(a, b, on, to, base),
                (Type::Bool, Some(n), _) => self.jump(b, on == (n == 1), to, base),
                (Type::Bool, _, Some(n)) => self.jump(a, on == (n == 1), to, base),
                (_, Some(n), _) => self.within(b, Interval::new(n, n), on, to, base),
                (_, _, Some(n)) => self.within(a, Interval::new(n, n), on, to, base),
                _ => self.compare(Cmp::Eq, a, b, on, to, base),
            },
            Term::Lt(a, b) | Term::Le(a, b) => {
                let strict = matches!(terms.get(t), Term::Lt(..));
                if matches!(terms.ty(a), Type::Bits { width: 64, signed: false }) {
                    return self.compare(if strict { Cmp::LtU } else { Cmp::LeU }, a, b, on, to, base);
                }
                match (self.literal(a), self.literal(b)) {
                    (_, Some(n)) if !(strict && n == i64::MIN) => {
                        let hi = if strict { n - 1 } else { n };
                        self.within(a, Interval::new(i64::MIN, hi), on, to, base)
                    }
                    (Some(n), _) if !(strict && n == i64::MAX) => {
                        let lo = if strict { n + 1 } else { n };
                        self.within(b, Interval::new(lo, i64::MAX), on, to, base)
                    }
                    _ => self.compare(if strict { Cmp::Lt } else { Cmp::Le }, a, b, on, to, base),
                }
            }
            _ => self.within(t, Interval::new(1, 1), on, to, base),
        }
    }

    /// A conjunction or disjunction; `stop` is the truth value that decides it.
    fn connective(&mut self, args: &[TermId], stop: bool, on: bool, to: Label, base: Reg) -> Done {
        if on == stop {
            return args.iter().try_for_each(|&t| self.jump(t, on, to, base));
        }
        let Some((&last, first)) = args.split_last() else {
            self.ops.push(Op::Jump { to: to.0 });
            return Ok(());
        };
        let end = self.label();
        first.iter().try_for_each(|&t| self.jump(t, stop, end, base))?;
        self.jump(last, on, to, base)?;
        self.bind(end);
        Ok(())
    }

    fn within(&mut self, t: TermId, within: Interval, on: bool, to: Label, base: Reg) -> Done {
        let terms = self.terms;
        let test = if let Some(m) = self.address(t)? {
            Test::In { m, within }
        } else if let Some(call) = self.constant_call(t) {
            Test::Call { call, within }
        } else if let Some(entry) = self.entry_address(t)? {
            Test::Entry { entry, within }
        } else if let (Term::Add(args), Type::Int) = (terms.get(t), terms.ty(t)) {
            return self.sum_within(args, within, on, to, base);
        } else {
            self.value(t, base)?;
            self.ops.push(Op::JumpReg { r: base, within, on, to: to.0 });
            return Ok(());
        };
        self.ops.push(Op::JumpTest { test, on, to: to.0 });
        Ok(())
    }

    /// Is the sum within the interval? A constant summand moves to the other side.
    fn sum_within(&mut self, args: &[TermId], within: Interval, on: bool, to: Label, base: Reg) -> Done {
        let terms = self.terms;
        if let [rest @ .., k] = args
            && !rest.is_empty()
            && let Some(within) = terms.as_int(*k).and_then(|k| within.minus(k))
        {
            return match rest {
                [t] => self.within(*t, within, on, to, base),
                _ => self.sum_within(rest, within, on, to, base),
            };
        }
        if let &[a, b] = args {
            let (minus, b) = match *terms.get(b) {
                Term::Neg(b) => (true, b),
                _ => (false, b),
            };
            if let (Some(a), Some(b)) = (self.address(a)?, self.address(b)?) {
                self.ops.push(Op::JumpTest { test: Test::Sum { a, b, minus, within }, on, to: to.0 });
                return Ok(());
            }
        }
        self.sum(args, Type::Int, base)?;
        self.ops.push(Op::JumpReg { r: base, within, on, to: to.0 });
        Ok(())
    }

    /// A cell and what is added to it.
    fn shifted_address(&self, t: TermId) -> Result<Option<(u32, i64)>, Unsupported> {
        if let (Term::Add(args), Type::Int) = (self.terms.get(t), self.terms.ty(t)) {
            let &[a, k] = &args[..] else { return Ok(None) };
            return Ok(self.address(a)?.zip(self.terms.as_int(k)));
        }
        Ok(self.address(t)?.map(|m| (m, 0)))
    }

    /// An array entry whose index is in a cell.
    fn entry_address(&mut self, t: TermId) -> Result<Option<u32>, Unsupported> {
        let Term::Select(a, i) = *self.terms.get(t) else {
            return Ok(None);
        };
        let Term::Var(v) = *self.terms.get(a) else {
            return Ok(None);
        };
        let Some(i) = self.address(i)? else {
            return Ok(None);
        };
        let (base, Shape { lo, len, .. }) = self.array_slot(v)?;
        self.entries.push(Entry { base, i, lo, len });
        Ok(Some(self.entries.len() as u32 - 1))
    }

    fn compare(&mut self, cmp: Cmp, a: TermId, b: TermId, on: bool, to: Label, base: Reg) -> Done {
        if let (Some((a, k)), Some((b, l))) = (self.shifted_address(a)?, self.shifted_address(b)?)
            && let Some(add) = k.checked_sub(l)
        {
            self.ops.push(Op::JumpTest { test: Test::Mem { cmp, a, b, add }, on, to: to.0 });
            return Ok(());
        }
        self.value(a, base)?;
        self.value(b, base + 1)?;
        self.ops.push(Op::JumpCmp { cmp, a: base, b: base + 1, on, to: to.0 });
        Ok(())
    }

    fn same(&mut self, a: TermId, b: TermId, on: bool, to: Label, base: Reg) -> Done {
        let len = self.shape(self.terms.ty(a))?.len;
        if len != self.shape(self.terms.ty(b))?.len {
            return Unsupported::new("an equation between arrays of different types");
        }
        let (a, base) = self.array(a, base)?;
        let (b, _) = self.array(b, base)?;
        self.ops.push(Op::JumpSame { a, b, len, on, to: to.0 });
        Ok(())
    }

    // Values.

    /// Puts the value into the register.
    fn value(&mut self, t: TermId, d: Reg) -> Done {
        self.need(d + 1)?;
        if let Some(value) = self.literal(t) {
            self.ops.push(Op::Const { d, value });
            return Ok(());
        }
        if let Some(m) = self.address(t)? {
            self.ops.push(Op::Load { d, m });
            return Ok(());
        }
        let terms = self.terms;
        let ty = terms.ty(t);
        match *terms.get(t) {
            Term::Ite(c, a, b) => self.either(c, d, |this| this.value(a, d), |this| this.value(b, d)),
            Term::Add(ref args) => self.sum(args, ty, d),
            Term::Neg(a) => {
                self.value(a, d)?;
                self.ops.push(if ty == Type::Int { Op::Neg { d } } else { Op::WNeg { d } });
                self.fit(ty, d);
                Ok(())
            }
            Term::Mul(a, b) => {
                let bin = if ty == Type::Int { Bin::IMul } else { Bin::WMul };
                self.binary(bin, a, b, ty, d)
            }
            Term::Div(division, a, b) => {
                let bin = match (ty, division) {
                    (Type::Bits { signed: false, .. }, _) => Bin::UDiv,
                    (Type::Bits { .. }, Division::Truncating) => Bin::SDivT,
                    (Type::Bits { .. }, Division::Euclidean) => Bin::SDivE,
                    (_, Division::Truncating) => Bin::IDivT,
                    (_, Division::Euclidean) => Bin::IDivE,
                };
                self.binary(bin, a, b, ty, d)
            }
            Term::Rem(division, a, b) => {
                let bin = match (ty, division) {
                    (Type::Bits { signed: false, .. }, _) => Bin::URem,
                    (Type::Bits { .. }, Division::Truncating) => Bin::SRemT,
                    (Type::Bits { .. }, Division::Euclidean) => Bin::SRemE,
                    (_, Division::Truncating) => Bin::IRemT,
                    (_, Division::Euclidean) => Bin::IRemE,
                };
                self.binary(bin, a, b, ty, d)
            }
            Term::Bit(op, a, b) => {
                let bin = match (op, ty) {
                    (BitOp::And, _) => Bin::And,
                    (BitOp::Or, _) => Bin::Or,
                    (BitOp::Xor, _) => Bin::Xor,
                    (BitOp::Shl, Type::Bits { width, .. }) => Bin::WShl(width),
                    (BitOp::Shr, Type::Bits { width, signed: true }) => Bin::SShr(width),
                    (BitOp::Shr, Type::Bits { width, signed: false }) => Bin::UShr(width),
                    (BitOp::Shl, _) => Bin::IShl,
                    (BitOp::Shr, _) => Bin::IShr,
                };
                self.binary(bin, a, b, ty, d)
            }
            Term::Select(a, i) => {
                let Shape { lo, len, .. } = self.shape(terms.ty(a))?;
                let (place, free) = self.array(a, d)?;
                self.value(i, free)?;
                match place {
                    Place::Mem(base) => self.ops.push(Op::Index { d, base, lo, len }),
                    Place::Frame(base) => {
                        self.ops.push(Op::CheckIndex { d: free, lo, len });
                        self.ops.push(Op::At { d, i: free, base });
                    }
                }
                Ok(())
            }
            Term::Checked(a, lo, hi) => {
                self.value(a, d)?;
                self.ops.push(Op::Check { d, lo, hi });
                Ok(())
            }
            Term::Convert(to, a) => {
                self.value(a, d)?;
                let unsigned = terms.ty(a) == Type::Bits { width: 64, signed: false };
                match terms.type_of_id(to) {
                    ty @ Type::Bits { .. } => self.fit(ty, d),
                    ty => {
                        if unsigned {
                            self.ops.push(Op::Unsigned { d });
                        }
                        if let Type::Range(lo, hi) = ty {
                            self.ops.push(Op::Check { d, lo, hi });
                        }
                    }
                }
                Ok(())
            }
            Term::Foreign(f, ref args) => {
                if let Some(call) = self.constant_call(t) {
                    self.ops.push(Op::CallConst { d, call });
                    return Ok(());
                }
                self.values(args, d)?;
                self.ops.push(Op::Call { d, f, a: d, n: args.len() as u32 });
                Ok(())
            }
            Term::Big(_) => Unsupported::new("an integer beyond 64 bits"),
            _ if ty == Type::Bool => {
                let (no, end) = (self.label(), self.label());
                self.jump(t, false, no, d)?;
                self.ops.push(Op::Const { d, value: 1 });
                self.ops.push(Op::Jump { to: end.0 });
                self.bind(no);
                self.ops.push(Op::Const { d, value: 0 });
                self.bind(end);
                Ok(())
            }
            _ => Unsupported::new("a whole array where a single value is needed"),
        }
    }

    fn values(&mut self, args: &[TermId], d: Reg) -> Done {
        args.iter().enumerate().try_for_each(|(k, &t)| self.value(t, d + k as u32))
    }

    fn either(
        &mut self,
        c: TermId,
        base: Reg,
        yes: impl FnOnce(&mut Self) -> Done,
        no: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        let (other, end) = (self.label(), self.label());
        self.jump(c, false, other, base)?;
        yes(self)?;
        self.ops.push(Op::Jump { to: end.0 });
        self.bind(other);
        no(self)?;
        self.bind(end);
        Ok(())
    }

    /// Brings the result of a wrapping operation back to its width.
    fn fit(&mut self, ty: Type, d: Reg) {
        if let Type::Bits { width, signed } = ty
            && width < 64
        {
            self.ops.push(Op::Extend { d, width, signed });
        }
    }

    fn sum(&mut self, args: &[TermId], ty: Type, d: Reg) -> Done {
        self.value(args[0], d)?;
        for &t in &args[1..] {
            let b = d + 1;
            let op = match (self.terms.get(t), ty == Type::Int) {
                (&Term::Int(value), true) => {
                    self.ops.push(Op::AddConst { d, value });
                    continue;
                }
                (&Term::Neg(a), int) => {
                    self.value(a, b)?;
                    if int { Op::Sub { d, b } } else { Op::Bin { bin: Bin::WSub, d, b } }
                }
                (_, int) => {
                    self.value(t, b)?;
                    if int { Op::Add { d, b } } else { Op::Bin { bin: Bin::WAdd, d, b } }
                }
            };
            self.ops.push(op);
        }
        self.fit(ty, d);
        Ok(())
    }

    fn binary(&mut self, bin: Bin, a: TermId, b: TermId, ty: Type, d: Reg) -> Done {
        self.value(a, d)?;
        self.value(b, d + 1)?;
        let shift = matches!(bin, Bin::IShl | Bin::IShr | Bin::WShl(_) | Bin::SShr(_) | Bin::UShr(_));
        if shift && self.terms.ty(b) == (Type::Bits { width: 64, signed: false }) {
            self.ops.push(Op::Clamp { d: d + 1 });
        }
        self.ops.push(Op::Bin { bin, d, b: d + 1 });
        if matches!(bin, Bin::WMul | Bin::SDivT | Bin::SDivE | Bin::WShl(_)) {
            self.fit(ty, d);
        }
        Ok(())
    }

    /// A foreign call whose arguments are all known.
    fn constant_call(&mut self, t: TermId) -> Option<u32> {
        let Term::Foreign(f, ref args) = *self.terms.get(t) else {
            return None;
        };
        self.pooled(f, args)
    }

    fn pooled(&mut self, f: FnId, args: &[TermId]) -> Option<u32> {
        let args: Option<Vec<i64>> = args.iter().map(|&a| self.literal(a)).collect();
        let args = args?;
        let call = Call { f, start: self.pool.len() as u32, len: args.len() as u32 };
        self.pool.extend(args);
        self.calls.push(call);
        Some(self.calls.len() as u32 - 1)
    }

    // Arrays.

    /// Somewhere the array can be read, and the next free register.
    fn array(&mut self, t: TermId, base: Reg) -> Result<(Place, Reg), Unsupported> {
        if let Term::Var(v) = *self.terms.get(t) {
            return Ok((Place::Mem(self.array_slot(v)?.0), base));
        }
        let free = base + self.shape(self.terms.ty(t))?.len;
        self.need(free)?;
        self.array_into(t, base, free)?;
        Ok((Place::Frame(base), free))
    }

    /// Copies the array's value into the frame at `d`.
    fn array_into(&mut self, t: TermId, d: Reg, free: Reg) -> Done {
        let terms = self.terms;
        let shape = self.shape(terms.ty(t))?;
        match *terms.get(t) {
            Term::Var(v) => {
                let (m, _) = self.array_slot(v)?;
                self.ops.push(Op::Copy { d: Place::Frame(d), s: Place::Mem(m), len: shape.len });
                Ok(())
            }
            Term::Store(a, i, v) => {
                self.array_into(a, d, free)?;
                self.entry(i, v, shape, free)?;
                self.ops.push(Op::Put { base: Place::Frame(d), i: free, r: free + 1 });
                Ok(())
            }
            Term::ConstArray(_, v) => {
                self.entry_value(v, shape, free)?;
                self.ops.push(Op::Fill { d: Place::Frame(d), r: free, len: shape.len });
                Ok(())
            }
            Term::Ite(c, a, b) => {
                self.either(c, free, |this| this.array_into(a, d, free), |this| this.array_into(b, d, free))
            }
            _ => Unsupported::new("an array made in an unknown way"),
        }
    }

    /// A checked position and entry, in two registers.
    fn entry(&mut self, i: TermId, v: TermId, shape: Shape, d: Reg) -> Done {
        self.value(i, d)?;
        self.value(v, d + 1)?;
        self.ops.push(Op::CheckIndex { d, lo: shape.lo, len: shape.len });
        self.bounded(v, shape.entry, d + 1);
        Ok(())
    }

    fn entry_value(&mut self, v: TermId, shape: Shape, d: Reg) -> Done {
        self.value(v, d)?;
        self.bounded(v, shape.entry, d);
        Ok(())
    }

    /// Checks bounds unless the term is known to keep them.
    fn bounded(&mut self, t: TermId, bounds: Option<(i64, i64)>, d: Reg) {
        if let Some((lo, hi)) = bounds
            && !self.terms.lies_within(t, lo, hi)
        {
            self.ops.push(Op::Check { d, lo, hi });
        }
    }

    // Statements.

    /// Runs the statement; jumps to the label if an assumption fails.
    fn stmt(&mut self, s: StmtId, fail: Label) -> Done {
        let terms = self.terms;
        match *terms.stmt(s) {
            Stmt::Skip => Ok(()),
            Stmt::Assume(t) => self.jump(t, false, fail, 0),
            Stmt::Assign(v, t) if matches!(terms.variable(v).ty, Type::Array(..)) => self.assign_array(v, t),
            Stmt::Assign(v, t) => self.assign(v, t),
            Stmt::Seq(ref parts) => parts.iter().try_for_each(|&p| self.stmt(p, fail)),
            Stmt::If(c, a, b) => self.either(c, 0, |this| this.stmt(a, fail), |this| this.stmt(b, fail)),
            Stmt::While(c, body) => {
                let (again, end) = (self.label(), self.label());
                self.bind(again);
                self.jump(c, false, end, 0)?;
                self.stmt(body, fail)?;
                self.ops.push(Op::Loop { to: again.0 });
                self.bind(end);
                Ok(())
            }
            Stmt::Foreign(f, ref args) => {
                if let Some(call) = self.pooled(f, args) {
                    self.ops.push(Op::UpdateConst { call });
                } else {
                    self.values(args, 0)?;
                    self.ops.push(Op::Update { f, a: 0, n: args.len() as u32 });
                }
                Ok(())
            }
            ref s @ (Stmt::Havoc(_) | Stmt::Choice(_)) => Unsupported::new(name_of(s)),
        }
    }

    fn assign(&mut self, v: VarId, t: TermId) -> Done {
        let terms = self.terms;
        let (m, _) = self.slot(v)?;
        let bounds = match terms.variable(v).ty {
            Type::Range(lo, hi) => Some((lo, hi)),
            _ => None,
        };
        let fits = bounds.is_none_or(|(lo, hi)| terms.lies_within(t, lo, hi));
        if let (Some(value), true) = (self.literal(t), fits) {
            self.ops.push(Op::SetConst { m, value });
            return Ok(());
        }
        if let (Some(from), true) = (self.address(t)?, fits) {
            self.ops.push(Op::Move { m, from });
            return Ok(());
        }
        if let Some(op) = self.bump(m, bounds, t)? {
            self.ops.push(op);
            return Ok(());
        }
        self.value(t, 0)?;
        self.bounded(t, bounds, 0);
        self.ops.push(Op::Set { m, r: 0 });
        Ok(())
    }

    /// `m := from + constant`, or the same under `Checked`, with small bounds.
    fn bump(&self, m: u32, bounds: Option<(i64, i64)>, t: TermId) -> Result<Option<Op>, Unsupported> {
        let terms = self.terms;
        let (sum, (lo, hi)) = match (terms.get(t), bounds) {
            (&Term::Checked(a, lo, hi), None) => (a, (lo, hi)),
            (&Term::Checked(a, lo, hi), Some((l, h))) if l <= lo && hi <= h => (a, (lo, hi)),
            (_, Some(bounds)) => (t, bounds),
            _ => return Ok(None),
        };
        let (Ok(lo), Ok(hi)) = (i32::try_from(lo), i32::try_from(hi)) else {
            return Ok(None);
        };
        let Term::Add(ref args) = *terms.get(sum) else {
            return Ok(None);
        };
        if terms.ty(sum) != Type::Int {
            return Ok(None);
        }
        let &[from, add] = &args[..] else {
            return Ok(None);
        };
        match (self.address(from)?, terms.as_int(add).map(i32::try_from)) {
            (Some(from), Some(Ok(add))) => Ok(Some(Op::Bump { m, from, add, lo, hi })),
            _ => Ok(None),
        }
    }

    /// Stores on top of an array variable or constant array happen in place: first everything that is read, then
    /// everything that is written.
    fn assign_array(&mut self, v: VarId, t: TermId) -> Done {
        let terms = self.terms;
        let (m, shape) = self.array_slot(v)?;
        if terms.ty(t) != terms.variable(v).ty {
            return Unsupported::new("an assignment between arrays of different types");
        }
        let mut stores = vec![];
        let mut base = t;
        while let Term::Store(a, i, entry) = *terms.get(base) {
            stores.push((i, entry));
            base = a;
        }
        stores.reverse();
        let dst = Place::Mem(m);
        let len = shape.len;
        let mut free = 0;
        let begin = match *terms.get(base) {
            Term::Var(w) if w == v => None,
            Term::Var(w) => Some(Op::Copy { d: dst, s: Place::Mem(self.array_slot(w)?.0), len }),
            Term::ConstArray(_, entry) => {
                self.entry_value(entry, shape, 0)?;
                free = 1;
                Some(Op::Fill { d: dst, r: 0, len })
            }
            _ => {
                free = len;
                self.need(free)?;
                self.array_into(base, 0, free)?;
                Some(Op::Copy { d: dst, s: Place::Frame(0), len })
            }
        };
        let mut effects: Vec<Op> = begin.into_iter().collect();
        for (i, entry) in stores {
            let at = self.literal(i).map(|i| i128::from(i) - i128::from(shape.lo));
            match at.filter(|at| (0..i128::from(len)).contains(at)) {
                Some(at) => {
                    let m = m + at as u32;
                    let fits = shape.entry.is_none_or(|(lo, hi)| terms.lies_within(entry, lo, hi));
                    match self.literal(entry) {
                        Some(value) if fits => effects.push(Op::SetConst { m, value }),
                        _ => {
                            self.entry_value(entry, shape, free)?;
                            effects.push(Op::Set { m, r: free });
                            free += 1;
                        }
                    }
                }
                None => {
                    self.entry(i, entry, shape, free)?;
                    effects.push(Op::Put { base: dst, i: free, r: free + 1 });
                    free += 2;
                }
            }
        }
        self.ops.extend(effects);
        Ok(())
    }
}
