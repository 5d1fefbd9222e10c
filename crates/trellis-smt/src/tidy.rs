//! Readable predicates: an equivalent formula with fewer and plainer atoms.
//!
//! On top of [`trellis_expr::simplify`]: negations stand at the atoms; comparisons of the same linear form are merged (`3 ≤ x ∧ x ≤ 3`
//! is `x = 3`); atoms that others imply are dropped; a variable that is known to be a constant is replaced by it elsewhere;
//! disjuncts that others contain are dropped, and two that differ in one atom become one where possible; all of that dually.
//! It looks at single linear forms only and decides nothing: what follows from two forms together stays.
//!
//! It keeps the meaning, and so the faults; therefore it leaves a connective alone of which a part may fault.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use trellis_expr::simplify::Simplifier;
use trellis_expr::subst::Substitution;
use trellis_expr::{Term, TermId, Terms};

use crate::affine::Literal;
use crate::cube::Cube;

/// Connectives with more parts than this are not compared part by part.
const MANY: usize = 60;

/// An equivalent formula that is easier to read.
pub fn tidy(terms: &mut Terms, t: TermId) -> TermId {
    let mut tidier = Tidier::default();
    let t = tidier.simplifier.apply(terms, t);
    let t = tidier.apply(terms, t);
    tidier.simplifier.apply(terms, t)
}

#[derive(Default)]
struct Tidier {
    simplifier: Simplifier,
}

impl Tidier {
    fn apply(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        // The connectives below, each with the signs that it is needed with.
        let mut needed = BTreeSet::new();
        let mut todo = vec![(t, true)];
        while let Some((t, sign)) = todo.pop() {
            if !needed.insert((t, sign)) {
                continue;
            }
            match terms.get(t) {
                Term::Not(a) => todo.push((*a, !sign)),
                Term::And(args) | Term::Or(args) => todo.extend(args.iter().map(|&a| (a, sign))),
                _ => {}
            }
        }
        let mut done: FxHashMap<(TermId, bool), TermId> = FxHashMap::default();
        for (t, sign) in needed {
            let (args, and) = match terms.get(t) {
                Term::And(args) => (args.clone(), sign),
                Term::Or(args) => (args.clone(), !sign),
                &Term::Not(a) => {
                    done.insert((t, sign), done[&(a, !sign)]);
                    continue;
                }
                _ => {
                    let new = atom(terms, t, sign);
                    done.insert((t, sign), new);
                    continue;
                }
            };
            let parts: Vec<TermId> = args.iter().map(|&a| done[&(a, sign)]).collect();
            let new = self.connective(terms, parts, and);
            done.insert((t, sign), new);
        }
        done[&(t, true)]
    }

    fn connective(&mut self, terms: &mut Terms, parts: Vec<TermId>, and: bool) -> TermId {
        let whole = if and { terms.and(parts) } else { terms.or(parts) };
        let parts = match terms.get(whole) {
            Term::And(parts) if and => parts.clone(),
            Term::Or(parts) if !and => parts.clone(),
            _ => return whole,
        };
        if terms.may_fault(whole) {
            return whole;
        }
        let mut group = Group::default();
        for &p in parts.iter() {
            group.add(terms, p, and);
        }
        while self.round(terms, &mut group) || merge(terms, &mut group.cubes) {}
        if group.settled {
            return terms.bool(!and);
        }
        let mut all = vec![];
        for t in group.facts.literals(terms) {
            all.push(if and { t } else { negation(terms, t) });
        }
        for cube in &group.cubes {
            let literals = cube.literals(terms);
            let t = terms.and(literals);
            all.push(if and { negation(terms, t) } else { t });
        }
        if and { terms.and(all) } else { terms.or(all) }
    }

    /// Uses the facts once; is there more to do?
    fn round(&mut self, terms: &mut Terms, group: &mut Group) -> bool {
        if group.settled {
            return false;
        }
        let fixed = group.facts.fixed(terms);
        if !fixed.is_empty() && self.replace(terms, group, &fixed) {
            return true;
        }
        let mut cubes = vec![];
        let mut learned = false;
        for cube in std::mem::take(&mut group.cubes) {
            let Some(cube) = cube.given(terms, &group.facts) else { continue };
            let literals = if cube.len() <= 1 { cube.literals(terms) } else { vec![] };
            match (cube.len(), &literals[..]) {
                (0, _) => group.settled = true,
                // One literal alone is a fact.
                (1, &[t]) => {
                    let t = negation(terms, t);
                    group.learn(terms, t);
                    learned = true;
                }
                _ => cubes.push(cube),
            }
        }
        // Facts that are composed have become cubes in the meantime.
        group.cubes.extend(cubes);
        learned && !group.settled
    }

    /// Puts constants in place of variables, except where it says that they are; has anything changed?
    fn replace(
        &mut self,
        terms: &mut Terms,
        group: &mut Group,
        fixed: &FxHashMap<trellis_expr::VarId, TermId>,
    ) -> bool {
        let mut substitution = Substitution::new(fixed.clone());
        let mut facts = Cube::default();
        let mut again = vec![];
        let mut rewrite = |this: &mut Tidier, terms: &mut Terms, t: TermId| {
            let new = substitution.apply(terms, t);
            if new == t { t } else { this.simplifier.apply(terms, new) }
        };
        for t in group.facts.literals(terms) {
            // What fixes a variable stays.
            let own = Cube::of(terms, [(t, true)]).map(|cube| cube.fixed(terms)).unwrap_or_default();
            let says = !own.is_empty() && own.iter().all(|(v, value)| fixed.get(v) == Some(value));
            let new = if says { t } else { rewrite(self, terms, t) };
            if new == t {
                group.settled |= !facts.add(terms, Literal::of(terms, t, true));
            } else {
                again.push(new);
            }
        }
        let mut changed = !again.is_empty();
        group.facts = facts;
        for t in again {
            group.learn(terms, t);
        }
        for cube in std::mem::take(&mut group.cubes) {
            let literals = cube.literals(terms);
            let new: Vec<TermId> = literals.iter().map(|&t| rewrite(self, terms, t)).collect();
            if new == literals {
                group.cubes.push(cube);
                continue;
            }
            changed = true;
            let t = terms.and(new);
            group.add_cube(terms, t);
        }
        changed
    }
}

/// `facts ∧ ¬cube ∧ ¬cube ∧ …`, or its negation `¬facts ∨ cube ∨ cube ∨ …`.
#[derive(Default)]
struct Group {
    facts: Cube,
    cubes: Vec<Cube>,
    /// The facts contradict each other, or a cube is always true.
    settled: bool,
}

impl Group {
    /// A part of a conjunction, or of a disjunction.
    fn add(&mut self, terms: &mut Terms, part: TermId, and: bool) {
        let negated = negation(terms, part);
        match (terms.get(part), and) {
            (Term::Or(_), true) => self.add_cube(terms, negated),
            (Term::And(_), false) => self.add_cube(terms, part),
            (_, true) => self.learn(terms, part),
            (_, false) => self.learn(terms, negated),
        }
    }

    /// One fact more: a literal, or something composed that is taken as one.
    fn learn(&mut self, terms: &mut Terms, t: TermId) {
        let parts = match terms.get(t) {
            Term::And(parts) => parts.to_vec(),
            Term::Or(_) => {
                let negated = negation(terms, t);
                return self.add_cube(terms, negated);
            }
            _ => vec![t],
        };
        for p in parts {
            match terms.get(p) {
                Term::And(_) | Term::Or(_) => self.learn(terms, p),
                _ => self.settled |= !self.facts.add(terms, Literal::of(terms, p, true)),
            }
        }
    }

    fn add_cube(&mut self, terms: &mut Terms, t: TermId) {
        let parts = match terms.get(t) {
            Term::And(parts) => parts.to_vec(),
            _ => vec![t],
        };
        self.cubes.extend(Cube::of(terms, parts.into_iter().map(|p| (p, true))));
    }
}

/// Drops cubes that others contain, and unites them where that is a cube; has that changed anything?
fn merge(terms: &Terms, cubes: &mut Vec<Cube>) -> bool {
    if cubes.len() > MANY {
        return false;
    }
    let before = cubes.len();
    let mut k = 0;
    'next: while k < cubes.len() {
        for other in 0..cubes.len() {
            if other == k {
                continue;
            }
            if cubes[k].implies(terms, &cubes[other]) {
                cubes.remove(k);
                k = 0;
                continue 'next;
            }
            if let Some(union) = cubes[k].union(&cubes[other]) {
                cubes[k.min(other)] = union;
                cubes.remove(k.max(other));
                k = 0;
                continue 'next;
            }
        }
        k += 1;
    }
    cubes.len() < before
}

/// The negation of something tidy, tidy again as far as negations go.
fn negation(terms: &mut Terms, t: TermId) -> TermId {
    match terms.get(t) {
        Term::And(args) => {
            let args: Vec<TermId> = args.clone().iter().copied().map(|a| negation(terms, a)).collect();
            terms.or(args)
        }
        Term::Or(args) => {
            let args: Vec<TermId> = args.clone().iter().copied().map(|a| negation(terms, a)).collect();
            terms.and(args)
        }
        _ => atom(terms, t, false),
    }
}

/// An atom in the form that merging gives it.
fn atom(terms: &mut Terms, t: TermId, sign: bool) -> TermId {
    if terms.may_fault(t) {
        return if sign { t } else { terms.not(t) };
    }
    let mut cube = Cube::default();
    if !cube.add(terms, Literal::of(terms, t, sign)) {
        return terms.bool(false);
    }
    let literals = cube.literals(terms);
    terms.and(literals)
}
