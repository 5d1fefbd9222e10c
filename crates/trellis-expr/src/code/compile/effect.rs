//! Effects: statements.

use super::{Compiler, Done, Label};
use crate::code::op::{Op, Place};
use crate::code::{Unsupported, name_of};
use crate::term::{Term, TermId, Type, VarId};
use crate::{Stmt, StmtId};

impl Compiler<'_> {
    /// Runs the statement; jumps to the label if an assumption fails.
    pub(super) fn stmt(&mut self, s: StmtId, fail: Label) -> Done {
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

    pub(super) fn assign(&mut self, v: VarId, t: TermId) -> Done {
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
    pub(super) fn bump(&self, m: u32, bounds: Option<(i64, i64)>, t: TermId) -> Result<Option<Op>, Unsupported> {
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
    pub(super) fn assign_array(&mut self, v: VarId, t: TermId) -> Done {
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
