//! Comparisons of clocks. Both sides are sums of clocks and data; when everything is on one side, at most one clock is
//! added and one subtracted, and that is a constraint that zones know.

use trellis_expr::TermId;
use trellis_model::network::ClockAtom;

use super::expr::{Value, dotted};
use super::{Builder, Entity, Reported, Res};
use crate::diag::Span;
use crate::diag::shorten;
use crate::uppaal::ast::{BinOp, Expr, ExprKind, UnOp};

/// How many constraints one comparison may become.
const MAX_ATOMS: usize = 1 << 12;

/// A clock, or one of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockRef {
    pub first: u32,
    /// How many there are and which of them is meant, if that depends on data.
    pub of: Option<(u32, TermId)>,
}

/// A sum: clocks that are added, clocks that are subtracted, data.
#[derive(Debug)]
pub(super) struct Linear {
    pub plus: Vec<ClockRef>,
    pub minus: Vec<ClockRef>,
    pub data: TermId,
}

impl Builder<'_> {
    /// A clock by name and index.
    pub fn clock(&mut self, e: &Expr) -> Res<ClockRef> {
        let (base, index) = match &e.kind {
            ExprKind::Index(a, i) => (&**a, Some(&**i)),
            _ => (e, None),
        };
        let name = dotted(base).unwrap_or_default();
        let shown = shorten(&name);
        match (self.variable(&name), index) {
            (Some(Entity::Clock { first, len: None }), None) => Ok(ClockRef { first, of: None }),
            (Some(Entity::Clock { first, len: Some(len) }), Some(i)) => {
                let index = self.index_term(i, i64::from(len))?;
                match self.net.terms.as_int(index) {
                    Some(n) => Ok(ClockRef { first: first + n as u32, of: None }),
                    None => Ok(ClockRef { first, of: Some((len, index)) }),
                }
            }
            (Some(Entity::Clock { len: None, .. }), Some(_)) => {
                self.error(base.span, format!("`{shown}` is no array"), format!("write `{shown}` alone"))
            }
            (Some(Entity::Clock { .. }), None) => {
                let help = format!("say which clock is meant: `{shown}[0]`");
                self.error(e.span, format!("`{shown}` is an array of clocks"), help)
            }
            (Some(Entity::Broken), _) => Err(Reported),
            _ => self.error(e.span, "a clock is needed here", "write the name of a clock"),
        }
    }

    /// The clocks that can be meant, and when.
    pub fn candidates(&mut self, c: ClockRef) -> Vec<(Option<TermId>, u32)> {
        let Some((len, index)) = c.of else { return vec![(None, c.first)] };
        let mut all = Vec::new();
        for k in 0..len {
            let number = self.int(i64::from(k));
            all.push((Some(self.terms().eq(index, number)), c.first + k));
        }
        all
    }

    pub fn linear(&mut self, e: &Expr) -> Res<Linear> {
        if !self.mentions_clocks(e) {
            let data = self.integer(e)?;
            return Ok(Linear { plus: Vec::new(), minus: Vec::new(), data });
        }
        match &e.kind {
            ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) => {
                let clock = self.clock(e)?;
                Ok(Linear { plus: vec![clock], minus: Vec::new(), data: self.int(0) })
            }
            ExprKind::Unary(UnOp::Neg, a) => {
                let a = self.linear(a)?;
                Ok(self.negated(a))
            }
            ExprKind::Unary(UnOp::Plus, a) => self.linear(a),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let (a, b) = (self.linear(a), self.linear(b));
                let (mut a, mut b) = (a?, b?);
                if *op == BinOp::Sub {
                    b = self.negated(b);
                }
                a.plus.append(&mut b.plus);
                a.minus.append(&mut b.minus);
                let data = self.terms().add([a.data, b.data]);
                a.data = self.fits(data, e.span)?;
                Ok(a)
            }
            _ => self.misused_clock(e.span),
        }
    }

    fn negated(&mut self, a: Linear) -> Linear {
        Linear { plus: a.minus, minus: a.plus, data: self.terms().neg(a.data) }
    }

    /// The constraints whose conjunction is the comparison; or a truth value of data, if the clocks cancel out.
    pub fn clock_comparison(
        &mut self,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        span: Span,
    ) -> Res<(Vec<ClockAtom>, Option<TermId>)> {
        let (a, b) = (self.linear(a), self.linear(b));
        let (Linear { plus: mut left, minus: mut right, data }, b) = (a?, b?);
        left.extend(b.minus);
        right.extend(b.plus);
        left.retain(|c| match right.iter().position(|d| d == c) {
            Some(i) => {
                right.swap_remove(i);
                false
            }
            None => true,
        });
        // left - right ≺ bound
        let bound = self.terms().sub(b.data, data);
        let bound = self.fits(bound, span)?;
        if left.is_empty() && right.is_empty() {
            let zero = self.int(0);
            return Ok((Vec::new(), Some(self.compare(op, zero, bound))));
        }
        if left.len() > 1 || right.len() > 1 {
            let help = "compare one clock, or the difference of two, with a number";
            return self.error(span, "a sum of clocks is not supported", help);
        }
        let minus = self.terms().neg(bound);
        let forms: &[(bool, bool)] = match op {
            // Turned around, strict.
            BinOp::Lt => &[(false, true)],
            BinOp::Le => &[(false, false)],
            BinOp::Gt => &[(true, true)],
            BinOp::Ge => &[(true, false)],
            BinOp::Eq => &[(false, false), (true, false)],
            _ => {
                let help = "write one edge for `<` and one for `>`";
                return self.error(
                    span,
                    "that a clock is not equal to something is a disjunction: not supported",
                    help,
                );
            }
        };
        let nobody = vec![(None, 0)];
        let left = left.first().map_or(nobody.clone(), |&c| self.candidates(c));
        let right = right.first().map_or(nobody, |&c| self.candidates(c));
        if left.len().saturating_mul(right.len()) > MAX_ATOMS {
            let help = "use smaller arrays of clocks, or constant indexes";
            return self.error(span, "too many pairs of clocks can be meant here", help);
        }
        let mut atoms = Vec::new();
        for &(when_left, l) in &left {
            for &(when_right, r) in &right {
                let when = match (when_left, when_right) {
                    (Some(a), Some(b)) => Some(self.terms().and([a, b])),
                    (a, b) => a.or(b),
                };
                atoms.extend(forms.iter().map(|&(turned, strict)| match turned {
                    false => ClockAtom { when, left: l, right: r, strict, bound },
                    true => ClockAtom { when, left: r, right: l, strict, bound: minus },
                }));
            }
        }
        Ok((atoms, None))
    }

    /// A comparison of clocks in a query: a truth value made of temporaries, one for each constraint.
    pub fn asked_comparison(&mut self, op: BinOp, a: &Expr, b: &Expr, span: Span) -> Res<Value> {
        let different = op == BinOp::Ne;
        let (atoms, truth) = self.clock_comparison(if different { BinOp::Eq } else { op }, a, b, span)?;
        let mut parts: Vec<TermId> = truth.into_iter().collect();
        for atom in atoms {
            let name = format!("constraint{}", self.net.temps.len());
            let var = self.fresh(name, true, None);
            let holds = self.terms().var(var);
            if let Some(asking) = &mut self.asking {
                asking.push((var, ClockAtom { when: None, ..atom }));
            }
            parts.push(match atom.when {
                Some(when) => self.terms().implies(when, holds),
                None => holds,
            });
        }
        let all = self.terms().and(parts);
        let term = if different { self.terms().not(all) } else { all };
        Ok(Value { term, is_bool: true })
    }
}
