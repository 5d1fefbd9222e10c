//! The abstract caches against a cache.

use proptest::prelude::*;
use trellis_order::{Lattice, Word};

use super::{ask, initial, lattice, run, sample, show};

/// A concrete LRU cache: per set, the blocks in it, youngest first.
#[derive(Clone, Debug)]
struct Lru {
    sets: Vec<Vec<usize>>,
    ways: usize,
}

impl Lru {
    fn new(sets: usize, ways: usize) -> Self {
        Self { sets: vec![Vec::new(); sets], ways }
    }

    fn access(&mut self, block: usize) {
        let index = block % self.sets.len();
        let set = &mut self.sets[index];
        set.retain(|&other| other != block);
        set.insert(0, block);
        set.truncate(self.ways);
    }

    /// The age of a block; `ways` if it is out.
    fn age(&self, block: usize) -> usize {
        let set = &self.sets[block % self.sets.len()];
        set.iter().position(|&other| other == block).unwrap_or(self.ways)
    }
}

/// The bound on the age of a block, read from the words: one byte each.
fn bound(elem: &[Word], block: usize) -> usize {
    elem[block / 8].to_le_bytes()[block % 8].into()
}

fn is(lattice: &dyn Lattice, elem: &[Word], name: &str, block: usize) -> bool {
    ask(lattice, elem, name, &[block as i64]).unwrap() == 1
}

/// Does the cache fit what the element says? Checks the queries on the way.
fn fits_must(must: &dyn Lattice, elem: &[Word], cache: &Lru, blocks: usize) -> bool {
    (0..blocks).all(|block| {
        assert_eq!(is(must, elem, "isHit", block), !is(must, elem, "mayMiss", block));
        let surely_hit = !is(must, elem, "isHit", block) || cache.age(block) < cache.ways;
        surely_hit && cache.age(block) <= bound(elem, block)
    })
}

fn fits_may(may: &dyn Lattice, elem: &[Word], cache: &Lru, blocks: usize) -> bool {
    (0..blocks).all(|block| {
        assert_eq!(is(may, elem, "isMiss", block), !is(may, elem, "mayHit", block));
        let surely_miss = !is(may, elem, "isMiss", block) || cache.age(block) == cache.ways;
        surely_miss && cache.age(block) >= bound(elem, block)
    })
}

proptest! {
    /// Two runs of a program, joined half way, then one more run from there: both caches fit throughout.
    #[test]
    fn runs_and_joins_describe_the_caches(
        (sets, ways, blocks) in (1..4usize, 1..5usize, 1..20usize),
        left in proptest::collection::vec(0..20usize, 0..30),
        right in proptest::collection::vec(0..20usize, 0..30),
        rest in proptest::collection::vec(0..20usize, 0..30),
    ) {
        let sizes = [sets, ways, blocks].map(|n| n as i64);
        let (must, may) = (lattice("LruMust", &sizes), lattice("LruMay", &sizes));
        let start = || (initial(&*must), initial(&*may), Lru::new(sets, ways));
        let step = |(must_elem, may_elem, _): &mut (Vec<Word>, Vec<Word>, Lru), block: usize| {
            run(&*must, must_elem, "access", &[block as i64]).unwrap();
            run(&*may, may_elem, "access", &[block as i64]).unwrap();
        };
        let mut runs = [start(), start()];
        for (state, path) in runs.iter_mut().zip([left, right]) {
            for block in path.into_iter().map(|block| block % blocks) {
                step(state, block);
                state.2.access(block);
                // A single run is followed exactly.
                for b in 0..blocks {
                    prop_assert_eq!(bound(&state.0, b), state.2.age(b));
                    prop_assert_eq!(bound(&state.1, b), state.2.age(b));
                }
            }
        }
        let [(mut must_elem, mut may_elem, one), (other_must, other_may, two)] = runs;
        must.join(&mut must_elem, &other_must);
        may.join(&mut may_elem, &other_may);
        let mut state = (must_elem, may_elem, one);
        let mut caches = [state.2.clone(), two];
        for block in rest.into_iter().map(|block| block % blocks) {
            step(&mut state, block);
            for cache in &mut caches {
                cache.access(block);
                prop_assert!(fits_must(&*must, &state.0, cache, blocks));
                prop_assert!(fits_may(&*may, &state.1, cache, blocks));
            }
        }
    }
}

/// Every abstract element, every cache that fits it, every access: the new cache fits the new element.
#[test]
fn access_is_sound_exhaustively() {
    let blocks = 4;
    for ways in 1..=3 {
        // All caches of one set: arrangements of up to `ways` of the blocks.
        let mut caches = vec![Lru::new(1, ways)];
        let mut next = 0;
        while next < caches.len() {
            for block in 0..blocks {
                let mut cache = caches[next].clone();
                cache.access(block);
                if caches.iter().all(|other| other.sets != cache.sets) {
                    caches.push(cache);
                }
            }
            next += 1;
        }
        let (must, may) = (lattice("LruMust", &[1, ways as i64, 4]), lattice("LruMay", &[1, ways as i64, 4]));
        let mut fitting = 0;
        for code in 0..(ways + 1).pow(4) {
            let ages = [0, 1, 2, 3].map(|i| (code / (ways + 1).pow(i) % (ways + 1)) as u8);
            let elem = [Word::from_le_bytes([ages[0], ages[1], ages[2], ages[3], 0, 0, 0, 0])];
            for block in 0..blocks {
                let (mut must_elem, mut may_elem) = (elem, elem);
                run(&*must, &mut must_elem, "access", &[block as i64]).unwrap();
                run(&*may, &mut may_elem, "access", &[block as i64]).unwrap();
                for cache in &caches {
                    let mut after = cache.clone();
                    after.access(block);
                    if fits_must(&*must, &elem, cache, blocks) {
                        assert!(fits_must(&*must, &must_elem, &after, blocks), "{elem:?} {cache:?} {block}");
                        fitting += 1;
                    }
                    if fits_may(&*may, &elem, cache, blocks) {
                        assert!(fits_may(&*may, &may_elem, &after, blocks), "{elem:?} {cache:?} {block}");
                        fitting += 1;
                    }
                }
            }
        }
        assert!(fitting > 100);
    }
}

/// From an unknown cache, using as many blocks as a set has ways settles what is in it and what is not.
#[test]
fn accesses_restore_knowledge() {
    let (must, may) = (lattice("LruMust", &[1, 3, 6]), lattice("LruMay", &[1, 3, 6]));
    let (mut must_elem, mut may_elem) = (initial(&*must), initial(&*may));
    run(&*must, &mut must_elem, "forget", &[]).unwrap();
    run(&*may, &mut may_elem, "forget", &[]).unwrap();
    for block in [1, 2, 1, 4] {
        run(&*must, &mut must_elem, "access", &[block]).unwrap();
        run(&*may, &mut may_elem, "access", &[block]).unwrap();
    }
    for block in 0..6 {
        let inside = [1, 2, 4].contains(&block);
        assert_eq!(is(&*must, &must_elem, "isHit", block), inside);
        assert_eq!(is(&*may, &may_elem, "isMiss", block), !inside);
    }
}

/// Two blocks in either order fill a set of two ways; using one does not push out the other.
#[test]
fn must_keeps_blocks_of_equal_bound() {
    let must = lattice("LruMust", &[1, 2, 2]);
    let after = |blocks: [i64; 2]| {
        let mut elem = initial(&*must);
        blocks.iter().for_each(|&block| run(&*must, &mut elem, "access", &[block]).unwrap());
        elem
    };
    let mut elem = after([0, 1]);
    must.join(&mut elem, &after([1, 0]));
    assert_eq!(show(&*must, &elem), "{0: 1, 1: 1}");
    run(&*must, &mut elem, "access", &[0]).unwrap();
    assert_eq!(show(&*must, &elem), "{0: 0, 1: 1}");
}

#[test]
fn flushing_and_forgetting() {
    let (must, may) = (lattice("LruMust", &[2, 2, 9]), lattice("LruMay", &[2, 2, 9]));
    for seed in 0..50 {
        let mut elem = sample(&*must, seed);
        run(&*must, &mut elem, "flush", &[]).unwrap();
        assert!((0..9).all(|b| is(&*must, &elem, "mayMiss", b)));
        let mut elem = sample(&*may, seed);
        run(&*may, &mut elem, "flush", &[]).unwrap();
        assert!((0..9).all(|b| is(&*may, &elem, "isMiss", b)));
        run(&*may, &mut elem, "forget", &[]).unwrap();
        assert!((0..9).all(|b| is(&*may, &elem, "mayHit", b)));
    }
    let mut elem = initial(&*must);
    for block in [3, 5, 4] {
        run(&*must, &mut elem, "access", &[block]).unwrap();
    }
    assert_eq!(show(&*must, &elem), "{3: 1, 4: 0, 5: 0}");
    assert_eq!(run(&*must, &mut elem, "access", &[9]).unwrap_err().0, "there is no block 9: they are numbered 0 to 8");
}
