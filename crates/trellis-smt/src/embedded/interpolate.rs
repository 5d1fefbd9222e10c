//! Sequence interpolants from certificates (DESIGN §2).
//!
//! For formulas `f₁ … fₙ` that contradict each other: formulas `i₀ = true, i₁, …, iₙ = false` such that `iₖ₋₁ ∧ fₖ` implies `iₖ`, and `iₖ`
//! speaks only of variables on both sides of `k`. Each is an interpolant of `A = iₖ₋₁ ∧ fₖ` and `B = fₖ₊₁ ∧ … ∧ fₙ`, found cube by cube: a
//! cube of `A` is a model's literals, cut down to those that contradict `B`; against each cube of `B` a contradiction of bounds
//! gives the sum of the bounds on `A`'s side (Farkas). The interpolant is the disjunction over `A`'s cubes of the conjunctions
//! over `B`'s. Splits on whole numbers are joined by ∨ if they are on `A`'s side, and by ∧ otherwise.
//!
//! Each formula is translated by itself, so whatever the translation introduces belongs to one side. Arrays by instantiation do not keep
//! to that and are refused; words are numbers here, so that interpolants about them are as well. Nothing here is trusted:
//! `path::check_triples` checks what comes out.

use std::collections::BTreeMap;

use dashu_int::IBig;
use dashu_int::ops::DivRemEuclid;
use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::eval::Valuation;
use trellis_expr::{Division, TermId, Terms, Type};

use super::integer::{Found, Proof, SPLIT, no_integer_solution};
use super::lower::{Code, Lowering};
use super::rat::Rat;
use super::sat::{Lit, Outcome};
use super::simplex::{Column, Farkas, Side, Why};
use crate::{Meter, Reason};

/// Why there are no interpolants.
#[derive(Debug, Clone, PartialEq)]
pub enum NoInterpolants {
    /// The formulas go together.
    Satisfiable(Valuation),
    /// Not decided, or not within the means of this procedure.
    Unknown(Reason),
}

/// At most so many cubes for one interpolant.
const CUBES: usize = 300;
const SPLITS: u64 = 2_000;
/// Of so many equations it is asked whether they have an integer solution.
const EQUATIONS: usize = 60;

/// Interpolants of formulas that contradict each other; one more than there are formulas.
pub fn interpolants(terms: &mut Terms, formulas: &[TermId], limits: &Meter) -> Result<Vec<TermId>, NoInterpolants> {
    let mut s = Sequence::new(terms, formulas, limits)?;
    let needed = s.core(terms)?;
    let mut last = Itp::Bound(BTreeMap::new(), IBig::ZERO);
    let mut out = vec![terms.bool(true)];
    for k in 0..formulas.len() {
        if k + 1 == formulas.len() {
            out.push(terms.bool(false));
        } else if needed[k] {
            last = s.interpolant(k, &last, &needed)?;
            let t = s.term(terms, &last);
            out.push(t);
        } else {
            out.push(*out.last().expect("not empty"));
        }
    }
    Ok(out)
}

/// An interpolant in the making, over what is shared.
#[derive(Clone, Debug)]
enum Itp {
    /// A bit or truth value of a variable, or a bound on one.
    Lit(Lit),
    /// A sum is at most this.
    Bound(BTreeMap<Column, IBig>, IBig),
    /// A sum leaves this remainder when divided by the last number.
    Remainder(BTreeMap<Column, IBig>, IBig, IBig),
    And(Vec<Itp>),
    Or(Vec<Itp>),
}

struct Part {
    holds: Lit,
    inputs: Vec<Lit>,
}

struct Sequence<'a> {
    state: Lowering,
    parts: Vec<Part>,
    /// The first and the last part that mentions a column; a sum has none.
    span: FxHashMap<Column, (usize, usize)>,
    /// What a literal or column of a variable is called.
    lits: FxHashMap<Lit, TermId>,
    columns: FxHashMap<Column, TermId>,
    /// The part after which an interpolant is sought.
    position: usize,
    limits: &'a Meter,
}

#[derive(Clone, Copy, PartialEq)]
enum Belongs {
    A,
    B,
    Both,
}

impl<'a> Sequence<'a> {
    fn new(terms: &mut Terms, formulas: &[TermId], limits: &'a Meter) -> Result<Sequence<'a>, NoInterpolants> {
        let mut s = Sequence {
            state: Lowering::default(),
            parts: vec![],
            span: FxHashMap::default(),
            lits: FxHashMap::default(),
            columns: FxHashMap::default(),
            position: 0,
            limits,
        };
        s.state.numbers = true;
        for (k, &f) in formulas.iter().enumerate() {
            s.state.forget();
            let before = s.state.lia.forms.simplex.columns() as Column;
            let unsupported = |what| NoInterpolants::Unknown(Reason::Unsupported(what));
            let holds = s.state.holds(terms, f).map_err(unsupported)?;
            for v in terms.free_vars(f) {
                let mut used = vec![];
                match s.state.vars.get(&v) {
                    Some(Code::Map(_)) => return Err(unsupported("interpolants of arrays over many indexes".into())),
                    Some(code) => code.columns(&mut used),
                    None => {}
                }
                for c in used {
                    s.span.entry(c).or_insert((k, k)).1 = k;
                }
            }
            for c in before..s.state.lia.forms.simplex.columns() as Column {
                if s.state.lia.forms.simplex.definition(c).is_none() {
                    s.span.entry(c).or_insert((k, k));
                }
            }
            let mut inputs: Vec<Lit> = s.state.inputs.iter().map(|l| Lit::of(l.var(), true)).collect();
            inputs.sort_unstable();
            inputs.dedup();
            inputs.retain(|&l| l != Lit::TRUE);
            s.parts.push(Part { holds, inputs });
        }
        for (v, code) in s.state.vars.clone() {
            let t = terms.var(v);
            s.name(terms, t, terms.variable(v).ty, &code);
        }
        Ok(s)
    }

    /// Remembers what the parts of a variable are called.
    fn name(&mut self, terms: &mut Terms, t: TermId, ty: Type, code: &Code) {
        match (ty, code) {
            (_, Code::Bool(l)) => _ = self.lits.insert(*l, t),
            (_, Code::Int(l)) => {
                let number = terms.convert(Type::Int, t);
                self.columns.insert(l.terms[0].0, number);
            }
            (Type::Enum(e), Code::Word(w)) => {
                for (i, &l) in w.iter().enumerate() {
                    let mut some = vec![];
                    for n in (0..terms.enumeration(e).literals.len() as u32).filter(|n| n >> i & 1 == 1) {
                        let value = terms.enum_lit(e, n);
                        some.push(terms.eq(t, value));
                    }
                    let bit = terms.or(some);
                    self.lits.insert(l, bit);
                }
            }
            (Type::Array(index, entry), Code::Array(entries)) => {
                let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
                for (i, e) in entries.iter().enumerate() {
                    let at = super::lower::index_value(index, i);
                    let at = terms.literal(&at).expect("an index is a scalar");
                    let select = terms.select(t, at);
                    self.name(terms, select, entry, e);
                }
            }
            _ => {}
        }
    }

    /// Which formulas suffice for the contradiction.
    fn core(&mut self, terms: &Terms) -> Result<Vec<bool>, NoInterpolants> {
        let mut assumed: Vec<Lit> = self.parts.iter().map(|p| p.holds).collect();
        loop {
            let inputs: Vec<Lit> = self.parts.iter().flat_map(|p| p.inputs.iter().copied()).collect();
            match self.solve(&assumed, &inputs, |state| {
                state.vars.iter().map(|(&v, code)| (v, state.value(terms, terms.variable(v).ty, code))).collect()
            })? {
                Ok(model) => return Err(NoInterpolants::Satisfiable(model)),
                Err(core) if core.len() >= assumed.len() => break,
                Err(core) => assumed = core,
            }
        }
        let core: FxHashSet<Lit> = assumed.into_iter().collect();
        Ok(self.parts.iter().map(|p| core.contains(&p.holds)).collect())
    }

    /// Solves, deciding only these variables. `Ok` is what `found` makes of the model, `Err` the core.
    fn solve<T>(
        &mut self,
        assumptions: &[Lit],
        inputs: &[Lit],
        found: impl FnOnce(&Lowering) -> T,
    ) -> Result<Result<T, Vec<Lit>>, NoInterpolants> {
        let sat = &mut self.state.gates.sat;
        for v in 0..sat.variables() {
            sat.set_decided(v, false);
        }
        for l in inputs {
            sat.set_decided(l.var(), true);
        }
        let limits = self.limits.clone();
        let outcome = sat.solve(assumptions, &mut self.state.lia, move |steps| limits.exceeded(steps).is_some());
        let answer = match outcome {
            Outcome::Sat => Ok(found(&self.state)),
            Outcome::Unsat(core) => Err(core),
            Outcome::Stopped | Outcome::GaveUp => {
                self.state.gates.sat.reset(&mut self.state.lia);
                return Err(self.gave_up());
            }
        };
        self.state.gates.sat.reset(&mut self.state.lia);
        Ok(answer)
    }

    fn gave_up(&self) -> NoInterpolants {
        NoInterpolants::Unknown(self.limits.exceeded(0).map_or(Reason::Steps, Reason::from))
    }

    /// The values of literals in a model.
    fn cube(state: &Lowering, inputs: &[Lit]) -> Vec<Lit> {
        let value = |&l: &Lit| state.gates.sat.value(l).map(|v| if v { l } else { !l });
        inputs.iter().filter_map(value).collect()
    }

    /// The interpolant after part `k`, given the one before it.
    fn interpolant(&mut self, k: usize, before: &Itp, needed: &[bool]) -> Result<Itp, NoInterpolants> {
        self.position = k;
        let mut a_inputs = self.parts[k].inputs.clone();
        let before = self.lower(before, &mut a_inputs);
        let mut a_roots = vec![before, self.parts[k].holds];
        let mut b_inputs: Vec<Lit> = vec![];
        let mut b_roots: Vec<Lit> = vec![];
        for (part, _) in self.parts.iter().zip(needed).skip(k + 1).filter(|(_, n)| **n) {
            b_roots.push(part.holds);
            b_inputs.extend(&part.inputs);
        }
        let mut cubes = vec![];
        let mut count = 0;
        while let Ok(a) = self.solve(&a_roots, &a_inputs.clone(), |s| Self::cube(s, &a_inputs))? {
            let mut assumed = b_roots.clone();
            assumed.extend(&a);
            let Err(core) = self.solve(&assumed, &b_inputs.iter().chain(&a).copied().collect::<Vec<_>>(), |_| ())?
            else {
                // The interpolant before is one, so this cannot be; leave it to those who check.
                return Err(NoInterpolants::Unknown(Reason::Steps));
            };
            let a: Vec<Lit> = a.into_iter().filter(|l| core.contains(l)).collect();
            let mut parts = vec![];
            let (mut roots, mut inputs) = (b_roots.clone(), b_inputs.clone());
            while let Ok(b) = self.solve(&roots, &inputs.clone(), |s| Self::cube(s, &b_inputs))? {
                count += 1;
                if count > CUBES {
                    return Err(self.gave_up());
                }
                let part = self.between_cubes(k, &a, &b)?;
                roots.push(self.lower(&part, &mut inputs));
                parts.push(part);
            }
            let cube = if parts.len() == 1 { parts.remove(0) } else { Itp::And(parts) };
            a_roots.push(!self.lower(&cube, &mut a_inputs));
            cubes.push(cube);
        }
        Ok(if cubes.len() == 1 { cubes.remove(0) } else { Itp::Or(cubes) })
    }

    /// The literal of an interpolant, and what it depends on.
    fn lower(&mut self, itp: &Itp, inputs: &mut Vec<Lit>) -> Lit {
        match itp {
            Itp::Lit(l) => {
                inputs.push(*l);
                *l
            }
            Itp::Bound(form, most) => {
                let terms = form.iter().map(|(c, k)| (*c, k.clone())).collect();
                let linear = super::linear::Linear { terms, constant: -most };
                let l = self.state.at_most_zero(&linear);
                inputs.push(l);
                l
            }
            Itp::Remainder(form, rest, divisor) => {
                let terms = form.iter().map(|(c, k)| (*c, k.clone())).collect();
                let linear = super::linear::Linear { terms, constant: -rest };
                let before = self.state.lia.forms.simplex.columns() as Column;
                let used = self.state.inputs.len();
                let l = self.state.divides(divisor, &linear);
                // What is new belongs to the formula that the interpolant is a part of.
                for c in before..self.state.lia.forms.simplex.columns() as Column {
                    if self.state.lia.forms.simplex.definition(c).is_none() {
                        self.span.insert(c, (self.position, self.position));
                    }
                }
                inputs.extend_from_slice(&self.state.inputs[used..]);
                l
            }
            Itp::And(parts) => {
                let lits: Vec<Lit> = parts.iter().map(|p| self.lower(p, inputs)).collect();
                self.state.gates.and(lits)
            }
            Itp::Or(parts) => {
                let lits: Vec<Lit> = parts.iter().map(|p| self.lower(p, inputs)).collect();
                self.state.gates.or(lits)
            }
        }
    }

    /// On which side of the cut after part `k` a column is.
    fn side(span: &FxHashMap<Column, (usize, usize)>, k: usize, c: Column) -> Belongs {
        match span.get(&c) {
            Some(&(_, last)) if last <= k => Belongs::A,
            Some(&(first, _)) if first > k => Belongs::B,
            _ => Belongs::Both,
        }
    }

    /// The side of a sum: that of the variables in it which are not shared. Sums across both sides are never made.
    fn side_of(&self, k: usize, c: Column) -> Belongs {
        match self.state.lia.forms.simplex.definition(c) {
            None => Self::side(&self.span, k, c),
            Some(form) => form
                .iter()
                .map(|(c, _)| Self::side(&self.span, k, *c))
                .find(|s| *s != Belongs::Both)
                .unwrap_or(Belongs::Both),
        }
    }

    /// An interpolant of two conjunctions of literals that contradict each other.
    fn between_cubes(&mut self, k: usize, a: &[Lit], b: &[Lit]) -> Result<Itp, NoInterpolants> {
        let in_b: FxHashSet<Lit> = b.iter().copied().collect();
        if let Some(&l) = a.iter().find(|&&l| in_b.contains(&!l)) {
            return Ok(Itp::Lit(l));
        }
        let in_a: FxHashSet<Lit> = a.iter().copied().collect();
        let lia = &mut self.state.lia;
        let mark = lia.forms.simplex.mark();
        let mut found = None;
        for &l in a.iter().chain(b) {
            let Some((column, side, value)) = lia.bound_of(l) else { continue };
            if let Err(f) = lia.forms.simplex.set(column, side, value, Why(l.0)) {
                found = Some(Found::None(Proof::Leaf(f)));
                break;
            }
        }
        let equations = if found.is_none() { self.of_equations(k, &in_a, &in_b) } else { None };
        let found = found.unwrap_or_else(|| {
            if equations.is_some() {
                return Found::GaveUp;
            }
            let span = &self.span;
            let allowed = |form: &[(Column, IBig)]| {
                let on = |side| form.iter().any(|(c, _)| Self::side(span, k, *c) == side);
                !(on(Belongs::A) && on(Belongs::B))
            };
            let limits = self.limits;
            self.state.lia.forms.integers_by(SPLITS, &allowed, &mut || limits.exceeded(0).is_some())
        });
        self.state.lia.forms.simplex.undo_to(mark);
        self.state.lia.disturbed();
        match found {
            Found::None(proof) => self.of_proof(k, &proof, &in_a, &in_b),
            Found::Solution | Found::GaveUp => equations.ok_or_else(|| self.gave_up()),
        }
    }

    fn of_proof(
        &self,
        k: usize,
        proof: &Proof,
        in_a: &FxHashSet<Lit>,
        in_b: &FxHashSet<Lit>,
    ) -> Result<Itp, NoInterpolants> {
        match proof {
            Proof::Leaf(f) => self.of_leaf(k, f, in_a, in_b),
            Proof::Divisor(..) => unreachable!("proofs for interpolants are written in full"),
            Proof::Split { column, low, high, .. } => {
                let side = self.side_of(k, *column);
                let low = self.of_proof(k, low, in_a, in_b)?;
                let high = self.of_proof(k, high, in_a, in_b)?;
                Ok(if side == Belongs::A { Itp::Or(vec![low, high]) } else { Itp::And(vec![low, high]) })
            }
        }
    }

    /// Is the bound on `A`'s side?
    fn is_of_a(&self, k: usize, column: Column, why: Why, in_a: &FxHashSet<Lit>, in_b: &FxHashSet<Lit>) -> bool {
        if why == Why::ALWAYS || why.0 & SPLIT != 0 {
            self.side_of(k, column) == Belongs::A
        } else {
            in_a.contains(&Lit(why.0)) || (!in_b.contains(&Lit(why.0)) && self.side_of(k, column) == Belongs::A)
        }
    }

    /// If the equations alone have no integer solution: what `A`'s say about the shared variables, which is a remainder (Jain, Clarke,
    /// Grumberg, "Efficient Craig interpolation for linear Diophantine equations and linear modular equations", CAV 2008).
    fn of_equations(&self, k: usize, in_a: &FxHashSet<Lit>, in_b: &FxHashSet<Lit>) -> Option<Itp> {
        let simplex = &self.state.lia.forms.simplex;
        let (mut rows, mut of_a) = (vec![], vec![]);
        for c in 0..simplex.columns() as Column {
            let (Some(l), Some(u)) = (simplex.bound(c, Side::Lower), simplex.bound(c, Side::Upper)) else { continue };
            let side = self.is_of_a(k, c, l.why, in_a, in_b);
            if l.value != u.value || self.is_of_a(k, c, u.why, in_a, in_b) != side {
                continue;
            }
            let own = [(c, Rat::ONE)];
            let form = simplex.definition(c).unwrap_or(&own).iter().map(|(c, k)| (*c, k.numerator())).collect();
            rows.push((form, l.value.numerator()));
            of_a.push(side);
            if rows.len() > EQUATIONS {
                return None;
            }
        }
        let factors = no_integer_solution(&rows)?.factors;
        let mut sum: BTreeMap<Column, Rat> = BTreeMap::new();
        let mut value = Rat::ZERO;
        for ((form, b), (factor, _)) in
            rows.iter().zip(factors.iter().zip(&of_a).map(|(f, &a)| (f, a))).filter(|r| r.1.1)
        {
            value.add_product(factor, &Rat::from(b));
            for (c, e) in form {
                sum.entry(*c).or_insert(Rat::ZERO).add_product(factor, &Rat::from(e));
            }
        }
        // Whole multiples of whole numbers do not matter; all that A has for itself is of that kind.
        sum.retain(|_, k| !k.is_integer());
        if sum.keys().any(|c| Self::side(&self.span, k, *c) != Belongs::Both || !self.columns.contains_key(c)) {
            return None;
        }
        let divisor = sum.values().chain([&value]).fold(IBig::ONE, |m, k| {
            let d = k.denominator();
            let g = super::rat::gcd_of([&m, &d]);
            m / g * d
        });
        let scale = Rat::from(&divisor);
        let whole = |r: &Rat| (r * &scale).numerator();
        let form = sum.iter().map(|(c, k)| (*c, whole(k).div_rem_euclid(&divisor).1.into())).collect();
        Some(Itp::Remainder(form, whole(&value).div_rem_euclid(&divisor).1.into(), divisor))
    }

    /// The sum of the bounds on `A`'s side.
    fn of_leaf(
        &self,
        k: usize,
        f: &Farkas,
        in_a: &FxHashSet<Lit>,
        in_b: &FxHashSet<Lit>,
    ) -> Result<Itp, NoInterpolants> {
        let simplex = &self.state.lia.forms.simplex;
        let mut sum: BTreeMap<Column, Rat> = BTreeMap::new();
        let mut most = Rat::ZERO;
        for p in &f.0 {
            let of_a = self.is_of_a(k, p.column, p.why, in_a, in_b);
            if !of_a {
                continue;
            }
            let factor = if p.side == Side::Upper { p.factor.clone() } else { -&p.factor };
            most.add_product(&factor, &p.bound);
            let own = [(p.column, Rat::ONE)];
            for (c, e) in simplex.definition(p.column).unwrap_or(&own) {
                sum.entry(*c).or_insert(Rat::ZERO).add_product(&factor, e);
            }
        }
        sum.retain(|_, k| !k.is_zero());
        if sum.keys().any(|c| Self::side(&self.span, k, *c) != Belongs::Both || !self.columns.contains_key(c)) {
            // Something that is not shared did not cancel out.
            return Err(self.gave_up());
        }
        // In whole numbers, and rounded: the sum is one.
        let scale = sum.values().fold(IBig::ONE, |m, k| {
            let d = k.denominator();
            let g = super::rat::gcd_of([&m, &d]);
            m / g * d
        });
        let whole: BTreeMap<Column, IBig> =
            sum.iter().map(|(c, k)| (*c, (k * &Rat::from(&scale)).numerator())).collect();
        let most = (&most * &Rat::from(&scale)).floor().numerator();
        let g = super::rat::gcd_of(whole.values());
        if g <= IBig::ONE {
            return Ok(Itp::Bound(whole, most));
        }
        Ok(Itp::Bound(whole.into_iter().map(|(c, k)| (c, k / &g)).collect(), most.div_rem_euclid(&g).0))
    }

    /// The interpolant as a term.
    fn term(&self, terms: &mut Terms, itp: &Itp) -> TermId {
        match itp {
            Itp::Lit(l) => {
                let positive = Lit::of(l.var(), true);
                let t = match (self.lits.get(&positive), self.lits.get(&!positive), self.state.lia.bound_of(positive)) {
                    (Some(&t), ..) => t,
                    (_, Some(&t), _) => terms.not(t),
                    (_, _, Some((column, _, most))) => {
                        let own = [(column, Rat::ONE)];
                        let form = self.state.lia.forms.simplex.definition(column).unwrap_or(&own);
                        let form = form.iter().map(|(c, k)| (*c, k.numerator())).collect();
                        self.bound(terms, &form, &most.numerator())
                    }
                    _ => unreachable!("a shared literal is one of a variable or a bound"),
                };
                if l.positive() { t } else { terms.not(t) }
            }
            Itp::Bound(form, most) => self.bound(terms, form, most),
            Itp::Remainder(form, rest, divisor) => {
                let parts: Vec<TermId> = form
                    .iter()
                    .map(|(c, k)| {
                        let k = terms.big(k.clone());
                        terms.mul(k, self.columns[c])
                    })
                    .collect();
                let sum = if parts.is_empty() { terms.int(0) } else { terms.add(parts) };
                let (rest, divisor) = (terms.big(rest.clone()), terms.big(divisor.clone()));
                let remainder = terms.rem(Division::Euclidean, sum, divisor);
                terms.eq(remainder, rest)
            }
            Itp::And(parts) => {
                let parts: Vec<TermId> = parts.iter().map(|p| self.term(terms, p)).collect();
                terms.and(parts)
            }
            Itp::Or(parts) => {
                let parts: Vec<TermId> = parts.iter().map(|p| self.term(terms, p)).collect();
                terms.or(parts)
            }
        }
    }

    /// `Σ ≤ most`, with what is subtracted on the other side.
    fn bound(&self, terms: &mut Terms, form: &BTreeMap<Column, IBig>, most: &IBig) -> TermId {
        let (mut left, mut right) = (vec![], vec![]);
        for (c, k) in form {
            let v = self.columns[c];
            let side = if *k > IBig::ZERO { &mut left } else { &mut right };
            let k = terms.big(if *k > IBig::ZERO { k.clone() } else { -k });
            side.push(terms.mul(k, v));
        }
        if left.is_empty() && !right.is_empty() {
            // −x ≤ 3 reads better as −3 ≤ x.
            left.push(terms.big(-most));
        } else {
            right.push(terms.big(most.clone()));
        }
        let zero = terms.int(0);
        let (l, r) = (
            if left.is_empty() { zero } else { terms.add(left) },
            if right.is_empty() { zero } else { terms.add(right) },
        );
        terms.le(l, r)
    }
}
