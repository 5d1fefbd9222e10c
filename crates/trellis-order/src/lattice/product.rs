//! Elements of several lattices side by side, each with a name (002 §3.2.5).
//!
//! `a ⊑ b` iff every part of `a` is below the same part of `b`; join and meet work part by part, and a larger part is
//! more behaviour. Initially every part has its lattice's initial value. The parts are called `fst`, `snd`, `third`, …
//! or as the model says: `Product(cost, Interval, seen, Powerset(4))`. `x.fst` is a part, with the methods of its
//! lattice; the product has no methods of its own. It does not reduce: what one part knows does not sharpen another.

use std::fmt;
use std::sync::Arc;

use super::method::no_methods;
use super::{
    BuildError, Composition, Lattice, MAX_WIDTH, Method, MethodError, Shape, Shown, Word, draw_extreme, widen,
};
use crate::{Domain, Join, Meet, Widen};

/// What parts are called that the model does not name.
pub(super) const ORDINALS: [&str; 8] = ["fst", "snd", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/// A part before it has a place: its name and its lattice.
pub type Part = (String, Arc<dyn Lattice>);

/// A part in its place: its name, the word at which it starts, its lattice. As [`Shape::Fields`] wants it.
pub(super) type Field = (String, usize, Arc<dyn Lattice>);

/// Products of lattices; see the [module](self).
#[derive(Debug, Clone)]
pub struct Product {
    fields: Vec<Field>,
    width: usize,
}

/// Lays parts side by side; the second answer is their total width.
pub(super) fn lay_out(parts: Vec<Part>) -> Result<(Vec<Field>, usize), BuildError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut width = 0;
    for (name, lattice) in parts {
        if fields.iter().any(|(other, _, _)| *other == name) {
            return Err(BuildError::SameField(name));
        }
        let start = width;
        // Each width is at most MAX_WIDTH unless it is a stranger's, hence saturating.
        width = usize::saturating_add(width, lattice.width());
        if width > MAX_WIDTH {
            let bits = MAX_WIDTH * Word::BITS as usize;
            return Err(BuildError::Size(format!("the parts take more than {bits} bits together")));
        }
        fields.push((name, start, lattice));
    }
    Ok((fields, width))
}

/// The words of a part.
pub(super) fn part<'a>((_, start, lattice): &Field, elem: &'a [Word]) -> &'a [Word] {
    &elem[*start..start + lattice.width()]
}

/// The words of a part.
pub(super) fn part_mut<'a>((_, start, lattice): &Field, elem: &'a mut [Word]) -> &'a mut [Word] {
    &mut elem[*start..start + lattice.width()]
}

/// `(fst = …, snd = …)`.
pub(super) fn show_parts(fields: &[Field], elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("(")?;
    for (i, field) in fields.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{} = {}", field.0, Shown(&*field.2, part(field, elem)))?;
    }
    f.write_str(")")
}

/// The parts as a model writes them. Names are left out if they are the usual ones.
pub(super) fn name_parts(fields: &[Field]) -> String {
    let usual = fields.iter().map(|field| field.0.as_str()).eq(ORDINALS.into_iter().take(fields.len()));
    let one = |(name, _, lattice): &Field| {
        if usual { lattice.name() } else { format!("{name}, {}", lattice.name()) }
    };
    fields.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The meet of a part whose composite has handed out its own meet.
pub(super) fn meet_of((_, _, lattice): &Field) -> &dyn Meet<Elem = [Word]> {
    lattice.as_meet().expect("as_meet answers None unless every part has a meet")
}

impl Product {
    /// The product of named lattices.
    pub fn new(parts: Vec<Part>) -> Result<Self, BuildError> {
        let (fields, width) = lay_out(parts)?;
        Ok(Self { fields, width })
    }
}

impl Domain for Product {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        self.fields.iter().all(|field| field.2.leq(part(field, a), part(field, b)))
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        self.fields.iter().all(|field| field.2.is_bottom(part(field, a)))
    }
}

impl Join for Product {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        self.fields.iter().fold(false, |grew, field| field.2.join(part_mut(field, a), part(field, b)) | grew)
    }
}

/// Parts that have no widening are joined.
impl Widen for Product {
    fn widen(&self, a: &mut [Word], b: &[Word]) -> bool {
        self.fields.iter().fold(false, |grew, field| widen(&*field.2, part_mut(field, a), part(field, b)) | grew)
    }
}

/// To be reached through [`Lattice::as_meet`]: it panics if a part has no meet.
impl Meet for Product {
    fn top(&self, a: &mut [Word]) {
        self.fields.iter().for_each(|field| meet_of(field).top(part_mut(field, a)));
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        self.fields.iter().fold(false, |shrank, field| meet_of(field).meet(part_mut(field, a), part(field, b)) | shrank)
    }
}

impl Lattice for Product {
    fn name(&self) -> String {
        format!("Product({})", name_parts(&self.fields))
    }

    fn composition(&self) -> Composition {
        Composition::Pointwise
    }

    fn is_vouched_for(&self) -> bool {
        self.fields.iter().all(|field| field.2.is_vouched_for())
    }

    fn width(&self) -> usize {
        self.width
    }

    fn is_element(&self, words: &[Word]) -> bool {
        self.fields.iter().all(|field| field.2.is_element(part(field, words)))
    }

    fn initial(&self, out: &mut [Word]) {
        self.fields.iter().for_each(|field| field.2.initial(part_mut(field, out)));
    }

    fn bottom(&self, out: &mut [Word]) {
        self.fields.iter().for_each(|field| field.2.bottom(part_mut(field, out)));
    }

    fn methods(&self) -> &[Method] {
        &[]
    }

    fn query(&self, _: usize, _: &[Word], _: &[i64]) -> Result<i64, MethodError> {
        no_methods()
    }

    fn update(&self, _: usize, _: &mut [Word], _: &[i64]) -> Result<(), MethodError> {
        no_methods()
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Fields(&self.fields)
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_parts(&self.fields, elem, f)
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        if !draw_extreme(self, random, out) {
            self.fields.iter().for_each(|field| field.2.sample(random, part_mut(field, out)));
        }
    }

    fn as_widen(&self) -> Option<&dyn Widen<Elem = [Word]>> {
        self.fields.iter().any(|field| field.2.as_widen().is_some()).then_some(self)
    }

    fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>> {
        self.fields.iter().all(|field| field.2.as_meet().is_some()).then_some(self)
    }
}
