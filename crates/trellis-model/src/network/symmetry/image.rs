//! Terms and statements as a swap sees them.
//!
//! The image of a term has in the swapped state the value (swapped, if it is a member of the set) that the term has in the
//! state itself. Every place in a term is either plain or holds members; a number is swapped where members are held. A
//! member may be copied, compared for equality and used as an index. Whatever else is done with one has no image.
//!
//! Images come in a normal form in which the order of conjuncts, disjuncts and summands does not matter (unless
//! something there may fault), so that what is the same but for the order is identical.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, Type, VarId};

use super::super::{ClockAtom, Edge, Reset, ResetTo, Sync};
use super::Swap;
use super::info::{Component, Holder, Info, Relations, Sort, Unit, components, flat, is_array, root, spread};

/// Why there is no image.
pub(super) type No = &'static str;

/// A clock constraint in normal form.
pub(super) type AtomImage = (Option<TermId>, u32, u32, bool, TermId);
/// A reset in normal form: the clock, when, the value or the clock it comes from.
pub(super) type ResetImage = (u32, Option<TermId>, Option<TermId>, u32);
/// A label in normal form: the channel or the array's first, what prepares the index and the index, and whether it sends.
pub(super) type SyncImage = (u32, Option<(StmtId, TermId)>, bool);

/// The terms of clock constraints.
pub(super) fn atom_terms(atoms: &[ClockAtom]) -> impl Iterator<Item = TermId> + '_ {
    atoms.iter().flat_map(|a| a.when.into_iter().chain([a.bound]))
}

fn reset_terms(resets: &[Reset]) -> impl Iterator<Item = TermId> + '_ {
    let value = |r: &Reset| match r.to {
        ResetTo::Value(t) => Some(t),
        ResetTo::Clock(_) => None,
    };
    resets.iter().flat_map(move |r| r.when.into_iter().chain(value(r)))
}

/// The guard, the label and the update of an edge.
pub(super) fn edge_units(e: &Edge) -> [Unit; 3] {
    let guard = [e.guard.holds].into_iter().chain(atom_terms(&e.clock_guard)).collect();
    let index = e.sync.and_then(|s| s.index.map(|(prepare, i)| (prepare, (s.base, i))));
    [
        Unit { stmts: vec![e.guard.prepare], terms: guard, channel: None },
        Unit {
            stmts: index.iter().map(|(p, _)| *p).collect(),
            terms: Vec::new(),
            channel: index.map(|(_, channel)| channel),
        },
        Unit { stmts: vec![e.update], terms: reset_terms(&e.resets).collect(), channel: None },
    ]
}

/// Takes images of terms and statements, one unit after the other.
pub(super) struct Image<'a, 'n> {
    info: &'a Info<'n>,
    swap: &'a Swap,
    pub terms: &'a mut Terms,
    /// Temporaries in normal form, by type.
    pool: FxHashMap<Type, Vec<VarId>>,
    /// Whether anything is swapped; otherwise terms only get their normal form.
    pub apply: bool,
    /// The images of the temporaries that stand for clock constraints in a question.
    pub given: FxHashMap<VarId, VarId>,
    /// The temporaries that hold members in some unit.
    holding: FxHashSet<VarId>,
    // Of the current unit.
    temps: FxHashMap<VarId, (i64, i64)>,
    written: FxHashSet<VarId>,
    renamed: FxHashMap<VarId, VarId>,
    used: FxHashMap<Type, usize>,
    memo: FxHashMap<(TermId, Sort), TermId>,
}

impl<'a, 'n> Image<'a, 'n> {
    pub fn new(info: &'a Info<'n>, swap: &'a Swap, terms: &'a mut Terms) -> Image<'a, 'n> {
        Image {
            info,
            swap,
            terms,
            pool: FxHashMap::default(),
            apply: true,
            given: FxHashMap::default(),
            holding: FxHashSet::default(),
            temps: FxHashMap::default(),
            written: FxHashSet::default(),
            renamed: FxHashMap::default(),
            used: FxHashMap::default(),
            memo: FxHashMap::default(),
        }
    }

    /// What follows belongs to this unit.
    pub fn unit(&mut self, unit: &Unit) {
        let pairs = Relations::of(self.info, self.terms, 0, unit);
        let mut sorts = self.swap.sorts.clone();
        spread(&pairs, &mut sorts, |h| matches!(h, Holder::Temp(..)));
        self.temps.clear();
        for (h, s) in sorts {
            if let Holder::Temp(_, v) = h {
                self.temps.insert(v, s);
                self.holding.insert(v);
            }
        }
        self.written.clear();
        for &s in &unit.stmts {
            self.written.extend(self.terms.stmt_vars(s).1);
        }
        self.renamed.clear();
        self.used.clear();
        self.memo.clear();
    }

    /// Temporaries that hold members belong to one unit alone, or somebody else could see them.
    pub fn temporaries_are_private(&self) -> Result<(), No> {
        match self.info.net.meta.iter().any(|v| self.holding.contains(v)) {
            false => Ok(()),
            true => Err("a variable that is no part of the state carries a member from one place to another"),
        }
    }

    fn value_sort(&self, v: VarId) -> Sort {
        match self.info.is_temp(v) {
            true => self.temps.get(&v).copied(),
            false => self.swap.sorts.get(&Holder::Value(v)).copied(),
        }
    }

    fn dim_sorts(&self, v: VarId) -> Vec<Sort> {
        let sort = |j| match self.info.is_temp(v) {
            true => None,
            false => self.swap.sorts.get(&Holder::Dim(v, j as u32)).copied(),
        };
        (0..self.info.dims(v).len()).map(sort).collect()
    }

    /// What kind of thing a term is; nothing for a number, which may be either.
    fn sort_of(&self, t: TermId) -> Option<Sort> {
        match *self.terms.get(t) {
            Term::Int(_) => None,
            Term::Var(v) => Some(self.value_sort(v)),
            Term::Select(a, _) => root(self.terms, a).map(|v| self.value_sort(v)),
            Term::Checked(a, ..) => self.sort_of(a),
            Term::Ite(_, a, b) => self.sort_of(a).or_else(|| self.sort_of(b)),
            _ => Some(None),
        }
    }

    fn number(&self, n: i64, sort: Sort) -> i64 {
        match sort {
            Some(pair) if self.apply => swapped(n, pair),
            _ => n,
        }
    }

    fn var(&mut self, v: VarId) -> VarId {
        if !self.info.is_temp(v) {
            return if self.apply { self.swap.images.get(&v).copied().unwrap_or(v) } else { v };
        }
        // What a unit does not write is set by others: a truth value of a question, a constant, `meta`.
        if !self.written.contains(&v) || self.info.net.meta.contains(&v) {
            return if self.apply { self.given.get(&v).copied().unwrap_or(v) } else { v };
        }
        if let Some(&w) = self.renamed.get(&v) {
            return w;
        }
        let ty = self.terms.variable(v).ty;
        let used = self.used.entry(ty).or_default();
        *used += 1;
        let pool = self.pool.entry(ty).or_default();
        if pool.len() < *used {
            pool.push(self.terms.declare("temporary", ty));
        }
        let w = pool[*used - 1];
        self.renamed.insert(v, w);
        w
    }

    /// The image of a term, which is used as something of this kind.
    pub fn term(&mut self, t: TermId, want: Sort) -> Result<TermId, No> {
        if let Some(&done) = self.memo.get(&(t, want)) {
            return Ok(done);
        }
        let done = self.fresh(t, want)?;
        self.memo.insert((t, want), done);
        Ok(done)
    }

    fn fresh(&mut self, t: TermId, want: Sort) -> Result<TermId, No> {
        const OTHER: No = "members are mixed with plain values";
        match self.terms.get(t).clone() {
            Term::Int(n) => {
                let n = self.number(n, want);
                Ok(self.terms.int(n))
            }
            Term::Var(v) => {
                if self.value_sort(v) != want {
                    return Err(OTHER);
                }
                let w = self.var(v);
                Ok(self.terms.var(w))
            }
            Term::Select(a, i) => {
                let v = root(self.terms, a).ok_or("an array of no variable")?;
                if self.value_sort(v) != want {
                    return Err(OTHER);
                }
                let (a, i) = (self.array(a, v)?, self.index_of(i, v)?);
                Ok(self.terms.select(a, i))
            }
            Term::Checked(a, lo, hi) => {
                closed(want, lo, hi)?;
                let a = self.term(a, want)?;
                Ok(self.terms.checked(a, lo, hi))
            }
            Term::Ite(c, a, b) => {
                let (c, a, b) = (self.term(c, None)?, self.term(a, want)?, self.term(b, want)?);
                Ok(self.terms.ite(c, a, b))
            }
            _ if want.is_some() => Err("members are computed with"),
            Term::Eq(a, b) => {
                let (a, b) = if is_array(self.terms, a) {
                    let v = root(self.terms, a).or_else(|| root(self.terms, b)).ok_or("an array of no variable")?;
                    (self.array(a, v)?, self.array(b, v)?)
                } else {
                    let (a, b) = self.unshifted(a, b);
                    let sort = self.sort_of(a).or_else(|| self.sort_of(b)).flatten();
                    (self.term(a, sort)?, self.term(b, sort)?)
                };
                Ok(self.terms.intern(Term::Eq(a.min(b), a.max(b))))
            }
            Term::And(parts) => {
                let parts = self.connective(&parts)?;
                Ok(self.terms.intern(Term::And(parts.into())))
            }
            Term::Or(parts) => {
                let parts = self.connective(&parts)?;
                Ok(self.terms.intern(Term::Or(parts.into())))
            }
            Term::Add(parts) => {
                let mut all = parts.iter().map(|&p| self.term(p, None)).collect::<Result<Vec<_>, No>>()?;
                all.sort_unstable();
                Ok(self.terms.intern(Term::Add(all.into())))
            }
            Term::Foreign(..) => Err("lattices"),
            Term::Store(..) | Term::ConstArray(..) => Err("an array of no variable"),
            _ => {
                let children = self.terms.children(t);
                let all = children.iter().map(|&c| self.term(c, None)).collect::<Result<Vec<_>, No>>()?;
                Ok(self.terms.rebuild(t, &all))
            }
        }
    }

    /// `i - 1 == 2` as `i == 3`: so a front end asks which entry of an array is meant.
    fn unshifted(&mut self, a: TermId, b: TermId) -> (TermId, TermId) {
        let (sum, n) = match (self.terms.as_int(a), self.terms.as_int(b)) {
            (Some(n), None) => (b, n),
            (None, Some(n)) => (a, n),
            _ => return (a, b),
        };
        if let Term::Add(ref parts) = *self.terms.get(sum)
            && let [t, c] = parts[..]
            && let Some(n) = self.terms.as_int(c).and_then(|c| n.checked_sub(c))
        {
            return (t, self.terms.int(n));
        }
        (a, b)
    }

    fn connective(&mut self, parts: &[TermId]) -> Result<Vec<TermId>, No> {
        let mut all = parts.iter().map(|&p| self.term(p, None)).collect::<Result<Vec<_>, No>>()?;
        if !all.iter().any(|&t| self.terms.may_fault(t)) {
            all.sort_unstable();
        }
        Ok(all)
    }

    /// The image of an array like that of the variable.
    fn array(&mut self, t: TermId, like: VarId) -> Result<TermId, No> {
        match *self.terms.get(t) {
            Term::Var(v) => {
                let sorts = |v| (self.value_sort(v), self.dim_sorts(v));
                let (mine, theirs) = (sorts(v), sorts(like));
                let flat = |s: &(Sort, Vec<Sort>)| s.1.iter().all(Option::is_none);
                let same = self.info.dims(v) == self.info.dims(like) || flat(&mine) && flat(&theirs);
                if mine.0 != theirs.0 || !same || !flat(&mine) && mine.1 != theirs.1 {
                    return Err("arrays of members are mixed with others");
                }
                let w = self.var(v);
                Ok(self.terms.var(w))
            }
            Term::Store(a, i, x) => {
                let (a, i) = (self.array(a, like)?, self.index_of(i, like)?);
                let x = self.term(x, self.value_sort(like))?;
                Ok(self.terms.store(a, i, x))
            }
            Term::Ite(c, a, b) => {
                let (c, a, b) = (self.term(c, None)?, self.array(a, like)?, self.array(b, like)?);
                Ok(self.terms.ite(c, a, b))
            }
            Term::ConstArray(ty, x) => {
                let ty = self.terms.type_of_id(ty);
                let x = self.term(x, self.value_sort(like))?;
                Ok(self.terms.const_array(ty, x))
            }
            _ => Err("an array of no variable"),
        }
    }

    fn index_of(&mut self, i: TermId, v: VarId) -> Result<TermId, No> {
        let sorts = self.dim_sorts(v);
        self.index(i, self.info.dims(v), &sorts)
    }

    fn index(&mut self, i: TermId, dims: &[(i64, i64)], sorts: &[Sort]) -> Result<TermId, No> {
        if sorts.iter().all(Option::is_none) {
            return self.term(i, None);
        }
        let all = components(self.terms, dims, i).ok_or("an index that cannot be read")?;
        let mut images = Vec::new();
        for ((c, &(lo, len)), &sort) in all.into_iter().zip(dims).zip(sorts) {
            closed(sort, lo, lo + len - 1)?;
            images.push(match c {
                Component::Number(n) => Component::Number(self.number(n, sort)),
                Component::Term(t) => Component::Term(self.term(t, sort)?),
            });
        }
        Ok(flat(self.terms, dims, &images))
    }

    /// The image of a statement.
    pub fn stmt(&mut self, s: StmtId) -> Result<StmtId, No> {
        let new = match self.terms.stmt(s).clone() {
            Stmt::Skip => Stmt::Skip,
            Stmt::Assume(t) => Stmt::Assume(self.term(t, None)?),
            Stmt::Assign(v, t) => {
                let sort = self.value_sort(v);
                if let Some((lo, hi)) = self.info.range(v) {
                    closed(sort, lo, hi)?;
                }
                let t = if is_array(self.terms, t) { self.array(t, v)? } else { self.term(t, sort)? };
                Stmt::Assign(self.var(v), t)
            }
            Stmt::Havoc(v) => Stmt::Havoc(self.var(v)),
            Stmt::Seq(parts) => Stmt::Seq(parts.iter().map(|&p| self.stmt(p)).collect::<Result<_, No>>()?),
            Stmt::Choice(parts) => Stmt::Choice(parts.iter().map(|&p| self.stmt(p)).collect::<Result<_, No>>()?),
            Stmt::If(c, a, b) => {
                let c = self.term(c, None)?;
                Stmt::If(c, self.stmt(a)?, self.stmt(b)?)
            }
            Stmt::While(c, body) => {
                let c = self.term(c, None)?;
                Stmt::While(c, self.stmt(body)?)
            }
            Stmt::Foreign(..) => return Err("lattices"),
        };
        Ok(self.terms.intern_stmt(new))
    }

    fn clock(&self, c: u32) -> u32 {
        if self.apply { self.swap.clocks[c as usize] } else { c }
    }

    /// The image of a clock constraint.
    pub fn atom(&mut self, a: &ClockAtom) -> Result<AtomImage, No> {
        let when = a.when.map(|w| self.term(w, None)).transpose()?;
        Ok((when, self.clock(a.left), self.clock(a.right), a.strict, self.term(a.bound, None)?))
    }

    /// The images of a conjunction of clock constraints.
    pub fn atoms(&mut self, atoms: &[ClockAtom]) -> Result<Vec<AtomImage>, No> {
        let mut all = atoms.iter().map(|a| self.atom(a)).collect::<Result<Vec<_>, No>>()?;
        all.sort_unstable();
        Ok(all)
    }

    /// The images of resets. Those of different clocks to numbers may come in any order.
    pub fn resets(&mut self, resets: &[Reset]) -> Result<Vec<ResetImage>, No> {
        let mut all = Vec::new();
        for r in resets {
            let when = r.when.map(|w| self.term(w, None)).transpose()?;
            let (value, from) = match r.to {
                ResetTo::Value(t) => (Some(self.term(t, None)?), 0),
                ResetTo::Clock(c) => (None, self.clock(c)),
            };
            all.push((self.clock(r.clock), when, value, from));
        }
        if all.iter().all(|r| r.2.is_some()) {
            all.sort_by_key(|r| r.0);
        }
        Ok(all)
    }

    /// The image of a label.
    pub fn sync(&mut self, s: &Sync) -> Result<SyncImage, No> {
        let channel = |this: &Self, c: u32| if this.apply { this.swap.channels[c as usize] } else { c };
        let Some((prepare, index)) = s.index else { return Ok((channel(self, s.base), None, s.send)) };
        if let Some(i) = self.terms.as_int(index) {
            return Ok((channel(self, s.base + i as u32), None, s.send));
        }
        let dims = self.info.channel_dims(s.base);
        let sort = |j: usize| self.swap.sorts.get(&Holder::Channel(s.base, j as u32)).copied();
        let sorts: Vec<Sort> = (0..dims.len()).map(sort).collect();
        let prepare = self.stmt(prepare)?;
        Ok((s.base, Some((prepare, self.index(index, dims, &sorts)?)), s.send))
    }
}

/// A number after its swap.
pub(super) fn swapped(n: i64, (a, b): (i64, i64)) -> i64 {
    match n {
        n if n == a => b,
        n if n == b => a,
        n => n,
    }
}

/// A range holds both of the members that are swapped, or neither.
pub(super) fn closed(sort: Sort, lo: i64, hi: i64) -> Result<(), No> {
    match sort {
        Some((a, b)) if (lo..=hi).contains(&a) != (lo..=hi).contains(&b) => {
            Err("a range has one member but not another")
        }
        _ => Ok(()),
    }
}
