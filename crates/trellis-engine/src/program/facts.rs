//! Values and predicates: four abstract domains with the same labels. They differ in what they follow of a fact: the values of its
//! variables, the fact as a predicate, the one where that is natural and the other elsewhere (004 §2.3.3), or on which side of the
//! numbers in it variables are: intervals without widening, for whoever needs finitely many labels.

use std::collections::BTreeSet;

use trellis_expr::{Term, TermId, Terms, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::{Cfa, EdgeId, LocationId};
use trellis_smt::Reason;
use trellis_smt::path::Refutation;

use super::domain::{AbstractDomain, Domain, Followed, Split, has_few_values, is_plain};
use super::edges::Edges;
use super::intervals;
use super::label::Label;
use super::post::{Mode, Post, Precision};

impl Followed for Precision {
    fn includes(&self, other: &Precision) -> bool {
        other.variables.is_subset(&self.variables) && other.predicates.is_subset(&self.predicates)
    }

    fn add(&mut self, other: &Precision) {
        self.variables.extend(&other.variables);
        self.predicates.extend(&other.predicates);
    }
}

/// Which facts are followed by values.
pub trait Kind {
    /// Are any?
    const VALUES: bool = true;
    /// Is this one, at this location?
    fn is_value(post: &Post, terms: &Terms, l: LocationId, fact: TermId) -> bool;
    /// What else to follow of a fact than its values or itself: values and predicates.
    fn instead(_: &mut Terms, _fact: TermId) -> Option<(BTreeSet<VarId>, Vec<TermId>)> {
        None
    }
    /// What is to be followed of a refutation at a position, if that is not simply its facts.
    fn learn(_: &Terms, _: &Refutation, _position: usize) -> Option<Precision> {
        None
    }
}

/// All: a label is what is known of variables.
pub struct Explicit;

impl Kind for Explicit {
    fn is_value(_: &Post, _: &Terms, _: LocationId, _: TermId) -> bool {
        true
    }

    /// The variables that the refutation needs, which may be fewer than its predicates mention.
    fn learn(terms: &Terms, refutation: &Refutation, position: usize) -> Option<Precision> {
        let mut all = Precision::default();
        if terms.as_bool(refutation.predicates[position]).is_none() {
            all.variables.extend(refutation.variables[position].iter().filter(|v| is_plain(terms, **v)));
        }
        Some(all)
    }
}

/// None: a label is what is known of predicates.
pub struct Predicates;

impl Kind for Predicates {
    const VALUES: bool = false;

    fn is_value(_: &Post, _: &Terms, _: LocationId, _: TermId) -> bool {
        false
    }
}

/// Those about few values, as long as there are not too many.
pub struct Product;

impl Kind for Product {
    fn is_value(post: &Post, terms: &Terms, l: LocationId, fact: TermId) -> bool {
        is_about_a_value(terms, fact) && terms.free_vars(fact).iter().all(|&v| !post.too_many.contains(&(l, v)))
    }
}

/// Values that are few, and for other variables on which side of a number they are.
pub struct Ends;

impl Kind for Ends {
    fn is_value(_: &Post, _: &Terms, _: LocationId, _: TermId) -> bool {
        true
    }

    fn instead(terms: &mut Terms, fact: TermId) -> Option<(BTreeSet<VarId>, Vec<TermId>)> {
        Some(intervals::sides(terms, fact))
    }
}

/// A domain of values and predicates.
pub type Known = dyn AbstractDomain<Label = Label, Precision = Precision>;

/// The domain, if it is one of values and predicates.
pub fn known(cfa: &Cfa, domain: Domain, max_values: usize) -> Option<Box<Known>> {
    let post = |mode| Post::new(cfa, mode, max_values);
    Some(match domain {
        Domain::Explicit => Box::new(Facts::<Explicit>::new(post(Mode::Cartesian))),
        Domain::Predicates(mode) => Box::new(Facts::<Predicates>::new(post(mode))),
        Domain::Product(mode) => Box::new(Facts::<Product>::new(post(mode))),
        Domain::Intervals => return None,
    })
}

/// The domain, or one with finitely many labels under a precision that stands in for it.
pub fn finite(cfa: &Cfa, domain: Domain, max_values: usize) -> Box<Known> {
    let ends = || Box::new(Facts::<Ends>::new(Post::new(cfa, Mode::Cartesian, max_values)));
    known(cfa, domain, max_values).unwrap_or_else(|| ends())
}

/// The domain of one of these kinds.
pub struct Facts<K> {
    post: Post,
    kind: std::marker::PhantomData<K>,
}

impl<K> Facts<K> {
    /// With these successors.
    pub fn new(post: Post) -> Facts<K> {
        Facts { post, kind: std::marker::PhantomData }
    }
}

impl<K: Kind> AbstractDomain for Facts<K> {
    type Label = Label;
    type Precision = Precision;

    fn top(&self) -> Label {
        Label::top()
    }

    fn first(&self, cfa: &Cfa) -> Precision {
        Precision { variables: cfa.control.iter().copied().collect(), ..Precision::default() }
    }

    fn values<'l>(&self, label: &'l Label) -> &'l [(VarId, TermId)] {
        &label.values
    }

    fn leq(&self, a: &Label, b: &Label) -> bool {
        a.cubes_within(b)
    }

    fn assumptions(&self, terms: &mut Terms, label: &Label) -> Vec<TermId> {
        label.assumptions(terms, &self.post.predicates)
    }

    fn successors(
        &mut self,
        cfa: &mut Cfa,
        before: &[TermId],
        e: EdgeId,
        precision: &Precision,
        limits: &Meter,
    ) -> Result<Vec<Label>, Reason> {
        self.post.successors(cfa, before, e, precision, limits)
    }

    fn follow(&mut self, terms: &mut Terms, l: LocationId, fact: TermId) -> Precision {
        let mut gained = Precision::default();
        if let Some((values, predicates)) = K::instead(terms, fact) {
            gained.variables = values;
            gained.predicates.extend(predicates.into_iter().filter_map(|p| self.post.predicates.number(terms, p)));
        } else if K::is_value(&self.post, terms, l, fact) {
            gained.variables.extend(terms.free_vars(fact).into_iter().filter(|&v| is_plain(terms, v)));
        } else {
            gained.predicates.extend(self.post.predicates.number(terms, fact));
        }
        gained
    }

    fn learn(
        &mut self,
        terms: &mut Terms,
        l: LocationId,
        refutation: &Refutation,
        position: usize,
        split: Split,
    ) -> Precision {
        K::learn(terms, refutation, position)
            .unwrap_or_else(|| self.follow_all(terms, l, refutation.predicates[position], split))
    }

    fn follow_values(&self, variables: &BTreeSet<VarId>) -> Option<Precision> {
        K::VALUES.then(|| Precision { variables: variables.clone(), ..Precision::default() })
    }

    fn edges(&mut self) -> &mut Edges {
        &mut self.post.steps
    }
}

/// Is it about values that are few, or one variable having one value?
fn is_about_a_value(terms: &Terms, p: TermId) -> bool {
    if terms.free_vars(p).iter().all(|&v| has_few_values(terms, v)) {
        return true;
    }
    let p = match *terms.get(p) {
        Term::Not(p) => p,
        _ => p,
    };
    match *terms.get(p) {
        Term::Eq(a, b) => {
            let var = |t| matches!(terms.get(t), Term::Var(_));
            (var(a) && terms.as_value(b).is_some()) || (var(b) && terms.as_value(a).is_some())
        }
        _ => false,
    }
}
