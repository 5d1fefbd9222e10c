//! Conditions: truth values as jumps.

use super::{Compiler, Done, Label, Shape};
use crate::code::Unsupported;
use crate::code::op::{Cmp, Entry, Interval, Op, Reg, Test};
use crate::term::{Term, TermId, Type};

impl Compiler<'_> {
    /// Jumps to the label if the truth value is `on`, and goes on otherwise.
    pub(super) fn jump(&mut self, t: TermId, on: bool, to: Label, base: Reg) -> Done {
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
    pub(super) fn connective(&mut self, args: &[TermId], stop: bool, on: bool, to: Label, base: Reg) -> Done {
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

    pub(super) fn within(&mut self, t: TermId, within: Interval, on: bool, to: Label, base: Reg) -> Done {
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
    pub(super) fn sum_within(&mut self, args: &[TermId], within: Interval, on: bool, to: Label, base: Reg) -> Done {
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
    pub(super) fn shifted_address(&self, t: TermId) -> Result<Option<(u32, i64)>, Unsupported> {
        if let (Term::Add(args), Type::Int) = (self.terms.get(t), self.terms.ty(t)) {
            let &[a, k] = &args[..] else { return Ok(None) };
            return Ok(self.address(a)?.zip(self.terms.as_int(k)));
        }
        Ok(self.address(t)?.map(|m| (m, 0)))
    }

    /// An array entry whose index is in a cell.
    pub(super) fn entry_address(&mut self, t: TermId) -> Result<Option<u32>, Unsupported> {
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

    pub(super) fn compare(&mut self, cmp: Cmp, a: TermId, b: TermId, on: bool, to: Label, base: Reg) -> Done {
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

    pub(super) fn same(&mut self, a: TermId, b: TermId, on: bool, to: Label, base: Reg) -> Done {
        let len = self.shape(self.terms.ty(a))?.len;
        if len != self.shape(self.terms.ty(b))?.len {
            return Unsupported::new("an equation between arrays of different types");
        }
        let (a, base) = self.array(a, base)?;
        let (b, _) = self.array(b, base)?;
        self.ops.push(Op::JumpSame { a, b, len, on, to: to.0 });
        Ok(())
    }
}
