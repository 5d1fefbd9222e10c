//! Sets of vectors none of which is below another, and the two questions asked of them all the time: is one of them below this
//! vector, is one above it?
//!
//! A vector below another mentions no variable that the other does not. So each vector is filed under one of its variables (the one
//! under which fewest are filed), and whoever asks for something below looks only under the variables that are mentioned; a bit set
//! and the sum of all numbers tell most of the rest apart without looking at the vectors. What is above a vector mentions all its
//! variables: it is looked for among those that mention the rarest.

use trellis_meter::seeded::{self, Bug};

use super::{Var, Vector};

#[derive(Debug, Clone)]
struct Filed {
    vector: Vector,
    signature: u64,
    total: u64,
    under: Var,
}

/// A set of vectors none of which is below another. Numbers given to vectors are never used again.
#[derive(Debug, Clone, Default)]
pub struct Basis {
    all: Vec<Option<Filed>>,
    /// For each variable what is filed under it.
    under: Vec<Vec<u32>>,
    /// For each variable who mentions it, and some who are gone.
    mention: Vec<Vec<u32>>,
    /// The vector of nothing but zeros, if it is in the set.
    zero: Option<u32>,
    live: usize,
}

impl Basis {
    /// The smallest of some vectors.
    pub fn minimal(vectors: impl IntoIterator<Item = Vector>) -> Basis {
        let mut basis = Basis::default();
        for v in vectors {
            basis.insert_minimal(v);
        }
        basis
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The vectors, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &Vector> {
        self.all.iter().flatten().map(|f| &f.vector)
    }

    /// The vector with this number, if it is still there.
    pub fn get(&self, id: u32) -> Option<&Vector> {
        self.all.get(id as usize)?.as_ref().map(|f| &f.vector)
    }

    /// One that is below, if there is one.
    pub fn below(&self, v: &Vector) -> Option<u32> {
        if self.zero.is_some() {
            return self.zero;
        }
        let (signature, total) = (v.signature(), v.total());
        for (x, _) in v.iter() {
            for &id in self.under.get(x as usize).into_iter().flatten() {
                let Some(f) = &self.all[id as usize] else { continue };
                if f.signature & !signature == 0
                    && f.total <= total
                    && (f.vector.leq(v) || seeded::has(Bug::BelowTotal))
                {
                    return Some(id);
                }
            }
        }
        None
    }

    /// One that is above, if there is one.
    pub fn above(&self, v: &Vector) -> Option<u32> {
        self.those_above(v, true).first().copied()
    }

    fn those_above(&self, v: &Vector, one: bool) -> Vec<u32> {
        let (signature, total) = (v.signature(), v.total());
        let is_above = |id: &u32| {
            self.all[*id as usize].as_ref().is_some_and(|f| {
                signature & !f.signature == 0 && total <= f.total && (v.leq(&f.vector) || seeded::has(Bug::AboveAny))
            })
        };
        let most = if one { 1 } else { usize::MAX };
        let lists = v.iter().map(|(x, _)| self.mention.get(x as usize).map_or(&[][..], |l| &l[..]));
        match lists.min_by_key(|l| l.len()) {
            Some(list) => list.iter().copied().filter(is_above).take(most).collect(),
            None => (0..self.all.len() as u32).filter(is_above).take(most).collect(),
        }
    }

    /// Adds a vector unless one is below it, and drops what is above it. Its number, if it was added, and who was dropped.
    pub fn insert_minimal(&mut self, v: Vector) -> Option<(u32, Vec<u32>)> {
        if self.below(&v).is_some() {
            return None;
        }
        let gone = self.those_above(&v, false);
        gone.iter().for_each(|id| self.remove(*id));
        Some((self.insert(v), gone))
    }

    /// Adds a vector unless one is above it, and drops what is below it. Its number, if it was added, and who was dropped.
    pub fn insert_maximal(&mut self, v: Vector) -> Option<(u32, Vec<u32>)> {
        if self.above(&v).is_some() {
            return None;
        }
        let mut gone = vec![];
        while let Some(id) = self.below(&v) {
            self.remove(id);
            gone.push(id);
        }
        Some((self.insert(v), gone))
    }

    /// Adds a vector whatever else is there.
    pub fn insert(&mut self, vector: Vector) -> u32 {
        let id = self.all.len() as u32;
        let most = vector.entries().last().map_or(0, |e| e.0 as usize + 1);
        if self.under.len() < most {
            self.under.resize(most, vec![]);
            self.mention.resize(most, vec![]);
        }
        let under = vector.iter().map(|e| e.0).min_by_key(|x| self.under[*x as usize].len());
        match under {
            Some(x) => self.under[x as usize].push(id),
            None => self.zero = Some(id),
        }
        for (x, _) in vector.iter() {
            self.mention[x as usize].push(id);
        }
        let (signature, total) = (vector.signature(), vector.total());
        self.all.push(Some(Filed { vector, signature, total, under: under.unwrap_or(Var::MAX) }));
        self.live += 1;
        id
    }

    fn remove(&mut self, id: u32) {
        let Some(f) = self.all[id as usize].take() else { return };
        self.live -= 1;
        match self.under.get_mut(f.under as usize) {
            Some(list) => list.retain(|i| *i != id),
            None => self.zero = None,
        }
        for (x, _) in f.vector.iter() {
            self.mention[x as usize].retain(|i| *i != id);
        }
    }
}
