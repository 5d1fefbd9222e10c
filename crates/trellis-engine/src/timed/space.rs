//! Where a zone graph lies in memory, and how zones move along it.
//!
//! Keys are stored once. Each has its *active clocks*, with their bounds; keys with the same active
//! clocks share one. The zones of a key are matrices over its active clocks only. They are stored once too, whatever key
//! they belong to: processes that do the same at different times have the same zones under different names.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use trellis_domain::zone::{Bound, Constraint, Zone, ZoneDomain, ZoneError};
use trellis_model::network::{Layout, Network, SetClock};
use trellis_order::Word;

use super::bounds::{Bounds, Lu, Scratch};
use crate::table::{NoRoom, make_place, make_room};

/// The active clocks of a key.
#[derive(Debug, Clone, Copy)]
pub struct ActiveClocks<'s> {
    /// Their numbers in the network, ascending; 0 first.
    pub clocks: &'s [u32],
    /// Lower bounds, for each of `clocks`.
    pub lower: &'s [i32],
    /// Upper bounds, for each of `clocks`.
    pub upper: &'s [i32],
    /// The place of each clock of the network in `clocks`.
    slot: &'s [u16],
}

const INACTIVE: u16 = u16::MAX;

impl ActiveClocks<'_> {
    /// The zones over these clocks.
    pub fn domain(&self) -> ZoneDomain {
        ZoneDomain::new(self.clocks.len() - 1)
    }

    /// The larger bound of each clock.
    pub fn largest(&self) -> Vec<i32> {
        self.lower.iter().zip(self.upper).map(|(l, u)| *l.max(u)).collect()
    }

    /// Where a clock is in these zones.
    ///
    /// # Panics
    /// If it is not active: whoever compares a clock makes it active.
    #[inline]
    pub fn place(&self, clock: u32) -> usize {
        let slot = self.slot[clock as usize];
        debug_assert_ne!(slot, INACTIVE, "a clock that is compared is active");
        slot as usize
    }

    /// Where a constraint is in these zones.
    #[inline]
    pub fn entry(&self, c: &Constraint) -> (usize, usize, Bound) {
        (self.place(c.left), self.place(c.right), c.bound)
    }

    /// Has it the same clocks as another?
    #[inline]
    pub fn is_like(&self, other: ActiveClocks<'_>) -> bool {
        std::ptr::eq(self.clocks, other.clocks) || self.clocks == other.clocks
    }

    /// Is the clock active?
    pub fn is_active(&self, clock: u32) -> bool {
        self.slot[clock as usize] != INACTIVE
    }

    /// A zone over all clocks of the network, the inactive ones free.
    pub fn widen(&self, zone: &[Bound], dim: usize, out: &mut Vec<Bound>) {
        let all = ZoneDomain::new(dim - 1);
        out.resize(all.size(), Bound::INF);
        all.universe(out);
        let n = self.clocks.len();
        for (i, &x) in self.clocks.iter().enumerate() {
            for (j, &y) in self.clocks.iter().enumerate() {
                out[x as usize * dim + y as usize] = zone[i * n + j];
            }
        }
        // A free clock is only known to be at least 0; its difference to x is at least -x.
        for y in (0..dim).filter(|&y| self.slot[y] == INACTIVE) {
            for &x in self.clocks {
                out[x as usize * dim + y] = zone[self.slot[x as usize] as usize * n];
            }
        }
    }
}

/// All sets of active clocks, each once, end to end: there may be as many as keys.
#[derive(Debug)]
struct ActiveSets {
    clocks: Vec<u32>,
    lower: Vec<i32>,
    upper: Vec<i32>,
    /// Where each ends; it starts where the one before ends.
    ends: Vec<usize>,
    /// As many for each as the network has clocks, and one.
    slots: Vec<u16>,
    dim: usize,
    index: HashTable<u32>,
}

impl ActiveSets {
    fn new(dim: usize) -> ActiveSets {
        let (clocks, ends, slots) = (Vec::new(), Vec::new(), Vec::new());
        ActiveSets { clocks, lower: Vec::new(), upper: Vec::new(), ends, slots, dim, index: HashTable::new() }
    }

    #[inline]
    fn get(&self, s: u32) -> ActiveClocks<'_> {
        let s = s as usize;
        let start = if s == 0 { 0 } else { self.ends[s - 1] };
        let range = start..self.ends[s];
        ActiveClocks {
            clocks: &self.clocks[range.clone()],
            lower: &self.lower[range.clone()],
            upper: &self.upper[range],
            slot: &self.slots[s * self.dim..][..self.dim],
        }
    }

    /// The number of the set of these active clocks; new ones get one.
    fn id(&mut self, bounds: &[Lu]) -> u32 {
        let word = |b: Lu| (u64::from(b.clock) << 32 | u64::from(b.lower as u32)) ^ (b.upper as u64) << 17;
        let lus = |s: ActiveClocks<'_>| -> Vec<Lu> {
            (1..s.clocks.len()).map(|i| Lu { clock: s.clocks[i], lower: s.lower[i], upper: s.upper[i] }).collect()
        };
        let is = |s: ActiveClocks<'_>, i: usize, b: &Lu| {
            (s.clocks[i], s.lower[i], s.upper[i]) == (b.clock, b.lower, b.upper)
        };
        let same = |s: ActiveClocks<'_>| {
            s.clocks.len() == bounds.len() + 1 && bounds.iter().enumerate().all(|(i, b)| is(s, i + 1, b))
        };
        let hash = hash_words(1, bounds, word);
        if let Some(&known) = self.index.find(hash, |&s| same(self.get(s))) {
            return known;
        }
        let id = self.ends.len() as u32;
        let slots = self.slots.len();
        self.slots.resize(slots + self.dim, INACTIVE);
        let zero = Lu { clock: 0, lower: 0, upper: 0 };
        for (place, b) in (0..).zip([zero].iter().chain(bounds)) {
            self.slots[slots + b.clock as usize] = place;
            self.clocks.push(b.clock);
            self.lower.push(b.lower);
            self.upper.push(b.upper);
        }
        self.ends.push(self.clocks.len());
        let mut index = std::mem::take(&mut self.index);
        index.insert_unique(hash, id, |&s| hash_words(1, &lus(self.get(s)), word));
        self.index = index;
        id
    }
}

fn hash_words<T: Copy>(seed: u64, items: &[T], word: impl Fn(T) -> u64) -> u64 {
    let mut h = FxHasher::default();
    h.write_u64(seed);
    items.iter().for_each(|&i| h.write_u64(word(i)));
    h.finish()
}

/// Keys with their active clocks.
#[derive(Debug)]
pub struct Keys {
    width: usize,
    words: Vec<Word>,
    /// Each key's hash and number.
    index: HashTable<(u32, u32)>,
    /// Each key's active clocks.
    active_of: Vec<u32>,
    active_sets: ActiveSets,
    /// The bounds that active clocks come from.
    pub bounds: Bounds,
    layout: Layout,
    processes: usize,
    scratch: Scratch,
    mem: Vec<i64>,
    lus: Vec<Lu>,
}

impl Keys {
    /// No keys yet. `reduce`: leave inactive clocks out.
    pub fn new(net: &Network, layout: &Layout, bounds: Bounds) -> Keys {
        let dim = net.clocks.len() + 1;
        Keys {
            width: layout.key_width(),
            words: Vec::new(),
            index: HashTable::new(),
            active_of: Vec::new(),
            active_sets: ActiveSets::new(dim),
            bounds,
            layout: layout.clone(),
            processes: net.processes.len(),
            scratch: Scratch::new(dim),
            mem: vec![0; layout.key_cells()],
            lus: Vec::new(),
        }
    }

    /// A key by its number.
    #[inline]
    pub fn get(&self, k: u32) -> &[Word] {
        &self.words[k as usize * self.width..][..self.width]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.active_of.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.active_of.is_empty()
    }

    /// The active clocks of a key.
    #[inline]
    pub fn active(&self, k: u32) -> ActiveClocks<'_> {
        self.active_sets.get(self.active_of[k as usize])
    }

    /// The number of a key, and whether it is new.
    pub fn id(&mut self, key: &[Word]) -> Result<(u32, bool), NoRoom> {
        let w = self.width;
        let hash = short(hash_words(0, key, |x| x));
        let same = |&(h, k): &(u32, u32)| h == hash && &self.words[k as usize * w..][..w] == key;
        if let Some(&(_, k)) = self.index.find(spread(hash), same) {
            return Ok((k, false));
        }
        let id = self.active_of.len() as u32;
        make_room(&mut self.words, w)?;
        make_room(&mut self.active_of, 1)?;
        make_place(&mut self.index, |&(h, _)| spread(h))?;
        self.words.extend_from_slice(key);
        self.index.insert_unique(spread(hash), (hash, id), |&(h, _)| spread(h));
        let active = self.find_active(key);
        self.active_of.push(active);
        Ok((id, true))
    }

    /// The locations of the key that was added last.
    pub fn latest(&self) -> &[i64] {
        &self.mem[..self.processes]
    }

    fn find_active(&mut self, key: &[Word]) -> u32 {
        self.layout.unpack(key, &mut self.mem);
        let mut lus = std::mem::take(&mut self.lus);
        let locations = self.mem[..self.processes].iter().map(|&l| l as usize);
        self.bounds.of(locations, &mut self.scratch, &mut lus);
        let id = self.active_sets.id(&lus);
        self.lus = lus;
        id
    }
}

/// Zones, each stored once.
#[derive(Debug, Default)]
pub struct Zones {
    entries: Vec<Bound>,
    /// Where each ends; it starts where the one before ends.
    ends: Vec<usize>,
    /// Each zone's hash and number.
    index: HashTable<(u32, u32)>,
}

fn hash_zone(zone: &[Bound]) -> u32 {
    let (pairs, rest) = zone.as_chunks::<2>();
    let code = |b: Bound| u64::from(b.code() as u32);
    let mut h = FxHasher::default();
    pairs.iter().for_each(|&[a, b]| h.write_u64(code(a) << 32 | code(b)));
    rest.iter().for_each(|&a| h.write_u64(code(a)));
    short(h.finish())
}

fn short(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// Are they equal? Without a branch for each entry.
fn is_same(a: &[Bound], b: &[Bound]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a.code() ^ b.code())) == 0
}

/// A table takes the place from the low bits and a tag from the high ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Zones {
    /// A zone by its number.
    #[inline]
    pub fn get(&self, z: u32) -> &[Bound] {
        let start = if z == 0 { 0 } else { self.ends[z as usize - 1] };
        &self.entries[start..self.ends[z as usize]]
    }

    /// How many different ones there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of a zone, if it is stored.
    pub fn find(&self, zone: &[Bound]) -> Option<u32> {
        let hash = hash_zone(zone);
        self.index.find(spread(hash), |&(h, z)| h == hash && is_same(self.get(z), zone)).map(|&(_, z)| z)
    }

    /// The number of a zone; new ones get one.
    pub fn id(&mut self, zone: &[Bound]) -> Result<u32, NoRoom> {
        let hash = hash_zone(zone);
        if let Some(&(_, z)) = self.index.find(spread(hash), |&(h, z)| h == hash && is_same(self.get(z), zone)) {
            return Ok(z);
        }
        let id = u32::try_from(self.ends.len()).map_err(|_| NoRoom::Numbers)?;
        make_room(&mut self.entries, zone.len())?;
        make_room(&mut self.ends, 1)?;
        make_place(&mut self.index, |&(h, _)| spread(h))?;
        self.entries.extend_from_slice(zone);
        self.ends.push(self.entries.len());
        self.index.insert_unique(spread(hash), (hash, id), |&(h, _)| spread(h));
        Ok(id)
    }
}

/// Where a clock of the target gets its value: a clock of the source, moved by a constant.
#[derive(Debug, Clone, Copy)]
struct From {
    place: usize,
    shift: i32,
}

/// Where a clock's value comes from when resets have happened: a clock before them, or 0 and a constant.
pub fn origin(resets: &[SetClock], mut clock: u32) -> (u32, i32) {
    for r in resets.iter().rev() {
        match *r {
            SetClock::Value { clock: c, value } if c == clock => return (0, value),
            SetClock::Copy { clock: c, from } if c == clock => clock = from,
            _ => {}
        }
    }
    (clock, 0)
}

/// Takes zones along moves. Holds working memory only.
#[derive(Debug, Default)]
pub struct Stepper {
    work: Vec<Bound>,
    from: Vec<From>,
    /// The result.
    pub zone: Vec<Bound>,
}

impl Stepper {
    /// The valuations after a move, before time passes, in `self.zone`: what must hold before, resets, the target's invariant.
    /// Answers whether there are any.
    pub fn act(
        &mut self,
        source: ActiveClocks<'_>,
        zone: &[Bound],
        before: [&[Constraint]; 2],
        resets: &[SetClock],
        after: &[Constraint],
        target: ActiveClocks<'_>,
    ) -> Result<bool, ZoneError> {
        let d = source.domain();
        let all = || before[0].iter().chain(before[1]).map(|c| source.entry(c));
        // Most moves that are not possible are refused by one constraint alone.
        if !all().all(|(i, j, bound)| d.satisfies(zone, i, j, bound)) {
            return Ok(false);
        }
        let in_place = source.is_like(target) && resets.iter().all(|r| matches!(r, SetClock::Value { .. }));
        let work = if in_place { &mut self.zone } else { &mut self.work };
        work.clear();
        work.extend_from_slice(zone);
        if !d.constrain_each(work, all())? {
            return Ok(false);
        }
        if !in_place {
            self.reset(source, resets, target, |c| c)?;
        }
        for r in resets.iter().filter(|_| in_place) {
            if let SetClock::Value { clock, value } = *r
                && target.is_active(clock)
            {
                d.reset(&mut self.zone, target.place(clock), value)?;
            }
        }
        invariant(target, after, &mut self.zone)
    }

    /// As `act`, if the clocks of the target have changed their names: `before` is what each was called.
    #[allow(clippy::too_many_arguments)]
    pub fn act_renamed(
        &mut self,
        source: ActiveClocks<'_>,
        zone: &[Bound],
        guard: &[Constraint],
        resets: &[SetClock],
        after: &[Constraint],
        target: ActiveClocks<'_>,
        before: impl Fn(u32) -> u32,
    ) -> Result<bool, ZoneError> {
        self.work.clear();
        self.work.extend_from_slice(zone);
        if !invariant(source, guard, &mut self.work)? {
            return Ok(false);
        }
        self.reset(source, resets, target, before)?;
        invariant(target, after, &mut self.zone)
    }

    /// Goes over from the source's clocks to the target's, resetting some.
    fn reset(
        &mut self,
        source: ActiveClocks<'_>,
        resets: &[SetClock],
        target: ActiveClocks<'_>,
        before: impl Fn(u32) -> u32,
    ) -> Result<(), ZoneError> {
        self.from.clear();
        let mut shifts = false;
        self.from.extend(target.clocks.iter().map(|&c| {
            let (clock, value) = origin(resets, before(c));
            shifts |= value != 0;
            // A constant is the clock that is always zero, moved.
            From { place: source.place(clock), shift: value }
        }));
        let n = source.clocks.len();
        self.zone.clear();
        if !shifts {
            for a in &self.from {
                let row = &self.work[a.place * n..][..n];
                self.zone.extend(self.from.iter().map(|b| row[b.place]));
            }
            return Ok(());
        }
        for a in &self.from {
            for b in &self.from {
                let bound = self.work[a.place * n + b.place];
                let moved = bound.checked_add(Bound::le(a.shift - b.shift)).ok_or(ZoneError::Overflow)?;
                self.zone.push(moved);
            }
        }
        Ok(())
    }
}

/// Adds the constraints to a zone; answers whether it is not empty then.
pub fn invariant(active: ActiveClocks<'_>, constraints: &[Constraint], zone: &mut [Bound]) -> Result<bool, ZoneError> {
    active.domain().constrain_each(zone, constraints.iter().map(|c| active.entry(c)))
}

/// A zone over the active clocks as constraints in the network's numbering.
pub fn constraints(active: ActiveClocks<'_>, zone: &[Bound]) -> Vec<Constraint> {
    let name = |i: u32| active.clocks[i as usize];
    let rename = |c: Constraint| Constraint { left: name(c.left), right: name(c.right), bound: c.bound };
    active.domain().minimal(zone).into_iter().map(rename).collect()
}

/// What may hold at the end of a run.
pub(super) fn ends(active: ActiveClocks<'_>, parts: &[Zone]) -> Vec<Vec<Constraint>> {
    match parts {
        [] => vec![Vec::new()],
        parts => parts.iter().map(|p| constraints(active, p)).collect(),
    }
}
