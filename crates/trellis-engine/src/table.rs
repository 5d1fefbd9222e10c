//! States of one width in flat memory, each stored once, and how each was first reached: what simple update keeps (000 Alg. 2).
//!
//! A state costs its words, six bytes for parent and step, and a place in the index. There are no chains and no marks: nothing is ever
//! retired. Running out of memory, or of numbers, is an answer and not the end of the process: whoever adds is told.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use trellis_model::evidence::Reason;
use trellis_order::Word;

use crate::explore::NONE;

/// Why a state cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// The system gives no more memory.
    Memory,
    /// There are no more numbers.
    Numbers,
}

impl From<NoRoom> for Reason {
    fn from(why: NoRoom) -> Reason {
        match why {
            NoRoom::Memory => Reason::Memory,
            NoRoom::Numbers => Reason::Unsupported("more than four billion states".into()),
        }
    }
}

/// Makes room for so many more; less than usual if that is all there is.
#[inline]
pub fn make_room<T>(list: &mut Vec<T>, more: usize) -> Result<(), NoRoom> {
    if list.capacity() - list.len() >= more {
        return Ok(());
    }
    let little = more.max(list.len() / 8);
    list.try_reserve(more).or_else(|_| list.try_reserve_exact(little)).map_err(|_| NoRoom::Memory)
}

/// Makes room for one more in an index.
#[inline]
pub fn make_place<T>(index: &mut HashTable<T>, hash: impl Fn(&T) -> u64) -> Result<(), NoRoom> {
    if index.len() < index.capacity() {
        return Ok(());
    }
    index.try_reserve(1, hash).map_err(|_| NoRoom::Memory)
}

/// The hash of some words.
#[inline]
pub fn hash_words(words: &[Word]) -> u64 {
    let mut h = FxHasher::default();
    for &w in words {
        h.write_u64(w);
    }
    h.finish()
}

/// Are they equal? Most states are a word or two, for which a call would cost more than the comparison.
#[inline]
pub fn same_words(a: &[Word], b: &[Word]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// States, numbered in the order in which they came.
#[derive(Debug)]
pub struct Table {
    width: usize,
    words: Vec<Word>,
    index: HashTable<u32>,
    /// From where each was first reached.
    parents: Vec<u32>,
    /// By which step of the parent; [`WIDE`]: see below.
    vias: Vec<u16>,
    /// Steps with large numbers.
    wide: FxHashMap<u32, u32>,
}

/// Stands for a step whose number does not fit.
const WIDE: u16 = u16::MAX;

impl Table {
    /// An empty table for states of so many words, at least one.
    pub fn new(width: usize) -> Table {
        Table {
            width,
            words: Vec::new(),
            index: HashTable::new(),
            parents: Vec::new(),
            vias: Vec::new(),
            wide: FxHashMap::default(),
        }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.words.len() / self.width
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// A state by its number.
    #[inline]
    pub fn get(&self, n: u32) -> &[Word] {
        &self.words[n as usize * self.width..][..self.width]
    }

    /// From where a state was first reached; [`NONE`]: from nowhere.
    pub fn parent(&self, n: u32) -> u32 {
        self.parents[n as usize]
    }

    /// By which step of its parent.
    pub fn via(&self, n: u32) -> u32 {
        match self.vias[n as usize] {
            WIDE => self.wide[&n],
            via => u32::from(via),
        }
    }

    /// The number of a state that is stored.
    #[inline]
    pub fn find(&self, state: &[Word], hash: u64) -> Option<u32> {
        self.index.find(hash, |&n| same_words(self.get(n), state)).copied()
    }

    /// Adds a state with this hash that was reached from another by a step: its number if it is new, else nothing.
    #[inline]
    pub fn add(&mut self, state: &[Word], hash: u64, parent: u32, via: u32) -> Result<Option<u32>, NoRoom> {
        if self.find(state, hash).is_some() {
            return Ok(None);
        }
        self.push(state, hash, parent, via).map(Some)
    }

    /// Adds a state that is not stored yet.
    pub fn push(&mut self, state: &[Word], hash: u64, parent: u32, via: u32) -> Result<u32, NoRoom> {
        let Table { width, words, index, parents, vias, .. } = self;
        let n = parents.len() as u32;
        if parents.len() >= NONE as usize {
            return Err(NoRoom::Numbers);
        }
        make_room(words, *width)?;
        make_room(parents, 1)?;
        make_room(vias, 1)?;
        make_place(index, |&n| hash_words(&words[n as usize * *width..][..*width]))?;
        words.extend_from_slice(state);
        parents.push(parent);
        vias.push(WIDE);
        index.insert_unique(hash, n, |_| unreachable!("there is room"));
        self.reached(n, parent, via);
        Ok(n)
    }

    /// From here on, a state was first reached so.
    pub fn reached(&mut self, n: u32, parent: u32, via: u32) {
        self.parents[n as usize] = parent;
        self.vias[n as usize] = match u16::try_from(via) {
            Ok(via) if via != WIDE => via,
            _ => {
                self.wide.insert(n, via);
                WIDE
            }
        };
    }

    /// Forgets what only an exploration needs: where states are, and how they were reached.
    pub fn only_states(&mut self) {
        self.index = HashTable::new();
        (self.parents, self.vias, self.wide) = Default::default();
    }
}
