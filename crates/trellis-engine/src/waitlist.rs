//! What is explored next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The order of exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// First in, first out: shortest traces.
    #[default]
    Bfs,
    /// Last in, first out.
    Dfs,
    /// Any, by a seed.
    Random(u64),
    /// The largest priority first; among equals, first in, first out.
    Priority,
}

/// Nodes that wait to be expanded.
#[derive(Debug)]
pub enum Waitlist {
    /// First in, first out.
    Queue(VecDeque<u32>),
    /// Last in, first out.
    Stack(Vec<u32>),
    /// Any.
    Random(Vec<u32>, u64),
    /// By priority.
    Heap(BinaryHeap<(i64, Reverse<u64>, u32)>, u64),
}

impl Waitlist {
    /// An empty list.
    pub fn new(order: Order) -> Waitlist {
        match order {
            Order::Bfs => Waitlist::Queue(VecDeque::new()),
            Order::Dfs => Waitlist::Stack(Vec::new()),
            // The generator below needs a non-zero state.
            Order::Random(seed) => Waitlist::Random(Vec::new(), seed.wrapping_mul(2).wrapping_add(1)),
            Order::Priority => Waitlist::Heap(BinaryHeap::new(), 0),
        }
    }

    /// Does the order look at priorities?
    pub fn wants_priority(&self) -> bool {
        matches!(self, Waitlist::Heap(..))
    }

    /// Adds a node.
    pub fn push(&mut self, node: u32, priority: i64) {
        match self {
            Waitlist::Queue(q) => q.push_back(node),
            Waitlist::Stack(s) | Waitlist::Random(s, _) => s.push(node),
            Waitlist::Heap(h, n) => {
                *n += 1;
                h.push((priority, Reverse(*n), node));
            }
        }
    }

    /// Takes the next node.
    pub fn pop(&mut self) -> Option<u32> {
        match self {
            Waitlist::Queue(q) => q.pop_front(),
            Waitlist::Stack(s) => s.pop(),
            Waitlist::Random(s, state) => {
                if s.is_empty() {
                    return None;
                }
                // xorshift64*: a few lines, and the same everywhere.
                *state ^= *state >> 12;
                *state ^= *state << 25;
                *state ^= *state >> 27;
                let i = (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % s.len();
                Some(s.swap_remove(i))
            }
            Waitlist::Heap(h, _) => h.pop().map(|(.., n)| n),
        }
    }

    /// How many wait (stale entries included).
    pub fn len(&self) -> usize {
        match self {
            Waitlist::Queue(q) => q.len(),
            Waitlist::Stack(s) | Waitlist::Random(s, _) => s.len(),
            Waitlist::Heap(h, _) => h.len(),
        }
    }

    /// Does nothing wait?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(order: Order) -> Vec<u32> {
        let mut w = Waitlist::new(order);
        for (n, p) in [(1, 5), (2, 9), (3, 5), (4, 0)] {
            w.push(n, p);
        }
        std::iter::from_fn(|| w.pop()).collect()
    }

    #[test]
    fn each_order_is_what_its_name_says() {
        assert_eq!(drain(Order::Bfs), [1, 2, 3, 4]);
        assert_eq!(drain(Order::Dfs), [4, 3, 2, 1]);
        assert_eq!(drain(Order::Priority), [2, 1, 3, 4]);
        assert_eq!(drain(Order::Random(7)), drain(Order::Random(7)));
        let mut any = drain(Order::Random(8));
        any.sort_unstable();
        assert_eq!(any, [1, 2, 3, 4]);
    }
}
