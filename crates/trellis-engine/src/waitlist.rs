//! What is explored next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The order of exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// First in, first out: shortest traces.
    #[default]
    Bfs,
    /// The same, and nothing that comes later takes the place of what came before: no trace is shorter.
    Shortest,
    /// Last in, first out.
    Dfs,
    /// Any, by a seed.
    Random(u64),
    /// Last in, first out, but what one node leads to in any order, by a seed.
    Shuffled(u64),
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
    /// Last in, first out, in any order since something was taken: the state of the generator, and how many waited then.
    Shuffled(Vec<u32>, u64, usize),
    /// By priority.
    Heap(BinaryHeap<(i64, Reverse<u64>, u32)>, u64),
}

impl Waitlist {
    /// An empty list.
    pub fn new(order: Order) -> Waitlist {
        match order {
            Order::Bfs | Order::Shortest => Waitlist::Queue(VecDeque::new()),
            Order::Dfs => Waitlist::Stack(Vec::new()),
            Order::Random(seed) => Waitlist::Random(Vec::new(), start(seed)),
            Order::Shuffled(seed) => Waitlist::Shuffled(Vec::new(), start(seed), 0),
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
            Waitlist::Shuffled(s, state, since) => {
                s.push(node);
                let last = s.len() - 1;
                s.swap(last, *since + below(state, last + 1 - *since));
            }
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
                let i = below(state, s.len());
                Some(s.swap_remove(i))
            }
            Waitlist::Shuffled(s, _, since) => {
                let taken = s.pop();
                *since = s.len();
                taken
            }
            Waitlist::Heap(h, _) => h.pop().map(|(.., n)| n),
        }
    }

    /// How many wait (stale entries included).
    pub fn len(&self) -> usize {
        match self {
            Waitlist::Queue(q) => q.len(),
            Waitlist::Stack(s) | Waitlist::Random(s, _) | Waitlist::Shuffled(s, ..) => s.len(),
            Waitlist::Heap(h, _) => h.len(),
        }
    }

    /// Does nothing wait?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The generator needs a non-zero state.
fn start(seed: u64) -> u64 {
    seed.wrapping_mul(2).wrapping_add(1)
}

/// xorshift64*: a few lines, and the same everywhere.
fn below(state: &mut u64, n: usize) -> usize {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
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

    #[test]
    fn a_shuffled_stack_is_a_stack() {
        let mut firsts = Vec::new();
        for seed in 0..20 {
            let mut w = Waitlist::new(Order::Shuffled(seed));
            (1..=3).for_each(|n| w.push(n, 0));
            let first = w.pop();
            (4..=5).for_each(|n| w.push(n, 0));
            let mut newer = [w.pop(), w.pop()];
            newer.sort_unstable();
            assert_eq!(newer, [Some(4), Some(5)]);
            firsts.push(first);
        }
        assert!([1, 2, 3].iter().all(|n| firsts.contains(&Some(*n))));
    }
}
