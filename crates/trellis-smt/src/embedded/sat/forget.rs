//! Learnt clauses are forgotten, and the others moved together.

use super::{DECIDED, HEADER, LEARNT, Sat};

impl Sat {
    /// Forgets half of the learnt clauses: those over many levels. Only at level 0.
    pub(super) fn forget(&mut self) {
        let mut list: Vec<(u32, u32, u32)> =
            self.learnt.iter().map(|&c| (self.arena[c as usize + 1] & !LEARNT, self.arena[c as usize], c)).collect();
        list.sort_unstable();
        let keep = list.len() / 2;
        let mut gone = rustc_hash::FxHashSet::default();
        for &(levels, _, c) in &list[keep..] {
            // A reason at level 0 is never asked for.
            if levels > 2 {
                gone.insert(c);
                self.wasted += HEADER + self.arena[c as usize] as usize;
            }
        }
        self.learnt.retain(|c| !gone.contains(c));
        for list in &mut self.watches {
            list.retain(|w| !gone.contains(&w.clause));
        }
        self.max_learnt += 200;
        if self.wasted > self.arena.len() / 3 {
            self.compact();
        }
    }

    /// Moves the clauses that are watched together.
    fn compact(&mut self) {
        let mut live: Vec<u32> = self.watches.iter().flatten().map(|w| w.clause).collect();
        live.sort_unstable();
        live.dedup();
        let mut moved = rustc_hash::FxHashMap::default();
        let mut arena = Vec::with_capacity(self.arena.len() - self.wasted);
        for c in live {
            moved.insert(c, arena.len() as u32);
            let end = c as usize + HEADER + self.arena[c as usize] as usize;
            arena.extend_from_slice(&self.arena[c as usize..end]);
        }
        self.arena = arena;
        self.wasted = 0;
        self.watches.iter_mut().flatten().for_each(|w| w.clause = moved[&w.clause]);
        self.learnt.iter_mut().for_each(|c| *c = moved[c]);
        for l in &self.trail {
            // At level 0; reasons there are never asked for.
            self.reason[l.var()] = DECIDED;
        }
    }
}
