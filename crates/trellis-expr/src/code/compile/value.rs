//! Values: terms into registers, arrays into the frame.

use super::{Compiler, Done, Shape};
use crate::code::Unsupported;
use crate::code::op::{Bin, Call, Op, Place, Reg};
use crate::term::{BitOp, Division, FnId, Term, TermId, Type};

impl Compiler<'_> {
    /// Puts the value into the register.
    pub(super) fn value(&mut self, t: TermId, d: Reg) -> Done {
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

    pub(super) fn values(&mut self, args: &[TermId], d: Reg) -> Done {
        args.iter().enumerate().try_for_each(|(k, &t)| self.value(t, d + k as u32))
    }

    pub(super) fn either(
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
    pub(super) fn fit(&mut self, ty: Type, d: Reg) {
        if let Type::Bits { width, signed } = ty
            && width < 64
        {
            self.ops.push(Op::Extend { d, width, signed });
        }
    }

    pub(super) fn sum(&mut self, args: &[TermId], ty: Type, d: Reg) -> Done {
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

    pub(super) fn binary(&mut self, bin: Bin, a: TermId, b: TermId, ty: Type, d: Reg) -> Done {
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
    pub(super) fn constant_call(&mut self, t: TermId) -> Option<u32> {
        let Term::Foreign(f, ref args) = *self.terms.get(t) else {
            return None;
        };
        self.pooled(f, args)
    }

    pub(super) fn pooled(&mut self, f: FnId, args: &[TermId]) -> Option<u32> {
        let args: Option<Vec<i64>> = args.iter().map(|&a| self.literal(a)).collect();
        let args = args?;
        let call = Call { f, start: self.pool.len() as u32, len: args.len() as u32 };
        self.pool.extend(args);
        self.calls.push(call);
        Some(self.calls.len() as u32 - 1)
    }

    // Arrays.

    /// Somewhere the array can be read, and the next free register.
    pub(super) fn array(&mut self, t: TermId, base: Reg) -> Result<(Place, Reg), Unsupported> {
        if let Term::Var(v) = *self.terms.get(t) {
            return Ok((Place::Mem(self.array_slot(v)?.0), base));
        }
        let free = base + self.shape(self.terms.ty(t))?.len;
        self.need(free)?;
        self.array_into(t, base, free)?;
        Ok((Place::Frame(base), free))
    }

    /// Copies the array's value into the frame at `d`.
    pub(super) fn array_into(&mut self, t: TermId, d: Reg, free: Reg) -> Done {
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
    pub(super) fn entry(&mut self, i: TermId, v: TermId, shape: Shape, d: Reg) -> Done {
        self.value(i, d)?;
        self.value(v, d + 1)?;
        self.ops.push(Op::CheckIndex { d, lo: shape.lo, len: shape.len });
        self.bounded(v, shape.entry, d + 1);
        Ok(())
    }

    pub(super) fn entry_value(&mut self, v: TermId, shape: Shape, d: Reg) -> Done {
        self.value(v, d)?;
        self.bounded(v, shape.entry, d);
        Ok(())
    }

    /// Checks bounds unless the term is known to keep them.
    pub(super) fn bounded(&mut self, t: TermId, bounds: Option<(i64, i64)>, d: Reg) {
        if let Some((lo, hi)) = bounds
            && !self.terms.lies_within(t, lo, hi)
        {
            self.ops.push(Op::Check { d, lo, hi });
        }
    }
}
