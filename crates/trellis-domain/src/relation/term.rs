//! Terms as relations: a condition is where it holds, another expression is a list of values, each with where it has it.

use rustc_hash::FxHashMap;
use trellis_expr::{Division, Term, TermId, Terms, VarId};

use super::{Error, Made, Relation, Space};

/// How many values one expression may have.
const MAX_VALUES: usize = 4096;

/// The values of an expression, each with where it has it. They do not overlap; where there is none, a code has no meaning.
pub type Values = Vec<(i64, Relation)>;

/// Either.
#[derive(Clone)]
enum Side {
    Condition(Relation),
    Values(Values),
}

/// Terms over a space: which variable and which copy of it a variable of the terms is.
pub struct Reader<'s> {
    space: &'s Space,
    place: &'s dyn Fn(VarId) -> Option<(usize, usize)>,
    known: FxHashMap<TermId, Side>,
}

impl Space {
    /// A reader of terms.
    pub fn reader<'s>(&'s self, place: &'s dyn Fn(VarId) -> Option<(usize, usize)>) -> Reader<'s> {
        Reader { space: self, place, known: FxHashMap::default() }
    }
}

impl Reader<'_> {
    /// Where a condition holds.
    pub fn condition(&mut self, terms: &Terms, t: TermId) -> Made<Relation> {
        match self.side(terms, t)? {
            Side::Condition(r) => Ok(r),
            Side::Values(_) => Err(unsupported("a number where a condition should be")),
        }
    }

    /// The values of an expression; of a condition, 0 and 1.
    pub fn values(&mut self, terms: &Terms, t: TermId) -> Made<Values> {
        match self.side(terms, t)? {
            Side::Values(values) => Ok(values),
            Side::Condition(r) => Ok(vec![(0, self.space.not(&r)?), (1, r)]),
        }
    }

    fn side(&mut self, terms: &Terms, t: TermId) -> Made<Side> {
        if let Some(found) = self.known.get(&t) {
            return Ok(found.clone());
        }
        let space = self.space;
        let side = match terms.get(t).clone() {
            Term::Bool(b) => Side::Condition(space.constant(b)),
            Term::Int(n) => Side::Values(vec![(n, space.all())]),
            Term::EnumLit(_, n) => Side::Values(vec![(i64::from(n), space.all())]),
            Term::Var(v) => self.variable(terms, v)?,
            Term::Not(a) => Side::Condition(space.not(&self.condition(terms, a)?)?),
            Term::And(all) => {
                let mut both = space.all();
                for &a in all.iter() {
                    both = space.and(&both, &self.condition(terms, a)?)?;
                }
                Side::Condition(both)
            }
            Term::Or(all) => {
                let mut either = space.none();
                for &a in all.iter() {
                    either = space.or(&either, &self.condition(terms, a)?)?;
                }
                Side::Condition(either)
            }
            Term::Ite(c, a, b) => {
                let c = self.condition(terms, c)?;
                match (self.side(terms, a)?, self.side(terms, b)?) {
                    (Side::Condition(a), Side::Condition(b)) => Side::Condition(space.ite(&c, &a, &b)?),
                    (Side::Values(a), Side::Values(b)) => {
                        let not = space.not(&c)?;
                        let mut all = vec![];
                        for (side, list) in [(&c, a), (&not, b)] {
                            for (n, r) in list {
                                all.push((n, space.and(side, &r)?));
                            }
                        }
                        Side::Values(self.merged(all)?)
                    }
                    _ => return Err(unsupported("a condition beside a number")),
                }
            }
            Term::Eq(a, b) => match (self.side(terms, a)?, self.side(terms, b)?) {
                (Side::Condition(a), Side::Condition(b)) => Side::Condition(space.ite(&a, &b, &space.not(&b)?)?),
                (Side::Values(a), Side::Values(b)) => Side::Condition(self.compared(&a, &b, |x, y| x == y)?),
                _ => return Err(unsupported("a condition beside a number")),
            },
            Term::Lt(a, b) => self.comparison(terms, a, b, |x, y| x < y)?,
            Term::Le(a, b) => self.comparison(terms, a, b, |x, y| x <= y)?,
            Term::Add(all) => {
                let mut sum = vec![(0, space.all())];
                for &a in all.iter() {
                    let next = self.values(terms, a)?;
                    sum = self.combined(&sum, &next, i64::checked_add)?;
                }
                Side::Values(sum)
            }
            Term::Neg(a) => {
                let values = self.values(terms, a)?;
                let zero = vec![(0, space.all())];
                Side::Values(self.combined(&zero, &values, i64::checked_sub)?)
            }
            Term::Mul(a, b) => self.arithmetic(terms, a, b, i64::checked_mul)?,
            Term::Div(Division::Truncating, a, b) => self.arithmetic(terms, a, b, i64::checked_div)?,
            Term::Rem(Division::Truncating, a, b) => self.arithmetic(terms, a, b, i64::checked_rem)?,
            Term::Checked(a, low, high) => {
                let mut values = self.values(terms, a)?;
                values.retain(|(n, _)| (low..=high).contains(n));
                Side::Values(values)
            }
            _ => return Err(unsupported("an operator that diagrams do not have")),
        };
        self.known.insert(t, side.clone());
        Ok(side)
    }

    fn variable(&mut self, terms: &Terms, v: VarId) -> Made<Side> {
        let space = self.space;
        let variable = terms.variable(v);
        let Some((column, copy)) = (self.place)(v) else {
            return Err(unsupported(&format!("`{}`, which is not a variable here", variable.name)));
        };
        if variable.ty == trellis_expr::Type::Bool {
            return Ok(Side::Condition(space.equals(column, copy, 1)?));
        }
        if space.values(column).len() > MAX_VALUES {
            return Err(unsupported(&format!("`{}` has more than {MAX_VALUES} values", variable.name)));
        }
        let mut all = vec![];
        for (code, &n) in space.values(column).iter().enumerate() {
            all.push((n, space.coded(column, copy, code)?));
        }
        Ok(Side::Values(all))
    }

    fn comparison(&mut self, terms: &Terms, a: TermId, b: TermId, holds: fn(i64, i64) -> bool) -> Made<Side> {
        let (a, b) = (self.values(terms, a)?, self.values(terms, b)?);
        Ok(Side::Condition(self.compared(&a, &b, holds)?))
    }

    fn compared(&self, a: &Values, b: &Values, holds: fn(i64, i64) -> bool) -> Made<Relation> {
        let mut some = self.space.none();
        for (x, r) in a {
            let mut fits = self.space.none();
            for (_, s) in b.iter().filter(|(y, _)| holds(*x, *y)) {
                fits = self.space.or(&fits, s)?;
            }
            some = self.space.or(&some, &self.space.and(r, &fits)?)?;
        }
        Ok(some)
    }

    fn arithmetic(&mut self, terms: &Terms, a: TermId, b: TermId, op: fn(i64, i64) -> Option<i64>) -> Made<Side> {
        let (a, b) = (self.values(terms, a)?, self.values(terms, b)?);
        Ok(Side::Values(self.combined(&a, &b, op)?))
    }

    fn combined(&self, a: &Values, b: &Values, op: fn(i64, i64) -> Option<i64>) -> Made<Values> {
        let mut all = vec![];
        for (x, r) in a {
            for (y, s) in b {
                let both = self.space.and(r, s)?;
                if !both.is_empty() {
                    let n = op(*x, *y).ok_or_else(|| unsupported("numbers that do not fit a machine word"))?;
                    all.push((n, both));
                }
            }
        }
        self.merged(all)
    }

    /// Each value once.
    fn merged(&self, all: Values) -> Made<Values> {
        let mut map: std::collections::BTreeMap<i64, Relation> = std::collections::BTreeMap::new();
        for (n, r) in all {
            let r = match map.remove(&n) {
                Some(old) => self.space.or(&old, &r)?,
                None => r,
            };
            if !r.is_empty() {
                map.insert(n, r);
            }
        }
        if map.len() > MAX_VALUES {
            return Err(unsupported(&format!("an expression with more than {MAX_VALUES} values")));
        }
        Ok(map.into_iter().collect())
    }
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported(format!("decision diagrams cannot express {what}"))
}
