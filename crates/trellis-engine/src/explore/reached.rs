//! The states that were reached, each stored once and numbered in order, and from where.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::NONE;

/// States as rows of any length in one arena.
#[derive(Debug)]
pub struct Reached<T> {
    data: Vec<T>,
    /// Where each row ends; it starts where the one before ends.
    ends: Vec<usize>,
    /// From where each was first reached, and by which step.
    from: Vec<(u32, u32)>,
    index: HashTable<u32>,
}

impl<T> Default for Reached<T> {
    fn default() -> Reached<T> {
        Reached { data: vec![], ends: vec![], from: vec![], index: HashTable::new() }
    }
}

fn row<'d, T>(data: &'d [T], ends: &[usize], n: u32) -> &'d [T] {
    let start = if n == 0 { 0 } else { ends[n as usize - 1] };
    &data[start..ends[n as usize]]
}

impl<T: Copy + Eq + Hash> Reached<T> {
    /// How many states there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// A state by its number.
    pub fn get(&self, n: u32) -> &[T] {
        row(&self.data, &self.ends, n)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.count() as u32).map(|n| self.get(n))
    }

    /// By which step a state was first reached.
    pub fn via(&self, n: u32) -> u32 {
        self.from[n as usize].1
    }

    /// Adds a state that was reached from another ([`NONE`]: a start) by a step; its number, if it is new.
    pub fn add(&mut self, state: impl IntoIterator<Item = T>, parent: u32, via: u32) -> Option<u32> {
        let (number, new) = self.number(state, parent, via);
        new.then_some(number)
    }

    /// The same; its number, and whether it is new.
    pub fn number(&mut self, state: impl IntoIterator<Item = T>, parent: u32, via: u32) -> (u32, bool) {
        let start = self.data.len();
        self.data.extend(state);
        let hash = |state: &[T]| FxBuildHasher.hash_one(state);
        let (data, ends) = (&self.data, &self.ends);
        let new = &data[start..];
        let hash_of_it = hash(new);
        if let Some(&known) = self.index.find(hash_of_it, |&n| row(data, ends, n) == new) {
            self.data.truncate(start);
            return (known, false);
        }
        let number = ends.len() as u32;
        assert!(number < NONE, "more than four billion states");
        self.index.insert_unique(hash_of_it, number, |&n| hash(row(data, ends, n)));
        self.ends.push(self.data.len());
        self.from.push((parent, via));
        (number, true)
    }

    /// The states on the way to one of them, by number.
    pub fn path(&self, n: u32) -> Vec<u32> {
        let parent = |&n: &u32| Some(self.from[n as usize].0).filter(|&p| p != NONE);
        let mut path: Vec<u32> = std::iter::successors(Some(n), parent).collect();
        path.reverse();
        path
    }
}
