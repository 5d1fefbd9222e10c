//! What an exploration has stored, in the engine's words: one table, or one for each worker that explored.
//!
//! Nodes have one number for all: that of the table it is in is the remainder by how many tables there are.

use trellis_order::Word;

use crate::arg::Arg;
use crate::explore::NONE;
use crate::path::Origins;
use crate::table::Table;

/// One table.
#[derive(Debug)]
pub enum Shard {
    /// States that meet only if they are equal; a key has so many words.
    Table(Table, usize),
    /// States that are covered and joined.
    Arg(Arg),
}

impl Shard {
    /// Key and element of a node.
    #[inline]
    pub fn state(&self, n: u32) -> (&[Word], &[Word]) {
        match self {
            Shard::Table(table, key_width) => table.get(n).split_at(*key_width),
            Shard::Arg(arg) => arg.state(n),
        }
    }

    /// From where a node was first reached ([`NONE`]: from nowhere), and by which step.
    pub fn origin(&self, n: u32) -> (u32, u32) {
        match self {
            Shard::Table(table, _) => (table.parent(n), table.via(n)),
            Shard::Arg(arg) => (arg.nodes[n as usize].parent, arg.nodes[n as usize].via),
        }
    }

    /// How many nodes it has, stored or not.
    pub fn nodes(&self) -> usize {
        match self {
            Shard::Table(table, _) => table.len(),
            Shard::Arg(arg) => arg.nodes.len(),
        }
    }

    fn is_stored(&self, n: u32) -> bool {
        match self {
            Shard::Table(..) => true,
            Shard::Arg(arg) => arg.nodes[n as usize].is_stored(),
        }
    }
}

/// Everything that was stored.
#[derive(Debug)]
pub struct Stored {
    shards: Vec<Shard>,
    /// How many states are stored.
    count: usize,
}

impl Stored {
    /// The tables of all workers, in order.
    pub fn new(shards: Vec<Shard>) -> Stored {
        let stored = |s: &Shard| match s {
            Shard::Table(table, _) => table.len(),
            Shard::Arg(arg) => arg.stored().count(),
        };
        let count = shards.iter().map(stored).sum();
        Stored { shards, count }
    }

    /// How many states are stored.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The numbers of the nodes that are stored.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let of = |(i, s): (usize, &Shard)| (0..s.nodes() as u32).map(move |n| (i, n));
        let all = self.shards.iter().enumerate().flat_map(of);
        let stored = all.filter(|&(i, n)| self.shards[i].is_stored(n));
        stored.map(|(i, n)| n * self.shards.len() as u32 + i as u32)
    }

    /// Forgets what only an exploration needs, and keeps the states.
    pub fn only_states(&mut self) {
        self.shards.iter_mut().for_each(|s| match s {
            Shard::Table(table, _) => table.only_states(),
            Shard::Arg(arg) => arg.only_states(),
        });
    }

    fn at(&self, n: u32) -> (&Shard, u32) {
        let count = self.shards.len() as u32;
        (&self.shards[(n % count) as usize], n / count)
    }
}

impl Origins for Stored {
    fn state(&self, n: u32) -> (&[Word], &[Word]) {
        let (shard, n) = self.at(n);
        shard.state(n)
    }

    fn from(&self, n: u32) -> Option<(u32, u32)> {
        let (shard, n) = self.at(n);
        let (parent, via) = shard.origin(n);
        (parent != NONE).then_some((parent, via))
    }
}
