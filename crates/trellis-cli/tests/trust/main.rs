//! The class tests: whole classes of mistakes, looked for by changing what is bundled. A reader that overlooks a part of a file,
//! a verdict that depends on an order that means nothing, evidence that is accepted although it claims something else.
//!
//! `TRELLIS_RUNS=n` runs about so many changes per test, `TRELLIS_SEED=n` chooses others. `bench/trust/run` runs the full number and keeps
//! the counts.

mod cases;
mod evidence;
mod fuzz;
mod gcc;
mod ignored;
mod languages;
mod lists;
mod models;
mod order;
mod read;
mod readers;
mod run;
mod scan;
mod sites;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|n| n.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// How many changes to run.
pub fn runs(few: usize) -> usize {
    number("TRELLIS_RUNS").map_or(few, |n| n as usize)
}

/// What chance starts with.
pub fn seed() -> u64 {
    number("TRELLIS_SEED").unwrap_or(1)
}

/// Numbers by chance (SplitMix64); the same ones for the same seed.
pub struct Random(pub u64);

impl Random {
    /// The next one.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below a number that is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }

    /// Puts things into any order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}

/// Does the same with all, on as many threads as there are processors; answers are in order.
pub fn on_all<T: Sync, U: Send>(all: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
    let mut done: Vec<(usize, U)> = std::thread::scope(|scope| {
        let turn = || {
            let mut mine = vec![];
            while let Some((i, t)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, all.get(i)?))) {
                mine.push((i, work(t)));
            }
            mine
        };
        let threads: Vec<_> = (0..workers)
            .map(|_| std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, turn).expect("a thread"))
            .collect();
        threads.into_iter().flat_map(|t| t.join().expect("a worker")).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, u)| u).collect()
}
