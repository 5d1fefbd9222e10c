//! Data by explicit values and formula interpolation (002 §3.2.1, §4.3.1).
//!
//! Concrete labels are all values, abstract labels the values of some variables, and what is blocked is a formula. A label is
//! the set of its variables: the values are the node's own. So is what a label leads to: what is known after a step from some
//! values of the parent is known to be what the node has. A formula is refuted if three-valued evaluation makes it false; an
//! interpolant is what it needs of the known variables, each left out in turn if that still makes it false.
//!
//! Beyond 002's prototype, so that nothing is missed: a fault, an urgent step, or what is looked for may depend on data that no
//! guard asks about. The variables on which they depend are *pinned* when a node is expanded: its label has them. Formulas
//! that may fault where they are evaluated are not refuted. ([`Explicit::new`] can do without both, as the prototype does.)
//! One thing it does miss: a fault in the guard of a receiver whose combination a committed location forbids, behind a
//! sender whose guard the label does not know.
//!
//! What it deliberately does not do: know single cells of arrays, and abstract data that clock constraints depend on
//! ([`Combinations::new`] refuses these). Conditions that have no formula (loops in functions) are refuted by all values only.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::partial::{Partial, exec_partial, judge};
use trellis_expr::subst::Substitution;
use trellis_expr::value::ArrayValue;
use trellis_expr::{Stmt, TermId, Terms, Type, Value, VarId};
use trellis_model::network::combine::{Combinations, Here, condition_reads};
use trellis_model::network::{Condition, EdgeRef, Layout, Network, Query};

use super::Data;
use super::Refiner;
use super::block::{Interpolating, Interpolation};
use super::tree::{NONE, Tree, Try};
use crate::timed::target::Trouble;

/// A set of variables, by their numbers in the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known(Vec<u64>);

impl Known {
    fn none(variables: usize) -> Known {
        Known(vec![0; variables.div_ceil(64)])
    }

    fn all(variables: usize) -> Known {
        let mut all = Known::none(variables);
        (0..variables).for_each(|v| all.insert(v));
        all
    }

    /// Is the variable known?
    pub fn has(&self, v: usize) -> bool {
        self.0[v / 64] >> (v % 64) & 1 == 1
    }

    fn insert(&mut self, v: usize) {
        self.0[v / 64] |= 1 << (v % 64);
    }

    fn remove(&mut self, v: usize) {
        self.0[v / 64] &= !(1 << (v % 64));
    }

    fn is_within(&self, other: &Known) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// Where a formula holds.
    Formula(TermId),
    /// Everything but the concrete label: there is no formula.
    Others,
}

impl From<Option<TermId>> for Bad {
    fn from(t: Option<TermId>) -> Bad {
        t.map_or(Bad::Others, Bad::Formula)
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

/// The domain.
#[derive(Debug)]
pub struct Explicit<'n> {
    net: &'n Network,
    combinations: Combinations<'n>,
    layout: Layout,
    /// The number of a variable, and the first cell of each number.
    numbers: FxHashMap<VarId, usize>,
    cells: Vec<usize>,
    initial: Vec<(VarId, Value)>,
    /// The combination that led to each node.
    via: Vec<u32>,
    /// The cells of some node, and of another.
    own: Cells,
    other: Cells,
    variables: FxHashMap<TermId, Arc<[usize]>>,
    wanted: Option<Wanted>,
    /// Faults are not to be missed.
    strict: bool,
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

impl<'n> Explicit<'n> {
    /// For a network and what is looked for in it, or why not. `strict`: faults are not to be missed.
    pub fn new(
        net: &'n Network,
        wanted: Option<(&Query, Condition, bool)>,
        strict: bool,
    ) -> Result<Explicit<'n>, &'static str> {
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
        Ok(Explicit {
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

    fn all(&self) -> Known {
        Known::all(self.net.vars.len())
    }

    fn load(&mut self, tree: &Tree, n: u32) {
        self.own.load(tree, &self.layout, n);
    }

    fn cells_of<'a>(&self, cells: &'a Cells, v: usize) -> &'a [i64] {
        &cells.cells[self.cells[v]..][..self.net.vars[v].init.len()]
    }

    fn value(&self, v: usize) -> Value {
        value(&self.combinations.terms, self.net.vars[v].var, self.cells_of(&self.own, v))
    }

    fn locations(&mut self, tree: &Tree, n: u32) -> Vec<u32> {
        self.load(tree, n);
        self.own.cells[..self.net.processes.len()].iter().map(|&l| l as u32).collect()
    }

    /// The variables of a formula, ascending.
    fn variables(&mut self, t: TermId) -> Arc<[usize]> {
        let Explicit { variables, combinations, numbers, .. } = self;
        let find = || combinations.terms.free_vars(t).iter().filter_map(|v| numbers.get(v).copied()).collect();
        variables.entry(t).or_insert_with(find).clone()
    }

    /// Do these values of the node that is loaded make the formula false?
    fn falsify(&self, known: &Known, t: TermId) -> bool {
        let terms = &self.combinations.terms;
        if let Some(b) = terms.as_bool(t) {
            return !b;
        }
        let env = |v: VarId| self.numbers.get(&v).filter(|&&i| known.has(i)).map(|&i| self.value(i));
        let judged = judge(terms, t, env);
        judged.is_false() && (judged.safe || !self.strict)
    }

    /// Does another node have the same values of these variables as the one that is loaded?
    fn agree(&mut self, tree: &Tree, other: u32, known: &Known) -> bool {
        self.other.load(tree, &self.layout, other);
        self.own.key == self.other.key
            || known.iter().all(|v| self.cells_of(&self.own, v) == self.cells_of(&self.other, v))
    }

    /// Where some variables do not have the values that a node has.
    fn others(&mut self, tree: &Tree, n: u32, known: &Known) -> TermId {
        self.load(tree, n);
        let mut parts = Vec::new();
        for v in known.iter() {
            let cells = self.cells_of(&self.own, v).to_vec();
            parts.push(self.combinations.is(&self.net.vars[v], &cells));
        }
        let all = self.combinations.terms.and(parts);
        self.combinations.terms.not(all)
    }

    /// What is looked for in these locations, as a formula.
    fn wanted(&mut self, locations: Vec<u32>) -> Option<Bad> {
        let wanted = self.wanted.as_mut()?;
        if let Some(&known) = wanted.formulas.get(&locations) {
            return Some(known);
        }
        let bad = self.combinations.truth(&wanted.condition).map(|t| {
            let terms = &mut self.combinations.terms;
            let here = |(p, &l): (&trellis_model::network::Process, &u32)| (p.location, terms.int(i64::from(l)));
            let map: FxHashMap<VarId, TermId> = self.net.processes.iter().zip(&locations).map(here).collect();
            let t = Substitution::new(map).apply(terms, t);
            if wanted.value { t } else { terms.not(t) }
        });
        wanted.formulas.insert(locations, bad.into());
        Some(bad.into())
    }
}

impl Interpolation for Explicit<'_> {
    type Label = Known;
    type Exact = Known;
    type Bad = Bad;

    fn top(&self) -> Known {
        Known::none(self.net.vars.len())
    }

    fn concrete(&mut self, _: &Tree, _: u32) -> Known {
        self.all()
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32, label: &Known) -> bool {
        self.load(tree, n);
        self.agree(tree, by, label)
    }

    fn refutes(&mut self, tree: &Tree, n: u32, label: &Known, bad: &Bad) -> Result<bool, Trouble> {
        self.load(tree, n);
        Ok(match *bad {
            Bad::Formula(t) => self.falsify(label, t),
            Bad::Others => *label == self.all(),
        })
    }

    fn post(&mut self, tree: &Tree, n: u32, label: &Known) -> Result<Known, Trouble> {
        let update = self.combinations.get(self.via[n as usize]).update;
        if *label == self.all() || matches!(self.combinations.terms.stmt(update), Stmt::Skip) {
            return Ok(label.clone());
        }
        self.load(tree, tree.nodes[n as usize].parent);
        let values = label.iter().map(|v| (self.net.vars[v].var, self.value(v)));
        let mut env: Partial = values.chain(self.initial.iter().cloned()).collect();
        exec_partial(&self.combinations.terms, update, &mut env);
        let mut after = Known::none(self.net.vars.len());
        env.keys().filter_map(|v| self.numbers.get(v)).for_each(|&v| after.insert(v));
        Ok(after)
    }

    fn pre(&mut self, _: &Tree, n: u32, bad: &Bad) -> Result<Bad, Trouble> {
        Ok(match *bad {
            Bad::Formula(t) => self.combinations.before(self.via[n as usize], t).into(),
            Bad::Others => Bad::Others,
        })
    }

    /// Here a transition is a combination.
    fn enabling(&mut self, _: &Tree, _: u32, c: Try) -> Result<Bad, Trouble> {
        Ok(self.combinations.condition(c.transition).into())
    }

    fn interpolant(&mut self, tree: &Tree, n: u32, a: &Known, bad: &Bad) -> Result<Option<Known>, Trouble> {
        let t = match *bad {
            Bad::Formula(t) => t,
            Bad::Others => return Ok((*a == self.all()).then(|| a.clone())),
        };
        let variables = self.variables(t);
        self.load(tree, n);
        let mut label = self.top();
        variables.iter().filter(|&&v| a.has(v)).for_each(|&v| label.insert(v));
        if !self.falsify(&label, t) {
            return Ok(None);
        }
        for &v in variables.iter().filter(|&&v| a.has(v)) {
            label.remove(v);
            if !self.falsify(&label, t) {
                label.insert(v);
            }
        }
        Ok(Some(label))
    }

    fn exactly(&mut self, _: &Tree, _: u32) -> Known {
        self.all()
    }

    fn complement(&mut self, tree: &Tree, n: u32, label: &Known) -> Result<Vec<Bad>, Trouble> {
        if label.iter().next().is_none() {
            return Ok(Vec::new());
        }
        Ok(vec![Bad::Formula(self.others(tree, n, label))])
    }

    fn meet(&mut self, label: &mut Known, other: &Known) {
        label.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn leq(&mut self, tree: &Tree, n: u32, a: &Known, of: u32, b: &Known) -> Result<bool, Trouble> {
        self.load(tree, n);
        Ok(b.is_within(a) && self.agree(tree, of, b))
    }
}

impl Interpolating<Explicit<'_>> {
    fn pin(&mut self, tree: &mut Tree, n: u32, pins: &[VarId]) -> Result<(), Trouble> {
        let mut known = self.domain.top();
        pins.iter().filter_map(|v| self.domain.numbers.get(v)).for_each(|&v| known.insert(v));
        if known.is_within(&self.labels[n as usize]) {
            return Ok(());
        }
        let bad = Bad::Formula(self.domain.others(tree, n, &known));
        self.block(tree, n, &bad)
    }
}

impl Data for Interpolating<Explicit<'_>> {
    const KEPT: bool = false;

    fn add(&mut self, tree: &Tree, n: u32, via: u32) {
        debug_assert_eq!(self.domain.via.len(), n as usize);
        self.domain.via.push(via);
        Refiner::add(self, tree, n);
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool {
        Refiner::proves(self, tree, n, by)
    }

    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Trouble> {
        Refiner::cover(self, tree, n, by)
    }

    fn settle(&mut self, tree: &mut Tree, n: u32) -> Result<Arc<Here>, Trouble> {
        let locations = self.domain.locations(tree, n);
        let here = self.domain.combinations.from(&locations);
        if self.domain.strict {
            self.pin(tree, n, &here.pins)?;
        }
        Ok(here)
    }

    fn admit(&mut self, tree: &mut Tree, n: u32, c: u32) -> Result<(), Trouble> {
        let pins = &self.domain.combinations.get(c).pins;
        if self.domain.strict && !pins.is_empty() {
            let pins = pins.clone();
            self.pin(tree, n, &pins)?;
        }
        Ok(())
    }

    fn action(&self, c: u32) -> &[EdgeRef] {
        &self.domain.combinations.get(c).action
    }

    fn is_many(&self, c: u32) -> bool {
        !self.domain.combinations.get(c).refused.is_empty()
    }

    fn refuses(&mut self, tree: &Tree, n: u32, c: u32) -> bool {
        if self.domain.combinations.get(c).unique {
            return false;
        }
        let condition = self.domain.combinations.condition(c);
        self.domain.load(tree, n);
        condition.is_some_and(|t| self.domain.falsify(&self.domain.all(), t))
    }

    fn disable(&mut self, tree: &mut Tree, n: u32, c: u32) -> Result<(), Trouble> {
        Refiner::disable(self, tree, n, Try { transition: c, target: NONE })
    }

    fn exclude(&mut self, tree: &mut Tree, n: u32) -> Result<(), Trouble> {
        if let Some(pins) = self.domain.wanted.as_ref().and_then(|w| w.pins.clone()) {
            return self.pin(tree, n, &pins);
        }
        let locations = self.domain.locations(tree, n);
        match self.domain.wanted(locations) {
            Some(bad) => self.block(tree, n, &bad),
            None => Ok(()),
        }
    }

    fn known(&self, n: u32) -> Vec<bool> {
        let vars = self.domain.net.vars.iter().enumerate();
        vars.flat_map(|(i, v)| v.init.iter().map(move |_| self.labels[n as usize].has(i))).collect()
    }
}
