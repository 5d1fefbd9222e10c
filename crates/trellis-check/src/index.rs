//! The entries of a certificate, found by state: exactly, or by the order of the elements under one key.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use trellis_model::network::{Elements, Layout};
use trellis_order::{Domain, Word};

use crate::limit::reserve;
use crate::{Cause, Rejection};

/// No further entry of the same key.
const END: u32 = u32::MAX;

/// Packed entries: keys and elements side by side, in the order of the certificate.
pub(crate) struct Index {
    key_width: usize,
    elem_width: usize,
    keys: Vec<Word>,
    elems: Vec<Word>,
    count: usize,
    /// As far as there are any.
    ranks: Vec<Option<u32>>,
    /// Entries by key and element.
    exact: HashTable<u32>,
    /// The last entry of each key, from which `before` leads to the others; empty unless somebody compares by the order.
    by_key: HashTable<u32>,
    before: Vec<u32>,
}

fn hash(parts: [&[Word]; 2]) -> u64 {
    let mut h = FxHasher::default();
    parts.iter().flat_map(|p| p.iter()).for_each(|&w| h.write_u64(w));
    h.finish()
}

impl Index {
    /// Room for so many entries.
    pub fn new(layout: &Layout, elem_width: usize, count: usize) -> Result<Index, Rejection> {
        let (mut keys, mut elems, mut exact) = (Vec::new(), Vec::new(), HashTable::new());
        reserve(keys.try_reserve_exact(count.saturating_mul(layout.key_width())))?;
        reserve(elems.try_reserve_exact(count.saturating_mul(elem_width)))?;
        reserve(exact.try_reserve(count, |_| 0))?;
        Ok(Index {
            key_width: layout.key_width(),
            elem_width,
            count: 0,
            keys,
            elems,
            ranks: Vec::new(),
            exact,
            by_key: HashTable::new(),
            before: Vec::new(),
        })
    }

    /// Adds an entry, which must fit the network.
    pub fn add(&mut self, key: &[Word], elem: &[Word], rank: Option<u32>) -> Result<(), Rejection> {
        let n = self.count as u32;
        self.keys.extend_from_slice(key);
        self.elems.extend_from_slice(elem);
        self.count += 1;
        // Most certificates have no ranks.
        if rank.is_some() || !self.ranks.is_empty() {
            self.ranks.resize(n as usize, None);
            self.ranks.push(rank);
        }
        if let Some(twin) = self.find(key, elem) {
            let same = self.rank(twin) == rank;
            return if same { Ok(()) } else { Err(Rejection::new(Cause::TwoRanks)) };
        }
        let Index { keys, elems, exact, key_width, elem_width, .. } = self;
        let key_of = |e: u32| &keys[e as usize * *key_width..][..*key_width];
        let elem_of = |e: u32| &elems[e as usize * *elem_width..][..*elem_width];
        exact.insert_unique(hash([key, elem]), n, |&e| hash([key_of(e), elem_of(e)]));
        Ok(())
    }

    /// Makes [`covers`](Index::covers) possible.
    pub fn chain(&mut self) {
        let Index { keys, key_width, count, by_key, before, .. } = self;
        let key_of = |e: u32| &keys[e as usize * *key_width..][..*key_width];
        *before = vec![END; *count];
        for n in 0..*count as u32 {
            let at = hash([key_of(n), &[]]);
            match by_key.find_mut(at, |&e| key_of(e) == key_of(n)) {
                Some(last) => before[n as usize] = std::mem::replace(last, n),
                None => _ = by_key.insert_unique(at, n, |&e| hash([key_of(e), &[]])),
            }
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn key(&self, e: u32) -> &[Word] {
        &self.keys[e as usize * self.key_width..][..self.key_width]
    }

    pub fn elem(&self, e: u32) -> &[Word] {
        &self.elems[e as usize * self.elem_width..][..self.elem_width]
    }

    pub fn rank(&self, e: u32) -> Option<u32> {
        self.ranks.get(e as usize).copied().flatten()
    }

    /// The entry that is this very state.
    pub fn find(&self, key: &[Word], elem: &[Word]) -> Option<u32> {
        self.exact.find(hash([key, elem]), |&e| self.key(e) == key && self.elem(e) == elem).copied()
    }

    /// Is the state an entry, or below one?
    pub fn covers(&self, order: &Elements, key: &[Word], elem: &[Word]) -> bool {
        if self.find(key, elem).is_some() {
            return true;
        }
        let mut at = self.by_key.find(hash([key, &[]]), |&e| self.key(e) == key).copied().unwrap_or(END);
        while at != END {
            if order.leq(elem, self.elem(at)) {
                return true;
            }
            at = self.before[at as usize];
        }
        false
    }
}
