//! All rows that steps lead to, by saturation (Ciardo, Lüttgen and Siminiceanu 2001).
//!
//! The set is taken out of the bits into a diagram with one level for each variable and one branch for each value. Each step belongs
//! to the level of the first variable that it reads or writes. A node is *saturated* when no step of its level or below leads out of
//! it; nodes are saturated from the bottom up, and what a step brings is saturated before anyone sees it. So the large diagrams
//! that layers or rounds would need on the way never exist.
//!
//! Steps are diagrams too, with a branch for each pair of an old and a new value; a level that is left out means that the variable
//! stays as it is. What this deliberately does not do: forget nodes. There are few, compared with what rounds would make.

use hashbrown::HashTable;
use oxidd::VarNo;
use oxidd::bdd::BDDFunction;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::count::{Top, top};
use super::{Error, Made, Relation, Space};

/// How many values a variable may have, and how many pairs of values one node of a step may have.
const MAX_VALUES: usize = 1 << 10;
const MAX_PAIRS: usize = 1 << 14;

/// How often the caller is asked whether to go on.
const ASK_EVERY: u32 = 1 << 12;

/// A step: a relation between rows (copy 0) and the new values of what it writes (copy 1); all else stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct Step<'s> {
    /// The relation.
    pub relation: &'s Relation,
    /// What it writes.
    pub written: &'s [usize],
}

/// No rows; and, below the last level, the empty row.
const NONE: u32 = 0;
const ONE: u32 = 1;

type Children = SmallVec<[u32; 8]>;

/// From which value to which, and what happens below.
type Pair = (u16, u16, u32);

/// Diagrams of sets and of steps, all sharing their parts.
struct Diagrams {
    /// How many values each level has.
    sizes: Vec<usize>,
    /// For each node of a set, its level and where its children are.
    nodes: Vec<(u16, u32)>,
    children: Vec<u32>,
    unique: HashTable<u32>,
    /// Steps: level and pairs. The first two are "never" and "nothing changes".
    steps: Vec<(u16, Vec<Pair>)>,
    known_steps: FxHashMap<(u16, Vec<Pair>), u32>,
    unions: FxHashMap<(u32, u32), u32>,
    fired: FxHashMap<(u32, u32), u32>,
    saturated: FxHashMap<u32, u32>,
    /// For each level and each value of it: where the steps that start there lead.
    starting: Vec<Vec<Vec<(u16, u32)>>>,
    limit: usize,
    ticks: u32,
}

fn hash(level: u16, children: &[u32]) -> u64 {
    let mut h = u64::from(level).wrapping_add(0x9E37_79B9_7F4A_7C15);
    for &c in children {
        h = (h.rotate_left(23) ^ u64::from(c)).wrapping_mul(0x517C_C1B7_2722_0A95);
    }
    h ^ h >> 32
}

impl Diagrams {
    fn new(sizes: Vec<usize>, limit: usize) -> Diagrams {
        let starting = sizes.iter().map(|&n| vec![vec![]; n]).collect();
        Diagrams {
            nodes: vec![(u16::MAX, 0); 2],
            children: vec![],
            unique: HashTable::new(),
            steps: vec![(u16::MAX, vec![]); 2],
            known_steps: FxHashMap::default(),
            unions: FxHashMap::default(),
            fired: FxHashMap::default(),
            saturated: FxHashMap::default(),
            starting,
            sizes,
            limit,
            ticks: 0,
        }
    }

    fn below(&self, n: u32) -> &[u32] {
        let (level, start) = self.nodes[n as usize];
        &self.children[start as usize..start as usize + self.sizes[level as usize]]
    }

    fn child(&self, n: u32, value: usize) -> u32 {
        self.children[self.nodes[n as usize].1 as usize + value]
    }

    fn node(&mut self, level: usize, below: &[u32]) -> Made<u32> {
        if below.iter().all(|&c| c == NONE) {
            return Ok(NONE);
        }
        let level = level as u16;
        let code = hash(level, below);
        let same = |n: &u32| self.nodes[*n as usize].0 == level && self.below(*n) == below;
        if let Some(&n) = self.unique.find(code, same) {
            return Ok(n);
        }
        if self.nodes.len() >= self.limit || self.children.len() + below.len() > u32::MAX as usize {
            return Err(Error::Memory);
        }
        let n = self.nodes.len() as u32;
        self.nodes.push((level, self.children.len() as u32));
        self.children.extend_from_slice(below);
        let (nodes, children, sizes) = (&self.nodes, &self.children, &self.sizes);
        self.unique.insert_unique(code, n, |&n| {
            let (level, start) = nodes[n as usize];
            hash(level, &children[start as usize..start as usize + sizes[level as usize]])
        });
        Ok(n)
    }

    fn step(&mut self, level: usize, pairs: Vec<Pair>) -> u32 {
        let Some(&(_, _, first)) = pairs.first() else { return NONE };
        // All values stay as they are, and the same happens below: then this level need not be mentioned.
        if pairs.len() == self.sizes[level] && pairs.iter().all(|&(i, j, below)| i == j && below == first) {
            return first;
        }
        let key = (level as u16, pairs);
        if let Some(&n) = self.known_steps.get(&key) {
            return n;
        }
        let n = self.steps.len() as u32;
        self.steps.push(key.clone());
        self.known_steps.insert(key, n);
        n
    }

    fn union(&mut self, a: u32, b: u32) -> Made<u32> {
        if a == b || b == NONE {
            return Ok(a);
        }
        if a == NONE {
            return Ok(b);
        }
        let key = (a.min(b), a.max(b));
        if let Some(&n) = self.unions.get(&key) {
            return Ok(n);
        }
        let level = self.nodes[a as usize].0 as usize;
        let mut below = Children::new();
        for value in 0..self.sizes[level] {
            let (x, y) = (self.child(a, value), self.child(b, value));
            below.push(self.union(x, y)?);
        }
        let n = self.node(level, &below)?;
        self.unions.insert(key, n);
        Ok(n)
    }

    fn tick(&mut self, go_on: &mut dyn FnMut() -> bool) -> Made<()> {
        self.ticks = self.ticks.wrapping_add(1);
        // What is remembered may be forgotten; it is many more than nodes, and each takes about a quarter of one.
        for known in [&mut self.unions, &mut self.fired] {
            if known.len() > 2 * self.limit {
                known.clear();
            }
        }
        if self.ticks.is_multiple_of(ASK_EVERY) && !go_on() {
            return Err(Error::Stopped);
        }
        Ok(())
    }

    /// All that steps of its level or below lead to from a node.
    fn saturate(&mut self, n: u32, go_on: &mut dyn FnMut() -> bool) -> Made<u32> {
        if n <= ONE {
            return Ok(n);
        }
        if let Some(&done) = self.saturated.get(&n) {
            return Ok(done);
        }
        let level = self.nodes[n as usize].0 as usize;
        let mut below = Children::new();
        for value in 0..self.sizes[level] {
            let child = self.child(n, value);
            below.push(self.saturate(child, go_on)?);
        }
        let done = self.close(level, below, go_on)?;
        self.saturated.insert(n, done);
        Ok(done)
    }

    /// The same, if all children are saturated.
    fn close(&mut self, level: usize, mut below: Children, go_on: &mut dyn FnMut() -> bool) -> Made<u32> {
        let before = self.node(level, &below)?;
        if before == NONE {
            return Ok(NONE);
        }
        if let Some(&done) = self.saturated.get(&before) {
            return Ok(done);
        }
        // Values whose rows have not been taken further yet.
        let mut waiting: SmallVec<[bool; 32]> = below.iter().map(|&c| c != NONE).collect();
        while let Some(value) = waiting.iter().position(|&w| w) {
            waiting[value] = false;
            for at in 0..self.starting[level][value].len() {
                let (to, step) = self.starting[level][value][at];
                let new = self.fire(below[value], step, level + 1, go_on)?;
                let both = self.union(below[to as usize], new)?;
                if both != below[to as usize] {
                    below[to as usize] = both;
                    waiting[to as usize] = true;
                }
            }
        }
        let done = self.node(level, &below)?;
        self.saturated.insert(before, done);
        self.saturated.insert(done, done);
        Ok(done)
    }

    /// Where a step leads to from a saturated node of a level, saturated.
    fn fire(&mut self, n: u32, step: u32, level: usize, go_on: &mut dyn FnMut() -> bool) -> Made<u32> {
        if n == NONE || step == NONE {
            return Ok(NONE);
        }
        if step == ONE {
            return Ok(n);
        }
        if let Some(&done) = self.fired.get(&(n, step)) {
            return Ok(done);
        }
        self.tick(go_on)?;
        let mut below: Children = SmallVec::from_elem(NONE, self.sizes[level]);
        if self.steps[step as usize].0 as usize > level {
            for (value, slot) in below.iter_mut().enumerate() {
                let child = self.child(n, value);
                *slot = self.fire(child, step, level + 1, go_on)?;
            }
        } else {
            for at in 0..self.steps[step as usize].1.len() {
                let (from, to, rest) = self.steps[step as usize].1[at];
                let child = self.child(n, from as usize);
                if child != NONE {
                    let new = self.fire(child, rest, level + 1, go_on)?;
                    below[to as usize] = self.union(below[to as usize], new)?;
                }
            }
        }
        let done = self.close(level, below, go_on)?;
        self.fired.insert((n, step), done);
        Ok(done)
    }
}

/// What remains of a function for each code of some bits, where it holds at all.
pub(super) fn codes(f: &BDDFunction, bits: &[VarNo], code: usize, found: &mut Vec<(usize, BDDFunction)>) {
    match (top(f), bits.split_first()) {
        (Top::Empty, _) => {}
        (_, None) => found.push((code, f.clone())),
        (Top::Test(var, yes, no), Some((&bit, rest))) if var == bit => {
            codes(&no, rest, code << 1, found);
            codes(&yes, rest, code << 1 | 1, found);
        }
        (_, Some((_, rest))) => {
            codes(f, rest, code << 1, found);
            codes(f, rest, code << 1 | 1, found);
        }
    }
}

/// Diagrams of bits, taken apart.
struct Reading<'s> {
    space: &'s Space,
    variables: &'s [usize],
}

impl Reading<'_> {
    /// A set of rows.
    fn set(
        &self,
        d: &mut Diagrams,
        f: &BDDFunction,
        level: usize,
        known: &mut FxHashMap<(BDDFunction, usize), u32>,
    ) -> Made<u32> {
        if matches!(top(f), Top::Empty) {
            return Ok(NONE);
        }
        let Some(&variable) = self.variables.get(level) else { return Ok(ONE) };
        let key = (f.clone(), level);
        if let Some(&n) = known.get(&key) {
            return Ok(n);
        }
        let mut found = vec![];
        codes(f, &self.space.columns[variable].bits, 0, &mut found);
        let mut below: Children = SmallVec::from_elem(NONE, d.sizes[level]);
        for (code, rest) in found {
            if code < below.len() {
                below[code] = self.set(d, &rest, level + 1, known)?;
            }
        }
        let n = d.node(level, &below)?;
        known.insert(key, n);
        Ok(n)
    }

    /// A step; `None` if it has too many pairs.
    fn step(
        &self,
        d: &mut Diagrams,
        f: &BDDFunction,
        level: usize,
        written: &[bool],
        backward: bool,
        known: &mut FxHashMap<(BDDFunction, usize), u32>,
    ) -> Option<u32> {
        if matches!(top(f), Top::Empty) {
            return Some(NONE);
        }
        let Some(&variable) = self.variables.get(level) else { return Some(ONE) };
        let key = (f.clone(), level);
        if let Some(&n) = known.get(&key) {
            return Some(n);
        }
        let bits = &self.space.columns[variable].bits;
        let (size, width) = (d.sizes[level], bits.len());
        let mut found = vec![];
        if written[level] {
            let both: Vec<VarNo> = bits.iter().flat_map(|&b| [b, b + 1]).collect();
            codes(f, &both, 0, &mut found);
        } else {
            codes(f, bits, 0, &mut found);
        }
        if found.len() > MAX_PAIRS {
            return None;
        }
        let mut pairs = vec![];
        for (code, rest) in found {
            let (mut from, mut to) = (code, code);
            if written[level] {
                let every_other =
                    |first: usize| (0..width).fold(0, |n, i| n << 1 | code >> (2 * (width - 1 - i) + first) & 1);
                (from, to) = (every_other(1), every_other(0));
            }
            if from < size && to < size {
                if backward {
                    std::mem::swap(&mut from, &mut to);
                }
                let below = self.step(d, &rest, level + 1, written, backward, known)?;
                pairs.push((from as u16, to as u16, below));
            }
        }
        pairs.retain(|&(_, _, below)| below != NONE);
        pairs.sort_unstable();
        let n = d.step(level, pairs);
        known.insert(key, n);
        Some(n)
    }

    /// A set of rows as bits again.
    fn written(&self, d: &Diagrams, n: u32, known: &mut FxHashMap<u32, Relation>) -> Made<Relation> {
        if n <= ONE {
            return Ok(self.space.constant(n == ONE));
        }
        if let Some(r) = known.get(&n) {
            return Ok(r.clone());
        }
        let level = d.nodes[n as usize].0 as usize;
        let bits = &self.space.columns[self.variables[level]].bits;
        let mut row: Vec<Relation> =
            d.below(n).iter().map(|&child| self.written(d, child, known)).collect::<Made<_>>()?;
        row.resize(1 << bits.len(), self.space.none());
        for &bit in bits.iter().rev() {
            let test = self.space.literal(bit, true)?;
            row = row.chunks(2).map(|two| self.space.ite(&test, &two[1], &two[0])).collect::<Made<_>>()?;
        }
        let all = row.swap_remove(0);
        known.insert(n, all.clone());
        Ok(all)
    }
}

impl Space {
    /// All rows that steps lead to from some (or, backward, from which steps lead to some). Rows are of the given variables, in their
    /// order, and steps read and write nothing else. `None` if a variable has too many values for this.
    pub fn closure(
        &self,
        start: &Relation,
        steps: &[Step<'_>],
        variables: &[usize],
        backward: bool,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Made<Option<Relation>> {
        let sizes: Vec<usize> = variables.iter().map(|&v| self.columns[v].values.len()).collect();
        if sizes.iter().any(|&n| n > MAX_VALUES) || sizes.len() >= usize::from(u16::MAX) {
            return Ok(None);
        }
        // A node here, with its branches and its place in a table, takes about four times as much as one of two branches.
        let mut d = Diagrams::new(sizes, self.limit / 4);
        let reading = Reading { space: self, variables };
        for step in steps {
            let written: Vec<bool> = variables.iter().map(|v| step.written.contains(v)).collect();
            let mut known = FxHashMap::default();
            let Some(n) = reading.step(&mut d, &step.relation.0, 0, &written, backward, &mut known) else {
                return Ok(None);
            };
            let (level, pairs) = d.steps[n as usize].clone();
            for (from, to, below) in pairs {
                let list = &mut d.starting[level as usize][from as usize];
                if !list.contains(&(to, below)) && (from != to || below != ONE) {
                    list.push((to, below));
                }
            }
        }
        let first = reading.set(&mut d, &start.0, 0, &mut FxHashMap::default())?;
        let all = d.saturate(first, go_on)?;
        reading.written(&d, all, &mut FxHashMap::default()).map(Some)
    }
}
