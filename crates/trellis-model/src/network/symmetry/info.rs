//! What swapping members of a set does to variables, arrays and numbers, and which of them hold the same kind of thing.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, Type, VarId};

use super::super::{DataVar, Network};

/// Two numbers that stand for members; nothing: a plain value.
pub(super) type Sort = Option<(i64, i64)>;

/// Something that may hold members of the set, or be indexed by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// A variable, or the cells of an array.
    Value(VarId),
    /// A dimension of an array.
    Dim(VarId, u32),
    /// A dimension of an array of channels, by its first channel.
    Channel(u32, u32),
    /// A temporary, within one unit.
    Temp(u32, VarId),
}

/// Who holds members, and which numbers are swapped there.
pub type Sorts = BTreeMap<Holder, (i64, i64)>;

/// One component of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    Number(i64),
    Term(TermId),
}

/// The variables of a network, to be looked up.
pub(super) struct Info<'n> {
    pub net: &'n Network,
    data: FxHashMap<VarId, &'n DataVar>,
    temps: FxHashMap<VarId, &'n DataVar>,
}

/// What is evaluated together, and may share temporaries.
#[derive(Debug, Clone, Default)]
pub(super) struct Unit {
    pub stmts: Vec<StmtId>,
    pub terms: Vec<TermId>,
    /// An index into an array of channels.
    pub channel: Option<(u32, TermId)>,
}

impl<'n> Info<'n> {
    pub fn new(net: &'n Network) -> Info<'n> {
        let by_var = |vars: &'n [DataVar]| vars.iter().map(|d| (d.var, d)).collect();
        Info { net, data: by_var(&net.vars), temps: by_var(&net.temps) }
    }

    pub fn data(&self, v: VarId) -> Option<&'n DataVar> {
        self.data.get(&v).copied()
    }

    pub fn is_temp(&self, v: VarId) -> bool {
        self.temps.contains_key(&v)
    }

    /// The least and greatest value of a cell.
    pub fn range(&self, v: VarId) -> Option<(i64, i64)> {
        self.data.get(&v).or_else(|| self.temps.get(&v)).map(|d| (d.lo, d.hi))
    }

    /// First index and length of each dimension; nothing for what is no array.
    pub fn dims(&self, v: VarId) -> &'n [(i64, i64)] {
        self.data.get(&v).or_else(|| self.temps.get(&v)).map_or(&[], |d| &d.dims)
    }

    /// The dimensions of an array of channels.
    pub fn channel_dims(&self, base: u32) -> &'n [(i64, i64)] {
        self.net.channel_arrays.iter().find(|a| a.0 == base).map_or(&[], |a| &a.1)
    }

    /// Who holds a variable's values.
    pub fn holder(&self, unit: u32, v: VarId) -> Holder {
        if self.is_temp(v) { Holder::Temp(unit, v) } else { Holder::Value(v) }
    }

    /// The number of a location's unit among all.
    pub fn location_unit(&self, p: usize, l: usize) -> u32 {
        let before = |p: &super::super::Process| p.locations.len() + 3 * p.edges.len();
        (self.net.processes[..p].iter().map(before).sum::<usize>() + l) as u32
    }

    /// The number of the first unit of an edge: its guard's.
    pub fn edge_unit(&self, p: usize, e: usize) -> u32 {
        self.location_unit(p, self.net.processes[p].locations.len() + 3 * e)
    }

    /// All units of the network: for each process those of its locations, then three for each edge.
    pub fn units(&self) -> Vec<Unit> {
        let mut all = Vec::new();
        for p in &self.net.processes {
            for l in &p.locations {
                let data = l.invariant.iter();
                all.push(Unit {
                    stmts: data.clone().map(|c| c.prepare).collect(),
                    terms: data.map(|c| c.holds).chain(super::image::atom_terms(&l.clock_invariant)).collect(),
                    channel: None,
                });
            }
            for e in &p.edges {
                all.extend(super::image::edge_units(e));
            }
        }
        all
    }
}

/// The variables whose arrays a term of an array type may be.
pub(super) fn roots(terms: &Terms, t: TermId, out: &mut Vec<VarId>) {
    match *terms.get(t) {
        Term::Var(v) => out.push(v),
        Term::Store(a, ..) => roots(terms, a, out),
        Term::Ite(_, a, b) => {
            roots(terms, a, out);
            roots(terms, b, out);
        }
        _ => {}
    }
}

/// The first of them.
pub(super) fn root(terms: &Terms, t: TermId) -> Option<VarId> {
    match *terms.get(t) {
        Term::Var(v) => Some(v),
        Term::Store(a, ..) => root(terms, a),
        Term::Ite(_, a, b) => root(terms, a).or_else(|| root(terms, b)),
        _ => None,
    }
}

pub(super) fn is_array(terms: &Terms, t: TermId) -> bool {
    matches!(terms.ty(t), Type::Array(..))
}

/// How far apart neighbours in each dimension are.
fn strides(dims: &[(i64, i64)]) -> Vec<i64> {
    let mut strides = vec![1; dims.len()];
    for j in (1..dims.len()).rev() {
        strides[j - 1] = strides[j] * dims[j].1;
    }
    strides
}

/// The indexes behind a cell number.
pub(super) fn indexes(dims: &[(i64, i64)], cell: i64) -> Vec<i64> {
    strides(dims).iter().zip(dims).map(|(s, (lo, len))| lo + cell / s % len).collect()
}

/// The cell number of indexes.
pub(super) fn cell(dims: &[(i64, i64)], indexes: &[i64]) -> i64 {
    strides(dims).iter().zip(dims).zip(indexes).map(|((s, (lo, _)), i)| s * (i - lo)).sum()
}

/// A number of terms, each with a factor, and a constant.
fn linear(terms: &Terms, t: TermId, factor: i64, parts: &mut Vec<(i64, TermId)>, constant: &mut i64) {
    match *terms.get(t) {
        Term::Int(n) => *constant = constant.saturating_add(factor.saturating_mul(n)),
        Term::Add(ref args) => args.iter().for_each(|&a| linear(terms, a, factor, parts, constant)),
        Term::Mul(a, b) => match (terms.as_int(a), terms.as_int(b)) {
            (Some(n), _) => linear(terms, b, factor.saturating_mul(n), parts, constant),
            (_, Some(n)) => linear(terms, a, factor.saturating_mul(n), parts, constant),
            _ => parts.push((factor, t)),
        },
        _ => parts.push((factor, t)),
    }
}

/// The index into each dimension, if the flat index is written as front ends write it.
pub(super) fn components(terms: &Terms, dims: &[(i64, i64)], index: TermId) -> Option<Vec<Component>> {
    let strides = strides(dims);
    let (mut parts, mut rest) = (Vec::new(), 0);
    linear(terms, index, 1, &mut parts, &mut rest);
    let mut found: Vec<Option<Component>> = vec![None; dims.len()];
    for (factor, t) in parts {
        // A dimension of one index has the stride of the next one: who knows which is meant?
        let mut at = strides.iter().enumerate().filter(|(_, s)| **s == factor);
        let (Some((j, _)), None) = (at.next(), at.next()) else { return None };
        if found[j].replace(Component::Term(t)).is_some() {
            return None;
        }
        rest += dims[j].0 * strides[j];
    }
    for j in 0..dims.len() {
        let digit = rest.div_euclid(strides[j]);
        rest -= digit * strides[j];
        match found[j] {
            None if (0..dims[j].1).contains(&digit) => found[j] = Some(Component::Number(dims[j].0 + digit)),
            Some(_) if digit == 0 => {}
            _ => return None,
        }
    }
    (rest == 0).then(|| found.into_iter().flatten().collect())
}

/// The flat index of components.
pub(super) fn flat(terms: &mut Terms, dims: &[(i64, i64)], components: &[Component]) -> TermId {
    let mut parts = Vec::new();
    for ((stride, (lo, _)), c) in strides(dims).into_iter().zip(dims).zip(components) {
        let i = match *c {
            Component::Number(n) => terms.int(n),
            Component::Term(t) => t,
        };
        let stride_term = terms.int(stride);
        parts.push(terms.mul(stride_term, i));
        parts.push(terms.int(-lo * stride));
    }
    parts.push(terms.int(0));
    terms.add(parts)
}

/// Who holds the same kind of thing, because one is compared with, assigned to, or an index into the other.
pub(super) struct Relations<'a, 'n> {
    info: &'a Info<'n>,
    terms: &'a Terms,
    unit: u32,
    pub pairs: Vec<(Holder, Holder)>,
}

impl<'a, 'n> Relations<'a, 'n> {
    /// Those of one unit.
    pub fn of(info: &'a Info<'n>, terms: &'a Terms, number: u32, unit: &Unit) -> Vec<(Holder, Holder)> {
        let mut r = Relations { info, terms, unit: number, pairs: Vec::new() };
        let mut all = unit.terms.clone();
        let mut seen = FxHashSet::default();
        unit.stmts.iter().for_each(|&s| r.stmt(s, &mut all, &mut seen));
        if let Some((base, index)) = unit.channel {
            all.push(index);
            r.index(info.channel_dims(base), index, |j| Holder::Channel(base, j));
        }
        for t in terms.subterms(all) {
            r.term(t);
        }
        r.pairs
    }

    fn holders(&self, t: TermId, out: &mut Vec<Holder>) {
        match *self.terms.get(t) {
            Term::Var(v) => out.push(self.info.holder(self.unit, v)),
            Term::Select(a, _) => {
                let mut all = Vec::new();
                roots(self.terms, a, &mut all);
                out.extend(all.into_iter().map(|v| self.info.holder(self.unit, v)));
            }
            Term::Checked(a, ..) => self.holders(a, out),
            Term::Ite(_, a, b) => {
                self.holders(a, out);
                self.holders(b, out);
            }
            _ => {}
        }
    }

    fn relate(&mut self, a: TermId, to: impl IntoIterator<Item = Holder>) {
        let mut of = Vec::new();
        self.holders(a, &mut of);
        let to: Vec<Holder> = to.into_iter().collect();
        if let Some(first) = of.first().copied() {
            self.pairs.extend(of.iter().chain(&to).map(|h| (first, *h)));
        }
    }

    fn same_arrays(&mut self, a: TermId, b: VarId) {
        let mut all = Vec::new();
        roots(self.terms, a, &mut all);
        for v in all {
            self.pairs.push((self.info.holder(self.unit, v), self.info.holder(self.unit, b)));
            if self.info.dims(v) == self.info.dims(b) {
                self.pairs.extend((0..self.info.dims(v).len() as u32).map(|j| (Holder::Dim(v, j), Holder::Dim(b, j))));
            }
        }
    }

    fn index(&mut self, dims: &[(i64, i64)], index: TermId, holder: impl Fn(u32) -> Holder) {
        for (j, c) in components(self.terms, dims, index).unwrap_or_default().into_iter().enumerate() {
            if let Component::Term(t) = c {
                self.relate(t, [holder(j as u32)]);
            }
        }
    }

    fn term(&mut self, t: TermId) {
        match *self.terms.get(t) {
            Term::Eq(a, b) if is_array(self.terms, a) => {
                if let Some(v) = root(self.terms, b) {
                    self.same_arrays(a, v);
                }
            }
            Term::Eq(a, b) => {
                let mut to = Vec::new();
                self.holders(b, &mut to);
                self.relate(a, to);
            }
            Term::Select(a, i) | Term::Store(a, i, _) => {
                let mut all = Vec::new();
                roots(self.terms, a, &mut all);
                for v in all {
                    self.index(self.info.dims(v), i, |j| Holder::Dim(v, j));
                    if let Term::Store(_, _, x) = *self.terms.get(t) {
                        self.relate(x, [self.info.holder(self.unit, v)]);
                    }
                }
            }
            _ => {}
        }
    }

    fn stmt(&mut self, s: StmtId, all: &mut Vec<TermId>, seen: &mut FxHashSet<StmtId>) {
        if !seen.insert(s) {
            return;
        }
        match *self.terms.stmt(s) {
            Stmt::Skip | Stmt::Havoc(_) => {}
            Stmt::Assume(t) => all.push(t),
            Stmt::Assign(v, t) => {
                all.push(t);
                match is_array(self.terms, t) {
                    true => self.same_arrays(t, v),
                    false => self.relate(t, [self.info.holder(self.unit, v)]),
                }
            }
            Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().for_each(|&p| self.stmt(p, all, seen)),
            Stmt::If(c, a, b) => {
                all.push(c);
                self.stmt(a, all, seen);
                self.stmt(b, all, seen);
            }
            Stmt::While(c, body) => {
                all.push(c);
                self.stmt(body, all, seen);
            }
            Stmt::Foreign(_, ref args) => all.extend(args.iter().copied()),
        }
    }
}

/// Carries sorts along relations until nothing changes. `only`: who may be given one.
pub(super) fn spread(pairs: &[(Holder, Holder)], sorts: &mut Sorts, only: impl Fn(Holder) -> bool) {
    loop {
        let before = sorts.len();
        for &(a, b) in pairs {
            for (a, b) in [(a, b), (b, a)] {
                if let (Some(&s), false, true) = (sorts.get(&a), sorts.contains_key(&b), only(b)) {
                    sorts.insert(b, s);
                }
            }
        }
        if sorts.len() == before {
            return;
        }
    }
}
