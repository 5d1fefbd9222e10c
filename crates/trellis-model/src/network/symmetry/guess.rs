//! Which swaps there could be. A guess may be wrong: whoever makes one has it verified.
//!
//! A swap of two members of a scalar set is known from the types, up to what belongs to the processes that have them as
//! arguments. A swap of two processes that look alike is read off the places in which they differ: another variable, another
//! clock, another number. A number is a member of the set where it is compared with, assigned to or an index of something; what
//! else holds members follows from what is compared with, assigned to and indexed by what.

use std::collections::BTreeMap;

use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, VarId};

use super::super::{ClockAtom, Edge, Network, Process, Query, QueryKind, Reset, ResetTo};
use super::image::{Image, No, atom_terms, edge_units};
use super::info::{Component, Holder, Info, Relations, Sorts, Unit, cell, components, indexes, is_array, root, spread};
use super::verify::verify;
use super::{Ready, Refused, Swap, Symmetry};

/// More processes than this that look alike are not compared.
const MANY: usize = 64;

/// All symmetries that are found.
pub(super) fn all(net: &Network, query: &Query) -> Symmetry {
    let info = Info::new(net);
    let mut units = info.units();
    if let QueryKind::Always(c) | QueryKind::Possibly(c) = query.kind {
        units.push(Unit { stmts: vec![c.prepare], terms: vec![c.holds], channel: None });
    }
    let related = |(i, u): (usize, &Unit)| Relations::of(&info, &net.terms, i as u32, u);
    let relations: Vec<(Holder, Holder)> = units.iter().enumerate().flat_map(related).collect();
    let mut found = Symmetry::default();
    for set in 0..net.scalars.len() {
        for member in 1..net.scalars[set].size {
            found.swaps.extend(scalar(&info, query, set, member, &relations).ok());
        }
    }
    let families = alike(net);
    for (f, family) in families.iter().enumerate() {
        for i in 1..family.len() {
            let (p, q) = (family[i - 1], family[i]);
            if found.swaps().any(|s| s.processes[p] as usize == q) {
                continue;
            }
            let single = swap(&info, query, &[(p, q)], Seed::default(), &relations);
            let single = single.or_else(|why| match typed(net, p, q) {
                Some(seed) => swap(&info, query, &[(p, q)], seed, &relations).map_err(|_| why),
                None => Err(why),
            });
            // Other families may have a process for each of these.
            let together = || {
                let same = families.iter().enumerate().filter(|(g, other)| *g != f && other.len() == family.len());
                let pairs: Vec<_> = [(p, q)].into_iter().chain(same.map(|(_, o)| (o[i - 1], o[i]))).collect();
                (pairs.len() > 1).then(|| swap(&info, query, &pairs, Seed::default(), &relations).ok()).flatten()
            };
            match single {
                Ok(ready) => found.swaps.push(ready),
                Err(why) => match together() {
                    Some(ready) => found.swaps.push(ready),
                    None => found.refused.push(Refused { processes: (p as u32, q as u32), why }),
                },
            }
        }
    }
    found
}

/// What is known of a swap beforehand.
#[derive(Default)]
struct Seed {
    sorts: Sorts,
    clocks: BTreeMap<u32, u32>,
}

impl Seed {
    /// Swaps members in one dimension of an array of clocks. An array of two such dimensions comes twice: each time moves on
    /// from where the other led.
    fn clocks(&mut self, first: u32, dims: &[(i64, i64)], dim: u32, pair: (i64, i64)) {
        let count: i64 = dims.iter().map(|d| d.1).product();
        for from in first..first + count as u32 {
            let at = self.clocks.get(&from).copied().unwrap_or(from);
            let mut index = indexes(dims, i64::from(at - first));
            index[dim as usize] = super::image::swapped(index[dim as usize], pair);
            self.clocks.insert(from, first + cell(dims, &index) as u32);
        }
    }
}

/// What follows from types if all that ranges over the arguments of a template stands for its processes.
fn typed(net: &Network, p: usize, q: usize) -> Option<Seed> {
    let of = |p: usize| net.members.get(p)?.as_ref();
    let (a, b) = (of(p)?, of(q)?);
    // A template may also be named with arguments of its own; such a process has fewer left.
    if a.args.len() != b.args.len() {
        return None;
    }
    let mut differ = (0..a.args.len()).filter(|&i| a.args[i] != b.args[i]);
    let (Some(at), None) = (differ.next(), differ.next()) else { return None };
    let values = net.members.iter().flatten().filter(|m| m.family == a.family).filter_map(|m| Some(m.args.get(at)?.1));
    let (lo, hi) = (values.clone().min()?, values.max()?);
    let pair = (a.args[at].1.min(b.args[at].1), a.args[at].1.max(b.args[at].1));
    let mut seed = Seed::default();
    let ranges = |dims: &[(i64, i64)]| -> Vec<u32> {
        (0..dims.len()).filter(|&j| dims[j] == (lo, hi - lo + 1)).map(|j| j as u32).collect()
    };
    for v in &net.vars {
        if (v.lo, v.hi) == (lo, hi) && !v.is_bool {
            seed.sorts.insert(Holder::Value(v.var), pair);
        }
        ranges(&v.dims).into_iter().for_each(|j| _ = seed.sorts.insert(Holder::Dim(v.var, j), pair));
    }
    for (base, dims) in &net.channel_arrays {
        ranges(dims).into_iter().for_each(|j| _ = seed.sorts.insert(Holder::Channel(*base, j), pair));
    }
    for (first, dims) in &net.clock_arrays {
        ranges(dims).into_iter().for_each(|j| seed.clocks(*first, dims, j, pair));
    }
    Some(seed)
}

/// Two neighbouring members of a scalar set.
fn scalar(
    info: &Info<'_>,
    query: &Query,
    set: usize,
    member: i64,
    relations: &[(Holder, Holder)],
) -> Result<Ready, No> {
    let net = info.net;
    let known = &net.scalars[set];
    let pair = (member - 1, member);
    let mut seed = Seed { sorts: known.holders.iter().map(|h| (*h, pair)).collect(), ..Seed::default() };
    for (array, dim) in &known.clocks {
        let (first, dims) = &net.clock_arrays[*array as usize];
        seed.clocks(*first, dims, *dim, pair);
    }
    let image = |p: &usize| {
        let m = net.members.get(*p)?.as_ref()?;
        let swapped = |&(s, n): &(Option<u32>, i64)| match s {
            Some(s) if s as usize == set => (Some(s), super::image::swapped(n, pair)),
            other => (other, n),
        };
        let args: Vec<_> = m.args.iter().map(swapped).collect();
        let same = |o: &Option<super::Member>| o.as_ref().is_some_and(|o| o.family == m.family && o.args == args);
        net.members.iter().position(same).filter(|q| q > p).map(|q| (*p, q))
    };
    let pairs: Vec<(usize, usize)> = (0..net.processes.len()).filter_map(|p| image(&p)).collect();
    swap(info, query, &pairs, seed, relations)
}

/// Processes that look alike, in order.
fn alike(net: &Network) -> Vec<Vec<usize>> {
    let look = |p: &Process| {
        let locations: Vec<_> = p.locations.iter().map(|l| (l.name.clone(), l.urgent, l.committed)).collect();
        let kind = |e: &Edge| (e.source, e.target, e.sync.map(|s| s.send), e.origin);
        let mut edges: Vec<_> = p.edges.iter().map(kind).collect();
        edges.sort_unstable();
        (locations, edges, p.priority)
    };
    let mut families: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, p) in net.processes.iter().enumerate() {
        families.entry(look(p)).or_default().push(i);
    }
    let mut all: Vec<Vec<usize>> = families.into_values().filter(|f| (2..=MANY).contains(&f.len())).collect();
    all.sort();
    all
}

/// The swap of these processes, if it is a symmetry.
fn swap(
    info: &Info<'_>,
    query: &Query,
    pairs: &[(usize, usize)],
    seed: Seed,
    relations: &[(Holder, Holder)],
) -> Result<Ready, No> {
    let net = info.net;
    let mut walk = Walk::new(info);
    for &(p, q) in pairs {
        walk.processes(p as u32, q as u32);
    }
    let mut swap = Swap {
        processes: (0..net.processes.len() as u32).collect(),
        clocks: (0..=net.clocks.len() as u32).collect(),
        channels: (0..net.channels.len() as u32).collect(),
        ..Swap::default()
    };
    for &(p, q) in pairs {
        swap.processes.swap(p, q);
        let (a, b) = (net.processes[p].location, net.processes[q].location);
        swap.images.extend([(a, b), (b, a)]);
    }
    for (&a, &b) in &walk.vars {
        swap.images.extend([(a, b), (b, a)]);
    }
    for (&a, &b) in &walk.clocks {
        (swap.clocks[a as usize], swap.clocks[b as usize]) = (b, a);
    }
    seed.clocks.iter().for_each(|(&a, &b)| swap.clocks[a as usize] = b);
    for (&a, &b) in &walk.channels {
        (swap.channels[a as usize], swap.channels[b as usize]) = (b, a);
    }
    for (&(p, e), &f) in &walk.events {
        swap.events.insert((p, e), f);
        swap.events.insert((swap.processes[p as usize], f), e);
    }
    swap.sorts = seed.sorts;
    for (h, pair) in walk.decided() {
        swap.sorts.entry(h).or_insert(pair);
    }
    spread(relations, &mut swap.sorts, |_| true);
    swap.sorts.retain(|h, _| !matches!(h, Holder::Temp(..)));
    for (h, pair) in swap.sorts.clone() {
        let image = |v: &VarId| swap.images.get(v).copied().unwrap_or(*v);
        match h {
            Holder::Value(v) => _ = swap.sorts.insert(Holder::Value(image(&v)), pair),
            Holder::Dim(v, j) => _ = swap.sorts.insert(Holder::Dim(image(&v), j), pair),
            Holder::Channel(..) | Holder::Temp(..) => {}
        }
    }
    channels(info, &mut swap);
    clocks(info, &mut swap);
    verify(net, query, swap)
}

/// `z[last] < 2` is one constraint for each clock of the array, when it is the one meant. When members are swapped, another
/// clock is: the one whose constraint applies then.
fn clocks(info: &Info<'_>, swap: &mut Swap) {
    let mut terms = info.net.terms.clone();
    let mut found = BTreeMap::new();
    let mut image = Image::new(info, swap, &mut terms);
    for p in &info.net.processes {
        for l in &p.locations {
            let unit = Unit { stmts: Vec::new(), terms: atom_terms(&l.clock_invariant).collect(), channel: None };
            let all = l.clock_invariant.iter().filter_map(|a| Some((a.when?, [a.left, a.right])));
            meant(&mut image, &unit, all.collect(), &mut found);
        }
        for e in &p.edges {
            let [guard, _, update] = edge_units(e);
            let all = e.clock_guard.iter().filter_map(|a| Some((a.when?, [a.left, a.right])));
            meant(&mut image, &guard, all.collect(), &mut found);
            let from = |r: &Reset| if let ResetTo::Clock(c) = r.to { c } else { 0 };
            let all = e.resets.iter().filter_map(|r| Some((r.when?, [r.clock, from(r)])));
            meant(&mut image, &update, all.collect(), &mut found);
        }
    }
    for (a, b) in found {
        if swap.clocks[a as usize] == a && swap.clocks[b as usize] == b {
            (swap.clocks[a as usize], swap.clocks[b as usize]) = (b, a);
        }
    }
}

/// Pairs up clocks by when they are meant.
fn meant(image: &mut Image<'_, '_>, unit: &Unit, all: Vec<(TermId, [u32; 2])>, found: &mut BTreeMap<u32, u32>) {
    if all.is_empty() {
        return;
    }
    let mut of = |apply: bool| {
        image.apply = apply;
        image.unit(unit);
        all.iter().map(|(when, _)| image.term(*when, None).ok()).collect::<Vec<_>>()
    };
    let (swapped, same) = (of(true), of(false));
    for (i, s) in swapped.iter().enumerate().filter(|(_, s)| s.is_some()) {
        let Some(j) = same.iter().position(|t| t == s) else { continue };
        for (&a, &b) in all[i].1.iter().zip(&all[j].1) {
            if a != b && a != 0 && b != 0 {
                found.entry(a.min(b)).or_insert(a.max(b));
            }
        }
    }
}

/// Arrays of channels that are indexed by members are swapped entry by entry.
fn channels(info: &Info<'_>, swap: &mut Swap) {
    for (base, dims) in &info.net.channel_arrays {
        let pairs: Vec<_> =
            (0..dims.len()).map(|j| swap.sorts.get(&Holder::Channel(*base, j as u32)).copied()).collect();
        if pairs.iter().all(Option::is_none) {
            continue;
        }
        let count: i64 = dims.iter().map(|d| d.1).product();
        for i in 0..count {
            let mut at = indexes(dims, i);
            for (n, pair) in at.iter_mut().zip(&pairs) {
                *n = pair.map_or(*n, |pair| super::image::swapped(*n, pair));
            }
            let inside = at.iter().zip(dims).all(|(n, (lo, len))| (*lo..lo + len).contains(n));
            if inside {
                swap.channels[*base as usize + i as usize] = base + cell(dims, &at) as u32;
            }
        }
    }
}

/// Goes through two processes side by side and notes where they differ.
struct Walk<'a, 'n> {
    info: &'a Info<'n>,
    terms: &'a Terms,
    /// The number of the unit of the first of the two.
    unit: u32,
    vars: BTreeMap<VarId, VarId>,
    clocks: BTreeMap<u32, u32>,
    channels: BTreeMap<u32, u32>,
    events: BTreeMap<(u32, u32), u32>,
    /// Numbers that differ, by who holds them, and how often.
    numbers: BTreeMap<Holder, BTreeMap<(i64, i64), usize>>,
}

impl<'a, 'n> Walk<'a, 'n> {
    fn new(info: &'a Info<'n>) -> Walk<'a, 'n> {
        Walk {
            info,
            terms: &info.net.terms,
            unit: 0,
            vars: BTreeMap::new(),
            clocks: BTreeMap::new(),
            channels: BTreeMap::new(),
            events: BTreeMap::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// For each holder, the pair that occurs most often: selects may be written out in another order.
    fn decided(&self) -> Vec<(Holder, (i64, i64))> {
        let mut total: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        self.numbers.values().flatten().for_each(|(pair, n)| *total.entry(*pair).or_default() += n);
        let best = |pairs: &BTreeMap<(i64, i64), usize>| pairs.keys().copied().max_by_key(|p| (total[p], *p));
        self.numbers.iter().filter_map(|(h, pairs)| Some((*h, best(pairs)?))).collect()
    }

    fn processes(&mut self, p: u32, q: u32) {
        let net = self.info.net;
        let (a, b) = (&net.processes[p as usize], &net.processes[q as usize]);
        // What belongs to a process has its name.
        let other = |name: &str| Some(format!("{}.{}", b.name, name.strip_prefix(&a.name)?.strip_prefix('.')?));
        for v in &net.vars {
            let twin = other(&v.name).and_then(|name| net.vars.iter().find(|w| w.name == name));
            twin.into_iter().for_each(|w| self.var(v.var, w.var));
        }
        for (i, name) in net.clocks.iter().enumerate() {
            let twin = other(name).and_then(|name| net.clocks.iter().position(|c| *c == name));
            twin.into_iter().for_each(|j| self.clock(i as u32 + 1, j as u32 + 1));
        }
        for (l, (x, y)) in a.locations.iter().zip(&b.locations).enumerate() {
            self.unit = self.info.location_unit(p as usize, l);
            if let (Some(x), Some(y)) = (x.invariant, y.invariant) {
                self.stmts(x.prepare, y.prepare);
                self.pair(x.holds, y.holds, None);
            }
            self.atoms(&x.clock_invariant, &y.clock_invariant);
        }
        for (e, (x, y)) in a.edges.iter().zip(&b.edges).enumerate() {
            if x.origin == y.origin {
                self.unit = self.info.edge_unit(p as usize, e);
                self.edges(p, x, y);
            }
        }
    }

    fn edges(&mut self, p: u32, x: &Edge, y: &Edge) {
        self.stmts(x.guard.prepare, y.guard.prepare);
        self.pair(x.guard.holds, y.guard.holds, None);
        self.atoms(&x.clock_guard, &y.clock_guard);
        if let (Some(s), Some(t)) = (x.sync, y.sync) {
            let number = |s: super::super::Sync| match s.index {
                None => Some(0),
                Some((_, i)) => self.terms.as_int(i),
            };
            if let (Some(i), Some(j)) = (number(s), number(t)) {
                let (c, d) = (s.base + i as u32, t.base + j as u32);
                let dims = self.info.channel_dims(s.base);
                if s.base == t.base && !dims.is_empty() {
                    for (k, (m, n)) in indexes(dims, i).into_iter().zip(indexes(dims, j)).enumerate() {
                        self.number(Some(Holder::Channel(s.base, k as u32)), m, n);
                    }
                } else if c != d {
                    self.channels.insert(c.min(d), c.max(d));
                }
            }
        }
        if let (Some(e), Some(f)) = (x.event, y.event)
            && e != f
        {
            self.events.insert((p, e), f);
        }
        self.unit += 2;
        self.stmts(x.update, y.update);
        for (r, s) in x.resets.iter().zip(&y.resets) {
            self.reset(r, s);
        }
    }

    fn reset(&mut self, r: &Reset, s: &Reset) {
        self.clock(r.clock, s.clock);
        if let (Some(a), Some(b)) = (r.when, s.when) {
            self.pair(a, b, None);
        }
        match (r.to, s.to) {
            (ResetTo::Value(a), ResetTo::Value(b)) => self.pair(a, b, None),
            (ResetTo::Clock(a), ResetTo::Clock(b)) => self.clock(a, b),
            _ => {}
        }
    }

    fn atoms(&mut self, a: &[ClockAtom], b: &[ClockAtom]) {
        for (x, y) in a.iter().zip(b) {
            self.clock(x.left, y.left);
            self.clock(x.right, y.right);
            self.pair(x.bound, y.bound, None);
            if let (Some(a), Some(b)) = (x.when, y.when) {
                self.pair(a, b, None);
            }
        }
    }

    fn clock(&mut self, a: u32, b: u32) {
        if a != b && a != 0 && b != 0 {
            self.clocks.insert(a.min(b), a.max(b));
        }
    }

    fn var(&mut self, v: VarId, w: VarId) {
        if v != w && !self.info.is_temp(v) && !self.info.is_temp(w) {
            self.vars.insert(v.min(w), v.max(w));
        }
    }

    fn number(&mut self, holder: Option<Holder>, m: i64, n: i64) {
        if let (Some(h), true) = (holder, m != n) {
            *self.numbers.entry(h).or_default().entry((m.min(n), m.max(n))).or_default() += 1;
        }
    }

    /// Who holds what a term is.
    fn holder(&self, t: TermId) -> Option<Holder> {
        match *self.terms.get(t) {
            Term::Var(v) => Some(self.info.holder(self.unit, v)),
            Term::Select(a, _) => root(self.terms, a).map(|v| self.info.holder(self.unit, v)),
            Term::Checked(a, ..) => self.holder(a),
            _ => None,
        }
    }

    fn pair(&mut self, a: TermId, b: TermId, holder: Option<Holder>) {
        if a == b {
            return;
        }
        let terms = self.terms;
        match (terms.get(a), terms.get(b)) {
            (&Term::Int(m), &Term::Int(n)) => self.number(holder, m, n),
            (&Term::Var(v), &Term::Var(w)) => self.var(v, w),
            (&Term::Eq(a, b), &Term::Eq(c, d)) => {
                let holder = self.holder(a).or_else(|| self.holder(b));
                let number = |t| terms.as_int(t).is_some();
                let (c, d) = if number(a) != number(c) { (d, c) } else { (c, d) };
                self.pair(a, c, holder);
                self.pair(b, d, holder);
            }
            (&Term::Select(a, i), &Term::Select(b, j)) => {
                self.pair(a, b, None);
                self.index(a, i, j);
            }
            (&Term::Store(a, i, x), &Term::Store(b, j, y)) => {
                self.pair(a, b, None);
                self.index(a, i, j);
                self.pair(x, y, root(terms, a).map(|v| self.info.holder(self.unit, v)));
            }
            (&Term::Checked(a, ..), &Term::Checked(b, ..)) => self.pair(a, b, holder),
            (&Term::Ite(c, x, y), &Term::Ite(d, z, w)) => {
                self.pair(c, d, None);
                self.pair(x, z, holder);
                self.pair(y, w, holder);
            }
            (x, y) if std::mem::discriminant(x) == std::mem::discriminant(y) => {
                for (x, y) in terms.children(a).into_iter().zip(terms.children(b)) {
                    self.pair(x, y, None);
                }
            }
            _ => {}
        }
    }

    fn index(&mut self, array: TermId, i: TermId, j: TermId) {
        let Some(v) = root(self.terms, array).filter(|v| !self.info.is_temp(*v)) else { return };
        let dims = self.info.dims(v);
        let (Some(a), Some(b)) = (components(self.terms, dims, i), components(self.terms, dims, j)) else { return };
        for (k, (a, b)) in a.into_iter().zip(b).enumerate() {
            match (a, b) {
                (Component::Number(m), Component::Number(n)) => self.number(Some(Holder::Dim(v, k as u32)), m, n),
                (Component::Term(a), Component::Term(b)) => self.pair(a, b, Some(Holder::Dim(v, k as u32))),
                _ => {}
            }
        }
    }

    fn stmts(&mut self, s: StmtId, t: StmtId) {
        if s == t {
            return;
        }
        match (self.terms.stmt(s).clone(), self.terms.stmt(t).clone()) {
            (Stmt::Assign(v, a), Stmt::Assign(w, b)) => {
                self.var(v, w);
                let holder = (!is_array(self.terms, a)).then(|| self.info.holder(self.unit, v));
                self.pair(a, b, holder);
            }
            (Stmt::Assume(a), Stmt::Assume(b)) => self.pair(a, b, None),
            (Stmt::Seq(a), Stmt::Seq(b)) => a.iter().zip(b.iter()).for_each(|(&a, &b)| self.stmts(a, b)),
            (Stmt::If(c, a, b), Stmt::If(d, e, f)) => {
                self.pair(c, d, None);
                self.stmts(a, e);
                self.stmts(b, f);
            }
            (Stmt::While(c, a), Stmt::While(d, b)) => {
                self.pair(c, d, None);
                self.stmts(a, b);
            }
            _ => {}
        }
    }
}
