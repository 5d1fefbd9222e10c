//! From terms and statements to instructions.
//!
//! Registers are handed out like a stack: a method that is given a register may use it and all above it.

mod cond;
mod effect;
mod value;

use super::op::{Atom, Call, Cell, Entry, Op, Test};
use super::run::{Fixed, extend, start};
use super::{Code, Layout, NoHost, Then, Unsupported};
use crate::StmtId;
use crate::term::{Term, TermId, Terms, Type, VarId};

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
            then: Then::Run,
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
            code.then = Then::Return(value);
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
        code.then = match code.otherwise {
            _ if !atoms.is_empty() => Then::TestAtoms,
            Some(value) => Then::Return(value),
            None => Then::Run,
        };
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
}
