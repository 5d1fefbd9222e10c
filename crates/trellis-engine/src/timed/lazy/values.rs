//! The values of nodes, for factors that abstract data: concrete labels are all values, and what is blocked is a formula.
//!
//! What [`super::explicit`] and [`super::predicates`] share: which edges could move together from some locations, what is looked
//! for as a formula, the values of a node, and when labels are refined ([`Data`] for any domain over values).
//!
//! Beyond 002's prototype, so that nothing is missed: a fault, an urgent step, or what is looked for may depend on data that no
//! guard asks about. The variables on which they depend are *pinned* when a node is expanded: its label has their values. Formulas
//! that may fault where they are evaluated are not refuted. ([`Values::new`] can do without both, as the prototype does.)
//! One thing it does miss: a fault in the guard of a receiver whose combination a committed location forbids, behind a
//! sender whose guard the label does not know.
//!
//! What it deliberately does not do: know single cells of arrays, and abstract data that clock constraints depend on
//! ([`Combinations::new`] refuses these). Conditions that have no formula (loops in functions) are refuted by all values only.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::partial::judge;
use trellis_expr::subst::Substitution;
use trellis_expr::value::ArrayValue;
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_model::network::combine::{Combinations, Here, condition_reads};
use trellis_model::network::{Condition, EdgeRef, Layout, Network, Query};

use super::Data;
use super::Refiner;
use super::block::{Interpolating, Interpolation};
use super::tree::{NONE, Tree, Try};
use crate::timed::target::Error;

/// A set of variables, by their numbers in the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known(pub Vec<u64>);

impl Known {
    /// None of so many.
    pub fn none(variables: usize) -> Known {
        Known(vec![0; variables.div_ceil(64)])
    }

    /// All of so many.
    pub fn all(variables: usize) -> Known {
        let mut all = Known::none(variables);
        (0..variables).for_each(|v| all.insert(v));
        all
    }

    /// Is the variable known?
    pub fn has(&self, v: usize) -> bool {
        self.0[v / 64] >> (v % 64) & 1 == 1
    }

    /// Adds one.
    pub fn insert(&mut self, v: usize) {
        self.0[v / 64] |= 1 << (v % 64);
    }

    /// Takes one out.
    pub fn remove(&mut self, v: usize) {
        self.0[v / 64] &= !(1 << (v % 64));
    }

    /// Are all of them in the other?
    pub fn is_within(&self, other: &Known) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// Their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(i, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(64 * i + bit)
            })
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// What is to be blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bad {
    /// Where all of these hold.
    All(Vec<TermId>),
    /// Everything but the concrete label: there is no formula.
    Others,
}

impl From<Option<TermId>> for Bad {
    fn from(t: Option<TermId>) -> Bad {
        t.map_or(Bad::Others, |t| Bad::All(vec![t]))
    }
}

/// What is looked for.
#[derive(Debug)]
struct Wanted {
    condition: Condition,
    value: bool,
    /// If it asks about clocks: all data that it asks about.
    pins: Option<Vec<VarId>>,
    /// As formulas, by locations.
    formulas: HashMap<Vec<u32>, Bad>,
}

/// The values of nodes, and what they may do.
#[derive(Debug)]
pub struct Values<'n> {
    /// The model.
    pub net: &'n Network,
    /// Which edges could move together; the terms of formulas are there.
    pub combinations: Combinations<'n>,
    layout: Layout,
    /// The number of a variable, and the first cell of each number.
    pub numbers: FxHashMap<VarId, usize>,
    cells: Vec<usize>,
    /// What temporaries start with.
    pub initial: Vec<(VarId, Value)>,
    /// The combination that led to each node.
    pub via: Vec<u32>,
    /// The cells of some node, and of another.
    own: Cells,
    other: Cells,
    variables: FxHashMap<TermId, Arc<[usize]>>,
    wanted: Option<Wanted>,
    /// Faults are not to be missed.
    pub strict: bool,
}

#[derive(Debug)]
struct Cells {
    key: u32,
    cells: Vec<i64>,
}

impl Cells {
    fn load(&mut self, tree: &Tree, layout: &Layout, n: u32) {
        let key = tree.nodes[n as usize].key;
        if self.key != key {
            self.key = key;
            layout.unpack(tree.keys.get(key), &mut self.cells);
        }
    }
}

/// The value of a variable, given its cells.
fn value(terms: &Terms, var: VarId, cells: &[i64]) -> Value {
    match terms.variable(var).ty {
        Type::Array(index, entry) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let mut array = ArrayValue::new(terms, index, Value::from_word(entry, cells[0]));
            for (i, &cell) in cells.iter().enumerate().filter(|(_, c)| **c != cells[0]) {
                array.set(&Value::Int(i.into()), Value::from_word(entry, cell));
            }
            Value::Array(array)
        }
        ty => Value::from_word(ty, cells[0]),
    }
}

impl<'n> Values<'n> {
    /// For a network and what is looked for in it, or why not. `strict`: faults are not to be missed.
    pub fn new(
        net: &'n Network,
        wanted: Option<(&Query, Condition, bool)>,
        strict: bool,
    ) -> Result<Values<'n>, &'static str> {
        let combinations = Combinations::new(net)?;
        let layout = Layout::new(net);
        let mut at = net.processes.len();
        let mut cells = Vec::new();
        for v in &net.vars {
            cells.push(at);
            at += v.init.len();
        }
        let wanted = wanted.map(|(query, condition, value)| {
            let mut reads = condition_reads(&net.terms, &condition);
            let atoms: Vec<_> = query.atoms.iter().filter(|(var, _)| reads.contains(var)).collect();
            let timed = !atoms.is_empty();
            for (_, atom) in atoms {
                reads.extend(net.terms.free_vars(atom.bound));
                reads.extend(atom.when.iter().flat_map(|&w| net.terms.free_vars(w)));
            }
            let pins = timed.then(|| reads.into_iter().collect());
            Wanted { condition, value, pins, formulas: HashMap::new() }
        });
        let blank = || Cells { key: NONE, cells: vec![0; layout.key_cells()] };
        Ok(Values {
            numbers: net.vars.iter().enumerate().map(|(i, v)| (v.var, i)).collect(),
            initial: net.temps.iter().map(|v| (v.var, value(&net.terms, v.var, &v.init))).collect(),
            own: blank(),
            other: blank(),
            net,
            combinations,
            layout,
            cells,
            via: Vec::new(),
            variables: FxHashMap::default(),
            wanted,
            strict,
        })
    }

    /// All variables.
    pub fn all(&self) -> Known {
        Known::all(self.net.vars.len())
    }

    /// Gets the values of a node.
    pub fn load(&mut self, tree: &Tree, n: u32) {
        self.own.load(tree, &self.layout, n);
    }

    fn cells_of<'a>(&self, cells: &'a Cells, v: usize) -> &'a [i64] {
        &cells.cells[self.cells[v]..][..self.net.vars[v].init.len()]
    }

    /// The value of a variable in the node that is loaded.
    pub fn value(&self, v: usize) -> Value {
        value(&self.combinations.terms, self.net.vars[v].var, self.cells_of(&self.own, v))
    }

    /// The locations of a node, whose values are loaded then.
    pub fn locations(&mut self, tree: &Tree, n: u32) -> Vec<u32> {
        self.load(tree, n);
        self.own.cells[..self.net.processes.len()].iter().map(|&l| l as u32).collect()
    }

    /// The variables of formulas, ascending.
    pub fn variables(&mut self, all: &[TermId]) -> Vec<usize> {
        let Values { variables, combinations, numbers, .. } = self;
        let mut found = Vec::new();
        for &t in all {
            let find = || combinations.terms.free_vars(t).iter().filter_map(|v| numbers.get(v).copied()).collect();
            let of_one: &Arc<[usize]> = variables.entry(t).or_insert_with(find);
            found.extend_from_slice(of_one);
        }
        if all.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// Do these values of the node that is loaded make one of the formulas false?
    pub fn falsify(&self, known: &Known, all: &[TermId]) -> bool {
        let terms = &self.combinations.terms;
        let env = |v: VarId| self.numbers.get(&v).filter(|&&i| known.has(i)).map(|&i| self.value(i));
        all.iter().any(|&t| match terms.as_bool(t) {
            Some(b) => !b,
            None => {
                let judged = judge(terms, t, env);
                judged.is_false() && (judged.safe || !self.strict)
            }
        })
    }

    /// From where the combination that led to a node leads to where all formulas hold. 002's prototype does not see what formulas
    /// mean together, so if we are to count as it does, we must not either.
    pub fn before(&mut self, n: u32, all: &[TermId]) -> Bad {
        let (c, terms) = (self.via[n as usize], &mut self.combinations.terms);
        if self.strict {
            let all = terms.and(all.iter().copied());
            return self.combinations.before(c, all).into();
        }
        let guard = self.combinations.get(c).guard;
        let each = all.iter().map(|&t| self.combinations.after(c, t));
        match guard.into_iter().map(Some).chain(each).collect::<Option<Vec<TermId>>>() {
            Some(parts) if guard.is_some() => Bad::All(parts),
            _ => Bad::Others,
        }
    }

    /// Does another node have the same values of these variables as the one that is loaded?
    pub fn agree(&mut self, tree: &Tree, other: u32, known: &Known) -> bool {
        self.other.load(tree, &self.layout, other);
        self.own.key == self.other.key
            || known.iter().all(|v| self.cells_of(&self.own, v) == self.cells_of(&self.other, v))
    }

    /// A variable has the value that it has in the node that is loaded.
    pub fn is(&mut self, v: usize) -> TermId {
        let cells = self.cells_of(&self.own, v).to_vec();
        self.combinations.is(&self.net.vars[v], &cells)
    }

    /// Where some variables do not have the values that a node has.
    pub fn others(&mut self, tree: &Tree, n: u32, known: &Known) -> TermId {
        self.load(tree, n);
        let parts: Vec<TermId> = known.iter().map(|v| self.is(v)).collect();
        let all = self.combinations.terms.and(parts);
        self.combinations.terms.not(all)
    }

    /// What is looked for in these locations, as a formula.
    pub fn wanted(&mut self, locations: Vec<u32>) -> Option<Bad> {
        let wanted = self.wanted.as_mut()?;
        if let Some(known) = wanted.formulas.get(&locations) {
            return Some(known.clone());
        }
        let bad = self.combinations.truth(&wanted.condition).map(|t| {
            let terms = &mut self.combinations.terms;
            let here = |(p, &l): (&trellis_model::network::Process, &u32)| (p.location, terms.int(i64::from(l)));
            let map: FxHashMap<VarId, TermId> = self.net.processes.iter().zip(&locations).map(here).collect();
            let t = Substitution::new(map).apply(terms, t);
            if wanted.value { t } else { terms.not(t) }
        });
        wanted.formulas.insert(locations, bad.into());
        Some(Bad::from(bad))
    }
}

/// A domain of labels over values, which blocks formulas.
pub trait OverValues<'n>: Interpolation<Bad = Bad> {
    /// The values.
    fn values(&self) -> &Values<'n>;
    /// The values.
    fn values_mut(&mut self) -> &mut Values<'n>;
    /// What is to be blocked, as this domain wants it.
    fn bad(&mut self, bad: Bad) -> Bad {
        bad
    }
    /// Has a label plainly the values that its node has of these variables?
    fn has(&mut self, tree: &Tree, n: u32, label: &Self::Label, known: &Known) -> bool;
    /// Says plainly in a label that the variables have the values that its node has: they have no others there.
    fn note(&mut self, tree: &Tree, n: u32, label: &mut Self::Label, known: &Known);
    /// What a label of a node says, in the words of a certificate: which variables it knows, and what more it says of them, as
    /// assertions in SMT-LIB.
    fn tell(&mut self, tree: &Tree, n: u32, label: &Self::Label) -> (Known, Option<String>);
}

fn pin<'n, D: OverValues<'n>>(
    this: &mut Interpolating<D>,
    tree: &mut Tree,
    n: u32,
    pins: &[VarId],
) -> Result<(), Error> {
    let values = this.domain.values_mut();
    let mut known = Known::none(values.net.vars.len());
    pins.iter().filter_map(|v| values.numbers.get(v)).for_each(|&v| known.insert(v));
    if this.domain.has(tree, n, &this.labels[n as usize], &known) {
        return Ok(());
    }
    let bad = Bad::All(vec![this.domain.values_mut().others(tree, n, &known)]);
    let bad = this.domain.bad(bad);
    this.block(tree, n, &bad)?;
    this.domain.note(tree, n, &mut this.labels[n as usize], &known);
    Ok(())
}

impl<'n, D: OverValues<'n>> Data for Interpolating<D> {
    const KEPT: bool = false;

    fn add(&mut self, tree: &Tree, n: u32, via: u32) {
        let values = self.domain.values_mut();
        debug_assert_eq!(values.via.len(), n as usize);
        values.via.push(via);
        Refiner::add(self, tree, n);
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool {
        Refiner::proves(self, tree, n, by)
    }

    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Error> {
        Refiner::cover(self, tree, n, by)
    }

    fn settle(&mut self, tree: &mut Tree, n: u32) -> Result<Arc<Here>, Error> {
        let values = self.domain.values_mut();
        let locations = values.locations(tree, n);
        let here = values.combinations.from(&locations);
        if values.strict {
            pin(self, tree, n, &here.pins)?;
        }
        Ok(here)
    }

    fn admit(&mut self, tree: &mut Tree, n: u32, c: u32) -> Result<(), Error> {
        let values = self.domain.values();
        let pins = &values.combinations.get(c).pins;
        if values.strict && !pins.is_empty() {
            let pins = pins.clone();
            pin(self, tree, n, &pins)?;
        }
        Ok(())
    }

    fn is_action(&self, c: u32, action: &[EdgeRef]) -> bool {
        self.domain.values().combinations.get(c).action == action
    }

    fn is_many(&self, c: u32) -> bool {
        !self.domain.values().combinations.get(c).refused.is_empty()
    }

    fn refuses(&mut self, tree: &Tree, n: u32, c: u32) -> bool {
        let values = self.domain.values_mut();
        if values.combinations.get(c).unique {
            return false;
        }
        let condition = values.combinations.condition(c);
        values.load(tree, n);
        condition.is_some_and(|t| values.falsify(&values.all(), &[t]))
    }

    fn disable(&mut self, tree: &mut Tree, n: u32, c: u32) -> Result<(), Error> {
        Refiner::disable(self, tree, n, Try { transition: c, target: NONE })
    }

    fn exclude(&mut self, tree: &mut Tree, n: u32) -> Result<(), Error> {
        let values = self.domain.values_mut();
        if let Some(pins) = values.wanted.as_ref().and_then(|w| w.pins.clone()) {
            return pin(self, tree, n, &pins);
        }
        let locations = values.locations(tree, n);
        match values.wanted(locations) {
            Some(bad) => {
                let bad = self.domain.bad(bad);
                self.block(tree, n, &bad)
            }
            None => Ok(()),
        }
    }

    fn tell(&mut self, tree: &Tree, n: u32) -> (Vec<bool>, Option<String>) {
        let (known, more) = self.domain.tell(tree, n, &self.labels[n as usize]);
        let vars = self.domain.values().net.vars.iter().enumerate();
        (vars.flat_map(|(i, v)| v.init.iter().map(move |_| i)).map(|i| known.has(i)).collect(), more)
    }
}
