//! Interpolants by looking at models: for formulas `A` and `B` that contradict each other a formula that `A` implies and that contradicts `B`,
//! over the variables allowed.
//!
//! A model of `A` is a point; the literals that are true of it are cut down to few that still contradict `B`, and their bounds are
//! moved outwards as far as that stays so. The next model lies outside, until there is none; the interpolant is the disjunction. Literals
//! come from `B` itself, from comparing two variables, and from the values alone. On infinitely many models it may never end, so
//! there is a budget.

use std::collections::BTreeSet;

use dashu_int::IBig;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Term, TermId, Terms, Type, Value, VarId};

use crate::affine::{Affine, Form};
use crate::tidy::tidy;
use crate::{Answer, Meter, Reason, Solver};

/// At most so many questions to the solver.
const QUESTIONS: usize = 600;
/// Arrays with at most so many entries are looked at one by one.
const ENTRIES: usize = 16;
/// A bound is moved at most so often.
const MOVES: usize = 12;

/// A literal that is true of a model.
#[derive(Clone)]
enum Said {
    /// As it is.
    Plain(TermId),
    /// The form is at most (or at least) the number.
    Bound { form: Form, upper: bool, n: IBig },
}

impl Said {
    fn term(&self, terms: &mut Terms) -> TermId {
        match self {
            Said::Plain(t) => *t,
            Said::Bound { form, upper: true, n } => form.at_most(terms, n),
            Said::Bound { form, upper: false, n } => form.at_least(terms, n),
        }
    }
}

/// A formula over the shared variables that all of `a` together imply, and that contradicts all of `b`.
pub(super) fn interpolant(
    terms: &mut Terms,
    a: &[TermId],
    b: &[TermId],
    shared: &BTreeSet<VarId>,
    solver: &mut dyn Solver,
    limits: &Meter,
) -> Result<TermId, Reason> {
    let atoms = atoms(terms, b, shared);
    let mut search = Search { terms, b, solver, limits, questions: 0 };
    let mut cubes = vec![];
    let mut outside = a.to_vec();
    loop {
        let model = match search.check(&outside)? {
            Err(model) => model,
            Ok(_) => {
                let whole = search.terms.or(cubes);
                return Ok(tidy(search.terms, whole));
            }
        };
        let cube = search.cube(&atoms, shared, &model)?;
        outside.push(search.terms.not(cube));
        cubes.push(cube);
    }
}

/// The atoms of formulas that speak of these variables only, and cannot fault.
fn atoms(terms: &Terms, formulas: &[TermId], shared: &BTreeSet<VarId>) -> Vec<TermId> {
    let fits = |&t: &TermId| {
        let atom = matches!(terms.get(t), Term::Eq(..) | Term::Lt(..) | Term::Le(..) | Term::Select(..));
        atom && terms.ty(t) == Type::Bool && !terms.may_fault(t) && terms.free_vars(t).is_subset(shared)
    };
    terms.subterms(formulas.iter().copied()).into_iter().filter(fits).collect()
}

struct Search<'a> {
    terms: &'a mut Terms,
    b: &'a [TermId],
    solver: &'a mut dyn Solver,
    limits: &'a Meter,
    questions: usize,
}

impl Search<'_> {
    /// Those that suffice for a contradiction, or a model.
    fn check(&mut self, assumed: &[TermId]) -> Result<Result<Vec<usize>, Valuation>, Reason> {
        self.questions += 1;
        if self.questions > QUESTIONS {
            return Err(Reason::Steps);
        }
        match self.solver.check(self.terms, assumed, self.limits) {
            Answer::Unsat(core) => Ok(Ok(core)),
            Answer::Sat(model) => Ok(Err(model)),
            Answer::Unknown(reason) => Err(reason),
        }
    }

    /// Literals that are true of the model and contradict `b`, as few and as wide as is cheap.
    fn cube(&mut self, atoms: &[TermId], shared: &BTreeSet<VarId>, model: &Valuation) -> Result<TermId, Reason> {
        let related = self.relations(atoms, shared, model);
        let values = self.values(shared, model);
        // Relations say more about other models than values do, so they come first.
        let mut literals = related.clone();
        let mut core = self.contradicts(&literals)?.ok();
        if core.is_none() {
            literals.extend(values);
            core = self.contradicts(&literals)?.ok();
        }
        let Some(core) = core else {
            return Err(Reason::Unsupported("an interpolant over arrays like these".to_owned()));
        };
        let mut literals: Vec<Said> = core.into_iter().map(|i| literals[i].clone()).collect();
        // From the end: values go before relations.
        let mut k = literals.len();
        while k > 0 {
            k -= 1;
            let mut less = literals.clone();
            let dropped = less.remove(k);
            match self.contradicts(&less)? {
                Ok(core) => {
                    k = core.iter().filter(|&&i| i < k).count();
                    literals = core.into_iter().map(|i| less[i].clone()).collect();
                }
                Err(other) => literals[k] = self.widened(&literals, k, dropped, other)?,
            }
        }
        let parts: Vec<TermId> = literals.iter().map(|l| l.term(self.terms)).collect();
        Ok(self.terms.and(parts))
    }

    /// Do the literals contradict `b`? Those that do, or a model where they do not.
    fn contradicts(&mut self, literals: &[Said]) -> Result<Result<Vec<usize>, Valuation>, Reason> {
        let mut assumed: Vec<TermId> = literals.iter().map(|l| l.term(self.terms)).collect();
        assumed.extend(self.b);
        let answer = self.check(&assumed)?;
        Ok(answer.map(|core| core.into_iter().filter(|&i| i < literals.len()).collect()))
    }

    /// Moves a bound that is needed outwards: it cannot reach what a model has where the bound is missing.
    fn widened(&mut self, literals: &[Said], k: usize, said: Said, beyond: Valuation) -> Result<Said, Reason> {
        let Said::Bound { form, upper, mut n } = said else { return Ok(said) };
        let direction = if upper { IBig::ONE } else { -IBig::ONE };
        let mut far = beyond;
        for _ in 0..MOVES {
            let Some(value) = self.value(&form, &far) else { break };
            // The bound may lie anywhere from n up to (not including) the value.
            let gap = (&value - &n) * &direction;
            if gap <= IBig::ONE {
                break;
            }
            let n_new = &n + (gap / IBig::from(2)) * &direction;
            let mut wider = literals.to_vec();
            wider[k] = Said::Bound { form: form.clone(), upper, n: n_new.clone() };
            match self.contradicts(&wider)? {
                Ok(_) => n = n_new,
                Err(model) => far = model,
            }
        }
        Ok(Said::Bound { form, upper, n })
    }

    fn value(&mut self, form: &Form, model: &Valuation) -> Option<IBig> {
        let t = form.affine().term(self.terms);
        eval(self.terms, t, model, &mut NoHost).ok().map(|value| value.number())
    }

    /// Atoms and comparisons of two variables, as they are in the model. A variable that the model leaves open has no relations.
    fn relations(&mut self, atoms: &[TermId], shared: &BTreeSet<VarId>, model: &Valuation) -> Vec<Said> {
        let mut all = vec![];
        for &t in atoms {
            if let Ok(Value::Bool(sign)) = eval(self.terms, t, model, &mut NoHost) {
                let t = if sign { t } else { self.terms.not(t) };
                let t = tidy(self.terms, t);
                all.push(Said::Plain(t));
            }
        }
        let known: Vec<VarId> = shared.iter().copied().filter(|v| model.contains_key(v)).collect();
        for &v in &known {
            if let Value::Bool(_) | Value::Enum(..) = model[&v] {
                all.extend(self.equals(v, &model[&v]).map(Said::Plain));
            }
        }
        for (k, &v) in known.iter().enumerate() {
            for &w in &known[k + 1..] {
                let (x, y) = (self.terms.var(v), self.terms.var(w));
                let (a, b) = (self.terms.ty(x), self.terms.ty(y));
                if a == Type::Int && b == Type::Int {
                    let difference = Affine::of(self.terms, x).plus(&Affine::of(self.terms, y), &-IBig::ONE);
                    all.extend(bounds(&difference, &(model[&v].number() - model[&w].number())));
                } else if a == b && a != Type::Bool && model[&v] == model[&w] {
                    all.push(Said::Plain(self.terms.eq(x, y)));
                }
            }
        }
        all
    }

    /// What the values of the variables are.
    fn values(&mut self, shared: &BTreeSet<VarId>, model: &Valuation) -> Vec<Said> {
        let mut all = vec![];
        for &v in shared {
            let Some(value) = model.get(&v) else { continue };
            let var = self.terms.var(v);
            match value {
                Value::Int(n) => all.extend(bounds(&Affine::of(self.terms, var), n)),
                Value::Bits { .. } => {
                    let n = self.terms.literal(value).expect("a word is a literal");
                    all.push(Said::Plain(self.terms.le(var, n)));
                    all.push(Said::Plain(self.terms.le(n, var)));
                }
                Value::Array(_) => all.extend(self.entries(v, model)),
                Value::Bool(_) | Value::Enum(..) => {}
            }
        }
        all
    }

    fn equals(&mut self, v: VarId, value: &Value) -> Option<TermId> {
        let (var, value) = (self.terms.var(v), self.terms.literal(value)?);
        Some(self.terms.eq(var, value))
    }

    /// The entries of a small array.
    fn entries(&mut self, v: VarId, model: &Valuation) -> Vec<Said> {
        let Type::Array(index, _) = self.terms.variable(v).ty else { return vec![] };
        let indexes = Value::all(self.terms, self.terms.type_of_id(index), ENTRIES).unwrap_or_default();
        let mut all = vec![];
        for i in indexes {
            let (Value::Array(array), Some(at)) = (&model[&v], self.terms.literal(&i)) else { continue };
            let value = array.get(&i).clone();
            let (var, Some(literal)) = (self.terms.var(v), self.terms.literal(&value)) else { continue };
            let entry = self.terms.select(var, at);
            match value {
                Value::Int(n) => all.extend(bounds(&Affine::of(self.terms, entry), &n)),
                _ => all.push(Said::Plain(self.terms.eq(entry, literal))),
            }
        }
        all
    }
}

/// The sum is this number: at most and at least.
fn bounds(sum: &Affine, n: &IBig) -> Vec<Said> {
    let form = Form(sum.factors.iter().map(|(&leaf, n)| (leaf, n.clone())).collect());
    let first_negative = form.0.first().is_some_and(|(_, n)| *n < IBig::ZERO);
    let (form, n) = match first_negative {
        true => (Form(form.0.into_iter().map(|(leaf, n)| (leaf, -n)).collect()), -n),
        false => (form, n.clone()),
    };
    [true, false].map(|upper| Said::Bound { form: form.clone(), upper, n: n.clone() }).to_vec()
}
