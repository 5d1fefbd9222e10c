//! Whether a swap is a symmetry: the swapped network must be the network itself.

use rustc_hash::FxHashMap;
use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, VarId};
use trellis_meter::seeded::{self, Bug};

use super::super::{Condition, Edge, Location, Network, Query, QueryKind, ResetTo};
use super::image::{AtomImage, Image, No, ResetImage, SyncImage, atom_terms, closed, edge_units, swapped};
use super::info::{Holder, Info, Unit, cell, indexes};
use super::{CellMove, Ready, Swap};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeImage {
    ends: (u32, u32),
    guard: (StmtId, TermId),
    atoms: Vec<AtomImage>,
    sync: Option<SyncImage>,
    event: Option<u32>,
    update: StmtId,
    resets: Vec<ResetImage>,
}

/// The swap, if it is a symmetry of the network and of the question.
pub(super) fn verify(net: &Network, query: &Query, swap: Swap) -> Result<Ready, No> {
    let info = Info::new(net);
    well_formed(&info, &swap)?;
    let mut terms = net.terms.clone();
    let mut image = Image::new(&info, &swap, &mut terms);
    let mut edges = Vec::new();
    for (p, process) in net.processes.iter().enumerate() {
        let other = &net.processes[swap.processes[p] as usize];
        if process.locations.len() != other.locations.len() || process.priority != other.priority {
            return Err("the processes differ");
        }
        for (a, b) in process.locations.iter().zip(&other.locations) {
            location(&mut image, a, b)?;
        }
        edges.push(matching(&mut image, &swap, p as u32, &process.edges, &other.edges)?);
    }
    let vector = |v: &super::super::Vector, apply: bool| {
        let part = |part: &super::super::VectorPart| {
            let event = swap.events.get(&(part.process, part.event)).copied().unwrap_or(part.event);
            let process = swap.processes[part.process as usize];
            if apply { (process, event, part.weak) } else { (part.process, part.event, part.weak) }
        };
        let mut parts: Vec<_> = v.parts.iter().map(part).collect();
        parts.sort_unstable();
        parts
    };
    let mut all: Vec<_> = net.vectors.iter().map(|v| vector(v, true)).collect();
    let mut same: Vec<_> = net.vectors.iter().map(|v| vector(v, false)).collect();
    all.sort();
    same.sort();
    if all != same {
        return Err("the processes move with others in different ways");
    }
    if !seeded::has(Bug::Question) {
        question(&mut image, query)?;
    }
    image.temporaries_are_private()?;
    order_is_no_matter(net, &swap)?;
    let cells = cells(net, &info, &swap);
    Ok(Ready { swap, edges, cells })
}

/// Is it a swap at all: does it change nothing when it is applied twice, and are ranges kept?
fn well_formed(info: &Info<'_>, swap: &Swap) -> Result<(), No> {
    const NONE: No = "not a swap";
    let net = info.net;
    let twice = |map: &[u32], len: usize| {
        map.len() == len && (0..len).all(|i| map.get(map[i] as usize).is_some_and(|&j| j as usize == i))
    };
    let right = twice(&swap.processes, net.processes.len())
        && twice(&swap.clocks, net.clocks.len() + 1)
        && twice(&swap.channels, net.channels.len())
        && swap.clocks[0] == 0;
    if !right {
        return Err(NONE);
    }
    let image = |v: &VarId| swap.images.get(v).copied().unwrap_or(*v);
    for (v, w) in &swap.images {
        let (Some(a), Some(b)) = (info.data(*v), info.data(*w)) else {
            let of = |v: &VarId| net.processes.iter().position(|p| p.location == *v);
            match (of(v), of(w)) {
                (Some(p), Some(q)) if swap.processes[p] as usize == q => continue,
                _ => return Err(NONE),
            }
        };
        if image(w) != *v || (a.lo, a.hi, a.is_bool, &a.dims) != (b.lo, b.hi, b.is_bool, &b.dims) {
            return Err(NONE);
        }
    }
    for (p, &q) in swap.processes.iter().enumerate() {
        if image(&net.processes[p].location) != net.processes[q as usize].location {
            return Err(NONE);
        }
    }
    for (c, &d) in swap.channels.iter().enumerate() {
        let (a, b) = (&net.channels[c], &net.channels[d as usize]);
        if (a.broadcast, a.urgent, a.priority) != (b.broadcast, b.urgent, b.priority) {
            return Err("the channels differ");
        }
    }
    for (holder, &pair) in &swap.sorts {
        match *holder {
            Holder::Temp(..) => return Err(NONE),
            Holder::Value(v) => {
                let Some((lo, hi)) = info.data(v).map(|d| (d.lo, d.hi)) else { return Err(NONE) };
                closed(Some(pair), lo, hi)?;
                if swap.sorts.get(&Holder::Value(image(&v))) != Some(&pair) {
                    return Err(NONE);
                }
            }
            Holder::Dim(v, j) => {
                let Some(&(lo, len)) = info.data(v).and_then(|d| d.dims.get(j as usize)) else { return Err(NONE) };
                closed(Some(pair), lo, lo + len - 1)?;
                if swap.sorts.get(&Holder::Dim(image(&v), j)) != Some(&pair) {
                    return Err(NONE);
                }
            }
            Holder::Channel(base, j) => {
                let Some(&(lo, len)) = info.channel_dims(base).get(j as usize) else { return Err(NONE) };
                closed(Some(pair), lo, lo + len - 1)?;
            }
        }
    }
    for ((p, e), f) in &swap.events {
        let q = swap.processes.get(*p as usize).ok_or(NONE)?;
        if swap.events.get(&(*q, *f)).unwrap_or(f) != e {
            return Err(NONE);
        }
    }
    for (base, dims) in &net.channel_arrays {
        let count: i64 = dims.iter().map(|d| d.1).product();
        for i in 0..count {
            let mut at = indexes(dims, i);
            for (j, n) in at.iter_mut().enumerate() {
                if let Some(&pair) = swap.sorts.get(&Holder::Channel(*base, j as u32)) {
                    *n = swapped(*n, pair);
                }
            }
            let to = cell(dims, &at);
            // Arrays that are only used entry by entry may be mapped in another way; then no index is swapped.
            let indexed = (0..dims.len()).any(|j| swap.sorts.contains_key(&Holder::Channel(*base, j as u32)));
            let variable = || uses_index(net, *base);
            if (indexed || variable()) && i64::from(swap.channels[*base as usize + i as usize]) != i64::from(*base) + to
            {
                return Err("an array of channels");
            }
        }
    }
    Ok(())
}

/// Is an array of channels used with an index that is no number?
fn uses_index(net: &Network, base: u32) -> bool {
    let varies = |e: &Edge| {
        e.sync.is_some_and(|s| s.base == base && s.index.is_some_and(|(_, i)| net.terms.as_int(i).is_none()))
    };
    net.processes.iter().any(|p| p.edges.iter().any(varies))
}

fn location(image: &mut Image<'_, '_>, a: &Location, b: &Location) -> Result<(), No> {
    if (a.urgent, a.committed) != (b.urgent, b.committed) {
        return Err("the locations differ");
    }
    let mut of = |l: &Location, apply: bool| {
        image.apply = apply;
        let data = l.invariant;
        image.unit(&Unit {
            stmts: data.iter().map(|c| c.prepare).collect(),
            terms: data.iter().map(|c| c.holds).chain(atom_terms(&l.clock_invariant)).collect(),
            channel: None,
        });
        let data = data.map(|c| Ok((image.stmt(c.prepare)?, image.term(c.holds, None)?))).transpose()?;
        Ok::<_, No>((data, image.atoms(&l.clock_invariant)?))
    };
    if of(a, true)? != of(b, false)? {
        return Err("the invariants differ");
    }
    // Invariants are judged one after the other: a fault could hide behind another that does not hold.
    match a.invariant {
        Some(c) if image.terms.may_fault(c.holds) || !matches!(image.terms.stmt(c.prepare), Stmt::Skip) => {
            Err("an invariant that may fail")
        }
        _ => Ok(()),
    }
}

fn edge(image: &mut Image<'_, '_>, swap: &Swap, p: u32, e: &Edge) -> Result<EdgeImage, No> {
    let [guard, label, update] = edge_units(e);
    image.unit(&guard);
    let holds = (image.stmt(e.guard.prepare)?, image.term(e.guard.holds, None)?);
    let atoms = image.atoms(&e.clock_guard)?;
    image.unit(&label);
    let sync = e.sync.as_ref().map(|s| image.sync(s)).transpose()?;
    image.unit(&update);
    let event = e.event.map(|v| match image.apply {
        true => swap.events.get(&(p, v)).copied().unwrap_or(v),
        false => v,
    });
    Ok(EdgeImage {
        ends: (e.source, e.target),
        guard: holds,
        atoms,
        sync,
        event,
        update: image.stmt(e.update)?,
        resets: image.resets(&e.resets)?,
    })
}

/// The number of the image of each edge among those of the other process.
fn matching(image: &mut Image<'_, '_>, swap: &Swap, p: u32, edges: &[Edge], others: &[Edge]) -> Result<Vec<u32>, No> {
    if edges.len() != others.len() {
        return Err("the edges differ");
    }
    let mut sorted = |edges: &[Edge], apply: bool| {
        image.apply = apply;
        let mut all = Vec::new();
        for (i, e) in edges.iter().enumerate() {
            all.push((edge(image, swap, p, e)?, i as u32));
        }
        all.sort();
        Ok::<_, No>(all)
    };
    let (images, others) = (sorted(edges, true)?, sorted(others, false)?);
    let mut map = vec![0; edges.len()];
    for ((a, i), (b, j)) in images.iter().zip(&others) {
        if a != b {
            return Err("the edges differ");
        }
        map[*i as usize] = *j;
    }
    Ok(map)
}

/// The question is the same after the swap.
fn question(image: &mut Image<'_, '_>, query: &Query) -> Result<(), No> {
    const OTHER: No = "the question tells them apart";
    let (QueryKind::Always(condition) | QueryKind::Possibly(condition)) = query.kind else { return Err(OTHER) };
    let unit = |atoms: Vec<TermId>, condition: Option<Condition>| Unit {
        stmts: condition.iter().map(|c| c.prepare).collect(),
        terms: condition.iter().map(|c| c.holds).chain(atoms).collect(),
        channel: None,
    };
    // Which clock constraint becomes which?
    let mut given = FxHashMap::default();
    let all: Vec<TermId> = query.atoms.iter().flat_map(|(_, a)| atom_terms(std::slice::from_ref(a))).collect();
    image.unit(&unit(all.clone(), None));
    image.apply = false;
    let same = query.atoms.iter().map(|(v, a)| Ok((image.atom(a)?, *v))).collect::<Result<Vec<_>, No>>()?;
    image.unit(&unit(all, None));
    image.apply = true;
    for (v, a) in &query.atoms {
        let new = image.atom(a)?;
        let (_, w) = same.iter().find(|(s, _)| *s == new).ok_or(OTHER)?;
        given.insert(*v, *w);
    }
    image.given = given;
    image.unit(&unit(Vec::new(), Some(condition)));
    let new = (image.stmt(condition.prepare)?, image.term(condition.holds, None)?);
    image.unit(&unit(Vec::new(), Some(condition)));
    image.apply = false;
    let old = (image.stmt(condition.prepare)?, image.term(condition.holds, None)?);
    if new == old { Ok(()) } else { Err(OTHER) }
}

/// What an edge does to variables and clocks.
#[derive(Default)]
struct Access {
    /// Which variable (or clock, with its number), and which cell of it; nothing: all of it.
    reads: Vec<(Result<VarId, u32>, Option<i64>)>,
    writes: Vec<(Result<VarId, u32>, Option<i64>)>,
}

impl Access {
    fn of(net: &Network, e: &Edge) -> Access {
        let mut a = Access::default();
        a.stmt(&net.terms, e.update);
        for r in &e.resets {
            a.writes.push((Err(r.clock), None));
            r.when.into_iter().for_each(|t| a.term(&net.terms, t));
            match r.to {
                ResetTo::Value(t) => a.term(&net.terms, t),
                ResetTo::Clock(c) => a.reads.push((Err(c), None)),
            }
        }
        a
    }

    fn term(&mut self, terms: &Terms, t: TermId) {
        let all = terms.subterms([t]);
        // An array of which single entries are read stands below them.
        let mut whole: Vec<TermId> = Vec::new();
        for &s in &all {
            match *terms.get(s) {
                Term::Select(a, i) => match (terms.get(a), terms.as_int(i)) {
                    (Term::Var(v), Some(n)) => self.reads.push((Ok(*v), Some(n))),
                    _ => whole.extend([a, i]),
                },
                _ => whole.extend(terms.children(s)),
            }
        }
        whole.push(t);
        for s in whole {
            if let Term::Var(v) = *terms.get(s) {
                self.reads.push((Ok(v), None));
            }
        }
    }

    fn stmt(&mut self, terms: &Terms, s: StmtId) {
        match *terms.stmt(s) {
            Stmt::Skip => {}
            Stmt::Assume(t) => self.term(terms, t),
            Stmt::Havoc(v) => self.writes.push((Ok(v), None)),
            Stmt::Assign(v, t) => match *terms.get(t) {
                // One entry is written; the others stay.
                Term::Store(a, i, x) if matches!(terms.get(a), Term::Var(w) if *w == v) => {
                    self.term(terms, i);
                    self.term(terms, x);
                    self.writes.push((Ok(v), terms.as_int(i)));
                }
                _ => {
                    self.term(terms, t);
                    self.writes.push((Ok(v), None));
                }
            },
            Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().for_each(|&p| self.stmt(terms, p)),
            Stmt::If(c, a, b) => {
                self.term(terms, c);
                self.stmt(terms, a);
                self.stmt(terms, b);
            }
            Stmt::While(c, body) => {
                self.term(terms, c);
                self.stmt(terms, body);
            }
            Stmt::Foreign(_, ref args) => args.iter().for_each(|&t| self.term(terms, t)),
        }
    }

    /// Does it make no difference which of two edges comes first?
    fn commutes(&self, other: &Access, private: impl Fn(VarId) -> bool) -> bool {
        let private = |v: &Result<VarId, u32>| v.is_ok_and(&private);
        let meets = |a: &[(Result<VarId, u32>, Option<i64>)], b: &[(Result<VarId, u32>, Option<i64>)]| {
            let same = |x: Option<i64>, y: Option<i64>| x.is_none() || y.is_none() || x == y;
            a.iter().any(|(v, i)| !private(v) && b.iter().any(|(w, j)| v == w && same(*i, *j)))
        };
        !meets(&self.writes, &other.writes) && !meets(&self.writes, &other.reads) && !meets(&other.writes, &self.reads)
    }
}

/// Several processes that receive a broadcast, or move in one vector, do so in their order. Where the swap changes that order
/// it must make no difference.
fn order_is_no_matter(net: &Network, swap: &Swap) -> Result<(), No> {
    const ORDER: No = "several move at once, and the order counts";
    let private = |v: VarId| net.temps.iter().any(|d| d.var == v) && !net.meta.contains(&v);
    let receives = |e: &&Edge| e.sync.is_some_and(|s| !s.send && net.channels[s.base as usize].broadcast);
    for p in 0..net.processes.len() {
        for q in p + 1..net.processes.len() {
            if swap.processes[p] < swap.processes[q] {
                continue;
            }
            let (a, b) = (&net.processes[p].edges, &net.processes[q].edges);
            for x in a.iter().filter(receives) {
                for y in b.iter().filter(receives) {
                    let base = |e: &Edge| e.sync.map(|s| s.base);
                    if base(x) == base(y) && !Access::of(net, x).commutes(&Access::of(net, y), private) {
                        return Err(ORDER);
                    }
                }
            }
            for v in &net.vectors {
                let part = |of: usize| v.parts.iter().find(|part| part.process as usize == of);
                let (Some(s), Some(t)) = (part(p), part(q)) else { continue };
                for x in a.iter().filter(|e| e.event == Some(s.event)) {
                    for y in b.iter().filter(|e| e.event == Some(t.event)) {
                        if hides_faults(&net.terms, x) || hides_faults(&net.terms, y) {
                            return Err(ORDER);
                        }
                        if !Access::of(net, x).commutes(&Access::of(net, y), private) {
                            return Err(ORDER);
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// In a vector, one guard or update after the other is tried until one refuses: could it be that another, behind it, fails?
fn hides_faults(terms: &Terms, e: &Edge) -> bool {
    fn refuses(terms: &Terms, s: StmtId) -> bool {
        match *terms.stmt(s) {
            Stmt::Skip | Stmt::Assign(..) | Stmt::Havoc(_) | Stmt::Foreign(..) => false,
            Stmt::Assume(_) | Stmt::Choice(_) => true,
            Stmt::Seq(ref parts) => parts.iter().any(|&p| refuses(terms, p)),
            Stmt::If(_, a, b) => refuses(terms, a) || refuses(terms, b),
            Stmt::While(_, body) => refuses(terms, body),
        }
    }
    let prepares = !matches!(terms.stmt(e.guard.prepare), Stmt::Skip);
    prepares || terms.may_fault(e.guard.holds) || refuses(terms, e.update)
}

/// The cells of a state that change.
fn cells(net: &Network, info: &Info<'_>, swap: &Swap) -> Vec<CellMove> {
    let mut all = Vec::new();
    for (p, &q) in swap.processes.iter().enumerate() {
        all.push((q, p as u32, None));
    }
    let mut starts = FxHashMap::default();
    let mut at = net.processes.len();
    for v in &net.vars {
        starts.insert(v.var, at);
        at += v.init.len();
    }
    for v in &net.vars {
        let to = swap.images.get(&v.var).copied().unwrap_or(v.var);
        let values = swap.sorts.get(&Holder::Value(v.var)).copied();
        let dims = info.dims(v.var);
        for i in 0..v.init.len() {
            let mut index = indexes(dims, i as i64);
            for (j, n) in index.iter_mut().enumerate() {
                if let Some(&pair) = swap.sorts.get(&Holder::Dim(v.var, j as u32)) {
                    *n = swapped(*n, pair);
                }
            }
            let image = if dims.is_empty() { 0 } else { cell(dims, &index) as usize };
            all.push(((starts[&to] + image) as u32, (starts[&v.var] + i) as u32, values));
        }
    }
    all.retain(|(to, from, values)| to != from || values.is_some());
    all.sort_unstable();
    all
}
