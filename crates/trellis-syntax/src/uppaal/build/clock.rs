//! Clocks: where they are declared, sums and differences with them, and what is asked of them.
//!
//! A clock constraint compares one clock, or the difference of two, with an integer of data. In guards and invariants it
//! becomes an [`Atom`] of a formula; in queries a truth value, for which a temporary stands. A clock whose index is known
//! only in the state is one of all clocks of its array, each `when` it is the one meant.
//!
//! Rates (`x' == e`, in invariants) take the same way: an [`Atom`] that is a `rate` says how fast its clock runs.
//!
//! What this deliberately does not do: clocks as numbers, constant rates other than 0 and 1, and clocks beside lattice
//! variables. All of that is refused by name and place.

use trellis_expr::{Term, TermId, VarId};
use trellis_model::network::ClockAtom;

use super::expr::{Denotes, Lower, Unit};
use super::formula::Formula;
use super::place::Place;
use super::scope::{Kind, Value};
use super::types::Ty;
use super::{Builder, Res, ast, syntax};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use ast::{BinOp, Expr};

/// More clocks than this are a mistake, not a model: a zone has a bound for each two of them.
const MAX_CLOCKS: usize = 1 << 12;

/// Why a clock is no number.
pub(crate) const NO_NUMBER: &str =
    "a clock has no integer value; compare it with one in a guard, an invariant or a query: `x <= 5`, `x - y < 3`";

/// A clock: one of several that lie side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockRef {
    pub first: u32,
    pub len: u32,
    pub index: TermId,
}

/// `plus - minus + by`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linear {
    pub plus: Option<ClockRef>,
    pub minus: Option<ClockRef>,
    pub by: TermId,
}

/// What an operator is applied to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand {
    Value(Value),
    Linear(Linear),
}

/// `left - right ≺ bound`, in states where `when` holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Atom {
    pub when: Option<TermId>,
    pub left: Option<ClockRef>,
    pub right: Option<ClockRef>,
    pub strict: bool,
    pub bound: TermId,
    /// `left' == bound` instead.
    pub rate: bool,
}

impl Builder<'_> {
    /// Adds clocks; answers the number of the first.
    pub fn add_clocks(&mut self, names: Vec<String>, span: Span) -> Res<u32> {
        self.first_clock.get_or_insert(span);
        let first = self.net.clocks.len() + 1;
        if first + names.len() > MAX_CLOCKS {
            return Err(self.report(
                Diagnostic::error(span, format!("there are more than {MAX_CLOCKS} clocks"))
                    .help("use smaller arrays or fewer processes"),
            ));
        }
        self.net.clocks.extend(names);
        Ok(first as u32)
    }

    /// Refuses what does not go together with clocks.
    pub fn check_timed(&mut self, nta: &ast::Nta) {
        if self.first_clock.is_none() {
            return;
        }
        let chan = nta.chan_priority.iter().flatten().next().map(|c| match c {
            ast::ChanRef::Default(span) => *span,
            ast::ChanRef::Chan(e) => e.span,
        });
        let process = nta.system.get(1).and_then(|group| group.first()).map(|name| name.span);
        if let Some(span) = chan.or(process).filter(|_| self.net.channels.iter().any(|c| c.urgent)) {
            let d = Diagnostic::warning(span, "urgent channels hold time up whatever the priorities are");
            self.report(d.help("a step over an urgent channel may have to wait for others, and time waits with it"));
        }
    }

    /// The temporary that stands for a clock constraint in queries.
    fn atom_var(&mut self, atom: ClockAtom) -> VarId {
        let key = (atom.left, atom.right, atom.strict, atom.bound);
        let var = match self.clock_atoms.get(&key) {
            Some(&var) => var,
            None => {
                let name = |n: u32| n.checked_sub(1).and_then(|i| self.net.clocks.get(i as usize)).map_or("0", |n| n);
                let sign = if atom.strict { "<" } else { "<=" };
                let bound = self.net.terms.as_int(atom.bound).map_or("…".into(), |n| n.to_string());
                let text = format!("{} - {} {sign} {bound}", name(atom.left), name(atom.right));
                let var = self.lone_temp(text);
                self.owe(16);
                self.clock_atoms.insert(key, var);
                var
            }
        };
        if !self.asks_clocks.iter().any(|(v, _)| *v == var) {
            self.asks_clocks.push((var, atom));
        }
        var
    }
}

impl Lower<'_, '_> {
    /// The clock at a place.
    pub fn clock(&mut self, p: &Place) -> Option<ClockRef> {
        let leaf = p.leaves.first().and_then(|v| self.b.leaves.get(v))?;
        let (first, len) = leaf.clocks.filter(|_| matches!(p.ty, Ty::Clock))?;
        Some(ClockRef { first, len, index: p.index })
    }

    /// A number, or a sum with clocks in it.
    pub fn operand(&mut self, e: &Expr) -> Res<Operand> {
        let found = self.denote(e)?;
        self.operand_of(found, e.span)
    }

    /// The same, of what an expression denotes.
    pub fn operand_of(&mut self, found: Denotes, span: Span) -> Res<Operand> {
        if let Denotes::Place(p) = &found
            && let Some(clock) = self.clock(p)
        {
            let by = self.b.int(0);
            return Ok(Operand::Linear(Linear { plus: Some(clock), minus: None, by }));
        }
        match found {
            Denotes::Linear(l) => Ok(Operand::Linear(l)),
            found => Ok(Operand::Value(self.value_of(found, span)?)),
        }
    }

    /// The operand as it was before the statements behind the mark.
    pub fn held_operand(&mut self, mark: usize, x: Operand) -> Operand {
        match x {
            Operand::Value(v) => Operand::Value(Value { term: self.held(mark, v), ..v }),
            Operand::Linear(l) => {
                let mut held = |c: Option<ClockRef>| c.map(|c| ClockRef { index: self.held_index(mark, c.index), ..c });
                let (plus, minus) = (held(l.plus), held(l.minus));
                Operand::Linear(Linear { plus, minus, by: self.held_index(mark, l.by) })
            }
        }
    }

    pub fn opposite(&mut self, l: Linear) -> Linear {
        Linear { plus: l.minus, minus: l.plus, by: self.b.terms().neg(l.by) }
    }

    /// An operator, at least one of whose operands has clocks in it.
    pub fn timed(&mut self, op: BinOp, [x, y]: [(Operand, Span); 2], span: Span) -> Res<Denotes> {
        let (a, b) = (self.linear(x)?, self.linear(y)?);
        match op {
            BinOp::Add => Ok(Denotes::Linear(self.sum(a, b, span)?)),
            BinOp::Sub => {
                let b = self.opposite(b);
                Ok(Denotes::Linear(self.sum(a, b, span)?))
            }
            BinOp::Lt | BinOp::Le | BinOp::Eq | BinOp::Ne | BinOp::Ge | BinOp::Gt => {
                let b = self.opposite(b);
                let sum = self.sum(a, b, span)?;
                self.compare(op, sum, span)
            }
            _ => Err(self.b.report(
                Diagnostic::error(span, "clocks can only be compared, and added or subtracted in comparisons")
                    .help(NO_NUMBER),
            )),
        }
    }

    fn linear(&mut self, (x, span): (Operand, Span)) -> Res<Linear> {
        match x {
            Operand::Linear(l) => Ok(l),
            Operand::Value(v) => {
                let by = self.convert(v, Kind::Int, span)?.term;
                Ok(Linear { plus: None, minus: None, by })
            }
        }
    }

    fn sum(&mut self, a: Linear, b: Linear, span: Span) -> Res<Linear> {
        if (a.plus.is_some() && b.plus.is_some()) || (a.minus.is_some() && b.minus.is_some()) {
            return Err(self
                .b
                .report(Diagnostic::error(span, "this adds two clocks, which zones cannot express").help(
                    "a constraint has one clock, or the difference of two: `x <= n`, `x - y < n`, `x <= y + n`",
                )));
        }
        let by = self.b.terms().add([a.by, b.by]);
        Ok(Linear { plus: a.plus.or(b.plus), minus: a.minus.or(b.minus), by: self.number(by, span)? })
    }

    /// `l op 0`
    fn compare(&mut self, op: BinOp, l: Linear, span: Span) -> Res<Denotes> {
        self.may_ask(span)?;
        let less = Atom {
            when: None,
            left: l.plus,
            right: l.minus,
            strict: false,
            bound: self.b.terms().neg(l.by),
            rate: false,
        };
        let more = Atom { left: l.minus, right: l.plus, bound: l.by, ..less };
        let atoms = match op {
            BinOp::Lt => vec![Atom { strict: true, ..less }],
            BinOp::Le => vec![less],
            BinOp::Gt => vec![Atom { strict: true, ..more }],
            BinOp::Ge => vec![more],
            _ => vec![less, more],
        };
        if self.unit == Unit::Query {
            let holds = atoms.iter().map(|a| self.asked(a, span)).collect::<Res<Vec<TermId>>>()?;
            let terms = self.b.terms();
            let all = terms.and(holds);
            let term = if op == BinOp::Ne { terms.not(all) } else { all };
            return Ok(Value { term, kind: Kind::Bool }.into());
        }
        if op == BinOp::Ne {
            return self.no_disjunction(span, "`!=` of clocks is less or greater, which is a disjunction");
        }
        Ok(Formula { data: self.b.terms().bool(true), atoms }.into())
    }

    /// `x' == e`
    pub fn rate(&mut self, of: &Expr, e: &Expr, span: Span) -> Res<Denotes> {
        if self.unit != Unit::Invariant || !self.calls.is_empty() {
            return self.err(span, "rates of clocks stand in invariants");
        }
        if self.is_left_out(of) && syntax::is_pure(e) {
            return Ok(Formula { data: self.b.terms().bool(true), atoms: Vec::new() }.into());
        }
        let clock = match self.denote(of)? {
            Denotes::Place(p) => self.clock(&p),
            _ => None,
        };
        let Some(clock) = clock else { return self.err(of.span, "only a clock has a rate") };
        let rate = self.integer(e)?;
        if let Some(n) = self.b.net.terms.as_int(rate).filter(|n| !(0..=1).contains(n)) {
            let d = Diagnostic::error(span, format!("a clock that runs at rate {n} is not supported"));
            return Err(self
                .b
                .report(d.help("symbolic questions can be asked of clocks that run (1) or stand still (0)")));
        }
        let atom = Atom { when: None, left: Some(clock), right: None, strict: false, bound: rate, rate: true };
        Ok(Formula { data: self.b.terms().bool(true), atoms: vec![atom] }.into())
    }

    /// May one ask about clocks here?
    fn may_ask(&mut self, span: Span) -> Res<()> {
        if let Some((f, _)) = self.calls.last() {
            let what = format!("function `{}` cannot look at clocks", shorten(&f.ast.name.name));
            let d = Diagnostic::error(span, what);
            return Err(self
                .b
                .report(d.help("write the constraint into the guard, the invariant or the query itself")));
        }
        let (what, help) = match self.unit {
            Unit::Guard | Unit::Invariant | Unit::Query => return Ok(()),
            Unit::Update => ("an update cannot look at clocks", "put the constraint into the guard of the edge"),
            Unit::Constant => ("a clock is not constant", "use numbers, `const` names and operators only"),
            Unit::Strategy => ("a joining strategy cannot look at clocks", "use data and lattice variables"),
        };
        Err(self.b.report(Diagnostic::error(span, what).help(help)))
    }

    /// `right - left ≺ -bound`, strict if the atom is not.
    pub fn opposite_atom(&mut self, a: Atom) -> Atom {
        Atom { left: a.right, right: a.left, strict: !a.strict, bound: self.b.terms().neg(a.bound), ..a }
    }

    /// The clocks that can be meant, each with its condition.
    pub fn choices(&mut self, c: Option<ClockRef>) -> Vec<(u32, Option<TermId>)> {
        let Some(ClockRef { first, len, index }) = c else { return vec![(0, None)] };
        match self.b.net.terms.as_int(index) {
            Some(i) if (0..i64::from(len)).contains(&i) => vec![(first + i as u32, None)],
            _ => {
                let is = |i: u32| {
                    let i_term = self.b.int(i64::from(i));
                    (first + i, Some(self.b.terms().eq(index, i_term)))
                };
                (0..len).map(is).collect()
            }
        }
    }

    /// The clocks that an atom can be about: left, right, and when.
    pub fn pairs(&mut self, atom: &Atom, span: Span) -> Res<Vec<(u32, u32, Option<TermId>)>> {
        let (lefts, rights) = (self.choices(atom.left), self.choices(atom.right));
        self.b.spend((lefts.len() * rights.len()) as u64, span)?;
        let mut all = Vec::new();
        for &(left, is_left) in &lefts {
            for &(right, is_right) in &rights {
                let parts: Vec<TermId> = [atom.when, is_left, is_right].into_iter().flatten().collect();
                let when = (!parts.is_empty()).then(|| self.b.terms().and(parts));
                let known = when.and_then(|w| self.b.net.terms.as_bool(w));
                let size = when.map_or(0, |w| self.b.limits.term(&self.b.net.terms, w));
                let size = size.saturating_add(self.b.limits.term(&self.b.net.terms, atom.bound));
                self.b.spend(size, span)?;
                if known != Some(false) {
                    all.push((left, right, when.filter(|_| known.is_none())));
                }
            }
        }
        Ok(all)
    }

    /// What an atom says when both clocks are the same.
    pub fn zero_fits(&mut self, atom: &Atom) -> TermId {
        let zero = self.b.int(0);
        let terms = self.b.terms();
        if atom.strict { terms.lt(zero, atom.bound) } else { terms.le(zero, atom.bound) }
    }

    /// Does the term need what the statements of a condition compute, or other clock constraints?
    fn is_computed(&self, t: TermId) -> bool {
        let computed = |v: &VarId| self.b.leaves.get(v).is_some_and(|l| !l.shared && l.value.is_none());
        self.b.net.terms.free_vars(t).iter().any(computed)
    }

    /// A clock constraint in a query, as a truth value.
    fn asked(&mut self, atom: &Atom, span: Span) -> Res<TermId> {
        // The constraint is settled before the statements of the condition run, so that it must not need them.
        if self.is_computed(atom.bound) {
            return Err(self.b.report(
                Diagnostic::error(
                    span,
                    "what a clock is compared with in a query must not need a function's statements",
                )
                .help("use variables, constants, operators, and functions that are one `return`"),
            ));
        }
        // Nor may it fault in states where nobody looks at it.
        let mut atom = *atom;
        if self.b.net.terms.may_fault(atom.bound) {
            let parts = |t: &TermId| match self.b.net.terms.get(*t) {
                Term::And(parts) => parts.to_vec(),
                _ => vec![*t],
            };
            let path: Vec<TermId> = self.path.iter().flat_map(parts).filter(|t| !self.is_computed(*t)).collect();
            let zero = self.b.int(0);
            let here = self.b.terms().and(path);
            atom.bound = self.b.terms().ite(here, atom.bound, zero);
        }
        let mut parts = Vec::new();
        for (left, right, when) in self.pairs(&atom, span)? {
            let holds = if left == right {
                self.zero_fits(&atom)
            } else {
                let asked = ClockAtom { when: None, left, right, strict: atom.strict, bound: atom.bound };
                let var = self.b.atom_var(asked);
                self.b.terms().var(var)
            };
            parts.push(match when {
                Some(w) => self.b.terms().and([w, holds]),
                None => holds,
            });
        }
        Ok(self.b.terms().or(parts))
    }
}
