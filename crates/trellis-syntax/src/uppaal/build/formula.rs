//! Conditions that speak of data and of clocks: `&&`, `||`, `imply`, `!` and `?:` over them.
//!
//! A [`Formula`] is a condition on data and a conjunction of clock constraints, each of which may depend on data. What
//! cannot be brought into that form (two clock constraints of which one suffices) is refused where it stands, because
//! zones are convex; it is not split behind the user's back. In queries clock constraints are truth values, so that
//! nothing of this concerns them.

use trellis_expr::TermId;
use trellis_model::network::{ClockAtom, Rate};

use super::clock::Atom;
use super::expr::{Denotes, Lower, Unit};
use super::scope::{Kind, Value};
use super::{Res, ast};
use crate::diag::{Diagnostic, Span};
use ast::{BinOp, Expr};

/// Where clock constraints may stand.
pub(crate) const PLACES: &str =
    "a clock constraint stands alone, is joined to others by `&&`, or depends on data: `b imply x <= 5`";

/// `data`, and all of the constraints.
#[derive(Debug, Clone)]
pub(crate) struct Formula {
    pub data: TermId,
    pub atoms: Vec<Atom>,
}

impl From<Formula> for Denotes {
    fn from(f: Formula) -> Denotes {
        match f.atoms.is_empty() {
            true => Value { term: f.data, kind: Kind::Bool }.into(),
            false => Denotes::Constraint(f),
        }
    }
}

impl Lower<'_, '_> {
    /// A condition, which may speak of clocks.
    pub fn formula(&mut self, e: &Expr) -> Res<Formula> {
        let found = self.denote(e)?;
        self.formula_of(found, e.span)
    }

    fn formula_of(&mut self, found: Denotes, span: Span) -> Res<Formula> {
        if let Denotes::Constraint(f) = found {
            return Ok(f);
        }
        let v = self.value_of(found, span)?;
        Ok(Formula { data: self.convert(v, Kind::Bool, span)?.term, atoms: Vec::new() })
    }

    /// The opposite, where that is a conjunction again: `!(d && (w imply a))` is `(d imply w) && (d imply !a)`.
    pub fn negated(&mut self, f: Formula, span: Span) -> Res<Formula> {
        let not_data = self.b.terms().not(f.data);
        match f.atoms[..] {
            [] => Ok(Formula { data: not_data, atoms: Vec::new() }),
            _ if f.atoms.iter().any(|a| a.rate) => self.err(span, "the opposite of a rate is no rate"),
            [atom] => {
                let data = match atom.when {
                    Some(w) => self.b.terms().or([not_data, w]),
                    None => self.b.terms().bool(true),
                };
                let atom = Atom { when: Some(f.data), ..self.opposite_atom(atom) };
                Ok(self.simplified(Formula { data, atoms: vec![atom] }))
            }
            _ => self.no_disjunction(span, "the opposite of several clock constraints is a disjunction"),
        }
    }

    /// Drops what always holds, and all that stands beside what never does.
    fn simplified(&mut self, mut f: Formula) -> Formula {
        let terms = &self.b.net.terms;
        let known = |t: &Option<TermId>| t.and_then(|t| terms.as_bool(t));
        f.atoms.retain(|a| known(&a.when) != Some(false));
        for a in &mut f.atoms {
            if known(&a.when) == Some(true) {
                a.when = None;
            }
        }
        if terms.as_bool(f.data) == Some(false) {
            f.atoms.clear();
        }
        f
    }

    /// The constraints, where a condition on data holds.
    fn only_when(&mut self, atoms: Vec<Atom>, when: TermId) -> Vec<Atom> {
        let terms = self.b.terms();
        let both = |a: Atom| match a.when {
            Some(w) => Atom { when: Some(terms.and([when, w])), ..a },
            None => Atom { when: Some(when), ..a },
        };
        atoms.into_iter().map(both).collect()
    }

    /// One of two must hold.
    pub fn either(&mut self, a: Formula, b: Formula, span: Span) -> Res<Formula> {
        let data = self.b.terms().or([a.data, b.data]);
        let atoms = match (a.atoms.is_empty(), b.atoms.is_empty()) {
            (false, false) => return self.no_disjunction(span, "a disjunction of clock constraints"),
            (true, _) => {
                let not = self.b.terms().not(a.data);
                self.only_when(b.atoms, not)
            }
            (false, true) => {
                let not = self.b.terms().not(b.data);
                self.only_when(a.atoms, not)
            }
        };
        Ok(self.simplified(Formula { data, atoms }))
    }

    pub fn no_disjunction<T>(&mut self, span: Span, what: &str) -> Res<T> {
        let help = match self.unit {
            Unit::Invariant => "an invariant is a conjunction: split the location in two, one for each alternative",
            _ => "a guard is a conjunction: split the edge in two, one for each alternative",
        };
        Err(self.b.report(Diagnostic::error(span, what).help(help)))
    }

    /// `&&`, `||`, `imply`: the right side only where it is needed.
    pub fn connective(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Res<Denotes> {
        let mut fa = self.formula(a)?;
        if op == BinOp::Imply {
            fa = self.negated(fa, a.span)?;
        }
        let is_and = op == BinOp::And;
        let decided = self.b.net.terms.as_bool(fa.data) == Some(!is_and) && (is_and || fa.atoms.is_empty());
        let needed = if is_and { fa.data } else { self.b.terms().not(fa.data) };
        let (stmts, mut fb) = self.reached(!decided, |l| l.apart(|l| l.under(needed, |l| l.formula(b))))?;
        if decided {
            return Ok(Formula { data: fa.data, atoms: Vec::new() }.into());
        }
        let before = fa.data;
        if !stmts.is_empty() && !is_and && !fa.atoms.is_empty() {
            // Whether the right side is needed depends on clocks: it is always looked at.
            self.stmts.extend(stmts);
        } else if !stmts.is_empty() {
            let (tmp, so_far) = self.save(Value { term: fa.data, kind: Kind::Bool });
            let need = if is_and { so_far.term } else { self.b.terms().not(so_far.term) };
            let mut body = stmts;
            body.push(self.b.terms().assign(tmp, fb.data));
            self.branch(need, body, Vec::new());
            // From here on, the temporary is what both sides say of data.
            fb.data = so_far.term;
            fa.data = self.b.terms().bool(is_and);
        }
        if is_and {
            let data = self.b.terms().and([fa.data, fb.data]);
            fa.atoms.append(&mut fb.atoms);
            return Ok(self.simplified(Formula { data, atoms: fa.atoms }).into());
        }
        if !fb.atoms.is_empty() && fa.atoms.is_empty() {
            // The right side's constraints hang on the left side alone, whatever became of it since.
            let not = self.b.terms().not(before);
            fb.atoms = self.only_when(fb.atoms, not);
            let data = self.b.terms().or([fa.data, fb.data]);
            return Ok(self.simplified(Formula { data, atoms: fb.atoms }).into());
        }
        Ok(self.either(fa, fb, a.span.to(b.span))?.into())
    }

    pub fn conditional(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Res<Denotes> {
        let tc = self.boolean(c)?;
        let known = self.b.net.terms.as_bool(tc);
        let otherwise = self.b.terms().not(tc);
        let (mut sa, da) = self.reached(known != Some(false), |l| l.apart(|l| l.under(tc, |l| l.denote(a))))?;
        let (mut sb, db) = self.reached(known != Some(true), |l| l.apart(|l| l.under(otherwise, |l| l.denote(b))))?;
        if matches!(da, Denotes::Constraint(_)) || matches!(db, Denotes::Constraint(_)) {
            let (fa, fb) = (self.formula_of(da, a.span)?, self.formula_of(db, b.span)?);
            self.branch(tc, sa, sb);
            let data = self.b.terms().ite(tc, fa.data, fb.data);
            let mut atoms = self.only_when(fa.atoms, tc);
            atoms.extend(self.only_when(fb.atoms, otherwise));
            return Ok(self.simplified(Formula { data, atoms }).into());
        }
        let (va, vb) = (self.value_of(da, a.span)?, self.value_of(db, b.span)?);
        let kind = if va.kind == vb.kind { va.kind } else { Kind::Int };
        let va = self.convert(va, kind, a.span)?;
        let vb = self.convert(vb, kind, b.span)?;
        if sa.is_empty() && sb.is_empty() {
            let term = self.b.terms().ite(tc, va.term, vb.term);
            return Ok(Value { term, kind }.into());
        }
        let tmp = self.b.temp_for(kind);
        sa.push(self.b.terms().assign(tmp, va.term));
        sb.push(self.b.terms().assign(tmp, vb.term));
        self.branch(tc, sa, sb);
        let term = self.b.terms().var(tmp);
        Ok(Value { term, kind }.into())
    }

    /// A finished guard or invariant: its part on data, and its clock constraints and rates, one for each clock that can be meant.
    pub fn settled(&mut self, f: Formula, span: Span) -> Res<(TermId, Vec<ClockAtom>, Vec<Rate>)> {
        let mut data = vec![f.data];
        let (mut atoms, mut rates) = (Vec::new(), Vec::new());
        for atom in f.atoms {
            for (left, right, when) in self.pairs(&atom, span)? {
                if atom.rate {
                    rates.push(Rate { when, clock: left, rate: atom.bound });
                    continue;
                }
                if left != right {
                    atoms.push(ClockAtom { when, left, right, strict: atom.strict, bound: atom.bound });
                    continue;
                }
                // A clock compared with itself says something of data only.
                let holds = self.zero_fits(&atom);
                let holds = match when {
                    Some(w) => {
                        let not = self.b.terms().not(w);
                        self.b.terms().or([not, holds])
                    }
                    None => holds,
                };
                data.push(holds);
            }
        }
        Ok((self.b.terms().and(data), atoms, rates))
    }
}
