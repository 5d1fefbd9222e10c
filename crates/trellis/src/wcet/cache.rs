//! A plain LRU cache, driven by a trace: what a run costs. It shares nothing with the analysis but which blocks are used.

/// A cache of some sets, each a list of blocks, the one used last in front.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: Vec<Vec<u64>>,
    ways: usize,
}

impl Cache {
    /// An empty one.
    pub fn new(sets: usize, ways: usize) -> Cache {
        Cache { sets: vec![Vec::new(); sets], ways }
    }

    /// Uses a block. Was it there?
    pub fn hit(&mut self, block: u64) -> bool {
        let at = (block % self.sets.len() as u64) as usize;
        let set = &mut self.sets[at];
        let found = set.iter().position(|&b| b == block);
        if let Some(place) = found {
            set.remove(place);
        }
        set.insert(0, block);
        set.truncate(self.ways);
        found.is_some()
    }
}

/// How often blocks are found, and how often not, when they are used one after the other from an empty cache.
pub fn simulate(sets: usize, ways: usize, blocks: impl IntoIterator<Item = u64>) -> (u64, u64) {
    let mut cache = Cache::new(sets, ways);
    let (mut hits, mut misses) = (0, 0);
    for b in blocks {
        *(if cache.hit(b) { &mut hits } else { &mut misses }) += 1;
    }
    (hits, misses)
}

#[cfg(test)]
mod tests {
    use super::simulate;

    #[test]
    fn the_least_recently_used_block_goes() {
        assert_eq!(simulate(1, 2, [1, 2, 1, 3, 1, 2]), (2, 4));
        assert_eq!(simulate(2, 1, [0, 1, 0, 2, 0]), (1, 4));
    }
}
