//! What variables are between their declaration and the end of their block: set or not yet, there or no longer.
//!
//! *Lifetimes.* When a variable's block ends, every pointer to it becomes *dead* (C11 6.2.4: its value is indeterminate from then on): a
//! number of its own, which no variable has. A pointer from an earlier turn of a loop is not mistaken for one to the variable of this
//! turn. Temporaries of expressions are left alone.
//!
//! *Values never set.* A local variable without an initialiser has a flag beside it, or an array of flags, if that is asked for. A copy
//! of a structure copies them; what is handed over to a function as a structure counts as set, and so does a variable with an initialiser that a
//! jump passes over.
//!
//! *Functions without a body* may change every variable that they can get at: globals, static variables, and what pointers point to.

use std::rc::Rc;

use lang_c::span::Span as CSpan;
use rustc_hash::FxHashSet;
use trellis_expr::{StmtId, TermId, Type, VarId};
use trellis_model::cfa::LocationId;

use super::checks::Kind;
use super::lower::{Lower, Lowered};
use super::place::{Base, Place};
use super::structs::{Key, Object};
use super::types::CType;

/// An edge whose statement is known when the whole program is.
#[derive(Debug)]
pub struct Pending {
    from: LocationId,
    to: LocationId,
    span: CSpan,
    what: Last,
}

#[derive(Debug)]
enum Last {
    /// Pointers to these variables are dead.
    Dead(FxHashSet<Key>),
    /// Whatever can be changed from elsewhere is.
    Anything,
}

/// Arrays of more pointers than this are not looked through.
const MAX_POINTERS: u64 = 1024;

impl Lower<'_> {
    // Lifetimes.

    /// What a pointer is whose variable is gone, if there are such pointers.
    pub fn dead(&self, to: &CType) -> Option<u64> {
        let local = |key: &Key| matches!(key, Key::Local(_));
        let any = self.known.get(to).is_some_and(|all| all.iter().any(|t| local(&t.key)));
        (self.asks(Kind::Pointer) && any).then(|| self.bases(to).1)
    }

    /// Notes that a pointer points to something.
    pub fn points_somewhere(&mut self, address: TermId, to: &Rc<CType>, span: CSpan) -> Lowered<()> {
        let null = self.null(to);
        let there = self.terms().ne(address, null);
        self.must(there, Kind::Pointer, span, |s| format!("{}: null pointer", s.snippet(span)));
        if let Some(dead) = self.dead(to) {
            let dead = self.address_number(to, dead);
            let there = self.terms().ne(address, dead);
            self.must(there, Kind::Pointer, span, |s| {
                format!("{}: pointer to a variable that is gone", s.snippet(span))
            });
        }
        let all = self.pointees(address, to)?;
        let any = self.terms().or(all.into_iter().map(|(when, _)| when));
        self.must(any, Kind::Bounds, span, |s| {
            format!("{}: pointer to nothing (behind its array, or never set)", s.snippet(span))
        });
        Ok(())
    }

    /// The block of these variables ends: goes on where no pointer points to them.
    pub fn end_of(&mut self, objects: &[Object], span: CSpan) {
        if !self.asks(Kind::Pointer) {
            return;
        }
        let pointed = |key: &Key| self.known.values().flatten().any(|t| t.key == *key);
        let keys: FxHashSet<Key> = objects.iter().map(|o| o.key.clone()).filter(|key| pointed(key)).collect();
        if !keys.is_empty() {
            self.later(Last::Dead(keys), span);
        }
    }

    /// The same for the variables from so many on that are alive here.
    pub fn end_from(&mut self, first: usize, span: CSpan) {
        let objects: Vec<Object> = self.frame.automatic.get(first..).unwrap_or_default().to_vec();
        self.end_of(&objects, span);
    }

    /// A function without a body was called.
    pub fn anything(&mut self, span: CSpan) {
        self.later(Last::Anything, span);
    }

    fn later(&mut self, what: Last, span: CSpan) {
        self.flush(span);
        let Some(from) = self.at else { return };
        let to = self.location(span);
        self.pending.push(Pending { from, to, span, what });
        self.at = Some(to);
    }

    /// Adds the edges that were put off.
    pub fn finish(&mut self) -> Lowered<()> {
        for Pending { from, to, span, what } in std::mem::take(&mut self.pending) {
            let stmt = match what {
                Last::Dead(keys) => self.dead_pointers(&keys, span)?,
                Last::Anything => self.changed_elsewhere()?,
            };
            self.edge(from, stmt, to, span);
        }
        Ok(())
    }

    fn dead_pointers(&mut self, keys: &FxHashSet<Key>, span: CSpan) -> Lowered<StmtId> {
        let mut all = vec![];
        for (v, to, count) in self.pointers.clone() {
            let Some(dead) = self.dead(&to) else { continue };
            let targets = self.known.get(&*to).cloned().unwrap_or_default();
            let mut gone = vec![];
            for (target, base) in targets.iter().zip(self.bases(&to).0) {
                if keys.contains(&target.key) {
                    gone.push([base, base + target.addresses() - 1].map(|n| self.address_number(&to, n)));
                }
            }
            if gone.is_empty() {
                continue;
            }
            let dead = self.address_number(&to, dead);
            let terms = self.terms();
            let mut value = terms.var(v);
            let renewed = |terms: &mut trellis_expr::Terms, old: TermId| {
                let inside = |[first, last]: &[TermId; 2], terms: &mut trellis_expr::Terms| {
                    let (low, high) = (terms.le(*first, old), terms.le(old, *last));
                    terms.and([low, high])
                };
                let any: Vec<TermId> = gone.iter().map(|g| inside(g, terms)).collect();
                let any = terms.or(any);
                terms.ite(any, dead, old)
            };
            match (count, terms.variable(v).ty) {
                (Some(n), _) if n > MAX_POINTERS => {
                    return self.error(span, "there are arrays of too many pointers to local variables");
                }
                (Some(n), Type::Array(index, _)) => {
                    let sort = terms.sort(terms.type_of_id(index));
                    for i in 0..n {
                        let i = terms.number(sort, i.into());
                        let old = terms.select(value, i);
                        let new = renewed(terms, old);
                        value = terms.store(value, i, new);
                    }
                }
                _ => value = renewed(terms, value),
            }
            all.push(self.terms().assign(v, value));
        }
        Ok(self.terms().seq(all))
    }

    fn changed_elsewhere(&mut self) -> Lowered<StmtId> {
        let mut objects = self.unit.changeable();
        for start in self.started.clone() {
            objects.extend(self.locals.get(&start).cloned());
        }
        let pointed: FxHashSet<Key> = self.known.values().flatten().map(|t| t.key.clone()).collect();
        for key in pointed {
            if let Key::Local(start) = key {
                objects.extend(self.locals.get(&start).cloned());
            }
        }
        let mut seen = FxHashSet::default();
        let mut all = vec![];
        for object in objects {
            let is_text = object.vars.first().is_some_and(|v| self.cfa.terms.variable(*v).name.starts_with("@text"));
            if !is_text && seen.insert(object.key.clone()) {
                all.push(self.arbitrary_object(&object));
                all.extend(object.vars.iter().map(|v| self.set_flag(*v, None)));
            }
        }
        Ok(self.terms().seq(all))
    }

    // Values never set.

    /// The statement that a variable without an initialiser starts with.
    pub fn unset(&mut self, object: &Object) -> StmtId {
        let mut all = vec![self.arbitrary_object(object)];
        if self.asks(Kind::Uninitialised) {
            for &v in object.vars.iter() {
                let flag = self.flag(v);
                let value = self.flag_value(flag, false);
                all.push(self.terms().assign(flag, value));
            }
        }
        self.terms().seq(all)
    }

    /// The same where a jump passes over its declaration: with an initialiser it has no flag.
    pub fn unset_again(&mut self, object: &Object) -> StmtId {
        match object.vars.iter().any(|v| self.flags.contains_key(v)) {
            true => self.unset(object),
            false => self.arbitrary_object(object),
        }
    }

    fn flag(&mut self, v: VarId) -> VarId {
        if let Some(&flag) = self.flags.get(&v) {
            return flag;
        }
        let variable = self.cfa.terms.variable(v);
        let (name, ty) = (format!("@set {}", variable.name), variable.ty);
        let ty = match ty {
            Type::Array(index, _) => {
                let index = self.cfa.terms.type_of_id(index);
                self.terms().array_type(index, Type::Bool)
            }
            _ => Type::Bool,
        };
        let flag = self.declare(&name, ty);
        self.flags.insert(v, flag);
        flag
    }

    fn flag_value(&mut self, flag: VarId, set: bool) -> TermId {
        let value = self.terms().bool(set);
        match self.cfa.terms.variable(flag).ty {
            ty @ Type::Array(..) => self.terms().const_array(ty, value),
            _ => value,
        }
    }

    /// A variable, or an entry of it, has been set.
    pub fn set_flag(&mut self, v: VarId, at: Option<TermId>) -> StmtId {
        let Some(&flag) = self.flags.get(&v) else { return self.terms().skip() };
        let value = match at {
            Some(i) => {
                let terms = self.terms();
                let (all, yes) = (terms.var(flag), terms.bool(true));
                terms.store(all, i, yes)
            }
            None => self.flag_value(flag, true),
        };
        self.terms().assign(flag, value)
    }

    /// Notes that a place has been set before it is read.
    pub fn is_set(&mut self, place: &Place, span: CSpan) -> Lowered<()> {
        if !self.asks(Kind::Uninitialised) {
            return Ok(());
        }
        let set = self.flag_of(place, 0)?;
        self.must(set, Kind::Uninitialised, span, |s| format!("{}: read before it is set", s.snippet(span)));
        Ok(())
    }

    /// Has a leaf of a place been set?
    fn flag_of(&mut self, place: &Place, leaf: usize) -> Lowered<TermId> {
        let mut all = vec![];
        for spot in self.spots(place, leaf, &[])? {
            let Some(&flag) = self.flags.get(&spot.var) else { continue };
            let terms = self.terms();
            let flag = terms.var(flag);
            let set = match spot.at {
                Some(i) => terms.select(flag, i),
                None => flag,
            };
            all.push(match spot.when {
                Some(when) => terms.implies(when, set),
                None => set,
            });
        }
        Ok(self.terms().and(all))
    }

    /// The flags of a structure, to be copied with it; none where nobody asks.
    pub fn flags_of(&mut self, place: &Place) -> Lowered<Vec<TermId>> {
        if !self.asks(Kind::Uninitialised) {
            return Ok(vec![]);
        }
        let leaves = self.leaves(&place.ty).unwrap_or_default();
        let mut all = vec![];
        for (k, leaf) in leaves.iter().enumerate() {
            let whole = match (&place.base, &place.steps[..]) {
                (Base::Object(o), []) => o.vars.get(place.leaf + k).and_then(|v| self.flags.get(v)).copied(),
                _ => None,
            };
            all.push(match (leaf.count, whole) {
                (Some(_), Some(flag)) => self.terms().var(flag),
                // Entries of an array inside: as if they were set.
                (Some(_), None) => self.terms().bool(true),
                (None, _) => self.flag_of(place, k)?,
            });
        }
        Ok(all)
    }

    /// Gives the leaves of a structure these flags.
    pub fn spread_flags(&mut self, place: &Place, flags: &[TermId], span: CSpan) -> Lowered<()> {
        let mut all = vec![];
        for (k, &value) in flags.iter().enumerate() {
            for spot in self.spots(place, k, &[])? {
                let Some(&flag) = self.flags.get(&spot.var) else { continue };
                let ty = self.cfa.terms.variable(flag).ty;
                let terms = self.terms();
                let old = terms.var(flag);
                let new = match spot.at {
                    _ if terms.ty(value) == ty => value,
                    Some(i) if terms.ty(value) == Type::Bool => terms.store(old, i, value),
                    _ => continue,
                };
                let new = match spot.when {
                    Some(when) => terms.ite(when, new, old),
                    None => new,
                };
                all.push(terms.assign(flag, new));
            }
        }
        let stmt = self.terms().seq(all);
        self.emit(stmt, span);
        Ok(())
    }
}
