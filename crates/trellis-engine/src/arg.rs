//! The abstract reachability graph in flat memory: keys are stored once, nodes with the same key are chained oldest first,
//! elements lie side by side. Nodes are marked, never deleted.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use trellis_order::Word;

pub use crate::explore::{Mark, NONE};
use crate::path::Origins;
use crate::table::{NoRoom, make_place, make_room};

/// One state of the graph.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its key's number.
    pub key: u32,
    /// From where it was first reached.
    pub parent: u32,
    /// By which step of the parent.
    pub via: u32,
    /// What has become of it.
    pub mark: Mark,
    next: u32,
}

impl Node {
    /// Is it part of the passed or waiting set?
    pub fn is_stored(&self) -> bool {
        matches!(self.mark, Mark::Waiting | Mark::Passed)
    }
}

/// All nodes of one exploration.
#[derive(Debug)]
pub struct Arg {
    key_width: usize,
    elem_width: usize,
    keys: Vec<Word>,
    key_index: HashTable<u32>,
    /// First and last node of each key's chain.
    chains: Vec<(u32, u32)>,
    elems: Vec<Word>,
    /// The nodes, in the order of their creation.
    pub nodes: Vec<Node>,
    state_index: HashTable<u32>,
}

fn hash_words(seed: u64, words: &[Word]) -> u64 {
    let mut h = FxHasher::default();
    h.write_u64(seed);
    for &w in words {
        h.write_u64(w);
    }
    h.finish()
}

impl Arg {
    /// An empty graph for states of these widths.
    pub fn new(key_width: usize, elem_width: usize) -> Arg {
        Arg {
            key_width,
            elem_width,
            keys: Vec::new(),
            key_index: HashTable::new(),
            chains: Vec::new(),
            elems: Vec::new(),
            nodes: Vec::new(),
            state_index: HashTable::new(),
        }
    }

    /// The number of a key; new keys get one.
    pub fn key_id(&mut self, key: &[Word]) -> Result<u32, NoRoom> {
        let w = self.key_width;
        let hash = hash_words(0, key);
        let Arg { keys, key_index, chains, .. } = self;
        if let Some(&k) = key_index.find(hash, |&k| &keys[k as usize * w..][..w] == key) {
            return Ok(k);
        }
        let id = chains.len() as u32;
        make_room(keys, w)?;
        make_room(chains, 1)?;
        make_place(key_index, |&k| hash_words(0, &keys[k as usize * w..][..w]))?;
        keys.extend_from_slice(key);
        chains.push((NONE, NONE));
        key_index.insert_unique(hash, id, |_| unreachable!("there is room"));
        Ok(id)
    }

    /// A key by its number.
    pub fn key(&self, k: u32) -> &[Word] {
        &self.keys[k as usize * self.key_width..][..self.key_width]
    }

    /// How many keys there are.
    pub fn key_count(&self) -> usize {
        self.chains.len()
    }

    /// The element of a node.
    #[inline]
    pub fn elem(&self, n: u32) -> &[Word] {
        &self.elems[n as usize * self.elem_width..][..self.elem_width]
    }

    /// Key and element of a node.
    pub fn state(&self, n: u32) -> (&[Word], &[Word]) {
        (self.key(self.nodes[n as usize].key), self.elem(n))
    }

    /// The stored node with exactly this key and element.
    #[inline]
    pub fn find(&self, key: u32, elem: &[Word]) -> Option<u32> {
        let hash = hash_words(u64::from(key), elem);
        self.state_index.find(hash, |&n| self.nodes[n as usize].key == key && self.elem(n) == elem).copied()
    }

    /// Adds a node, last of its key.
    pub fn add(&mut self, key: u32, elem: &[Word], parent: u32, via: u32) -> Result<u32, NoRoom> {
        let Arg { elems, nodes, state_index, elem_width, chains, .. } = self;
        if nodes.len() >= NONE as usize {
            return Err(NoRoom::Numbers);
        }
        let n = nodes.len() as u32;
        make_room(elems, *elem_width)?;
        make_room(nodes, 1)?;
        make_place(state_index, |&m| {
            let m = m as usize;
            hash_words(u64::from(nodes[m].key), &elems[m * *elem_width..][..*elem_width])
        })?;
        elems.extend_from_slice(elem);
        nodes.push(Node { key, parent, via, mark: Mark::Waiting, next: NONE });
        let (first, last) = &mut chains[key as usize];
        if *first == NONE {
            *first = n;
        } else {
            nodes[*last as usize].next = n;
        }
        *last = n;
        state_index.insert_unique(hash_words(u64::from(key), elem), n, |_| unreachable!("there is room"));
        Ok(n)
    }

    /// The node is no longer stored, and why.
    pub fn retire(&mut self, n: u32, mark: Mark) {
        let key = self.nodes[n as usize].key;
        let hash = hash_words(u64::from(key), self.elem(n));
        if let Ok(entry) = self.state_index.find_entry(hash, |&m| m == n) {
            entry.remove();
        }
        self.nodes[n as usize].mark = mark;
    }

    /// The first stored node of a key, oldest first, that satisfies a condition. Retired nodes are unchained on the way.
    #[inline]
    pub fn find_in_chain(&mut self, key: u32, mut wanted: impl FnMut(u32, &[Word]) -> bool) -> Option<u32> {
        let mut before = NONE;
        let mut at = self.chains[key as usize].0;
        while at != NONE {
            let node = &self.nodes[at as usize];
            let next = node.next;
            if node.is_stored() {
                if wanted(at, &self.elems[at as usize * self.elem_width..][..self.elem_width]) {
                    return Some(at);
                }
                before = at;
            } else {
                match before {
                    NONE => self.chains[key as usize].0 = next,
                    b => self.nodes[b as usize].next = next,
                }
                if next == NONE {
                    self.chains[key as usize].1 = before;
                }
            }
            at = next;
        }
        None
    }

    /// The stored nodes, oldest first.
    pub fn stored(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes.len() as u32).filter(|&n| self.nodes[n as usize].is_stored())
    }

    /// Forgets what only an exploration needs: where states are.
    pub fn only_states(&mut self) {
        self.key_index = HashTable::new();
        self.state_index = HashTable::new();
        self.chains = Vec::new();
    }
}

impl Origins for Arg {
    fn state(&self, n: u32) -> (&[Word], &[Word]) {
        self.state(n)
    }

    fn from(&self, n: u32) -> Option<(u32, u32)> {
        let node = &self.nodes[n as usize];
        (node.parent != NONE).then_some((node.parent, node.via))
    }
}
